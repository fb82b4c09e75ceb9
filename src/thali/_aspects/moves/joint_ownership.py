"""Joint draws of whether an object owns each of a few overlapping features.

Where two columns have nearly the same owners, an object that leaves one must join the other, which
single flips rarely achieve. Columns are chosen by the memberships of the other objects, so that the
choice does not depend on the drawn memberships.
"""

from typing import Any

import numpy as np

from thali._compile.jit import scalar, vectorised
from thali._inference.numerics.discrete_draws import draw_code, draw_index

from ..chain_state import BETA, COLUMNS, count_after_flip, count_options, flipped_weight, owns
from ..kernel_operations import (
    apply_member,
    log_rate_after_flip,
    weight_curvature,
    weight_gradient,
)
from .compensated_moves import find_lowest_bit, flip_owner

# columns drawn jointly; b.block has 2^BLOCK_COLUMNS outcomes, then the stiffness matrix
BLOCK_COLUMNS = 4
STIFFNESS_START = 1 << BLOCK_COLUMNS
MIN_SIMILARITY = 0.02  # added to the Jaccard index that gives the probability of a column


@scalar
def draw_joint_memberships(rng: np.random.Generator, model: Any, c: Any, b: Any) -> None:
    """For every object, draw its memberships in a few overlapping features jointly.

    Objects are visited in the order of storage, which does not depend on the state.
    """
    for i in range(count_options(b)):
        size = choose_overlapping_columns(rng, b, i)
        if size > 1:
            draw_object_memberships(rng, model, c, b, i, size)


@scalar
def choose_overlapping_columns(rng: np.random.Generator, b: Any, i: Any) -> Any:
    """Choose a random feature and a few that overlap with it; return their number.

    The columns are moved to the front of b.order. Only columns that another object owns are chosen,
    and memberships of object `i` are not counted.
    """
    n_columns = b.whole[COLUMNS]
    n_candidates = 0
    for k in range(n_columns):
        if b.m[k] - b.Z[k, i] > 0.0:
            b.order[n_candidates] = k
            n_candidates += 1
    if n_candidates < 2:
        return 0
    position = draw_index(rng, n_candidates)
    b.order[0], b.order[position] = b.order[position], b.order[0]
    first_column = b.order[0]
    total = 0.0
    for t in range(1, n_candidates):
        k = b.order[t]
        n_common = count_common_owners(b, first_column, k) - b.Z[first_column, i] * b.Z[k, i]
        n_union = b.m[first_column] + b.m[k] - b.Z[first_column, i] - b.Z[k, i] - n_common
        b.pi[t] = MIN_SIMILARITY + n_common / n_union
        total += b.pi[t]
    size = 1
    while size < BLOCK_COLUMNS and size < n_candidates:
        remainder = rng.random() * total
        position = n_candidates - 1
        for t in range(size, n_candidates):
            remainder -= b.pi[t]
            if remainder < 0.0:
                position = t
                break
        total -= b.pi[position]
        b.order[size], b.order[position] = b.order[position], b.order[size]
        b.pi[position] = b.pi[size]
        size += 1
    return size


@vectorised
def count_common_owners(b: Any, k: Any, j: Any) -> Any:
    """Count the owners that features k and j have in common."""
    total = 0.0
    for i in range(count_options(b)):
        total += b.Z[k, i] * b.Z[j, i]
    return total


@scalar
def draw_object_memberships(
    rng: np.random.Generator, model: Any, c: Any, b: Any, i: Any, size: Any
) -> None:
    """Draw object i's memberships in the chosen features from their joint conditional.

    Bit t of a code is the membership of object i in column b.order[t]; the codes are visited in
    Gray order.

        log p(code) = sum_t f_t (w_t p_t - w_t^2 q_tt / 2 + log prior odds)
                      - sum_(s < t) f_s f_t w_s w_t q_st,

    p_t the pull of the residuals without these columns, q_st the stiffness.
    """
    old_code = 0
    for t in range(size):
        k = b.order[t]
        old_code |= int(b.Z[k, i]) << t
        b.candidates[t] = b.real[BETA] * weight_gradient(model.likelihood, c, b, k, i)
        for s in range(t + 1):
            stiffness = b.real[BETA] * weight_curvature(model.likelihood, c, b, k, b.order[s], i)
            b.block[STIFFNESS_START + BLOCK_COLUMNS * t + s] = stiffness
            b.block[STIFFNESS_START + BLOCK_COLUMNS * s + t] = stiffness
    for t in range(size):
        for s in range(size):
            if (old_code >> s) & 1:
                b.candidates[t] += (
                    b.w[b.order[s]] * b.block[STIFFNESS_START + BLOCK_COLUMNS * t + s]
                )
    b.block[0] = 0.0
    max_log_posterior = 0.0
    code = 0
    for visit in range(1, 1 << size):
        bit = find_lowest_bit(visit)
        log_posterior = b.block[code]
        change = membership_log_odds(model, b, i, bit, code, size)
        if (code >> bit) & 1:
            change = -change
        code ^= 1 << bit
        b.block[code] = log_posterior + change
        max_log_posterior = max(max_log_posterior, b.block[code])
    new_code = draw_code(rng, b, 1 << size, max_log_posterior)
    for t in range(size):
        if ((new_code ^ old_code) >> t) & 1:
            k = b.order[t]
            apply_member(model.likelihood, c, b, k, i, flipped_weight(b, k, i))
            flip_owner(model.prior, b, k, i)


@scalar
def membership_log_odds(model: Any, b: Any, i: Any, bit: Any, code: Any, size: Any) -> Any:
    """Return the log posterior odds that bit `bit` of object i's membership code is 1."""
    k = b.order[bit]
    force = b.candidates[bit] - 0.5 * b.w[k] * b.block[STIFFNESS_START + (BLOCK_COLUMNS + 1) * bit]
    for s in range(size):
        if s != bit and (code >> s) & 1:
            force -= b.w[b.order[s]] * b.block[STIFFNESS_START + BLOCK_COLUMNS * bit + s]
    log_prior_odds = (
        log_rate_after_flip(model.prior, b, k, i, count_after_flip(b, k, i)) - b.log_rate[k]
    )
    if owns(b, i, k):
        log_prior_odds = -log_prior_odds
    return b.w[k] * force + log_prior_odds
