"""The multinomial logit: known values, derivatives, what cannot be estimated, predictions."""

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import camera, simulate_experiment, table
from helpers.naive.choice_models import choice_probability
from helpers.real_data import needs_data
from helpers.sentences import refused, warned

import thali as th
from thali._choice.logit_likelihood import (
    encode_choices,
    log_likelihood_derivatives,
    maximise_log_likelihood,
)
from thali._choice.product_coding import build_coding
from thali.errors import ConvergenceWarning, DataError, DataWarning, EstimateWarning


@pytest.fixture(scope="module")
def data():
    return th.ChoiceExperiment.from_frame(simulate_experiment())


def two(choices, **columns):
    """Tasks of two products whose prices are 1 and 2."""
    n = len(choices)
    rows = {"id": np.repeat(np.arange(n), 2), "task": [1] * (2 * n), "price": [1, 2] * n}
    return pd.DataFrame(rows | {"choice": [k for c in choices for k in (c == 0, c == 1)]} | columns)


def test_bic_counts_tasks(data):
    """Not alternatives, three in each of the 240 tasks; price, brand and zoom have 5
    coefficients."""
    model = th.MultinomialLogit().fit(data)
    assert model.bic_ == pytest.approx(5 * np.log(240) - 2 * model.log_likelihood_, rel=1e-12)


@needs_data
def test_camera_gives_the_published_likelihood():
    """The published value has the price as a number; 10 free coefficients, 13 with a coefficient
    for every level."""
    assert th.MultinomialLogit(linear="price").fit(camera()).log_likelihood_ == pytest.approx(
        -6503.8, abs=0.1
    )
    model = th.MultinomialLogit().fit(camera())
    assert model.log_likelihood_ == pytest.approx(-6493.43, abs=0.005)
    assert model.aic_ == pytest.approx(2 * 13 + 2 * 6493.43, abs=0.01)
    assert model.bic_ == pytest.approx(13 * np.log(5312) + 2 * 6493.43, abs=0.01)
    assert list(model.coef_.index[:4]) == [
        "inside",
        "brand[nikon]",
        "brand[panasonic]",
        "brand[sony]",
    ]
    prices = model.coef_.filter(like="price")
    assert (np.diff(prices) < 0).all()


@needs_data
def test_electricity_gives_the_published_likelihood():
    data = th.ChoiceExperiment.from_frame(
        table("electricity"), attributes=["pf", "cl", "loc", "wk", "tod", "seas"]
    )
    model = th.MultinomialLogit(linear=["pf", "cl"]).fit(data)
    assert model.log_likelihood_ == pytest.approx(-4958.65, abs=0.005)


def test_two_alternatives_have_a_closed_form():
    """Three of four choose the first: odds 3, variance 1/3 + 1/1."""
    model = th.MultinomialLogit().fit(th.ChoiceExperiment.from_frame(two([0, 0, 0, 1])))
    row = model.summary().loc["price[2]"]
    assert row["coef"] == pytest.approx(-np.log(3), rel=1e-9)
    assert row["std_error"] == pytest.approx(np.sqrt(4 / 3), rel=1e-6)
    assert row["z"] == pytest.approx(row["coef"] / row["std_error"])
    assert row["p_value"] == pytest.approx(0.341388, abs=1e-6)  # 2 Phi(-ln 3 / sqrt(4/3))
    assert model.log_likelihood_ == pytest.approx(3 * np.log(0.75) + np.log(0.25), rel=1e-12)
    linear = th.MultinomialLogit("price").fit(th.ChoiceExperiment.from_frame(two([0, 0, 0, 1])))
    assert linear.coef_["price"] == pytest.approx(-np.log(3), rel=1e-9)


def test_derivatives_agree_with_differences(data):
    tasks = encode_choices(data, build_coding(data, "price"))
    beta = np.array([0.01, 0.4, -0.7, 0.9])
    value, gradient, hessian = log_likelihood_derivatives(tasks, beta)
    naive = [
        choice_probability(tasks.matrix[a:b], row - a, beta)
        for a, b, row in zip(tasks.first_row, tasks.first_row[1:], tasks.chosen_row, strict=False)
    ]
    assert value == pytest.approx(np.log(naive).sum(), rel=1e-12)
    # the error of central differences is h^2 times a third derivative: 1e-10 of the largest entry
    h = 1e-5
    for k, step in enumerate(h * np.eye(4)):
        up, down = (
            log_likelihood_derivatives(tasks, beta + step),
            log_likelihood_derivatives(tasks, beta - step),
        )
        assert gradient[k] == pytest.approx((up[0] - down[0]) / (2 * h), rel=1e-5, abs=1e-4)
        assert -hessian[k] == pytest.approx((up[1] - down[1]) / (2 * h), rel=1e-5, abs=1e-3)


