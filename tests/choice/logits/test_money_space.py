"""The multinomial logit in willingness-to-pay space: published values, another maximiser, draws,
bad input."""

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import simulate_experiment
from helpers.real_data import needs_data, real_data
from helpers.sentences import refused
from scipy.optimize import minimize

import thali as th
from thali._choice.logit_likelihood import encode_choices
from thali._choice.product_coding import build_coding
from thali.errors import ArgumentError, DataError, ThaliWarning

MONEY = {"linear": "price", "space": "willingness-to-pay"}


@pytest.fixture(scope="module")
def data():
    return th.ChoiceExperiment.from_frame(simulate_experiment())


@pytest.fixture(scope="module")
def fitted(data):
    return th.MultinomialLogit(**MONEY, people="independent").fit(data)


def test_another_maximiser_finds_the_same(data, fitted):
    """SciPy's BFGS in the amounts and the logarithm of the scale; errors by central differences of
    its gradient."""
    tasks = encode_choices(data, build_coding(data, "price"))
    starts = tasks.first_row[:-1]

    def minus(theta):
        scale = np.exp(theta[0])
        u = scale * (tasks.matrix[:, 1:] @ theta[1:] - tasks.matrix[:, 0])
        return -(u[tasks.chosen_row] - np.log(np.add.reduceat(np.exp(u), starts))).sum()

    found = minimize(minus, np.append(-2.0, np.zeros(4 - 1)), method="BFGS", options={"gtol": 1e-6})
    assert -found.fun == pytest.approx(fitted.log_likelihood_, abs=1e-6)
    wanted = np.append(np.log(fitted.coef_["scale[price]"]), fitted.coef_.iloc[1:])
    np.testing.assert_allclose(found.x, wanted, rtol=1e-4)
    h = 1e-3 * np.eye(4)
    hessian = [
        [
            (
                minus(wanted + a + b)
                - minus(wanted + a - b)
                - minus(wanted - a + b)
                + minus(wanted - a - b)
            )
            / 4e-6
            for a in h
        ]
        for b in h
    ]
    errors = np.sqrt(np.diag(np.linalg.inv(hessian))) * np.append(fitted.coef_.iloc[0], np.ones(3))
    np.testing.assert_allclose(fitted.summary()["std_error"], errors, rtol=1e-3)


@pytest.mark.parametrize("people", ["adjusted", "independent"])
def test_it_is_the_same_model_as_in_preference_space(data, people):
    fitted = th.MultinomialLogit(**MONEY, people=people).fit(data)
    plain = th.MultinomialLogit("price", people=people).fit(data)
    assert fitted.log_likelihood_ == plain.log_likelihood_ and fitted.aic_ == plain.aic_
    np.testing.assert_allclose(fitted.predict_proba(data), plain.predict_proba(data), rtol=1e-12)
    pay = plain.willingness_to_pay("price")
    assert fitted.coef_.iloc[1:].to_numpy() == pytest.approx(pay["wtp"].to_numpy(), rel=1e-10)
    assert fitted.summary()["std_error"].iloc[1:].to_numpy() == pytest.approx(
        pay["wtp_se"].to_numpy(), rel=1e-6
    )
    own = fitted.willingness_to_pay("price")
    pd.testing.assert_frame_equal(own, pay, rtol=1e-6)


def test_draws_of_the_price_are_log_normal(fitted):
    """Log of minus its coefficient: mean and standard deviation of 2,000 draws within 4.5 of their
    errors."""
    tastes = fitted._build_chooser().tastes[1:, 0]
    assert (tastes[:, 0] < 0).all()
    logs = np.log(-tastes[:, 0])
    value, error = fitted.coef_["scale[price]"], fitted.summary().loc["scale[price]", "std_error"]
    sd = error / value
    assert abs(logs.mean() - np.log(value)) < 4.5 * sd / np.sqrt(2000)
    assert abs(logs.std() / sd - 1) < 4.5 / np.sqrt(4000)
    amounts = -tastes[:, 1:] / tastes[:, :1]
    assert np.abs(
        amounts.std(axis=0) / fitted.summary()["std_error"].iloc[1:] - 1
    ).max() < 4.5 / np.sqrt(4000)


def test_coefficients_that_are_not_known(data):
    rows = simulate_experiment().assign(again=lambda f: (f["zoom"] == "yes") * 2)
    with pytest.warns(ThaliWarning):
        model = th.MultinomialLogit(["price", "again"], space=MONEY["space"]).fit(
            th.ChoiceExperiment.from_frame(rows)
        )
    with pytest.warns(ThaliWarning):
        plain = th.MultinomialLogit(["price", "again"]).fit(th.ChoiceExperiment.from_frame(rows))
    assert model.coef_.isna().sum() == 1
    pd.testing.assert_frame_equal(
        model.willingness_to_pay("price"), plain.willingness_to_pay("price"), rtol=1e-6
    )


BAD = {
    "levels": ({"linear": ()}, ("space='willingness-to-pay'", "'price'", "linear='price'")),
    "knots": ({"linear": (), "knots": {"price": [10]}}, ("space='willingness-to-pay'", "'price'")),
    "interaction": (
        {"interactions": [("price", "zoom")]},
        ("space='willingness-to-pay'", "'price'", "'price:zoom[yes]'"),
    ),
}


BOTH = pytest.mark.parametrize(
    "model, run", [(th.MultinomialLogit, {}), (th.HierarchicalLogit, {"draws": 1})]
)


@BOTH
@pytest.mark.parametrize("how, facts", BAD.values(), ids=BAD)
def test_bad_arguments_are_refused(data, model, run, how, facts):
    with refused(ArgumentError, *facts):
        model(**{**MONEY, **how}).fit(data, **run)


@BOTH
def test_data_without_amounts_are_refused(model, run):
    rows = simulate_experiment(n_respondents=20)
    renamed = th.ChoiceExperiment.from_frame(rows.rename(columns={"price": "money"}))
    with refused(ArgumentError, "among the attributes"):
        model("money", space=MONEY["space"]).fit(renamed, **run)
    turned = th.ChoiceExperiment.from_frame(rows.assign(price=30 - rows["price"]))
    with refused(DataError, "'price'"):
        model(**MONEY).fit(turned, **run)


@needs_data
def test_yogurt_gives_the_published_amounts():
    """R's logitr (1.1.2, article "Basic usage", wtpCompare): both of its columns, which differ in
    the last digit."""
    rows = pd.read_csv(real_data("choice_yogurt/yogurt.csv"))
    columns = {"respondent": "id", "task": "obsID", "alternative": "alt", "chosen": "choice"}
    data = th.ChoiceExperiment.from_frame(rows, **columns, attributes=["price", "feat", "brand"])
    model = th.MultinomialLogit(**MONEY).fit(data)
    published = {"scale[price]": 0.3665845, "feat[1]": 1.3405737, "brand[hiland]": -10.1357273}
    published |= {"brand[weight]": -1.7490766, "brand[yoplait]": 2.0038253}
    assert model.coef_.to_dict() == pytest.approx(published, abs=1.5e-7)
    assert round(model.log_likelihood_, 7) == -2656.8878779
