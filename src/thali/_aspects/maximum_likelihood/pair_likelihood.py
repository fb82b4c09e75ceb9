"""Log-likelihood of aspect weights given paired comparisons, with its derivatives."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thali._data.choices import Choices
from thali._data.pairs import PairedComparisons
from thali._data.questions import Questions
from thali._inference.numerics.davidson_ties import compute_win_tie_loss
from thali._inference.numerics.weight_shares import divide_positive, mix_with_guess, replace_zeros
from thali._model.cluster_robust_variance import LogWeightDerivatives

from ..draws.covariate_offsets import MAX_OFFSET, multiply_first_advantage
from .set_likelihoods import LuceProblem, QuestionProblem

MAX_DENSE = 1_000_000  # entries of pairs x aspects above which arrays are sparse
MIN_PROBABILITY = 1e-300  # replaces a probability of 0


@dataclass(frozen=True)
class PairProblem(QuestionProblem):
    r"""Log-likelihood of K aspect weights and M coefficients, given choices in P pairs.

    .. math::
        \operatorname{logit} q = \ln \sum_k w_k d_k - \ln \sum_k w_k e_k + x \beta, \qquad
        p = (1 - \varepsilon) q + \varepsilon / 2

    d is 1 for aspects of the first option of a pair only, e for aspects of the second only. With
    ties (Davidson 1970) the last coefficient is ln nu, and the outcomes have the probabilities p,
    r = nu sqrt(p (1 - p)) and 1 - p, divided by 1 + r.
    """

    wins: np.ndarray  # (P,) choices of the first option
    losses: np.ndarray
    first: Any  # (P, K) aspects of the first option only, dense or sparse
    second: Any
    extra: np.ndarray  # (P, M) covariates
    lapse: float
    tied: np.ndarray | None = None  # (P,) None: a tie is not an outcome

    @property
    def n_aspects(self) -> int:  # type: ignore[override]
        """Number of aspects K."""
        return self.first.shape[1]

    @property
    def work(self) -> float:
        """Computational cost of a fit, up to a constant factor."""
        return float(len(self.totals) * self.n_aspects**2)

    @property
    def n_coefficients(self) -> int:
        """Number of covariates' coefficients M, with that of ties."""
        return self.extra.shape[1] + (self.tied is not None)

    @property
    def asked(self) -> Questions:  # type: ignore[override]
        """The compared pairs with counts of their outcomes: first, tie (if any), second."""
        outcome_counts = [self.wins, self.losses]
        if self.tied is not None:
            outcome_counts.insert(1, self.tied)
        return Questions(
            len(outcome_counts) * np.arange(len(self.wins) + 1),
            np.column_stack(outcome_counts).ravel(),
        )

    @property
    def counts(self) -> np.ndarray:
        """Counts of all outcomes, pair after pair."""
        return self.asked.counts

    def with_counts(self, counts: np.ndarray) -> "PairProblem":
        """Return the same log-likelihood for other counts of the outcomes."""
        count_columns = counts.reshape(len(self.wins), -1).T
        recounted_problem = replace(self, wins=count_columns[0], losses=count_columns[-1])
        if self.tied is None:
            return recounted_problem
        return replace(recounted_problem, tied=count_columns[1])

    def is_concave(self) -> bool:
        """Return whether the log-likelihood is concave: single aspects, no lapses."""
        has_single_aspects = all(
            bool((pattern.sum(axis=1) <= 1).all()) for pattern in (self.first, self.second)
        )
        return has_single_aspects and self.lapse == 0.0

    def count_aspect_choices(self) -> tuple[np.ndarray, np.ndarray]:
        """Return how often owners of each aspect were chosen, and rejected."""
        wins = self.wins
        losses = self.losses
        return (
            self.first.T @ wins + self.second.T @ losses,
            self.first.T @ losses + self.second.T @ wins,
        )

    def compute_advantages(
        self, weights: np.ndarray, beta: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the weight of aspects that each option of a pair has and the other lacks."""
        first_advantage = self.first @ weights
        second_advantage = self.second @ weights
        if self.extra.shape[1]:  # only covariates distinguish options without advantages
            return multiply_first_advantage(
                first_advantage, second_advantage, self.extra @ beta[: self.extra.shape[1]]
            )
        return first_advantage, second_advantage

    def sum_weights(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Return the weight that distinguishes each pair; 0 if no aspect does."""
        return np.asarray(self.first @ weights + self.second @ weights)

    def choice_probabilities(
        self, weights: np.ndarray, beta: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute p and 1 - p of each pair, both to full precision."""
        return add_lapses(*compute_pair_shares(*self.compute_advantages(weights, beta)), self.lapse)

    def probabilities(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Return the probabilities of all outcomes, in the order of `counts`."""
        p, p_complement = self.choice_probabilities(weights, beta)
        if self.tied is None:
            return np.column_stack([p, p_complement]).ravel()
        return compute_win_tie_loss(p, p_complement, np.exp(beta[-1])).ravel()

    def terms(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of each pair, without binomial coefficients."""
        from scipy.special import xlogy

        p, p_complement = self.choice_probabilities(weights, beta)
        log_likelihood = xlogy(self.wins, p) + xlogy(self.losses, p_complement)
        if self.tied is None:
            return log_likelihood
        tie_odds = np.exp(beta[-1]) * np.sqrt(p * p_complement)
        return log_likelihood + xlogy(self.tied, tie_odds) - self.totals * np.log1p(tie_odds)

    def compute_derivatives(self, weights: np.ndarray, beta: np.ndarray) -> LogWeightDerivatives:
        """Return gradient, Hessian and information by log weights and coefficients.

        With s = d w / (d'w) and t = e w / (e'w), the shares of the aspects on each side, logit q
        has the gradient s - t and the Hessian diag(s) - ss' - diag(t) + tt'.
        """
        first_advantage, second_advantage = self.compute_advantages(weights, beta)
        q, q_complement = compute_pair_shares(first_advantage, second_advantage)
        logit_slope, curvature, expected_information, tie_derivatives = self._differentiate_pairs(
            q, q_complement, beta
        )
        first_gradient = scale_pattern(self.first, weights, self.first @ weights)
        second_gradient = scale_pattern(self.second, weights, second_advantage)
        logit_gradient = first_gradient - second_gradient
        weight_gradient = logit_gradient.T @ logit_slope
        hessian = (
            _compute_gram(logit_gradient, curvature)
            - _compute_gram(first_gradient, logit_slope)
            + _compute_gram(second_gradient, logit_slope)
        )
        hessian[np.diag_indices_from(hessian)] += weight_gradient
        information = (logit_gradient**2).T @ expected_information
        x = self.extra
        gradient = weight_gradient
        if x.shape[1]:
            cross_hessian = logit_gradient.T @ (curvature[:, None] * x)
            hessian = np.block(
                [[hessian, cross_hessian], [cross_hessian.T, x.T @ (curvature[:, None] * x)]]
            )
            gradient = np.concatenate([gradient, x.T @ logit_slope])
            information = np.concatenate([information, (x**2).T @ expected_information])
        # for each pair the first, second and mixed derivatives with respect to ln nu
        if tie_derivatives is not None:
            tie_gradient, tie_curvature, mixed_curvature = tie_derivatives
            cross_hessian = np.concatenate(
                [logit_gradient.T @ mixed_curvature, x.T @ mixed_curvature]
            )[:, None]
            hessian = np.block(
                [[hessian, cross_hessian], [cross_hessian.T, np.array([[tie_curvature.sum()]])]]
            )
            gradient = np.append(gradient, tie_gradient.sum())
            information = np.append(information, -tie_curvature.sum())
        return LogWeightDerivatives(gradient, hessian, information)

    def compute_scores(self, tally: Any, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Compute log-likelihood gradients, one per row of the sparse `tally` of outcomes."""
        from scipy.sparse import csr_array

        first_advantage, second_advantage = self.compute_advantages(weights, beta)
        q, q_complement = compute_pair_shares(first_advantage, second_advantage)
        first_slope, second_slope = differentiate_by_logit(q, q_complement, self.lapse)[:2]
        by_logit_q = np.column_stack([first_slope, -second_slope])
        p_tie = None
        if self.tied is not None:
            tie_slope = (first_slope - second_slope) / 2
            p_tie = self.probabilities(weights, beta)[1::3, None]  # of win, tie and loss
            by_logit_q = (
                np.column_stack([first_slope, tie_slope, -second_slope])
                - p_tie * tie_slope[:, None]
            )
        n_pairs, n_outcomes = by_logit_q.shape
        pair_of_outcome = np.repeat(np.arange(n_pairs), n_outcomes)
        score_weights = tally @ csr_array(
            (by_logit_q.ravel(), (np.arange(n_outcomes * n_pairs), pair_of_outcome)),
            shape=(n_outcomes * n_pairs, n_pairs),
        )
        logit_gradient = scale_pattern(self.first, weights, self.first @ weights) - scale_pattern(
            self.second, weights, second_advantage
        )
        score_blocks = [
            convert_to_dense(score_weights @ logit_gradient),
            score_weights @ self.extra,
        ]
        if p_tie is not None:
            score_blocks.append((tally @ (np.array([0.0, 1.0, 0.0]) - p_tie).ravel())[:, None])
        return np.hstack(score_blocks)

    def _differentiate_pairs(
        self, q: np.ndarray, q_complement: np.ndarray, beta: np.ndarray
    ) -> tuple[Any, ...]:
        """Return each pair's derivatives by logit q, information, and tie derivatives."""
        first_slope, second_slope, first_curvature, second_curvature = differentiate_by_logit(
            q, q_complement, self.lapse
        )
        slope = self.wins * first_slope - self.losses * second_slope
        curvature = self.wins * first_curvature - self.losses * second_curvature
        if self.tied is None:
            return slope, curvature, (self.wins + self.losses) * first_slope * second_slope, None
        totals = self.totals
        p, p_complement = add_lapses(q, q_complement, self.lapse)
        p_first, p_tie, p_second = compute_win_tie_loss(p, p_complement, np.exp(beta[-1])).T
        # first and second derivative of ln sqrt(p (1 - p))
        tie_slope = (first_slope - second_slope) / 2
        tie_curvature = (first_curvature - second_curvature) / 2
        tie_excess = self.tied - totals * p_tie
        tie_variance = totals * p_tie * (1 - p_tie)
        expected_information = totals * (
            p_first * (first_slope - p_tie * tie_slope) ** 2
            + p_second * (second_slope + p_tie * tie_slope) ** 2
        )
        return (
            slope + tie_excess * tie_slope,
            curvature + tie_excess * tie_curvature - tie_variance * tie_slope**2,
            expected_information + tie_variance * (1 - p_tie) * tie_slope**2,
            (tie_excess, -tie_variance, -tie_variance * tie_slope),
        )

    def compute_boundary_slopes(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Compute derivatives by the weights; at a maximum they are <= 0 where w = 0."""
        first_advantage, second_advantage = self.compute_advantages(weights, beta)
        q, q_complement = compute_pair_shares(first_advantage, second_advantage)
        attentive_share = 1.0 - self.lapse
        p, p_complement = add_lapses(q, q_complement, self.lapse)
        with np.errstate(divide="ignore", invalid="ignore"):
            p_slope = np.where(self.wins > 0, self.wins / p, 0.0) - np.where(
                self.losses > 0, self.losses / p_complement, 0.0
            )
            total_advantage = first_advantage + second_advantage
            # with p = 0 the slope is that of -sqrt(p), which is unbounded
            if self.tied is not None:
                p, p_complement = np.maximum([p, p_complement], MIN_PROBABILITY)
                p_tie = compute_win_tie_loss(p, p_complement, np.exp(beta[-1]))[:, 1]
                p_slope = (
                    p_slope
                    + (self.tied - self.totals * p_tie) * (1.0 / p - 1.0 / p_complement) / 2.0
                )
            first_slope = np.where(
                total_advantage > 0, p_slope * attentive_share * q_complement / total_advantage, 0.0
            )
            second_slope = np.where(
                total_advantage > 0, -p_slope * attentive_share * q / total_advantage, 0.0
            )
        covariate_factor = np.exp(
            np.clip(self.extra @ beta[: self.extra.shape[1]], -MAX_OFFSET, MAX_OFFSET)
        )
        return self.first.T @ (first_slope * covariate_factor) + self.second.T @ second_slope


WeightProblem = PairProblem | LuceProblem


def build_problem(
    data: "PairedComparisons | Choices",
    owners: np.ndarray,
    lapse: float,
    extra: np.ndarray | None = None,
    ties: bool = False,
) -> "WeightProblem":
    """Build the log-likelihood of data and owners, shape (n_options, n_aspects)."""
    if isinstance(data, Choices):
        return LuceProblem(
            data.questions().counts, data.members, data.start, data.n_options, float(lapse)
        )
    comparison_cells = data.cells
    if extra is None:
        extra = np.zeros((len(comparison_cells.pair), 0))
    first_aspects, second_aspects = compute_exclusive_aspects(
        owners, comparison_cells.first, comparison_cells.second
    )
    pair_problem = PairProblem(
        comparison_cells.wins,
        comparison_cells.losses,
        first_aspects,
        second_aspects,
        extra,
        float(lapse),
    )
    if ties:
        return replace(pair_problem, tied=comparison_cells.tied)
    return pair_problem


def compute_exclusive_aspects(
    owners: np.ndarray, first_options: np.ndarray, second_options: np.ndarray
) -> tuple[Any, Any]:
    """Return aspects of the first option only, and of the second only, of each pair."""
    if len(first_options) * owners.shape[1] <= MAX_DENSE:
        first_owners = owners[first_options]
        second_owners = owners[second_options]
        return (first_owners & ~second_owners).astype(float), (
            second_owners & ~first_owners
        ).astype(float)
    from scipy.sparse import csr_array

    sparse_owners = csr_array(owners.astype(float))
    first_owners = sparse_owners[first_options]
    second_owners = sparse_owners[second_options]
    common_aspects = first_owners.multiply(second_owners)
    exclusive_patterns = (
        csr_array(first_owners - common_aspects),
        csr_array(second_owners - common_aspects),
    )
    for pattern in exclusive_patterns:
        pattern.eliminate_zeros()
    return exclusive_patterns


def compute_pair_shares(
    first_advantage: np.ndarray, second_advantage: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each advantage's share of both, in full precision; 0.5 if both are 0."""
    total_advantage = first_advantage + second_advantage
    are_zero = total_advantage == 0.0
    total_advantage = np.where(are_zero, 1.0, total_advantage)
    return np.where(are_zero, 0.5, first_advantage / total_advantage), np.where(
        are_zero, 0.5, second_advantage / total_advantage
    )


def add_lapses(
    q: np.ndarray, q_complement: np.ndarray, lapse: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities of the first and the second option with lapses."""
    return mix_with_guess(q, lapse), mix_with_guess(q_complement, lapse)


def differentiate_by_logit(
    q: np.ndarray, q_complement: np.ndarray, lapse: float
) -> tuple[np.ndarray, ...]:
    """Return d ln p, -d ln(1 - p) and their derivatives, by logit q; p is q with lapses."""
    p, p_complement = add_lapses(q, q_complement, lapse)
    p_slope = (1.0 - lapse) * q * q_complement
    first_slope = divide_positive(p_slope, p, 1.0)
    second_slope = divide_positive(p_slope, p_complement, 1.0)
    asymmetry = q_complement - q
    return (
        first_slope,
        second_slope,
        first_slope * (asymmetry - first_slope),
        second_slope * (asymmetry + second_slope),
    )


def scale_pattern(pattern: np.ndarray, weights: np.ndarray, total: np.ndarray) -> Any:
    """Return a sparse 0/1 matrix times weights, divided by each row's total."""
    inverse_total = 1.0 / replace_zeros(total)
    if isinstance(pattern, np.ndarray):
        return pattern * weights * inverse_total[:, None]
    return pattern.multiply(weights).multiply(inverse_total[:, None]).tocsr()


def convert_to_dense(array: np.ndarray) -> np.ndarray:
    """Return a sparse or dense array as a dense one."""
    if isinstance(array, np.ndarray):
        return array
    return array.toarray()


def _compute_gram(rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return X' diag(weight) X for the matrix `rows`."""
    if isinstance(rows, np.ndarray):
        return rows.T @ (weight[:, None] * rows)
    return (rows.T @ rows.multiply(weight[:, None]).tocsr()).toarray()
