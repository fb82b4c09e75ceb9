"""The fit of the sparse multinomial logit by a Gibbs sampler: a run of chains."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.inference.chains import Run
from thali.inference.seeds import streams
from thali.model.sampling import Sampling

from .at_maximum import varying_names
from .chain import Chain, problem_of, trajectories_of
from .draws import means, to_datatree

if TYPE_CHECKING:
    import xarray

    from .model import SparseMultinomialLogit

THIN_MOVED = 1  # sweeps a kept draw where there are trajectories, unless the user says otherwise
THIN_TWO, THIN = 4, 10  # without them, of two classes and of more


def sampling_of_chains(model: "SparseMultinomialLogit", source: Any, run: Run) -> Sampling[Chain]:
    """The run for these rows, whose covariates are standardised."""
    prior, reference, standard = model._prior(), model._position_of_reference(), model._standard_
    names, classes = varying_names(model), len(model.classes_)
    moves = trajectories_of(len(source.codes), len(names) + prior.intercept, classes, model.method_)
    thin = run.thin or (THIN_MOVED if moves else THIN_TWO if classes == 2 else THIN)

    @cache
    def problem() -> Any:
        rows = source.matrix, source.codes, classes, reference
        return problem_of(*rows, prior, model.method_, counts=source.counts, trajectories=moves)

    def chains(draws: int, seed: np.random.SeedSequence) -> list[Chain]:
        return [Chain(problem(), prior.eta, rng, draws, run.tune, thin) for rng in streams(seed, run.chains)]

    def tree(chains: Sequence[Chain]) -> "xarray.DataTree":
        attrs = {"method": model.method_, "thin": thin, "tuning_steps": run.tune}
        return to_datatree(chains, source, model.classes_, names, prior.intercept, attrs)

    def found(tree: "xarray.DataTree", chains: Any, seed: Any) -> dict[str, Any]:
        return {"reference_": model.classes_[reference], **means(tree, standard)}

    return Sampling(source, run._replace(thin=thin), chains, tree, found)
