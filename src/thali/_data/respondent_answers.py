"""Counts of answers by each respondent, and columns that describe the respondents."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from thali._inference.index_arithmetic import part_bounds, sum_by_index
from thali._inference.user_warnings import warn
from thali._labels import format_label, format_plural, index_labels, shorten
from thali._object_descriptions import Facts
from thali.errors import DataWarning

from .base_classes import Frozen, build_from_fields, copy_with_fields
from .column_readers import encode_column
from .respondent_table import build_people_table, list_differing_columns, list_people_facts

if TYPE_CHECKING:
    import pandas as pd

    from .choices import Choices


class RowRespondents(NamedTuple):
    """The respondent of each table row: names, index of each row, columns of respondents."""

    names: tuple[str, ...]
    number: np.ndarray  # (rows,) int64 positions in names
    people: "pd.DataFrame | None"  # one row per person
    scores: np.ndarray | None = None  # see `Answers`
    rapid: np.ndarray | None = None  # (rows,) votes, see `Answers`

    def select_rows(self, rows: np.ndarray) -> "RowRespondents":
        """Return the respondents of the given rows, which may be repeated."""
        rapid = self.rapid
        if rapid is not None:
            rapid = rapid[rows]
        return self._replace(number=self.number[rows], rapid=rapid)

    def select_members(self, members: np.ndarray) -> "RowRespondents":
        """Renumber the rows, all of respondents with these indices."""
        people = self.people
        if people is not None:
            people = people.iloc[members]
        scores = self.scores
        if scores is not None:
            scores = scores[members]
        return RowRespondents(
            tuple(self.names[k] for k in members),
            np.searchsorted(members, self.number),
            people,
            scores,
            self.rapid,
        )


def merge_respondents(parts: Sequence[RowRespondents]) -> RowRespondents:
    """Concatenate the row respondents of several data sets; equal names are one respondent.

    The same name is the same person. Columns of people are kept if all parts have them.
    """
    import pandas as pd

    names = tuple(dict.fromkeys(name for part in parts for name in part.names))
    name_indices = index_labels(names)
    row_indices = [
        np.array([name_indices[name] for name in part.names])[part.number] for part in parts
    ]
    tables: list[Any] = [part.people for part in parts if part.people is not None]
    people = None
    if len(tables) == len(parts) and (
        shared_columns := [c for c in tables[0].columns if all(c in t for t in tables)]
    ):
        all_people: Any = pd.concat([table[shared_columns] for table in tables])
        people = build_people_table(
            all_people,
            (),
            np.array([name_indices[name] for name in all_people.index]),
            names,
            tables[0].index.name,
        )
        kept_columns: Any = ()
        if people is not None:
            kept_columns = people.columns
        differing_columns = dict.fromkeys(
            name for table in tables for name in list_differing_columns(table[shared_columns])
        )
        if dropped_columns := [name for name in differing_columns if name not in kept_columns]:
            warn(_build_changed_columns_warning(all_people, dropped_columns))
    rapid_parts = [part.rapid for part in parts if part.rapid is not None]
    rapid = None
    if len(rapid_parts) == len(parts):
        rapid = np.concatenate(rapid_parts)
    return RowRespondents(names, np.concatenate(row_indices), people, rapid=rapid)


def _build_changed_columns_warning(all_people: "pd.DataFrame", columns: list[str]) -> DataWarning:
    """Build the warning that a respondent has different cells in merged data sets."""
    cells_by_respondent = all_people[columns[0]].groupby(level=0, sort=False)
    respondent = cells_by_respondent.nunique(dropna=False).idxmax()
    first_value, second_value = (
        format_label(value) or "empty"
        for value in cells_by_respondent.get_group(respondent).unique()[:2]
    )
    return DataWarning(
        f"Column {columns[0]!r} of respondent {respondent!r} is {first_value} in some answers but"
        f" {second_value} in"
        f" others; columns that differ within a respondent ({shorten(columns)}) are dropped from"
        " the combined data."
    )


def read_respondents(
    frame: "pd.DataFrame", respondent: str | None, used_columns: Iterable[str | None]
) -> RowRespondents | None:
    """Read the respondent column of a table, and the columns that describe respondents.

    Return None without a column of respondents.
    """
    if respondent is None:
        return None
    row_indices, respondent_names = encode_column(frame, respondent)
    return RowRespondents(
        respondent_names,
        row_indices,
        build_people_table(
            frame, {respondent, *used_columns}, row_indices, respondent_names, respondent
        ),
    )


def read_any_respondents(
    frame: "pd.DataFrame", respondent: str | None, used_columns: Iterable[str | None]
) -> RowRespondents:
    """Read the respondent column of a table; without one, give each row index -1."""
    return read_respondents(frame, respondent, used_columns) or RowRespondents(
        (), np.full(len(frame), -1), None
    )


def treat_rows_as_respondents(
    frame: "pd.DataFrame", used_columns: Collection[str | None], names: tuple[str, ...]
) -> RowRespondents:
    """Return a respondent per row, with these names; other columns describe the respondents."""
    row_indices = np.arange(len(frame))
    people = build_people_table(frame, used_columns, row_indices, names)
    return RowRespondents(names, row_indices, people)


def name_respondents(data: Frozen) -> str:
    """Return "item" for comparisons of scores, else "respondent"."""
    if data.scores is None:
        return "respondent"
    return "item"


class RespondentAnswers(Frozen):
    """Base class of answers with one row per respondent and pair or other position."""

    _KEY: ClassVar[str] = "pair"  # the field of the position in the data

    respondents: tuple[str, ...]
    people: "pd.DataFrame | None" = None
    respondent: np.ndarray

    def __str__(self) -> str:
        return format_plural(len(self.respondents), name_respondents(self))

    def _details(self) -> Facts:
        """Return (name, labels) facts that a notebook shows below the size."""
        return (("respondents", self.respondents), *list_people_facts(self.people))

    @classmethod
    def _add_rows(
        cls, row_respondents: RowRespondents, position: np.ndarray, *values: np.ndarray
    ) -> Self:
        """Sum the values of rows with equal respondent and position."""
        n_positions = int(position.max()) + 1
        distinct_keys, sum_index = np.unique(
            row_respondents.number * n_positions + position, return_inverse=True
        )
        return build_from_fields(
            cls,
            row_respondents.names,
            row_respondents.people,
            (distinct_keys // n_positions).astype(np.int32),
            (distinct_keys % n_positions).astype(np.int32),
            *sum_by_index(sum_index, values, len(distinct_keys)),
        )

    def select_positions(self, is_kept: np.ndarray, new_positions: np.ndarray) -> Self | None:
        """Keep the answers about some pairs (or other positions); renumber these.

        Return None if there are no such answers.
        """
        positions = getattr(self, self._KEY)
        is_selected = is_kept[positions]
        if not is_selected.any():
            return None
        array_fields = (name for name in self._FIELDS if name not in ("respondents", "people"))
        selected_fields = {name: getattr(self, name)[is_selected] for name in array_fields}
        selected_fields[self._KEY] = new_positions[positions[is_selected]].astype(np.int32)
        return copy_with_fields(self, **selected_fields)


class Answers(RespondentAnswers):
    """Counts by respondent and pair: first chosen, second chosen, tied.

    Attributes
    ----------
    respondents : tuple of str
    people : DataFrame or None
        One row per person: the columns that are constant within each person.
    respondent, pair : int32 arrays, shape (rows,)
        Positions in `respondents` and among the compared pairs, by person and by pair.
    wins, losses, tied : float64 arrays, shape (rows,)
        As in `PairedComparisons`.
    rapid : float64 array, shape (rows,), or None
        Comparisons within a second after another of the same respondent and pair. None: no
        comparison is repeated, or times are unknown.
    scores : float64 array, shape (respondents, options), or None
        For comparisons of scores, where an item is the respondent; NaN without a score.
    """

    _FIELDS = (
        "respondents",
        "people",
        "respondent",
        "pair",
        "wins",
        "losses",
        "tied",
        "rapid",
        "scores",
    )
    _IF_KNOWN = ("scores", "rapid")

    pair: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    rapid: np.ndarray | None = None

    @classmethod
    def from_rows(
        cls, row_respondents: RowRespondents, pair: np.ndarray, *counts: np.ndarray
    ) -> "Answers":
        """Sum rows to counts (wins, losses, ties) by respondent and pair."""
        row_values = list(counts)
        if row_respondents.rapid is not None:
            row_values.append(row_respondents.rapid)
        answers = cls._add_rows(row_respondents, pair, *row_values)
        return copy_with_fields(answers, scores=row_respondents.scores)


class ChosenPlaces(RespondentAnswers):
    """Counts by respondent and answer, where an answer is a choice from a given set.

    Attributes
    ----------
    respondents : tuple of str
    people : DataFrame or None
        One row per person: the columns that are constant within each person.
    respondent, place : int32 arrays, shape (rows,)
        Positions in `respondents` and among the answers of the data, by person and by place.
    times : float64 array, shape (rows,)
    """

    _FIELDS = ("respondents", "people", "respondent", "place", "times")
    _KEY = "place"

    place: np.ndarray
    times: np.ndarray

    @classmethod
    def from_rows(
        cls, row_respondents: RowRespondents, answer: np.ndarray, times: np.ndarray
    ) -> "ChosenPlaces":
        """Sum table rows to counts by respondent and answer; zeros are dropped."""
        is_positive = times > 0
        return cls._add_rows(
            row_respondents.select_rows(is_positive), answer[is_positive], times[is_positive]
        )


class JudgedValues(RespondentAnswers):
    """Similarities by respondent and pair of objects.

    Attributes
    ----------
    respondents : tuple of str
    people : DataFrame or None
        One row per person: the columns that are constant within each person.
    respondent, pair : int32 arrays, shape (rows,)
        Positions in `respondents` and among the measured pairs.
    values : float64 array, shape (rows,)
    """

    _FIELDS = ("respondents", "respondent", "pair", "values", "people")
    _IF_KNOWN = ("people",)

    pair: np.ndarray
    values: np.ndarray

    @classmethod
    def from_table(cls, respondents: tuple[str, ...], table: np.ndarray) -> "JudgedValues":
        """Convert a table (respondents, pairs) to rows; NaN cells are dropped."""
        respondent, pair = np.nonzero(~np.isnan(table))
        return build_from_fields(
            cls,
            respondents,
            respondent.astype(np.int32),
            pair.astype(np.int32),
            table[respondent, pair],
            None,
        )


OUTCOMES = 3  # of a comparison
NAMED = ("best", "worst")

# Answers to a best-worst set of m options are numbered from 0: the first member as the best with
# each other member as the worst, then the second member as the best, and so on, set after set.


def number_given_answers(data: "Choices") -> np.ndarray:
    """Return the index of each best-worst answer among all possible answers, (rows,)."""
    assert data.worst is not None
    set_index = data.set_of[data.choice]
    start = data.start[set_index]
    sizes = data.sizes[set_index]
    best_index = data.choice - start
    worst_index = data.worst - start
    return (
        find_first_answers(data.start)[set_index]
        + best_index * (sizes - 1)
        + worst_index
        - (worst_index > best_index)
    )


def find_first_answers(start: np.ndarray) -> np.ndarray:
    """Return the index of each set's first possible best-worst answer, (sets + 1,)."""
    sizes = np.diff(start)
    return part_bounds(sizes * (sizes - 1))


