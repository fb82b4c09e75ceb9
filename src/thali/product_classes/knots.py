"""Log-quantiles of the gamma distribution at fourteen probabilities, tabulated over its shape.

The transport of values needs for every shape g an increasing sequence K_1(g) < … < K_14(g), the same whenever it is
asked for; how near it is to the true quantiles influences the acceptance rate alone.
"""

import math
from functools import cache

import numpy as np

from thali._jit import scalar

PROBABILITIES = (0.01, 0.03, 0.08, 0.16, 0.28, 0.4, 0.52, 0.64, 0.75, 0.84, 0.91, 0.96, 0.99, 0.999)
KNOTS = len(PROBABILITIES)
LOWEST, STEP, ROWS = -12.0, 0.05, 400  # ln g of the first row, between rows, rows


@cache
def knot_table() -> np.ndarray:
    """(ROWS, KNOTS): (K_i(g) − ln g) g / (1 + g), which stays finite as g goes to 0 and changes slowly."""
    from scipy.special import gammaincinv, gammaln

    g = np.exp(LOWEST + STEP * np.arange(ROWS))[:, None]
    p = np.array(PROBABILITIES)
    small = (np.log(p) + gammaln(g + 1.0)) / g  # exact as x goes to 0, where the inverse leaves the range of floats
    with np.errstate(divide="ignore"):
        logs = np.where(small < -200.0, small, np.log(gammaincinv(g, p)))
    table = (logs - np.log(g)) * g / (1.0 + g)
    table.flags.writeable = False
    return np.ascontiguousarray(table).copy()


@scalar
def fill_knots(table, shape, knots, row):
    """K_i(shape) into a row of `knots`."""
    place = min(max((math.log(shape) - LOWEST) / STEP, 0.0), ROWS - 1.001)
    low = int(place)
    part = place - low
    for i in range(KNOTS):
        relative = table[low, i] * (1.0 - part) + table[low + 1, i] * part
        knots[row, i] = math.log(shape) + relative * (1.0 + shape) / shape


@scalar
def fill_map(table, knots, row, before, after):
    """The piecewise linear way from the knots of one shape to those of another, in four rows of `knots` from `row` on.

    They hold the knots of either, slopes below every knot, the last one above all, and logarithms of the slopes. Below
    the first knot the slope is the ratio of the shapes, above the last it is 1.
    """
    fill_knots(table, before, knots, row)
    fill_knots(table, after, knots, row + 1)
    for i in range(KNOTS + 1):
        slope = 1.0
        if i == 0:
            slope = before / after
        elif i < KNOTS:
            slope = (knots[row + 1, i] - knots[row + 1, i - 1]) / (knots[row, i] - knots[row, i - 1])
        knots[row + 2, i] = slope
        knots[row + 3, i] = math.log(slope)


@scalar
def mapped(knots, row, x):
    """Where x goes, and ln of the slope there."""
    i = 0
    while i < KNOTS and x >= knots[row, i]:
        i += 1
    base = max(i - 1, 0)
    return knots[row + 1, base] + knots[row + 2, i] * (x - knots[row, base]), knots[row + 3, i]
