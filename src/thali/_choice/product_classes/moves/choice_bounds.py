"""Bounds that a respondent's choices put on the value of one feature, and their probability.

A task bounds the value θ + ε from below if the feature must outweigh the others, and from above if
it must not. The likelihood of θ is the probability of ε between the bounds in every task.
"""

import math
from typing import Any

from thali._compile.jit import part, scalar
from thali._inference.numerics.gamma_distribution import (
    draw_log_gamma,
    draw_log_gamma_within,
    interval_probability,
)

from ..likelihood import (
    TINY,
    compute_exact_difference,
    count_alternatives,
    count_tasks,
    multiply_factor,
)
from ..state import SIGMA, A

UNBOUNDED, LINEAR, LOGARITHMIC, LAPSED = range(4)  # in ValueBounds.kind


@scalar
def compute_shapes(real: Any) -> Any:
    """Return Gamma shapes of theta and epsilon, and ln Gamma(shape of epsilon + 1)."""
    a, sigma = real[A], real[SIGMA]
    return sigma * a, (1.0 - sigma) * a, math.lgamma((1.0 - sigma) * a + 1.0)


@part
def bound_feature(
    tasks: Any,
    features: Any,
    lapsed: Any,
    sums: Any,
    bounds: Any,
    row: Any,
    n: Any,
    difference: Any,
    separates: Any,
    at: Any,
    sign: Any,
    old_slot: Any,
) -> Any:
    """Write bounds on a feature's value in every task of respondent n.

    `row` of `sums` contains the differences without the feature.
    """
    # The feature's class is row `at` of `difference` and `separates`; in a move of the class, slot
    # `old_slot` contains the tasks that it separated before, since only those may be impossible
    # without it.
    # Returns for the tasks that it separates: the log-likelihood ratio with to without the feature,
    # excluding the probabilities of ε and treating all choices as possible without it, or -inf if
    # some choice is impossible with it; whether all choices are possible without it; the number of
    # tasks in bounds.bound.
    start = tasks.first_task[n]
    gain, product, count, possible_without = 0.0, 1.0, 0, True
    end = 0
    for t in range(start, tasks.first_task[n + 1]):
        tau, c = t - start, end
        end = c + count_alternatives(tasks, t) - 1
        if lapsed[t] != 0:
            bounds.kind[tau] = LAPSED
            continue
        if separates[at, tau] == 0 and (old_slot < 0 or features.separates[old_slot, tau] == 0):
            continue
        low, high, winners_with, winners_without = 0.0, math.inf, 1, 1
        is_tiny = False
        for i in range(c, end):
            q = sign * difference[at, i]
            d = sums.total[row, i]
            if sums.apart[row, i] == 0:
                winners_without += 1
                if q == 0:
                    winners_with += 1
                elif q < 0:
                    high = 0.0
                continue
            if abs(d) < TINY:
                is_tiny = True
            elif d < 0.0:
                possible_without = False
                if q == 0:
                    high = 0.0
            if q > 0:
                low = max(low, -d)
            elif q < 0:
                high = min(high, d)
        bounds.kind[tau] = LINEAR if low > 0.0 or high < math.inf else UNBOUNDED
        if is_tiny:
            low, high, possible = compute_exact_bounds(
                features, sums, row, n, tau, c, end, difference, at, sign
            )
            possible_without = possible_without and possible
            bounds.kind[tau] = LOGARITHMIC
        if high <= low:
            return -math.inf, possible_without, count
        if winners_with != winners_without:
            gain, product = multiply_factor(gain, product, winners_without / winners_with)
        if bounds.kind[tau] != UNBOUNDED:
            bounds.low[tau], bounds.high[tau] = low, high
            bounds.bound[count] = tau
            count += 1
    if product != 1.0:
        gain += math.log(product)
    return gain, possible_without, count


@scalar
def bound_owned_feature(
    problem: Any, state: Any, work: Any, row: Any, n: Any, f: Any, sign: Any
) -> Any:
    """Write bounds on the value of feature f of respondent n; return as `bound_feature`."""
    features = state.features
    return bound_feature(
        problem.tasks,
        features,
        state.lapsed,
        work.sums,
        work.bounds,
        row,
        n,
        features.difference,
        features.separates,
        f,
        sign,
        -1,
    )


