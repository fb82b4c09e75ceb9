"""Sparse covariates: the same approximations as from a dense matrix, no word about words that only
other texts have."""

import warnings

import numpy as np
import pytest
from helpers import limits
from helpers.classifier_runs import fit_rows
from helpers.sentences import refused, warned, without_warnings
from helpers.watched_runs import forecast_of, without_fit
from scipy import sparse

import thali as th
import thali._classify.sparse_logit.normal_approximation as approximation
from thali.errors import DataError, DataWarning, LongRunWarning


def simulate_texts(n=90, words=6, seed=0, unseen=1):
    """Simulate counts of words, some in no text, and classes of texts."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.4, size=(n, words)) * (rng.random((n, words)) < 0.6)
    X[:, words - unseen :] = 0
    utility = np.column_stack([np.zeros(n), X[:, 0] - X[:, 1], X[:, 1] + 0.5 * X[:, 2]])
    return X.astype(float), (utility + rng.gumbel(size=utility.shape)).argmax(axis=1)


X, Y = simulate_texts()


def simulate_matrix(rows, columns, classes=2, density=1e-2):
    """Simulate a sparse matrix of this size, with classes."""
    X = sparse.random_array((rows, columns - 1), density=density, rng=1, format="csr")
    return X, np.arange(rows) % classes


def fit_model(X, **arguments):
    with without_warnings():
        return th.SparseMultinomialLogit(draws=50, random_state=1, **arguments).fit(
            X, Y, progressbar=False
        )


def check_same_fits(one, other, X_dense=X):
    """Check that two fits have the same draws and predictions, to 1e-8."""
    for group in ("posterior", "log_likelihood", "log_prior"):
        ours, theirs = (model.posterior_[group].to_dataset() for model in (one, other))
        assert ours.sizes == theirs.sizes
        for name in ours.data_vars:
            assert np.allclose(ours[name], theirs[name], rtol=1e-8, atol=1e-8), name
    assert np.allclose(one.coef_, other.coef_, atol=1e-8) and np.allclose(
        one.intercept_, other.intercept_, atol=1e-8
    )
    expected = other.predict_proba(X_dense)
    assert np.allclose(one.predict_proba(sparse.csc_matrix(X_dense)), expected, atol=1e-8)
    assert np.allclose(one.predict_proba(X_dense), expected, atol=1e-8)


@pytest.mark.first(2)
@pytest.mark.fit
@pytest.mark.parametrize("method", ["laplace", "variational"])
@pytest.mark.parametrize(
    "more", [{}, {"standardize": False, "fit_intercept": False, "class_weight": "balanced"}]
)
def test_sparse_covariates_give_the_fit_of_dense_ones(method, more, monkeypatch):
    """In several blocks of rows."""
    limits.lower_in(approximation, monkeypatch, _BLOCK_CELLS=7 * 20)
    one, other = (
        fit_model(kind(X), method=method, **more) for kind in (sparse.csr_matrix, np.asarray)
    )
    check_same_fits(one, other)
    assert one.method_ == method
    if method == "variational":
        assert one.lower_bound_ == pytest.approx(other.lower_bound_, rel=1e-10)


@pytest.mark.fit
def test_a_sparse_fit_is_saved_and_resumed(tmp_path):
    one = fit_model(sparse.csr_array(X), method="laplace")
    one.save(tmp_path / "sparse.nc")
    again = th.load(tmp_path / "sparse.nc")
    with without_warnings():
        again.continue_fit(20)
        whole = th.SparseMultinomialLogit("laplace", draws=70, random_state=1).fit(
            X, Y, progressbar=False
        )
    check_same_fits(again, whole)
    assert again.predict_proba(sparse.csr_array(X), return_se=True)[1].shape == (90, 3)
    assert again.posterior_predictive(sparse.csr_array(X), Y)["posterior_predictive"][
        "label"
    ].shape == (4, 70, 90)


@pytest.mark.unit
def test_auto_chooses_a_method_for_sparse_covariates():
    for data in (X, sparse.csr_array(X)):
        assert without_fit(th.SparseMultinomialLogit(), data, Y).method_ == "polya-gamma"
    assert (
        without_fit(
            th.SparseMultinomialLogit(), *simulate_matrix(100_000, 1000, density=1e-3)
        ).method_
        == "variational"
    )


@pytest.mark.fit
def test_auto_draws_the_same_from_a_small_sparse_matrix(uncompiled):
    how = {"draws": 3, "tune": 2, "chains": 2, "thin": 1, "random_state": 2, "progressbar": False}
    weight = np.arange(90) % 3
    with without_warnings():
        one, other = (
            fit_rows(th.SparseMultinomialLogit, data, Y, weight, **how)
            for data in (sparse.csr_array(X), X)
        )
    assert one.method_ == "polya-gamma"
    assert (
        one.posterior_["posterior"]
        .to_dataset()
        .identical(other.posterior_["posterior"].to_dataset())
    )
    assert (one.posterior_["observed_data"]["row"].values == np.flatnonzero(weight)).all()


@pytest.mark.unit
def test_a_normal_law_of_many_coefficients_is_forecast():
    X, y = simulate_matrix(1797, 62, classes=10, density=0.1)
    # 26 seconds of digits
    assert 13 < forecast_of(th.SparseMultinomialLogit("variational"), X, y).least < 52
    with warned(LongRunWarning, "37 minutes", "method='map'"):
        without_fit(
            th.SparseMultinomialLogit("variational"),
            sparse.random_array((90, 1200), density=0.1, rng=1),
            Y,
        )


@pytest.mark.unit
def test_a_sparse_matrix_too_large_for_draws_is_refused():
    wide = sparse.random_array((90, 20_000), density=1e-2, rng=1, format="csr")
    with refused(DataError, "(90, 20000)", "method='map'"):
        th.SparseMultinomialLogit().fit(wide, Y)
    with refused(DataError, "to 5,000 coefficients"):
        th.SparseMultinomialLogit("laplace").fit(wide, Y)
    without_fit(th.SparseMultinomialLogit(), *simulate_matrix(533, 200))
    with refused(DataError, "1,990 coefficients"):
        th.SparseMultinomialLogit().fit(*simulate_matrix(533, 2000))
    with refused(DataError, "'laplace'", "'variational'"):
        th.SparseMultinomialLogit("polya-gamma").fit(sparse.csr_array(X), Y)


@pytest.mark.fit
@pytest.mark.parametrize("standardize", [True, False])
def test_words_missing_from_a_fold_cause_no_warning(standardize):
    model = th.SparseMultinomialLogit("map", eta=1.0, standardize=standardize)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(sparse.csr_array(X), Y)
    assert (model.coef_[:, 5] == 0.0).all() and ("5 of 6" in str(model)) == standardize
    ones = np.column_stack([X, np.ones(90)])
    with pytest.warns(DataWarning, match="column 6|Column 6"):
        model.fit(sparse.csr_array(ones), Y)
