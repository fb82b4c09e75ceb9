"""The log-likelihood of weights given choices from sets, and its derivatives."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thali._data.questions import Questions
from thali._model.respondent_scores import LogWeightDerivatives, expect_answers

# The log-likelihood of weights given choices from sets of any size, where every option has one
# aspect, its own


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

    def probabilities(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Of every answer."""
        raise NotImplementedError

    def expect_outcomes(self, tally: Any, weights: np.ndarray, beta: np.ndarray) -> Any:
        """Return weights with which squared scores of answers sum to the information of parts;
        sparse."""
        return expect_answers(tally, self.sizes, self.probabilities(weights, beta))


@dataclass(frozen=True)
class LuceProblem(QuestionProblem):
    r"""Choices out of S sets, explained by the weights of K options; of rankings, Plackett and
    Luce's model.

    .. math::
        q_x = \frac{w_x}{\sum_{y \in S} w_y}, \qquad p_x = (1 - \varepsilon) q_x + \varepsilon / |S|

    The methods are those of `PairProblem`, with a set for a pair and a member for an outcome.
    """

    counts: np.ndarray  # (places,) choices of each member of each set, set after set
    members: np.ndarray  # (places,) options
    start: np.ndarray  # (sets + 1,) where the members of each set begin
    n_aspects: int
    lapse: float
    n_coefficients: ClassVar[int] = 0
    tied: ClassVar[None] = None

    @property
    def asked(self) -> Questions:  # type: ignore[override]
        """The sets with their choices."""
        return Questions(self.start, self.counts)

    def terms(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """The log-likelihood of each set, without multinomial coefficients."""
        from scipy.special import xlogy

        return self.asked.summed(xlogy(self.counts, self.probabilities(weights, beta)))

    def strength(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """The weight of each set."""
        return np.add.reduceat(weights[self.members], self.start[:-1])

    def _shares(self, weights: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q of every place, and p."""
        total, size = (
            np.repeat(each, self.sizes) for each in (self.strength(weights, beta), self.sizes)
        )
        q = np.where(
            total > 0.0, weights[self.members] / np.where(total > 0.0, total, 1.0), 1.0 / size
        )
        return q, (1.0 - self.lapse) * q + self.lapse / size

    def probabilities(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Of every place."""
        return self._shares(weights, beta)[1]

    def compute_derivatives(self, weights: np.ndarray, beta: np.ndarray) -> LogWeightDerivatives:
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

    def compute_scores(self, tally: Any, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Gradients of the log-likelihoods of parts of the choices; `tally` (parts, places) is
        sparse."""
        from scipy.sparse import csr_array

        q, p = self._shares(weights, beta)
        r = np.where(p > 0.0, (1.0 - self.lapse) * q / np.where(p > 0.0, p, 1.0), 1.0)
        slope = tally.multiply(
            r * np.repeat(self.strength(weights, beta) > 0.0, self.sizes)[None]
        ).tocsr()
        places = np.arange(len(self.members))
        ones, set_of = np.ones(len(places)), np.repeat(np.arange(len(self.sizes)), self.sizes)
        to_option = csr_array((ones, (places, self.members)), shape=(len(places), self.n_aspects))
        to_set = csr_array((ones, (places, set_of)), shape=(len(places), len(self.sizes)))
        return (slope @ to_option - (slope @ to_set) @ self._rows(q)).toarray()

    def _rows(self, values: np.ndarray):
        """Values of the places as a sparse array, sets by options."""
        from scipy.sparse import csr_array

        return csr_array(
            (values, self.members, self.start), shape=(len(self.start) - 1, self.n_aspects)
        )
