"""What a table says of the people who answered: the columns that are constant within each of
them."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._described import Facts
from thali._labels import as_label, shorten, suggest
from thali.errors import DataError

from .roles import column_names

if TYPE_CHECKING:
    import pandas as pd


def people_table(
    frame: "pd.DataFrame",
    used: Collection[str | None],
    number: np.ndarray,
    names: tuple[str, ...],
    title: Any = "respondent",
) -> "pd.DataFrame | None":
    """A row a person, with the columns that are constant within each, and not empty; None if there
    are none but those that are used otherwise."""
    import pandas as pd

    first = np.zeros(len(names), np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]
    constant = []
    for name in frame.columns:
        if name in used or frame[name].isna().to_numpy().all():
            continue
        codes, _ = pd.factorize(frame[name])
        if np.array_equal(codes, codes[first][number]):
            constant.append(name)
    if not constant:
        return None
    return frame.loc[:, constant].iloc[first].set_axis(pd.Index(names, name=title))


def people_by(
    people: "pd.DataFrame | None", column: str, respondent: np.ndarray
) -> dict[str, np.ndarray]:
    """The places of those for whom a column holds the same; left out are those for whom it is
    empty, and those who gave no answer, by the places of those who gave each."""
    known = [] if people is None else column_names(people)
    if people is None or column not in known:
        has = f"available: {shorten(known)}" if known else "there are no other respondent columns"
        raise DataError(
            f"{column!r} is not a respondent column (a column that is constant within each"
            " respondent);"
            f" {has}."
            f"{suggest(column, known) or ' Give one value per respondent, or name another column.'}"
        )
    group_of = people[column].map(as_label, na_action="ignore").to_numpy(object)
    names = dict.fromkeys(group_of[~people[column].isna()])
    answered = np.unique(respondent)
    found = {name: np.intersect1d(np.flatnonzero(group_of == name), answered) for name in names}
    return {name: members for name, members in found.items() if len(members)}


def differing_columns(people: "pd.DataFrame | None") -> list[str]:
    """The columns that describe people and do not hold the same for all of them."""
    return (
        []
        if people is None
        else [str(name) for name, n in people.nunique(dropna=False).items() if n > 1]
    )


def column_facts(people: "pd.DataFrame | None") -> Facts:
    """What a notebook shows of the columns that describe people."""
    differing = differing_columns(people)
    return (("respondent columns", tuple(differing)),) if differing else ()
