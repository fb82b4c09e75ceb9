"""Every change of the likelihood of triplets is a difference of naive evaluations."""

import math

import numpy as np
import pytest
from triplet_problems import LAPSE, LINKS, MIXED, build_triplets, start_of

import thali as th
from thali.model.latent_features import operations
from thali.model.latent_features.answers.triplets import probabilities_of_draws
from thali.model.latent_features.likelihoods import pair_sets
from thali.model.latent_features.likelihoods.delta_checks import compare_changes, states_of
from thali.model.latent_features.likelihoods.pair_sets import CONSTANT
from thali.model.latent_features.weight_priors import EXPONENTIAL
from thali.testing import naive

TEN = th.Triplets.from_sets(
    [list(map(str, row)) for row in np.argsort(np.random.default_rng(5).random((40, 10)), axis=1)[:, :4]],
    [list(map(str, row)) for row in np.argsort(np.random.default_rng(5).random((40, 10)), axis=1)[:, 1:3]],
    labels=list(map(str, range(10))),
)


@pytest.mark.parametrize("few", [0, 4, 100])  # all rows, whichever is less, the rows of the owners alone
@pytest.mark.parametrize("data", [MIXED, TEN], ids=["mixed", "ten"])
@pytest.mark.parametrize("link", LINKS)
def test_changes_are_differences_of_the_naive_likelihood(link, data, few, monkeypatch):
    monkeypatch.setattr(pair_sets, "FEW", 1e9 if few == 0 else 1.0 / few if few == 100 else few)
    rng = np.random.default_rng(1)
    states = states_of(th.priors.IndianBuffet(), data.n_options, EXPONENTIAL, rng, 5)
    model, make_cache = build_triplets(data, link)

    def whole(features, weights):
        constant = 1.0 if link == "ratio" else 0.0  # where a cache begins
        return naive.triplet_log_likelihood(data, features, weights, link, constant, LAPSE)

    found = compare_changes(model.likelihood, make_cache, whole, states, data.labels, rng, 25)
    assert found.count >= 60 and found.is_rounding, found.words


@pytest.mark.parametrize("link", LINKS)
def test_what_is_applied_is_what_a_rebuild_finds(link):
    model, (state, cache) = start_of(TEN, link, np.eye(10, 3) + np.eye(10, 3, -4), [0.5, 1.0, 2.0], lo=1)
    rng, likelihood = np.random.default_rng(2), model.likelihood
    for _ in range(200):
        k, i = int(rng.integers(3)), int(rng.integers(10))
        if rng.random() < 0.5:
            d = float(rng.uniform(-0.5, 1.0) * state.w[k])
            operations.apply_weight(likelihood, cache, state, k, state.m[k], d)
            state.w[k] += d
        else:
            joins = state.Z[k, i] == 0.0
            operations.apply_member(likelihood, cache, state, k, i, state.w[k] if joins else -state.w[k])
            state.Z[k, i] = float(joins)
            state.m[k] += 1 if joins else -1
    kept = [array.copy() for array in cache]
    operations.rebuild(likelihood, cache, state)
    for before, after in zip(kept, cache, strict=True):
        np.testing.assert_allclose(before, after, rtol=1e-10, atol=1e-10)


def test_weights_whose_exponential_overflows():
    features, weights = [[1, 0], [1, 1], [0, 1], [0, 0]], [800.0, 801.0]
    model, (state, cache) = start_of(MIXED, "exp", features, weights)
    wanted = naive.triplet_log_likelihood(MIXED, features, weights, "exp", 0.0, LAPSE)
    assert operations.log_likelihood(model.likelihood, cache, state) == pytest.approx(wanted, rel=1e-12)
    change = operations.delta_weight(model.likelihood, cache, state, 0, 2, 2.0)
    after = naive.triplet_log_likelihood(MIXED, features, [802.0, 801.0], "exp", 0.0, LAPSE)
    assert change == pytest.approx(after - wanted, abs=1e-9)


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
@pytest.mark.parametrize("link", LINKS)
def test_draws_have_the_naive_likelihood_prior_and_probabilities(link, uncompiled):
    model = th.AdditiveClustering(link=link, lapse=LAPSE, alpha=1.5)
    model.fit(MIXED, draws=6, tune=3, thin=1, chains=2, random_seed=1, progressbar=False)
    tree = model.posterior_
    posterior, pointwise = tree["posterior"].dataset, tree["log_likelihood"]["chosen"].values
    for chain, draw in np.ndindex(2, 6):
        at = posterior.isel(chain=chain, draw=draw)
        features, weights = at["features"].values.T, at["weights"].values
        constant = float(at["constant"]) if link == "ratio" else 0.0
        wanted = naive.triplet_log_likelihood(MIXED, features, weights, link, constant, LAPSE)
        assert float(at["log_likelihood"]) == pytest.approx(wanted)
        assert pointwise[chain, draw].sum() == pytest.approx(wanted)
        if link == "ratio":
            assert float(tree["log_prior"]["constant"][chain, draw]) == pytest.approx(-constant)


def test_probabilities_of_draws_without_a_value_are_equal():
    from thali.model.latent_features.answers.columns import Columns

    none = Columns(np.zeros(1, int), np.zeros(0), np.zeros(0, int), np.zeros(0, int), np.zeros((1, 3)))
    data = th.Triplets([(0, 1, 2)])
    p = probabilities_of_draws(none, np.zeros(1), data.start, data.first, data.second, "ratio", 0.1)
    assert p[0] == pytest.approx([1 / 3] * 3)


def test_the_sum_of_weights_and_constant_is_drawn_at_the_same_shares():
    from thali.model.latent_features.likelihoods.pair_set_operations import draw_sum

    model, (state, cache) = start_of(TEN, "ratio", np.eye(10, 3) + np.eye(10, 3, -4), [0.5, 1.0, 2.0], lo=1)
    before = operations.log_likelihood(model.likelihood, cache, state)
    totals, rng = [], np.random.default_rng(4)
    for _ in range(300):
        draw_sum(rng, model.likelihood, cache, state)
        totals.append(float(cache.real[CONSTANT] + state.w[:3].sum()))
    assert operations.log_likelihood(model.likelihood, cache, state) == pytest.approx(before)
    assert abs(np.mean(totals) - 4.0) < 5 * 2.0 / math.sqrt(300)
