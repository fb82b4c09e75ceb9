r"""The arithmetic of the most similar pair: how much each two objects share, and what each answer makes of it.

An answer is a row: a set of pairs, the chosen one first. Its probability depends on the value v of each pair,

.. math::
    P = (1 - \varepsilon) \frac{v_1}{\sum_x v_x} + \frac{\varepsilon}{m}, \qquad
    v = e^s \;\text{or}\; v = s + c, \qquad s_{ij} = \sum_k w_k f_{ik} f_{jk}

The values of all pairs that occur are stored. A change puts new values beside them (`trial`), evaluates the rows that
it touches, and takes the new values back or keeps them.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali.compile.jit import part, scalar
from thali.inference.numerics.logarithm import fast_log

from ..state import COLUMNS

CONSTANT = 0  # position in PairSums.real
LARGEST = 709.0  # its exponential is still a number
HUGE = 1e300  # sums of exponentials above it are computed from their logarithms
MIN_PROBABILITY = 1e-300  # stands for a probability of 0, so that its logarithm is a number
SPARSE_PART = 4  # a column whose owners are fewer than this part of the objects: their rows alone are visited


class PairSets(NamedTuple):
    """The answers. Only simulated data change which pair was chosen."""

    start: np.ndarray  # (rows + 1,) int64: row r has the places start[r] to start[r + 1] - 1
    pair: np.ndarray  # (places,) int32 pairs, the chosen one first
    times: np.ndarray  # (rows,) how often the answer was given
    lower: np.ndarray  # (pairs,) int32 the first object of a pair
    row_start: np.ndarray  # (n + 1,) int64: object i is in the rows row[row_start[i]] to row[row_start[i + 1] - 1]
    row: np.ndarray  # int32
    pair_start: np.ndarray  # (n + 1,) int64: and in the pairs pair_of[pair_start[i]] ..., beside other[...]
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
    total: np.ndarray  # (rows,) sum of v
    term: np.ndarray  # (rows,) log-likelihood
    real: np.ndarray  # (1,) CONSTANT


def lay_out(data: Any, is_ratio: bool, lapse: float, shape: float, rate: float) -> PairSets:
    """Answers as the samplers read them."""
    n, chosen = data.n_options, np.flatnonzero(data.counts)
    sets = data.set_of[chosen]
    sizes = data.sizes[sets]
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = np.repeat(data.start[sets] - start[:-1], sizes) + np.arange(start[-1])
    places[start[:-1]], places[start[:-1] + chosen - data.start[sets]] = chosen, data.start[sets]
    keys, pair = np.unique(data.first * n + data.second, return_inverse=True)
    lower, upper = (keys // n).astype(np.int32), (keys % n).astype(np.int32)
    pair = pair[places].astype(np.int32)
    of_row = np.repeat(np.arange(len(sets)), sizes)
    row_start, row = _lists(n, np.concatenate([lower[pair], upper[pair]]), np.tile(of_row, 2), len(sets))
    numbers = np.arange(len(keys))
    pair_start, pair_of = _lists(n, np.concatenate([lower, upper]), np.tile(numbers, 2), len(keys))
    owner = np.repeat(np.arange(n), np.diff(pair_start))
    other = lower[pair_of] + upper[pair_of] - owner.astype(np.int32)
    times = data.counts[chosen].astype(float)
    return PairSets(
        start, pair, times, lower, row_start, row, pair_start, pair_of, other, is_ratio, float(lapse), shape, rate
    )


def _lists(n: int, objects: np.ndarray, things: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """For each object the distinct things that it belongs to, one list after the other, and where each begins."""
    key = np.unique(objects.astype(np.int64) * count + things)
    start = np.concatenate([[0], np.cumsum(np.bincount(key // count, minlength=n))])
    return start.astype(np.int64), (key % count).astype(np.int32)


def empty_cache(sets: PairSets) -> PairSums:
    """Sums of no feature, and the constant at the start of a chain; values are filled in later."""
    pairs, rows = len(sets.lower), len(sets.times)
    constant = sets.shape / sets.rate if sets.is_ratio else 0.0
    arrays: Any = [*np.zeros((4, pairs)), *np.zeros((2, rows)), np.array([constant])]
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
def probability(sets: Any, c: Any, r: Any, total: Any) -> Any:
    """Of the answer in row r, given the trial values, whose sum is `total`."""
    first, last = sets.start[r], sets.start[r + 1]
    size = last - first
    if total >= HUGE:
        own = c.trial_shared[sets.pair[first]]
        inverse = 0.0
        for x in range(first, last):
            inverse += math.exp(min(c.trial_shared[sets.pair[x]] - own, LARGEST))
        share = 1.0 / inverse
    else:
        share = c.trial[sets.pair[first]] / total if total > 0.0 else 1.0 / size
    return (1.0 - sets.lapse) * share + sets.lapse / size


@scalar
def settle_row(sets: Any, c: Any, r: Any, is_kept: Any, lowest: Any) -> Any:
    """Change of the log-likelihood of row r under the trial values, which is stored if they are to be kept.

    With `lowest` of 0 or more the row counts only if this is the lowest object of the pairs in it that change.
    """
    first, last = sets.start[r], sets.start[r + 1]
    total = 0.0
    for x in range(first, last):
        total += c.trial[sets.pair[x]]
    chosen = sets.pair[first]
    if total == c.total[r] and c.trial[chosen] == c.value[chosen] and total < HUGE:
        return 0.0
    if lowest >= 0:
        found = sets.row_start.shape[0]
        for x in range(first, last):
            p = sets.pair[x]
            if c.trial_shared[p] != c.shared[p]:
                found = min(found, sets.lower[p])
        if found != lowest:
            return 0.0
    term = sets.times[r] * fast_log(max(probability(sets, c, r, total), MIN_PROBABILITY))
    change = term - c.term[r]
    if is_kept:
        c.total[r], c.term[r] = total, term
    return change


@part
def settle_rows_of(sets: Any, c: Any, i: Any, is_kept: Any, lowest: Any) -> Any:
    """The same summed over the rows of object i."""
    change = 0.0
    for t in range(sets.row_start[i], sets.row_start[i + 1]):
        change += settle_row(sets, c, sets.row[t], is_kept, lowest)
    return change


@part
def settle_all_rows(sets: Any, c: Any, is_kept: Any) -> Any:
    """And over all rows."""
    change = 0.0
    for r in range(sets.times.shape[0]):
        change += settle_row(sets, c, r, is_kept, -1)
    return change


@part
def change_member(sets: Any, c: Any, b: Any, k: Any, i: Any, d: Any, is_kept: Any) -> Any:
    """What i shares with each other owner of pattern k grows by d; the change of the log-likelihood."""
    for t in range(sets.pair_start[i], sets.pair_start[i + 1]):
        if b.Z[k, sets.other[t]] != 0.0:
            try_pair(sets, c, sets.pair_of[t], d)
    change = settle_rows_of(sets, c, i, is_kept, -1)
    for t in range(sets.pair_start[i], sets.pair_start[i + 1]):
        if b.Z[k, sets.other[t]] != 0.0:
            settle_pair(c, sets.pair_of[t], is_kept)
    return change


@part
def change_between(sets: Any, c: Any, b: Any, k: Any, rest: Any, m: Any, d: Any, is_kept: Any) -> Any:
    """What each owner of pattern k shares with each owner of `rest` grows by d; m is how many owners k has.

    The two patterns are one and the same, or have no owner in common.
    """
    n = sets.row_start.shape[0] - 1
    for i in range(n):
        if b.Z[k, i] != 0.0:
            for t in range(sets.pair_start[i], sets.pair_start[i + 1]):
                if b.Z[rest, sets.other[t]] != 0.0 and (k != rest or sets.other[t] > i):
                    try_pair(sets, c, sets.pair_of[t], d)
    change = 0.0
    if k == rest and SPARSE_PART * m < n:
        for i in range(n):
            if b.Z[k, i] != 0.0:
                change += settle_rows_of(sets, c, i, is_kept, i)
    else:
        change = settle_all_rows(sets, c, is_kept)
    for i in range(n):
        if b.Z[k, i] != 0.0:
            for t in range(sets.pair_start[i], sets.pair_start[i + 1]):
                if b.Z[rest, sets.other[t]] != 0.0 and (k != rest or sets.other[t] > i):
                    settle_pair(c, sets.pair_of[t], is_kept)
    return change


@part
def fill(sets: Any, c: Any, b: Any) -> None:
    """Everything from the features, the weights and the constant."""
    for p in range(sets.lower.shape[0]):
        c.shared[p] = 0.0
    for k in range(b.whole[COLUMNS]):
        for i in range(sets.row_start.shape[0] - 1):
            if b.Z[k, i] != 0.0:
                for t in range(sets.pair_start[i], sets.pair_start[i + 1]):
                    if sets.other[t] > i and b.Z[k, sets.other[t]] != 0.0:
                        c.shared[sets.pair_of[t]] += b.w[k]
    evaluate(sets, c)


@part
def evaluate(sets: Any, c: Any) -> None:
    """Values, sums and terms from what pairs share."""
    for p in range(sets.lower.shape[0]):
        c.value[p] = value_of(sets, c.shared[p], c.real[CONSTANT])
        settle_pair(c, p, False)
    for r in range(sets.times.shape[0]):
        c.total[r] = 0.0
        for x in range(sets.start[r], sets.start[r + 1]):
            c.total[r] += c.value[sets.pair[x]]
        c.term[r] = sets.times[r] * fast_log(max(probability(sets, c, r, c.total[r]), MIN_PROBABILITY))
