"""The fit of the sparse multinomial logit by a normal approximation: a run of chains whose draws are independent."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import Argument, ArgumentError, Setting
from thali.inference.chains import Run
from thali.inference.seeds import streams
from thali.posterior.verdict import Advice

from ..sampling import Sampling
from .at_maximum import varying_names
from .chain import problem_of
from .draws import means, to_datatree
from .laplace import NormalChain, NormalPosterior, check_size, normal_posterior
from .method import ENOUGH
from .sweep import Problem

if TYPE_CHECKING:
    import xarray

    from .model import SparseMultinomialLogit

_APPROXIMATE = (
    " These are independent draws from a normal approximation of the posterior, to be relied on from "
    f"{ENOUGH} rows for each coefficient on; the posterior itself: "
)
ADVICE = Advice(tunes=False, note=(_APPROXIMATE, Setting("method", "polya-gamma"), "."))


def sampling_of_normal(model: "SparseMultinomialLogit", source: Any, run: Run) -> Sampling[NormalChain]:
    """The run for these rows, whose covariates are standardised."""
    if run.thin is not None and model.method != "auto":
        raise ArgumentError(
            Argument("thin"),
            " belongs to ",
            Setting("method", "polya-gamma"),
            "; leave it out: these draws are independent.",
        )
    prior, reference, standard = model._prior(), model._position_of_reference(), model._standard_
    classes = len(model.classes_)
    check_size((classes - 1) * (int(standard.varies.sum()) + prior.intercept), float(source.counts.sum()))

    @cache
    def found() -> tuple[Problem, NormalPosterior]:
        rows = source.matrix, source.codes, classes, reference
        problem = problem_of(*rows, prior, "polya-gamma", False, source.counts)
        return problem, normal_posterior(problem, prior.eta, model.method_ == "variational")

    def chains(draws: int, seed: np.random.SeedSequence) -> list[NormalChain]:
        return [NormalChain(*found(), draws, rng) for rng in streams(seed, run.chains)]

    def tree(chains: Sequence[NormalChain]) -> "xarray.DataTree":
        attrs = {"method": model.method_, "thin": 1, "tuning_steps": 0}
        return to_datatree(chains, source, model.classes_, varying_names(model), prior.intercept, attrs)

    def attributes(tree: "xarray.DataTree", chains: Any, seed: Any) -> dict[str, Any]:
        normal = found()[1]
        settled = {"reference_": model.classes_[reference], "converged_": normal.converged}
        bound = {"lower_bound_": normal.lower_bound} if model.method_ == "variational" else {}
        return {**settled, **bound, **means(tree, standard)}

    return Sampling(source, run, chains, tree, attributes, is_compiled=True)
