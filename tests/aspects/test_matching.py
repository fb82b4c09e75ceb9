"""Features of different draws that have nearly the same owners are matched."""

import time

import numpy as np
import pytest
from helpers.additive_fits import made_up
from helpers.sentences import refused, said

import thali as th
from thali._aspects.answers.matched_features import match, members_in_words, similar_for
from thali._aspects.draws.columns import FeatureColumns
from thali.errors import ArgumentError


def columns_of(draws, n, weights=None):
    """Columns of lists of owners, draw by draw."""
    sizes = np.array([len(owners) for draw in draws for owners in draw], int)
    owners = np.array([i for draw in draws for each in draw for i in sorted(each)], int)
    weights = np.ones(len(sizes)) if weights is None else np.array(weights, float)
    return FeatureColumns(np.array([len(draw) for draw in draws]), weights, sizes, owners, np.zeros((len(draws), n)))


def test_features_that_differ_by_an_owner_are_one():
    core = list(range(9))
    draws = [[core, [20, 21]], [core[1:], [20, 21]], [[*core, 9]], [core]]
    found = match(columns_of(draws, 24, [1, 5, 2, 5, 3, 4]), 0.8, 0.05)
    assert found.membership.shape == (2, 24)
    assert found.membership[0, :11].tolist() == [0.75] + 8 * [1.0] + [0.25, 0.0]
    assert found.membership[1].sum() == 2.0
    assert found.present.tolist() == [[True] * 4, [True, True, False, False]]
    assert found.weight.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 5.0]
    p = found.membership[0]
    naive = [np.minimum(h, p).sum() / np.maximum(h, p).sum() for h in _rows(draws, 24)]
    np.testing.assert_allclose(found.index[:4], naive, rtol=1e-6)


def _rows(draws, n):
    for draw in draws:
        row = np.zeros(n)
        row[draw[0]] = 1.0
        yield row


def test_near_twins_of_one_draw_stay_apart():
    a, b = list(range(10)), list(range(1, 11))  # Jaccard index 9/11
    found = match(columns_of([[a, b]] * 6, 12), 0.8, 0.05)
    assert found.present.all() and len(found.membership) == 2
    assert sorted(map(tuple, found.membership.round().astype(int))) == sorted(
        tuple(int(i in owners) for i in range(12)) for owners in (a, b)
    )


def test_families_of_features_are_all_found_and_rare_ones_left_out():
    one, other = [[0, 1, 2], [3, 4]], [[0, 1], [2, 3, 4]]
    draws = 60 * [one] + 30 * [other] + 3 * [[[5, 6]]]
    found = match(columns_of(draws, 7), 0.8, 0.05)
    shares = found.present.mean(axis=1)
    assert shares.tolist() == pytest.approx(2 * [60 / 93] + 2 * [30 / 93])
    assert len(match(columns_of(draws, 7), 0.8, 0.01).membership) == 5


def test_copies_of_a_feature_are_added_up_and_single_owners_left_out():
    found = match(columns_of([[[0, 1], [0, 1], [2]]] * 3, 4, [1, 2, 9] * 3), 0.8, 0.0, least_owners=2)
    assert found.weight.tolist() == [3.0, 3.0, 3.0] and found.membership.tolist() == [[1.0, 1.0, 0.0, 0.0]]
    nothing = match(columns_of([[[2]]], 4), 0.8, 0.0, least_owners=2)
    assert nothing.membership.shape == (0, 4) and nothing.present.shape == (0, 1)


def test_every_draw_has_a_feature_once():
    rng = np.random.default_rng(1)
    draws = [[np.flatnonzero(rng.random(12) < 0.6) for _ in range(rng.integers(1, 6))] for _ in range(80)]
    draws = [[owners for owners in draw if len(owners)] for draw in draws]
    found = match(columns_of(draws, 12), 0.6, 0.0)
    assert len(set(zip(found.feature.tolist(), found.draw.tolist(), strict=True))) == len(found.feature)
    assert (found.index >= 0.6 - 1e-6).mean() > 0.9  # of the last memberships, which the last assignment moved
    share = found.present.mean(axis=1)
    assert (np.diff(share) <= 0.0).all()


