"""Moves of owners that several groups share: the groups' changes are summed, and one decision is
made for all.

They are those of `flips`, `split_join` and `mass_transfer`, with a vector of weights where these
have one.
"""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import accept, draw_index

from ..group_state import (
    KAPPA,
    append_proposed,
    copy_proposed,
    group_at,
    middle_of,
    own_middle_of,
    remove_from_all,
    select_group,
    set_owner,
)
from ..operations import (
    apply_compensated_member,
    apply_copies,
    apply_joined,
    apply_member,
    apply_transfer,
    cache_at,
    delta_compensated_member,
    delta_joined,
    delta_member,
    delta_transfer,
    is_quick,
    keeps_empty,
    log_rate,
    log_rate_flipped,
    log_rate_toggled,
    open_column,
    open_members,
    toggled,
)
from ..state import ALPHA, BETA, COLUMNS, capacity, copy_row, replica, scratch, shuffle_columns
from .duplicates import same_owners
from .group_densities import log_gamma, log_gamma_ratio
from .split_join import drawn_pair, split_or_joined


@scalar
def flip_columns_of_groups(rng: Any, model: Any, caches: Any, states: Any) -> None:
    """Toggle every option in every column, columns in random order."""
    first = replica(states, 0)
    n = first.Z.shape[1] - 1
    for t in range(shuffle_columns(rng, first)):
        k = first.order[t]
        for g in range(states.w.shape[0]):
            likelihood = group_at(model.likelihood, g)
            open_members(likelihood, cache_at(likelihood, caches, g), replica(states, g), k)
        open_column(model.prior, first, k)
        start = draw_index(rng, n)
        for step in range(n):
            i = start + step
            flip_of_groups(rng, model, caches, states, k, i - n if i >= n else i)


@scalar
def flip_of_groups(rng: Any, model: Any, caches: Any, states: Any, k: Any, i: Any) -> None:
    """Accept in one or two stages, as `flips.try_flip`."""
    first = replica(states, 0)
    joins = first.Z[k, i] == 0.0
    m = first.m[k] + 1 if joins else first.m[k] - 1
    if (first.m[k] == 0 or m == 0) and not keeps_empty(model.prior):
        return
    rate = log_rate_toggled(model.prior, first, k, i, m)
    ratio = rate - first.log_rate[k]
    if is_quick(group_at(model.likelihood, 0)):
        passes = accept(rng, ratio + joined_gain(model, caches, states, k, i, joins))
    else:
        passes = accept(rng, ratio) and accept(rng, joined_gain(model, caches, states, k, i, joins))
    if passes:
        for g in range(states.w.shape[0]):
            likelihood, c, b = select_group(model, caches, states, g)
            apply_joined(likelihood, c, b, k, i, b.w[k] if joins else -b.w[k])
        toggled(model.prior, first, k, i)
        set_owner(states, k, i, m, rate)


@scalar
def joined_gain(model: Any, caches: Any, states: Any, k: Any, i: Any, joins: Any) -> Any:
    """The change of the log-likelihoods of all groups, times the inverse temperature, if option i
    is toggled."""
    total = 0.0
    for g in range(states.w.shape[0]):
        likelihood, c, b = select_group(model, caches, states, g)
        d = b.w[k] if joins else -b.w[k]
        total += delta_joined(likelihood, c, b, k, i, d)
    return replica(states, 0).real[BETA] * total


@scalar
def compensated_flip_of_groups(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, share: Any
) -> None:
    """A random option joins or leaves a random column; its unique weights make up for it with
    probability `share`."""
    first = replica(states, 0)
    k, i = draw_index(rng, first.whole[COLUMNS]), draw_index(rng, first.Z.shape[1] - 1)
    joins = first.Z[k, i] == 0.0
    m = first.m[k] + 1 if joins else first.m[k] - 1
    if m == 0 and not keeps_empty(model.prior):
        return
    rate = log_rate_flipped(model.prior, first, k, i, m)
    ratio = rate - first.log_rate[k]
    gain = 0.0
    possible = True
    for g in range(states.w.shape[0]):
        likelihood, c, b = select_group(model, caches, states, g)
        d = b.w[k] if joins else -b.w[k]
        b.block[0] = 1.0 if rng.random() < share else 0.0
        if b.block[0] != 0.0:
            possible = possible and b.s[i] > d
            if possible:
                gain += delta_compensated_member(likelihood, c, b, i, k, d)
                ratio += log_gamma_ratio(base.real[KAPPA], own_middle_of(base, i, g), b.s[i], -d)
        elif possible:
            gain += delta_member(likelihood, c, b, k, i, d)
    if possible and accept(rng, ratio + first.real[BETA] * gain):
        for g in range(states.w.shape[0]):
            likelihood, c, b = select_group(model, caches, states, g)
            d = b.w[k] if joins else -b.w[k]
            if b.block[0] != 0.0:
                apply_compensated_member(likelihood, c, b, i, k, d)
                b.s[i] -= d
            else:
                apply_member(likelihood, c, b, k, i, d)
        set_owner(states, k, i, m, rate)


