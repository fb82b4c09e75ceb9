"""One set of features as the best of several annealed runs."""

import warnings
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.naive import latent_features as naive
from helpers.sentences import refused

import thali as th
from thali._aspects.likelihoods.similarity_residuals import arrange_squares
from thali._aspects.models.annealing import (
    ClimbProblem,
    RecordedDraws,
    climb_features,
    find_best_state,
    plan_triplet_runs,
)
from thali._aspects.results.feature_set_search import log_feature_gain
from thali.errors import ArgumentError

S4 = th.Similarities(
    [[1, 0.9, 0.55, 0.15], [0.9, 1, 0.7, 0.1], [0.55, 0.7, 1, 0.4], [0.15, 0.1, 0.4, 1]]
)


def landscape(data, sigma=0.1, alpha=1.0, shape=1.0, rate=1.0, keeps=False):
    value, measured, _ = arrange_squares(data)
    log_rate = th.priors.IndianBuffet().compiled(data.n_options).log_rate
    return ClimbProblem(value, measured, log_rate, np.log(alpha), sigma**2, shape, rate, keeps)


@pytest.mark.parametrize("shape, rate", [(1.0, 1.0), (2.0, 4.0)])
@pytest.mark.parametrize("judged", [False, True])
def test_the_climb_ends_at_the_best_single_feature(shape, rate, judged):
    data = (
        S4
        if not judged
        else th.Similarities(
            S4.matrix, judgements=np.array([[0, 3, 1, 2]] * 4) + np.array([[0, 3, 1, 2]] * 4).T
        )
    )
    at = landscape(data, shape=shape, rate=rate)
    constant = 0.1
    rest = (at.value - constant) * at.measured

    def score(owners):
        z = np.isin(np.arange(4), owners).astype(float)
        A, B = 0.5 * z @ at.measured @ z, 0.5 * z @ rest @ z
        return float(log_feature_gain(A, B, at.sigma2, shape, rate)) + at.log_rate[len(owners)]

    every = [set(owners) for m in (2, 3, 4) for owners in combinations(range(4), m)]
    neighbours = [owners for owners in every if len(owners ^ {0, 1, 2}) == 1]
    z, w = climb_features(np.array([[True, True, True, False]]), np.array([0.3]), constant, at)
    found = set(np.flatnonzero(z[0]).tolist())
    assert score(sorted(found)) >= max(score(sorted(owners)) for owners in [*neighbours, {0, 1, 2}])
    grid = np.linspace(1e-4, 2.0, 20_001)
    inside = z[0].astype(float)
    A, B = 0.5 * inside @ at.measured @ inside, 0.5 * inside @ rest @ inside
    logs = (grid * B - 0.5 * grid**2 * A) / at.sigma2 - rate * grid + (shape - 1.0) * np.log(grid)
    assert w[0] == pytest.approx(grid[np.argmax(logs)], abs=2e-4)


def test_a_feature_that_explains_nothing_dies_unless_the_number_is_fixed():
    nothing = th.Similarities(np.full((5, 5), 0.2) + np.diag(np.ones(5)))
    start = np.array([[True, True, False, False, False]]), np.array([0.1])
    assert climb_features(*start, 0.2, landscape(nothing))[0].shape == (0, 5)
    kept, w = climb_features(*start, 0.2, landscape(nothing, keeps=True))
    assert kept.shape == (1, 5) and w[0] < 0.05


@pytest.mark.long
@pytest.mark.fit
def test_the_point_estimate_has_its_log_likelihood_and_is_saved(tmp_path):
    data = th.datasets.numbers()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = th.AdditiveClustering(method="map", alpha=0.5).fit(
            data, chains=1, random_seed=3, progressbar=False
        )
    posterior = model.posterior_["posterior"].dataset
    rest = data.values - posterior["similarity"].values[0, 0]
    expected = (-0.5 * (rest / 0.05) ** 2 - np.log(0.05) - 0.5 * np.log(2 * np.pi)).sum()
    assert float(posterior["log_likelihood"][0, 0]) == pytest.approx(expected)
    model.save(tmp_path / "point.nc")
    again = th.load(tmp_path / "point.nc")
    assert str(again.convergence()) == str(model.convergence()) and again.features().equals(
        model.features()
    )
    assert np.isnan(again.summary()["r_hat"]).all()


