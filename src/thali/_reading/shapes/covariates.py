"""Observations: a row each, with the columns that explain, and the column of classes."""

from typing import TYPE_CHECKING

import numpy as np

from thali._data.columns import note, numbers_rows
from thali._data.kinds import CLASSES
from thali._data.roles import TARGET
from thali._data.rows import Observations
from thali._labels import plural, shorten, suggest
from thali.errors import Argument, ArgumentError, DataError

from ..shape import Reading, Shape
from ..table import RawTable

if TYPE_CHECKING:
    import pandas

NAME = "covariates and a column of classes"


def match(table: RawTable, known: bool = False, target: str | None = None) -> Reading | None:
    """A table whose column of classes, `target`, was named; any table if it is `known` to hold
    classes."""
    if target is None and not known:
        return None
    return Reading(
        CLASSES, NAME, f"classes in {target!r}", table, lambda: _converted(table, target)
    )


def _converted(table: RawTable, target: str | None) -> tuple[Observations, str]:
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
    labels, covariates = (
        table.frame.loc[:, target],
        table.frame.drop(columns=[target, *_texts_of_conditions(table)]),
    )
    if numbering := [str(name) for name, values in covariates.items() if numbers_rows(values)]:
        note(f"row numbers ({shorten(numbering)}) not used")
        covariates = covariates.drop(columns=numbering)
    if not covariates.shape[1]:
        raise DataError(
            f"The table has no column of covariates other than {target!r} (row numbers do not"
            " count); add a column."
        )
    empty = labels.isna().to_numpy()
    if empty.any():
        line = labels.index[int(empty.argmax())]
        raise DataError(f"Line {line} has no class in {target!r}; remove such lines.")
    _check_numbers(covariates)
    data = Observations(covariates.astype(float).reset_index(drop=True), labels.to_numpy(), target)
    return data, str(data)


def _texts_of_conditions(table: RawTable) -> list[str]:
    """The columns of text that only say which rows count."""
    import pandas as pd

    return [
        name
        for name in table.filter_columns
        if not pd.api.types.is_numeric_dtype(table.frame[name].dtype)
    ]


def _check_numbers(covariates: "pandas.DataFrame") -> None:
    """Raise an error that names all columns that are not numbers, or the first empty cell."""
    import pandas as pd

    kinds = {str(column): values.dtype for column, values in covariates.items()}
    words = [column for column, kind in kinds.items() if not pd.api.types.is_numeric_dtype(kind)]
    if words:
        values = covariates[words[0]].tolist()
        line = int(
            np.isnan(np.asarray(pd.to_numeric(pd.Series(values), errors="coerce"), float)).argmax()
        )
        which = (
            f"Column {words[0]!r} is" if len(words) == 1 else f"Columns {shorten(words, 20)} are"
        )
        what = (
            "is empty"
            if values[line] is None or values[line] != values[line]
            else f"contains {values[line]!r}"
        )
        raise DataError(
            f"{which} not numeric (line {covariates.index[line]} of {words[0]!r} {what}); code"
            " each category as a column of 0 and 1, or remove the column."
        )
    empty = np.argwhere(covariates.isna().to_numpy())
    if len(empty):
        line, column = covariates.index[empty[0, 0]], covariates.columns[empty[0, 1]]
        more = f" (and {plural(len(empty) - 1, 'more cell')})" if len(empty) > 1 else ""
        raise DataError(
            f"Line {line} of {column!r} is empty{more}; fill in such cells or remove their lines."
        )


SHAPE = Shape(
    NAME,
    CLASSES,
    match,
    expected="one row per observation, with a named column of classes and numeric columns",
    roles=(TARGET,),
    settings=("known",),
    named_by=("target",),
    main=("target",),
)


SHAPES = (SHAPE,)
