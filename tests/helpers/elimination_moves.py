"""Moves of elimination models, their states as keys, and the log posterior they must leave invariant."""

import numpy as np
from problems import (
    NO_UNIQUE,
    TOTAL_UNIQUE,
    contents,
)

from thali.aspects import operations
from thali.aspects.likelihoods.pair_blocks import empty_cache
from thali.aspects.moves.unique_weights import log_i0
from thali.aspects.state import ALPHA
from thali.testing import naive


def key(pair):
    state, _ = pair
    matrix, weights, unique = contents(state)
    return matrix.tobytes(), matrix.shape, tuple(np.round(weights, 9)), tuple(np.round(unique, 9))


def own_log_likelihood(model, state):
    """The samplers' own, from scratch. Where a side can be empty they count it as 1e-9, which the naive evaluation does
    not; test_deltas compares the two."""
    cache = empty_cache(model.likelihood)
    operations.rebuild(model.likelihood, cache, state)
    return operations.log_likelihood(model.likelihood, cache, state)


def target(model, data, prior, lapse=0.01):
    """Log posterior of a state whose number of columns is fixed."""

    def log_target(pair):
        state, _ = pair
        matrix, weights, unique = contents(state)
        alpha = float(state.real[ALPHA])
        if model.unique == NO_UNIQUE:
            return own_log_likelihood(model, state) + prior.log_prob(matrix, alpha) - weights.sum()
        total = naive.log_joint(data, matrix, weights, unique, lapse, prior, alpha)
        if model.unique == TOTAL_UNIQUE:  # the density of the sum of unique weights, not that of a single one
            total += sum(log_i0(alpha / unique.size * s) for s in unique)
        return total

    return log_target


def on(move, model):
    return lambda rng, pair: move(rng, model, pair[1], pair[0])


def state_key(pair):
    """Columns as an unordered multiset."""
    matrix, _, _ = contents(pair[0])
    return tuple(sorted(tuple(column) for column in matrix.T.astype(int)))
