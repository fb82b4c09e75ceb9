"""Sets of options that reach most people: all of them by loops, and what a greedy search may
miss."""

from itertools import combinations

import numpy as np
import pytest
from helpers import limits
from helpers.sentences import refused

import thali._people.turf_reach as module
from thali._people.turf_reach import (
    improve_by_exchange,
    pack_reaches,
    search_greedily,
    search_sets,
    select_reach_draws,
    tabulate_best_sets,
)
from thali.errors import ArgumentError

pytestmark = pytest.mark.unit
OPTIONS = tuple("abcdefg")


def truths(draws=7, people=11, options=7, share=0.3, seed=0):
    """Who is reached by which option, in each draw; options differ, and people do."""
    rng = np.random.default_rng(seed)
    likes = rng.random((1, people, options)) * rng.uniform(0.3, 1.5, options)
    return rng.random((draws, people, options)) < share * likes / likes.mean()


def by_hand(reaches, members):
    """Mean reach and frequency of a set by loops."""
    each = [sum(person[k] for k in members) for draw in reaches for person in draw]
    return np.mean([number > 0 for number in each]), np.mean(each)


@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_all_sets_are_tried(size):
    reaches = truths()
    table = tabulate_best_sets(reaches, OPTIONS, size, 5, 0, 0.89)
    wanted = sorted(
        (by_hand(reaches, each)[0] for each in combinations(range(7), size)), reverse=True
    )[:5]
    np.testing.assert_allclose(table["reach"], wanted, rtol=1e-12)
    for row in table.itertuples():
        places = [OPTIONS.index(option) for option in row.members]
        assert (row.reach, row.frequency) == pytest.approx(by_hand(reaches, places))
        assert 0 <= row.low <= row.high <= 1
    assert table.attrs["exact"] and table.attrs["sets"] == len(list(combinations(range(7), size)))
    assert table.attrs["bound"] == table["reach"][0]


def test_a_second_favourite_of_everybody_adds_nothing():
    reaches = np.zeros((2, 10, 3), bool)
    # a and b are liked by the same nine, c by one
    reaches[:, :9, [0, 1]], reaches[:, 9, 2] = True, True
    table = tabulate_best_sets(reaches, "abc", 2, 3, 0, 0.89)
    assert [set(each) for each in table["members"]] == [set("ac"), set("bc"), set("ab")]
    np.testing.assert_allclose(table["reach"], [1.0, 1.0, 0.9])
    np.testing.assert_allclose(table["best"], [0.5, 0.5, 0.0])  # which share the first place


def test_intervals_are_of_the_population():
    """Of known tastes it is Jeffreys' posterior of a share of so many people, Beta(k + 1/2, n - k +
    1/2)."""
    reaches = np.zeros((4000, 20, 2), bool)
    reaches[:, :14, 0] = True
    row = tabulate_best_sets(reaches, "ab", 1, 1, 0, 0.89).iloc[0]
    draws = np.random.default_rng(0).beta(14.5, 6.5, 400_000)
    assert row["reach"] == pytest.approx(0.7)
    np.testing.assert_allclose(
        row[["low", "high"]].astype(float), np.quantile(draws, (0.055, 0.945)), atol=0.02
    )


def test_that_all_of_few_people_are_reached_leaves_a_doubt():
    reaches = np.zeros((4000, 12, 2), bool)
    reaches[:, :, 0] = True
    row = tabulate_best_sets(reaches, "ab", 1, 1, 0, 0.89).iloc[0]
    assert row["reach"] == 1.0 and 0.8 < row["low"] < 0.95 and row["high"] < 1.0


def test_sets_that_are_as_good_are_told_from_those_that_are_best_by_draws():
    reaches = np.zeros((10, 4, 3), bool)
    reaches[:6, :3, 0], reaches[6:, :3, 1] = True, True  # a reaches three in six draws, b in four
    table = tabulate_best_sets(reaches, "abc", 1, 3, 0, 0.89).set_index("members")
    assert [table.loc[[(option,)], "best"].iloc[0] for option in "abc"] == pytest.approx(
        [0.6, 0.4, 0.0]
    )


