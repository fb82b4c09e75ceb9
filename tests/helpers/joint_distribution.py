"""Joint-distribution test of a sampler (Geweke 2004).

Alternate between one sweep given the data and new data given the parameters. If the sweep leaves
the posterior invariant for every data set, the pair keeps its joint distribution, and every
function of the parameters keeps its prior distribution, whose mean is known. A wrong conditional
anywhere in the sweep shifts some of them.
"""

import math
from typing import Any

import numpy as np

from thali._posterior.summary_table import compute_mean_mcse

__all__ = [
    "joint_distribution_test",
    "simulate_choices",
    "simulate_pairs",
    "simulate_similarities",
    "simulate_triplets",
]


def joint_distribution_test(
    prior: Any,
    likelihood: Any,
    data: Any,
    expected: dict[str, float],
    rounds: int,
    weight_prior: Any = (1.0, 1.0),
    alpha: float | None = None,
    sweep: Any = None,
    random_seed: int = 77,
    temperatures: tuple[float, ...] = (1.0,),
    sweeps: int = 1,
) -> dict[str, float]:
    """Run sampler and simulated data in turn and compare the parameters with their prior means.

    The data give the design only: who is compared with whom, how often, and the scale of a variance
    that is learned. Few comparisons, or much noise, make the alternation mix well; otherwise the
    scores mean nothing.

    Parameters
    ----------
    prior : one of `thali.priors` likelihood : thali.likelihoods.Elimination,
    thali.likelihoods.Additive or thali.likelihoods.MostSimilarPair data : PairedComparisons,
    Choices, Similarities, or Triplets with each set answered once expected : dict of float
        Prior means of some of: "alpha", "1 / (1 + alpha)", "columns" (with at least one owner),
        "single" (columns of one owner), "pairs" (columns of two), "owned by 0" (columns of the
        first option), "shared weight" (sum over columns of two owners or more), "heavy" (number of
        those that weigh more than 1), "unique weight" (sum over options; with an infinite prior and
        exponential weights it holds the columns of single owners), "light unique" (share of unique
        weights below 1/2), "share of 0" (of the first option in the sum of unique weights) and
        "share of 0^2". Of comparisons with covariates also "coefficient" (the first),
        "coefficient^2" and "positive coefficient", with ties "tie", "tie^2" and "small tie"
        (whether below 1/2). Of similarities also: "shared" (columns of two owners or more) and
        "shared^2", "full" (columns of all objects), "owned pairs" (sum over columns), "weight 01"
        (of the columns that the first two objects share), "weight 01^2", "weight 01 * weight 02",
        "constant", "constant^2", "precision" (1 / sigma^2), "log variance", "error" (sum of squared
        residuals, each divided by its variance). Of triplets with the link "ratio" also "constant"
        and "constant^2".
    rounds : int
    weight_prior, alpha
        As in `LatentFeatureModel`.
    sweep : kernel, optional
        Sweeps that replace those of the prior and the likelihood.
    random_seed : int
    temperatures : sequence of float, optional
        Of the replicas of a tempered chain. The data of a round come from the replica at the first
        temperature, so that all others must be infinite: those replicas have the prior whatever the
        data are. At a first temperature T other than 1 similarities have T times the variance, and
        the density of a learned sigma^2 is its prior's times sigma^(P (1 - 1/T)), P the number of
        pairs.
    sweeps : int, optional
        Sweeps a round. Replicas 1 and 2, 3 and 4, ... are swapped after the first, 0 and 1, 2 and
        3, ... after the second.

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
    >>> scores = joint_distribution_test(
    ...     known, th.likelihoods.Elimination(), design, {"unique weight": 2.0}, 200
    ... )
    >>> abs(scores["unique weight"]) < 4
    True
    """
    from thali._aspects.chain_state import SWEEPS
    from thali._aspects.samplers.chains import FeatureChain
    from thali._aspects.samplers.sampling_task import build_task

    settings = {"weight_prior": weight_prior, "alpha": alpha, "sweep": sweep, "tempering": False}
    task = build_task(prior, likelihood, data, draws=1, tune=0, thin=10**9, **settings)
    task.temperatures = temperatures
    rng = np.random.default_rng(random_seed)
    chain = FeatureChain(task, rng)
    chain.run_until(0)
    kept: dict[str, list[float]] = {name: [] for name in expected}
    for _ in range(rounds):
        chain.run_until(sweeps)
        now = _quantities(chain)
        for name in expected:
            kept[name].append(now[name])
        _simulate(rng, chain)
        # the next sweep starts as the first did, with a cache filled from the state
        chain.states.whole[:, SWEEPS] = 0
    scores = {}
    for name, values in kept.items():
        draws = np.asarray(values, float)
        error = compute_mean_mcse(draws[None, None])[0]
        scores[name] = float((draws.mean() - expected[name]) / error)
    return scores


