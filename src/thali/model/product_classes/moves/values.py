"""Sign, θ and ε of what a person owns: θ with ε integrated out, then ε between its bounds."""

import math
from typing import Any

from thali._jit import scalar
from thali.inference.numerics.decisions import accept, shuffle
from thali.inference.numerics.gamma_tails import log_gamma_draw

from ..likelihood import soft_hit, sum_features
from ..prior import draw_sign
from ..slots import gather
from ..state import CLASS, MUTE, NEGATIVE, OWNERS, POLARITY, SIGN, VALUES
from .bounds import SOFT, bound_feature, draw_eps, log_fit, place_of, shapes_of

WALK = 1.2  # standard deviation of the walk of ln θ


@scalar
def update_values(rng: Any, problem: Any, target: Any, state: Any, work: Any, n: Any) -> None:
    """One update of every feature of person n, in random order."""
    count = gather(state, work, n)
    shuffle(rng, work.owned, count)
    for i in range(count):
        update_value(rng, problem, target, state, work, n, work.owned[i])


@scalar
def update_value(rng: Any, problem: Any, target: Any, state: Any, work: Any, n: Any, f: Any) -> None:
    """Propose (sign, θ) from the prior or walk on ln θ; then draw ε."""
    g, h, next_h = shapes_of(state.real)
    slots, k = state.features.slots, state.features.slots[f, CLASS]
    slots[f, MUTE] = 1
    sum_features(problem.tasks, state.features, work.sums, 1, n)
    sign, log_theta = slots[f, SIGN], state.features.log_theta[f]
    gain, _, count = bound_feature(
        problem.tasks,
        target,
        state.features,
        state.lapsed,
        work.sums,
        work.bounds,
        1,
        n,
        state.features.difference,
        state.features.separates,
        f,
        1 - 2 * sign,
        -1,
    )
    change = -gain - log_fit(
        problem.tasks,
        target,
        work.sums,
        work.bounds,
        1,
        n,
        state.features.difference,
        f,
        1 - 2 * sign,
        state.features.log_eps,
        f,
        log_theta,
        h,
        next_h,
        count,
    )
    new_sign = sign
    if rng.random() < 0.5:
        owners, negative = state.classes[k, OWNERS] - 1, state.classes[k, NEGATIVE] - sign
        new_sign = draw_sign(rng, state.classes[k, POLARITY], owners, negative)
        new_log_theta = log_gamma_draw(rng, g)
    else:
        new_log_theta = log_theta + WALK * rng.standard_normal()
        change += g * (new_log_theta - log_theta) + math.exp(log_theta) - math.exp(new_log_theta)
    if new_sign != sign:
        gain, _, count = bound_feature(
            problem.tasks,
            target,
            state.features,
            state.lapsed,
            work.sums,
            work.bounds,
            1,
            n,
            state.features.difference,
            state.features.separates,
            f,
            1 - 2 * new_sign,
            -1,
        )
    change += gain + log_fit(
        problem.tasks,
        target,
        work.sums,
        work.bounds,
        1,
        n,
        state.features.difference,
        f,
        1 - 2 * new_sign,
        state.features.log_eps,
        f,
        new_log_theta,
        h,
        next_h,
        count,
    )
    state.counts[VALUES, 0] += 1
    if accept(rng, change):
        state.counts[VALUES, 1] += 1
        state.features.log_theta[f] = new_log_theta
        slots[f, SIGN] = new_sign
        state.classes[k, NEGATIVE] += new_sign - sign
    elif new_sign != sign:
        _, _, count = bound_feature(
            problem.tasks,
            target,
            state.features,
            state.lapsed,
            work.sums,
            work.bounds,
            1,
            n,
            state.features.difference,
            state.features.separates,
            f,
            1 - 2 * sign,
            -1,
        )
    slots[f, MUTE] = 0
    draw_eps(rng, problem.tasks, state.features, work.bounds, work.log_eps, n, f, h, -1)
    walk_soft_eps(rng, problem, target, state, work, n, f, h, count)


@scalar
def walk_soft_eps(
    rng: Any, problem: Any, target: Any, state: Any, work: Any, n: Any, f: Any, h: Any, count: Any
) -> None:
    """ε of a feature in the soft tasks: a proposal from the prior, then a walk on its logarithm."""
    sign = 1 - 2 * state.features.slots[f, SIGN]
    theta = state.features.theta[f]
    for i in range(count):
        tau = work.bounds.bound[i]
        if work.bounds.kind[tau] != SOFT:
            continue
        c, end, sharpness = place_of(problem.tasks, target, n, tau)
        old = state.features.log_eps[f, tau]
        fit = math.log(
            soft_hit(work.sums, 1, c, end, sharpness, sign * state.features.value[f, tau], state.features.difference, f)
        )
        for step in range(2):
            new, ratio = log_gamma_draw(rng, h), 0.0
            if step == 1:
                new = old + WALK * rng.standard_normal()
                ratio = h * (new - old) + math.exp(old) - math.exp(new)
            value = sign * (theta + math.exp(new))
            new_fit = math.log(soft_hit(work.sums, 1, c, end, sharpness, value, state.features.difference, f))
            if accept(rng, new_fit - fit + ratio):
                old, fit = new, new_fit
        state.features.log_eps[f, tau] = old
        state.features.value[f, tau] = theta + math.exp(old)
