"""Search for sets of options that reach most respondents (TURF).

TURF: total unduplicated reach and frequency. In each draw an option either reaches a respondent or
not; a set reaches a respondent if one of its options does.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from math import comb
from typing import NamedTuple

import numpy as np
import pandas as pd

from thali._argument_checks import check_integer
from thali._exportable_table import Table
from thali._inference.index_arithmetic import argsort_descending, space_evenly
from thali._inference.random_seeds import RandomSeed, build_generator
from thali._posterior.posterior_interval import compute_interval, interval_tails
from thali.errors import Argument, ArgumentError

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
    reaches: np.ndarray,
    options: Sequence[str],
    size: int,
    top: int,
    random_seed: RandomSeed,
    ci: float,
) -> pd.DataFrame:
    """Tabulate the option sets of one size that reach most respondents.

    `reaches` is bool, shape (draws, respondents, options). Intervals refer to the population of
    which the respondents are a sample: in every draw they have weights of a Bayesian bootstrap,
    Dirichlet(1, ..., 1) (Rubin 1981), plus half a respondent whom every set reaches and half a
    respondent whom no set reaches. For known tastes, with k of n respondents reached, this is
    Beta(k + 1/2, n - k + 1/2), Jeffreys' posterior.
    """
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
    respondent_weights = rng.standard_gamma(1.0, (n_draws, n_respondents))
    half_weights = rng.standard_gamma(0.5, (n_draws, 2))
    total_weight = respondent_weights.sum(axis=1) + half_weights.sum(axis=1)
    rows = []
    reach_draws = np.empty((len(search.sets), n_draws))
    for set_index, members in enumerate(search.sets):
        n_reaching = reaches[:, :, members].sum(axis=2)
        reach_draws[set_index] = (
            ((n_reaching > 0) * respondent_weights).sum(axis=1) + half_weights[:, 0]
        ) / total_weight
        low, high = compute_interval(reach_draws[set_index], ci)
        member_names = tuple(options[k] for k in members)
        rows.append((member_names, (n_reaching > 0).mean(), low, high, n_reaching.mean()))
    table = Table(rows, columns=["members", "reach", "low", "high", "frequency"])
    is_best = reach_draws == reach_draws.max(axis=0)
    table["best"] = (is_best / is_best.sum(axis=0)).mean(axis=1)
    table = table.sort_values("reach", ascending=False, kind="stable", ignore_index=True).head(top)
    reach_bound = search.bound
    if search.is_exact:
        reach_bound = float(table["reach"].iloc[0])
    table.attrs |= {
        "interval": ci,
        "sets": comb(len(options), size),
        "exact": search.is_exact,
        "bound": reach_bound,
        "people": n_respondents,
    }
    return table


def search_sets(reaches: np.ndarray, size: int, n_sets: int) -> ReachSearch:
    """Return the `n_sets` option sets with the largest reach."""
    n_draws, n_respondents, n_options = reaches.shape
    draw_indices = space_evenly(n_draws, max(2, _MAX_ROWS // n_respondents))
    if comb(n_options, size) <= MAX_SETS:
        reach_bits = pack_reaches(reaches[draw_indices])
        sets = np.fromiter(
            chain.from_iterable(combinations(range(n_options), size)), np.int32
        ).reshape(-1, size)
        reach_counts = np.concatenate(list(_count_all_reaches(reach_bits, size)))
        return ReachSearch(sets[argsort_descending(reach_counts)[:n_sets]], True, 1.0)
    reach_bits = pack_reaches(reaches)
    best_set, max_reach_count = search_greedily(reach_bits, size)
    best_set = improve_by_exchange(reach_bits, best_set)
    sets = np.array(
        [best_set, *(sorted(members) for members in list_neighbours(best_set, n_options))], np.int32
    )
    reach_counts = np.array([_count_reach(reach_bits, members) for members in sets])
    return ReachSearch(
        sets[argsort_descending(reach_counts)[:n_sets]],
        False,
        max_reach_count / (n_draws * n_respondents),
    )


def pack_reaches(reaches: np.ndarray) -> np.ndarray:
    """Pack bool reaches into 64-bit words, shape (options, words)."""
    flat_reaches = reaches.reshape(-1, reaches.shape[2]).T
    padded_reaches = np.zeros((flat_reaches.shape[0], -(-flat_reaches.shape[1] // 64) * 64), bool)
    padded_reaches[:, : flat_reaches.shape[1]] = flat_reaches
    return np.packbits(padded_reaches, axis=1).view(np.uint64)


def _count_all_reaches(reach_bits: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Yield the reach counts of all sets of `size` options, in blocks."""
    # Sets with the same first options are counted together.
    for first_options in combinations(range(len(reach_bits)), size - 1):
        last_options = reach_bits
        first_bits = np.zeros_like(reach_bits[0])
        if first_options:
            last_options = reach_bits[first_options[-1] + 1 :]
            first_bits = np.bitwise_or.reduce(reach_bits[list(first_options)], axis=0)
        if len(last_options):
            yield np.bitwise_count(last_options | first_bits).sum(axis=1, dtype=np.int64)


