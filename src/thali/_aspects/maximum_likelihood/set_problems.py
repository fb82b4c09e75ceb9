"""The log-likelihood of weights given choices from sets, or best and worst of them, and its derivatives."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import factorial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from thali._data.answers import first_answers, possible_answers
from thali._data.questions import Questions
from thali._model.answer_slopes import OF_ANSWER
from thali._model.best_worst import RANKING, above_zero, answer_probabilities
from thali._model.respondent_scores import LogWeightDerivatives, expected_answers

# The log-likelihood of weights given choices from sets of any size, where every option has one aspect, its own ------


class QuestionProblem:
    """Answers to questions whose probabilities depend on weights."""

    asked: Questions
    n_aspects: int

    @property
    def sizes(self) -> np.ndarray:
        """Possible answers to each question."""
        return self.asked.sizes

    @property
    def totals(self) -> np.ndarray:
        """Answers to each question."""
        return self.asked.totals

    @property
    def work(self) -> float:
        """In which the time of a fit is linear."""
        return float(len(self.totals) * self.n_aspects**2)

    def probabilities(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Of every answer."""
        raise NotImplementedError

    def expected(self, tally: Any, weights: np.ndarray, beta: np.ndarray) -> Any:
        """Return weights with which squared scores of answers sum to the information of parts; sparse."""
        return expected_answers(tally, self.sizes, self.probabilities(weights, beta))


