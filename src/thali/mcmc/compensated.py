"""Moves 4, 6 and 7: changes of a column that the unique weights of its owners make up for.

An option that joins a column hands over the column's weight from its own unique weight, so that only its comparisons
with the other owners change. Models without unique weights leave these moves out.
"""

import math

import numpy as np

from thali._jit import scalar
from thali.mcmc.bag import COLUMNS, least_unique, scratch
from thali.mcmc.chance import accept, index
from thali.mcmc.unique import log_carve_ratio, log_unique_ratio, log_weight_ratio, set_unique, shift_unique
from thali.mcmc.verbs import apply_carve, apply_pool, delta_carve, delta_pool, log_rate

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
        b.Z[k, i] = 1.0 - b.Z[k, i]
        rate = log_rate(model.prior, b, k, m)
        b.Z[k, i] = 1.0 - b.Z[k, i]
        ratio = delta_pool(model.likelihood, c, b, i, k, d) + rate - b.log_rate[k] + log_unique_ratio(model, b, i, s)
        if accept(rng, ratio):
            apply_pool(model.likelihood, c, b, i, k, d)
            b.Z[k, i] = 1.0 - b.Z[k, i]
            b.m[k] = m
            b.log_rate[k] = rate
            set_unique(b, i, s)


@scalar
def row_block(rng, model, c, b):
    """Move 6: all memberships of a random option in up to three random columns, drawn from their conditional."""
    n = b.Z.shape[1] - 1
    size = choose_columns(rng, b)
    i = index(rng, n)
    mixed = scratch(b)
    top = -np.inf
    for code in range(1 << size):
        b.block[code] = log_of_code(model, c, b, i, size, code)
        top = max(top, b.block[code])
    total = 0.0
    for code in range(1 << size):
        b.block[code] = math.exp(b.block[code] - top)
        total += b.block[code]
    left = rng.random() * total
    code = 0
    while code < (1 << size) - 1 and left >= b.block[code]:
        left -= b.block[code]
        code += 1
    if code == 0:  # nothing changes
        return
    paid = mix(b, i, size, code)
    apply_pool(model.likelihood, c, b, i, mixed, 1.0)
    for t in range(size):
        if (code >> t) & 1:
            k = b.order[t]
            b.m[k] += 1 if b.Z[k, i] == 0.0 else -1
            b.Z[k, i] = 1.0 - b.Z[k, i]
            b.log_rate[k] = log_rate(model.prior, b, k, b.m[k])
    set_unique(b, i, b.s[i] - paid)


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
def mix(b, i, size, code):
    """The signed sum of the columns that option i joins or leaves, into the scratch row; returns what i pays."""
    mixed = scratch(b)
    for j in range(b.Z.shape[1]):
        b.Z[mixed, j] = 0.0
    paid = 0.0
    for t in range(size):
        if (code >> t) & 1:
            k = b.order[t]
            d = b.w[k] if b.Z[k, i] == 0.0 else -b.w[k]
            paid += d
            for j in range(b.Z.shape[1]):
                b.Z[mixed, j] += d * b.Z[k, j]
    return paid


@scalar
def log_of_code(model, c, b, i, size, code):
    """Log posterior, up to a constant, of flipping option i in the columns whose bits are set in the code."""
    if code == 0:
        return 0.0
    prior = 0.0
    for t in range(size):
        if (code >> t) & 1:
            k = b.order[t]
            m = b.m[k] + 1 if b.Z[k, i] == 0.0 else b.m[k] - 1
            if m < model.lo or m > model.hi:
                return -np.inf
            b.Z[k, i] = 1.0 - b.Z[k, i]
            prior += log_rate(model.prior, b, k, m) - b.log_rate[k]
            b.Z[k, i] = 1.0 - b.Z[k, i]
    s = b.s[i] - mix(b, i, size, code)
    if s <= 0.0:
        return -np.inf
    return prior + log_unique_ratio(model, b, i, s) + delta_pool(model.likelihood, c, b, i, scratch(b), 1.0)


@scalar
def compensated_weight(rng, model, c, b, step):
    """Move 7: shift weight between a random column and the unique weights of its owners; returns 1 if accepted.

    The column may hold anything from 0 to M = w + c, c the least unique weight among its owners; logit(w / M) walks.
    """
    k = index(rng, b.whole[COLUMNS])
    if b.m[k] == 0:
        return 0
    w = b.w[k]
    least = least_unique(b, k)
    most = w + least
    odds = w / least * math.exp(step * rng.standard_normal())
    new = most * odds / (1.0 + odds)
    d = new - w
    if not (0.0 < new < most and d < least):
        return 0
    ratio = delta_carve(model.likelihood, c, b, k, b.m[k], d) + log_carve_ratio(model, b, k, b.m[k], d)
    ratio += log_weight_ratio(model, w, d) + math.log(new * (most - new) / (w * least))
    if accept(rng, ratio):
        apply_carve(model.likelihood, c, b, k, b.m[k], d)
        shift_unique(model, b, k, d)
        b.w[k] = new
        return 1
    return 0
