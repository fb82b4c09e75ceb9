"""Trees over options: made in every way, written and read back, put in order, copied."""

import copy
import pickle
from itertools import combinations

import joblib
import numpy as np
import pytest
from helpers.sentences import refused
from helpers.tree_cases import CELEBRITIES, random_tree

from thali import Tree
from thali.errors import DataError

EPS = float(np.finfo(float).eps)


def same(tree, labels, parents, lengths, names):
    assert tree.labels == tuple(labels)
    assert tree.parents.dtype == np.int64 and tree.lengths.dtype == np.float64
    assert tree.parents.tolist() == parents
    assert tree.names == tuple(names)
    np.testing.assert_allclose(tree.lengths, lengths, rtol=4 * EPS)


def forks(tree):
    """Depth of the last common ancestor of every two leaves, from the ancestors of each."""
    lines = []
    for leaf in range(tree.n_leaves):
        line, node = [], leaf
        while node >= 0:
            line.append(node)
            node = int(tree.parents[node])
        lines.append(line)
    depth = {
        node: sum(tree.lengths[above] for above in line[k:])
        for line in lines
        for k, node in enumerate(line)
    }
    result = np.zeros((tree.n_leaves, tree.n_leaves))
    for a, b in combinations(range(tree.n_leaves), 2):
        result[a, b] = result[b, a] = depth[next(node for node in lines[a] if node in lines[b])]
    return result


def is_converged(tree):
    """Whether the nodes stand in the order that others rely on, all leaves exactly 1 deep."""
    n, root = tree.n_leaves, len(tree.parents) - 1
    children = np.bincount(tree.parents[:-1], minlength=root + 1)
    assert tree.parents[root] == -1 and tree.lengths[root] == 0.0
    assert all(tree.parents[node] > node for node in range(root))
    assert (children[:n] == 0).all() and (children[n:root] >= 2).all() and children[root] >= 1
    assert (tree.depths[:n] == 1.0).all() and (tree.lengths >= 0.0).all()
    assert tree.names[:n] == tree.labels


# --------------------------------------------------------------------------------------------------
# ways to make one


def test_groups_are_two_levels():
    tree = Tree.from_groups(CELEBRITIES, leaf_length=0.1)
    labels = sum(CELEBRITIES.values(), [])
    same(
        tree,
        labels,
        [9, 9, 9, 10, 10, 10, 11, 11, 11, 12, 12, 12, -1],
        [0.1] * 9 + [0.9] * 3 + [0.0],
        [*labels, *CELEBRITIES, ""],
    )
    assert tree.total_length == pytest.approx(9 * 0.1 + 3 * 0.9, rel=1e-14)
    assert tree.n_leaves == 9
    is_converged(tree)


def test_members_of_groups_are_a_tenth_below_them_unless_told_otherwise():
    assert Tree.from_groups(CELEBRITIES) == Tree.from_groups(CELEBRITIES, leaf_length=0.1)


def test_a_group_of_one_hangs_from_the_root_by_one_edge():
    tree = Tree.from_groups({"hot": ["tea", "coffee"], 7: [1.0]}, leaf_length=0.3)
    same(
        tree,
        ["tea", "coffee", "1"],
        [3, 3, 4, 4, -1],
        [0.3, 0.3, 1.0, 0.7, 0.0],
        ["tea", "coffee", "1", "hot", ""],
    )


def test_a_single_group_hangs_from_the_root_by_an_edge_of_its_own():
    tree = Tree.from_groups({"all": ["a", "b", "c"]}, leaf_length=0.25)
    same(tree, "abc", [3, 3, 3, 4, -1], [0.25, 0.25, 0.25, 0.75, 0.0], ["a", "b", "c", "all", ""])
    assert tree.total_length == 1.5
    assert tree != Tree.star("abc")


def test_a_star_relates_no_options():
    tree = Tree.star(["tea", 2, 3.5])
    same(tree, ["tea", "2", "3.5"], [3, 3, 3, -1], [1.0, 1.0, 1.0, 0.0], ["tea", "2", "3.5", ""])
    assert tree.total_length == 3.0 and tree.clades() == {}


