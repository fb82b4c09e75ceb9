"""Log-likelihood of aspect weights given paired comparisons, with its derivatives."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thali._data.choices import Choices
from thali._data.pairs import PairedComparisons
from thali._data.questions import Questions
from thali._inference.numerics.davidson import compute_win_tie_loss
from thali._inference.numerics.shares import divide_positive, mix_with_guess, replace_zeros
from thali._model.respondent_scores import LogWeightDerivatives

from ..draws.covariate_offsets import MAX_OFFSET, multiply_first_advantage
from .set_problems import LuceProblem, QuestionProblem

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
        columns = counts.reshape(len(self.wins), -1).T
        problem = replace(self, wins=columns[0], losses=columns[-1])
        if self.tied is None:
            return problem
        return replace(problem, tied=columns[1])

    def is_concave(self) -> bool:
        """Return whether the log-likelihood is concave: single aspects, no lapses."""
        one_each = all(
            bool((pattern.sum(axis=1) <= 1).all()) for pattern in (self.first, self.second)
        )
        return one_each and self.lapse == 0.0

    def count_aspect_choices(self) -> tuple[np.ndarray, np.ndarray]:
        """Return how often owners of each aspect were chosen, and rejected."""
        wins, losses = self.wins, self.losses
        return (
            self.first.T @ wins + self.second.T @ losses,
            self.first.T @ losses + self.second.T @ wins,
        )

    def compute_advantages(
        self, weights: np.ndarray, beta: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the weight of each option that the other option of the pair lacks."""
        ij, ji = self.first @ weights, self.second @ weights
        if self.extra.shape[1]:  # only covariates distinguish options without advantages
            return multiply_first_advantage(ij, ji, self.extra @ beta[: self.extra.shape[1]])
        return ij, ji

    def _compute_covariate_factors(self, beta: np.ndarray) -> np.ndarray:
        """Compute the factors by which covariates multiply the first option's advantage."""
        return np.exp(np.clip(self.extra @ beta[: self.extra.shape[1]], -MAX_OFFSET, MAX_OFFSET))

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
        p, complement = self.choice_probabilities(weights, beta)
        if self.tied is None:
            return np.column_stack([p, complement]).ravel()
        return compute_win_tie_loss(p, complement, np.exp(beta[-1])).ravel()

    def terms(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of each pair, without binomial coefficients."""
        from scipy.special import xlogy

        p, complement = self.choice_probabilities(weights, beta)
        log_likelihood = xlogy(self.wins, p) + xlogy(self.losses, complement)
        if self.tied is None:
            return log_likelihood
        r = np.exp(beta[-1]) * np.sqrt(p * complement)
        return log_likelihood + xlogy(self.tied, r) - self.totals * np.log1p(r)

    def compute_derivatives(self, weights: np.ndarray, beta: np.ndarray) -> LogWeightDerivatives:
        """Return gradient, Hessian and information by log weights and coefficients.

        With s = d w / (d'w) and t = e w / (e'w), the shares of the aspects on each side, logit q
        has the gradient s - t and the Hessian diag(s) - ss' - diag(t) + tt'.
        """
        ij, ji = self.compute_advantages(weights, beta)
        q, complement = compute_pair_shares(ij, ji)
        slope, bend, expected, tie_derivatives = self._differentiate_pairs(q, complement, beta)
        s = scale_pattern(self.first, weights, self.first @ weights)
        t = scale_pattern(self.second, weights, ji)
        change = s - t
        by_weights = change.T @ slope
        hessian = _compute_gram(change, bend) - _compute_gram(s, slope) + _compute_gram(t, slope)
        hessian[np.diag_indices_from(hessian)] += by_weights
        information = (change**2).T @ expected
        x, gradient = self.extra, by_weights
        if x.shape[1]:
            cross = change.T @ (bend[:, None] * x)
            hessian = np.block([[hessian, cross], [cross.T, x.T @ (bend[:, None] * x)]])
            gradient = np.concatenate([gradient, x.T @ slope])
            information = np.concatenate([information, (x**2).T @ expected])
        # for each pair the first, second and mixed derivatives with respect to ln nu
        if tie_derivatives is not None:
            by_tie, bend_tie, mixed = tie_derivatives
            cross = np.concatenate([change.T @ mixed, x.T @ mixed])[:, None]
            hessian = np.block([[hessian, cross], [cross.T, np.array([[bend_tie.sum()]])]])
            gradient = np.append(gradient, by_tie.sum())
            information = np.append(information, -bend_tie.sum())
        return LogWeightDerivatives(gradient, hessian, information)

    def compute_scores(self, tally: Any, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Compute log-likelihood gradients, one per row of the sparse `tally` of outcomes."""
        from scipy.sparse import csr_array

        ij, ji = self.compute_advantages(weights, beta)
        q, complement = compute_pair_shares(ij, ji)
        first_slope, second_slope = differentiate_by_logit(q, complement, self.lapse)[:2]
        by_logit_q = np.column_stack([first_slope, -second_slope])
        tie = None
        if self.tied is not None:
            tie_slope = (first_slope - second_slope) / 2
            tie = self.probabilities(weights, beta)[1::3, None]  # of win, tie and loss
            by_logit_q = (
                np.column_stack([first_slope, tie_slope, -second_slope]) - tie * tie_slope[:, None]
            )
        n_pairs, n_outcomes = by_logit_q.shape
        pair_of = np.repeat(np.arange(n_pairs), n_outcomes)
        slope = tally @ csr_array(
            (by_logit_q.ravel(), (np.arange(n_outcomes * n_pairs), pair_of)),
            shape=(n_outcomes * n_pairs, n_pairs),
        )
        change = scale_pattern(self.first, weights, self.first @ weights) - scale_pattern(
            self.second, weights, ji
        )
        blocks = [convert_to_dense(slope @ change), slope @ self.extra]
        if tie is not None:
            blocks.append((tally @ (np.array([0.0, 1.0, 0.0]) - tie).ravel())[:, None])
        return np.hstack(blocks)

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
        p, complement = add_lapses(q, q_complement, self.lapse)
        p_first, tie, p_second = compute_win_tie_loss(p, complement, np.exp(beta[-1])).T
        # first and second derivative of ln sqrt(p (1 - p))
        tie_slope = (first_slope - second_slope) / 2
        tie_curvature = (first_curvature - second_curvature) / 2
        excess, spread = self.tied - totals * tie, totals * tie * (1 - tie)
        expected = totals * (
            p_first * (first_slope - tie * tie_slope) ** 2
            + p_second * (second_slope + tie * tie_slope) ** 2
        )
        return (
            slope + excess * tie_slope,
            curvature + excess * tie_curvature - spread * tie_slope**2,
            expected + spread * (1 - tie) * tie_slope**2,
            (excess, -spread, -spread * tie_slope),
        )

    def compute_boundary_slopes(self, weights: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Compute derivatives by the weights themselves, which are <= 0 at a maximum with w = 0."""
        ij, ji = self.compute_advantages(weights, beta)
        q, q_complement = compute_pair_shares(ij, ji)
        scale = 1.0 - self.lapse
        p, complement = add_lapses(q, q_complement, self.lapse)
        with np.errstate(divide="ignore", invalid="ignore"):
            by_p = np.where(self.wins > 0, self.wins / p, 0.0) - np.where(
                self.losses > 0, self.losses / complement, 0.0
            )
            total = ij + ji
            # with p = 0 the slope is that of -sqrt(p), which is unbounded
            if self.tied is not None:
                p, complement = np.maximum([p, complement], MIN_PROBABILITY)
                tie = compute_win_tie_loss(p, complement, np.exp(beta[-1]))[:, 1]
                by_p = by_p + (self.tied - self.totals * tie) * (1.0 / p - 1.0 / complement) / 2.0
            by_ij = np.where(total > 0, by_p * scale * q_complement / total, 0.0)
            by_ji = np.where(total > 0, -by_p * scale * q / total, 0.0)
        factor = self._compute_covariate_factors(beta)
        return self.first.T @ (by_ij * factor) + self.second.T @ by_ji


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
    cells = data.cells
    if extra is None:
        extra = np.zeros((len(cells.pair), 0))
    patterns = compute_exclusive_aspects(owners, cells.first, cells.second)
    problem = PairProblem(cells.wins, cells.losses, *patterns, extra, float(lapse))
    if ties:
        return replace(problem, tied=cells.tied)
    return problem


def compute_exclusive_aspects(
    owners: np.ndarray, first_options: np.ndarray, second_options: np.ndarray
) -> tuple[Any, Any]:
    """Return the aspects that only the first, and only the second, option of each pair owns."""
    if len(first_options) * owners.shape[1] <= MAX_DENSE:
        a, b = owners[first_options], owners[second_options]
        return (a & ~b).astype(float), (b & ~a).astype(float)
    from scipy.sparse import csr_array

    sparse = csr_array(owners.astype(float))
    a, b = sparse[first_options], sparse[second_options]
    common = a.multiply(b)
    exclusive = csr_array(a - common), csr_array(b - common)
    for pattern in exclusive:
        pattern.eliminate_zeros()
    return exclusive


def compute_pair_shares(ij: np.ndarray, ji: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return q and 1 - q, shares of two advantages, in full precision; 0.5 if both are 0."""
    total = ij + ji
    are_zero = total == 0.0
    total = np.where(are_zero, 1.0, total)
    return np.where(are_zero, 0.5, ij / total), np.where(are_zero, 0.5, ji / total)


def add_lapses(
    q: np.ndarray, q_complement: np.ndarray, lapse: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities of the first and the second option with lapses."""
    return mix_with_guess(q, lapse), mix_with_guess(q_complement, lapse)


def differentiate_by_logit(
    q: np.ndarray, q_complement: np.ndarray, lapse: float
) -> tuple[np.ndarray, ...]:
    """Return d ln p, -d ln(1 - p), then both second derivatives, by logit q; p is q with lapses."""
    p, complement = add_lapses(q, q_complement, lapse)
    speed = (1.0 - lapse) * q * q_complement
    first_slope = divide_positive(speed, p, 1.0)
    second_slope = divide_positive(speed, complement, 1.0)
    asymmetry = q_complement - q
    return (
        first_slope,
        second_slope,
        first_slope * (asymmetry - first_slope),
        second_slope * (asymmetry + second_slope),
    )


def scale_pattern(pattern: Any, weights: np.ndarray, total: np.ndarray) -> Any:
    """Return a sparse 0/1 matrix times weights, divided by each row's total."""
    inverse = 1.0 / replace_zeros(total)
    if isinstance(pattern, np.ndarray):
        return pattern * weights * inverse[:, None]
    return pattern.multiply(weights).multiply(inverse[:, None]).tocsr()


def convert_to_dense(array: Any) -> np.ndarray:
    """Return a sparse or dense array as a dense one."""
    if isinstance(array, np.ndarray):
        return array
    return array.toarray()


def _compute_gram(rows: Any, weight: np.ndarray) -> np.ndarray:
    """Return X' diag(weight) X for the matrix `rows`."""
    if isinstance(rows, np.ndarray):
        return rows.T @ (weight[:, None] * rows)
    return (rows.T @ rows.multiply(weight[:, None]).tocsr()).toarray()
