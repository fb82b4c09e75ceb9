"""Chains that stay apart are weighted by how well they predict."""

import numpy as np
import pytest
from additive_fits import made_up
from scipy.optimize import minimize
from scipy.stats import norm

from thali.errors import ArgumentError
from thali.posterior.stacking import leave_one_out, stacking_weights


def test_weights_are_those_of_a_general_optimiser():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(3, 40)) * 0.7
    weights, best = stacking_weights(scores)

    def loss(free):
        w = np.exp(np.append(free, 0.0))
        return -np.log((w / w.sum()) @ np.exp(scores)).mean()

    found = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 5000})
    other = np.exp(np.append(found.x, 0.0))
    np.testing.assert_allclose(weights, other / other.sum(), atol=2e-4)
    assert best == pytest.approx(-found.fun, abs=1e-7)
    assert stacking_weights(np.array([[0.0, 0.0], [-9.0, -9.0]]))[0][0] > 0.999


def test_leave_one_out_densities_of_a_normal_mean():
    """Known mean of the others: y_i given the rest is Normal(mean of the rest, 1 + 1 / (n - 1))."""
    rng = np.random.default_rng(2)
    y = rng.normal(size=12)
    draws = rng.normal(y.mean(), 1 / np.sqrt(12), (2, 20_000, 1))
    scores, shapes = leave_one_out(norm.logpdf(y, draws, 1.0))
    rest = (y.sum() - y) / 11
    np.testing.assert_allclose(scores, np.tile(norm.logpdf(y, rest, np.sqrt(1 + 1 / 11)), (2, 1)), atol=0.03)
    assert (shapes < 0.7).all()


def test_densities_that_are_the_same_in_many_draws_are_not_smoothed():
    rng = np.random.default_rng(3)
    logs = np.full((1, 100, 2), np.log(1 / 3))  # as of triplets whose objects share nothing
    logs[:, :50, 1] = np.log(rng.uniform(0.5, 0.9, 50))
    scores, shapes = leave_one_out(logs)
    assert (shapes == 0.0).all() and scores[0, 0] == pytest.approx(np.log(1 / 3))
    assert scores[0, 1] == pytest.approx(-np.log(np.mean(1 / np.exp(logs[0, :, 1]))))
    logs[:, :5, 1] = np.log(0.3)  # the tail varies, but most of it is what stands before it
    logs[:, 0, 0] = np.log(1e-6)
    scores, shapes = leave_one_out(logs)
    np.testing.assert_allclose(scores, -np.log(np.mean(1 / np.exp(logs), axis=1)))
    assert shapes[0, 0] > 0.7 and shapes[0, 1] == 0.0


def test_chains_of_a_model():
    model = made_up(6, draws=60)
    stacked = model.stacked()
    assert stacked.weights.sum() == pytest.approx(1.0) and len(stacked.weights) == 4
    assert stacked.log_score >= stacked.log_scores.max() - 1e-9
    similarity = model.posterior_["posterior"]["similarity"].values.mean(axis=1)
    np.testing.assert_allclose(stacked.mean("similarity"), stacked.weights.to_numpy() @ similarity)
    stored = model.posterior_["log_likelihood"]["similarity"].values
    np.testing.assert_allclose(model._log_likelihood(), stored)
    assert "not the posterior" in str(stacked)


def test_one_chain_is_not_stacked():
    with pytest.raises(ArgumentError, match="Stacking needs two chains or more"):
        made_up(4, chains=1).stacked()
