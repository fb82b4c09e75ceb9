"""Paired comparisons as a workbook with a square of counts for every subject, a sheet each."""

import pandas as pd

from thali._labels import plural
from thali.data.kinds import PAIRS
from thali.data.pairs import PairedComparisons
from thali.errors import DataError

from ...shape import Reading, Shape
from ...table import Table

_SHEETS = "workbook with a square a subject"


def match_sheets(table: Table, weights: bool = False) -> Reading | None:
    """Several sheets that hold squares of counts."""
    squares = [sheet.square for _, sheet in table.sheets]
    if not squares or any(square is None or square.holds_similarities for square in squares):
        return None
    how = f"{plural(len(squares), 'sheet')}, one a subject, each a square count matrix, row over column"
    return Reading(PAIRS, _SHEETS, how, table, lambda: _read_sheets(table, how, weights))


def _read_sheets(table: Table, how: str, weights: bool) -> tuple[PairedComparisons, str]:
    """Each sheet is checked by itself, and all are added up."""
    rows, labels = [], None
    for title, sheet in table.sheets:
        square = sheet.square
        assert square is not None
        try:
            data = PairedComparisons(square.values, square.labels, weights=weights)
        except DataError as error:
            raise DataError(f"Sheet {title!r}: ", error) from None
        labels = labels or data.labels
        rows.append(data.to_frame().astype({"chosen": str, "rejected": str}).assign(subject=title))
    data = PairedComparisons.from_frame(pd.concat(rows), subject="subject", labels=labels, weights=weights)
    return data, f"{how}: {data}"


SHEETS = Shape(
    _SHEETS,
    PAIRS,
    match_sheets,
    expected="a workbook with such a square for every subject, a sheet each",
    settings=("weights",),
)