def test_newick_of_three_levels_with_a_fork_of_three_and_an_edge_of_length_zero():
    tree = Tree.from_newick("(d:4,((a:1,b:1,c:1)abc:0,e:1)x:3)root;")
    same(
        tree,
        "dabce",
        [7, 5, 5, 5, 6, 6, 7, -1],
        [1.0, 0.25, 0.25, 0.25, 0.25, 0.0, 0.75, 0.0],
        ["d", "a", "b", "c", "e", "abc", "x", "root"],
    )
    assert tree.clades() == {frozenset("abc"): "abc", frozenset("abce"): "x"}


def test_nodes_with_one_child_pass_their_length_and_name_on():
    tree = Tree.from_newick("((((a:1):1,b:2)inner:1)outer:1,((c:2,d:2):1)given:1);")
    same(
        tree,
        "abcd",
        [4, 4, 5, 5, 6, 6, -1],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.0],
        ["a", "b", "c", "d", "inner", "given", ""],
    )


def test_a_root_with_one_child_stays_and_the_chain_below_it_is_one_edge():
    tree = Tree.from_newick("(((a:1,b:1):2):1);")
    same(tree, "ab", [2, 2, 3, -1], [0.25, 0.25, 0.75, 0.0], ["a", "b", "", ""])


def test_the_length_above_the_root_is_ignored():
    for length in ("0.3", "-1", "nan", ""):
        assert Tree.from_newick(f"(a:1,b:1):{length};") == Tree.star("ab")


def test_leaves_nearly_equally_deep_become_exactly_so():
    tree = Tree.from_newick("((a:0.1000001,b:0.1):0.9,c:1);")
    deepest = 1.0000001
    np.testing.assert_allclose(
        tree.lengths, [0.1000001 / deepest] * 2 + [1.0, 0.9 / deepest, 0.0], rtol=4 * EPS
    )
    is_converged(tree)
    with refused(DataError, "same distance"):
        Tree.from_newick("((a:0.1000012,b:0.1):0.9,c:1);")


def test_extend_lengthens_the_edges_above_the_shallower_leaves():
    text = "((a:1,b:3):1,(c:1,d:1):0,e:2);"
    tree = Tree.from_newick(text, rescale="extend")
    assert tree == Tree.from_newick("((a:3,b:3):1,(c:4,d:4):0,e:4);")
    is_converged(tree)


def test_one_tree_made_in_three_ways_is_equal():
    groups = Tree.from_groups(
        {"hot": ["tea", "coffee"], "cold": ["milk", "juice"]}, leaf_length=0.25
    )
    text = "((milk:1,juice:1)cold:3,(coffee:1,tea:1)hot:3):9;"
    assert Tree.from_newick(text) == groups
    assert (
        Tree.from_newick(text).for_labels(groups.labels).parents.tolist() == groups.parents.tolist()
    )
    assert Tree.star(groups.labels) == Tree.from_newick("(tea:2,milk:2,juice:2,coffee:2);")


# --------------------------------------------------------------------------------------------------
# text and order


