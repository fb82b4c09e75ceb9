"""Moves of feature owners that groups share, accepted by the sum over all groups.

These are the moves of `flips`, `births` and `mass_transfer`, with a weight for each group.
"""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.discrete_draws import accept, draw_index, draw_other_index

from ..chain_state import (
    ALPHA,
    BETA,
    COLUMNS,
    accept_move,
    capacity,
    clear_row,
    copy_row,
    count_after_flip,
    count_groups,
    count_options,
    flipped_weight,
    owns,
    replica,
    scratch_index,
    shuffle_columns,
)
from ..group_state import (
    KAPPA,
    append_proposed_column,
    copy_proposed_pattern,
    expected_unique_weight,
    expected_weight,
    remove_group_column,
    select_group,
    select_group_likelihood,
    toggle_group_owner,
)
from ..kernel_operations import (
    apply_block,
    apply_compensated_member,
    apply_copies,
    apply_member,
    apply_open_member,
    apply_transfer,
    delta_block,
    delta_compensated_member,
    delta_member,
    delta_open_member,
    delta_transfer,
    is_quick,
    keeps_empty,
    log_rate,
    log_rate_after_flip,
    log_rate_after_toggle,
    open_column,
    open_members,
    record_toggle,
    select_cache,
)
from .births_and_splits import draw_column_pair, write_split_or_join
from .compensated_moves import code_mass, mix_flip
from .duplicate_features import have_same_owners
from .group_weight_density import log_gamma, log_gamma_ratio

BOTH_COLUMNS = 3  # code of the flips of both columns of an exchange
EXCHANGES_PER_COLUMN = 6  # proposals in one sweep


@scalar
def flip_group_columns(rng: Any, model: Any, caches: Any, states: Any) -> None:
    """Propose to flip every option's membership in every feature, for all groups."""
    first_group = replica(states, 0)
    n_options = count_options(first_group)
    for t in range(shuffle_columns(rng, first_group)):
        k = first_group.order[t]
        for g in range(count_groups(states)):
            likelihood = select_group_likelihood(model.likelihood, g)
            open_members(likelihood, select_cache(likelihood, caches, g), replica(states, g), k)
        open_column(model.prior, first_group, k)
        i = draw_index(rng, n_options)
        for _ in range(n_options):
            propose_group_flip(rng, model, caches, states, k, i)
            i += 1
            if i == n_options:
                i = 0


@scalar
def propose_group_flip(rng: Any, model: Any, caches: Any, states: Any, k: Any, i: Any) -> None:
    """Propose to flip whether option i owns feature k, for all groups."""
    first_group = replica(states, 0)
    m = count_after_flip(first_group, k, i)
    if (first_group.m[k] == 0 or m == 0) and not keeps_empty(model.prior):
        return
    rate = log_rate_after_toggle(model.prior, first_group, k, i, m)
    ratio = rate - first_group.log_rate[k]
    if is_quick(select_group_likelihood(model.likelihood, 0)):
        is_accepted = accept(rng, ratio + compute_flip_gain(model, caches, states, k, i))
    else:
        is_accepted = accept(rng, ratio) and accept(
            rng, compute_flip_gain(model, caches, states, k, i)
        )
    if is_accepted:
        for g in range(count_groups(states)):
            likelihood, c, b = select_group(model, caches, states, g)
            apply_open_member(likelihood, c, b, k, i, flipped_weight(b, k, i))
        record_toggle(model.prior, first_group, k, i)
        toggle_group_owner(states, k, i, m, rate)


@scalar
def compute_flip_gain(model: Any, caches: Any, states: Any, k: Any, i: Any) -> Any:
    """Return the tempered change of all groups' log-likelihood by a flip of option i in k."""
    total = 0.0
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        total += delta_open_member(likelihood, c, b, k, i, flipped_weight(b, k, i))
    return replica(states, 0).real[BETA] * total


