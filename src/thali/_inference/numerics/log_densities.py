"""Log densities and probabilities: binomial, normal, outcomes with ties."""

import math
from typing import Any

import numpy as np

LOG_2PI = math.log(2.0 * math.pi)


def log_binomial_coefficient(wins: np.ndarray, losses: np.ndarray) -> Any:
    """Return ln C(wins + losses, wins), elementwise.

    The gamma function is used because declared weights may be fractional.
    """
    from scipy.special import gammaln

    return gammaln(wins + losses + 1.0) - gammaln(wins + 1.0) - gammaln(losses + 1.0)


def log_normal_density(
    values: np.ndarray | float, mean: np.ndarray | float, sd: np.ndarray | float
) -> Any:
    """Return ln of the Normal(mean, sd²) density at `values`, elementwise."""
    return -0.5 * ((values - mean) / sd) ** 2 - np.log(sd) - 0.5 * LOG_2PI


def log_binomial(wins: np.ndarray, losses: np.ndarray, p: np.ndarray | float) -> Any:
    """Return ln Binomial(wins | wins + losses, p), elementwise."""
    from scipy.special import xlog1py, xlogy

    return log_binomial_coefficient(wins, losses) + xlogy(wins, p) + xlog1py(losses, -p)


def log_outcome_coefficients(counts: np.ndarray) -> Any:
    """Return log multinomial coefficients of counts (..., outcomes)."""
    from scipy.special import gammaln

    return gammaln(counts.sum(axis=-1) + 1.0) - gammaln(counts + 1.0).sum(axis=-1)
