"""The likelihood of a person's features, written plainly; the part of `plain_visits.py` below the
moves."""

import math

import numpy as np

from thali._choice.product_classes.likelihood import has_bit, is_active
from thali._choice.product_classes.state import CLASS, MUTE, NEXT_OWNED, SIGMA, SIGN, A
from thali._compile.jit import part, scalar
from thali._inference.numerics.gamma_distribution import draw_log_gamma_within


def product_levels(problem) -> np.ndarray:
    """(rows, L): level of every attribute, worst to best; -1 = the attribute is missing."""
    rows, first = problem.tasks.rows, problem.first_bit
    bits = (rows[:, np.arange(first[-1]) >> 6] >> (np.arange(first[-1]) & 63)) & 1
    levels = [bits[:, first[i] : first[i + 1]].argmax(axis=1) for i in range(len(problem.n_levels))]
    return np.where(np.array(levels).T == problem.n_levels, -1, np.array(levels).T).astype(np.int64)


@scalar
def membership(problem, levels, state, k, r):
    """1 if the product of row r belongs to class k, else 0."""
    for i in range(levels.shape[1]):
        if is_active(problem, state.bits, k, i):
            level = levels[r, i]
            if level < 0 or not has_bit(state.bits, k, problem.first_bit[i] + level):
                return 0
    return 1


@part
def compare(problem, levels, state, work, kept, n, k, f, row):
    """Chosen minus other memberships in class k into a row of work.difference, from feature f if
    they are kept there; whether tasks are separated into work.separates, and how many."""
    tasks, count, c = problem.tasks, 0, 0
    first = tasks.first_task[n]
    for t in range(first, tasks.first_task[n + 1]):
        r, some = tasks.first_row[t], 0
        mine = 0 if kept and f >= 0 else membership(problem, levels, state, k, r)
        for other in range(r + 1, tasks.first_row[t + 1]):
            if kept and f >= 0:
                d = np.int64(state.features.difference[f, c])
            else:
                d = mine - membership(problem, levels, state, k, other)
            work.difference[row, c] = d
            if d != 0:
                some = 1
            c += 1
        work.separates[row, t - first] = some
        count += some
    return count


@part
def sum_utilities(problem, levels, state, work, kept, n, row):
    """D of the algorithm and the number of classes that separate the products, over all features
    that are not mute."""
    tasks, sums, features = problem.tasks, work.sums, state.features
    first, end = tasks.first_task[n], tasks.first_task[n + 1]
    for c in range(tasks.first_row[end] - tasks.first_row[first] - (end - first)):
        sums.total[row, c], sums.apart[row, c] = 0.0, 0
    f = features.respondents[n, 0]
    while f >= 0:
        if features.slots[f, MUTE] == 0:
            compare(problem, levels, state, work, kept, n, features.slots[f, CLASS], f, 1)
            sign, c = 1 - 2 * features.slots[f, SIGN], 0
            theta = 0.0 if kept else math.exp(features.log_theta[f])
            for t in range(first, end):
                tau = t - first
                if work.separates[1, tau] == 0:
                    c += tasks.first_row[t + 1] - tasks.first_row[t] - 1
                    continue
                value = (
                    features.value[f, tau] if kept else theta + math.exp(features.log_eps[f, tau])
                )
                for _ in range(tasks.first_row[t + 1] - tasks.first_row[t] - 1):
                    d = work.difference[1, c]
                    if d != 0:
                        sums.total[row, c] += sign * d * value
                        sums.apart[row, c] += 1
                    c += 1
        f = features.slots[f, NEXT_OWNED]


@part
def fill_hits(problem, work, n, row):
    """1 / winners where the chosen product wins, else 0."""
    tasks, sums, c = problem.tasks, work.sums, 0
    first = tasks.first_task[n]
    for t in range(first, tasks.first_task[n + 1]):
        winners, wins = 1, True
        for _ in range(tasks.first_row[t + 1] - tasks.first_row[t] - 1):
            if sums.apart[row, c] == 0:
                winners += 1
            elif sums.total[row, c] < 0.0:
                wins = False
            c += 1
        work.hit[t - first] = 1.0 / winners if wins else 0.0


