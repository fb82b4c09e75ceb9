"""Tables of shares, demand and best lines of a multinomial logit, product by product; the search for
lines against all of them."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import simulate_experiment
from helpers.market_studies import MARKET
from helpers.sentences import refused

import thali as th
from thali._choice.reports import market_shares as module
from thali._choice.reports.market_shares import LineSearch, ProductSpace, probability_best
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


def test_quantities_that_are_as_large_share_a_draw():
    class Draws:
        chain = None

    values = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0], [5.0, 5.0, 5.0]])

    def keep(chooser, draws):
        return draws

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "drop_estimate", keep)
        found = probability_best(Draws(), values)
    np.testing.assert_allclose(found, [(1 / 2 + 1 / 3) / 3, (1 / 2 + 1 + 1 / 3) / 3, 1 / 9])


# The search --------------------------------------------------------------------------------------


def space_of(*sizes, margins=None):
    """A space of products whose attributes have so many values."""
    values = tuple(tuple(f"{k}{v}" for v in range(size)) for k, size in enumerate(sizes))
    cells = tuple(10.0 * (k + 1) + np.arange(size) for k, size in enumerate(sizes))
    columns = tuple(range(1, len(sizes) + 1))
    return ProductSpace(
        tuple("xyz"[: len(sizes)]), values, cells, np.full(4, -1.0), columns, margins or {}
    )


def test_products_are_encoded_in_the_columns_of_their_attributes():
    space = space_of(2, 3, margins={0: np.array([1.0, 2.0]), 1: np.array([0.5, 0.0, 4.0])})
    assert space.size == 6 and space.objective == "profit"
    line = ((1, 2), (0, 1))
    assert space.encode_line(line).tolist() == [[-1, 11, 22, -1], [-1, 10, 21, -1]]
    assert (space.base == -1.0).all() and space.decode_product((1, 2)) == ("01", "12")
    assert space.compute_margins(line).tolist() == [6.0, 1.0]
    shares = space_of(2, 3)
    assert shares.objective == "share" and shares.compute_margins(line).tolist() == [1.0, 1.0]


def search_for(space, seed, n):
    """The search, and the value of a line, in which products take from each other."""
    rng = np.random.default_rng(seed)
    appeal = {each: rng.gamma(1.0) for each in product(*(range(len(v)) for v in space.values))}

    def value(line):
        total = sum(appeal[each] for each in line)
        alike = sum(np.equal(a, b).mean() for a, b in combinations(line, 2))
        return total / (1.0 + total) - 0.2 * alike

    tried = []

    def evaluate(lines):
        tried.extend(lines)
        return np.array([value(line) for line in lines])

    search = LineSearch(space, evaluate)
    search.run(n, np.random.default_rng(0))
    return search, value, tried


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_exchange_of_a_product_improves_the_best_line(n, seed):
    space = space_of(2, 3, 2)
    search, value, tried = search_for(space, seed, n)
    products = list(product(range(2), range(3), range(2)))
    best = search.list_best(n, 1)[0]
    assert len(tried) == len(set(tried)) and all(line == tuple(sorted(line)) for line in tried)
    assert len(set(best)) == n
    for position, other in product(range(n), products):
        if other not in best:
            line = (*best[:position], other, *best[position + 1 :])
            assert value(line) <= value(best) + 1e-12
    if n == 1:
        assert value(best) == max(value((each,)) for each in products)
    listed = search.list_best(n, 4)
    values = [value(line) for line in listed]
    assert values == sorted(values, reverse=True)
    of_n = sorted((value(line) for line in tried if len(line) == n), reverse=True)
    np.testing.assert_allclose(values, of_n[:4], rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_among_many_products_no_change_of_an_attribute_improves_the_best_line(seed, monkeypatch):
    monkeypatch.setattr(module, "_MAX_ENUMERATED", 23)
    space = space_of(4, 3, 2)
    search, value, _ = search_for(space, seed, 2)
    best = search.list_best(2, 1)[0]
    for position, attribute in product(range(2), range(3)):
        for k in range(len(space.values[attribute])):
            changed = list(best[position])
            changed[attribute] = k
            if tuple(changed) not in best:
                line = (*best[:position], tuple(changed), *best[position + 1 :])
                assert value(line) <= value(best) + 1e-12
    monkeypatch.setattr(module, "_MAX_ENUMERATED", 24)
    assert search._is_enumerable()


def test_the_search_begins_with_the_best_of_random_products(monkeypatch):
    monkeypatch.setattr(module, "_MAX_ENUMERATED", 1)
    space = space_of(4, 3, 2)
    search, value, tried = search_for(space, 1, 1)
    start = search._choose_start((), np.random.default_rng(5))
    assert value((start,)) == max(value((each,)) for each in product(range(4), range(3), range(2)))
    second = search._choose_start((start,), np.random.default_rng(5))
    assert second != start


def test_lines_are_numbered_by_what_they_earn(model):
    space = {"price": [5, 25], "brand": ["A"], "zoom": ["no", "yes"]}
    table = model.best_products(space, MARKET.drop(columns="product"), n=2, top=3, ci=0.5)
    assert table["line"].tolist() == [1, 1, 2, 2, 3, 3] and 3 < table.attrs["lines"] <= 6
    assert table.attrs["tried"] >= table.attrs["lines"] and table.attrs["interval"] == 0.5
    for _, rows in table.groupby("line"):
        offered = pd.concat([rows[list(space)].assign(product=["x", "y"]), MARKET])
        expected = shares_of(model, offered.reset_index(drop=True))[:2].sum()
        np.testing.assert_allclose(rows["share"], expected, rtol=1e-9)
    assert table["share"].is_monotonic_decreasing
    earned = {"price": "price", "costs": {"zoom": {"no": 0.5, "yes": 3}}}
    table = model.best_products(space, MARKET.drop(columns="product"), top=4, **earned)
    for row in table.itertuples():
        single = pd.DataFrame([[row.price, row.brand, row.zoom, "x"]], columns=[*space, "product"])
        share = shares_of(model, pd.concat([single, MARKET]).reset_index(drop=True))[0]
        cost = {"no": 0.5, "yes": 3}[row.zoom]
        assert row.profit == pytest.approx(share * (row.price - cost), rel=1e-9)
