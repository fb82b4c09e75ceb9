"""Fits of `NonnegativeDimensions`: recovery, predictions, uncertainty, files, refusals."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

import thali as th
from thali._dimensions.posterior import match_dimensions

pytestmark = [
    pytest.mark.fit,
    pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning"),
]
QUIET = {"progressbar": False, "cores": 1}
SHORT = {"draws": 20, "tune": 30, "thin": 1, "chains": 2, "random_seed": 1, **QUIET}
N_OBJECTS = 30


def draw_embedding(rng, n_objects=N_OBJECTS, n_dimensions=5):
    """Return sparse values, (objects, dimensions)."""
    is_present = rng.random((n_objects, n_dimensions)) < 0.3
    return np.where(is_present, rng.gamma(6.0, 0.3, is_present.shape), 0.0)


def draw_triplets(rng, x, n_triplets):
    """Return rows of three objects, the odd one last, chosen by the softmax."""
    rows = np.array([rng.choice(len(x), 3, replace=False) for _ in range(n_triplets)])
    a, b, c = (x[rows[:, k]] for k in range(3))
    s = np.stack([(b * c).sum(1), (a * c).sum(1), (a * b).sum(1)], axis=1)
    odd = (rng.gumbel(size=s.shape) + s).argmax(axis=1)
    orders = np.array([[1, 2, 0], [0, 2, 1], [0, 1, 2]])[odd]
    return np.take_along_axis(rows, orders, axis=1)


@pytest.fixture(scope="module")
def truth():
    return draw_embedding(np.random.default_rng(2))


@pytest.fixture(scope="module")
def data(truth):
    rows = draw_triplets(np.random.default_rng(3), truth, 6000)
    return th.Triplets(rows, labels=[f"o{k:02d}" for k in range(N_OBJECTS)])


@pytest.fixture(scope="module")
def model(data):
    return th.NonnegativeDimensions().fit(data, draws=100, random_seed=1, **QUIET)


def test_true_dimensions_are_found(model, truth):
    values = model.dimensions().to_numpy()
    r = np.corrcoef(truth.T, values.T)[: truth.shape[1], truth.shape[1] :]
    assert (r.max(axis=1) > 0.9).all()
    top = model.top(3)
    assert top["recurs"].sum() >= 5
    assert (np.diff(top["weight"]) <= 0).all()
    best = values[:, 0].argsort()[::-1][:3]
    assert top.loc[1, "objects"] == tuple(model.dimensions().index[best])


@pytest.mark.long
def test_predictions_are_near_the_truth(model, truth):
    rows = draw_triplets(np.random.default_rng(4), truth, 3000)
    a, b, c = (truth[rows[:, k]] for k in range(3))
    s = np.stack([(a * b).sum(1), (a * c).sum(1), (b * c).sum(1)], axis=1)
    best = np.log(softmax(s, axis=1)[:, 0]).mean()
    p = np.array(model.predict_proba([tuple(f"o{k:02d}" for k in row) for row in rows]))
    score = np.log(p[:, 0]).mean()
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert best - 0.03 < score < best + 0.01


def test_a_prediction_is_the_mean_of_the_softmax_over_draws(model):
    names = ["o03", "o07", "o01"]
    x = model.posterior_["latent_features"]["coordinates"].sel(option=names).values
    x = x.reshape(-1, *x.shape[2:]).astype(float)
    s = np.stack([(x[:, i] * x[:, j]).sum(axis=1) for i, j in ((0, 1), (0, 2), (1, 2))], axis=1)
    expected = (0.99 * softmax(s, axis=1) + 0.01 / 3).mean(axis=0)
    assert model.predict_proba([names])[0] == pytest.approx(expected, abs=1e-6)
    pairs = [("o03", "o07"), ("o03", "o01")]
    expected = (0.99 * softmax(s[:, :2], axis=1) + 0.01 / 2).mean(axis=0)
    assert model.predict_proba([pairs])[0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.long
def test_intervals_of_similarities_cover():
    covered = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x = draw_embedding(rng, 20, 4)
        data = th.Triplets(draw_triplets(rng, x, 3000), labels=list(map(str, range(20))))
        model = th.NonnegativeDimensions().fit(data, draws=100, random_seed=seed, **QUIET)
        _, low, high = (table.to_numpy() for table in model.similarity(ci=0.89))
        first, second = np.triu_indices(20, 1)
        true = (x @ x.T)[first, second]
        true -= true.mean()
        covered.append((low[first, second] <= true) & (true <= high[first, second]))
    assert 0.8 <= np.mean(covered) <= 0.97


def test_similarity_is_relative_to_the_mean_of_all_pairs(model):
    matrix = model.similarity().to_numpy()
    assert np.nanmean(matrix) == pytest.approx(0.0, abs=1e-6)
    assert np.isnan(np.diag(matrix)).all()
    assert matrix == pytest.approx(matrix.T, nan_ok=True)


@pytest.mark.long
def test_a_continued_fit_is_a_longer_fit(data, tmp_path):
    long = th.NonnegativeDimensions(6).fit(data, **SHORT)
    short = th.NonnegativeDimensions(6).fit(data, **SHORT | {"draws": 8})
    short.save(tmp_path / "model.nc")
    loaded = th.load(tmp_path / "model.nc").continue_fit(12, progressbar=False)
    for group, name in (("latent_features", "coordinates"), ("posterior", "log_likelihood")):
        expected = long.posterior_[group][name].values
        assert np.array_equal(loaded.posterior_[group][name].values, expected), name


def test_a_fit_without_enough_time_keeps_its_draws(data):
    with pytest.warns(th.errors.InterruptedWarning):
        model = th.NonnegativeDimensions(6).fit(
            data, **SHORT | {"draws": 10**6, "thin": 1, "max_time": 0.2}
        )
    assert model._view.shape[1] < 10**6


def test_similarities_are_fitted_with_constant_and_noise():
    rng = np.random.default_rng(5)
    x = draw_embedding(rng, 24, 4)
    noise = rng.normal(0, 0.5, (24, 24))
    matrix = -3.0 + 0.5 * (x @ x.T) + np.triu(noise, 1) + np.triu(noise, 1).T
    data = th.Similarities(matrix, labels=[f"o{k}" for k in range(24)])
    model = th.NonnegativeDimensions().fit(data, draws=100, random_seed=1, **QUIET)
    assert model.summary().loc["sigma", "mean"] == pytest.approx(0.5, rel=0.25)
    first, second = np.triu_indices(24, 1)
    mean, low, high = (table.to_numpy()[first, second] for table in model.similarity(ci=0.89))
    true = (-3.0 + 0.5 * (x @ x.T))[first, second]
    assert np.corrcoef(mean, true)[0, 1] > 0.95
    assert np.mean((low <= true) & (true <= high)) > 0.75
    assert model.check(1).attrs["p_value"] > 0.01
    with pytest.raises(th.errors.ArgumentError, match="requires a model fitted to triplets"):
        model.predict_proba([("o1", "o2", "o3")])


def test_the_unit_of_similarities_does_not_matter():
    """Similarities times 100: dimensions times 10, the same fit otherwise."""
    rng = np.random.default_rng(6)
    matrix = rng.random((8, 8))
    matrix = (matrix + matrix.T) / 2
    fits = [th.NonnegativeDimensions(3).fit(th.Similarities(c * matrix), **SHORT) for c in (1, 64)]
    one, other = (fit.dimensions().to_numpy() for fit in fits)
    assert other == pytest.approx(8.0 * one, rel=1e-4)
    change = fits[0].posterior_["posterior"]["log_likelihood"].values - (
        fits[1].posterior_["posterior"]["log_likelihood"].values
    )
    assert change == pytest.approx(28 * np.log(64.0), rel=1e-5)


def test_reproducibility_is_the_correlation_with_the_best_match():
    rng = np.random.default_rng(1)
    x = rng.random((40, 3))
    other = np.column_stack([x[:, 2], x[:, 0] + rng.normal(0, 0.1, 40), rng.random(40)])
    coordinates = np.stack([x, other])[:, None]
    matched = match_dimensions(coordinates, np.array([[1.0], [0.0]]))
    order = np.argsort(-x.sum(axis=0))
    assert matched.means == pytest.approx(x[:, order])
    by_dimension = np.empty(3)
    by_dimension[order] = matched.reproducibility
    assert by_dimension[0] == pytest.approx(np.corrcoef(x[:, 0], other[:, 1])[0, 1])
    assert by_dimension[2] > 0.999
    assert by_dimension[1] < 0.6


def test_ready_made_embeddings_predict():
    frame = pd.DataFrame([[1.0, 0.0], [0.5, 1.5], [0.0, 2.0]], index=["a", "b", "c"])
    model = th.NonnegativeDimensions.from_embedding(frame, lapse=0.0)
    s = np.array([0.5, 0.0, 3.0])
    assert model.predict_proba([("a", "b", "c")])[0] == pytest.approx(softmax(s), abs=1e-6)
    assert model.dimensions().iloc[:, 0].tolist() == [0.0, 1.5, 2.0]
    assert [result.key for result in model.findings()] == ["dimensions", "values", "similarity"]
    for wrong, words in (([[1, -1]], ">= 0"), ([1, 2], "matrix"), ([[np.nan, 1]], "finite")):
        with pytest.raises(th.errors.ArgumentError, match=words):
            th.NonnegativeDimensions.from_embedding(wrong)
    with pytest.raises(th.errors.ArgumentError, match="one name per row"):
        th.NonnegativeDimensions.from_embedding(frame.to_numpy(), labels=["a"])
    with pytest.raises(th.errors.ArgumentError, match="requires the data of the fit"):
        model.check()


def test_results_and_findings(model):
    check = model.check(1)
    assert {"a", "b", "observed", "predicted", "low", "high"} <= set(check.columns)
    intervals = model.dimensions(ci=0.5)
    assert (intervals["low"] <= intervals["high"]).all()
    assert len(intervals) == model.dimensions().size
    keys = [result.key for result in model.findings()]
    assert keys[:3] == ["asked", "dimensions", "values"]
    assert model.convergence().facts["share_between"] < 0.5


def test_single_draws_of_restarts_differ_without_a_warning_of_numpy():
    data = th.datasets.triplets(8, 60, 1, n_features=3).data
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        fitted = th.NonnegativeDimensions(dimensions=2).fit(data, **SHORT | {"draws": 1})
    assert fitted.convergence().facts["share_between"] == pytest.approx(1.0)


@pytest.mark.first(1)
@pytest.mark.parametrize("sigma", [0.02, 0.282])
def test_a_short_climb_does_not_diverge(sigma):
    matrix = [[0, 0.9, 0.2, 0.1], [0.9, 0, 0.3, 0.2], [0.2, 0.3, 0, 0.8], [0.1, 0.2, 0.8, 0]]
    data = th.Similarities(matrix, labels=list("abcd"), sigma=sigma)
    run = {"draws": 100, "tune": 20, "chains": 2, "progressbar": False}
    for seed in range(4):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = th.NonnegativeDimensions(penalty=0.1).fit(data, random_seed=seed, **run)
        assert np.isfinite(model.posterior_["latent_features"]["coordinates"]).all()
        assert len(model.dimensions().columns)
