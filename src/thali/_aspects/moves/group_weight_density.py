"""Prior densities of the weights of groups: Gamma(kappa, kappa / v), with mean v."""

import math
from typing import Any

import numpy as np

from thali._compile.jit import scalar

from ..chain_state import owns
from ..group_state import KAPPA, expected_unique_weight

# Replaces smaller draws, which a small shape may give, so that their logarithms are finite.
MIN_WEIGHT = 1e-290


@scalar
def log_gamma(shape: Any, mean: Any, w: Any) -> Any:
    """Return the log density of w under Gamma(shape, shape / mean)."""
    rate = shape / mean
    if shape == 1.0:
        return math.log(rate) - rate * w
    return math.log(rate) - rate * w + (shape - 1.0) * math.log(rate * w) - math.lgamma(shape)


@scalar
def log_gamma_ratio(shape: Any, mean: Any, w: Any, d: Any) -> Any:
    """Return log p(w + d) - log p(w) under Gamma(shape, shape / mean)."""
    ratio = -shape / mean * d
    if shape != 1.0:
        ratio += (shape - 1.0) * math.log((w + d) / w)
    return ratio


@scalar
def draw_gamma(rng: np.random.Generator, shape: Any, mean: Any) -> Any:
    """Draw from Gamma(shape, shape / mean), at least MIN_WEIGHT."""
    return max(rng.standard_gamma(shape) * mean / shape, MIN_WEIGHT)


@scalar
def log_owner_ratio(base: Any, g: Any, b: Any, k: Any, d: Any) -> Any:
    """Return the log prior ratio of unique weights s[i] - d to s[i], over owners of k.

    Return -inf if a unique weight is at most d.
    """
    total = 0.0
    for i in range(base.unique.size):
        if owns(b, i, k):
            if b.s[i] <= d:
                return -np.inf
            total += log_gamma_ratio(
                base.real[KAPPA], expected_unique_weight(base, i, g), b.s[i], -d
            )
    return total


@scalar
def log_gamma_moments(shape: Any) -> Any:
    """Return mean and standard deviation of log Gamma(shape, shape), to eight digits."""
    mean, variance, x = -math.log(shape), 0.0, shape
    while x < 6.0:
        mean -= 1.0 / x
        variance += 1.0 / (x * x)
        x += 1.0
    y = 1.0 / (x * x)
    mean += math.log(x) - 0.5 / x - y * (1.0 / 12.0 - y * (1.0 / 120.0 - y / 252.0))
    variance += 1.0 / x + 0.5 * y + y / x * (1.0 / 6.0 - y * (1.0 / 30.0 - y / 42.0))
    return mean, math.sqrt(variance)
