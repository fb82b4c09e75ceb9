r"""The arithmetic of the most similar pair: how much each two objects share, and what the answers
make of it.

The answers to one set of pairs are evaluated together. Their probabilities depend on the value v of
each pair,

.. math::
    P_x = (1 - \varepsilon) \frac{v_x}{\sum_y v_y} + \frac{\varepsilon}{m}, \qquad
    v = e^s \;\text{or}\; v = s + c, \qquad s_{ij} = \sum_k w_k f_{ik} f_{jk}

The values of all pairs that occur are stored. A change puts new values beside them (`trial`),
evaluates the sets of the pairs that it touches, and takes the new values back or keeps them.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import part, scalar
from thali._inference.indexing import part_bounds
from thali._inference.numerics.logarithm import fast_log

from ..state import COLUMNS

CONSTANT = 0  # position in PairSums.real
LARGEST = 709.0  # its exponential is still a number
HUGE = 1e300  # sums of exponentials above it are computed from their logarithms
MIN_PROBABILITY = 1e-300  # stands for a probability of 0, so that its logarithm is a number
SPARSE_PART = 3  # where fewer than this part of the pairs change, their sets alone are visited


class AnsweredPairSets(NamedTuple):
    """The sets that were answered. Only simulated data change which pair was chosen."""

    start: np.ndarray  # (sets + 1,) int64: set r has the places start[r] to start[r + 1] - 1
    pair: np.ndarray  # (places,) int32 pairs, those chosen most often first
    times: np.ndarray  # (places,) how often each was chosen
    lower: np.ndarray  # (pairs,) int32 the first object of a pair
    upper: np.ndarray  # (pairs,) int32 the second
    set_start: np.ndarray  # (pairs + 1,) int64: pair p is in the sets set_of[set_start[p]] ...
    set_of: np.ndarray  # (places,) int32
    # (n + 1,) int64: object i is in the pairs pair_of[pair_start[i]] ..., beside other[...]
    pair_start: np.ndarray
    pair_of: np.ndarray  # int32
    other: np.ndarray  # int32
    is_ratio: bool  # v = s + c; else v = exp(s)
    lapse: float
    shape: float  # of the Gamma prior of weights and constant
    rate: float


class PairSums(NamedTuple):
    """The cache of a chain."""

    shared: np.ndarray  # (pairs,) s
    value: np.ndarray  # (pairs,) v
    trial_shared: np.ndarray  # (pairs,) the same while a change is evaluated
    trial: np.ndarray  # (pairs,)
    touched: np.ndarray  # (pairs,) int32 the pairs that it changes
    term: np.ndarray  # (sets,) log-likelihood
    real: np.ndarray  # (1,) CONSTANT


def lay_out(data: Any, is_ratio: bool, lapse: float, shape: float, rate: float) -> AnsweredPairSets:
    """Sets with answers as the samplers read them."""
    n, places = data.n_options, answered_places(data)
    answered = np.bincount(data.set_of, data.counts) > 0.0
    start = part_bounds(data.sizes[answered])
    keys, pair = np.unique(data.first * n + data.second, return_inverse=True)
    lower, upper = (keys // n).astype(np.int32), (keys % n).astype(np.int32)
    pair = pair[places].astype(np.int32)
    numbers = np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))
    set_start, by_pair = _lists(pair, len(keys))
    both = np.concatenate([lower, upper])
    pair_start, by_object = _lists(both, n)
    pair_of = (by_object % len(keys)).astype(np.int32)
    other = np.concatenate([upper, lower])[by_object]
    return AnsweredPairSets(
        start,
        pair,
        data.counts[places].astype(float),
        lower,
        upper,
        set_start,
        numbers[by_pair],
        pair_start,
        pair_of,
        other,
        is_ratio,
        float(lapse),
        shape,
        rate,
    )


def answered_places(data: Any) -> np.ndarray:
    """Places of sets with answers, by set, and within it the pairs chosen most often first."""
    places = np.lexsort((-data.counts, data.set_of))
    answered = np.bincount(data.set_of, data.counts) > 0.0
    return places[answered[data.set_of[places]]]


def _lists(keys: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the list of each key begins, and the positions at which the key stands, one list after
    the other."""
    start = part_bounds(np.bincount(keys, minlength=count))
    return start.astype(np.int64), np.argsort(keys, kind="stable")


def empty_cache(sets: AnsweredPairSets) -> PairSums:
    """Sums of no feature, and the constant at the start of a chain; values are filled in later."""
    pairs = len(sets.lower)
    constant = sets.shape / sets.rate if sets.is_ratio else 0.0
    arrays: Any = [
        *np.zeros((4, pairs)),
        np.zeros(pairs, np.int32),
        np.zeros(len(sets.start) - 1),
        np.array([constant]),
    ]
    return PairSums(*arrays)


@scalar
def value_of(sets: Any, shared: Any, constant: Any) -> Any:
    """The value of a pair that shares so much; rounding may leave a little less than 0 of it."""
    return max(shared, 0.0) + constant if sets.is_ratio else math.exp(min(shared, LARGEST))


@scalar
def try_pair(sets: Any, c: Any, p: Any, d: Any) -> None:
    c.trial_shared[p] = c.shared[p] + d
    c.trial[p] = value_of(sets, c.trial_shared[p], c.real[CONSTANT])


