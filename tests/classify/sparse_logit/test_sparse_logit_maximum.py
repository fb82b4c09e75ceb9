"""The maximum of the sparse logit's posterior: optimal to the last digits, sparse, the same from
sparse matrices."""

import math

import numpy as np
import pytest
from helpers import limits
from helpers.sentences import refused, warned
from scipy import sparse
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

import thali as th
import thali._classify.sparse_logit.posterior_mode as maximum
from thali.errors import ArgumentError, ConvergenceWarning, DataError

RNG = np.random.default_rng(7)
X = RNG.normal(size=(80, 6)).round(2) * [1, 10, 0.1, 1, 1, 1] + [0, 5, 0, 0, 0, 0]
X[RNG.random(X.shape) < 0.3] = 0.0
Y = np.array(["a", "b", "c"])[(X[:, 0] + RNG.logistic(size=80) > 0) * 1 + (X[:, 3] > 0.5)]
WEIGHT = RNG.random(80) * 3


def build_model(eta=4.0, **arguments):
    return th.SparseMultinomialLogit(method="map", eta=eta, **arguments)


def compute_naive_objective(coef, intercept, z, labels, weight, eta):
    """Compute F row by row; the first class is the reference."""
    total = -math.sqrt(eta) * np.abs(coef).sum() - (intercept**2).sum() / 200
    for row, label, w in zip(z, labels, weight, strict=True):
        linear = np.append(0.0, coef @ row + intercept)
        total += w * (linear[list("abc").index(label)] - np.logaddexp.reduce(linear))
    return total