def test_the_maximum_has_no_slope(data):
    tasks = encode_choices(data, build_coding(data))
    for ridge in (0.0, 2.0):
        found = maximise_log_likelihood(tasks, ridge)
        _, gradient, _ = log_likelihood_derivatives(tasks, found.beta)
        assert found.converged
        assert np.abs(gradient - ridge * found.beta).max() < 1e-4
    recovered = th.MultinomialLogit().fit(data).coef_
    assert recovered["zoom[yes]"] > 0 > recovered["price[25]"]


def test_what_determines_each_other_is_told_and_costs_no_prediction(data):
    rows = simulate_experiment().assign(cents=lambda f: 100 * f["price"])
    with warned(DataWarning, "'cents'") as messages:
        model = th.MultinomialLogit(["price", "cents"]).fit(th.ChoiceExperiment.from_frame(rows))
    assert messages[0].filename == __file__
    plain = th.MultinomialLogit("price").fit(data)
    assert np.isnan(model.coef_["cents"]) and np.isnan(model.summary().loc["cents", "std_error"])
    assert model.coef_.drop("cents").to_numpy() == pytest.approx(
        plain.coef_[["price", *plain.coef_.index[1:]]]
    )
    assert model.predict_proba(rows) == pytest.approx(plain.predict_proba(rows))


@pytest.mark.parametrize("choices", [[0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]])
def test_separated_choices_are_told(choices):
    with warned(EstimateWarning, "'price[2]'") as messages:
        model = th.MultinomialLogit().fit(th.ChoiceExperiment.from_frame(two(choices)))
    assert messages[0].filename == __file__
    assert model.predict_proba(two([0]))[0] > 0.99


def test_strong_tastes_are_no_separation():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        th.MultinomialLogit("price").fit(
            th.ChoiceExperiment.from_frame(two([0] * 400 + [1], price=[1, 30] * 401))
        )


def test_missing_attributes_have_a_coefficient_of_their_own():
    rows = simulate_experiment(n_respondents=20).assign(
        zoom=lambda f: f["zoom"].where(f["alt"] != 3, "n/a")
    )
    data = th.ChoiceExperiment.from_frame(rows, missing="n/a")
    assert build_coding(data).names == (
        "price[15]",
        "price[25]",
        "brand[B]",
        "brand[C]",
        "zoom[yes]",
        "zoom[missing]",
    )
    products = build_coding(data).encode_codes(np.array([[0, 0, 1], [0, 0, -1]]))
    assert products[:, -2:].tolist() == [[1, 0], [0, 1]]


def test_predictions_follow_the_rows(data):
    model = th.MultinomialLogit().fit(data)
    rows = data.to_frame()
    p = model.predict_proba(rows)
    assert p == pytest.approx(model.predict_proba(data), rel=1e-12)
    assert rows.assign(p=p).groupby(["id", "task"])["p"].sum().to_numpy() == pytest.approx(1.0)
    assert np.log(p[rows["choice"] == 1]).sum() == pytest.approx(model.log_likelihood_)
    order = np.random.default_rng(0).permutation(len(rows))
    assert model.predict_proba(rows.iloc[order].drop(columns="choice")) == pytest.approx(
        p[order], rel=1e-12
    )
    with refused(DataError, "'D', which is"):
        model.predict_proba(rows.assign(brand="D"))


def test_data_in_which_nothing_varies_are_refused():
    same = pd.DataFrame(
        {"id": [1] * 4, "task": [1, 1, 2, 2], "choice": [1, 0] * 2, "price": [1, 1, 2, 2]}
    )
    with refused(DataError, "No attribute varies"):
        th.MultinomialLogit().fit(th.ChoiceExperiment.from_frame(same, levels={"price": [1, 2]}))


PRICES = {"price": [5, 15, 25, 35]}  # 35 is never shown
MODELS = {"multinomial": th.MultinomialLogit, "hierarchical": th.HierarchicalLogit}


