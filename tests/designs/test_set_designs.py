"""Designs of pairs, triplets and sets: complete, or a balanced and connected part for each person."""

import re
from itertools import combinations

import numpy as np
import pytest

import thali as th
from thali.errors import ArgumentError


def shown(design):
    return design.filter(like="option").to_numpy()


def test_a_complete_design_has_every_set_once_a_version():
    design = th.designs.sets(list("abcde"), 3, versions=2, random_seed=1)
    for _, version in design.groupby("version"):
        assert sorted(map(tuple, np.sort(shown(version)))) == list(combinations("abcde", 3))
    assert design["task"].tolist() == [*range(1, 11)] * 2


@pytest.mark.parametrize(
    ("n", "size", "tasks", "versions"), [(12, 4, 9, 6), (20, 2, 30, 5), (9, 3, 9, 2), (30, 5, 18, 4)]
)
def test_a_part_is_balanced(n, size, tasks, versions):
    """Options equally often within a version, pairs of them about equally often in all; no set twice."""
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
    ("arguments", "sentence"),
    [
        ((2, 3), "Such a design needs three options or more; got 2."),
        ((5, 1), "size must be a whole number of 2 or more; got 1."),
        ((5, 2, 11), "per_person must be 10 at most, all sets that there are; got 11."),
        ((5, 2, 3), "3 sets of 2 cannot connect 5 options; ask for more by per_person or versions."),
        ((2000, 2), "That makes 1,999,000 sets, more than a design may have; say by per_person"),
        (("tea", 2), "A design needs a number of options or their labels; got 'tea'."),
    ],
)
def test_designs_that_cannot_be(arguments, sentence):
    with pytest.raises(ArgumentError, match=re.escape(sentence)):
        th.designs.sets(*arguments)
