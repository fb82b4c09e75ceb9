"""Move that redraws the scale of a respondent's values, which choices do not identify."""

import math
from typing import Any

from thali._compile.jit import part, scalar
from thali._inference.numerics.array_parts import part_ends
from thali._inference.numerics.gamma_distribution import draw_log_gamma

from ..likelihood import log_add_exp
from ..state import NEXT_OWNED
from .choice_bounds import compute_shapes

_MIN_SUM = 1e-200  # smaller sums are computed from logarithms
# logarithm of the largest factor by which values are multiplied instead of being recomputed
_MAX_SHIFT = 20.0


@scalar
def rescale_values(rng: Any, problem: Any, state: Any, n: Any) -> None:
    """Multiply all values of respondent n by one random factor."""
    start, end = part_ends(problem.tasks.first_task, n)
    if state.features.respondents[n, 0] < 0:
        return
    g, h, _ = compute_shapes(state.real)
    total, shape, tasks = 0.0, 0.0, end - start
    f = state.features.respondents[n, 0]
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
    factor = math.exp(min(shift, _MAX_SHIFT))  # larger shifts do not use it, and it might overflow
    f = state.features.respondents[n, 0]
    while f >= 0:
        state.features.log_theta[f] += shift
        if abs(shift) < _MAX_SHIFT:
            state.features.theta[f] *= factor
        else:
            state.features.theta[f] = math.exp(state.features.log_theta[f])
        for tau in range(tasks):
            if state.features.separates[f, tau] != 0:
                state.features.log_eps[f, tau] += shift
                if abs(shift) < _MAX_SHIFT:
                    state.features.value[f, tau] *= factor
                else:
                    state.features.value[f, tau] = state.features.theta[f] + math.exp(
                        state.features.log_eps[f, tau]
                    )
        f = state.features.slots[f, NEXT_OWNED]


@part
def log_total_value(state: Any, n: Any, tasks: Any) -> Any:
    """Return ln of the sum of respondent n's values."""
    total = -math.inf
    f = state.features.respondents[n, 0]
    while f >= 0:
        total = (
            state.features.log_theta[f]
            if total == -math.inf
            else log_add_exp(total, state.features.log_theta[f])
        )
        for tau in range(tasks):
            if state.features.separates[f, tau] != 0:
                total = log_add_exp(total, state.features.log_eps[f, tau])
        f = state.features.slots[f, NEXT_OWNED]
    return total
