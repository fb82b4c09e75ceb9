"""Moves 4, 6 and 7: changes of a feature compensated by its owners' unique weights.

An option that joins a column loses the column's weight from its unique weight, so that only its
comparisons with the other owners change. Models without unique weights omit these moves.
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import scalar
from thali._inference.numerics.discrete_draws import accept, draw_code, draw_index

from ..chain_state import (
    BETA,
    COLUMNS,
    accept_move,
    change_owner,
    clear_row,
    count_after_flip,
    count_options,
    flipped_weight,
    min_over_owners,
    scratch_index,
    toggle_owner,
)
from ..kernel_operations import (
    apply_block,
    apply_compensated_member,
    apply_compensated_weight,
    apply_member,
    apply_unique,
    delta_block,
    delta_compensated_member,
    delta_compensated_weight,
    delta_member,
    delta_unique,
    log_rate,
    log_rate_after_flip,
)
from ..weight_priors import log_density_ratio
from .step_tuning import COMPENSATED_WEIGHT
from .unique_weights import (
    log_compensated_ratio,
    log_unique_ratio,
    set_unique_weight,
    shift_unique_weights,
)

MAX_BLOCK_COLUMNS = 3  # columns whose memberships are drawn jointly


@scalar
def propose_compensated_flip(rng: np.random.Generator, model: Any, c: Any, b: Any) -> None:
    """Move 4: propose to flip a random membership, with its unique weight compensating."""
    k = draw_index(rng, b.whole[COLUMNS])
    i = draw_index(rng, count_options(b))
    m = count_after_flip(b, k, i)
    d = flipped_weight(b, k, i)
    s = b.s[i] - d
    if model.lo <= m <= model.hi and s > 0.0:
        rate = log_rate_after_flip(model.prior, b, k, i, m)
        gain = delta_compensated_member(model.likelihood, c, b, i, k, d)
        ratio = rate - b.log_rate[k] + log_unique_ratio(model, b, i, s)
        if accept_move(rng, b, ratio, gain):
            apply_compensated_member(model.likelihood, c, b, i, k, d)
            change_owner(b, k, i, m, rate)
            set_unique_weight(b, i, s)


@scalar
def propose_partly_compensated_flip(
    rng: np.random.Generator, model: Any, c: Any, b: Any, share: Any
) -> None:
    """Propose to flip a random membership, a share compensated by its unique weight.

    The share is drawn independently of the state, so the flip back has the same density.
    """
    k = draw_index(rng, b.whole[COLUMNS])
    i = draw_index(rng, count_options(b))
    m, d = count_after_flip(b, k, i), flipped_weight(b, k, i)
    old_s, s = b.s[i], b.s[i] - share * d
    if not (model.lo <= m <= model.hi and s > 0.0):
        return
    rate = log_rate_after_flip(model.prior, b, k, i, m)
    ratio = rate - b.log_rate[k] + log_unique_ratio(model, b, i, s)
    gain = delta_unique(model.likelihood, c, b, i, s - old_s)
    apply_unique(model.likelihood, c, b, i, s - old_s)
    set_unique_weight(b, i, s)
    gain += delta_member(model.likelihood, c, b, k, i, d)
    if accept_move(rng, b, ratio, gain):
        apply_member(model.likelihood, c, b, k, i, d)
        change_owner(b, k, i, m, rate)
    else:
        apply_unique(model.likelihood, c, b, i, old_s - s)
        set_unique_weight(b, i, old_s)


@scalar
def draw_row_block(rng: np.random.Generator, model: Any, c: Any, b: Any) -> None:
    """Move 6: draw a random option's memberships in up to three features jointly.

    Bit t of a code is 1 if the option's membership in the t-th chosen column is flipped. The codes
    are visited in Gray order, one flip at a time; the scratch row contains the signed sum of the
    flipped columns.
    """
    size = choose_random_columns(rng, b)
    i = draw_index(rng, count_options(b))
    scratch_row = scratch_index(b)
    clear_row(b, scratch_row)
    b.block[0] = 0.0
    code = 0
    max_log_posterior = 0.0
    for visit in range(1, 1 << size):
        bit = find_lowest_bit(visit)
        code ^= 1 << bit
        mix_flip(b, i, b.order[bit], (code >> bit) & 1)
        b.block[code] = code_log_posterior(model, c, b, i, size, code)
        max_log_posterior = max(max_log_posterior, b.block[code])
    drawn_code = draw_code(rng, b, 1 << size, max_log_posterior)
    if drawn_code == 0:
        return
    for bit in range(size):
        if ((code ^ drawn_code) >> bit) & 1:
            mix_flip(b, i, b.order[bit], (drawn_code >> bit) & 1)
    mass = code_mass(b, i, size, drawn_code)
    apply_block(model.likelihood, c, b, i, size, drawn_code, mass)
    set_unique_weight(b, i, b.s[i] - mass)
    for bit in range(size):
        if (drawn_code >> bit) & 1:
            flip_owner(model.prior, b, b.order[bit], i)


@scalar
def find_lowest_bit(number: Any) -> Any:
    """Return the position of the lowest 1 bit of a positive integer."""
    bit = 0
    while not (number >> bit) & 1:
        bit += 1
    return bit


@scalar
def flip_owner(prior: Any, b: Any, k: Any, i: Any) -> None:
    """Flip whether option i owns feature k; recompute the feature's log rate."""
    b.m[k] = count_after_flip(b, k, i)
    toggle_owner(b, k, i)
    b.log_rate[k] = log_rate(prior, b, k, b.m[k])


