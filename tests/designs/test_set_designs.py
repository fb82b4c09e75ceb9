"""Designs of pairs, triplets and sets: complete, or a balanced and connected part for each
person."""

from importlib import import_module
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused

import thali as th
from thali.errors import ArgumentError

power_module = import_module("thali._designs.power")


def shown(design):
    return design.filter(like="option").to_numpy()


def test_a_complete_design_has_every_set_once_a_version():
    design = th.designs.sets(list("abcde"), 3, versions=2, random_seed=1)
    for _, version in design.groupby("version"):
        assert sorted(map(tuple, np.sort(shown(version)))) == list(combinations("abcde", 3))
    assert design["task"].tolist() == [*range(1, 11)] * 2


@pytest.mark.parametrize(
    ("n", "size", "tasks", "versions"),
    [(12, 4, 9, 6), (20, 2, 30, 5), (9, 3, 9, 2), (30, 5, 18, 4)],
)
def test_a_part_is_balanced(n, size, tasks, versions):
    """Options equally often within a version, pairs of them about equally often in all; no set
    twice."""
    design = th.designs.sets(n, size, tasks, versions, random_seed=3)
    together = np.zeros((n, n), int)
    for _, version in design.groupby("version"):
        rows = shown(version).astype(int)
        assert len({tuple(sorted(row)) for row in rows}) == tasks
        assert np.ptp(np.bincount(rows.ravel(), minlength=n)) <= 1
        for row in rows:
            together[np.ix_(row, row)] += 1
    pairs = together[np.triu_indices(n, 1)]
    mean = versions * tasks * size * (size - 1) / (n * (n - 1))
    assert abs(pairs - mean).max() <= 3 and pairs.std() < np.sqrt(mean)  # less than by chance


def test_places_in_a_set_are_random():
    design = th.designs.pairs(10, 30, 20, random_seed=1)
    first = (shown(design)[:, 0].astype(int) < shown(design)[:, 1].astype(int)).mean()
    assert abs(first - 0.5) < 4 * 0.5 / np.sqrt(600)


def test_the_fewest_sets_connect_all_options():
    for seed in range(5):
        found = shown(th.designs.pairs(8, 7, random_seed=seed)).astype(int)
        reached = {0}
        for _ in range(8):
            reached |= {int(k) for pair in found if reached & set(pair.tolist()) for k in pair}
        assert reached == set(range(8))


def test_same_seed_same_design():
    one, two, other = (th.designs.triplets(9, 10, 2, random_seed=seed) for seed in (1, 1, 2))
    assert one.equals(two) and not one.equals(other)


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        ((2, 3), ("got 2",)),
        ((5, 1), ("size", "got 1")),
        ((5, 2, 11), ("per_person", "10", "got 11")),
        ((5, 2, 3), ("3 sets", "2 options cannot", "5 options", "per_person")),
        ((2000, 2), ("1,999,000 sets", "per_person")),
        (("tea", 2), ("got 'tea'",)),
    ],
)
def test_designs_that_cannot_be(arguments, facts):
    with refused(ArgumentError, *facts):
        th.designs.sets(*arguments)


def test_all_pairs_show_each_option_as_often_first():
    for n in (4, 5, 8, 9):
        design = th.designs.pairs(n, versions=3, random_seed=n)
        for _, version in design.groupby("version"):
            first = np.bincount(shown(version)[:, 0].astype(int), minlength=n)
            assert np.ptp(first) == (n % 2 == 0)
        lists = th.paired.pair_design(n).list_a  # the same pairs, round by round
        assert sorted(map(sorted, lists)) == sorted(map(sorted, shown(version).tolist()))


# Power: how often options are told apart ----------------------------------------------------------


def told_exactly(p, n):
    """How often the log odds of a binomial of n are above 1.96 of their standard errors."""
    from scipy.stats import binom

    x = np.arange(1, n)
    z = np.log(x / (n - x)) * np.sqrt(x * (n - x) / n)
    return binom.pmf(x[z > 1.959963984540054], n, p).sum()


@pytest.mark.fit
def test_power_of_one_pair_is_that_of_a_binomial():
    design = th.designs.pairs(["tea", "milk"], random_seed=1)
    table = th.designs.power(design, {"milk": 1.0, "tea": 2.0}, 40, simulations=150, random_seed=1)
    wanted = told_exactly(2 / 3, 40)
    assert table.index.tolist() == [40] and table.columns.tolist() == ["first"]
    assert abs(table.loc[40, "first"] - wanted) < 5 * np.sqrt(wanted * (1 - wanted) / 150)
    searched = th.designs.power(
        design, {"milk": 1.0, "tea": 5.0}, None, simulations=60, random_seed=1
    )["first"]
    enough = searched.index[searched >= 0.8].min()
    assert told_exactly(5 / 6, int(enough * 0.6)) < 0.8 < told_exactly(5 / 6, int(enough * 1.6))
    same = th.designs.power(
        design, {"milk": 1.0, "tea": 5.0}, int(enough), simulations=60, random_seed=1
    )
    assert same.loc[enough, "first"] == searched[enough]  # a search only tries numbers


