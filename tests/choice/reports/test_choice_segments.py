"""Segments of people on a posterior: known partitions, preferences by hand, segments that are found
again, mistakes."""

from functools import cache
from itertools import permutations

import numpy as np
import pytest
from helpers.experiment_data import of_segments, with_tastes
from helpers.pages import notebook
from scipy.special import expit

import thali as th
from thali._choice.product_coding import build_coding
from thali._inference.random_seeds import spawn_generators
from thali._people.respondent_segments import (
    Preferences,
    build_segments,
    compute_adjusted_rand_index,
    compute_squared_distances,
    find_centres,
    name_segments,
)
from thali.errors import ArgumentError, DataError

LEVELS = (("price", "5"), ("price", "9"), ("zoom", "no"), ("zoom", "yes"))


@cache
def data(none=False):
    frame, truth = of_segments(people=60, tasks=8, seed=3, none=none)
    levels = {"brand": ["A", "B", "C"]} if none else None
    return th.ChoiceExperiment.from_frame(
        frame, none={"brand": "none"} if none else None, levels=levels
    ), truth


@cache
def fitted():
    return th.LatentClassLogit(3).fit(data()[0], random_seed=1, progressbar=False)


def draw_preferences(draws=30, noise=0.05, people=(12, 8, 5)):
    """Preferences of people in groups around known profiles."""
    rng = np.random.default_rng(4)
    profiles = np.array([[0.9, 0.1, 0.5, 0.5], [0.5, 0.5, 0.1, 0.9], [0.6, 0.4, 0.9, 0.1]])
    truth = np.repeat(np.arange(3), people)
    values = np.clip(profiles[truth] + noise * rng.normal(size=(draws, len(truth), 4)), 0, 1)
    return Preferences(LEVELS, values, tuple(f"p{n}" for n in range(len(truth)))), truth


def test_the_adjusted_rand_index_by_pairs():
    """By its definition over all pairs; its mean over all orders of the labels is 0."""
    one, other = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 1, 0, 0, 0, 2])
    assert (
        compute_adjusted_rand_index(one, one) == 1.0
        and compute_adjusted_rand_index(one, one.max() - one) == 1.0
    )
    pairs = [(i, j) for i in range(6) for j in range(i)]
    a, b = (np.array([labels[i] == labels[j] for i, j in pairs]) for labels in (one, other))
    expected = a.sum() * b.sum() / len(pairs)
    wanted = ((a & b).sum() - expected) / ((a.sum() + b.sum()) / 2 - expected)
    assert compute_adjusted_rand_index(one, other) == pytest.approx(wanted, abs=1e-12)
    everywhere = [
        compute_adjusted_rand_index(one, np.array(order)) for order in permutations(other)
    ]
    assert np.mean(everywhere) == pytest.approx(0.0, abs=1e-12)
    assert compute_adjusted_rand_index(np.zeros(4, int), np.zeros(4, int)) == 1.0


def test_k_means_finds_the_least_sum_of_squares():
    """Of all partitions of 8 points into two parts."""
    points = np.random.default_rng(5).normal(size=(8, 2))
    found = (
        compute_squared_distances(points, find_centres(points, 2, spawn_generators(1, 1)[0]))
        .min(axis=1)
        .sum()
    )
    sums = []
    for code in range(1, 2**7):
        first = np.array([code >> n & 1 for n in range(8)], bool)
        sums.append(
            sum(((part - part.mean(axis=0)) ** 2).sum() for part in (points[first], points[~first]))
        )
    assert found == pytest.approx(min(sums), rel=1e-12)


def preferred(whole, tastes, **arguments):
    """How often each level is preferred, on average over people and draws."""
    found = with_tastes(whole, tastes, **arguments).respondents.segments(2, random_seed=1).profiles
    return found[found["segment"] == 1].set_index(["attribute", "level"])["all_respondents"]


@pytest.mark.fit
@pytest.mark.parametrize("linear", [(), "price"])
def test_preferences_of_tastes_by_products_written_out(linear):
    """Against products written out, one level exchanged for the other."""
    from_table, _ = data()
    coding = build_coding(from_table, linear)
    tastes = np.random.default_rng(6).normal(size=(4, 60, len(coding.names)))
    found = preferred(from_table, tastes, linear=linear)
    assert len(found) == 8 and found.index[0] == ("price", "5")
    rows = np.array([[price, 1, 0] for price in range(3)])
    utility = tastes @ coding.encode_codes(rows).T
    middle = (
        expit(utility[..., 1] - utility[..., 0]) + expit(utility[..., 1] - utility[..., 2])
    ) / 2
    assert found.iloc[1] == pytest.approx(middle.mean(), abs=1e-12)
    assert found["price"].sum() == pytest.approx(1.5, abs=1e-12)


@pytest.mark.fit
def test_preferences_with_interactions_are_means_over_products():
    whole, _ = data()
    coding = build_coding(whole, "price", None, [("price", "zoom")])
    tastes = np.random.default_rng(9).normal(size=(4, 60, len(coding.names))) / 10
    found = preferred(whole, tastes, linear="price", interactions=[("price", "zoom")])
    kept = whole.products[np.linspace(0, len(whole.products) - 1, 5).round().astype(int)]
    with_zoom, without = kept.copy(), kept.copy()
    with_zoom[:, 2], without[:, 2] = 1, 0
    utility = [tastes @ coding.encode_codes(products).T for products in (with_zoom, without)]
    assert found.iloc[-1] == pytest.approx(expit(utility[0] - utility[1]).mean(), abs=1e-12)


