"""Sign, θ and ε of what a person owns: θ with ε integrated out, then ε between its bounds."""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import shuffle
from thali._inference.numerics.gamma import draw_log_gamma

from ..likelihood import add_feature, add_rows, clear_row, copy_row
from ..prior import draw_sign
from ..state import CLASS, MUTE, NEGATIVE, OWNERS, POLARITY, SIGN, VALUES, gather
from .bounds import bound_owned, draw_eps, log_fit, shapes_of

WALK = 1.2  # standard deviation of the walk of ln θ


@scalar
def update_values(rng: Any, problem: Any, state: Any, work: Any, n: Any) -> None:
    """One update of every feature of person n, in random order."""
    # The differences without a feature are those of the features before it, in row 0, plus those of
    # the ones after it, in row 2 + its place: nothing is ever subtracted, which would lose the sign
    # where values differ by many orders.
    count = gather(state, work, n)
    shuffle(rng, work.owned, count)
    clear_row(problem.tasks, work.sums, 0, n)
    clear_row(problem.tasks, work.sums, count + 1, n)
    for i in range(count - 1, 0, -1):
        copy_row(problem.tasks, work.sums, i + 2, i + 1, n)
        add_feature(problem.tasks, state.features, work.sums, i + 1, n, work.owned[i])
    for i in range(count):
        add_rows(problem.tasks, work.sums, 0, i + 2, 1, n)
        update_value(rng, problem, state, work, n, work.owned[i])
        add_feature(problem.tasks, state.features, work.sums, 0, n, work.owned[i])


@scalar
def update_value(rng: Any, problem: Any, state: Any, work: Any, n: Any, f: Any) -> None:
    """Propose (sign, θ) from the prior or walk on ln θ; then draw ε. Row 1 holds the differences
    without f."""
    g, h, next_h = shapes_of(state.real)
    slots, k = state.features.slots, state.features.slots[f, CLASS]
    slots[f, MUTE] = 1
    sign, log_theta = slots[f, SIGN], state.features.log_theta[f]
    gain, _, count = bound_owned(problem, state, work, 1, n, f, 1 - 2 * sign)
    change = -gain - log_fit(work.bounds, log_theta, h, next_h, count, -math.inf)
    new_sign = sign
    if rng.random() < 0.5:
        owners, negative = state.classes[k, OWNERS] - 1, state.classes[k, NEGATIVE] - sign
        new_sign = draw_sign(rng, state.classes[k, POLARITY], owners, negative)
        new_log_theta = draw_log_gamma(rng, g)
    else:
        new_log_theta = log_theta + WALK * rng.standard_normal()
        change += g * (new_log_theta - log_theta) + math.exp(log_theta) - math.exp(new_log_theta)
    if new_sign != sign:
        gain, _, count = bound_owned(problem, state, work, 1, n, f, 1 - 2 * new_sign)
    least = -rng.standard_exponential() - change - gain
    new_fit = -math.inf
    if least < 0.0:
        new_fit = log_fit(work.bounds, new_log_theta, h, next_h, count, least)
    state.counts[VALUES, 0] += 1
    if new_fit > least:
        state.counts[VALUES, 1] += 1
        state.features.log_theta[f] = new_log_theta
        slots[f, SIGN] = new_sign
        state.classes[k, NEGATIVE] += new_sign - sign
    elif new_sign != sign:
        bound_owned(problem, state, work, 1, n, f, 1 - 2 * sign)
    slots[f, MUTE] = 0
    draw_eps(rng, problem.tasks, state.features, work.bounds, n, f, h)
