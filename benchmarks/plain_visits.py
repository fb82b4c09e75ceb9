"""Visits of one person by the recommended sampler of product classes, written plainly: the paragraphs of the algorithm.

Everything is worked out from the levels of the products and the logarithms of the values whenever it is wanted:
memberships attribute by attribute, utility differences over all features, every task in every likelihood, a logarithm a
task, both tails of the gamma distribution by series or fraction. The library keeps memberships and values beside the
features, asks products by words of bits, and leaves out tasks and classes that a step cannot touch. Draws are the same,
in the same order, and so is the state that comes out, up to rounding.

With `kept` the comparisons of a class and the values as numbers are read from the features, as the library does;
the rest is plain. Hard choices with a lapse; values too small for floats are not treated. Moves of classes and of the
shapes of values, which follow after all visits of a sweep, are not part of this.
"""

import math
import time
from copy import deepcopy
from typing import Any

import numpy as np
from numba import njit

from thali._jit import _UNCOUNTED, part, scalar
from thali.mcmc.chance import accept, shuffle
from thali.product_classes.bits import has_bit, is_active
from thali.product_classes.gamma import log_gamma_between, log_gamma_draw
from thali.product_classes.ownership import pick_classes
from thali.product_classes.prior import draw_class, draw_sign
from thali.product_classes.slots import drop_class, gather, give_back, new_class, take
from thali.product_classes.state import (
    CLASS,
    CLASSES,
    MUTE,
    NEGATIVE,
    NEXT_OWNED,
    OWNERS,
    PERSON,
    POLARITY,
    SIGMA,
    SIGN,
    SINGLETONS,
    SPLIT,
    SWITCH,
    TOP,
    VALUES,
    A,
    copy_state,
    grown,
    workspace,
)
from thali.product_classes.sweep import drawn, is_ready, visits
from thali.product_classes.values import WALK