@scalar
def bound_compared_feature(
    problem: Any, state: Any, work: Any, row: Any, n: Any, at: Any, sign: Any
) -> Any:
    """Write bounds on the value of a proposed feature; return as `bound_feature`.

    See `bound_feature`.
    """
    return bound_feature(
        problem.tasks,
        state.features,
        state.lapsed,
        work.sums,
        work.bounds,
        row,
        n,
        work.difference,
        work.separates,
        at,
        sign,
        -1,
    )


@part
def compute_exact_bounds(
    features: Any,
    sums: Any,
    row: Any,
    n: Any,
    tau: Any,
    c: Any,
    end: Any,
    difference: Any,
    at: Any,
    sign: Any,
) -> Any:
    """Return bounds on a feature's log value in one task, from log values.

    Used where floats are too coarse.
    """
    low, high, possible = -math.inf, math.inf, True
    for i in range(c, end):
        q = sign * difference[at, i]
        if sums.apart[row, i] == 0:
            if q < 0:
                high = -math.inf
            continue
        sign_of_difference, size = compute_exact_difference(features, n, tau, i)
        if sign_of_difference < 0:
            possible = False
            if q > 0:
                low = max(low, size)
            else:
                high = -math.inf
        elif q < 0:
            high = min(high, size if sign_of_difference > 0 else -math.inf)
    return low, high, possible


@scalar
def compute_eps_limits(bounds: Any, tau: Any, theta: Any, log_theta: Any) -> Any:
    """Return lower and upper limit of ln epsilon in a task; upper is -inf if empty."""
    low, high = -math.inf, math.inf
    if bounds.kind[tau] == LINEAR:
        if bounds.low[tau] > theta:
            low = math.log(bounds.low[tau] - theta)
        if bounds.high[tau] <= theta:
            high = -math.inf
        elif bounds.high[tau] < math.inf:
            high = math.log(bounds.high[tau] - theta)
    elif bounds.kind[tau] == LOGARITHMIC:
        low, high = bounds.low[tau], bounds.high[tau]
        if low <= log_theta:
            low = -math.inf
        else:
            low += math.log(-math.expm1(log_theta - low))
        if high <= log_theta:
            high = -math.inf
        elif high < math.inf:
            high += math.log(-math.expm1(log_theta - high))
    return low, high


@scalar
def log_bound_probability(
    bounds: Any, log_theta: Any, h: Any, next_h: Any, count: Any, min_log: Any
) -> Any:
    """Return the log probability that epsilon ~ Gamma(h) satisfies all bounds."""
    if count == 0:
        return 0.0
    return sum_log_probabilities(bounds, log_theta, h, next_h, count, min_log)


@part
def sum_log_probabilities(
    bounds: Any, log_theta: Any, h: Any, next_h: Any, count: Any, min_log: Any
) -> Any:
    """Return the summed log probabilities that epsilon ~ Gamma(h) is within each task's bounds."""
    total, product, floor = 0.0, 1.0, math.exp(min_log)
    theta = math.exp(log_theta)
    for i in range(count):
        low, high = compute_eps_limits(bounds, bounds.bound[i], theta, log_theta)
        if high == -math.inf:
            return -math.inf
        if low == -math.inf and high == math.inf:
            continue
        p = interval_probability(h, next_h, low, high)
        if p <= 0.0:
            return -math.inf
        total, product = multiply_factor(total, product, p)
        if total == 0.0 and product < floor:
            return -math.inf
    return total if product == 1.0 else total + math.log(product)


@part
def draw_eps(rng: Any, tasks: Any, features: Any, bounds: Any, n: Any, f: Any, h: Any) -> None:
    """Draw epsilon ~ Gamma(h) of feature f within its bounds, in every task."""
    log_theta = features.log_theta[f]
    theta = math.exp(log_theta)
    features.theta[f] = theta
    for tau in range(count_tasks(tasks, n)):
        if features.separates[f, tau] == 0:
            continue
        bound_kind = bounds.kind[tau]
        low, high = -math.inf, math.inf
        if bound_kind == LINEAR or bound_kind == LOGARITHMIC:
            low, high = compute_eps_limits(bounds, tau, theta, log_theta)
        if low == -math.inf and high == math.inf:
            features.log_eps[f, tau] = draw_log_gamma(rng, h)
        else:
            features.log_eps[f, tau] = draw_log_gamma_within(rng, h, low, high)
        features.value[f, tau] = theta + math.exp(features.log_eps[f, tau])
