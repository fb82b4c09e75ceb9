"""The table of distinct features."""

import math

import numpy as np
import pytest
from helpers.posterior_cases import (
    chain,
    comparisons,
    features_of,
    large_fit,
    model_of,
    small_fit,
    tree_of,
)
from helpers.sentences import refused
from helpers.terminals import narrow

from thali.errors import ArgumentError


@pytest.fixture(scope="module")
def small():
    return small_fit()


@pytest.fixture(scope="module")
def large():
    return large_fit()


@pytest.mark.parametrize("case", ["small", "large"])
def test_features_agree_with_counting(case, request):
    chains, data, tree = request.getfixturevalue(case)
    draws = [features for one in chains for features in features_of(one)]
    table = model_of(tree).features(min_probability=0.0)
    assert [
        *table.columns[:5],
        table.columns[-1],
    ] == "members weight weight_low weight_high copies probability".split()
    assert len(table) == len({owners for features in draws for owners, _ in features})
    # of choices, with unique aspects
    silent = table["members"].map(len).isin([1, len(data.labels)]).to_numpy()
    assert (np.diff(silent.astype(int)) >= 0).all()  # last, and both parts by probability
    assert all((np.diff(table.loc[part, "probability"]) <= 0).all() for part in (silent, ~silent))
    assert np.sum(table["copies"]) == pytest.approx(
        np.mean([len(features) for features in draws]), rel=1e-12
    )
    for row in table.head(6).to_dict("records"):
        members = tuple(data.labels.index(label) for label in row["members"])
        weights = [
            [weight for owners, weight in features if owners == members] for features in draws
        ]
        sums = [sum(of_draw) for of_draw in weights if of_draw]
        assert row["probability"] == pytest.approx(len(sums) / len(draws), rel=1e-12)
        assert row["copies"] == pytest.approx(sum(map(len, weights)) / len(draws), rel=1e-12)
        assert row["weight"] == pytest.approx(np.mean(sums), rel=1e-12)
        assert (row["weight_low"], row["weight_high"]) == pytest.approx(
            np.quantile(sums, [0.055, 0.945]), rel=1e-12
        )


def test_a_narrow_terminal_shows_members_weight_and_probability(large):
    table = model_of(large[2]).features()
    table["members"] = [("tea", "coffee", "milk", "juice")] * len(table)
    shown = narrow(table).splitlines()
    assert "..." in shown[0] and {"members", "weight", "probability"} <= set(shown[0].split())


def test_improbable_features_are_left_out(small):
    everything = model_of(small[2]).features(min_probability=0.0)
    table = model_of(small[2]).features(min_probability=0.5)
    probable = [
        row["members"] for row in everything.to_dict("records") if row["probability"] >= 0.5
    ]
    assert list(table["members"]) == probable
    assert {("tea", "milk"), ("coffee", "água", "Wasser, still")} <= set(table["members"])


def test_no_feature_at_all_gives_an_empty_table():
    table = model_of(tree_of([chain(3, draws=5, mean_features=0.0)], comparisons(3))).features()
    assert len(table) == 0
    assert "members" in table.columns


@pytest.mark.parametrize("probability", [-0.1, 1.1, math.nan])
def test_a_probability_outside_its_range_is_refused(small, probability):
    with refused(ArgumentError, "be in (0, 1)"):
        model_of(small[2]).features(min_probability=probability)
