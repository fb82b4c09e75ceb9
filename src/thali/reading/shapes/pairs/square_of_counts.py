"""Paired comparisons as a square table: how often the row was chosen over the column."""

from typing import Any

import numpy as np

from thali._labels import as_label
from thali.data.columns import refuse_thousands
from thali.data.kinds import PAIRS, SIMILARITIES
from thali.data.pairs import PairedComparisons
from thali.data.suspicious import percentages, warn_of
from thali.errors import DataError

from ...cells import MISSING
from ...shape import Reading, Shape
from ...square import Square, other_labels
from ...table import Table

_SQUARE = "square of counts"
_SQUARE_HOW = "square count matrix, row over column"


def match_square(table: Table, weights: bool = False) -> Reading | None:
    """A square of numbers that are not surely similarities; `weights`: fractional counts are meant."""
    square = table.square
    if table.sheets and square is not None and not square.holds_similarities:
        return None  # squares_by_sheet reads all of them
    if square is None:
        if not (wrong := other_labels(table.frame)):
            return None
        return Reading(PAIRS, _SQUARE, _SQUARE_HOW, table, lambda: _refuse(wrong), sure=False)
    if square.holds_similarities and not weights:
        return None
    # a list of counts may have as many columns of numbers as rows, and then its "diagonal" holds numbers
    sure = not (square.bare and table.named and square.has_diagonal)
    doubtful = square.numbers is not None and (square.is_symmetric or not square.holds_counts)
    could_be = SIMILARITIES if doubtful else ""
    return Reading(PAIRS, _SQUARE, _SQUARE_HOW, table, lambda: _read_square(table, square, weights), sure, could_be)


def _read_square(table: Table, square: Square, weights: bool) -> tuple[PairedComparisons, str]:
    if not weights:
        refuse_thousands(table.frame, *table.names)
    values, left_out = _without_diagonal(square)
    data = PairedComparisons(values, square.labels, weights=weights)
    warn_of(left_out, percentages(data.wins, data.losses))
    return data, f"{_SQUARE_HOW}: {data}"


def _without_diagonal(square: Square) -> tuple[np.ndarray, str | None]:
    """The cells, where labels and asymmetry show what they are without counts of an option and itself; what of that."""
    if square.bare or not square.has_diagonal or not square.holds_counts or square.is_symmetric:
        return square.values, None
    diagonal = [as_label(value) for value in np.diag(square.values)]
    k = next(k for k, value in enumerate(diagonal) if value not in MISSING | {"0"})
    values = square.values.copy()
    np.fill_diagonal(values, 0)
    named = as_label((square.labels or ())[k])
    return values, (
        f"The diagonal ({diagonal[k]} for {named!r}) counts an option and itself, which is no comparison; it was left "
        "out."
    )


def _refuse(wrong: str) -> Any:
    raise DataError(wrong)


SQUARE = Shape(
    _SQUARE,
    PAIRS,
    match_square,
    expected="a square table of counts (row over column; the first column repeats the labels of the header)",
    settings=("weights",),
)
