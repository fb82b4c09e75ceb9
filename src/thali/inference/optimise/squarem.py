"""SQUAREM: two steps of a fixed-point map, then an extrapolation along the curve through them, kept only if it gains.

    r = M(θ) − θ,  v = M(M(θ)) − M(θ) − r,  θ' = θ − 2αr + α²v with α = −|r|/|v|

References: Varadhan & Roland (2008), Simple and globally convergent methods for accelerating the convergence of any EM
algorithm.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

_LEAPS = 4  # lengths tried before the extrapolation is given up


@dataclass(frozen=True)
class FixedPoint:
    """The result of an accelerated iteration."""

    theta: np.ndarray
    values: list[float]  # the objective at every accepted point; never decreasing
    n_passes: int  # evaluations of the map
    converged: bool


def squarem(step: Callable[..., Any], theta: np.ndarray, most_passes: int, tolerance: float) -> FixedPoint:
    """Iterate a map whose objective never decreases to its fixed point."""
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
