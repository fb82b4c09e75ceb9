"""Kernel operations of elimination on compared pairs: log-likelihood changes and cache updates."""

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import register_answers, scalar
from thali._data.pairs import PairedComparisons
from thali._inference.numerics.array_parts import part_range
from thali._inference.numerics.fast_logarithm import fast_log
from thali._inference.numerics.slice_sampling import draw_on_line, log_density

from .. import kernel_operations
from ..chain_state import (
    BETA,
    FeatureState,
    count_born_columns,
    count_options,
    owns,
    sum_weights,
)
from ..kernel_operations import select_remaining_row
from .pair_blocks import (
    LOSSES,
    PAIR_CLASSES,
    TIE,
    TIED,
    WEIGHT_I,
    WEIGHT_J,
    WIDTH,
    WINS,
    PairBlocks,
    PairCache,
    PairsWithTies,
    PairsWithTiesWithoutUnique,
    add_to_column_counts,
    apply_row,
    arrange_blocks,
    copy_to_neighbours,
    count_first_weight,
    count_second_weight,
    fill_blocks,
    has_empty_sides,
    has_ties,
    make_pair_cache,
    row_delta,
    scale_sides,
    store_all_pairs,
    tie_factor,
    total_log_likelihood,
)
from .pair_covariates import COVARIATE_PAIR_CLASSES as WITH_COVARIATES
from .pair_covariates import FIRST_COEFFICIENT, PairsWithCovariates, draw_coefficients


def build_pair_data(data: PairedComparisons, lapse: float, has_unique: bool, ties: bool) -> Any:
    """Return compared pairs as kernels read them, and a function that makes a cache."""
    comparison_cells = data.cells
    pair_class = PAIR_CLASSES[has_unique, ties]
    x = None
    if data.covariates is not None:
        pair_class = WITH_COVARIATES[has_unique, ties]
        x = comparison_cells.x
    pair_blocks = arrange_blocks(
        pair_class,
        data.n_options,
        comparison_cells.first,
        comparison_cells.second,
        comparison_cells.wins + comparison_cells.tied / 2.0,
        comparison_cells.losses + comparison_cells.tied / 2.0,
        lapse,
        x,
    )
    return pair_blocks, partial(
        make_pair_cache, n_ties=float(data.tied.sum()), n_covariates=comparison_cells.x.shape[1]
    )


ComparedPairs = PairBlocks | PairsWithCovariates
ALL_PAIR_CLASSES = (*PAIR_CLASSES.values(), *WITH_COVARIATES.values())


def register_operation(
    operation: Any, classes: Iterable[type[Any]] = ALL_PAIR_CLASSES
) -> Callable[[Any], Any]:
    """Return a decorator that registers a kernel operation for classes of pairs."""

    def register_function(function: Callable[..., Any]) -> Any:
        """Register the function for every class of pairs."""
        for cls in classes:
            operation.register(cls)(function)
        return function

    return register_function


# Changes of the side weights a_i and a_j of a pair (i, j). If i joins h with weight w: a_i += w - w
# z[j], a_j -= w z[j]. If the weight of h grows by d: a_i += d - d z[j] for the rows in h, or a_j +=
# d z[j] for the rows outside, whichever are fewer. Compensated changes: both sides -= d z[j]. The
# numbers of columns on the sides change in the same way, but not by compensating unique weights,
# and not by a change of a weight alone.
NO_CHANGE = (0.0, 0.0, 0.0, 0.0)


for _cls in ALL_PAIR_CLASSES:
    register_answers(
        _cls,
        {
            kernel_operations.sees_full: False,  # a column that all options own distinguishes none
            kernel_operations.is_scale_free: True,  # probabilities depend on ratios of weights only
        },
    )


@register_operation(kernel_operations.select_cache)
def _select_cache(pairs: ComparedPairs, caches: PairCache, t: int) -> Any:
    """Return views of the cache of the replica at temperature t."""
    return PairCache(caches.block[t], caches.real[t])


@scalar
def get_change_sign(d: Any) -> Any:
    """Return the sign of a weight's change d: columns that a side gains (+1) or loses (-1)."""
    if d > 0.0:
        return 1.0
    return -1.0


@register_operation(kernel_operations.delta_unique)
def _delta_unique(pairs: ComparedPairs, c: PairCache, b: FeatureState, i: int, d: float) -> Any:
    """Return the log-likelihood change if option i's unique weight grows by d."""
    return row_delta(pairs, c, b, 0, i, (d, 0.0, 0.0, 0.0), NO_CHANGE)


@register_operation(kernel_operations.apply_unique)
def _apply_unique(pairs: ComparedPairs, c: PairCache, b: FeatureState, i: int, d: float) -> None:
    """Update the cached pairs of option i: its unique weight grows by d."""
    apply_row(pairs, c, b, 0, i, (d, 0.0, 0.0, 0.0), NO_CHANGE)
    copy_to_neighbours(pairs, c, i)