class PossibleAnswers(NamedTuple):
    """All (best, worst) answers to all best-worst sets, as flat arrays with each set's start.

    Answers are sorted by the best member. `best` and `worst` are indices into `Choices.members`.
    """

    start: np.ndarray  # (sets + 1,) the first answer to each set
    best: np.ndarray  # (answers,) member indices
    worst: np.ndarray  # (answers,)

    @property
    def sizes(self) -> np.ndarray:
        """Number of possible answers to each set, m (m - 1)."""
        return np.diff(self.start)


def list_ordered_pairs(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all (best, worst) pairs of a set of this size as two index arrays."""
    best_index, worst_index = (~np.eye(size, dtype=bool)).nonzero()
    return best_index, worst_index


def list_possible_answers(start: np.ndarray) -> PossibleAnswers:
    """List all (best, worst) answers to sets with these bounds in `members`."""
    sizes = np.diff(start)
    first_answer = find_first_answers(start)
    best_members, worst_members = np.empty((2, first_answer[-1]), np.int64)
    for m in np.unique(sizes).tolist():
        set_indices = np.flatnonzero(sizes == m)[:, None]
        answer_positions = first_answer[set_indices] + np.arange(m * (m - 1))
        best_of_set, worst_of_set = list_ordered_pairs(m)
        best_members[answer_positions] = start[set_indices] + best_of_set
        worst_members[answer_positions] = start[set_indices] + worst_of_set
    return PossibleAnswers(first_answer, best_members, worst_members)
