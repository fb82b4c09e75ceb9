"""The prior density of the weight s[i] that only option i owns, and of all other weights.

An option owns one fixed unique aspect with weight u ~ Gamma(shape, rate) and, under an infinite
prior, a Poisson(alpha * rate of {i}) number of columns alone. With exponential weights the total s
of both has density rate * exp(-rate * s - alpha * lambda_i) * I0(2 sqrt(z s)), z = alpha * lambda_i
* rate, so that the columns need not be represented (models whose `unique` is TOTAL_UNIQUE).
Otherwise s is u alone.
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import scalar, vectorised
from thali._inference.numerics.logarithm import fast_log

from ..operations import rate_single
from ..state import ALPHA, TOTAL_UNIQUE
from ..weight_priors import log_density_ratio, rate_of, shape_of


@vectorised
def log_i0(v: Any) -> Any:
    """log I0(2 sqrt(v)), to 5e-7 (Abramowitz & Stegun 1964, eq. 9.8.1 and 9.8.2), without branches.

    Both polynomials are computed and one logarithm is taken of the one that applies.
    """
    x = 2.0 * np.sqrt(v)
    t = min(v, 3.515625) * (4.0 / 14.0625)  # (x / 3.75)^2
    near = 0.0045813
    near = near * t + 0.0360768
    near = near * t + 0.2659732
    near = near * t + 1.2067492
    near = near * t + 3.0899424
    near = near * t + 3.5156229
    near = near * t + 1.0
    far_x = max(x, 3.75)
    t = 3.75 / far_x
    far = 0.00392377
    far = far * t - 0.01647633
    far = far * t + 0.02635537
    far = far * t - 0.02057706
    far = far * t + 0.00916281
    far = far * t - 0.00157565
    far = far * t + 0.00225319
    far = far * t + 0.01328592
    far = far * t + 0.39894228
    is_near = v < 3.515625
    linear = 0.0 if is_near else x
    argument = near * near if is_near else far * far / far_x
    return linear + 0.5 * fast_log(argument)


@scalar
def log_weight(model: Any, w: Any) -> Any:
    """log p(w) of the Gamma(shape, rate) prior."""
    density = math.log(rate_of(model.weights)) - rate_of(model.weights) * w
    if shape_of(model.weights) != 1.0:
        density += (shape_of(model.weights) - 1.0) * math.log(
            rate_of(model.weights) * w
        ) - math.lgamma(shape_of(model.weights))
    return density


@scalar
def log_unique_ratio(model: Any, b: Any, i: Any, s: Any) -> Any:
    """log f(s) - log f(s[i]), where f is the density of the unique weight of option i; s > 0."""
    if model.unique == TOTAL_UNIQUE:
        return log_i0(b.z[i] * s) - b.log_bessel[i] - rate_of(model.weights) * (s - b.s[i])
    return log_density_ratio(model.weights, b.s[i], s - b.s[i])


@vectorised
def log_compensated_ratio(model: Any, b: Any, k: Any, m: Any, d: Any) -> Any:
    """log of the product of f(s[i] - d) / f(s[i]) over the m owners of pattern k."""
    total = rate_of(model.weights) * d * m
    if model.unique == TOTAL_UNIQUE:
        for i in range(b.z.shape[0]):
            total += log_i0(b.z[i] * (b.s[i] - d * b.Z[k, i])) - b.log_bessel[i]
    elif shape_of(model.weights) != 1.0:
        for i in range(b.z.shape[0]):
            total += (shape_of(model.weights) - 1.0) * math.log((b.s[i] - d * b.Z[k, i]) / b.s[i])
    return total


@scalar
def set_unique(b: Any, i: Any, s: Any) -> None:
    """s[i] = s."""
    b.s[i] = s
    b.log_bessel[i] = log_i0(b.z[i] * s)


@scalar
def shift_unique(model: Any, b: Any, k: Any, d: Any) -> None:
    """s[i] -= d for the owners of pattern k."""
    for i in range(b.z.shape[0]):
        b.s[i] -= d * b.Z[k, i]
    refresh_bessel(model, b)


@scalar
def refresh_bessel(model: Any, b: Any) -> None:
    if model.unique == TOTAL_UNIQUE:
        for i in range(b.z.shape[0]):
            b.log_bessel[i] = log_i0(b.z[i] * b.s[i])


@scalar
def refresh_unique(model: Any, b: Any) -> None:
    """After alpha has changed."""
    if model.unique == TOTAL_UNIQUE:
        for i in range(b.z.shape[0]):
            b.z[i] = b.real[ALPHA] * rate_single(model.prior, i) * rate_of(model.weights)
    refresh_bessel(model, b)