@register_operation(kernel_operations.delta_member)
def _delta_member(
    pairs: ComparedPairs, c: PairCache, b: FeatureState, k: int, i: int, d: float
) -> Any:
    """Return the log-likelihood change if option i joins or leaves aspect k."""
    g = get_change_sign(d)
    return row_delta(pairs, c, b, k, i, (d, -d, 0.0, -d), (g, -g, 0.0, -g))


@register_operation(kernel_operations.apply_member)
def _apply_member(
    pairs: ComparedPairs, c: PairCache, b: FeatureState, k: int, i: int, d: float
) -> None:
    """Update the cached pairs of option i: it joins or leaves aspect k."""
    g = get_change_sign(d)
    apply_row(pairs, c, b, k, i, (d, -d, 0.0, -d), (g, -g, 0.0, -g))
    copy_to_neighbours(pairs, c, i)


@scalar
def weight_change_by_side(b: Any, k: Any, m: Any, d: Any) -> Any:
    """Return owners or non-owners of k, whichever are fewer (of m owners), and weight changes.

    The side is 1 for owners, 0 for other options; the changes are of weights and of numbers of
    columns.
    """
    side = 0.0
    if 2 * m <= count_options(b):
        side = 1.0
    x, y = d * side, d * (1.0 - side)
    g, h = count_born_columns(b, k, d) * side, count_born_columns(b, k, d) * (1.0 - side)
    return side, (x, -x, 0.0, y), (g, -g, 0.0, h)


@register_operation(kernel_operations.delta_weight)
def _delta_weight(
    pairs: ComparedPairs, c: PairCache, b: FeatureState, k: int, m: int, d: float
) -> Any:
    """Return the log-likelihood change if the weight of aspect k grows by d."""
    side, masses, columns = weight_change_by_side(b, k, m, d)
    change = 0.0
    for i in range(count_options(b)):
        if b.Z[k, i] == side:
            change += row_delta(pairs, c, b, k, i, masses, columns)
    return change


@register_operation(kernel_operations.apply_weight)
def _apply_weight(
    pairs: ComparedPairs, c: PairCache, b: FeatureState, k: int, m: int, d: float
) -> None:
    """Update the cached pairs: the weight of aspect k grows by d."""
    side, masses, columns = weight_change_by_side(b, k, m, d)
    for i in range(count_options(b)):
        if b.Z[k, i] == side:
            apply_row(pairs, c, b, k, i, masses, columns)
            copy_to_neighbours(pairs, c, i)


@register_operation(kernel_operations.delta_compensated_member)
def _delta_compensated_member(
    pairs: ComparedPairs, c: PairCache, b: FeatureState, i: int, k: int, d: float
) -> Any:
    """Return the log-likelihood change if option i joins column k and s[i] falls by d."""
    g = get_change_sign(d)
    return row_delta(pairs, c, b, k, i, (0.0, -d, 0.0, -d), (0.0, 0.0, 0.0, -g))


@register_operation(kernel_operations.apply_compensated_member)
def _apply_compensated_member(
    pairs: ComparedPairs, c: PairCache, b: FeatureState, i: int, k: int, d: float
) -> None:
    """Update the cache: option i joins column k and s[i] falls by d."""
    g = get_change_sign(d)
    apply_row(pairs, c, b, k, i, (0.0, -d, 0.0, -d), (0.0, 0.0, 0.0, -g))
    copy_to_neighbours(pairs, c, i)


@register_operation(kernel_operations.delta_compensated_weight)
def _delta_compensated_weight(
    pairs: ComparedPairs, c: PairCache, b: FeatureState, k: int, m: int, d: float
) -> Any:
    """Return the log-likelihood change if w[k] grows by d and owners' unique weights fall."""
    change = 0.0
    for i in range(count_options(b)):
        if owns(b, i, k):
            change += row_delta(pairs, c, b, k, i, (0.0, -d, 0.0, -d), NO_CHANGE)
    return 0.5 * change  # every pair of owners was visited from both sides


@register_operation(kernel_operations.apply_compensated_weight)
def _apply_compensated_weight(
    pairs: ComparedPairs, c: PairCache, b: FeatureState, k: int, m: int, d: float
) -> None:
    """Update the cache: w[k] grows by d and owners' unique weights fall."""
    for i in range(count_options(b)):
        if owns(b, i, k):
            apply_row(pairs, c, b, k, i, (0.0, -d, 0.0, -d), NO_CHANGE)


