"""The arithmetic of elimination on pairs, laid out for vector instructions.

The pairs of option i with each compared option fill whole blocks of eight SIMD lanes. Every pair is
stored twice, once in the blocks of each of its options, and `transposed` holds the position of the
other copy. Missing neighbours have no counts. One row kernel with four numbers serves every change
that a move can make to the pairs of option i: the weight of its own side grows by a0 + a1 z[j] and
that of the other by b0 + b1 z[j], where z is a row of Z and j the neighbour. Where options have no
unique aspects, four more numbers give in the same way the change of the number of columns on each
side: a side without columns is empty, whatever rounding leaves of its weights.

With ties (Davidson 1970) r = nu sqrt(p q), and P(i), P(tie), P(j) are p, r, q over 1 + r: half of
the ties count as choices of either option, and every comparison subtracts log (1 + r).

With covariates a pair has a lane for each different values x of them, and the weight of its first
side is lifted by exp(x'beta), that of the other copy by exp(-x'beta); see `pair_covariates`.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import generic, scalar, vectorised
from thali._inference.indexing import part_bounds
from thali._inference.numerics.logarithm import fast_log

WIDTH = 8
# fields of a block, WIDTH numbers each: weights that count for i and for the neighbour, choices of
# i and of the neighbour, their log-likelihood, scratch; without unique aspects the numbers of
# columns on the two sides; with covariates x'beta and exp(x'beta). Constant distances in one array
# let the compiler see that the fields do not overlap.
FIELDS, FIELDS_WITHOUT_UNIQUE, FIELDS_WITH_COVARIATES = 6, 8, 10
OWN, OTHER, WINS, LOSSES, LOGLIK, Z, OWN_COLUMNS, OTHER_COLUMNS, ETA, LIFT = range(
    0, FIELDS_WITH_COVARIATES * WIDTH, WIDTH
)
ERROR, TIE, TIED = range(3)  # positions in PairCache.real
MIN_WEIGHT = 1e-290  # weight of an empty side: two of them give probability 1/2
ROUNDING = 1e-15  # of the sum of all weights: error of a side that a sweep may leave
# times the errors since the cache was filled: the least weight of a side that is trusted
TRUSTED = 1e5


class PairBlocks(NamedTuple):
    """Pairs of compared options. Never changed."""

    start: np.ndarray  # (n + 1,) int64: option i has blocks start[i] to start[i + 1] - 1
    neighbour: np.ndarray  # (blocks, WIDTH) uint64; n where there is none
    transposed: np.ndarray  # (blocks, WIDTH) uint64: flat position of the other copy
    wins: np.ndarray  # (blocks, WIDTH)
    losses: np.ndarray
    scale: float  # 1 - lapse
    base: float  # lapse / 2


class PairsWithoutUnique(PairBlocks):
    """The same where options have no unique aspects, so that a side may be without columns."""


class PairsWithTies(PairBlocks):
    """Pairs of which neither may be chosen: wins and losses each include half of the ties."""


class PairsWithTiesWithoutUnique(PairsWithTies):
    """The same where options have no unique aspects."""


class PairCache(NamedTuple):
    """What a chain stores of the pairs."""

    block: np.ndarray  # (blocks, fields * WIDTH)
    # ERROR: bound on the rounding error of a side's weight since the cache was filled; with ties or
    # covariates also TIE, the parameter nu, and TIED, the number of ties; then the coefficients of
    # covariates
    real: np.ndarray


@vectorised
def log_term(own: Any, other: Any, wins: Any, losses: Any, scale: Any, base: Any) -> Any:
    """wins * log p + losses * log (1 - p), where p = scale * own / (own + other) + base."""
    share = scale / (own + other)
    return wins * fast_log(own * share + base) + losses * fast_log(other * share + base)


@generic
def may_be_empty(pairs: Any) -> None:
    """Whether a side may be without a column; with unique aspects it never is."""


@generic
def has_ties(pairs: Any) -> None:
    """Whether neither option of a pair may be chosen."""


@generic
def first_side(pairs: Any, c: Any, v: Any, t: Any, own: Any) -> None:
    """The weight of the first side of a pair as it counts in its lane: never 0, and lifted by
    covariates."""


@generic
def second_side(pairs: Any, other: Any) -> None:
    """The weight of the second side of a pair as it counts: never 0."""


@generic
def fill_lifts(pairs: Any, c: Any) -> None:
    """What covariates lift the first sides by, from their coefficients; default: there are none."""


def yes(pairs: Any) -> Any:
    """Answer that it is so."""
    return True


def no(pairs: Any) -> Any:
    """Answer that it is not so."""
    return False


def _first_side(pairs: Any, c: Any, v: Any, t: Any, own: Any) -> Any:
    return max(own, MIN_WEIGHT)


def _second_side(pairs: Any, other: Any) -> Any:
    return max(other, MIN_WEIGHT)


PAIRS_ALONE: dict[tuple[bool, bool], type[Any]] = {  # by whether there are unique aspects, and ties
    (True, False): PairBlocks,
    (False, False): PairsWithoutUnique,
    (True, True): PairsWithTies,
    (False, True): PairsWithTiesWithoutUnique,
}
for (_unique, _ties), _cls in PAIRS_ALONE.items():
    may_be_empty.register(_cls)(no if _unique else yes)
    has_ties.register(_cls)(yes if _ties else no)
    first_side.register(_cls)(_first_side)
    second_side.register(_cls)(_second_side)


@fill_lifts.register(object)
def _fill_no_lifts(pairs: Any, c: Any) -> None:
    pass


@vectorised
def balance(own: Any, other: Any, scale: Any, base: Any) -> Any:
    """sqrt(p (1 - p)): what the odds of a tie are proportional to."""
    share = scale / (own + other)
    return math.sqrt((own * share + base) * (other * share + base))


@vectorised
def term_of(pairs: Any, c: Any, own: Any, other: Any, wins: Any, losses: Any) -> Any:
    """The log-likelihood of a pair."""
    if has_ties(pairs):
        tie = 1.0 + c.real[TIE] * balance(own, other, pairs.scale, pairs.base)
        return log_term(own, other, wins, losses, pairs.scale, pairs.base) - (
            wins + losses
        ) * fast_log(tie)
    return log_term(own, other, wins, losses, pairs.scale, pairs.base)


@vectorised
def on_side(pairs: Any, c: Any, v: Any, field: Any, weight: Any, columns: Any) -> Any:
    """The weight of a side after `columns` were added to it: 0 if it has no column, whatever
    rounding left."""
    if may_be_empty(pairs):
        return weight if c.block[v, field] + columns > 0.0 else 0.0
    return weight


@vectorised
def row_delta(pairs: Any, c: Any, b: Any, k: Any, i: Any, weights: Any, columns: Any) -> Any:
    """Change of the log-likelihood of option i's pairs; `weights` is (a0, a1, b0, b1), and
    `columns` likewise."""
    a0, a1, b0, b1 = weights
    e0, e1, f0, f1 = columns
    total = 0.0
    for v in range(pairs.start[i], pairs.start[i + 1]):
        for t in range(WIDTH):
            z = b.Z[k, pairs.neighbour[v, t]]
            own = on_side(
                pairs, c, v, OWN_COLUMNS + t, c.block[v, OWN + t] + a0 + a1 * z, e0 + e1 * z
            )
            other = on_side(
                pairs, c, v, OTHER_COLUMNS + t, c.block[v, OTHER + t] + b0 + b1 * z, f0 + f1 * z
            )
            own = first_side(pairs, c, v, t, own)
            other = second_side(pairs, other)
            term = term_of(pairs, c, own, other, c.block[v, WINS + t], c.block[v, LOSSES + t])
            total += term - c.block[v, LOGLIK + t]
    return total


@vectorised
def store(pairs: Any, c: Any, v: Any, t: Any, own: Any, other: Any) -> None:
    """Store the weights of both sides of a pair in its lane, with their log-likelihood."""
    own = on_side(pairs, c, v, OWN_COLUMNS + t, own, 0.0)
    other = on_side(pairs, c, v, OTHER_COLUMNS + t, other, 0.0)
    c.block[v, OWN + t] = own
    c.block[v, OTHER + t] = other
    own = first_side(pairs, c, v, t, own)
    other = second_side(pairs, other)
    wins, losses = c.block[v, WINS + t], c.block[v, LOSSES + t]
    c.block[v, LOGLIK + t] = term_of(pairs, c, own, other, wins, losses)


@scalar
def store_all(pairs: Any, c: Any) -> None:
    """Store the log-likelihood of every pair again, after a change of parameters."""
    for v in range(c.block.shape[0]):
        for t in range(WIDTH):
            store(pairs, c, v, t, c.block[v, OWN + t], c.block[v, OTHER + t])


@scalar
def row_apply(pairs: Any, c: Any, b: Any, k: Any, i: Any, weights: Any, columns: Any) -> None:
    """Make the change in option i's own blocks."""
    a0, a1, b0, b1 = weights
    e0, e1, f0, f1 = columns
    for v in range(pairs.start[i], pairs.start[i + 1]):
        for t in range(WIDTH):  # the gather first, so that the second loop touches one array only
            c.block[v, Z + t] = b.Z[k, pairs.neighbour[v, t]]
        for t in range(WIDTH):
            z = c.block[v, Z + t]
            if may_be_empty(pairs):
                c.block[v, OWN_COLUMNS + t] += e0 + e1 * z
                c.block[v, OTHER_COLUMNS + t] += f0 + f1 * z
            own = c.block[v, OWN + t] + a0 + a1 * z
            other = c.block[v, OTHER + t] + b0 + b1 * z
            store(pairs, c, v, t, own, other)


