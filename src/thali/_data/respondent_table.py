"""Tables of respondents, one row each, from columns constant within respondents."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import format_label, shorten, suggest
from thali._object_descriptions import Facts
from thali.errors import DataError

from .column_readers import get_column
from .column_roles import column_names

if TYPE_CHECKING:
    import pandas as pd


def build_people_table(
    frame: "pd.DataFrame",
    used_columns: Collection[str | None],
    person_index: np.ndarray,
    names: tuple[str, ...],
    title: str = "respondent",
) -> "pd.DataFrame | None":
    """Build a table of respondents from columns constant within each; None if there are none.

    These are columns that are constant within each person, not empty and not in `used_columns`.
    Return None if there are none.
    """
    import pandas as pd

    constant_columns = [
        name
        for name in frame.columns
        if name not in used_columns
        and not frame[name].isna().to_numpy().all()
        and is_constant_within(pd.factorize(frame[name])[0], person_index)
    ]
    if not constant_columns:
        return None
    first_rows = np.zeros(len(names), np.int64)
    first_rows[person_index[::-1]] = np.arange(len(person_index))[::-1]
    return frame.loc[:, constant_columns].iloc[first_rows].set_axis(pd.Index(names, name=title))


def is_constant_within(codes: np.ndarray, groups: np.ndarray) -> bool:
    """Return whether `codes` is constant within each group of rows."""
    group_codes = np.zeros(groups.max() + 1, np.int64)
    group_codes[groups] = codes
    return np.array_equal(group_codes[groups], codes)


def has_adjacent_rows(codes: np.ndarray) -> bool:
    """Return whether the rows of each code are adjacent; codes are 0, 1, ..."""
    return np.count_nonzero(np.diff(codes)) == codes.max()


def varies_within(groups: Any, name: str) -> bool:
    """Return whether a column has different filled cells in some of these groups of rows."""
    return bool(groups[name].nunique().max() > 1)


def get_respondent_column(people: "pd.DataFrame | None", column: str) -> "pd.Series":
    """Return a column of the respondents; raise DataError if there is none of this name."""
    known_columns = []
    available_text = "there are no other respondent columns"
    if people is not None:
        known_columns = column_names(people)
        available_text = f"available: {shorten(known_columns)}"
    if people is None or column not in known_columns:
        hint = (
            suggest(column, known_columns)
            or " Give one value per respondent, or give the name of another column."
        )
        raise DataError(
            f"{column!r} is not a respondent column (a column that is constant within each"
            " respondent);"
            f" {available_text}.{hint}"
        )
    return get_column(people, column)


def group_people(
    people: "pd.DataFrame | None", column: str, respondent: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the indices of the respondents in each group, by a column's cells.

    People with an empty cell, and people without answers, are in no group. `respondent` lists the
    people who gave answers.
    """
    cells = get_respondent_column(people, column)
    group_by_respondent = cells.map(format_label, na_action="ignore").to_numpy(object)
    distinct_groups = dict.fromkeys(group_by_respondent[~cells.isna()])
    answering_respondents = np.unique(respondent)
    members_by_group = {
        name: np.intersect1d(np.flatnonzero(group_by_respondent == name), answering_respondents)
        for name in distinct_groups
    }
    return {name: members for name, members in members_by_group.items() if len(members)}


def list_differing_columns(people: "pd.DataFrame | None") -> list[str]:
    """List the columns of `people` with at least two different values."""
    if people is None:
        return []
    return [str(name) for name, n in people.nunique(dropna=False).items() if n > 1]


def list_people_facts(people: "pd.DataFrame | None") -> Facts:
    """Return (column, values) facts about respondents that a notebook shows."""
    if differing_columns := list_differing_columns(people):
        return (("respondent columns", tuple(differing_columns)),)
    return ()
