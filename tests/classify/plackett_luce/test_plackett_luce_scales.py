"""Plackett–Luce regression on covariates as large or small as floats can be."""

import warnings
from functools import cache

import numpy as np
import pytest
from helpers.classifier_runs import fit_rows
from helpers.sentences import warned, without_warnings

import thali as th
from thali.errors import DataWarning

LARGEST = np.finfo(float).max
POSITIVE = np.array([[LARGEST, LARGEST], [LARGEST, 0.0], [5e-324, 0.0], [5e-324, LARGEST]])
EXTREME = np.vstack([POSITIVE, [[LARGEST, -LARGEST], [0.0, 0.0], [-LARGEST, -LARGEST]]])
FACTORS = [1.0, 1e300, 1e-300, 4e307]
METHODS = {
    "gibbs": {"draws": 50, "tune": 50, "chains": 2, "thin": 1, "random_state": 1},
    "gibbs, a = 1": {"draws": 50, "tune": 50, "chains": 2, "thin": 1, "a": 1.0, "random_state": 1},
    "map, a = 1.1": {"a": 1.1},
    "map, a = 1": {"a": 1.0},
    "map, a = 0.9": {"a": 0.9},
    "variational": {},
    "variational, a = 0.01": {"a": 0.01},
}


def simulate_problem():
    """Covariates up to 4, so that 4e307 times the largest is nearly the largest float."""
    rng = np.random.default_rng(8)
    X = np.clip(rng.normal(size=(60, 2)), -4.0, 4.0)
    X[0] = 4.0, -4.0
    return X, np.array(["low", "mid", "top"])[
        np.argmax(X @ [[0, 2, 0], [0, 0, 2]] + rng.gumbel(size=(60, 3)), axis=1)
    ]


def fit_method(X, y, which, **more):
    with without_warnings(), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        return fit_rows(
            th.PlackettLuceRegression, X, y, method=which.split(",")[0], **METHODS[which], **more
        )


def check_finite(model, X, extreme):
    """Check that the fit and its predictions are finite, also for extreme rows."""
    for name in (
        "weights_",
        "a_",
        "log_likelihood_",
        "objective_",
        "lower_bound_",
        "shapes_",
        "rates_",
    ):
        if hasattr(model, name):
            assert np.isfinite(getattr(model, name)).all(), name
    if hasattr(model, "posterior_"):
        posterior = model.posterior_["posterior"]
        assert all(
            np.isfinite(posterior[name].values).all()
            for name in ("weights", "a", "log_likelihood", "logit")
        )
    for rows in (X, extreme):
        with without_warnings(), warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            found = model.predict_proba(rows)
        assert found.sum(axis=1) == pytest.approx(np.ones(len(rows)), abs=1e-9)


@cache
def fit_original_scale(which):
    """Fit a method to the covariates without rescaling."""
    return fit_method(*simulate_problem(), which)


@pytest.mark.first(8)
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("which", METHODS)
def test_standardised_covariates_of_any_scale_give_the_same_fit(which, factor):
    X, y = simulate_problem()
    model = fit_method(X * factor, y, which)
    check_finite(model, X * factor, EXTREME)
    one = fit_original_scale(which)
    assert model.log_likelihood_ == pytest.approx(
        one.log_likelihood_, rel=1e-6 if "gibbs" not in which else 0.1
    )
    if "gibbs" not in which:
        assert model.predict_proba(X * factor) == pytest.approx(one.predict_proba(X), abs=1e-6)


@pytest.mark.first(16)
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("which", METHODS)
@pytest.mark.parametrize("transform", ["exponential", "exponential-pairs"])
def test_raw_covariates_of_any_scale_give_numbers(which, factor, transform):
    X, y = simulate_problem()
    model = fit_method(X * factor, y, which, standardize=False, transform=transform)
    check_finite(model, X * factor, EXTREME)


@pytest.mark.first(14)
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("which", METHODS)
def test_non_negative_covariates_of_any_scale_give_numbers(which, factor):
    X, y = simulate_problem()
    check_finite(
        fit_method(np.abs(X) * factor, y, which, transform=None), np.abs(X) * factor, POSITIVE
    )


def test_untransformed_covariates_that_explain_little_cause_a_warning():
    rng = np.random.default_rng(0)
    spread = rng.random((200, 20))
    labels = spread[:, :10].sum(axis=1) > spread[:, 10:].sum(axis=1)
    model = th.PlackettLuceRegression(method="map", a=1.1, transform=None)
    with warned(DataWarning, "transform='exponential'"):
        model.fit(spread, labels)
    apart = (
        np.where(np.arange(20) % 2 == labels[:, None], spread, 0.0) * (rng.random((200, 20)) < 0.3)
        + 1e-3
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(apart, labels)
        model.set_params(transform="exponential").fit(rng.random((200, 2)), labels)
