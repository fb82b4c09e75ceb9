"""Who gave which answers, and what is known of these people."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from thali._described import Facts
from thali._inference.indexing import part_bounds
from thali._inference.warn import warn
from thali._labels import as_label, plural, positions, shorten
from thali.errors import DataWarning

from .columns import coded
from .judged import Frozen
from .people import list_people_facts, list_differing_columns, build_people_table

if TYPE_CHECKING:
    import pandas as pd


class Who(NamedTuple):
    """Who gave the answer in each row of a table."""

    names: tuple[str, ...]
    number: np.ndarray  # (rows,) int64 positions in names
    people: "pd.DataFrame | None"  # a row a person

    def of_rows(self, kept: np.ndarray) -> "Who":
        """The same of some of the rows, or of rows that occur several times."""
        return self._replace(number=self.number[kept])


def all_who(parts: Sequence[Who]) -> Who:
    """Who gave the answers of all, with the columns that describe people in all; the same name is
    the same person."""
    import pandas as pd

    names = tuple(dict.fromkeys(name for part in parts for name in part.names))
    place = positions(names)
    number = [np.array([place[name] for name in part.names])[part.number] for part in parts]
    tables: list[Any] = [part.people for part in parts if part.people is not None]
    people = None
    if len(tables) == len(parts) and (
        shared := [c for c in tables[0].columns if all(c in t for t in tables)]
    ):
        every: Any = pd.concat([table[shared] for table in tables])
        people = build_people_table(
            every, (), np.array([place[name] for name in every.index]), names, tables[0].index.name
        )
        kept = [] if people is None else people.columns
        told = dict.fromkeys(name for table in tables for name in list_differing_columns(table[shared]))
        if changed := [name for name in told if name not in kept]:
            warn(_changed(every, changed))
    return Who(names, np.concatenate(number), people)


def _changed(every: "pd.DataFrame", columns: list[str]) -> DataWarning:
    """The warning of columns that told people apart, and in which some people have several
    values."""
    values = every[columns[0]].groupby(level=0, sort=False)
    person = values.nunique(dropna=False).idxmax()
    one, other = (as_label(value) or "empty" for value in values.get_group(person).unique()[:2])
    return DataWarning(
        f"Column {columns[0]!r} of respondent {person!r} is {one} in some answers but {other} in"
        f" others; columns that differ within a respondent ({shorten(columns)}) are dropped from"
        " the combined data."
    )


def who_answered(
    frame: "pd.DataFrame", respondent: str | None, used: Iterable[str | None]
) -> Who | None:
    """Who answered, by the column of that name, with the further columns that are constant within
    everybody."""
    if respondent is None:
        return None
    number, names = coded(frame, respondent)
    return Who(names, number, build_people_table(frame, {respondent, *used}, number, names, respondent))


def whoever_answered(
    frame: "pd.DataFrame", respondent: str | None, used: Iterable[str | None]
) -> Who:
    """The same; nobody in particular, -1 in each row, without such a column."""
    return who_answered(frame, respondent, used) or Who((), np.full(len(frame), -1), None)


class KnownAnswers(Frozen):
    """What each person answered: rows by person, and by the place among the data of what was
    answered."""

    _KEY: ClassVar[str] = "pair"  # the field of that place

    respondents: tuple[str, ...]
    people: "pd.DataFrame | None" = None
    respondent: np.ndarray

    def __str__(self) -> str:
        return plural(len(self.respondents), "respondent")

    def _details(self) -> Facts:
        return (("respondents", self.respondents), *list_people_facts(self.people))

    @classmethod
    def _summed(cls, who: Who, place: np.ndarray, *values: np.ndarray) -> Self:
        """Added up from rows: whose, of which place, and the values of each."""
        width = int(place.max()) + 1
        keys, row = np.unique(who.number * width + place, return_inverse=True)
        sums = (np.bincount(row, each, len(keys)) for each in values)
        arrays = (keys // width).astype(np.int32), (keys % width).astype(np.int32)
        return cls._made_of(who.names, who.people, *arrays, *sums)

    def _with(self, **changed: Any) -> Self:
        """The same with other values of some fields."""
        return self._made_of(*(changed.get(name, getattr(self, name)) for name in self._FIELDS))

    def _taken(self, rows: np.ndarray) -> Self:
        """Some of the rows."""
        names = (name for name in self._FIELDS if name not in ("respondents", "people"))
        return self._with(**{name: getattr(self, name)[rows] for name in names})

    def of_places(self, kept: np.ndarray, place: np.ndarray) -> Self | None:
        """The answers at some places, which have new numbers; None if nobody gave any of them."""
        rows = kept[getattr(self, self._KEY)]
        found = self._taken(rows)
        new = place[getattr(found, self._KEY)].astype(np.int32)
        return found._with(**{self._KEY: new}) if rows.any() else None

    def of_members(self, members: np.ndarray) -> Self:
        """The answers of some people, by their places among all."""
        found = self._taken(np.isin(self.respondent, members))
        return found._with(
            respondents=tuple(self.respondents[k] for k in members),
            people=None if self.people is None else self.people.iloc[members],
            respondent=np.searchsorted(members, found.respondent).astype(np.int32),
        )


class Answers(KnownAnswers):
    """How often each person chose each side of a pair, or neither; only pairs that the person
    compared are stored.

    Attributes
    ----------
    respondents : tuple of str
    people : DataFrame or None
        A row a person: the columns of the table that are constant within everybody.
    respondent, pair : int32 arrays, shape (rows,)
        Positions in `respondents` and among the compared pairs, by person and by pair.
    wins, losses, tied : float64 arrays, shape (rows,)
        As in `PairedComparisons`.
    """

    _FIELDS = ("respondents", "people", "respondent", "pair", "wins", "losses", "tied")

    pair: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray

    @classmethod
    def of_rows(
        cls, who: Who, pair: np.ndarray, won: np.ndarray, counts: np.ndarray, tied: np.ndarray
    ) -> "Answers":
        """Added up from rows: whose, of which pair, whether its first was chosen, how often, and
        how often neither."""
        return cls._summed(who, pair, counts * won, counts * ~won, tied)

    def of_pairs(self, kept: np.ndarray, place: np.ndarray, turned: np.ndarray) -> "Answers | None":
        """The answers to some of the pairs: which stay, their new places, and which of them have
        their sides exchanged.

        None if nobody gave any of them.
        """
        if (found := self.of_places(kept, place)) is None:
            return None
        other = turned[self.pair[kept[self.pair]]]
        wins, losses = (
            np.where(other, found.losses, found.wins),
            np.where(other, found.wins, found.losses),
        )
        return found._with(wins=wins, losses=losses)._taken(
            np.lexsort((found.pair, found.respondent))
        )

    def merged(self, place: np.ndarray) -> "Answers":
        """The same where several pairs (or cells) become one, by their new places."""
        who = Who(self.respondents, self.respondent.astype(np.int64), self.people)
        return self._summed(who, place[self.pair], self.wins, self.losses, self.tied)

    def of_respondents(self, members: np.ndarray) -> "tuple[Answers, np.ndarray]":
        """The answers of some people, by their places, and the pairs that these compared, which
        have new numbers."""
        found = self.of_members(members)
        pairs, pair = np.unique(found.pair, return_inverse=True)
        return found._with(pair=pair.astype(np.int32)), pairs

    def without_ties(self, share: float) -> "Answers | None":
        """The same where a tie counts that share of a choice of either side; None if nothing is
        left."""
        wins, losses = self.wins + share * self.tied, self.losses + share * self.tied
        there = wins + losses > 0
        return (
            self._with(wins=wins, losses=losses, tied=0.0 * self.tied)._taken(there)
            if there.any()
            else None
        )


class ChosenPlaces(KnownAnswers):
    """How often each person gave each of the possible answers to each question; only those that
    were given are stored.

    Attributes
    ----------
    respondents : tuple of str
    people : DataFrame or None
        A row a person: the columns of the table that are constant within everybody.
    respondent, place : int32 arrays, shape (rows,)
        Positions in `respondents` and among the answers of the data, by person and by place.
    times : float64 array, shape (rows,)
    """

    _FIELDS = ("respondents", "people", "respondent", "place", "times")
    _KEY = "place"

    place: np.ndarray
    times: np.ndarray

    @classmethod
    def of_rows(cls, who: Who, place: np.ndarray, times: np.ndarray) -> "ChosenPlaces":
        """Added up from rows: whose, which answer, and how often."""
        there = times > 0
        return cls._summed(who.of_rows(there), place[there], times[there])


class JudgedValues(KnownAnswers):
    """Which number each person gave for each pair of objects, by person and by pair.

    Attributes
    ----------
    respondents : tuple of str
    people : DataFrame or None
        A row a person: the columns that are the same in all of their rows.
    respondent, pair : int32 arrays, shape (rows,)
        Positions in `respondents` and among the measured pairs.
    values : float64 array, shape (rows,)
    """

    _FIELDS = ("respondents", "respondent", "pair", "values", "people")
    _IF_KNOWN = "people"

    pair: np.ndarray
    values: np.ndarray

    @classmethod
    def of_table(cls, respondents: tuple[str, ...], table: np.ndarray) -> "JudgedValues":
        """Of a table (people, pairs), NaN where somebody did not judge a pair."""
        respondent, pair = np.nonzero(~np.isnan(table))
        return cls._made_of(
            respondents,
            respondent.astype(np.int32),
            pair.astype(np.int32),
            table[respondent, pair],
            None,
        )


OUTCOMES = 3  # of a comparison
NAMED = ("best", "worst")

# Of best and worst the answers to a set of m options are numbered from 0: with the first member as
# the best and each of the others as the worst, then the second, ..., set after set.


def answers_given(data: Any) -> np.ndarray:
    """For each row of best-worst choices the number of the answer."""
    assert data.worst is not None
    which = data.set_of[data.choice]
    m, b, w = data.sizes[which], data.choice - data.start[which], data.worst - data.start[which]
    return first_answers(data.start)[which] + b * (m - 1) + w - (w > b)


def first_answers(start: np.ndarray) -> np.ndarray:
    """Where the answers to each set begin, (sets + 1,)."""
    sizes = np.diff(start)
    return part_bounds(sizes * (sizes - 1))


class PossibleAnswers(NamedTuple):
    """All possible answers to every set, set after set: with the first member as the best, with the
    second, and so on.

    Places are those of `Choices.members`.
    """

    start: np.ndarray  # (sets + 1,) where those of each set begin
    best: np.ndarray  # (answers,) places
    worst: np.ndarray  # (answers,)

    @property
    def sizes(self) -> np.ndarray:
        """Answers to each set."""
        return np.diff(self.start)


def ordered_pairs(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Best and worst of the answers to a set of that size."""
    best, worst = (~np.eye(size, dtype=bool)).nonzero()
    return best, worst


def possible_answers(start: np.ndarray) -> PossibleAnswers:
    """The answers to sets whose members begin at these places."""
    sizes, first = np.diff(start), first_answers(start)
    best, worst = np.empty((2, first[-1]), np.int64)
    for m in np.unique(sizes).tolist():
        sets = np.flatnonzero(sizes == m)[:, None]
        at = first[sets] + np.arange(m * (m - 1))
        best[at], worst[at] = (start[sets] + each for each in ordered_pairs(m))
    return PossibleAnswers(first, best, worst)