@scalar
def row_columns(pairs: Any, c: Any, b: Any, k: Any, i: Any, e0: Any, e1: Any) -> None:
    """Change the numbers of columns on option i's sides; the weights stay as they are."""
    for v in range(pairs.start[i], pairs.start[i + 1]):
        for t in range(WIDTH):
            c.block[v, OWN_COLUMNS + t] += e0 + e1 * b.Z[k, pairs.neighbour[v, t]]


@scalar
def update_transposed(pairs: Any, c: Any, i: Any) -> None:
    """Copy option i's blocks to the positions of the same pairs among its neighbours' blocks."""
    for v in range(pairs.start[i], pairs.start[i + 1]):
        for t in range(WIDTH):
            there = pairs.transposed[v, t]
            block = there // np.uint64(WIDTH)
            lane = there % np.uint64(WIDTH)
            c.block[block, np.uint64(OWN) + lane] = c.block[v, OTHER + t]
            c.block[block, np.uint64(OTHER) + lane] = c.block[v, OWN + t]
            if may_be_empty(pairs):
                c.block[block, np.uint64(OWN_COLUMNS) + lane] = c.block[v, OTHER_COLUMNS + t]
                c.block[block, np.uint64(OTHER_COLUMNS) + lane] = c.block[v, OWN_COLUMNS + t]
            c.block[block, np.uint64(LOGLIK) + lane] = c.block[v, LOGLIK + t]