def _quantities(chain: Any) -> dict[str, float]:
    from thali._aspects.chain_state import ALPHA, COLUMNS, FULL
    from thali._aspects.likelihoods.pair_blocks import TIE, PairsWithTies
    from thali._aspects.likelihoods.pair_covariates import (
        FIRST_COEFFICIENT,
        PairsWithCovariates,
        PairsWithCovariatesAndTies,
    )

    state = chain.state
    columns, full = int(state.whole[COLUMNS]), int(state.whole[FULL])
    sizes, weights = state.m[:columns], state.w[:columns]
    alpha, unique = float(state.real[ALPHA]), state.s[:-1]
    found = {
        "alpha": alpha,
        "1 / (1 + alpha)": 1.0 / (1.0 + alpha),
        "columns": int((sizes > 0).sum() + state.singles.sum()) + full,
        "single": int((sizes == 1).sum() + state.singles.sum()),
        "pairs": int((sizes == 2).sum()),
        "owned by 0": float(state.Z[:columns, 0].sum() + state.singles[0]) + full,
        "shared weight": float(weights[sizes > 1].sum()),
        "heavy": float((weights[sizes > 1] > 1.0).sum()),
        "unique weight": float(unique.sum()),
        "light unique": float((unique < 0.5).mean()),
        "share of 0": float(unique[0] / unique.sum()),
        "share of 0^2": float(unique[0] / unique.sum()) ** 2,
    }
    if isinstance(chain.task.model.likelihood, PairsWithCovariates):
        beta = float(chain.cache.real[FIRST_COEFFICIENT])
        found |= {
            "coefficient": beta,
            "coefficient^2": beta**2,
            "positive coefficient": float(beta > 0.0),
        }
    if isinstance(chain.task.model.likelihood, PairsWithTies | PairsWithCovariatesAndTies):
        tie = float(chain.cache.real[TIE])
        found |= {"tie": tie, "tie^2": tie**2, "small tie": float(tie < 0.5)}
    if "trial_shared" in chain.cache._fields:
        constant = float(chain.cache.real[0])
        found |= {"constant": constant, "constant^2": constant**2}
    if "residual" in chain.cache._fields:
        found |= _quantities_of_similarities(
            chain.task.model.likelihood, state, chain.cache, chain.ladder.beta[0]
        )
    return found


def _quantities_of_similarities(
    judgements: Any, state: Any, cache: Any, beta: Any
) -> dict[str, float]:
    from thali._aspects.chain_state import COLUMNS
    from thali._aspects.likelihoods.similarity_residuals import CONSTANT, VARIANCE, squared_error

    columns, n = int(state.whole[COLUMNS]), state.Z.shape[1] - 1
    sizes = state.m[:columns]
    shared = int((sizes > 1).sum())
    constant, variance = float(cache.real[CONSTANT]), float(cache.real[VARIANCE])
    of_first = state.w[:columns] * state.Z[:columns, 0]
    pair, other = float(of_first @ state.Z[:columns, 1]), float(of_first @ state.Z[:columns, 2])
    return {
        "shared": shared,
        "shared^2": shared**2,
        "full": int((sizes == n).sum()),
        "owned pairs": 0.5 * float((sizes * (sizes - 1)).sum()),
        "weight 01": pair,
        "weight 01^2": pair**2,
        "weight 01 * weight 02": pair * other,
        "constant": constant,
        "constant^2": constant**2,
        "precision": 1.0 / variance,
        "log variance": math.log(variance),
        "error": beta * squared_error(judgements, cache) / variance,
    }


