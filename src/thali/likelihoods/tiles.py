"""The arithmetic of elimination on pairs, laid out for vector instructions.

The pairs of option i, with each option it was compared with, fill whole tiles of eight lanes; every pair therefore
stands twice, once in the tiles of either option, and `mirror` says where the other copy is. Missing neighbours have
no counts. One row kernel with four numbers serves every change that a move can make to the pairs of option i: the
weight of its own side grows by a0 + a1 z[j] and that of the other by b0 + b1 z[j], where z is a row of Z and j the
neighbour. Where options have no unique aspects, four more numbers say likewise how many columns come to stand on a
side: a side without any is empty, whatever rounding leaves of the weights that stood on it.
"""

import math
from typing import NamedTuple

import numpy as np

from thali._jit import generic, lanes, scalar
from thali.mcmc.logarithm import fast_log

LANES = 8
# fields of a tile, LANES numbers each: weights that count for i and for the neighbour, choices of i and of the
# neighbour, their log-likelihood, scratch; without unique aspects how many columns the weights belong to. Constant
# distances in one array let the compiler see that they do not overlap.
FIELDS, FIELDS_WITHOUT_UNIQUE = 6, 8
OWN, OTHER, WINS, LOSSES, LOGLIK, Z, OWN_COLUMNS, OTHER_COLUMNS = range(0, FIELDS_WITHOUT_UNIQUE * LANES, LANES)
ERROR = 0  # position in PairCache.real
LEAST = 1e-290  # weight of an empty side: two of them give probability 1/2
ROUNDING = 1e-15  # of the sum of all weights: error of a side that a sweep may leave
TRUSTED = 1e5  # a side must be so many times as heavy as the errors since the cache was filled


class Pairs(NamedTuple):
    """Pairs of compared options. Never changed."""

    start: np.ndarray  # (n + 1,) int64: option i has tiles start[i] to start[i + 1] - 1
    neighbour: np.ndarray  # (tiles, LANES) uint64; n where there is none
    mirror: np.ndarray  # (tiles, LANES) uint64: flat position of the other copy
    wins: np.ndarray  # (tiles, LANES)
    losses: np.ndarray
    scale: float  # 1 - lapse
    base: float  # lapse / 2


class PairsWithoutUnique(Pairs):
    """The same where options have no unique aspects, so that no column may stand on a side."""


class PairCache(NamedTuple):
    """What a chain keeps of the pairs."""

    tile: np.ndarray  # (tiles, fields * LANES)
    real: np.ndarray  # (1,) ERROR: what rounding may have done to the weight of a side since the cache was filled


@lanes
def log_term(own, other, wins, losses, scale, base):
    """wins * log p + losses * log (1 - p), where p = scale * own / (own + other) + base."""
    share = scale / (own + other)
    return wins * fast_log(own * share + base) + losses * fast_log(other * share + base)


@generic
def may_be_empty(pairs):
    """Whether a side may be without a column: a unique aspect never goes."""


@may_be_empty.register(Pairs)
def _never_empty(pairs):
    return False


@may_be_empty.register(PairsWithoutUnique)
def _may_be_empty(pairs):
    return True


@lanes
def on_side(pairs, c, v, field, weight, columns):
    """The weight of a side, which `columns` come to stand on: none if they leave it empty, whatever rounding left."""
    if may_be_empty(pairs):
        return weight if c.tile[v, field] + columns > 0.0 else 0.0
    return weight


