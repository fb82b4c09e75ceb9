"""Laplace's approximation of the posterior of the sparse logit."""

import numpy as np
import pytest
from helpers import limits
from helpers.sentences import refused, warned, without_warnings
from helpers.sparse_logit_runs import three_classes
from scipy import special, stats

import thali as th
import thali._classify.sparse_logit.normal_approximation as approximation
import thali._classify.sparse_logit.normal_approximation as expansion
import thali._classify.sparse_logit.normal_approximation as normal
from thali._classify.sparse_logit.markov_chain import CoefficientPrior, build_coefficient_problem
from thali._classify.sparse_logit.normal_approximation import (
    expand_log_likelihood,
    fit_normal_approximation,
)
from thali.errors import DataError, DataWarning

X, Y = three_classes(400)


LEARNED = CoefficientPrior(None, 1, 1, True)


def build_problem(reference=1, prior=LEARNED, X=X, y=Y, classes=3, counts=None):
    return build_coefficient_problem(X, y, classes, reference, prior, False, counts)


def compute_naive_likelihood(coef, counts, reference=1):
    """Compute the log-likelihood of coef (q, m), row by row."""
    whole = np.insert(coef, reference, 0.0, axis=0)
    total = 0.0
    for x, label, count in zip(np.column_stack([X, np.ones(len(X))]), Y, counts, strict=True):
        scores = whole @ x
        total += count * (scores[label] - special.logsumexp(scores))
    return total


def test_the_expansion_is_that_of_the_log_likelihood(monkeypatch):
    rng = np.random.default_rng(0)
    counts = rng.random(len(X)) + 0.5
    problem, coef = build_problem(counts=counts), rng.normal(size=(2, 3))
    at = expand_log_likelihood(problem, coef)
    assert at.log_likelihood == pytest.approx(compute_naive_likelihood(coef, counts), rel=1e-12)
    for place in range(6):
        step = np.zeros(6)
        step[place] = 1e-5
        up, down = (
            expand_log_likelihood(problem, coef + sign * step.reshape(2, 3)) for sign in (1, -1)
        )
        assert at.gradient[place] == pytest.approx(
            (up.log_likelihood - down.log_likelihood) / 2e-5, abs=1e-5
        )
        np.testing.assert_allclose(
            at.curvature[place], (down.gradient - up.gradient) / 2e-5, atol=1e-5
        )
    limits.lower_in(expansion, monkeypatch, BLOCK_ROWS=7)
    np.testing.assert_allclose(
        expand_log_likelihood(problem, coef).curvature, at.curvature, rtol=1e-10
    )


@pytest.mark.parametrize("slope", [0.0, 0.7])
def test_one_coefficient_of_many_rows_has_the_moments_of_quadrature(slope):
    rng = np.random.default_rng(4)
    x = rng.normal(size=400)
    y = (slope * x + rng.logistic(size=400) > 0).astype(int)
    beta = np.linspace(-1, 2, 1501)
    log_likelihood = -np.logaddexp(0, -np.outer(beta, x) * (2 * y - 1)).sum(axis=1)
    for eta in (2.0, 60.0):
        posterior = np.exp(log_likelihood - np.sqrt(eta) * np.abs(beta) - log_likelihood.max())
        posterior /= posterior.sum()
        mean = (beta * posterior).sum()
        sd = np.sqrt(((beta - mean) ** 2 * posterior).sum())
        found = fit_normal_approximation(
            build_problem(0, CoefficientPrior(eta, 1, 1, False), x[:, None], y, 2), eta
        )
        assert found.converged and found.mean[0] == pytest.approx(mean, abs=0.05 * sd)
        assert 1 / found.factor[0, 0] == pytest.approx(sd, rel=0.05)


def test_eta_given_the_coefficients_has_the_law_of_quadrature():
    etas, shares = approximation.compute_eta_distribution(2.0 * 1.5 + 6, 4.0, 0.8)
    grid = np.linspace(1e-6, 60, 200_001)
    density = grid ** (1.5 - 1 + 3) * np.exp(-0.8 * grid - 4.0 * np.sqrt(grid))
    assert shares @ etas == pytest.approx((grid * density).sum() / density.sum(), rel=1e-6)
    assert shares @ np.sqrt(etas) == pytest.approx(
        (np.sqrt(grid) * density).sum() / density.sum(), rel=1e-6
    )


def test_draws_have_the_moments_of_the_approximation_and_come_from_the_seed():
    model = th.SparseMultinomialLogit(method="laplace", random_state=1).fit(X, Y, cores=2)
    again = th.SparseMultinomialLogit(method="laplace", random_state=1, draws=400).fit(
        X, Y, cores=1
    )
    again.continue_fit(600, progressbar=False)
    draws = model.posterior_["posterior"].dataset
    assert np.array_equal(draws["coef"], again.posterior_["posterior"]["coef"])
    z = (X - X.mean(0)) / X.std(0)
    normal = fit_normal_approximation(build_problem(0, X=z), None)
    covariance = np.linalg.inv(normal.factor @ normal.factor.T)
    whole = np.concatenate(
        [draws["coef"].values, draws["intercept"].values[..., None]], axis=-1
    ).reshape(-1, 6)
    white = (whole - normal.mean) @ np.linalg.cholesky(np.linalg.inv(covariance))
    assert np.abs(white.mean(axis=0)).max() < 4.5 / np.sqrt(len(white))
    assert np.abs(white.T @ white / len(white) - np.eye(6)).max() < 4.5 * np.sqrt(2 / len(white))
    exact = np.array([sum_naive_likelihood(each, z) for each in whole[:40]])
    assert np.abs(draws["log_likelihood"].values.ravel()[:40] - exact).mean() < 0.2
    assert model.converged_ and model.convergence().agrees
    assert "normal approximation" in str(model.convergence())


def sum_naive_likelihood(coef, z):
    scores = np.insert(np.column_stack([z, np.ones(len(z))]) @ coef.reshape(2, 3).T, 0, 0.0, axis=1)
    return (scores[np.arange(len(z)), Y] - special.logsumexp(scores, axis=1)).sum()


def test_few_rows_cause_a_warning_and_many_coefficients_are_refused(monkeypatch):
    few = stats.norm.rvs(size=(30, 4), random_state=1)
    with warned(DataWarning, "20 rows", "'polya-gamma'"):
        th.SparseMultinomialLogit(method="laplace", draws=100, random_state=1).fit(
            few, few[:, 0] > 0
        )
    limits.lower_in(normal, monkeypatch, MAX_COEFFICIENTS=4)
    with without_warnings(), refused(DataError, "to 4"):
        th.SparseMultinomialLogit(method="laplace").fit(few, few[:, 0] > 0)
