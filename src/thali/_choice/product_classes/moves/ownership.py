"""Which of the classes with another owner a person owns: the thinned scan.

With o the prior odds of owning, a birth is proposed with probability min(1, o) and a death with
min(1, 1 / o): the acceptance ratio is that of the likelihoods, and few classes are evaluated.
"""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import accept, shuffle
from thali._inference.numerics.gamma import draw_log_gamma

from ..likelihood import add_feature, compare, sum_features
from ..prior import draw_sign
from ..state import (
    BETA,
    CLASS,
    CLASSES,
    MUTE,
    NEGATIVE,
    OWNERS,
    POLARITY,
    PRESENT,
    SIGN,
    SPLIT,
    SWITCH,
    gather,
    give_back,
    take,
)
from .bounds import bound_compared, bound_owned, draw_eps, log_fit, shapes_of


@scalar
def scan_ownership(rng: Any, problem: Any, state: Any, work: Any, n: Any) -> None:
    """One pass over the classes that somebody else owns; row 0 of work.sums holds the differences,
    before and after."""
    picked = pick_classes(rng, problem, state, work, n)
    shuffle(rng, work.order, picked)
    for i in range(picked):
        k = work.order[i]
        state.counts[SWITCH, 0] += 1
        if work.mine[k] < 0:
            birth(rng, problem, state, work, n, k)
        else:
            death(rng, problem, state, work, n, work.mine[k])


@scalar
def find_mine(state: Any, work: Any, n: Any) -> None:
    """The slot in which person n owns each class, or -1, into work.mine."""
    for k in range(state.whole[CLASSES]):
        work.mine[k] = -1
    for i in range(gather(state, work, n)):
        work.mine[state.features.slots[work.owned[i], CLASS]] = work.owned[i]


@scalar
def pick_classes(rng: Any, problem: Any, state: Any, work: Any, n: Any) -> Any:
    """Collect the classes with a proposed change in work.order; the draws for different classes are
    independent."""
    find_mine(state, work, n)
    most = problem.prior[BETA] + state.whole[PRESENT] - 1.0
    picked = 0
    for k in range(state.whole[CLASSES]):
        others = state.classes[k, OWNERS] - (1 if work.mine[k] >= 0 else 0)
        if others == 0:
            continue
        odds = others / (most - others)
        if rng.random() * (1.0 if work.mine[k] < 0 else odds) < (odds if work.mine[k] < 0 else 1.0):
            work.order[picked] = k
            picked += 1
    return picked


@scalar
def birth(rng: Any, problem: Any, state: Any, work: Any, n: Any, k: Any) -> None:
    """Birth: person n may get class k, with sign and θ from their prior and ε integrated out."""
    g, h, next_h = shapes_of(state.real)
    owners, negative, polarity = (
        state.classes[k, OWNERS],
        state.classes[k, NEGATIVE],
        state.classes[k, POLARITY],
    )
    sign = draw_sign(rng, polarity, owners, negative)
    log_theta = draw_log_gamma(rng, g)
    separated = compare(problem.tasks, state.bits, k, n, work.difference, work.separates, 0)
    if separated > 0:
        q = 1 - 2 * sign
        gain, _, count = bound_compared(problem, state, work, 0, n, 0, q)
        least = -rng.standard_exponential() - gain
        if not least < 0.0:
            return
        fit = log_fit(work.bounds, log_theta, h, next_h, count, least)
        if not fit > least:
            return
    state.counts[SWITCH, 1] += 1
    f = take(state, n, k, sign)
    state.features.slots[f, SPLIT] = separated
    copy_comparisons(state, work, f, 0)
    state.features.log_theta[f] = log_theta
    draw_eps(rng, problem.tasks, state.features, work.bounds, n, f, h)
    add_feature(problem.tasks, state.features, work.sums, 0, n, f)


@scalar
def death(rng: Any, problem: Any, state: Any, work: Any, n: Any, f: Any) -> None:
    """Death: person n may lose feature f, its ε integrated out."""
    if state.features.slots[f, SPLIT] == 0:
        state.counts[SWITCH, 1] += 1
        give_back(state, f)
        return
    _, h, next_h = shapes_of(state.real)
    q = 1 - 2 * state.features.slots[f, SIGN]
    state.features.slots[f, MUTE] = 1
    sum_features(problem.tasks, state.features, work.sums, 1, n)
    gain, possible, count = bound_owned(problem, state, work, 1, n, f, q)
    state.features.slots[f, MUTE] = 0
    if not possible:
        return
    gain += log_fit(work.bounds, state.features.log_theta[f], h, next_h, count, -math.inf)
    if accept(rng, -gain):
        state.counts[SWITCH, 1] += 1
        give_back(state, f)
        copy_sums(work.sums, 1, 0)


@scalar
def copy_comparisons(state: Any, work: Any, f: Any, row: Any) -> None:
    """Copy the comparisons of a class from a row of the work space to slot f."""
    for c in range(state.features.difference.shape[1]):
        state.features.difference[f, c] = work.difference[row, c]
    for tau in range(state.features.separates.shape[1]):
        state.features.separates[f, tau] = work.separates[row, tau]


@scalar
def copy_sums(sums: Any, row: Any, into: Any) -> None:
    """Copy one row of differences over another."""
    for c in range(sums.total.shape[1]):
        sums.total[into, c] = sums.total[row, c]
        sums.apart[into, c] = sums.apart[row, c]