@scalar
def fill(pairs: Any, c: Any, b: Any, columns: Any) -> None:
    """All blocks from the weights."""
    n = pairs.start.shape[0] - 1
    fill_lifts(pairs, c)
    for i in range(n):
        for v in range(pairs.start[i], pairs.start[i + 1]):
            for t in range(WIDTH):
                j = pairs.neighbour[v, t]
                own = b.s[i]
                other = b.s[j]
                own_columns = 0.0
                other_columns = 0.0
                for k in range(columns):
                    own += b.w[k] * b.Z[k, i] * (1.0 - b.Z[k, j])
                    other += b.w[k] * b.Z[k, j] * (1.0 - b.Z[k, i])
                    if may_be_empty(pairs):
                        own_columns += b.Z[k, i] * (1.0 - b.Z[k, j])
                        other_columns += b.Z[k, j] * (1.0 - b.Z[k, i])
                if may_be_empty(pairs):
                    c.block[v, OWN_COLUMNS + t] = own_columns
                    c.block[v, OTHER_COLUMNS + t] = other_columns
                store(pairs, c, v, t, own, other)
    c.real[ERROR] = 0.0


@scalar
def scale_sides(pairs: Any, c: Any, factor: Any, sum_of_weights: Any) -> Any:
    """Multiply all weights by a factor; returns whether the cache should be filled from scratch.

    Errors of rounding are multiplied as well, but no walk of the weights reverses that: within some
    dozen sweeps they may become as large as the weights.
    """
    c.real[ERROR] = c.real[ERROR] * factor + ROUNDING * sum_of_weights
    least = np.inf
    for v in range(c.block.shape[0]):
        for t in range(WIDTH):
            c.block[v, OWN + t] *= factor
            c.block[v, OTHER + t] *= factor
            side = c.block[v, OWN + t]
            if may_be_empty(pairs):
                side = side if c.block[v, OWN_COLUMNS + t] > 0.0 else np.inf
            # the sides of a missing neighbour are not updated
            if c.block[v, WINS + t] + c.block[v, LOSSES + t] > 0.0:
                least = min(least, side)
    return least < TRUSTED * c.real[ERROR]


