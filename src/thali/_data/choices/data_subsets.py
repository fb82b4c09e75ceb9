"""Subsets of `Choices` by respondent or group, and merged `Choices`."""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.index_arithmetic import part_bounds, part_positions, repeat_indices
from thali._labels import index_labels
from thali.errors import DataError, InPython

from ..base_classes import build_from_fields, copy_with_fields
from ..column_readers import convert_frame
from ..option_covariates import add_option_columns
from ..pairs.covariates import read_option_covariates
from ..questions import ANSWER, MEMBER, ReportRows, build_report_rows
from ..respondent_answers import NAMED, RowRespondents, list_possible_answers, merge_respondents
from ..respondent_table import group_people
from .rankings import NAMELESS
from .table_constructors import count_choices

if TYPE_CHECKING:
    import pandas as pd

    from .choices import Choices


def by_respondent(data: "Choices") -> "dict[str, Choices]":
    """Split the choices by respondent; return a dict of `Choices` by name.

    Returns
    -------
    dict
        From the name of each respondent to their `Choices`.

    Raises
    ------
    DataError
        If respondents are unknown.
    """
    require_respondents(data)
    respondent_indices = np.unique(data.respondent[data.respondent >= 0])
    return {
        data.respondents[k]: select_rows(data, data.respondent == k) for k in respondent_indices
    }


def by_group(data: "Choices", column: str) -> "dict[str, Choices]":
    """Split the choices by a column of respondents; return a dict of `Choices` by group.

    Parameters
    ----------
    column : str
        A column of `people`; respondents with an empty cell are in no group.

    Returns
    -------
    dict
        From the name of each group to its `Choices`.

    Raises
    ------
    DataError
        If respondents are unknown, or no column of `people` has this name.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = {
    ...     "task": [1, 1, 1, 2, 2],
    ...     "item": ["tea", "milk", "beer", "tea", "milk"],
    ...     "chosen": [1, 0, 0, 0, 1],
    ... }
    >>> frame = pd.DataFrame(rows | {"person": [1, 1, 1, 2, 2], "sex": ["f", "f", "f", "m", "m"]})
    >>> th.Choices(frame).by_group("sex")["f"]
    Choices(3 options, 1 set of 3 options, 1 choice, 1 respondent)
    """
    require_respondents(data)
    members_by_group = group_people(data.people, column, data.respondent)
    return {
        group: select_rows(data, np.isin(data.respondent, members), members)
        for group, members in members_by_group.items()
    }


def select_rows(
    data: "Choices", rows: np.ndarray, kept_respondents: np.ndarray | None = None
) -> "Choices":
    """Return the choices in these rows, with only their sets but all options.

    The choices belong to `kept_respondents` (indices), or to unknown respondents.
    """
    respondents = RowRespondents((), np.full(len(data.choice[rows]), -1), None)
    if kept_respondents is not None:
        respondents = RowRespondents(data.respondents, data.respondent[rows], data.people)
        respondents = respondents.select_members(kept_respondents)
    worst = data.worst
    if worst is not None:
        worst = worst[rows]
    selected_choices = select_choices(
        data, respondents.number, data.choice[rows], worst, times=data.times[rows]
    )
    return copy_with_fields(
        selected_choices, respondents=respondents.names, people=respondents.people
    )


def with_covariates(data: "Choices", names: Iterable[str]) -> "Choices":
    """Return the choices with only the named covariates.

    Parameters
    ----------
    names : list of str
        None of them: choices without covariates.

    Returns
    -------
    Choices

    Raises
    ------
    DataError
        If a covariate is not known.
    """
    names = list(names)
    if data.covariates is not None:
        return copy_with_fields(data, covariates=data.covariates.select_covariates(names))
    if names:
        raise DataError(
            f"Unknown covariate {names[0]!r}: these choices have no covariates. Answer-level"
            " covariates are available only for comparisons of two options; to add option-level"
            " covariates, use ",
            InPython("with_option_covariates(frame)", "--option-covariates FILE"),
            ".",
        )
    return data


