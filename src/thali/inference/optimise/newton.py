"""Newton's method, for every maximum of a smooth or penalised function.

A step that does not raise the value is tried shorter: with more damping, as by Levenberg and Marquardt, or halved.
"""

from collections.abc import Callable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

P = TypeVar("P")  # a point, of any form that has a `value`
_HALVINGS = 60
_STIFFEST, _MIN_DAMPING = 1e10, 1e-14  # damping that is tried, and that is left after steps that rise
_CLOSE = 1e-6  # gain below which a point that no step raises is a maximum, rounding aside


class Step(NamedTuple):
    """A change of the coordinates."""

    change: np.ndarray
    promised: float  # gain of the value, to first order


class Slope(NamedTuple):
    """The derivatives at a point."""

    gradient: np.ndarray
    curvature: np.ndarray  # minus the second derivatives
    metric: np.ndarray  # what damping multiplies before it is added to the diagonal of the curvature


class Target(Generic[P]):
    """What is maximised."""

    def moved(self, here: P, change: np.ndarray) -> P:
        """The point after a change of its coordinates."""
        raise NotImplementedError

    def slope(self, here: P) -> Any:
        """What steps from a point are made of: a `Slope`, unless the target solves in a way of its own."""
        raise NotImplementedError

    def solve(self, slope: Any, damping: float) -> Step | None:
        """Newton's step; None where the damped curvature is not positive."""
        from scipy.linalg.lapack import dposv  # pyright: ignore[reportAttributeAccessIssue]

        gradient, curve, metric = slope
        if not len(gradient):
            return Step(gradient, 0.0)
        damped = curve.copy()
        damped[np.diag_indices_from(damped)] += damping * metric
        _, change, info = dposv(damped, gradient)  # of few coordinates, a tenth of the time of `cho_solve`
        return Step(change, float(change @ gradient)) if info == 0 else None

    def rises(self, here: Any, ahead: Any, promised: float) -> bool:
        """Whether a step that promised so much is taken."""
        return ahead.value > here.value

    def is_spent(self) -> bool:
        """Whether no further point is to be looked at."""
        return False


class Reached(NamedTuple, Generic[P]):
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
) -> Reached[P]:
    """Climb from a point until a step promises less than a gain; `last`: that step, which doubles the digits, is taken.

    `damping` is that of the first step, divided by `pace` after a step that rises and multiplied by it after one that
    does not; without damping steps are halved. No coordinate changes by more than `longest` in one of at most `most`
    steps.
    """
    for steps in range(most):
        if target.is_spent():
            return Reached(point, steps, False)
        first = None
        for step, after in _ever_shorter(target, target.slope(point), damping, pace):
            first = first or step
            is_end = step.promised < gain
            if is_end and not (last and step is first):
                return Reached(point, steps, first.promised <= max(gain, _CLOSE))
            change, promised = _at_most(longest, step)
            ahead = target.moved(point, change)
            if is_end:
                return Reached(ahead, steps + 1, True)
            if target.rises(point, ahead, promised):
                point, damping = ahead, after
                break
            if target.is_spent():
                return Reached(point, steps, False)
        else:
            return Reached(point, steps, first is not None and first.promised <= _CLOSE)
    return Reached(point, most, False)


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
    return Step(step.change * (longest / size), step.promised * (longest / size)) if size > longest else step


class Local(NamedTuple):
    """A function, where it is looked at."""

    where: np.ndarray
    value: float
    gradient: np.ndarray
    information: np.ndarray  # minus the Hessian


class Concave(Target[Local]):
    """A concave function that gives value, gradient and information at once, and `solve` a step of the last two.

    The value says nothing about a step that promises less than `rounding`.
    """

    def __init__(
        self,
        at: Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]],
        solve: Callable[[np.ndarray, np.ndarray], np.ndarray] = np.linalg.solve,
        rounding: float = 1e-9,
    ) -> None:
        self._at, self._solve, self._rounding = at, solve, rounding

    def look(self, where: np.ndarray) -> Local:
        """The function at a point."""
        return Local(where, *self._at(where))

    def moved(self, here: Local, change: np.ndarray) -> Local:
        return self.look(here.where + change)

    def slope(self, here: Local) -> Local:
        return here

    def solve(self, slope: Local, damping: float) -> Step:
        change = self._solve(slope.information, slope.gradient)
        return Step(change, float(change @ slope.gradient))

    def rises(self, here: Local, ahead: Local, promised: float) -> bool:
        return ahead.value > here.value or promised < self._rounding


def maximum(function: Concave, start: np.ndarray, gain: float = 1e-13) -> Local:
    """The maximum of a concave function."""
    return newton(function, function.look(start), gain, last=True, most=200).point
