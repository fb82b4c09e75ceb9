"""The fit of the hierarchical logit: its chains, the posterior that they give, and the attributes of the model."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali.inference.chains import FIRST_DRAWS, Run
from thali.model.sampling import Sampling
from thali.people.columns import Covariates

from ..coding import Coding
from .hierarchical_draws import TasteScale

if TYPE_CHECKING:
    import xarray

    from thali.data.experiments import ChoiceExperiment

    from .hierarchical_sweep import Chain, Prior

THIN = 2
_FIRST_BYTES = 2**29  # of the tastes in the draws after which a run of unknown length is looked at first
_FEWEST = 100  # such draws of a chain


class Parts(NamedTuple):
    """What the arguments of a model say of its data."""

    coding: Coding
    scale: TasteScale
    covariates: Covariates
    prior: "Prior"


def sampling_of(source: "ChoiceExperiment", run: Run, parts: Parts) -> Sampling[Any]:
    """What a fit runs, and what it makes of the draws."""
    import xarray as xr

    from thali.inference.seeds import root, streams

    from ..logit import tasks_of
    from .hierarchical_draws import reported, to_datatree
    from .hierarchical_sweep import Chain, problem_of

    coding, scale, covariates, prior = parts
    tune = run.tune * (THIN if run.thin is None else run.thin)
    first = FIRST_DRAWS
    if run.thin is None:  # fewer draws, further apart, where they are large; a continued fit has the same
        size = run.chains * len(source.respondents) * len(coding.names) * np.dtype(float).itemsize
        first = max(_FEWEST, min(FIRST_DRAWS, _FIRST_BYTES // size))
    thin = THIN * -(-FIRST_DRAWS // first) if run.thin is None else run.thin
    run = run._replace(thin=thin)

    @cache
    def problem() -> Any:
        tasks = tasks_of(source, coding)
        scaled = tasks._replace(matrix=tasks.matrix / coding.scale @ scale.steps)
        return problem_of(scaled, source.first_task, prior, scale.sign, covariates.matrix)

    def chains(draws: int, seed: np.random.SeedSequence) -> "list[Chain]":
        return [Chain(problem(), rng, draws, tune, thin) for rng in streams(root(seed).spawn(2)[0], run.chains)]

    def tree(chains: "Sequence[Chain]") -> "xarray.DataTree":
        attrs = {"thin": thin, "tuning_steps": tune}
        found = to_datatree(chains, source.respondents, coding.names, scale, covariates, attrs)
        posterior = found["posterior"].to_dataset()
        found["posterior"] = xr.DataTree(posterior.assign(reported(posterior["beta"].values, source, coding)))
        return found

    def found(tree: "xarray.DataTree", chains: "Sequence[Chain]", seed: np.random.SeedSequence) -> dict[str, Any]:
        kept = {"scheme_": source.scheme, "_coding_": coding, "_scale_": scale, "_covariates_": covariates}
        kept["_respondents_"] = source.respondents
        return {"_new_people_": root(seed).spawn(2)[1], **kept, **_means(tree, scale)}

    return Sampling(source, run, chains, tree, found, first_draws=first)


def _means(tree: "xarray.DataTree", scale: "TasteScale") -> dict[str, Any]:
    """Posterior means, as fitted attributes."""
    import pandas

    posterior = tree["posterior"].dataset
    over = ["chain", "draw"]
    tastes = posterior["beta"].mean(over)
    people, names = (pandas.Index(tastes[dim].values, name=dim) for dim in ("respondent", "coefficient"))
    has_sign = np.abs(scale.steps) @ (scale.sign != 0.0) > 0.0
    means = np.where(has_sign, tastes.mean("respondent"), posterior["mean"].mean(over))
    return {
        "coef_": pandas.Series(means, names, name="coef"),
        "individual_": pandas.DataFrame(tastes.values, people, names),
        "log_likelihood_": float(posterior["log_likelihood"].mean()),
    }
