"""The error of a chain's cache, computed here from the state, independently of the library."""

import numpy as np

from thali._aspects import kernel_operations
from thali._aspects.chain_state import COLUMNS
from thali._aspects.likelihoods.pair_blocks import (
    COLUMNS_I,
    COLUMNS_J,
    LOGLIK,
    TIE,
    WEIGHT_I,
    WEIGHT_J,
    WIDTH,
    PairBlocks,
    has_empty_sides,
    has_ties,
)
from thali._aspects.samplers.chains import FeatureChain

REACH = 1e-6  # relative error of the weight of a side that is not empty


def watched(task, seed=1):
    """Run a chain, and compare the cache with the state at every draw that it records."""
    chain = FeatureChain(task, np.random.default_rng(seed))
    for sweep in range((task.tune + 1) * task.thin, chain.total + 1, task.thin):
        chain.run_until(sweep)
        compare(task, chain.cache, chain.state)
    assert chain.is_done
    return chain


def compare(task, cache, state):
    likelihood = task.model.likelihood
    if isinstance(likelihood, PairBlocks):
        compare_sides(likelihood, cache, state)
    elif "residual" in cache._fields:
        compare_residuals(likelihood, cache, state)
    elif "own_columns" in cache._fields:
        compare_sums(cache, state)
    elif "reach" in cache._fields:  # choices out of sets
        fresh = task.make_cache(likelihood)
        kernel_operations.rebuild_cache(likelihood, fresh, state)
        np.testing.assert_allclose(cache.value, fresh.value, rtol=1e-9, atol=1e-9)
    else:
        raise AssertionError(f"no comparison for {type(likelihood).__name__}")


def columns_of_state(state):
    """Owners (columns, options) and weights."""
    count = int(state.whole[COLUMNS])
    return state.Z[:count, :-1], state.w[:count]


def same_sums(kept, columns, sums, exact, label):
    """Sums agree in proportion, are 0 where no column stands, and their columns are counted
    right."""
    assert np.array_equal(columns, exact), label
    assert np.array_equal(kept == 0.0, exact == 0.0), label
    np.testing.assert_allclose(kept, sums, rtol=REACH, atol=1e-300, err_msg=label)


def compare_sides(pairs, cache, state):
    owns, weights = columns_of_state(state)
    lacks = 1.0 - owns
    side = state.s[:-1, None] + (owns.T * weights) @ lacks
    counted = has_empty_sides(pairs)
    count = owns.T @ lacks if counted else np.ones(side.shape)  # a unique aspect never goes
    owner = np.repeat(np.arange(pairs.start.size - 1), np.diff(pairs.start))[:, None] + np.zeros(
        WIDTH, np.int64
    )
    neighbour = pairs.neighbour.astype(np.int64)
    real = neighbour < owner.max() + 1
    i, j = owner[real], neighbour[real]
    assert i.size and set(i) == set(j)

    def vectorised(field):
        return cache.block[:, field : field + WIDTH][real]

    kept = [vectorised(COLUMNS_I), vectorised(COLUMNS_J)] if counted else np.ones((2, i.size))
    same_sums(vectorised(WEIGHT_I), kept[0], side[i, j], count[i, j], "own side")
    same_sums(vectorised(WEIGHT_J), kept[1], side[j, i], count[j, i], "other side")
    a, b = side[i, j], side[j, i]
    share = np.divide(a, a + b, out=np.full(a.size, 0.5), where=a + b > 0.0)
    term = pairs.wins[real] * np.log(pairs.scale * share + pairs.base + 1e-300)
    term += pairs.losses[real] * np.log(pairs.scale * (1.0 - share) + pairs.base + 1e-300)
    if has_ties(pairs):
        p = pairs.scale * share + pairs.base
        term -= (pairs.wins + pairs.losses)[real] * np.log1p(
            cache.real[TIE] * np.sqrt(p * (1.0 - p))
        )
    sharp = 1.0 + (pairs.wins + pairs.losses)[real] / (pairs.base + 1e-3)
    assert np.abs(vectorised(LOGLIK) - term).max() <= (REACH * sharp).max()


def compare_residuals(judgements, cache, state):
    owns, weights = columns_of_state(state)
    mean = cache.real[0] + (owns.T * weights) @ owns
    exact = (judgements.value - mean) * judgements.measured
    np.testing.assert_allclose(
        cache.residual, exact, rtol=0.0, atol=1e-11 * (1.0 + np.abs(mean).max())
    )


def compare_sums(cache, state, sees_single=True):
    owns, weights = columns_of_state(state)
    if sees_single:  # otherwise features of one option come and go without a note
        same_sums(cache.own_sum, cache.own_columns, weights @ owns, owns.sum(0), "own")
    if cache.shared.size:
        off = ~np.eye(owns.shape[1], dtype=bool)
        shared, count = (owns.T * weights) @ owns * off, owns.T @ owns * off
        same_sums(cache.shared, cache.shared_columns, shared, count, "shared")
