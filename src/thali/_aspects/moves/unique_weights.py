"""Prior densities of unique weights s[i] and of feature weights, and updates of s.

An option owns one fixed unique aspect with weight u ~ Gamma(shape, rate) and, under an infinite
prior, a Poisson(alpha * rate of {i}) number of single-option columns. With exponential weights the
total s of both has density rate * exp(-rate * s - alpha * lambda_i) * I0(2 sqrt(z s)), z = alpha *
lambda_i * rate, so that the columns need not be represented (models whose `unique` is
TOTAL_UNIQUE). Otherwise s is u alone.
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import scalar, vectorised
from thali._inference.numerics.fast_logarithm import fast_log

from ..chain_state import ALPHA, TOTAL_UNIQUE, subtract_from_owners
from ..kernel_operations import rate_single
from ..weight_priors import gamma_rate, gamma_shape, log_density_ratio


@vectorised
def log_i0(v: Any) -> Any:
    """Return log I0(2 sqrt(v)) of the modified Bessel function, accurate to 5e-7.

    By Abramowitz & Stegun (1964), eq. 9.8.1 and 9.8.2. Both polynomials are computed; the logarithm
    is taken of the one that applies.
    """
    x = 2.0 * np.sqrt(v)
    t = min(v, 3.515625) * (4.0 / 14.0625)  # (x / 3.75)^2
    small_sum = 0.0045813
    small_sum = small_sum * t + 0.0360768
    small_sum = small_sum * t + 0.2659732
    small_sum = small_sum * t + 1.2067492
    small_sum = small_sum * t + 3.0899424
    small_sum = small_sum * t + 3.5156229
    small_sum = small_sum * t + 1.0
    large_x = max(x, 3.75)
    t = 3.75 / large_x
    large_sum = 0.00392377
    large_sum = large_sum * t - 0.01647633
    large_sum = large_sum * t + 0.02635537
    large_sum = large_sum * t - 0.02057706
    large_sum = large_sum * t + 0.00916281
    large_sum = large_sum * t - 0.00157565
    large_sum = large_sum * t + 0.00225319
    large_sum = large_sum * t + 0.01328592
    large_sum = large_sum * t + 0.39894228
    is_small = v < 3.515625
    linear = 0.0 if is_small else x
    argument = small_sum * small_sum if is_small else large_sum * large_sum / large_x
    return linear + 0.5 * fast_log(argument)


@scalar
def log_weight_density(model: Any, w: Any) -> Any:
    """Return the log density of weight w under the Gamma(shape, rate) prior."""
    density = math.log(gamma_rate(model.weights)) - gamma_rate(model.weights) * w
    if gamma_shape(model.weights) != 1.0:
        density += (gamma_shape(model.weights) - 1.0) * math.log(
            gamma_rate(model.weights) * w
        ) - math.lgamma(gamma_shape(model.weights))
    return density


@scalar
def log_unique_ratio(model: Any, b: Any, i: Any, s: Any) -> Any:
    """Return log f(s) - log f(s[i]), f the density of option i's unique weight; s > 0."""
    if model.unique == TOTAL_UNIQUE:
        return log_i0(b.z[i] * s) - b.log_bessel[i] - gamma_rate(model.weights) * (s - b.s[i])
    return log_density_ratio(model.weights, b.s[i], s - b.s[i])


@vectorised
def log_compensated_ratio(model: Any, b: Any, k: Any, m: Any, d: Any) -> Any:
    """Return the log prior ratio of s[i] - d to s[i], over the m owners of feature k."""
    total = gamma_rate(model.weights) * d * m
    if model.unique == TOTAL_UNIQUE:
        for i in range(b.z.size):
            total += log_i0(b.z[i] * (b.s[i] - d * b.Z[k, i])) - b.log_bessel[i]
    elif gamma_shape(model.weights) != 1.0:
        for i in range(b.z.size):
            total += (gamma_shape(model.weights) - 1.0) * math.log(
                (b.s[i] - d * b.Z[k, i]) / b.s[i]
            )
    return total


@scalar
def set_unique_weight(b: Any, i: Any, s: Any) -> None:
    """Set the unique weight of option i to s, with its log Bessel function."""
    b.s[i] = s
    b.log_bessel[i] = log_i0(b.z[i] * s)


@scalar
def shift_unique_weights(model: Any, b: Any, k: Any, d: Any) -> None:
    """Subtract d from the unique weight of each owner of feature k."""
    subtract_from_owners(b.s, b, k, d)
    refresh_log_bessel(model, b)


@scalar
def refresh_log_bessel(model: Any, b: Any) -> None:
    """Recompute the log Bessel function of every unique weight."""
    if model.unique == TOTAL_UNIQUE:
        for i in range(b.z.size):
            b.log_bessel[i] = log_i0(b.z[i] * b.s[i])


@scalar
def refresh_unique_prior(model: Any, b: Any) -> None:
    """Recompute what the prior of unique weights stores, after a change of alpha."""
    if model.unique == TOTAL_UNIQUE:
        for i in range(b.z.size):
            b.z[i] = b.real[ALPHA] * rate_single(model.prior, i) * gamma_rate(model.weights)
    refresh_log_bessel(model, b)
