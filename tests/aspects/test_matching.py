"""Features of different draws that have nearly the same owners are matched."""

import numpy as np
import pytest
from helpers.additive_fits import made_up, similarities, tree_of_columns
from helpers.sentences import refused
from helpers.similarity_columns import columns_of_sets

import thali as th
from thali.errors import ArgumentError


def fit_of(draws, n):
    """A fit that has drawn these features, draw by draw: owners and weight of each."""
    model = th.AdditiveClustering()
    model.posterior_ = tree_of_columns(columns_of_sets(draws, n), similarities(n), 0.1, 0.1, 1.0)
    return model


def weighing(draws):
    """Lists of owners, each with weight 1."""
    return [[(owners, 1.0) for owners in draw] for draw in draws]


def test_features_that_differ_by_an_owner_are_one():
    core, other = list(range(9)), [20, 21]
    draws = [
        [(core, 1.0), (other, 5.0)],
        [(core[1:], 2.0), (other, 5.0)],
        [([*core, 9], 3.0)],
        [(core, 4.0)],
    ]
    model = fit_of(draws, 24)
    table, owned = model.features(similar=0.8), model.membership(similar=0.8)
    p = owned[1].to_numpy()
    assert p[:11].tolist() == [0.75] + 8 * [1.0] + [0.25, 0.0] and owned[2].sum() == 2.0
    assert table["probability"].tolist() == [1.0, 0.5] and table["weight"].tolist() == [2.5, 5.0]
    rows = [np.isin(np.arange(24), draw[0][0]) for draw in draws]
    naive = [np.minimum(h, p).sum() / np.maximum(h, p).sum() for h in rows]
    assert table.loc[1, "stability"] == pytest.approx(np.mean(naive), rel=1e-6)


def test_near_twins_of_one_draw_stay_apart():
    a, b = list(range(10)), list(range(1, 11))  # Jaccard index 9/11
    model = fit_of(weighing([[a, b]] * 6), 12)
    assert model.features(similar=0.8)["probability"].tolist() == [1.0, 1.0]
    owned = model.membership(similar=0.8).to_numpy().T.astype(int)
    assert sorted(map(tuple, owned)) == sorted(
        tuple(int(i in owners) for i in range(12)) for owners in (a, b)
    )


def test_families_of_features_are_all_found_and_rare_ones_left_out():
    one, other = [[0, 1, 2], [3, 4]], [[0, 1], [2, 3, 4]]
    model = fit_of(weighing(60 * [one] + 30 * [other] + 3 * [[[5, 6]]]), 7)
    assert model.features(similar=0.8)["probability"].tolist() == pytest.approx(
        2 * [60 / 93] + 2 * [30 / 93]
    )
    assert len(model.features(0.01, similar=0.8)) == 5


def test_copies_of_a_feature_are_added_up_and_single_owners_left_out():
    model = fit_of([[([0, 1], 1.0), ([0, 1], 2.0), ([2], 9.0)]] * 3, 4)
    assert model.features(similar=0.8)[["weight", "probability"]].to_numpy().tolist() == [
        [3.0, 1.0]
    ]
    assert model.membership(similar=0.8)[1].tolist() == [1.0, 1.0, 0.0, 0.0]
    nothing = fit_of([[([2], 1.0)]], 4)
    assert (
        nothing.membership(similar=0.8).shape == (4, 0) and len(nothing.features(similar=0.8)) == 0
    )


def test_features_of_draws_are_as_alike_as_was_asked_for():
    rng = np.random.default_rng(1)
    draws = [
        [np.flatnonzero(rng.random(12) < 0.6) for _ in range(rng.integers(1, 6))] for _ in range(80)
    ]
    table = fit_of(
        weighing([[owners for owners in draw if len(owners)] for draw in draws]), 12
    ).features(similar=0.6)
    assert (
        len(table) > 2 and (table["stability"] > 0.6).all() and (table["probability"] <= 1.0).all()
    )
    assert table["probability"].is_monotonic_decreasing


@pytest.mark.fit
def test_what_a_model_says_of_them():
    model = made_up(8, common=((0, 1, 2), (3, 4)), beside=0.3)
    table, owned = model.features(similar=0.7), model.membership(similar=0.7)
    assert owned.columns.tolist() == table.index.tolist() == list(range(1, len(table) + 1))
    assert owned.index.tolist() == model.posterior_["posterior"]["option"].values.tolist()
    for number, row in table.iterrows():
        assert (
            row["members"] == tuple(owned.index[owned[number] >= 0.5])
            and 0.7 < row["stability"] <= 1.0
        )
    assert {"weight_low", "weight_high", "converged"} <= set(table)
    assert not {"ess", "r_hat"} & set(table)  # the check omits what depends on the matching
    assert table["probability"].is_monotonic_decreasing and table["members"].map(len).min() >= 2
    exact = model.features(0.0).set_index("members")["probability"]
    assert (table["probability"] >= [exact.get(members, 0.0) for members in table["members"]]).all()


@pytest.mark.parametrize("similar", [0.0, 1.0, "high", -1])
def test_bad_thresholds_are_refused(similar):
    with refused(ArgumentError, "similar", "be in (0, 1)"):
        made_up(4).features(similar=similar)
    with refused(ArgumentError, "min_probability"):
        made_up(4).membership(min_probability=2)


@pytest.mark.parametrize(
    ("n", "settings", "is_matched"), [(30, {}, False), (31, {}, True), (30, {"similar": 0.6}, True)]
)
def test_features_of_many_objects_are_matched_unless_told_otherwise(n, settings, is_matched):
    table = (
        made_up(n, draws=20, chains=2, beside=0.0, common=((0, 1),))
        .findings(**settings)["features"]
        .table
    )
    assert ("stability" in table) == is_matched


def test_of_many_objects_those_that_lack_a_feature_are_named():
    def named(n, *owners):
        found = made_up(n, draws=20, chains=2, beside=0.0, common=owners).findings()["features"]
        return set(found.main_table["members"])

    every = tuple(range(31))
    but_two, half = tuple(i for i in every if i not in (4, 30)), ", ".join(map(str, every[:15]))
    assert named(31, every, but_two, every[:15]) == {"all 31", "all 31 but 4, 30", half}
    assert named(30, every[:30]) == {", ".join(map(str, every[:30]))}