jit: Any = njit


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
    """Chosen minus other memberships in class k into a row of work.difference, from feature f if they are kept there;
    whether tasks are separated into work.separates, and how many."""
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
    """D of the algorithm and the number of classes that separate the products, over all features that are not mute."""
    tasks, sums, features = problem.tasks, work.sums, state.features
    first, end = tasks.first_task[n], tasks.first_task[n + 1]
    for c in range(tasks.first_row[end] - tasks.first_row[first] - (end - first)):
        sums.total[row, c], sums.apart[row, c] = 0.0, 0
    f = features.people[n, 0]
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
                value = features.value[f, tau] if kept else theta + math.exp(features.log_eps[f, tau])
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
    """Between what the value of a feature must lie in every task, given the differences without it in `row`; its class
    is row 0 of work.difference. Returns ln of the likelihood but for the probabilities of ε."""
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
    """ε of feature f between its bounds, where its class, row 0 of work.separates, separates products."""
    features, h = state.features, (1.0 - state.real[SIGMA]) * state.real[A]
    theta = math.exp(features.log_theta[f])
    for tau in range(problem.tasks.first_task[n + 1] - problem.tasks.first_task[n]):
        if work.separates[0, tau] != 0:
            low, high = work.bounds.low[tau] - theta, work.bounds.high[tau] - theta
            features.log_eps[f, tau] = log_gamma_between(
                rng, h, math.log(low) if low > 0.0 else -math.inf, math.log(high) if high < math.inf else math.inf
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


@part
def draw_lapses(rng, problem, levels, target, state, work, kept, n):
    """2.1: which tasks of person n drop out."""
    sum_utilities(problem, levels, state, work, kept, n, 0)
    fill_hits(problem, work, n, 0)
    first = problem.tasks.first_task[n]
    for t in range(first, problem.tasks.first_task[n + 1]):
        state.lapsed[t] = 0
        if target.delta[t] > 0.0:
            at_random = target.delta[t] / (problem.tasks.first_row[t + 1] - problem.tasks.first_row[t])
            meant = (1.0 - target.delta[t]) * work.hit[t - first]
            state.lapsed[t] = 1 if rng.random() * (at_random + meant) < at_random else 0


@part
def scan_ownership(rng, problem, levels, state, work, kept, n):
    """M4: births and deaths of classes that somebody else owns; D and its likelihood anew after a change."""
    picked = pick_classes(rng, problem, state, work, n)
    shuffle(rng, work.order, picked)
    sum_utilities(problem, levels, state, work, kept, n, 0)
    now = log_hits(problem, state, work, n, 0)
    for i in range(picked):
        k = work.order[i]
        state.counts[SWITCH, 0] += 1
        if work.mine[k] < 0:
            changed = birth(rng, problem, levels, state, work, kept, n, k, now)
        else:
            changed = death(rng, problem, levels, state, work, kept, n, work.mine[k])
        if changed:
            state.counts[SWITCH, 1] += 1
            sum_utilities(problem, levels, state, work, kept, n, 0)
            now = log_hits(problem, state, work, n, 0)


@part
def birth(rng, problem, levels, state, work, kept, n, k, now):
    """Own class k, with sign and θ from their prior; whether that was accepted."""
    sign = draw_sign(rng, state.classes[k, POLARITY], state.classes[k, OWNERS], state.classes[k, NEGATIVE])
    log_theta = log_gamma_draw(rng, state.real[SIGMA] * state.real[A])
    split = compare(problem, levels, state, work, kept, n, k, -1, 0)
    gain = fill_bounds(problem, state, work, n, 1 - 2 * sign, 0) - now
    if gain > -math.inf:
        gain += log_fit(problem, state, work, n, log_theta)
    if split > 0 and not accept(rng, gain):
        return False
    f = take(state, n, k, sign)
    state.features.log_theta[f] = log_theta
    if kept:
        keep_comparisons(problem, state, work, n, f)
    draw_eps(rng, problem, state, work, kept, n, f)
    return True


@part
def death(rng, problem, levels, state, work, kept, n, f):
    """Give feature f up, its ε integrated out; whether that was accepted."""
    split = compare(problem, levels, state, work, kept, n, state.features.slots[f, CLASS], f, 0)
    state.features.slots[f, MUTE] = 1
    sum_utilities(problem, levels, state, work, kept, n, 1)
    state.features.slots[f, MUTE] = 0
    without = log_hits(problem, state, work, n, 1)
    if without == -math.inf:
        return False
    gain = fill_bounds(problem, state, work, n, 1 - 2 * state.features.slots[f, SIGN], 1)
    gain += log_fit(problem, state, work, n, state.features.log_theta[f])
    if split > 0 and not accept(rng, without - gain):
        return False
    give_back(state, f)
    return True


@part
def replace_singletons(rng, problem, levels, state, work, kept, n, new):
    """2.5a: all classes that person n owns alone, replaced at once."""
    old = 0
    for i in range(gather(state, work, n)):
        f = work.owned[i]
        if state.classes[state.features.slots[f, CLASS], OWNERS] == 1:
            work.owned[old] = f
            old += 1
    if old == 0 and new == 0:
        return
    state.counts[SINGLETONS, 0] += 1
    sum_utilities(problem, levels, state, work, kept, n, 0)
    change = -log_hits(problem, state, work, n, 0)
    for i in range(old):
        state.features.slots[work.owned[i], MUTE] = 1
    for _ in range(new):
        k = state.whole[CLASSES]
        polarity, active, ordered = draw_class(rng, problem, state.bits, k)
        new_class(state, polarity, active, ordered)
        f = take(state, n, k, draw_sign(rng, polarity, 0, 0))
        state.features.log_theta[f] = log_gamma_draw(rng, state.real[SIGMA] * state.real[A])
        compare(problem, levels, state, work, kept, n, k, -1, 0)
        for tau in range(problem.tasks.first_task[n + 1] - problem.tasks.first_task[n]):
            work.bounds.low[tau], work.bounds.high[tau] = 0.0, math.inf
        if kept:
            keep_comparisons(problem, state, work, n, f)
        draw_eps(rng, problem, state, work, kept, n, f)
    sum_utilities(problem, levels, state, work, kept, n, 1)
    change += log_hits(problem, state, work, n, 1)
    if accept(rng, change):
        state.counts[SINGLETONS, 1] += 1
        for i in range(old):
            forget(state, work.owned[i])
        return
    for _ in range(new):
        forget(state, state.features.people[n, 0])
    for i in range(old):
        state.features.slots[work.owned[i], MUTE] = 0


@scalar
def forget(state, f):
    """Give up a feature together with its class."""
    k = state.features.slots[f, CLASS]
    give_back(state, f)
    drop_class(state, k)


@part
def update_values(rng, problem, levels, state, work, kept, n):
    """2.3: sign and θ of every feature, from the prior or by a walk; then ε."""
    count = gather(state, work, n)
    shuffle(rng, work.owned, count)
    for i in range(count):
        f = work.owned[i]
        k, g = state.features.slots[f, CLASS], state.real[SIGMA] * state.real[A]
        sign, log_theta = state.features.slots[f, SIGN], state.features.log_theta[f]
        compare(problem, levels, state, work, kept, n, k, f, 0)
        state.features.slots[f, MUTE] = 1
        sum_utilities(problem, levels, state, work, kept, n, 1)
        state.features.slots[f, MUTE] = 0
        change = -fill_bounds(problem, state, work, n, 1 - 2 * sign, 1) - log_fit(problem, state, work, n, log_theta)
        new_sign = sign
        if rng.random() < 0.5:
            owners, negative = state.classes[k, OWNERS] - 1, state.classes[k, NEGATIVE] - sign
            new_sign = draw_sign(rng, state.classes[k, POLARITY], owners, negative)
            new_log_theta = log_gamma_draw(rng, g)
        else:
            new_log_theta = log_theta + WALK * rng.standard_normal()
            change += g * (new_log_theta - log_theta) + math.exp(log_theta) - math.exp(new_log_theta)
        change += fill_bounds(problem, state, work, n, 1 - 2 * new_sign, 1)
        if change > -math.inf:
            change += log_fit(problem, state, work, n, new_log_theta)
        state.counts[VALUES, 0] += 1
        if accept(rng, change):
            state.counts[VALUES, 1] += 1
            state.features.log_theta[f] = new_log_theta
            state.features.slots[f, SIGN] = new_sign
            state.classes[k, NEGATIVE] += new_sign - sign
        else:
            fill_bounds(problem, state, work, n, 1 - 2 * sign, 1)
        draw_eps(rng, problem, state, work, kept, n, f)


@part
def rescale(rng, problem, levels, state, work, kept, n):
    """2.7: the sum of all values of person n."""
    a, sigma, features = state.real[A], state.real[SIGMA], state.features
    tasks = problem.tasks.first_task[n + 1] - problem.tasks.first_task[n]
    if features.people[n, 0] < 0:
        return
    total, shape, shift = 0.0, 0.0, 0.0
    for once in range(2):
        f = features.people[n, 0]
        while f >= 0:
            compare(problem, levels, state, work, kept, n, features.slots[f, CLASS], f, 0)
            if once == 0:
                total += math.exp(features.log_theta[f])
                shape += sigma * a
            else:
                features.log_theta[f] += shift
                if kept:
                    features.theta[f] = math.exp(features.log_theta[f])
            for tau in range(tasks):
                if work.separates[0, tau] == 0:
                    continue
                if once == 0:
                    total += math.exp(features.log_eps[f, tau])
                    shape += (1.0 - sigma) * a
                else:
                    features.log_eps[f, tau] += shift
                    if kept:
                        features.value[f, tau] = features.theta[f] + math.exp(features.log_eps[f, tau])
            f = features.slots[f, NEXT_OWNED]
        if once == 0:
            shift = log_gamma_draw(rng, shape) - math.log(total)


@jit(nogil=True, error_model="numpy", **_UNCOUNTED)
def plain_visits(rng, problem, levels, target, state, work, kept, n, times):
    """As `thali.product_classes.sweep.visits`."""
    for done in range(times):
        if not is_ready(rng, problem, state, n):
            return done
        draw_lapses(rng, problem, levels, target, state, work, kept, n)
        scan_ownership(rng, problem, levels, state, work, kept, n)
        replace_singletons(rng, problem, levels, state, work, kept, n, drawn(state))
        update_values(rng, problem, levels, state, work, kept, n)
        rescale(rng, problem, levels, state, work, kept, n)
    return times


@jit(nogil=True, error_model="numpy", **_UNCOUNTED)
def keep_all(problem, levels, state, work):
    """What the library keeps beside the features, from the levels and the logarithms."""
    features = state.features
    for f in range(state.whole[TOP]):
        n = features.slots[f, PERSON]
        if n < 0:
            continue
        features.slots[f, SPLIT] = compare(problem, levels, state, work, False, n, features.slots[f, CLASS], -1, 0)
        keep_comparisons(problem, state, work, n, f)
        features.theta[f] = math.exp(features.log_theta[f])
        for tau in range(problem.tasks.first_task[n + 1] - problem.tasks.first_task[n]):
            if features.separates[f, tau] != 0:
                features.value[f, tau] = features.theta[f] + math.exp(features.log_eps[f, tau])


KINDS = ("library", "plain", "plain, comparisons kept")


def seconds(rng, problem, target, state, times: int, repeats: int = 1) -> tuple[dict[str, float], Any, Any]:
    """CPU seconds of so many visits of everybody by each of KINDS, the least of some repeats; then stream and state.

    All begin with the same state and the same stream, and must end so.
    """
    levels = product_levels(problem)
    state = grown(grown(state))
    work = workspace(problem, state)
    found: dict[str, float] = {}
    ends = {}
    visits(rng, problem, target, state, work, 0, 0)  # compiled, or loaded, before clocks run
    plain_visits(rng, problem, levels, target, state, work, False, 0, 0)
    for kind in KINDS * repeats:
        own, stream = copy_state(state), deepcopy(rng)
        own.counts[:] = 0
        how = (levels, target, own, work, kind != "plain")
        begin = time.process_time()
        for n in range(problem.n_people):
            if kind == "library":
                done = visits(stream, problem, target, own, work, n, times)
            else:
                done = plain_visits(stream, problem, *how, n, times)
            if done < times:
                raise RuntimeError("There is too little room for what visits bring.")
        found[kind] = min(found.get(kind, math.inf), time.process_time() - begin)
        if kind == "plain":
            keep_all(problem, levels, own, work)
        ends[kind] = own, stream
    for kind in KINDS[1:]:
        check_alike(ends[KINDS[0]], ends[kind])
    return found, ends[KINDS[0]][1], ends[KINDS[0]][0]


def check_alike(one, other) -> None:
    """Two ends of the same visits: the same decisions, values equal up to rounding."""
    (a, stream), (b, other_stream) = one, other
    assert stream.bit_generator.state == other_stream.bit_generator.state
    top, classes = a.whole[TOP], a.whole[CLASSES]
    used = a.features.slots[:top, PERSON] >= 0
    separates = a.features.separates[:top][used] != 0
    for x, y in (
        (a.whole, b.whole),
        (a.counts, b.counts),
        (a.lapsed, b.lapsed),
        (a.classes[:classes], b.classes[:classes]),
        (a.bits[:classes], b.bits[:classes]),
        (a.features.slots[:top, :MUTE][used], b.features.slots[:top, :MUTE][used]),
        (separates, b.features.separates[:top][used] != 0),
    ):
        np.testing.assert_array_equal(x, y)
    for name in ("log_theta", "theta", "log_eps", "value"):
        x, y = getattr(a.features, name)[:top][used], getattr(b.features, name)[:top][used]
        if x.ndim == 2:
            x, y = x[separates], y[separates]
        # A value between its bounds may inherit what cancels in a difference of two much larger ones.
        np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-9)
