"""Parallel tempering: temperatures of a chain, and swaps of states between them.

The replica on level t of the ladder targets prior x likelihood^beta[t], where beta is the inverse
temperature. Level 0, with beta = 1, targets the posterior, and only its draws are recorded; for a
likelihood raised to a power, beta[0] is that power. Hot replicas move between families of features,
and swaps bring these to level 0. An untempered chain has a ladder of one level.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar
from thali._inference.index_arithmetic import argsort_descending
from thali._inference.numerics.discrete_draws import accept

from ..chain_state import SWEEPS, replica
from ..kernel_operations import log_likelihood, select_cache

MIN_SWAP_RATE = 0.1  # required rate of swaps between neighbours
# gaps with a lower rate get a level, so that the rate of a later, longer run exceeds MIN_SWAP_RATE
TARGET_SWAP_RATE = 0.12
MIN_ATTEMPTS = 20  # attempted swaps needed for a rate
MAX_TEMPERATURES = 64
# smallest share of rejected swaps assumed for a gap when levels are placed
MIN_REJECTED = 0.02
HOTTEST = 50.0  # temperature at the start of an annealed run
ANNEALING_STEP = 10  # sweeps at each temperature of an annealed run


class Ladder(NamedTuple):
    """Inverse temperatures of a chain, the replica at each, and counts of swaps."""

    # (T,) inverse temperatures, decreasing from 1, or from the power of the likelihood
    beta: np.ndarray
    at: np.ndarray  # (T,) int64 the replica on each level
    tried: np.ndarray  # (T - 1,) attempted swaps between levels t and t + 1
    accepted: np.ndarray  # (T - 1,)


def build_ladder(temperatures: Sequence[float] | np.ndarray) -> Ladder:
    """Build the `Ladder` of temperatures that increase from 1 (or from 1 / power)."""
    beta = 1.0 / np.asarray(temperatures, float)
    n_gaps = beta.size - 1
    return Ladder(beta, np.arange(beta.size), np.zeros(n_gaps), np.zeros(n_gaps))


def space_temperatures(n_levels: int, hottest: float) -> tuple[float, ...]:
    """Return `n_levels` temperatures from 1 to the hottest, in equal ratios."""
    return tuple(np.geomspace(1.0, hottest, n_levels).tolist())


def compute_swap_rates(ladder: Ladder) -> np.ndarray:
    """Return swap acceptance rates of neighbouring temperatures; NaN with few attempts."""
    return np.divide(
        ladder.accepted,
        ladder.tried,
        out=np.full(ladder.tried.size, np.nan),
        where=ladder.tried >= MIN_ATTEMPTS,
    )


def split_gaps(ladder: Ladder) -> tuple[np.ndarray, np.ndarray]:
    """Return gaps with rare swaps, and inverse temperatures with one added in each gap."""
    gaps = np.flatnonzero(compute_swap_rates(ladder) < TARGET_SWAP_RATE)[
        : MAX_TEMPERATURES - ladder.beta.size
    ]
    return gaps, np.insert(
        ladder.beta, gaps + 1, np.sqrt(ladder.beta[gaps] * ladder.beta[gaps + 1])
    )


def equalize_rejections(ladder: Ladder) -> tuple[np.ndarray, np.ndarray]:
    """Return gaps to split and inverse temperatures with equal swap rejection rates.

    Every gap then rejects the same share of swaps, at most one half. The sum of the rejected shares
    over the gaps depends little on the positions of the levels; with twice that number of gaps
    replicas travel from end to end most often for their number (Syed, Bouchard-Cote, Deligiannidis
    & Doucet 2022).
    """
    rejection_rates = np.maximum(1.0 - compute_swap_rates(ladder), MIN_REJECTED)
    if np.isnan(rejection_rates).any():
        return np.empty(0, int), ladder.beta
    n_levels = min(math.ceil(2.0 * rejection_rates.sum()) + 1, MAX_TEMPERATURES)
    gaps = np.sort(argsort_descending(rejection_rates)[: max(0, n_levels - ladder.beta.size)])
    cumulative_rejection = np.concatenate([[0.0], np.cumsum(rejection_rates)])
    target_rejections = np.linspace(0.0, cumulative_rejection[-1], ladder.beta.size + gaps.size)
    return gaps, np.exp(np.interp(target_rejections, cumulative_rejection, np.log(ladder.beta)))


@scalar
def swap_neighbours(
    rng: np.random.Generator, model: Any, caches: Any, states: Any, ladder: Any
) -> None:
    """Propose to swap the states of all neighbouring temperatures.

    In even rounds levels 0 and 1, 2 and 3, ... are tried; in odd rounds 1 and 2, 3 and 4, ...
    """
    for t in range(states.whole[0, SWEEPS] % 2, ladder.beta.size - 1, 2):
        lower, upper = ladder.at[t], ladder.at[t + 1]
        difference = log_likelihood(
            model.likelihood, select_cache(model.likelihood, caches, upper), replica(states, upper)
        )
        difference -= log_likelihood(
            model.likelihood, select_cache(model.likelihood, caches, lower), replica(states, lower)
        )
        propose_swap(rng, ladder, t, difference)


@scalar
def propose_swap(rng: Any, ladder: Any, t: Any, difference: Any) -> None:
    """Swap the replicas at temperatures t and t + 1 with the Metropolis probability."""
    ladder.tried[t] += 1.0
    if accept(rng, (ladder.beta[t] - ladder.beta[t + 1]) * difference):
        ladder.at[t], ladder.at[t + 1] = ladder.at[t + 1], ladder.at[t]
        ladder.accepted[t] += 1.0
