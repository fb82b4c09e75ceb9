"""Subsets and copies of `PairedComparisons`: by option, pair, respondent, date, covariate."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import check_allowed
from thali._inference.index_arithmetic import sum_by_index
from thali._labels import (
    check_labels,
    choose_number,
    find_label_indices,
    format_label,
    format_plural,
    index_labels,
    shorten,
    suggest,
)
from thali.errors import Argument, DataError, InPython, Message

from ..base_classes import build_from_fields, copy_with_fields
from ..column_readers import convert_frame
from ..option_covariates import CovariateColumns, OptionCovariates, add_option_columns
from ..questions import PAIR, TIED, GivenAnswers, Questions, ReportRows, build_report_rows
from ..respondent_answers import OUTCOMES
from ..respondent_table import group_people
from .comparison_rows import (
    ComparisonRows,
    build_fields,
    list_cell_rows,
    list_finest_rows,
    list_rows_by_order,
    split_by_order,
    stack_rows,
)
from .covariates import ORDER, CovariateCells, read_option_covariates

if TYPE_CHECKING:
    import pandas as pd

    from .comparisons import PairedComparisons


class HeldOutPair(NamedTuple):
    """All comparisons of one pair, by covariate values, held out for prediction."""

    pair: tuple[str, str]
    # (cells, outcomes): the first option was chosen, neither was (if there are ties), the second
    counts: np.ndarray
    # covariates of comparisons, one number per cell by name; None: there are none
    covariates: dict[str, np.ndarray] | None = None

    def find_positions(self, labels: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return indices of both options among `labels`, for each cell."""
        first_positions, second_positions = (
            np.full(len(self.counts), labels.index(label)) for label in self.pair
        )
        return first_positions, second_positions

    def select_covariates(self, names: Iterable[str]) -> dict[str, np.ndarray] | None:
        """Return the named covariates' values in each cell; None without covariates."""
        if self.covariates is None:
            return None
        return {name: values for name, values in self.covariates.items() if name in names}


def subset(data: "PairedComparisons", labels: Iterable[Any]) -> "PairedComparisons":
    """Return the comparisons among some options, which are sorted as given.

    Parameters
    ----------
    labels : sequence of str
        At least two different labels.

    Returns
    -------
    PairedComparisons

    Raises
    ------
    DataError
        If a label is unknown or given twice, or no comparison is left.

    Examples
    --------
    >>> import thali as th
    >>> data = th.PairedComparisons(
    ...     [[0, 7, 9], [3, 0, 6], [1, 4, 0]], labels=["tea", "coffee", "milk"]
    ... )
    >>> data.subset(["milk", "tea"]).counts
    array([[0, 1],
           [9, 0]])
    """
    subset_labels = check_labels(labels, "The labels of a subset")
    new_index = np.full(data.n_options, -1)
    old_indices = _find_option_positions(data, subset_labels)
    new_index[old_indices] = np.arange(len(subset_labels))

    def select_options(rows: ComparisonRows) -> ComparisonRows:
        """Return the rows among these options, with their new indices."""
        first = new_index[rows.first]
        second = new_index[rows.second]
        respondents = rows.respondents
        covariates = rows.covariates
        if respondents is not None and respondents.scores is not None:
            respondents = respondents._replace(scores=respondents.scores[:, old_indices])
        if covariates is not None and covariates.options is not None:
            covariates = covariates._replace(options=covariates.options[old_indices])
        turned_rows = ComparisonRows(
            first, second, rows.counts, respondents, covariates, rows.dates
        )
        return turned_rows.select_rows((first >= 0) & (second >= 0))

    return _change_rows(data, select_options, subset_labels)


def _copy_pair_rows(data: "PairedComparisons", rows: ComparisonRows) -> "PairedComparisons":
    """Return comparisons with the sides and counts of rows with one row per pair, nothing else."""
    return build_from_fields(type(data), data.labels, rows.first, rows.second, *rows.counts)


