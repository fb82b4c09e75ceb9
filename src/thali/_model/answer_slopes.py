"""The probability of one answer to a set, a choice or the best and the worst, and its derivatives
by log weights."""

from itertools import permutations
from typing import NamedTuple

import numpy as np

from .best_worst import RANKING, REVERSED


class OfAnswer(NamedTuple):
    """Of answers to sets of m options the log probability, and its derivatives by log weights."""

    log_p: np.ndarray  # (rows,)
    gradient: np.ndarray  # (rows, m)
    hessian: np.ndarray  # (rows, m, m); of nothing if it is not asked for


def outer(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the outer product of vectors along the last axis."""
    return a[..., :, None] * b[..., None, :]


def diagonal(a: np.ndarray) -> np.ndarray:
    """Return diagonal matrices."""
    return a[..., :, None] * np.eye(a.shape[-1])


def slopes_of_choice(
    q: np.ndarray, chosen: np.ndarray, options: int, lapse: float, bends: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray | float]:
    """Of a choice out of so many options, whose shares are q (..., m), 1 in `chosen`: p (..., 1)
    and the slopes."""
    share = (q * chosen).sum(axis=-1, keepdims=True)
    p = (1.0 - lapse) * share + lapse / options
    r = (1.0 - lapse) * share / p
    toward = chosen - q
    bend = (
        outer(r * (1.0 - r) * toward, toward) - diagonal(r * q) + outer(r * q, q) if bends else 0.0
    )
    return p, r * toward, bend


def _of_choices(own: np.ndarray, lapse: float, bends: bool = True) -> OfAnswer:
    """Of choices of the first of sets of weights (rows, m)."""
    m = own.shape[1]
    p, gradient, curve = slopes_of_choice(
        own / own.sum(axis=1, keepdims=True), np.eye(m)[0], m, lapse, bends
    )
    return OfAnswer(np.log(p[:, 0]), gradient, np.asarray(curve))


def _of_rankings(own: np.ndarray, lapse: float, bends: bool = True) -> OfAnswer:
    r"""Of the best, the first, and the worst, the second: :math:`P = \sum_\sigma P_\sigma`, a sum
    over rankings."""
    # With the gradient g and the Hessian H of each :math:`\ln P_\sigma`, which are sums over its
    # choices as of `LuceProblem.slopes`, they are the mean of g, and the mean of H + gg' less the
    # outer product of the mean of g, each ranking with the weight :math:`P_\sigma`.
    m = own.shape[1]
    orders = np.array([[0, *between, 1] for between in permutations(range(2, m))])
    every = np.arange(len(orders))
    p, g = np.ones((len(orders), len(own), 1)), np.zeros((len(orders), *own.shape))
    curve = np.zeros((*g.shape, m)) if bends else np.zeros(())
    left = np.ones((len(orders), 1, m))
    for stage, x in enumerate(orders.T[:-1]):
        q = own * left
        of_one = slopes_of_choice(
            q / q.sum(axis=2, keepdims=True), np.eye(m)[x][:, None], m - stage, lapse, bends
        )
        p, g, curve = p * of_one[0], g + of_one[1], curve + of_one[2]
        left[every, 0, x] = 0.0
    total = p.sum(axis=0)
    p = p / total
    mean = (p * g).sum(axis=0)
    if not bends:
        return OfAnswer(np.log(total[:, 0]), mean, curve)
    curve = (p[..., None] * (curve + outer(g, g))).sum(axis=0) - outer(mean, mean)
    return OfAnswer(np.log(total[:, 0]), mean, curve)


def _of_differences(own: np.ndarray, lapse: float, bends: bool = True) -> OfAnswer:
    r"""Of the pair that differs most, the best first: :math:`p_{bw} \propto v_b / v_w`, and its
    mixture with lapses."""
    # Without these the Hessian is minus the covariance of :math:`e_i - e_j`, where i is the best
    # and j the worst; with the share r of p in the mixture they are rg and r(1 - r)gg' + rH.
    m = own.shape[1]
    odds = outer(own, 1.0 / own) * (1.0 - np.eye(m))
    p = odds / odds.sum(axis=(1, 2), keepdims=True)
    best, worst = p.sum(axis=2), p.sum(axis=1)
    g = worst - best
    g[:, 0] = best[:, 1:].sum(axis=1) + worst[:, 0]  # with the digits of 1 - best
    g[:, 1] = -(worst[:, 0] + worst[:, 2:].sum(axis=1)) - best[:, 1]
    share = (1.0 - lapse) * p[:, 0, [1]]
    whole = share + lapse / (m * (m - 1))
    r = share / whole
    if not bends:
        return OfAnswer(np.log(whole[:, 0]), r * g, np.zeros(()))
    lean = best - worst
    curve = p + p.transpose(0, 2, 1) - diagonal(best + worst) + outer(lean, lean)
    return OfAnswer(np.log(whole[:, 0]), r * g, outer(r * (1.0 - r) * g, g) + r[:, :, None] * curve)


CHOICE = "choice"  # beside the rules of best and worst
OF_ANSWER = {CHOICE: _of_choices, RANKING: _of_rankings, REVERSED: _of_differences}