@register_operation(kernel_operations.apply_transfer)
def _apply_transfer(
    pairs: ComparedPairs, c: PairCache, b: FeatureState, k: int, partner: int, d: float
) -> None:
    # as by default; in addition column k is added to, or removed from, the side of `partner`
    # against owners of neither
    """Update the cache: k gets the scratch row's owners and w[partner] falls by d."""
    remaining_row = select_remaining_row(b, k, d)
    g = get_change_sign(d)
    for i in range(count_options(b)):
        if owns(b, i, partner):
            apply_row(pairs, c, b, remaining_row, i, (0.0, -d, 0.0, -d), (0.0, 0.0, 0.0, -g))
            if has_empty_sides(pairs):
                add_to_column_counts(pairs, c, b, remaining_row, i, g, -g)
                add_to_column_counts(pairs, c, b, partner, i, 0.0, -g)
            copy_to_neighbours(pairs, c, i)


@register_operation(kernel_operations.apply_copies)
def _apply_copies(pairs: ComparedPairs, c: PairCache, b: FeatureState, k: int, extra: int) -> None:
    """Add `extra` copies of aspect k to the aspect counts of its owners' pairs."""
    if has_empty_sides(pairs):
        for i in range(count_options(b)):
            if owns(b, i, k):
                add_to_column_counts(pairs, c, b, k, i, extra, -extra)
                copy_to_neighbours(pairs, c, i)


@register_operation(kernel_operations.apply_scale)
def _apply_scale(pairs: ComparedPairs, c: PairCache, b: FeatureState, factor: float) -> None:
    """Multiply all cached weights by a factor; refill the cache if errors grow large."""
    if scale_sides(pairs, c, factor, sum_weights(b)):
        fill_blocks(pairs, c, b)


register_operation(kernel_operations.rebuild_cache)(fill_blocks)
register_operation(kernel_operations.log_likelihood)(total_log_likelihood)


# Tie parameter: the log-likelihood in log nu, T log nu - sum n log(1 + nu r), is concave, and so is
# the Gamma(1, 1) prior; a slice sampler draws from their product (Neal 2003, with stepping out).
TIE_STEP = 1.0  # initial width on log nu


class AspectTieLine(NamedTuple):
    """Conditional density of the log tie parameter given all else, for slice sampling."""

    pairs: Any
    cache: Any
    state: Any


@log_density.register(AspectTieLine)
def _tie_log_density(line: AspectTieLine, log_tie: float) -> Any:
    """Return the log conditional density of a value of the log tie parameter."""
    pairs, c, b = line
    tie = math.exp(log_tie)
    n = pairs.start.size - 1
    subtracted = 0.0
    for i in range(n):
        for v in part_range(pairs.start, i):
            for t in range(WIDTH):
                if i < pairs.neighbour[v, t] < n:
                    weight_i = count_first_weight(pairs, c, v, t, c.block[v, WEIGHT_I + t])
                    weight_j = count_second_weight(pairs, c.block[v, WEIGHT_J + t])
                    n_comparisons = c.block[v, WINS + t] + c.block[v, LOSSES + t]
                    subtracted += n_comparisons * fast_log(
                        1.0 + tie * tie_factor(weight_i, weight_j, pairs.scale, pairs.base)
                    )
    return b.real[BETA] * (c.real[TIED] * log_tie - subtracted) + log_tie - tie


@register_operation(kernel_operations.draw_parameters, (PairsWithTies, PairsWithTiesWithoutUnique))
@scalar
def draw_tie(pairs: Any, rng: np.random.Generator, c: Any, b: Any) -> None:
    """Draw the tie parameter given all weights, by slice sampling."""
    log_tie = draw_on_line(rng, AspectTieLine(pairs, c, b), math.log(c.real[TIE]), TIE_STEP)
    c.real[TIE] = math.exp(log_tie)
    store_all_pairs(pairs, c)


@register_operation(kernel_operations.draw_parameters, WITH_COVARIATES.values())
def _draw_coefficients(
    pairs: PairsWithCovariates, rng: np.random.Generator, c: PairCache, b: FeatureState
) -> None:
    """Draw the coefficients of covariates, and the tie parameter if there are ties."""
    draw_coefficients(pairs, rng, c, b)
    if has_ties(pairs):
        draw_tie(pairs, rng, c, b)


@register_operation(
    kernel_operations.record_parameters, (PairsWithTies, PairsWithTiesWithoutUnique)
)
@scalar
def record_tie(pairs: Any, c: Any, b: Any, extra: Any, draw: Any) -> None:
    """Write the tie parameter into the first column of the record."""
    extra[draw, 0] = c.real[TIE]


@register_operation(kernel_operations.record_parameters, WITH_COVARIATES.values())
def _record_coefficients(
    pairs: PairsWithCovariates, c: PairCache, b: FeatureState, extra: np.ndarray, draw: int
) -> None:
    """Write the tie parameter and the coefficients into the record."""
    n_ties = 0
    if has_ties(pairs):
        record_tie(pairs, c, b, extra, draw)
        n_ties = 1
    for m in range(pairs.x.shape[0]):
        extra[draw, n_ties + m] = c.real[FIRST_COEFFICIENT + m]