def with_counts(
    data: "PairedComparisons", wins: np.ndarray, losses: np.ndarray, tied: np.ndarray | None = None
) -> "PairedComparisons":
    """Return a copy with new counts per pair, without respondents and covariates.

    Without `tied` there are no ties.
    """
    if tied is None:
        tied = np.zeros(data.n_pairs)
    return build_from_fields(type(data), data.labels, data.first, data.second, wins, losses, tied)


def with_cell_counts(
    data: "PairedComparisons", wins: np.ndarray, losses: np.ndarray, tied: np.ndarray | None = None
) -> "PairedComparisons":
    """Return a copy with new counts per pair and covariate values, without respondents."""
    if data.covariates is None:
        return with_counts(data, wins, losses, tied)
    if tied is None:
        tied = np.zeros(len(wins))
    pair_counts = sum_by_index(data.covariates.pair, (wins, losses, tied), data.n_pairs)
    covariates = copy_with_fields(
        data.covariates, wins=wins, losses=losses, tied=tied, answers=None
    )
    return copy_with_fields(with_counts(data, *pair_counts), covariates=covariates)


def without_ties(data: "PairedComparisons", how: str) -> "PairedComparisons":
    """Return the comparisons with each tie as two half choices, or without ties.

    Parameters
    ----------
    how : {"half", "drop"}
        A tie counts half a choice of either option, or nothing; a pair with ties alone then is not
        compared.

    Returns
    -------
    PairedComparisons
        With fractional counts, if there was an odd number of ties of some pair and they count half.

    Raises
    ------
    ArgumentError
        If `how` is another word.
    DataError
        If all comparisons are ties and are dropped.

    Examples
    --------
    >>> import thali as th
    >>> data = th.PairedComparisons([[0, 3], [1, 0]], labels=["tea", "milk"], ties=[[0, 1], [1, 0]])
    >>> data
    PairedComparisons(2 options, 1 pair, 5 comparisons (1 tie), 1 component)
    >>> data.without_ties("half").wins, data.without_ties("drop").wins
    (array([3.5]), array([3.]))
    """
    share_by_rule = {"half": 0.5, "drop": 0.0}
    share = share_by_rule[check_allowed("how", how, tuple(share_by_rule))]
    if not (data.wins.any() or data.losses.any() or share):
        raise DataError(
            f"All {format_plural(data.n_ties, 'comparison')} are ties, so nothing would be left"
            " without them; keep the ties."
        )

    def split_row_ties(rows: ComparisonRows) -> ComparisonRows:
        """Return the rows with a share of their ties added to wins and losses."""
        wins, losses, tied = rows.counts
        counts = np.stack([wins + share * tied, losses + share * tied, 0.0 * tied])
        return rows._replace(counts=counts)

    return _change_rows(data, split_row_ties)


def without_pair(data: "PairedComparisons", a: str, b: str) -> "PairedComparisons":
    """Return the comparisons of all pairs except one.

    Parameters
    ----------
    a, b : str
        Two labels, in either order.

    Returns
    -------
    PairedComparisons

    Raises
    ------
    DataError
        If a label is unknown, the two were never compared, or no other comparison is left.

    Examples
    --------
    >>> import thali as th
    >>> data = th.PairedComparisons(
    ...     [[0, 7, 9], [3, 0, 6], [1, 4, 0]], labels=["tea", "coffee", "milk"]
    ... )
    >>> data.without_pair("milk", "tea")
    PairedComparisons(3 options, 2 pairs, 20 comparisons, 1 component)
    """
    names = [format_label(a), format_label(b)]
    first_index, second_index = sorted(_find_option_positions(data, names))
    is_kept = (data.first != first_index) | (data.second != second_index)
    if is_kept.all():
        raise DataError(f"{shorten(names)} were never compared, so there is nothing to remove.")
    if not is_kept.any():
        raise DataError(
            f"{shorten(names)} are the only pair compared; without this pair, no data would be"
            " left."
        )

    def remove_pair(rows: ComparisonRows) -> ComparisonRows:
        """Return the rows of other pairs; the rows by order name the pair either way."""
        is_first = np.minimum(rows.first, rows.second) == first_index
        is_second = np.maximum(rows.first, rows.second) == second_index
        return rows.select_rows(~(is_first & is_second))

    return _change_rows(data, remove_pair)


