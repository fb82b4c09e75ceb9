"""Paired comparisons from tables in which a row is a comparison, or several alike."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from thali._labels import as_label, shorten
from thali.errors import DataError

from .answers import who_answered
from .columns import column, count_column, encode
from .frames import as_frame
from .frozen import Frozen
from .pair_columns import PairColumns, subject_column, the_columns, uncounted
from .suspicious import alike_labels, dropped_columns, warn_of
from .trials import Outcomes, outcomes_of_trials, trial_columns
from .wide_columns import WideColumns, wide_columns
from .wide_pairs import outcomes_of_wide

if TYPE_CHECKING:
    import pandas as pd


class PairRows(Frozen):
    """The constructors of `PairedComparisons` that take rows, and the tables that it makes of itself."""

    labels: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    _whole: bool

    def _fill(self, labels: tuple[str, ...], *cells: Any) -> Self:
        """The data made of winners, losers, counts, ties and who answered."""
        raise NotImplementedError

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

        Example
        -------
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
        cls, frame: "pd.DataFrame", columns: PairColumns, labels: Iterable[Any] | None = None, weights: bool = False
    ) -> Self:
        """The comparisons in these columns."""
        for name in filter(None, (*columns.options, *columns.times, columns.ties)):
            column(frame, name)
        frame = frame.loc[~uncounted(frame, columns)]
        a, b = columns.options
        first, second = column(frame, a), column(frame, b)
        chosen, rejected, tied = _counted(frame, columns, weights)

        def where(row: int, is_first: bool) -> str:
            return f"in row {frame.index[row]}, column {a if is_first else b!r}"

        names, i, j, _ = encode(first, second, chosen + rejected + tied, labels, where)
        who = who_answered(frame, columns.subject, columns.used)
        cells = i, j, chosen, tied
        if len(columns.times) == 2:
            cells = np.append(i, j), np.append(j, i), np.append(chosen, rejected), np.append(tied, 0.0 * tied)
            who = None if who is None else who.of_rows(np.tile(np.arange(len(frame)), 2))
        data = cls.__new__(cls)._fill(names, *cells, who)
        warn_of(alike_labels(data.labels), dropped_columns(frame, columns.used))
        return data

    @classmethod
    def from_trials(
        cls,
        frame: "pd.DataFrame",
        first: str | None = None,
        second: str | None = None,
        chosen: str | None = None,
        subject: str | None = None,
        count: str | None = None,
        *,
        coding: Mapping[Any, str] | None = None,
        labels: Iterable[Any] | None = None,
        weights: bool = False,
    ) -> Self:
        """Comparisons from trials: a row names the two options and says which was chosen, as experiment software does.

        Parameters
        ----------
        frame : DataFrame
            Rows without an answer are left out.
        first, second : str, optional
            Columns of the two options. None: recognised by their names (a and b, left and right, option1 and option2,
            model_a and model_b, links and rechts; and the like).
        chosen : str, optional
            Column that holds the label of the option chosen; or its side (left, right; first, second; 1, 2; 1, -1; a,
            b; model_a, model_b); or a word for a tie (tie, draw, equal, both, tie (bothbad), 0.5, 0 beside -1). None:
            recognised by its name (chosen, choice, winner, response, preferred, and the like).
        subject : str, optional
            Column of who answered; the columns that are constant within everybody become `people`. None: recognised.
        count : str, optional
            Column with the number of such trials. None: recognised, else each row is one.
        coding : mapping, optional
            What the values of `chosen` mean: {value: "first", "second" or "tie"}.
        labels, weights
            As in `from_frame`.

        Returns
        -------
        PairedComparisons

        Raises
        ------
        DataError
            If a column is lacking or a cell of `chosen` means nothing, or as `from_frame`.

        Example
        -------
        >>> import pandas as pd, thali as th
        >>> rows = {"subject": [1, 1, 2], "left": ["tea", "tea", "milk"], "right": ["milk", "milk", "tea"]}
        >>> th.PairedComparisons.from_trials(pd.DataFrame(rows | {"response": ["left", "right", "tie"]}))
        PairedComparisons(2 options, 1 pair, 3 comparisons (1 tie), 2 subjects, 1 component)
        """
        given = {"first": first, "second": second, "chosen": chosen, "subject": subject, "count": count}
        return cls._of_trials(frame, given, False, coding, labels, weights)[0]

    @classmethod
    def from_results(
        cls,
        frame: "pd.DataFrame",
        home: str | None = None,
        away: str | None = None,
        result: str | None = None,
        subject: str | None = None,
        count: str | None = None,
        *,
        coding: Mapping[Any, str] | None = None,
        labels: Iterable[Any] | None = None,
        weights: bool = False,
    ) -> Self:
        """Comparisons from the results of games: a row names the two sides and says who won.

        Parameters
        ----------
        frame : DataFrame
            Rows without a result are left out.
        home, away : str, optional
            Columns of the two sides. None: recognised by their names (home and away, HomeTeam and AwayTeam, visitor and
            opponent, white and black, Heim and Gast; and the like).
        result : str, optional
            Column that holds H, D, A; 1, X, 2; 1, 0, -1; 1, 0.5, 0; or the label of the winner. None: recognised by its
            name (result, FTR, outcome), else the goals or scores of either side in two columns.
        subject, count, coding, labels, weights
            As in `from_trials`.

        Returns
        -------
        PairedComparisons
            With a tie for every draw; who played at home is not kept.

        Raises
        ------
        DataError
            As `from_trials`.

        Example
        -------
        >>> import pandas as pd, thali as th
        >>> rows = {"HomeTeam": ["Hull", "Stoke"], "AwayTeam": ["Stoke", "Hull"], "FTR": ["H", "D"]}
        >>> data = th.PairedComparisons.from_results(pd.DataFrame(rows))
        >>> data.wins, data.losses, data.tied
        (array([1.]), array([0.]), array([1.]))
        """
        given = {"first": home, "second": away, "chosen": result, "subject": subject, "count": count}
        return cls._of_trials(frame, given, True, coding, labels, weights)[0]

    @classmethod
    def _of_trials(
        cls,
        frame: "pd.DataFrame",
        given: Mapping[str, str | None],
        game: bool,
        coding: Mapping[Any, str] | None = None,
        labels: Iterable[Any] | None = None,
        weights: bool = False,
    ) -> tuple[Self, str]:
        """The comparisons in trials or games, and how they were read."""
        frame = as_frame(frame)
        found = outcomes_of_trials(frame, trial_columns(frame, given, game), coding, labels, weights)
        return cls._of_outcomes(found)

    @classmethod
    def from_wide(
        cls,
        frame: "pd.DataFrame",
        coding: Mapping[Any, str] | None = None,
        subject: str | None = None,
        count: str | None = None,
        *,
        pairs: Mapping[str, Sequence[Any]] | None = None,
        labels: Iterable[Any] | None = None,
        weights: bool = False,
    ) -> Self:
        """Comparisons from a wide table: one column a pair, one row a subject, as R's prefmod and psychotools have it.

        Parameters
        ----------
        frame : DataFrame
            Empty cells were not answered. Other columns become `people`.
        coding : mapping, optional
            What the values of the cells mean: {value: "first", "second" or "tie"}. None: the label of the option
            chosen; >, < and =; 1 and 2; 1, -1 and 0 for a tie; or 0, 2 and 1 for a tie (with a warning).
        subject : str, optional
            Column of who answered. None: recognised, else every row is a subject.
        count : str, optional
            Column with the number of people who gave the answers of the row. None: recognised, else it is one.
        pairs : mapping, optional
            {column: (first option, second option)}. None: recognised by names such as "tea > milk", "tea:milk", "tea vs
            milk", V12 for the options 1 and 2; or V1, V2, V3, ... in the order (1, 2), (1, 3), (2, 3), (1, 4), ... of
            prefmod; or by the two labels that each column holds.
        labels : sequence of str, optional
            Names for the options 1, 2, ... of columns that have numbers alone.
        weights : bool
            Fractional counts are meant.

        Returns
        -------
        PairedComparisons

        Raises
        ------
        DataError
            If no column is a pair, or a cell means nothing.

        Example
        -------
        >>> import pandas as pd, thali as th
        >>> frame = pd.DataFrame({"tea:milk": [1, 1, -1], "tea:water": [1, 0, 1], "milk:water": [1, 1, 1]})
        >>> data = th.PairedComparisons.from_wide(frame.assign(age=[30, 40, 50]))
        >>> data
        PairedComparisons(3 options, 3 pairs, 9 comparisons (1 tie), 3 subjects, 1 component)
        >>> data.people["age"].tolist()
        [30, 40, 50]
        """
        frame = as_frame(frame)
        given = {"subject": subject, "count": count}
        for name in filter(None, (*given.values(), *(pairs or ()))):
            column(frame, name)
        if pairs is not None:
            named = {name: (as_label(pair[0]), as_label(pair[1])) for name, pair in pairs.items()}
            found = WideColumns(named, "named", subject, count)
        else:
            found = wide_columns(frame, given)
        if found is None:
            raise DataError(
                f"None of the columns {shorten([str(name) for name in frame.columns], 12)} is called like a pair, "
                f"such as "
                "'tea > milk'; name them by `pairs`, {column: (first, second)}."
            )
        return cls._of_outcomes(outcomes_of_wide(frame, found, coding, labels, weights))[0]

    @classmethod
    def _of_outcomes(cls, found: Outcomes) -> tuple[Self, str]:
        data = cls.__new__(cls)._fill(found.labels, found.winner, found.loser, found.counts, found.tied, found.who)
        warn_of(alike_labels(data.labels))
        return data, found.how

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

        Example
        -------
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

    def to_frame(self) -> "pd.DataFrame":
        """A long table with columns chosen, rejected, count and, if there are any, ties, which `from_frame` reads back.

        Returns
        -------
        DataFrame
            One row for each pair and direction with a count above 0. The ties of a pair stand in its first row, which
            is there even if that option was never chosen. The labels are categorical, and so keep
            their order and the options that were never compared.

        Example
        -------
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

        Example
        -------
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