@scalar
def choose_random_columns(rng: np.random.Generator, b: Any) -> Any:
    """Put a few random features first in b.order; return their number."""
    n_columns = b.whole[COLUMNS]
    size = min(n_columns, MAX_BLOCK_COLUMNS)
    for k in range(n_columns):
        b.order[k] = k
    for t in range(size):
        swap_position = t + draw_index(rng, n_columns - t)
        b.order[t], b.order[swap_position] = b.order[swap_position], b.order[t]
    return size


@scalar
def code_mass(b: Any, i: Any, size: Any, code: Any) -> Any:
    """Return the weight that the flips coded by `code` take from option i's unique weight."""
    total = 0.0
    for bit in range(size):
        if (code >> bit) & 1:
            total += flipped_weight(b, b.order[bit], i)
    return total


@scalar
def mix_flip(b: Any, i: Any, k: Any, is_added: Any) -> None:
    """Add the weighted owners of feature k to the scratch row, for a flip of option i."""
    d = flipped_weight(b, k, i)
    if not is_added:
        d = -d
    scratch_row = scratch_index(b)
    for j in range(b.Z.shape[1]):
        b.Z[scratch_row, j] += d * b.Z[k, j]


@scalar
def code_log_posterior(model: Any, c: Any, b: Any, i: Any, size: Any, code: Any) -> Any:
    """Return the log posterior after the flips of option i coded by `code`, up to a constant.

    The scratch row must contain the flips.
    """
    prior = 0.0
    for bit in range(size):
        if (code >> bit) & 1:
            k = b.order[bit]
            m = count_after_flip(b, k, i)
            if m < model.lo or m > model.hi:
                return -np.inf
            prior += log_rate_after_flip(model.prior, b, k, i, m) - b.log_rate[k]
    mass = code_mass(b, i, size, code)
    s = b.s[i] - mass
    if s <= 0.0:
        return -np.inf
    prior += log_unique_ratio(model, b, i, s)
    return prior + b.real[BETA] * delta_block(model.likelihood, c, b, i, size, code, mass)


@scalar
def propose_column_weight(rng: np.random.Generator, w: Any, c: Any, step: Any) -> Any:
    """Propose a feature weight near w; return it (0: impossible) and the log Jacobian.

    Random walk in logit(w / M): w is between 0 and M = w + c, where c is the smallest unique weight
    among the owners.
    """
    M = w + c
    odds = w / c * math.exp(step * rng.standard_normal())
    new_w = M * odds / (1.0 + odds)
    if not (0.0 < new_w < M and new_w - w < c):
        return 0.0, 0.0
    return new_w, math.log(new_w * (M - new_w) / (w * c))


@scalar
def propose_compensated_weight(
    rng: np.random.Generator, model: Any, c: Any, b: Any, tuning: Any
) -> None:
    """Move 7: propose to shift weight between a random feature and its owners."""
    k = draw_index(rng, b.whole[COLUMNS])
    if b.m[k] == 0:
        return
    tuning.tried[COMPENSATED_WEIGHT] += 1
    new_w, jacobian = propose_column_weight(
        rng, b.w[k], min_over_owners(b.s, b, k), tuning.step[COMPENSATED_WEIGHT]
    )
    if new_w == 0.0:
        return
    d = new_w - b.w[k]
    change = b.real[BETA] * delta_compensated_weight(model.likelihood, c, b, k, b.m[k], d)
    ratio = change + log_compensated_ratio(model, b, k, b.m[k], d)
    ratio += log_density_ratio(model.weights, b.w[k], d) + jacobian
    if accept(rng, ratio):
        apply_compensated_weight(model.likelihood, c, b, k, b.m[k], d)
        shift_unique_weights(model, b, k, d)
        b.w[k] = new_w
        tuning.accepted[COMPENSATED_WEIGHT] += 1
