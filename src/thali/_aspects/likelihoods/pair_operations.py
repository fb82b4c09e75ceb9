"""The operations of elimination on pairs, with unique aspects or without, with ties or covariates
or without."""

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar
from thali._data.answers import OUTCOMES
from thali._data.pairs import PairedComparisons
from thali._inference.numerics.logarithm import fast_log
from thali._inference.numerics.slices import draw_on_line, log_density

from .. import operations
from ..state import BETA, COLUMNS, count_born_columns, scratch_index, sum_weights
from .pair_blocks import (
    LOGLIK,
    LOSSES,
    OTHER,
    OWN,
    PAIRS_ALONE,
    TIE,
    TIED,
    WIDTH,
    WINS,
    PairCache,
    PairsWithTies,
    PairsWithTiesWithoutUnique,
    balance,
    empty_cache,
    fill,
    first_side,
    has_ties,
    lay_out,
    may_be_empty,
    row_apply,
    row_columns,
    row_delta,
    scale_sides,
    second_side,
    store_all,
    total,
    update_transposed,
)
from .pair_covariates import CLASSES as WITH_COVARIATES
from .pair_covariates import COEFFICIENTS, draw_coefficients


def compiled_pairs(data: PairedComparisons, lapse: float, unique: bool, ties: bool) -> Any:
    """The pairs as the samplers read them, and a function that makes a chain's cache."""
    cells, x = data.cells, None if data.covariates is None else data.cells.x
    cls = (PAIRS_ALONE if x is None else WITH_COVARIATES)[unique, ties]
    counts = cells.wins + cells.tied / 2.0, cells.losses + cells.tied / 2.0
    pairs = lay_out(cls, data.n_options, cells.first, cells.second, *counts, lapse, x)
    return pairs, partial(empty_cache, ties=float(data.tied.sum()), covariates=cells.x.shape[1])


EVERY = (*PAIRS_ALONE.values(), *WITH_COVARIATES.values())


def of_pairs(operation: Any, classes: Iterable[type[Any]] = EVERY) -> Callable[[Any], Any]:
    """Register the implementation of an operation for those classes of pairs."""

    def register(function: Any) -> Any:
        for cls in classes:
            operation.register(cls)(function)
        return function

    return register


# How the changes that moves make look to a pair (i, j): i joins h with weight w, own += w - w z[j],
# other -= w z[j]; the weight of h grows by d, own += d - d z[j] for the rows in h, or other += d
# z[j] for the rows outside, whichever are fewer; compensated changes, both sides -= d z[j]. The
# numbers of columns on the sides change likewise, but not by the unique weights that compensate,
# and not by a change of a weight alone.
SAME = (0.0, 0.0, 0.0, 0.0)


@of_pairs(operations.sees_full)
def _sees_full(pairs: Any) -> Any:
    return False


@of_pairs(operations.cache_at)
def _cache_at(pairs: Any, caches: Any, t: Any) -> Any:
    return PairCache(caches.block[t], caches.real[t])


@of_pairs(operations.is_scale_free)
def _is_scale_free(pairs: Any) -> Any:
    return True


@of_pairs(operations.delta_unique)
def _delta_own(pairs: Any, c: Any, b: Any, i: Any, d: Any) -> Any:
    return row_delta(pairs, c, b, 0, i, (d, 0.0, 0.0, 0.0), SAME)


@of_pairs(operations.apply_unique)
def _apply_own(pairs: Any, c: Any, b: Any, i: Any, d: Any) -> None:
    row_apply(pairs, c, b, 0, i, (d, 0.0, 0.0, 0.0), SAME)
    update_transposed(pairs, c, i)


