"""Subsets and copies of `PairedComparisons`: by option, pair, respondent, date, covariate."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import check_allowed
from thali._labels import (
    check_labels,
    choose_number,
    format_label,
    format_plural,
    index_labels,
    shorten,
    suggest,
)
from thali.errors import Argument, DataError, InPython, Message

from ..column_readers import convert_frame
from ..questions import PAIR, TIED, GivenAnswers, Questions, ReportRows, build_report_rows
from ..respondent_answers import OUTCOMES, Answers, RowRespondents, merge_respondents, split_ties
from ..respondent_table import group_people
from .covariates import (
    ORDER,
    CovariateCells,
    CovariateColumns,
    PairCovariates,
    read_option_covariates,
)
from .dates import RowDates
from .table_constructors import build_fields, build_from_counts

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
    is_kept = (new_index[data.first] >= 0) & (new_index[data.second] >= 0)
    first_indices = new_index[data.first[is_kept]]
    second_indices = new_index[data.second[is_kept]]
    winner = np.concatenate([first_indices, second_indices])
    loser = np.concatenate([second_indices, first_indices])
    counts = np.concatenate([data.wins[is_kept], data.losses[is_kept]])
    tied = np.concatenate([data.tied[is_kept], 0.0 * data.tied[is_kept]])
    selected_data = data._from_fields(*build_fields(subset_labels, winner, loser, counts, tied))
    new_first_index = new_index[data.first]
    new_second_index = new_index[data.second]
    pair_key = np.minimum(new_first_index, new_second_index) * len(subset_labels) + np.maximum(
        new_first_index, new_second_index
    )
    new_pair = np.searchsorted(
        selected_data.first * len(subset_labels) + selected_data.second, pair_key
    )
    is_turned = new_first_index > new_second_index
    forward_counts = None
    if data.forward is not None:
        backward_counts = np.array([data.losses, data.wins, data.tied]) - data.forward[[1, 0, 2]]
        forward_counts = np.empty((3, selected_data.n_pairs))
        forward_counts[:, new_pair[is_kept]] = np.where(is_turned, backward_counts, data.forward)[
            :, is_kept
        ]
    answers = covariates = dates = None
    if data.answers is not None:
        answers = data.answers.select_pairs(is_kept, new_pair, is_turned)
    if answers is not None and answers.scores is not None:
        answers = answers._copy_with_fields(scores=answers.scores[:, old_indices])
    if data.covariates is not None:
        covariates = data.covariates.select_pairs(
            is_kept, new_pair, is_turned, np.array(old_indices)
        )
    if data.dates is not None:
        dates = data.dates.select_options(new_index)
    return selected_data._copy_with_fields(
        forward=forward_counts, answers=answers, covariates=covariates, dates=dates
    )


def with_counts(
    data: "PairedComparisons", wins: np.ndarray, losses: np.ndarray, tied: np.ndarray | None = None
) -> "PairedComparisons":
    """Return a copy with new counts per pair, without respondents and covariates.

    Without `tied` there are no ties.
    """
    if tied is None:
        tied = np.zeros(data.n_pairs)
    return data._from_fields(data.labels, data.first, data.second, wins, losses, tied)


def with_cell_counts(
    data: "PairedComparisons", wins: np.ndarray, losses: np.ndarray, tied: np.ndarray | None = None
) -> "PairedComparisons":
    """Return a copy with new counts per pair and covariate values, without respondents."""
    if data.covariates is None:
        return with_counts(data, wins, losses, tied)
    if tied is None:
        tied = np.zeros(len(wins))
    pair = data.covariates.pair
    counts = (wins, losses, tied)
    pair_sums = (np.bincount(pair, cell_counts, data.n_pairs) for cell_counts in counts)
    return with_counts(data, *pair_sums)._copy_with_fields(
        covariates=data.covariates.with_counts(*counts)
    )


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
    converted_data = with_counts(data, *split_ties(data, share))
    forward_counts = None
    if data.forward is not None:
        wins, losses, tied = data.forward
        forward_counts = np.array([wins + share * tied, losses + share * tied, 0.0 * tied])
    answers, covariates, dates = data.answers, data.covariates, data.dates
    if answers is not None:
        answers = answers.without_ties(share)
    if covariates is not None:
        covariates = covariates.without_ties(share)
    if dates is not None:
        dates = dates.without_ties(share)
    converted_data = converted_data._copy_with_fields(
        forward=forward_counts, answers=answers, covariates=covariates, dates=dates
    )
    is_compared = converted_data.wins + converted_data.losses > 0
    if not is_compared.any():
        raise DataError(
            f"All {format_plural(data.n_ties, 'comparison')} are ties, so nothing would be left"
            " without them; keep the ties."
        )
    if is_compared.all():
        return converted_data
    return select_pairs(converted_data, is_compared)


def select_pairs(data: "PairedComparisons", is_kept: np.ndarray) -> "PairedComparisons":
    """Keep some of the pairs, given by a mask, with all options."""
    pair_fields = (
        array[is_kept] for array in (data.first, data.second, data.wins, data.losses, data.tied)
    )
    new_index = np.cumsum(is_kept) - 1
    is_turned = np.zeros(len(is_kept), bool)
    forward_counts = answers = covariates = dates = None
    if data.forward is not None:
        forward_counts = data.forward[:, is_kept]
    if data.answers is not None:
        answers = data.answers.select_pairs(is_kept, new_index, is_turned)
    if data.covariates is not None:
        all_options = np.arange(data.n_options)
        covariates = data.covariates.select_pairs(is_kept, new_index, is_turned, all_options)
    if data.dates is not None:
        pair_keys = (data.first * data.n_options + data.second)[is_kept]
        dates = data.dates.select_pairs(pair_keys, data.n_options)
    return data._from_fields(data.labels, *pair_fields, forward_counts, answers, covariates, dates)


def without_pair(data: "PairedComparisons", a: Any, b: Any) -> "PairedComparisons":
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
    first_index, second_index = sorted(
        _find_option_positions(data, [format_label(a), format_label(b)])
    )
    is_kept = (data.first != first_index) | (data.second != second_index)
    if is_kept.all():
        raise DataError(
            f"{format_label(a)!r} and {format_label(b)!r} were never compared, so there is nothing"
            " to remove."
        )
    if not is_kept.any():
        raise DataError(
            f"{format_label(a)!r} and {format_label(b)!r} are the only pair compared; without this"
            " pair, no data would be left."
        )
    return select_pairs(data, is_kept)


def build_cells(data: "PairedComparisons") -> CovariateCells:
    """Return counts by pair and covariate values, as arrays for models.

    A cell is a pair, or a pair with one combination of covariates.
    """
    covariates = data.covariates
    if covariates is None:
        no_values = np.zeros((data.n_pairs, 0))
        pair_fields = data.first, data.second, data.wins, data.losses, data.tied
        return CovariateCells(np.arange(data.n_pairs), *pair_fields, no_values, data.answers)
    first_indices = data.first[covariates.pair]
    second_indices = data.second[covariates.pair]
    x = covariates.values + covariates.options[first_indices] - covariates.options[second_indices]
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

    def list_given_answers() -> GivenAnswers | None:
        """Return the answers of each respondent; None if respondents are unknown."""
        if (answers := cells.answers) is None:
            return None
        answer_index = (
            n_outcomes * answers.pair.astype(np.int64)[:, None] + np.arange(n_outcomes)
        ).ravel()
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
        row_index = (n_outcomes * cells.pair[:, None] + np.arange(n_outcomes)).ravel()
        report_rows = build_report_rows(row_kind, row_index, names, len(cells.pair))
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
    forward_counts = np.asarray(data.forward)
    counts = np.stack(
        [np.array([data.wins, data.losses, data.tied]) - forward_counts, forward_counts], axis=2
    )
    is_positive = counts.sum(axis=0) > 0.0
    pair_index, is_forward = np.nonzero(is_positive)
    order_values = np.where(is_forward, 1.0, -1.0)[:, None]
    option_values = np.zeros((data.n_options, 1))
    cell_counts = [outcome_counts[is_positive] for outcome_counts in counts]
    covariates = PairCovariates._from_fields(
        (ORDER,), pair_index, order_values, option_values, *cell_counts, None
    )
    return data._copy_with_fields(covariates=covariates)


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
            "These comparisons have no dates; name the column of dates with ",
            Argument("date"),
            InPython(" when reading them: from_trials(frame, date=...).", "."),
        )
    dates = data.dates.between(since, until)
    return _merge_all_parts([data._copy_with_fields(forward=None, dates=dates)], data.labels)


def with_option_covariates(data: "PairedComparisons", frame: "pd.DataFrame") -> "PairedComparisons":
    r"""Add covariates of options, such as price, to the comparisons.

    .. math:: \text{worth}_i = e^{x_i' b} u_i

    where u are the remaining worths in a posterior; by maximum likelihood all are 1. For
    unique aspects alone.

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
    new_names, option_values = read_option_covariates(convert_frame(frame), data.labels)
    covariates = data.covariates
    if covariates is None:
        cells = build_cells(data)
        no_covariates = np.zeros((data.n_pairs, 0)), np.zeros((data.n_options, 0))
        covariates = PairCovariates._from_fields(
            (), cells.pair, *no_covariates, cells.wins, cells.losses, cells.tied, cells.answers
        )
    if repeated_names := [name for name in new_names if name in covariates.names]:
        raise DataError(f"There is already a covariate {repeated_names[0]!r}; rename the column.")
    cell_values = np.hstack([covariates.values, np.zeros((len(covariates.pair), len(new_names)))])
    cell_fields = (
        covariates.pair,
        cell_values,
        np.hstack([covariates.options, option_values]),
        covariates.wins,
        covariates.losses,
        covariates.tied,
        covariates.answers,
    )
    covariates = PairCovariates._from_fields((*covariates.names, *new_names), *cell_fields)
    return data._copy_with_fields(covariates=covariates)


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
                f"Unknown covariate {names[0]!r}: the comparisons have none. Name covariates when"
                " reading them: from_trials(frame, covariates=[...])."
            )
        return data
    covariates = data.covariates.select_covariates(names)
    covariate_indices = [k for k, name in enumerate(data.covariates.names) if name in names]
    dates = data.dates
    if dates is not None:
        dates = dates.select_covariates(covariate_indices)
    return data._copy_with_fields(covariates=covariates, dates=dates)


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
    return data._copy_with_fields(dates=None)


