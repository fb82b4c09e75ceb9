"""The data class `PairedComparisons`: counts of choices between two options."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from thali._inference.user_warnings import warn
from thali._labels import format_plural, list_names, simplify_number
from thali._number_format import format_number
from thali._object_descriptions import Facts
from thali.errors import DataError, DataWarning

from ..base_classes import JudgedByPeople
from ..column_readers import read_square_cells
from ..connectivity import describe_disconnected, list_components
from ..kinds import PAIRS
from ..questions import Questions
from ..report_facts import (
    MAX_LISTED,
    count_component_facts,
    count_respondent_facts,
    format_pair_share,
    format_value_range,
    list_name_facts,
)
from ..respondent_answers import Answers, name_respondents
from ..respondent_table import list_people_facts
from ..suspicious_data import find_percentages, find_similar_labels, warn_each
from . import data_subsets, table_constructors
from .comparison_rows import ComparisonRows, build_fields
from .covariates import CovariateCells, PairCovariates
from .dates import DatedComparisons

if TYPE_CHECKING:
    import pandas as pd

MAX_DENSE = 2_000  # options; above it `counts` fills memory with a matrix that is too large to read


class PairedComparisons(JudgedByPeople):
    r"""Counts of how often each option was chosen over each other option.

    .. math::
        x_{ij} = \text{times } i \text{ was chosen over } j, \qquad
        t_{ij} = t_{ji} = \text{times neither was}, \qquad
        n_{ij} = x_{ij} + x_{ji} + t_{ij}

    Nothing can be changed after construction. A table where the *column* was chosen over the row
    looks like one where the row was chosen and cannot be recognised: transpose it first
    (``counts.T``).

    Parameters
    ----------
    counts : array, DataFrame or SciPy sparse matrix, shape (options, options)
        ``counts[i, j]`` = times i was chosen over j, **row over column**: integers, 0 or more.
        The diagonal is 0 or empty. Rows and columns of a DataFrame bear the same labels, in any
        order.
    labels : sequence of str, optional
        Names of the options, all different; "0", "1", ... if neither they nor a DataFrame name
        them. Numbers become text: 1 and 1.0 are "1".
    ties : array, DataFrame or SciPy sparse matrix, shape (options, options), optional
        Times neither of two options was chosen, in one triangle or the same in both: integers,
        0 or more, with an empty diagonal. None: never.
    weights : bool
        Fractional counts are meant (weighted judgements, ties split in two); otherwise they are an
        error.

    Attributes
    ----------
    labels : tuple of str
    first, second : int64 arrays, shape (pairs,)
        The pairs with at least one comparison: first < second, row by row.
    wins, losses : float64 arrays, shape (pairs,)
        Times the first of a pair was chosen over the second, and the reverse.
    tied : float64 array, shape (pairs,)
        Times neither was. A pair with ties alone is a compared pair.
    forward : float64 array, shape (3, pairs), or None
        The comparisons among `wins`, `losses` and `tied` where the first of the pair was shown
        first, or played at home; in the others the second was. None: unknown.
    answers : Answers or None
        The same counts by person, if respondents are identified.
    covariates : Covariates or None
        The same counts by columns that describe comparisons or options: position, judge, length
        (`from_trials`, `with_order`, `with_option_covariates`).
    dates : DatedComparisons or None
        The same comparisons by when they were made (`from_trials`).

    Raises
    ------
    DataError
        If `counts` is not square, contains a negative, fractional, missing or infinite count,
        compares an option with itself, or contains no comparison; if labels do not match or are not
        distinct.

    References
    ----------
    Görür, Jäkel and Rasmussen (2006), equation 2.

    Examples
    --------
    >>> data = PairedComparisons(
    ...     [[0, 7, 9], [3, 0, 6], [1, 4, 0]], labels=["tea", "coffee", "milk"]
    ... )
    >>> data
    PairedComparisons(3 options, 3 pairs, 30 comparisons, 1 component)
    >>> data.wins
    array([7., 9., 6.])
    """

    kind = PAIRS
    _ANSWER = ("comparison", "comparisons")
    _DATA_WORD = "comparisons"
    are_choices = add_up = True
    _FIELDS = (
        "labels",
        "first",
        "second",
        "wins",
        "losses",
        "tied",
        "forward",
        "answers",
        "covariates",
        "dates",
    )
    _IF_KNOWN = ("dates",)

    labels: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    forward: np.ndarray | None
    answers: Answers | None
    covariates: PairCovariates | None
    dates: DatedComparisons | None = None

    def __init__(
        self,
        counts: Any,
        labels: Iterable[Any] | None = None,
        ties: Any = None,
        *,
        weights: bool = False,
    ) -> None:
        option_labels, (winner, loser, wins) = read_square_cells(counts, labels, weights)
        tied = np.zeros(0)
        if ties is not None:
            first_indices, second_indices, tied = table_constructors.read_tie_cells(
                ties, option_labels, weights
            )
            winner = np.append(winner, first_indices)
            loser = np.append(loser, second_indices)
        row_counts = np.zeros((3, len(winner)))
        row_counts[0, : len(wins)] = wins
        row_counts[2, len(wins) :] = tied
        self._freeze(*build_fields(option_labels, ComparisonRows(winner, loser, row_counts)))
        warn_each(find_similar_labels(option_labels))
        if hasattr(counts, "columns"):  # a table made by hand, not the array of a program
            warn_each(find_percentages(self.wins, self.losses))

    from_frame: Final = classmethod(table_constructors.from_frame)
    from_pairs: Final = classmethod(table_constructors.from_pairs)
    from_trials: Final = classmethod(table_constructors.from_trials)
    from_results: Final = classmethod(table_constructors.from_results)
    from_wide: Final = classmethod(table_constructors.from_wide)
    to_frame: Final = table_constructors.to_frame
    proportions: Final = table_constructors.proportions

    subset: Final = data_subsets.subset
    without_pair: Final = data_subsets.without_pair
    without_ties = data_subsets.without_ties
    with_counts: Final = data_subsets.with_counts
    with_cell_counts: Final = data_subsets.with_cell_counts
    with_order: Final = data_subsets.with_order
    with_covariates = data_subsets.with_covariates
    between: Final = data_subsets.between
    without_dates = data_subsets.without_dates
    with_option_covariates = data_subsets.with_option_covariates
    by_respondent = data_subsets.by_respondent
    by_group = data_subsets.by_group
    by_order: Final = data_subsets.by_order
    with_more = data_subsets.with_more
    together = data_subsets.together

    def __str__(self) -> str:
        total_text = format_plural(self.n_comparisons, "comparison")
        if self.scores is not None:
            total_text = format_plural(simplify_number(self.n_comparisons), "comparison")
        elif isinstance(self.n_comparisons, float):
            total_text = f"a total weight of {self.n_comparisons:,g}"
        if self.n_ties:
            total_text += f" ({format_plural(self.n_ties, 'tie')})"
        details_text = "".join(
            f", {detail}"
            for detail in (self.answers, self.covariates, self.dates)
            if detail is not None
        )
        return (
            f"{format_plural(self.n_options, 'option')}, {format_plural(self.n_pairs, 'pair')},"
            f" {total_text}{details_text}"
        )

    def __repr__(self) -> str:
        return f"PairedComparisons({self}, {format_plural(len(self.components()), 'component')})"

    def _details(self) -> Facts:
        """Return (name, labels) facts that a notebook shows below the size."""
        facts: list[Any] = [("options", self.labels), ("components", str(len(self.components())))]
        if self.forward is not None:
            facts.append(("order", "first option recorded"))
        facts += list_people_facts(self.people)
        if self.covariates is not None:
            facts.append(("covariates", self.covariates.names))
        return tuple(facts)

    def _facts(self) -> Facts:
        """Return (name, text) facts about the comparisons for a report."""
        n_options = self.n_options
        pair_counts = self.wins + self.losses + self.tied
        option_counts = np.bincount(
            np.concatenate([self.first, self.second]), np.tile(pair_counts, 2), minlength=n_options
        )
        n_comparisons = self.n_comparisons
        n_ties = self.n_ties
        tie_text = ""
        if n_ties:
            tie_text = (
                f", including {n_ties:,} ties ({format_number(100 * n_ties / n_comparisons)} %)"
            )
        return (
            ("Options", f"{n_options:,}: {list_names(self.labels, MAX_LISTED)}"),
            ("Compared pairs", format_pair_share(self.n_pairs, n_options)),
            ("Comparisons", f"{n_comparisons:,}{tie_text}"),
            ("Comparisons per compared pair", format_value_range(pair_counts)),
            ("Comparisons per option", format_value_range(option_counts)),
            *count_component_facts(self.components()),
            *count_respondent_facts(self.respondents, self.people, name_respondents(self)),
            *list_name_facts("Covariates", self.covariate_names),
        )

    @property
    def n_pairs(self) -> int:
        """Number of pairs with at least one comparison."""
        return len(self.first)

    @property
    def n_comparisons(self) -> int | float:
        """Number of comparisons, with ties; their total weight when counts are fractional."""
        return table_constructors.convert_counts(
            self, self.wins.sum() + self.losses.sum() + self.tied.sum()
        ).item()

    @property
    def n_answers(self) -> int | float:
        """Number of comparisons; their total weight when counts are fractional."""
        return self.n_comparisons

    @property
    def n_ties(self) -> int | float:
        """Number of ties; their total weight when counts are fractional."""
        return table_constructors.convert_counts(self, self.tied.sum()).item()

    @property
    def counts(self) -> np.ndarray:
        """Counts of row chosen over column, dense array (options, options).

        Available for up to 2,000 options.
        """
        return self._build_dense("counts", self.wins, self.losses)

    @property
    def ties(self) -> np.ndarray | None:
        """Counts of ties, symmetric array (options, options); None without ties."""
        if not self.tied.any():
            return None
        return self._build_dense("ties", self.tied, self.tied)

    def _build_dense(
        self, attribute: str, upper_values: np.ndarray, lower_values: np.ndarray
    ) -> np.ndarray:
        """Build an (options, options) array from values of the compared pairs."""
        if self.n_options > MAX_DENSE:
            raise DataError(
                f"`{attribute}` is a dense matrix, limited to {MAX_DENSE:,} options; these data"
                " have"
                f" {self.n_options:,}. Use `to_frame()`, or `first`, `second`, `wins`, `losses`"
                " and `tied`."
            )
        table = np.zeros((self.n_options, self.n_options))
        table[self.first, self.second] = upper_values
        table[self.second, self.first] = lower_values
        return table_constructors.convert_counts(self, table)

    @property
    def never_judged(self) -> list[str]:
        """Labels of the options without a comparison."""
        return self._list_absent_labels(self.first, self.second)

    @property
    def scores(self) -> np.ndarray | None:  # type: ignore[override]
        """Scores (items, options) that were compared; None for other comparisons."""
        if self.answers is None:
            return None
        return self.answers.scores

    @property
    def cells(self) -> CovariateCells:
        """Counts by pair and covariate values, as arrays for models.

        A cell is a pair, or a pair with one combination of covariates.
        """
        self.refuse_dates()
        return data_subsets.build_cells(self)

    def questions(self, ties: bool | None = None) -> Questions:
        """Return one question per pair and covariate values, with 2 or 3 answers.

        The answers are the first option, a tie, and the second. A tie is an answer if `ties` is
        true, or if it is None and there are ties.
        """
        if ties is None:
            ties = self.n_ties > 0
        outcomes = ("wins", "losses")
        if ties:
            outcomes = ("wins", "tied", "losses")
        return data_subsets.build_questions(self, outcomes, self.cells)

    def with_answers(self, counts: np.ndarray) -> "PairedComparisons":
        """Return the same pairs with other counts, of unknown respondents."""
        wins, *tied, losses = counts.reshape(len(self.cells.pair), -1).T
        return self.with_cell_counts(wins, losses, *tied)

    def to_comparisons(self) -> "PairedComparisons":
        """Return the comparisons unchanged."""
        return self

    def to_square(self) -> "pd.DataFrame":
        """Return the counts (row chosen over column) as a labelled square table.

        The class reads the table back.
        """
        import pandas as pd

        return pd.DataFrame(self.counts, index=pd.Index(self.labels), columns=list(self.labels))

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.counts, dtype)

    def example(self) -> str:
        """Return a sentence on the pair with the largest lead, to check the direction.

        Examples
        --------
        >>> PairedComparisons([[0, 3], [1, 0]], labels=["tea", "milk"]).example()
        "'tea' chosen over 'milk' 3 of 4 times"
        """
        pair_index = np.abs(self.wins - self.losses).argmax()
        sorted_sides = sorted(
            [
                (self.wins[pair_index], self.labels[self.first[pair_index]]),
                (self.losses[pair_index], self.labels[self.second[pair_index]]),
            ]
        )
        (smaller_count, loser), (larger_count, winner) = sorted_sides
        n_tied = self.tied[pair_index]
        total_count = simplify_number(smaller_count + larger_count + n_tied)
        sentence = (
            f"{winner!r} chosen over {loser!r} {simplify_number(larger_count):,} of"
            f" {total_count:,} times"
        )
        if n_tied:
            sentence += f" ({format_plural(simplify_number(n_tied), 'tie')})"
        return sentence

    def components(self) -> list[list[str]]:
        """Return the groups of option labels that comparisons connect, the largest first.

        With one group all options are connected. Options never compared are groups of one.

        Examples
        --------
        >>> PairedComparisons.from_pairs([("a", "b"), ("c", "d"), ("d", "e")]).components()
        [['c', 'd', 'e'], ['a', 'b']]
        """
        return list_components(self.labels, self.first, self.second)

    def refuse_ties(self) -> None:
        """Raise a `DataError` if there are ties, for models without ties."""
        if self.tied.any():
            raise data_subsets.build_ties_error(self.n_ties, self.n_comparisons)

    def refuse_dates(self) -> None:
        """Raise a `DataError` if there are dates, for models without dates."""
        if self.dates is not None:
            raise DataError(
                f"These comparisons have dates ({self.dates.name!r}), which are not supported"
                " here; use th.leaderboard(data, period=...) for rankings over time, or drop the"
                " dates with data.without_dates()."
            )

    def warn_if_unusual(self) -> None:
        """Warn, with a `DataWarning`, of options that comparisons do not connect.

        Models call this at fit.
        """
        if message := describe_disconnected(self.components(), self.never_judged):
            warn(DataWarning(message))
        if self.covariates is not None:
            self.covariates.warn_if_collinear()
