"""The draws of a market that a page holds: the same choices as those of the model that they come
from."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers import limits
from helpers.naive import product_classes as naive
from helpers.product_class_fits import drawn, experiment
from helpers.sentences import said

import thali._choice.product_classes.reports.simulator_draws as market
from thali._choice.product_classes.reports.choice_probabilities import simulate_share_draws
from thali._choice.reports.market_simulator import hash_exponentials

MARKETS = [
    [(0, 1, 0, 2), (3, 0, 1, 1), (2, 2, 1, 0)],
    [(1, 1, 1, 1), (1, 1, 1, 1)],
    [(0, None, 0, 2), (3, 0, 1, 1), (None, 1, 0, 1), (2, 2, None, 0)],
]


def convert_to_codes(products):
    return np.array([[-1 if level is None else level for level in product] for product in products])


def build_market(data, **settings):
    """The draws of a market of these people, and the draws of the posterior that they are of."""
    draws, design = drawn(data, **settings)
    return market.build_market_draws(draws, design, data.people), draws


def compute_naive_shares(draws, rule, products):
    """The shares by the slow copy of the choice rule, person by person and occasion by occasion."""
    codes = convert_to_codes(products)
    table, entry, found = rule.values.astype(float), 0, np.zeros((len(rule.counts), len(products)))
    weights = hash_exponentials(*rule.counts.shape)
    for d, counts in enumerate(rule.counts):
        for weight, count in zip(weights[d] / weights[d].sum(), counts, strict=True):
            own = range(entry, entry + count)
            first = draws.first_class[d]
            classes = [
                (draws.active[c], draws.member[c]) for c in first + (rule.owned[list(own)] >> 1)
            ]
            owned = [(*each, int(rule.owned[o] & 1)) for each, o in zip(classes, own, strict=True)]
            for occasion in range(rule.occasions):
                places = (
                    market.mix_bits(
                        np.array([o * rule.occasions + occasion for o in own], np.uint32)
                    )
                    >> 25
                )
                values = [
                    np.log(table[rule.lasting[o]] + table[rule.passing[d, k]])
                    for o, k in zip(own, places, strict=True)
                ]
                found[d] += weight * naive.winners(owned, values, codes, draws)
            entry += count
    return found / rule.occasions


@pytest.mark.parametrize("none", [False, True])
def test_shares_are_those_of_the_naive_copy(none):
    found, draws = build_market(experiment(people=2, none=none), draws=1, alpha=3.0)
    rule = found.rule._replace(occasions=3)
    inside = (1,) if none else ()
    for products in MARKETS:
        products = [(*inside, *product) for product in products] + ([found.none] if none else [])
        wanted = compute_naive_shares(draws, rule, products)
        np.testing.assert_allclose(rule.shares([products])[0], wanted, rtol=0, atol=1e-12)
        lapsed = found._replace(rule=rule).shares([products])[0]
        np.testing.assert_allclose(lapsed, 0.98 * wanted + 0.02 / len(products), rtol=0, atol=1e-12)


def test_shares_are_those_of_market_shares():
    found, draws = build_market(experiment(people=12), draws=50, alpha=3.0)
    assert len(found.rule.counts) == 100
    ours, theirs = (
        found.shares(MARKETS),
        simulate_share_draws(
            draws, list(map(convert_to_codes, MARKETS)), hash_exponentials(100, 12)
        ),
    )
    # Noise of 2,000 occasions against 4,000 at each of 100 draws, five standard errors; rounded
    # values cost .002.
    tolerance = 5 * 0.5 * np.sqrt((1 / 2_000 + 1 / 4_000) / 100) + 0.002
    for mine, other in zip(ours, theirs, strict=True):
        assert np.abs(mine.mean(axis=0) - other.mean(axis=0)).max() < tolerance


def test_each_draw_has_its_own_weights():
    draws, _ = drawn(experiment(people=12), draws=5, alpha=3.0)
    asked = convert_to_codes(MARKETS[0])
    weights = np.random.default_rng(0).standard_exponential((draws.n_draws, 12))
    (found,) = simulate_share_draws(draws, [asked], weights)
    for d in range(draws.n_draws):
        np.testing.assert_allclose(
            found[d], simulate_share_draws(draws, [asked], weights[d])[0][d], rtol=1e-12
        )


def test_levels_the_no_choice_option_and_the_first_task():
    data = experiment(none=True)
    found, _ = build_market(data)
    assert [
        attribute.name for attribute in found.attributes
    ] == "inside price brand zoom battery".split()
    assert [attribute.fixed for attribute in found.attributes] == [1, None, None, None, None]
    assert (
        found.attributes[1].numbers == (100.0, 150.0, 200.0, 250.0)
        and found.attributes[2].numbers is None
    )
    assert found.none == (0, None, None, None, None) and not any(
        part.may_lack for part in found.attributes
    )
    first = data.products[data.row_product[: data.first_row[1]]]
    assert found.first_task == tuple(tuple(row) for row in first.tolist() if row[0] == 1)
    assert build_market(experiment())[0].none is None


def test_products_may_lack_what_tasks_lacked():
    frame = experiment().to_frame().astype({"brand": object})
    frame.loc[frame.index[0], "brand"] = "without"
    data = type(experiment()).from_frame(pd.DataFrame(frame), missing={"brand": "without"})
    lacking = {part.name: part.may_lack for part in build_market(data)[0].attributes}
    assert lacking == {"price": False, "brand": True, "zoom": False, "battery": False}


def test_of_many_people_each_is_taken_equally_often(monkeypatch):
    data = experiment(people=30)
    everybody, _ = build_market(data, draws=40, alpha=3.0)
    said(everybody.size, "80 posterior draws")
    limits.lower_in(market, monkeypatch, MAX_OWNED=len(everybody.rule.owned) // 4)
    some, _ = build_market(data, draws=40, alpha=3.0)
    draws, people = some.rule.counts.shape
    assert (draws, people < 30) == (40, True) and f"{people} of 30 respondents" in some.size
    assert abs(len(some.rule.owned) - market.MAX_OWNED) < 0.2 * market.MAX_OWNED
    difference = some.shares(MARKETS[:1])[0].mean(axis=0) - everybody.shares(MARKETS[:1])[0].mean(
        axis=0
    )
    assert np.abs(difference).max() < 0.08


def test_numbers_are_spread_as_murmur_does():
    found = market.mix_bits(np.array([0, 1, 2, 0xFFFFFFFF], np.uint32))
    assert found.tolist() == [0, 0x514E28B7, 0x30F4C306, 0x81F16F39]


def test_nobody_owns_a_class():
    found = build_market(experiment(), draws=2, alpha=1e-9)[0]
    np.testing.assert_allclose(found.shares(MARKETS)[0], 1 / 3)
    assert json.loads(json.dumps(found.rule.pack()))["people"] == 8