def with_option_covariates(data: "Choices", frame: "pd.DataFrame") -> "Choices":
    r"""Add covariates of options, such as price, to rankings, choices or best-worst choices.

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
    Choices

    Raises
    ------
    DataError
        If an option has no row, or a column is constant or has gaps, or bears the name of another
        covariate.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> data = th.Choices.from_rankings([["tea", "milk", "water"], ["milk", "tea", "water"]])
    >>> data.with_option_covariates(
    ...     pd.DataFrame({"price": [2.0, 1.0, 0.5]}, index=["tea", "milk", "water"])
    ... )
    Choices(3 options, 3 sets of 2 to 3 options, 4 choices, 1 covariate, 2 respondents)
    """
    columns = read_option_covariates(convert_frame(frame), data.labels)
    return copy_with_fields(data, covariates=add_option_columns(data.covariates, columns))


def list_row_members(data: "Choices") -> tuple[np.ndarray, np.ndarray]:
    """Return (row, index in `members`) of each option offered in each row."""
    set_index = data.set_of[data.choice]
    set_sizes = data.sizes[set_index]
    row_index = repeat_indices(set_sizes)
    return row_index, part_positions(set_sizes) + data.start[set_index][row_index]


def select_choices(
    data: "Choices",
    respondent: np.ndarray,
    choice: np.ndarray,
    worst: np.ndarray | None = None,
    *,
    times: np.ndarray,
) -> "Choices":
    """Build `Choices` from answers to some of the sets; other sets are dropped."""
    sets, set_index = np.unique(data.set_of[choice], return_inverse=True)
    start = part_bounds(data.sizes[sets])
    members = data.members[np.isin(data.set_of, sets)]
    index_shift = start[set_index] - data.start[sets][set_index]
    if worst is not None:
        worst = worst + index_shift
    return copy_with_fields(
        data,
        start=start,
        members=members,
        respondent=respondent,
        choice=choice + index_shift,
        times=times,
        worst=worst,
        n_tied=data.n_tied[sets],
    )


def drop_tied_sets(data: "Choices") -> "Choices":
    """Return only the choices of a single option; raise DataError if all are ties."""
    if not data.n_ties:
        return data
    is_single = data.n_tied[data.set_of[data.choice]] == 1
    if not is_single.any():
        raise DataError(
            "Every choice is a tie in a ranking; add rankings in which a single option is first."
        )
    return select_choices(
        data, data.respondent[is_single], data.choice[is_single], times=data.times[is_single]
    )


def build_member_rows(data: "Choices") -> ReportRows:
    """Build the rows of a predictive check: one per offered option of each set."""
    offered_texts = np.array([", ".join(members) for members in data.sets], str)[data.set_of]
    row_columns = {"alternative": np.array(data.labels)[data.members], "offered": offered_texts}
    report_rows = build_report_rows(MEMBER, np.arange(len(data.members)), row_columns, data.n_sets)
    return report_rows._replace(group=np.arange(data.n_sets + 1), group_row=data.start)


def build_option_rows(data: "Choices") -> ReportRows:
    """Build the rows of a predictive check: each option's counts as best and as worst."""
    from scipy.sparse import csr_array

    possible_answers = list_possible_answers(data.start)
    n = data.n_options
    answer_column = np.tile(np.arange(len(possible_answers.best)), 2)
    option_row = np.concatenate(
        [data.members[possible_answers.best], n + data.members[possible_answers.worst]]
    )
    count_matrix = csr_array(
        (np.ones(len(option_row)), (option_row, answer_column)),
        shape=(2 * n, len(possible_answers.best)),
    )
    offered_rows = np.flatnonzero(np.diff(count_matrix.indptr))
    row_columns = {
        "option": np.tile(np.array(data.labels), 2)[offered_rows],
        "named": np.repeat(NAMED, n)[offered_rows],
    }
    group = np.array([0, data.n_sets])
    group_row = np.array([0, len(offered_rows)])
    return ReportRows(
        ANSWER,
        count_matrix[offered_rows],
        row_columns,
        np.ones(len(offered_rows), bool),
        group,
        group_row,
    )


