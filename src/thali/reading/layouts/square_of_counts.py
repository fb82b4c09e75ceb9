"""Paired comparisons as a square table: how often the row was chosen over the column."""

from typing import Any

from thali.data.kinds import PAIRS, SIMILARITIES
from thali.data.pairs import PairedComparisons
from thali.data.suspicious import percentages, warn_of
from thali.errors import DataError

from ..layout import Layout, Reading
from ..square import Square, other_labels
from ..table import Table

NAME = "square of counts"
HOW = "square count matrix, row over column"


def match(table: Table, weights: bool = False) -> Reading | None:
    """A square of numbers that are not surely similarities; `weights`: fractional counts are meant."""
    square = table.square
    if table.sheets and square is not None and not square.holds_similarities:
        return None  # squares_by_sheet reads all of them
    if square is None:
        if not (wrong := other_labels(table.frame)):
            return None
        return Reading(PAIRS, NAME, HOW, table, lambda: _refuse(wrong), sure=False)
    if square.holds_similarities and not weights:
        return None
    # a list of counts may have as many columns of numbers as rows, and then its "diagonal" holds numbers
    sure = not (square.bare and table.named and square.has_diagonal)
    doubtful = square.numbers is not None and (square.is_symmetric or not square.holds_counts)
    could_be = SIMILARITIES if doubtful else ""
    return Reading(PAIRS, NAME, HOW, table, lambda: _converted(square, weights), sure, could_be)


def _converted(square: Square, weights: bool) -> tuple[PairedComparisons, str]:
    data = PairedComparisons(square.values, square.labels, weights=weights)
    warn_of(percentages(data.wins, data.losses))
    return data, f"{HOW}: {data}"


def _refuse(wrong: str) -> Any:
    raise DataError(wrong)


LAYOUT = Layout(
    NAME,
    PAIRS,
    match,
    expected="a square table of counts (row over column; the first column repeats the labels of the header)",
    options=("weights",),
)