@dataclass(frozen=True)
class SetProblem(QuestionProblem):
    """Counts of the answers to S sets, explained by the weights of K options, of which each has one aspect, its own.

    The methods are those of `PairProblem`, with a set for a pair and an answer for an outcome.
    """

    counts: np.ndarray  # (answers,) of all possible answers to each set, set after set
    members: np.ndarray  # (places,) options
    start: np.ndarray  # (sets + 1,) where the members of each set begin
    n_aspects: int
    lapse: float
    n_coefficients: ClassVar[int] = 0
    tied: ClassVar[None] = None

    @property
    def answer_start(self) -> np.ndarray:
        """Where the answers to each set begin (sets + 1,)."""
        return self.start

    @property
    def asked(self) -> Questions:  # type: ignore[override]
        """The sets with their answers."""
        return Questions(self.answer_start, self.counts)

    def with_counts(self, counts: np.ndarray) -> Self:
        """The same sets with other counts."""
        return replace(self, counts=counts)

    def is_concave(self) -> bool:
        """Whether there are no lapses: then a set of rankings is convex in exponential waiting times."""
        return self.lapse == 0.0

    def terms(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """The log-likelihood of each set, without multinomial coefficients."""
        from scipy.special import xlogy

        return self.asked.summed(xlogy(self.counts, self.probabilities(weights, beta)))


class LuceProblem(SetProblem):
    r"""Choices out of S sets, explained by the weights of K options; of rankings, Plackett and Luce's model.

    .. math::
        q_x = \frac{w_x}{\sum_{y \in S} w_y}, \qquad p_x = (1 - \varepsilon) q_x + \varepsilon / |S|
    """

    def chosen_and_rejected(self) -> tuple[np.ndarray, np.ndarray]:
        """How often each option was chosen, and was offered without being chosen."""
        offered = np.repeat(self.totals, self.sizes)
        chosen, offered = (np.bincount(self.members, each, self.n_aspects) for each in (self.counts, offered))
        return chosen, offered - chosen

    def strength(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """The weight of each set."""
        return np.add.reduceat(weights[self.members], self.start[:-1])

    def _shares(self, weights: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q of every place, and p."""
        total, size = (np.repeat(each, self.sizes) for each in (self.strength(weights, beta), self.sizes))
        q = np.where(total > 0.0, weights[self.members] / np.where(total > 0.0, total, 1.0), 1.0 / size)
        return q, (1.0 - self.lapse) * q + self.lapse / size

    def probabilities(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Of every place."""
        return self._shares(weights, beta)[1]

    def slopes(self, weights: np.ndarray, beta: np.ndarray) -> LogWeightDerivatives:
        """The derivatives at a point.

        With r = (1 - lapse) q / p the gradient of ln p_x is r_x (e_x - q), its Hessian
        r_x (1 - r_x) (e_x - q)(e_x - q)' - r_x (diag(q) - qq').
        """
        q, p = self._shares(weights, beta)
        r = np.where(p > 0.0, (1.0 - self.lapse) * q / np.where(p > 0.0, p, 1.0), 1.0)
        decided = np.repeat(self.strength(weights, beta) > 0.0, self.sizes)
        slope = np.where(decided, self.counts * r, 0.0)
        bend = slope * (1.0 - r)
        slopes, both = (np.add.reduceat(each, self.start[:-1]) for each in (slope, slope + bend))
        expected = p * r**2 * np.repeat(self.totals, self.sizes) * decided
        of_set = np.repeat(np.add.reduceat(expected, self.start[:-1]), self.sizes)

        def by_option(values: np.ndarray) -> np.ndarray:
            return np.bincount(self.members, values, self.n_aspects)

        rest = np.repeat(slopes, self.sizes) * q
        shares, bends = self._rows(q), self._rows(bend)
        mixed = (bends.T @ shares).toarray()
        hessian = (shares.T @ shares.multiply(both[:, None]).tocsr()).toarray() - mixed - mixed.T
        hessian[np.diag_indices_from(hessian)] += by_option(bend - rest)
        information = by_option(expected * (1.0 - 2.0 * q) + q**2 * of_set)
        return LogWeightDerivatives(by_option(slope - rest), hessian, information)

    def scores(self, tally: Any, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Gradients of the log-likelihoods of parts of the choices; `tally` (parts, places) is sparse."""
        from scipy.sparse import csr_array

        q, p = self._shares(weights, beta)
        r = np.where(p > 0.0, (1.0 - self.lapse) * q / np.where(p > 0.0, p, 1.0), 1.0)
        slope = tally.multiply(r * np.repeat(self.strength(weights, beta) > 0.0, self.sizes)[None]).tocsr()
        places = np.arange(len(self.members))
        ones, set_of = np.ones(len(places)), np.repeat(np.arange(len(self.sizes)), self.sizes)
        to_option = csr_array((ones, (places, self.members)), shape=(len(places), self.n_aspects))
        to_set = csr_array((ones, (places, set_of)), shape=(len(places), len(self.sizes)))
        return (slope @ to_option - (slope @ to_set) @ self._rows(q)).toarray()

    def _rows(self, values: np.ndarray):
        """Values of the places as a sparse array, sets by options."""
        from scipy.sparse import csr_array

        return csr_array((values, self.members, self.start), shape=(len(self.start) - 1, self.n_aspects))

    def slope_at_zero(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """The derivative by each weight itself (not by its logarithm), which at a boundary must not be positive."""
        q, p = self._shares(weights, beta)
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.where(self.counts > 0.0, self.counts * (1.0 - self.lapse) / p, 0.0)
        total = np.repeat(self.strength(weights, beta), self.sizes)
        all_of_set = np.repeat(np.add.reduceat(rate * q, self.start[:-1]), self.sizes)
        by_place = np.where(total > 0.0, (rate - all_of_set) / np.where(total > 0.0, total, 1.0), 0.0)
        return np.bincount(self.members, by_place, self.n_aspects)


# The log-likelihood of weights given the best and the worst of sets, where every option has one aspect, its own -------


BLOCK = 2**18  # entries of an array
TINY = 1e-9  # share of the largest weight, at which derivatives by a weight of 0 are taken


class SetAnswers(NamedTuple):
    """Answers that were given to sets of m members."""

    members: np.ndarray  # (rows, m) options: the best, the worst, the others
    answer: np.ndarray  # (rows,)
    counts: np.ndarray  # (rows,)


@dataclass(frozen=True)
class BestWorstProblem(SetProblem):
    """Best-worst choices out of S sets, explained by the weights of K options by one of the rules of `best_worst`."""

    rule: str

    @property
    def answer_start(self) -> np.ndarray:
        return first_answers(self.start)

    @property
    def work(self) -> float:
        """In which the time of a fit is linear: of a number of an array's entries as of a hundred of `Problem`."""
        sizes, given = np.diff(self.start), self.asked.summed((self.counts > 0.0).astype(float))
        return 100.0 * sum(_entries(int(m), self.rule) * given[sizes == m].sum() for m in np.unique(sizes))

    def chosen_and_rejected(self) -> tuple[np.ndarray, np.ndarray]:
        """How often each option was the best, and the worst."""
        answers = possible_answers(self.start)
        best, worst = (
            np.bincount(self.members[each], self.counts, self.n_aspects) for each in (answers.best, answers.worst)
        )
        return best, worst

    def strength(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """The second smallest weight of each set: where it is 0, nothing tells two options apart."""
        of = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        own = weights[self.members]
        return own[np.lexsort([own, of])][self.start[:-1] + 1]

    def probabilities(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Of every answer."""
        return answer_probabilities(weights[None], self.start, self.members, self.lapse, self.rule)[0]

    def slopes(self, weights: np.ndarray, beta: np.ndarray) -> LogWeightDerivatives:
        """The derivatives at a point; the information is that of the squared gradients of the choices."""
        n = self.n_aspects
        gradient, information, hessian = np.zeros(n), np.zeros(n), np.zeros(n * n)
        for rows in self._rows():
            _, by_member, curve = OF_ANSWER[self.rule](above_zero(weights[rows.members]), self.lapse)
            count, options = rows.counts[:, None], rows.members
            gradient += np.bincount(options.ravel(), (count * by_member).ravel(), n)
            information += np.bincount(options.ravel(), (count * by_member**2).ravel(), n)
            at = (n * options[:, :, None] + options[:, None, :]).ravel()
            hessian += np.bincount(at, (count[:, :, None] * curve).ravel(), n * n)
        return LogWeightDerivatives(gradient, hessian.reshape(n, n), information)

    def scores(self, tally: Any, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Gradients of the log-likelihoods of parts of the choices; `tally` (parts, answers) is sparse."""
        from scipy.sparse import csr_array

        found = np.zeros((tally.shape[0], self.n_aspects))
        asked = self.with_counts(np.asarray(tally.sum(axis=0)))
        for rows in asked._rows():
            by_member = OF_ANSWER[self.rule](above_zero(weights[rows.members]), self.lapse, False).gradient
            row, options = np.repeat(np.arange(len(rows.members)), rows.members.shape[1]), rows.members.ravel()
            shape = len(rows.members), self.n_aspects
            found += tally[:, rows.answer] @ csr_array((by_member.ravel(), (row, options)), shape=shape)
        return found

    def slope_at_zero(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """The derivative by each weight itself (not by its logarithm), which at a boundary must not be positive."""
        near = np.maximum(weights, TINY * weights.max())
        return self.slopes(near, beta).gradient / near

    def _rows(self) -> Iterator[SetAnswers]:
        """The answers that were given, of sets of one size at a time."""
        answers, given = possible_answers(self.start), np.flatnonzero(self.counts)
        of = np.repeat(np.arange(len(self.start) - 1), answers.sizes)[given]
        size = np.diff(self.start)[of]
        for m in np.unique(size).tolist():
            some = np.flatnonzero(size == m)
            for part in np.split(some, range(step := max(1, BLOCK // _entries(m, self.rule)), len(some), step)):
                places = self.start[of[part], None] + np.arange(m)
                best, worst = (each[given[part], None] for each in (answers.best, answers.worst))
                order = np.argsort(np.where(places == best, 0, np.where(places == worst, 1, 2)), axis=1, kind="stable")
                members = self.members[np.take_along_axis(places, order, axis=1)]
                yield SetAnswers(members, given[part], self.counts[given[part]])


def _entries(m: int, rule: str) -> int:
    """Entries of the largest array that an answer needs: rankings, members and members."""
    return m**2 * (factorial(m - 2) if rule == RANKING else 1)
