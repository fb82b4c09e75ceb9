"""Moves 4, 6 and 7: changes of a column that the unique weights of its owners compensate (mass
transfer).

An option that joins a column loses the column's weight from its unique weight, so that only its
comparisons with the other owners change. Models without unique weights leave these moves out.
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import accept, draw_code, draw_index

from ..operations import (
    apply_block,
    apply_compensated_member,
    apply_compensated_weight,
    delta_block,
    delta_compensated_member,
    delta_compensated_weight,
    log_rate,
    log_rate_flipped,
)
from ..state import BETA, COLUMNS, change_owner, clear_row, least_unique, scratch
from ..weight_priors import log_density_ratio
from .tuning import COMPENSATED_WEIGHT
from .unique_weights import log_compensated_ratio, log_unique_ratio, set_unique, shift_unique

BLOCK = 3  # columns in a row block


@scalar
def compensated_flip(rng: np.random.Generator, model: Any, c: Any, b: Any) -> None:
    """Move 4: a random option joins or leaves a random column; its unique weight falls or rises by
    the column's."""
    k = draw_index(rng, b.whole[COLUMNS])
    i = draw_index(rng, b.Z.shape[1] - 1)
    joins = b.Z[k, i] == 0.0
    m = b.m[k] + 1 if joins else b.m[k] - 1
    d = b.w[k] if joins else -b.w[k]
    s = b.s[i] - d
    if model.lo <= m <= model.hi and s > 0.0:
        rate = log_rate_flipped(model.prior, b, k, i, m)
        ratio = b.real[BETA] * delta_compensated_member(model.likelihood, c, b, i, k, d)
        ratio += rate - b.log_rate[k] + log_unique_ratio(model, b, i, s)
        if accept(rng, ratio):
            apply_compensated_member(model.likelihood, c, b, i, k, d)
            change_owner(b, k, i, m, rate)
            set_unique(b, i, s)


@scalar
def row_block(rng: np.random.Generator, model: Any, c: Any, b: Any) -> None:
    """Move 6: all memberships of a random option in up to three random columns, drawn from their
    conditional.

    Bit t of a code says whether the option's membership in the t-th chosen column is flipped. The
    codes are visited in Gray order, one flip at a time; the scratch row then holds the signed sum
    of the columns flipped.
    """
    size = choose_columns(rng, b)
    i = draw_index(rng, b.Z.shape[1] - 1)
    mixed = scratch(b)
    clear_row(b, mixed)
    b.block[0] = 0.0
    code = 0
    top = 0.0
    for visit in range(1, 1 << size):
        bit = 0
        while not (visit >> bit) & 1:
            bit += 1
        code ^= 1 << bit
        mix(b, i, b.order[bit], 1.0 if (code >> bit) & 1 else -1.0)
        b.block[code] = log_of_code(model, c, b, i, size, code)
        top = max(top, b.block[code])
    chosen = draw_code(rng, b, 1 << size, top)
    if chosen == 0:
        return
    for bit in range(size):
        if ((code ^ chosen) >> bit) & 1:
            mix(b, i, b.order[bit], 1.0 if (chosen >> bit) & 1 else -1.0)
    mass = mass_of_code(b, i, size, chosen)
    apply_block(model.likelihood, c, b, i, size, chosen, mass)
    set_unique(b, i, b.s[i] - mass)
    for bit in range(size):
        if (chosen >> bit) & 1:
            k = b.order[bit]
            b.m[k] += 1 if b.Z[k, i] == 0.0 else -1
            b.Z[k, i] = 1.0 - b.Z[k, i]
            b.log_rate[k] = log_rate(model.prior, b, k, b.m[k])


@scalar
def choose_columns(rng: np.random.Generator, b: Any) -> Any:
    """Up to BLOCK distinct random columns to the front of b.order; returns how many."""
    columns = b.whole[COLUMNS]
    size = min(columns, BLOCK)
    for k in range(columns):
        b.order[k] = k
    for t in range(size):
        other = t + draw_index(rng, columns - t)
        b.order[t], b.order[other] = b.order[other], b.order[t]
    return size


@scalar
def mass_of_flip(b: Any, i: Any, k: Any) -> Any:
    """The mass that a flip of its membership in column k takes from the unique weight of option
    i."""
    return b.w[k] if b.Z[k, i] == 0.0 else -b.w[k]


@scalar
def mass_of_code(b: Any, i: Any, size: Any, code: Any) -> Any:
    """The mass that all flips of a code take from the unique weight of option i."""
    total = 0.0
    for bit in range(size):
        if (code >> bit) & 1:
            total += mass_of_flip(b, i, b.order[bit])
    return total


@scalar
def mix(b: Any, i: Any, k: Any, sign: Any) -> None:
    """Add the flip of option i in column k to the scratch row, or remove it."""
    d = sign * mass_of_flip(b, i, k)
    mixed = scratch(b)
    for j in range(b.Z.shape[1]):
        b.Z[mixed, j] += d * b.Z[k, j]


@scalar
def log_of_code(model: Any, c: Any, b: Any, i: Any, size: Any, code: Any) -> Any:
    """Log posterior, up to a constant, after the flips of a code; the scratch row is mixed
    accordingly."""
    prior = 0.0
    for bit in range(size):
        if (code >> bit) & 1:
            k = b.order[bit]
            m = b.m[k] + 1 if b.Z[k, i] == 0.0 else b.m[k] - 1
            if m < model.lo or m > model.hi:
                return -np.inf
            prior += log_rate_flipped(model.prior, b, k, i, m) - b.log_rate[k]
    mass = mass_of_code(b, i, size, code)
    s = b.s[i] - mass
    if s <= 0.0:
        return -np.inf
    prior += log_unique_ratio(model, b, i, s)
    return prior + b.real[BETA] * delta_block(model.likelihood, c, b, i, size, code, mass)


@scalar
def proposed_weight(rng: np.random.Generator, b: Any, k: Any, step: Any) -> Any:
    """A weight of column k, 0 if it is impossible, and the logarithm of the Jacobian of the walk to
    it.

    Random walk in logit(w / M): w lies between 0 and M = w + c, where c is the least unique weight
    among the owners.
    """
    w, least = b.w[k], least_unique(b, k)
    most = w + least
    odds = w / least * math.exp(step * rng.standard_normal())
    new = most * odds / (1.0 + odds)
    if not (0.0 < new < most and new - w < least):
        return 0.0, 0.0
    return new, math.log(new * (most - new) / (w * least))


@scalar
def compensated_weight(rng: np.random.Generator, model: Any, c: Any, b: Any, tuning: Any) -> None:
    """Move 7: shift weight between a random column and the unique weights of its owners."""
    k = draw_index(rng, b.whole[COLUMNS])
    if b.m[k] == 0:
        return
    tuning.tried[COMPENSATED_WEIGHT] += 1
    new, jacobian = proposed_weight(rng, b, k, tuning.step[COMPENSATED_WEIGHT])
    if new == 0.0:
        return
    d = new - b.w[k]
    change = b.real[BETA] * delta_compensated_weight(model.likelihood, c, b, k, b.m[k], d)
    ratio = change + log_compensated_ratio(model, b, k, b.m[k], d)
    ratio += log_density_ratio(model.weights, b.w[k], d) + jacobian
    if accept(rng, ratio):
        apply_compensated_weight(model.likelihood, c, b, k, b.m[k], d)
        shift_unique(model, b, k, d)
        b.w[k] = new
        tuning.accepted[COMPENSATED_WEIGHT] += 1
