"""Moves by which a respondent gains or loses classes that others also own.

With o the prior odds of owning, a birth is proposed with probability min(1, o) and a death with
min(1, 1 / o). The acceptance ratio is then the likelihood ratio, and few classes are evaluated.
"""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.discrete_draws import accept, shuffle
from thali._inference.numerics.gamma_distribution import draw_log_gamma

from ..likelihood import (
    add_feature,
    compare_chosen,
    copy_differences,
    sign_of_value,
    sum_features,
)
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
    SPLIT,
    SWITCH,
    allocate_feature,
    collect_owned_slots,
    free_feature,
)
from .choice_bounds import (
    bound_compared_feature,
    bound_owned_feature,
    compute_shapes,
    draw_eps,
    log_bound_probability,
)


@scalar
def scan_ownership(rng: Any, problem: Any, state: Any, work: Any, n: Any) -> None:
    """Update which of the classes with other owners respondent n owns.

    Row 0 of work.sums contains the differences, before and after.
    """
    n_candidates = select_candidate_classes(rng, problem, state, work, n)
    shuffle(rng, work.order, n_candidates)
    for i in range(n_candidates):
        k = work.order[i]
        state.counts[SWITCH, 0] += 1
        if work.class_slots[k] < 0:
            propose_birth(rng, problem, state, work, n, k)
        else:
            propose_death(rng, problem, state, work, n, work.class_slots[k])


@scalar
def find_owned_slots(state: Any, work: Any, n: Any) -> None:
    """Write the feature slot by which respondent n owns each class, or -1."""
    for k in range(state.whole[CLASSES]):
        work.class_slots[k] = -1
    for i in range(collect_owned_slots(state, work, n)):
        work.class_slots[state.features.slots[work.owned[i], CLASS]] = work.owned[i]


@scalar
def select_candidate_classes(rng: Any, problem: Any, state: Any, work: Any, n: Any) -> Any:
    """Select classes that respondent n may gain or lose; return their number.

    The draws for different classes are independent.
    """
    find_owned_slots(state, work, n)
    total_weight = problem.prior[BETA] + state.whole[PRESENT] - 1.0
    n_candidates = 0
    for k in range(state.whole[CLASSES]):
        other_owners = state.classes[k, OWNERS] - (1 if work.class_slots[k] >= 0 else 0)
        if other_owners == 0:
            continue
        odds = other_owners / (total_weight - other_owners)
        if rng.random() * (1.0 if work.class_slots[k] < 0 else odds) < (
            odds if work.class_slots[k] < 0 else 1.0
        ):
            work.order[n_candidates] = k
            n_candidates += 1
    return n_candidates


@scalar
def propose_birth(rng: Any, problem: Any, state: Any, work: Any, n: Any, k: Any) -> None:
    """Propose that respondent n becomes an owner of class k.

    Sign and θ come from their prior.
    """
    g, h, next_h = compute_shapes(state.real)
    owners, negative, polarity = (
        state.classes[k, OWNERS],
        state.classes[k, NEGATIVE],
        state.classes[k, POLARITY],
    )
    sign = draw_sign(rng, polarity, owners, negative)
    log_theta = draw_log_gamma(rng, g)
    n_separated = compare_chosen(
        problem.tasks, state.bits, k, n, work.difference, work.separates, 0
    )
    if n_separated > 0:
        q = 1 - 2 * sign
        gain, _, count = bound_compared_feature(problem, state, work, 0, n, 0, q)
        min_log = -rng.standard_exponential() - gain
        if not min_log < 0.0:
            return
        fit = log_bound_probability(work.bounds, log_theta, h, next_h, count, min_log)
        if not fit > min_log:
            return
    state.counts[SWITCH, 1] += 1
    f = allocate_feature(state, n, k, sign)
    state.features.slots[f, SPLIT] = n_separated
    copy_comparisons(state, work, f, 0)
    state.features.log_theta[f] = log_theta
    draw_eps(rng, problem.tasks, state.features, work.bounds, n, f, h)
    add_feature(problem.tasks, state.features, work.sums, 0, n, f)


@scalar
def propose_death(rng: Any, problem: Any, state: Any, work: Any, n: Any, f: Any) -> None:
    """Propose that respondent n loses feature f and so stops owning its class."""
    if state.features.slots[f, SPLIT] == 0:
        state.counts[SWITCH, 1] += 1
        free_feature(state, f)
        return
    _, h, next_h = compute_shapes(state.real)
    q = sign_of_value(state.features, f)
    state.features.slots[f, MUTE] = 1
    sum_features(problem.tasks, state.features, work.sums, 1, n)
    gain, possible, count = bound_owned_feature(problem, state, work, 1, n, f, q)
    state.features.slots[f, MUTE] = 0
    if not possible:
        return
    gain += log_bound_probability(
        work.bounds, state.features.log_theta[f], h, next_h, count, -math.inf
    )
    if accept(rng, -gain):
        state.counts[SWITCH, 1] += 1
        free_feature(state, f)
        copy_differences(problem.tasks, work.sums, 1, 0, n)


@scalar
def copy_comparisons(state: Any, work: Any, f: Any, row: Any) -> None:
    """Copy product comparisons from a work row to feature slot f."""
    for c in range(state.features.difference.shape[1]):
        state.features.difference[f, c] = work.difference[row, c]
    for tau in range(state.features.separates.shape[1]):
        state.features.separates[f, tau] = work.separates[row, tau]
