"""Who gave which answers, and what is known of these people."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._described import Facts
from thali._inference.warn import warn
from thali._labels import as_label, plural, shorten
from thali.errors import DataWarning

from .columns import coded
from .judged import Frozen
from .people import column_facts, differing_columns, people_table

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
    """Who gave the answers of all, with the columns that describe people in all; the same name is the same person."""
    import pandas as pd

    names = tuple(dict.fromkeys(name for part in parts for name in part.names))
    place = {name: k for k, name in enumerate(names)}
    number = [np.array([place[name] for name in part.names])[part.number] for part in parts]
    tables: list[Any] = [part.people for part in parts if part.people is not None]
    people = None
    if len(tables) == len(parts) and (shared := [c for c in tables[0].columns if all(c in t for t in tables)]):
        every: Any = pd.concat([table[shared] for table in tables])
        people = people_table(every, np.array([place[name] for name in every.index]), names, tables[0].index.name)
        kept = [] if people is None else people.columns
        told = dict.fromkeys(name for table in tables for name in differing_columns(table[shared]))
        if changed := [name for name in told if name not in kept]:
            warn(_changed(every, changed))
    return Who(names, np.concatenate(number), people)


def _changed(every: "pd.DataFrame", columns: list[str]) -> DataWarning:
    """The warning of columns that told people apart, and in which some people have several values."""
    values = every[columns[0]].groupby(level=0, sort=False)
    person = values.nunique(dropna=False).idxmax()
    one, other = (as_label(value) or "empty" for value in values.get_group(person).unique()[:2])
    return DataWarning(
        f"{columns[0]!r} of {person!r} is {one} in some answers but {other} in others; such columns"
        f" ({shorten(columns)}) are not used as respondent columns of the combined data."
    )


def who_answered(frame: "pd.DataFrame", respondent: str | None, used: Iterable[str | None]) -> Who | None:
    """Who answered, by the column of that name, with the further columns that are constant within everybody."""
    if respondent is None:
        return None
    number, names = coded(frame, respondent)
    taken = {respondent, *used}
    further = [name for name in frame.columns if name not in taken]
    return Who(tuple(map(as_label, names)), number, people_table(frame.loc[:, further], number, names, respondent))


class Answers(Frozen):
    """How often each person chose each side of a pair, or neither; only pairs that the person compared are stored.

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

    respondents: tuple[str, ...]
    people: "pd.DataFrame | None"
    respondent: np.ndarray
    pair: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray

    def __str__(self) -> str:
        return plural(len(self.respondents), "respondent")

    def _details(self) -> Facts:
        return (("respondents", self.respondents), *column_facts(self.people))

    @classmethod
    def of_rows(cls, who: Who, pair: np.ndarray, won: np.ndarray, counts: np.ndarray, tied: np.ndarray) -> "Answers":
        """Added up from rows: whose, of which pair, whether its first was chosen, how often, and how often neither."""
        pairs = int(pair.max()) + 1
        keys, place = np.unique(who.number * pairs + pair, return_inverse=True)
        sums = [np.bincount(place, each, len(keys)) for each in (counts * won, counts * ~won, tied)]
        return cls._made_of(
            who.names, who.people, (keys // pairs).astype(np.int32), (keys % pairs).astype(np.int32), *sums
        )

    def of_pairs(self, kept: np.ndarray, place: np.ndarray, turned: np.ndarray) -> "Answers | None":
        """The answers to some of the pairs: which stay, their new places, and which of them have their sides exchanged.

        None if nobody gave any of them.
        """
        rows = kept[self.pair]
        if not rows.any():
            return None
        pair = self.pair[rows]
        other = turned[pair]
        wins, losses, respondent, pair = self.wins[rows], self.losses[rows], self.respondent[rows], place[pair]
        sums = np.where(other, losses, wins), np.where(other, wins, losses), self.tied[rows]
        order = np.lexsort((pair, respondent))
        arrays = (array[order] for array in (respondent, pair.astype(np.int32), *sums))
        return self._made_of(self.respondents, self.people, *arrays)

    def merged(self, place: np.ndarray) -> "Answers":
        """The same where several pairs (or cells) become one, by their new places."""
        width = int(place.max()) + 1
        keys, row = np.unique(self.respondent.astype(np.int64) * width + place[self.pair], return_inverse=True)
        sums = [np.bincount(row, each, len(keys)) for each in (self.wins, self.losses, self.tied)]
        arrays = (keys // width).astype(np.int32), (keys % width).astype(np.int32)
        return self._made_of(self.respondents, self.people, *arrays, *sums)

    def of_respondents(self, members: np.ndarray) -> "tuple[Answers, np.ndarray]":
        """The answers of some people, by their places, and the pairs that these compared, which have new numbers."""
        rows = np.isin(self.respondent, members)
        pairs, pair = np.unique(self.pair[rows], return_inverse=True)
        respondent = np.searchsorted(members, self.respondent[rows]).astype(np.int32)
        people = None if self.people is None else self.people.iloc[members]
        arrays = (array[rows] for array in (self.wins, self.losses, self.tied))
        names = tuple(self.respondents[k] for k in members)
        return self._made_of(names, people, respondent, pair.astype(np.int32), *arrays), pairs

    def without_ties(self, share: float) -> "Answers | None":
        """The same where a tie counts that share of a choice of either side; None if nothing is left."""
        wins, losses = self.wins + share * self.tied, self.losses + share * self.tied
        there = wins + losses > 0
        arrays = [array[there] for array in (self.respondent, self.pair, wins, losses)]
        return (
            self._made_of(self.respondents, self.people, *arrays, np.zeros(int(there.sum()))) if there.any() else None
        )


class ChosenPlaces(Frozen):
    """How often each person gave each of the possible answers to each question; only those that were given are stored.

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

    respondents: tuple[str, ...]
    people: "pd.DataFrame | None"
    respondent: np.ndarray
    place: np.ndarray
    times: np.ndarray

    def __str__(self) -> str:
        return plural(len(self.respondents), "respondent")

    def _details(self) -> Facts:
        return (("respondents", self.respondents), *column_facts(self.people))

    @classmethod
    def of_rows(cls, who: Who, place: np.ndarray, times: np.ndarray) -> "ChosenPlaces":
        """Added up from rows: whose, which answer, and how often."""
        there = times > 0
        width = int(place.max()) + 1
        keys, row = np.unique(who.number[there] * width + place[there], return_inverse=True)
        sums = np.bincount(row, times[there], len(keys))
        return cls._made_of(
            who.names, who.people, (keys // width).astype(np.int32), (keys % width).astype(np.int32), sums
        )

    def of_places(self, kept: np.ndarray, place: np.ndarray) -> "ChosenPlaces | None":
        """Some of the answers, which have new places; None if nobody gave any of them."""
        rows = kept[self.place]
        arrays = self.respondent[rows], place[self.place[rows]].astype(np.int32), self.times[rows]
        return self._made_of(self.respondents, self.people, *arrays) if rows.any() else None

    def of_respondents(self, members: np.ndarray) -> "ChosenPlaces":
        """The answers of some people, by their places among all."""
        rows = np.isin(self.respondent, members)
        respondent = np.searchsorted(members, self.respondent[rows]).astype(np.int32)
        people = None if self.people is None else self.people.iloc[members]
        names = tuple(self.respondents[k] for k in members)
        return self._made_of(names, people, respondent, self.place[rows], self.times[rows])


class JudgedValues(Frozen):
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

    respondents: tuple[str, ...]
    respondent: np.ndarray
    pair: np.ndarray
    values: np.ndarray
    people: "pd.DataFrame | None" = None

    def __str__(self) -> str:
        return plural(len(self.respondents), "respondent")

    def _details(self) -> Facts:
        return (("respondents", self.respondents), *column_facts(self.people))

    def _freeze(self, *values: Any) -> "JudgedValues":
        super()._freeze(*values)
        if self.people is None:  # files hold what is known alone
            vars(self).pop("people")
        return self

    @classmethod
    def of_table(cls, respondents: tuple[str, ...], table: np.ndarray) -> "JudgedValues":
        """Of a table (people, pairs), NaN where somebody did not judge a pair."""
        respondent, pair = np.nonzero(~np.isnan(table))
        return cls._made_of(
            respondents, respondent.astype(np.int32), pair.astype(np.int32), table[respondent, pair], None
        )

    def of_pairs(self, kept: np.ndarray, place: np.ndarray) -> "JudgedValues | None":
        """Those of some pairs, which have new places; None if nobody judged any of them."""
        rows = kept[self.pair]
        arrays = self.respondent[rows], place[self.pair[rows]].astype(np.int32), self.values[rows]
        return self._made_of(self.respondents, *arrays, self.people) if rows.any() else None


OUTCOMES = 3  # of a comparison
NAMED = ("best", "worst")

# Of best and worst the answers to a set of m options are numbered from 0: with the first member as the best and each of
# the others as the worst, then the second, ..., set after set.


def answers_given(data: Any) -> np.ndarray:
    """For each row of best-worst choices the number of the answer."""
    assert data.worst is not None
    which = data.set_of[data.choice]
    m, b, w = data.sizes[which], data.choice - data.start[which], data.worst - data.start[which]
    return first_answers(data.start)[which] + b * (m - 1) + w - (w > b)


def first_answers(start: np.ndarray) -> np.ndarray:
    """Where the answers to each set begin, (sets + 1,)."""
    sizes = np.diff(start)
    return np.concatenate([[0], np.cumsum(sizes * (sizes - 1))])


class PossibleAnswers(NamedTuple):
    """All possible answers to every set, set after set: with the first member as the best, with the second, and so on.

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
