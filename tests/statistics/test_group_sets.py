"""Groups of people who choose out of sets: invariance of the moves, known posteriors, and their own simulations."""

import math

import numpy as np
import pytest
from group_problems import columns_owned_by, contents, drawn, geweke, key, mean_and_error, means, small_chain, task
from joint_means import LIMIT
from set_problems import choices_of, random_choices

import thali as th
from thali.aspects.group_state import KAPPA, group_at
from thali.aspects.likelihoods.elimination_of_groups import OutOfSets
from thali.aspects.moves import group_owners, group_together
from thali.aspects.operations import cache_at, log_likelihood
from thali.aspects.state import replica
from thali.testing import naive
from thali.testing.exact import invariance_error
from thali.testing.joint import simulate_choices

ERRORS = 4.5  # Monte Carlo errors that a mean may be off


def offered(groups):
    """Choices out of sets of two and three of three options, of another number of sets in each group."""
    return [random_choices(3, (2, 3), seed, kept=1.0 if seed else 0.6) for seed in range(groups)]


@pytest.mark.parametrize(
    ("move", "weights"),
    [
        ("flips", "free"),
        ("compensated", "similar"),
        ("plain", "free"),
        ("transfer", "similar"),
        ("together", "similar"),
    ],
)
def test_moves_of_owners_leave_the_posterior_invariant(move, weights):
    data = offered(2)
    more = {"kappa": 2.0} if weights == "similar" else {}
    of_task = task(data, OutOfSets(0.01), alpha=1.5, weights=weights, **more)
    model = of_task.model
    matrix = [[1, 1], [1, 0], [0, 0]] if move == "transfer" else [[1, 0], [1, 1], [0, 1]]
    chain = small_chain(of_task, matrix, [[0.7, 1.3], [0.4, 0.5]], np.array([[0.8, 1.0, 1.2]] * 2))
    base = type(chain.bases)(*(array[0] for array in chain.bases))
    base.v[:2] = [0.6, 0.9] if weights == "similar" else [1.0, 1.0]
    prior = th.priors.IndianBuffet()

    def whole(parts):
        own, v = parts[2].own, parts[2].v[: int(parts[0].whole[0, 0])]
        return key(parts), np.round(own, 9).tobytes(), np.round(v, 9).tobytes()

    def log_target(parts):
        Z, w, s = contents(parts[0])
        v, own, kappa = parts[2].v[: Z.shape[1]], parts[2].own, parts[2].real[KAPPA]
        total = prior.log_prob(Z[0].T.astype(bool), 1.5)
        for g, each in enumerate(data):
            total += naive.log_likelihood(each, Z[g].T.astype(bool), w[g], s[g], 0.01)
            total += np.sum((kappa - 1.0) * np.log(w[g]) - kappa * np.log(v) - kappa * w[g] / v)
            total += np.sum((kappa - 1.0) * np.log(s[g]) - kappa * np.log(own) - kappa * s[g] / own)
        return total - (v.sum() + own.sum() if weights == "similar" else 0.0)

    def step(rng, parts):
        states, caches, its_base = parts
        if move == "flips":
            group_owners.flip_of_groups(rng, model, caches, states, 0, 2)
            group_owners.flip_of_groups(rng, model, caches, states, 1, 0)
        elif move == "transfer":
            group_owners.transfer_of_groups(rng, model, caches, states, its_base)
        elif move == "together":
            group_together.flip_together(rng, model, caches, states, its_base)
        else:
            share = 1.0 if move == "compensated" else 0.0
            group_owners.compensated_flip_of_groups(rng, model, caches, states, its_base, share)

    assert invariance_error(step, (chain.state, chain.cache, base), whole, log_target) < 1e-12


def test_changes_that_are_kept_are_those_of_the_definition(uncompiled):
    """After many sweeps the stored log-likelihoods are those of the columns and weights, in every group."""
    data = [random_choices(4, (2, 3, 4), seed, kept=0.7) for seed in range(3)]
    of_task = task(data, OutOfSets(0.02), weights="similar", draws=20)
    chain = small_chain(of_task, [[1], [1], [0], [0]], [[0.5]] * 3, np.ones((3, 4)))
    chain.run_to(20)
    Z, w, s = contents(chain.state)
    for g, each in enumerate(data):
        likelihood = group_at(of_task.model.likelihood, g)
        found = log_likelihood(likelihood, cache_at(likelihood, chain.cache, g), replica(chain.state, g))
        expected = naive.log_likelihood(each, Z[g].T.astype(bool), w[g], s[g], 0.02)
        assert found == pytest.approx(expected, rel=1e-9)


def as_choices(first, second):
    return choices_of({("1", "2"): (first, second)}, ["1", "2"])


@pytest.mark.parametrize(
    ("weights", "kappa", "owned", "chosen", "others", "error"),
    [
        ("free", math.nan, 0.40309076, 0.73588250, {"alpha": 0.90309076, "n_features": 1.25772690}, 0.0),
        ("similar", 2.0, 0.4601, 0.7021, {}, 4e-4),
    ],
)
def test_posterior_means_of_two_options(weights, kappa, owned, chosen, others, error):
    """8 : 2 and 2 : 8 as choices out of sets of two: the posterior is that of the comparisons."""
    data, alpha = [as_choices(8, 2), as_choices(2, 8)], None if others else 1.0
    of_task = task(data, OutOfSets(0.01), alpha=alpha, weights=weights, kappa=kappa, draws=8_000, tune=500, thin=5)
    found = drawn(of_task)
    alone = [columns_owned_by(found, (i,)) for i in range(2)]
    total = [found.unique_weights[:, :, i] + alone[i][1] for i in range(2)]
    p = 0.99 * total[0] / (total[0] + total[1]) + 0.005
    values = [(alone[0][0], owned), (alone[1][0], owned), (p[:, 0], chosen), (p[:, 1], 1.0 - chosen)]
    values += [({"alpha": found.alpha, "n_features": found.n_features}[name], each) for name, each in others.items()]
    for draws, expected in values:
        mean, own_error = mean_and_error(draws)
        assert abs(mean - expected) < ERRORS * own_error + error


@pytest.mark.parametrize("rounds", [750, pytest.param(40_000, marks=pytest.mark.long)])
@pytest.mark.parametrize(("groups", "weights"), [(2, "free"), (3, "similar")])
def test_joint_distribution(groups, weights, rounds):
    data = [random_choices(4, (2, 3, 4), seed, most=1, kept=0.4) for seed in range(1, 1 + groups)]
    of_task = task(data, OutOfSets(0.05), weights=weights)
    expected = means(4, weights == "similar")
    scores = geweke(of_task, expected, rounds, lambda rng, sets, b, c: simulate_choices(rng, sets, b))
    assert max(abs(z) for z in scores.values()) < LIMIT, scores
