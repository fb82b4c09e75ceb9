"""Log probability of one answer to a set, its gradient and Hessian by log weights."""

from itertools import permutations
from typing import NamedTuple

import numpy as np

from thali._inference.numerics.shares import compute_shares

from .best_worst import RANKING, REVERSED


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
    q: np.ndarray, chosen: np.ndarray, options: int, lapse: float, has_hessian: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray | float]:
    """Return P(choice), shape (..., 1), and gradient and Hessian of its logarithm.

    `chosen` is 1 at the chosen option; the sets have `options` members.
    """
    share = (q * chosen).sum(axis=-1, keepdims=True)
    p = (1.0 - lapse) * share + lapse / options
    choice_share = (1.0 - lapse) * share / p
    direction = chosen - q
    hessian = 0.0
    if has_hessian:
        hessian = (
            outer_product(choice_share * (1.0 - choice_share) * direction, direction)
            - diagonal_matrix(choice_share * q)
            + outer_product(choice_share * q, q)
        )
    return p, choice_share * direction, hessian


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
    orders = np.array([[0, *between, 1] for between in permutations(range(2, m))])
    order_index = np.arange(len(orders))
    p = np.ones((len(orders), len(weights), 1))
    g = np.zeros((len(orders), *weights.shape))
    hessian = np.zeros(())
    is_left = np.ones((len(orders), 1, m))
    for stage, chosen in enumerate(orders.T[:-1]):
        q = weights * is_left
        choice = choice_derivatives(
            q / q.sum(axis=2, keepdims=True),
            np.eye(m)[chosen][:, None],
            m - stage,
            lapse,
            has_hessian,
        )
        p, g, hessian = p * choice[0], g + choice[1], hessian + choice[2]
        is_left[order_index, 0, chosen] = 0.0
    total = p.sum(axis=0)
    p = p / total
    mean = (p * g).sum(axis=0)
    if not has_hessian:
        return AnswerDerivatives(np.log(total[:, 0]), mean, hessian)
    hessian = (p[..., None] * (hessian + outer_product(g, g))).sum(axis=0) - outer_product(
        mean, mean
    )
    return AnswerDerivatives(np.log(total[:, 0]), mean, hessian)


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
    best = p.sum(axis=2)
    worst = p.sum(axis=1)
    g = worst - best
    g[:, 0] = best[:, 1:].sum(axis=1) + worst[:, 0]  # keeps the digits of 1 - best
    g[:, 1] = -(worst[:, 0] + worst[:, 2:].sum(axis=1)) - best[:, 1]
    share = (1.0 - lapse) * p[:, 0, [1]]
    total = share + lapse / (m * (m - 1))
    r = share / total
    if not has_hessian:
        return AnswerDerivatives(np.log(total[:, 0]), r * g, np.zeros(()))
    difference = best - worst
    hessian = (
        p
        + p.transpose(0, 2, 1)
        - diagonal_matrix(best + worst)
        + outer_product(difference, difference)
    )
    return AnswerDerivatives(
        np.log(total[:, 0]), r * g, outer_product(r * (1.0 - r) * g, g) + r[:, :, None] * hessian
    )


CHOICE = "choice"  # in addition to the rules of best and worst
ANSWER_DERIVATIVES = {
    CHOICE: _differentiate_choices,
    RANKING: _differentiate_ranking_rule,
    REVERSED: _differentiate_reversed_rule,
}
