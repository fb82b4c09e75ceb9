"""Tables of shares and demand of a multinomial logit, product by product."""

from itertools import product

import numpy as np
import pytest
from helpers.experiment_data import simulate_experiment
from helpers.market_studies import MARKET
from helpers.sentences import refused

import thali as th
from thali.errors import ArgumentError

pytestmark = pytest.mark.fit


@pytest.fixture(scope="module")
def model():
    return th.MultinomialLogit(linear="price").fit(
        th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=20))
    )


def shares_of(model, market):
    """Probabilities of one choice from all products, at the estimates."""
    return model.predict_proba(market.drop(columns="product").assign(id="x", task=1))


def test_shares_before_and_after_a_change_are_probabilities_of_a_choice(model):
    table = model.market_shares(MARKET, {"price": {"B": 5}}, ci=0.5)
    before, after = (shares_of(model, each) for each in (MARKET, MARKET.assign(price=[5, 5, 25])))
    names = ["share", "after", "change"]
    np.testing.assert_allclose(table["share"], before, rtol=1e-9)
    np.testing.assert_allclose(table["after"], after, rtol=1e-9)
    np.testing.assert_allclose(table["change"], after - before, rtol=1e-9)
    draws = model.market_shares(MARKET, {"price": {"B": 5}}, each_draw=True)
    assert draws.index.name == "draw" and draws.columns.tolist() == list(product(names, "ABC"))
    for name in names:
        own = draws[name].to_numpy()[1:]  # after the estimate
        ends = np.quantile(own, (0.25, 0.75), axis=0)
        np.testing.assert_allclose(table[[f"{name}_low", f"{name}_high"]].T, ends, rtol=1e-9)
    np.testing.assert_allclose(draws["change"], draws["after"] - draws["share"], atol=1e-12)
    assert table.index.tolist() == list("ABC") and table.index.name == "product"
    assert "after" not in model.market_shares(MARKET)


def test_demand_is_the_share_at_each_value(model):
    prices = [25, 5, 15.5]
    table = model.demand("price", "B", prices, MARKET, ci=0.5, cost=4)
    expected = [shares_of(model, MARKET.assign(price=[5, price, 25]))[1] for price in prices]
    assert table["price"].tolist() == prices
    np.testing.assert_allclose(table["share"], expected, rtol=1e-9)
    profit = np.array(expected) * (np.array(prices) - 4)
    np.testing.assert_allclose(table["profit"], profit, rtol=1e-9)
    draws = np.column_stack(
        [
            model.market_shares(MARKET.assign(price=[5, price, 25]), each_draw=True)["share"]["B"]
            for price in prices
        ]
    )[1:]
    earned = draws * (np.array(prices) - 4)
    ends = np.quantile(earned, (0.25, 0.75), axis=0)
    np.testing.assert_allclose(table[["profit_low", "profit_high"]].T, ends, rtol=1e-9)
    best = np.bincount(earned.argmax(axis=1), minlength=3) / len(earned)
    np.testing.assert_allclose(table["probability_best"], best, rtol=1e-12)
    assert (table.attrs["product"], table.attrs["attribute"]) == ("B", "price")
    brands = model.demand("brand", "B", ["A", "C"], MARKET)
    assert brands["brand"].tolist() == ["A", "C"] and "profit" not in brands
    # constants of actual shares are those of the first market
    actual = {"A": 0.5, "B": 0.2, "C": 0.3}
    known = model.demand("price", "B", [5, 15], MARKET, actual=actual)
    assert known["share"].iloc[1] == pytest.approx(0.2) and known["share"].iloc[0] > 0.2


@pytest.mark.parametrize(
    ("asked", "facts"),
    [
        ({"attribute": "size"}, ("'size'",)),
        ({"values": []}, ("`values` must list", "[]")),
        ({"values": 5}, ("`values` must list",)),
        ({"attribute": "brand", "values": ["A"], "cost": 1}, ("cost", "'brand'")),
        ({"cost": "much"}, ("cost", "'much'")),
    ],
)
def test_bad_questions_about_demand_are_refused(model, asked, facts):
    question = {"attribute": "price", "values": [5, 10]} | asked
    with refused(ArgumentError, *facts):
        model.demand(question.pop("attribute"), "B", question.pop("values"), MARKET, **question)


# The search --------------------------------------------------------------------------------------
