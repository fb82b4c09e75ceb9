"""Search for sets of options that reach most respondents (TURF).

TURF: total unduplicated reach and frequency. In each draw an option either reaches a respondent or
not; a set reaches a respondent if one of its options does.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import check_integer
from thali._inference.indexing import argsort_descending, space_evenly
from thali._inference.seeds import build_generator
from thali._posterior.interval import compute_interval, interval_tails
from thali.errors import Argument, ArgumentError

if TYPE_CHECKING:
    import pandas

MAX_SETS = 1_000_000  # up to which all sets are evaluated
MAX_TRUTHS = 2**28  # draws x respondents x options in memory
_MAX_ROWS = 2**16  # draws x respondents used by the search
# minimum of sets compared by all draws; ten times the listed sets if that is more
_FINALISTS = 100


class ReachSearch(NamedTuple):
    """Best option sets found, and an upper bound on the best reach."""

    sets: np.ndarray  # (sets, size) options
    is_exact: bool  # whether all sets were evaluated
    bound: float  # on the mean reach of every set


def select_reach_draws(n_draws: int, n_respondents: int, n_options: int) -> np.ndarray:
    """Return indices of evenly spaced draws whose reaches fit in memory."""
    max_draws = int(np.clip(MAX_TRUTHS // (n_respondents * n_options), 2, n_draws))
    return space_evenly(n_draws, max_draws)


def tabulate_best_sets(
    reaches: np.ndarray, options: Sequence[str], size: Any, top: Any, random_seed: Any, ci: float
) -> "pandas.DataFrame":
    """Tabulate the option sets of one size that reach most respondents.

    `reaches` is bool, shape (draws, respondents, options). Intervals refer to the population of
    which the respondents are a sample: in every draw they have weights of a Bayesian bootstrap,
    Dirichlet(1, ..., 1) (Rubin 1981), plus half a respondent whom every set reaches and half a
    respondent whom no set reaches. For known tastes, with k of n respondents reached, this is
    Beta(k + 1/2, n - k + 1/2), Jeffreys' posterior.
    """
    from thali._exportable_table import Table

    size = check_integer("size", size, 1)
    top = check_integer("top", top, 1)
    interval_tails(ci)  # raises before the search

    n_draws, n_respondents, n_options = reaches.shape
    if size >= n_options:
        raise ArgumentError(
            Argument("size"), f" must be less than {n_options}, the number of options; got {size}."
        )
    search = search_sets(reaches, size, max(_FINALISTS, 10 * top))
    rng = build_generator(random_seed)
    weights = rng.standard_gamma(1.0, (n_draws, n_respondents))
    halves = rng.standard_gamma(0.5, (n_draws, 2))
    total = weights.sum(axis=1) + halves.sum(axis=1)
    rows = []
    reach = np.empty((len(search.sets), n_draws))
    for set_index, members in enumerate(search.sets):
        counts = reaches[:, :, members].sum(axis=2)
        reach[set_index] = (((counts > 0) * weights).sum(axis=1) + halves[:, 0]) / total
        low, high = compute_interval(reach[set_index], ci)
        names = tuple(options[k] for k in members)
        rows.append((names, (counts > 0).mean(), low, high, counts.mean()))
    table = Table(rows, columns=["members", "reach", "low", "high", "frequency"])
    is_best = reach == reach.max(axis=0)
    table["best"] = (is_best / is_best.sum(axis=0)).mean(axis=1)
    table = table.sort_values("reach", ascending=False, kind="stable", ignore_index=True).head(top)
    bound = search.bound
    if search.is_exact:
        bound = float(table["reach"].iloc[0])
    table.attrs |= {
        "interval": ci,
        "sets": comb(len(options), size),
        "exact": search.is_exact,
        "bound": bound,
        "people": n_respondents,
    }
    return table


def search_sets(reaches: np.ndarray, size: int, n_sets: int) -> ReachSearch:
    """Return the `n_sets` option sets with the largest reach."""
    n_draws, n_respondents, n_options = reaches.shape
    draw_indices = space_evenly(n_draws, max(2, _MAX_ROWS // n_respondents))
    if comb(n_options, size) <= MAX_SETS:
        bits = pack_reaches(reaches[draw_indices])
        sets = np.fromiter(
            chain.from_iterable(combinations(range(n_options), size)), np.int32
        ).reshape(-1, size)
        counts = np.concatenate(list(_count_all_reaches(bits, size)))
        return ReachSearch(sets[_largest_indices(counts, n_sets)], True, 1.0)
    bits = pack_reaches(reaches)
    best, bound = search_greedily(bits, size)
    best = improve_by_exchange(bits, best)
    sets = np.array(
        [best, *(sorted(members) for members in list_neighbours(best, n_options))], np.int32
    )
    counts = np.array([_count_reach(bits, members) for members in sets])
    return ReachSearch(
        sets[_largest_indices(counts, n_sets)], False, bound / (n_draws * n_respondents)
    )


def pack_reaches(reaches: np.ndarray) -> np.ndarray:
    """Pack bool reaches into 64-bit words, shape (options, words)."""
    flat = reaches.reshape(-1, reaches.shape[2]).T
    padded = np.zeros((flat.shape[0], -(-flat.shape[1] // 64) * 64), bool)
    padded[:, : flat.shape[1]] = flat
    return np.packbits(padded, axis=1).view(np.uint64)


def _count_all_reaches(bits: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Yield the reach counts of all sets of `size` options, in blocks."""
    # Sets with the same first options are counted together.
    for first_options in combinations(range(len(bits)), size - 1):
        last_options = bits
        first_bits = np.zeros_like(bits[0])
        if first_options:
            last_options = bits[first_options[-1] + 1 :]
            first_bits = np.bitwise_or.reduce(bits[list(first_options)], axis=0)
        if len(last_options):
            yield np.bitwise_count(last_options | first_bits).sum(axis=1, dtype=np.int64)


