"""Compensated moves of similar groups, in which what the weights vary about makes up for the column
as well.

Where groups are much alike, weights of a group cannot move far from v; so v of a column and own of
its owners change together, and the weights of all groups with them. Otherwise these are the moves
of `births` and `mass_transfer`.
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import accept, draw_index

from ..group_state import (
    KAPPA,
    append_proposed,
    copy_proposed,
    draw_slopes_of_new,
    middle_of,
    own_middle_of,
    remove_from_all,
    select_group,
    set_owner,
)
from ..operations import (
    apply_compensated_member,
    apply_compensated_weight,
    delta_compensated_member,
    delta_compensated_weight,
    draw_pattern,
    keeps_empty,
    log_rate,
    log_rate_flipped,
)
from ..state import BETA, COLUMNS, replica
from .births import choose_row, log_balance
from .group_densities import draw_gamma, log_gamma, log_gamma_ratio
from .tuning import COMPENSATED_WEIGHT, tuning_at

CHANGE = 0  # position in State.block


@scalar
def least_own(b: Any, base: Any, k: Any) -> Any:
    """The smallest own among the owners of pattern k."""
    least = np.inf
    for i in range(base.own.shape[0]):
        if b.Z[k, i] != 0.0:
            least = min(least, base.own[i])
    return least


@scalar
def log_owns_ratio(model: Any, b: Any, base: Any, k: Any, dv: Any) -> Any:
    """log of the product of p(own - dv) / p(own) over the owners of pattern k."""
    total = 0.0
    for i in range(base.own.shape[0]):
        if b.Z[k, i] != 0.0:
            total += log_gamma_ratio(model.shape, model.shape / model.rate, base.own[i], -dv)
    return total


@scalar
def log_uniques_ratio(b: Any, base: Any, g: Any, k: Any, d: Any, dv: Any) -> Any:
    """The same of p(s - d | own - dv) / p(s | own); -inf where a unique weight has no more."""
    total = 0.0
    for i in range(base.own.shape[0]):
        if b.Z[k, i] != 0.0:
            if b.s[i] <= d:
                return -np.inf
            total += log_gamma(
                base.real[KAPPA], (base.own[i] - dv) * base.own_lift[g, i], b.s[i] - d
            )
            total -= log_gamma(base.real[KAPPA], own_middle_of(base, i, g), b.s[i])
    return total


@scalar
def apply_together(model: Any, caches: Any, states: Any, base: Any, k: Any, dv: Any) -> None:
    """Take dv from own of the owners of pattern k, and the change of each group from their unique
    weights."""
    first = replica(states, 0)
    for g in range(states.w.shape[0]):
        likelihood, c, b = select_group(model, caches, states, g)
        d = b.block[CHANGE]
        apply_compensated_weight(likelihood, c, b, k, b.m[k], d)
        for i in range(base.own.shape[0]):
            b.s[i] -= d * b.Z[k, i]
    for i in range(base.own.shape[0]):
        base.own[i] -= dv * first.Z[k, i]


@scalar
def birth_or_death_together(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, rate: Any
) -> None:
    """v ~ Uniform(0, c), c the least own of the owners, and the weights given v from their
    prior."""
    first = replica(states, 0)
    is_birth = rng.random() < 0.5
    k = choose_row(rng, first, is_birth)
    if k < 0:
        return
    if is_birth:
        copy_proposed(states, draw_pattern(model.prior, rng, first, k, 1, first.Z.shape[1] - 1))
        base.v[k] = rng.random() * least_own(first, base, k)
        if base.v[k] <= 0.0:
            return
        draw_slopes_of_new(rng, model, base, k)
    dv = base.v[k] if is_birth else -base.v[k]
    least = least_own(first, base, k) - min(dv, 0.0)
    proposal = math.log(least) + log_gamma(model.shape, model.shape / model.rate, base.v[k])
    ratio = log_balance(first, rate, is_birth) + (proposal if is_birth else -proposal)
    ratio += log_owns_ratio(model, first, base, k, dv)
    gain = 0.0
    for g in range(states.w.shape[0]):
        likelihood, c, b = select_group(model, caches, states, g)
        d = draw_gamma(rng, base.real[KAPPA], middle_of(base, k, g)) if is_birth else -b.w[k]
        b.block[CHANGE] = d
        ratio += log_uniques_ratio(b, base, g, k, d, dv)
        if ratio == -np.inf:
            return
        gain += delta_compensated_weight(likelihood, c, b, k, b.m[k], d)
    if not accept(rng, ratio + first.real[BETA] * gain):
        return
    apply_together(model, caches, states, base, k, dv)
    if is_birth:
        for g in range(states.w.shape[0]):
            replica(states, g).w[k] = replica(states, g).block[CHANGE]
        append_proposed(states, log_rate(model.prior, first, k, first.m[k]))
    else:
        remove_from_all(states, base, k)


@scalar
def flip_together(rng: Any, model: Any, caches: Any, states: Any, base: Any) -> None:
    """A random option joins or leaves a random column; its own and its unique weights make up for
    it."""
    first = replica(states, 0)
    k, i = draw_index(rng, first.whole[COLUMNS]), draw_index(rng, first.Z.shape[1] - 1)
    joins = first.Z[k, i] == 0.0
    m = first.m[k] + 1 if joins else first.m[k] - 1
    own = base.own[i] - base.v[k] if joins else base.own[i] + base.v[k]
    if (m == 0 and not keeps_empty(model.prior)) or own <= 0.0:
        return
    rate = log_rate_flipped(model.prior, first, k, i, m)
    ratio = rate - first.log_rate[k]
    ratio += log_gamma_ratio(model.shape, model.shape / model.rate, base.own[i], own - base.own[i])
    gain = 0.0
    for g in range(states.w.shape[0]):
        likelihood, c, b = select_group(model, caches, states, g)
        d = b.w[k] if joins else -b.w[k]
        if b.s[i] <= d:
            return
        ratio += log_gamma(base.real[KAPPA], own * base.own_lift[g, i], b.s[i] - d)
        ratio -= log_gamma(base.real[KAPPA], own_middle_of(base, i, g), b.s[i])
        gain += delta_compensated_member(likelihood, c, b, i, k, d)
    if accept(rng, ratio + first.real[BETA] * gain):
        for g in range(states.w.shape[0]):
            likelihood, c, b = select_group(model, caches, states, g)
            d = b.w[k] if joins else -b.w[k]
            apply_compensated_member(likelihood, c, b, i, k, d)
            b.s[i] -= d
        base.own[i] = own
        set_owner(states, k, i, m, rate)


@scalar
def weight_together(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, tunings: Any
) -> None:
    """v of a random column and own of its owners exchange weight, and the groups' weights of the
    column keep their ratios to v: a random walk in logit(v / M), M = v + c. Its step is that of the
    first group."""
    first = replica(states, 0)
    k = draw_index(rng, first.whole[COLUMNS])
    if first.m[k] == 0:
        return
    v, least = base.v[k], least_own(first, base, k)
    most = v + least
    odds = (
        v / least * math.exp(tuning_at(tunings, 0).step[COMPENSATED_WEIGHT] * rng.standard_normal())
    )
    new = most * odds / (1.0 + odds)
    dv = new - v
    if not (0.0 < new < most and dv < least):
        return
    ratio = math.log(new * (most - new) / (v * least)) + log_owns_ratio(model, first, base, k, dv)
    ratio += log_gamma_ratio(model.shape, model.shape / model.rate, v, dv)
    gain = 0.0
    for g in range(states.w.shape[0]):
        likelihood, c, b = select_group(model, caches, states, g)
        d = b.w[k] * (new / v - 1.0)
        b.block[CHANGE] = d
        ratio += log_uniques_ratio(b, base, g, k, d, dv)
        if ratio == -np.inf or b.w[k] + d <= 0.0:
            return
        gain += delta_compensated_weight(likelihood, c, b, k, b.m[k], d)
    if accept(rng, ratio + first.real[BETA] * gain):
        apply_together(model, caches, states, base, k, dv)
        base.v[k] = new
        for g in range(states.w.shape[0]):
            b = replica(states, g)
            b.w[k] += b.block[CHANGE]
