"""Monte Carlo standard errors of predictions: they are the spread of predictions of independent
fits."""

import numpy as np
import pytest
from helpers.interrupted_fits import _experiment, _table, fitted
from helpers.sentences import refused

import thali as th
from thali.errors import ArgumentError

FITS = {"product classes": 16}  # of others 30
PREDICTED = {  # draws or sweeps of a fit, and what is predicted
    "pairs": (200, [("o0", "o1"), ("o1", "o3"), ("o4", "o2")]),
    "sets": (100, [("a", "b", "c"), ("b", "d", "e")]),
    "Plackett-Luce": (100, _table()[0][:4]),
    "sparse logit": (100, _table()[0][:4]),
    "hierarchical logit": (200, None),
    "product classes": (20, None),
}


def predictions(kind, seed):
    size, new = PREDICTED[kind]
    how = {"chains": 6, "tune": 40} if kind == "product classes" else {}
    model = fitted(kind, size, random_seed=seed, **how)
    if new is None:
        frame = _experiment().to_frame()
        new = frame.iloc[:18].assign(id=np.repeat(["p0", "nobody", "p2"], 6))
        new["task"] = np.repeat(range(6), 3)
    if kind == "pairs":
        new = [
            tuple(model.posterior_["posterior"]["option"].values[[int(a[1]), int(b[1])]])
            for a, b in new
        ]
    p, se = model.predict_proba(new, return_se=True)
    again = model.predict_proba(new)
    found = [np.concatenate([np.ravel(each) for each in values]) for values in (p, se, again)]
    np.testing.assert_array_equal(found[0], found[2])
    return found[:2]


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("kind", PREDICTED)
def test_errors_are_the_spread_of_independent_fits(kind):
    p, se = np.moveaxis(
        np.array([predictions(kind, seed) for seed in range(FITS.get(kind, 30))]), 1, 0
    )
    told, spread = (se**2).mean(axis=0), p.var(axis=0, ddof=1)
    assert 0.6 < np.sqrt(told.sum() / spread.sum()) < 1.5, np.sqrt(told / spread)


@pytest.mark.fit
def test_standard_errors_of_predictions_require_draws():
    X, y = _table()
    model = th.PlackettLuceRegression(method="map", a=1.0).fit(X, y)
    with refused(ArgumentError, "method='gibbs'"):
        model.predict_proba(X, return_se=True)