def by_respondent(data: "PairedComparisons") -> "dict[str, PairedComparisons]":
    """Split the comparisons by respondent; return a dict by name.

    `paired.bootstrap` and `circular_triads` take the result.

    Raises
    ------
    DataError
        If respondents are unknown.
    """
    answers = require_answers(data)
    if data.covariates is not None or data.dates is not None:
        answering_respondents = np.unique(answers.respondent)
        return {
            data.respondents[respondent]: select_respondents(data, np.array([respondent]))
            for respondent in answering_respondents
        }
    comparisons = {}
    row_bounds = np.searchsorted(answers.respondent, np.arange(len(data.respondents) + 1))
    for respondent_name, first_row, end_row in zip(
        data.respondents, row_bounds[:-1], row_bounds[1:], strict=True
    ):
        if first_row < end_row:
            pair_indices = answers.pair[first_row:end_row]
            counts = answers.wins, answers.losses, answers.tied
            respondent_counts = [array[first_row:end_row].copy() for array in counts]
            comparisons[respondent_name] = data._from_fields(
                data.labels, data.first[pair_indices], data.second[pair_indices], *respondent_counts
            )
    return comparisons


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
    members_by_group = group_people(data.people, column, require_answers(data).respondent)
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
    data_by_order = []
    for counts in (data.forward, np.array([data.wins, data.losses, data.tied]) - data.forward):
        is_compared = counts.sum(axis=0) > 0.0
        option_indices = data.first[is_compared], data.second[is_compared]
        data_by_order.append(
            data._from_fields(data.labels, *option_indices, *counts[:, is_compared])
        )
    return data_by_order[0], data_by_order[1]


