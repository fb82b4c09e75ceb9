"""Kernels of elimination on compared pairs, stored in blocks for vector instructions.

The pairs of option i with each compared option j fill blocks of eight SIMD lanes. Every pair is
stored twice, once in the blocks of each of its options; `transposed` contains the position of the
second copy. Missing neighbours have no counts. One row kernel with four numbers computes every
change that a move can make to the pairs of option i: the weight of side i grows by a0 + a1 z[j] and
the weight of side j by b0 + b1 z[j], where z is a row of Z. If options have no unique aspects, four
more numbers define the change in the number of columns on each side in the same way: a side without
columns is empty, whatever rounding leaves of its weights.

With ties (Davidson 1970) r = nu sqrt(p q), and P(i), P(tie), P(j) are p, r, q over 1 + r: half of
the ties are added to the choices of each option, and every comparison subtracts log (1 + r).

With covariates a pair has a lane for each distinct value of x. The weight of its first side is
multiplied by exp(x'beta), and by exp(-x'beta) in the second copy; see `pair_covariates`.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import generic, register_answers, scalar, vectorised
from thali._inference.index_arithmetic import part_bounds, part_positions
from thali._inference.numerics.array_parts import part_range
from thali._inference.numerics.fast_logarithm import fast_log

from ..chain_state import COLUMNS

WIDTH = 8
# Fields of a block, WIDTH numbers each: weights for i and for its neighbour j, choices of i and of
# j, their log-likelihood, scratch; without unique aspects the numbers of columns on the two sides;
# with covariates x'beta and exp(x'beta). Constant distances in one array show the compiler that the
# fields do not overlap.
FIELDS = 6
FIELDS_WITHOUT_UNIQUE = 8
FIELDS_WITH_COVARIATES = 10
WEIGHT_I, WEIGHT_J, WINS, LOSSES, LOGLIK, Z, COLUMNS_I, COLUMNS_J, ETA, COVARIATE_FACTOR = range(
    0, FIELDS_WITH_COVARIATES * WIDTH, WIDTH
)
ERROR, TIE, TIED = range(3)  # positions in PairCache.real
MIN_WEIGHT = 1e-290  # weight of an empty side: two empty sides give probability 1/2
ROUNDING = 1e-15  # error of a side after a sweep, as a fraction of the sum of all weights
# minimum weight of a side, as a multiple of the accumulated errors, before the cache is refilled
MIN_TRUSTED_RATIO = 1e5


class PairBlocks(NamedTuple):
    """Compared pairs as kernels read them, each stored once per option; read-only."""

    start: np.ndarray  # (n + 1,) int64: option i has blocks start[i] to start[i + 1] - 1
    neighbour: np.ndarray  # (blocks, WIDTH) uint64; n for a missing neighbour
    transposed: np.ndarray  # (blocks, WIDTH) uint64: flat position of the second copy
    wins: np.ndarray  # (blocks, WIDTH)
    losses: np.ndarray
    scale: float  # 1 - lapse
    base: float  # lapse / 2


class PairsWithoutUnique(PairBlocks):
    """Compared pairs in a model without unique aspects, so a side may have no aspect."""


class PairsWithTies(PairBlocks):
    """Compared pairs with ties; wins and losses each include half of the ties."""


class PairsWithTiesWithoutUnique(PairsWithTies):
    """Compared pairs with ties, in a model without unique aspects."""


class PairCache(NamedTuple):
    """A chain's cache: both options' weights and log-likelihood of each pair, and parameters."""

    block: np.ndarray  # (blocks, fields * WIDTH)
    # ERROR: bound on the rounding error of a side's weight since the cache was filled; with ties or
    # covariates also TIE, the parameter nu, and TIED, the number of ties; then the coefficients of
    # covariates
    real: np.ndarray


@vectorised
def binomial_log_term(
    weight_i: Any, weight_j: Any, wins: Any, losses: Any, scale: Any, base: Any
) -> Any:
    """Return wins * log p + losses * log (1 - p), with p the choice probability of i."""
    scaled_inverse = scale / (weight_i + weight_j)
    return wins * fast_log(weight_i * scaled_inverse + base) + losses * fast_log(
        weight_j * scaled_inverse + base
    )


@generic
def has_empty_sides(pairs: Any) -> Any:
    """Return whether an option of a pair may have no aspect that the other lacks."""


@generic
def has_ties(pairs: Any) -> Any:
    """Return whether comparisons may end in a tie."""


@generic
def count_first_weight(pairs: Any, c: Any, v: Any, t: Any, weight_i: Any) -> Any:
    """Return the weight of option i of a pair: positive, times the covariate factor."""


@generic
def count_second_weight(pairs: Any, weight_j: Any) -> Any:
    """Return the weight of option j of a pair, made positive."""


@generic
def fill_covariate_factors(pairs: Any, c: Any) -> None:
    """Fill exp(x'beta) of every pair from the coefficients; default: nothing."""


def _positive_first_weight(pairs: PairBlocks, c: PairCache, v: int, t: int, weight_i: float) -> Any:
    """Return the weight of option i of a pair, at least MIN_WEIGHT."""
    return max(weight_i, MIN_WEIGHT)


def _positive_second_weight(pairs: PairBlocks, weight_j: float) -> Any:
    """Return the weight of option j of a pair, at least MIN_WEIGHT."""
    return max(weight_j, MIN_WEIGHT)


PAIR_CLASSES: dict[
    tuple[bool, bool], type[Any]
] = {  # by whether there are unique aspects, and ties
    (True, False): PairBlocks,
    (False, False): PairsWithoutUnique,
    (True, True): PairsWithTies,
    (False, True): PairsWithTiesWithoutUnique,
}
for (_unique, _ties), _cls in PAIR_CLASSES.items():
    register_answers(_cls, {has_empty_sides: not _unique, has_ties: _ties})
    count_first_weight.register(_cls)(_positive_first_weight)
    count_second_weight.register(_cls)(_positive_second_weight)


@fill_covariate_factors.register(object)
def _fill_no_factors(pairs: PairBlocks, c: PairCache) -> None:
    """Do nothing: pairs without covariates have no covariate factors."""
    pass


@vectorised
def tie_factor(weight_i: Any, weight_j: Any, scale: Any, base: Any) -> Any:
    """Return sqrt(p (1 - p)); the odds of a tie are proportional to it."""
    scaled_inverse = scale / (weight_i + weight_j)
    return math.sqrt((weight_i * scaled_inverse + base) * (weight_j * scaled_inverse + base))


@vectorised
def pair_log_likelihood(
    pairs: Any, c: Any, weight_i: Any, weight_j: Any, wins: Any, losses: Any
) -> Any:
    """Return the log-likelihood of one compared pair from the weights of its options."""
    if has_ties(pairs):
        tie = 1.0 + c.real[TIE] * tie_factor(weight_i, weight_j, pairs.scale, pairs.base)
        return binomial_log_term(weight_i, weight_j, wins, losses, pairs.scale, pairs.base) - (
            wins + losses
        ) * fast_log(tie)
    return binomial_log_term(weight_i, weight_j, wins, losses, pairs.scale, pairs.base)


@vectorised
def add_to_side(pairs: Any, c: Any, v: Any, field: Any, weight: Any, columns: Any) -> Any:
    """Return an option's weight in a pair after adding aspects; 0 if none is left.

    Rounding may leave a weight on a side without columns.
    """
    if has_empty_sides(pairs):
        return weight if c.block[v, field] + columns > 0.0 else 0.0
    return weight


@vectorised
def row_delta(pairs: Any, c: Any, b: Any, k: Any, i: Any, weights: Any, columns: Any) -> Any:
    """Return the log-likelihood change of option i's pairs as weights change by owners of k.

    `weights` is (a0, a1, b0, b1), and `columns` the same for numbers of columns.
    """
    a0, a1, b0, b1 = weights
    e0, e1, f0, f1 = columns
    total = 0.0
    for v in part_range(pairs.start, i):
        for t in range(WIDTH):
            z = b.Z[k, pairs.neighbour[v, t]]
            weight_i = add_to_side(
                pairs, c, v, COLUMNS_I + t, c.block[v, WEIGHT_I + t] + a0 + a1 * z, e0 + e1 * z
            )
            weight_j = add_to_side(
                pairs, c, v, COLUMNS_J + t, c.block[v, WEIGHT_J + t] + b0 + b1 * z, f0 + f1 * z
            )
            weight_i = count_first_weight(pairs, c, v, t, weight_i)
            weight_j = count_second_weight(pairs, weight_j)
            term = pair_log_likelihood(
                pairs, c, weight_i, weight_j, c.block[v, WINS + t], c.block[v, LOSSES + t]
            )
            total += term - c.block[v, LOGLIK + t]
    return total


@vectorised
def store_pair(pairs: Any, c: Any, v: Any, t: Any, weight_i: Any, weight_j: Any) -> None:
    """Store the weights of both options of a pair, and the pair's log-likelihood."""
    weight_i = add_to_side(pairs, c, v, COLUMNS_I + t, weight_i, 0.0)
    weight_j = add_to_side(pairs, c, v, COLUMNS_J + t, weight_j, 0.0)
    c.block[v, WEIGHT_I + t] = weight_i
    c.block[v, WEIGHT_J + t] = weight_j
    weight_i = count_first_weight(pairs, c, v, t, weight_i)
    weight_j = count_second_weight(pairs, weight_j)
    wins, losses = c.block[v, WINS + t], c.block[v, LOSSES + t]
    c.block[v, LOGLIK + t] = pair_log_likelihood(pairs, c, weight_i, weight_j, wins, losses)


@scalar
def store_all_pairs(pairs: Any, c: Any) -> None:
    """Recompute the log-likelihood of every pair, after a change of parameters."""
    for v in range(c.block.shape[0]):
        for t in range(WIDTH):
            store_pair(pairs, c, v, t, c.block[v, WEIGHT_I + t], c.block[v, WEIGHT_J + t])


@scalar
def apply_row(pairs: Any, c: Any, b: Any, k: Any, i: Any, weights: Any, columns: Any) -> None:
    """Update the cached pairs of option i as weights change by owners of k."""
    a0, a1, b0, b1 = weights
    e0, e1, f0, f1 = columns
    for v in part_range(pairs.start, i):
        for t in range(WIDTH):  # the gather first, so that the second loop touches one array only
            c.block[v, Z + t] = b.Z[k, pairs.neighbour[v, t]]
        for t in range(WIDTH):
            z = c.block[v, Z + t]
            if has_empty_sides(pairs):
                c.block[v, COLUMNS_I + t] += e0 + e1 * z
                c.block[v, COLUMNS_J + t] += f0 + f1 * z
            weight_i = c.block[v, WEIGHT_I + t] + a0 + a1 * z
            weight_j = c.block[v, WEIGHT_J + t] + b0 + b1 * z
            store_pair(pairs, c, v, t, weight_i, weight_j)


@scalar
def add_to_column_counts(
    pairs: Any, c: Any, b: Any, k: Any, i: Any, constant: Any, slope: Any
) -> None:
    """Add constant + slope Z[k, j] to the column count of option i in each of its pairs (i, j)."""
    for v in part_range(pairs.start, i):
        for t in range(WIDTH):
            c.block[v, COLUMNS_I + t] += constant + slope * b.Z[k, pairs.neighbour[v, t]]


@scalar
def copy_to_neighbours(pairs: Any, c: Any, i: Any) -> None:
    """Copy the cached pairs of option i to the copies that its opponents have."""
    for v in part_range(pairs.start, i):
        for t in range(WIDTH):
            position = pairs.transposed[v, t]
            block = position // np.uint64(WIDTH)
            lane = position % np.uint64(WIDTH)
            c.block[block, np.uint64(WEIGHT_I) + lane] = c.block[v, WEIGHT_J + t]
            c.block[block, np.uint64(WEIGHT_J) + lane] = c.block[v, WEIGHT_I + t]
            if has_empty_sides(pairs):
                c.block[block, np.uint64(COLUMNS_I) + lane] = c.block[v, COLUMNS_J + t]
                c.block[block, np.uint64(COLUMNS_J) + lane] = c.block[v, COLUMNS_I + t]
            c.block[block, np.uint64(LOGLIK) + lane] = c.block[v, LOGLIK + t]


@scalar
def fill_blocks(pairs: Any, c: Any, b: Any) -> None:
    """Fill the cache of all pairs from aspects and weights."""
    n, n_columns = pairs.start.size - 1, b.whole[COLUMNS]
    fill_covariate_factors(pairs, c)
    for i in range(n):
        for v in part_range(pairs.start, i):
            for t in range(WIDTH):
                j = pairs.neighbour[v, t]
                weight_i = b.s[i]
                weight_j = b.s[j]
                columns_i = 0.0
                columns_j = 0.0
                for k in range(n_columns):
                    weight_i += b.w[k] * b.Z[k, i] * (1.0 - b.Z[k, j])
                    weight_j += b.w[k] * b.Z[k, j] * (1.0 - b.Z[k, i])
                    if has_empty_sides(pairs):
                        columns_i += b.Z[k, i] * (1.0 - b.Z[k, j])
                        columns_j += b.Z[k, j] * (1.0 - b.Z[k, i])
                if has_empty_sides(pairs):
                    c.block[v, COLUMNS_I + t] = columns_i
                    c.block[v, COLUMNS_J + t] = columns_j
                store_pair(pairs, c, v, t, weight_i, weight_j)
    c.real[ERROR] = 0.0


@scalar
def scale_sides(pairs: Any, c: Any, factor: Any, sum_of_weights: Any) -> Any:
    """Multiply all cached weights by a factor; return whether rounding requires a refill.

    Rounding errors are multiplied as well. A random walk of the scale does not reverse them, so
    they may become as large as the weights within some dozen sweeps.
    """
    c.real[ERROR] = c.real[ERROR] * factor + ROUNDING * sum_of_weights
    min_side = np.inf
    for v in range(c.block.shape[0]):
        for t in range(WIDTH):
            c.block[v, WEIGHT_I + t] *= factor
            c.block[v, WEIGHT_J + t] *= factor
            side = c.block[v, WEIGHT_I + t]
            if has_empty_sides(pairs):
                side = side if c.block[v, COLUMNS_I + t] > 0.0 else np.inf
            # the sides of a missing neighbour are not updated
            if c.block[v, WINS + t] + c.block[v, LOSSES + t] > 0.0:
                min_side = min(min_side, side)
    return min_side < MIN_TRUSTED_RATIO * c.real[ERROR]


@scalar
def total_log_likelihood(pairs: Any, c: Any, b: Any) -> Any:
    """Return the log-likelihood of all pairs, with the exact logarithm."""
    n = pairs.start.size - 1
    log_likelihood = 0.0
    for i in range(n):
        for v in part_range(pairs.start, i):
            for t in range(WIDTH):
                j = pairs.neighbour[v, t]
                if i < j < n:
                    weight_i = count_first_weight(pairs, c, v, t, c.block[v, WEIGHT_I + t])
                    weight_j = count_second_weight(pairs, c.block[v, WEIGHT_J + t])
                    p = pairs.scale * weight_i / (weight_i + weight_j) + pairs.base
                    q = pairs.scale * weight_j / (weight_i + weight_j) + pairs.base
                    if c.block[v, WINS + t] > 0.0:
                        log_likelihood += c.block[v, WINS + t] * math.log(p)
                    if c.block[v, LOSSES + t] > 0.0:
                        log_likelihood += c.block[v, LOSSES + t] * math.log(q)
                    if has_ties(pairs):
                        times = c.block[v, WINS + t] + c.block[v, LOSSES + t]
                        log_likelihood -= times * math.log1p(c.real[TIE] * math.sqrt(p * q))
    if has_ties(pairs):
        log_likelihood += c.real[TIED] * math.log(c.real[TIE])
    return log_likelihood


def arrange_blocks(
    cls: type[Any],
    n: int,
    first_options: np.ndarray,
    second_options: np.ndarray,
    wins: np.ndarray,
    losses: np.ndarray,
    lapse: float,
    x: np.ndarray | None = None,
) -> Any:
    """Arrange compared pairs (and covariates x) in blocks by option."""
    entry_option = np.concatenate([first_options, second_options])
    entry_opponent = np.concatenate([second_options, first_options])
    entry_wins = np.concatenate([wins, losses]).astype(float)
    entry_losses = np.concatenate([losses, wins]).astype(float)
    n_pairs = first_options.size
    n_neighbours = np.bincount(entry_option, minlength=n)
    n_blocks = -(-n_neighbours // WIDTH)
    block_starts = part_bounds(n_blocks)
    entry_order = np.lexsort((entry_opponent, entry_option))
    rank_within_option = part_positions(n_neighbours)
    slot_index = np.empty(entry_option.size, np.int64)
    slot_index[entry_order] = block_starts[entry_option[entry_order]] * WIDTH + rank_within_option
    n_slots = int(block_starts[-1]) * WIDTH

    def place_in_blocks(entries: np.ndarray, missing: float, dtype: type[Any]) -> Any:
        """Return one entry per pair at its positions in the blocks, else `missing`."""
        block = np.full(n_slots, missing, dtype)
        block[slot_index] = entries
        return block.reshape(-1, WIDTH)

    partner_slot = np.concatenate([slot_index[n_pairs:], slot_index[:n_pairs]])
    transposed = np.arange(n_slots, dtype=np.uint64)  # a missing neighbour is its own copy
    transposed[slot_index] = partner_slot
    covariate_fields = {}
    if x is not None:
        covariate_fields["x"] = np.array(
            [place_in_blocks(np.append(x_m, -x_m), 0.0, float) for x_m in x.T]
        )
    return cls(
        start=block_starts,
        neighbour=place_in_blocks(entry_opponent, n, np.uint64),
        transposed=transposed.reshape(-1, WIDTH),
        wins=place_in_blocks(entry_wins, 0.0, float),
        losses=place_in_blocks(entry_losses, 0.0, float),
        scale=1.0 - lapse,
        base=lapse / 2.0,
        **covariate_fields,
    )


def make_pair_cache(pairs: Any, n_ties: float = 0.0, n_covariates: int = 0) -> PairCache:
    """Make a chain's cache of compared pairs with counts; weights are filled later.

    The `covariates` coefficients are 0.
    """
    n_fields = FIELDS
    if n_covariates:
        n_fields = FIELDS_WITH_COVARIATES
    elif has_empty_sides(pairs):
        n_fields = FIELDS_WITHOUT_UNIQUE
    blocks = np.zeros((pairs.neighbour.shape[0], n_fields * WIDTH))
    blocks[:, WINS : WINS + WIDTH] = pairs.wins
    blocks[:, LOSSES : LOSSES + WIDTH] = pairs.losses
    parameters = np.zeros(1)
    if has_ties(pairs) or n_covariates:
        parameters = np.append([0.0, 1.0, n_ties], np.zeros(n_covariates))
    return PairCache(blocks, parameters)