@of_pairs(operations.delta_member)
def _delta_member(pairs: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    g = 1.0 if d > 0.0 else -1.0
    return row_delta(pairs, c, b, k, i, (d, -d, 0.0, -d), (g, -g, 0.0, -g))


@of_pairs(operations.apply_member)
def _apply_member(pairs: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    g = 1.0 if d > 0.0 else -1.0
    row_apply(pairs, c, b, k, i, (d, -d, 0.0, -d), (g, -g, 0.0, -g))
    update_transposed(pairs, c, i)


@scalar
def sides_of_weight(b: Any, k: Any, m: Any, d: Any) -> Any:
    """The smaller side of pattern k, 1: its owners, and by what their rows change in mass and in
    columns."""
    side = 1.0 if 2 * m <= b.Z.shape[1] - 1 else 0.0
    x, y = d * side, d * (1.0 - side)
    g, h = count_born_columns(b, k, d) * side, count_born_columns(b, k, d) * (1.0 - side)
    return side, (x, -x, 0.0, y), (g, -g, 0.0, h)


@of_pairs(operations.delta_weight)
def _delta_weight(pairs: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> Any:
    side, masses, columns = sides_of_weight(b, k, m, d)
    change = 0.0
    for i in range(b.Z.shape[1] - 1):
        if b.Z[k, i] == side:
            change += row_delta(pairs, c, b, k, i, masses, columns)
    return change


@of_pairs(operations.apply_weight)
def _apply_weight(pairs: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    side, masses, columns = sides_of_weight(b, k, m, d)
    for i in range(b.Z.shape[1] - 1):
        if b.Z[k, i] == side:
            row_apply(pairs, c, b, k, i, masses, columns)
            update_transposed(pairs, c, i)


@of_pairs(operations.delta_compensated_member)
def _delta_compensated_member(pairs: Any, c: Any, b: Any, i: Any, k: Any, d: Any) -> Any:
    g = 1.0 if d > 0.0 else -1.0
    return row_delta(pairs, c, b, k, i, (0.0, -d, 0.0, -d), (0.0, 0.0, 0.0, -g))


@of_pairs(operations.apply_compensated_member)
def _apply_compensated_member(pairs: Any, c: Any, b: Any, i: Any, k: Any, d: Any) -> None:
    g = 1.0 if d > 0.0 else -1.0
    row_apply(pairs, c, b, k, i, (0.0, -d, 0.0, -d), (0.0, 0.0, 0.0, -g))
    update_transposed(pairs, c, i)


@of_pairs(operations.delta_compensated_weight)
def _delta_compensated_weight(pairs: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> Any:
    change = 0.0
    for i in range(b.Z.shape[1] - 1):
        if b.Z[k, i] != 0.0:
            change += row_delta(pairs, c, b, k, i, (0.0, -d, 0.0, -d), SAME)
    return 0.5 * change  # every pair of owners was met from both sides


@of_pairs(operations.apply_compensated_weight)
def _apply_compensated_weight(pairs: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    for i in range(b.Z.shape[1] - 1):
        if b.Z[k, i] != 0.0:
            row_apply(pairs, c, b, k, i, (0.0, -d, 0.0, -d), SAME)


@of_pairs(operations.apply_transfer)
def _apply_transfer(pairs: Any, c: Any, b: Any, k: Any, other: Any, d: Any) -> None:
    # as by default; in addition column k is added to, or removed from, the side of `other` against
    # owners of neither
    rest = k if d > 0.0 else scratch_index(b)
    g = 1.0 if d > 0.0 else -1.0
    for i in range(b.Z.shape[1] - 1):
        if b.Z[other, i] != 0.0:
            row_apply(pairs, c, b, rest, i, (0.0, -d, 0.0, -d), (0.0, 0.0, 0.0, -g))
            if may_be_empty(pairs):
                row_columns(pairs, c, b, rest, i, g, -g)
                row_columns(pairs, c, b, other, i, 0.0, -g)
            update_transposed(pairs, c, i)


@of_pairs(operations.apply_copies)
def _apply_copies(pairs: Any, c: Any, b: Any, k: Any, extra: Any) -> None:
    if may_be_empty(pairs):
        for i in range(b.Z.shape[1] - 1):
            if b.Z[k, i] != 0.0:
                row_columns(pairs, c, b, k, i, extra, -extra)
                update_transposed(pairs, c, i)


@of_pairs(operations.apply_scale)
def _apply_scale(pairs: Any, c: Any, b: Any, factor: Any) -> None:
    if scale_sides(pairs, c, factor, sum_weights(b)):
        fill(pairs, c, b, b.whole[COLUMNS])


@of_pairs(operations.rebuild_cache)
def _rebuild(pairs: Any, c: Any, b: Any) -> None:
    fill(pairs, c, b, b.whole[COLUMNS])


@of_pairs(operations.log_likelihood)
def _log_likelihood(pairs: Any, c: Any, b: Any) -> Any:
    return total(pairs, c)


# The parameter of ties: the log-likelihood in log nu, T log nu - sum n log(1 + nu r), is concave,
# and so is its Gamma(1, 1) prior; a slice sampler draws from their product (Neal 2003, with
# stepping out).
STEP = 1.0  # of the interval on log nu


class TieLine(NamedTuple):
    """The logarithm of the parameter of ties given all weights, at the inverse temperature of the
    chain."""

    pairs: Any
    cache: Any
    state: Any


@log_density.register(TieLine)
def _log_density_of_tie(line: Any, log_tie: Any) -> Any:
    pairs, c, b = line
    tie = math.exp(log_tie)
    n = pairs.start.shape[0] - 1
    subtracted = 0.0
    for i in range(n):
        for v in range(pairs.start[i], pairs.start[i + 1]):
            for t in range(WIDTH):
                if i < pairs.neighbour[v, t] < n:
                    own = first_side(pairs, c, v, t, c.block[v, OWN + t])
                    other = second_side(pairs, c.block[v, OTHER + t])
                    times = c.block[v, WINS + t] + c.block[v, LOSSES + t]
                    subtracted += times * fast_log(
                        1.0 + tie * balance(own, other, pairs.scale, pairs.base)
                    )
    return b.real[BETA] * (c.real[TIED] * log_tie - subtracted) + log_tie - tie


@of_pairs(operations.draw_parameters, (PairsWithTies, PairsWithTiesWithoutUnique))
@scalar
def draw_tie(pairs: Any, rng: np.random.Generator, c: Any, b: Any) -> None:
    """The parameter of ties given all weights."""
    drawn = draw_on_line(rng, TieLine(pairs, c, b), math.log(c.real[TIE]), STEP)
    c.real[TIE] = math.exp(drawn)
    store_all(pairs, c)


@of_pairs(operations.draw_parameters, WITH_COVARIATES.values())
def _draw_coefficients(pairs: Any, rng: np.random.Generator, c: Any, b: Any) -> None:
    draw_coefficients(pairs, rng, c, b)
    if has_ties(pairs):
        draw_tie(pairs, rng, c, b)


@of_pairs(operations.draw_group_parameters, WITH_COVARIATES.values())
def _draw_tie_of_group(pairs: Any, rng: np.random.Generator, c: Any, b: Any) -> None:
    if has_ties(pairs):  # coefficients are common to all groups
        draw_tie(pairs, rng, c, b)


@of_pairs(operations.record_parameters, (PairsWithTies, PairsWithTiesWithoutUnique))
@scalar
def note_tie(pairs: Any, c: Any, b: Any, extra: Any, draw: Any) -> None:
    """The parameter of ties is the first."""
    extra[draw, 0] = c.real[TIE]


@of_pairs(operations.record_parameters, WITH_COVARIATES.values())
def _note_coefficients(pairs: Any, c: Any, b: Any, extra: Any, draw: Any) -> None:
    if has_ties(pairs):
        note_tie(pairs, c, b, extra, draw)
    ties = 1 if has_ties(pairs) else 0
    for m in range(pairs.x.shape[0]):
        extra[draw, ties + m] = c.real[COEFFICIENTS + m]


# The answers of people whose kind changes: of pair, or cell, e 3 e is a choice of the first option,
# 3 e + 1 one of the second, and 3 e + 2 of neither; their places are three times the flat position
# of the pair among the blocks of its first option, plus 0, 1 and 2. Half a tie counts as a choice
# of either option, and what the parameter of ties adds to its probability is that of the number of
# ties.


@of_pairs(operations.compute_answer_logs)
def _look_at_answers(pairs: Any, c: Any, b: Any, people: Any, logs: Any) -> None:
    for e in range(0, people.place.shape[0], OUTCOMES):
        slot = people.place[e] // OUTCOMES
        v, t = slot // WIDTH, slot % WIDTH
        own = first_side(pairs, c, v, t, c.block[v, OWN + t])
        other = second_side(pairs, c.block[v, OTHER + t])
        share = pairs.scale / (own + other)
        logs[e] = fast_log(own * share + pairs.base)
        logs[e + 1] = fast_log(other * share + pairs.base)
        if has_ties(pairs):
            one_of_three = fast_log(
                1.0 + c.real[TIE] * balance(own, other, pairs.scale, pairs.base)
            )
            logs[e + 2] = 0.5 * (logs[e] + logs[e + 1]) + math.log(c.real[TIE]) - one_of_three
            logs[e] -= one_of_three
            logs[e + 1] -= one_of_three


@of_pairs(operations.add_answer)
def _add_answer(pairs: Any, c: Any, people: Any, answer: Any, times: Any, log: Any) -> None:
    slot = people.place[answer] // OUTCOMES
    v, t = slot // WIDTH, slot % WIDTH
    there = pairs.transposed[v, t]
    block, lane = there // np.uint64(WIDTH), there % np.uint64(WIDTH)
    outcome = people.place[answer] % OUTCOMES
    wins = times if outcome == 0 else 0.0
    term = times * log
    if has_ties(pairs) and outcome == 2:
        wins = 0.5 * times
        c.real[TIED] += times
        term -= times * math.log(c.real[TIE])
    losses = times - wins
    c.block[v, WINS + t] += wins
    c.block[v, LOSSES + t] += losses
    c.block[v, LOGLIK + t] += term
    c.block[block, np.uint64(WINS) + lane] += losses
    c.block[block, np.uint64(LOSSES) + lane] += wins
    c.block[block, np.uint64(LOGLIK) + lane] += term


@of_pairs(operations.clear_answers)
def _forget_answers(pairs: Any, c: Any) -> None:
    for v in range(c.block.shape[0]):
        for t in range(WIDTH):
            c.block[v, WINS + t] = 0.0
            c.block[v, LOSSES + t] = 0.0
            c.block[v, LOGLIK + t] = 0.0
    if has_ties(pairs):
        c.real[TIED] = 0.0
