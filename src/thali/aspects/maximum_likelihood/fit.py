"""Paired comparisons and known aspects in, estimates out."""

from typing import Any

from thali._labels import shorten
from thali.data.choices import Choices
from thali.data.pairs import PairedComparisons
from thali.errors import Clause, DataError, EstimateWarning, Setting
from thali.inference.seeds import streams

from ..likelihoods.best_worst import RANKING
from ..likelihoods.elimination import Elimination, as_pairs
from ..priors.given import Given
from .aspects import KnownAspects, known_aspects
from .clusters import clusters_of
from .covariates import LinearEstimates, check_covariates, common_aspect, endless, is_linear, own_names
from .estimates import Estimates, covariate_sizes
from .identify import check_identified
from .maximum import maximise, starting_points
from .problem import problem

STARTS = 10
LARGEST_TIE = 1e3  # above it two equal options would end in a tie 998 times of 1,000


def estimate(
    data: PairedComparisons | Choices,
    aspects: Any = "unique",
    unique: bool = True,
    lapse: float = 0.0,
    ties: bool = False,
    best_worst: str = RANKING,
    *,
    starts: int = STARTS,
    random_seed: Any = 0,
) -> Estimates:
    """The maximum-likelihood estimates of aspect weights.

    Parameters
    ----------
    data : PairedComparisons or Choices
    aspects, unique, lapse, best_worst
        As those of `EliminationByAspects`.
    ties : bool
        Whether a tie is an outcome.
    starts : int
        Points from which the climb begins, where the likelihood may have several maxima.
    random_seed
        Of the starts.

    Raises
    ------
    ArgumentError
        If the aspects are not known beforehand, or their weights could not be told apart by any choices.
    DataError
        If the data are of another kind, or do not tell the weights apart.

    Examples
    --------
    >>> from thali.datasets import celebrities
    >>> round(estimate(celebrities()).log_likelihood, 6)
    -143.039495
    """
    data = as_pairs(data, best_worst)
    known = checked_aspects(data, aspects, unique, lapse, ties, best_worst)
    if not is_linear(data, known):
        check_identified(known, data)
    return at_maximum(data, known, lapse, ties, starts, random_seed, best_worst=best_worst)


def checked_aspects(
    data: PairedComparisons | Choices,
    aspects: Any,
    unique: bool,
    lapse: float,
    ties: bool = False,
    best_worst: str = RANKING,
) -> KnownAspects:
    """The aspects, checked against the data: none may make a choice impossible that was made."""
    if isinstance(data, Choices):
        known = known_aspects(aspects, unique, data.labels)
        if not known.unique or known.shared.shape[1]:
            wide = int(data.sizes.argmax())
            raise DataError(
                f"Out of {shorten(data.sets[wide])} one of {data.sizes[wide]} was chosen, and maximum likelihood of "
                "choices out of more than two options is for unique aspects alone",
                Clause(", ", Setting("aspects", "unique"), "; use ", Setting("method", "mcmc"), " for shared ones"),
                ".",
            )
        Elimination(lapse, True, ties, False, best_worst).check(Given(known.shared), data)
        return known
    if not isinstance(data, PairedComparisons):
        Elimination(lapse, bool(unique), ties).check(None, data)  # which raises
        raise DataError(
            f"Maximum likelihood needs PairedComparisons; got {type(data).__name__}; use ",
            Setting("method", "mcmc"),
            ".",
        )
    known = known_aspects(aspects, unique, data.labels)
    shared = not known.unique or known.shared.shape[1] > 0
    Elimination(lapse, bool(unique), ties, shared, covariates=own_names(data)).check(Given(known.shared), data)
    if ties and not data.n_comparisons - data.n_ties:
        raise DataError("All comparisons are ties, which tell nothing about the weights.")
    return known


def at_maximum(
    data: PairedComparisons | Choices,
    known: KnownAspects,
    lapse: float,
    ties: bool = False,
    starts: int = STARTS,
    random_seed: Any = 0,
    best_worst: str = RANKING,
) -> Estimates:
    """The estimates for aspects that are checked already."""
    linear, extra = is_linear(data, known), None
    owners = common_aspect(known) if linear else known.owners
    if own_names(data):
        assert isinstance(data, PairedComparisons)
        check_covariates(data, owners)
        extra = data.cells.x / covariate_sizes(data)
    pose = problem(data, owners, lapse, extra, ties, best_worst)
    points = starting_points(pose, starts, streams(random_seed, 1)[0])
    kind = LinearEstimates if linear else Estimates
    return kind(data, known, float(lapse), pose, maximise(pose, points), best_worst, clusters_of(data, ties))


def vanishing(found: Estimates) -> list[EstimateWarning]:
    """A warning of weights that are reported as zero, of ties, or of covariates, because the likelihood rises for
    ever."""
    gone = found.maximum.vanishing
    if not gone.any() and found.tie is not None and found.tie > LARGEST_TIE:
        return [
            EstimateWarning(
                f"The likelihood has no maximum: it rises for ever while the parameter of ties grows, which is "
                f"{found.tie:.3g} here, and weights shrink. The estimates are of a point on the way; ",
                Setting("method", "mcmc"),
                " has a prior that keeps them finite.",
            )
        ]
    if not gone.any():
        return endless(found)
    names = [name for name, vanishes in zip(found.known.names, gone, strict=True) if vanishes]
    return [
        EstimateWarning(
            f"The likelihood has no maximum: it rises for ever while the weights of {shorten(names)} shrink relative "
            "to the others. They are reported as 0, without standard errors, and predictions are those of the limit; ",
            Setting("method", "mcmc"),
            " has a prior that keeps them finite.",
        )
    ]
