"""Parallel tempering: replicas of a chain at several temperatures, which trade places.

The replica on rung t of the ladder has the posterior with the likelihood raised to the power heat[t], and the prior as
it is; heat[0] = 1 is the posterior itself, and only its draws are kept. Hot replicas cross from one family of features
to another, and the trades bring what they find down. A chain that is not tempered has a ladder of one rung.
"""

from typing import NamedTuple

import numpy as np

from thali._jit import scalar
from thali.mcmc.bag import SWEEPS, replica
from thali.mcmc.chance import accept
from thali.mcmc.verbs import cache_at, log_likelihood

LOWEST_RATE = 0.1  # of trades between neighbours that a ladder should have
AIM = 0.12  # below this a gap gets another rung, so that the rate of a later, longer run is above LOWEST_RATE
ENOUGH = 20  # attempted trades without which a rate says nothing
MOST_RUNGS = 64


class Ladder(NamedTuple):
    """Temperatures, who stands where, and how trades went since they were last counted anew."""

    heat: np.ndarray  # (T,) inverse temperatures, falling from 1
    at: np.ndarray  # (T,) int64 the replica on each rung
    tried: np.ndarray  # (T - 1,) trades between rungs t and t + 1
    accepted: np.ndarray  # (T - 1,)


def ladder(temperatures) -> Ladder:
    """A ladder of those temperatures, the first of which is 1."""
    heat = 1.0 / np.asarray(temperatures, float)
    gaps = heat.size - 1
    return Ladder(heat, np.arange(heat.size), np.zeros(gaps), np.zeros(gaps))


def geometric(rungs: int, hottest: float) -> tuple[float, ...]:
    """Temperatures from 1 to the hottest in equal ratios."""
    return tuple(float(x) for x in np.geomspace(1.0, hottest, rungs)) if rungs > 1 else (1.0,)


def trade_rates(steps: Ladder) -> np.ndarray:
    """The share of trades between neighbouring rungs that were accepted; NaN where too few were tried."""
    return np.divide(steps.accepted, steps.tried, out=np.full(steps.tried.size, np.nan), where=steps.tried >= ENOUGH)


def narrow_gaps(steps: Ladder) -> np.ndarray:
    """The gaps that need another rung, at most as many as there is room for."""
    return np.flatnonzero(trade_rates(steps) < AIM)[: MOST_RUNGS - steps.heat.size]


@scalar
def trade(rng, model, caches, bags, steps):
    """Neighbours trade places with probability min(1, (L_upper / L_lower)^(heat_lower - heat_upper)).

    In even rounds rungs 0 and 1, 2 and 3, ... may trade; in odd rounds 1 and 2, 3 and 4, ...
    """
    for t in range(bags.whole[0, SWEEPS] % 2, steps.heat.shape[0] - 1, 2):
        lower, upper = steps.at[t], steps.at[t + 1]
        difference = log_likelihood(model.likelihood, cache_at(model.likelihood, caches, upper), replica(bags, upper))
        difference -= log_likelihood(model.likelihood, cache_at(model.likelihood, caches, lower), replica(bags, lower))
        steps.tried[t] += 1.0
        if accept(rng, (steps.heat[t] - steps.heat[t + 1]) * difference):
            steps.at[t], steps.at[t + 1] = upper, lower
            steps.accepted[t] += 1.0
