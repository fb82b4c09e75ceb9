"""Gibbs sampling and Hamiltonian Monte Carlo of Plackett–Luce regression, by the checks of its
specification."""

import math
import warnings

import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from helpers.plackett_luce_cases import (
    exponential,
    joint_scores,
    mean_and_error,
    one_hot,
    scaled,
    tiny,
    within,
)
from helpers.plackett_luce_data import frame, named, problem
from helpers.plackett_luce_runs import fit_gibbs
from helpers.real_data import needs_data

import thali as th
from thali._classify.plackett_luce.nonnegative_columns import PlackettLuceDesign
from thali.errors import ArgumentError, ConvergenceWarning

SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3, 4, 5))]


def predict_mean_probabilities(draws, W):
    """Mean class probabilities of rows of W."""
    scores = np.einsum("cdkp,np->cdnk", draws.weights, W)
    return (scores / scores.sum(axis=3, keepdims=True)).mean(axis=(0, 1))


def compute_ess_per_1000(values):
    """Multi-chain bulk ESS of each quantity (quantity, chain, draw) per 1000 of all draws."""
    return array_stats.ess(values, method="bulk") / values[0].size * 1000


# A1 and A2: posteriors known in closed form or by quadrature


def test_the_learned_shape_of_one_hot_rows_is_exact():
    W, codes, K = one_hot()
    draws = fit_gibbs(
        W, codes, K, a_range=(0.01, 100), draws=12_500, tune=500, thin=1, random_seed=1
    )
    log_a = np.log(draws.a)
    assert within(log_a, 1.290255)
    assert within((log_a - 1.290255) ** 2, 1.179423**2)
    assert compute_ess_per_1000(log_a[None])[0] >= 20
    found = predict_mean_probabilities(draws, np.eye(4))
    assert found[:, 0] == pytest.approx([0.514739, 0.235318, 0.175357, 0.346675], abs=0.006)
    assert found[:, 1] == pytest.approx([0.217893, 0.529365, 0.333333, 0.346675], abs=0.006)


A2 = {
    1.0: (
        -3.844194,
        [[0.110939, 0.228023, 0.166678], [0.223561, 0.112996, 0.157802]],
        [0.363635, 0.494360, 0.635234],
    ),
    0.3: (
        None,
        [[0.070515, 0.287153, 0.158251], [0.266725, 0.072878, 0.144478]],
        [0.262093, 0.484081, 0.730484],
    ),
}


@pytest.mark.parametrize(
    "a, sampler", [(1.0, "hamiltonian"), (1.0, "exchange"), (0.3, "exchange"), (0.3, "hamiltonian")]
)
def test_draws_of_a_tiny_problem_agree_with_quadrature(a, sampler):
    W, codes, K = tiny()
    draws = fit_gibbs(
        W, codes, K, a=a, sampler=sampler, draws=25_000, tune=1000, thin=1, random_seed=2
    )
    log_likelihood, weights, probability = A2[a]
    if log_likelihood is not None:
        assert within(draws.log_likelihood, log_likelihood)
    for k in range(2):
        for j in range(3):
            assert within(draws.weights[:, :, k, j], weights[k][j])
            assert draws.weights[:, :, k, j].mean() == pytest.approx(weights[k][j], abs=0.004)
    assert predict_mean_probabilities(draws, exponential([-2.0, 0.0, 2.0]))[:, 1] == pytest.approx(
        probability, abs=0.004
    )


# A6: posteriors of real data

