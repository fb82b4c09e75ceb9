"""The variational normal posterior of the sparse logit, and the method that "auto" chooses."""

import numpy as np
import pytest
from helpers.classifier_runs import fit_rows
from helpers.sentences import refused, without_warnings
from helpers.sparse_logit_runs import (
    CoefficientPrior,
    build_coefficient_problem,
    chains_of,
    three_classes,
)
from helpers.watched_runs import without_fit
from scipy.special import gammaln, logsumexp

import thali as th
import thali._classify.sparse_logit.normal_approximation as variational
from thali._classify.sparse_logit.normal_approximation import (
    build_quadrature_rule,
    expand_log_likelihood,
    fit_normal_approximation,
)
from thali.errors import ArgumentError

QUICK = {"draws": 200, "chains": 2, "random_state": 1, "progressbar": False}


@pytest.mark.long
@pytest.mark.parametrize("classes", [2, 3])
def test_the_mean_expansion_is_that_of_the_normal_law(classes):
    """By 100,000 draws; the rule is exact to third degree, and these variances are small."""
    X, y = three_classes()
    problem = build_coefficient_problem(
        X, y % classes, classes, 0, CoefficientPrior(None, 1, 1, True), False
    )
    rng, size = np.random.default_rng(1), 3 * (classes - 1)
    mean, root = (
        rng.normal(size=size),
        (np.tril(rng.normal(size=(size, size))) + np.eye(size)) * 0.1,
    )
    found = expand_log_likelihood(problem, mean.reshape(-1, 3), root @ root.T)
    drawn = mean + rng.normal(size=(100_000, size)) @ root.T
    linear = np.zeros((len(drawn), classes))
    total, gradient = np.zeros(len(drawn)), np.zeros((len(drawn), classes - 1, 3))
    for z, label in zip(problem.covariates.T, problem.codes, strict=True):
        linear[:, 1:] = drawn.reshape(len(drawn), classes - 1, 3) @ z
        log_p = linear - logsumexp(linear, axis=1, keepdims=True)
        total += log_p[:, label]
        gradient += ((np.arange(1, classes) == label) - np.exp(log_p[:, 1:]))[:, :, None] * z
    of_slopes = zip(found.gradient, gradient.reshape(len(drawn), -1).T, strict=True)
    for got, draws in [(found.log_likelihood, total), *of_slopes]:
        assert (
            abs(got - draws.mean())
            < 4.5 * draws.std() / np.sqrt(len(draws)) + 1e-3 * np.abs(gradient).mean()
        )
    step = 1e-6
    for row, column in np.argwhere(np.tri(size)):
        way = np.zeros((size, size))
        way[row, column] = way[column, row] = step if row == column else 0.5 * step
        up, down = (
            expand_log_likelihood(problem, mean.reshape(-1, 3), root @ root.T + sign * way)
            for sign in (1, -1)
        )
        slope = (up.log_likelihood - down.log_likelihood) / (2.0 * step)
        assert found.curvature[row, column] == pytest.approx(-2.0 * slope, abs=1e-4)


@pytest.mark.parametrize("radii", [1, 3])
@pytest.mark.parametrize("q", [1, 2, 9])
def test_the_rule_has_the_moments_of_the_normal_law(q, radii):
    places, weights = build_quadrature_rule(q, radii)
    assert weights.sum() == pytest.approx(1.0) and (weights > 0).all()
    np.testing.assert_allclose(weights @ places, 0.0, atol=1e-12)
    np.testing.assert_allclose((places.T * weights) @ places, np.eye(q), atol=1e-12)
    lengths = (places**2).sum(axis=1)
    if radii == 3:
        assert weights @ lengths**2 == pytest.approx(q * (q + 2))
        assert weights @ lengths**5 == pytest.approx(q * (q + 2) * (q + 4) * (q + 6) * (q + 8))


@pytest.mark.parametrize("eta", [4.0, None])
@pytest.mark.parametrize("classes", [2, 4])
def test_no_round_lowers_the_bound_even_of_separable_classes(classes, eta, monkeypatch):
    rng, rounds = np.random.default_rng(2), []
    X = rng.normal(size=(40, 12))
    y = np.argmax(np.column_stack([X[:, : classes - 1], np.zeros(40)]), axis=1)
    is_flat = variational.has_flat_bound
    monkeypatch.setattr(
        variational,
        "has_flat_bound",
        lambda bounds, m: rounds.append(list(bounds)) or is_flat(bounds, m),
    )
    found = fit_normal_approximation(
        build_coefficient_problem(X, y, classes, 0, CoefficientPrior(eta, 1, 1, True), False),
        eta,
        True,
    )
    bounds = np.array([each[-1] for each in rounds])
    assert len(bounds) > 5 and (np.diff(bounds) >= -1e-9 * (1 + np.abs(bounds[1:]))).all()
    assert found.converged and found.lower_bound >= bounds[-1] - 1e-6


