"""Choices out of sets where no aspect is shared: Luce's choice rule, for which nothing has to be eliminated.

.. math:: \\tilde P(x \\mid S) = (1 - \\varepsilon) \\frac{u_x}{\\sum_{y \\in S} u_y} + \\frac{\\varepsilon}{|S|}

A change of one weight touches the choices out of the sets that hold its option. These stand together, option by option,
so that vector instructions go through them, and probabilities are multiplied before a logarithm is taken.
"""

from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar, vectorised
from thali._data.choices import Choices
from thali._inference.numerics.logarithm import fast_log

from .. import operations
from .sets import MIN_PROBABILITY, lay_out

MAX_LISTED = 3  # so many equal choices are listed one by one, for a factor costs less than a logarithm
TOGETHER = 64  # factors of one logarithm
SAFE = 1e-280  # a product of them below this, or above its inverse, is not relied on


class LuceSets(NamedTuple):
    """The distinct sets that were offered, and the choices out of them."""

    start: np.ndarray  # (sets + 1,) int64: the members of set v are at places start[v] to start[v + 1] - 1
    member: np.ndarray  # (places,) int64 options
    first: np.ndarray  # (n + 1,) int64: option i is in the sets within[first[i]] to within[first[i + 1] - 1]
    within: np.ndarray  # (places,) int64
    first_touched: np.ndarray  # (n + 1,) int64: the choices that option i touches are at these places of the next five
    first_many: np.ndarray  # (n,) int64: the place from which they are counted; those before are single
    chosen: np.ndarray  # (touched,) int32 option
    offered: np.ndarray  # (touched,) int32 set
    own: np.ndarray  # (touched,) 1 if the option itself was chosen, else 0
    times: np.ndarray  # (touched,)
    guess: np.ndarray  # (touched,) lapse over the number of members
    lapse: float


class LuceCache(NamedTuple):
    """The cache of a chain."""

    weight: np.ndarray  # (sets,) sum of the weights of the members


def compiled_luce_sets(data: Choices, lapse: float) -> Any:
    """The likelihood of choices, and a function that makes a chain's cache."""
    sets = lay_out(data.n_options, data.start, data.members, data.counts, lapse)
    places = np.flatnonzero(sets.count)  # where something was chosen
    first = np.searchsorted(places, sets.start)
    touched = np.diff(first)[sets.within]  # by option and set
    end = np.cumsum(touched)
    at = places[np.arange(end[-1]) - np.repeat(end - touched - first[sets.within], touched)]
    offered = np.repeat(sets.within, touched)
    option = np.repeat(np.repeat(np.arange(data.n_options), np.diff(sets.first)), touched)
    is_few = np.isin(sets.count[at], np.arange(1, MAX_LISTED + 1))
    copies = np.where(is_few, sets.count[at], 1.0).astype(np.int64)
    order = np.lexsort([~is_few, option])
    order = np.repeat(order, copies[order])
    at, offered, option, is_few = at[order], offered[order], option[order], is_few[order]
    first_touched = np.searchsorted(option, np.arange(data.n_options + 1))
    luce = LuceSets(
        start=sets.start,
        member=sets.member,
        first=sets.first,
        within=sets.within,
        first_touched=first_touched.astype(np.int64),
        first_many=(first_touched[:-1] + np.bincount(option[is_few], minlength=data.n_options)).astype(np.int64),
        chosen=sets.member[at].astype(np.int32),
        offered=offered.astype(np.int32),
        own=(sets.member[at] == option).astype(float),
        times=np.where(is_few, 1.0, sets.count[at]),
        guess=float(lapse) / np.diff(sets.start)[offered],
        lapse=float(lapse),
    )
    return luce, _empty_cache


def _empty_cache(sets: LuceSets) -> LuceCache:
    return LuceCache(np.zeros(sets.start.size - 1))


@operations.sees_full.register(LuceSets)
def _sees_full(sets: Any) -> Any:
    return False


@operations.is_scale_free.register(LuceSets)
def _is_scale_free(sets: Any) -> Any:
    return True


