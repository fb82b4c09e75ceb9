"""Auxiliary variables of Holmes & Held: a logistic variable whose sign is the class, and its Kolmogorov-Smirnov mixing.

A standard logistic residual is Normal with variance 4 k^2, where k has the Kolmogorov distribution.
"""

import math
from typing import Any

from thali.compile.jit import scalar
from thali.inference.numerics.polya_gamma import half_inverse_gaussian

_CUT = 4.0 / 3.0  # between the two series of the mixing density


@scalar
def positive_logistic(rng: Any, mean: Any) -> Any:
    """A logistic variable with this mean and scale 1, given that it is above 0.

    Inversion: with E exponential, z = ln(1 + (e^E - 1)(1 + e^mean)).
    """
    rise = math.expm1(rng.standard_exponential())
    if mean > 0.0:
        fall = math.exp(-mean)
        return mean + math.log(rise * (1.0 + fall) + fall)
    return math.log1p(rise * (1.0 + math.exp(mean)))


@scalar
def mixing_variance(rng: Any, r: Any) -> Any:
    """The variance of a logistic residual of absolute value r, given r.

    Rejection from the generalised inverse Gaussian distribution, as in Holmes & Held (2006), appendix A4, with the
    alternating series of the mixing density on either side of a cut. Returns NaN for NaN.
    """
    while True:
        variance = half_inverse_gaussian(rng, r)
        if variance > _CUT:
            if _is_in_upper_series(variance, rng.random()):
                return variance
        elif _is_in_lower_series(variance, rng.random()):
            return variance


@scalar
def _is_in_upper_series(variance: Any, u: Any) -> Any:
    """True with probability 1 - 4 x^3 + 9 x^8 - ..., x = exp(-variance/2)."""
    partial = 1.0
    n = 1
    while True:
        n += 1
        partial -= n * n * math.exp(-0.5 * variance * (n * n - 1))
        if not u > partial:
            return True
        n += 1
        partial += n * n * math.exp(-0.5 * variance * (n * n - 1))
        if u > partial:
            return False


@scalar
def _is_in_lower_series(variance: Any, u: Any) -> Any:
    """The same probability by the series that converges quickly for small variances."""
    if not variance > 0.0:
        return variance != variance
    slope = 0.5 * math.pi * math.pi / variance
    share = variance / (math.pi * math.pi)
    # over the factor in front, which underflows before the series does
    log_u = math.log(u) - (
        0.5 * math.log(2.0) + 2.5 * math.log(math.pi) - 2.5 * math.log(variance) - slope + 0.5 * variance
    )
    partial = 1.0
    n = 1
    while True:
        partial -= share * math.exp(-slope * (n * n - 1))
        if partial > 0.0 and not log_u > math.log(partial):
            return True
        n += 2
        partial += n * n * math.exp(-slope * (n * n - 1))
        if log_u > math.log(partial):
            return False
