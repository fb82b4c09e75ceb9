"""Transition matrices of the sampler's moves on a few entries of the features, for likelihoods of a user's own.

The moves are the sampler's own code, run as Python; the target is the log-likelihood as its author wrote it.
"""

import math
from collections import Counter
from collections.abc import Callable

import numpy as np

from thali.likelihoods.changes import bag_of
from thali.mcmc import births, flips, transfer
from thali.mcmc.bag import ALPHA, COLUMNS, HEAT, NO_UNIQUE, Model, empty_bag
from thali.mcmc.chance import index
from thali.mcmc.start import prepare
from thali.mcmc.verbs import open_members, rate_between, rebuild
from thali.priors.ibp import IndianBuffet
from thali.testing.exact import invariance_error

ENTRIES = 3  # options whose ownership of two features is toggled
MOST_BORN = 3  # options up to which births and deaths are enumerated
SPREAD = 8.0  # of the log-likelihood among the states, so that none of them is too rare to count


def transition_errors(
    likelihood, make_cache: Callable, whole: Callable, states: list, n: int, rng: np.random.Generator
) -> dict[str, float]:
    """max |pi P - pi| of each move.

    Parameters
    ----------
    likelihood : NamedTuple
        As the samplers read it.
    make_cache : function
    whole : function (features, weights) -> float
        What the target is made of.
    states : list of (features, weights)
        Draws from the prior, which tell by how much the log-likelihood varies.
    n : int
        Number of options, 2 or more.
    rng : numpy.random.Generator

    Returns
    -------
    dict of float
        By the name of the move.
    """
    values = [whole(*state) for state in states]
    heat = min(1.0, SPREAD / max(np.ptp(values), 1e-300))
    prior = IndianBuffet()
    model = Model(prior.compiled(n), likelihood, 1.0, 1.0, 1, n, NO_UNIQUE, False)
    chosen = rng.permutation(n)[: min(n, ENTRIES)]
    known: dict[tuple, float] = {}

    def start(columns, weights, rows=None):
        features = np.zeros((n, len(weights)))
        for k, owners in enumerate(columns):
            features[chosen[owners], k] = 1.0
        bag = bag_of(features, np.asarray(weights, float)) if rows is None else empty_bag(n, rows)
        bag.real[ALPHA], bag.real[HEAT] = 1.5, heat
        cache = make_cache(likelihood)
        prepare(model, bag)
        rebuild(likelihood, cache, bag)
        return bag, cache

    def contents(pair):
        columns = int(pair[0].whole[COLUMNS])
        return pair[0].Z[:columns, :n].T.copy(), pair[0].w[:columns].copy()

    def key(pair):
        features, weights = contents(pair)
        return features.tobytes(), features.shape[1], tuple(np.round(weights, 9))

    def log_target(pair):
        features, weights = contents(pair)
        if (state := key(pair)) not in known:
            known[state] = whole(features, weights)
        return heat * known[state] + prior.log_prob(features, 1.5) - weights.sum()

    def as_bag(pair):
        return tuple(sorted(tuple(column) for column in contents(pair)[0].T.astype(int)))

    def log_target_of_bag(pair):
        # births draw weights from their prior, so that its density is no part of the target
        copies = Counter(as_bag(pair)).values()
        return log_target(pair) + contents(pair)[1].sum() - sum(math.lgamma(c + 1) for c in copies)

    def flip(random, pair):
        place = index(random, 2 * len(chosen))
        open_members(likelihood, pair[1], pair[0], place % 2)
        flips.try_flip(random, model, pair[1], pair[0], place % 2, chosen[place // 2])

    def move(random, pair):
        transfer.transfer(random, model, pair[1], pair[0])

    rate = float(rate_between(model.prior, 1, n))

    def birth(random, pair):
        births.birth_or_death(random, model, pair[1], pair[0], rate)

    some = min(n, ENTRIES)
    errors = {"toggles": invariance_error(flip, start([[0], list(range(some))], [0.7, 1.3]), key, log_target)}
    errors["transfers"] = invariance_error(move, start([list(range(some)), [0]], [0.4, 0.9]), key, log_target)
    if n <= MOST_BORN:
        none = start([], [], rows=2)
        errors["births and deaths"] = invariance_error(birth, none, as_bag, log_target_of_bag, number=1.0)
    return errors
