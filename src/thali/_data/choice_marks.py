"""Columns that mark the chosen row of each set of rows, found by their content."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .column_readers import classify_yes_no, get_column
from .column_roles import (
    AVAILABLE,
    BEST,
    CHOSEN,
    RANK,
    WORST,
    column_names,
    list_name_words,
    map_plain_names,
)

if TYPE_CHECKING:
    import pandas as pd


def number_sets(frame: "pd.DataFrame", key_columns: Sequence[str]) -> np.ndarray:
    """Return the number of each row's set, the rows with equal cells in the key columns."""
    return frame.groupby(list(key_columns), sort=False, dropna=False).ngroup().to_numpy()


def share_of_marked_sets(column: "pd.Series", set_numbers: np.ndarray) -> float:
    """Return the share of sets with exactly one yes; 0 for a column of other cells."""
    is_yes, is_wrong = classify_yes_no(column)
    if is_wrong.any() or is_yes.all():
        return 0.0
    return float((np.bincount(set_numbers, is_yes) == 1.0).mean())


def marks_one_row(column: "pd.Series", set_numbers: np.ndarray) -> bool:
    """Return whether a column of yes and no has exactly one yes in each set."""
    return share_of_marked_sets(column, set_numbers) == 1.0


def find_single_marked_column(
    frame: "pd.DataFrame", key_columns: Iterable[str | None], used_columns: Iterable[str | None]
) -> str | None:
    """Return the only unused column with exactly one yes in each set; None for none or several.

    Its name contains a word for a choice: an attribute may also be 1 once in each set.
    """
    keys = list(dict.fromkeys(name for name in key_columns if name is not None))
    if not keys:
        return None
    name_by_simplified = map_plain_names(column_names(frame))
    excluded_columns = {*keys, *used_columns}
    for role in (RANK, AVAILABLE, BEST, WORST):
        excluded_columns.update(role.find_certain_columns(name_by_simplified))
    set_numbers = number_sets(frame, keys)
    if set_numbers.max(initial=-1) + 1 > len(frame) / 2:
        return None
    marked_columns = [
        name
        for name in column_names(frame)
        if name not in excluded_columns
        and mentions_choice(name)
        and get_column(frame, name).iloc[:_FIRST_ROWS].nunique() <= 2
        and marks_one_row(get_column(frame, name), set_numbers)
    ]
    if len(marked_columns) > 1:
        return None
    return next(iter(marked_columns), None)


_CHOICE_WORDS = {
    *CHOSEN.synonyms,
    *"purchase purchased bought buy booking booked click clicked pick vote voted prefers".split(),
} - {"y", "response"}


def mentions_choice(name: str) -> bool:
    """Return whether a word of a column's name means a choice, as in Chosen_Immigrant."""
    return not _CHOICE_WORDS.isdisjoint(list_name_words(name))


_FIRST_ROWS = 1_000  # rows that show whether a column has more than two values