@lanes
def row_delta(pairs, c, b, k, i, weights, columns):
    """Change of the log-likelihood of option i's pairs; `weights` is (a0, a1, b0, b1), and `columns` likewise."""
    a0, a1, b0, b1 = weights
    e0, e1, f0, f1 = columns
    total = 0.0
    for v in range(pairs.start[i], pairs.start[i + 1]):
        for t in range(LANES):
            z = b.Z[k, pairs.neighbour[v, t]]
            own = on_side(pairs, c, v, OWN_COLUMNS + t, c.tile[v, OWN + t] + a0 + a1 * z, e0 + e1 * z)
            other = on_side(pairs, c, v, OTHER_COLUMNS + t, c.tile[v, OTHER + t] + b0 + b1 * z, f0 + f1 * z)
            own = max(own, LEAST)
            other = max(other, LEAST)
            term = log_term(own, other, c.tile[v, WINS + t], c.tile[v, LOSSES + t], pairs.scale, pairs.base)
            total += term - c.tile[v, LOGLIK + t]
    return total


@lanes
def store(pairs, c, v, t, own, other):
    """Put the weights of both sides of a pair into its lane, with their log-likelihood."""
    own = on_side(pairs, c, v, OWN_COLUMNS + t, own, 0.0)
    other = on_side(pairs, c, v, OTHER_COLUMNS + t, other, 0.0)
    c.tile[v, OWN + t] = own
    c.tile[v, OTHER + t] = other
    own = max(own, LEAST)
    other = max(other, LEAST)
    wins, losses = c.tile[v, WINS + t], c.tile[v, LOSSES + t]
    c.tile[v, LOGLIK + t] = log_term(own, other, wins, losses, pairs.scale, pairs.base)


@scalar
def row_apply(pairs, c, b, k, i, weights, columns):
    """Make the change in option i's own tiles."""
    a0, a1, b0, b1 = weights
    e0, e1, f0, f1 = columns
    for v in range(pairs.start[i], pairs.start[i + 1]):
        for t in range(LANES):  # the gather first, so that the second loop touches one array only
            c.tile[v, Z + t] = b.Z[k, pairs.neighbour[v, t]]
        for t in range(LANES):
            z = c.tile[v, Z + t]
            if may_be_empty(pairs):
                c.tile[v, OWN_COLUMNS + t] += e0 + e1 * z
                c.tile[v, OTHER_COLUMNS + t] += f0 + f1 * z
            own = c.tile[v, OWN + t] + a0 + a1 * z
            other = c.tile[v, OTHER + t] + b0 + b1 * z
            store(pairs, c, v, t, own, other)


@scalar
def row_columns(pairs, c, b, k, i, e0, e1):
    """So many columns more on option i's sides, whose weights stay as they are."""
    for v in range(pairs.start[i], pairs.start[i + 1]):
        for t in range(LANES):
            c.tile[v, OWN_COLUMNS + t] += e0 + e1 * b.Z[k, pairs.neighbour[v, t]]


@scalar
def row_mirror(pairs, c, i):
    """Copy option i's tiles to where its neighbours keep the same pairs."""
    for v in range(pairs.start[i], pairs.start[i + 1]):
        for t in range(LANES):
            there = pairs.mirror[v, t]
            tile = there // np.uint64(LANES)
            lane = there % np.uint64(LANES)
            c.tile[tile, np.uint64(OWN) + lane] = c.tile[v, OTHER + t]
            c.tile[tile, np.uint64(OTHER) + lane] = c.tile[v, OWN + t]
            if may_be_empty(pairs):
                c.tile[tile, np.uint64(OWN_COLUMNS) + lane] = c.tile[v, OTHER_COLUMNS + t]
                c.tile[tile, np.uint64(OTHER_COLUMNS) + lane] = c.tile[v, OWN_COLUMNS + t]
            c.tile[tile, np.uint64(LOGLIK) + lane] = c.tile[v, LOGLIK + t]


@scalar
def fill(pairs, c, b, columns):
    """All tiles from the weights."""
    n = pairs.start.shape[0] - 1
    for i in range(n):
        for v in range(pairs.start[i], pairs.start[i + 1]):
            for t in range(LANES):
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
                    c.tile[v, OWN_COLUMNS + t] = own_columns
                    c.tile[v, OTHER_COLUMNS + t] = other_columns
                store(pairs, c, v, t, own, other)
    c.real[ERROR] = 0.0