@scalar
def propose_compensated_group_flip(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, share: Any
) -> None:
    """Propose to flip a random membership, compensated by unique weights, in all groups.

    In each group the option's unique weight compensates with probability `share`.
    """
    first_group = replica(states, 0)
    k, i = draw_index(rng, first_group.whole[COLUMNS]), draw_index(rng, count_options(first_group))
    m = count_after_flip(first_group, k, i)
    if m == 0 and not keeps_empty(model.prior):
        return
    rate = log_rate_after_flip(model.prior, first_group, k, i, m)
    ratio = rate - first_group.log_rate[k]
    gain = 0.0
    is_possible = True
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        d = flipped_weight(b, k, i)
        b.block[0] = 0.0
        if rng.random() < share:
            b.block[0] = 1.0
        if b.block[0] != 0.0:
            is_possible = is_possible and b.s[i] > d
            if is_possible:
                gain += delta_compensated_member(likelihood, c, b, i, k, d)
                ratio += log_gamma_ratio(
                    base.real[KAPPA], expected_unique_weight(base, i, g), b.s[i], -d
                )
        elif is_possible:
            gain += delta_member(likelihood, c, b, k, i, d)
    if is_possible and accept_move(rng, first_group, ratio, gain):
        for g in range(count_groups(states)):
            likelihood, c, b = select_group(model, caches, states, g)
            d = flipped_weight(b, k, i)
            if b.block[0] != 0.0:
                apply_compensated_member(likelihood, c, b, i, k, d)
                b.s[i] -= d
            else:
                apply_member(likelihood, c, b, k, i, d)
        toggle_group_owner(states, k, i, m, rate)


@scalar
def exchange_owners(rng: Any, model: Any, caches: Any, states: Any, base: Any) -> None:
    """Propose several exchanges of an owner for each feature, in all groups."""
    for _ in range(EXCHANGES_PER_COLUMN * replica(states, 0).whole[COLUMNS]):
        propose_owner_exchange(rng, model, caches, states, base)


@scalar
def propose_owner_exchange(rng: Any, model: Any, caches: Any, states: Any, base: Any) -> None:
    """Propose that an option leaves a random feature and joins another, in all groups.

    In each group its unique weight compensates, so that the option's total weight stays.
    """
    first_group = replica(states, 0)
    n_columns = first_group.whole[COLUMNS]
    if n_columns < 2:
        return
    k = draw_index(rng, n_columns)
    partner = draw_other_index(rng, n_columns, k)
    i = draw_index(rng, count_options(first_group))
    if owns(first_group, i, k) == owns(first_group, i, partner):
        return
    m, partner_m = count_after_flip(first_group, k, i), count_after_flip(first_group, partner, i)
    if min(m, partner_m) == 0 and not keeps_empty(model.prior):
        return
    rate = log_rate_after_flip(model.prior, first_group, k, i, m)
    partner_rate = log_rate_after_flip(model.prior, first_group, partner, i, partner_m)
    ratio = rate - first_group.log_rate[k] + partner_rate - first_group.log_rate[partner]
    for g in range(count_groups(states)):
        b = replica(states, g)
        mass = flipped_weight(b, k, i) + flipped_weight(b, partner, i)
        if b.s[i] <= mass:
            return
        ratio += log_gamma_ratio(
            base.real[KAPPA], expected_unique_weight(base, i, g), b.s[i], -mass
        )
    gain = 0.0
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        mass = write_exchange(b, k, partner, i)
        gain += delta_block(likelihood, c, b, i, 2, BOTH_COLUMNS, mass)
    if not accept_move(rng, first_group, ratio, gain):
        return
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        mass = code_mass(b, i, 2, BOTH_COLUMNS)
        apply_block(likelihood, c, b, i, 2, BOTH_COLUMNS, mass)
        b.s[i] -= mass
    toggle_group_owner(states, k, i, m, rate)
    toggle_group_owner(states, partner, i, partner_m, partner_rate)


@scalar
def write_exchange(b: Any, k: Any, partner: Any, i: Any) -> Any:
    """Write flips of option i in two features for `delta_block`; return the mass they take."""
    b.order[0], b.order[1] = k, partner
    clear_row(b, scratch_index(b))
    mix_flip(b, i, k, True)
    mix_flip(b, i, partner, True)
    return code_mass(b, i, 2, BOTH_COLUMNS)


