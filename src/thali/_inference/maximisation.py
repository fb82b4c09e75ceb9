"""Maximisation by Newton's method, BFGS, and SQUAREM for EM-like fixed points.

Newton's method: a step that does not raise the value is shortened, by more damping (Levenberg and
Marquardt) or by halving. SciPy's BFGS is not used: it calls matrix routines whose threads, on a
busy machine, cost a hundred times the work for a few dozen coordinates. SQUAREM
(Varadhan & Roland 2008, Simple and globally convergent methods for accelerating the convergence of
any EM algorithm):

    r = M(θ) − θ,  v = M(M(θ)) − M(θ) − r,  θ' = θ − 2αr + α²v with α = −|r|/|v|
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

_HALVINGS = 60
# largest damping that is tried, and smallest damping after accepted steps
_STIFFEST = 1e10
_MIN_DAMPING = 1e-14
_CLOSE = 1e-6  # a point that no step raises is a maximum if the promised gain is below this


class Point(Protocol):
    """Protocol of a point in the search space, with the value of the target."""

    @property
    def value(self) -> float:
        """Value of the target function at the point."""
        raise NotImplementedError


P = TypeVar("P", bound=Point)


class Step(NamedTuple):
    """A step: change of the coordinates, and the gain that it promises."""

    change: np.ndarray
    promised: float  # gain of the value, to first order


class Slope(NamedTuple):
    """Gradient, curvature (minus the Hessian) and damping metric at a point."""

    gradient: np.ndarray
    curvature: np.ndarray  # minus the second derivatives
    # times the damping, this is added to the diagonal of the curvature
    metric: np.ndarray


class Target(Generic[P]):
    """Base class of functions to maximise."""

    def move_point(self, point: P, change: np.ndarray) -> P:
        """Return the point whose coordinates differ by `change`."""
        raise NotImplementedError

    def slope(self, point: P) -> Any:
        """Return the derivatives at a point that `solve` needs."""
        raise NotImplementedError

    def solve(self, slope: Any, damping: float) -> Step | None:
        """Return the damped Newton step; None if the curvature is not positive definite."""
        from scipy.linalg.lapack import dposv  # pyright: ignore[reportAttributeAccessIssue]

        gradient, curvature, metric = slope
        if not len(gradient):
            return Step(gradient, 0.0)
        damped_curvature = curvature.copy()
        damped_curvature[np.diag_indices_from(damped_curvature)] += damping * metric
        # for few coordinates, this takes a tenth of the time of `cho_solve`
        _, change, error_code = dposv(damped_curvature, gradient)
        if error_code != 0:
            return None
        return Step(change, float(change @ gradient))

    def accepts_step(self, point: P, ahead: P, promised: float) -> bool:
        """Return whether the point `ahead` of a step is good enough."""
        return ahead.value > point.value

    def is_spent(self) -> bool:
        """Return whether the search must stop, for lack of time or the like."""
        return False


class ClimbResult(NamedTuple, Generic[P]):
    """Point where a maximisation ended, number of steps, and whether it converged."""

    point: P
    steps: int
    converged: bool  # no step promised a gain


def maximise_newton(
    target: Target[P],
    point: P,
    min_gain: float,
    *,
    take_last: bool = False,
    damping: float | None = None,
    damping_factor: float = 10.0,
    max_change: float = np.inf,
    max_steps: int = 500,
) -> ClimbResult[P]:
    """Maximise by damped Newton steps until a step promises less than `min_gain`.

    With `take_last`, this last step, which doubles the number of digits, is taken. `damping`
    belongs to the first step; it is divided by `damping_factor` after an accepted step and
    multiplied by `damping_factor` after a rejected one. Without damping, steps are halved. No
    coordinate changes by more than `max_change` in one of at most `max_steps` steps. A value that
    is not finite is rejected.
    """
    for n_steps in range(max_steps):
        if target.is_spent():
            return ClimbResult(point, n_steps, False)
        first_step = None
        for step, next_damping in _iterate_steps(
            target, target.slope(point), damping, damping_factor
        ):
            first_step = first_step or step
            is_last = step.promised < min_gain
            if is_last and not (take_last and step is first_step):
                return ClimbResult(point, n_steps, first_step.promised <= max(min_gain, _CLOSE))
            change, promised = _limit_step(max_change, step)
            trial_point = target.move_point(point, change)
            if not np.isfinite(trial_point.value):
                continue
            if is_last:
                return ClimbResult(trial_point, n_steps + 1, True)
            if target.accepts_step(point, trial_point, promised):
                point = trial_point
                damping = next_damping
                break
            if target.is_spent():
                return ClimbResult(point, n_steps, False)
        else:
            return ClimbResult(
                point, n_steps, first_step is not None and first_step.promised <= _CLOSE
            )
    return ClimbResult(point, max_steps, False)


def _iterate_steps(
    target: Target[P], slope: Any, damping: float | None, damping_factor: float
) -> Iterator[tuple[Step, float | None]]:
    """Yield ever shorter (Newton step, damping after it) pairs from a point."""
    if damping is None and (step := target.solve(slope, 0.0)) is not None:
        for _ in range(_HALVINGS):
            yield step, None
            step = Step(0.5 * step.change, 0.5 * step.promised)
    while damping is not None and damping <= _STIFFEST:
        step = target.solve(slope, damping)
        if step is not None:
            yield step, max(damping / damping_factor, _MIN_DAMPING)
        damping *= damping_factor


def _limit_step(max_change: float, step: Step) -> Step:
    """Shorten a step so that no coordinate changes by more than `max_change`."""
    if max_change == np.inf:
        return step
    largest_change = np.abs(step.change).max(initial=0.0)
    if largest_change <= max_change:
        return step
    return Step(
        step.change * (max_change / largest_change), step.promised * (max_change / largest_change)
    )


class LocalFunction(NamedTuple):
    """Value, gradient and information (minus the Hessian) of a function at one point."""

    where: np.ndarray
    value: float
    gradient: np.ndarray
    information: np.ndarray  # minus the Hessian


class Concave(Target[LocalFunction]):
    """Base class of concave functions, to be maximised by `maximise_concave`.

    `function` returns value, gradient and information; `solve` returns the step for information
    and gradient. A step that promises less than `rounding` is accepted whatever the value.
    """

    def __init__(
        self,
        function: Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]],
        solve: Callable[[np.ndarray, np.ndarray], np.ndarray] = np.linalg.solve,
        rounding: float = 1e-9,
    ) -> None:
        self._function = function
        self._solve = solve
        self._rounding = rounding

    def evaluate(self, where: np.ndarray) -> LocalFunction:
        """Return value, gradient and information (minus the Hessian) at a point."""
        return LocalFunction(where, *self._function(where))

    def move_point(self, point: LocalFunction, change: np.ndarray) -> LocalFunction:
        """Return the function at the point after a change of its coordinates."""
        return self.evaluate(point.where + change)

    def slope(self, point: LocalFunction) -> LocalFunction:
        """Return the point itself, which contains its derivatives."""
        return point

    def solve(self, slope: LocalFunction, damping: float) -> Step:
        """Return the damped Newton step and the gain that it promises."""
        change = self._solve(slope.information, slope.gradient)
        return Step(change, float(change @ slope.gradient))

    def accepts_step(self, point: LocalFunction, ahead: LocalFunction, promised: float) -> bool:
        """Return whether the value rose enough."""
        return ahead.value > point.value or promised < self._rounding


def maximise_concave(function: Concave, start: np.ndarray, gain: float = 1e-13) -> LocalFunction:
    """Maximise a concave function from `start` by Newton's method."""
    return maximise_newton(
        function, function.evaluate(start), gain, take_last=True, max_steps=200
    ).point