@scalar
def scale_sides(pairs, c, factor, sum_of_weights):
    """Multiply all weights by a factor; returns whether the cache should be filled from scratch.

    Errors of rounding are multiplied as the weights are, but no walk of the weights takes them back: within some dozen
    sweeps they may become as large as the weights themselves.
    """
    c.real[ERROR] = c.real[ERROR] * factor + ROUNDING * sum_of_weights
    least = np.inf
    for v in range(c.tile.shape[0]):
        for t in range(LANES):
            c.tile[v, OWN + t] *= factor
            c.tile[v, OTHER + t] *= factor
            side = c.tile[v, OWN + t]
            if may_be_empty(pairs):
                side = side if c.tile[v, OWN_COLUMNS + t] > 0.0 else np.inf
            if c.tile[v, WINS + t] + c.tile[v, LOSSES + t] > 0.0:  # nobody keeps the sides of a missing neighbour right
                least = min(least, side)
    return least < TRUSTED * c.real[ERROR]


@scalar
def total(pairs, c):
    """The log-likelihood of all pairs, with the library's logarithm."""
    n = pairs.start.shape[0] - 1
    result = 0.0
    for i in range(n):
        for v in range(pairs.start[i], pairs.start[i + 1]):
            for t in range(LANES):
                j = pairs.neighbour[v, t]
                if i < j < n:
                    own = max(c.tile[v, OWN + t], LEAST)
                    other = max(c.tile[v, OTHER + t], LEAST)
                    p = pairs.scale * own / (own + other) + pairs.base
                    q = pairs.scale * other / (own + other) + pairs.base
                    if c.tile[v, WINS + t] > 0.0:
                        result += c.tile[v, WINS + t] * math.log(p)
                    if c.tile[v, LOSSES + t] > 0.0:
                        result += c.tile[v, LOSSES + t] * math.log(q)
    return result


def lay_out(n: int, first, second, wins, losses, lapse: float, unique: bool = True) -> Pairs:
    """Arrange pairs (first[p], second[p]) into tiles; vectorised, memory proportional to the pairs."""
    owner = np.concatenate([first, second])
    neighbour = np.concatenate([second, first])
    own_wins = np.concatenate([wins, losses]).astype(float)
    own_losses = np.concatenate([losses, wins]).astype(float)
    count = first.size
    degree = np.bincount(owner, minlength=n)
    tiles = -(-degree // LANES)
    start = np.concatenate([[0], np.cumsum(tiles)]).astype(np.int64)
    order = np.lexsort((neighbour, owner))
    rank = np.arange(owner.size) - np.repeat(np.cumsum(degree) - degree, degree)
    position = np.empty(owner.size, np.int64)
    position[order] = start[owner[order]] * LANES + rank
    slots = int(start[-1]) * LANES

    def spread(values, missing, dtype):
        out = np.full(slots, missing, dtype)
        out[position] = values
        return out.reshape(-1, LANES)

    partner = np.concatenate([position[count:], position[:count]])
    mirror = np.arange(slots, dtype=np.uint64)  # a missing neighbour mirrors itself
    mirror[position] = partner
    return (Pairs if unique else PairsWithoutUnique)(
        start=start,
        neighbour=spread(neighbour, n, np.uint64),
        mirror=mirror.reshape(-1, LANES),
        wins=spread(own_wins, 0.0, float),
        losses=spread(own_losses, 0.0, float),
        scale=1.0 - lapse,
        base=lapse / 2.0,
    )


def empty_cache(pairs: Pairs) -> PairCache:
    """Counts in place, weights still to be filled in."""
    fields = FIELDS_WITHOUT_UNIQUE if may_be_empty(pairs) else FIELDS
    tile = np.zeros((pairs.neighbour.shape[0], fields * LANES))
    tile[:, WINS : WINS + LANES] = pairs.wins
    tile[:, LOSSES : LOSSES + LANES] = pairs.losses
    return PairCache(tile, np.zeros(1))
