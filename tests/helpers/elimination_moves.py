"""Moves of a state, its key, and the log posterior that they must leave invariant, whatever the
data."""

import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from helpers.naive import latent_features as naive
from helpers.problems import NO_UNIQUE, TOTAL_UNIQUE, build, build_additive, contents, make_state
from helpers.triplet_problems import naive_log_likelihood, start_of
from thali import Similarities, Triplets
from thali._aspects import kernel_operations
from thali._aspects.chain_state import ALPHA, BETA
from thali._aspects.likelihoods.pair_blocks import make_pair_cache
from thali._aspects.moves.unique_weights import log_i0
from thali.priors import IndianBuffet

LINK = "exp"


class Start(NamedTuple):
    """A model of data as the samplers read it, and a state and cache that a move begins at."""

    data: Any
    model: Any
    pair: tuple
    prior: Any = IndianBuffet()
    link: str = LINK


def start(
    data,
    matrix,
    weights=(0.7, 1.3),
    unique=None,
    kind=None,
    prior=None,
    beta=1.0,
    rows=6,
    link=LINK,
    **more,
):
    """`kind` says what the unique weights are: those of single options and all that only these own,
    unless told otherwise. There are few rows for columns: the state is copied for every outcome of
    a move."""
    prior, n = prior or IndianBuffet(), data.n_options
    settings = {"lo": 1} | more
    if isinstance(data, Triplets):
        model, pair = start_of(data, link, matrix, weights, prior=prior, rows=rows, **settings)
    else:
        if isinstance(data, Similarities):
            model, make = build_additive(data, prior, **settings)
        else:
            kind = NO_UNIQUE if unique is None else TOTAL_UNIQUE if kind is None else kind
            model, make = build(data, prior, unique=kind, **settings)
        pair = make_state(
            model, make, matrix, weights, np.zeros(n) if unique is None else unique, rows=rows
        )
    pair[0].real[BETA] = beta
    return Start(data, model, pair, prior, link)


def key(pair):
    matrix, weights, unique = contents(pair[0])
    return matrix.tobytes(), matrix.shape, tuple(np.round(weights, 9)), tuple(np.round(unique, 9))


def state_key(pair):
    """Columns as an unordered multiset."""
    return tuple(sorted(tuple(column) for column in contents(pair[0])[0].T.astype(int)))


def own_log_likelihood(model, state):
    """The samplers' own, from scratch. Where a side can be empty they count it as 1e-9, which the
    naive evaluation does not; test_deltas compares the two."""
    cache = make_pair_cache(model.likelihood)
    kernel_operations.rebuild_cache(model.likelihood, cache, state)
    return kernel_operations.log_likelihood(model.likelihood, cache, state)


def log_likelihood(begun, pair, lapse=0.01):
    """Of a state and its cache, slow and obvious."""
    (state, cache), data = pair, begun.data
    if isinstance(data, Triplets):
        return naive_log_likelihood(data, begun.link, pair)
    if isinstance(data, Similarities):
        constant, variance = map(float, cache.real)
        return naive.additive_log_likelihood(
            data, *contents(state)[:2], constant, math.sqrt(variance)
        )
    if begun.model.unique == NO_UNIQUE:
        return own_log_likelihood(begun.model, state)
    return naive.log_likelihood(data, *contents(state), lapse)


def target(begun):
    """Log posterior of a state whose number of columns is fixed."""

    def log_target(pair):
        matrix, weights, unique = contents(pair[0])
        alpha, (shape, rate) = float(pair[0].real[ALPHA]), begun.model.weights
        total = (
            pair[0].real[BETA] * log_likelihood(begun, pair)
            + begun.prior.log_prob(matrix, alpha)
            - unique.sum()
        )
        # the density of the sum of unique weights, not that of a single one
        if begun.model.unique == TOTAL_UNIQUE:
            total += sum(log_i0(alpha / unique.size * s) for s in unique)
        return total + ((shape - 1.0) * np.log(weights) - rate * weights).sum()

    return log_target


def target_of_births(begun):
    """The same where the number of columns is not fixed, and all weights are equal."""
    table = IndianBuffet().compiled(begun.data.n_options)

    def log_target(pair):
        total = sum(
            math.log(pair[0].real[ALPHA]) + table.log_rate[m] for m in contents(pair[0])[0].sum(0)
        )
        return (
            log_likelihood(begun, pair)
            + total
            - sum(math.lgamma(c + 1) for c in Counter(state_key(pair)).values())
        )

    return log_target