@part
def log_hits(problem, state, work, n, row):
    """ln of the likelihood of the tasks of person n that have not lapsed."""
    fill_hits(problem, work, n, row)
    total, first = 0.0, problem.tasks.first_task[n]
    for t in range(first, problem.tasks.first_task[n + 1]):
        if state.lapsed[t] == 0:
            if work.hit[t - first] == 0.0:
                return -math.inf
            total += math.log(work.hit[t - first])
    return total


@part
def tails(h, x):
    """P(ε < x) and P(ε > x) of a Gamma(h, 1) variable: series, or continued fraction."""
    if x <= 0.0:
        return 0.0, 1.0
    front = math.exp(h * math.log(x) - x - math.lgamma(h))
    if x < h + 1.0:
        total, term, i = 1.0 / h, 1.0 / h, h
        while term > 1e-15 * total:
            i += 1.0
            term *= x / i
            total += term
        return front * total, 1.0 - front * total
    b = x + 1.0 - h
    c, d = 1e300, 1.0 / b
    total = d
    for i in range(1, 10_000):
        step = -i * (i - h)
        b += 2.0
        d = 1.0 / (step * d + b)
        c = b + step / c
        total *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return 1.0 - front * total, front * total


@part
def fill_bounds(problem, state, work, n, sign, row):
    """Between what the value of a feature must lie in every task, given the differences without it
    in `row`; its class is row 0 of work.difference. Returns ln of the likelihood but for the
    probabilities of ε."""
    tasks, total, c = problem.tasks, 0.0, 0
    first = tasks.first_task[n]
    for t in range(first, tasks.first_task[n + 1]):
        low, high, winners, is_possible = 0.0, math.inf, 1, True
        for _ in range(tasks.first_row[t + 1] - tasks.first_row[t] - 1):
            q, d = sign * work.difference[0, c], work.sums.total[row, c]
            is_apart = work.sums.apart[row, c] > 0
            if q > 0:
                low = max(low, -d)
            elif q < 0:
                high = min(high, d if is_apart else 0.0)
            elif is_apart and d < 0.0:
                is_possible = False
            elif not is_apart:
                winners += 1
            c += 1
        if state.lapsed[t] != 0:
            low, high = 0.0, math.inf
        elif not is_possible or high <= low:
            return -math.inf
        else:
            total -= math.log(winners)
        work.bounds.low[t - first], work.bounds.high[t - first] = low, high
    return total


@part
def log_fit(problem, state, work, n, log_theta):
    """Σ ln P(low < θ + ε < high) over all tasks."""
    theta, h = math.exp(log_theta), (1.0 - state.real[SIGMA]) * state.real[A]
    total = 0.0
    for tau in range(problem.tasks.first_task[n + 1] - problem.tasks.first_task[n]):
        low, high = work.bounds.low[tau] - theta, work.bounds.high[tau] - theta
        if low <= 0.0 and high == math.inf:
            continue
        if high <= 0.0:
            return -math.inf
        below, above = tails(h, low)
        below_high, above_high = tails(h, high) if high < math.inf else (1.0, 0.0)
        p = below_high - below if below < 0.5 else above - above_high
        if p <= 0.0:
            return -math.inf
        total += math.log(p)
    return total


@part
def draw_eps(rng, problem, state, work, kept, n, f):
    """ε of feature f between its bounds, where its class, row 0 of work.separates, separates
    products."""
    features, h = state.features, (1.0 - state.real[SIGMA]) * state.real[A]
    theta = math.exp(features.log_theta[f])
    for tau in range(problem.tasks.first_task[n + 1] - problem.tasks.first_task[n]):
        if work.separates[0, tau] != 0:
            low, high = work.bounds.low[tau] - theta, work.bounds.high[tau] - theta
            features.log_eps[f, tau] = draw_log_gamma_within(
                rng,
                h,
                math.log(low) if low > 0.0 else -math.inf,
                math.log(high) if high < math.inf else math.inf,
            )
        if kept and work.separates[0, tau] != 0:
            features.value[f, tau] = theta + math.exp(features.log_eps[f, tau])
    if kept:
        features.theta[f] = theta


@part
def keep_comparisons(problem, state, work, n, f):
    """Row 0 of the comparisons beside feature f."""
    tasks = problem.tasks
    first, end = tasks.first_task[n], tasks.first_task[n + 1]
    for c in range(tasks.first_row[end] - tasks.first_row[first] - (end - first)):
        state.features.difference[f, c] = work.difference[0, c]
    for tau in range(end - first):
        state.features.separates[f, tau] = work.separates[0, tau]
