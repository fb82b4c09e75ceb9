"""Moves of features in similar groups that unique weights of groups and base compensate.

If groups are very similar, weights of a group cannot move far from v. So v of a column and the base
unique weights of its owners change jointly, with the weights of all groups. Otherwise these are the
moves of `births` and `mass_transfer`.
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import scalar
from thali._inference.numerics.discrete_draws import draw_index

from ..chain_state import (
    COLUMNS,
    accept_move,
    count_after_flip,
    count_groups,
    count_options,
    flipped_weight,
    min_over_owners,
    owns,
    replica,
    subtract_from_owners,
)
from ..group_state import (
    KAPPA,
    append_proposed_column,
    copy_proposed_pattern,
    draw_new_slopes,
    expected_unique_weight,
    expected_weight,
    remove_group_column,
    select_group,
    toggle_group_owner,
)
from ..kernel_operations import (
    apply_compensated_member,
    apply_compensated_weight,
    delta_compensated_member,
    delta_compensated_weight,
    draw_pattern,
    keeps_empty,
    log_rate,
    log_rate_after_flip,
)
from .births_and_splits import choose_row, log_birth_ratio
from .compensated_moves import propose_column_weight
from .group_weight_density import draw_gamma, log_gamma, log_gamma_ratio
from .step_tuning import COMPENSATED_WEIGHT, select_tuning

CHANGE = 0  # position in State.block


@scalar
def log_base_unique_ratio(model: Any, b: Any, base: Any, k: Any, dv: Any) -> Any:
    """Return log prod p(u - dv) / p(u) over owners of feature k, u base unique weights."""
    total = 0.0
    for i in range(base.unique.size):
        if owns(b, i, k):
            total += log_gamma_ratio(model.shape, model.shape / model.rate, base.unique[i], -dv)
    return total


@scalar
def log_group_unique_ratio(b: Any, base: Any, g: Any, k: Any, d: Any, dv: Any) -> Any:
    """Return the log prior ratio of group g's unique weights s - d to s, over owners of k.

    Return -inf if a unique weight is at most d.
    """
    total = 0.0
    for i in range(base.unique.size):
        if owns(b, i, k):
            if b.s[i] <= d:
                return -np.inf
            total += log_gamma(
                base.real[KAPPA],
                (base.unique[i] - dv) * base.unique_covariate_factor[g, i],
                b.s[i] - d,
            )
            total -= log_gamma(base.real[KAPPA], expected_unique_weight(base, i, g), b.s[i])
    return total


@scalar
def apply_compensated_changes(
    model: Any, caches: Any, states: Any, base: Any, k: Any, dv: Any
) -> None:
    """Subtract dv and each group's change from the unique weights of owners of k."""
    first_group = replica(states, 0)
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        d = b.block[CHANGE]
        apply_compensated_weight(likelihood, c, b, k, b.m[k], d)
        subtract_from_owners(b.s, b, k, d)
    subtract_from_owners(base.unique, first_group, k, dv)


@scalar
def propose_joint_birth_or_death(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, rate: Any
) -> None:
    """Propose a feature birth or death that base and group unique weights compensate.

    v ~ Uniform(0, c), where c is the smallest base unique weight of the owners; the weights given v
    come from their prior.
    """
    first_group = replica(states, 0)
    is_birth = rng.random() < 0.5
    k = choose_row(rng, first_group, is_birth)
    if k < 0:
        return
    if is_birth:
        copy_proposed_pattern(
            states, draw_pattern(model.prior, rng, first_group, k, 1, count_options(first_group))
        )
        base.v[k] = rng.random() * min_over_owners(base.unique, first_group, k)
        if base.v[k] <= 0.0:
            return
        draw_new_slopes(rng, model, base, k)
        dv = base.v[k]
    else:
        dv = -base.v[k]
    min_unique = min_over_owners(base.unique, first_group, k) - min(dv, 0.0)
    log_proposal_ratio = math.log(min_unique) + log_gamma(
        model.shape, model.shape / model.rate, base.v[k]
    )
    if not is_birth:
        log_proposal_ratio = -log_proposal_ratio
    ratio = log_birth_ratio(first_group, rate, is_birth) + log_proposal_ratio
    ratio += log_base_unique_ratio(model, first_group, base, k, dv)
    gain = 0.0
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        d = -b.w[k]
        if is_birth:
            d = draw_gamma(rng, base.real[KAPPA], expected_weight(base, k, g))
        b.block[CHANGE] = d
        ratio += log_group_unique_ratio(b, base, g, k, d, dv)
        if ratio == -np.inf:
            return
        gain += delta_compensated_weight(likelihood, c, b, k, b.m[k], d)
    if not accept_move(rng, first_group, ratio, gain):
        return
    apply_compensated_changes(model, caches, states, base, k, dv)
    if is_birth:
        for g in range(count_groups(states)):
            replica(states, g).w[k] = replica(states, g).block[CHANGE]
        append_proposed_column(states, log_rate(model.prior, first_group, k, first_group.m[k]))
    else:
        remove_group_column(states, base, k)


