"""Transition matrices of the sampler's moves on a few entries of the features, for users' likelihoods.

The moves are the code of the sampler, run as Python; the target is the log-likelihood as its author wrote it.
"""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from thali.aspects.likelihoods.delta_checks import state_of
from thali.aspects.moves import births, flips, split_join
from thali.aspects.operations import open_members, rate_between, rebuild
from thali.aspects.priors.ibp import IndianBuffet
from thali.aspects.samplers.loop import prepare
from thali.aspects.state import ALPHA, BETA, COLUMNS, NO_UNIQUE, Model, empty_state
from thali.inference.numerics.decisions import index

from .exact import invariance_error

ENTRIES = 3  # options whose ownership of two features is toggled
MAX_BORN = 3  # options up to which births and deaths are enumerated
SPREAD = 8.0  # of the log-likelihood among the states, so that none of them is too rare to count


def transition_errors(
    likelihood: Any,
    make_cache: Callable[..., Any],
    whole: Callable[..., Any],
    states: list[Any],
    n: int,
    weights: Any,
    rng: np.random.Generator,
) -> dict[str, float]:
    """max |pi P - pi| of each move."""
    values = [whole(*pair_key) for pair_key in states]
    beta = min(1.0, SPREAD / max(np.ptp(values), 1e-300))
    prior = IndianBuffet()
    model = Model(prior.compiled(n), likelihood, weights, 1, n, NO_UNIQUE, False)
    chosen = rng.permutation(n)[: min(n, ENTRIES)]
    known: dict[tuple[Any, ...], float] = {}

    def start(columns: Any, of_columns: Any, rows: Any = None) -> Any:
        features = np.zeros((n, len(of_columns)))
        for k, owners in enumerate(columns):
            features[chosen[owners], k] = 1.0
        state = state_of(features, np.asarray(of_columns, float)) if rows is None else empty_state(n, rows)
        state.real[ALPHA], state.real[BETA] = 1.5, beta
        cache = make_cache(likelihood)
        prepare(model, state)
        rebuild(likelihood, cache, state)
        return state, cache

    def contents(pair: Any) -> Any:
        columns = int(pair[0].whole[COLUMNS])
        return pair[0].Z[:columns, :n].T.copy(), pair[0].w[:columns].copy()

    def key(pair: Any) -> Any:
        features, values = contents(pair)
        return features.tobytes(), features.shape[1], tuple(np.round(values, 9))

    def log_target(pair: Any) -> Any:
        features, values = contents(pair)
        if (pair_key := key(pair)) not in known:
            known[pair_key] = whole(features, values)
        return beta * known[pair_key] + prior.log_prob(features, 1.5) + weights.log_density(values).sum()

    def as_state(pair: Any) -> Any:
        return tuple(sorted(tuple(column) for column in contents(pair)[0].T.astype(int)))

    def log_target_of_state(pair: Any) -> Any:
        # births draw weights from their prior, so that its density is no part of the target
        copies = Counter(as_state(pair)).values()
        return log_target(pair) - weights.log_density(contents(pair)[1]).sum() - sum(math.lgamma(c + 1) for c in copies)

    def flip(random: Any, pair: Any) -> None:
        place = index(random, 2 * len(chosen))
        open_members(likelihood, pair[1], pair[0], place % 2)
        flips.try_flip(random, model, pair[1], pair[0], place % 2, chosen[place // 2])

    def move(random: Any, pair: Any) -> None:
        split_join.transfer(random, model, pair[1], pair[0])

    rate = float(rate_between(model.prior, 1, n))

    def birth(random: Any, pair: Any) -> None:
        births.birth_or_death(random, model, pair[1], pair[0], rate)

    some = min(n, ENTRIES)
    errors = {"toggles": invariance_error(flip, start([[0], list(range(some))], [0.7, 1.3]), key, log_target)}
    errors["transfers"] = invariance_error(move, start([list(range(some)), [0]], [0.4, 0.9]), key, log_target)
    if n <= MAX_BORN:
        none = start([], [], rows=2)
        errors["births and deaths"] = invariance_error(birth, none, as_state, log_target_of_state, number=1.0)
    return errors