def _simulate(rng: np.random.Generator, chain: Any) -> None:
    """New data at the present state, of the likelihood that keeps such a cache."""
    likelihood, kept = chain.task.model.likelihood, chain.cache._fields
    if "reach" in kept:
        simulate_choices(rng, likelihood, chain.state, chain.cache)
    elif "trial_shared" in kept:
        simulate_triplets(rng, likelihood, chain.state, float(chain.cache.real[0]))
    elif "residual" in kept:
        simulate_similarities(
            rng, likelihood, chain.state, chain.cache, float(chain.ladder.beta[0])
        )
    else:
        simulate_pairs(rng, likelihood, chain.cache)


def simulate_similarities(
    rng: np.random.Generator, judgements: Any, state: Any, cache: Any, beta: float = 1.0
) -> None:
    """New similarities of every measured pair, drawn at the present features, weights, constant and
    variance.

    Parameters
    ----------
    rng : numpy.random.Generator
    judgements : thali._aspects.likelihoods.similarity_residuals.Judgements
        Its similarities change, so that every cache must be rebuilt afterwards.
    state : thali._aspects.chain_state.FeatureState
    cache : thali._aspects.likelihoods.similarity_residuals.Residuals
        Its constant and variance are read; a mean of n judgements has 1 / n of the variance.
    beta : float, optional
        The power of the likelihood that they are drawn from; the noise has the variance divided by
        it.
    """
    from thali._aspects.chain_state import COLUMNS
    from thali._aspects.likelihoods.similarity_residuals import CONSTANT, VARIANCE

    columns, n = int(state.whole[COLUMNS]), state.Z.shape[1] - 1
    owners, weights = state.Z[:columns, :n], state.w[:columns, None]
    noise = np.triu(rng.standard_normal((n, n)), 1) * math.sqrt(cache.real[VARIANCE] / beta)
    fitted = cache.real[CONSTANT] + owners.T @ (weights * owners)
    noise = (noise + noise.T) * np.sqrt(judgements.share)
    judgements.value[...] = np.where(judgements.measured > 0.0, fitted + noise, 0.0)


def simulate_triplets(rng: np.random.Generator, sets: Any, state: Any, constant: float) -> None:
    """New answers to every set of pairs, drawn at the present features, weights and constant.

    Parameters
    ----------
    rng : numpy.random.Generator
    sets : thali._aspects.likelihoods.most_similar_pair_probabilities.AnsweredPairSets
        With answers given once each. The pairs that are chosen change, so that every cache must be
        rebuilt afterwards.
    state : thali._aspects.chain_state.FeatureState
    constant : float
        That of the link "ratio".
    """
    from thali._aspects.chain_state import COLUMNS

    columns, n = int(state.whole[COLUMNS]), state.Z.shape[1] - 1
    owners = state.Z[:columns, :n]
    shared = state.w[:columns] @ (owners[:, sets.lower] * owners[:, sets.upper])
    value = shared + constant if sets.is_ratio else np.exp(shared - shared.max(initial=0.0))
    for start, stop in zip(sets.start[:-1], sets.start[1:], strict=True):
        own = sets.pair[start:stop]
        is_lapse = rng.random() < sets.lapse
        chosen = _drawn(rng, np.ones(stop - start) if is_lapse else value[own])
        own[0], own[chosen] = own[chosen], own[0]


def _drawn(rng: np.random.Generator, weights: np.ndarray) -> int:
    """A position in proportion to its weight."""
    return int(np.searchsorted(np.cumsum(weights), rng.random() * weights.sum()))


