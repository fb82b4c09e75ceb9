"""Similarities as a workbook with a square for every subject, a sheet each."""

import pandas as pd

from thali._labels import plural, shorten
from thali.data.kinds import SIMILARITIES
from thali.data.similarities import Similarities
from thali.data.similarities.symmetric import measured_pairs
from thali.errors import DataError

from ...shape import Reading, Shape
from ...table import Table

_SHEETS = "workbook with a square of similarities a subject"


def match_sheets(table: Table, symmetrize: str | None = None) -> Reading | None:
    """Several sheets that hold squares, symmetric or triangles, and not all counts."""
    squares = {title: sheet.square for title, sheet in table.sheets}
    if not any(square is not None and square.holds_similarities for square in squares.values()):
        return None
    counts = [title for title, square in squares.items() if square is None or square.holds_counts]
    if counts:
        similar = [title for title in squares if title not in counts]
        raise DataError(
            f"Sheets {shorten(similar)} hold similarities, sheets {shorten(counts)} do not; keep those of one kind."
        )
    how = f"{plural(len(squares), 'sheet')}, one a subject, each a square of similarities"
    return Reading(SIMILARITIES, _SHEETS, how, table, lambda: _read_sheets(table, how, symmetrize))


def _read_sheets(table: Table, how: str, symmetrize: str | None) -> tuple[Similarities, str]:
    """Each sheet is checked by itself; the data are the means, with the number of subjects of each."""
    matrices = []
    for title, sheet in table.sheets:
        square = sheet.square
        assert square is not None
        try:
            found = measured_pairs(square.cells, square.labels, symmetrize)
        except DataError as error:
            raise DataError(f"Sheet {title!r}: ", error) from None
        matrix = pd.DataFrame(float("nan"), list(found.labels), list(found.labels))
        for first, second, value in zip(found.first, found.second, found.values, strict=True):
            matrix.iloc[first, second] = matrix.iloc[second, first] = value
        matrices.append(matrix)
    data = Similarities.from_subjects(matrices)
    return data, f"{how}: {data}, the means over subjects; the diagonals were not read"


SHEETS = Shape(
    _SHEETS,
    SIMILARITIES,
    match_sheets,
    expected="a workbook with such a square of similarities for every subject, a sheet each",
    settings=("symmetrize",),
    triangle=True,
)
