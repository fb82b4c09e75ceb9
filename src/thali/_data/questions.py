"""Questions with their possible answers and counts: one form for all kinds of choice data.

A comparison has two possible answers, or three if ties are allowed. A set of options has one answer
for each option, or one for each ordered pair (best, worst). A triplet has one answer for each pair
of objects.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import repeat_indices
from thali.errors import DataError

# probabilities of the answers to some questions, shape (draws, answers)
AnswerProbabilities = Callable[[slice], np.ndarray]


class GivenAnswers(NamedTuple):
    """Answer counts by respondent, one row per respondent and answer given."""

    respondents: tuple[str, ...]
    respondent: np.ndarray  # (rows,) ascending positions in `respondents`
    answer: np.ndarray  # (rows,)
    times: np.ndarray  # (rows,) above 0


PAIR, TIED, MOST_SIMILAR = "pair", "pair with ties", "pair of triplets"  # kinds of rows
MEMBER = "member of a set"
ANSWER = "option that is named"


class ReportRows(NamedTuple):
    """Rows of a predictive check: which answers each row counts, and its labels."""

    kind: str
    counted: Any  # sparse (rows, answers): 1 where an answer is counted in a row
    names: dict[str, np.ndarray]  # the columns that name the shown rows
    is_shown: np.ndarray  # (rows,) bool; rows that follow from other rows are not shown
    # (groups + 1,) first question of each group; no row counts answers of two groups
    group: np.ndarray
    group_row: np.ndarray  # (groups + 1,) first row of each group


def build_report_rows(
    kind: str, row: np.ndarray, names: dict[str, np.ndarray], n_questions: int
) -> ReportRows:
    """Build check rows for answers that each count in one row; all are shown."""
    from scipy.sparse import csr_array

    n_rows = int(row.max()) + 1
    count_matrix = csr_array(
        (np.ones(len(row)), (row, np.arange(len(row)))), shape=(n_rows, len(row))
    )
    group = np.array([0, n_questions])
    return ReportRows(
        kind, count_matrix, names, np.ones(n_rows, bool), group, np.array([0, n_rows])
    )


def _find_no_respondents() -> None:
    """Return None: the respondents are unknown."""
    return None


def _find_no_rows() -> ReportRows:
    """Raise NotImplementedError: these questions have no predictive check."""
    raise NotImplementedError


@dataclass(frozen=True)
class Questions:
    """Counts of the possible answers to each question, as one flat array."""

    # (questions + 1,): the answers to question q are start[q] to start[q + 1] - 1
    start: np.ndarray
    counts: np.ndarray  # (answers,)
    find_given: Callable[[], GivenAnswers | None] = (
        _find_no_respondents  # None: the respondents are unknown
    )
    find_rows: Callable[[], ReportRows] = _find_no_rows
    # (questions,) times each question was asked; None: the times it was answered
    asked: np.ndarray | None = None

    @cached_property
    def given(self) -> GivenAnswers | None:
        """Answer counts by respondent; None if some respondents are unknown."""
        return self.find_given()

    @cached_property
    def rows(self) -> ReportRows:
        """Rows of a predictive check of these questions."""
        return self.find_rows()

    @cached_property
    def times(self) -> np.ndarray:
        """Number of times each question was asked."""
        if self.asked is None:
            return self.totals
        return self.asked

    @cached_property
    def observed(self) -> np.ndarray:
        """Observed count of each row of the predictive check, shape (rows,)."""
        return self.rows.counted @ self.counts

    @cached_property
    def sums(self) -> Any:
        """Sparse matrix (rows, questions): 1 where a check row counts answers to a question."""
        from scipy.sparse import csr_array

        question_matrix = csr_array(
            (np.ones(len(self.counts)), (np.arange(len(self.counts)), self.question))
        )
        return (self.rows.counted @ question_matrix).astype(bool).astype(float)

    @property
    def sizes(self) -> np.ndarray:
        """Number of possible answers to each question."""
        return np.diff(self.start)

    @property
    def totals(self) -> np.ndarray:
        """Number of times each question was answered."""
        return self.sum_by_question(self.counts)

    @property
    def question(self) -> np.ndarray:
        """Index of the question of each answer, shape (answers,)."""
        return repeat_indices(self.sizes)

    def sum_by_question(self, values: np.ndarray) -> np.ndarray:
        """Sum values (..., answers) over the answers to each question, (..., questions)."""
        return np.add.reduceat(values, self.start[:-1], axis=-1)

    def with_counts(self, counts: np.ndarray) -> "Questions":
        """Return the same questions with other counts, of unknown respondents."""
        return replace(self, counts=counts, find_given=_find_no_respondents)

    def log_coefficients(self) -> np.ndarray:
        """Return the log multinomial coefficient of each question's counts."""
        from scipy.special import gammaln

        return gammaln(self.totals + 1.0) - self.sum_by_question(gammaln(self.counts + 1.0))

    def compute_respondent_coefficients(self) -> np.ndarray:
        """Return log multinomial coefficients summed over each respondent's questions."""
        from scipy.special import gammaln

        given_answers = self.given
        assert given_answers is not None
        n_people = len(given_answers.respondents)
        question = self.question[given_answers.answer]
        distinct_keys, total_index = np.unique(
            given_answers.respondent.astype(np.int64) * len(self.sizes) + question,
            return_inverse=True,
        )
        log_factorials = gammaln(
            np.bincount(total_index, given_answers.times, len(distinct_keys)) + 1.0
        )
        log_repeats = np.bincount(
            given_answers.respondent, gammaln(given_answers.times + 1.0), n_people
        )
        return np.bincount(distinct_keys // len(self.sizes), log_factorials, n_people) - log_repeats

    def log_likelihoods(self, p: np.ndarray) -> np.ndarray:
        """Return the multinomial log probability of each question's counts.

        `p` (..., answers) has the probability of each answer.
        """
        from scipy.special import xlogy

        return self.sum_by_question(xlogy(self.counts, p)) + self.log_coefficients()

    def simulate_counts(self, p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Simulate counts (answers,) with the observed number of answers to each question."""
        counts = draw_answers(rng, self.check_integer_totals()[:, None], p[None], self.start)
        return counts.ravel().astype(float)

    def check_integer_totals(self) -> np.ndarray:
        """Return each question's number of answers as int64, for simulation.

        Raises
        ------
        DataError
            If answers are weighted.
        """
        totals = self.totals
        if (totals != np.floor(totals)).any():
            raise DataError(
                "Simulation requires unweighted choices, but these are weighted; give unweighted"
                " counts."
            )
        return totals.astype(np.int64)


def draw_answers(
    rng: np.random.Generator, times: np.ndarray, p: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """Simulate multinomial answer counts, shape (answers, draws), for p (draws, answers).

    The order of p is the order of the questions.
    """
    sizes = np.diff(start)
    p = np.minimum(p, 1.0)  # a rounded sum can exceed 1, which NumPy refuses
    if (sizes == sizes[0]).all():
        p_by_question = p.reshape(len(p), len(sizes), -1).swapaxes(0, 1)
        return rng.multinomial(times, p_by_question).swapaxes(1, 2).reshape(-1, len(p))
    split_p = np.split(p, start[1:-1], axis=1)
    counts_by_question = [
        rng.multinomial(n, p_part).T for n, p_part in zip(times, split_p, strict=True)
    ]
    return np.concatenate(counts_by_question)


def slice_sets(start: np.ndarray, sets: slice, *arrays: np.ndarray) -> Any:
    """Slice arrays to the members of some sets; return the sets' bounds first."""
    selected_starts = start[sets.start : sets.stop + 1]
    return selected_starts - selected_starts[0], *(
        array[selected_starts[0] : selected_starts[-1]] for array in arrays
    )
