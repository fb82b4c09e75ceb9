"""Trades of states between temperatures leave the product of their posteriors invariant."""

import numpy as np
import pytest
from helpers.elimination_moves import log_likelihood, start
from helpers.problems import contents

import thali as th
import thali._aspects.moves.owner_flips as flips
from thali._aspects.chain_state import ALPHA, BETA, SWEEPS, replica, stack_states
from thali._aspects.kernel_operations import open_members, rebuild_cache, select_cache
from thali._aspects.samplers.tempering import build_ladder, swap_neighbours
from thali._testing import exact
from thali.priors import IndianBuffet

EXACT = 1e-12


def two_levels(data, sweeps, betas):
    """One of the replicas, and all, each of one column and in another state, as (states, caches,
    ladder)."""
    columns = ([[1], [0]], [[1], [1]], [[0], [1]])[: len(betas)]
    made = []
    for t, matrix in enumerate(columns):
        at = start(data, matrix, [0.3 + 0.2 * t], rows=4, sigma=None)
        model, (state, cache) = at.model, at.pair
        cache.real[:] = 0.1 + 0.05 * t, 0.02 + 0.01 * t  # each has its own constant and variance
        rebuild_cache(model.likelihood, cache, state)
        state.whole[SWEEPS] = sweeps
        made.append((state, cache))
    steps = build_ladder(1.0 / np.array(betas))
    return at, (stack_states([b for b, _ in made]), stack_states([c for _, c in made]), steps)


def level_key(point):
    states, _, steps = point
    return tuple((int(at), states.Z[at, 0].tobytes()) for at in steps.at)


def flip_or_swap(model):
    """A random replica flips, at the temperature of its level, or neighbours are swapped."""

    def step(rng, point):
        states, caches, steps = point
        if rng.random() < 0.5:
            t = int(rng.random() * len(steps.beta))
            b, c = replica(states, steps.at[t]), select_cache(model.likelihood, caches, steps.at[t])
            b.real[BETA] = steps.beta[t]
            open_members(model.likelihood, c, b, 0)
            flips.propose_flip(rng, model, c, b, 0, int(rng.random() * 2))
        else:
            swap_neighbours(rng, model, caches, states, steps)

    return step


def product_of_posteriors(one, betas):
    def log_target(point):
        states, caches, steps = point
        total = 0.0
        for beta, at in zip(betas, steps.at, strict=True):
            state = replica(states, at)
            total += beta * log_likelihood(
                one, (state, select_cache(one.model.likelihood, caches, at))
            )
            total += IndianBuffet().log_prob(contents(state)[0], float(state.real[ALPHA]))
        return total

    return log_target


TWO = th.Similarities([[1, 0.6], [0.6, 1]])


@pytest.mark.parametrize(
    "sweeps, betas", [(0, (1.0, 0.3)), (1, (1.0, 0.6, 0.2)), (0, (1.0, 0.6, 0.2))]
)
def test_trades_between_replicas(sweeps, betas):
    one, first = two_levels(TWO, sweeps, betas)
    log_target = product_of_posteriors(one, betas)
    assert exact.invariance_error(flip_or_swap(one.model), first, level_key, log_target) < EXACT


def test_a_temperature_that_swaps_forget_is_seen():
    one, first = two_levels(TWO, 0, (1.0, 0.3))
    product = product_of_posteriors(one, (1.0, 0.5))
    assert exact.invariance_error(flip_or_swap(one.model), first, level_key, product) > 1e-3
