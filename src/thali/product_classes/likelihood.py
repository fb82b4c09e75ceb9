"""Utility differences of one person, the bounds they put on one feature's value, and the likelihood of choices.

A difference counts the features alone that separate the two products. There is a tie if there is none: that is decided
by counting, never by comparing numbers. Where all separating values are too small for floats (`TINY`), signs and
bounds come from logarithms.
"""

import math

from thali._jit import part, scalar
from thali.product_classes.bits import is_inside

from thali.product_classes.state import MUTE, NEXT_OWNED, SIGN

TINY = 1e-280


@part
def compare(problem, bits, k, n, difference, separates, row):
    """Chosen minus other membership in class k for all comparisons of person n; returns in how many tasks one is
    not 0."""
    first = problem.first_task[n]
    count, c = 0, 0
    for t in range(first, problem.first_task[n + 1]):
        r = problem.first_row[t]
        mine = 1 if is_inside(problem.rows, r, bits, k) else 0
        some = 0
        for other in range(r + 1, problem.first_row[t + 1]):
            d = mine - (1 if is_inside(problem.rows, other, bits, k) else 0)
            difference[row, c] = d
            some |= d
            c += 1
        separates[row, t - first] = 1 if some != 0 else 0
        count += 1 if some != 0 else 0
    return count


@scalar
def clear(problem, work, row, n):
    """Differences of nothing at all."""
    end = n + 1
    size = problem.first_row[problem.first_task[end]] - problem.first_row[problem.first_task[n]]
    size -= problem.first_task[end] - problem.first_task[n]
    for c in range(size):
        work.sums[row, c] = 0.0
        work.apart[row, c] = 0


@scalar
def add_feature(problem, state, work, row, n, f):
    """Add the value of feature f to the differences of its owner n."""
    sign = 1.0 - 2.0 * state.slots[f, SIGN]
    first = problem.first_task[n]
    c = 0
    for t in range(first, problem.first_task[n + 1]):
        size = problem.first_row[t + 1] - problem.first_row[t] - 1
        if state.separates[f, t - first] != 0:
            value = sign * state.value[f, t - first]
            for i in range(c, c + size):
                d = state.difference[f, i]
                work.sums[row, i] += value * d
                work.apart[row, i] += d & 1
        c += size


@part
def sum_features(problem, state, work, row, n):
    """Differences of person n from all features that are not mute."""
    clear(problem, work, row, n)
    f = state.people[n, 0]
    while f >= 0:
        if state.slots[f, MUTE] == 0:
            add_feature(problem, state, work, row, n, f)
        f = state.slots[f, NEXT_OWNED]


@part
def exact_difference(state, n, tau, c):
    """Sign and logarithm of one difference of person n, from the logarithms of the values."""
    top = -math.inf
    f = state.people[n, 0]
    while f >= 0:
        if state.slots[f, MUTE] == 0 and state.difference[f, c] != 0:
            top = max(top, log_sum(state.log_theta[f], state.log_eps[f, tau]))
        f = state.slots[f, NEXT_OWNED]
    total = 0.0
    f = state.people[n, 0]
    while f >= 0:
        if state.slots[f, MUTE] == 0 and state.difference[f, c] != 0:
            value = math.exp(log_sum(state.log_theta[f], state.log_eps[f, tau]) - top)
            total += value * state.difference[f, c] * (1 - 2 * state.slots[f, SIGN])
        f = state.slots[f, NEXT_OWNED]
    if total == 0.0:
        return 0, -math.inf
    return (1 if total > 0.0 else -1), top + math.log(abs(total))


@scalar
def log_sum(x, y):
    """ln(e^x + e^y)."""
    top, low = max(x, y), min(x, y)
    return top + math.log1p(math.exp(low - top))


@scalar
def hard_hit(state, work, row, n, tau, c, size):
    """1 / winners if the chosen product wins, else 0."""
    winners = 1
    for i in range(c, c + size):
        if work.apart[row, i] == 0:
            winners += 1
        else:
            d = work.sums[row, i]
            if d < 0.0 and d <= -TINY:
                return 0.0
            if d < TINY and exact_difference(state, n, tau, i)[0] < 0:
                return 0.0
    return 1.0 / winners


@scalar
def soft_hit(work, row, c, size, sharpness, value, difference, at):
    """Logit probability of the chosen product when one more value is added where `difference` says."""
    total = 1.0
    for i in range(c, c + size):
        total += math.exp(-sharpness * (work.sums[row, i] + value * difference[at, i]))
    return 1.0 / total


@scalar
def plain_soft_hit(work, row, c, size, sharpness):
    """Logit probability of the chosen product."""
    total = 1.0
    for i in range(c, c + size):
        total += math.exp(-sharpness * work.sums[row, i])
    return 1.0 / total


@part
def fill_hits(problem, target, state, work, row, n):
    """L of every task of person n from the differences in `row` into work.hit."""
    first = problem.first_task[n]
    c = 0
    for t in range(first, problem.first_task[n + 1]):
        size = problem.first_row[t + 1] - problem.first_row[t] - 1
        if target.sharpness[t] == math.inf:
            work.hit[t - first] = hard_hit(state, work, row, n, t - first, c, size)
        else:
            work.hit[t - first] = plain_soft_hit(work, row, c, size, target.sharpness[t])
        c += size


@scalar
def log_open_hits(problem, state, work, n):
    """Σ ln L of the tasks of person n that have not lapsed, of work.hit."""
    first = problem.first_task[n]
    total = 0.0
    for t in range(first, problem.first_task[n + 1]):
        if state.lapsed[t] == 0:
            total += math.log(work.hit[t - first]) if work.hit[t - first] > 0.0 else -math.inf
    return total
