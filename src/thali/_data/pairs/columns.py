"""Recognition of the columns of options and counts in a list of paired comparisons."""

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._labels import shorten
from thali.errors import DataError

from ..column_roles import (
    CHOSEN_REJECTED,
    COUNT,
    ODD,
    PLACES,
    RESPONDENT,
    SIDES,
    TIES,
    WEIGHTS,
    WINS_LOSSES,
    find_column_pairs,
    map_plain_names,
    simplify_name,
)
from ..columns import describe_columns
from ..described_columns import SideColumns, find_side_columns

if TYPE_CHECKING:
    import pandas as pd

COUNT_NAMES = (
    "{0}over{1}",
    "{0}wins",
    "{0}win",
    "wins{0}",
    "win{0}",
    "count{0}",
    "{0}count",
    "chose{0}",
    "{0}chosen",
    "n{0}{1}",
    "w{0}{1}",
    "x{0}{1}",
    "wins{0}{1}",
    "winner{0}",
    "chosen{0}",
    "preferred{0}",
)
_TIE_PREFIXES = ("", "winner", "chosen", "preferred", "is")
_NEUTRAL = (
    ("row", "col"),
    ("row", "column"),
    ("player", "opponent"),
    ("team", "opponent"),
    ("option", "other"),
    ("item", "other"),
)

SHARES = (
    "percent",
    "pct",
    "proportion",
    "share",
    "probability",
    "anteil",
    "prozent",
    "pourcent",
    "porcent",
)


class PairColumns(NamedTuple):
    """Names of the columns of options, counts and ties in a list of comparisons."""

    options: tuple[str, str]
    # none: each row is one choice; one: choices of the first; two: choices of each
    times: tuple[str, ...]
    ties: str | None = None
    respondent: str | None = None
    # whether the column names show which option was on the left, or at home
    in_order: bool = False

    def __str__(self) -> str:
        a, b = self.options
        if len(self.times) == 2:
            over, under = self.times
            description = (
                f"table of pairs, {a!r} over {b!r} counted in {over!r}, the reverse in {under!r}"
            )
        else:
            counted = "one comparison per row"
            if self.times:
                counted = f"counts in {self.times[0]!r}"
            description = f"long table, {a!r} chosen over {b!r}, {counted}"
        if self.ties is not None:
            description += f", ties in {self.ties!r}"
        return description + describe_columns(None, self.respondent)

    @property
    def used(self) -> set[str | None]:
        """Set of all column names that are not None."""
        return {*self.options, *self.times, self.ties, self.respondent}

    @property
    def weighted(self) -> bool:
        """Whether a count column is called weight, so that counts may be fractional."""
        return any(simplify_name(name) in WEIGHTS for name in self.times)


def list_readings(names: list[str], used_columns: Collection[str | None] = ()) -> list[PairColumns]:
    """List every possible assignment of columns to options and counts.

    Readings with counts for both sides exclude others. `used_columns` have another role.
    """
    name_by_simplified = map_plain_names(names)

    def are_columns(*plain_names: str) -> bool:
        """Return whether columns with all these simplified names exist."""
        return all(name in name_by_simplified for name in plain_names)

    respondent = find_respondent_column(names, used_columns)
    ties = find_ties_column(names)
    side_columns = find_side_columns(names)
    option_pairs = [
        (pair.columns, _list_count_columns(pair), pair.side[0] in PLACES) for pair in side_columns
    ]
    option_pairs += [
        (columns, [], False) for columns in find_column_pairs(name_by_simplified, _NEUTRAL)
    ]
    two_sided = [
        PairColumns(
            options,
            (name_by_simplified[times], name_by_simplified[reverse]),
            ties,
            respondent,
            in_order,
        )
        for options, counted, in_order in option_pairs
        for times, reverse in (*counted, *WINS_LOSSES)
        if are_columns(times, reverse)
        and not {name_by_simplified[times], name_by_simplified[reverse]} & set(options)
    ]
    two_sided = [
        pair
        for pair in two_sided
        if simplify_name(pair.options[0]) not in _list_count_names(side_columns)
    ]
    if two_sided:
        return two_sided
    # with its accent: without it numbers the rows
    counts = [
        (count,)
        for count in (
            *COUNT.find_possible_columns(name_by_simplified, used_columns),
            *(name for name in names if name.casefold() == "número"),
        )
    ]
    counts = counts or [()]
    return [
        PairColumns(
            (name_by_simplified[chosen], name_by_simplified[rejected]), times, ties, respondent
        )
        for chosen, rejected in CHOSEN_REJECTED
        # a triplet
        if are_columns(chosen, rejected)
        and not (chosen == "i" and {"k", *ODD.sure} & name_by_simplified.keys())
        for times in counts
    ]


def _list_count_columns(pair: SideColumns) -> list[tuple[str, str]]:
    """Return the names that columns with wins of either side of a pair of columns may have."""
    return [
        (name.format(*marks), name.format(*marks[::-1]))
        for marks in _list_marks(pair)
        for name in COUNT_NAMES
    ]


