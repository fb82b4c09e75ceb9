"""Dask arrays in both classifiers: fits by blocks of rows, and predictions that stay in their
blocks."""

import gc

import numpy as np
import pytest
from helpers.classifier_runs import fit_rows
from helpers.sentences import refused, warned, without_warnings

import thali as th
from thali.errors import ArgumentError, DataError, DataWarning

da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.fit

RNG = np.random.default_rng(6)
X = RNG.normal(size=(400, 3)) * [1.0, 10.0, 0.1] + 5.0
Y = np.array(["no", "perhaps", "yes"])[
    np.argmax((X - 5.0) / [1.0, 10.0, 0.1] + RNG.gumbel(size=(400, 3)), axis=1)
]
BLOCKS = da.from_array(X, chunks=(130, 2))


@pytest.fixture(autouse=True)
def collector():
    """Dask leaves the collector of garbage switched off when it slices an array that is a slice
    itself."""
    yield
    gc.enable()


def build_model(**settings):
    return th.SparseMultinomialLogit(method="map", eta=20.0, **settings)


@pytest.mark.first(2)
@pytest.mark.parametrize(
    "settings",
    [{}, {"standardize": False}, {"fit_intercept": False}, {"reference": "yes"}],
    ids=str,
)
def test_the_maximum_by_blocks_is_that_in_memory(settings):
    whole = build_model(**settings).fit(X, Y)
    for labels in (Y, da.from_array(Y, chunks=200)):
        blocks = build_model(**settings).fit(BLOCKS, labels)
        assert blocks.objective_ == pytest.approx(whole.objective_, abs=1e-7)
        np.testing.assert_allclose(blocks.coef_, whole.coef_, atol=1e-6)
        np.testing.assert_allclose(blocks.intercept_, whole.intercept_, atol=1e-5)
        assert blocks.classes_.tolist() == ["no", "perhaps", "yes"] and blocks.converged_
        assert blocks.summary().index.tolist() == whole.summary().index.tolist()


@pytest.mark.first(2)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "model", [build_model(), th.PlackettLuceRegression(method="map", a=1.1)], ids=str
)
def test_predictions_stay_in_their_blocks(model, classes):
    kept = Y != "perhaps" if classes == 2 else np.full(400, True)
    model.fit(X[kept], Y[kept])
    for method in ("predict_proba", "predict", "predict_log_proba", "decision_function"):
        found = getattr(model, method)(BLOCKS)
        assert found.chunks[0] == BLOCKS.chunks[0] and found.shape[0] == 400
        whole = getattr(model, method)(X)
        if method == "predict":
            np.testing.assert_array_equal(found.compute(), whole)
        else:  # a product of matrices may add in another order for other numbers of rows
            np.testing.assert_allclose(found.compute(), whole, rtol=1e-13, atol=1e-13)
        assert found.dtype == found.compute().dtype and found.shape == found.compute().shape


@pytest.mark.long
@pytest.mark.parametrize("method", ["laplace", "variational"])
@pytest.mark.parametrize(
    "settings", [{}, {"standardize": False, "reference": "yes"}, {"eta": 3.0}], ids=str
)
def test_a_normal_approximation_by_blocks_is_that_in_memory(method, settings, tmp_path):
    run = {
        "method": method,
        "draws": 300,
        "chains": 2,
        "random_state": 1,
        "progressbar": False,
        **settings,
    }
    whole, blocks = (fit_rows(th.SparseMultinomialLogit, rows, Y, **run) for rows in (X, BLOCKS))
    for name in ("coef", "intercept", "eta", "log_likelihood"):
        found, wanted = (model.posterior_["posterior"][name] for model in (blocks, whole))
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(blocks.coef_, whole.coef_, atol=1e-8)
    np.testing.assert_allclose(blocks.predict_proba(X), whole.predict_proba(X), atol=1e-8)
    assert np.array_equal(blocks.predict_proba(BLOCKS).compute(), blocks.predict_proba(X))
    assert blocks.method_ == method and blocks.converged_ and str(blocks) == str(whole)
    if method == "variational":
        assert blocks.lower_bound_ == pytest.approx(whole.lower_bound_, abs=1e-7)
    assert (
        "log_likelihood" not in blocks.posterior_.children
        and "log_prior" in blocks.posterior_.children
    )
    blocks.save(tmp_path / "blocks.nc")
    again = th.load(tmp_path / "blocks.nc")
    for model in (whole, again):
        model.continue_fit(50, progressbar=False)
    np.testing.assert_allclose(
        again.posterior_["posterior"]["coef"], whole.posterior_["posterior"]["coef"], atol=1e-8
    )
    assert again.posterior_["posterior"].sizes["draw"] == 350


def test_auto_fits_dask_arrays_by_the_variational_method():
    auto = th.SparseMultinomialLogit(draws=50, chains=1, random_state=1)
    with without_warnings():
        auto.fit(BLOCKS, Y, progressbar=False)
    assert auto.method_ == "variational"


def test_bad_blocks_are_refused():
    unknown = BLOCKS[BLOCKS[:, 0] > 5.0]
    for model in (build_model(), th.PlackettLuceRegression(method="map", a=1.1)):
        with refused(DataError, "compute_chunk"):
            model.fit(unknown, Y)
        with refused(DataError, "sample_weight"):
            model.fit(BLOCKS, Y, sample_weight=np.ones(400))
    with refused(DataError, "compute_chunk_sizes"):
        build_model().fit(BLOCKS, da.from_array(Y)[da.from_array(X)[:, 0] > 5.0])
    with refused(DataError, "'polya-gamma'", "'map'"):
        th.SparseMultinomialLogit(method="polya-gamma").fit(BLOCKS, Y)
    with refused(ArgumentError, "`thin` requires"):
        th.SparseMultinomialLogit(method="variational").fit(BLOCKS, Y, thin=2)
    with refused(ArgumentError, "class_weight"):
        build_model(class_weight="balanced").fit(BLOCKS, Y)
    with refused(DataError, "400 rows but y has 399 labels"):
        build_model().fit(BLOCKS, Y[:-1])
    spoilt = X.copy()
    spoilt[307, 1] = np.nan
    with refused(DataError, "Block 2", "row 47", "column 1"):
        build_model().fit(da.from_array(spoilt, chunks=(130, 3)), Y)
    fitted = build_model().fit(X, Y)
    with refused(DataError, "X has 2 features"):
        fitted.predict(BLOCKS[:, :2])
    with refused(ArgumentError, "return_se"):
        fitted.predict_proba(BLOCKS, return_se=True)


def test_a_constant_covariate_is_omitted():
    with warned(DataWarning, "column 1"):
        model = build_model().fit(da.from_array(np.insert(X, 1, 7.0, axis=1), chunks=(130, 2)), Y)
    assert (model.coef_[:, 1] == 0.0).all()
    np.testing.assert_allclose(
        np.delete(model.coef_, 1, axis=1), build_model().fit(X, Y).coef_, atol=1e-6
    )
