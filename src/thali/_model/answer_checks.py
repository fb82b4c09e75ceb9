"""Posterior predictive check, and table of observed and predicted answers, of any choice data.

Both access the data only by `questions()` and the probabilities of the answers of each respondent.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.questions import AnswerProbabilities, Questions, draw_answers
from thali._inference.indexing import argsort_descending, iterate_slices, part_bounds, sum_parts
from thali._inference.seeds import build_generator
from thali._labels import shorten
from thali._posterior.interval import compute_interval
from thali.errors import DataError

from .predictive_check import CHECKED, build_check_table, compute_check_rows, compute_discrepancy

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
        cls, probabilities: AnswerProbabilities, times: np.ndarray
    ) -> "EqualRespondents":
        """Build a group from the number of answers to each question, shape (questions,)."""
        return cls(probabilities, lambda questions: times[questions, None])


# The posterior predictive check, and the table of observed and predicted proportions -------------


def check_answers(
    questions: Questions,
    respondents: list[EqualRespondents],
    draws: int,
    random_seed: Any,
    ci: float,
) -> "pandas.DataFrame":
    """Compare observed answer counts with Multinomial(n, p) counts simulated at each draw.

    p_value = 2 min(P(x_rep < x) + P(x_rep = x)/2, P(x_rep > x) + P(x_rep = x)/2). The overall
    p-value compares sum (x - E x)² / E x over all rows.
    """
    # The model was fitted to these data, so p-values concentrate around one half if it is true
    # (Meng 1994), and a small p-value is stronger evidence than its size suggests. For 200 data
    # sets drawn from prior and model, the overall p-value was below .05 in .5 to 1.5 % for pairs
    # and for sets, and p-values of single rows in .1 to .6 % (benchmarks/check_calibration.py).
    import pandas as pd

    rows = questions.rows
    n = questions.sums @ questions.times
    rng = build_generator(random_seed)
    row_blocks = []
    discrepancy = np.zeros((2, draws))
    for block_rows, question_slice in _split_groups(
        questions, slice(0, len(rows.group) - 1), draws * len(respondents)
    ):
        expected, replicates = _sum_answers(
            questions, respondents, block_rows, question_slice, draws, rng
        )
        observed = questions.observed[block_rows, None]
        is_shown = rows.is_shown[block_rows]
        discrepancy += [compute_discrepancy(counts, expected) for counts in (observed, replicates)]
        n_answers = n[block_rows[is_shown], None]
        row_blocks.append(
            compute_check_rows(
                observed[is_shown],
                n_answers,
                expected[is_shown] / n_answers,
                replicates[is_shown],
                ci,
            )
        )
    return build_check_table(pd.DataFrame(rows.names), row_blocks, discrepancy, rows.kind, ci)


def _split_groups(
    questions: Questions, groups: slice, numbers_per_answer: int
) -> Iterator[tuple[np.ndarray, slice]]:
    """Yield (row indices, slice of questions) in blocks that fit in memory."""
    # `numbers` is the count of numbers in memory for each answer.
    group_start = questions.rows.group
    row_start = questions.rows.group_row
    size = int(np.diff(questions.start[group_start]).max())
    for part in iterate_slices(groups.stop - groups.start, numbers_per_answer * size):
        first_group = groups.start + part.start
        end_group = groups.start + part.stop
        first_row, end_row = row_start[[first_group, end_group]].tolist()
        yield np.arange(first_row, end_row), slice(*group_start[[first_group, end_group]].tolist())


def check_unweighted(questions: Questions) -> None:
    """Raise DataError if any answer count is fractional: it cannot be simulated."""
    is_fractional = questions.counts != np.floor(questions.counts)
    row, answer = questions.rows.counted[:, is_fractional].nonzero()
    if not len(row):
        return
    weight = questions.counts[is_fractional][answer[0]]
    shown_index = np.cumsum(questions.rows.is_shown)[row[0]] - 1
    options = (
        questions.rows.names[column][shown_index] for column in CHECKED[questions.rows.kind].options
    )
    raise DataError(
        "The check simulates unweighted answers, but an answer about"
        f" {shorten([*map(str, options)])} has weight {weight:g}; fit unweighted counts to use"
        " the check."
    )


def predict_answers(
    questions: Questions, respondents: list[EqualRespondents], draws: int, ci: float
) -> "pandas.DataFrame":
    """Return the table of observed and predicted answer proportions, with intervals.

    Of more than 2,000 rows, the questions with the most answers are kept; ``attrs["of"]`` is the
    total number of rows.
    """
    from thali._result_table import Table

    is_shown = questions.rows.is_shown
    times = questions.sums @ questions.times
    shown_before = part_bounds(is_shown)
    predictions, row_blocks = [], []
    for groups in _select_most_answered(questions, np.diff(shown_before[questions.rows.group_row])):
        for rows, question_slice in _split_groups(questions, groups, draws * len(respondents)):
            expected, _ = _sum_answers(questions, respondents, rows, question_slice, draws, None)
            rows, expected = rows[is_shown[rows]], expected[is_shown[rows]]
            p = expected / times[rows, None]
            predictions.append([p.mean(axis=1), *compute_interval(p, ci, axis=1)])
            row_blocks.append(rows)
    rows = np.concatenate(row_blocks)
    n = (questions.sums @ questions.totals)[rows]
    names = {
        name: labels[shown_before[rows]].astype(object)
        for name, labels in questions.rows.names.items()
    }
    predicted = dict(
        zip(("predicted", "low", "high"), np.concatenate(predictions, axis=1), strict=True)
    )
    with np.errstate(invalid="ignore"):  # a pair that was always tied has n = 0
        table = Table(names | {"n": n, "observed": questions.observed[rows] / n} | predicted)
    table.attrs |= {"of": int(shown_before[-1]), "interval": ci}
    return table


def _select_most_answered(questions: Questions, n_shown: np.ndarray) -> list[slice]:
    """Return slices of the most answered question groups, at most `MAX_ROWS` table rows."""
    order = argsort_descending(sum_parts(questions.totals, questions.rows.group))
    n_groups = int((np.cumsum(n_shown[order]) <= MAX_ROWS).sum())
    groups = np.sort(order[: max(1, n_groups)])
    runs = np.split(groups, np.flatnonzero(np.diff(groups) > 1) + 1)
    return [slice(int(run[0]), int(run[-1]) + 1) for run in runs]


def _sum_answers(
    questions: Questions,
    respondents: list[EqualRespondents],
    rows: np.ndarray,
    question_slice: slice,
    draws: int,
    rng: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Return expected and simulated answer counts of table rows, each (rows, draws)."""
    # Replicates are 0 without `rng`.
    expected, replicates = np.zeros((2, len(rows), draws))
    size = int(np.diff(questions.start[question_slice.start : question_slice.stop + 1]).max())
    for part in iterate_slices(
        question_slice.stop - question_slice.start, draws * len(respondents) * size
    ):
        block = slice(question_slice.start + part.start, question_slice.start + part.stop)
        start = questions.start[block.start : block.stop + 1]
        block_rows = questions.rows.counted[rows][:, start[0] : start[-1]]
        for group in respondents:
            p = group.probabilities(block)
            times = group.times(block)
            expected += block_rows @ (np.repeat(times, np.diff(start), axis=0) * p.T)
            if rng is not None:
                replicates += block_rows @ draw_answers(
                    rng, times.astype(np.int64), p, start - start[0]
                )
    return expected, replicates
