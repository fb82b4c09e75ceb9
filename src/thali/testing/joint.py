"""Joint-distribution test of a sampler (Geweke 2004).

Alternate between one sweep given the data and new data given the parameters. If the sweep leaves the posterior
invariant for every data set, the pair keeps its joint distribution, and every function of the parameters keeps its
prior distribution, whose mean is known or simulated. A wrong conditional anywhere in the sweep shifts some of them.
"""

from collections.abc import Callable

import numpy as np

__all__ = ["joint_distribution_test", "simulate_pairs"]


def joint_distribution_test(
    sweep: Callable, resample: Callable, quantities: Callable, expected: dict[str, float], rounds: int
) -> dict[str, float]:
    """z-scores of posterior quantities against their prior means.

    Parameters
    ----------
    sweep : callable () -> None
        One sweep of the sampler given the present data.
    resample : callable () -> None
        Replace the data by new ones drawn given the present parameters.
    quantities : callable () -> dict of float
        Functions of the present parameters.
    expected : dict of float
        Prior means of all or some of them.
    rounds : int

    Returns
    -------
    dict of float
        (mean - expected) / Monte Carlo standard error, standard normal if the sweep is right.

    References
    ----------
    Geweke (2004), section 3.
    """
    from arviz_stats.base.array import array_stats

    kept: dict[str, list[float]] = {name: [] for name in expected}
    for _ in range(rounds):
        sweep()
        resample()
        now = quantities()
        for name in expected:
            kept[name].append(now[name])
    scores = {}
    for name, values in kept.items():
        draws = np.asarray(values, float)
        error = draws.std() / np.sqrt(array_stats.ess(draws[None], method="mean"))
        scores[name] = float((draws.mean() - expected[name]) / error)
    return scores


def simulate_pairs(rng: np.random.Generator, pairs, cache) -> None:
    """New choices for every pair of an elimination likelihood, in both copies of each, drawn at the present weights.

    The likelihood's cache must be rebuilt afterwards.
    """
    from thali.likelihoods.tiles import LANES, LOSSES, OTHER, OWN, WINS

    n = pairs.start.size - 1
    owner = np.repeat(np.arange(n), np.diff(pairs.start))[:, None] + np.zeros(LANES, np.int64)
    neighbour = pairs.neighbour.astype(np.int64)
    first = ((owner < neighbour) & (neighbour < n)).ravel()
    own = np.maximum(cache.tile[:, OWN : OWN + LANES], pairs.floor).ravel()[first]
    other = np.maximum(cache.tile[:, OTHER : OTHER + LANES], pairs.floor).ravel()[first]
    counts = (pairs.wins + pairs.losses).ravel()[first].astype(np.int64)
    wins = rng.binomial(counts, pairs.scale * own / (own + other) + pairs.base)
    mirrored = pairs.mirror.ravel()[first].astype(np.int64)
    for field, mine, theirs in ((WINS, wins, counts - wins), (LOSSES, counts - wins, wins)):
        lanes = cache.tile[:, field : field + LANES]
        flat = lanes.ravel().copy()
        flat[first] = mine
        flat[mirrored] = theirs
        lanes[...] = flat.reshape(lanes.shape)
