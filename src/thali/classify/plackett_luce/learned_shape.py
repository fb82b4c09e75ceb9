"""The shape a that maximises the bound of a variational posterior."""

import math
from typing import Any

import numpy as np

_CLOSE = 1e-13


def learned_shape(a: float, counts: np.ndarray, slope: float, inverse_prior: bool, low: float, high: float) -> float:
    """The a that maximises the bound for given q(C) and q(Z) while q(λ) follows it.

    Σ_kj [ln Γ(a + n_kj) − ln Γ(a)] + a · slope (− ln a), by Newton's method on ln a inside a shrinking bracket. Of
    several maxima it finds the one uphill from the start.
    """
    from scipy.special import digamma, polygamma

    counts = counts[counts > 0.0]

    def derivatives(x: Any) -> Any:  # with respect to x = ln a
        a = math.exp(x)
        first = a * (float((digamma(a + counts) - digamma(a)).sum()) + slope)
        second = first + a * a * float((polygamma(1, a + counts) - polygamma(1, a)).sum())
        return first - inverse_prior, second

    left, right = math.log(low), math.log(high)
    x = min(max(math.log(a), left), right)
    first, second = derivatives(x)
    rising = first > 0.0
    while True:
        if first > 0.0:
            left = x
        else:
            right = x
        new = x - first / second if second < 0.0 else x + (1.0 if rising else -1.0)
        if not left < new < right:
            new = 0.5 * (left + right)
        if abs(new - x) < _CLOSE or right - left < _CLOSE:
            return math.exp(new)
        x = new
        first, second = derivatives(x)
