"""Kernel operations of the most-similar-pair likelihood: changes, updates and parameter draws."""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import register_answers, scalar
from thali._inference.numerics.array_parts import part_ends
from thali._inference.numerics.fast_logarithm import fast_log
from thali._inference.numerics.slice_sampling import draw_on_line, log_density

from .. import kernel_operations
from ..chain_state import BETA, COLUMNS, FeatureState
from ..kernel_operations import select_remaining_row
from .most_similar_pair_probabilities import (
    CONSTANT,
    MIN_PROBABILITY,
    AnsweredPairSets,
    PairSums,
    evaluate_all_sets,
    evaluate_member_change,
    evaluate_shared_change,
    fill_pair_sums,
)


def make_pair_set_cache(sets: AnsweredPairSets) -> PairSums:
    """Make a chain's cache of pair similarities without features, filled later.

    The constant starts at its prior mean.
    """
    n_pairs = len(sets.lower)
    constant = 0.0
    if sets.is_ratio:
        constant = sets.shape / sets.rate
    arrays: Any = [
        *np.zeros((4, n_pairs)),
        np.zeros(n_pairs, np.int32),
        np.zeros(len(sets.start) - 1),
        np.array([constant]),
    ]
    return PairSums(*arrays)


@kernel_operations.sees_full.register(AnsweredPairSets)
def _sees_full(sets: AnsweredPairSets) -> Any:
    """Return whether a feature of all objects affects the answers (by ratios only)."""
    return sets.is_ratio


register_answers(
    AnsweredPairSets,
    {
        kernel_operations.sees_single: False,
        kernel_operations.is_scale_free: False,  # a common factor is drawn with the constant
    },
)


@kernel_operations.select_cache.register(AnsweredPairSets)
def _select_cache(sets: AnsweredPairSets, caches: PairSums, t: int) -> Any:
    """Return views of the cache of the replica at temperature t."""
    return PairSums(
        caches.shared[t],
        caches.value[t],
        caches.trial_shared[t],
        caches.trial[t],
        caches.touched[t],
        caches.term[t],
        caches.real[t],
    )


@kernel_operations.delta_member.register(AnsweredPairSets)
def _delta_member(
    sets: AnsweredPairSets, c: PairSums, b: FeatureState, k: int, i: int, d: float
) -> Any:
    """Return the log-likelihood change if object i joins or leaves feature k."""
    return evaluate_member_change(sets, c, b, k, i, d, False)


@kernel_operations.apply_member.register(AnsweredPairSets)
def _apply_member(
    sets: AnsweredPairSets, c: PairSums, b: FeatureState, k: int, i: int, d: float
) -> None:
    """Update the cached similarities: object i joins or leaves feature k."""
    evaluate_member_change(sets, c, b, k, i, d, True)


@kernel_operations.delta_weight.register(AnsweredPairSets)
def _delta_weight(
    sets: AnsweredPairSets, c: PairSums, b: FeatureState, k: int, m: int, d: float
) -> Any:
    """Return the log-likelihood change if the weight of feature k grows by d."""
    return evaluate_shared_change(sets, c, b, k, k, d, False)


@kernel_operations.apply_weight.register(AnsweredPairSets)
def _apply_weight(
    sets: AnsweredPairSets, c: PairSums, b: FeatureState, k: int, m: int, d: float
) -> None:
    """Update the cached similarities: the weight of feature k grows by d."""
    evaluate_shared_change(sets, c, b, k, k, d, True)


# Column k loses the owners of its partner, which takes over their weight, or the reverse. Only the
# weights that they share with the remaining owners of k change.


@kernel_operations.delta_transfer.register(AnsweredPairSets)
def _delta_transfer(
    sets: AnsweredPairSets, c: PairSums, b: FeatureState, k: int, partner: int, d: float
) -> Any:
    """Return the log-likelihood change if k gets the scratch row's owners and w[partner] -= d."""
    return evaluate_shared_change(sets, c, b, partner, select_remaining_row(b, k, d), d, False)


