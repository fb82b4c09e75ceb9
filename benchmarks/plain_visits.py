"""Visits of one person by the recommended sampler of product classes, written plainly: the
paragraphs of the algorithm.

Everything is computed from the levels of the products and the logarithms of the values whenever it
is needed: memberships attribute by attribute, utility differences over all features, every task in
every likelihood, a logarithm a task, both tails of the gamma distribution by series or fraction.
The library stores memberships and values with the features, tests products by words of bits, and
skips tasks and classes that a step cannot affect. The draws are the same, in the same order, and so
is the final state, up to rounding.

With `kept` the comparisons of a class and the values as numbers are read from the features, as the
library does; the rest is plain. Hard choices with a lapse; values too small for floats are not
treated. Moves of classes and of the shapes of values, which follow after all visits of a sweep, are
not part of this.
"""

import math
import time
from copy import deepcopy
from typing import Any

import numpy as np
from numba import njit
from plain_choices import (
    compare,
    draw_eps,
    fill_bounds,
    fill_hits,
    keep_comparisons,
    log_fit,
    log_hits,
    product_levels,
    sum_utilities,
)

from thali._choice.product_classes.moves.feature_values import WALK
from thali._choice.product_classes.moves.ownership import select_candidate_classes
from thali._choice.product_classes.prior import draw_class_bits, draw_sign
from thali._choice.product_classes.state import (
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
    allocate_feature,
    append_class,
    build_workspace,
    collect_owned_slots,
    copy_state,
    double_capacity,
    free_feature,
    remove_class,
)
from thali._choice.product_classes.sweep import (
    reserve_proposals,
    take_pending_count,
    update_respondent,
)
from thali._compile.jit import _UNCOUNTED, compiled, part, scalar
from thali._inference.numerics.discrete_draws import accept, shuffle
from thali._inference.numerics.gamma_distribution import draw_log_gamma

jit: Any = njit


@part
def draw_lapses(rng, problem, levels, target, state, work, kept, n):
    """2.1: which tasks of person n drop out."""
    sum_utilities(problem, levels, state, work, kept, n, 0)
    fill_hits(problem, work, n, 0)
    first = problem.tasks.first_task[n]
    for t in range(first, problem.tasks.first_task[n + 1]):
        state.lapsed[t] = 0
        if target.delta[t] > 0.0:
            at_random = target.delta[t] / (
                problem.tasks.first_row[t + 1] - problem.tasks.first_row[t]
            )
            meant = (1.0 - target.delta[t]) * work.hit[t - first]
            state.lapsed[t] = 1 if rng.random() * (at_random + meant) < at_random else 0


@part
def scan_ownership(rng, problem, levels, state, work, kept, n):
    """M4: births and deaths of classes that somebody else owns; D and its likelihood recomputed
    after a change."""
    picked = select_candidate_classes(rng, problem, state, work, n)
    shuffle(rng, work.order, picked)
    sum_utilities(problem, levels, state, work, kept, n, 0)
    now = log_hits(problem, state, work, n, 0)
    for i in range(picked):
        k = work.order[i]
        state.counts[SWITCH, 0] += 1
        if work.class_slots[k] < 0:
            changed = birth(rng, problem, levels, state, work, kept, n, k, now)
        else:
            changed = death(rng, problem, levels, state, work, kept, n, work.class_slots[k])
        if changed:
            state.counts[SWITCH, 1] += 1
            sum_utilities(problem, levels, state, work, kept, n, 0)
            now = log_hits(problem, state, work, n, 0)


@part
def birth(rng, problem, levels, state, work, kept, n, k, now):
    """Own class k, with sign and θ from their prior; whether that was accepted."""
    sign = draw_sign(
        rng, state.classes[k, POLARITY], state.classes[k, OWNERS], state.classes[k, NEGATIVE]
    )
    log_theta = draw_log_gamma(rng, state.real[SIGMA] * state.real[A])
    split = compare(problem, levels, state, work, kept, n, k, -1, 0)
    gain = fill_bounds(problem, state, work, n, 1 - 2 * sign, 0) - now
    if gain > -math.inf:
        gain += log_fit(problem, state, work, n, log_theta)
    if split > 0 and not accept(rng, gain):
        return False
    f = allocate_feature(state, n, k, sign)
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
    free_feature(state, f)
    return True