@scalar
def propose_joint_flip(rng: Any, model: Any, caches: Any, states: Any, base: Any) -> None:
    """Propose to flip a random membership, compensated by base and group unique weights."""
    first_group = replica(states, 0)
    k, i = draw_index(rng, first_group.whole[COLUMNS]), draw_index(rng, count_options(first_group))
    m = count_after_flip(first_group, k, i)
    new_own = base.unique[i] + base.v[k]
    if not owns(first_group, i, k):
        new_own = base.unique[i] - base.v[k]
    if (m == 0 and not keeps_empty(model.prior)) or new_own <= 0.0:
        return
    rate = log_rate_after_flip(model.prior, first_group, k, i, m)
    ratio = rate - first_group.log_rate[k]
    ratio += log_gamma_ratio(
        model.shape, model.shape / model.rate, base.unique[i], new_own - base.unique[i]
    )
    gain = 0.0
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        d = flipped_weight(b, k, i)
        if b.s[i] <= d:
            return
        ratio += log_gamma(
            base.real[KAPPA], new_own * base.unique_covariate_factor[g, i], b.s[i] - d
        )
        ratio -= log_gamma(base.real[KAPPA], expected_unique_weight(base, i, g), b.s[i])
        gain += delta_compensated_member(likelihood, c, b, i, k, d)
    if accept_move(rng, first_group, ratio, gain):
        for g in range(count_groups(states)):
            likelihood, c, b = select_group(model, caches, states, g)
            d = flipped_weight(b, k, i)
            apply_compensated_member(likelihood, c, b, i, k, d)
            b.s[i] -= d
        base.unique[i] = new_own
        toggle_group_owner(states, k, i, m, rate)


@scalar
def propose_joint_weight(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, tunings: Any
) -> None:
    """Propose to shift base weight between a random feature and its owners.

    The groups' weights of the column keep their ratios to v. v takes a random walk in logit(v / M),
    M = v + c, with the step of the first group.
    """
    first_group = replica(states, 0)
    k = draw_index(rng, first_group.whole[COLUMNS])
    if first_group.m[k] == 0:
        return
    v, min_unique = base.v[k], min_over_owners(base.unique, first_group, k)
    new_v, ratio = propose_column_weight(
        rng, v, min_unique, select_tuning(tunings, 0).step[COMPENSATED_WEIGHT]
    )
    if new_v == 0.0:
        return
    dv = new_v - v
    ratio += log_base_unique_ratio(model, first_group, base, k, dv)
    ratio += log_gamma_ratio(model.shape, model.shape / model.rate, v, dv)
    gain = 0.0
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        d = b.w[k] * (new_v / v - 1.0)
        b.block[CHANGE] = d
        ratio += log_group_unique_ratio(b, base, g, k, d, dv)
        if ratio == -np.inf or b.w[k] + d <= 0.0:
            return
        gain += delta_compensated_weight(likelihood, c, b, k, b.m[k], d)
    if accept_move(rng, first_group, ratio, gain):
        apply_compensated_changes(model, caches, states, base, k, dv)
        base.v[k] = new_v
        for g in range(count_groups(states)):
            b = replica(states, g)
            b.w[k] += b.block[CHANGE]
