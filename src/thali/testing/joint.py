"""Joint-distribution test of a sampler (Geweke 2004).

Alternate between one sweep given the data and new data given the parameters. If the sweep leaves the posterior
invariant for every data set, the pair keeps its joint distribution, and every function of the parameters keeps its
prior distribution, whose mean is known. A wrong conditional anywhere in the sweep shifts some of them.
"""

import numpy as np

__all__ = ["joint_distribution_test", "simulate_pairs"]


def joint_distribution_test(
    prior,
    likelihood,
    data,
    expected: dict[str, float],
    rounds: int,
    weight_prior=(1.0, 1.0),
    alpha: float | None = None,
    sampler: str | None = None,
    random_seed: int = 77,
) -> dict[str, float]:
    """Run sampler and simulated choices in turn and compare the parameters with their prior means.

    The data give the design only: who is compared with whom, and how often. Few comparisons make the alternation mix
    well, without which the scores mean nothing.

    Parameters
    ----------
    prior : one of `thali.priors`
    likelihood : thali.likelihoods.Elimination
    data : PairedComparisons
    expected : dict of float
        Prior means of some of: "alpha", "1 / (1 + alpha)", "columns" (with at least one owner), "single" (columns of
        one owner), "pairs" (columns of two), "owned by 0" (columns of the first option), "shared weight" (sum over
        columns of two owners or more), "heavy" (number of those that weigh more than 1), "unique weight" (sum over
        options; with an infinite prior and exponential weights it holds the columns of single owners), "light unique"
        (share of unique weights below 1/2).
    rounds : int
    weight_prior, alpha, sampler
        As in `LatentFeatureModel`.
    random_seed : int

    Returns
    -------
    dict of float
        (mean - expected) / Monte Carlo standard error, standard normal if the sweep is right.

    References
    ----------
    Geweke (2004), section 3.

    Examples
    --------
    >>> import numpy as np, thali as th
    >>> design = th.PairedComparisons([[0, 1], [1, 0]])
    >>> known = th.priors.Given([[1], [0]])
    >>> scores = joint_distribution_test(known, th.likelihoods.Elimination(), design, {"unique weight": 2.0}, 200)
    >>> abs(scores["unique weight"]) < 4
    True
    """
    from arviz_stats.base.array import array_stats

    from thali.mcmc.bag import SWEEPS
    from thali.mcmc.chains import Chain
    from thali.models.engine import build_task

    settings = {"weight_prior": weight_prior, "alpha": alpha, "sampler": sampler}
    task = build_task(prior, likelihood, data, draws=1, tune=0, thin=10**9, **settings)
    rng = np.random.default_rng(random_seed)
    chain = Chain(task, rng)
    chain.run_to(0)
    kept: dict[str, list[float]] = {name: [] for name in expected}
    for _ in range(rounds):
        chain.run_to(1)
        simulate_pairs(rng, task.model.likelihood, chain.cache)
        chain.bags.whole[:, SWEEPS] = 0  # the next sweep begins as the first did, with a cache filled from the bag
        now = _quantities(chain.bag)
        for name in expected:
            kept[name].append(now[name])
    scores = {}
    for name, values in kept.items():
        draws = np.asarray(values, float)
        error = draws.std() / np.sqrt(array_stats.ess(draws[None], method="mean"))
        scores[name] = float((draws.mean() - expected[name]) / error)
    return scores


def _quantities(bag) -> dict[str, float]:
    from thali.mcmc.bag import ALPHA, COLUMNS, FULL

    columns, full = int(bag.whole[COLUMNS]), int(bag.whole[FULL])
    sizes, weights = bag.m[:columns], bag.w[:columns]
    alpha, unique = float(bag.real[ALPHA]), bag.s[:-1]
    return {
        "alpha": alpha,
        "1 / (1 + alpha)": 1.0 / (1.0 + alpha),
        "columns": int((sizes > 0).sum() + bag.singles.sum()) + full,
        "single": int((sizes == 1).sum() + bag.singles.sum()),
        "pairs": int((sizes == 2).sum()),
        "owned by 0": float(bag.Z[:columns, 0].sum() + bag.singles[0]) + full,
        "shared weight": float(weights[sizes > 1].sum()),
        "heavy": float((weights[sizes > 1] > 1.0).sum()),
        "unique weight": float(unique.sum()),
        "light unique": float((unique < 0.5).mean()),
    }


def simulate_pairs(rng: np.random.Generator, pairs, cache) -> None:
    """New choices for every pair of an elimination likelihood, drawn at the present weights.

    Parameters
    ----------
    rng : numpy.random.Generator
    pairs : thali.likelihoods.tiles.Pairs
        How often each pair is compared.
    cache : thali.likelihoods.tiles.PairCache
        Its counts change, in both copies of each pair; it must be rebuilt afterwards.
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
