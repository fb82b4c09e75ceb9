r"""Draws of Polya-Gamma variables, for Gibbs sampling of logistic models.

.. math::

    \frac{e^{y c}}{1 + e^c} = \tfrac12 e^{(y - 1/2) c} \int_0^\infty e^{-\omega c^2/2} PG(\omega; 1,
    0)\, d\omega

References: Polson, Scott & Windle (2013), section 4; Devroye (2009), On exact simulation algorithms
for some distributions related to Jacobi theta functions.
"""

import math
from typing import Any

from thali._compile.jit import scalar

# boundary between the two series of the density, each of which decreases on its side
CUT = 0.64
FIRST_TERMS = 20  # terms of the series that are drawn one by one; more for a large tilt
# maximum number of additional terms; beyond it the third cumulant of the rest is below b 1e-21
MOST_TERMS = 1e4
# from this tilt on the variance is 0 as a float; a Gamma draw of shape NaN would not end
LARGEST_TILT = 1e100
# largest shape whose integer part is drawn as a sum; a series is faster for larger shapes
_MAX_SUMMED = 16.0
_CERTAIN = 40.0  # from this tilt on, the probability above the cut is below 1e-190


@scalar
def draw_polya_gamma(rng: Any, c: Any) -> Any:
    """Draw from the Polya-Gamma distribution PG(1, c), mean tanh(c/2)/(2c).

    PG(1, c) is a quarter of a variable X with an exponential proposal above CUT and an inverse
    Gaussian proposal of mean 2/|c| below, each accepted by the alternating series of the Jacobi
    density. Returns NaN for NaN.
    """
    tilt = 0.5 * abs(c)
    rate = 0.125 * math.pi * math.pi + 0.5 * tilt * tilt
    above = _mass_above_cut(tilt, rate)
    while True:
        if rng.random() < above:
            x = CUT + rng.standard_exponential() / rate
        else:
            x = _draw_inverse_gaussian(rng, tilt)
        if _accept_by_series(x, rng.random()):
            return 0.25 * x


@scalar
def draw_polya_gamma_shape(rng: Any, shape: Any, c: Any) -> Any:
    """Draw from the Polya-Gamma distribution PG(shape, c), shape > 0.

    The integer part of the shape is drawn as a sum, the rest or a large shape as a series: PG(b, c)
    is the sum over k of Gamma(b, 1) / d_k, d_k = 2 pi^2 (k - 1/2)^2 + c^2/2. The terms after number
    `n_first` are drawn as one Gamma variable with their mean and variance, which changes
    ln E exp(-t PG) by less than b t^3 1e-11. For a tilt beyond LARGEST_TILT the result is the mean;
    NaN for NaN.
    """
    if not abs(c) < LARGEST_TILT:
        return 0.5 * shape / abs(c)
    total = 0.0
    if shape <= _MAX_SUMMED:
        while shape >= 1.0:
            total += draw_polya_gamma(rng, c)
            shape -= 1.0
        if shape == 0.0:
            return total
    n_first = FIRST_TERMS + int(min(MOST_TERMS, abs(c) / math.pi))
    mean, variance = compute_rest_moments(c, n_first)
    for k in range(n_first):
        total += rng.standard_gamma(shape) / series_denominator(k, c)
    return total + rng.standard_gamma(shape * mean * mean / variance) * variance / mean


@scalar
def series_denominator(k: Any, c: Any) -> Any:
    """Return the denominator d_k of term k in PG's series of gammas."""
    return 2.0 * math.pi * math.pi * (k + 0.5) * (k + 0.5) + 0.5 * c * c


@scalar
def compute_rest_moments(c: Any, n_first: Any) -> Any:
    """Return mean and variance of PG(1, c)'s series without its first terms.

    With all terms the mean is tanh(c/2)/2c.
    """
    c = abs(c)
    share = math.tanh(0.5 * c)
    narrow = 1.0 - share * share  # 1/cosh^2(c/2)
    mean = 0.5 * share / c if c > 1e-100 else 0.25
    if c < 0.1:
        square = c * c
        variance = (
            0.25
            * narrow
            * (1.0 / 6.0 + square * (1.0 / 120.0 + square * (1.0 / 5040.0 + square / 362880.0)))
        )
    else:
        variance = 0.25 * (2.0 * share - c * narrow) / (c * c * c)
    for k in range(n_first):
        d = series_denominator(k, c)
        mean -= 1.0 / d
        variance -= 1.0 / (d * d)
    return mean, variance


@scalar
def _accept_by_series(x: Any, u: Any) -> Any:
    """Return whether uniform u accepts proposal x, by partial sums of the density."""
    slope = 2.0 / x if x <= CUT else 0.5 * math.pi * math.pi * x
    partial = 1.0
    n = 0
    while True:
        n += 1
        partial -= (2 * n + 1) * math.exp(-slope * (n * n + n))
        if not u > partial:
            return True
        n += 1
        partial += (2 * n + 1) * math.exp(-slope * (n * n + n))
        if u > partial:
            return False


@scalar
def _mass_above_cut(tilt: Any, rate: Any) -> Any:
    """Return the share of the proposal density above CUT."""
    if tilt > _CERTAIN:
        return 0.0
    root = math.sqrt(1.0 / CUT)
    log_scale = math.log(rate) + rate * CUT
    lower = math.exp(log_scale - tilt) * _normal_cdf(root * (CUT * tilt - 1.0))
    upper = math.exp(log_scale + tilt) * _normal_cdf(-root * (CUT * tilt + 1.0))
    return 1.0 / (1.0 + 4.0 / math.pi * (lower + upper))


@scalar
def _normal_cdf(x: Any) -> Any:
    """Return the distribution function of the standard normal."""
    return 0.5 * math.erfc(-x * math.sqrt(0.5))


@scalar
def _draw_inverse_gaussian(rng: Any, tilt: Any) -> Any:
    """Draw an inverse Gaussian of mean 1/tilt and shape 1, at most CUT."""
    if tilt * CUT < 1.0:
        while True:
            e1, e2 = rng.standard_exponential(), rng.standard_exponential()
            while e1 * e1 > 2.0 * e2 / CUT:
                e1, e2 = rng.standard_exponential(), rng.standard_exponential()
            x = CUT / ((1.0 + CUT * e1) * (1.0 + CUT * e1))
            if rng.standard_exponential() > 0.5 * tilt * tilt * x:
                return x
    x = 1.0 / draw_half_inverse_gaussian(rng, tilt)
    while x > CUT:
        x = 1.0 / draw_half_inverse_gaussian(rng, tilt)
    return x


@scalar
def draw_half_inverse_gaussian(rng: Any, r: Any) -> Any:
    """Draw w > 0 with density proportional to w^(-1/2) exp(-(w + r^2/w)/2).

    That is a generalised inverse Gaussian of order 1/2; 1/w is inverse Gaussian of mean 1/r and
    shape 1. Of the two roots of Michael, Schucany & Haas (1976) the larger one is formed without
    cancellation; they multiply to r^2.
    """
    y = rng.standard_normal()
    y *= y
    w = r + 0.5 * (y + math.sqrt(y * (4.0 * r + y)))
    if rng.random() * (w + r) > w:
        return r * (r / w)
    return w
