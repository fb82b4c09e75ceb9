"""Paired comparisons from tables in which a row is a comparison, or several alike."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from thali.errors import Argument, DataError, InPython, Message

from .answers import Answers, who_answered
from .columns import column, count_column, encode
from .covariates import covariate_columns
from .frames import as_frame
from .pair_columns import PairColumns, subject_column, the_columns, uncounted
from .pair_shapes import PairShapes
from .people import people_by
from .suspicious import alike_labels, dropped_columns, percentages, totals_for_options, warn_of

if TYPE_CHECKING:
    import pandas as pd


class PairRows(PairShapes):
    """The constructors of `PairedComparisons` that take rows, and the tables that it makes of itself."""

    @classmethod
    def from_frame(
        cls,
        frame: "pd.DataFrame",
        chosen: str | None = None,
        rejected: str | None = None,
        count: str | None = None,
        *,
        losses: str | None = None,
        ties: str | None = None,
        subject: str | None = None,
        labels: Iterable[Any] | None = None,
        weights: bool = False,
    ) -> Self:
        """Comparisons from a long table: one row for each comparison, or for several of two options with their counts.

        Parameters
        ----------
        frame : DataFrame
            Further columns are ignored, those of losses or ties with a warning. Rows for the same two options add up,
            whichever was chosen.
        chosen, rejected : str, optional
            Columns with the label of the option that was chosen, and of the one that was not. None: recognised by their
            names (winner and loser, preferred and other, i and j, gewählt and abgelehnt; or a and b, item1 and item2,
            row and col, with columns that count the wins of either).
        count : str, optional
            Column with the number of such comparisons. None: the column "count" if there is one, else each
            row is one comparison.
        losses : str, optional
            Column with the number of times the option in the column `rejected` was chosen instead.
        ties : str, optional
            Column with the number of ties of the two options; where there are no counts, 1 for a row that is a tie and
            0 for one that is a choice. None: the column "ties" if there is one, else there were none.
        subject : str, optional
            Column of who answered; the columns that are constant within everybody become `people`. None: recognised by
            its name (subject, participant, judge, rater, Vpn, and the like).
        labels : sequence of str, optional
            All options in the order wanted, those never compared included. None: the categories of a
            categorical column; else numbers in their order, names as they first appear.
        weights : bool
            Fractional counts are meant.

        Returns
        -------
        PairedComparisons

        Raises
        ------
        DataError
            If a column is unknown, a label or count is missing, a count is not a whole number of 0 or more,
            an option is compared with itself, or there is not a single comparison.

        Examples
        --------
        >>> import pandas as pd, thali as th
        >>> frame = pd.DataFrame({"winner": ["tea", "tea", "milk"], "loser": ["milk", "coffee", "tea"]})
        >>> th.PairedComparisons.from_frame(frame)
        PairedComparisons(3 options, 2 pairs, 3 comparisons, 1 component)
        """
        frame = as_frame(frame)
        names = [str(name) for name in frame.columns]
        if chosen is None and rejected is None and not {"chosen", "rejected"} <= set(names):
            found = the_columns(names)
            weights = weights or found.weighted
        else:
            usual = [name if name in names else None for name in ("count", "ties")]
            found = PairColumns((chosen or "chosen", rejected or "rejected"), tuple(filter(None, usual[:1])), usual[1])
            found = found._replace(subject=subject_column(names))
        times = (count or next(iter(found.times), None), losses or next(iter(found.times[1:]), None))
        found = found._replace(times=tuple(filter(None, times)), ties=ties or found.ties)
        return cls._of_list(frame, found._replace(subject=subject or found.subject), labels, weights)

    @classmethod
    def _of_list(
        cls,
        frame: "pd.DataFrame",
        columns: PairColumns,
        labels: Iterable[Any] | None = None,
        weights: bool = False,
        covariates: Sequence[str] | None = None,
    ) -> Self:
        """The comparisons in these columns; covariates are those of what was first, where the columns say it."""
        for name in filter(None, (*columns.options, *columns.times, columns.ties)):
            column(frame, name)
        frame = frame.loc[~uncounted(frame, columns)]
        a, b = columns.options
        first, second = column(frame, a), column(frame, b)
        try:
            chosen, rejected, tied = _counted(frame, columns, weights)
        except DataError as error:
            said = None if weights or len(columns.times) < 2 else _shares(frame, columns)
            raise DataError(error, f" {said}" if said else "") from None

        def where(row: int, is_first: bool) -> str:
            return f"in row {frame.index[row]}, column {a if is_first else b!r}"

        names, i, j, _ = encode(first, second, chosen + rejected + tied, labels, where)
        who = who_answered(frame, columns.subject, columns.used)
        described = None
        if covariates is not None:
            described = covariate_columns(frame, covariates, True, list(filter(None, columns.used)))
        cells, in_order = (i, j, chosen, tied), None
        if len(columns.times) == 2:
            cells = np.append(i, j), np.append(j, i), np.append(chosen, rejected), np.append(tied, 0.0 * tied)
            who = None if who is None else who.of_rows(np.tile(np.arange(len(frame)), 2))
            in_order = np.repeat([True, False], len(frame)) if columns.in_order else None
            if described is not None:
                described = described._replace(values=np.tile(described.values, (2, 1)))
        data = cls.__new__(cls)._fill(names, *cells, who, in_order, described)
        shares = percentages(data.wins, data.losses, data.tied) if columns.times and who is None else None
        warn_of(
            alike_labels(data.labels),
            totals_for_options(data.labels),
            dropped_columns(frame, columns.used),
            shares,
        )
        return data

    @classmethod
    def from_pairs(cls, pairs: Iterable[Any], *, labels: Iterable[Any] | None = None) -> Self:
        """Comparisons from (winner, loser) tuples, one for each comparison.

        Parameters
        ----------
        pairs : iterable of (winner, loser)
        labels : sequence of str, optional
            All options in the order wanted, those never compared included. None: numbers in their order,
            names as they first appear.

        Returns
        -------
        PairedComparisons

        Raises
        ------
        DataError
            If there is no pair, or one that is not two different options.

        Examples
        --------
        >>> import thali as th
        >>> th.PairedComparisons.from_pairs([("tea", "milk"), ("milk", "tea"), ("tea", "milk")]).wins
        array([2.])
        """
        import pandas as pd

        rows = list(pairs)
        for k, row in enumerate(rows):
            if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != 2:
                raise DataError(f"`pairs` must hold (winner, loser) tuples; pairs[{k}] is {row!r}.")
        winners = pd.Series([row[0] for row in rows], dtype=object)
        losers = pd.Series([row[1] for row in rows], dtype=object)
        ones = np.ones(len(rows))
        data = cls.__new__(cls)._fill(*encode(winners, losers, ones, labels, lambda row, _: f"in pairs[{row}]"))
        warn_of(alike_labels(data.labels))
        return data

    @property
    def subjects(self) -> tuple[str, ...]:
        """Who answered; empty if the data do not say."""
        return () if self.answers is None else self.answers.subjects

    @property
    def people(self) -> "pd.DataFrame | None":
        """What is known of those who answered: a row a person; None if nothing is."""
        return None if self.answers is None or self.answers.people is None else self.answers.people.copy()

    def _known_answers(self) -> Answers:
        """Who gave which answers; a DataError if the data do not say."""
        if self.answers is None:
            raise DataError(
                "These comparisons do not say who answered; read them with their column of subjects",
                InPython("", Message(", ", Argument("respondent"))),
                ".",
            )
        return self.answers

    def by_subject(self) -> dict[str, Self]:
        """The comparisons of each person, with all options, as `paired.bootstrap` and `circular_triads` take them.

        Raises
        ------
        DataError
            If the data do not say who answered.
        """
        answers = self._known_answers()
        if self.covariates is not None:
            answered = np.unique(answers.subject)
            return {self.subjects[person]: self._of_subjects(np.array([person])) for person in answered}
        found = {}
        rows = np.searchsorted(answers.subject, np.arange(len(self.subjects) + 1))
        for name, begin, end in zip(self.subjects, rows[:-1], rows[1:], strict=True):
            if begin < end:
                pair = answers.pair[begin:end]
                each = answers.wins, answers.losses, answers.tied
                sums = [array[begin:end].copy() for array in each]
                found[name] = self._made_of(self.labels, self.first[pair], self.second[pair], *sums, None, None, None)
        return found

    def by_order(self) -> tuple[Self, Self]:
        """The comparisons in which the option that stands earlier among the labels was first, and the others.

        First is what was shown first, on the left, or played at home.

        Returns
        -------
        forward, backward : PairedComparisons
            With all options; one of them may be without a comparison.

        Raises
        ------
        DataError
            If the data do not say which option was first.

        Examples
        --------
        >>> import pandas as pd, thali as th
        >>> rows = {"home": ["Hull", "Hull", "Stoke"], "away": ["Stoke", "Stoke", "Hull"], "result": ["H", "H", "A"]}
        >>> forward, backward = th.PairedComparisons.from_results(pd.DataFrame(rows)).by_order()
        >>> forward.counts.tolist(), backward.counts.tolist()
        ([[0, 2], [0, 0]], [[0, 1], [0, 0]])
        """
        if self.forward is None:
            raise DataError(
                "These comparisons do not say which option was shown first, or played at home; ",
                InPython(
                    "read them from trials (from_trials) or from results of games (from_results)",
                    "give a trial or a game a row, with the options in the columns 'left' and 'right', or 'home' and "
                    "'away'",
                ),
                ".",
            )
        found = []
        for each in (self.forward, np.array([self.wins, self.losses, self.tied]) - self.forward):
            there = each.sum(axis=0) > 0.0
            sides = self.first[there], self.second[there]
            found.append(self._made_of(self.labels, *sides, *each[:, there], None, None, None))
        return found[0], found[1]

    def by_group(self, column: str) -> dict[str, Self]:
        """The comparisons of each group of people, with all options, as `paired.group_test` takes them.

        Parameters
        ----------
        column : str
            A column of `people`; those for whom it is empty are in no group.

        Raises
        ------
        DataError
            If the data do not say who answered, or nothing of that name is known of them.
        """
        answers = self._known_answers()
        answered = np.unique(answers.subject)
        found = {group: np.intersect1d(people, answered) for group, people in people_by(self.people, column).items()}
        return {group: self._of_subjects(members) for group, members in found.items() if len(members)}

    def _of_subjects(self, members: np.ndarray) -> Self:
        """The comparisons of some people, by their places, with all options."""
        answers, pairs = self._known_answers().of_subjects(members)
        sums = [np.bincount(answers.pair, each, len(pairs)) for each in (answers.wins, answers.losses, answers.tied)]
        covariates = None if self.covariates is None else self.covariates.of_subjects(members, pairs)
        return self._made_of(self.labels, self.first[pairs], self.second[pairs], *sums, None, answers, covariates)

    def to_frame(self) -> "pd.DataFrame":
        """A long table with columns chosen, rejected, count and, if there are any, ties, which `from_frame` reads back.

        Returns
        -------
        DataFrame
            One row for each pair and direction with a count above 0. The ties of a pair stand in its first row, which
            is there even if that option was never chosen. The labels are categorical, and so keep
            their order and the options that were never compared.

        Examples
        --------
        >>> import thali as th
        >>> th.PairedComparisons([[0, 3], [1, 0]], labels=["tea", "milk"]).to_frame()
          chosen rejected  count
        0    tea     milk      3
        1   milk      tea      1
        """
        import pandas as pd

        chosen = np.column_stack([self.first, self.second]).ravel()
        rejected = np.column_stack([self.second, self.first]).ravel()
        count = np.column_stack([self.wins, self.losses]).ravel()
        ties = np.column_stack([self.tied, 0.0 * self.tied]).ravel()
        kept = count + ties > 0
        categories = pd.Index(self.labels)
        table = {
            "chosen": pd.Categorical.from_codes(chosen[kept], categories),
            "rejected": pd.Categorical.from_codes(rejected[kept], categories),
            "count": count[kept].astype(np.int64) if self._whole else count[kept],
        }
        if ties.any():
            table["ties"] = ties[kept].astype(np.int64) if self._whole else ties[kept]
        return pd.DataFrame(table)

    def proportions(self) -> "pd.DataFrame":
        """The observed proportion of choices in each compared pair.

        Returns
        -------
        DataFrame
            Pair by pair a, b, n (comparisons of the two), proportion (of them in which a was chosen) and, if there are
            any, ties (the proportion in which neither was).

        Examples
        --------
        >>> import thali as th
        >>> th.PairedComparisons([[0, 3], [1, 0]], labels=["tea", "milk"]).proportions()
             a     b  n  proportion
        0  tea  milk  4        0.75
        """
        import pandas as pd

        total = self.wins + self.losses + self.tied
        labels = np.array(self.labels, dtype=object)
        table = {
            "a": labels[self.first],
            "b": labels[self.second],
            "n": total.astype(np.int64) if self._whole else total,
            "proportion": self.wins / total,
        }
        return pd.DataFrame(table | {"ties": self.tied / total} if self.tied.any() else table)


def _shares(frame: "pd.DataFrame", columns: PairColumns) -> str | None:
    """What is said of numbers that are no counts, if they are percentages or proportions."""
    try:
        return percentages(*_counted(frame, columns, weights=True))
    except DataError:
        return None


def _counted(frame: "pd.DataFrame", columns: PairColumns, weights: bool) -> tuple[np.ndarray, ...]:
    """How often each row's first option was chosen, its second, and neither."""
    none, ties = np.zeros(len(frame)), columns.ties
    tied = none if ties is None or frame[ties].isna().to_numpy().all() else count_column(frame, ties, weights)
    chosen, rejected = [*(count_column(frame, name, weights) for name in columns.times), none, none][:2]
    if columns.times:
        return chosen, rejected, tied
    if (several := np.flatnonzero(tied > 1)).size:
        k = int(several[0])
        raise DataError(
            f"Column {ties!r} is {tied[k]:g} in row {frame.index[k]}, and no column counts the choices; name the one "
            "that does with `count`, or write 1 for a row that is a tie and 0 for one that is a choice."
        )
    return 1.0 - tied, none, tied
