"""The draft's moves of a person's classes, corrected: everything is proposed from the prior, with its ε.

Daviet & McCausland (2017), section 4.3.2, blocks 1 and 2.
"""

import math
from typing import Any

from thali.compile.jit import part, scalar
from thali.inference.numerics.decisions import accept, shuffle

from ..likelihood import add_feature, compare, fill_hits, log_open_hits, sum_features
from ..prior import draw_sign, draw_values
from ..state import (
    BETA,
    CLASSES,
    MUTE,
    NEGATIVE,
    OWNERS,
    POLARITY,
    PRESENT,
    SIGN,
    SPLIT,
    SWITCH,
    VALUES,
    give_back,
    take,
)
from .ownership import copy_sums, find_mine


@scalar
def switch_and_redraw(rng: Any, problem: Any, target: Any, state: Any, work: Any, n: Any) -> None:
    """For every class in random order: own it or not, by its conditional probability; then new values if owned."""
    # Row 0 of work.sums holds the differences, before and after.
    find_mine(state, work, n)
    classes = state.whole[CLASSES]
    for k in range(classes):
        work.order[k] = k
    shuffle(rng, work.order, classes)
    for i in range(classes):
        k = work.order[i]
        f = work.mine[k]
        if state.classes[k, OWNERS] > (1 if f >= 0 else 0):
            f = switch(rng, problem, target, state, work, n, k, f)
        if f >= 0:
            redraw(rng, problem, target, state, work, n, k, f)


@scalar
def log_hits(problem: Any, target: Any, state: Any, work: Any, row: Any, n: Any) -> Any:
    """ln of the likelihood of the open tasks of person n under the differences of a row."""
    fill_hits(problem.tasks, target, state.features, work.sums, work.hit, row, n)
    return log_open_hits(problem.tasks, state.lapsed, work.hit, n)


@scalar
def switch(rng: Any, problem: Any, target: Any, state: Any, work: Any, n: Any, k: Any, f: Any) -> Any:
    """Own class k or not; returns the slot, -1 if not."""
    state.counts[SWITCH, 0] += 1
    others = state.classes[k, OWNERS] - (1 if f >= 0 else 0)
    odds = others / (problem.prior[BETA] + state.whole[PRESENT] - 1.0 - others)
    was_owned = f >= 0
    fit = log_hits(problem, target, state, work, 0, n)
    if was_owned:
        state.features.slots[f, MUTE] = 1
        sum_features(problem.tasks, state.features, work.sums, 1, n)
        fit -= log_hits(problem, target, state, work, 1, n)
        state.features.slots[f, MUTE] = 0
    else:
        f = new_feature(
            rng, problem, state, n, k, draw_sign(rng, state.classes[k, POLARITY], others, state.classes[k, NEGATIVE])
        )
        copy_sums(work.sums, 0, 1)
        add_feature(problem.tasks, state.features, work.sums, 1, n, f)
        fit = log_hits(problem, target, state, work, 1, n) - fit
    owned = rng.random() < 1.0 / (1.0 + math.exp(-fit) / odds)
    if owned != was_owned:
        state.counts[SWITCH, 1] += 1
        copy_sums(work.sums, 1, 0)
    if not owned:
        give_back(state, f)
        return -1
    return f


@part
def new_feature(rng: Any, problem: Any, state: Any, n: Any, k: Any, sign: Any) -> Any:
    """Person n owns class k with values from the prior; returns the slot."""
    f = take(state, n, k, sign)
    state.features.slots[f, SPLIT] = compare(
        problem.tasks, state.bits, k, n, state.features.difference, state.features.separates, f
    )
    draw_values(rng, problem.tasks, state.features, state.real, n, f)
    return f


@scalar
def redraw(rng: Any, problem: Any, target: Any, state: Any, work: Any, n: Any, k: Any, f: Any) -> None:
    """Sign and values of a feature from the prior, accepted by the ratio of likelihoods."""
    state.counts[VALUES, 0] += 1
    sign = state.features.slots[f, SIGN]
    owners, negative = state.classes[k, OWNERS] - 1, state.classes[k, NEGATIVE] - sign
    fit = log_hits(problem, target, state, work, 0, n)
    other = new_feature(rng, problem, state, n, k, draw_sign(rng, state.classes[k, POLARITY], owners, negative))
    state.features.slots[f, MUTE] = 1
    sum_features(problem.tasks, state.features, work.sums, 1, n)
    if accept(rng, log_hits(problem, target, state, work, 1, n) - fit):
        state.counts[VALUES, 1] += 1
        give_back(state, f)
        copy_sums(work.sums, 1, 0)
    else:
        state.features.slots[f, MUTE] = 0
        give_back(state, other)
