"""Comparisons of options by their scores on the same items, and mean scores."""

from typing import TYPE_CHECKING

import numpy as np

from thali.errors import DataError

from ..respondent_answers import Answers

if TYPE_CHECKING:
    from .comparisons import PairedComparisons

_MAX_COMPARISONS = 30_000_000  # of an item; with more, they do not fit in memory
_DIGITS = 12  # decimals of scores, relative to the largest, by which means of runs are equal


def compare_scores(
    cls: "type[PairedComparisons]",
    labels: tuple[str, ...],
    items: tuple[str, ...],
    scores: np.ndarray,
) -> "PairedComparisons":
    """Return a comparison of every two options on every item, won by the higher score.

    `scores`, (items, options), is NaN without a score. Equal scores are ties; an item is the
    respondent.
    """
    n_scored = (~np.isnan(scores)).sum(axis=1)
    n_comparisons = int((n_scored * (n_scored - 1) // 2).sum())
    if not 0 < n_comparisons <= _MAX_COMPARISONS:
        fix = f"at most {_MAX_COMPARISONS:,} fit in memory; rank fewer options or items"
        if n_comparisons == 0:
            fix = "at least one item needs scores of two options"
        raise DataError(
            f"The scores of {len(labels):,} options on {len(items):,} items contain"
            f" {n_comparisons:,} comparisons of two options on an item; {fix}."
        )
    relative_scores = np.round(scores / max(np.nanmax(np.abs(scores)), 1e-300), _DIGITS)
    first, second = np.triu_indices(len(labels), 1)
    differences = relative_scores[:, first] - relative_scores[:, second]
    item, pair = np.nonzero(~np.isnan(differences))
    differences = differences[item, pair]
    outcomes = [
        is_outcome.astype(float)
        for is_outcome in (differences > 0.0, differences < 0.0, differences == 0.0)
    ]
    is_compared = np.bincount(pair, minlength=len(first)) > 0
    new_pair = (np.cumsum(is_compared) - 1).astype(np.int32)
    answers = Answers._from_fields(
        items, None, item.astype(np.int32), new_pair[pair], *outcomes, scores
    )
    counts = [np.bincount(pair, outcome, len(first))[is_compared] for outcome in outcomes]
    return cls._from_fields(labels, first[is_compared], second[is_compared], *counts, None, answers)
