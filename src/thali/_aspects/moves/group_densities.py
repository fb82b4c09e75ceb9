"""Prior densities of the weights of groups: Gamma(kappa, kappa / v), of mean v."""

import math
from typing import Any

import numpy as np

from thali._compile.jit import scalar

from ..group_state import KAPPA, own_middle_of

# Smaller draws, which a small shape may give, are replaced by it: their logarithms are taken.
SMALLEST = 1e-290


@scalar
def log_gamma(shape: Any, mean: Any, w: Any) -> Any:
    """log p(w) of Gamma(shape, shape / mean)."""
    rate = shape / mean
    if shape == 1.0:
        return math.log(rate) - rate * w
    return math.log(rate) - rate * w + (shape - 1.0) * math.log(rate * w) - math.lgamma(shape)


@scalar
def log_gamma_ratio(shape: Any, mean: Any, w: Any, d: Any) -> Any:
    """log p(w + d) - log p(w) of the same."""
    ratio = -shape / mean * d
    return ratio if shape == 1.0 else ratio + (shape - 1.0) * math.log((w + d) / w)


@scalar
def draw_gamma(rng: np.random.Generator, shape: Any, mean: Any) -> Any:
    """A draw from it."""
    return max(rng.standard_gamma(shape) * mean / shape, SMALLEST)


@scalar
def log_owners_ratio(base: Any, g: Any, b: Any, k: Any, d: Any) -> Any:
    """log of the product of p(s[i] - d) / p(s[i]) over the owners of pattern k; -inf if one of them
    has no more."""
    total = 0.0
    for i in range(base.own.shape[0]):
        if b.Z[k, i] != 0.0:
            if b.s[i] <= d:
                return -np.inf
            total += log_gamma_ratio(base.real[KAPPA], own_middle_of(base, i, g), b.s[i], -d)
    return total


@scalar
def log_moments(shape: Any) -> Any:
    """Mean and standard deviation of the logarithm of a Gamma(shape, shape) variable, to some eight
    digits."""
    mean, variance, x = -math.log(shape), 0.0, shape
    while x < 6.0:
        mean -= 1.0 / x
        variance += 1.0 / (x * x)
        x += 1.0
    y = 1.0 / (x * x)
    mean += math.log(x) - 0.5 / x - y * (1.0 / 12.0 - y * (1.0 / 120.0 - y / 252.0))
    variance += 1.0 / x + 0.5 * y + y / x * (1.0 / 6.0 - y * (1.0 / 30.0 - y / 42.0))
    return mean, math.sqrt(variance)
