"""The operations of the most similar pair out of sets of pairs."""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar
from thali._inference.numerics.logarithm import fast_log
from thali._inference.numerics.slices import draw_on_line, log_density

from .. import operations
from ..state import BETA, COLUMNS, scratch_index
from .pair_sets import (
    CONSTANT,
    MIN_PROBABILITY,
    AnsweredPairSets,
    PairSums,
    change_between,
    change_member,
    empty_cache,
    evaluate,
    fill,
    lay_out,
)


def compiled_answers(data: Any, is_ratio: bool, lapse: float, shape: float, rate: float) -> Any:
    """The answers as the samplers read them, and a function that makes a chain's cache."""
    return lay_out(data, is_ratio, lapse, shape, rate), empty_cache


@operations.sees_full.register(AnsweredPairSets)
def _sees_full(sets: Any) -> Any:
    return sets.is_ratio


@operations.sees_single.register(AnsweredPairSets)
def _sees_single(sets: Any) -> Any:
    return False


@operations.is_scale_free.register(AnsweredPairSets)
def _is_scale_free(sets: Any) -> Any:
    return False  # with ratios a common factor on weights and constant is drawn with the constant


@operations.cache_at.register(AnsweredPairSets)
def _cache_at(sets: Any, caches: Any, t: Any) -> Any:
    return PairSums(
        caches.shared[t],
        caches.value[t],
        caches.trial_shared[t],
        caches.trial[t],
        caches.touched[t],
        caches.term[t],
        caches.real[t],
    )


@operations.delta_member.register(AnsweredPairSets)
def _delta_member(sets: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    return change_member(sets, c, b, k, i, d, False)


@operations.apply_member.register(AnsweredPairSets)
def _apply_member(sets: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    change_member(sets, c, b, k, i, d, True)


@operations.delta_weight.register(AnsweredPairSets)
def _delta_weight(sets: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> Any:
    return change_between(sets, c, b, k, k, d, False)


@operations.apply_weight.register(AnsweredPairSets)
def _apply_weight(sets: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    change_between(sets, c, b, k, k, d, True)


# Column k loses the owners of another, which takes their weight over, or the reverse: only what
# each of them shares with the rest of k changes.


@operations.delta_transfer.register(AnsweredPairSets)
def _delta_transfer(sets: Any, c: Any, b: Any, k: Any, other: Any, d: Any) -> Any:
    return change_between(sets, c, b, other, k if d > 0.0 else scratch_index(b), d, False)


@operations.apply_transfer.register(AnsweredPairSets)
def _apply_transfer(sets: Any, c: Any, b: Any, k: Any, other: Any, d: Any) -> None:
    change_between(sets, c, b, other, k if d > 0.0 else scratch_index(b), d, True)


@operations.rebuild_cache.register(AnsweredPairSets)
def _rebuild(sets: Any, c: Any, b: Any) -> None:
    fill(sets, c, b)


@operations.log_likelihood.register(AnsweredPairSets)
def _log_likelihood(sets: Any, c: Any, b: Any) -> Any:
    total = 0.0
    for r in range(c.term.shape[0]):
        total += c.term[r]
    return total


# The constant is drawn by a slice sampler on its logarithm (Neal 2003, with stepping out), and
# after it the sum of constant and weights given their proportions, which are all that ratios depend
# on.
STEP = 1.0  # of the interval


class ConstantLine(NamedTuple):
    """The logarithm of the constant given all weights, at the inverse temperature of the chain."""

    sets: Any
    cache: Any
    state: Any


@log_density.register(ConstantLine)
def _log_density_of_constant(line: Any, log_constant: Any) -> Any:
    sets, c, b = line
    constant = math.exp(log_constant)
    total = 0.0
    for r in range(sets.start.shape[0] - 1):
        first, last = sets.start[r], sets.start[r + 1]
        size = last - first
        of_set = size * constant
        for x in range(first, last):
            of_set += max(c.shared[sets.pair[x]], 0.0)
        for x in range(first, last):
            if sets.times[x] == 0.0:
                break
            share = (max(c.shared[sets.pair[x]], 0.0) + constant) / of_set
            total += sets.times[x] * fast_log(
                max((1.0 - sets.lapse) * share + sets.lapse / size, MIN_PROBABILITY)
            )
    return b.real[BETA] * total + sets.shape * log_constant - sets.rate * constant


@operations.draw_parameters.register(AnsweredPairSets)
def _draw_parameters(sets: Any, rng: np.random.Generator, c: Any, b: Any) -> None:
    if sets.is_ratio:
        draw_constant(rng, sets, c, b)
        draw_sum(rng, sets, c, b)


@scalar
def draw_constant(rng: Any, sets: Any, c: Any, b: Any) -> None:
    drawn = draw_on_line(rng, ConstantLine(sets, c, b), math.log(c.real[CONSTANT]), STEP)
    c.real[CONSTANT] = math.exp(drawn)
    evaluate(sets, c)


@scalar
def draw_sum(rng: Any, sets: Any, c: Any, b: Any) -> None:
    """Weights and constant, each Gamma(shape, rate), times one factor: their sum does not depend on
    their shares."""
    total = c.real[CONSTANT]
    for k in range(b.whole[COLUMNS]):
        total += b.w[k]
    factor = rng.standard_gamma(sets.shape * (b.whole[COLUMNS] + 1)) / sets.rate / total
    c.real[CONSTANT] *= factor
    for k in range(b.whole[COLUMNS]):
        b.w[k] *= factor
    for p in range(c.shared.shape[0]):
        c.shared[p] *= factor
    evaluate(sets, c)


@operations.record_parameters.register(AnsweredPairSets)
def _note_parameters(sets: Any, c: Any, b: Any, extra: Any, draw: Any) -> None:
    if sets.is_ratio:
        extra[draw, CONSTANT] = c.real[CONSTANT]


for _operation, _answer in operations.WITHOUT_UNIQUE.items():
    _operation.register(AnsweredPairSets)(_answer)


# Groups draw the sum of constant and weights with what the weights of each vary about.


@operations.draw_group_parameters.register(AnsweredPairSets)
def _draw_constant_of_group(sets: Any, rng: np.random.Generator, c: Any, b: Any) -> None:
    if sets.is_ratio:
        draw_constant(rng, sets, c, b)


@operations.is_group_scale_free.register(AnsweredPairSets)
def _is_scaled_in_groups(sets: Any) -> Any:
    return sets.is_ratio


@operations.scaled_prior_sums.register(AnsweredPairSets)
def _scaled_parameters(sets: Any, c: Any) -> Any:
    return sets.shape, sets.rate * c.real[CONSTANT]


@operations.apply_scale.register(AnsweredPairSets)
def _apply_scale(sets: Any, c: Any, b: Any, factor: Any) -> None:
    c.real[CONSTANT] *= factor
    for p in range(c.shared.shape[0]):
        c.shared[p] *= factor
    evaluate(sets, c)