@pytest.mark.parametrize("eta", [2.0, None])
def test_the_bound_is_just_below_the_evidence(eta):
    x = np.array([-1.2, -0.7, -0.3, 0.1, 0.4, 0.8, 1.1, 1.5])
    y = np.array([1, 1, 0, 1, 0, 0, 1, 0])
    beta, step = np.linspace(-30, 30, 6_001, retstep=True)
    log_p = -np.logaddexp(0, -np.outer(beta, x) * (2 * y - 1)).sum(axis=1)
    v, width = np.linspace(1e-4, 8, 801, retstep=True)  # the root of eta
    if eta is None:  # Gamma(2, 1)
        of_root = 0.5 * v * 2 * v**3 * np.exp(-(v**2) - gammaln(2))
        prior = (np.exp(-np.abs(beta)[:, None] * v) * of_root).sum(axis=1) * width
    else:
        prior = 0.5 * np.sqrt(eta) * np.exp(-np.sqrt(eta) * np.abs(beta))
    evidence = np.log((np.exp(log_p) * prior).sum() * step)
    problem = build_coefficient_problem(
        x[:, None], y, 2, 0, CoefficientPrior(eta, 2, 1, False), False
    )
    found = fit_normal_approximation(problem, eta, is_variational=True)
    assert found.converged and evidence - 0.1 < found.lower_bound < evidence


def test_standard_deviations_agree_with_the_sampler_even_of_few_rows():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(150, 8))
    y = (X @ [2.0, -1.0, 0.5, 0, 0, 0, 0, 0] + rng.logistic(size=150) > 0).astype(int)
    prior = CoefficientPrior(None, 1, 1, True)
    chains = chains_of(X, y, 2, 0, prior, 4000, False, trajectories=2)
    coefs = np.concatenate([chain.record.coef[:, 1] for chain in chains])
    problem = build_coefficient_problem(X, y, 2, 0, prior, False)
    far, sds = {}, {}
    for is_variational in (False, True):
        normal = fit_normal_approximation(problem, None, is_variational)
        sds[is_variational] = np.sqrt(
            np.diag(np.linalg.inv(normal.factor @ normal.factor.T))
        ) / coefs.std(axis=0)
        far[is_variational] = np.abs((normal.mean - coefs.mean(axis=0)) / coefs.std(axis=0)).max()
    assert (np.abs(sds[True] - 1) < 0.12).all() and far[True] < 0.2
    assert sds[True].min() > sds[False].min() and far[True] < far[False]


def test_a_fit_reports_its_bound_and_method():
    X, y = three_classes(400)
    model = fit_rows(th.SparseMultinomialLogit, X, y, method="variational", **QUICK)
    assert (
        model.converged_
        and model.lower_bound_ < model.log_likelihood_
        and model.method_ == "variational"
    )
    assert "normal approximation" in str(model.convergence())
    assert model.posterior_.attrs["method"] == "variational"
    with refused(ArgumentError, "`thin` requires"):
        th.SparseMultinomialLogit(method="variational").fit(X, y, thin=2)


@pytest.mark.parametrize(
    ("size", "method"),  # rows, columns, classes
    [
        ((2_000, 20, 2), "polya-gamma"),
        ((10_000, 20, 3), "variational"),
        # one and a half rows a coefficient: the approximation is poor
        ((900, 60, 10), "polya-gamma"),
        ((9_000, 60, 10), "variational"),  # longer than ten minutes
        ((533, 100, 2), "polya-gamma"),
        ((533, 1100, 2), "variational"),
        ((533, 2000, 2), "polya-gamma"),  # a normal law would take as long
    ],
)
def test_auto_chooses_by_size(size, method):
    rows, columns, classes = size
    X, y = np.random.default_rng(1).random((rows, columns - 1)), np.arange(rows) % classes
    assert without_fit(th.SparseMultinomialLogit(), X, y).method_ == method


@pytest.mark.long
def test_auto_is_the_method_that_it_chooses(tmp_path):
    for rows, method in ((200, "polya-gamma"), (20_000, "variational")):
        X, y = three_classes(rows)
        with without_warnings():
            auto = fit_rows(th.SparseMultinomialLogit, X, y, method="auto", **QUICK)
            own = fit_rows(th.SparseMultinomialLogit, X, y, method=method, **QUICK)
        assert auto.method_ == method and np.array_equal(auto.coef_, own.coef_)
        assert f"({method}, chosen by" in str(auto)
        auto.save(tmp_path / "auto.nc")
        again = th.load(tmp_path / "auto.nc")
        assert again.method_ == method and str(again.convergence()) == str(auto.convergence())
