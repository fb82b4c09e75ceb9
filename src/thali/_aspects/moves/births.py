"""Moves 2 and 3: birth and death of columns.

The columns form a Poisson process, so a birth proposed from it is accepted with probability min(1,
L'/L * alpha * rate / (K + 1)) and a death with min(1, L'/L * K / (alpha * rate)). In a
*compensated* birth the owners' unique weights fall by the new weight, which leaves every comparison
of an owner with a non-owner as it was.
"""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import accept, draw_index

from ..operations import (
    apply_compensated_weight,
    apply_weight,
    delta_compensated_weight,
    delta_weight,
    draw_pattern,
    log_rate,
)
from ..state import ALPHA, BETA, COLUMNS, capacity, least_unique, remove_column
from ..weight_priors import weight
from .unique_weights import log_compensated_ratio, log_weight, shift_unique


@scalar
def birth_or_death(rng: Any, model: Any, c: Any, b: Any, rate: Any) -> None:
    """Move 2. `rate` is the total arrival rate of the patterns that a column may have, per unit of
    alpha."""
    is_birth = rng.random() < 0.5
    k = choose_or_propose(rng, model, b, is_birth)
    if k < 0:
        return
    d = weight(rng, model) if is_birth else -b.w[k]
    ratio = b.real[BETA] * delta_weight(model.likelihood, c, b, k, b.m[k], d) + log_balance(
        b, rate, is_birth
    )
    if accept(rng, ratio):
        apply_weight(model.likelihood, c, b, k, b.m[k], d)
        commit(model, b, k, d, is_birth)


@scalar
def compensated_birth_or_death(rng: Any, model: Any, c: Any, b: Any, rate: Any) -> None:
    """Move 3: w ~ Uniform(0, c), c the least unique weight among the owners, whose unique weights
    fall by w."""
    is_birth = rng.random() < 0.5
    k = choose_or_propose(rng, model, b, is_birth)
    if k < 0:
        return
    least = least_unique(b, k)
    d = rng.random() * least if is_birth else -b.w[k]
    if is_birth and not 0.0 < d < least:
        return
    log_proposal_ratio = math.log(least if is_birth else least - d) + log_weight(model, abs(d))
    ratio = log_balance(b, rate, is_birth) + (
        log_proposal_ratio if is_birth else -log_proposal_ratio
    )
    change = b.real[BETA] * delta_compensated_weight(model.likelihood, c, b, k, b.m[k], d)
    ratio += change + log_compensated_ratio(model, b, k, b.m[k], d)
    if accept(rng, ratio):
        apply_compensated_weight(model.likelihood, c, b, k, b.m[k], d)
        shift_unique(model, b, k, d)
        commit(model, b, k, d, is_birth)


@scalar
def choose_or_propose(rng: Any, model: Any, b: Any, is_birth: Any) -> Any:
    """The row of a random column (death) or of a proposed pattern (birth); -1 if there is none."""
    k = choose_row(rng, b, is_birth)
    if is_birth and k >= 0:
        b.m[k] = draw_pattern(model.prior, rng, b, k, model.lo, model.hi)
    return k


@scalar
def choose_row(rng: Any, b: Any, is_birth: Any) -> Any:
    """The first free row (birth) or that of a random column (death); -1 if there is none."""
    columns = b.whole[COLUMNS]
    if is_birth:
        return columns if columns < capacity(b) else -1
    return draw_index(rng, columns) if columns > 0 else -1


@scalar
def log_balance(b: Any, rate: Any, is_birth: Any) -> Any:
    """log of alpha * rate / (K + 1) for a birth, of K / (alpha * rate) for a death."""
    columns = b.whole[COLUMNS]
    if is_birth:
        return math.log(b.real[ALPHA] * rate / (columns + 1))
    return -math.log(b.real[ALPHA] * rate / columns)


@scalar
def commit(model: Any, b: Any, k: Any, w: Any, is_birth: Any) -> None:
    if is_birth:
        append(model, b, b.m[k], w)
    else:
        remove_column(b, k)


@scalar
def append(model: Any, b: Any, m: Any, w: Any) -> None:
    """The pattern proposed in row K becomes a column."""
    k = b.whole[COLUMNS]
    b.w[k] = w
    b.m[k] = m
    b.log_rate[k] = log_rate(model.prior, b, k, m)
    b.whole[COLUMNS] = k + 1
