"""Maximisers that all models share: Newton's method, limited-memory BFGS, and fixed points of maps
such as those of EM.

Newton's method: a step that does not raise the value is tried shorter: with more damping, as by
Levenberg and Marquardt, or halved. BFGS is not SciPy's, which calls matrix routines whose threads,
on a busy machine, cost a hundred times the work that they do for a few dozen coordinates. SQUAREM
(Varadhan & Roland 2008, Simple and globally convergent methods for accelerating the convergence of
any EM algorithm):

    r = M(θ) − θ,  v = M(M(θ)) − M(θ) − r,  θ' = θ − 2αr + α²v with α = −|r|/|v|
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

_HALVINGS = 60
# damping that is tried, and that is left after steps that rise
_STIFFEST, _MIN_DAMPING = 1e10, 1e-14
_CLOSE = 1e-6  # gain below which a point that no step raises is a maximum, rounding aside


class Point(Protocol):
    """A point, of any form."""

    @property
    def value(self) -> float:
        """The value there."""
        raise NotImplementedError


P = TypeVar("P", bound=Point)


class Step(NamedTuple):
    """A change of the coordinates."""

    change: np.ndarray
    promised: float  # gain of the value, to first order


class Slope(NamedTuple):
    """The derivatives at a point."""

    gradient: np.ndarray
    curvature: np.ndarray  # minus the second derivatives
    # what damping multiplies before it is added to the diagonal of the curvature
    metric: np.ndarray


class Target(Generic[P]):
    """What is maximised."""

    def moved(self, here: P, change: np.ndarray) -> P:
        """The point after a change of its coordinates."""
        raise NotImplementedError

    def slope(self, here: P) -> Any:
        """What steps from a point are made of: a `Slope`, unless the target solves in a way of its
        own."""
        raise NotImplementedError

    def solve(self, slope: Any, damping: float) -> Step | None:
        """Newton's step; None where the damped curvature is not positive."""
        from scipy.linalg.lapack import dposv  # pyright: ignore[reportAttributeAccessIssue]

        gradient, curve, metric = slope
        if not len(gradient):
            return Step(gradient, 0.0)
        damped = curve.copy()
        damped[np.diag_indices_from(damped)] += damping * metric
        # of few coordinates, a tenth of the time of `cho_solve`
        _, change, info = dposv(damped, gradient)
        return Step(change, float(change @ gradient)) if info == 0 else None

    def rises(self, here: Any, ahead: Any, promised: float) -> bool:
        """Whether a step that promised so much is taken."""
        return ahead.value > here.value

    def is_spent(self) -> bool:
        """Whether no further point is to be looked at."""
        return False


class ClimbResult(NamedTuple, Generic[P]):
    """The end of a climb."""

    point: P
    steps: int
    converged: bool  # no step promised a gain


def newton(
    target: Target[P],
    point: P,
    gain: float,
    *,
    last: bool = False,
    damping: float | None = None,
    pace: float = 10.0,
    longest: float = np.inf,
    most: int = 500,
) -> ClimbResult[P]:
    """Climb from a point until a step promises less than a gain; `last`: that step, which doubles
    the digits, is taken.

    `damping` is that of the first step, divided by `pace` after a step that rises and multiplied by
    it after one that does not; without damping steps are halved. No coordinate changes by more than
    `longest` in one of at most `most` steps. A value that is not finite is none that rises.
    """
    for steps in range(most):
        if target.is_spent():
            return ClimbResult(point, steps, False)
        first = None
        for step, after in _ever_shorter(target, target.slope(point), damping, pace):
            first = first or step
            is_end = step.promised < gain
            if is_end and not (last and step is first):
                return ClimbResult(point, steps, first.promised <= max(gain, _CLOSE))
            change, promised = _at_most(longest, step)
            ahead = target.moved(point, change)
            if not np.isfinite(ahead.value):
                continue
            if is_end:
                return ClimbResult(ahead, steps + 1, True)
            if target.rises(point, ahead, promised):
                point, damping = ahead, after
                break
            if target.is_spent():
                return ClimbResult(point, steps, False)
        else:
            return ClimbResult(point, steps, first is not None and first.promised <= _CLOSE)
    return ClimbResult(point, most, False)


def _ever_shorter(
    target: Target[P], slope: Any, damping: float | None, pace: float
) -> Iterator[tuple[Step, float | None]]:
    """Steps from a point, each with the damping to go on with."""
    if damping is None and (step := target.solve(slope, 0.0)) is not None:
        for _ in range(_HALVINGS):
            yield step, None
            step = Step(0.5 * step.change, 0.5 * step.promised)
    while damping is not None and damping <= _STIFFEST:
        step = target.solve(slope, damping)
        if step is not None:
            yield step, max(damping / pace, _MIN_DAMPING)
        damping *= pace


