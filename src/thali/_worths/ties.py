r"""The probability that options which tie come before all others of a set, in any order, and its derivatives.

Without lapses options come in the order of exponential clocks, so that with the weights :math:`v_i` of a tied group T
and the sum W of the others, and with :math:`x = \log W t`,

.. math::
    P(T) = \int_0^\infty W e^{-W t} \prod_{i \in T} (1 - e^{-v_i t}) dt
         = \int e^{x - e^x} \prod_{i \in T} (1 - e^{-v_i e^x / W}) dx

The integrand is log-concave in x, and analytic, so that the trapezoidal rule between the places where it is
:math:`e^{-37}` of its top is exact to 1e-12. With lapses the orders of T are summed, subset by subset.
"""

import math

import numpy as np

from thali._model.answer_slopes import OfAnswer, diagonal, outer, slopes_of_choice

MOST_WITH_LAPSES = 12  # options that tie, of which all subsets are summed over
NODES = 64
_FAR, _STEP = 37.0, 0.3  # fall of the log integrand at the ends; largest distance between nodes
_HALVINGS, _STEPS = 12, 14  # of the range of the top; of Newton's method for the ends


def tied_answers(weights: np.ndarray, n_tied: int, lapse: float, bends: bool) -> OfAnswer:
    """Return the log probability that the first of sets of weights (rows, m) come first, and its derivatives."""
    rest = weights[:, n_tied:].sum(axis=1, keepdims=True)
    logs = np.log(weights[:, :n_tied]) - np.log(rest)  # a, on which alone the probability depends
    found = _by_subsets(logs, weights.shape[1], lapse, bends) if lapse else _by_nodes(logs, bends)
    share, pull = weights[:, n_tied:] / rest, found.gradient.sum(axis=1, keepdims=True)
    gradient = np.concatenate([found.gradient, -pull * share], axis=1)
    if not bends:
        return OfAnswer(found.log_p, gradient, found.hessian)
    sums = found.hessian.sum(axis=2)
    across = -outer(sums, share)
    last = outer((sums.sum(axis=1, keepdims=True) + pull) * share, share) - diagonal(pull * share)
    hessian = np.block([[found.hessian, across], [across.swapaxes(1, 2), last]])
    return OfAnswer(found.log_p, gradient, hessian)


def _by_nodes(logs: np.ndarray, bends: bool) -> OfAnswer:
    """Return the integral and its derivatives by a (rows, tied)."""
    x, step = _nodes(logs)
    heights, z, ratio = _integrand(logs, x)
    top = heights.max(axis=1, keepdims=True)
    mass = np.exp(heights - top)
    total = mass.sum(axis=1, keepdims=True)
    mass = mass / total
    log_p = top[:, 0] + np.log(total[:, 0] * step)
    gradient = (mass[:, None] @ ratio)[:, 0]
    if not bends:
        return OfAnswer(log_p, gradient, np.zeros(()))
    curve = (mass[:, None] @ (ratio * (1.0 - z - ratio)))[:, 0]
    squares = (mass[..., None] * ratio).swapaxes(1, 2) @ ratio
    return OfAnswer(log_p, gradient, diagonal(curve) + squares - outer(gradient, gradient))


def _integrand(logs: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the log integrand at x (rows, nodes); z and z / (e^z - 1) of tied options (rows, nodes, tied)."""
    z = np.exp(x[..., None] + logs[:, None])
    decay = np.exp(-z)
    rung = -np.expm1(-z)
    return x - np.exp(x) + np.log(rung).sum(axis=2), z, z * decay / rung


def _nodes(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes (rows, nodes) between the ends of the integrand, and the distance between two (rows,)."""
    low = np.zeros((len(logs), 1))
    width = math.log1p(logs.shape[1])  # the top is between 0 and this, as e^x is there 1 plus numbers up to 1
    for _ in range(_HALVINGS):
        width = width / 2.0
        rises = 1.0 - np.exp(low + width) + _integrand(logs, low + width)[2].sum(axis=2) > 0.0
        low = low + width * rises
    least = _integrand(logs, low)[0] - _FAR
    ends = low + np.array([-1.0, 4.0])
    for _ in range(_STEPS):  # Newton's method from outside, or to there, as the logarithm is concave
        height, _, ratio = _integrand(logs, ends)
        ends = ends - (height - least) / (1.0 - np.exp(ends) + ratio.sum(axis=2))
    reach = ends[:, 1:] - ends[:, :1]
    count = max(NODES, math.ceil(reach.max(initial=0.0) / _STEP) + 1)
    return ends[:, :1] + reach * np.linspace(0.0, 1.0, count), reach[:, 0] / (count - 1)


def _by_subsets(logs: np.ndarray, options: int, lapse: float, bends: bool) -> OfAnswer:
    """Return the sum over all orders, of choices out of so many options and fewer, and its derivatives by a."""
    rows, tied = logs.shape
    weights, subset = np.exp(logs)[:, None], np.arange(1 << tied)
    left = 1.0 - (subset[:, None] >> np.arange(tied) & 1)
    p, g = np.zeros((rows, len(subset), 1)), np.zeros((rows, len(subset), tied))
    curve = np.zeros((rows, len(subset), tied, tied) if bends else ())
    p[:, 0] = 1.0
    for size in range(tied):
        of_size = left.sum(axis=1) == tied - size
        for option in range(tied):
            before = np.flatnonzero(of_size & (left[:, option] > 0.0))
            after, own = before + (1 << option), weights * left[before]
            share = own / (1.0 + own.sum(axis=2, keepdims=True))
            one, slope, bend = slopes_of_choice(share, np.eye(tied)[option], options - size, lapse, bends)
            if bends:
                mixed = outer(g[:, before], slope)
                more = p[:, before, None] * (bend + outer(slope, slope)) + mixed + mixed.swapaxes(2, 3)
                curve[:, after] += one[..., None] * (curve[:, before] + more)
            g[:, after] += one * (g[:, before] + p[:, before] * slope)
            p[:, after] += one * p[:, before]
    gradient = g[:, -1] / p[:, -1]
    if bends:
        curve = curve[:, -1] / p[:, -1, None] - outer(gradient, gradient)
    return OfAnswer(np.log(p[:, -1, 0]), gradient, curve)
