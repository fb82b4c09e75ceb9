"""Recognition of the columns of options and counts in a list of paired comparisons."""

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._labels import shorten
from thali.errors import DataError

from ..column_guesses import Lack, SideColumns, find_side_columns
from ..column_readers import describe_columns
from ..column_roles import (
    CHOSEN_OF_TWO,
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

if TYPE_CHECKING:
    import pandas as pd

COUNT_NAMES = tuple(
    (
        "{0}over{1} {0}wins {0}win wins{0} win{0} count{0} {0}count chose{0} {0}chosen n{0}{1}"
        " n{0} votes{0} {0}votes w{0}{1} x{0}{1} wins{0}{1} winner{0} chosen{0} preferred{0}"
        " {0}preferred prefer{0} prefers{0} anzahl{0} stimmen{0} voix{0} votos{0}"
    ).split()
)
PROBABILITY_NAMES = ("p{0}", "prob{0}", "probability{0}")  # that the option of this side is chosen
_TIE_NAMES = tuple(
    (
        "{0} winner{0} chosen{0} preferred{0} is{0} n{0} num{0} votes{0} {0}votes count{0} {0}count"
        " anzahl{0} stimmen{0} voix{0} votos{0}"
    ).split()
)
_NEUTRAL = (
    ("row", "col"),
    ("row", "column"),
    ("player", "opponent"),
    ("team", "opponent"),
    ("team", "opp"),
    ("tm", "opp"),
    ("option", "other"),
    ("item", "other"),
    ("model", "baseline"),
)

SHARES = tuple("percent pct proportion share probability anteil prozent pourcent porcent".split())


class PairColumns(NamedTuple):
    """Names of the columns of options, counts and ties in a list of comparisons."""

    options: tuple[str, str]
    # none: each row is one choice; one: choices of the first; two: choices of each; twice the same:
    # the probability that the first is chosen
    times: tuple[str, ...]
    ties: str | None = None
    respondent: str | None = None
    # whether the column names show which option was on the left, or at home
    in_order: bool = False
    repeats: str | None = None  # the number of comparisons that a probability represents

    def __str__(self) -> str:
        first_option, second_option = self.options
        if self.has_probability:
            description = (
                f"table of pairs, probability that {first_option!r} beats {second_option!r} in"
                f" {self.times[0]!r}, counted as two fractional choices"
            ) + describe_columns(self.repeats, None)
        elif len(self.times) == 2:
            first_count, second_count = self.times
            description = (
                f"table of pairs, wins of {first_option!r} in {first_count!r}, wins of"
                f" {second_option!r} in {second_count!r}"
            )
        else:
            count_text = "one comparison per row"
            if self.times:
                count_text = f"counts in {self.times[0]!r}"
            description = (
                f"long table, {first_option!r} chosen over {second_option!r}, {count_text}"
            )
        if self.ties is not None:
            description += f", ties in {self.ties!r}"
        return description + describe_columns(None, self.respondent)

    @property
    def used(self) -> set[str | None]:
        """Set of all column names that are not None."""
        return {*self.options, *self.times, self.ties, self.respondent, self.repeats}

    @property
    def has_probability(self) -> bool:
        """Whether a column contains the probability that the first option is chosen."""
        return len(self.times) == 2 and self.times[0] == self.times[1]

    def with_named(
        self, count: str | None, losses: str | None, respondent: str | None
    ) -> "PairColumns":
        """Return the columns with those named by the user."""
        if self.has_probability and losses is None:
            return self._replace(repeats=count, respondent=respondent or self.respondent)
        first_count, second_count = [*self.times, None, None][:2]
        times = (count or first_count, losses or second_count)
        return self._replace(
            times=tuple(filter(None, times)), respondent=respondent or self.respondent
        )

    @property
    def weighted(self) -> bool:
        """Whether counts may be fractional: probabilities, or a column called weight."""
        return self.has_probability or any(simplify_name(name) in WEIGHTS for name in self.times)


def list_readings(
    names: list[str],
    used_columns: Collection[str | None] = (),
    text_columns: Collection[str] = (),
    probability: str | None = None,
) -> list[PairColumns]:
    """List every possible assignment of columns to options and counts.

    Readings with counts for both sides exclude others. `used_columns` have another role,
    `text_columns` contain texts, `probability` that the first option is chosen.
    """
    name_by_simplified = map_plain_names(names)
    respondent_column = find_respondent_column(names, used_columns)
    ties_column = find_ties_column(names)
    side_columns = find_side_columns(names)
    probability_names = PROBABILITY_NAMES
    if probability is not None:
        probability_names = (simplify_name(probability),)
    elif CHOSEN_OF_TWO.find_column(name_by_simplified) is not None:
        probability_names = ()
    option_and_count_columns = [
        (
            pair.columns,
            _list_count_columns(pair, probability_names, set(pair.columns) <= {*text_columns}),
            pair.side[0] in PLACES,
        )
        for pair in side_columns
    ]
    option_and_count_columns += [
        (columns, [("w", "l")], False)
        for columns in find_column_pairs(name_by_simplified, _NEUTRAL)
    ]
    all_count_names = _list_count_names(side_columns)
    two_count_readings = [
        PairColumns(
            options, times, ties_column, respondent_column, in_order or times[0] == times[1]
        )
        for options, count_names, in_order in option_and_count_columns
        for times in find_column_pairs(name_by_simplified, (*count_names, *WINS_LOSSES))
        if not {*times} & {*options} and simplify_name(options[0]) not in all_count_names
    ]
    if two_count_readings:
        return list(dict.fromkeys(two_count_readings))
    option_pairs = find_column_pairs(name_by_simplified, CHOSEN_REJECTED)
    if not option_pairs:
        option_pairs = _list_worded_pairs(name_by_simplified, text_columns)
    elif {"k", *ODD.sure} & name_by_simplified.keys():  # i and j of a triplet
        option_pairs = find_column_pairs(name_by_simplified, CHOSEN_REJECTED[:-1])
    if any(ties_column in options for options in option_pairs):
        ties_column = None  # such as Winner/tie
    return [
        PairColumns(options, times, ties_column, respondent_column)
        for options in option_pairs
        for times in list_count_columns(names, used_columns)
    ]


def list_count_columns(
    names: list[str], used_columns: Collection[str | None]
) -> list[tuple[str, ...]]:
    """List the columns that may count the choices of a row, each as a tuple; [()] if none."""
    name_by_simplified = map_plain_names(names)
    # with its accent: without it numbers the rows
    count_columns = [
        *COUNT.find_possible_columns(name_by_simplified, used_columns),
        *(name for name in names if name.casefold() == "número"),
    ]
    return [(name,) for name in count_columns] or [()]


# What may follow "winner" and "loser" in the names of options, the most probable first.
_SECOND_WORDS = ("name", "text", "model", "option", "item", "team", "title", "id", "teamid")
_WITH_SECOND_WORD = (*CHOSEN_REJECTED[:-1], ("w", "l"), ("winning", "losing"), ("pos", "neg"))


def _list_worded_pairs(
    name_by_simplified: dict[str, str], text_columns: Collection[str]
) -> list[tuple[str, str]]:
    """Return the first pair such as winnername and losername, or itemchosen and itemrejected."""
    pair_by_word = {
        first_word: (name_by_simplified[name], name_by_simplified[first_word + rejected])
        for chosen, rejected in CHOSEN_REJECTED[:-1]
        for name in name_by_simplified
        if (first_word := name.removesuffix(chosen)) + rejected in name_by_simplified
        and first_word not in ("", name)
    }
    pair_by_word |= {
        second_word: (name_by_simplified[name], name_by_simplified[rejected + second_word])
        for chosen, rejected in _WITH_SECOND_WORD
        for name in name_by_simplified
        if rejected + (second_word := name.removeprefix(chosen)) in name_by_simplified
        and second_word not in ("", name)
    }
    # scores and ages are numbers, so that an unusual further word requires texts
    text_words = [word for word, columns in pair_by_word.items() if columns[0] in text_columns]
    words = [word for word in (*_SECOND_WORDS, *text_words) if word in pair_by_word]
    return [pair_by_word[word] for word in words[:1]]


def _list_count_columns(
    side_columns: SideColumns, probability_names: tuple[str, ...], has_texts: bool
) -> list[tuple[str, str]]:
    """Return the names that columns with wins of either side of a pair of columns may have."""
    count_names = []
    for marks in _list_marks(side_columns):
        count_names += _format_count_names(marks)
        if has_texts or marks == side_columns.side:  # pHa is the probability of a payment Ha
            shares = [name.format(*marks) for name in probability_names]
            count_names += zip(shares, shares, strict=True)
    return count_names


def _format_count_names(marks: tuple[str, str]) -> list[tuple[str, str]]:
    """Return the names that columns with wins of these two sides may have."""
    return [(name.format(*marks), name.format(*marks[::-1])) for name in COUNT_NAMES]


def _list_count_names(side_columns: list) -> set[str]:
    """Return all simplified names that a count column of these pairs may have."""
    marks = {marks for columns in side_columns for marks in _list_marks(columns)} | set(SIDES)
    count_names = {pattern.format(*side_marks) for side_marks in marks for pattern in COUNT_NAMES}
    return count_names | {name for names_of_pair in WINS_LOSSES for name in names_of_pair}


def _list_marks(side_columns: SideColumns) -> tuple[tuple[str, str], ...]:
    """Return pairs of marks, such as ("left", "right"), in names of count columns."""
    first_name, second_name = map(simplify_name, side_columns.columns)
    return tuple(dict.fromkeys((side_columns.side, (first_name, second_name))))


def find_respondent_column(names: list[str], used_columns: Collection[str | None]) -> str | None:
    """Return the column whose name means respondents, or None.

    A column named "id" does not count, because it may number the rows.
    """
    return next(RESPONDENT.find_certain_columns(map_plain_names(names), used_columns), None)


def is_uncounted(frame: "pd.DataFrame", columns: PairColumns) -> np.ndarray:
    """Return whether all count cells of each row are empty, shape (rows,)."""
    if len(columns.times) < 2:
        return np.zeros(len(frame), bool)
    count_columns = list(filter(None, (*columns.times, columns.ties)))
    return frame.loc[:, count_columns].isna().all(axis=1).to_numpy()


def find_ties_column(names: list[str]) -> str | None:
    """Return the column whose name means ties, or None; raise if several do."""
    tie_names = {name.format(word) for name in _TIE_NAMES for word in TIES.sure} | {"tij"}
    letters = {"w", "d", "t", "l"} & map_plain_names(names).keys()
    if letters in ({"w", "d", "l"}, {"w", "t", "l"}):
        tie_names |= letters - {"w", "l"}
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
    refuse_several_readings(readings)
    if not readings:
        raise DataError(
            f"It is unclear from the columns {shorten(names, 12)} which option was chosen and which"
            " was rejected; give the names of the columns that contain these options with `chosen`"
            " and `rejected`."
        )
    return readings[0]


def refuse_several_readings(readings: list[PairColumns]) -> None:
    """Raise DataError if columns can be read in several ways."""
    if len(readings) > 1:
        descriptions = "; or ".join(map(str, readings))
        raise DataError(
            f"The columns can be read in several ways: {descriptions}. Remove or rename the columns"
            " that should not be used."
        )


def find_missing_column(names: list[str]) -> Lack | None:
    """Return the column that a nearly complete list of comparisons lacks; None for others."""
    if missing_count := _find_missing_count(names):
        return missing_count
    for present_column, missing_name, role in _list_single_columns(names):
        return Lack(
            f"a column with the {role} option, such as {missing_name!r} ({present_column!r} was"
            " read as the column of the other option)",
            role,
        )
    return None


def find_rejected_column(names: list[str]) -> str | None:
    """Return the column of the rejected options, such as "loser", of a table without "winner"."""
    columns = (column for column, _, role in _list_single_columns(names) if role == "chosen")
    return next(columns, None)


def _list_single_columns(names: list[str]) -> list[tuple[str, str, str]]:
    """List columns whose partner is missing, with its usual name and its role."""
    name_by_simplified = map_plain_names(names)
    return [
        (name_by_simplified[present_name], missing_name, role)
        for name_pair in CHOSEN_REJECTED[:-1]  # a column called i or j is not specific
        for role, (present_name, missing_name) in (
            ("rejected", name_pair),
            ("chosen", name_pair[::-1]),
        )
        if present_name in name_by_simplified
        and missing_name not in name_by_simplified
        and present_name not in ("chosen", "preferred")
    ]


def _find_missing_count(names: list[str]) -> Lack | None:
    """Return the missing second column of counts; None if none is missing."""
    name_by_simplified = map_plain_names(names)
    side_columns = find_side_columns(names)
    all_count_names = _list_count_names(side_columns)
    options_and_marks = [
        (pair.columns, pair.side)
        for pair in side_columns
        if simplify_name(pair.columns[0]) not in all_count_names
    ]
    options_and_marks += [
        (options, marks)
        for marks in _NEUTRAL
        for options in find_column_pairs(name_by_simplified, [marks])
    ]
    for options, marks in options_and_marks:
        first_option, second_option = options
        share_columns = [
            name
            for name in names
            if any(word in simplify_name(name) for word in SHARES) and name not in options
        ]
        if share_columns:
            return Lack(
                f"a column such as 'p_a' with the probability that {first_option!r} is chosen, or"
                " two columns, such as 'wins' and 'losses', that count how often"
                f" {first_option!r} and how often {second_option!r} was chosen (not"
                f" {share_columns[0]!r})",
                "probability",
                4,
            )
        count_names = [*_format_count_names(marks), *WINS_LOSSES]
        for present_name, reverse_name, uncounted_option in (
            *((first, second, second_option) for first, second in count_names),
            *((second, first, first_option) for first, second in count_names),
        ):
            column = name_by_simplified.get(present_name)
            if reverse_name not in name_by_simplified and column not in (None, *options):
                return Lack(
                    f"a column to match {column!r} that counts how often {uncounted_option!r} was"
                    " chosen",
                    near=4,
                )
    return None
