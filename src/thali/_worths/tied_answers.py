r"""Probability that tied options are chosen before all others of a set, with derivatives.

Without lapses options come in the order of exponential clocks, so that with the weights :math:`v_i`
of a tied group T and the sum W of the others, and with :math:`x = \log W t`,

.. math::
    P(T) = \int_0^\infty W e^{-W t} \prod_{i \in T} (1 - e^{-v_i t}) dt
         = \int e^{x - e^x} \prod_{i \in T} (1 - e^{-v_i e^x / W}) dx

The integrand is log-concave in x, and analytic. Its logarithm has a slope of at least :math:`1 -
e^x`, to which options with :math:`v_i e^x < W` add more than 0.58 each, and it rises by less than
:math:`(1 + |T|) x - e^x + 1` from 0. The trapezoidal rule between where these are falls of 37 is
exact to 1e-12, if its step is not above 0.25 and 0.8 standard deviations of the top. Moving a node
by log 2 turns :math:`r = 1 - e^{-v_i e^x / W}` into :math:`r (2 - r)`. With lapses the orders of T
are summed, subset by subset.
"""

import math

import numpy as np

from thali._model.answer_derivatives import (
    AnswerDerivatives,
    choice_derivatives,
    diagonal_matrix,
    outer_product,
)

MAX_TIED_WITH_LAPSES = 12  # tied options, whose subsets are all summed over
N_NODES = 100  # nodes that a few tied options need
# fall of the log integrand at the ends, for 12 digits and for 6
EXACT_DROP, ROUGH_DROP = 37.0, 16.0
# array entries of a block of subsets; options whose r are multiplied without underflow
_BLOCK_ENTRIES, _PRODUCT_SIZE = 1 << 20, 8
_MAX_Z, _TINY = 100.0, 1e-300  # z beyond which e^-z is 0; replaces products of r that are 0


def differentiate_tied_answers(
    weights: np.ndarray, n_tied: int, lapse: float, with_hessian: bool, drop: float = EXACT_DROP
) -> AnswerDerivatives:
    """Return log probability that the first n_tied options come first, with slopes.

    `weights` is (rows, m); derivatives are by log weights.
    """
    rest_weight, options = weights[:, n_tied:].sum(axis=1, keepdims=True), weights.shape[1]
    # the probability depends on a alone
    a = np.log(weights[:, :n_tied]) - np.log(rest_weight)
    if lapse:
        step = max(1, _BLOCK_ENTRIES // (n_tied**2 << n_tied))
        parts = [_sum_over_orders(a[k : k + step], options, lapse) for k in range(0, len(a), step)]
        answer = AnswerDerivatives(*map(np.concatenate, zip(*parts, strict=True)))
    else:
        answer = _integrate_by_nodes(a, with_hessian, drop)
    share = np.concatenate([0.0 * a, weights[:, n_tied:] / rest_weight], axis=1)
    slopes = np.eye(options)[:n_tied] - share[:, None]  # of a by log weights (rows, tied, m)
    gradient = (answer.gradient[:, None] @ slopes)[:, 0]
    if not with_hessian:
        return AnswerDerivatives(answer.log_p, gradient, np.zeros(()))
    curvature = answer.gradient.sum(axis=1)[:, None, None] * (
        outer_product(share, share) - diagonal_matrix(share)
    )
    return AnswerDerivatives(
        answer.log_p, gradient, slopes.swapaxes(1, 2) @ answer.hessian @ slopes + curvature
    )


def _integrate_by_nodes(a: np.ndarray, with_hessian: bool, drop: float) -> AnswerDerivatives:
    """Return the log probability by the trapezoidal rule, with derivatives by a."""
    n_tied, weights = a.shape[1], np.exp(a)[:, None]
    start = min(drop + 1.0, max(a.max(), 0.0) + (drop + 1.0) / (1.0 + 0.58 * n_tied))
    end = math.log(1.0 + drop) + 1.5 * math.log(1.0 + n_tied)
    n_parts = math.ceil(
        math.log(2.0) / min(9.87 / (drop + 3.0), 0.8 / math.sqrt(1.0 + 1.3 * n_tied))
    )
    n_doublings = math.ceil((end + start) / math.log(2.0))
    step = math.log(2.0) / n_parts
    x = step * np.arange(n_parts * n_doublings) - start
    rate = np.exp(x)[:, None]
    r_blocks = [-np.expm1(-rate[:n_parts] * weights)]
    for _ in range(n_doublings - 1):
        r_blocks.append(r_blocks[-1] * (2.0 - r_blocks[-1]))
    r = np.concatenate(r_blocks, axis=1)  # (rows, nodes, tied)
    products = np.multiply.reduceat(r, np.arange(0, n_tied, _PRODUCT_SIZE), axis=2)
    heights = x - rate[:, 0] + np.log(np.maximum(products, _TINY)).sum(axis=2)
    top = heights.max(axis=1, keepdims=True)
    mass = np.exp(heights - top)
    total = mass.sum(axis=1, keepdims=True)
    log_p, mass = top[:, 0] + np.log(step * total[:, 0]), mass / total
    z = np.minimum(rate * weights, _MAX_Z)
    ratio = z * (1.0 - r) / r  # z / (e^z - 1)
    gradient = (mass[:, None] @ ratio)[:, 0]
    if not with_hessian:
        return AnswerDerivatives(log_p, gradient, np.zeros(()))
    curve = (mass[:, None] @ (ratio * (1.0 - z - ratio)))[:, 0]
    squares = (mass[..., None] * ratio).swapaxes(1, 2) @ ratio
    return AnswerDerivatives(
        log_p, gradient, diagonal_matrix(curve) + squares - outer_product(gradient, gradient)
    )


def _sum_over_orders(a: np.ndarray, n_options: int, lapse: float) -> AnswerDerivatives:
    """Return the log probability as a sum over all orders, with derivatives by a."""
    # For each subset, P, P g and P (H + g g') are blocks of a matrix M, which a choice with the
    # slope s and the bend B turns into p (A M A' + P B), where A adds s times the first row to the
    # others.
    n_tied, identity = a.shape[1], np.eye(1 + a.shape[1])
    weights, subset = np.exp(a)[:, None], np.arange(1 << n_tied)
    is_left = 1.0 - (subset[:, None] >> np.arange(n_tied) & 1)
    matrices = np.zeros((len(a), len(subset), *identity.shape))
    matrices[:, 0, 0, 0] = 1.0
    for size in range(n_tied):
        for option in range(n_tied):
            subsets = np.flatnonzero(
                (is_left.sum(axis=1) == n_tied - size) & (is_left[:, option] > 0.0)
            )
            remaining_weights = weights * is_left[subsets]
            share = remaining_weights / (1.0 + remaining_weights.sum(axis=2, keepdims=True))
            p, slope, bend = choice_derivatives(
                share, np.eye(n_tied)[option], n_options - size, lapse, True
            )
            A = identity + 0.0 * p[..., None]
            A[..., 1:, 0] = slope
            terms = A @ matrices[:, subsets] @ A.swapaxes(2, 3)
            terms[..., 1:, 1:] += matrices[:, subsets, :1, :1] * bend
            matrices[:, subsets + (1 << option)] += p[..., None] * terms
    p = matrices[:, -1, 0, 0]
    gradient = matrices[:, -1, 0, 1:] / p[:, None]
    return AnswerDerivatives(
        np.log(p),
        gradient,
        matrices[:, -1, 1:, 1:] / p[:, None, None] - outer_product(gradient, gradient),
    )
