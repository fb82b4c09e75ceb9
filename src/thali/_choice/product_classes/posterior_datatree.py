"""Posterior of product classes as a tree in the ArviZ schema."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.experiments.fitted_design import ExperimentDesign
from thali._posterior.draws_writer import DrawsWriter, Variable, build_dataset
from thali._posterior.posterior_tree import PosteriorTree

if TYPE_CHECKING:
    import xarray

    from .ragged_draws import Particles
    from .samplers.stored_draws import EngineResult

_VARIABLES = {
    "n_classes": Variable("classes that at least one respondent uses"),
    "classes_per_person": Variable("mean over the respondents"),
    "value_shape": Variable("a, the shape of the Gamma distribution of the value of a class"),
    "stability": Variable(
        "sigma: near 1 tastes are the same in every task, near 0 they are mostly chance"
    ),
    "alpha": Variable("expected number of classes that a respondent uses"),
    "log_likelihood": Variable("all choices, natural logarithm, including lapses"),
}


def build_classes_datatree(
    fit: "EngineResult",
    design: ExperimentDesign,
    attrs: dict[Any, Any],
    cores: int | None,
    reports_by_draw: dict[bytes, Any],
) -> "xarray.DataTree":
    """Build the posterior tree of a fit from its draws and simulated reports.

    `reports_by_draw` contains the reports of earlier draws, by draw, and receives new ones.
    """
    from .reports.level_effects import (
        estimate_prediction_difference,
        label_reports,
        simulate_quantities,
    )

    reports = simulate_quantities(fit.particles, design, cores, reports_by_draw)
    posterior_group = build_scalar_group(fit.particles).assign(
        label_reports(reports, fit.particles, design)
    )
    writer = DrawsWriter(posterior_group)
    writer.groups |= {
        "observed_data": design.observed(),
        "sample_stats": _build_sample_stats(
            fit, estimate_prediction_difference(reports, fit.particles)
        ),
        "constant_data": design.to_dataset(),
        "particles": fit.particles.to_dataset(),
    }
    return writer.build(
        {"interrupted": int(fit.interrupted), **attrs, "messages": "\n".join(fit.messages)}
    )


def build_scalar_group(draws: "Particles") -> "xarray.Dataset":
    """Return the dataset `posterior` of scalars that do not depend on class order."""
    n_owned = np.diff(draws.first_owned).reshape(draws.n_draws, draws.n_respondents).sum(axis=1)
    quantities = {
        "n_classes": np.diff(draws.first_class),
        "classes_per_person": n_owned / max(draws.n_respondents, 1),
        "value_shape": draws.a,
        "stability": draws.sigma,
        "alpha": draws.alpha,
        "log_likelihood": draws.log_likelihood,
    }
    shape = draws.n_groups, draws.n_draws // draws.n_groups
    arrays = {name: quantity.reshape(shape) for name, quantity in quantities.items()}
    return build_dataset(arrays, _VARIABLES, {})


def _build_sample_stats(fit: "EngineResult", prediction_difference: float) -> "xarray.Dataset":
    """Return the dataset `sample_stats`: evidence, steps, prediction difference."""
    import xarray as xr

    evidence_names = ("log_evidence", "log_evidence_se", "evidence_sd")
    variables: dict[str, Any] = {name: float(getattr(fit, name)) for name in evidence_names}
    variables["prediction_difference"] = prediction_difference
    for name, values in fit.trace.items():
        trace_dims = ("chain", "step")[-values.ndim :]
        variables[f"trace_{name}"] = (trace_dims, np.asarray(values, float))
    return xr.Dataset(variables)


def read_step_trace(posterior: PosteriorTree) -> dict[str, np.ndarray]:
    """Return lapse rate, log evidence and more by tempering step, by name."""
    sample_stats = posterior.stats
    return {
        str(name)[6:]: sample_stats[name].values
        for name in sample_stats.data_vars
        if str(name).startswith("trace_")
    }