@scalar
def transfer_of_groups(rng: Any, model: Any, caches: Any, states: Any, base: Any) -> None:
    """A random ordered pair of columns (k, l) splits or joins, as in `split_join`, in all groups.

    Where groups are similar, what the weights vary about moves with them.
    """
    first = replica(states, 0)
    k, other, sign, m = drawn_pair(rng, first)
    if sign == 0.0 or (m == 0 and not keeps_empty(model.prior)):
        return
    v = base.v[other] + sign * base.v[k] if model.similar else base.v[other]
    if v <= 0.0:
        return
    new = scratch(first)
    for g in range(states.w.shape[0]):
        b = replica(states, g)
        if b.w[other] + sign * b.w[k] <= 0.0:
            return
        split_or_joined(b, k, other, sign)
    rate = log_rate(model.prior, first, new, m)
    ratio = rate - first.log_rate[k]
    if model.similar:
        ratio += log_gamma_ratio(
            model.shape, model.shape / model.rate, base.v[other], v - base.v[other]
        )
    gain = 0.0
    for g in range(states.w.shape[0]):
        likelihood, c, b = select_group(model, caches, states, g)
        d = -sign * b.w[k]
        gain += delta_transfer(likelihood, c, b, k, other, d)
        ratio += log_gamma(base.real[KAPPA], v * base.lift[g, other], b.w[other] - d)
        ratio -= log_gamma(base.real[KAPPA], middle_of(base, other, g), b.w[other])
    if accept(rng, ratio + first.real[BETA] * gain):
        base.v[other] = v
        for g in range(states.w.shape[0]):
            likelihood, c, b = select_group(model, caches, states, g)
            d = -sign * b.w[k]
            apply_transfer(likelihood, c, b, k, other, d)
            copy_row(b, new, k)
            b.m[k] = m
            b.log_rate[k] = rate
            b.w[other] -= d


@scalar
def split_or_merge_copies(rng: Any, model: Any, caches: Any, states: Any, base: Any) -> None:
    """A column becomes two with the same owners, its weight split uniformly in every group, or two
    such become one.

    The likelihoods depend on the sums alone. For free groups: with K columns before the split, its
    ratio is alpha lambda prod_g w_g p(w_g') p(w_g'') / p(w_g) / (K + 1).
    """
    first = replica(states, 0)
    columns = first.whole[COLUMNS]
    splits = rng.random() < 0.5
    if columns == 0 or (splits and columns == capacity(first)) or (not splits and columns < 2):
        return
    k = draw_index(rng, columns)
    other = columns
    if not splits:
        other = draw_index(rng, columns - 1)
        if other >= k:
            other += 1
        if not same_owners(first, k, other):
            return
    after = columns + 1 if splits else columns
    ratio = math.log(first.real[ALPHA]) + first.log_rate[k] - math.log(after)
    for g in range(states.w.shape[0]):
        b = replica(states, g)
        if splits:
            b.block[0] = rng.random() * b.w[k]
            whole, part = b.w[k], b.block[0]
        else:
            whole, part = b.w[k] + b.w[other], b.w[other]
        if not 0.0 < part < whole:
            return
        ratio += math.log(whole) - log_gamma(base.real[KAPPA], base.v[k], whole)
        ratio += log_gamma(base.real[KAPPA], base.v[k], part) + log_gamma(
            base.real[KAPPA], base.v[k], whole - part
        )
    if not accept(rng, ratio if splits else -ratio):
        return
    for g in range(states.w.shape[0]):
        likelihood, c, b = select_group(model, caches, states, g)
        apply_copies(likelihood, c, b, k, 1.0 if splits else -1.0)
        if splits:
            b.w[other] = b.block[0]
            b.w[k] -= b.block[0]
        else:
            b.w[k] += b.w[other]
    if splits:
        copy_row(first, k, other)
        copy_proposed(states, first.m[k])
        base.v[other] = base.v[k]
        append_proposed(states, first.log_rate[k])
    else:
        remove_from_all(states, base, other)
