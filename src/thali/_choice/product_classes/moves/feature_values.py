"""Move that updates sign and values (theta, epsilon) of each feature of a respondent."""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.discrete_draws import shuffle
from thali._inference.numerics.gamma_distribution import draw_log_gamma

from ..likelihood import add_differences, add_feature, clear_differences, copy_differences
from ..prior import draw_sign
from ..state import CLASS, MUTE, NEGATIVE, OWNERS, POLARITY, SIGN, VALUES, collect_owned_slots
from .choice_bounds import bound_owned_feature, compute_shapes, draw_eps, log_bound_probability

WALK = 1.2  # standard deviation of the walk of ln θ


@scalar
def update_values(rng: Any, problem: Any, state: Any, work: Any, n: Any) -> None:
    """Update sign and values of every feature of respondent n, in random order."""
    # The differences without a feature are the sum of the features before it, in row 0, and of the
    # features after it, in row 2 + its position. Subtraction would lose the sign if values differ
    # by many orders of magnitude.
    count = collect_owned_slots(state, work, n)
    shuffle(rng, work.owned, count)
    clear_differences(problem.tasks, work.sums, 0, n)
    clear_differences(problem.tasks, work.sums, count + 1, n)
    for i in range(count - 1, 0, -1):
        copy_differences(problem.tasks, work.sums, i + 2, i + 1, n)
        add_feature(problem.tasks, state.features, work.sums, i + 1, n, work.owned[i])
    for i in range(count):
        add_differences(problem.tasks, work.sums, 0, i + 2, 1, n)
        update_value(rng, problem, state, work, n, work.owned[i])
        add_feature(problem.tasks, state.features, work.sums, 0, n, work.owned[i])


@scalar
def update_value(rng: Any, problem: Any, state: Any, work: Any, n: Any, f: Any) -> None:
    """Update sign and theta of respondent n's feature f; draw epsilon within its bounds.

    Proposes (sign, θ) from the prior, or a step of ln θ. Row 1 contains the differences without f.
    """
    g, h, next_h = compute_shapes(state.real)
    slots, k = state.features.slots, state.features.slots[f, CLASS]
    slots[f, MUTE] = 1
    sign, log_theta = slots[f, SIGN], state.features.log_theta[f]
    gain, _, count = bound_owned_feature(problem, state, work, 1, n, f, 1 - 2 * sign)
    change = -gain - log_bound_probability(work.bounds, log_theta, h, next_h, count, -math.inf)
    new_sign = sign
    if rng.random() < 0.5:
        owners, negative = state.classes[k, OWNERS] - 1, state.classes[k, NEGATIVE] - sign
        new_sign = draw_sign(rng, state.classes[k, POLARITY], owners, negative)
        new_log_theta = draw_log_gamma(rng, g)
    else:
        new_log_theta = log_theta + WALK * rng.standard_normal()
        change += g * (new_log_theta - log_theta) + math.exp(log_theta) - math.exp(new_log_theta)
    if new_sign != sign:
        gain, _, count = bound_owned_feature(problem, state, work, 1, n, f, 1 - 2 * new_sign)
    min_log = -rng.standard_exponential() - change - gain
    new_fit = -math.inf
    if min_log < 0.0:
        new_fit = log_bound_probability(work.bounds, new_log_theta, h, next_h, count, min_log)
    state.counts[VALUES, 0] += 1
    if new_fit > min_log:
        state.counts[VALUES, 1] += 1
        state.features.log_theta[f] = new_log_theta
        slots[f, SIGN] = new_sign
        state.classes[k, NEGATIVE] += new_sign - sign
    elif new_sign != sign:
        bound_owned_feature(problem, state, work, 1, n, f, 1 - 2 * sign)
    slots[f, MUTE] = 0
    draw_eps(rng, problem.tasks, state.features, work.bounds, n, f, h)
