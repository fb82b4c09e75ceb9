"""Parallel tempering: replicas of a chain at several temperatures, which are swapped.

The replica on level t of the ladder targets prior x likelihood^beta[t], where beta is the inverse
temperature. The level beta[0] = 1 is the posterior, and only its draws are recorded; a likelihood
that is raised to a power begins at that power. Hot replicas move between families of features, and
swaps bring these to level 0. A chain that is not tempered has a ladder of one level.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import accept

from ..operations import cache_at, log_likelihood
from ..state import SWEEPS, replica

LOWEST_RATE = 0.1  # of swaps between neighbours that a ladder should have
# below this a gap gets another level, so that the rate of a later, longer run is above LOWEST_RATE
AIM = 0.12
MIN_ATTEMPTS = 20  # attempted swaps needed for a rate
MAX_TEMPERATURES = 64
# share of rejected swaps that a gap counts for at least where levels are placed by it
MIN_REJECTED = 0.02
HOTTEST = 50.0  # temperature at the start of a run that is annealed
STEP = 10  # sweeps at each temperature of such a run


class Ladder(NamedTuple):
    """Inverse temperatures, the replica on each level, and swaps since the counts restarted."""

    # (T,) inverse temperatures, falling from 1, or from the power of the likelihood
    beta: np.ndarray
    at: np.ndarray  # (T,) int64 the replica on each level
    tried: np.ndarray  # (T - 1,) attempted swaps between levels t and t + 1
    accepted: np.ndarray  # (T - 1,)


def ladder(temperatures: Any) -> Ladder:
    """A ladder of those temperatures, the first of which is 1, or one over the power of the
    likelihood."""
    beta = 1.0 / np.asarray(temperatures, float)
    gaps = beta.size - 1
    return Ladder(beta, np.arange(beta.size), np.zeros(gaps), np.zeros(gaps))


def geometric(levels: int, hottest: float) -> tuple[float, ...]:
    """Temperatures from 1 to the hottest in equal ratios."""
    return tuple(float(x) for x in np.geomspace(1.0, hottest, levels)) if levels > 1 else (1.0,)


def swap_rates(steps: Ladder) -> np.ndarray:
    """The share of accepted swaps between neighbouring levels; NaN where too few were tried."""
    return np.divide(
        steps.accepted,
        steps.tried,
        out=np.full(steps.tried.size, np.nan),
        where=steps.tried >= MIN_ATTEMPTS,
    )


def narrow_gaps(steps: Ladder) -> np.ndarray:
    """The gaps that need another level, at most as many as there is room for."""
    return np.flatnonzero(swap_rates(steps) < AIM)[: MAX_TEMPERATURES - steps.beta.size]


def longer(steps: Ladder) -> tuple[np.ndarray, np.ndarray]:
    """The gaps that get another level, those with too few accepted swaps, and all inverse
    temperatures afterwards."""
    gaps = narrow_gaps(steps)
    return gaps, np.insert(steps.beta, gaps + 1, np.sqrt(steps.beta[gaps] * steps.beta[gaps + 1]))


def evened(steps: Ladder) -> tuple[np.ndarray, np.ndarray]:
    """The same, so that every gap rejects as many swaps as any other, half of them or fewer.

    The sum of the rejected shares over the gaps hardly depends on where the levels are; with twice
    as many gaps as that sum replicas go from end to end most often for their number (Syed,
    Bouchard-Cote, Deligiannidis & Doucet 2022).
    """
    rejected = np.maximum(1.0 - swap_rates(steps), MIN_REJECTED)
    if np.isnan(rejected).any():
        return np.empty(0, int), steps.beta
    wanted = min(math.ceil(2.0 * rejected.sum()) + 1, MAX_TEMPERATURES)
    gaps = np.sort(np.argsort(-rejected, kind="stable")[: max(0, wanted - steps.beta.size)])
    along = np.concatenate([[0.0], np.cumsum(rejected)])
    places = np.linspace(0.0, along[-1], steps.beta.size + gaps.size)
    return gaps, np.exp(np.interp(places, along, np.log(steps.beta)))


@scalar
def swap(rng: np.random.Generator, model: Any, caches: Any, states: Any, steps: Any) -> None:
    """Swap neighbours with probability min(1, (L_upper / L_lower)^(beta_lower - beta_upper)).

    In even rounds levels 0 and 1, 2 and 3, ... are tried; in odd rounds 1 and 2, 3 and 4, ...
    """
    for t in range(states.whole[0, SWEEPS] % 2, steps.beta.shape[0] - 1, 2):
        lower, upper = steps.at[t], steps.at[t + 1]
        difference = log_likelihood(
            model.likelihood, cache_at(model.likelihood, caches, upper), replica(states, upper)
        )
        difference -= log_likelihood(
            model.likelihood, cache_at(model.likelihood, caches, lower), replica(states, lower)
        )
        steps.tried[t] += 1.0
        if accept(rng, (steps.beta[t] - steps.beta[t + 1]) * difference):
            steps.at[t], steps.at[t + 1] = upper, lower
            steps.accepted[t] += 1.0