@pytest.mark.fit
def test_the_maximum_is_that_of_a_smooth_problem_with_twice_the_variables():
    """beta = u - v with u, v of 0 or more has no kink, and any bounded optimiser finds it."""
    model = build_model().fit(X, Y, sample_weight=WEIGHT)
    share = WEIGHT / WEIGHT.sum()
    mean = share @ X
    z = (X - mean) / np.sqrt(share @ (X - mean) ** 2)
    assert model.objective_ == pytest.approx(
        compute_naive_objective(model.scaled_coef_, model.scaled_intercept_, z, Y, WEIGHT, 4.0),
        rel=1e-12,
    )
    is_class = (Y[:, None] == ["b", "c"]).astype(float)

    def negative(parts):
        coef, intercept = (parts[:12] - parts[12:24]).reshape(2, 6), parts[24:]
        linear = z @ coef.T + intercept
        log_total = np.logaddexp(0, np.logaddexp(linear[:, 0], linear[:, 1]))
        value = WEIGHT @ (log_total - (linear * is_class).sum(axis=1)) + 2.0 * parts[:24].sum()
        residual = WEIGHT[:, None] * (np.exp(linear - log_total[:, None]) - is_class)
        slope = (residual.T @ z).ravel()
        of_intercept = residual.sum(axis=0) + intercept / 100
        return value + (intercept**2).sum() / 200, np.concatenate(
            [slope + 2.0, 2.0 - slope, of_intercept]
        )

    bounds = [(0, None)] * 24 + [(None, None)] * 2
    best = minimize(
        negative,
        np.zeros(26),
        jac=True,
        bounds=bounds,
        options={"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-10},
    )
    assert (
        model.objective_ == pytest.approx(-best.fun, rel=1e-8)
        and model.objective_ >= -best.fun - 1e-9
    )
    zero = model.scaled_coef_.ravel() == 0.0
    assert zero.any() and np.abs((best.x[:12] - best.x[12:24])[zero]).max() < 1e-4


@pytest.mark.fit
@pytest.mark.parametrize("c", [0.05, 1.0, 20.0])
def test_scikit_learn_reaches_the_same_objective(c):
    labels = Y != "a"
    z = X / X.std(axis=0)
    theirs = LogisticRegression(
        l1_ratio=1, C=c, solver="liblinear", fit_intercept=False, tol=1e-12, max_iter=10_000
    )
    coef = theirs.fit(z, labels).coef_[0]
    signs = np.where(labels, 1.0, -1.0)
    best = -np.logaddexp(0, -signs * (z @ coef)).sum() - np.abs(coef).sum() / c
    model = build_model(1 / c**2, fit_intercept=False, standardize=False).fit(z, labels)
    assert model.objective_ == pytest.approx(best, rel=1e-8)
    assert ((model.coef_[0] == 0) == (coef == 0)).all()


@pytest.mark.fit
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_matrices_give_the_same(kind, standardize):
    dense = build_model(standardize=standardize).fit(X, Y, sample_weight=WEIGHT)
    model = build_model(standardize=standardize).fit(kind(X), Y, sample_weight=WEIGHT)
    assert np.allclose(model.coef_, dense.coef_, rtol=1e-6, atol=1e-9)
    assert model.objective_ == pytest.approx(dense.objective_, rel=1e-12)
    assert np.allclose(model.predict_proba(kind(X)), dense.predict_proba(X), atol=1e-8)
    assert np.allclose(model.predict_proba(X), dense.predict_proba(X), atol=1e-8)


@pytest.mark.fit
def test_a_sparse_matrix_stays_sparse():
    """200,000 rows and 2,000 columns would take 3.2 GB."""
    big = sparse.random_array((200_000, 2000), density=1e-4, rng=1, format="csr")
    labels = big[:, [0]].toarray()[:, 0] > 0.5
    model = build_model(1.0).fit(big, labels)
    assert model.coef_[0].argmax() == 0
    with refused(DataError, "(200000, 2000)"):
        th.SparseMultinomialLogit("polya-gamma").fit(big, labels)


@pytest.mark.fit
def test_the_path_is_that_of_single_fits():
    path = th.SparseMultinomialLogit().coefficient_path(X, Y, sample_weight=WEIGHT)
    assert (
        path["non_zero"].iloc[0] == 0 < path["non_zero"].iloc[1]
        and (np.diff(path["eta"]) < 0).all()
    )
    row = path.iloc[12]
    model = build_model(row["eta"]).fit(X, Y, sample_weight=WEIGHT)
    assert np.allclose(row.iloc[4:].astype(float), model.scaled_coef_.ravel(), atol=1e-7)
    assert row["objective"] == pytest.approx(model.objective_, rel=1e-10)
    below = build_model(path["eta"].iloc[0] * 1.000001).fit(X, Y, sample_weight=WEIGHT)
    assert not below.scaled_coef_.any()
    with refused(DataError, "eta", "positive numbers"):
        th.SparseMultinomialLogit().coefficient_path(X, Y, [1.0, -1.0])


@pytest.mark.fit
def test_more_columns_than_rows_and_columns_that_are_equal():
    wide = np.hstack([RNG.normal(size=(30, 200)), np.zeros((30, 1))])
    wide[:, 1] = wide[:, 0]
    model = build_model(1.0).fit(wide, wide[:, 0] > 0.1)
    assert (
        model.converged_ and np.count_nonzero(model.scaled_coef_) <= 31 and model.coef_[0, -1] == 0
    )


@pytest.mark.fit
def test_the_answers_of_a_fit_by_map(monkeypatch, tmp_path):
    model = build_model().fit(X, Y)
    rows = model.summary()
    assert rows.columns.tolist() == ["mean"] and len(rows) == np.count_nonzero(model.coef_)
    assert "of 12 are nonzero" in str(model) and model.convergence().agrees
    model.save(tmp_path / "map.nc")
    again = th.load(tmp_path / "map.nc")
    assert (again.predict_proba(X) == model.predict_proba(X)).all() and again.summary().equals(rows)
    for asked in (
        model._get_quantities,
        model.coefficients,
        lambda: model.predict_proba(X, return_se=True),
    ):
        with refused(ArgumentError, "Posterior draws"):
            asked()
    with refused(ArgumentError, "posterior"):
        model.continue_fit(10)
    limits.lower_in(maximum, monkeypatch, MAX_STEPS=1)
    with warned(ConvergenceWarning, "has not converged"):
        model.fit(X, Y)
    assert "converged after 1" in str(model.convergence()) and "1 steps" in str(model.convergence())


@pytest.mark.fit
@pytest.mark.parametrize(("prior", "eta"), [({}, 1.0), ({"shape": 2.0, "rate": 0.5}, 4.0)])
def test_the_default_eta_is_its_prior_mean(prior, eta):
    model = th.SparseMultinomialLogit(method="map", **prior).fit(X, Y)
    assert model.objective_ == build_model(eta).fit(X, Y).objective_
    assert model.eta is None  # as it was given: scikit-learn copies estimators by their arguments
    assert f"(eta = {eta:g})" in str(model.findings()["methods"])


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        (sparse.csr_array(np.where(X == X[2, 1], np.nan, X)), ("row 2", "column 1")),
        (sparse.csr_array((0, 3)), ("got shape", "(0, 3)")),
        (sparse.csr_array(X * 1j), ("Complex data not supported",)),
    ],
)
def test_bad_sparse_matrices_are_refused(given, facts):
    with refused(DataError, *facts):
        build_model().fit(given, Y[: given.shape[0]])
