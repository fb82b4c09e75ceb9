"""Exponential function for vector instructions."""

from typing import Any

import numpy as np

from thali._compile.jit import vectorised

from .fast_logarithm import LN2

_SHIFT = np.int64(52)
_LOWEST = -708.0  # below it the result would not be a normal number


@vectorised
def fast_exp(x: Any) -> Any:
    """Return exp(max(x, -708)) for x <= 700, with relative error 1e-14.

    x = k log 2 + r with r between -log(2)/2 and log(2)/2; exp r by its series, times 2^k by adding
    to the exponent.
    """
    x = max(x, _LOWEST)
    k = np.rint(x * (1.0 / LN2))
    r = x - k * LN2
    p = 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    bits = np.float64(p).view(np.int64) + (np.int64(k) << _SHIFT)
    return np.int64(bits).view(np.float64)