# Maximisation by the gradient alone: limited-memory BFGS ------------------------------------------


MEMORY = 20
_RISE, _FLATTEN = 1e-4, 0.9  # strong Wolfe conditions
# share of a value, a sum of hundreds, within which the slope decides (Hager & Zhang 2005)
_ROUNDING = 1e-13
_TRIALS = 25  # of the length of a step


def maximise_bfgs(
    target: Target[Any], point: Any, tolerance: float, max_change: float
) -> ClimbResult[Any]:
    """Maximise by limited-memory BFGS until the gradient's absolute sum is `tolerance`.

    This sum bounds the gain of changing all coordinates by one. `max_change` is the maximum change
    of a coordinate in one step. Points have a `value` and a `gradient`.
    """
    curvature_pairs: deque[tuple[np.ndarray, np.ndarray, float]] = deque(maxlen=MEMORY)
    n_steps = 0
    while np.abs(point.gradient).sum() > tolerance:
        direction = _compute_direction(point.gradient, curvature_pairs)
        if direction @ point.gradient <= 0.0:
            curvature_pairs.clear()
            direction = _compute_direction(point.gradient, curvature_pairs)
        step_length, next_point = _search_line(target, point, direction, max_change)
        # along the gradient this means a spent target, or a maximum to all digits
        if next_point is None:
            if not curvature_pairs:
                return ClimbResult(point, n_steps, False)
            curvature_pairs.clear()
            continue
        n_steps += 1
        displacement = step_length * direction
        gradient_change = point.gradient - next_point.gradient
        curvature = float(displacement @ gradient_change)
        if curvature > 1e-14 * float(gradient_change @ gradient_change):
            curvature_pairs.append((displacement, gradient_change, curvature))
        point = next_point
    return ClimbResult(point, n_steps, True)


