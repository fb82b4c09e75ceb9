"""Maximisation by the gradient alone: limited-memory BFGS.

Not SciPy's, which calls matrix routines whose threads, on a busy machine, cost a hundred times the work that they do
for a few dozen coordinates.
"""

from collections import deque
from typing import Any

import numpy as np

from .newton import Reached, Target

MEMORY = 20
_RISE, _FLATTEN = 1e-4, 0.9  # strong Wolfe conditions
_TRIALS = 25  # of the length of a step


def first_order(target: Target[Any], point: Any, tolerance: float, longest: float) -> Reached[Any]:
    """Climb from a point until the absolute entries of the gradient sum to the tolerance or less.

    That sum bounds the gain of changing all coordinates by one; `longest` is the change of a coordinate in one step.
    Points have a `value` and a `gradient`.
    """
    pairs: deque[tuple[np.ndarray, np.ndarray, float]] = deque(maxlen=MEMORY)
    steps = 0
    while np.abs(point.gradient).sum() > tolerance:
        direction = _direction(point.gradient, pairs)
        if direction @ point.gradient <= 0.0:
            pairs.clear()
            direction = _direction(point.gradient, pairs)
        length, found = _search(target, point, direction, longest)
        if found is None and not pairs:  # not even uphill: the target is spent, or the point a maximum to all digits
            return Reached(point, steps, False)
        if found is None:
            pairs.clear()
            continue
        steps += 1
        moved, turned = length * direction, point.gradient - found.gradient
        curvature = float(moved @ turned)
        if curvature > 1e-14 * float(turned @ turned):
            pairs.append((moved, turned, curvature))
        point = found
    return Reached(point, steps, True)


def _direction(gradient: np.ndarray, pairs: Any) -> np.ndarray:
    """The approximate inverse curvature from the last steps, times the gradient (two-loop recursion)."""
    if not pairs:
        return gradient / np.sqrt(gradient @ gradient)
    direction, shares = gradient.copy(), []
    for moved, turned, curvature in reversed(pairs):
        share = float(moved @ direction) / curvature
        direction -= share * turned
        shares.append(share)
    _, turned, curvature = pairs[-1]
    direction *= curvature / float(turned @ turned)
    for (moved, turned, curvature), share in zip(pairs, reversed(shares), strict=True):
        direction += (share - float(turned @ direction) / curvature) * moved
    return direction


def _search(target: Target[Any], start: Any, direction: np.ndarray, longest: float) -> tuple[float, Any]:
    """A point along the direction that fulfils the strong Wolfe conditions, or the highest found; None if none rises.

    The next length between one too short and one too long: the maximum of a cubic through both.
    """
    slope, size = float(direction @ start.gradient), float(np.abs(direction).max())
    most = longest / size
    length = min(1.0, most)
    low = (0.0, start.value, slope)
    high: tuple[float, float, float] | None = None
    best: tuple[float, Any] = 0.0, None
    highest = start.value
    for _ in range(_TRIALS):
        if target.is_spent():
            break
        trial = target.moved(start, length * direction)
        here = (length, trial.value, float(direction @ trial.gradient))
        if np.isfinite(trial.value) and trial.value > highest:
            best, highest = (length, trial), trial.value
        rises = trial.value >= start.value + _RISE * length * slope
        if rises and abs(here[2]) <= _FLATTEN * slope:
            return length, trial
        if not rises or trial.value <= low[1] and low[0] > 0.0:
            high = here
        elif here[2] < 0.0 if high is None or high[0] > low[0] else here[2] > 0.0:
            low, high = here, low
        else:
            low = here
        if high is None:
            if length >= most:
                break
            length = min(4.0 * length if here[2] > 0.5 * slope else 2.0 * length, most)
        else:
            length = _between(low, high)
            if abs(high[0] - low[0]) * size < 1e-12:
                break
    return best


def _between(low: tuple[float, float, float], high: tuple[float, float, float]) -> float:
    """The maximum of the cubic through two values and slopes, kept away from both ends."""
    (x, f, g), (y, h, k) = low, high
    middle = 0.5 * (x + y)
    if np.isfinite(h) and np.isfinite(k):
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            d = 3.0 * (f - h) / (x - y) - g - k
            root = np.sqrt(d * d - g * k) * np.sign(y - x)
            # of the cubic of −F, whose minimum is the maximum of F
            top = y - (y - x) * (-k + root - d) / (-k + g + 2.0 * root) if np.isfinite(root) else middle
        lower, upper = min(x, y) + 0.1 * abs(y - x), max(x, y) - 0.1 * abs(y - x)
        if np.isfinite(top):
            return float(min(max(top, lower), upper))
    return middle
