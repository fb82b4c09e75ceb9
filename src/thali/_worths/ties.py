r"""The probability that tied options come before all others of a set, in any order, and its
derivatives.

Without lapses options come in the order of exponential clocks, so that with the weights :math:`v_i`
of a tied group T and the sum W of the others, and with :math:`x = \log W t`,

.. math::
    P(T) = \int_0^\infty W e^{-W t} \prod_{i \in T} (1 - e^{-v_i t}) dt
         = \int e^{x - e^x} \prod_{i \in T} (1 - e^{-v_i e^x / W}) dx

The integrand is log-concave in x, and analytic. Its logarithm has a slope of at least :math:`1 -
e^x`, to which options with :math:`v_i e^x < W` add more than 0.58 each, and it rises by less than
:math:`(1 + |T|) x - e^x + 1` from 0. The trapezoidal rule between where these are falls of 37 is
exact to 1e-12, if its step is not above 0.25 and 0.8 standard deviations of the top. From a node to
that log 2 further, :math:`r = 1 - e^{-v_i e^x / W}` becomes :math:`r (2 - r)`. With lapses the
orders of T are summed, subset by subset.
"""

import math

import numpy as np

from thali._model.answer_derivatives import (
    AnswerDerivatives,
    choice_derivatives,
    diagonal_matrix,
    outer_product,
)

MOST_WITH_LAPSES = 12  # options that tie, of which all subsets are summed over
NODES = 100  # as many as a few options that tie need
EXACT, ROUGH = 37.0, 16.0  # fall of the log integrand at the ends, for 12 digits and for 6
# numbers of subsets at a time; options whose r are multiplied without underflow
_ENTRIES, _TOGETHER = 1 << 20, 8
_SURE, _LEAST = 100.0, 1e-300  # z beyond which e^-z is 0; products of r that are told from 0


def tied_answers(
    weights: np.ndarray, n_tied: int, lapse: float, bends: bool, far: float = EXACT
) -> AnswerDerivatives:
    """Return the log probability that the first of sets of weights (rows, m) come first, and its
    derivatives."""
    rest, options = weights[:, n_tied:].sum(axis=1, keepdims=True), weights.shape[1]
    logs = np.log(weights[:, :n_tied]) - np.log(rest)  # a, on which alone the probability depends
    if lapse:
        step = max(1, _ENTRIES // (n_tied**2 << n_tied))
        parts = [_by_subsets(logs[k : k + step], options, lapse) for k in range(0, len(logs), step)]
        found = AnswerDerivatives(*map(np.concatenate, zip(*parts, strict=True)))
    else:
        found = _by_nodes(logs, bends, far)
    share = np.concatenate([0.0 * logs, weights[:, n_tied:] / rest], axis=1)
    slopes = np.eye(options)[:n_tied] - share[:, None]  # of a by log weights (rows, tied, m)
    gradient = (found.gradient[:, None] @ slopes)[:, 0]
    if not bends:
        return AnswerDerivatives(found.log_p, gradient, np.zeros(()))
    bend = found.gradient.sum(axis=1)[:, None, None] * (
        outer_product(share, share) - diagonal_matrix(share)
    )
    return AnswerDerivatives(
        found.log_p, gradient, slopes.swapaxes(1, 2) @ found.hessian @ slopes + bend
    )


def _by_nodes(logs: np.ndarray, bends: bool, far: float) -> AnswerDerivatives:
    """Return the integral and its derivatives by a (rows, tied)."""
    tied, weights = logs.shape[1], np.exp(logs)[:, None]
    left = min(far + 1.0, max(logs.max(), 0.0) + (far + 1.0) / (1.0 + 0.58 * tied))
    right = math.log(1.0 + far) + 1.5 * math.log(1.0 + tied)
    parts = math.ceil(math.log(2.0) / min(9.87 / (far + 3.0), 0.8 / math.sqrt(1.0 + 1.3 * tied)))
    doublings = math.ceil((right + left) / math.log(2.0))
    step = math.log(2.0) / parts
    x = step * np.arange(parts * doublings) - left
    rate = np.exp(x)[:, None]
    found = [-np.expm1(-rate[:parts] * weights)]
    for _ in range(doublings - 1):
        found.append(found[-1] * (2.0 - found[-1]))
    r = np.concatenate(found, axis=1)  # (rows, nodes, tied)
    some = np.multiply.reduceat(r, np.arange(0, tied, _TOGETHER), axis=2)
    heights = x - rate[:, 0] + np.log(np.maximum(some, _LEAST)).sum(axis=2)
    top = heights.max(axis=1, keepdims=True)
    mass = np.exp(heights - top)
    total = mass.sum(axis=1, keepdims=True)
    log_p, mass = top[:, 0] + np.log(step * total[:, 0]), mass / total
    z = np.minimum(rate * weights, _SURE)
    ratio = z * (1.0 - r) / r  # z / (e^z - 1)
    gradient = (mass[:, None] @ ratio)[:, 0]
    if not bends:
        return AnswerDerivatives(log_p, gradient, np.zeros(()))
    curve = (mass[:, None] @ (ratio * (1.0 - z - ratio)))[:, 0]
    squares = (mass[..., None] * ratio).swapaxes(1, 2) @ ratio
    return AnswerDerivatives(
        log_p, gradient, diagonal_matrix(curve) + squares - outer_product(gradient, gradient)
    )


def _by_subsets(logs: np.ndarray, options: int, lapse: float) -> AnswerDerivatives:
    """Return the sum over all orders, of choices out of so many options and fewer, and its
    derivatives by a."""
    # Of each subset P, P g and P (H + g g') are the blocks of a matrix, which a choice with the
    # slope s and the bend B turns into p (A M A' + P B), where A adds s times the first row to the
    # others.
    tied, one = logs.shape[1], np.eye(1 + logs.shape[1])
    weights, subset = np.exp(logs)[:, None], np.arange(1 << tied)
    left = 1.0 - (subset[:, None] >> np.arange(tied) & 1)
    found = np.zeros((len(logs), len(subset), *one.shape))
    found[:, 0, 0, 0] = 1.0
    for size in range(tied):
        for option in range(tied):
            before = np.flatnonzero((left.sum(axis=1) == tied - size) & (left[:, option] > 0.0))
            own = weights * left[before]
            share = own / (1.0 + own.sum(axis=2, keepdims=True))
            p, slope, bend = choice_derivatives(
                share, np.eye(tied)[option], options - size, lapse, True
            )
            add = one + 0.0 * p[..., None]
            add[..., 1:, 0] = slope
            more = add @ found[:, before] @ add.swapaxes(2, 3)
            more[..., 1:, 1:] += found[:, before, :1, :1] * bend
            found[:, before + (1 << option)] += p[..., None] * more
    p = found[:, -1, 0, 0]
    gradient = found[:, -1, 0, 1:] / p[:, None]
    return AnswerDerivatives(
        np.log(p),
        gradient,
        found[:, -1, 1:, 1:] / p[:, None, None] - outer_product(gradient, gradient),
    )