def _compute_direction(
    gradient: np.ndarray, curvature_pairs: Sequence[tuple[np.ndarray, np.ndarray, float]]
) -> np.ndarray:
    """Return the BFGS direction: inverse curvature times gradient (two-loop recursion)."""
    if not curvature_pairs:
        return gradient / np.sqrt(gradient @ gradient)
    direction = gradient.copy()
    projections = []
    for displacement, gradient_change, curvature in reversed(curvature_pairs):
        projection = float(displacement @ direction) / curvature
        direction -= projection * gradient_change
        projections.append(projection)
    _, gradient_change, curvature = curvature_pairs[-1]
    direction *= curvature / float(gradient_change @ gradient_change)
    for (displacement, gradient_change, curvature), projection in zip(
        curvature_pairs, reversed(projections), strict=True
    ):
        direction += (projection - float(gradient_change @ direction) / curvature) * displacement
    return direction


def _search_line(
    target: Target[Any], start: Any, direction: np.ndarray, max_change: float
) -> tuple[float, Any]:
    """Return a step length by the strong Wolfe conditions, and its point."""
    # The point is None if no trial is higher than the start.
    # Between a length that is too short and one that is too long, the next length maximises a cubic
    # through both.
    start_slope = float(direction @ start.gradient)
    largest_change = float(np.abs(direction).max())
    max_length = max_change / largest_change
    step_length = min(1.0, max_length)
    low_end = (0.0, start.value, start_slope)
    high_end: tuple[float, float, float] | None = None
    best_trial: tuple[float, Any] = 0.0, None
    highest_value = start.value
    for _ in range(_TRIALS):
        if target.is_spent():
            break
        trial_point = target.move_point(start, step_length * direction)
        trial_end = (step_length, trial_point.value, float(direction @ trial_point.gradient))
        if np.isfinite(trial_point.value) and trial_point.value > highest_value:
            best_trial = (step_length, trial_point)
            highest_value = trial_point.value
        is_rise_sufficient = (
            trial_point.value
            >= start.value + _RISE * step_length * start_slope - _ROUNDING * abs(start.value)
        )
        if is_rise_sufficient and abs(trial_end[2]) <= _FLATTEN * start_slope:
            return step_length, trial_point
        is_forward = high_end is None or high_end[0] > low_end[0]
        is_past_maximum = trial_end[2] > 0.0
        if is_forward:
            is_past_maximum = trial_end[2] < 0.0
        if not is_rise_sufficient or trial_point.value <= low_end[1] and low_end[0] > 0.0:
            high_end = trial_end
        elif is_past_maximum:
            low_end, high_end = trial_end, low_end
        else:
            low_end = trial_end
        if high_end is None:
            if step_length >= max_length:
                break
            growth = 2.0
            if trial_end[2] > 0.5 * start_slope:
                growth = 4.0
            step_length = min(growth * step_length, max_length)
        else:
            step_length = _maximise_cubic(low_end, high_end)
            if abs(high_end[0] - low_end[0]) * largest_change < 1e-12:
                break
    return best_trial