@scalar
def total(pairs: Any, c: Any) -> Any:
    """The log-likelihood of all pairs, with the library's logarithm."""
    n = pairs.start.shape[0] - 1
    result = 0.0
    for i in range(n):
        for v in range(pairs.start[i], pairs.start[i + 1]):
            for t in range(WIDTH):
                j = pairs.neighbour[v, t]
                if i < j < n:
                    own = first_side(pairs, c, v, t, c.block[v, OWN + t])
                    other = second_side(pairs, c.block[v, OTHER + t])
                    p = pairs.scale * own / (own + other) + pairs.base
                    q = pairs.scale * other / (own + other) + pairs.base
                    if c.block[v, WINS + t] > 0.0:
                        result += c.block[v, WINS + t] * math.log(p)
                    if c.block[v, LOSSES + t] > 0.0:
                        result += c.block[v, LOSSES + t] * math.log(q)
                    if has_ties(pairs):
                        times = c.block[v, WINS + t] + c.block[v, LOSSES + t]
                        result -= times * math.log1p(c.real[TIE] * math.sqrt(p * q))
    if has_ties(pairs):
        result += c.real[TIED] * math.log(c.real[TIE])
    return result


def lay_out(
    cls: type[Any],
    n: int,
    first: Any,
    second: Any,
    wins: Any,
    losses: Any,
    lapse: float,
    x: Any = None,
) -> Any:
    """Arrange pairs with their covariates into blocks, in memory proportional to the pairs."""
    owner = np.concatenate([first, second])
    neighbour = np.concatenate([second, first])
    own_wins = np.concatenate([wins, losses]).astype(float)
    own_losses = np.concatenate([losses, wins]).astype(float)
    count = first.size
    degree = np.bincount(owner, minlength=n)
    blocks = -(-degree // WIDTH)
    start = part_bounds(blocks)
    order = np.lexsort((neighbour, owner))
    rank = np.arange(owner.size) - np.repeat(np.cumsum(degree) - degree, degree)
    position = np.empty(owner.size, np.int64)
    position[order] = start[owner[order]] * WIDTH + rank
    slots = int(start[-1]) * WIDTH

    def spread(values: Any, missing: Any, dtype: Any) -> Any:
        out = np.full(slots, missing, dtype)
        out[position] = values
        return out.reshape(-1, WIDTH)

    partner = np.concatenate([position[count:], position[:count]])
    transposed = np.arange(slots, dtype=np.uint64)  # a missing neighbour is its own copy
    transposed[position] = partner
    covariates = (
        {}
        if x is None
        else {"x": np.array([spread(np.append(each, -each), 0.0, float) for each in x.T])}
    )
    return cls(
        start=start,
        neighbour=spread(neighbour, n, np.uint64),
        transposed=transposed.reshape(-1, WIDTH),
        wins=spread(own_wins, 0.0, float),
        losses=spread(own_losses, 0.0, float),
        scale=1.0 - lapse,
        base=lapse / 2.0,
        **covariates,
    )


def empty_cache(pairs: Any, ties: float = 0.0, covariates: int = 0) -> PairCache:
    """Counts in place, of so many ties, and coefficients of covariates, which are 0; weights are
    filled in later."""
    fields = (
        FIELDS_WITH_COVARIATES
        if covariates
        else FIELDS_WITHOUT_UNIQUE
        if may_be_empty(pairs)
        else FIELDS
    )
    block = np.zeros((pairs.neighbour.shape[0], fields * WIDTH))
    block[:, WINS : WINS + WIDTH] = pairs.wins
    block[:, LOSSES : LOSSES + WIDTH] = pairs.losses
    known = has_ties(pairs) or covariates
    return PairCache(
        block, np.array([0.0, 1.0, ties, *[0.0] * covariates]) if known else np.zeros(1)
    )
