"""Neighbours of trees: how many there are, that each is a tree of the same leaves, and that moves can be undone."""

import itertools
from collections import Counter

import numpy as np
import pytest

import thali as th
from thali.comparison.tree_search import INTERCHANGE, JOIN, LENGTH, neighbours

CATERPILLAR = "((((a:.2,b:.2):.2,c:.4):.3,d:.7):.3,e:1);"
TREES = {
    "caterpillar": th.Tree.from_newick(CATERPILLAR),
    "balanced": th.Tree.from_newick("((a:.5,b:.5):.5,(c:.3,(d:.1,e:.1):.2):.7);"),
    "six": th.Tree.from_newick("(((a:.2,b:.2):.3,(c:.4,d:.4):.1):.5,(e:.6,f:.6):.4);"),
    "groups": th.Tree.from_groups({"one": ["a", "b"], "two": ["c", "d", "e"], "three": ["f", "g"]}),
    "star": th.Tree.star("abcd"),
    "stem": th.Tree.from_newick("((a:.5,b:.5,c:.5):.5);"),
    "an edge without length": th.Tree.from_newick("((a:.5,(b:.5,c:.5):0):.5,d:1);"),
}
BINARY = ("caterpillar", "balanced", "six")


def shape(tree):
    return frozenset(tree.clades())


@pytest.mark.parametrize("name", TREES)
def test_neighbours_are_other_trees_of_the_same_leaves(name):
    tree = TREES[name]
    found = neighbours(tree, 1.0)
    for each in found:
        assert each.tree.labels == tree.labels
        np.testing.assert_allclose(each.tree.depths[: tree.n_leaves], 1.0, atol=1e-12)
        assert (each.tree.lengths[: tree.n_leaves] > 0.0).all()
        assert (each.tree.lengths >= 0.0).all()
        assert each.tree != tree
        clades = list(each.tree.clades())
        assert all(one <= other or other <= one or not one & other for one, other in itertools.combinations(clades, 2))
    assert all(one.tree != other.tree for one, other in itertools.combinations(found, 2))


@pytest.mark.parametrize("name", BINARY)
def test_number_of_interchanges(name):
    """A binary tree of n leaves with a root has 2 (n - 2) of them, each of another shape."""
    tree = TREES[name]
    changed = [each.tree for each in neighbours(tree, 1.0) if each.move == INTERCHANGE]
    assert len(changed) == len({shape(each) for each in changed}) == 2 * (tree.n_leaves - 2)
    for each in changed:
        assert len(shape(each) - shape(tree)) == 1
        assert shape(tree) in {shape(back.tree) for back in neighbours(each, 1.0) if back.move == INTERCHANGE}


@pytest.mark.parametrize("name", TREES)
def test_lengths_change_by_the_step_and_back(name):
    tree = TREES[name]
    for each in neighbours(tree, 0.5):
        if each.move == LENGTH and 0.0 not in tree.lengths[:-1]:
            assert shape(each.tree) == shape(tree)
            assert any(back.tree == tree for back in neighbours(each.tree, 0.5))


def test_all_shapes_of_four_leaves_are_reached_from_the_star():
    """26 rooted trees: 15 binary ones, 10 with two nodes below three, and the star."""
    known, waiting = {}, [TREES["star"]]
    while waiting:
        tree = waiting.pop()
        if shape(tree) not in known:
            known[shape(tree)] = tree
            waiting += [each.tree for each in neighbours(tree, 1.0) if each.move != LENGTH]
    assert Counter(map(len, known)) == {0: 1, 1: 10, 2: 15}


def test_names_stay_with_their_clades():
    for each in neighbours(TREES["groups"], 1.0):
        for clade, name in each.tree.clades().items():
            assert name == TREES["groups"].clades().get(clade, "")


def test_moves_of_three():
    assert Counter(each.move for each in neighbours(th.Tree.star("abc"), 1.0)) == {JOIN: 3}
