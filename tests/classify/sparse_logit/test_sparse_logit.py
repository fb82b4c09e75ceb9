"""The sparse multinomial logit as a user meets it: estimates, posterior, seeds, Table 2, extreme
input."""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.classifier_runs import fit_rows
from helpers.plackett_luce_data import frame
from helpers.real_data import needs_data
from helpers.sentences import refused, warned, without_warnings
from helpers.sparse_logit_runs import three_classes

import thali as th
from thali.errors import ArgumentError, ConvergenceWarning, DataError, DataWarning

X, Y = three_classes(60)
SHORT = {"draws": 200, "tune": 100, "chains": 2, "thin": 1, "random_state": 3}


def fit_model(X=X, y=Y, **arguments):
    with without_warnings():
        return fit_rows(th.SparseMultinomialLogit, X, y, **(SHORT | arguments))


def test_attributes_exist_after_fit():
    frame = pd.DataFrame(X, columns=["width", "height"])
    model = fit_model(frame, np.array(["low", "mid", "top"])[Y])
    assert model.classes_.tolist() == ["low", "mid", "top"] and model._reference_ == "low"
    assert model.coef_.shape == (2, 2) and model.intercept_.shape == (2,)
    posterior = model.posterior_["posterior"].dataset
    assert {name: v.dims for name, v in posterior.data_vars.items()} == {
        "coef": ("chain", "draw", "class", "covariate"),
        "intercept": ("chain", "draw", "class"),
        "eta": ("chain", "draw"),
        "log_likelihood": ("chain", "draw"),
    }
    assert posterior["class"].values.tolist() == ["mid", "top"]
    assert posterior["covariate"].values.tolist() == ["width", "height"]
    groups = {
        "posterior",
        "observed_data",
        "constant_data",
        "sample_stats",
        "log_likelihood",
        "log_prior",
    }
    assert set(model.posterior_.children) == groups
    assert model.posterior_["constant_data"]["classes"].values.tolist() == ["low", "mid", "top"]
    assert (model.posterior_["observed_data"]["label"].values == Y).all()
    assert model.log_likelihood_ == pytest.approx(float(posterior["log_likelihood"].mean()))
    rows = ["coef[mid, width]", "coef[mid, height]", "coef[top, width]", "coef[top, height]"]
    summary = model.summary()
    assert summary.index.to_list() == ["eta", "log_likelihood", *rows]
    assert summary.loc["coef[top, width]", "mean"] == pytest.approx(
        float(posterior["coef"][:, :, 1, 0].mean())
    )


def test_a_fixed_eta_and_a_missing_intercept_are_omitted():
    model = fit_model(eta=2.0, fit_intercept=False)
    assert (model.posterior_["posterior"]["eta"].values == 2.0).all()
    assert "intercept" not in model.posterior_["posterior"]
    # standardising takes the means off
    assert np.allclose(model.intercept_, -model.coef_ @ X.mean(0))
    assert model.summary().index[0] == "log_likelihood"


def test_coefficients_apply_to_original_units():
    model, scaled = fit_model(), fit_model(X * [1000.0, 0.01] + [5.0, -3.0])
    assert np.allclose(scaled.coef_ * [1000.0, 0.01], model.coef_, rtol=1e-6)
    at = X[:5] @ model.coef_.T + model.intercept_
    z = (X - X.mean(0)) / X.std(0)
    posterior = model.posterior_["posterior"].dataset.mean(["chain", "draw"])
    assert np.allclose(at, z[:5] @ posterior["coef"].values.T + posterior["intercept"].values)
    assert np.allclose(
        scaled.predict_proba(X * [1000.0, 0.01] + [5.0, -3.0]), model.predict_proba(X), atol=1e-6
    )


def test_probabilities_are_posterior_means():
    model = fit_model(reference=1)
    posterior = model.posterior_["posterior"].dataset
    z = (X[:7] - X.mean(0)) / X.std(0)
    linear = (
        np.einsum("cdkj,nj->cdnk", posterior["coef"].values, z)
        + posterior["intercept"].values[:, :, None]
    )
    scores = np.exp(np.insert(linear, 1, 0.0, axis=-1))
    expected = (scores / scores.sum(-1, keepdims=True)).mean(axis=(0, 1))
    assert np.allclose(model.predict_proba(X[:7]), expected, rtol=1e-12)
    assert np.allclose(np.exp(model.predict_log_proba(X[:7])), expected, rtol=1e-12)


def test_two_classes_have_the_sign_of_scikit_learn():
    y = (X[:, 0] + np.random.default_rng(0).logistic(size=len(X)) > 0).astype(int)
    linear_model = pytest.importorskip("sklearn.linear_model")
    theirs = linear_model.LogisticRegression().fit(X, y)
    model = fit_model(y=y)
    assert (
        model.coef_.shape == (1, 2)
        and np.sign(model.coef_[0, 0]) == np.sign(theirs.coef_[0, 0]) == 1
    )
    assert np.corrcoef(model.predict_proba(X)[:, 1], theirs.predict_proba(X)[:, 1])[0, 1] > 0.99
    assert fit_model(y=y, reference=1).coef_[0, 0] < 0


