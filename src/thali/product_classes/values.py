"""Sign, θ and ε of what a person owns: θ with ε integrated out, then ε between its bounds."""

import math

from thali._jit import part, scalar
from thali.mcmc.chance import accept, shuffle
from thali.product_classes.bounds import SOFT, bound_feature, draw_eps, log_fit, shapes
from thali.product_classes.gamma import log_gamma_draw
from thali.product_classes.likelihood import soft_hit, sum_features
from thali.product_classes.prior import draw_sign
from thali.product_classes.slots import gather
from thali.product_classes.state import CLASS, MUTE, NEGATIVE, OWNERS, POLARITY, SIGN, VALUES

WALK = 1.2  # standard deviation of the walk of ln θ


@part
def update_values(rng, problem, target, state, work, n):
    """One update of every feature of person n, in random order."""
    count = gather(state, work, n)
    shuffle(rng, work.owned, count)
    for i in range(count):
        update_value(rng, problem, target, state, work, n, work.owned[i])


@scalar
def update_value(rng, problem, target, state, work, n, f):
    """Propose (sign, θ) from the prior or walk on ln θ; then draw ε."""
    g, h, log_gamma_next = shapes(state)
    slots, k = state.slots, state.slots[f, CLASS]
    slots[f, MUTE] = 1
    sum_features(problem, state, work, 1, n)
    sign, log_theta = slots[f, SIGN], state.log_theta[f]
    gain, _, count = bound_feature(
        problem, target, state, work, 1, n, state.difference, state.separates, f, 1 - 2 * sign, -1
    )
    change = -gain - log_fit(
        problem, target, work, 1, n, state.difference, f, 1 - 2 * sign, state.log_eps, f, log_theta, h,
        log_gamma_next, count,
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
            problem, target, state, work, 1, n, state.difference, state.separates, f, 1 - 2 * new_sign, -1
        )
    change += gain + log_fit(
        problem, target, work, 1, n, state.difference, f, 1 - 2 * new_sign, state.log_eps, f, new_log_theta, h,
        log_gamma_next, count,
    )
    state.counts[VALUES, 0] += 1
    if accept(rng, change):
        state.counts[VALUES, 1] += 1
        state.log_theta[f] = new_log_theta
        slots[f, SIGN] = new_sign
        state.classes[k, NEGATIVE] += new_sign - sign
    elif new_sign != sign:
        _, _, count = bound_feature(
            problem, target, state, work, 1, n, state.difference, state.separates, f, 1 - 2 * sign, -1
        )
    slots[f, MUTE] = 0
    draw_eps(rng, problem, state, work, n, f, h, -1)
    walk_soft_eps(rng, problem, target, state, work, n, f, h, count)


@scalar
def walk_soft_eps(rng, problem, target, state, work, n, f, h, count):
    """ε of a feature in the soft tasks: a proposal from the prior, then a walk on its logarithm."""
    first = problem.first_task[n]
    sign = 1 - 2 * state.slots[f, SIGN]
    theta = state.theta[f]
    for i in range(count):
        tau = work.bound[i]
        if work.kind[tau] != SOFT:
            continue
        t = first + tau
        c = problem.first_row[t] - problem.first_row[first] - tau
        size = problem.first_row[t + 1] - problem.first_row[t] - 1
        sharpness = target.sharpness[t]
        old = state.log_eps[f, tau]
        fit = math.log(soft_hit(work, 1, c, size, sharpness, sign * state.value[f, tau], state.difference, f))
        for step in range(2):
            new, ratio = log_gamma_draw(rng, h), 0.0
            if step == 1:
                new = old + WALK * rng.standard_normal()
                ratio = h * (new - old) + math.exp(old) - math.exp(new)
            value = sign * (theta + math.exp(new))
            new_fit = math.log(soft_hit(work, 1, c, size, sharpness, value, state.difference, f))
            if accept(rng, new_fit - fit + ratio):
                old, fit = new, new_fit
        state.log_eps[f, tau] = old
        state.value[f, tau] = theta + math.exp(old)
