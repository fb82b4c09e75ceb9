"""One maximum of the likelihood: expectation and maximisation, then Newton's method in all parameters at once."""

from typing import NamedTuple

import numpy as np

from thali.inference.optimise.newton import Slope, Target, newton

from ..logit import information
from .panel import Panel, Point, derivatives, point

_ROUGH = 1e-3  # gain a person at which Newton's method takes over
_MOST_PASSES, _MOST_STEPS = 200, 300
_GAIN = 1e-9  # no step that promises less is taken
_LONGEST = 5.0  # change of a parameter in one step


class Summit(NamedTuple):
    """The end point of a climb."""

    where: Point
    gradient: np.ndarray  # of the log odds of sizes, and of the tastes
    information: np.ndarray
    converged: bool


def climb(panel: Panel, tastes: np.ndarray) -> Summit:
    """Climb from tastes (K, p) of classes of equal size."""
    here = point(panel, np.full(len(tastes), 1.0 / len(tastes)), tastes)
    for _ in range(_MOST_PASSES):
        before, here = here.value, expect_and_maximise(panel, here)
        if here.value - before < _ROUGH * panel.people:
            break
    return to_summit(panel, here)


def expect_and_maximise(panel: Panel, here: Point) -> Point:
    """New sizes, and one Newton step of the tastes of each class, shortened until the likelihood does not fall."""
    in_tasks = np.repeat(here.membership, np.diff(panel.first_task), axis=0)
    in_rows = np.repeat(in_tasks, np.diff(panel.tasks.first_row), axis=0)
    steps = np.zeros_like(here.tastes)
    for k, at in enumerate(here.at):
        curve = information(at, in_rows[:, k])
        steps[k] = np.linalg.lstsq(curve, in_tasks[:, k] @ at.score, rcond=1e-10)[0]
    sizes, length = here.membership.mean(axis=0), 1.0
    while length > 1e-3:
        there = point(panel, sizes, here.tastes + length * steps)
        if there.value >= here.value:
            return there
        length *= 0.5
    return point(panel, sizes, here.tastes)


class _Classes(Target[Point]):
    """The likelihood by the log odds of sizes and the tastes, class by class."""

    def __init__(self, panel: Panel) -> None:
        self._panel = panel

    def moved(self, here: Point, change: np.ndarray) -> Point:
        number, p = here.tastes.shape
        odds = here.sizes * np.exp(np.concatenate([[0.0], change[: number - 1]]))
        return point(self._panel, odds / odds.sum(), here.tastes + change[number - 1 :].reshape(number, p))

    def slope(self, here: Point) -> Slope:
        gradient, curve = derivatives(self._panel, here)
        metric = np.abs(np.diag(curve))
        return Slope(gradient, curve, metric + 1e-8 * metric.max())


def to_summit(panel: Panel, here: Point) -> Summit:
    """Damped Newton steps, until none promises a gain."""
    top, _, converged = newton(
        _Classes(panel), here, _GAIN, last=True, damping=1e-3, longest=_LONGEST, most=_MOST_STEPS
    )
    return Summit(top, *derivatives(panel, top), converged)


def by_size(panel: Panel, summit: Summit) -> Summit:
    """The same maximum with the largest class first."""
    order = np.argsort(-summit.where.sizes, kind="stable")
    where = point(panel, summit.where.sizes[order], summit.where.tastes[order])
    return Summit(where, *derivatives(panel, where), summit.converged)
