"""Moves 2 and 3 of the sampler: birth and death of features.

The columns form a Poisson process, so a birth proposed from it is accepted with probability min(1,
L'/L * alpha * rate / (K + 1)) and a death with min(1, L'/L * K / (alpha * rate)). In a
*compensated* birth the owners' unique weights fall by the new weight, which leaves every comparison
of an owner with a non-owner unchanged.
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
from ..state import (
    ALPHA,
    BETA,
    COLUMNS,
    capacity,
    min_over_owners,
    remove_column,
)
from ..weight_priors import draw_prior_weight
from .unique_weights import log_compensated_ratio, log_weight_density, shift_unique_weights


@scalar
def propose_birth_or_death(rng: Any, model: Any, c: Any, b: Any, rate: Any) -> None:
    """Move 2: propose to add a new feature or to remove a random one.

    `rate` is the total arrival rate, per unit of alpha, of the patterns that a column may have.
    """
    is_birth = rng.random() < 0.5
    k = choose_column_or_pattern(rng, model, b, is_birth)
    if k < 0:
        return
    d = -b.w[k]
    if is_birth:
        d = draw_prior_weight(rng, model)
    ratio = b.real[BETA] * delta_weight(model.likelihood, c, b, k, b.m[k], d) + log_birth_ratio(
        b, rate, is_birth
    )
    if accept(rng, ratio):
        apply_weight(model.likelihood, c, b, k, b.m[k], d)
        update_columns(model, b, k, d, is_birth)


@scalar
def propose_compensated_birth_or_death(rng: Any, model: Any, c: Any, b: Any, rate: Any) -> None:
    """Move 3: propose a feature birth or death that unique weights compensate.

    The new weight is w ~ Uniform(0, c), where c is the smallest unique weight of the owners; their
    unique weights fall by w.
    """
    is_birth = rng.random() < 0.5
    k = choose_column_or_pattern(rng, model, b, is_birth)
    if k < 0:
        return
    min_unique = min_over_owners(b.s, b, k)
    d = -b.w[k]
    if is_birth:
        d = rng.random() * min_unique
        if not 0.0 < d < min_unique:
            return
    # the weight of a dead column goes to its owners, so that a birth could take it back
    log_proposal_ratio = math.log(min_unique - min(d, 0.0)) + log_weight_density(model, abs(d))
    if not is_birth:
        log_proposal_ratio = -log_proposal_ratio
    ratio = log_birth_ratio(b, rate, is_birth) + log_proposal_ratio
    change = b.real[BETA] * delta_compensated_weight(model.likelihood, c, b, k, b.m[k], d)
    ratio += change + log_compensated_ratio(model, b, k, b.m[k], d)
    if accept(rng, ratio):
        apply_compensated_weight(model.likelihood, c, b, k, b.m[k], d)
        shift_unique_weights(model, b, k, d)
        update_columns(model, b, k, d, is_birth)


@scalar
def choose_column_or_pattern(rng: Any, model: Any, b: Any, is_birth: Any) -> Any:
    """Choose a random feature (death) or draw new owners (birth); return the row, or -1."""
    k = choose_row(rng, b, is_birth)
    if is_birth and k >= 0:
        b.m[k] = draw_pattern(model.prior, rng, b, k, model.lo, model.hi)
    return k


@scalar
def choose_row(rng: Any, b: Any, is_birth: Any) -> Any:
    """Return the first free row for a birth, or a random feature for a death, else -1."""
    n_columns = b.whole[COLUMNS]
    if is_birth and n_columns < capacity(b):
        return n_columns
    if not is_birth and n_columns > 0:
        return draw_index(rng, n_columns)
    return -1


@scalar
def log_birth_ratio(b: Any, rate: Any, is_birth: Any) -> Any:
    """Return log(alpha rate / (K + 1)) for a birth, log(K / (alpha rate)) for a death."""
    n_columns = b.whole[COLUMNS]
    if is_birth:
        return math.log(b.real[ALPHA] * rate / (n_columns + 1))
    return -math.log(b.real[ALPHA] * rate / n_columns)


@scalar
def update_columns(model: Any, b: Any, k: Any, w: Any, is_birth: Any) -> None:
    """Add the newborn feature with weight w to the state, or remove the dead one."""
    if is_birth:
        append_column(model, b, b.m[k], w)
    else:
        remove_column(b, k)


@scalar
def append_column(model: Any, b: Any, m: Any, w: Any) -> None:
    """Turn the owners drawn in row K into a feature with m owners and weight w."""
    k = b.whole[COLUMNS]
    b.w[k] = w
    b.m[k] = m
    b.log_rate[k] = log_rate(model.prior, b, k, m)
    b.whole[COLUMNS] = k + 1