@pytest.mark.long
@pytest.mark.fit  # for its time
def test_a_hundred_and_fifty_objects_take_seconds():
    rng = np.random.default_rng(2)
    base = rng.random((30, 150)) < rng.uniform(0.05, 0.4, (30, 1))
    draws = [[np.flatnonzero(h ^ (rng.random(150) < 0.05 * h.mean())) for h in base] for _ in range(1000)]
    begin = time.process_time()
    found = match(columns_of(draws, 150), 0.8, 0.05)
    assert len(found.membership) == 30 and (found.membership.round() == base[_nearest(found.membership, base)]).all()
    assert time.process_time() - begin < 20.0  # measured: 1


def _nearest(membership, base):
    return np.argmin(np.abs(membership[:, None] - base).sum(2), axis=1)


@pytest.mark.fit
def test_what_a_model_says_of_them():
    model = made_up(8, common=((0, 1, 2), (3, 4)), beside=0.3)
    table, owned = model.features(similar=0.7), model.membership(similar=0.7)
    assert owned.columns.tolist() == table.index.tolist() == list(range(1, len(table) + 1))
    assert owned.index.tolist() == model.posterior_["posterior"]["option"].values.tolist()
    for number, row in table.iterrows():
        assert row["members"] == tuple(owned.index[owned[number] >= 0.5]) and 0.7 < row["stability"] <= 1.0
    assert {"weight_low", "weight_high", "ess", "r_hat", "converged"} <= set(table)
    assert table["probability"].is_monotonic_decreasing and table["members"].map(len).min() >= 2
    exact = model.features(0.0).set_index("members")["probability"]
    assert (table["probability"] >= [exact.get(members, 0.0) for members in table["members"]]).all()


@pytest.mark.parametrize("similar", [0.0, 1.0, "high", -1])
def test_bad_thresholds(similar):
    with refused(ArgumentError, "similar", "be in (0, 1)"):
        made_up(4).features(similar=similar)
    with refused(ArgumentError, "min_probability"):
        made_up(4).membership(min_probability=2)


@pytest.mark.fit
@pytest.mark.usefixtures("pictures")
def test_the_picture_puts_those_that_share_features_side_by_side():
    ax = th.plots.membership(made_up(8, common=((0, 2, 4, 6), (1, 3, 5, 7)), beside=0.0).membership())
    named = [tick.get_text() for tick in ax.get_yticklabels()]
    assert len({int(name) % 2 for name in named[:4]}) == len({int(name) % 2 for name in named[4:]}) == 1
    many = th.plots.membership(made_up(150, draws=5, common=(tuple(range(40)),)).membership())
    assert len(many.get_yticklabels()) == 150
    assert th.plots.membership(made_up(4, common=(), beside=0.0).membership()).get_xlabel() == "no probable feature"
    assert "*" not in ax.get_xlabel()


@pytest.mark.fit
@pytest.mark.usefixtures("pictures")
def test_the_picture_marks_what_the_chains_do_not_agree_on():
    model = made_up(8, common=((1, 3, 5, 7),), beside=0.0, kept_by={0: [0, 2, 4, 6]})
    ax = th.plots.membership(model.membership())
    said(ax.get_xlabel(), "chains disagree")
    assert sorted("*\n" in tick.get_text() for tick in ax.get_xticklabels()) == [False, True]


def test_features_of_many_objects_are_matched_unless_told_otherwise():
    assert [similar_for(30), similar_for(31), similar_for(30, 0.6), similar_for(31, 0.6)] == [None, 0.8, 0.6, 0.6]


def test_of_many_objects_those_that_lack_a_feature_are_named():
    labels = [f"o{number}" for number in range(31)]
    assert members_in_words(labels, labels) == "all 31"
    assert members_in_words([*labels[:4], *labels[5:30]], labels) == "all 31 but o4, o30"
    assert members_in_words(labels[:15], labels) == ", ".join(labels[:15])
    assert members_in_words(labels[:30], labels[:30]) == ", ".join(labels[:30])
