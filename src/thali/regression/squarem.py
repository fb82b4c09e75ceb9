"""SQUAREM: two steps of a fixed-point map, then a leap along the curve through them, kept only where it pays.

    r = M(θ) − θ,  v = M(M(θ)) − M(θ) − r,  θ' = θ − 2αr + α²v with α = −|r|/|v|

References: Varadhan & Roland (2008), Simple and globally convergent methods for accelerating the convergence of any EM
algorithm.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_LEAPS = 4  # lengths tried before the leap is given up


@dataclass(frozen=True)
class FixedPoint:
    """Where an accelerated iteration ended.

    Attributes
    ----------
    theta : array
    values : list of float
        Of the objective at every point kept; never falling.
    n_passes : int
        Evaluations of the map.
    converged : bool
    """

    theta: np.ndarray
    values: list[float]
    n_passes: int
    converged: bool


def squarem(step: Callable, theta: np.ndarray, most_passes: int, tolerance: float) -> FixedPoint:
    """Follow a map whose objective never falls to its fixed point.

    Parameters
    ----------
    step : callable theta -> (next theta, objective at theta)
    theta : array
    most_passes : int
    tolerance : float
        Relative to the objective, of what two cycles in a row gain in the end.

    Returns
    -------
    FixedPoint

    Example
    -------
    >>> found = squarem(lambda x: (0.9 * x + 0.1, -float((x[0] - 1.0) ** 2)), np.array([5.0]), 100, 1e-12)
    >>> round(float(found.theta[0]), 6), found.n_passes < 10
    (1.0, True)
    """
    following, value = step(theta)
    values, passes, small = [value], 1, 0
    longest = 4.0
    while passes < most_passes and small < 2:
        before = value
        first = following - theta
        third, value = step(following)
        passes += 1
        values.append(value)
        second = third - following - first
        size = np.sqrt(np.sum(second**2))
        length = np.sqrt(np.sum(first**2)) / size if size > 0.0 else 1.0
        theta, following = following, third
        for _ in range(_LEAPS if length > 1.0 else 0):
            length = min(length, longest)
            start = theta - first
            leap = start + 2.0 * length * first + length**2 * second
            after, found = step(leap)
            passes += 1
            if found >= value:
                theta, following, value = leap, after, found
                values.append(value)
                longest *= 4.0 if length == longest else 1.0
                break
            length = 0.5 * (length + 1.0)
            longest = max(4.0, longest / 4.0)
        small = small + 1 if value - before <= tolerance * max(1.0, abs(value)) else 0
    return FixedPoint(theta, values, passes, small == 2)
