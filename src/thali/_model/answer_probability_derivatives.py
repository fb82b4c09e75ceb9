"""Log probability of one answer to a set, its gradient and Hessian by log weights."""

from itertools import permutations
from typing import NamedTuple

import numpy as np

from thali._inference.numerics.weight_shares import compute_shares

from .best_worst_probabilities import RANKING, REVERSED


class AnswerDerivatives(NamedTuple):
    """Log probability of an answer to a set of m options, its gradient and Hessian.

    Derivatives are by the log weights of the options.
    """

    log_p: np.ndarray  # (rows,)
    gradient: np.ndarray  # (rows, m)
    hessian: np.ndarray  # (rows, m, m); () if it is not requested


def outer_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the outer products a b' of vectors (..., m), shape (..., m, m)."""
    return a[..., :, None] * b[..., None, :]


def diagonal_matrix(a: np.ndarray) -> np.ndarray:
    """Return matrices (..., m, m) with the vectors (..., m) on their diagonals."""
    return a[..., :, None] * np.eye(a.shape[-1])


def choice_derivatives(
    q: np.ndarray, chosen: np.ndarray, n_options: int, lapse: float, has_hessian: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray | float]:
    """Return P(choice), shape (..., 1), and gradient and Hessian of its logarithm.

    `chosen` is 1 at the chosen option; the sets have `n_options` members.
    """
    share = (q * chosen).sum(axis=-1, keepdims=True)
    p = (1.0 - lapse) * share + lapse / n_options
    non_lapse_share = (1.0 - lapse) * share / p
    chosen_minus_q = chosen - q
    hessian = 0.0
    if has_hessian:
        hessian = (
            outer_product(
                non_lapse_share * (1.0 - non_lapse_share) * chosen_minus_q, chosen_minus_q
            )
            - diagonal_matrix(non_lapse_share * q)
            + outer_product(non_lapse_share * q, q)
        )
    return p, non_lapse_share * chosen_minus_q, hessian


def _differentiate_choices(
    weights: np.ndarray, lapse: float, has_hessian: bool = True
) -> AnswerDerivatives:
    """Differentiate ln P(option 0 is chosen) by log weights; weights (rows, m)."""
    m = weights.shape[1]
    p, gradient, hessian = choice_derivatives(
        compute_shares(weights), np.eye(m)[0], m, lapse, has_hessian
    )
    return AnswerDerivatives(np.log(p[:, 0]), gradient, np.asarray(hessian))


def _differentiate_ranking_rule(
    weights: np.ndarray, lapse: float, has_hessian: bool = True
) -> AnswerDerivatives:
    """Differentiate ln P(option 0 best, 1 worst) by log weights, rule "ranking"."""
    # The probability sums over rankings, :math:`P = \sum_\sigma P_\sigma`.
    # The gradient g and Hessian H of each :math:`\ln P_\sigma` are sums over its choices, as in
    # `LuceProblem.compute_derivatives`. The gradient of ln P is the mean of g, its Hessian the
    # mean of H + gg' less the outer product of the mean of g, with weights :math:`P_\sigma`.
    m = weights.shape[1]
    rankings = np.array([[0, *between, 1] for between in permutations(range(2, m))])
    ranking_indices = np.arange(len(rankings))
    p = np.ones((len(rankings), len(weights), 1))
    g = np.zeros((len(rankings), *weights.shape))
    hessian = np.zeros(())
    is_remaining = np.ones((len(rankings), 1, m))
    for stage, chosen in enumerate(rankings.T[:-1]):
        q = weights * is_remaining
        choice_terms = choice_derivatives(
            q / q.sum(axis=2, keepdims=True),
            np.eye(m)[chosen][:, None],
            m - stage,
            lapse,
            has_hessian,
        )
        p = p * choice_terms[0]
        g = g + choice_terms[1]
        hessian = hessian + choice_terms[2]
        is_remaining[ranking_indices, 0, chosen] = 0.0
    total_p = p.sum(axis=0)
    p = p / total_p
    mean_gradient = (p * g).sum(axis=0)
    if not has_hessian:
        return AnswerDerivatives(np.log(total_p[:, 0]), mean_gradient, hessian)
    hessian = (p[..., None] * (hessian + outer_product(g, g))).sum(axis=0) - outer_product(
        mean_gradient, mean_gradient
    )
    return AnswerDerivatives(np.log(total_p[:, 0]), mean_gradient, hessian)


def _differentiate_reversed_rule(
    weights: np.ndarray, lapse: float, has_hessian: bool = True
) -> AnswerDerivatives:
    r"""Differentiate ln P(option 0 best, 1 worst) by log weights, rule "reversed"."""
    # The pair that differs most is chosen, :math:`p_{bw} \propto v_b / v_w`, mixed with lapses.
    # Without lapses the Hessian is minus the covariance of :math:`e_i - e_j`, where i is the best
    # and j the worst. With the share r of p in the mixture, the derivatives are rg and
    # r(1 - r)gg' + rH.
    m = weights.shape[1]
    odds = outer_product(weights, 1.0 / weights) * (1.0 - np.eye(m))
    p = odds / odds.sum(axis=(1, 2), keepdims=True)
    p_best = p.sum(axis=2)
    p_worst = p.sum(axis=1)
    g = p_worst - p_best
    g[:, 0] = p_best[:, 1:].sum(axis=1) + p_worst[:, 0]  # keeps the digits of 1 - best
    g[:, 1] = -(p_worst[:, 0] + p_worst[:, 2:].sum(axis=1)) - p_best[:, 1]
    p_without_lapse = (1.0 - lapse) * p[:, 0, [1]]
    p_with_lapses = p_without_lapse + lapse / (m * (m - 1))
    r = p_without_lapse / p_with_lapses
    if not has_hessian:
        return AnswerDerivatives(np.log(p_with_lapses[:, 0]), r * g, np.zeros(()))
    p_difference = p_best - p_worst
    hessian = (
        p
        + p.transpose(0, 2, 1)
        - diagonal_matrix(p_best + p_worst)
        + outer_product(p_difference, p_difference)
    )
    return AnswerDerivatives(
        np.log(p_with_lapses[:, 0]),
        r * g,
        outer_product(r * (1.0 - r) * g, g) + r[:, :, None] * hessian,
    )


CHOICE = "choice"  # in addition to the rules of best and worst
ANSWER_DERIVATIVES = {
    CHOICE: _differentiate_choices,
    RANKING: _differentiate_ranking_rule,
    REVERSED: _differentiate_reversed_rule,
}
