"""Data and known aspects in, estimates out; covariates of comparisons."""

from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices import Choices
from thali._data.pairs import PairedComparisons
from thali._inference.seeds import spawn_generators
from thali._labels import shorten
from thali._model.clusters import group_by_respondent
from thali.errors import DataError, EstimateWarning, Setting

from ..likelihoods.elimination import Elimination, convert_to_pairs, require_pairs
from ..priors.given import Given
from .aspects import KnownAspects, check_identified, known_aspects
from .estimates import Estimates, covariate_sizes
from .maximum import Maximum, maximise, starting_points
from .problem import PairProblem, patterns, problem, scaled

if TYPE_CHECKING:
    import pandas


STARTS = 10
LARGEST_TIE = 1e3  # above it two equal options would end in a tie 998 times of 1,000


def estimate(
    data: PairedComparisons | Choices,
    aspects: Any = "unique",
    unique: bool = True,
    lapse: float = 0.0,
    ties: bool = False,
    *,
    starts: int = STARTS,
    random_seed: Any = 0,
) -> Estimates:
    """The maximum-likelihood estimates of aspect weights, by a climb from each of `starts`
    points."""
    pairs: Any = convert_to_pairs(data)
    known = checked_aspects(pairs, aspects, unique, lapse, ties)
    check_identified(known, pairs)
    return at_maximum(pairs, known, lapse, ties, starts, random_seed)


def checked_aspects(
    data: PairedComparisons | Choices,
    aspects: Any,
    unique: bool,
    lapse: float,
    ties: bool = False,
) -> KnownAspects:
    """The aspects, checked against the data: none may make a choice impossible that was made."""
    if isinstance(data, Choices):
        known = known_aspects(aspects, unique, data.labels)
        if known.unique and not known.shared.shape[1]:
            require_pairs(data)
        wide = int(data.sizes.argmax())
        raise DataError(
            f"The data contain choices from {data.sizes[wide]} options"
            f" ({shorten(data.sets[wide])}), but maximum likelihood requires choices between two"
            " options; use ",
            Setting("method", "mcmc"),
            ".",
        )
    if not isinstance(data, PairedComparisons):
        Elimination(lapse, bool(unique), ties).check(None, data)  # which raises
        raise DataError(
            f"Maximum likelihood requires PairedComparisons; got {type(data).__name__}; use ",
            Setting("method", "mcmc"),
            ".",
        )
    known = known_aspects(aspects, unique, data.labels)
    Elimination(lapse, bool(unique), ties, own_names(data)).check(Given(known.shared), data)
    if ties and not data.n_comparisons - data.n_ties:
        raise DataError(
            "All comparisons are ties, which contain no information on the weights; use data with"
            " choices."
        )
    return known


def at_maximum(
    data: PairedComparisons,
    known: KnownAspects,
    lapse: float,
    ties: bool = False,
    starts: int = STARTS,
    random_seed: Any = 0,
) -> Estimates:
    """The estimates for aspects that are checked already."""
    extra = None
    if own_names(data):
        check_covariates(data, known.owners)
        extra = data.cells.x / covariate_sizes(data)
    pose = problem(data, known.owners, lapse, extra, ties)
    assert isinstance(pose, PairProblem)
    points = starting_points(pose, starts, spawn_generators(random_seed, 1)[0])
    return Estimates(
        data, known, float(lapse), pose, maximise(pose, points), group_by_respondent(data, ties)
    )


def vanishing(found: Estimates) -> list[EstimateWarning]:
    """Warnings of weights reported as zero, of ties, or of covariates: the likelihood rises for
    ever."""
    gone = found.maximum.vanishing
    if not gone.any() and found.tie is not None and found.tie > LARGEST_TIE:
        return [
            EstimateWarning(
                "The likelihood has no maximum: it keeps increasing as the tie parameter grows"
                f" (here {found.tie:.3g}) and the weights shrink. The estimates have not"
                " converged; ",
                Setting("method", "mcmc"),
                " has a prior that keeps them finite.",
            )
        ]
    if not gone.any():
        return endless(found)
    names = [name for name, vanishes in zip(found.known.names, gone, strict=True) if vanishes]
    return [
        EstimateWarning(
            "The likelihood has no maximum: it keeps increasing as the weights of"
            f" {shorten(names)} shrink relative to the other weights. The shrinking weights are"
            " reported as 0 without standard errors, and predictions are those in this limit; ",
            Setting("method", "mcmc"),
            " has a prior that keeps all weights above 0.",
        )
    ]


