"""Similarities as a square table, whole or one triangle of it."""

from typing import Any

from thali.data.kinds import SIMILARITIES
from thali.data.similarities import Similarities
from thali.data.similarities.listed import tells_similarities
from thali.data.similarities.symmetric import measured_pairs
from thali.errors import DataError

from ...shape import Reading, Shape
from ...square import Square, other_labels
from ...table import Table

_SQUARE = "square of similarities"


def match_square(table: Table, symmetrize: str | None = None) -> Reading | None:
    """A square of numbers; sure if it is symmetric or a triangle, and they are not all counts.

    `symmetrize`: "mean" takes the mean of the two sides of the diagonal where they differ.
    """
    if table.sheets:
        return None
    square = table.square
    listed = table.named and tells_similarities(table.names, vaguely=True)
    if square is None:
        wrong = "" if listed or not table.named else other_labels(table.frame)
        return (
            Reading(SIMILARITIES, _SQUARE, "square table", table, lambda: _refuse(wrong), sure=False) if wrong else None
        )
    if listed and not square.is_symmetric:
        return None
    sure = square.holds_similarities
    return Reading(SIMILARITIES, _SQUARE, "square table", table, lambda: _read_square(square, symmetrize), sure)


def _read_square(square: Square, symmetrize: str | None) -> tuple[Similarities, str]:
    found = measured_pairs(square.cells, square.labels, symmetrize)
    data = Similarities._of(found)
    how = found.layout
    if found.zeros_not_read:
        how += " (the zeros on the other side of the diagonal were not read)"
    elif symmetrize is not None and not square.is_symmetric:
        how += ", the mean of its two sides"
    return data, f"{data}, {how}; the diagonal was not read"


def _refuse(wrong: str) -> Any:
    raise DataError(wrong)


SQUARE = Shape(
    _SQUARE,
    SIMILARITIES,
    match_square,
    expected=(
        "a square table of similarities (the first column repeats the labels of the header), whole or one triangle of "
        "it"
    ),
    settings=("symmetrize",),
    triangle=True,
)
