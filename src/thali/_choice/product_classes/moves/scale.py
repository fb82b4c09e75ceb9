"""Redraw the sum of one person's values, which hard choices do not identify."""

import math
from typing import Any

from thali._compile.jit import part, scalar
from thali._inference.numerics.gamma import draw_log_gamma

from ..likelihood import log_sum
from ..state import NEXT_OWNED
from .bounds import shapes_of

_MIN_SUM = 1e-200  # sums below this are taken from logarithms
# logarithm of the largest factor by which numbers are multiplied instead of being recomputed
_FAR = 20.0


@scalar
def rescale(rng: Any, problem: Any, state: Any, n: Any) -> None:
    """Multiply all values of person n by one factor."""
    first, end = problem.tasks.first_task[n], problem.tasks.first_task[n + 1]
    if state.features.people[n, 0] < 0:
        return
    g, h, _ = shapes_of(state.real)
    total, shape, tasks = 0.0, 0.0, end - first
    f = state.features.people[n, 0]
    while f >= 0:
        total += state.features.theta[f]
        shape += g
        for tau in range(tasks):
            if state.features.separates[f, tau] != 0:
                total += state.features.value[f, tau] - state.features.theta[f]
                shape += h
        f = state.features.slots[f, NEXT_OWNED]
    log_total = math.log(total) if total > _MIN_SUM else log_total_value(state, n, tasks)
    shift = draw_log_gamma(rng, shape) - log_total
    factor = math.exp(min(shift, _FAR))  # of a longer shift it is not used, and might overflow
    f = state.features.people[n, 0]
    while f >= 0:
        state.features.log_theta[f] += shift
        state.features.theta[f] = (
            state.features.theta[f] * factor
            if abs(shift) < _FAR
            else math.exp(state.features.log_theta[f])
        )
        for tau in range(tasks):
            if state.features.separates[f, tau] != 0:
                state.features.log_eps[f, tau] += shift
                if abs(shift) < _FAR:
                    state.features.value[f, tau] *= factor
                else:
                    state.features.value[f, tau] = state.features.theta[f] + math.exp(
                        state.features.log_eps[f, tau]
                    )
        f = state.features.slots[f, NEXT_OWNED]


@part
def log_total_value(state: Any, n: Any, tasks: Any) -> Any:
    """ln of the sum of person n's values, from their logarithms."""
    total = -math.inf
    f = state.features.people[n, 0]
    while f >= 0:
        total = (
            state.features.log_theta[f]
            if total == -math.inf
            else log_sum(total, state.features.log_theta[f])
        )
        for tau in range(tasks):
            if state.features.separates[f, tau] != 0:
                total = log_sum(total, state.features.log_eps[f, tau])
        f = state.features.slots[f, NEXT_OWNED]
    return total
