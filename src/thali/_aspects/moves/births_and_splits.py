"""Moves 2, 3 and 5 of the sampler: features are born and die, split and join.

The columns form a Poisson process, so a birth proposed from it is accepted with probability min(1,
L'/L * alpha * rate / (K + 1)) and a death with min(1, L'/L * K / (alpha * rate)). In a
*compensated* birth the owners' unique weights fall by the new weight, which leaves every comparison
of an owner with a non-owner unchanged.

In a split a column gives up the owners of another column, if they are a subset of its owners,
together with their weight; in a join it takes over the owners of a column with which it has none in
common. Only comparisons between the two groups of owners change.
"""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.discrete_draws import accept, draw_index, draw_other_index

from ..chain_state import (
    ALPHA,
    BETA,
    COLUMNS,
    accept_move,
    capacity,
    copy_row,
    count_options,
    min_over_owners,
    remove_column,
    scratch_index,
)
from ..kernel_operations import (
    apply_compensated_weight,
    apply_transfer,
    apply_weight,
    delta_compensated_weight,
    delta_transfer,
    delta_weight,
    draw_pattern,
    log_rate,
)
from ..weight_priors import draw_prior_weight, is_positive_prior, log_density_ratio
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
    gain = delta_weight(model.likelihood, c, b, k, b.m[k], d)
    if accept_move(rng, b, log_birth_ratio(b, rate, is_birth), gain):
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
    """Add the newborn feature k with weight w to the state, or remove the dead feature k."""
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


@scalar
def draw_column_pair(rng: Any, b: Any) -> Any:
    """Draw an ordered pair of features (k, l); return it, split or join sign, new size.

    The sign is that of the weight that l gains; the last value is the number of owners that k then
    has. The sign is 1 if the owners of l are a subset of the owners of k, which gives them up, -1
    if the two have no owner in common, so that k takes over the owners of l, and 0 otherwise.
    """
    n_columns = b.whole[COLUMNS]
    if n_columns < 2:
        return 0, 0, 0.0, 0
    k = draw_index(rng, n_columns)
    partner = draw_other_index(rng, n_columns, k)
    n_shared = 0.0
    for i in range(count_options(b)):
        n_shared += b.Z[k, i] * b.Z[partner, i]
    if b.m[partner] == 0:
        return k, partner, 0.0, b.m[k]
    if n_shared == b.m[partner]:
        return k, partner, 1.0, b.m[k] - b.m[partner]
    if n_shared == 0.0:
        return k, partner, -1.0, b.m[k] + b.m[partner]
    return k, partner, 0.0, b.m[k]


@scalar
def write_split_or_join(b: Any, k: Any, partner: Any, sign: Any) -> Any:
    """Write the owners that feature k would have into the scratch row; return the row."""
    scratch_row = scratch_index(b)
    for i in range(count_options(b)):
        b.Z[scratch_row, i] = b.Z[k, i] - sign * b.Z[partner, i]
    return scratch_row


@scalar
def propose_split_or_join(rng: Any, model: Any, c: Any, b: Any) -> None:
    """Move 5: propose that a random ordered pair of features splits or joins.

    If the owners of l are a subset of the owners of k, k gives them up and w[l] grows by w[k]. If
    the two have no owner in common and w[l] > w[k], or weights may have either sign, k also takes
    the owners of l and w[l] falls by w[k]. Where columns may be empty, k may give up all of its
    owners, and take the owners of l when it has none.
    """
    k, partner, sign, m = draw_column_pair(rng, b)
    if sign == 0.0 or m < model.lo or m > model.hi:
        return
    # mass that the owners of l lose against the other owners of k
    d = -sign * b.w[k]
    if is_positive_prior(model.weights) and b.w[partner] <= d:
        return
    scratch_row = write_split_or_join(b, k, partner, sign)
    rate = log_rate(model.prior, b, scratch_row, m)
    ratio = rate - b.log_rate[k] + log_density_ratio(model.weights, b.w[partner], -d)
    gain = delta_transfer(model.likelihood, c, b, k, partner, d)
    if accept_move(rng, b, ratio, gain):
        apply_transfer(model.likelihood, c, b, k, partner, d)
        copy_row(b, scratch_row, k)
        b.m[k] = m
        b.log_rate[k] = rate
        b.w[partner] -= d