@part
def replace_singletons(rng, problem, levels, state, work, kept, n, new):
    """2.5a: all classes that person n owns alone, replaced at once."""
    old = 0
    for i in range(collect_owned_slots(state, work, n)):
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
        polarity, active, ordered = draw_class_bits(rng, problem, state.bits, k)
        append_class(state, polarity, active, ordered)
        f = allocate_feature(state, n, k, draw_sign(rng, polarity, 0, 0))
        state.features.log_theta[f] = draw_log_gamma(rng, state.real[SIGMA] * state.real[A])
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
        forget(state, state.features.respondents[n, 0])
    for i in range(old):
        state.features.slots[work.owned[i], MUTE] = 0


@scalar
def forget(state, f):
    """Give up a feature together with its class."""
    k = state.features.slots[f, CLASS]
    free_feature(state, f)
    remove_class(state, k)


@part
def update_values(rng, problem, levels, state, work, kept, n):
    """2.3: sign and θ of every feature, from the prior or by a walk; then ε."""
    count = collect_owned_slots(state, work, n)
    shuffle(rng, work.owned, count)
    for i in range(count):
        f = work.owned[i]
        k, g = state.features.slots[f, CLASS], state.real[SIGMA] * state.real[A]
        sign, log_theta = state.features.slots[f, SIGN], state.features.log_theta[f]
        compare(problem, levels, state, work, kept, n, k, f, 0)
        state.features.slots[f, MUTE] = 1
        sum_utilities(problem, levels, state, work, kept, n, 1)
        state.features.slots[f, MUTE] = 0
        change = -fill_bounds(problem, state, work, n, 1 - 2 * sign, 1) - log_fit(
            problem, state, work, n, log_theta
        )
        new_sign = sign
        if rng.random() < 0.5:
            owners, negative = state.classes[k, OWNERS] - 1, state.classes[k, NEGATIVE] - sign
            new_sign = draw_sign(rng, state.classes[k, POLARITY], owners, negative)
            new_log_theta = draw_log_gamma(rng, g)
        else:
            new_log_theta = log_theta + WALK * rng.standard_normal()
            change += (
                g * (new_log_theta - log_theta) + math.exp(log_theta) - math.exp(new_log_theta)
            )
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
    if features.respondents[n, 0] < 0:
        return
    total, shape, shift = 0.0, 0.0, 0.0
    for once in range(2):
        f = features.respondents[n, 0]
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
                        features.value[f, tau] = features.theta[f] + math.exp(
                            features.log_eps[f, tau]
                        )
            f = features.slots[f, NEXT_OWNED]
        if once == 0:
            shift = draw_log_gamma(rng, shape) - math.log(total)


@compiled
def visits(rng, problem, target, state, work, n, times):
    """Visits of one person by the library; returns how many were done before room ran out."""
    for done in range(times):
        if not reserve_proposals(rng, problem, state):
            return done
        update_respondent(rng, problem, target, state, work, n)
    return times


@jit(nogil=True, error_model="numpy", **_UNCOUNTED)
def plain_visits(rng, problem, levels, target, state, work, kept, n, times):
    """As `visits`, plainly."""
    for done in range(times):
        if not reserve_proposals(rng, problem, state):
            return done
        draw_lapses(rng, problem, levels, target, state, work, kept, n)
        scan_ownership(rng, problem, levels, state, work, kept, n)
        replace_singletons(rng, problem, levels, state, work, kept, n, take_pending_count(state))
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
        features.slots[f, SPLIT] = compare(
            problem, levels, state, work, False, n, features.slots[f, CLASS], -1, 0
        )
        keep_comparisons(problem, state, work, n, f)
        features.theta[f] = math.exp(features.log_theta[f])
        for tau in range(problem.tasks.first_task[n + 1] - problem.tasks.first_task[n]):
            if features.separates[f, tau] != 0:
                features.value[f, tau] = features.theta[f] + math.exp(features.log_eps[f, tau])


KINDS = ("library", "plain", "plain, comparisons kept")


def seconds(
    rng, problem, target, state, times: int, repeats: int = 1
) -> tuple[dict[str, float], Any, Any]:
    """CPU seconds of so many visits of everybody by each of KINDS, the least of some repeats; then
    stream and state.

    All begin with the same state and the same stream, and must end so.
    """
    levels = product_levels(problem)
    state = double_capacity(double_capacity(state))
    work = build_workspace(problem, state)
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
        # A value between its bounds may inherit what cancels in a difference of two much larger
        # ones.
        np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-9)
