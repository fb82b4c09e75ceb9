"""Moves 2 and 3: birth and death of columns.

The columns form a Poisson process, so a birth proposed from it is accepted with probability min(1, L'/L * alpha *
rate / (K + 1)) and a death with min(1, L'/L * K / (alpha * rate)). In a *carved* birth the new weight is cut out of
the unique weights of the owners, which leaves every comparison of an owner with a non-owner as it was.
"""

import math

from thali._jit import scalar
from thali.mcmc.bag import ALPHA, COLUMNS, HEAT, capacity, least_unique, remove_column
from thali.mcmc.chance import accept, index, weight
from thali.mcmc.unique import log_carve_ratio, log_weight, shift_unique
from thali.mcmc.verbs import apply_carve, apply_weight, delta_carve, delta_weight, draw_pattern, log_rate


@scalar
def birth_or_death(rng, model, c, b, rate):
    """Move 2. `rate`: the total arrival rate of the patterns that a column may have, per unit of alpha."""
    is_birth = rng.random() < 0.5
    k = choose_or_propose(rng, model, b, is_birth)
    if k < 0:
        return
    d = weight(rng, model) if is_birth else -b.w[k]
    ratio = b.real[HEAT] * delta_weight(model.likelihood, c, b, k, b.m[k], d) + log_balance(b, rate, is_birth)
    if accept(rng, ratio):
        apply_weight(model.likelihood, c, b, k, b.m[k], d)
        commit(model, b, k, d, is_birth)


@scalar
def carved_birth_or_death(rng, model, c, b, rate):
    """Move 3: w ~ Uniform(0, c), c the least unique weight among the owners, whose unique weights fall by w."""
    is_birth = rng.random() < 0.5
    k = choose_or_propose(rng, model, b, is_birth)
    if k < 0:
        return
    least = least_unique(b, k)
    d = rng.random() * least if is_birth else -b.w[k]
    if is_birth and not 0.0 < d < least:
        return
    carved = math.log(least if is_birth else least - d) + log_weight(model, abs(d))
    ratio = log_balance(b, rate, is_birth) + (carved if is_birth else -carved)
    ratio += b.real[HEAT] * delta_carve(model.likelihood, c, b, k, b.m[k], d) + log_carve_ratio(model, b, k, b.m[k], d)
    if accept(rng, ratio):
        apply_carve(model.likelihood, c, b, k, b.m[k], d)
        shift_unique(model, b, k, d)
        commit(model, b, k, d, is_birth)


@scalar
def choose_or_propose(rng, model, b, is_birth):
    """The row of a column to die, or of a pattern to be born; -1 if there is none."""
    columns = b.whole[COLUMNS]
    if not is_birth:
        return index(rng, columns) if columns > 0 else -1
    if columns == capacity(b):
        return -1
    b.m[columns] = draw_pattern(model.prior, rng, b, columns, model.lo, model.hi)
    return columns


@scalar
def log_balance(b, rate, is_birth):
    """log of alpha * rate / (K + 1) for a birth, of K / (alpha * rate) for a death."""
    columns = b.whole[COLUMNS]
    if is_birth:
        return math.log(b.real[ALPHA] * rate / (columns + 1))
    return -math.log(b.real[ALPHA] * rate / columns)


@scalar
def commit(model, b, k, w, is_birth):
    if is_birth:
        append(model, b, b.m[k], w)
    else:
        remove_column(b, k)


@scalar
def append(model, b, m, w):
    """The pattern proposed in row K becomes a column."""
    k = b.whole[COLUMNS]
    b.w[k] = w
    b.m[k] = m
    b.log_rate[k] = log_rate(model.prior, b, k, m)
    b.whole[COLUMNS] = k + 1
