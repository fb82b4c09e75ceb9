r"""Kernels of choices of the most similar pair: shared weights and answer probabilities.

The answers to one set of pairs are evaluated together. Their probabilities depend on the pair
values v,

.. math::
    P_x = (1 - \varepsilon) \frac{v_x}{\sum_y v_y} + \frac{\varepsilon}{m}, \qquad
    v = e^s \;\text{or}\; v = s + c, \qquad s_{ij} = \sum_k w_k f_{ik} f_{jk}

The values of all pairs in the data are stored. A change computes trial values, evaluates the sets
of the changed pairs, and keeps the trial values or restores the stored ones.
"""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._compile.jit import part, scalar
from thali._inference.index_arithmetic import part_bounds
from thali._inference.numerics.array_parts import part_range, part_size
from thali._inference.numerics.fast_logarithm import fast_log

from ..chain_state import COLUMNS, count_options, owns

if TYPE_CHECKING:
    from thali._data.triplets import Triplets


CONSTANT = 0  # position in PairSums.real
MAX_EXPONENT = 709.0  # maximum argument of exp without overflow
MAX_PLAIN_SUM = 1e300  # larger sums of exponentials are computed from their logarithms
MIN_PROBABILITY = 1e-300  # replaces a probability of 0, so that its logarithm is finite
MIN_DENSE_RATIO = 3  # if fewer than 1 / 3 of the pairs change, only their sets are evaluated


class AnsweredPairSets(NamedTuple):
    """Sets of pairs with their answers, as kernels read them."""

    start: np.ndarray  # (sets + 1,) int64: set r has the places start[r] to start[r + 1] - 1
    pair: np.ndarray  # (places,) int32 pairs, most frequently chosen first
    times: np.ndarray  # (places,) number of times each was chosen
    lower: np.ndarray  # (pairs,) int32 the first object of a pair
    upper: np.ndarray  # (pairs,) int32 the second
    set_start: np.ndarray  # (pairs + 1,) int64: pair p is in the sets set_of[set_start[p]] ...
    set_of: np.ndarray  # (places,) int32
    # (n + 1,) int64: object i is in the pairs pair_of[pair_start[i]] ..., with other[...]
    pair_start: np.ndarray
    pair_of: np.ndarray  # int32
    other: np.ndarray  # int32
    is_ratio: bool  # v = s + c; else v = exp(s)
    lapse: float
    shape: float  # of the Gamma prior of weights and constant
    rate: float


class PairSums(NamedTuple):
    """A chain's cache: shared weight and value of each pair, log-likelihood of each set."""

    shared: np.ndarray  # (pairs,) s
    value: np.ndarray  # (pairs,) v
    trial_shared: np.ndarray  # (pairs,) s while a change is evaluated
    trial: np.ndarray  # (pairs,) v while a change is evaluated
    touched: np.ndarray  # (pairs,) int32 the changed pairs
    term: np.ndarray  # (sets,) log-likelihood
    real: np.ndarray  # (1,) CONSTANT


