"""The shapes of table that hold similarities: a square, a workbook of squares, a list."""

from dataclasses import replace
from functools import partial

import pandas as pd

from thali._data.checks import checked_numbers
from thali._data.columns import column
from thali._data.described_columns import ColumnsRead, may_measure
from thali._data.kinds import SIMILARITIES
from thali._data.pairs.columns import choice_columns
from thali._data.roles import DISSIMILARITY, RESPONDENT, SIMILARITY, by_plain_name
from thali._data.similarities import Similarities
from thali._data.similarities.tables import (
    from_dissimilarities,
    measured_pairs,
    pair_columns,
    similar,
    tells_similarities,
)
from thali._labels import as_label, shorten
from thali.errors import DataError

from ..shape import Reading, Shape, raise_error
from ..square import Square, describe_label_mismatch
from ..table import RawTable

# Similarities as a square table, whole or one triangle of it --------------------------------------


_SQUARE = "square matrix of similarities"


def match_square(
    table: RawTable, symmetrize: str | None = None, dissimilarities: str | None = None
) -> Reading | None:
    """A square of numbers; sure if it is symmetric or a triangle, and they are not all counts.

    `symmetrize`: "mean" takes the mean of the two sides of the diagonal where they differ.
    `dissimilarities`: how these become similarities.
    """
    if table.sheets:
        return None
    square = table.square
    listed = table.named and tells_similarities(table.names, vaguely=True)
    if square is None:
        wrong = "" if listed or not table.named else describe_label_mismatch(table.frame)
        return (
            Reading(
                SIMILARITIES, _SQUARE, "square table", table, lambda: raise_error(wrong), sure=False
            )
            if wrong
            else None
        )
    if listed and not square.is_symmetric:
        return None
    sure = square.has_similarities or dissimilarities is not None
    convert = partial(_read_square, square, symmetrize, dissimilarities)
    return Reading(SIMILARITIES, _SQUARE, "square table", table, convert, sure)


def _read_square(
    square: Square, symmetrize: str | None, how_similar: str | None
) -> tuple[Similarities, str]:
    found = measured_pairs(square.cells, square.labels, symmetrize)
    if how_similar is not None:
        found = found._replace(
            values=from_dissimilarities(found, how_similar), lowest_diagonal=False
        )
    data = Similarities._of(found)
    how = (
        found.layout
        if how_similar is None
        else f"{found.layout} of dissimilarities ({how_similar})"
    )
    if found.zeros_not_read:
        how += " (zeros on the other side of the diagonal ignored)"
    elif symmetrize is not None and not square.is_symmetric:
        how += ", average of the two halves"
    return data, f"{data}, {how}; diagonal ignored"


SQUARE = Shape(
    _SQUARE,
    SIMILARITIES,
    match_square,
    expected=(
        "a square table of similarities (the first column repeats the labels of the header),"
        " complete or only one triangle"
    ),
    settings=("symmetrize", "dissimilarities"),
    triangle=True,
    needs="no square matrix",
)


# Similarities as a workbook with a square for every respondent, a sheet each ----------------------


_SHEETS = "workbook with one square matrix of similarities per respondent"


def match_sheets(table: RawTable, symmetrize: str | None = None) -> Reading | None:
    """Several sheets that hold squares, symmetric or triangles, and not all counts."""
    squares = {title: sheet.square for title, sheet in table.sheets}
    if not any(square is not None and square.has_similarities for square in squares.values()):
        return None
    counts = [title for title, square in squares.items() if square is None or square.has_counts]
    if counts:
        similar = [title for title in squares if title not in counts]
        raise DataError(
            f"Some sheets contain similarities ({shorten(similar)}), but others do not"
            f" ({shorten(counts)}); keep one kind of sheet."
        )
    how = "one sheet per respondent, each with a square matrix of similarities"
    return Reading(SIMILARITIES, _SHEETS, how, table, lambda: _read_sheets(table, how, symmetrize))


def _read_sheets(table: RawTable, how: str, symmetrize: str | None) -> tuple[Similarities, str]:
    """Each sheet is checked by itself; the data are the means, with the number of respondents of
    each."""
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
    return data, f"{how}: {data}, means over respondents; diagonals ignored"


SHEETS = Shape(
    _SHEETS,
    SIMILARITIES,
    match_sheets,
    expected="a workbook with such a square matrix of similarities on one sheet per respondent",
    settings=("symmetrize",),
    triangle=True,
    needs="no sheets with square matrices",
)


