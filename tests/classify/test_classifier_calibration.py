"""Predicted probabilities beside the frequencies of the classes."""

import numpy as np
import pytest
from helpers.sentences import refused, without_warnings

import thali as th
from thali.errors import ArgumentError, DataError

pytestmark = pytest.mark.fit

RNG = np.random.default_rng(3)
X = RNG.normal(size=(400, 3))
Y = np.array(["no", "perhaps", "yes"])[np.argmax(X + RNG.gumbel(size=(400, 3)), axis=1)]


def build_model(**arguments):
    return th.SparseMultinomialLogit(method="map", eta=4.0, **arguments)


def fit_few_rows():
    """Fit few rows, so that the posterior is wide."""
    run = {"draws": 150, "tune": 100, "chains": 2, "random_state": 1}
    with without_warnings():
        return th.SparseMultinomialLogit(**run).fit(X[:25], Y[:25], progressbar=False)


@pytest.mark.parametrize("bins", [2, 7])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_table_is_that_of_every_row_in_turn(bins, classes):
    kept = Y != "perhaps" if classes == 2 else np.full(400, True)
    model = build_model().fit(X[kept], Y[kept])
    table = model.calibration(X[kept], Y[kept], bins)
    p, wanted = model.predict_proba(X[kept]), []
    for k in range(classes) if classes == 3 else [1]:
        for b in range(bins):
            rows = [i for i in range(len(p)) if b <= p[i, k] * bins < b + 1]
            if rows:
                hits = [Y[kept][i] == model.classes_[k] for i in rows]
                wanted.append((model.classes_[k], len(rows), p[rows, k].mean(), np.mean(hits)))
    assert table["class"].tolist() == [row[0] for row in wanted]
    np.testing.assert_array_equal(table["rows"], [row[1] for row in wanted])
    np.testing.assert_allclose(table["predicted"], [row[2] for row in wanted])
    np.testing.assert_allclose(table["observed"], [row[3] for row in wanted])
    outside = (table["observed"] < table["low"]) | (table["observed"] > table["high"])
    assert table["missed"].tolist() == outside.tolist() and table.attrs["interval"] == 0.89
    assert build_model().fit(X[kept], Y[kept]).calibration(X[kept], Y[kept], bins).equals(table)


@pytest.mark.parametrize("has_draws", [False, True])
def test_the_interval_is_that_of_labels_drawn_from_the_predictions(has_draws):
    """Beside exact probabilities: numbers of labels are Poisson binomial, and a mixture of those
    over draws."""
    model = fit_few_rows() if has_draws else build_model().fit(X, Y)
    new, labels = X[:60], Y[:60]
    mean = model.predict_proba(new)
    table, replicates = model.calibration(new, labels, 3), 300 if has_draws else 1000
    if has_draws:
        ((_, draws),) = model._iterate_probabilities(new)
    else:
        draws = mean[:, None]
    slack, place = 4.5 * np.sqrt(0.055 * 0.945 / replicates) + 1 / replicates, 0
    wide = 0
    for k in range(3):
        for b in range(3):
            rows = (np.minimum(mean[:, k] * 3, 2).astype(int) == b).nonzero()[0]
            if not rows.size:
                continue
            law = np.mean(
                [compute_poisson_binomial(draws[rows, s, k]) for s in range(draws.shape[1])], axis=0
            )
            low, high = (round(table[name].iloc[place] * len(rows)) for name in ("low", "high"))
            assert law[:low].sum() < 0.055 + slack and law[: low + 1].sum() > 0.055 - slack
            assert law[high + 1 :].sum() < 0.055 + slack and law[high:].sum() > 0.055 - slack
            alone = compute_poisson_binomial(mean[rows, k])
            wide += alone[low : high + 1].sum() > 0.97
            place += 1
    assert place == len(table)
    assert wide > 2 if has_draws else True  # the posterior adds to the interval


def compute_poisson_binomial(p):
    """Probabilities of 0, 1, ... successes of independent trials."""
    law = np.ones(1)
    for each in p:
        law = np.convolve(law, [1 - each, each])
    return law


def test_a_probability_of_1_is_in_the_last_bin():
    sure = build_model().fit(X, Y)
    sure.scaled_coef_ = 1e6 * sure.scaled_coef_
    p, table = sure.predict_proba(X), sure.calibration(X, Y, 4)
    assert set(np.unique(p)) == {0.0, 1.0}
    for k, name in enumerate(sure.classes_):
        own = table[table["class"] == name]
        assert own["predicted"].tolist() == [0.0, 1.0] and own["rows"].tolist() == [
            400 - p[:, k].sum(),
            p[:, k].sum(),
        ]


def test_data_that_cannot_be_compared_are_refused():
    model = build_model().fit(X, Y)
    with refused(DataError, "'never'", "'no'", "'perhaps'", "'yes'"):
        model.calibration(X[:2], ["no", "never"])
    with refused(DataError, "400 rows but y has 399 labels"):
        model.calibration(X, Y[:-1])
    with refused(ArgumentError, "bins", "got 1"):
        model.calibration(X, Y, 1)
