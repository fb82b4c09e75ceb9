"""The shapes of table that hold similarities: a square, a workbook of squares, a list."""

from typing import Any

import pandas as pd

from thali._data.kinds import SIMILARITIES
from thali._data.pairs.columns import choice_columns
from thali._data.roles import DISSIMILARITY, RESPONDENT, SIMILARITY, by_plain_name
from thali._data.similarities import Similarities
from thali._data.similarities.tables import measured_pairs, pair_columns, tells_similarities
from thali._labels import plural, shorten
from thali.errors import DataError

from ..shape import Reading, Shape
from ..square import Square, other_labels
from ..table import Table

# Similarities as a square table, whole or one triangle of it ----------------------------------------------------------


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


# Similarities as a workbook with a square for every respondent, a sheet each ------------------------------------------


_SHEETS = "workbook with a square of similarities a respondent"


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
    how = f"{plural(len(squares), 'sheet')}, one a respondent, each a square of similarities"
    return Reading(SIMILARITIES, _SHEETS, how, table, lambda: _read_sheets(table, how, symmetrize))


def _read_sheets(table: Table, how: str, symmetrize: str | None) -> tuple[Similarities, str]:
    """Each sheet is checked by itself; the data are the means, with the number of respondents of each."""
    matrices = {}
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
        matrices[title] = matrix
    data = Similarities.from_respondents(matrices)
    return data, f"{how}: {data}, the means over respondents; the diagonals were not read"


SHEETS = Shape(
    _SHEETS,
    SIMILARITIES,
    match_sheets,
    expected="a workbook with such a square of similarities for every respondent, a sheet each",
    settings=("symmetrize",),
    triangle=True,
)


# Similarities as a list: two objects a row, and how similar they are --------------------------------------------------


_LIST = "list of similarities"


def match_list(
    table: Table, known: bool = False, symmetrize: str | None = None, respondent: str | None = None
) -> Reading | None:
    """A table whose columns have the names of such a list.

    `known`: these are similarities, so that a column of dissimilarities, or two of similarities, is what is wrong.
    `symmetrize`: of squares; a list has nothing to take the mean of.
    """
    names = table.names if table.named else []
    if not tells_similarities(names, vaguely=True):
        own = by_plain_name(names)
        if not known or all(role.among(own) is None for role in (SIMILARITY, DISSIMILARITY)):
            return None
        return Reading(SIMILARITIES, _LIST, "table of pairs", table, lambda: _read_list(table, respondent), sure=False)
    square = table.square
    if square is not None and square.is_symmetric:
        return None
    choices = choice_columns(names)
    both_ways = any(len(columns.times) == 2 for columns in choices)
    sure = not both_ways and tells_similarities(names, vaguely=not choices)
    if square is not None and square.numbers is not None:
        sure &= square.bare and square.has_diagonal
    how = str(pair_columns(names, who=respondent))
    return Reading(SIMILARITIES, _LIST, how, table, lambda: _read_list(table, respondent), sure)


def _read_list(table: Table, respondent: str | None) -> tuple[Similarities, str]:
    columns = pair_columns(table.names, who=respondent)
    data = Similarities.from_frame(table.frame, *columns)
    used = {*columns, *(() if data.people is None else data.people)}
    unused = [name for name in table.names if name not in used and not name.startswith("column ")]
    ignored = f"; columns not used: {shorten(unused)}" if unused else ""
    return data, f"{data}, {columns}{ignored}"


LIST = Shape(
    _LIST,
    SIMILARITIES,
    match_list,
    expected=(
        "the columns 'first', 'second' and 'similarity' (or a and b, i and j, item1 and item2, row and column; sim, "
        "rating, proximity) and, if rows stand for several judgements, 'count'"
    ),
    roles=(RESPONDENT,),
    settings=("known", "symmetrize"),
)


SHAPES = SQUARE, SHEETS, LIST
