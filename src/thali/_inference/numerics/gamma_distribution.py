"""Gamma distribution on the log scale: tabulated quantiles, truncated draws.

The transport of values needs a fixed increasing sequence K_1(g) < … < K_14(g) for every shape g.
Its distance from the true quantiles influences only the acceptance rate.
"""

import math
from functools import cache
from typing import Any

import numpy as np

from thali._compile.jit import part, scalar

PROBABILITIES = (0.01, 0.03, 0.08, 0.16, 0.28, 0.4, 0.52, 0.64, 0.75, 0.84, 0.91, 0.96, 0.99, 0.999)
QUANTILES = len(PROBABILITIES)
LOWEST, STEP, ROWS = -12.0, 0.05, 400  # ln g of the first row, between rows, rows


@cache
def quantile_table() -> np.ndarray:
    """Return the table of scaled log quantiles of Gamma(g, 1), (ROWS, QUANTILES).

    The entries change slowly and stay finite as g goes to 0.
    """
    from scipy.special import gammaincinv, gammaln

    g = np.exp(LOWEST + STEP * np.arange(ROWS))[:, None]
    p = np.array(PROBABILITIES)
    # exact as x goes to 0, where the inverse leaves the range of floats
    small_x_logs = (np.log(p) + gammaln(g + 1.0)) / g
    with np.errstate(divide="ignore"):
        log_quantiles = np.where(small_x_logs < -200.0, small_x_logs, np.log(gammaincinv(g, p)))
    table = (log_quantiles - np.log(g)) * g / (1.0 + g)
    table.flags.writeable = False
    return np.ascontiguousarray(table).copy()


@scalar
def fill_quantiles(table: Any, shape: Any, quantiles: Any, row: Any) -> None:
    """Interpolate the log quantiles of Gamma(shape, 1) into a row of `quantiles`."""
    position = min(max((math.log(shape) - LOWEST) / STEP, 0.0), ROWS - 1.001)
    low = int(position)
    fraction = position - low
    for i in range(QUANTILES):
        relative = table[low, i] * (1.0 - fraction) + table[low + 1, i] * fraction
        quantiles[row, i] = math.log(shape) + relative * (1.0 + shape) / shape


@scalar
def fill_map(table: Any, quantiles: Any, row: Any, before: Any, after: Any) -> None:
    """Write the piecewise linear map between log quantiles of two shapes.

    From `row` on, the rows contain the quantiles of both shapes, the slopes below each quantile and
    above the last, and the logarithms of the slopes. The slope is the ratio of the shapes below the
    first quantile, and 1 above the last.
    """
    fill_quantiles(table, before, quantiles, row)
    fill_quantiles(table, after, quantiles, row + 1)
    for i in range(QUANTILES + 1):
        slope = 1.0
        if i == 0:
            slope = before / after
        elif i < QUANTILES:
            slope = (quantiles[row + 1, i] - quantiles[row + 1, i - 1]) / (
                quantiles[row, i] - quantiles[row, i - 1]
            )
        quantiles[row + 2, i] = slope
        quantiles[row + 3, i] = math.log(slope)


@scalar
def apply_map(quantiles: Any, row: Any, x: Any) -> Any:
    """Return the image of x under a piecewise linear map, and the log of its slope."""
    i = 0
    while i < QUANTILES and x >= quantiles[row, i]:
        i += 1
    base = max(i - 1, 0)
    return quantiles[row + 1, base] + quantiles[row + 2, i] * (x - quantiles[row, base]), quantiles[
        row + 3, i
    ]


# Gamma variables as logarithms: probabilities of intervals, draws within them ---------------------
#
# The logarithm y of a Gamma(h, 1) variable has a density proportional to exp(h y − e^y), which is
# log-concave: a draw within any interval is obtained by rejection from three tangents (Gilks & Wild
# 1992).


_SMALL = 1e-15  # relative size of the last term of a series


@scalar
def draw_log_gamma(rng: Any, shape: Any) -> Any:
    """Draw ln X for X ~ Gamma(shape, 1), without underflow."""
    if shape >= 1.0:
        return math.log(rng.standard_gamma(shape))
    return math.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential() / shape


@part
def compute_tails(h: Any, next_h: Any, y: Any) -> Any:
    """Return P(Y < y) and P(Y > y), for exp(Y) ~ Gamma(h, 1).

    `next_h` is ln Γ(h + 1).
    """
    x = math.exp(y)
    density = math.exp(h * y - x - next_h)
    # for larger x the fraction needs few steps, and 1 minus the series would lose digits
    if x < h + 6.0:
        total, term, i = 1.0, 1.0, h
        while term > _SMALL * total:
            i += 1.0
            term *= x / i
            total += term
        below = min(density * total, 1.0)
        return below, 1.0 - below
    if density == 0.0:
        return 1.0, 0.0
    # Lentz's continued fraction of the upper tail.
    b = x + 1.0 - h
    c, d = 1e300, 1.0 / b
    total = d
    for i in range(1, 10_000):
        step = -i * (i - h)
        b += 2.0
        d = 1.0 / (step * d + b)
        c = b + step / c
        total *= c * d
        if abs(c * d - 1.0) < _SMALL:
            break
    above = min(density * h * total, 1.0)
    return 1.0 - above, above