# E log a, E log-likelihood, mean ln of averaged P(y_i), training error, and what the first two may
# differ by
A6 = {
    "iris": (-4.040, -76.49, -0.5057, 0.1733, 0.06, 0.15),
    "wine": (-5.222, -74.275, -0.4103, 0.0618, 0.06, 0.15),
    # a long run (3.2 million sweeps) of the published sampler: -4.001 (.017), -119.045 (.025)
    "heart": (-4.001, -119.045, -0.4236, 0.1741, 0.08, 0.25),
}


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", named("iris", "wine", "heart"))
def test_learned_shapes_of_real_data_equal_known_values(name, seed):
    W, codes, K = problem(name)
    draws = fit_gibbs(W, codes, K, draws=7000, tune=500, thin=1, random_seed=seed)
    log_a, log_likelihood, mean_log, error, near_a, near = A6[name]
    assert np.log(draws.a).mean() == pytest.approx(log_a, abs=near_a)
    assert draws.log_likelihood.mean() == pytest.approx(log_likelihood, abs=near)
    found = predict_mean_probabilities(draws, W)
    assert np.log(found[np.arange(len(codes)), codes]).mean() == pytest.approx(mean_log, abs=0.002)
    wrong = (found.argmax(axis=1) != codes).mean()
    assert wrong == pytest.approx(error, abs=1.5 / len(codes))  # a row or two lie on the boundary


@pytest.mark.long
@pytest.mark.parametrize(
    "name, a, expected",
    [
        ("iris", 1.0, -95.008),
        pytest.param("iris", 0.1, -78.268, marks=pytest.mark.long),
        ("iris", 0.01, -76.156),
        pytest.param("iris", 0.001, -75.939, marks=pytest.mark.long),
        pytest.param("wine", 1.0, -126.647, marks=pytest.mark.long),
        ("wine", 0.1, -80.823),
        pytest.param("wine", 0.01, -74.483, marks=pytest.mark.long),
        pytest.param("wine", 0.001, -73.875, marks=pytest.mark.long),
    ],
)
def test_likelihoods_at_fixed_shapes_equal_known_values(name, a, expected):
    draws = fit_gibbs(
        *problem(name), a=a, draws=12_000 if a == 1.0 else 5000, tune=500, thin=2, random_seed=6
    )
    _, error = mean_and_error(draws.log_likelihood)
    assert 4 * error < 0.15
    assert draws.log_likelihood.mean() == pytest.approx(expected, abs=0.15)
    assert draws.a == pytest.approx(np.full_like(draws.a, a), rel=1e-14)


# arguments, E log-likelihood, what it may differ by, where a is fixed that of three samplers
RAW_HEART = [
    ({}, -184.8, 0.5, {"thin": 3}),
    ({"a": 1.0}, -184.05, 0.1, {}),
    ({"a": 1.0, "sampler": "exchange"}, -184.05, 0.1, {}),
]


@needs_data
@pytest.mark.parametrize("settings, expected, near, length", RAW_HEART)
def test_likelihoods_of_raw_heart_equal_known_values(settings, expected, near, length):
    # one column wins every row: sums that are left by a subtraction have no correct digit
    X, y = frame("heart")
    W = PlackettLuceDesign.fit(X.to_numpy(), list(X.columns), standardize=False).apply(X.to_numpy())
    codes = np.unique(y, return_inverse=True)[1]
    lengths = {"draws": 4000, "tune": 1000, "thin": 1, "random_seed": 1} | length
    draws = fit_gibbs(W, codes, 2, **settings, **lengths)
    assert draws.log_likelihood.mean() == pytest.approx(expected, abs=near)
    assert np.isfinite(draws.weights).all()


# A7: mixing


def stack_checked_quantities(draws, name):
    """ln a, log-likelihood and the logits of 40 rows, (quantity, chain, draw)."""
    W, codes, K = problem(name)
    rows = np.unique(np.linspace(0, len(W) - 1, 40).astype(int))
    scores = np.einsum("cdkp,np->ncdk", draws.weights, W[rows])
    chosen = scores[np.arange(len(rows)), ..., codes[rows]]
    logits = np.log(chosen) - np.log(scores.sum(axis=3) - chosen)
    return np.stack([np.log(draws.a), draws.log_likelihood, *logits])