def require_respondents(data: "Choices") -> None:
    """Raise DataError if the choices do not identify respondents."""
    if not data.respondents:
        raise DataError(
            "These choices do not identify respondents; read them again and give the name of the"
            " respondent column."
        )


def together(data: "Choices", other_data: "Sequence[Choices]") -> "Choices":
    """Merge several `Choices` without covariates, with the options of all.

    Respondents are kept if all know them. The same name is the same person; rankings without
    respondents belong to different people.
    """
    datasets = [data, *other_data]
    labels = tuple(dict.fromkeys(label for dataset in datasets for label in dataset.labels))
    row_respondents = _merge_respondents(datasets)
    *set_fields, n_tied = _merge_occasions(datasets, labels, row_respondents.number)
    return build_from_fields(
        type(data),
        labels,
        row_respondents.names,
        *set_fields,
        row_respondents.people,
        n_tied,
    )


def _merge_respondents(datasets: "Sequence[Choices]") -> RowRespondents:
    """Concatenate the row respondents of several `Choices`; unknown if any lacks them."""
    if not all(dataset.respondents and (dataset.respondent >= 0).all() for dataset in datasets):
        return RowRespondents(
            (), np.full(sum(len(dataset.choice) for dataset in datasets), -1), None
        )
    ranking_numbers = count(1)
    respondents_of_parts = []
    for dataset in datasets:
        names = [
            f"{NAMELESS}{next(ranking_numbers)}" if name.startswith(NAMELESS) else name
            for name in dataset.respondents
        ]
        people = dataset.people
        if people is not None:
            people = people.set_axis(names, axis=0)
        respondents_of_parts.append(RowRespondents(tuple(names), dataset.respondent, people))
    return merge_respondents(respondents_of_parts)


def with_more(data: "Choices", more: "Choices") -> "Choices":
    """Return these and more choices in one object, with the options of both.

    Respondents are kept if both know them, with the columns of people that both have. The same name
    is the same option, and the same person; rankings without respondents belong to different
    people.

    Parameters
    ----------
    more : Choices

    Returns
    -------
    Choices

    Raises
    ------
    DataError
        If in one of them the best and the worst were chosen, and in the other one option; if one of
        them has covariates of options.

    Examples
    --------
    >>> import thali as th
    >>> old = th.Choices.from_rankings([["tea", "milk", "water"]])
    >>> old.with_more(th.Choices.from_rankings([["beer", "tea", "milk"]]))
    Choices(4 options, 4 sets of 2 to 3 options, 4 choices, 2 respondents)
    """
    if (data.worst is None) != (more.worst is None):
        raise DataError(
            "Some of these are best-worst choices and others single choices; read them separately."
        )
    if data.covariate_names or more.covariate_names:
        raise DataError(
            "Choices with option covariates cannot be merged; add these covariates afterwards."
        )
    return together(data, [more])


def _merge_occasions(
    datasets: "Sequence[Choices]", labels: tuple[str, ...], respondent_index: np.ndarray
) -> tuple[Any, ...]:
    """Concatenate the sets and choices of several `Choices`, recoded to `labels`."""
    option_indices = index_labels(labels)
    occasion = []
    alternative = []
    marks_by_dataset = []
    counts_by_dataset = []
    n_occasions = 0
    for dataset in datasets:
        new_indices = np.array([option_indices[label] for label in dataset.labels])
        row_index, member_index = list_row_members(dataset)
        occasion.append(n_occasions + row_index)
        alternative.append(new_indices[dataset.members[member_index]])
        marks = [dataset.are_chosen(row_index, member_index)]
        if dataset.worst is not None:
            marks.append(member_index == dataset.worst[row_index])
        marks_by_dataset.append(marks)
        counts_by_dataset.append(dataset.times)
        n_occasions += len(dataset.times)
    occasion = np.concatenate(occasion)
    alternative = np.concatenate(alternative)
    sort_order = np.lexsort((alternative, occasion))
    sorted_marks = [
        np.concatenate(marks)[sort_order] for marks in zip(*marks_by_dataset, strict=True)
    ]
    counts = np.concatenate(counts_by_dataset)
    return count_choices(
        occasion[sort_order], alternative[sort_order], sorted_marks, respondent_index, counts
    )
