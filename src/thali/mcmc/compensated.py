"""Moves 4, 6 and 7: changes of a column that the unique weights of its owners make up for.

An option that joins a column hands over the column's weight from its own unique weight, so that only its comparisons
with the other owners change. Models without unique weights leave these moves out.
"""

import math

import numpy as np

from thali._jit import scalar
from thali.mcmc.bag import COLUMNS, HEAT, clear_row, least_unique, scratch
from thali.mcmc.chance import accept, draw_code, index
from thali.mcmc.tuning import CARVE
from thali.mcmc.unique import log_carve_ratio, log_unique_ratio, log_weight_ratio, set_unique, shift_unique
from thali.mcmc.verbs import (
    apply_block,
    apply_carve,
    apply_pool,
    delta_block,
    delta_carve,
    delta_pool,
    log_rate,
    log_rate_flipped,
)

BLOCK = 3  # columns in a row block


@scalar
def compensated_flip(rng, model, c, b):
    """Move 4: a random option joins a random column and pays for it, or leaves it and is paid."""
    k = index(rng, b.whole[COLUMNS])
    i = index(rng, b.Z.shape[1] - 1)
    joins = b.Z[k, i] == 0.0
    m = b.m[k] + 1 if joins else b.m[k] - 1
    d = b.w[k] if joins else -b.w[k]
    s = b.s[i] - d
    if model.lo <= m <= model.hi and s > 0.0:
        rate = log_rate_flipped(model.prior, b, k, i, m)
        ratio = b.real[HEAT] * delta_pool(model.likelihood, c, b, i, k, d)
        ratio += rate - b.log_rate[k] + log_unique_ratio(model, b, i, s)
        if accept(rng, ratio):
            apply_pool(model.likelihood, c, b, i, k, d)
            b.Z[k, i] = 1.0 - b.Z[k, i]
            b.m[k] = m
            b.log_rate[k] = rate
            set_unique(b, i, s)


@scalar
def row_block(rng, model, c, b):
    """Move 6: all memberships of a random option in up to three random columns, drawn from their conditional.

    Bit t of a code says whether the option's membership in the t-th chosen column is flipped. The codes are visited in
    Gray order, one flip at a time; the scratch row then holds the signed sum of the columns flipped.
    """
    size = choose_columns(rng, b)
    i = index(rng, b.Z.shape[1] - 1)
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
    price_of_all = paid(b, i, size, chosen)
    apply_block(model.likelihood, c, b, i, size, chosen, price_of_all)
    set_unique(b, i, b.s[i] - price_of_all)
    for bit in range(size):
        if (chosen >> bit) & 1:
            k = b.order[bit]
            b.m[k] += 1 if b.Z[k, i] == 0.0 else -1
            b.Z[k, i] = 1.0 - b.Z[k, i]
            b.log_rate[k] = log_rate(model.prior, b, k, b.m[k])


@scalar
def choose_columns(rng, b):
    """Up to BLOCK distinct random columns to the front of b.order; returns how many."""
    columns = b.whole[COLUMNS]
    size = min(columns, BLOCK)
    for k in range(columns):
        b.order[k] = k
    for t in range(size):
        other = t + index(rng, columns - t)
        b.order[t], b.order[other] = b.order[other], b.order[t]
    return size


@scalar
def price(b, i, k):
    """What option i pays for a flip of its membership in column k."""
    return b.w[k] if b.Z[k, i] == 0.0 else -b.w[k]


@scalar
def paid(b, i, size, code):
    """What option i pays for all flips of a code."""
    total = 0.0
    for bit in range(size):
        if (code >> bit) & 1:
            total += price(b, i, b.order[bit])
    return total


@scalar
def mix(b, i, k, sign):
    """Add the flip of option i in column k to the scratch row, or take it out again."""
    d = sign * price(b, i, k)
    mixed = scratch(b)
    for j in range(b.Z.shape[1]):
        b.Z[mixed, j] += d * b.Z[k, j]


@scalar
def log_of_code(model, c, b, i, size, code):
    """Log posterior, up to a constant, after the flips of a code; the scratch row is mixed accordingly."""
    prior = 0.0
    for bit in range(size):
        if (code >> bit) & 1:
            k = b.order[bit]
            m = b.m[k] + 1 if b.Z[k, i] == 0.0 else b.m[k] - 1
            if m < model.lo or m > model.hi:
                return -np.inf
            prior += log_rate_flipped(model.prior, b, k, i, m) - b.log_rate[k]
    price_of_all = paid(b, i, size, code)
    s = b.s[i] - price_of_all
    if s <= 0.0:
        return -np.inf
    prior += log_unique_ratio(model, b, i, s)
    return prior + b.real[HEAT] * delta_block(model.likelihood, c, b, i, size, code, price_of_all)


@scalar
def compensated_weight(rng, model, c, b, tuning):
    """Move 7: shift weight between a random column and the unique weights of its owners.

    The column may hold anything from 0 to M = w + c, c the least unique weight among its owners; logit(w / M) walks.
    """
    k = index(rng, b.whole[COLUMNS])
    if b.m[k] == 0:
        return
    tuning.tried[CARVE] += 1
    w = b.w[k]
    least = least_unique(b, k)
    most = w + least
    odds = w / least * math.exp(tuning.step[CARVE] * rng.standard_normal())
    new = most * odds / (1.0 + odds)
    d = new - w
    if not (0.0 < new < most and d < least):
        return
    ratio = b.real[HEAT] * delta_carve(model.likelihood, c, b, k, b.m[k], d) + log_carve_ratio(model, b, k, b.m[k], d)
    ratio += log_weight_ratio(model, w, d) + math.log(new * (most - new) / (w * least))
    if accept(rng, ratio):
        apply_carve(model.likelihood, c, b, k, b.m[k], d)
        shift_unique(model, b, k, d)
        b.w[k] = new
        tuning.accepted[CARVE] += 1