def arrange_pair_sets(
    data: "Triplets", is_ratio: bool, lapse: float, shape: float, rate: float
) -> AnsweredPairSets:
    """Return answered sets of pairs as the arrays that kernels read."""
    n = data.n_options
    # the entries of sets with answers, most chosen pair first in each set
    ordered_places = np.lexsort((-data.counts, data.set_of))
    has_answer = np.bincount(data.set_of, data.counts) > 0.0
    place_indices = ordered_places[has_answer[data.set_of[ordered_places]]]
    set_starts = part_bounds(data.sizes[has_answer])
    pair_keys, pair_index = np.unique(data.first * n + data.second, return_inverse=True)
    lower = (pair_keys // n).astype(np.int32)
    upper = (pair_keys % n).astype(np.int32)
    pair_index = pair_index[place_indices].astype(np.int32)
    set_indices = np.repeat(np.arange(len(set_starts) - 1, dtype=np.int32), np.diff(set_starts))
    set_start, by_pair = _group_by_key(pair_index, len(pair_keys))
    objects = np.concatenate([lower, upper])
    pair_start, by_object = _group_by_key(objects, n)
    pair_of = (by_object % len(pair_keys)).astype(np.int32)
    partners = np.concatenate([upper, lower])[by_object]
    return AnsweredPairSets(
        set_starts,
        pair_index,
        data.counts[place_indices].astype(float),
        lower,
        upper,
        set_start,
        set_indices[by_pair],
        pair_start,
        pair_of,
        partners,
        is_ratio,
        float(lapse),
        shape,
        rate,
    )


def _group_by_key(keys: np.ndarray, n_keys: int) -> tuple[np.ndarray, np.ndarray]:
    """Return starts and positions of the entries with each key, key after key."""
    start = part_bounds(np.bincount(keys, minlength=n_keys))
    return start.astype(np.int64), np.argsort(keys, kind="stable")


@scalar
def pair_value(sets: Any, shared: Any, constant: Any) -> Any:
    """Return the value (exponential or sum) of a pair that shares this weight.

    Rounding may leave a shared weight slightly below 0.
    """
    if sets.is_ratio:
        return max(shared, 0.0) + constant
    return math.exp(min(shared, MAX_EXPONENT))


@scalar
def set_trial_value(sets: Any, c: Any, p: Any, d: Any) -> None:
    """Store the proposed shared weight and value of pair p, if it grows by d."""
    c.trial_shared[p] = c.shared[p] + d
    c.trial[p] = pair_value(sets, c.trial_shared[p], c.real[CONSTANT])


@scalar
def accept_or_restore_pair(c: Any, p: Any, is_kept: Any) -> None:
    """Accept the proposed value of pair p, or restore the stored one."""
    if is_kept:
        c.shared[p], c.value[p] = c.trial_shared[p], c.trial[p]
    else:
        c.trial_shared[p], c.trial[p] = c.shared[p], c.value[p]


@scalar
def log_set_probability(sets: Any, c: Any, r: Any, total: Any) -> Any:
    """Return the log probability of the answers to set r, at proposed values.

    `total` is the sum of the values.
    """
    inverse, log_probability = 0.0, 0.0
    if total > 0.0:
        inverse = 1.0 / total
    for x in part_range(sets.start, r):
        if sets.times[x] == 0.0:
            break
        log_probability += sets.times[x] * log_pair_probability(sets, c, r, x, total, inverse)
    return log_probability


@scalar
def log_pair_probability(sets: Any, c: Any, r: Any, x: Any, total: Any, inverse: Any) -> Any:
    """Return the log probability of the pair at entry x of set r."""
    chance = 1.0 / (part_size(sets.start, r))
    if total >= MAX_PLAIN_SUM:
        share = share_by_logarithms(sets, c, r, sets.pair[x])
    elif total > 0.0:
        share = c.trial[sets.pair[x]] * inverse
    else:
        share = chance
    return fast_log(max((1.0 - sets.lapse) * share + sets.lapse * chance, MIN_PROBABILITY))


@scalar
def share_by_logarithms(sets: Any, c: Any, r: Any, p: Any) -> Any:
    """Return the choice probability of pair p in set r, safe from overflow."""
    inverse = 0.0
    for x in part_range(sets.start, r):
        inverse += math.exp(min(c.trial_shared[sets.pair[x]] - c.trial_shared[p], MAX_EXPONENT))
    return 1.0 / inverse


@scalar
def settle_one_set(sets: Any, c: Any, r: Any, through: Any, is_kept: Any) -> Any:
    """Return the log-likelihood change of set r from stored to proposed values.

    It is stored if `is_kept`, and 0 if none of the pairs changes. With a pair `through` >= 0, it is
    counted only if this is the first changed pair.
    """
    total = 0.0
    is_new = True
    for x in part_range(sets.start, r):
        p = sets.pair[x]
        total += c.trial[p]
        if is_new and c.trial_shared[p] != c.shared[p]:
            is_new = False
            if through >= 0 and p != through:
                return 0.0
    if is_new:
        return 0.0
    term = log_set_probability(sets, c, r, total)
    change = term - c.term[r]
    if is_kept:
        c.term[r] = term
    return change


@part
def settle_sets(sets: Any, c: Any, n_touched: Any, is_kept: Any) -> Any:
    """Return the log-likelihood change of all sets with a changed pair; maybe keep it.

    The trial values are accepted if `is_kept`. `count` is the number of touched pairs.
    """
    change = 0.0
    if MIN_DENSE_RATIO * n_touched < sets.lower.size:
        for t in range(n_touched):
            p = c.touched[t]
            for s in part_range(sets.set_start, p):
                change += settle_one_set(sets, c, sets.set_of[s], p, is_kept)
    else:
        for r in range(sets.start.size - 1):
            change += settle_one_set(sets, c, r, -1, is_kept)
    for t in range(n_touched):
        accept_or_restore_pair(c, c.touched[t], is_kept)
    return change


@part
def evaluate_member_change(sets: Any, c: Any, b: Any, k: Any, i: Any, d: Any, is_kept: Any) -> Any:
    """Return the log-likelihood change if i's shared weight with owners of k grows by d."""
    n_touched = 0
    for t in part_range(sets.pair_start, i):
        if owns(b, sets.other[t], k):
            c.touched[n_touched] = sets.pair_of[t]
            set_trial_value(sets, c, c.touched[n_touched], d)
            n_touched += 1
    return settle_sets(sets, c, n_touched, is_kept)


@part
def evaluate_shared_change(
    sets: Any, c: Any, b: Any, k: Any, second_row: Any, d: Any, is_kept: Any
) -> Any:
    """Return the log-likelihood change if pairs (owner of k, owner of second_row) gain d.

    The two patterns are equal, or have no owner in common.
    """
    n_touched = 0
    for i in range(count_options(b)):
        if owns(b, i, k):
            for t in part_range(sets.pair_start, i):
                if owns(b, sets.other[t], second_row) and (k != second_row or sets.other[t] > i):
                    c.touched[n_touched] = sets.pair_of[t]
                    set_trial_value(sets, c, c.touched[n_touched], d)
                    n_touched += 1
    return settle_sets(sets, c, n_touched, is_kept)


@part
def fill_pair_sums(sets: Any, c: Any, b: Any) -> None:
    """Fill the cached shared weights and log-likelihoods from features and weights."""
    for p in range(sets.lower.size):
        c.shared[p] = 0.0
    for k in range(b.whole[COLUMNS]):
        for p in range(sets.lower.size):
            c.shared[p] += b.w[k] * b.Z[k, sets.lower[p]] * b.Z[k, sets.upper[p]]
    evaluate_all_sets(sets, c)


@part
def evaluate_all_sets(sets: Any, c: Any) -> None:
    """Fill the cached values and log-likelihoods from the shared weights."""
    for p in range(sets.lower.size):
        c.value[p] = pair_value(sets, c.shared[p], c.real[CONSTANT])
        accept_or_restore_pair(c, p, False)
    for r in range(sets.start.size - 1):
        total = 0.0
        for x in part_range(sets.start, r):
            total += c.value[sets.pair[x]]
        c.term[r] = log_set_probability(sets, c, r, total)