def build_cells(data: "PairedComparisons") -> CovariateCells:
    """Return counts by pair and covariate values, as arrays for models.

    A cell is a pair, or a pair with one combination of covariates.
    """
    covariates = data.covariates
    if covariates is None:
        no_values = np.zeros((data.n_pairs, 0))
        return CovariateCells(
            np.arange(data.n_pairs),
            data.first,
            data.second,
            data.wins,
            data.losses,
            data.tied,
            no_values,
            data.answers,
        )
    first_indices = data.first[covariates.pair]
    second_indices = data.second[covariates.pair]
    columns = CovariateColumns(covariates.names, covariates.values, covariates.options)
    x = columns.compute_effects(first_indices, second_indices)
    return CovariateCells(
        covariates.pair,
        first_indices,
        second_indices,
        covariates.wins,
        covariates.losses,
        covariates.tied,
        x,
        covariates.answers,
    )


def build_questions(
    data: "PairedComparisons", outcomes: tuple[str, ...], cells: CovariateCells
) -> Questions:
    """Build one question per cell, whose answers are `outcomes`, such as ("wins", "losses").

    The report has one row per pair and outcome but the last.
    """
    n_outcomes = len(outcomes)

    def number_answers(groups: np.ndarray) -> np.ndarray:
        """Return the indices of the answers of groups, all of each group after another."""
        return (n_outcomes * groups.astype(np.int64)[:, None] + np.arange(n_outcomes)).ravel()

    def list_given_answers() -> GivenAnswers | None:
        """Return the answers of each respondent; None if respondents are unknown."""
        if (answers := cells.answers) is None:
            return None
        answer_index = number_answers(answers.pair)
        times = np.column_stack([getattr(answers, name) for name in outcomes]).ravel()
        is_positive = times > 0.0
        respondent = np.repeat(answers.respondent, n_outcomes)
        return GivenAnswers(
            answers.respondents,
            respondent[is_positive],
            answer_index[is_positive],
            times[is_positive],
        )

    def build_rows() -> ReportRows:
        """Build the rows of a predictive check: one per pair and outcome but the last."""
        labels = np.array(data.labels)
        shown_pairs = np.repeat(np.arange(data.n_pairs), n_outcomes - 1)
        names = {"a": labels[data.first[shown_pairs]], "b": labels[data.second[shown_pairs]]}
        row_kind = PAIR
        if n_outcomes == OUTCOMES:
            row_kind = TIED
            names["tied"] = np.tile([False, True], data.n_pairs)
        report_rows = build_report_rows(
            row_kind, number_answers(cells.pair), names, len(cells.pair)
        )
        pair_bounds = np.arange(data.n_pairs + 1)
        is_last = np.arange(n_outcomes) == n_outcomes - 1
        return report_rows._replace(
            is_shown=np.tile(~is_last, data.n_pairs),
            group=np.searchsorted(cells.pair, pair_bounds),
            group_row=n_outcomes * pair_bounds,
        )

    counts = np.column_stack([getattr(cells, name) for name in outcomes])
    n_asked = cells.wins + cells.tied + cells.losses
    return Questions(
        n_outcomes * np.arange(len(counts) + 1),
        counts.ravel(),
        list_given_answers,
        build_rows,
        n_asked,
    )


