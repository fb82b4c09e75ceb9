"""The choices of some of the people, and choices of several groups of people together."""

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.indexing import part_bounds
from thali._labels import positions
from thali.errors import DataError

from ..answers import NAMED, RowRespondents, merge_respondents, list_possible_answers
from ..people import group_people
from ..questions import ANSWER, MEMBER, ReportRows, build_report_rows
from .rankings import NAMELESS
from .tables import counted_answers

if TYPE_CHECKING:
    from .choices import Choices


def by_respondent(data: "Choices") -> "dict[str, Choices]":
    """The choices of each person, with all options.

    Returns
    -------
    dict
        From the name of each respondent who chose to their `Choices`.

    Raises
    ------
    DataError
        If the data do not say who chose.
    """
    _refuse_unknown(data)
    chose = np.unique(data.respondent[data.respondent >= 0])
    return {data.respondents[k]: of_rows(data, data.respondent == k) for k in chose}


def by_group(data: "Choices", column: str) -> "dict[str, Choices]":
    """The choices of each group of people, with all options.

    Parameters
    ----------
    column : str
        A column of `people`; those for whom it is empty are in no group.

    Returns
    -------
    dict
        From the name of each group to its `Choices`.

    Raises
    ------
    DataError
        If the data do not say who chose, or nothing of that name is known of them.

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
    _refuse_unknown(data)
    found = group_people(data.people, column, data.respondent)
    return {
        group: of_rows(data, np.isin(data.respondent, members), members)
        for group, members in found.items()
    }


def of_rows(data: "Choices", kept: np.ndarray, people: np.ndarray | None = None) -> "Choices":
    """Some of the choices, with all options, and the sets out of which they were made; of these
    people, or of nobody in particular."""
    who, names, known = np.full(len(data.choice[kept]), -1), (), None
    if people is not None:
        who, names = (
            np.searchsorted(people, data.respondent[kept]),
            tuple(data.respondents[k] for k in people),
        )
        known = None if data.people is None else data.people.iloc[people]
    worst = None if data.worst is None else data.worst[kept]
    found = of_choices(data, who, data.choice[kept], worst, times=data.times[kept])
    arrays = (getattr(found, name) for name in data._FIELDS[2:-2])
    return found._from_fields(data.labels, names, *arrays, known, found.n_tied)


def places_of_rows(data: "Choices") -> tuple[np.ndarray, np.ndarray]:
    """For each row all members of its set: the row, and the place in `members`."""
    which = data.set_of[data.choice]
    size = data.sizes[which]
    row = np.repeat(np.arange(which.size), size)
    return row, np.arange(row.size) - np.repeat(np.cumsum(size) - size, size) + data.start[which][
        row
    ]


def of_choices(
    data: "Choices",
    who: np.ndarray,
    choice: np.ndarray,
    worst: np.ndarray | None = None,
    *,
    times: np.ndarray,
) -> "Choices":
    """The same options and respondents with these choices, of places of `members`, and the sets
    that they are from."""
    sets, which = np.unique(data.set_of[choice], return_inverse=True)
    start = part_bounds(data.sizes[sets])
    members = data.members[np.isin(data.set_of, sets)]
    shift = start[which] - data.start[sets][which]
    shifted = None if worst is None else worst + shift
    rows = who, choice + shift, times, shifted
    return data._from_fields(
        data.labels, data.respondents, start, members, *rows, data.people, data.n_tied[sets]
    )


def without_tied_sets(data: "Choices") -> "Choices":
    """Return the choices of single options; a DataError if there are none."""
    if not data.n_ties:
        return data
    kept = data.n_tied[data.set_of[data.choice]] == 1
    if not kept.any():
        raise DataError(
            "Every choice is a tie in a ranking; add rankings in which a single option is first."
        )
    return of_choices(data, data.respondent[kept], data.choice[kept], times=data.times[kept])


def rows_of_members(data: "Choices") -> ReportRows:
    """Return a row for each member of each set."""
    offered = np.array([", ".join(members) for members in data.sets], dtype=str)[data.set_of]
    names = {"alternative": np.array(data.labels)[data.members], "offered": offered}
    found = build_report_rows(MEMBER, np.arange(len(data.members)), names, data.n_sets)
    return found._replace(group=np.arange(data.n_sets + 1), group_row=data.start)


def rows_of_options(data: "Choices") -> ReportRows:
    """Return a row for how often each option that was offered was named the best, and one for the
    worst."""
    from scipy.sparse import csr_array

    answers, n = list_possible_answers(data.start), data.n_options
    column = np.tile(np.arange(len(answers.best)), 2)
    row = np.concatenate([data.members[answers.best], n + data.members[answers.worst]])
    counted = csr_array((np.ones(len(row)), (row, column)), shape=(2 * n, len(answers.best)))
    offered = np.flatnonzero(np.diff(counted.indptr))
    names = {
        "option": np.tile(np.array(data.labels), 2)[offered],
        "named": np.repeat(NAMED, n)[offered],
    }
    group, group_row = np.array([0, data.n_sets]), np.array([0, len(offered)])
    return ReportRows(
        ANSWER, counted[offered], names, np.ones(len(offered), bool), group, group_row
    )


def _refuse_unknown(data: "Choices") -> None:
    """Raise the `DataError` of choices that do not say who made them."""
    if not data.respondents:
        raise DataError(
            "These choices do not identify respondents; read them again and name the column of"
            " respondents."
        )


def together(data: "Choices", others: "Sequence[Choices]", labels: tuple[str, ...]) -> "Choices":
    """The choices of all, of these options; who made them is kept if all know it.

    The same name is the same person; rankings of which nobody says who made them are different
    people's.

    Raises
    ------
    DataError
        If in some the best and the worst were chosen, and in others one option.
    """
    parts = [data, *others]
    if len({part.worst is None for part in parts}) > 1:
        raise DataError(
            "Some groups have best-worst choices and others have single choices; fit them"
            " separately."
        )
    who = _all_who(parts)
    *arrays, n_tied = _put_together(parts, labels, who.number)
    return data._from_fields(labels, who.names, *arrays, who.people, n_tied)


def _all_who(parts: "Sequence[Choices]") -> RowRespondents:
    """Who made the choices of all, or nobody in particular if some do not say it."""
    if not all(part.respondents and (part.respondent >= 0).all() for part in parts):
        return RowRespondents((), np.full(sum(len(part.choice) for part in parts), -1), None)
    known = [RowRespondents(part.respondents, part.respondent, part.people) for part in parts]
    numbers = count(1)
    for k, each in enumerate(known):
        names = [
            f"{NAMELESS}{next(numbers)}" if name.startswith(NAMELESS) else name
            for name in each.names
        ]
        people = None if each.people is None else each.people.set_axis(names, axis=0)
        known[k] = RowRespondents(tuple(names), each.number, people)
    return merge_respondents(known)


def with_more(data: "Choices", more: "Choices") -> "Choices":
    """These choices and further ones, of the options of both.

    Who chose is kept if both know it, with the columns that both know of these people. The same
    name is the same option, and the same person; rankings of which nobody says who made them are
    different people's.

    Parameters
    ----------
    more : Choices

    Returns
    -------
    Choices

    Raises
    ------
    DataError
        If in one of them the best and the worst were chosen, and in the other one option.

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
    labels = tuple(dict.fromkeys(label for part in (data, more) for label in part.labels))
    return together(data, [more], labels)


def _put_together(
    parts: "Sequence[Choices]", labels: tuple[str, ...], who: np.ndarray
) -> tuple[Any, ...]:
    """The sets and the choices of all, of these options, and who made each."""
    place_of = positions(labels)
    occasion, alternative, marked, times, number = [], [], [], [], 0
    for part in parts:
        option = np.array([place_of[label] for label in part.labels])
        row, place = places_of_rows(part)
        occasion.append(number + row)
        alternative.append(option[part.members[place]])
        marked.append(
            [part.are_chosen(row, place)]
            + ([] if part.worst is None else [place == part.worst[row]])
        )
        times.append(part.times)
        number += len(part.times)
    occasion, alternative = np.concatenate(occasion), np.concatenate(alternative)
    order = np.lexsort((alternative, occasion))
    joined = [np.concatenate(each)[order] for each in zip(*marked, strict=True)]
    counts = np.concatenate(times)
    return counted_answers(occasion[order], alternative[order], joined, who, counts)
