"""Paired comparisons and known aspects in, estimates out."""

import warnings
from typing import Any

import numpy as np

from thali._quiet import is_quiet
from thali._random import streams
from thali.data.check import shorten
from thali.data.choices import Choices
from thali.data.pairs import PairedComparisons
from thali.errors import DataError, EstimateWarning
from thali.likelihoods.elimination import Elimination, as_pairs
from thali.maximum_likelihood.aspects import KnownAspects, known_aspects
from thali.maximum_likelihood.estimates import Estimates
from thali.maximum_likelihood.identify import check_identified
from thali.maximum_likelihood.maximum import maximise, starting_points
from thali.maximum_likelihood.problem import problem
from thali.priors.given import Given

STARTS = 10


def estimate(
    data: PairedComparisons,
    aspects: Any = "unique",
    unique: bool = True,
    lapse: float = 0.0,
    *,
    starts: int = STARTS,
    random_seed=0,
) -> Estimates:
    """The maximum-likelihood estimates of aspect weights.

    Parameters
    ----------
    data : PairedComparisons, or Choices between pairs
    aspects, unique, lapse
        As those of `EliminationByAspects`.
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

    Example
    -------
    >>> from thali.datasets import celebrities
    >>> round(estimate(celebrities()).log_likelihood, 6)
    -143.039495
    """
    data = as_pairs(data)
    known = checked_aspects(data, aspects, unique, lapse)
    check_identified(known, data)
    return at_maximum(data, known, lapse, starts, random_seed)


def checked_aspects(data: PairedComparisons, aspects: Any, unique: bool, lapse: float) -> KnownAspects:
    """The aspects, checked against the data: none may make a choice impossible that was made."""
    likelihood = Elimination(lapse, bool(unique))
    if not isinstance(data, PairedComparisons):
        if isinstance(data, Choices):
            wide = int(data.sizes.argmax())
            raise DataError(
                f"Maximum likelihood is for choices between two options; out of {shorten(data.sets[wide])} one of "
                f"{data.sizes[wide]} was chosen. Use method='mcmc'."
            )
        likelihood.check(None, data)  # which raises
        raise DataError(f"Maximum likelihood needs PairedComparisons; got {type(data).__name__}; use method='mcmc'.")
    known = known_aspects(aspects, unique, data.labels)
    likelihood.check(Given(known.shared), data)
    return known


def at_maximum(
    data: PairedComparisons,
    known: KnownAspects,
    lapse: float,
    starts: int = STARTS,
    random_seed=0,
    extra: np.ndarray | None = None,
) -> Estimates:
    """The estimates for aspects that are checked already."""
    pose = problem(data, known.owners, lapse, extra)
    points = starting_points(pose, starts, streams(random_seed, 1)[0])
    return Estimates(data, known, float(lapse), pose, maximise(pose, points))


def warn_of_vanishing(found: Estimates, stacklevel: int) -> None:
    """Warn of weights that are reported as zero because the likelihood rises for ever while they shrink."""
    gone = found.maximum.vanishing
    if not gone.any() or is_quiet():
        return
    names = [name for name, vanishes in zip(found.known.names, gone, strict=True) if vanishes]
    warnings.warn(
        f"The likelihood has no maximum: it rises for ever while the weights of {shorten(names)} shrink relative to "
        "the others. They are reported as 0, without standard errors, and predictions are those of the limit; "
        "method='mcmc' has a prior that keeps them finite.",
        EstimateWarning,
        stacklevel=stacklevel,
    )