def fit_quickly(model, data):
    """A short run, of which nothing is asked but that it does not crash and what it says of the
    data."""
    short = (
        {"draws": 20, "tune": 5, "progressbar": False}
        if isinstance(model, th.HierarchicalLogit)
        else {}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(data, random_seed=1, **short)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_a_level_that_was_never_shown_is_refused(make, data):
    declared = th.ChoiceExperiment.from_frame(simulate_experiment(), levels=PRICES)
    with warned(DataWarning, "'price = 35'") as messages:
        model = fit_quickly(make(), declared)
    # nothing of attributes that others determine
    assert [w.category for w in messages] == [DataWarning]
    plain = fit_quickly(make(), data)
    assert model.coef_.index.tolist() == plain.coef_.index.tolist()
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    rows = simulate_experiment().head(6)
    np.testing.assert_array_equal(model.predict_proba(rows), plain.predict_proba(rows))
    with refused(DataError, "'price'", "'35'", "'5'", "'15'"):
        model.predict_proba(rows.assign(price=[5, 35, 5, 5, 5, 5]))


def test_a_first_level_that_was_never_shown_is_no_reference(data):
    with warned(DataWarning, "'price = 1'", "'brand = Z'"):
        model = th.MultinomialLogit().fit(
            th.ChoiceExperiment.from_frame(
                simulate_experiment(), levels={"price": [1, 5, 15, 25], "brand": list("ZABC")}
            )
        )
    assert model.coef_.to_dict() == th.MultinomialLogit().fit(data).coef_.to_dict()
    with refused(DataError, "'brand'", "'Z'", "'A'", "'B'"):
        model.predict_proba(simulate_experiment().head(3).assign(brand="Z"))


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_a_number_takes_any_number(make, data):
    """On the scale of the numbers: halfway between two levels the log odds are halfway, too."""
    model = fit_quickly(make("price"), data)
    rows = pd.DataFrame({"price": [5, 20.5], "brand": "A", "zoom": "no"})
    p = model.predict_proba(rows)
    if make is th.MultinomialLogit:
        assert np.log(p[1] / p[0]) == pytest.approx(15.5 * model.coef_["price"], rel=1e-9)
    assert model.predict_proba(rows.assign(price=["5.0", "2.05e1"])) == pytest.approx(p)
    declared = th.ChoiceExperiment.from_frame(
        simulate_experiment(), levels={"price": [5, 15, 25, 20.5]}
    )
    # a level that is only declared changes nothing, and is no news
    other = fit_quickly(make("price"), declared)
    assert other.predict_proba(rows) == pytest.approx(p)
    # an experiment with levels of its own
    new = simulate_experiment(n_respondents=2, n_tasks=2).assign(
        price=lambda f: f["price"] * 0.9 + 1
    )
    assert model.predict_proba(th.ChoiceExperiment.from_frame(new)) == pytest.approx(
        model.predict_proba(new)
    )
    assert model.predict_proba(new.assign(price=(new["price"] - 1) / 0.9)) == pytest.approx(
        model.predict_proba(simulate_experiment(n_respondents=2, n_tasks=2))
    )
    for wrong in ("cheap", "inf", "nan"):
        with refused(DataError, "'price'"):
            model.predict_proba(rows.astype({"price": object}).assign(price=[5, wrong]))


def test_what_nothing_lacked_must_not_be_lacking():
    rows = simulate_experiment(n_respondents=20)
    plain = th.MultinomialLogit().fit(th.ChoiceExperiment.from_frame(rows, missing="n/a"))
    with refused(DataError, "'zoom'"):
        plain.predict_proba(rows.head(3).assign(zoom=["n/a", "yes", "no"]))
    none = rows.assign(brand=lambda f: f["brand"].where(f["alt"] != 3, "none"))
    model = th.MultinomialLogit().fit(
        th.ChoiceExperiment.from_frame(none, none={"brand": "none"}, missing="n/a")
    )
    assert model.predict_proba(none.head(3)).sum() == pytest.approx(1.0)
    with refused(DataError, "'zoom'"):
        model.predict_proba(none.head(3).assign(zoom=["n/a", "yes", "no"]))


def test_rounding_does_not_choose_the_draws():
    """Of four brands that are liked as much, two directions are as uncertain: no two vectors are
    theirs alone."""
    rows = [
        {"id": 1, "task": 2 * pair + first, "brand": brand, "choice": int(place == first)}
        for pair, brands in enumerate(combinations("ABCD", 2))
        for first in (0, 1)
        for place, brand in enumerate(brands)
    ]
    model = th.MultinomialLogit().fit(th.ChoiceExperiment.from_frame(pd.DataFrame(rows)))
    drawn, covariance = model._build_chooser().tastes, model.covariance_
    noise = np.random.default_rng(1).uniform(-1.0, 1.0, covariance.shape) * np.finfo(float).eps
    model.covariance_ = covariance + noise + noise.T
    np.testing.assert_allclose(model._build_chooser().tastes, drawn, atol=1e-12)
