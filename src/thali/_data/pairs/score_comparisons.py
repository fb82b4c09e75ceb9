"""Comparisons of options by their scores on the same items, and mean scores."""

from typing import TYPE_CHECKING

import numpy as np

from thali._inference.index_arithmetic import sum_by_index
from thali._labels import format_plural
from thali.errors import DataError

from ..base_classes import build_from_fields
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
    n_options = len(labels)
    n_scored = (~np.isnan(scores)).sum(axis=1)
    n_comparisons = int((n_scored * (n_scored - 1) // 2).sum())
    if not 0 < n_comparisons <= _MAX_COMPARISONS:
        raise DataError(
            f"The scores of {format_plural(n_options, 'option')} on"
            f" {format_plural(len(items), 'item')} allow {n_comparisons:,} comparisons; expected 1"
            f" to {_MAX_COMPARISONS:,}. Check the scores, or select rows."
        )
    relative_scores = np.round(scores / max(np.nanmax(np.abs(scores)), 1e-300), _DIGITS)
    first, second = np.triu_indices(n_options, 1)
    differences = relative_scores[:, first] - relative_scores[:, second]
    is_compared = (~np.isnan(differences)).any(axis=0)
    first = first[is_compared]
    second = second[is_compared]
    differences = differences[:, is_compared]
    item, pair = np.nonzero(~np.isnan(differences))
    signs = np.sign(differences[item, pair])
    outcomes = [(signs == sign).astype(float) for sign in (1.0, -1.0, 0.0)]
    counts = sum_by_index(pair, outcomes, len(first))
    answers = build_from_fields(
        Answers, items, None, item.astype(np.int32), pair.astype(np.int32), *outcomes, None, scores
    )
    return build_from_fields(cls, labels, first, second, *counts, None, answers)