@scalar
def settle_pair(c: Any, p: Any, is_kept: Any) -> None:
    if is_kept:
        c.shared[p], c.value[p] = c.trial_shared[p], c.trial[p]
    else:
        c.trial_shared[p], c.trial[p] = c.shared[p], c.value[p]


@scalar
def log_answers(sets: Any, c: Any, r: Any, total: Any) -> Any:
    """Log-probability of the answers to set r, given the trial values, whose sum is `total`."""
    inverse = 1.0 / total if total > 0.0 else 0.0
    found = 0.0
    for x in range(sets.start[r], sets.start[r + 1]):
        if sets.times[x] == 0.0:
            break
        found += sets.times[x] * log_answer(sets, c, r, x, total, inverse)
    return found


@scalar
def log_answer(sets: Any, c: Any, r: Any, x: Any, total: Any, inverse: Any) -> Any:
    """Log-probability of the pair at place x of set r."""
    by_chance = 1.0 / (sets.start[r + 1] - sets.start[r])
    if total >= HUGE:
        share = share_of_huge(sets, c, r, sets.pair[x])
    else:
        share = c.trial[sets.pair[x]] * inverse if total > 0.0 else by_chance
    return fast_log(max((1.0 - sets.lapse) * share + sets.lapse * by_chance, MIN_PROBABILITY))


@scalar
def share_of_huge(sets: Any, c: Any, r: Any, p: Any) -> Any:
    """The share of pair p in the sum of exponentials of set r, which are too large."""
    inverse = 0.0
    for x in range(sets.start[r], sets.start[r + 1]):
        inverse += math.exp(min(c.trial_shared[sets.pair[x]] - c.trial_shared[p], LARGEST))
    return 1.0 / inverse


@scalar
def settle_set(sets: Any, c: Any, r: Any, through: Any, is_kept: Any) -> Any:
    """Change of the log-likelihood of set r under the trial values, which is stored if they are to
    be kept.

    0 if none of its pairs changes. With a pair `through` of 0 or more it counts only if this is the
    first that does.
    """
    total = 0.0
    is_new = True
    for x in range(sets.start[r], sets.start[r + 1]):
        p = sets.pair[x]
        total += c.trial[p]
        if is_new and c.trial_shared[p] != c.shared[p]:
            is_new = False
            if through >= 0 and p != through:
                return 0.0
    if is_new:
        return 0.0
    term = log_answers(sets, c, r, total)
    change = term - c.term[r]
    if is_kept:
        c.term[r] = term
    return change


@part
def settle(sets: Any, c: Any, count: Any, is_kept: Any) -> Any:
    """Change of the log-likelihood if so many touched pairs take their trial values, which they do
    if it is kept."""
    change = 0.0
    if SPARSE_PART * count < sets.lower.shape[0]:
        for t in range(count):
            p = c.touched[t]
            for s in range(sets.set_start[p], sets.set_start[p + 1]):
                change += settle_set(sets, c, sets.set_of[s], p, is_kept)
    else:
        for r in range(sets.start.shape[0] - 1):
            change += settle_set(sets, c, r, -1, is_kept)
    for t in range(count):
        settle_pair(c, c.touched[t], is_kept)
    return change


@part
def change_member(sets: Any, c: Any, b: Any, k: Any, i: Any, d: Any, is_kept: Any) -> Any:
    """What i shares with each other owner of pattern k grows by d; the change of the
    log-likelihood."""
    count = 0
    for t in range(sets.pair_start[i], sets.pair_start[i + 1]):
        if b.Z[k, sets.other[t]] != 0.0:
            c.touched[count] = sets.pair_of[t]
            try_pair(sets, c, c.touched[count], d)
            count += 1
    return settle(sets, c, count, is_kept)


@part
def change_between(sets: Any, c: Any, b: Any, k: Any, rest: Any, d: Any, is_kept: Any) -> Any:
    """What each owner of pattern k shares with each owner of `rest` grows by d.

    The two patterns are one and the same, or have no owner in common.
    """
    count = 0
    for i in range(b.Z.shape[1] - 1):
        if b.Z[k, i] != 0.0:
            for t in range(sets.pair_start[i], sets.pair_start[i + 1]):
                if b.Z[rest, sets.other[t]] != 0.0 and (k != rest or sets.other[t] > i):
                    c.touched[count] = sets.pair_of[t]
                    try_pair(sets, c, c.touched[count], d)
                    count += 1
    return settle(sets, c, count, is_kept)


@part
def fill(sets: Any, c: Any, b: Any) -> None:
    """Everything from the features, the weights and the constant."""
    for p in range(sets.lower.shape[0]):
        c.shared[p] = 0.0
    for k in range(b.whole[COLUMNS]):
        for p in range(sets.lower.shape[0]):
            c.shared[p] += b.w[k] * b.Z[k, sets.lower[p]] * b.Z[k, sets.upper[p]]
    evaluate(sets, c)


@part
def evaluate(sets: Any, c: Any) -> None:
    """Values and terms from what pairs share."""
    for p in range(sets.lower.shape[0]):
        c.value[p] = value_of(sets, c.shared[p], c.real[CONSTANT])
        settle_pair(c, p, False)
    for r in range(sets.start.shape[0] - 1):
        total = 0.0
        for x in range(sets.start[r], sets.start[r + 1]):
            total += c.value[sets.pair[x]]
        c.term[r] = log_answers(sets, c, r, total)