def simulate_choices(rng: np.random.Generator, sets: Any, state: Any, cache: Any) -> None:
    """New choices out of every set, drawn at the present aspects and weights.

    Every aspect takes effect after an exponential time with its weight as rate, and eliminates all
    that lack it, unless nobody left has it; who are left in the end share equally. This is the
    model without its recursion.

    Parameters
    ----------
    rng : numpy.random.Generator
    sets : thali._aspects.likelihoods.elimination_kernels.OfferedSets
    state : thali._aspects.chain_state.FeatureState
    cache : thali._aspects.likelihoods.elimination_kernels.SetCache
        Its counts change; it must be rebuilt afterwards.
    """
    from thali._aspects.chain_state import COLUMNS

    columns, n = int(state.whole[COLUMNS]), state.Z.shape[1] - 1
    owners = np.vstack([np.eye(n, dtype=bool), state.Z[:columns, :n] > 0.0])
    weights = np.concatenate([state.s[:n], state.w[:columns]])
    owners, weights = owners[weights > 0.0], weights[weights > 0.0]
    for start, stop in zip(sets.start[:-1], sets.start[1:], strict=True):
        if start == stop:  # of a group that was offered fewer sets than another
            continue
        owned = owners[:, sets.member[start:stop]]
        times = int(round(cache.count[start:stop].sum()))
        left = np.ones((times, stop - start), bool)
        order = np.argsort(rng.standard_exponential((times, weights.size)) / weights, axis=1)
        for step in range(weights.size):
            fewer = left & owned[order[:, step]]
            left = np.where(fewer.any(1, keepdims=True), fewer, left)
        left[rng.random(times) < sets.lapse] = True
        chosen = np.argmax(left * rng.random(left.shape), axis=1)
        cache.count[start:stop] = np.bincount(chosen, minlength=stop - start)


def simulate_pairs(rng: np.random.Generator, pairs: Any, cache: Any) -> None:
    """New choices for every pair of an elimination likelihood, drawn at the present weights.

    Parameters
    ----------
    rng : numpy.random.Generator
    pairs : thali._aspects.likelihoods.pair_blocks.PairBlocks
        How often each pair is compared.
    cache : thali._aspects.likelihoods.pair_blocks.PairCache
        Its counts change, in both copies of each pair; it must be rebuilt afterwards.
    """
    from thali._aspects.likelihoods.pair_blocks import (
        COVARIATE_FACTOR,
        LOSSES,
        MIN_WEIGHT,
        TIE,
        TIED,
        WEIGHT_I,
        WEIGHT_J,
        WIDTH,
        WINS,
        has_ties,
    )
    from thali._aspects.likelihoods.pair_covariates import PairsWithCovariates

    n = pairs.start.size - 1
    neighbour = pairs.neighbour.astype(np.int64)
    owner = np.full(neighbour.shape, n)  # of blocks that only other groups have: nobody
    owner[: pairs.start[-1]] = np.repeat(np.arange(n), np.diff(pairs.start))[:, None]
    first = ((owner < neighbour) & (neighbour < n)).ravel()
    own = np.maximum(cache.block[:, WEIGHT_I : WEIGHT_I + WIDTH], MIN_WEIGHT).ravel()[first]
    other = np.maximum(cache.block[:, WEIGHT_J : WEIGHT_J + WIDTH], MIN_WEIGHT).ravel()[first]
    if isinstance(pairs, PairsWithCovariates):
        own = own * cache.block[:, COVARIATE_FACTOR : COVARIATE_FACTOR + WIDTH].ravel()[first]
    counts = (pairs.wins + pairs.losses).ravel()[first].astype(np.int64)
    p = pairs.scale * own / (own + other) + pairs.base
    if has_ties(pairs):
        r = cache.real[TIE] * np.sqrt(p * (1.0 - p))
        ties = rng.binomial(counts, r / (1.0 + r))
        wins = rng.binomial(counts - ties, p) + ties / 2.0
        cache.real[TIED] = ties.sum()
    else:
        wins = rng.binomial(counts, p)
    transposed = pairs.transposed.ravel()[first].astype(np.int64)
    for field, mine, theirs in ((WINS, wins, counts - wins), (LOSSES, counts - wins, wins)):
        vectorised = cache.block[:, field : field + WIDTH]
        flat = vectorised.ravel().copy()
        flat[first] = mine
        flat[transposed] = theirs
        vectorised[...] = flat.reshape(vectorised.shape)