def with_order(data: "PairedComparisons") -> "PairedComparisons":
    """Add the covariate "order": 1 where the first of a pair was shown first, else -1.

    Its coefficient is the advantage of being first, or at home, in log odds. Comparisons of known
    people take it from the table: ``from_trials(frame, covariates=["order"])``.

    Returns
    -------
    PairedComparisons

    Raises
    ------
    DataError
        If the order of options is unknown, or the data have respondents or covariates already.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> games = pd.DataFrame(
    ...     [("Hull", "Stoke", "H"), ("Stoke", "Hull", "H")], columns=["home", "away", "result"]
    ... )
    >>> data = th.PairedComparisons.from_results(games).with_order()
    >>> data.covariates.values.ravel()
    array([-1.,  1.])
    """
    data.refuse_dates()
    for noun, details in (("respondents", data.answers), ("covariates", data.covariates)):
        if details is not None:
            raise DataError(
                f"For comparisons with {noun}, the order is read from the table; add {ORDER!r} to"
                " the `covariates` of from_trials or from_results."
            )
    by_order(data)  # raises if the order is unknown
    rows = list_rows_by_order(data)
    order = CovariateColumns((ORDER,), np.ones((len(rows.first), 1)))
    return build_from_fields(
        type(data), *build_fields(data.labels, rows._replace(covariates=order), knows_order=True)
    )


def between(data: "PairedComparisons", since: Any = None, until: Any = None) -> "PairedComparisons":
    """Return the comparisons between two dates, both included, with all options.

    Parameters
    ----------
    since, until : str or int, optional
        Such as "2024-05-31", or "2024-05" or "2024", of which the first or the last day counts; of
        dates that are integers, one of them. None: from the first on, up to the last.

    Returns
    -------
    PairedComparisons
        Without knowledge of which option was first.

    Raises
    ------
    DataError
        If the comparisons have no dates, or none is left.
    ArgumentError
        If `since` or `until` is not a date.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = {"left": ["tea", "milk"], "right": ["milk", "tea"], "chosen": ["tea", "tea"]}
    >>> frame = pd.DataFrame(rows | {"day": ["2024-05-30", "2024-06-01"]})
    >>> th.PairedComparisons.from_trials(frame, date="day").between(until="2024-05").n_comparisons
    1
    """
    if data.dates is None:
        raise DataError(
            "These comparisons have no dates; give the name of the column of dates with ",
            Argument("date"),
            InPython(" when reading them: from_trials(frame, date=...).", "."),
        )
    rows = list_finest_rows(data).select_rows(data.dates.are_between(since, until))
    return build_from_fields(type(data), *build_fields(data.labels, rows))


def with_option_covariates(data: "PairedComparisons", frame: "pd.DataFrame") -> "PairedComparisons":
    r"""Add covariates of options, such as price, to the comparisons.

    .. math:: \text{worth}_i = e^{x_i' b} u_i

    where u are the remaining worths in a posterior; by maximum likelihood all are 1. For
    `BradleyTerryLuce` alone.

    Parameters
    ----------
    frame : DataFrame
        One row per option, with its label in the index, and one column per covariate: numbers are
        unchanged, other columns become indicators of all categories but the first.

    Returns
    -------
    PairedComparisons

    Raises
    ------
    DataError
        If an option has no row, or a column is constant or has gaps, or bears the name of another
        covariate.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> data = th.PairedComparisons(
    ...     [[0, 3, 5], [1, 0, 2], [1, 2, 0]], labels=["tea", "milk", "water"]
    ... )
    >>> data.with_option_covariates(
    ...     pd.DataFrame({"price": [2.0, 1.0, 0.5]}, index=["tea", "milk", "water"])
    ... )
    PairedComparisons(3 options, 3 pairs, 14 comparisons, 1 covariate, 1 component)
    """
    data.refuse_dates()
    columns = read_option_covariates(convert_frame(frame), data.labels)
    return describe_options(data, add_option_columns(data.covariates, columns))


def describe_options(
    data: "PairedComparisons", covariates: OptionCovariates
) -> "PairedComparisons":
    """Return comparisons with these covariates; those of comparisons come first."""
    names = covariates.names
    option_values = covariates.options
    table = covariates.table

    def add_columns(rows: ComparisonRows) -> ComparisonRows:
        """Return the rows with the new covariates, which are 0 for comparisons."""
        values = np.zeros((len(rows.first), len(names)))
        if rows.covariates is not None:
            values[:, : len(data.covariate_names)] = rows.covariates.values
        columns = CovariateColumns(names, values, option_values, table)
        return rows._replace(covariates=columns)

    return _change_rows(data, add_columns)