@pytest.mark.fit
def test_preferences_for_no_choice():
    """Mean over real products of the probability that one is chosen where there is nothing else."""
    with_none, _ = data(True)
    coding = build_coding(with_none)
    tastes = np.random.default_rng(7).normal(size=(4, 60, len(coding.names)))
    found = preferred(with_none, tastes)
    assert list(found.index[:2]) == [("inside", "none"), ("inside", "inside")]
    real = with_none.products[with_none.products[:, 0] == 1]
    kept = real[np.linspace(0, len(real) - 1, 5).round().astype(int)]
    nothing = coding.encode_codes(np.array([[0, -1, -1, -1]]))
    assert found.iloc[1] == pytest.approx(
        expit(tastes @ (coding.encode_codes(kept) - nothing).T).mean(), abs=1e-12
    )


def test_known_groups_are_found_with_sizes_profiles_and_certainty():
    preferences, truth = draw_preferences()
    found = build_segments(preferences, None, 0)
    assert len(found) == 3 and (found.by_number.loc[4:, "stability"] < 0.8).all()
    assert list(found.assignment["segment"] - 1) == list(truth)
    assert list(found.sizes["respondents"]) == [12, 8, 5] and found.stability == 1.0
    np.testing.assert_allclose(found.sizes["share"], [12 / 25, 8 / 25, 5 / 25])
    assert (found.assignment["probability"] == 1.0).all() and (
        found.probabilities.sum(axis=1) == 1.0
    ).all()
    own = found.profiles.query("segment == 1")
    np.testing.assert_allclose(
        own["preferred"], preferences.values[:, truth == 0].mean(axis=(0, 1))
    )
    np.testing.assert_allclose(own["all_respondents"], preferences.values.mean(axis=(0, 1)))
    assert list(found.sizes["name"]) == [
        "price 5",
        "zoom yes, price matters less",
        "zoom no, price matters less",
    ]
    assert list(found.table().columns) == [
        "attribute",
        "level",
        "all_respondents",
        "segment 1",
        "segment 2",
        "segment 3",
    ]
    assert "3 segments of 25 respondents" in str(found) and "48 %: price 5" in str(found)
    assert "Stability 1.00" in notebook(found)


def test_noise_is_unstable():
    """Independent preferences of everybody in every draw: the draws agree no more than chance makes
    them."""
    values = np.random.default_rng(8).random((40, 60, 4))
    found = build_segments(Preferences(LEVELS, values, tuple(map(str, range(60)))), 3, 0)
    assert found.stability < 0.15 and found.assignment["probability"].mean() < 0.7


@pytest.mark.long
def test_a_number_does_not_depend_on_the_others_and_the_seed_repeats():
    preferences, _ = draw_preferences(noise=0.3)
    alone, among = build_segments(preferences, 4, 1), build_segments(preferences, [2, 4], 1)
    assert alone.by_number.loc[4].equals(among.by_number.loc[4])
    assert alone.profiles.equals(build_segments(preferences, 4, 1).profiles)


def test_names_are_distinct_and_say_what_is_liked():
    everybody = np.array([0.7, 0.3, 0.3, 0.7])
    names = name_segments(
        LEVELS, np.array([[0.9, 0.1, 0.2, 0.8], [0.5, 0.5, 0.3, 0.7], everybody]), everybody
    )
    assert names == ["price 5, zoom yes", "price matters less", "close to the average"]
    levels = (("inside", "none"), ("inside", "inside"), *LEVELS)
    rows = np.array([[0.9, 0.1, 0.9, 0.1, 0.1, 0.9], [0.9, 0.1, 0.9, 0.1, 0.3, 0.7]])
    wanted = ["no choice, price 5, zoom yes", "no choice, price 5"]
    assert name_segments(levels, rows, np.array([0.5, 0.5, 0.7, 0.3, 0.3, 0.7])) == wanted


@pytest.mark.fit
def test_segments_of_a_model():
    model, truth = fitted(), data()[1]
    found = model.respondents.segments(3)
    assert compute_adjusted_rand_index(found.assignment["segment"].to_numpy(), truth) >= 0.9
    assert list(found.assignment.index) == list(data()[0].respondents)
    assert found.sizes["share"].is_monotonic_decreasing
    of_classes = model.membership_.to_numpy().argmax(axis=1)
    assert compute_adjusted_rand_index(found.assignment["segment"].to_numpy(), of_classes) >= 0.9


def test_bad_numbers_of_segments_are_refused():
    model = fitted()
    for k, kind, said in [
        (1, ArgumentError, "`k` must be an integer >= 2; got 1."),
        ("two", ArgumentError, "`k` must be an integer >= 2; got 'two'."),
        ([], ArgumentError, "`k` must be one or more integers >= 2; got none."),
        (61, DataError, "61 segments are too many for 60 respondents; reduce `k`."),
        (5, DataError, "Respondents form only 3 segments, so 5 are not possible; reduce `k`."),
    ]:
        with pytest.raises(kind) as error:
            model.respondents.segments(k)
        assert str(error.value) == said


@pytest.mark.long
@pytest.mark.parametrize("make", [th.HierarchicalLogit, th.ProductClasses])
def test_sampled_models_find_the_segments(make):
    frame, truth = of_segments(people=120, tasks=20, seed=5)
    run = {"draws": 300} if make is th.HierarchicalLogit else {"draws": 300, "tune": 300}
    model = make().fit(
        th.ChoiceExperiment.from_frame(frame), **run, random_seed=1, progressbar=False
    )
    found = model.respondents.segments()
    assert len(found) == 3
    assert compute_adjusted_rand_index(found.assignment["segment"].to_numpy(), truth) >= 0.9