@pytest.mark.fit
def test_power_of_three_options_is_that_of_normal_estimates():
    """Of the information of all pairs: 150 studies, each of 60 people."""
    worths = {"tea": 4.0, "milk": 2.0, "juice": 1.0}
    table = th.designs.power(
        th.paired.pair_design(list(worths)).table, worths, 60, simulations=150, random_seed=2
    )
    w = np.array(list(worths.values()))
    p = w[:, None] / (w[:, None] + w[None, :])
    information = (
        np.diag((p * (1 - p)).sum(axis=1) - 0.25) - p * (1 - p) + np.diag(np.diag(p * (1 - p)))
    )
    covariance = np.linalg.pinv(60 * information)
    draws = np.random.default_rng(1).multivariate_normal(np.log(w), covariance, 20_000)
    apart = [
        (draws[:, i] - draws[:, j])
        > 1.96 * np.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
        for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    wanted = np.array([(apart[0] & apart[1]).mean(), np.all(apart, axis=0).mean()])
    assert table.columns.tolist() == ["first", "first 2"]
    assert (
        abs(table.loc[60].to_numpy() - wanted) < 5 * np.sqrt(wanted * (1 - wanted) / 150) + 0.03
    ).all()
    apart = th.designs.power(
        th.paired.pair_design(list(worths)), worths, 60, 2.0, 40, random_seed=2
    )
    assert apart.loc[60, "first"] < table.loc[60, "first"]


@pytest.mark.long
@pytest.mark.fit
def test_power_without_worths_is_that_of_the_prior():
    design = th.designs.sets(6, 3, 6, 2, random_seed=1)
    one, two = (th.designs.power(design, None, 30, simulations=20, random_seed=1) for _ in range(2))
    assert one.equals(two) and (np.diff(one.loc[30]) <= 0).all() and 0 < one.loc[30, "first"] < 1


def test_options_that_are_equally_good_need_not_be_told_apart():
    covariance = np.eye(2) * 1e-4
    assert power_module.find_separated(
        np.log([2.0, 2.0, 1.0]), np.array([0.01, -0.69]), covariance, 1.96
    ) == [True, True]
    assert power_module.find_separated(
        np.log([2.0, 1.9, 1.0]), np.array([0.01, -0.69]), covariance, 1.96
    ) == [False, False]


def test_a_study_without_standard_errors_tells_nothing_and_few_people_count_by_t(monkeypatch):
    """Of three studies one has no variance, one a negative one; 2.1 errors are not enough for 12
    people, but for 60."""
    design = th.designs.choice({"price": [9, 12]}, 4, 2, random_seed=1)
    found = np.full((3, 1), 2.1), np.array([[[0.0]], [[-1.0]], [[1.0]]])
    monkeypatch.setattr(power_module, "simulate_studies", lambda *a: found)
    for people, power in ((12, 0.0), (60, 1 / 3)):
        table = th.designs.power(design, {"price": 0.5}, people, 1.0, 3, random_seed=1)
        assert table.loc["price[12]", ["std_error", "power"]].tolist() == [1.0, power]
        assert table.attrs["degenerate"] == 2
    with refused(ArgumentError, "respondents", "11"):
        th.designs.power(design, {"price": 0.5}, 10, 1.0, 3)


def test_the_search_for_people_begins_where_errors_by_person_can_be_had():
    seen = []
    power_module.search_sample_size(lambda people: seen.append(people) or np.array([1.0]), 20, 100)
    assert seen == [20]


def test_people_differ_in_every_option_alike(monkeypatch):
    """The differences from the first option have twice the variance, and the covariance that its
    own spread makes."""
    seen = []
    simulated = power_module.simulate_studies
    monkeypatch.setattr(
        power_module, "simulate_studies", lambda *a: seen.append(a[-1]) or simulated(*a)
    )
    th.designs.power(
        th.designs.pairs(list("abc")), dict.fromkeys("abc", 1.0), 12, 1.0, 2, random_seed=1
    )
    np.testing.assert_allclose(seen[0] @ seen[0].T, [[2.0, 1.0], [1.0, 2.0]])


def test_options_that_no_chain_of_sets_connects_have_no_power():
    design = pd.DataFrame({"option1": ["a", "c"], "option2": ["b", "d"]})
    with refused(ArgumentError, "2 groups", "'a'", "'b'"):
        th.designs.power(design, None, 10)


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (({"a": 1.0, "b": 2.0},), ("prior", "positive worth", "'c'")),
        (({"a": 1.0, "b": 2.0, "c": 0.0},), ("prior", "positive worth", "'c'")),
        (({"a": "x", "b": 2.0, "c": 1.0},), ("prior", "positive worth", "'a'")),
        (([1, 2, 3],), ("options to worths",)),
        ((None, 0), ("respondents", "got 0")),
        ((None, 11, 0.5), ("respondents", "12", "10 more", "coefficients (2)")),
        ((None, 5, 0.0, 5, [("a", "b")]), ("attributes, which options",)),
    ],
)
def test_powers_that_cannot_be(arguments, facts):
    with refused(ArgumentError, *facts):
        th.designs.power(th.designs.pairs(list("abc")), *arguments)
