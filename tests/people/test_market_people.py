"""Whom a market asks: the columns by which people are chosen or weighed, and whom each draw
holds."""

import json

import numpy as np
import pandas as pd
import pytest

from thali._choice.product_classes.reports.simulator_draws import ClassChoiceRule
from thali._choice.reports.logit_choice_draws import (
    AttributeCoding,
    RespondentClasses,
    round_tastes,
)
from thali._choice.reports.market_simulator import (
    MarketDraws,
    assign_respondents,
    hash_exponentials,
)
from thali._people.respondent_columns import MISSING, describe_respondents


def table(**columns):
    return pd.DataFrame(columns)


def test_columns_of_few_values_choose_people_and_numbers_weigh_them():
    found = describe_respondents(
        table(
            sex=["w", None, "m", "w"],
            region=pd.Categorical(["south", "north", "south", "east"], ["south", "north", "east"]),
            children=[2.0, 10.0, 0.0, 2.0],
            trained=[True, False, True, True],
            mood=[-1.0, 2.0, 3.0, 2.0],
            paid=[1.5, np.nan, 2.0, 1.0],
            alike=["x", "x", "x", "x"],
        ),
        4,
    )
    named = {column.name: (column.values, column.codes.tolist()) for column in found.columns}
    assert named == {
        "sex": (("m", "w", MISSING), [1, 2, 0, 1]),
        "region": (("south", "north", "east"), [0, 1, 0, 2]),
        "children": (("0", "2", "10"), [1, 2, 0, 1]),
        "trained": (("False", "True"), [1, 0, 1, 1]),
        "mood": (("-1", "2", "3"), [0, 1, 2, 1]),
        "paid": (("1", "1.5", "2", MISSING), [1, 3, 2, 0]),
    }
    assert (
        [name for name, _ in found.weights] == ["children"]
        and found.others == ()
        and found.number == 4
    )
    assert json.loads(json.dumps(found.to_json()))["columns"][0]["values"] == ["m", "w", MISSING]


def test_columns_of_many_values_are_at_most_weights():
    many = [f"town {n}" for n in range(13)]
    found = describe_respondents(
        table(town=many, weight=np.linspace(0.0, 2.0, 13), shift=np.arange(-6.0, 7.0)), 13
    )
    assert found.columns == () and found.others == ("town", "shift")
    ((name, weight),) = found.weights
    assert name == "weight" and weight.dtype == np.float32 and weight[-1] == 2.0


@pytest.mark.parametrize(
    "known", [None, table(alike=["x", "x"]), table(who=["a", "b"]).iloc[:, :0]]
)
def test_nobody_is_told_from_others(known):
    assert describe_respondents(known, 2) is None
    assert describe_respondents(known, 2, ("class 1", "class 2")).kinds == ("class 1", "class 2")


@pytest.mark.parametrize(
    "draws, people, respondents", [(40, 10, 30), (3, 7, 7), (40, 50, 10_000), (5, 2, 100)]
)
def test_draws_hold_everybody_equally_often(draws, people, respondents):
    found = assign_respondents(draws, people, respondents)
    assert found.shape == (draws, people) and (np.diff(found, axis=1) > 0).all()
    times = np.bincount(found.ravel(), minlength=respondents)
    assert times.min() >= draws * people // respondents and times.max() - times.min() <= 1


TASTES = np.random.default_rng(3).normal(size=(4, 3, 2))
MARKET = [(0,), (1,), (2,)]
COLUMNS = [AttributeCoding(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))]


def probabilities():
    odds = np.exp(np.concatenate([np.zeros((4, 3, 1)), TASTES], axis=2))
    return odds / odds.sum(axis=2, keepdims=True)


def test_weighted_people_and_draws_that_hold_none_of_them():
    rule, weights = (
        round_tastes(COLUMNS, TASTES, respondents=6),
        np.array([0.0, 0.0, 0.0, 1.0, 0.0, 3.0]),
    )
    of_draws = np.take_along_axis(
        weights * hash_exponentials(4, 6), assign_respondents(4, 3, 6), axis=1
    )
    assert (of_draws.sum(axis=1) == 0).tolist() == [True, True, False, False]
    found = rule.shares([MARKET], weights)[0]
    wanted = np.einsum("dpj,dp->dj", probabilities(), of_draws)[2:] / of_draws.sum(axis=1)[2:, None]
    assert np.isnan(found[:2]).all()
    np.testing.assert_allclose(found[2:], wanted, rtol=0, atol=1e-4)
    draws = MarketDraws((), rule, 0.0, None, (), "")
    np.testing.assert_allclose(
        draws.summarize(found, (0.055, 0.945))[0], wanted.mean(axis=0), rtol=0, atol=1e-4
    )


def test_kinds_have_the_weights_of_who_is_of_them():
    membership = np.array([[1.0, 0.0, 0.0], [0.5, 0.25, 0.25]], np.float32)
    kinds = RespondentClasses(membership, np.array([[0, 1], [0, 2], [2, 2]]))
    rule = round_tastes(COLUMNS, TASTES, respondents=2, respondent_classes=kinds)
    # of the two respondents in each draw but the estimate
    first, second = (hash_exponentials(4, 2) * [0.5, 1.5]).T
    whole = first + second
    parts = np.array([[0.625, 0.1875, 0.1875], [0, 0, 0], [0, 0, 0], [0, 0, 1]])
    parts[1, :2] = first[1] / whole[1], second[1] / whole[1]
    parts[2, [0, 2]] = first[2] / whole[2], second[2] / whole[2]
    found = rule.shares([MARKET], np.array([0.5, 1.5]))[0]
    np.testing.assert_allclose(
        found, np.einsum("dpj,dp->dj", probabilities(), parts), rtol=0, atol=1e-4
    )
    assert json.loads(json.dumps(rule.pack()))["respondents"] == 2


def test_weighted_owners_of_classes():
    """Two people, of whom one likes the first product and one the second."""
    member = np.array([[True, False, False], [False, True, False]])
    one = ClassChoiceRule(
        (2,),
        np.array([0, 2]),
        member,
        np.array([[1, 1]]),
        np.array([0, 2]),
        np.zeros(2, np.uint8),
        np.zeros((1, 128), np.uint8),
        np.ones(256, np.float32),
        3,
        2,
    )
    for weights in (None, [1.0, 3.0], [2.0, 0.0]):
        of_market = hash_exponentials(1, 2)[0] * ([1.0, 1.0] if weights is None else weights)
        wanted = of_market / of_market.sum()
        found = one.shares([[(0,), (1,)]], None if weights is None else np.array(weights))
        np.testing.assert_allclose(found[0], [wanted])
    assert np.isnan(one.shares([[(0,), (1,)]], np.zeros(2))[0]).all()
