"""How well estimates agree with worths: squared correlations, separation, split halves."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, said

import thali as th
from thali.errors import DataError

QUIET = {"progressbar": False, "random_seed": 1}


def votes(judges, seed):
    """Votes of judges who agree, or of two camps that contradict each other."""
    rng, rows = np.random.default_rng(seed), []
    for judge, sign in judges.items():
        for _ in range(60):
            a, b = rng.choice(6, 2, replace=False)
            is_first = rng.random() < 1.0 / (1.0 + np.exp(sign * 1.2 * (b - a)))
            rows.append((f"o{a}", f"o{b}", f"o{a if is_first else b}", judge))
    return pd.DataFrame(rows, columns=["left", "right", "winner", "judge"])


@pytest.mark.long
@pytest.mark.fit
def test_measures_are_those_of_draws():
    """Of the squared correlation of mean worths with those of each draw, and of variances between
    and within."""
    data = th.PairedComparisons.from_trials(votes({"a": 1.0}, 2)[:40].drop(columns="judge"))
    found = th.leaderboard(data, **QUIET).reliability()
    draws = (
        th.BradleyTerryLuce()
        .fit(data, **QUIET)
        .posterior_["posterior"]["log_worth"]
        .values.reshape(-1, 6)
    )
    draws = draws - draws.mean(axis=1, keepdims=True)
    mean, within = draws.mean(axis=0), draws.var(axis=0).mean()
    squared = np.array([np.corrcoef(mean, each)[0, 1] ** 2 for each in draws])
    np.testing.assert_allclose(
        found.loc["r_squared"], [squared.mean(), *np.quantile(squared, [0.055, 0.945])], atol=0.03
    )
    assert found.loc["separation", "reliability"] == pytest.approx(
        mean.var() / (mean.var() + within), abs=0.02
    )


@pytest.mark.long
@pytest.mark.fit
def test_halves_are_of_judges_where_these_are_known():
    agree, contradict = (
        th.leaderboard(votes(dict.fromkeys("abcd", 1.0) | others, 2), people="independent", **QUIET)
        for others in ({}, {"b": -1.0, "d": -1.0})
    )
    assert agree.reliability().loc["split_half_judges", "reliability"] > 0.9
    assert contradict.reliability().loc["split_half_judges", "reliability"] < 0.0
    unknown = votes({"a": 1.0, "b": 1.0}, 2).drop(columns="judge")
    board = th.leaderboard(unknown, ci=0.5, **QUIET)
    assert board.reliability().loc["split_half_comparisons", "reliability"] > 0.8
    low, high = board.reliability().loc["r_squared", ["low", "high"]]
    assert 0.5 < low < high < 1.0 and board.reliability().attrs["interval"] == 0.5
    said(th.findings(board)["reliability"].sentence, "50 %")
    with refused(DataError, "laplace"):
        th.leaderboard(unknown, method="maximum-likelihood", **QUIET).reliability()


@pytest.mark.fit
@pytest.mark.usefixtures("few_draws")
def test_the_model_finds_what_a_board_finds():
    """By the same halves of judges."""
    frame = votes(dict.fromkeys("abcd", 1.0), 2)
    data = th.read(frame, respondent="judge")
    model = th.BradleyTerryLuce(people="independent").fit(data, draws=500, **QUIET)
    found = model.findings(ci=0.5, random_seed=1).find("reliability")
    board = th.leaderboard(data, people="independent", ci=0.5, **QUIET).reliability()
    assert (
        found.table.index.tolist() == board.index.tolist() and found.table.attrs["interval"] == 0.5
    )
    np.testing.assert_allclose(found.table["reliability"], board["reliability"], atol=0.01)
    assert found.table.loc["split_half_judges", "reliability"] == pytest.approx(
        board.loc["split_half_judges", "reliability"], rel=1e-12
    )
    said(found.sentence, "50 %")
    two = th.BradleyTerryLuce().fit(th.PairedComparisons([[0, 3], [1, 0]]), draws=50, **QUIET)
    assert two.findings().find("reliability") is None
    assert (
        "reliability" not in th.BradleyTerryLuce("maximum-likelihood").fit(data).findings().keys()
    )


@pytest.mark.long
@pytest.mark.fit
def test_halves_of_rankings():
    rows = [("tea", "milk", "juice")] * 6 + [("milk", "tea", "juice")] * 2
    frame = pd.DataFrame(rows, columns=["1st", "2nd", "3rd"]).assign(who=list("abcdefgh"))
    data = th.Choices.from_rankings(frame, respondent="who")
    table = th.leaderboard(data, **QUIET).reliability()
    assert 0.5 < table.loc["split_half_judges", "reliability"] <= 1.0
    model = th.BradleyTerryLuce().fit(data, draws=50, **QUIET)
    found = model.findings(random_seed=1).find("reliability").table
    assert (
        found.loc["split_half_judges", "reliability"]
        == table.loc["split_half_judges", "reliability"]
    )