@scalar
def propose_group_split_or_join(rng: Any, model: Any, caches: Any, states: Any, base: Any) -> None:
    """Propose that a random ordered pair of features splits or joins in all groups.

    This is the split or join of `births`. Base weights of similar groups change with the columns.
    """
    first_group = replica(states, 0)
    k, partner, sign, m = draw_column_pair(rng, first_group)
    if sign == 0.0 or (m == 0 and not keeps_empty(model.prior)):
        return
    v = base.v[partner]
    if model.similar:
        v += sign * base.v[k]
    if v <= 0.0:
        return
    scratch_row = scratch_index(first_group)
    for g in range(count_groups(states)):
        b = replica(states, g)
        if b.w[partner] + sign * b.w[k] <= 0.0:
            return
        write_split_or_join(b, k, partner, sign)
    rate = log_rate(model.prior, first_group, scratch_row, m)
    ratio = rate - first_group.log_rate[k]
    if model.similar:
        ratio += log_gamma_ratio(
            model.shape, model.shape / model.rate, base.v[partner], v - base.v[partner]
        )
    gain = 0.0
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        d = -sign * b.w[k]
        gain += delta_transfer(likelihood, c, b, k, partner, d)
        ratio += log_gamma(
            base.real[KAPPA], v * base.covariate_factor[g, partner], b.w[partner] - d
        )
        ratio -= log_gamma(base.real[KAPPA], expected_weight(base, partner, g), b.w[partner])
    if accept_move(rng, first_group, ratio, gain):
        base.v[partner] = v
        for g in range(count_groups(states)):
            likelihood, c, b = select_group(model, caches, states, g)
            d = -sign * b.w[k]
            apply_transfer(likelihood, c, b, k, partner, d)
            copy_row(b, scratch_row, k)
            b.m[k] = m
            b.log_rate[k] = rate
            b.w[partner] -= d


@scalar
def propose_duplicate_split_or_merge(
    rng: Any, model: Any, caches: Any, states: Any, base: Any
) -> None:
    """Propose to split a feature into two with the same owners, or to merge two.

    A split divides the weight uniformly in every group. The likelihoods depend on the sums alone.
    For free groups, with K columns before the split, its ratio is alpha lambda prod_g w_g p(w_g')
    p(w_g'') / p(w_g) / (K + 1).
    """
    first_group = replica(states, 0)
    n_columns = first_group.whole[COLUMNS]
    is_split = rng.random() < 0.5
    if (
        n_columns == 0
        or (is_split and n_columns == capacity(first_group))
        or (not is_split and n_columns < 2)
    ):
        return
    k = draw_index(rng, n_columns)
    partner, n_after = n_columns, n_columns + 1
    if not is_split:
        partner, n_after = draw_other_index(rng, n_columns, k), n_columns
        if not have_same_owners(first_group, k, partner):
            return
    ratio = math.log(first_group.real[ALPHA]) + first_group.log_rate[k] - math.log(n_after)
    for g in range(count_groups(states)):
        b = replica(states, g)
        if is_split:
            b.block[0] = rng.random() * b.w[k]
            w_sum, w_part = b.w[k], b.block[0]
        else:
            w_sum, w_part = b.w[k] + b.w[partner], b.w[partner]
        if not 0.0 < w_part < w_sum:
            return
        ratio += math.log(w_sum) - log_gamma(base.real[KAPPA], base.v[k], w_sum)
        ratio += log_gamma(base.real[KAPPA], base.v[k], w_part) + log_gamma(
            base.real[KAPPA], base.v[k], w_sum - w_part
        )
    if not is_split:
        ratio = -ratio
    if not accept(rng, ratio):
        return
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        if is_split:
            apply_copies(likelihood, c, b, k, 1.0)
            b.w[partner] = b.block[0]
            b.w[k] -= b.block[0]
        else:
            apply_copies(likelihood, c, b, k, -1.0)
            b.w[k] += b.w[partner]
    if is_split:
        copy_row(first_group, k, partner)
        copy_proposed_pattern(states, first_group.m[k])
        base.v[partner] = base.v[k]
        append_proposed_column(states, first_group.log_rate[k])
    else:
        remove_group_column(states, base, partner)