@kernel_operations.apply_transfer.register(AnsweredPairSets)
def _apply_transfer(
    sets: AnsweredPairSets, c: PairSums, b: FeatureState, k: int, partner: int, d: float
) -> None:
    """Update the cache: k gets the scratch row's owners and w[partner] falls by d."""
    evaluate_shared_change(sets, c, b, partner, select_remaining_row(b, k, d), d, True)


@kernel_operations.rebuild_cache.register(AnsweredPairSets)
def _rebuild_cache(sets: AnsweredPairSets, c: PairSums, b: FeatureState) -> None:
    """Fill the cached similarities of all pairs from features and weights."""
    fill_pair_sums(sets, c, b)


@kernel_operations.log_likelihood.register(AnsweredPairSets)
def _log_likelihood(sets: AnsweredPairSets, c: PairSums, b: FeatureState) -> Any:
    """Return the log-likelihood of the answers to all sets, from the cache."""
    total = 0.0
    for r in range(c.term.size):
        total += c.term[r]
    return total


# The constant is drawn by slice sampling on its logarithm (Neal 2003, with stepping out), and then
# the sum of constant and weights given their proportions, because ratios depend on these only.
CONSTANT_STEP = 1.0  # initial width


class ConstantLine(NamedTuple):
    """Conditional density of the log constant given all weights, for slice sampling."""

    sets: Any
    cache: Any
    state: Any


@log_density.register(ConstantLine)
def _constant_log_density(line: ConstantLine, log_constant: float) -> Any:
    """Return the log conditional density of a value of the log constant."""
    sets, c, b = line
    constant = math.exp(log_constant)
    total = 0.0
    for r in range(sets.start.size - 1):
        start, stop = part_ends(sets.start, r)
        size = stop - start
        set_total = size * constant
        for x in range(start, stop):
            set_total += max(c.shared[sets.pair[x]], 0.0)
        for x in range(start, stop):
            if sets.times[x] == 0.0:
                break
            share = (max(c.shared[sets.pair[x]], 0.0) + constant) / set_total
            total += sets.times[x] * fast_log(
                max((1.0 - sets.lapse) * share + sets.lapse / size, MIN_PROBABILITY)
            )
    return b.real[BETA] * total + sets.shape * log_constant - sets.rate * constant


@kernel_operations.draw_parameters.register(AnsweredPairSets)
def _draw_parameters(
    sets: AnsweredPairSets, rng: np.random.Generator, c: PairSums, b: FeatureState
) -> None:
    """Draw the additive constant, then the sum of constant and weights."""
    if sets.is_ratio:
        draw_constant(rng, sets, c, b)
        draw_weight_sum(rng, sets, c, b)


@scalar
def draw_constant(rng: Any, sets: Any, c: Any, b: Any) -> None:
    """Draw the additive constant given the weights, by slice sampling."""
    log_constant = draw_on_line(
        rng, ConstantLine(sets, c, b), math.log(c.real[CONSTANT]), CONSTANT_STEP
    )
    c.real[CONSTANT] = math.exp(log_constant)
    evaluate_all_sets(sets, c)


@scalar
def draw_weight_sum(rng: Any, sets: Any, c: Any, b: Any) -> None:
    """Draw the sum of weights and constant, keeping their proportions.

    Each is Gamma(shape, rate), so the sum is independent of the proportions.
    """
    total = c.real[CONSTANT]
    for k in range(b.whole[COLUMNS]):
        total += b.w[k]
    factor = rng.standard_gamma(sets.shape * (b.whole[COLUMNS] + 1)) / sets.rate / total
    for k in range(b.whole[COLUMNS]):
        b.w[k] *= factor
    c.real[CONSTANT] *= factor
    for p in range(c.shared.shape[0]):
        c.shared[p] *= factor
    evaluate_all_sets(sets, c)


@kernel_operations.record_parameters.register(AnsweredPairSets)
def _record_parameters(
    sets: AnsweredPairSets, c: PairSums, b: FeatureState, extra: np.ndarray, draw: int
) -> None:
    """Write the additive constant of the state into the record."""
    if sets.is_ratio:
        extra[draw, CONSTANT] = c.real[CONSTANT]


for _operation, _implementation in kernel_operations.WITHOUT_UNIQUE.items():
    _operation.register(AnsweredPairSets)(_implementation)
