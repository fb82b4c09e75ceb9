"""Sets of options that reach most people (TURF: total unduplicated reach and frequency), with
errors over draws.

An option either reaches a person or not, draw by draw; a set reaches a person of whom it holds an
option that does.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import check_integer
from thali._inference.indexing import space_evenly
from thali._inference.seeds import spawn_generators
from thali._posterior.interval import tails_of
from thali.errors import Argument, ArgumentError

if TYPE_CHECKING:
    import pandas

MAX_SETS = 1_000_000  # of which all are tried
MAX_TRUTHS = 2**28  # draws x people x options that are held
_MAX_ROWS = 2**16  # draws x people by which sets are searched
# sets that are compared by all draws; ten times as many as are listed, if that is more
_FINALISTS = 100


class ReachSearch(NamedTuple):
    """The sets that were found, the best first, and what no set exceeds."""

    sets: np.ndarray  # (sets, size) options
    is_exact: bool  # whether all sets were tried
    bound: float  # on the mean reach of every set


def draws_held(draws: int, people: int, options: int) -> np.ndarray:
    """Numbers of evenly spaced draws, all of them if there is room."""
    most = int(np.clip(MAX_TRUTHS // (people * options), 2, draws))
    return space_evenly(draws, most)


def reach_table(
    reaches: np.ndarray, options: Sequence[str], size: Any, top: Any, random_seed: Any, ci: float
) -> "pandas.DataFrame":
    """The sets of so many options that reach most people; `reaches`: truths (draws, people,
    options).

    Intervals are for the population that the people are a sample of: in every draw they have the
    weights of a Bayesian bootstrap, Dirichlet(1, ..., 1) (Rubin 1981), with half a person whom
    every set reaches and half a one whom none does, so that of known tastes k of n people are
    Beta(k + 1/2, n - k + 1/2), Jeffreys' posterior.
    """
    from thali._tables import Table

    size, top, tails = check_integer("size", size, 1), check_integer("top", top, 1), tails_of(ci)
    draws, people, number = reaches.shape
    if size >= number:
        raise ArgumentError(
            Argument("size"), f" must be less than {number}, the number of options; got {size}."
        )
    search = searched(reaches, size, max(_FINALISTS, 10 * top))
    rng = spawn_generators(random_seed, 1)[0]
    weights, halves = rng.standard_gamma(1.0, (draws, people)), rng.standard_gamma(0.5, (draws, 2))
    total = weights.sum(axis=1) + halves.sum(axis=1)
    rows, reach = [], np.empty((len(search.sets), draws))
    for place, members in enumerate(search.sets):
        counts = reaches[:, :, members].sum(axis=2)
        reach[place] = (((counts > 0) * weights).sum(axis=1) + halves[:, 0]) / total
        low, high = np.quantile(reach[place], tails)
        names = tuple(options[k] for k in members)
        rows.append((names, (counts > 0).mean(), low, high, counts.mean()))
    table = Table(rows, columns=["members", "reach", "low", "high", "frequency"])
    is_best = reach == reach.max(axis=0)
    table["best"] = (is_best / is_best.sum(axis=0)).mean(axis=1)
    table = table.sort_values("reach", ascending=False, kind="stable", ignore_index=True).head(top)
    table.attrs |= {"interval": ci, "sets": comb(len(options), size), "exact": search.is_exact}
    table.attrs |= {
        "bound": float(table["reach"].iloc[0]) if search.is_exact else search.bound,
        "people": people,
    }
    return table


def searched(reaches: np.ndarray, size: int, most: int) -> ReachSearch:
    """The sets that reach most people, so many of them: of all sets, by some of the draws, or by a
    greedy search."""
    draws, people, number = reaches.shape
    some = space_evenly(draws, max(2, _MAX_ROWS // people))
    if comb(number, size) <= MAX_SETS:
        bits = packed(reaches[some] if len(some) < draws else reaches)
        sets = np.fromiter(
            chain.from_iterable(combinations(range(number), size)), np.int32
        ).reshape(-1, size)
        counts = np.concatenate(list(_counts_of_all(bits, size)))
        return ReachSearch(sets[_largest(counts, most)], True, 1.0)
    bits = packed(reaches)
    best, bound = greedy(bits, size)
    best = exchanged(bits, best)
    sets = np.array([best, *(sorted(each) for each in neighbours(best, number))], np.int32)
    counts = np.array([_count(bits, each) for each in sets])
    return ReachSearch(sets[_largest(counts, most)], False, bound / (draws * people))


def packed(reaches: np.ndarray) -> np.ndarray:
    """Of each option who is reached in which draw, 64 truths a word (options, words)."""
    flat = reaches.reshape(-1, reaches.shape[2]).T
    padded = np.zeros((flat.shape[0], -(-flat.shape[1] // 64) * 64), bool)
    padded[:, : flat.shape[1]] = flat
    return np.packbits(padded, axis=1).view(np.uint64)


def _counts_of_all(bits: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """How often each set reaches, in the order of `combinations`; those of the same first options
    at once."""
    for first in combinations(range(len(bits)), size - 1):
        others = bits[first[-1] + 1 :] if first else bits
        if len(others):
            together = (
                np.bitwise_or.reduce(bits[list(first)], axis=0) if first else np.zeros_like(bits[0])
            )
            yield np.bitwise_count(others | together).sum(axis=1, dtype=np.int64)


def _count(bits: np.ndarray, members: Sequence[int]) -> int:
    """How often a set reaches."""
    return int(np.bitwise_count(np.bitwise_or.reduce(bits[list(members)], axis=0)).sum())


def _largest(counts: np.ndarray, most: int) -> np.ndarray:
    """The places of the largest, in descending order."""
    return np.argsort(-counts, kind="stable")[:most]


def greedy(bits: np.ndarray, size: int) -> tuple[list[int], float]:
    r"""A set made by adding one option after another, each that adds most, and a bound on every set
    of its size.

    Reach has diminishing returns, so that no set S of K options reaches more than, whatever was
    chosen so far (C),

    .. math::

        f(S) \le f(C) + \sum_{k \text{ of the } K \text{ largest gains}} \big( f(C \cup \{k\}) -
        f(C) \big)

    and than :math:`f(C_K) / (1 - (1 - 1/K)^K)` (Nemhauser, Wolsey & Fisher 1978).
    """
    chosen: list[int] = []
    together, now = np.zeros_like(bits[0]), 0
    bound = float(_count(bits, range(len(bits))))
    for _ in range(size + 1):
        gains = np.bitwise_count(bits | together).sum(axis=1, dtype=np.int64) - now
        bound = min(bound, now + float(np.sort(gains)[-size:].sum()))
        if len(chosen) < size:
            gains[chosen] = -1
            chosen.append(int(gains.argmax()))
            together = together | bits[chosen[-1]]
            now = int(np.bitwise_count(together).sum())
    return sorted(chosen), min(bound, now / (1.0 - (1.0 - 1.0 / size) ** size))


def exchanged(bits: np.ndarray, members: list[int]) -> list[int]:
    """The set after exchanges of one option, each the best one, until none reaches more."""
    best, now = members, _count(bits, members)
    while True:
        each = list(neighbours(best, len(bits)))
        counts = [_count(bits, other) for other in each]
        place = int(np.argmax(counts))
        if counts[place] <= now:
            return best
        best, now = sorted(each[place]), counts[place]


def neighbours(members: Sequence[int], number: int) -> Iterator[list[int]]:
    """The sets that differ in one option."""
    for out in members:
        rest = [each for each in members if each != out]
        yield from ([*rest, other] for other in range(number) if other not in members)
