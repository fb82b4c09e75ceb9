"""The search for the best products against all lines tried one by one."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import simulate_experiment
from helpers.sentences import refused

import thali as th
from thali.errors import ArgumentError, DataError

pytestmark = pytest.mark.fit

SPACE = {"price": [5, 8, 15, 25], "brand": ["A", "B", "C"], "zoom": ["no", "yes"]}
OTHERS = pd.DataFrame({"price": [5, 15], "brand": ["A", "C"], "zoom": ["no", "yes"]})
COSTS = {"zoom": {"no": 0, "yes": 4}, "brand": {"A": 1, "B": 2.5, "C": 0}}


@pytest.fixture(scope="module")
def model():
    return th.MultinomialLogit(linear="price").fit(
        th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=20))
    )


def compute_margins(line):
    """The margin of each product."""
    return [price - COSTS["brand"][brand] - COSTS["zoom"][zoom] for price, brand, zoom in line]


def list_all_lines(model, n, profit):
    """All lines and what they are worth, each by a prediction of its own."""
    found = {}
    for line in combinations(sorted(product(*SPACE.values())), n):
        offered = pd.concat([pd.DataFrame(line, columns=list(SPACE)), OTHERS])
        p = model.predict_proba(offered.assign(id="x", task=1))[:n]
        found[line] = p @ compute_margins(line) if profit else p.sum()
    return found


@pytest.mark.first(2)
@pytest.mark.parametrize(("n", "profit"), [(1, False), (1, True), (2, True), (2, False)])
def test_the_best_line_is_that_of_all(model, n, profit):
    earned = {"price": "price", "costs": COSTS} if profit else {}
    table = model.best_products(SPACE, OTHERS, n=n, **earned)
    wanted = list_all_lines(model, n, profit)
    best = max(wanted, key=wanted.get)
    first = table[table["line"] == 1]
    name = "profit" if profit else "share"
    found = tuple(sorted(first[list(SPACE)].itertuples(index=False, name=None)))
    assert first[name].iloc[0] == pytest.approx(wanted[found], rel=1e-9)
    values = table.drop_duplicates("line")[name]
    assert values.is_monotonic_decreasing and len(values) == 5
    assert found == best
    if n == 1:
        np.testing.assert_allclose(values, sorted(wanted.values())[::-1][:5], rtol=1e-9)
    assert 0 < table["probability_best"].iloc[0] <= 1


def test_probabilities_of_being_best_are_shares_of_draws(model):
    table = model.best_products({**SPACE, "price": [5]}, OTHERS, top=6)
    assert table["probability_best"].sum() == pytest.approx(1.0) and len(table) == 6
    shares = []
    for row in table[list(SPACE)].itertuples(index=False, name=None):
        offered = pd.concat([pd.DataFrame([row], columns=list(SPACE)), OTHERS]).reset_index(
            drop=True
        )
        shares.append(model.market_shares(offered, each_draw=True)["share"]["1"].to_numpy()[1:])
    best = np.bincount(np.argmax(shares, axis=0), minlength=6) / len(shares[0])
    np.testing.assert_allclose(table["probability_best"], best)


@pytest.mark.parametrize(
    ("asked", "facts"),
    [
        ({"attributes": {"price": [5]}}, ("lack 'brand' and 'zoom'",)),
        ({"attributes": {**SPACE, "colour": ["red"]}}, ("contains 'colour'",)),
        ({"attributes": {**SPACE, "price": []}}, ("'price' must list",)),
        ({"attributes": [1]}, ("must map each attribute",)),
        ({"costs": COSTS}, ("`costs` require `price`",)),
        ({"costs": {"zoom": {"no": 0}}, "price": "price"}, ("`costs` of 'zoom'", "'yes'")),
        (
            {"costs": {"zoom": {"no": 0, "yes": 1, "yas": 2}}, "price": "price"},
            ("`costs` of 'zoom'", "'yas'"),
        ),
        ({"costs": {"zoom": {"no": 0, "yes": "much"}}, "price": "price"}, ("must be numbers",)),
        ({"costs": {"size": {}}, "price": "price"}, ("contains 'size'",)),
        ({"costs": 4, "price": "price"}, ("must map attributes",)),
        ({"price": "brand"}, ("'A'", "number")),
        ({"price": "cost"}, ("is 'cost'",)),
        ({"n": 0}, ("`n` must be an integer",)),
        ({"n": 25}, ("25, but the attributes",)),
    ],
)
def test_bad_questions_are_refused(model, asked, facts):
    with refused(ArgumentError, *facts):
        model.best_products(**{"attributes": SPACE, "competitors": OTHERS, **asked})


def test_bad_competitors_are_refused(model):
    with refused(DataError, "competitors"):
        model.best_products(SPACE, None)
    with refused(DataError, "not one of"):
        model.best_products(SPACE, OTHERS.assign(brand="Z"))