def _count_reach(reach_bits: np.ndarray, members: Sequence[int]) -> int:
    """Count respondents, over all draws, reached by any option of a set."""
    return int(np.bitwise_count(np.bitwise_or.reduce(reach_bits[list(members)], axis=0)).sum())


def search_greedily(reach_bits: np.ndarray, size: int) -> tuple[list[int], float]:
    r"""Build a set by adding the option with the largest gain; return it and an upper bound.

    Return the set and an upper bound on the reach of sets of this size. Reach has diminishing
    returns, so for any chosen set C no set S of K options reaches more than

    .. math::

        f(S) \le f(C) + \sum_{k \text{ of the } K \text{ largest gains}} \big( f(C \cup \{k\}) -
        f(C) \big)

    and than :math:`f(C_K) / (1 - (1 - 1/K)^K)` (Nemhauser, Wolsey & Fisher 1978).
    """
    chosen_options: list[int] = []
    chosen_bits = np.zeros_like(reach_bits[0])
    reach_count = 0
    max_reach_count = float(_count_reach(reach_bits, range(len(reach_bits))))
    for _ in range(size + 1):
        gains = np.bitwise_count(reach_bits | chosen_bits).sum(axis=1, dtype=np.int64) - reach_count
        max_reach_count = min(max_reach_count, reach_count + float(np.sort(gains)[-size:].sum()))
        if len(chosen_options) < size:
            gains[chosen_options] = -1
            chosen_options.append(int(gains.argmax()))
            chosen_bits = chosen_bits | reach_bits[chosen_options[-1]]
            reach_count = int(np.bitwise_count(chosen_bits).sum())
    return sorted(chosen_options), min(
        max_reach_count, reach_count / (1.0 - (1.0 - 1.0 / size) ** size)
    )


def improve_by_exchange(reach_bits: np.ndarray, members: list[int]) -> list[int]:
    """Improve a set by exchanging single options while its reach grows."""
    best_set = members
    best_count = _count_reach(reach_bits, members)
    while True:
        candidates = list(list_neighbours(best_set, len(reach_bits)))
        reach_counts = [_count_reach(reach_bits, candidate) for candidate in candidates]
        best_index = int(np.argmax(reach_counts))
        if reach_counts[best_index] <= best_count:
            return best_set
        best_set = sorted(candidates[best_index])
        best_count = reach_counts[best_index]


def list_neighbours(members: Sequence[int], n_options: int) -> Iterator[list[int]]:
    """Yield the sets that differ from a set in one option."""
    for removed in members:
        kept_options = [option for option in members if option != removed]
        yield from ([*kept_options, added] for added in range(n_options) if added not in members)