@pytest.mark.long
@pytest.mark.parametrize("name", named("iris", "wine", "heart"))
def test_chains_of_real_data_mix(name):
    values = stack_checked_quantities(
        fit_gibbs(*problem(name), draws=5000, tune=2000, chains=8, thin=1, random_seed=3), name
    )
    r_hat, ess = array_stats.rhat(values), compute_ess_per_1000(values)
    if name == "heart":
        assert r_hat.max() <= 1.05
        assert ess[:2].min() >= 15
    else:
        assert r_hat.max() <= 1.01
        assert ess.min() >= 50


# Joint-distribution tests

JOINT = {
    "recommended, a learned": (2, "exchange", (0.05, 3.0)),
    "recommended, three classes": (3, "exchange", (0.05, 3.0)),
    "recommended, a = .1": (2, "exchange", 0.1),
    "Hamiltonian, a = 1": (2, "hamiltonian", 1.0),
}


@pytest.mark.first(2)
@pytest.mark.parametrize(
    "rounds, seed",
    [
        (20_000, 3),
        pytest.param(200_000, 1, marks=pytest.mark.long),
        pytest.param(200_000, 2, marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("which", JOINT)
def test_sweeps_pass_the_joint_distribution_test(which, rounds, seed):
    W = scaled(exponential([-1.4, -0.6, -0.1, 0.3, 0.9, 1.7, 0.2, -2.0]))
    scores = joint_scores(W, *JOINT[which], rounds, seed)
    assert len(scores) >= 7
    assert max(map(abs, scores.values())) < 4.0, scores


# The same draws for any number of threads


# The classifier


def test_the_classifier_stores_draws_and_their_means():
    X, y = frame("iris")
    model = th.PlackettLuceRegression(draws=1000, tune=300, random_state=1).fit(X, y)
    assert model.posterior_["posterior"]["weights"].shape == (4, 1000, 3, 9)
    assert model.posterior_["posterior"]["weights"].sum(["class", "term"]).values == pytest.approx(
        np.ones((4, 1000))
    )
    assert list(model.posterior_["posterior"]["term"].values) == list(model.weights_)
    assert model.weights_.to_numpy().sum() == pytest.approx(1.0)
    assert math.log(model.a_) == pytest.approx(-4.04, abs=0.1)
    assert model.log_likelihood_ == pytest.approx(-76.49, abs=0.3)
    assert model._n_passes_ == 4 * 1300 * 10
    summary = model.summary()
    assert summary.index[0] == "a" and summary.index[1] == "log_likelihood" and len(summary) == 42
    table = model.weights_table()
    assert table["column"].iloc[0] == "exp(-sepal_width)"
    assert (table["weight_low"] <= table["weight_high"]).all()
    probability = model.predict_proba(X)
    assert probability.sum(axis=1) == pytest.approx(np.ones(len(X)))
    assert (probability.argmax(axis=1) != y.to_numpy()).mean() == pytest.approx(0.1733, abs=0.014)


def test_classifier_predicts_the_mean_over_draws():
    X, y = frame("wine")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = th.PlackettLuceRegression(draws=30, tune=30, random_state=1).fit(X, y, thin=1)
    weights = model.posterior_["posterior"]["weights"].values.reshape(-1, 3, 27)
    scores = np.einsum("ij,dkj->dik", model._design_.apply(X.to_numpy()), weights)
    assert model.predict_proba(X) == pytest.approx(
        (scores / scores.sum(axis=2, keepdims=True)).mean(axis=0), abs=1e-12
    )
    far = X.copy()
    far.iloc[0] = 1e6  # W of the columns with weight is smaller than any float
    assert np.isfinite(model.predict_proba(far)).all()


def test_bad_shapes_are_refused():
    X, y = frame("iris")
    for settings, sentence in [
        ({"a_range": (1.0, 0.1)}, "`a_range` must have"),
        ({"a": 1e9}, "`a` must be between"),
    ]:
        with pytest.raises(ArgumentError, match=sentence):
            th.PlackettLuceRegression(**settings).fit(X, y)
