"""Log-likelihood of option weights given choices from sets, with its derivatives."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thali._data.questions import Questions
from thali._inference.index_arithmetic import repeat_indices, sum_parts
from thali._inference.numerics.weight_shares import divide_positive
from thali._model.cluster_robust_variance import LogWeightDerivatives, expect_answers

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class QuestionProblem:
    """Base of log-likelihoods of answers to questions with weight-dependent probabilities."""

    asked: Questions
    n_aspects: int

    @property
    def sizes(self) -> np.ndarray:
        """Number of possible answers to each question."""
        return self.asked.sizes

    @property
    def totals(self) -> np.ndarray:
        """Number of answers to each question."""
        return self.asked.totals

    def probabilities(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Return the probability of every answer to every question."""
        raise NotImplementedError

    def expect_outcomes(self, tally: "csr_array", weights: np.ndarray, beta: np.ndarray) -> Any:
        """Return weights that make squared scores sum to the information of each `tally` row."""
        return expect_answers(tally, self.sizes, self.probabilities(weights, beta))


@dataclass(frozen=True)
class LuceProblem(QuestionProblem):
    r"""Plackett-Luce log-likelihood of K option weights, given choices from S sets.

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
        """The sets of options with counts of their choices."""
        return Questions(self.start, self.counts)

    def terms(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of each set, without multinomial coefficients."""
        from scipy.special import xlogy

        return self.asked.sum_by_question(xlogy(self.counts, self.probabilities(weights, beta)))

    def sum_weights(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Return the total weight of the options of each set."""
        return sum_parts(weights[self.members], self.start)

    def _member_probabilities(
        self, weights: np.ndarray, beta: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the choice probability of each member of each set, without and with the lapse."""
        total_weight = np.repeat(self.sum_weights(weights, beta), self.sizes)
        set_size = np.repeat(self.sizes, self.sizes)
        q = divide_positive(weights[self.members], total_weight, 1.0 / set_size)
        return q, (1.0 - self.lapse) * q + self.lapse / set_size

    def _lapse_slopes(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Return d ln p / d ln q of every set member; 0 in sets without weights."""
        q, p = self._member_probabilities(weights, beta)
        lapse_slopes = divide_positive((1.0 - self.lapse) * q, p, 1.0)
        return lapse_slopes * np.repeat(self.sum_weights(weights, beta) > 0.0, self.sizes)

    def probabilities(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Return the choice probability of every member of every set."""
        return self._member_probabilities(weights, beta)[1]

    def compute_derivatives(self, weights: np.ndarray, beta: np.ndarray) -> LogWeightDerivatives:
        """Return gradient, Hessian and information by the log weights.

        With r = (1 - lapse) q / p the gradient of ln p_x is r_x (e_x - q), its Hessian
        r_x (1 - r_x) (e_x - q)(e_x - q)' - r_x (diag(q) - qq').
        """
        q, p = self._member_probabilities(weights, beta)
        lapse_slopes = self._lapse_slopes(weights, beta)
        choice_slopes = self.counts * lapse_slopes
        curvature = choice_slopes * (1.0 - lapse_slopes)
        set_slopes = sum_parts(choice_slopes, self.start)
        set_sums = sum_parts(choice_slopes + curvature, self.start)
        expected_information = p * lapse_slopes**2 * np.repeat(self.totals, self.sizes)
        set_information = np.repeat(sum_parts(expected_information, self.start), self.sizes)

        def by_option(terms: np.ndarray) -> np.ndarray:
            """Return these terms of set members summed by option."""
            return np.bincount(self.members, terms, self.n_aspects)

        expected_slope = np.repeat(set_slopes, self.sizes) * q
        shares = self._arrange_by_option(q)
        curvature_rows = self._arrange_by_option(curvature)
        mixed_hessian = (curvature_rows.T @ shares).toarray()
        hessian = (
            (shares.T @ shares.multiply(set_sums[:, None]).tocsr()).toarray()
            - mixed_hessian
            - mixed_hessian.T
        )
        hessian[np.diag_indices_from(hessian)] += by_option(curvature - expected_slope)
        information = by_option(expected_information * (1.0 - 2.0 * q) + q**2 * set_information)
        return LogWeightDerivatives(by_option(choice_slopes - expected_slope), hessian, information)

    def compute_scores(self, tally: Any, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Compute log-likelihood gradients, one per row of the sparse `tally` of outcomes."""
        from scipy.sparse import csr_array

        q = self._member_probabilities(weights, beta)[0]
        slope_matrix = tally.multiply(self._lapse_slopes(weights, beta)[None]).tocsr()
        member_indices = np.arange(len(self.members))
        ones = np.ones(len(member_indices))
        set_of_member = repeat_indices(self.sizes)
        to_option = csr_array(
            (ones, (member_indices, self.members)), shape=(len(member_indices), self.n_aspects)
        )
        to_set = csr_array(
            (ones, (member_indices, set_of_member)), shape=(len(member_indices), len(self.sizes))
        )
        return (
            slope_matrix @ to_option - (slope_matrix @ to_set) @ self._arrange_by_option(q)
        ).toarray()

    def _arrange_by_option(self, terms: np.ndarray):
        """Arrange one term per set member as a sparse array, (n_sets, n_options)."""
        from scipy.sparse import csr_array

        return csr_array(
            (terms, self.members, self.start), shape=(len(self.start) - 1, self.n_aspects)
        )