def with_covariates(data: "PairedComparisons", names: Iterable[str]) -> "PairedComparisons":
    """Return the comparisons with only the named covariates.

    Parameters
    ----------
    names : list of str
        None of them: comparisons without covariates.

    Returns
    -------
    PairedComparisons

    Raises
    ------
    DataError
        If a covariate is not known.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = {
    ...     "left": ["tea", "milk"],
    ...     "right": ["milk", "tea"],
    ...     "chosen": ["tea", "tea"],
    ...     "longer": [20, -3],
    ... }
    >>> data = th.PairedComparisons.from_trials(pd.DataFrame(rows), covariates=["order", "longer"])
    >>> data.with_covariates(["longer"])
    PairedComparisons(2 options, 1 pair, 2 comparisons, 1 covariate, 1 component)
    """
    names = list(names)
    if data.covariates is None:
        if names:
            raise DataError(
                f"Unknown covariate {names[0]!r}: these comparisons have no covariates. Name"
                " covariates when reading the data: from_trials(frame, covariates=[...])."
            )
        return data
    columns = data.covariates.find_columns(names)

    def select_columns(rows: ComparisonRows) -> ComparisonRows:
        """Return the rows with these covariates."""
        if not columns or rows.covariates is None:
            return rows._replace(covariates=None)
        return rows._replace(covariates=rows.covariates.select_columns(columns))

    return _change_rows(data, select_columns)


def without_dates(data: "PairedComparisons") -> "PairedComparisons":
    """Return the comparisons without their dates.

    Returns
    -------
    PairedComparisons

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = {"left": ["tea", "milk"], "right": ["milk", "tea"], "chosen": ["tea", "tea"]}
    >>> frame = pd.DataFrame(rows | {"day": ["2024-05-30", "2024-05-31"]})
    >>> th.PairedComparisons.from_trials(frame, date="day").without_dates()
    PairedComparisons(2 options, 1 pair, 2 comparisons, 1 component)
    """
    return copy_with_fields(data, dates=None)


def by_respondent(data: "PairedComparisons") -> "dict[str, PairedComparisons]":
    """Split the comparisons by respondent; return a dict by name.

    `paired.bootstrap` and `circular_triads` take the result.

    Raises
    ------
    DataError
        If respondents are unknown.
    """
    answers = data.require_answers()
    if data.covariates is not None or data.dates is not None:
        return _split_cells_by_respondent(data)
    rows = list_finest_rows(data)
    row_bounds = np.searchsorted(answers.respondent, np.arange(len(data.respondents) + 1))
    return {
        respondent_name: _copy_pair_rows(data, rows.select_rows(np.arange(first_row, end_row)))
        for respondent_name, first_row, end_row in zip(
            data.respondents, row_bounds[:-1], row_bounds[1:], strict=True
        )
        if first_row < end_row
    }


def _split_cells_by_respondent(data: "PairedComparisons") -> "dict[str, PairedComparisons]":
    """Split comparisons with covariates or dates by respondent."""
    rows = list_finest_rows(data)
    respondents: Any = rows.respondents
    order = np.argsort(respondents.number, kind="stable")
    numbers, first_rows = np.unique(respondents.number[order], return_index=True)
    return {
        data.respondents[number]: _keep_members(
            data, rows.select_rows(own_rows), np.array([number])
        )
        for number, own_rows in zip(numbers, np.split(order, first_rows[1:]), strict=True)
    }


def _keep_members(
    data: "PairedComparisons", rows: ComparisonRows, members: np.ndarray
) -> "PairedComparisons":
    """Return comparisons of the rows of some respondents, who are numbered anew."""
    respondents: Any = rows.respondents
    rows = rows._replace(respondents=respondents.select_members(members))
    return build_from_fields(type(data), *build_fields(data.labels, rows))


def by_group(data: "PairedComparisons", column: str) -> "dict[str, PairedComparisons]":
    """Split the comparisons by a column of respondents; return a dict by group.

    `paired.group_test` takes the result.

    Parameters
    ----------
    column : str
        A column of `people`; respondents with an empty cell are in no group.

    Raises
    ------
    DataError
        If respondents are unknown, or no column of `people` has this name.
    """
    members_by_group = group_people(data.people, column, data.require_answers().respondent)
    return {group: select_respondents(data, members) for group, members in members_by_group.items()}


