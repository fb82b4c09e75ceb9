"""What labels are called where people read them: files without folder and ending, and names that a table gives."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from thali._labels import as_label, shorten, suggest
from thali.errors import Argument, DataError

if TYPE_CHECKING:
    from .table import Table

_MEDIA = re.compile(
    r"(?:.*[/\\])?([^/\\]+)\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?|mp3|wav|ogg|flac|m4a|mp4|mov|webm)", re.I
)
_MANY = 10_000  # different cells of a column that holds something else than labels


def read_labels(path: Path) -> dict[str, str]:
    """Name in the data -> label that is shown, from a table of these two columns.

    Raises
    ------
    DataError
        If it has other columns, a cell is empty, or a name or a label stands there twice.
    """
    from .table import in_file, read_table

    frame = read_table(path)
    with in_file(str(path)):
        if frame.shape[1] != 2:
            raise DataError(
                "A table of labels has two columns, the name in the data and the label that is shown; this one has"
                f" {frame.shape[1]}."
            )
        names, labels = ([as_label(cell) for cell in frame.iloc[:, side]] for side in (0, 1))
        for what, column in (("names", names), ("labels", labels)):
            if not all(column):
                raise DataError(f"A table of labels has a name and a label in each row; its {what} have an empty cell.")
            if twice := list(dict.fromkeys(each for each in column if column.count(each) > 1)):
                raise DataError(f"The {what} of a table of labels must differ; {shorten(twice)} is there twice.")
    return dict(zip(names, labels, strict=True))


def relabelled(table: "Table", labels: Mapping[str, str]) -> "Table":
    """The table with those names replaced wherever they are a whole cell of text, or label a square.

    Raises
    ------
    DataError
        If the table lacks a name, or has a label that is not itself replaced.
    """
    cells = _cells_of(table)
    if lost := [name for name in labels if name not in cells]:
        raise DataError(
            Argument("labels"), f" names {lost[0]!r}, which no cell of text holds.{suggest(lost[0], tuple(cells))}"
        )
    if doubled := [label for name, label in labels.items() if label in cells and label not in labels]:
        raise DataError(Argument("labels"), f" calls a name {doubled[0]!r}, which is in the data besides.")
    return _with(table, labels)


def without_file_names(table: "Table") -> "Table":
    """The table with names of pictures, sounds and films without their folder and ending, which is said."""
    names = [name for column in _texts_of(table) if all(map(_MEDIA.fullmatch, column)) for name in column]
    labels = {name: _plain(name) for name in dict.fromkeys(names)}
    if not labels or len(set(labels.values())) < len(labels) or not all(labels.values()):
        return table
    name, label = next(iter(labels.items()))
    note = f"labels that are names of files are shown without folder and ending, {label!r} for {name}"
    return _with(table, labels, note)


def _plain(name: str) -> str:
    """ice cream for stimuli/ice_cream.png."""
    found = _MEDIA.fullmatch(name)
    return "" if found is None else " ".join(found[1].replace("_", " ").split())


def _texts_of(table: "Table") -> list[list[str]]:
    """The different cells of each column of text, and the header of a square."""
    if table.sheets:
        return [column for _, sheet in table.sheets for column in _texts_of(sheet)]
    columns = [table.frame.iloc[:, k] for k in range(table.frame.shape[1])]
    found = [labels for column in columns if _is_text(column) and (labels := _different(column))]
    return [*found, *([_header(table)] if _is_square(table) else [])]


def _header(table: "Table") -> list[str]:
    return [as_label(name) for name in table.frame.columns[1:]]


def _is_square(table: "Table") -> bool:
    """Whether the first column has the labels of the header."""
    header = set(_header(table))
    return bool(header) and header <= set(map(as_label, table.frame.iloc[: 2 * len(header), 0]))


def _cells_of(table: "Table") -> set[str]:
    return {cell for column in _texts_of(table) for cell in column}


def _is_text(column: pd.Series) -> bool:
    return column.dtype.kind not in "biufcmM"


def _different(column: pd.Series) -> list[str]:
    """The different cells that are there; [] of very many."""
    values = column.dropna().unique()
    return [label for value in values if (label := as_label(value))] if len(values) <= _MANY else []


def _with(table: "Table", labels: Mapping[str, str], note: str = "") -> "Table":
    """The table with other labels, and a note."""

    def called(value: object) -> object:
        return labels.get(as_label(value), value)

    if table.sheets:
        sheets = tuple((title, _with(sheet, labels)) for title, sheet in table.sheets)
        return replace(table, sheets=sheets, note="; ".join(filter(None, [table.note, note])))
    frame = table.frame.copy(deep=False)
    for k in range(frame.shape[1]):
        column = frame.iloc[:, k]
        if _is_text(column):
            values = [value for value in column.dropna().unique() if as_label(value) in labels]
            if values:
                frame.isetitem(k, column.astype(object).replace({value: called(value) for value in values}))
    if _is_square(table):
        frame.columns = [str(called(name)) for name in frame.columns]
    return replace(table, frame=frame, note="; ".join(filter(None, [table.note, note])))
