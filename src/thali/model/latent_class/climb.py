"""One maximum of the likelihood: expectation and maximisation, then Newton's method in all parameters at once."""

from typing import NamedTuple

import numpy as np

from thali.inference.optimise.damped_step import damped_step

from ..choice_logits.logit import information
from .panel import Panel, Point, derivatives, point

_ROUGH = 1e-3  # gain a person at which Newton's method takes over
_MOST_PASSES, _MOST_STEPS = 200, 300
_GAIN = 1e-9  # no step that promises less is taken
_LONGEST = 5.0  # change of a parameter in one step
_STUCK = 1e10


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
    return newton(panel, here)


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


def newton(panel: Panel, here: Point) -> Summit:
    """Damped Newton steps, until none promises a gain."""
    number, p = here.tastes.shape
    damping = 1e-3
    for _ in range(_MOST_STEPS):
        gradient, curve = derivatives(panel, here)
        metric = np.abs(np.diag(curve))
        metric = metric + 1e-8 * metric.max()
        while damping < _STUCK:
            step = damped_step(curve, damping * metric, gradient)
            if step is not None:
                promised = float(step @ gradient)
                there = _moved(panel, here, step * min(1.0, _LONGEST / np.abs(step).max()), number, p)
                if promised < _GAIN:  # the last step doubles the digits
                    return Summit(there, *derivatives(panel, there), converged=True)
                if there.value > here.value:
                    break
                if promised < 1e-6:  # what is left is rounding
                    return Summit(here, gradient, curve, True)
            damping *= 10.0
        else:
            return Summit(here, gradient, curve, False)
        here, damping = there, max(damping / 10.0, 1e-14)
    return Summit(here, *derivatives(panel, here), converged=False)


def _moved(panel: Panel, here: Point, step: np.ndarray, number: int, p: int) -> Point:
    """The point a step away."""
    odds = here.sizes * np.exp(np.concatenate([[0.0], step[: number - 1]]))
    return point(panel, odds / odds.sum(), here.tastes + step[number - 1 :].reshape(number, p))


def by_size(panel: Panel, summit: Summit) -> Summit:
    """The same maximum with the largest class first."""
    order = np.argsort(-summit.where.sizes, kind="stable")
    where = point(panel, summit.where.sizes[order], summit.where.tastes[order])
    return Summit(where, *derivatives(panel, where), summit.converged)