def by_order(data: "PairedComparisons") -> "tuple[PairedComparisons, PairedComparisons]":
    """Split the comparisons by which option of each pair was shown first.

    First is the option shown first, on the left, or played at home. In `forward`, it is the option
    that is earlier among the labels.

    Returns
    -------
    forward, backward : PairedComparisons
        With all options; one of them may be without a comparison.

    Raises
    ------
    DataError
        If the order of options is unknown.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = {
    ...     "home": ["Hull", "Hull", "Stoke"],
    ...     "away": ["Stoke", "Stoke", "Hull"],
    ...     "result": ["H", "H", "A"],
    ... }
    >>> forward, backward = th.PairedComparisons.from_results(pd.DataFrame(rows)).by_order()
    >>> forward.counts.tolist(), backward.counts.tolist()
    ([[0, 2], [0, 0]], [[0, 1], [0, 0]])
    """
    if data.forward is None:
        raise DataError(
            "These comparisons do not record which option was shown first or played at home; ",
            InPython(
                "read them from trials (from_trials) or results of games (from_results)",
                "give one trial or game per row, with the options in the columns 'left' and"
                " 'right', or 'home' and 'away'",
            ),
            ".",
        )
    forward, backward = (
        _copy_pair_rows(data, rows.select_rows(rows.counts.sum(axis=0) > 0.0))
        for rows in split_by_order(data)
    )
    return forward, backward


def together(
    data: "PairedComparisons", other_data: "Sequence[PairedComparisons]"
) -> "PairedComparisons":
    """Merge several `PairedComparisons` with the options of the first.

    Covariates are kept if all have them. Respondents are kept if all know them and there are
    neither covariates nor dates.
    """
    datasets = [data, *other_data]
    list_rows = list_cell_rows
    if all(
        dataset.answers is not None and dataset.covariates is None and dataset.dates is None
        for dataset in datasets
    ):
        list_rows = list_finest_rows
    parts = [list_rows(dataset) for dataset in datasets]
    if any(
        dataset.labels != data.labels or dataset.covariate_names != data.covariate_names
        for dataset in datasets
    ):
        parts = [rows._replace(covariates=None) for rows in parts]
    return _merge_rows(datasets, parts, data.labels)


def with_more(data: "PairedComparisons", more: "PairedComparisons") -> "PairedComparisons":
    """Return these and more comparisons in one object, with the options of both.

    Respondents, with the columns of people that both have, covariates and the order of presentation
    are kept if both know them. Both have dates, or neither. The same name is the same option, and
    the same person.

    Parameters
    ----------
    more : PairedComparisons

    Returns
    -------
    PairedComparisons

    Raises
    ------
    DataError
        If the covariates of the two differ, or describe options, or one of them has no dates.

    Examples
    --------
    >>> import thali as th
    >>> old = th.PairedComparisons.from_pairs([("tea", "milk"), ("milk", "tea")])
    >>> old.with_more(th.PairedComparisons.from_pairs([("tea", "water")]))
    PairedComparisons(3 options, 2 pairs, 3 comparisons, 1 component)
    """
    datasets = (data, more)
    if data.covariate_names != more.covariate_names:
        old_covariates, new_covariates = (
            shorten(dataset.covariate_names) or "none" for dataset in datasets
        )
        raise DataError(
            f"The covariates of the new comparisons ({new_covariates}) differ from those of the"
            f" earlier comparisons ({old_covariates}); give both the same covariates."
        )
    if any(
        dataset.covariates is not None and dataset.covariates.is_of_options.any()
        for dataset in datasets
    ):
        raise DataError(
            "Comparisons with option covariates cannot be merged; add these covariates afterwards."
        )
    if (data.dates is None) != (more.dates is None):
        old_dates_text = "no dates"
        new_dates_text = "some"
        if more.dates is None:
            old_dates_text = "dates"
            new_dates_text = "none"
        raise DataError(
            f"The comparisons have {old_dates_text}, but the new comparisons have"
            f" {new_dates_text}; give the name of the column of dates for both."
        )
    if data.dates is not None and more.dates is not None and data.dates.unit != more.dates.unit:
        raise DataError(
            "One data set has dates and the other has integer periods; use dates or integer"
            " periods in both."
        )
    labels = tuple(dict.fromkeys(label for dataset in datasets for label in dataset.labels))
    parts = [list_finest_rows(dataset) for dataset in datasets]
    return _merge_rows(datasets, parts, labels)


