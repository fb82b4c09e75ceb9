"""Maximum likelihood, by kind of data: derivatives against differences of values, and the maximum
against a search."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers.limits import lower_in
from helpers.naive import latent_features as naive
from helpers.problems import random_comparisons, with_ties
from helpers.set_problems import random_choices
from scipy.optimize import minimize
from scipy.special import xlogy

import thali as th
import thali._aspects.maximum_likelihood.pair_likelihood as posing

GIVEN = {"0": ["x"], "1": ["x"], "2": ["x", "y"], "3": ["y"], "4": []}


class Pose(NamedTuple):
    """A problem, how many of its numbers are weights, and the log-likelihood of weights once more,
    where it is told."""

    problem: Any
    weights: int
    others: int = 0
    log_likelihood: Any = None


def of_pairs(lapse):
    """With aspects in common, and an effect besides."""
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 12, (7, 7))
    np.fill_diagonal(counts, 0)
    owners = np.hstack([np.eye(7, dtype=bool), rng.random((7, 4)) < 0.5])
    extra = rng.choice([-1.0, 1.0], (21, 1))
    return Pose(posing.build_problem(th.PairedComparisons(counts), owners, lapse, extra), 11, 1)


def of_ties(lapse):
    """The same with ties, whose parameter is the last number."""
    data = with_ties(random_comparisons(5, 5, most=9), 1)
    owners = np.hstack(
        [
            np.array([[aspect in GIVEN[label] for aspect in "xy"] for label in data.labels]),
            np.eye(5, dtype=bool),
        ]
    )
    extra = np.linspace(-1, 1, data.n_pairs)[:, None]
    return Pose(posing.build_problem(data, owners, lapse, extra, ties=True), 7, 2)


def naive_of(data, lapse, **more):
    none = {"features": np.zeros((data.n_options, 0)), "weights": []}
    return lambda weights: naive.log_likelihood(data, **none, unique=weights, lapse=lapse, **more)


def of_sets(lapse):
    """Of options that share no aspect."""
    data = random_choices(5, (2, 3, 5), 2)
    return Pose(
        posing.build_problem(data, np.eye(5, dtype=bool), lapse), 5, 0, naive_of(data, lapse)
    )


POSES = {"pairs": of_pairs, "sparse pairs": of_pairs, "ties": of_ties, "sets": of_sets}


@pytest.mark.parametrize("lapse", [0.0, 0.1])
@pytest.mark.parametrize("name", POSES)
def test_derivatives_are_those_of_the_log_likelihood(name, lapse, monkeypatch):
    if name == "sparse pairs":  # as patterns of many pairs and aspects are kept
        lower_in(posing, monkeypatch, MAX_DENSE=0)
    pose, k, others, log_likelihood = POSES[name](lapse)
    assert "pairs" not in name or isinstance(pose.first, np.ndarray) is (name == "pairs")
    at = np.random.default_rng(1).normal(0, 0.7, k + others)

    def value(x):
        return pose.terms(np.exp(x[:k]), x[k:]).sum()

    def gradient(x):
        return pose.compute_derivatives(np.exp(x[:k]), x[k:]).gradient

    assert log_likelihood is None or value(at) == pytest.approx(
        log_likelihood(np.exp(at)), rel=1e-12
    )
    found, steps = pose.compute_derivatives(np.exp(at[:k]), at[k:]), 1e-5 * np.eye(len(at))
    # Central differences err by step squared times a third derivative, some hundreds here.
    slopes = [(value(at + d) - value(at - d)) / 2e-5 for d in steps]
    np.testing.assert_allclose(found.gradient, slopes, atol=1e-6, rtol=1e-6)
    bends = [(gradient(at + d) - gradient(at - d)) / 2e-5 for d in steps]
    np.testing.assert_allclose(
        found.hessian, bends, atol=1e-5 if name == "ties" else 1e-6, rtol=1e-6
    )
    if name == "sets":  # of which no weight is at a boundary
        return
    weights = np.exp(at[:k])
    changes = [
        (pose.terms(weights + e, at[k:]) - pose.terms(weights - e, at[k:])).sum()
        for e in 1e-6 * np.eye(k)
    ]
    np.testing.assert_allclose(
        pose.compute_boundary_slopes(weights, at[k:]), np.array(changes) / 2e-6, atol=1e-5
    )


@pytest.mark.fit
@pytest.mark.parametrize("lapse", [0.0, 0.05])
def test_the_maximum_is_that_of_a_search(lapse):
    data = random_comparisons(4, 5, most=9)
    model = th.EliminationByAspects("unique", method="maximum-likelihood", lapse=lapse).fit(data)
    log_likelihood = naive_of(data, lapse)

    def value(x):
        return log_likelihood(np.exp(np.r_[0.0, x]))

    other = minimize(lambda x: -value(x), np.zeros(3), method="BFGS", tol=1e-9)
    x, w = other.x, np.exp(np.r_[0.0, other.x])
    np.testing.assert_allclose(model.maximum_likelihood.weights(), w / w.sum(), atol=2e-5)
    jacobian, steps = (
        (np.diag(w / w.sum()) - np.outer(w, w) / w.sum() ** 2)[:, 1:],
        1e-4 * np.eye(3),
    )
    information = [
        [
            -(value(x + a + b) - value(x + a - b) - value(x - a + b) + value(x - a - b)) / 4e-8
            for b in steps
        ]
        for a in steps
    ]
    errors = np.sqrt(np.diag(jacobian @ np.linalg.inv(information) @ jacobian.T))
    np.testing.assert_allclose(model.maximum_likelihood.standard_errors(), errors, rtol=1e-3)
    n = data.wins + data.losses
    saturated = (xlogy(data.wins, data.wins / n) + xlogy(data.losses, data.losses / n)).sum()
    assert model.maximum_likelihood.deviance() == pytest.approx(
        2 * (saturated + other.fun), abs=1e-6
    )