def _list_count_names(side_columns: list) -> set[str]:
    """Return all simplified names that a count column of these pairs may have."""
    marks = {marks for columns in side_columns for marks in _list_marks(columns)} | set(SIDES)
    names = {pattern.format(*side_marks) for side_marks in marks for pattern in COUNT_NAMES}
    return names | {name for names_of_pair in WINS_LOSSES for name in names_of_pair}


def _list_marks(pair: SideColumns) -> tuple[tuple[str, str], ...]:
    """Return pairs of marks, such as ("left", "right"), in names of count columns."""
    first_name, second_name = map(simplify_name, pair.columns)
    return tuple(dict.fromkeys((pair.side, (first_name, second_name))))


def find_respondent_column(names: list[str], used_columns: Collection[str | None]) -> str | None:
    """Return the column whose name means respondents, or None.

    A column named "id" does not count, because it may number the rows.
    """
    return next(RESPONDENT.find_certain_columns(map_plain_names(names), used_columns), None)


def is_uncounted(frame: "pd.DataFrame", columns: PairColumns) -> np.ndarray:
    """Return whether all count cells of each row are empty, shape (rows,)."""
    if len(columns.times) < 2:
        return np.zeros(len(frame), bool)
    counting = list(filter(None, (*columns.times, columns.ties)))
    return frame.loc[:, counting].isna().all(axis=1).to_numpy()


def find_ties_column(names: list[str]) -> str | None:
    """Return the column whose name means ties, or None; raise if several do."""
    tie_names = {prefix + word for prefix in _TIE_PREFIXES for word in TIES.sure} | {"tij"}
    tie_columns = [name for name in names if simplify_name(name) in tie_names]
    if len(tie_columns) > 1:
        raise DataError(
            f"Several columns seem to contain ties: {shorten(tie_columns)}; remove or rename all"
            " but one."
        )
    return next(iter(tie_columns), None)


def find_pair_columns(names: list[str], used_columns: Collection[str | None]) -> PairColumns:
    """Return the only possible assignment of columns; raise if none or several."""
    readings = list_readings(names, used_columns)
    if len(readings) > 1:
        descriptions = "; or ".join(map(str, readings))
        raise DataError(
            f"The columns can be read in several ways: {descriptions}. Remove or rename the columns"
            " that cause the wrong reading."
        )
    if not readings:
        raise DataError(
            f"The columns {shorten(names, 12)} do not show which option was chosen and which"
            " rejected; name them with `chosen` and `rejected`."
        )
    return readings[0]


def find_missing_column(names: list[str]) -> tuple[str, str, int] | None:
    """Describe the column that a nearly complete list of comparisons lacks.

    Return the description, the role of the column, and how close the list is (higher is closer);
    None if it is not close.
    """
    name_by_simplified = map_plain_names(names)
    if missing_count := _find_missing_count(names, name_by_simplified):
        return missing_count, "", 4
    for pair in CHOSEN_REJECTED[:-1]:  # a column called i or j is not specific
        for role, (present, missing) in (("rejected", pair), ("chosen", pair[::-1])):
            if (
                present in name_by_simplified
                and missing not in name_by_simplified
                and not (present == "chosen" or present == "preferred")
            ):
                return f"a column {missing!r} to match {name_by_simplified[present]!r}", role, 1
    return None


def _find_missing_count(names: list[str], name_by_simplified: dict[str, str]) -> str | None:
    """Describe the missing second count column; None if none is missing."""
    side_columns = find_side_columns(names)
    option_pairs = [
        (pair.columns, pair.side)
        for pair in side_columns
        if simplify_name(pair.columns[0]) not in _list_count_names(side_columns)
    ]
    option_pairs += [
        ((name_by_simplified[a], name_by_simplified[second]), (a, second))
        for a, second in _NEUTRAL
        if a in name_by_simplified and second in name_by_simplified
    ]
    for (a, second), side_marks in option_pairs:
        shares = [
            name
            for name in names
            if any(word in simplify_name(name) for word in SHARES) and name not in (a, second)
        ]
        if shares:
            return (
                f"two columns, such as 'wins' and 'losses', that count how often {a!r} and how"
                f" often {second!r} was chosen (not {shares[0]!r})"
            )
        times = [
            (spelled.format(*side_marks), spelled.format(*side_marks[::-1]))
            for spelled in COUNT_NAMES
        ] + [*WINS_LOSSES]
        for present, reverse in (*times, *(two[::-1] for two in times)):
            if (
                present in name_by_simplified
                and reverse not in name_by_simplified
                and name_by_simplified[present] not in (a, second)
            ):
                uncounted_option = a
                if present in [count_name for count_name, _ in times]:
                    uncounted_option = second
                return (
                    f"a column to match {name_by_simplified[present]!r} that counts how often"
                    f" {uncounted_option!r} was chosen"
                )
    return None
