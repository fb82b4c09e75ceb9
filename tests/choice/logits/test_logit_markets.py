"""The rule of logits for markets: the probabilities that the models predict."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers import limits
from helpers.experiment_data import simulate_experiment
from helpers.sentences import warned

import thali as th
import thali._choice.reports.logit_choice_draws as market
import thali._choice.reports.people_weights as asked_of
from thali._choice.product_coding import AttributeCoding, build_coding
from thali._choice.reports.logit_choice_draws import LogitChooser, round_tastes
from thali._choice.reports.market_simulator import hash_exponentials


def test_the_mean_over_people_in_each_draw_and_products_that_lack_an_attribute():
    rng = np.random.default_rng(1)
    tables = [
        np.vstack([np.eye(3)[:, 1:], [0.0, 0.0]]),
        np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0]]),
    ]
    tastes = rng.normal(size=(5, 7, 4))
    rule = round_tastes(
        [AttributeCoding(tables[0]), AttributeCoding(tables[1], np.array([0.5, 0.25]))], tastes
    )
    market = [(1, 0.5), (2, 0.25), (None, None)]
    matrix = np.array([[1, 0, 0.5, 0], [0, 1, 0.25, 0], [0, 0, 0, 1]])
    np.testing.assert_array_equal(rule.encode_market(market), matrix)
    odds = np.exp(tastes @ matrix.T)
    weights = hash_exponentials(5, 7)
    wanted = (
        np.einsum("dnj,dn->dj", odds / odds.sum(axis=-1, keepdims=True), weights)
        / weights.sum(axis=1)[:, None]
    )
    np.testing.assert_allclose(rule.shares([market])[0], wanted, rtol=0, atol=1e-3)
    assert rule.pack()["people"] == 7 and rule.codes.dtype == np.int16


ASKED = [[(5.0, 1, 0), (17.5, 0, 1), (25.0, 2, 1)], [(11.0, 0, 0), (22.0, 1, 1)]]


@pytest.mark.parametrize(
    "asked",
    [{"linear": "price"}, {"knots": {"price": [15]}, "interactions": [("price", "brand")]}],
    ids=str,
)
def test_the_draws_of_a_market_are_those_of_market_shares(asked, monkeypatch):
    weigh_as_the_page(monkeypatch)
    data = th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=10, seed=4))
    for model in (th.MultinomialLogit(**asked), th.HierarchicalLogit(**asked)):
        quick = {"draws": 20, "tune": 20, "chains": 2, "random_seed": 1, "progressbar": False}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(data, **(quick if isinstance(model, th.HierarchicalLogit) else {}))
        draws = model._get_market_draws()
        assert [part.takes_any for part in draws.attributes] == [True, False, False]
        names, levels = list(data.levels), data.levels
        for products, found in zip(ASKED, draws.shares(ASKED), strict=True):
            rows = [
                (p[0], *(levels[n][c] for n, c in zip(names[1:], p[1:], strict=True)))
                for p in products
            ]
            table = model.market_shares(pd.DataFrame(rows, columns=names))
            # tastes are rounded to a 32,767th of the largest
            np.testing.assert_allclose(
                draws.summarize(found, (0.055, 0.945))[0], table["share"], rtol=0, atol=2e-3
            )


def weigh_as_the_page(monkeypatch):
    """Let tables draw the market as the page does, so that both have the same shares."""
    monkeypatch.setattr(
        asked_of, "draw_exponentials", lambda draws, people, seed: hash_exponentials(draws, people)
    )


def of_groups(people=12):
    """A study whose people have columns."""
    frame = simulate_experiment(n_respondents=people, n_tasks=6, seed=4)
    person = frame["id"].str[1:].astype(int)
    frame = frame.assign(sex=np.where(person % 3 == 0, "m", "w"), weight=0.25 * (person % 5))
    return th.ChoiceExperiment.from_frame(frame, attributes=["price", "brand", "zoom"])


@pytest.mark.fit
def test_classes_of_people_have_the_market_of_their_respondents():
    """In each draw the sum over respondents by the class of each, and of the estimate by their
    memberships."""
    model = th.LatentClassLogit(2, "price", starts=2).fit(
        of_groups(), random_seed=1, progressbar=False
    )
    chooser = model._build_chooser()
    weights = np.random.default_rng(0).standard_exponential((len(chooser.tastes), 12))
    products = pd.DataFrame({"price": [5.0, 17.5], "brand": ["B", "A"], "zoom": ["no", "yes"]})
    cells = chooser.cells(products)
    (found,) = chooser.shares([cells], weights, None, 0)
    odds = np.exp(chooser.tastes @ chooser.coding.encode_cells(cells).T)
    p = odds / odds.sum(axis=-1, keepdims=True)
    part = weights / weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found[0], part[0] @ chooser.membership @ p[0], rtol=1e-12)
    for d in (1, 7, len(p) - 1):
        np.testing.assert_allclose(
            found[d], part[d] @ p[d, chooser.respondent_classes[d]], rtol=1e-12
        )
    table = model.market_shares(products)
    these = model.market_shares(products, people="respondents")
    np.testing.assert_allclose(table["share"], these["share"], rtol=1e-12)  # the estimate is alike
    assert (
        (table["share_high"] - table["share_low"]) > (these["share_high"] - these["share_low"])
    ).all()


def test_people_who_are_alike_are_not_told_apart():
    data = of_groups()
    data = data.with_fields(people=data.people[["sex"]])
    assert th.MultinomialLogit().fit(data)._get_market_draws().people is None


def test_of_many_people_some_are_taken_in_each_draw(monkeypatch):
    data = th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=30, seed=4))
    coding = build_coding(data)
    tastes = np.random.default_rng(0).normal(size=(60, 30, 5))
    chooser = LogitChooser(coding, data, tastes, np.zeros(60, int))
    limits.lower_in(market, monkeypatch, MAX_TASTES=40 * 10 * 5)
    found = market.build_logit_market_draws(chooser)
    assert found.rule.codes.shape == (40, 10, 5) and "10 of 30 respondents" in found.size


def test_levels_that_no_task_shows_are_not_offered():
    data = th.ChoiceExperiment.from_frame(
        simulate_experiment(n_respondents=10), levels={"brand": ["A", "Z", "B", "C"]}
    )
    with warned(th.errors.DataWarning, "no task shows"):
        model = th.MultinomialLogit().fit(data)
    draws = model._get_market_draws()
    assert draws.attributes[1].levels == ("A", "B", "C")
    shown = [draws.attributes[1].levels[product[1]] for product in draws.first_task]
    assert shown == data.to_frame()["brand"].head(3).tolist()
    shares = draws.shares([[(0, 0, 0), (0, 1, 0), (0, 2, 0)]])[0][0]
    rows = pd.DataFrame({"price": 5, "brand": ["A", "B", "C"], "zoom": "no"})
    np.testing.assert_allclose(shares, model.predict_proba(rows), atol=2e-3)