@pytest.mark.parametrize("seed", range(40))
def test_random_trees_are_read_and_written(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    text, labels, fork, total = random_tree(rng, n)
    tree = Tree.from_newick(text)
    is_converged(tree)
    assert tree.labels == labels
    # lengths are rounded once when they are written and once when they are divided, and at most 2 n
    # of them are added
    np.testing.assert_allclose(forks(tree), fork, atol=8 * n * EPS)
    assert tree.total_length == pytest.approx(total, abs=8 * n * n * EPS)

    again = Tree.from_newick(tree.to_newick())
    assert again == tree
    assert again.lengths.tolist() == tree.lengths.tolist() and again.names == tree.names

    order = rng.permutation(n)
    other = tree.for_labels([labels[k] for k in order])
    is_converged(other)
    assert other == tree and tree == other
    np.testing.assert_allclose(forks(other), fork[np.ix_(order, order)], atol=8 * n * EPS)
    assert Tree.from_newick(other.to_newick()) == tree
    assert other.clades() == tree.clades()
    back = other.for_labels(labels)
    assert (
        back.parents.tolist() == tree.parents.tolist()
        and back.lengths.tolist() == tree.lengths.tolist()
    )


GRAMMAR = [
    # text, what it means
    ("(a:1,b:1)", "(a:1.0,b:1.0);"),
    ("(a:1,b:1);\n\n", "(a:1.0,b:1.0);"),
    (" ( a : 1 ,\n\tb : 1 ) root : 3 ;", "(a:1.0,b:1.0)root;"),
    ("[&R] ([one]a[two]:[&rate=0.1]1[three],b:1)[four];[end]", "(a:1.0,b:1.0);"),
    ("(a:.5,b:5.e-1);", "(a:1.0,b:1.0);"),
    ("(a:2E+3,b:+2000);", "(a:1.0,b:1.0);"),
    ("((a:1,b:1)0.95:1,c:2);", "((a:0.5,b:0.5)0.95:0.5,c:1.0);"),
    ("((a:1,b:1)'the two, [a] and b':1,c:2);", "((a:0.5,b:0.5)'the two, [a] and b':0.5,c:1.0);"),
    ("('O''Brien':1,O'Neill:1);", "('O''Brien':1.0,'O''Neill':1.0);"),
    ('("say ""yes""":1,"(b:2,c)":1);', "('say \"yes\"':1.0,'(b:2,c)':1.0);"),
    ("(''''':':1,' b ':1);", "(''''':':1.0,b:1.0);"),
    ("(Ingrid_Bergman:1,Ä-1.0%$/\\|*:1);", "('Ingrid_Bergman':1.0,Ä-1.0%$/\\|*:1.0);"),
]


@pytest.mark.parametrize(("text", "meaning"), GRAMMAR)
def test_the_newick_grammar_is_read(text, meaning):
    tree = Tree.from_newick(text)
    assert tree.to_newick() == meaning
    assert Tree.from_newick(meaning) == tree


def test_newick_files_are_read(tmp_path):
    path = tmp_path / "of drinks.nwk"
    path.write_text("(tea:1,mílk:1);\n", encoding="utf-8-sig")
    assert Tree.from_newick(path).labels == ("tea", "mílk")
    path.write_text("(tea:1,milk:3);")
    assert Tree.from_newick(path, rescale="extend") == Tree.star(["tea", "milk"])


def test_trees_are_equal_up_to_order_and_rounding():
    text = "((a:1,b:1)ab:3,c:4);"
    tree = Tree.from_newick(text)
    assert tree == Tree.from_newick("(c:4,(b:1,a:1)ab:3);")
    assert tree == Tree.from_newick("((a:1,b:1)ab:3.0000000000001,c:4);")
    for other in (
        "((a:1,b:1)ab:3.0000001,c:4);",
        "((a:1,b:1):3,c:4);",
        "((a:1,b:1)ab:3,d:4);",
        "((a:1,c:1)ab:3,b:4);",
        "((a:1,b:1)ab:3,c:4)root;",
        "((a:1,b:1)ab:3,c:4,d:4);",
        "(((a:1,b:1)ab:3,c:4):0);",
    ):
        assert tree != Tree.from_newick(other)
    assert tree != text and tree != None  # noqa: E711


def test_copies_are_equal_and_stay_fixed():
    tree = Tree.from_groups(CELEBRITIES)
    for copied in (
        pickle.loads(pickle.dumps(tree)),
        copy.deepcopy(tree),
        *joblib.Parallel(n_jobs=2)([joblib.delayed(Tree.for_labels)(tree, tree.labels)]),
    ):
        assert copied == tree and copied.labels == tree.labels
        assert not copied.parents.flags.writeable and not copied.lengths.flags.writeable
    assert joblib.hash(tree) == joblib.hash(copy.deepcopy(tree))


def test_nothing_can_be_changed():
    tree = Tree.star("ab")
    with pytest.raises(AttributeError, match="make a new one"):
        tree.labels = ("c", "d")
    with pytest.raises(AttributeError):
        del tree.parents
    for array in (tree.parents, tree.lengths):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    tree.depths[0] = 5.0  # a new array each time
    assert tree.depths[0] == 1.0
    with pytest.raises(TypeError, match="use Tree.from_groups"):
        Tree()
    with pytest.raises(TypeError, match="unhashable"):
        hash(tree)
