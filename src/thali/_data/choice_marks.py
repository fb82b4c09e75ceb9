"""Columns that mark the chosen row of each set of rows, found by their content."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .column_readers import classify_yes_no, get_column
from .column_roles import CHOSEN, column_names, map_plain_names

if TYPE_CHECKING:
    import pandas as pd


def number_sets(frame: "pd.DataFrame", key_columns: Sequence[str]) -> np.ndarray:
    """Return the number of each row's set, the rows with equal cells in the key columns."""
    return frame.groupby(list(key_columns), sort=False, dropna=False).ngroup().to_numpy()


def marks_one_row(column: "pd.Series", set_numbers: np.ndarray) -> bool:
    """Return whether a column of yes and no has exactly one yes in each set."""
    is_yes, is_wrong = classify_yes_no(column)
    if is_wrong.any() or is_yes.all():
        return False
    return bool((np.bincount(set_numbers, is_yes) == 1.0).all())


def find_marked_columns(
    frame: "pd.DataFrame", key_columns: Iterable[str | None], used_columns: Iterable[str | None]
) -> list[str]:
    """List the unused columns with exactly one yes in each set, usual names of choices first."""
    keys = list(dict.fromkeys(name for name in key_columns if name is not None))
    if not keys:
        return []
    excluded_columns = {*keys, *used_columns}
    set_numbers = number_sets(frame, keys)
    if set_numbers.max(initial=-1) + 1 > len(frame) / 2:
        return []
    named_columns = list(
        CHOSEN.find_possible_columns(map_plain_names(column_names(frame)), excluded_columns)
    )
    other_columns = [
        name
        for name in column_names(frame)
        if name not in excluded_columns and name not in named_columns
    ]
    return [
        name
        for name in [*named_columns, *other_columns]
        if get_column(frame, name).iloc[:_FIRST_ROWS].nunique() <= 2
        and marks_one_row(get_column(frame, name), set_numbers)
    ]


_FIRST_ROWS = 1_000  # rows that show whether a column has more than two values
