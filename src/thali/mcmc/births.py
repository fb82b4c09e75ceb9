"""Moves 2 and 3: birth and death of columns.

The columns form a Poisson process, so a birth proposed from it is accepted with probability min(1, L'/L * alpha *
rate / (K + 1)) and a death with min(1, L'/L * K / (alpha * rate)). In a *carved* birth the new weight is cut out of
the unique weights of the owners, which leaves every comparison of an owner with a non-owner as it was.
"""

import math

from thali._jit import scalar
from thali.mcmc.bag import ALPHA, COLUMNS, capacity, least_unique, remove_column
from thali.mcmc.chance import accept, index, weight
from thali.mcmc.unique import log_carve_ratio, log_weight, shift_unique
from thali.mcmc.verbs import apply_carve, apply_weight, delta_carve, delta_weight, draw_pattern, log_rate


@scalar
def birth_or_death(rng, model, c, b, rate):
    """Move 2. `rate`: the total arrival rate of the patterns that a column may have, per unit of alpha."""
    columns = b.whole[COLUMNS]
    if rng.random() < 0.5:
        if columns < capacity(b):
            m = draw_pattern(model.prior, rng, b, columns, model.lo, model.hi)
            w = weight(rng, model)
            ratio = delta_weight(model.likelihood, c, b, columns, m, w)
            if accept(rng, ratio + math.log(b.real[ALPHA] * rate / (columns + 1))):
                apply_weight(model.likelihood, c, b, columns, m, w)
                append(model, b, m, w)
    elif columns > 0:
        k = index(rng, columns)
        ratio = delta_weight(model.likelihood, c, b, k, b.m[k], -b.w[k])
        if accept(rng, ratio - math.log(b.real[ALPHA] * rate / columns)):
            apply_weight(model.likelihood, c, b, k, b.m[k], -b.w[k])
            remove_column(b, k)


@scalar
def carved_birth_or_death(rng, model, c, b, rate):
    """Move 3: w ~ Uniform(0, c), c the least unique weight among the owners, whose unique weights fall by w."""
    columns = b.whole[COLUMNS]
    if rng.random() < 0.5:
        if columns < capacity(b):
            m = draw_pattern(model.prior, rng, b, columns, model.lo, model.hi)
            least = least_unique(b, columns)
            w = rng.random() * least
            if 0.0 < w < least:
                ratio = delta_carve(model.likelihood, c, b, columns, m, w) + log_carve_ratio(model, b, columns, m, w)
                proposal = math.log(b.real[ALPHA] * rate * least / (columns + 1)) + log_weight(model, w)
                if accept(rng, ratio + proposal):
                    apply_carve(model.likelihood, c, b, columns, m, w)
                    shift_unique(model, b, columns, w)
                    append(model, b, m, w)
    elif columns > 0:
        k = index(rng, columns)
        m = b.m[k]
        w = b.w[k]
        ratio = delta_carve(model.likelihood, c, b, k, m, -w) + log_carve_ratio(model, b, k, m, -w)
        proposal = math.log(b.real[ALPHA] * rate * (least_unique(b, k) + w) / columns) + log_weight(model, w)
        if accept(rng, ratio - proposal):
            apply_carve(model.likelihood, c, b, k, m, -w)
            shift_unique(model, b, k, -w)
            remove_column(b, k)


@scalar
def append(model, b, m, w):
    """The pattern proposed in row K becomes a column."""
    k = b.whole[COLUMNS]
    b.w[k] = w
    b.m[k] = m
    b.log_rate[k] = log_rate(model.prior, b, k, m)
    b.whole[COLUMNS] = k + 1