def _merge_rows(
    datasets: "Sequence[PairedComparisons]",
    parts: Sequence[ComparisonRows],
    labels: tuple[str, ...],
) -> "PairedComparisons":
    """Merge rows of several `PairedComparisons`, with the order if all know it."""
    new_indices = [find_label_indices(dataset.labels, labels) for dataset in datasets]
    merged_rows = stack_rows(list(map(_renumber_options, parts, new_indices)))
    if merged_rows.covariates is not None and labels != datasets[0].labels:
        merged_rows = merged_rows._replace(covariates=merged_rows.covariates._replace(options=None))
    merged_data = build_from_fields(type(datasets[0]), *build_fields(labels, merged_rows))
    if any(dataset.forward is None for dataset in datasets):
        return merged_data
    ordered_parts = [list_rows_by_order(dataset) for dataset in datasets]
    ordered_rows = stack_rows(list(map(_renumber_options, ordered_parts, new_indices)))
    return _copy_with_order(merged_data, ordered_rows)


def _renumber_options(rows: ComparisonRows, new_index: np.ndarray) -> ComparisonRows:
    """Return the rows with the new index of each option."""
    return rows._replace(first=new_index[rows.first], second=new_index[rows.second])


def _copy_with_order(data: "PairedComparisons", rows: ComparisonRows) -> "PairedComparisons":
    """Return the comparisons with how often each option was first in the same, ordered rows."""
    ordered_data = build_from_fields(type(data), *build_fields(data.labels, rows, knows_order=True))
    return copy_with_fields(data, forward=ordered_data.forward)


def _change_rows(
    data: "PairedComparisons",
    change: Callable[[ComparisonRows], ComparisonRows],
    labels: tuple[str, ...] | None = None,
) -> "PairedComparisons":
    """Return the comparisons after a change of their rows; `labels` are the new options."""
    labels = labels or data.labels
    changed_data = build_from_fields(
        type(data), *build_fields(labels, change(list_finest_rows(data)))
    )
    if data.forward is None:
        return changed_data
    # The finest rows do not contain the order of options, which is known by pair only.
    return _copy_with_order(changed_data, change(list_rows_by_order(data)))


def select_respondents(data: "PairedComparisons", members: np.ndarray) -> "PairedComparisons":
    """Keep the comparisons of respondents with these indices, with all options."""
    rows = list_finest_rows(data)
    respondents: Any = rows.respondents
    rows = rows.select_rows(np.isin(respondents.number, members))
    return _keep_members(data, rows, members)


def _find_option_positions(data: "PairedComparisons", labels: Iterable[str]) -> list[int]:
    """Return the indices of these option labels; raise DataError if unknown."""
    option_indices = index_labels(data.labels)
    for label in labels:
        if label not in option_indices:
            hint_text = suggest(label, data.labels) or f" The options are {shorten(data.labels)}."
            raise DataError(f"Unknown option {label!r}.{hint_text}")
    return [option_indices[label] for label in labels]


def build_ties_error(ties: float, comparisons: float) -> DataError:
    """Build the error for ties in a model or test that allows none."""
    verb = choose_number(ties, "is a tie", "are ties")
    return DataError(
        f"{ties:,} of {format_plural(comparisons, 'comparison')} {verb}, but ties are not"
        " supported here; count every tie as half a choice for each option with ",
        Message(InPython("data.without_ties('half')", "--ties half"), ", or drop all ties with "),
        Message(InPython("data.without_ties('drop')", "--ties drop"), "."),
    )