# Similarities as a list: two objects a row, and how similar they are ------------------------------


_LIST = "list of similarities"


def match_list(
    table: RawTable,
    known: bool = False,
    symmetrize: str | None = None,
    respondent: str | None = None,
    dissimilarities: str | None = None,
) -> Reading | None:
    """A table whose columns have the names of such a list.

    `known`: these are similarities, so that a column of dissimilarities, or two of similarities, is
    what is wrong. `symmetrize`: of squares; a list has nothing to take the mean of.
    `dissimilarities`: how these become similarities.
    """
    names = table.names if table.named else []
    if names and table.square is None and (known or dissimilarities is not None):
        measure = _measure(table, respondent, dissimilarities is not None)
        if measure is not None:
            return _list_reading(table, respondent, measure, dissimilarities)
    if not tells_similarities(names, vaguely=True):
        own = by_plain_name(names)
        if not known or all(role.among(own) is None for role in (SIMILARITY, DISSIMILARITY)):
            return None
        convert = partial(_read_list, table, respondent)
        return Reading(SIMILARITIES, _LIST, "table of pairs", table, convert, sure=False)
    square = table.square
    if square is not None and square.is_symmetric:
        return None
    choices = choice_columns(names)
    both_ways = any(len(columns.times) == 2 for columns in choices)
    sure = not both_ways and tells_similarities(names, vaguely=not choices)
    if square is not None and square.numbers is not None:
        sure &= square.is_bare and square.has_diagonal
    return replace(_list_reading(table, respondent), sure=sure)


def _list_reading(
    table: RawTable,
    respondent: str | None,
    measure: str | None = None,
    how_similar: str | None = None,
) -> Reading:
    """The reading of columns that are there."""
    columns = pair_columns(table.names, similarity=measure, who=respondent)
    counts = () if columns.count is None else (columns.count,)
    roles = ColumnsRead((columns.first, columns.second), (columns.similarity,), counts, columns.who)
    convert = partial(_read_list, table, respondent, measure, how_similar)
    return Reading(SIMILARITIES, _LIST, str(columns), table, convert, roles=roles)


def _measure(table: RawTable, respondent: str | None, of_dissimilarities: bool) -> str | None:
    """The column of dissimilarities, or the only one of numbers that may be a measure, where no
    name says which."""
    own = by_plain_name(table.names)
    if usual := DISSIMILARITY.among(own) or SIMILARITY.among(own):
        return usual if of_dissimilarities else None
    try:
        read = {*pair_columns(table.names, similarity="", who=respondent)}
    except DataError:
        return None
    names = [name for name in table.names if name not in read]
    measures = [name for name in names if may_measure(name, column(table.frame, name))]
    return measures[0] if len(measures) == 1 else None


def _read_list(
    table: RawTable,
    respondent: str | None,
    measure: str | None = None,
    how_similar: str | None = None,
) -> tuple[Similarities, str]:
    columns, frame, how = (
        pair_columns(table.names, similarity=measure, who=respondent),
        table.frame,
        "",
    )
    if how_similar is not None:
        differ = frame[columns.first].map(as_label) != frame[columns.second].map(as_label)
        given = column(frame, columns.similarity).astype(object)
        numbers = checked_numbers(
            given.to_numpy(), lambda k: f"in row {frame.index[k]}", "dissimilarity"
        )
        distance = pd.Series(numbers, frame.index)[differ].dropna()
        values = similar(
            distance.to_numpy(float), how_similar, lambda k: f"row {distance.index[k]}"
        )
        frame = frame.assign(**{columns.similarity: pd.Series(values, distance.index)})
        how = f", converted from dissimilarities ({how_similar})"
    data = Similarities.from_frame(frame, *columns)
    return data, f"{data}, {columns}{how}"


LIST = Shape(
    _LIST,
    SIMILARITIES,
    match_list,
    expected=(
        "the columns 'first', 'second' and 'similarity' (or 'a' and 'b', 'i' and 'j', 'item1' and"
        " 'item2', 'row' and 'column'; 'sim', 'rating', 'proximity'), with 'count' if rows are"
        " means of several judgements"
    ),
    roles=(RESPONDENT,),
    settings=("known", "symmetrize", "dissimilarities"),
    needs="no column of similarities with two columns of objects",
)


SHAPES = SQUARE, SHEETS, LIST