def together(
    data: "PairedComparisons", other_data: "Sequence[PairedComparisons]", labels: tuple[str, ...]
) -> "PairedComparisons":
    """Merge several `PairedComparisons`; `labels` contains the options of all.

    Covariates are kept if all have them. Respondents are kept if all know them and there are
    neither covariates nor dates.
    """
    datasets = [data, *other_data]
    if all(
        dataset.answers is not None and dataset.covariates is None and dataset.dates is None
        for dataset in datasets
    ):
        return _merge_all_parts(datasets, labels)
    plain_datasets = [
        dataset._copy_with_fields(forward=None, answers=None, covariates=None, dates=None)
        for dataset in datasets
    ]
    merged_data = _merge_all_parts(plain_datasets, labels)
    if data.covariates is None or any(
        dataset.labels != labels or dataset.covariate_names != data.covariate_names
        for dataset in datasets
    ):
        return merged_data
    pair_keys = merged_data.first * len(labels) + merged_data.second
    new_pair_indices = [
        np.searchsorted(pair_keys, dataset.first * len(labels) + dataset.second)
        for dataset in datasets
    ]
    all_covariates = [dataset.covariates for dataset in datasets if dataset.covariates is not None]
    return merged_data._copy_with_fields(
        covariates=data.covariates.together(all_covariates, new_pair_indices)
    )


