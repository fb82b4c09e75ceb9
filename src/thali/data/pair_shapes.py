"""The constructors of paired comparisons that take trials, results of games and tables with a column a pair."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from thali._labels import as_label, shorten
from thali.errors import DataError

from .answers import Answers
from .columns import column
from .covariates import Covariates
from .frames import as_frame
from .frozen import Frozen
from .suspicious import alike_labels, totals_for_options, warn_of
from .trials import Outcomes, outcomes_of_trials, trial_columns
from .wide_columns import WideColumns, wide_columns
from .wide_pairs import outcomes_of_wide

if TYPE_CHECKING:
    import pandas as pd


class PairShapes(Frozen):
    """The constructors of `PairedComparisons` that take the shapes of tables that experiments and games leave."""

    labels: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    forward: np.ndarray | None
    answers: Answers | None
    covariates: Covariates | None
    _whole: bool

    def _fill(self, labels: tuple[str, ...], *cells: Any) -> Self:
        """The data made of winners, losers, counts, ties and who answered."""
        raise NotImplementedError

    @classmethod
    def from_trials(
        cls,
        frame: "pd.DataFrame",
        first: str | None = None,
        second: str | None = None,
        chosen: str | None = None,
        subject: str | None = None,
        count: str | None = None,
        covariates: Sequence[str] | None = None,
        *,
        people: Sequence[str] | None = None,
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
        covariates : list of str, optional
            Columns that describe the trial, for the first option over the second: the difference of two lengths, the
            judge. Numbers stay as they are, and of any other column each category but the first becomes an indicator
            (``judge=B``). "order", unless a column bears that name, is 1 in every row: being first.
        people : list of str, optional
            Which columns describe the people, and become `people`. None: all that are constant within everybody.
        coding : mapping, optional
            What the values of `chosen` mean: {value: "first", "second" or "tie"}.
        labels, weights
            As in `from_frame`.

        Returns
        -------
        PairedComparisons
            With how often which option was first (`forward`, `by_order`).

        Raises
        ------
        DataError
            If a column is lacking, a cell of `chosen` means nothing, a covariate is constant or has gaps, a column of
            people differs within a person, or as `from_frame`.

        Examples
        --------
        >>> import pandas as pd, thali as th
        >>> rows = {"subject": [1, 1, 2], "left": ["tea", "tea", "milk"], "right": ["milk", "milk", "tea"]}
        >>> th.PairedComparisons.from_trials(pd.DataFrame(rows | {"response": ["left", "right", "tie"]}))
        PairedComparisons(2 options, 1 pair, 3 comparisons (1 tie), 2 subjects, 1 component)
        """
        given = {"first": first, "second": second, "chosen": chosen, "subject": subject, "count": count}
        if people is None:
            return cls._of_trials(frame, given, False, coding, labels, weights, covariates)[0]
        frame = as_frame(frame)
        for name in people:
            column(frame, name)
        used = trial_columns(frame, given, False).used
        kept = [name for name in frame.columns if name in used or name in people or name in (covariates or ())]
        data = cls._of_trials(frame.loc[:, kept], given, False, coding, labels, weights, covariates)[0]
        if data.answers is None:
            raise DataError("`people` describe who answered, and no column says who did; name it by `subject`.")
        described = [] if data.answers.people is None else list(data.answers.people.columns)
        if differing := [name for name in people if name not in described]:
            raise DataError(f"{shorten(differing)} differs within a person, and so does not describe people.")
        return data

    @classmethod
    def from_results(
        cls,
        frame: "pd.DataFrame",
        home: str | None = None,
        away: str | None = None,
        result: str | None = None,
        subject: str | None = None,
        count: str | None = None,
        covariates: Sequence[str] | None = None,
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
        subject, count, covariates, coding, labels, weights
            As in `from_trials`; the first of two is the side at home.

        Returns
        -------
        PairedComparisons
            With a tie for every draw, and how often which side played at home (`forward`, `by_order`).

        Raises
        ------
        DataError
            As `from_trials`.

        Examples
        --------
        >>> import pandas as pd, thali as th
        >>> rows = {"HomeTeam": ["Hull", "Stoke"], "AwayTeam": ["Stoke", "Hull"], "FTR": ["H", "D"]}
        >>> data = th.PairedComparisons.from_results(pd.DataFrame(rows))
        >>> data.wins, data.losses, data.tied
        (array([1.]), array([0.]), array([1.]))
        """
        given = {"first": home, "second": away, "chosen": result, "subject": subject, "count": count}
        return cls._of_trials(frame, given, True, coding, labels, weights, covariates)[0]

    @classmethod
    def _of_trials(
        cls,
        frame: "pd.DataFrame",
        given: Mapping[str, str | None],
        game: bool,
        coding: Mapping[Any, str] | None = None,
        labels: Iterable[Any] | None = None,
        weights: bool = False,
        covariates: Sequence[str] | None = None,
    ) -> tuple[Self, str]:
        """The comparisons in trials or games, and how they were read."""
        frame = as_frame(frame)
        columns = trial_columns(frame, given, game)
        return cls._of_outcomes(outcomes_of_trials(frame, columns, coding, labels, weights, covariates))

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

        Examples
        --------
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
        cells = found.winner, found.loser, found.counts, found.tied
        data = cls.__new__(cls)._fill(found.labels, *cells, found.who, found.in_order, found.covariates)
        warn_of(alike_labels(data.labels), totals_for_options(data.labels))
        return data, found.how
