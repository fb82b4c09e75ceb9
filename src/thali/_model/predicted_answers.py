"""Posterior predictive check, and table of observed and predicted answers, of any choice data.

Both access the data only by `questions()` and the probabilities of the answers of each respondent.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.questions import AnswerProbabilities, Questions, draw_answers
from thali._inference.index_arithmetic import (
    argsort_descending,
    iterate_slices,
    part_bounds,
    sum_parts,
)
from thali._inference.random_seeds import RandomSeed, build_generator
from thali._labels import shorten
from thali._posterior.posterior_interval import compute_interval
from thali.errors import DataError

from .predictive_check import (
    CHECKED,
    build_check_table,
    compute_check_rows,
    compute_discrepancy,
)

if TYPE_CHECKING:
    import pandas

MAX_ROWS = 2_000  # of the table of observed and predicted proportions


class EqualRespondents(NamedTuple):
    """A group of respondents with equal answer probabilities, and their numbers of answers."""

    probabilities: AnswerProbabilities
    # number of answers to some questions, shape (questions, draws or 1)
    times: Callable[[slice], np.ndarray]

    @classmethod
    def from_times(
        cls, probabilities: AnswerProbabilities, n_answers: np.ndarray
    ) -> "EqualRespondents":
        """Build a group from the number of answers to each question, shape (questions,)."""
        return cls(probabilities, lambda questions: n_answers[questions, None])


# The posterior predictive check, and the table of observed and predicted proportions -------------


def check_answers(
    questions: Questions,
    respondents: list[EqualRespondents],
    n_draws: int,
    random_seed: RandomSeed,
    ci: float,
) -> "pandas.DataFrame":
    """Compare observed answer counts with Multinomial(n, p) counts simulated at each draw.

    p_value = 2 min(P(x_rep < x) + P(x_rep = x)/2, P(x_rep > x) + P(x_rep = x)/2). The overall
    p-value compares sum (x - E x)² / E x over all rows.
    """
    # The model was fitted to these data, so p-values concentrate around one half if it is true
    # (Meng 1994), and a small p-value is stronger evidence than its size suggests. For 200 data
    # sets drawn from prior and model, the overall p-value was below .05 in .5 to 1.5 % for pairs
    # and for sets, and p-values of single rows in .1 to .6 %
    # (benchmarks/posterior_check_p_values.py).
    import pandas as pd

    table_rows = questions.rows
    row_totals = questions.sums @ questions.times
    rng = build_generator(random_seed)
    check_row_blocks = []
    discrepancies = np.zeros((2, n_draws))
    for block_rows, block_questions in _split_groups(
        questions, slice(0, len(table_rows.group) - 1), n_draws * len(respondents)
    ):
        expected, replicates = _sum_answers(
            questions, respondents, block_rows, block_questions, n_draws, rng
        )
        observed = questions.observed[block_rows, None]
        is_shown = table_rows.is_shown[block_rows]
        discrepancies += [
            compute_discrepancy(counts, expected) for counts in (observed, replicates)
        ]
        n_answers = row_totals[block_rows[is_shown], None]
        check_row_blocks.append(
            compute_check_rows(
                observed[is_shown],
                n_answers,
                expected[is_shown] / n_answers,
                replicates[is_shown],
                ci,
            )
        )
    return build_check_table(
        pd.DataFrame(table_rows.names), check_row_blocks, discrepancies, table_rows.kind, ci
    )


def _split_groups(
    questions: Questions, group_slice: slice, numbers_per_answer: int
) -> Iterator[tuple[np.ndarray, slice]]:
    """Yield row indices and a slice of questions, in blocks that fit in memory."""
    # `numbers_per_answer` numbers are in memory for each possible answer.
    first_question_of_group = questions.rows.group
    first_row_of_group = questions.rows.group_row
    max_question_size = int(np.diff(questions.start[first_question_of_group]).max())
    for block in iterate_slices(
        group_slice.stop - group_slice.start, numbers_per_answer * max_question_size
    ):
        first_group = group_slice.start + block.start
        end_group = group_slice.start + block.stop
        first_row, end_row = first_row_of_group[[first_group, end_group]].tolist()
        yield (
            np.arange(first_row, end_row),
            slice(*first_question_of_group[[first_group, end_group]].tolist()),
        )


def check_unweighted(questions: Questions) -> None:
    """Raise DataError if any answer count is fractional: it cannot be simulated."""
    is_fractional = questions.counts != np.floor(questions.counts)
    row_indices, answer_indices = questions.rows.counted[:, is_fractional].nonzero()
    if not len(row_indices):
        return
    weight = questions.counts[is_fractional][answer_indices[0]]
    shown_index = np.cumsum(questions.rows.is_shown)[row_indices[0]] - 1
    option_labels = (
        questions.rows.names[column][shown_index] for column in CHECKED[questions.rows.kind].options
    )
    raise DataError(
        "The posterior predictive check simulates unweighted answers, but an answer on"
        f" {shorten([*map(str, option_labels)])} has weight {weight:g}; fit unweighted counts to"
        " use the check."
    )


def predict_answers(
    questions: Questions, respondents: list[EqualRespondents], n_draws: int, ci: float
) -> "pandas.DataFrame":
    """Return the table of observed and predicted answer proportions, with intervals.

    Of more than 2,000 rows, the questions with the most answers are kept; ``attrs["of"]`` is the
    total number of rows.
    """
    from thali._exportable_table import Table

    is_shown = questions.rows.is_shown
    row_totals = questions.sums @ questions.times
    n_shown_before = part_bounds(is_shown)
    prediction_blocks = []
    row_index_blocks = []
    for group_slice in _select_most_answered(
        questions, np.diff(n_shown_before[questions.rows.group_row])
    ):
        for row_indices, block_questions in _split_groups(
            questions, group_slice, n_draws * len(respondents)
        ):
            expected, _ = _sum_answers(
                questions, respondents, row_indices, block_questions, n_draws, None
            )
            row_indices, expected = (
                row_indices[is_shown[row_indices]],
                expected[is_shown[row_indices]],
            )
            proportions = expected / row_totals[row_indices, None]
            prediction_blocks.append(
                [proportions.mean(axis=1), *compute_interval(proportions, ci, axis=1)]
            )
            row_index_blocks.append(row_indices)
    row_indices = np.concatenate(row_index_blocks)
    n = (questions.sums @ questions.totals)[row_indices]
    label_columns = {
        name: labels[n_shown_before[row_indices]].astype(object)
        for name, labels in questions.rows.names.items()
    }
    prediction_columns = dict(
        zip(("predicted", "low", "high"), np.concatenate(prediction_blocks, axis=1), strict=True)
    )
    with np.errstate(invalid="ignore"):  # a pair that was always tied has n = 0
        table = Table(
            label_columns
            | {"n": n, "observed": questions.observed[row_indices] / n}
            | prediction_columns
        )
    table.attrs |= {"of": int(n_shown_before[-1]), "interval": ci}
    return table


def _select_most_answered(questions: Questions, n_shown: np.ndarray) -> list[slice]:
    """Return slices of the most answered question groups, at most `MAX_ROWS` table rows."""
    by_n_answers = argsort_descending(sum_parts(questions.totals, questions.rows.group))
    n_groups = int((np.cumsum(n_shown[by_n_answers]) <= MAX_ROWS).sum())
    group_indices = np.sort(by_n_answers[: max(1, n_groups)])
    group_runs = np.split(group_indices, np.flatnonzero(np.diff(group_indices) > 1) + 1)
    return [slice(int(run[0]), int(run[-1]) + 1) for run in group_runs]


def _sum_answers(
    questions: Questions,
    respondents: list[EqualRespondents],
    row_indices: np.ndarray,
    question_slice: slice,
    n_draws: int,
    rng: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Return expected and simulated answer counts of table rows, each (rows, draws)."""
    # Replicates are 0 without `rng`.
    expected, replicates = np.zeros((2, len(row_indices), n_draws))
    max_question_size = int(
        np.diff(questions.start[question_slice.start : question_slice.stop + 1]).max()
    )
    for offsets in iterate_slices(
        question_slice.stop - question_slice.start, n_draws * len(respondents) * max_question_size
    ):
        block = slice(question_slice.start + offsets.start, question_slice.start + offsets.stop)
        answer_start = questions.start[block.start : block.stop + 1]
        is_counted = questions.rows.counted[row_indices][:, answer_start[0] : answer_start[-1]]
        for group in respondents:
            probabilities = group.probabilities(block)
            n_answers = group.times(block)
            expected += is_counted @ (
                np.repeat(n_answers, np.diff(answer_start), axis=0) * probabilities.T
            )
            if rng is not None:
                replicates += is_counted @ draw_answers(
                    rng, n_answers.astype(np.int64), probabilities, answer_start - answer_start[0]
                )
    return expected, replicates
