"""Layout of observations: covariates and a class in each row."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.classification_data import Observations
from thali._data.column_readers import add_note, is_row_number
from thali._data.column_roles import (
    TARGET,
    has_numbers,
    list_name_words,
    list_weight_columns,
)
from thali._data.kinds import CLASSES
from thali._inference.index_arithmetic import find_first
from thali._labels import format_plural, shorten, suggest
from thali.errors import Argument, ArgumentError, DataError, Setting

from ..table_files import RawTable
from ..table_layout import Reading, Shape

if TYPE_CHECKING:
    import pandas

NAME = "covariates and a column of classes"


def match_observations(
    table: RawTable, known: bool = False, target: str | None = None
) -> Reading | None:
    """Return a `Reading` of a table of covariates and classes; None for other tables."""
    if target is None and not known:
        return None

    def convert() -> tuple[Observations, str]:
        """Return the covariates and classes, and a sentence on them."""
        columns = table.names
        if target is None:
            raise ArgumentError(
                Argument("target"),
                f" must name the column of classes; {table.file} has {shorten(columns, 20)}.",
            )
        if target not in columns:
            raise ArgumentError(
                Argument("target"),
                f" must be a column of {table.file}, which has {shorten(columns, 20)}; got"
                f" {target!r}.{suggest(target, columns)}",
            )
        labels = table.frame.loc[:, target]
        # the row filter alone uses some columns of texts
        filter_texts = [name for name in table.filter_columns if not has_numbers(table.frame[name])]
        covariates = table.frame.drop(columns=[target, *filter_texts]).copy()
        for meaning, is_meant in (("row numbers", is_row_number), ("identifiers", _is_identifier)):
            if columns := [str(name) for name, cells in covariates.items() if is_meant(cells)]:
                add_note(f"{meaning} ({shorten(columns)}) not used")
                covariates = covariates.drop(columns=columns)
        for name in list_weight_columns(covariates):
            cells: Any = covariates[name]
            if has_numbers(cells) and cells.min() < 0:
                continue  # a measurement, not a weight
            raise DataError(
                f"Column {name!r} looks like row counts or weights, but each row is counted once."
                " If it contains counts, repeat each row that many times; otherwise, drop the"
                " column with ",
                Setting("without", [name]),
                " or, if it describes the observations, rename it.",
            )
        for column, cells in covariates.items():
            covariates[column] = _read_truth_values(cells)
        if not covariates.shape[1]:
            raise DataError(
                f"The table has no column of covariates other than {target!r} (row numbers do not"
                " count); add a column."
            )
        if (row := find_first(labels.isna().to_numpy())) is not None:
            raise DataError(
                f"Line {labels.index[row]} has no class in {target!r}; remove such lines."
            )
        _check_numbers(covariates)
        data = Observations(
            covariates.astype(float).reset_index(drop=True), labels.to_numpy(), target
        )
        return data, str(data)

    return Reading(CLASSES, NAME, f"classes in {target!r}", table, convert)


def _is_identifier(column: "pandas.Series") -> bool:
    """Return whether a column is called an identifier and has another integer in each row."""
    is_named_id = list_name_words(str(column.name))[-1:] == ["id"]
    return is_named_id and column.dtype.kind in "iu" and column.is_unique


def _read_truth_values(column: "pandas.Series") -> "pandas.Series":
    """Convert a column of true and false to 1 and 0; return other columns as they are."""
    words = column.astype(str).str.casefold()
    if has_numbers(column) or not words.isin(("true", "false")).all():
        return column
    return (words == "true").astype(float)


def _check_numbers(covariates: "pandas.DataFrame") -> None:
    """Raise DataError if a covariate is not numeric or has empty cells."""
    import pandas as pd

    text_columns = [str(name) for name, cells in covariates.items() if not has_numbers(cells)]
    if text_columns:
        cells = covariates[text_columns[0]].tolist()
        numbers: Any = pd.to_numeric(pd.Series(cells), errors="coerce")
        line = numbers.isna().to_numpy().argmax()
        column_phrase = f"Column {text_columns[0]!r} is"
        if len(text_columns) > 1:
            column_phrase = f"Columns {shorten(text_columns, 20)} are"
        cell_phrase = f"contains {cells[line]!r}"
        if pd.isna(cells[line]):
            cell_phrase = "is empty"
        raise DataError(
            f"{column_phrase} not numeric (line {covariates.index[line]} of {text_columns[0]!r}"
            f" {cell_phrase}); code each category as a column of 0s and 1s, or remove the column."
        )
    empty_cells = np.argwhere(covariates.isna().to_numpy())
    if len(empty_cells):
        line = covariates.index[empty_cells[0, 0]]
        column = covariates.columns[empty_cells[0, 1]]
        other_cells = ""
        if len(empty_cells) > 1:
            other_cells = f" (and {format_plural(len(empty_cells) - 1, 'more cell')})"
        raise DataError(
            f"Line {line} of {column!r} is empty{other_cells}; fill in such cells or remove their"
            " lines."
        )


SHAPE = Shape(
    NAME,
    CLASSES,
    match_observations,
    expected="one row per observation, with a named column of classes and numeric columns",
    roles=(TARGET,),
    settings=("known",),
    named_by=("target",),
    main=("target",),
)


SHAPES = (SHAPE,)
