"""Best and worst of up to three options, as rankings, and of more, which are refused."""

import numpy as np
import pandas as pd
import pytest
from helpers.best_worst_data import RULES, random_answers
from helpers.naive import latent_features as naive
from helpers.naive.latent_features import answer_probabilities
from helpers.sentences import refused

import thali as th
from thali._aspects.chain_state import make_empty_state
from thali._aspects.kernel_operations import log_likelihood, rebuild_cache
from thali.errors import DataError
from thali.likelihoods import Elimination


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("rule", RULES)
def test_probabilities_are_sums_over_all_rankings(rule):
    lapse = 0.07
    data = random_answers(7, range(2, 7), 1, 2, most=3)
    model = th.BradleyTerryLuce(lapse=lapse, best_worst=rule, people="independent")
    model.fit(data, draws=3, chains=2, random_seed=1, progressbar=False)
    weights = np.exp(model.posterior_["posterior"]["log_worth"].values.reshape(-1, 7))
    expected = answer_probabilities(data, weights, lapse, rule).mean(axis=0)
    np.testing.assert_allclose(np.concatenate(model.predict_proba(data)), expected, rtol=1e-12)


@pytest.mark.parametrize("lapse", [0.0, 0.05])
def test_best_and_worst_of_three_are_rankings(uncompiled, lapse):
    data = random_answers(4, (2, 3), 6, 2, most=3)
    ranked = data.as_rankings()
    assert ranked.worst is None
    weights = np.array([0.2, 1.0, 0.7, 3.0])
    by_ranking = naive.log_likelihood(ranked, np.zeros((4, 0)), [], weights, lapse)
    known = naive.log_likelihood(data, None, None, weights, lapse, best_worst="ranking")
    assert known == pytest.approx(by_ranking, rel=1e-12)
    sets, make = Elimination(lapse).compiled(data)
    cache, state = make(sets), make_empty_state(4, 4)
    state.s[:4] = weights
    rebuild_cache(sets, cache, state)
    assert log_likelihood(sets, cache, state) == pytest.approx(by_ranking, rel=1e-12)


@pytest.mark.unit
@pytest.mark.parametrize("people", [None, "adjusted"])
@pytest.mark.parametrize("aspects", ["unique", "ibp"])
def test_sets_of_four_are_refused(aspects, people):
    rows = [
        (*"abcd", "a", "d", "p"),
        (*"abcd", "b", "a", "q"),
        (*"abcd", "a", "c", "p"),
        (*"abcd", "a", "c", "q"),
    ]
    frame = pd.DataFrame(
        rows, columns=["item1", "item2", "item3", "item4", "best", "worst", "respondent"]
    )
    data = th.Choices.from_best_worst(frame, respondent="respondent")
    with refused(DataError, "4 options", "'a', 'b', 'c' and 'd'", "BradleyTerryLuce"):
        th.EliminationByAspects(aspects, people=people).fit(data, random_seed=1)


def test_worths_that_are_almost_infinite_are_checked():
    """Eight answers give maximum-likelihood estimates so uncertain that all worths of a set may be
    almost 0."""
    rows = [
        "water tea cola milk cola milk",
        "cola wine tea beer beer tea",
        "milk tea wine water milk wine",
        "milk tea water beer water milk",
        "wine cola milk water milk cola",
        "tea water wine beer wine beer",
        "tea water milk beer beer tea",
        "tea wine milk cola tea cola",
    ]
    names = ["option1", "option2", "option3", "option4", "best", "worst"]
    frame = pd.DataFrame([row.split() for row in rows], columns=names)
    data = th.read(frame.assign(respondent=list("aabbccdd")))
    model = th.BradleyTerryLuce(method="maximum-likelihood")
    model.fit(data, random_seed=1, progressbar=False)
    assert np.isfinite(model.check().select_dtypes("number")).all(axis=None)