def _count_reach(bits: np.ndarray, members: Sequence[int]) -> int:
    """Count respondents, over all draws, reached by any option of a set."""
    return int(np.bitwise_count(np.bitwise_or.reduce(bits[list(members)], axis=0)).sum())


def _largest_indices(counts: np.ndarray, n_largest: int) -> np.ndarray:
    """Return the indices of the largest counts, in descending order."""
    return argsort_descending(counts)[:n_largest]


def search_greedily(bits: np.ndarray, size: int) -> tuple[list[int], float]:
    r"""Build a set by adding the option with the largest gain; return a bound too.

    Return the set and an upper bound on the reach of sets of this size. Reach has diminishing
    returns, so for any chosen set C no set S of K options reaches more than

    .. math::

        f(S) \le f(C) + \sum_{k \text{ of the } K \text{ largest gains}} \big( f(C \cup \{k\}) -
        f(C) \big)

    and than :math:`f(C_K) / (1 - (1 - 1/K)^K)` (Nemhauser, Wolsey & Fisher 1978).
    """
    chosen: list[int] = []
    chosen_bits = np.zeros_like(bits[0])
    reach = 0
    bound = float(_count_reach(bits, range(len(bits))))
    for _ in range(size + 1):
        gains = np.bitwise_count(bits | chosen_bits).sum(axis=1, dtype=np.int64) - reach
        bound = min(bound, reach + float(np.sort(gains)[-size:].sum()))
        if len(chosen) < size:
            gains[chosen] = -1
            chosen.append(int(gains.argmax()))
            chosen_bits = chosen_bits | bits[chosen[-1]]
            reach = int(np.bitwise_count(chosen_bits).sum())
    return sorted(chosen), min(bound, reach / (1.0 - (1.0 - 1.0 / size) ** size))


def improve_by_exchange(bits: np.ndarray, members: list[int]) -> list[int]:
    """Improve a set by exchanging single options while its reach grows."""
    best = members
    reach = _count_reach(bits, members)
    while True:
        candidates = list(list_neighbours(best, len(bits)))
        counts = [_count_reach(bits, candidate) for candidate in candidates]
        best_index = int(np.argmax(counts))
        if counts[best_index] <= reach:
            return best
        best = sorted(candidates[best_index])
        reach = counts[best_index]


def list_neighbours(members: Sequence[int], n_options: int) -> Iterator[list[int]]:
    """Yield the sets that differ from a set in one option."""
    for removed in members:
        kept_options = [option for option in members if option != removed]
        yield from ([*kept_options, added] for added in range(n_options) if added not in members)
