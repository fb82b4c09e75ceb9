r"""The probability that options which tie come before all others of a set, in any order, and its derivatives.

Without lapses options come in the order of exponential clocks, so that with the weights :math:`v_i` of a tied group T
and the sum W of the others, and with :math:`x = \log W t`,

.. math::
    P(T) = \int_0^\infty W e^{-W t} \prod_{i \in T} (1 - e^{-v_i t}) dt
         = \int e^{x - e^x} \prod_{i \in T} (1 - e^{-v_i e^x / W}) dx

The integrand is log-concave in x, and analytic, so that the trapezoidal rule between places where it is at most
:math:`e^{-37}` of its top is exact to 1e-12, with a step that is at most 0.8 standard deviations of its top. From a node
to that log 2 further, :math:`r = 1 - e^{-v_i e^x / W}` becomes :math:`r (2 - r)`. With lapses the orders of T are
summed, subset by subset.
"""

import math

import numpy as np

from thali._model.answer_slopes import OfAnswer, diagonal, outer, slopes_of_choice

MOST_WITH_LAPSES = 12  # options that tie, of which all subsets are summed over
NODES = 64  # as many as a few options that tie need
EXACT, ROUGH = (37.0, 0.25), (20.0, 0.5)  # fall of the log integrand, and the longest step: 12 digits, and 7
_STEPS = 4  # of Newton's method for one end


def tied_answers(
    weights: np.ndarray, n_tied: int, lapse: float, bends: bool, grid: tuple[float, float] = EXACT
) -> OfAnswer:
    """Return the log probability that the first of sets of weights (rows, m) come first, and its derivatives."""
    rest = weights[:, n_tied:].sum(axis=1, keepdims=True)
    logs = np.log(weights[:, :n_tied]) - np.log(rest)  # a, on which alone the probability depends
    found = _by_subsets(logs, weights.shape[1], lapse, bends) if lapse else _by_nodes(logs, bends, grid)
    share, pull = weights[:, n_tied:] / rest, found.gradient.sum(axis=1, keepdims=True)
    gradient = np.concatenate([found.gradient, -pull * share], axis=1)
    if not bends:
        return OfAnswer(found.log_p, gradient, found.hessian)
    sums = found.hessian.sum(axis=2)
    across = -outer(sums, share)
    last = outer((sums.sum(axis=1, keepdims=True) + pull) * share, share) - diagonal(pull * share)
    hessian = np.block([[found.hessian, across], [across.swapaxes(1, 2), last]])
    return OfAnswer(found.log_p, gradient, hessian)


def tied_log_p(weights: np.ndarray, n_tied: int, lapse: float, grid: tuple[float, float] = EXACT) -> np.ndarray:
    """Return the log probability alone."""
    if lapse:
        return tied_answers(weights, n_tied, lapse, False).log_p
    logs = np.log(weights[:, :n_tied]) - np.log(weights[:, n_tied:].sum(axis=1, keepdims=True))
    return _mass(*_nodes(logs, *grid))[0]


def _by_nodes(logs: np.ndarray, bends: bool, grid: tuple[float, float]) -> OfAnswer:
    """Return the integral and its derivatives by a (rows, tied)."""
    x, step, rung = _nodes(logs, *grid)
    log_p, mass = _mass(x, step, rung)
    z = np.exp(x)[..., None] * np.exp(logs)[:, None]
    ratio = z * np.exp(-z) / rung
    gradient = (mass[:, None] @ ratio)[:, 0]
    if not bends:
        return OfAnswer(log_p, gradient, np.zeros(()))
    curve = (mass[:, None] @ (ratio * (1.0 - z - ratio)))[:, 0]
    squares = (mass[..., None] * ratio).swapaxes(1, 2) @ ratio
    return OfAnswer(log_p, gradient, diagonal(curve) + squares - outer(gradient, gradient))


def _mass(x: np.ndarray, step: float, rung: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the log of the integral (rows,), and the share of each node in it (rows, nodes)."""
    heights = x - np.exp(x) + _log_product(rung)
    top = heights.max(axis=1, keepdims=True)
    mass = np.exp(heights - top)
    total = mass.sum(axis=1, keepdims=True)
    return top[:, 0] + np.log(step * total[:, 0]), mass / total


def _log_product(rung: np.ndarray) -> np.ndarray:
    """Return the log of the product over options that tie, by as few logarithms as do not underflow."""
    if rung.min(initial=1.0) ** rung.shape[-1] > 1e-300:
        return np.log(rung.prod(axis=-1))
    return np.log(rung).sum(axis=-1)


def _nodes(logs: np.ndarray, far: float, longest: float) -> tuple[np.ndarray, float, np.ndarray]:
    """Return nodes x (rows, nodes), their distance, and r (rows, nodes, tied)."""
    tied, weights = logs.shape[1], np.exp(logs)
    right = 4.0
    for _ in range(9):  # e^x = 1 + far + (1 + tied) x: from 0 to there the log integrand falls by that
        right = math.log(1.0 + far + (1.0 + tied) * right)
    least = _log_product(-np.expm1(-weights)) - 1.0 - far
    left = np.full(len(logs), -1.0)
    for _ in range(_STEPS):  # outside, or from there on, as the logarithm is concave
        rate = np.exp(left)
        z = rate[:, None] * weights
        rung = -np.expm1(-z)
        fall = left - rate + _log_product(rung) - least
        left = left - fall / (1.0 - rate + (z / rung - z).sum(axis=1))
    parts = math.ceil(math.log(2.0) / min(longest, 0.8 / math.sqrt(1.0 + 1.3 * tied)))
    doublings = math.ceil((right - left.min(initial=-1.0)) / math.log(2.0))
    step = math.log(2.0) / parts
    x = left[:, None] + step * np.arange(parts * doublings)
    rungs = [-np.expm1(-np.exp(x[:, :parts, None]) * weights[:, None])]
    for _ in range(doublings - 1):
        rungs.append(rungs[-1] * (2.0 - rungs[-1]))
    return x, step, np.concatenate(rungs, axis=1)


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
