"""The posterior of product classes as an ArviZ tree: chain = group, draw = recorded draw of that
group."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.experiments.design import ExperimentDesign
from thali._posterior.view import PosteriorTree

if TYPE_CHECKING:
    import xarray

    from .engines.fit import EngineResult
    from .particles import Particles

_DESCRIPTIONS = {
    "n_classes": "classes that at least one respondent uses",
    "classes_per_person": "mean over the respondents",
    "value_shape": "a, the shape of the Gamma distribution of the value of a class",
    "stability": "sigma: near 1 tastes are the same in every task, near 0 they are mostly chance",
    "alpha": "expected number of classes that a respondent uses",
    "log_likelihood": "all choices, natural logarithm, including lapses",
}


def quantities_of(draws: "Particles") -> dict[str, np.ndarray]:
    """The label-free quantities of every draw, as arrays (chain, draw)."""
    groups = draws.n_groups
    owned = np.diff(draws.first_owned).reshape(draws.n_draws, draws.n_respondents).sum(axis=1)
    values = {
        "n_classes": np.diff(draws.first_class),
        "classes_per_person": owned / max(draws.n_respondents, 1),
        "value_shape": draws.a,
        "stability": draws.sigma,
        "alpha": draws.alpha,
        "log_likelihood": draws.log_likelihood,
    }
    return {name: np.asarray(value).reshape(groups, -1) for name, value in values.items()}


def to_datatree(
    fit: "EngineResult",
    design: ExperimentDesign,
    attrs: dict[Any, Any],
    cores: int | None,
    known: dict[bytes, Any],
) -> "xarray.DataTree":
    """Return the posterior tree of a fit; `known` is what was found of draws before, and receives
    what is new."""
    from thali._posterior.store import origin, tree_of

    from .reports.effects import named_reports, prediction_difference, simulate_reports

    reports = simulate_reports(fit.particles, design, cores, known)
    posterior = draws_group(fit.particles).assign(named_reports(reports, fit.particles, design))
    groups = {
        "posterior": posterior,
        "observed_data": design.observed(),
        "sample_stats": _stats(fit, prediction_difference(reports, fit.particles)),
        "constant_data": design.to_dataset(),
        "particles": fit.particles.save(),
    }
    return tree_of(
        groups,
        {
            **origin(),
            "interrupted": int(fit.interrupted),
            **attrs,
            "messages": "\n".join(fit.messages),
        },
    )


def draws_group(draws: "Particles") -> "xarray.Dataset":
    """The label-free quantities as a group of a tree."""
    from thali._posterior.store import described_draws

    variables = {name: (("chain", "draw"), values) for name, values in quantities_of(draws).items()}
    return described_draws(variables, {}, variables["alpha"][1].shape, _DESCRIPTIONS)


def _stats(fit: "EngineResult", difference: float) -> "xarray.Dataset":
    """The evidence, the quantities of each step, and how much predictions of another run would
    differ."""
    import xarray as xr

    names = ("log_evidence", "log_evidence_se", "evidence_sd")
    variables: dict[str, Any] = {name: float(getattr(fit, name)) for name in names}
    variables["prediction_difference"] = difference
    for name, values in fit.trace.items():
        values = np.asarray(values, float)
        variables[f"trace_{name}"] = ((*([] if values.ndim < 2 else ["chain"]), "step"), values)
    return xr.Dataset(variables)


def trace_of(posterior: PosteriorTree) -> dict[str, np.ndarray]:
    """The quantities of each step of a fit: arrays (chain, step) or (step,), by name."""
    stats = posterior.stats
    return {
        str(name)[6:]: stats[name].values
        for name in stats.data_vars
        if str(name).startswith("trace_")
    }
