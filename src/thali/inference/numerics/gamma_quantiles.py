"""Log-quantiles of the gamma distribution at fourteen probabilities, tabulated over its shape.

The transport of values needs for every shape g an increasing sequence K_1(g) < … < K_14(g), always the same; its
distance from the true quantiles influences only the acceptance rate.
"""

import math
from functools import cache
from typing import Any

import numpy as np

from thali.compile.jit import scalar

PROBABILITIES = (0.01, 0.03, 0.08, 0.16, 0.28, 0.4, 0.52, 0.64, 0.75, 0.84, 0.91, 0.96, 0.99, 0.999)
QUANTILES = len(PROBABILITIES)
LOWEST, STEP, ROWS = -12.0, 0.05, 400  # ln g of the first row, between rows, rows


@cache
def quantile_table() -> np.ndarray:
    """(ROWS, QUANTILES): (K_i(g) − ln g) g / (1 + g), which stays finite as g goes to 0 and changes slowly."""
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
def fill_quantiles(table: Any, shape: Any, quantiles: Any, row: Any) -> None:
    """K_i(shape) into a row of `quantiles`."""
    place = min(max((math.log(shape) - LOWEST) / STEP, 0.0), ROWS - 1.001)
    low = int(place)
    part = place - low
    for i in range(QUANTILES):
        relative = table[low, i] * (1.0 - part) + table[low + 1, i] * part
        quantiles[row, i] = math.log(shape) + relative * (1.0 + shape) / shape


@scalar
def fill_map(table: Any, quantiles: Any, row: Any, before: Any, after: Any) -> None:
    """The piecewise linear map from the quantiles of one shape to those of another, in four rows from `row` on.

    They hold the quantiles of both, the slopes below every quantile and above the last, and logarithms of the slopes.
    Below the first quantile the slope is the ratio of the shapes, above the last it is 1.
    """
    fill_quantiles(table, before, quantiles, row)
    fill_quantiles(table, after, quantiles, row + 1)
    for i in range(QUANTILES + 1):
        slope = 1.0
        if i == 0:
            slope = before / after
        elif i < QUANTILES:
            slope = (quantiles[row + 1, i] - quantiles[row + 1, i - 1]) / (quantiles[row, i] - quantiles[row, i - 1])
        quantiles[row + 2, i] = slope
        quantiles[row + 3, i] = math.log(slope)


@scalar
def mapped(quantiles: Any, row: Any, x: Any) -> Any:
    """The image of x, and ln of the slope there."""
    i = 0
    while i < QUANTILES and x >= quantiles[row, i]:
        i += 1
    base = max(i - 1, 0)
    return quantiles[row + 1, base] + quantiles[row + 2, i] * (x - quantiles[row, base]), quantiles[row + 3, i]