@pytest.mark.parametrize("seed", range(8))
def test_no_set_exceeds_the_bound_and_the_search_stays_near(seed, monkeypatch):
    reaches = truths(draws=3, people=40, options=9, seed=seed)
    best = max(by_hand(reaches, each)[0] for each in combinations(range(9), 4))
    limits.lower_in(module, monkeypatch, MAX_SETS=1)
    found = search_sets(reaches, 4, 5)
    assert not found.is_exact and best <= found.bound + 1e-12 and found.bound <= 1.0
    first = by_hand(reaches, found.sets[0])[0]
    assert (1 - (1 - 1 / 4) ** 4) * best <= first <= best + 1e-12
    table = tabulate_best_sets(reaches, "abcdefghi", 4, 3, 0, 0.89)
    assert table["reach"][0] == pytest.approx(first) and table.attrs["bound"] == found.bound
    assert table["reach"].is_monotonic_decreasing and len(set(table["members"])) == 3


def test_the_bound_is_tight_where_options_reach_different_people():
    reaches = np.zeros((1, 100, 6), bool)
    for k, size in enumerate((30, 20, 10, 5, 3, 2)):
        start = sum((30, 20, 10, 5, 3, 2)[:k])
        reaches[0, start : start + size, k] = True
    chosen, bound = search_greedily(pack_reaches(reaches), 3)
    assert chosen == [0, 1, 2] and bound == 60.0


def test_the_bound_counts_what_options_add_to_those_chosen():
    reaches = np.zeros((1, 21, 5), bool)
    parts = ((0, 10), (0, 10), (10, 15), (15, 18), (18, 21))  # the first two reach the same
    for option, (start, stop) in enumerate(parts):
        reaches[0, start:stop, option] = True
    # to the first, which reaches 10, the others add at most 5 and 3
    assert search_greedily(pack_reaches(reaches), 2) == ([0, 2], 18.0)


def test_exchanges_leave_a_set_that_greed_begins_with():
    """The one option that reaches most alone is in no best pair."""
    reaches = np.zeros((1, 8, 3), bool)
    reaches[0, 1:6, 0], reaches[0, :4, 1], reaches[0, 4:, 2] = True, True, True
    bits = pack_reaches(reaches)
    assert 0 in search_greedily(bits, 2)[0] and improve_by_exchange(
        bits, search_greedily(bits, 2)[0]
    ) == [1, 2]


def test_exchanges_go_on_until_none_reaches_more(monkeypatch):
    """Here the best set differs from the greedy one in two options."""
    reaches = truths(draws=1, people=24, options=9, seed=9, share=0.25)
    assert search_greedily(pack_reaches(reaches), 4)[0] == [0, 3, 6, 7]
    best = max(by_hand(reaches, each)[0] for each in combinations(range(9), 4))
    limits.lower_in(module, monkeypatch, MAX_SETS=1)
    assert by_hand(reaches, search_sets(reaches, 4, 1).sets[0])[0] == best


def test_sets_are_found_in_some_draws_and_compared_in_all(monkeypatch):
    limits.lower_in(module, monkeypatch, _MAX_ROWS=1)
    reaches = np.zeros((10, 4, 3), bool)
    reaches[[0, 9], :, 0], reaches[1:9, :, 1] = True, True  # b is best in draws that are left out
    assert search_sets(reaches, 1, 3).sets.ravel().tolist() == [0, 1, 2]
    table = tabulate_best_sets(reaches, "abc", 1, 3, 0, 0.89)
    assert table["members"].to_dict() == {0: ("b",), 1: ("a",), 2: ("c",)}


def test_draws_are_left_out_where_there_is_no_room(monkeypatch):
    limits.lower_in(module, monkeypatch, MAX_TRUTHS=60)
    assert select_reach_draws(100, 3, 2).tolist() == [0, 11, 22, 33, 44, 55, 66, 77, 88, 99]
    assert len(select_reach_draws(4, 3, 2)) == 4 and len(select_reach_draws(100, 1000, 2)) == 2


@pytest.mark.parametrize(
    ("size", "top", "facts"),
    [
        (7, 1, ("size", "less than", "got 7")),
        (0, 1, ("`size` must be",)),
        (2, 0, ("`top` must be",)),
    ],
)
def test_bad_arguments_of_reach_are_refused(size, top, facts):
    with refused(ArgumentError, *facts):
        tabulate_best_sets(truths(), OPTIONS, size, top, 0, 0.89)