def _maximise_cubic(low: tuple[float, float, float], high: tuple[float, float, float]) -> float:
    """Return the maximiser of the cubic through two (x, value, slope) triples."""
    x, f, g = low
    y, h, k = high
    midpoint = 0.5 * (x + y)
    if np.isfinite(h) and np.isfinite(k):
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            d = 3.0 * (f - h) / (x - y) - g - k
            root = np.sqrt(d * d - g * k) * np.sign(y - x)
            # the minimum of the cubic of −F
            maximiser = y - (y - x) * (-k + root - d) / (-k + g + 2.0 * root)
            if not np.isfinite(root):
                maximiser = midpoint
        lower = min(x, y) + 0.1 * abs(y - x)
        upper = max(x, y) - 0.1 * abs(y - x)
        if np.isfinite(maximiser):
            return float(min(max(maximiser, lower), upper))
    return midpoint


# SQUAREM: two steps of a fixed-point map, then an extrapolation along the curve through them, which
# is accepted only if it raises the objective


_LEAPS = 4  # lengths of the extrapolation that are tried


@dataclass(frozen=True)
class FixedPoint:
    """Result of `iterate_squarem`: fixed point theta, objective values, convergence."""

    theta: np.ndarray
    values: list[float]  # the objective at every accepted point; never decreasing
    n_passes: int  # evaluations of the map
    converged: bool


def iterate_squarem(
    map_step: Callable[..., Any], theta: np.ndarray, max_passes: int, tolerance: float
) -> FixedPoint:
    """Iterate a map such as EM to its fixed point, accelerated by SQUAREM."""
    image, value = map_step(theta)
    objective_values = [value]
    n_passes = 1
    n_small = 0
    max_leap_length = 4.0
    while n_passes < max_passes and n_small < 2:
        former_value = value
        first_difference = image - theta
        second_image, value = map_step(image)
        n_passes += 1
        objective_values.append(value)
        second_difference = second_image - image - first_difference
        second_norm = np.sqrt(np.sum(second_difference**2))
        leap_length = 1.0
        n_leaps = 0
        if second_norm > 0.0:
            leap_length = np.sqrt(np.sum(first_difference**2)) / second_norm
        if leap_length > 1.0:
            n_leaps = _LEAPS
        theta = image
        image = second_image
        for _ in range(n_leaps):
            leap_length = min(leap_length, max_leap_length)
            previous_theta = theta - first_difference
            leap_point = (
                previous_theta
                + 2.0 * leap_length * first_difference
                + leap_length**2 * second_difference
            )
            leap_image, leap_value = map_step(leap_point)
            n_passes += 1
            if leap_value >= value:
                theta = leap_point
                image = leap_image
                value = leap_value
                objective_values.append(value)
                if leap_length == max_leap_length:
                    max_leap_length *= 4.0
                break
            leap_length = 0.5 * (leap_length + 1.0)
            max_leap_length = max(4.0, max_leap_length / 4.0)
        if value - former_value <= tolerance * max(1.0, abs(value)):
            n_small += 1
        else:
            n_small = 0
    return FixedPoint(theta, objective_values, n_passes, n_small == 2)
