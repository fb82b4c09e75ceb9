"""What the choices of one person say about one feature, the others fixed and its ε integrated out.

A hard task bounds the value θ + ε from below where the feature must make up for the others, from above where it must
not undo them. The likelihood of θ is then the probability that ε falls between, in every task.
"""

import math

from thali._jit import part, scalar
from thali.product_classes.gamma import log_gamma_between, log_gamma_draw, log_mass
from thali.product_classes.likelihood import TINY, exact_difference, soft_hit
from thali.product_classes.state import A, SIGMA

UNBOUNDED, LINEAR, LOGARITHMIC, SOFT, LAPSED = range(5)  # in Work.kind


@scalar
def shapes(state):
    """Shapes of θ and of ε, and ln Γ of the second plus 1."""
    a, sigma = state.real[A], state.real[SIGMA]
    return sigma * a, (1.0 - sigma) * a, math.lgamma((1.0 - sigma) * a + 1.0)


@part
def bound_feature(problem, target, state, work, row, n, difference, separates, at, sign, before):
    """Bounds in all tasks of person n on the value of a feature, given the differences without it in `row`.

    The feature's class is row `at` of `difference` and `separates`; in a Lambda move slot `before` says which tasks it
    separated before, since only those may be impossible without it. Returns, of the tasks that it separates: ln of the
    likelihood with the feature, but for the probabilities of ε, over that without it as if no choice was impossible
    without it, -inf if some choice is impossible with the feature; whether all choices are possible without it; the
    number of tasks in work.bound.
    """
    first = problem.first_task[n]
    gain, count, possible_without = 0.0, 0, True
    end = 0
    for t in range(first, problem.first_task[n + 1]):
        tau, c = t - first, end
        end = c + problem.first_row[t + 1] - problem.first_row[t] - 1
        if state.lapsed[t] != 0:
            work.kind[tau] = LAPSED
            continue
        apart_here = separates[at, tau] != 0
        if not apart_here and (before < 0 or state.separates[before, tau] == 0):
            continue
        if target.sharpness[t] != math.inf:
            gain -= math.log(soft_hit(work, row, c, end - c, target.sharpness[t], 0.0, difference, at))
            work.kind[tau] = SOFT
            work.bound[count] = tau
            count += 1
            continue
        low, high, winners_with, winners_without = 0.0, math.inf, 1, 1
        is_tiny = False
        for i in range(c, end):
            q = sign * difference[at, i]
            d = work.sums[row, i]
            if work.apart[row, i] == 0:
                winners_without += 1
                if q == 0:
                    winners_with += 1
                elif q < 0:
                    high = 0.0
            else:
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
        if is_tiny:
            low, high, possible = exact_bounds(state, work, row, n, tau, c, end, difference, at, sign)
            possible_without = possible_without and possible
            work.kind[tau] = LOGARITHMIC
        else:
            work.kind[tau] = LINEAR if low > 0.0 or high < math.inf else UNBOUNDED
        if high <= low:
            return -math.inf, possible_without, count
        if winners_with != winners_without:
            gain += math.log(winners_without / winners_with)
        if work.kind[tau] != UNBOUNDED:
            work.low[tau], work.high[tau] = low, high
            work.bound[count] = tau
            count += 1
    return gain, possible_without, count


@part
def exact_bounds(state, work, row, n, tau, c, end, difference, at, sign):
    """Bounds on the logarithm of the value in a task where floats are too coarse, and whether the choice is possible
    without the feature."""
    low, high, possible = -math.inf, math.inf, True
    for i in range(c, end):
        q = sign * difference[at, i]
        if work.apart[row, i] == 0:
            if q < 0:
                high = -math.inf
            continue
        of_difference, size = exact_difference(state, n, tau, i)
        if of_difference < 0:
            possible = False
            if q > 0:
                low = max(low, size)
            else:
                high = -math.inf
        elif q < 0:
            high = min(high, size if of_difference > 0 else -math.inf)
    return low, high, possible


@scalar
def limits(work, tau, log_theta):
    """Between which logarithms that of ε must lie."""
    low, high = -math.inf, math.inf
    if work.kind[tau] == LINEAR:
        theta = math.exp(log_theta)
        if work.low[tau] > theta:
            low = math.log(work.low[tau] - theta)
        if work.high[tau] <= theta:
            high = -math.inf
        elif work.high[tau] < math.inf:
            high = math.log(work.high[tau] - theta)
    elif work.kind[tau] == LOGARITHMIC:
        low, high = work.low[tau], work.high[tau]
        if low <= log_theta:
            low = -math.inf
        else:
            low += math.log(-math.expm1(log_theta - low))
        if high <= log_theta:
            high = -math.inf
        elif high < math.inf:
            high += math.log(-math.expm1(log_theta - high))
    return low, high


@part
def log_fit(problem, target, work, row, n, difference, at, sign, log_eps, eps_row, log_theta, h, log_gamma_next, count):
    """ln of the probability that ε falls between its bounds in all tasks of work.bound; soft tasks at their ε."""
    total = 0.0
    for i in range(count):
        tau = work.bound[i]
        if work.kind[tau] == SOFT:
            first = problem.first_task[n]
            t = first + tau
            c = problem.first_row[t] - problem.first_row[first] - tau
            size = problem.first_row[t + 1] - problem.first_row[t] - 1
            value = sign * (math.exp(log_theta) + math.exp(log_eps[eps_row, tau]))
            total += math.log(soft_hit(work, row, c, size, target.sharpness[t], value, difference, at))
            continue
        low, high = limits(work, tau, log_theta)
        if high == -math.inf:
            return -math.inf
        if low != -math.inf or high != math.inf:
            total += log_mass(h, log_gamma_next, low, high)
            if total == -math.inf:
                return total
    return total


@part
def draw_eps(rng, problem, state, work, n, f, h, soft_row):
    """ε of feature f between its bounds, as work.kind has them; those of soft tasks from a row of work.log_eps, or left
    as they are if that is negative."""
    first = problem.first_task[n]
    log_theta = state.log_theta[f]
    theta = math.exp(log_theta)
    state.theta[f] = theta
    for tau in range(problem.first_task[n + 1] - first):
        if state.separates[f, tau] == 0:
            continue
        kind = work.kind[tau]
        if kind == SOFT:
            if soft_row >= 0:
                state.log_eps[f, tau] = work.log_eps[soft_row, tau]
        elif kind == UNBOUNDED or kind == LAPSED:
            state.log_eps[f, tau] = log_gamma_draw(rng, h)
        else:
            low, high = limits(work, tau, log_theta)
            if low == -math.inf and high == math.inf:
                state.log_eps[f, tau] = log_gamma_draw(rng, h)
            else:
                state.log_eps[f, tau] = log_gamma_between(rng, h, low, high)
        state.value[f, tau] = theta + math.exp(state.log_eps[f, tau])