def _at_most(longest: float, step: Step) -> Step:
    """The step, shortened if a coordinate changes by too much."""
    size = np.abs(step.change).max(initial=0.0) if longest < np.inf else 0.0
    return (
        Step(step.change * (longest / size), step.promised * (longest / size))
        if size > longest
        else step
    )


class LocalFunction(NamedTuple):
    """A function, where it is looked at."""

    where: np.ndarray
    value: float
    gradient: np.ndarray
    information: np.ndarray  # minus the Hessian


class Concave(Target[LocalFunction]):
    """A concave function that gives value, gradient and information at once, and `solve` a step of
    the last two.

    The value says nothing about a step that promises less than `rounding`.
    """

    def __init__(
        self,
        at: Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]],
        solve: Callable[[np.ndarray, np.ndarray], np.ndarray] = np.linalg.solve,
        rounding: float = 1e-9,
    ) -> None:
        self._at, self._solve, self._rounding = at, solve, rounding

    def look(self, where: np.ndarray) -> LocalFunction:
        """The function at a point."""
        return LocalFunction(where, *self._at(where))

    def moved(self, here: LocalFunction, change: np.ndarray) -> LocalFunction:
        return self.look(here.where + change)

    def slope(self, here: LocalFunction) -> LocalFunction:
        return here

    def solve(self, slope: LocalFunction, damping: float) -> Step:
        change = self._solve(slope.information, slope.gradient)
        return Step(change, float(change @ slope.gradient))

    def rises(self, here: LocalFunction, ahead: LocalFunction, promised: float) -> bool:
        return ahead.value > here.value or promised < self._rounding


def maximum(function: Concave, start: np.ndarray, gain: float = 1e-13) -> LocalFunction:
    """The maximum of a concave function."""
    return newton(function, function.look(start), gain, last=True, most=200).point


# Maximisation by the gradient alone: limited-memory BFGS ------------------------------------------


MEMORY = 20
_RISE, _FLATTEN = 1e-4, 0.9  # strong Wolfe conditions
# share of a value, a sum of hundreds, within which the slope decides (Hager & Zhang 2005)
_ROUNDING = 1e-13
_TRIALS = 25  # of the length of a step


def first_order(
    target: Target[Any], point: Any, tolerance: float, longest: float
) -> ClimbResult[Any]:
    """Climb from a point until the absolute entries of the gradient sum to the tolerance or less.

    That sum bounds the gain of changing all coordinates by one; `longest` is the change of a
    coordinate in one step. Points have a `value` and a `gradient`.
    """
    pairs: deque[tuple[np.ndarray, np.ndarray, float]] = deque(maxlen=MEMORY)
    steps = 0
    while np.abs(point.gradient).sum() > tolerance:
        direction = _direction(point.gradient, pairs)
        if direction @ point.gradient <= 0.0:
            pairs.clear()
            direction = _direction(point.gradient, pairs)
        length, found = _search(target, point, direction, longest)
        # not even uphill: the target is spent, or the point a maximum to all digits
        if found is None and not pairs:
            return ClimbResult(point, steps, False)
        if found is None:
            pairs.clear()
            continue
        steps += 1
        moved, turned = length * direction, point.gradient - found.gradient
        curvature = float(moved @ turned)
        if curvature > 1e-14 * float(turned @ turned):
            pairs.append((moved, turned, curvature))
        point = found
    return ClimbResult(point, steps, True)


def _direction(gradient: np.ndarray, pairs: Any) -> np.ndarray:
    """The approximate inverse curvature from the last steps, times the gradient (two-loop
    recursion)."""
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


def _search(
    target: Target[Any], start: Any, direction: np.ndarray, longest: float
) -> tuple[float, Any]:
    """A point along the direction by the strong Wolfe conditions, or else the highest found; None
    if none rises."""
    # The next length between one too short and one too long: the maximum of a cubic through both.
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
        rises = trial.value >= start.value + _RISE * length * slope - _ROUNDING * abs(start.value)
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
            top = (
                y - (y - x) * (-k + root - d) / (-k + g + 2.0 * root)
                if np.isfinite(root)
                else middle
            )
        lower, upper = min(x, y) + 0.1 * abs(y - x), max(x, y) - 0.1 * abs(y - x)
        if np.isfinite(top):
            return float(min(max(top, lower), upper))
    return middle


# SQUAREM: two steps of a fixed-point map, then an extrapolation along the curve through them, kept
# only if it gains


_LEAPS = 4  # lengths tried before the extrapolation is given up


@dataclass(frozen=True)
class FixedPoint:
    """The result of an accelerated iteration."""

    theta: np.ndarray
    values: list[float]  # the objective at every accepted point; never decreasing
    n_passes: int  # evaluations of the map
    converged: bool


def squarem(
    step: Callable[..., Any], theta: np.ndarray, most_passes: int, tolerance: float
) -> FixedPoint:
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
