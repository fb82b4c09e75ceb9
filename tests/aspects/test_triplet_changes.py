"""Every change of the likelihood of triplets is a difference of naive evaluations."""

import math

import numpy as np
import pytest
from helpers.all_drawn import change_drawn
from helpers.naive import latent_features as naive
from helpers.triplet_problems import LAPSE, MIXED, start_of

import thali as th
from thali._aspects import kernel_operations
from thali._aspects.chain_state import COLUMNS
from thali._aspects.samplers.chains import FeatureChain


def test_weights_whose_exponential_overflows():
    features, weights = [[1, 0], [1, 1], [0, 1], [0, 0]], [800.0, 801.0]
    model, (state, cache) = start_of(MIXED, "exp", features, weights)
    wanted = naive.triplet_log_likelihood(MIXED, features, weights, "exp", 0.0, LAPSE)
    assert kernel_operations.log_likelihood(model.likelihood, cache, state) == pytest.approx(
        wanted, rel=1e-12
    )
    change = kernel_operations.delta_weight(model.likelihood, cache, state, 0, 2, 2.0)
    after = naive.triplet_log_likelihood(MIXED, features, [802.0, 801.0], "exp", 0.0, LAPSE)
    assert change == pytest.approx(after - wanted, abs=1e-9)


@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_probabilities_of_draws_without_a_value_are_equal(uncompiled):
    data = th.Triplets([(0, 1, 2)])
    model = th.AdditiveClustering(link="ratio").fit(
        data, draws=2, tune=0, chains=1, random_seed=1, progressbar=False
    )
    change_drawn(
        model.posterior_,
        lambda group: group.assign({name: 0 * each for name, each in group.items()}),
    )
    assert model.predict_proba(data)[0] == pytest.approx([1 / 3] * 3)


def many_objects():
    """Forty objects with three features."""
    return th.datasets.triplets(40, 4000, random_seed=2, n_features=3)


@pytest.mark.fit
@pytest.mark.parametrize(
    "features, link",
    [("ibp", "exp"), ("ibp", "ratio"), pytest.param(3, "exp", marks=pytest.mark.long)],
)
def test_chains_of_many_objects_begin_near_the_features(features, link):
    made = many_objects()
    model = th.AdditiveClustering(features, link=link, tempering=2)
    task = model.prepare(made.data, 4, 4, 1).task
    whole, sliced = (FeatureChain(task, np.random.default_rng(1)) for _ in range(2))
    whole.run_until(1)
    for until in (0, 1, 3, 8):
        sliced.run_until(until)
    found = whole.state.Z[: whole.state.whole[COLUMNS], :40]
    for column in made.features.T:
        # Jaccard index
        assert max((found * column).sum(axis=1) / np.maximum(found, column).sum(axis=1)) >= 0.75
    whole.run_until(8)
    for one, other in zip(whole.states, sliced.states, strict=True):
        np.testing.assert_array_equal(one, other)


def test_few_objects_and_given_features_begin_at_a_prior_draw():
    few = th.datasets.triplets(39, 100, random_seed=2).data
    assert th.AdditiveClustering().prepare(few, 1, 1, 1).task.sample_start is None
    given = th.AdditiveClustering(np.eye(40, 3, dtype=int) + np.eye(40, 3, -3, dtype=int))
    assert given.prepare(many_objects().data, 1, 1, 1).task.sample_start is None


@pytest.mark.fit
def test_a_chain_that_takes_over_where_another_stood_stays_there():
    task = th.AdditiveClustering().prepare(many_objects().data, 2, 2, 1).task
    first = FeatureChain(task, np.random.default_rng(1))
    first.run_until(4)
    second = FeatureChain(task, np.random.default_rng(2))
    second.warm_start(first.pack_state())
    count = int(first.state.whole[COLUMNS])
    second.run_until(0)
    np.testing.assert_array_equal(second.state.Z[:count], first.state.Z[:count])
    second.run_until(1)
    assert second.sweeps == 1


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_guessing_has_the_coefficient_of_the_counts_of_a_set(uncompiled):
    """9! / (6! 2! 1!), as the evidence of models has it."""
    data = th.Triplets([("a", "b", "c")] * 6 + [("a", "c", "b")] * 2 + [("b", "c", "a")])
    run = dict(draws=10, tune=2, chains=2, thin=1, cores=1, random_seed=1, progressbar=False)
    table = th.compare({"additive": th.AdditiveClustering(1)}, data, by="evidence", **run)
    assert table.loc["BASE", "log_evidence"] == pytest.approx(math.log(252) - 9 * math.log(3))