@operations.cache_at.register(LuceSets)
def _cache_at(sets: Any, caches: Any, t: Any) -> Any:
    return LuceCache(caches.weight[t])


@operations.delta_own.register(LuceSets)
def _delta_own(sets: Any, c: Any, b: Any, i: Any, d: Any) -> Any:
    many = sets.first_many[i]
    total = by_logarithms(sets, c, b, d, many, sets.first_touched[i + 1])
    for start in range(sets.first_touched[i], many, TOGETHER):
        total += by_products(sets, c, b, d, start, min(start + TOGETHER, many))
    return total


@scalar
def by_products(sets: Any, c: Any, b: Any, d: Any, start: Any, stop: Any) -> Any:
    """The change of the log-likelihood of a few single choices."""
    above, below = products(sets, c, b, d, start, stop)
    if SAFE < above < 1.0 / SAFE and SAFE < below < 1.0 / SAFE:
        return fast_log(above / below)
    return by_logarithms(sets, c, b, d, start, stop)


@vectorised
def products(sets: Any, c: Any, b: Any, d: Any, start: Any, stop: Any) -> Any:
    """Numerator and denominator of the product of p(after) / p(before), with p = ((1 - lapse) s + guess W) / W."""
    above = 1.0
    below = 1.0
    keep = 1.0 - sets.lapse
    for t in range(start, stop):
        s = b.s[sets.chosen[t]]
        weight = c.weight[sets.offered[t]]
        above *= ((s + d * sets.own[t]) * keep + sets.guess[t] * (weight + d)) * weight
        below *= (s * keep + sets.guess[t] * weight) * (weight + d)
    return above, below


@vectorised
def by_logarithms(sets: Any, c: Any, b: Any, d: Any, start: Any, stop: Any) -> Any:
    """The change of the log-likelihood of choices."""
    total = 0.0
    keep = 1.0 - sets.lapse
    for t in range(start, stop):
        s = b.s[sets.chosen[t]]
        before = c.weight[sets.offered[t]]
        after = max(before + d, MIN_PROBABILITY)
        ratio = (((s + d * sets.own[t]) * keep) / after + sets.guess[t]) / (s * keep / before + sets.guess[t])
        total += sets.times[t] * fast_log(max(ratio, MIN_PROBABILITY))
    return total


@operations.apply_own.register(LuceSets)
def _apply_own(sets: Any, c: Any, b: Any, i: Any, d: Any) -> None:
    for t in range(sets.first[i], sets.first[i + 1]):
        v = sets.within[t]
        # A sum that falls a lot is taken anew, or it would lose digits.
        c.weight[v] = c.weight[v] + d if d > -0.5 * c.weight[v] else summed(sets, b, v, i, d)


@operations.apply_scale.register(LuceSets)
def _apply_scale(sets: Any, c: Any, b: Any, factor: Any) -> None:
    for v in range(c.weight.shape[0]):
        c.weight[v] *= factor


@operations.rebuild.register(LuceSets)
def _rebuild(sets: Any, c: Any, b: Any) -> None:
    for v in range(c.weight.shape[0]):
        c.weight[v] = summed(sets, b, v, 0, 0.0)


@scalar
def summed(sets: Any, b: Any, v: Any, i: Any, d: Any) -> Any:
    """The sum of the weights of set v, where that of option i has grown by d."""
    weight = 0.0
    for t in range(sets.start[v], sets.start[v + 1]):
        j = sets.member[t]
        weight += b.s[j] + d if j == i else b.s[j]
    return weight


@operations.log_likelihood.register(LuceSets)
def _log_likelihood(sets: Any, c: Any, b: Any) -> Any:
    total = 0.0
    for t in range(sets.times.shape[0]):
        if sets.own[t] != 0.0:  # so that each choice counts once
            p = b.s[sets.chosen[t]] * (1.0 - sets.lapse) / c.weight[sets.offered[t]] + sets.guess[t]
            total += sets.times[t] * fast_log(max(p, MIN_PROBABILITY))
    return total
