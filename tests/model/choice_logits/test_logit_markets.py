"""The rule of logits for markets: the probabilities that the models predict."""

import numpy as np
import pandas as pd
from experiment_data import simulated

import thali as th
from thali.model.market_draws.logit import Columns, logit_tastes

MARKET = [(0, 1, 0), (2, 0, 1), (1, 2, 1)]


def rule_of(model, tastes):
    """The rule by the columns of a fitted model."""
    linear = [name in model._coding_.linear for name in model.scheme_.names]
    return logit_tastes(
        [Columns(part.table, is_number) for part, is_number in zip(model._coding_.parts, linear, strict=True)], tastes
    )


def table(data, market):
    names = list(data.levels)
    return pd.DataFrame([{name: data.levels[name][p[i]] for i, name in enumerate(names)} for p in market])


def test_shares_are_the_probabilities_of_the_multinomial_logit():
    data = th.ChoiceExperiment.from_frame(simulated(people=10, seed=4))
    model = th.MultinomialLogit().fit(data)
    rule = rule_of(model, model.coef_.to_numpy()[None, None])
    wanted = model.predict_proba(table(data, MARKET))
    np.testing.assert_allclose(rule.shares([MARKET])[0][0], wanted, rtol=0, atol=1e-4)  # tastes are rounded


def test_any_number_of_an_attribute_with_a_slope():
    data = th.ChoiceExperiment.from_frame(simulated(people=10, seed=4))
    model = th.MultinomialLogit(linear="price").fit(data)
    rule = rule_of(model, model.coef_.to_numpy()[None, None])
    place = list(data.levels).index("price")
    market = [tuple(7.5 if i == place else level for i, level in enumerate(p)) for p in MARKET[:1]]
    market += [tuple(12.25 if i == place else level for i, level in enumerate(p)) for p in MARKET[1:]]
    frame = table(data, MARKET).assign(price=[7.5, 12.25, 12.25])
    np.testing.assert_allclose(rule.shares([market])[0][0], model.predict_proba(frame), rtol=0, atol=1e-4)


def test_the_mean_over_people_in_each_draw_and_products_that_lack_an_attribute():
    rng = np.random.default_rng(1)
    tables = [np.vstack([np.eye(3)[:, 1:], [0.0, 0.0]]), np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0]])]
    tastes = rng.normal(size=(5, 7, 4))
    rule = logit_tastes([Columns(tables[0], False), Columns(tables[1], True)], tastes)
    market = [(1, 0.5), (2, 0.25), (None, None)]
    matrix = np.array([[1, 0, 0.5, 0], [0, 1, 0.25, 0], [0, 0, 0, 1]])
    np.testing.assert_array_equal(rule.matrix(market), matrix)
    odds = np.exp(tastes @ matrix.T)
    wanted = (odds / odds.sum(axis=-1, keepdims=True)).mean(axis=1)
    np.testing.assert_allclose(rule.shares([market])[0], wanted, rtol=0, atol=1e-3)
    assert rule.packed()["people"] == 7 and rule.codes.dtype == np.int16