# Covariates of comparisons ------------------------------------------------------------------------


# log odds that a covariate adds at most; beyond them its coefficient stands for infinity
INFINITE = 15.0
MIN_EIGENVALUE = 1e-11  # share of the largest eigenvalue below which a direction changes nothing
_ROUNDING = 1e-6
AS_GOOD_AS_NONE = 5.0  # standard error of what a covariate adds at most


def own_names(data: Any) -> tuple[str, ...]:
    """The covariates of data."""
    own = data.covariates if isinstance(data, PairedComparisons) else None
    return () if own is None else own.names


def check_covariates(data: PairedComparisons, owners: np.ndarray) -> None:
    """Raise for covariates whose effects are not identified beside each other, or beside the
    weights."""
    cells, names = data.cells, own_names(data)
    if not names:
        return
    # in no special relation
    weights = np.exp(np.random.default_rng(20061972).normal(0.0, 0.5, owners.shape[1]))
    first, second = patterns(owners, cells.first, cells.second)
    change = scaled(first, weights, first @ weights) - scaled(second, weights, second @ weights)
    x = cells.x / covariate_sizes(data)
    gram = change.T @ change
    gram = gram if isinstance(gram, np.ndarray) else gram.toarray()
    cross = np.asarray(change.T @ x)
    values, vectors = np.linalg.eigh(np.block([[gram, cross], [cross.T, x.T @ x]]))
    still = vectors[owners.shape[1] :, values <= MIN_EIGENVALUE * values[-1]]
    loose = [
        name
        for name, row in zip(names, still, strict=True)
        if np.abs(row).max(initial=0.0) > _ROUNDING
    ]
    if loose:
        what = f"effect of {loose[0]!r}"
        if len(loose) > 1:
            what = f"effects of {shorten(loose)} from each other or"
        raise DataError(
            f"The comparisons cannot separate the {what} from the weights, because a change in one"
            " can be offset by changes in the others without altering any choice probability;"
            " remove a covariate, or use ",
            Setting("method", "mcmc"),
            ".",
        )


def endless(found: Estimates) -> list[EstimateWarning]:
    """A warning of coefficients that rise for ever."""
    names = own_names(found.data)
    if not names:
        return []
    beta = np.abs(found.maximum.beta[: len(names)])
    with np.errstate(invalid="ignore"):
        errors = np.sqrt(np.diag(found.covariance_of_covariates)) * covariate_sizes(found.data)
    gone = (beta > INFINITE) & ~(errors < AS_GOOD_AS_NONE)
    if not gone.any():
        return []
    which = shorten(list(compress(names, gone)))
    return [
        EstimateWarning(
            f"The likelihood has no maximum: it keeps increasing as the coefficient of {which}"
            " grows, because the covariate determines every comparison that it affects. The"
            " estimate has not converged; ",
            Setting("method", "mcmc"),
            " has a prior that keeps it finite.",
        )
    ]


def covariate_table(found: Estimates, ci: float) -> "pandas.DataFrame":
    """A row a covariate: estimate, std_error, z, p_value, low, high, odds."""
    import pandas as pd

    from thali._tables import Table

    estimate = found.coefficients_of_covariates
    variance = np.diag(found.covariance_of_covariates)
    error = np.sqrt(np.where(variance > 0.0, variance, np.nan))
    z = estimate / error
    columns = {
        "estimate": estimate,
        "std_error": error,
        "z": z,
        "p_value": found.tail(z),
        "low": estimate - found.reach(ci) * error,
        "high": estimate + found.reach(ci) * error,
        "odds": np.exp(estimate),
    }
    table = Table(columns, index=pd.Index(own_names(found.data), name="covariate"))
    table.attrs["interval"] = ci
    return table


def within(small: Estimates, large: Estimates) -> Estimates:
    """The estimates of the smaller of two models, on the cells of comparisons that the larger one
    tells apart."""
    names, kept = own_names(large.data), own_names(small.data)
    if names == kept:
        return small
    places = [names.index(name) for name in kept]
    cells = large.data.cells
    x = cells.x[:, places] / covariate_sizes(small.data)
    first, second = patterns(small.known.owners, cells.first, cells.second)
    pose = replace(large.pose, first=first, second=second, extra=x)
    best: Maximum = small.maximum
    return Estimates(
        large.data.with_covariates(kept), small.known, small.lapse, pose, best, large.clusters
    )
