"""What was asked, which answers were possible, how often each was given and by whom: one form of
all counted data.

A comparison has two possible answers, or three where it may be tied; a set of options one for each
of them, or one for each ordered pair of them, the best and the worst; a set of pairs one for each
pair.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from thali.errors import DataError

# of the answers to some questions: (draws, answers)
AnswerProbabilities = Callable[[slice], np.ndarray]


class GivenAnswers(NamedTuple):
    """Who gave which answers: a row for each answer that a respondent gave."""

    respondents: tuple[str, ...]
    respondent: np.ndarray  # (rows,) ascending positions in `respondents`
    answer: np.ndarray  # (rows,)
    times: np.ndarray  # (rows,) above 0


PAIR, TIED, MOST_SIMILAR = "pair", "pair with ties", "pair of triplets"  # kinds of rows
MEMBER, ANSWER = "member of a set", "option that is named"


class ReportRows(NamedTuple):
    """The rows of a table in which answers are counted."""

    kind: str
    counted: Any  # sparse (rows, answers): 1 where an answer is counted in a row
    names: dict[str, np.ndarray]  # the columns that name the rows that are shown
    is_shown: np.ndarray  # (rows,) bool; what follows from other rows is not
    # (groups + 1,) where the questions of a group begin: no row counts answers of two groups
    group: np.ndarray
    group_row: np.ndarray  # (groups + 1,) where its rows begin


def count_in_rows(
    kind: str, row: np.ndarray, names: dict[str, np.ndarray], n_questions: int
) -> ReportRows:
    """Return rows that are all shown, of which each answer is counted in one."""
    from scipy.sparse import csr_array

    n_rows = int(row.max()) + 1
    counted = csr_array((np.ones(len(row)), (row, np.arange(len(row)))), shape=(n_rows, len(row)))
    group, group_row = np.array([0, n_questions]), np.array([0, n_rows])
    return ReportRows(kind, counted, names, np.ones(n_rows, bool), group, group_row)


def _nobody() -> None:
    return None


def _no_rows() -> ReportRows:
    raise NotImplementedError


@dataclass(frozen=True)
class Questions:
    """Questions with their possible answers, and how often each answer was given."""

    # (questions + 1,): the answers to question q are start[q] to start[q + 1] - 1
    start: np.ndarray
    counts: np.ndarray  # (answers,)
    find_given: Callable[[], GivenAnswers | None] = _nobody  # None: it is not known who answered
    find_rows: Callable[[], ReportRows] = _no_rows
    # (questions,) how often each was put; None: as often as it was answered
    asked: np.ndarray | None = None

    @cached_property
    def given(self) -> GivenAnswers | None:
        """Who gave which answers; None if that is not known of all."""
        return self.find_given()

    @cached_property
    def rows(self) -> ReportRows:
        """The rows of a table in which the answers are counted."""
        return self.find_rows()

    @cached_property
    def times(self) -> np.ndarray:
        """How often each question was put."""
        return self.totals if self.asked is None else self.asked

    @cached_property
    def observed(self) -> np.ndarray:
        """How often the answers of each row were given."""
        return self.rows.counted @ self.counts

    @cached_property
    def sums(self) -> Any:
        """A sparse matrix (rows, questions) with 1 where an answer to a question is counted in a
        row."""
        from scipy.sparse import csr_array

        question = csr_array(
            (np.ones(len(self.counts)), (np.arange(len(self.counts)), self.question))
        )
        return (self.rows.counted @ question).astype(bool).astype(float)

    @property
    def sizes(self) -> np.ndarray:
        """Number of possible answers to each question."""
        return np.diff(self.start)

    @property
    def totals(self) -> np.ndarray:
        """How often each question was answered."""
        return self.summed(self.counts)

    @property
    def question(self) -> np.ndarray:
        """The question to which each answer belongs."""
        return np.repeat(np.arange(len(self.start) - 1), self.sizes)

    def summed(self, values: np.ndarray) -> np.ndarray:
        """Sum values of answers (..., answers) over the answers to each question."""
        return np.add.reduceat(values, self.start[:-1], axis=-1)

    def with_counts(self, counts: np.ndarray) -> "Questions":
        """Return the same questions with other counts, given by nobody in particular."""
        return replace(self, counts=counts, find_given=_nobody)

    def log_coefficients(self) -> np.ndarray:
        """Return the logarithm of the multinomial coefficient of each question."""
        from scipy.special import gammaln

        return gammaln(self.totals + 1.0) - self.summed(gammaln(self.counts + 1.0))

    def log_coefficients_of_people(self) -> np.ndarray:
        """Return the same of the answers of each respondent, summed over the questions."""
        from scipy.special import gammaln

        given = self.given
        assert given is not None
        people, question = len(given.respondents), self.question[given.answer]
        keys, row = np.unique(
            given.respondent.astype(np.int64) * len(self.sizes) + question, return_inverse=True
        )
        totals = gammaln(np.bincount(row, given.times, len(keys)) + 1.0)
        each = np.bincount(given.respondent, gammaln(given.times + 1.0), people)
        return np.bincount(keys // len(self.sizes), totals, people) - each

    def log_likelihoods(self, p: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability of the counts of each question, for p (...,
        answers)."""
        from scipy.special import xlogy

        return self.summed(xlogy(self.counts, p)) + self.log_coefficients()

    def drawn(self, p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw counts for probabilities (answers,), with as many answers to each question."""
        return draw_answers(rng, self.whole_totals()[:, None], p[None], self.start)[:, 0].astype(
            float
        )

    def whole_totals(self) -> np.ndarray:
        """Return how often each question was answered, as integers, with which answers are
        simulated.

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
    """Return replicates of the answers to some questions (answers, draws), for p (draws, answers)
    in one order."""
    sizes = np.diff(start)
    if (sizes == sizes[0]).all():
        by_question = p.reshape(len(p), len(sizes), -1).swapaxes(0, 1)
        return rng.multinomial(times, by_question).swapaxes(1, 2).reshape(p.shape[1], -1)
    each = zip(times, np.split(p, start[1:-1], axis=1), strict=True)
    return np.concatenate([rng.multinomial(n, of_question).T for n, of_question in each])


def places_in(start: np.ndarray, some: slice, *places: np.ndarray) -> Any:
    """Return where some sets begin, counted from the first of them, and what is at their places."""
    own = start[some.start : some.stop + 1]
    return own - own[0], *(each[own[0] : own[-1]] for each in places)
