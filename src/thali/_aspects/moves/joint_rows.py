"""The memberships of an object in a few overlapping columns, drawn together from their conditional.

Where two columns have nearly the same owners, an object that leaves one must join the other, which
one toggle after the other seldom does. Columns are chosen by what the other objects own, so that
what is drawn has no influence on it.
"""

from typing import Any

import numpy as np

from thali._compile.jit import scalar, vectorised
from thali._inference.numerics.decisions import draw_code, draw_index

from ..operations import apply_member, log_rate, log_rate_flipped, pull_on, stiffness_of
from ..state import BETA, COLUMNS

BLOCK = 4  # columns at a time; b.block has room for 2^BLOCK outcomes and BLOCK^2 numbers
FIRST = 1 << BLOCK  # of these numbers
MIN_SIMILARITY = 0.02  # added to the Jaccard index by which a column is chosen


@scalar
def joint_rows(rng: np.random.Generator, model: Any, c: Any, b: Any) -> None:
    """Once for every object, in the order of storage, which does not depend on the state."""
    for i in range(b.Z.shape[1] - 1):
        size = choose_overlapping(rng, b, i)
        if size > 1:
            draw_memberships(rng, model, c, b, i, size)


@scalar
def choose_overlapping(rng: np.random.Generator, b: Any, i: Any) -> Any:
    """A random column, and up to BLOCK - 1 others that share owners with it, to the front of
    b.order; returns how many.

    Only columns that another object owns are chosen; `i` is left out of everything that is counted.
    """
    columns = b.whole[COLUMNS]
    able = 0
    for k in range(columns):
        if b.m[k] - b.Z[k, i] > 0.0:
            b.order[able] = k
            able += 1
    if able < 2:
        return 0
    at = draw_index(rng, able)
    b.order[0], b.order[at] = b.order[at], b.order[0]
    first = b.order[0]
    total = 0.0
    for t in range(1, able):
        k = b.order[t]
        common = overlap(b, first, k) - b.Z[first, i] * b.Z[k, i]
        either = b.m[first] + b.m[k] - b.Z[first, i] - b.Z[k, i] - common
        b.pi[t] = MIN_SIMILARITY + common / either
        total += b.pi[t]
    size = 1
    while size < BLOCK and size < able:
        left = rng.random() * total
        at = able - 1
        for t in range(size, able):
            left -= b.pi[t]
            if left < 0.0:
                at = t
                break
        total -= b.pi[at]
        b.order[size], b.order[at] = b.order[at], b.order[size]
        b.pi[at] = b.pi[size]
        size += 1
    return size


@vectorised
def overlap(b: Any, k: Any, other: Any) -> Any:
    """The number of common owners of two columns."""
    total = 0.0
    for j in range(b.Z.shape[1] - 1):
        total += b.Z[k, j] * b.Z[other, j]
    return total


@scalar
def draw_memberships(
    rng: np.random.Generator, model: Any, c: Any, b: Any, i: Any, size: Any
) -> None:
    """Bit t of a code says whether object i owns column b.order[t]; the codes are visited in Gray
    order.

    log p(code) = sum_t f_t (w_t p_t - w_t^2 q_tt / 2 + log prior odds) - sum_(s < t) f_s f_t w_s
    w_t q_st, p_t the pull of the residuals without these columns, q_st the stiffness.
    """
    before = 0
    for t in range(size):
        k = b.order[t]
        before |= int(b.Z[k, i]) << t
        b.candidates[t] = b.real[BETA] * pull_on(model.likelihood, c, b, k, i)
        for s in range(t + 1):
            stiffness = b.real[BETA] * stiffness_of(model.likelihood, c, b, k, b.order[s], i)
            b.block[FIRST + BLOCK * t + s] = stiffness
            b.block[FIRST + BLOCK * s + t] = stiffness
    for t in range(size):
        for s in range(size):
            if (before >> s) & 1:
                b.candidates[t] += b.w[b.order[s]] * b.block[FIRST + BLOCK * t + s]
    b.block[0] = 0.0
    top = 0.0
    code = 0
    for visit in range(1, 1 << size):
        bit = 0
        while not (visit >> bit) & 1:
            bit += 1
        value = b.block[code]
        joins = not (code >> bit) & 1
        change = change_of(model, b, i, bit, code, size)
        code ^= 1 << bit
        b.block[code] = value + change if joins else value - change
        top = max(top, b.block[code])
    after = draw_code(rng, b, 1 << size, top)
    for t in range(size):
        if ((after ^ before) >> t) & 1:
            k = b.order[t]
            joins = b.Z[k, i] == 0.0
            apply_member(model.likelihood, c, b, k, i, b.w[k] if joins else -b.w[k])
            b.Z[k, i] = 1.0 - b.Z[k, i]
            b.m[k] += 1 if joins else -1
            b.log_rate[k] = log_rate(model.prior, b, k, b.m[k])


@scalar
def change_of(model: Any, b: Any, i: Any, bit: Any, code: Any, size: Any) -> Any:
    """What it adds to the log posterior that object i owns the column of a bit, given the other
    bits of the code."""
    k = b.order[bit]
    force = b.candidates[bit] - 0.5 * b.w[k] * b.block[FIRST + (BLOCK + 1) * bit]
    for s in range(size):
        if s != bit and (code >> s) & 1:
            force -= b.w[b.order[s]] * b.block[FIRST + BLOCK * bit + s]
    owns = b.Z[k, i] != 0.0
    other = log_rate_flipped(model.prior, b, k, i, b.m[k] - 1 if owns else b.m[k] + 1)
    odds = b.log_rate[k] - other if owns else other - b.log_rate[k]
    return b.w[k] * force + odds
