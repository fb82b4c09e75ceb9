"""The fit of the sparse multinomial logit by a normal approximation: a run of chains whose draws are independent."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import Argument, ArgumentError, Setting
from thali.inference.chains import Run
from thali.inference.seeds import streams
from thali.model.sampling import Sampling
from thali.posterior.verdict import Advice

from .approximation import NormalPosterior
from .at_maximum import varying_names
from .chain import problem_of
from .draws import means, to_datatree
from .method import ENOUGH
from .normal import NormalChain, check_size, normal_posterior
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
    """The run for these rows, whose covariates are standardised; a model of rows in blocks knows its approximation."""
    check(model, run, float(source.counts.sum()))
    prior, reference, standard = model._prior(), model._position_of_reference(), model._standard_
    known = vars(model).get("_normal_")

    @cache
    def found() -> tuple[Problem, NormalPosterior]:
        rows = source.matrix, source.codes[: len(source.matrix)], len(model.classes_), reference
        problem = problem_of(*rows, prior, "polya-gamma", False, source.counts[: len(source.matrix)])
        return problem, known or normal_posterior(problem, prior.eta, model._used.has_bound)

    def chains(draws: int, seed: np.random.SeedSequence) -> list[NormalChain]:
        return [NormalChain(*found(), draws, rng) for rng in streams(seed, run.chains)]

    def tree(chains: Sequence[NormalChain]) -> "xarray.DataTree":
        attrs = {"method": model.method_, "thin": 1, "tuning_steps": 0}
        names, has_rows = varying_names(model), known is None
        return to_datatree(chains, source, model.classes_, names, prior.intercept, attrs, has_rows)

    def attributes(tree: "xarray.DataTree", chains: Any, seed: Any) -> dict[str, Any]:
        normal = found()[1]
        settled = {"reference_": model.classes_[reference], "converged_": normal.converged}
        bound = {"lower_bound_": normal.lower_bound} if model._used.has_bound else {}
        kept = {} if known is None else {"_normal_": known}
        return {**settled, **bound, **kept, **means(tree, standard)}

    return Sampling(source, run, chains, tree, attributes, is_compiled=True)


def check(model: "SparseMultinomialLogit", run: Run, rows: float) -> None:
    """Refuse what belongs to chains, and data of a size that the approximation is not for."""
    if run.thin is not None and model.method != "auto":
        raise ArgumentError(
            Argument("thin"),
            " belongs to ",
            Setting("method", "polya-gamma"),
            "; leave it out: these draws are independent.",
        )
    columns = int(model._standard_.varies.sum()) + model._prior().intercept
    check_size((len(model.classes_) - 1) * columns, rows)
