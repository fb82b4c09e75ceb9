"""Means, intervals and standard errors of what was drawn, in columns that are called alike."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import between

if TYPE_CHECKING:
    from .chooser import Chooser


def probability_of(ci: Any) -> float:
    """The argument `ci`, checked."""
    return between("ci", ci, "the probability of an interval")


def ends(values: np.ndarray, ci: float) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the equal-tailed interval of values, the first axis."""
    low, high = np.quantile(values, [(1.0 - ci) / 2.0, (1.0 + ci) / 2.0], axis=0)
    return low, high


def centre(chooser: "Chooser", values: np.ndarray) -> np.ndarray:
    """The figure that stands for values (draws, ...): the estimate, or the posterior mean."""
    return values[0] if chooser.is_estimate else values.mean(axis=0)


def ends_of_draws(chooser: "Chooser", values: np.ndarray, ci: float) -> tuple[np.ndarray, np.ndarray]:
    """The interval of values (draws, ...)."""
    return ends(values[1:] if chooser.is_estimate else values, ci)


def spread_of_people(values: np.ndarray, ci: float) -> dict[str, np.ndarray]:
    """The columns `people_low` and `people_high`: an interval that holds this share of people, the first axis."""
    low, high = ends(values, ci)
    return {"people_low": low, "people_high": high}


def standard_error(by_group: np.ndarray) -> np.ndarray:
    """Standard error of the mean over groups, the last axis; NaN for a single one."""
    groups = by_group.shape[-1]
    if groups < 2:
        return np.full(by_group.shape[:-1], np.nan)
    return by_group.std(axis=-1, ddof=1) / np.sqrt(groups)


def error_between_chains(values: np.ndarray, chain: np.ndarray) -> np.ndarray:
    """Standard error of the mean of values (draws, ...) by the differences between chains."""
    return standard_error(np.stack([values[chain == c].mean(axis=0) for c in np.unique(chain)], axis=-1))


def thinned(chain: np.ndarray, most: int) -> np.ndarray:
    """Numbers of at most this many draws, equally many of each chain, evenly spaced."""
    groups, counts = np.unique(chain, return_counts=True)
    each = max(1, most // max(len(groups), 1))
    kept = []
    for g, count in zip(groups, counts, strict=True):
        own = np.flatnonzero(chain == g)
        kept.append(own[np.unique(np.linspace(0, count - 1, min(count, each)).round().astype(np.int64))])
    return np.concatenate(kept) if kept else np.zeros(0, np.int64)
