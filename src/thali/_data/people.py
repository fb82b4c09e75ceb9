"""Columns that describe respondents: columns that are constant within each respondent."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._described import Facts
from thali._labels import format_label, shorten, suggest
from thali.errors import DataError

from .roles import column_names

if TYPE_CHECKING:
    import pandas as pd


def build_people_table(
    frame: "pd.DataFrame",
    used_columns: Collection[str | None],
    person_index: np.ndarray,
    names: tuple[str, ...],
    title: Any = "respondent",
) -> "pd.DataFrame | None":
    """Collect the columns that describe people, one row per person.

    These are columns that are constant within each person, not empty and not in `used_columns`.
    Return None if there are none.
    """
    import pandas as pd

    first_rows = np.zeros(len(names), np.int64)
    first_rows[person_index[::-1]] = np.arange(len(person_index))[::-1]
    constant = []
    for name in frame.columns:
        if name in used_columns or frame[name].isna().to_numpy().all():
            continue
        codes, _ = pd.factorize(frame[name])
        if np.array_equal(codes, codes[first_rows][person_index]):
            constant.append(name)
    if not constant:
        return None
    return frame.loc[:, constant].iloc[first_rows].set_axis(pd.Index(names, name=title))


def group_people(
    people: "pd.DataFrame | None", column: str, respondent: np.ndarray
) -> dict[str, np.ndarray]:
    """Group people by a column, and return the indices of each group's members.

    People with an empty cell, and people without answers, are in no group. `respondent` lists the
    people who gave answers.
    """
    known_columns = column_names(people) if people is not None else []
    if people is None or column not in known_columns:
        available = (
            f"available: {shorten(known_columns)}"
            if known_columns
            else "there are no other respondent columns"
        )
        hint = suggest(column, known_columns)
        hint = hint or " Give one value per respondent, or name another column."
        raise DataError(
            f"{column!r} is not a respondent column (a column that is constant within each"
            " respondent);"
            f" {available}.{hint}"
        )
    group_names = people[column].map(format_label, na_action="ignore").to_numpy(object)
    names = dict.fromkeys(group_names[~people[column].isna()])
    active = np.unique(respondent)
    members_by_group = {
        name: np.intersect1d(np.flatnonzero(group_names == name), active) for name in names
    }
    return {name: members for name, members in members_by_group.items() if len(members)}


def list_differing_columns(people: "pd.DataFrame | None") -> list[str]:
    """List the columns of people whose values differ between people."""
    if people is None:
        return []
    return [str(name) for name, n in people.nunique(dropna=False).items() if n > 1]


def list_people_facts(people: "pd.DataFrame | None") -> Facts:
    """Return the columns of people that a notebook shows."""
    differing = list_differing_columns(people)
    return (("respondent columns", tuple(differing)),) if differing else ()