def with_more(data: "PairedComparisons", more: "PairedComparisons") -> "PairedComparisons":
    """Return these and more comparisons in one object, with the options of both.

    Respondents, with the columns of people that both have, and covariates are kept if both know
    them; the order of presentation is dropped. Both have dates, or neither. The same name is the
    same option, and the same person.

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
            f" {new_dates_text}; name the column of dates for both."
        )
    if data.dates is not None and more.dates is not None and data.dates.unit != more.dates.unit:
        raise DataError(
            "One data set has dates and the other has integer periods; use dates or integer"
            " periods in both."
        )
    return _merge_all_parts(
        datasets, tuple(dict.fromkeys(label for dataset in datasets for label in dataset.labels))
    )


def _merge_all_parts(
    datasets: "Sequence[PairedComparisons]", labels: tuple[str, ...]
) -> "PairedComparisons":
    """Merge several `PairedComparisons` with all details but the order of options."""
    option_indices, covariate_names, dates = (
        index_labels(labels),
        datasets[0].covariate_names,
        datasets[0].dates,
    )
    rows_of_datasets = []
    for dataset in datasets:
        new_option_indices = np.array([option_indices[label] for label in dataset.labels])
        dataset_rows = list_finest_rows(dataset)
        rows_of_datasets.append(
            dataset_rows._replace(
                first=new_option_indices[dataset_rows.first],
                second=new_option_indices[dataset_rows.second],
            )
        )
    *row_fields, covariate_values = (
        np.concatenate(column) for column in list(zip(*rows_of_datasets, strict=True))[:6]
    )
    row_respondents = None
    if all(dataset.answers is not None for dataset in datasets):
        answers_of_datasets = [require_answers(dataset) for dataset in datasets]
        row_respondents = merge_respondents(
            [
                RowRespondents(
                    dataset_answers.respondents, answer_rows.respondent, dataset_answers.people
                )
                for dataset_answers, answer_rows in zip(
                    answers_of_datasets, rows_of_datasets, strict=True
                )
            ]
        )
    covariates = row_dates = None
    if covariate_names:
        covariates = CovariateColumns(covariate_names, covariate_values)
    if dates is not None:
        all_times = np.concatenate(
            [dataset.dates.time for dataset in datasets if dataset.dates is not None]
        )
        row_dates = RowDates(dates.name, dates.unit, all_times)
    return build_from_counts(
        type(datasets[0]),
        labels,
        tuple(row_fields),
        (row_respondents, covariates, row_dates),
        knows_order=False,
    )


class ComparisonRows(NamedTuple):
    """Counts by pair, covariate values, respondent and date, as far as known."""

    first: np.ndarray
    second: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    x: np.ndarray
    respondent: np.ndarray  # (rows,) indices of people; empty if unknown


def list_finest_rows(data: "PairedComparisons") -> ComparisonRows:
    """Return counts by pair, covariates, respondent and (if known) date."""
    if data.dates is not None:
        return ComparisonRows(*(getattr(data.dates, name) for name in ComparisonRows._fields))
    cells = build_cells(data)
    cell_indices, counts, respondent = np.arange(len(cells.first)), cells, np.zeros(0, np.int64)
    if cells.answers is not None:
        counts = cells.answers
        cell_indices = counts.pair
        respondent = counts.respondent
    option_indices = cells.first[cell_indices], cells.second[cell_indices]
    return ComparisonRows(
        *option_indices, counts.wins, counts.losses, counts.tied, cells.x[cell_indices], respondent
    )


def select_respondents(data: "PairedComparisons", members: np.ndarray) -> "PairedComparisons":
    """Keep the comparisons of respondents with these indices, with all options."""
    answers, pair_indices = require_answers(data).select_respondents_and_pairs(members)
    counts = answers.wins, answers.losses, answers.tied
    pair_sums = [
        np.bincount(answers.pair, side_counts, len(pair_indices)) for side_counts in counts
    ]
    covariates = dates = None
    if data.covariates is not None:
        covariates = data.covariates.select_respondents(members, pair_indices)
    if data.dates is not None:
        dates = data.dates.select_respondents(members)
    return data._from_fields(
        data.labels,
        data.first[pair_indices],
        data.second[pair_indices],
        *pair_sums,
        None,
        answers,
        covariates,
        dates,
    )


def require_answers(data: "PairedComparisons") -> Answers:
    """Return the answers of each respondent; raise DataError if unknown."""
    if data.answers is None:
        raise DataError(
            "These comparisons do not identify respondents; read them again and name the column of"
            " respondents",
            InPython("", Message(", ", Argument("respondent"))),
            ".",
        )
    return data.answers


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