def test_convergence_is_judged_by_every_coefficient():
    """Of 120 the last 20 are small; the summary shows their R-hat all the same."""
    rng = np.random.default_rng(0)
    how = {"draws": 60, "tune": 1, "chains": 2, "thin": 1, "random_state": 1, "eta": 1.0}
    model = fit_model(rng.normal(size=(12, 60)), np.arange(12) % 3, **how)
    posterior = model.posterior_["posterior"]
    posterior["log_likelihood"].values[...] = rng.normal(size=(2, 60))
    drawn = 0.01 * rng.normal(size=(2, 60, 120)) + (np.arange(120) < 100)
    drawn[1, :, 119] += 0.1
    posterior["coef"].values[...] = drawn.reshape(posterior["coef"].shape)
    checked = copy.copy(model)  # without what it has computed from other draws
    assert checked.convergence().facts["r_hat"] > 1.5
    assert checked.convergence().facts["r_hat_of"] == checked.summary().index[-1]


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("factor", [1e300, 1e-300])
def test_scales_of_any_size_give_numbers(factor, standardize):
    if factor > 1 and not standardize:
        with refused(DataError, "Column 0"):
            fit_model(X * factor, standardize=False)
        return
    model = fit_model(X * factor, standardize=standardize)
    for rows in (X * factor, np.full((1, 2), 1e308), np.full((1, 2), -1e308), np.zeros((1, 2))):
        assert np.isfinite(model.predict_proba(rows)).all()
    assert (
        np.isfinite(model.coef_).all()
        and np.isfinite(model.posterior_["posterior"]["coef"].values).all()
    )


def test_constant_columns_have_no_coefficient():
    frame = pd.DataFrame({"a": X[:, 0], "b": 2.5, "c": X[:, 1]})
    with refused(DataError, "column 'b'"):
        fit_model(frame[["b"]])
    with warnings.catch_warnings(), warned(DataWarning, "column 'b'") as messages:
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        model = th.SparseMultinomialLogit(draws=200, tune=100, chains=2, random_state=3).fit(
            frame, Y, thin=1
        )
        alone = fit_model(frame[["a", "c"]], Y)
    assert [each.filename for each in messages] == [__file__]
    assert (model.coef_[:, 1] == 0).all() and np.array_equal(model.coef_[:, ::2], alone.coef_)
    assert model.posterior_["posterior"]["covariate"].values.tolist() == ["a", "c"]
    for new in (-1e308, 0.0, 2.5, 1e308):
        assert np.array_equal(
            model.predict_proba(frame.assign(b=new)), alone.predict_proba(frame[["a", "c"]])
        )
    with warnings.catch_warnings(), warned(DataWarning, "Column 'b'"):
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        fit_rows(th.SparseMultinomialLogit, frame, Y, standardize=False, **SHORT)


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        ({"method": "laplace", "thin": 2}, ("method='polya-gamma'",)),
        ({"reference": 7}, ("reference",)),
    ],
)
def test_bad_arguments_are_refused(arguments, facts):
    of_fit = {name: value for name, value in arguments.items() if name == "thin"}
    with refused(ArgumentError, *facts):
        th.SparseMultinomialLogit(
            **{name: arguments[name] for name in arguments.keys() - of_fit}
        ).fit(X, Y, **of_fit)


def check_error_rate(name, published, splits, **lengths):
    """Check the mean test error over random halves of the data."""
    data, labels = (part.to_numpy() for part in frame(name))
    errors = []
    for split in range(splits):
        order = np.random.default_rng(split).permutation(len(labels))
        train, test = order[: len(order) // 2], order[len(order) // 2 :]
        model = fit_model(data[train], labels[train], reference=labels.max(), chains=1, **lengths)
        errors.append(1 - model.score(data[test], labels[test]))
    error = np.std(errors, ddof=1) * np.sqrt(1 / splits + 1 / 20)
    assert abs(np.mean(errors) - published) <= 3 * error, (np.mean(errors), error)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("iris", 0.040),
        ("wine", 0.019),
        pytest.param("heart", 0.169, marks=needs_data),
        pytest.param("german", 0.240, marks=needs_data),
    ],
)
def test_a8_error_rates_of_table_2_over_more_splits(name, published):
    # wine comes out at .028: single sets of 20 halves range from .020 to .033
    check_error_rate(name, published, 60, draws=1500, tune=1000)


@pytest.mark.parametrize("standardize", [True, False])
def test_tables_state_the_scale_of_coefficients(standardize):
    wide = X * [1.0, 100.0]
    model = fit_model(wide, standardize=standardize)
    unit, own = (
        "unit of the covariate",
        "standard deviation" if standardize else "unit of the covariate",
    )
    table, point = (
        model.coefficients(),
        th.SparseMultinomialLogit("map", eta=1.0, standardize=standardize).fit(wide, Y),
    )
    assert all(own in table.attrs["scale"][column] for column in ("coef", "sd", "low", "high"))
    assert unit in table.attrs["scale"]["original"]
    same = np.allclose(table["coef"], table["original"])
    assert same == (not standardize)  # what the words say
    path = model.coefficient_path(wide, Y, [1.0])
    assert all(own in each.attrs["scale"] for each in (model.summary(), point.summary(), path))
    title = point.findings()["coef"].title
    assert ("standardised covariates" in title) == standardize


def test_tiny_weights_beside_one_of_1_end():
    X, weights = np.random.default_rng(0).normal(size=(12, 3)), np.array([1] + [1e-15] * 11)
    model = th.SparseMultinomialLogit("polya-gamma", draws=12, tune=12, chains=2, random_state=1)
    with pytest.warns(UserWarning):
        assert np.isfinite(model.fit(X, list("aab") * 4, weights, progressbar=False).coef_).all()