@scalar
def interval_probability(h: Any, next_h: Any, low: Any, high: Any) -> Any:
    """Return P(low < Y < high), for exp(Y) ~ Gamma(h, 1); bounds may be infinite."""
    if low == -math.inf:
        return 1.0 if high == math.inf else compute_tails(h, next_h, high)[0]
    below, above = compute_tails(h, next_h, low)
    if high == math.inf:
        return above
    if high <= low:
        return 0.0
    below_high, above_high = compute_tails(h, next_h, high)
    return max(below_high - below if below < 0.5 else above - above_high, 0.0)


@part
def draw_log_gamma_within(rng: Any, h: Any, low: Any, high: Any) -> Any:
    """Draw Y given low < Y < high, for exp(Y) ~ Gamma(h, 1)."""
    if low == -math.inf and high == math.inf:
        return draw_log_gamma(rng, h)
    top = min(max(math.log(h), low), high)  # the mode within the interval
    scale = max(math.exp(top), h)
    fall = h - math.exp(top)
    width = math.log1p(1.0 / scale + math.sqrt(2.0 / scale))
    right_tangent = min(high, top + (min(width, -1.0 / fall) if fall < 0.0 else width))
    width = 1.0 / h + math.sqrt(2.0 / h)
    left_tangent = max(low, top - (min(width, 1.0 / fall) if fall > 0.0 else width))
    if not left_tangent < right_tangent:
        return top
    # Heights, slopes and meeting points of the tangents, relative to the height at the mode.
    peak = h * top - math.exp(top)
    s0, s1, s2 = h - math.exp(left_tangent), fall, h - math.exp(right_tangent)
    g0, g1, g2 = (
        h * left_tangent - math.exp(left_tangent) - peak,
        0.0,
        h * right_tangent - math.exp(right_tangent) - peak,
    )
    z0 = _intersect_tangents(left_tangent, g0, s0, top, g1, s1)
    z1 = _intersect_tangents(top, g1, s1, right_tangent, g2, s2)
    m0 = _integrate_exponential(left_tangent, g0, s0, low, z0)
    m1 = _integrate_exponential(top, g1, s1, z0, z1)
    m2 = _integrate_exponential(right_tangent, g2, s2, z1, high)
    y = top
    for _ in range(10_000):
        u = rng.random() * (m0 + m1 + m2)
        if u < m0:
            y = _draw_exponential(rng, s0, low, z0)
            line = g0 + s0 * (y - left_tangent)
        elif u < m0 + m1:
            y = _draw_exponential(rng, s1, z0, z1)
            line = g1 + s1 * (y - top)
        else:
            y = _draw_exponential(rng, s2, z1, high)
            line = g2 + s2 * (y - right_tangent)
        if h * y - math.exp(y) - peak - line > -rng.standard_exponential():
            break
    return min(max(y, low), high)


@scalar
def _intersect_tangents(x0: Any, g0: Any, s0: Any, x1: Any, g1: Any, s1: Any) -> Any:
    """Return the x at which two tangents of a concave function intersect."""
    if not s0 > s1:
        return 0.5 * (x0 + x1)
    return min(max((g1 - s1 * x1 - g0 + s0 * x0) / (s0 - s1), x0), x1)


@scalar
def _integrate_exponential(x: Any, g: Any, s: Any, low: Any, high: Any) -> Any:
    """Return ∫ exp(g + s (y − x)) dy from low to high."""
    if not low < high:
        return 0.0
    if abs(s) * (high - low) < 1e-8:
        return math.exp(g + s * (low - x)) * (high - low)
    if s > 0.0:
        return math.exp(g + s * (high - x)) * -math.expm1(s * (low - high)) / s
    return math.exp(g + s * (low - x)) * -math.expm1(s * (high - low)) / -s


@scalar
def _draw_exponential(rng: Any, s: Any, low: Any, high: Any) -> Any:
    """Draw y between low and high with density proportional to exp(s y)."""
    u = rng.random()
    if abs(s) * (high - low) < 1e-8:
        return low + u * (high - low)
    if s > 0.0:
        return high + math.log1p(u * math.expm1(s * (low - high))) / s
    return low + math.log1p(u * math.expm1(s * (high - low))) / s
