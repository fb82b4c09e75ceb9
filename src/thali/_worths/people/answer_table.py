"""Answers of respondents as arrays that kernels read, respondent by respondent."""

from typing import Any, NamedTuple

import numpy as np

from thali._data.choices import Choices
from thali._inference.index_arithmetic import part_bounds
from thali._model.best_worst_probabilities import REVERSED

from ..set_choice_density import iterate_answers_by_size


class AnswerTable(NamedTuple):
    """Answers of N respondents about n options, as kernels read them.

    The first member of an answer was chosen from all members. By maximum difference the first
    member is the best and the second one the worst. Members are indices of options among the
    options that the person has seen.
    """

    is_difference: bool  # rule "reversed": maximum difference
    has_ties: bool  # of pairs
    lapse: float
    n_options: int
    first_answer: np.ndarray  # (N + 1,)
    start: np.ndarray  # (answers + 1,) of members
    member: np.ndarray  # (members,)
    count: np.ndarray  # type: ignore[override]  # (answers,) how often the answer was given
    tied: np.ndarray  # (answers,) whether neither of two was chosen
    first_option: np.ndarray  # (N + 1,) of the options that a person has seen
    option: np.ndarray  # (seen,)
    first_square: np.ndarray  # (N + 1,) of the m^2 numbers of a person who has seen m options
    x: np.ndarray  # (N, 1 + q): 1 and the standardised columns


class AnswerBlock(NamedTuple):
    """Answers to sets of one size, before they enter the table."""

    person: np.ndarray  # (answers,)
    members: np.ndarray  # (answers, m) options
    count: np.ndarray  # type: ignore[override]  # (answers,)
    tied: np.ndarray  # (answers,)


def tabulate_answers(
    data: Any, rule: str, lapse: float, has_ties: bool, columns: np.ndarray | None = None
) -> AnswerTable:
    """Return the answers of all respondents as kernels read them.

    Parameters
    ----------
    data : PairedComparisons or Choices
        With respondents; without covariates, and without options that tie in rankings.
    rule : {"order", "reversed"}
        "reversed": best and worst by maximum difference.
    columns : array, shape (N, q), optional
        Standardised columns of the respondents.
    """
    if isinstance(data, Choices):
        blocks = build_set_blocks(data)
    else:
        blocks = build_pair_blocks(data, has_ties)
    N, n = len(data.respondents), data.n_options
    person_of_answer, answer_counts, is_tied = (
        np.concatenate([block[k] for block in blocks]) for k in (0, 2, 3)
    )
    answer_sizes = np.concatenate(
        [np.full(len(block.members), block.members.shape[1]) for block in blocks]
    )
    member_person = np.repeat(person_of_answer, answer_sizes)
    person_order = np.argsort(person_of_answer, kind="stable")
    member_codes = (
        member_person * n + np.concatenate([block.members.ravel() for block in blocks])
    )[np.argsort(member_person, kind="stable")]
    # people without answers get the first two options
    silent_codes = n * np.setdiff1d(np.arange(N), person_of_answer)
    seen_codes = np.unique(np.concatenate([member_codes, silent_codes, silent_codes + 1]))
    first_option = np.searchsorted(seen_codes, n * np.arange(N + 1))
    x = np.ones((N, 1))
    if columns is not None:
        x = np.hstack([x, columns])
    return AnswerTable(
        rule == REVERSED and data.worst is not None,
        has_ties,
        float(lapse),
        n,
        np.searchsorted(person_of_answer[person_order], np.arange(N + 1)),
        part_bounds(answer_sizes[person_order]),
        np.searchsorted(seen_codes, member_codes) - first_option[member_codes // n],
        answer_counts[person_order],
        is_tied[person_order],
        first_option,
        seen_codes % n,
        part_bounds(np.diff(first_option) ** 2),
        x,
    )


def build_set_blocks(data: Choices) -> list[AnswerBlock]:
    """Return choices from sets in blocks by size, chosen options first."""
    answers_by_size = iterate_answers_by_size(
        data, data.set_of[data.choice], data.choice, data.worst
    )
    return [
        AnswerBlock(
            data.respondent[answer_indices].astype(np.int64),
            members,
            data.times[answer_indices],
            np.zeros(len(answer_indices), bool),
        )
        for answer_indices, members, _ in answers_by_size
    ]


def build_pair_blocks(data: Any, has_ties: bool) -> list[AnswerBlock]:
    """Return comparisons in blocks: first chosen, second chosen, tie."""
    answers = data.cells.answers
    pair_options = np.column_stack([data.cells.first, data.cells.second])[answers.pair]
    outcomes = (answers.wins, pair_options, False), (answers.losses, pair_options[:, ::-1], False)
    if has_ties:
        outcomes += ((answers.tied, pair_options, True),)
    blocks = []
    for answer_counts, ordered_options, is_tied in outcomes:
        counted_rows = np.flatnonzero(answer_counts)
        person_of_row = answers.respondent[counted_rows].astype(np.int64)
        tie_flags = np.full(len(counted_rows), is_tied)
        blocks.append(
            AnswerBlock(
                person_of_row, ordered_options[counted_rows], answer_counts[counted_rows], tie_flags
            )
        )
    return blocks