def test_arguments_of_chains_are_refused():
    with refused(ArgumentError, "tempering", "method='mcmc'"):
        th.AdditiveClustering(sigma=0.1, method="map", tempering=4).fit(S4, progressbar=False)


@pytest.mark.long
@pytest.mark.fit
def test_triplets_have_a_point_too(tmp_path):
    made = th.datasets.triplets(6, 600, random_seed=4, n_features=2)
    model = th.AdditiveClustering(method="map").fit(made.data, random_seed=1, progressbar=False)
    planted = {tuple(map(str, np.flatnonzero(column))) for column in made.features.T}
    assert set(model.features()["members"]) == planted
    assert (
        model.posterior_["posterior"].sizes["draw"]
        == model.posterior_["posterior"].sizes["chain"]
        == 1
    )
    facts = model.convergence().facts
    assert facts["restarts"] == 8 and 1 <= facts["reached"] <= 8
    owned = model.features()["members"].map(
        lambda members: [int(label) in map(int, members) for label in range(6)]
    )
    matrix, weights = np.array(owned.tolist()).T, model.features()["weight"].to_numpy()
    expected = naive.triplet_log_likelihood(made.data, matrix, weights, "exp", 0.0, model.lapse)
    expected += naive.log_coefficients_of_sets(made.data)
    assert model.posterior_["posterior"]["log_likelihood"].item() == pytest.approx(expected)
    model.save(tmp_path / "point.thali")
    assert (
        th.load(tmp_path / "point.thali")
        .posterior_["posterior"]
        .equals(model.posterior_["posterior"])
    )


@pytest.mark.fit
def test_the_point_of_many_objects_takes_fewer_sweeps():
    made = th.datasets.triplets(40, 4000, random_seed=2, n_features=3)
    model = th.AdditiveClustering(method="map").fit(
        made.data, chains=2, random_seed=1, progressbar=False
    )
    planted = {tuple(map(str, np.flatnonzero(column))) for column in made.features.T}
    assert planted <= set(model.features()["members"])
    assert model.convergence().facts["restarts"] == 2


def test_the_best_state_is_the_one_of_the_largest_joint_density():
    data = th.Triplets([(0, 1, 2), (0, 2, 1), (1, 2, 0)], counts=[5, 2, 1])
    model = th.AdditiveClustering(method="map", alpha=1.0)
    parts, prior = model._build_task_arguments(data), th.priors.IndianBuffet()
    task = plan_triplet_runs(model.prepare(data, 1, 1, 1).task, 1)[0]
    # the owners of the only feature, and its weight
    states = {(0, 1): 0.9, (0, 1, 2): 0.9, (1, 2): 0.2}

    def logs(owners, weight):
        matrix = np.isin(np.arange(3), owners)[:, None]
        likelihood = naive.triplet_log_likelihood(
            data, matrix, np.array([weight]), "exp", 0.0, model.lapse
        )
        return likelihood, likelihood + prior.log_prob(matrix, 1.0) - weight

    def chain_of(*wanted):
        draws = RecordedDraws(
            alpha=np.ones(len(wanted)),
            log_likelihood=np.array([logs(owners, states[owners])[0] for owners in wanted]),
            unique_weights=np.zeros((len(wanted), 3)),
            n_features=np.ones(len(wanted), np.int64),
            weights=np.array([states[owners] for owners in wanted]),
            sizes=np.array([len(owners) for owners in wanted]),
            owners=np.concatenate(wanted).astype(np.int32),
        )
        return SimpleNamespace(draws=draws, recorded=len(wanted))

    best = max(states, key=lambda owners: logs(owners, states[owners])[1])
    assert best == (0, 1)  # and (0, 1, 2) has a larger prior density
    chains = [chain_of((1, 2), (0, 1, 2)), chain_of((0, 1, 2), (0, 1), (1, 2)), chain_of((0, 1))]
    draw, reached = find_best_state(chains, data, parts, task)
    assert tuple(draw.owners) == best and draw.weights == [0.9] and reached == 2
