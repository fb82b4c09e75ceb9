"""Bad trees: one table of (input, what its sentence says) for each way to make one."""

import numpy as np
import pytest
from helpers.sentences import refused

from thali import Tree
from thali.errors import ArgumentError, DataError

NAN, INF = float("nan"), float("inf")
FEW = "at least two"

AT = [
    # Newick text, position, and what is missing or not expected there
    ("", 1, "no tree"),
    ("(a:1,b:1", 9, "1 opening"),
    ("(a:1;b:1);", 5, "1 opening"),
    ("(c:2,(a:1,b:1", 14, "2 opening"),
    ("(a:1,b:1));", 10, "tree ends before"),
    ("(a:1,b:1)x y;", 12, "tree ends before"),
    ("(a:1,b:1);(c:1,d:1);", 11, "semicolon"),
    ("(a:1,b c:1);", 8, "comma"),
    ("(a:1,b(c):1);", 7, "comma"),
    ("(a:1,b:1:2);", 9, "comma"),
    ("(a:1,'b'c:1);", 9, "comma"),
    ("(a:1,'b:1);", 6, "quoted name"),
    ("(a:1,[b:1);", 6, "comment"),
    ("(a:1,,b:1);", 6, "a leaf has no name"),
    ("(a:1,b:1,);", 10, "a leaf has no name"),
    ("(a:1,' ':1);", 6, "a leaf has no name"),
    ("(a:1,():1);", 7, "a leaf has no name"),
    ("(:1,b:1);", 2, "a leaf has no name"),
    ("(a,b:1);", 3, "leaf 'a'"),
    ("((a:1,b:1)ab,c:2);", 13, "inner node 'ab'"),
    ("((a:1,b:1),c:2);", 11, "inner node ending here"),
    ("(a:1,b:);", 8, "got ''"),
    ("(a:1,b:x);", 8, "got 'x'"),
    ("(a:1,b:-1);", 8, "got '-1'"),
    ("(a:1,b:nan);", 8, "got 'nan'"),
    ("(a:1,b:inf);", 8, "got 'inf'"),
    ("(a:1,b:1e999);", 8, "got '1e999'"),
    ("(a:1,b:1_0);", 8, "got '1_0'"),
]


@pytest.mark.parametrize(("text", "position", "fact"), AT)
def test_newick_syntax_errors_name_their_position(text, position, fact):
    near = text[max(0, position - 13) : position + 11]
    with refused(DataError, f"position {position}, near {near!r}", fact):
        Tree.from_newick(text)


NEWICK = [
    (";", ("got ';'", "pathlib.Path")),
    ("drinks.nwk\n", ("got 'drinks.nwk'", "pathlib.Path")),
    (None, ("`text`", "got NoneType")),
    ("(a:1);", (FEW, "got 'a'")),
    ("(a:1,b:1,a:1);", ("positions 1 and 3", "'a'")),
    ("((a:1,' a':1):1,b:2);", ("positions 1 and 2", "'a'")),
    ("(c:1.5,b:2,a:1);", ("'a' is at 1 and 'b' at 2", "rescale='extend'")),
    ("(a:1,(b:0.1000012,c:0.1):0.9);", ("'a' is at 1 and 'b' at 1.0000012",)),
    ("(a:0,b:0);", ("0 for 'a'",)),
    ("(a:1,b:-0);", ("'b' is at 0 and 'a' at 1",)),
    ("(a:1e308,(b:1e308,c:1e308):1e308);", ("inf for 'b'",)),
]


@pytest.mark.parametrize(("text", "facts"), NEWICK)
def test_newick_of_bad_trees_is_refused(text, facts):
    with refused(DataError, *facts):
        Tree.from_newick(text)


def test_newick_files_that_cannot_be_read_are_refused(tmp_path):
    path, binary = tmp_path / "of drinks.nwk", tmp_path / "binary.nwk"
    path.write_text("(tea:1 milk:1);")
    binary.write_bytes(b"(\xff\xfe:1);")
    missing, nowhere = tmp_path / "of drink.nwk", tmp_path / "no" / "x"
    for file, facts in (
        (path, ("of drinks.nwk", "position 8, near '(tea:1 milk:1);'")),
        (missing, (repr(str(missing)), "'of drinks.nwk'?")),
        (nowhere, (repr(str(nowhere)),)),
        (tmp_path, (repr(str(tmp_path)), "is a folder")),
        (binary, ("binary.nwk", "UTF-8")),
    ):
        with refused(DataError, *facts):
            Tree.from_newick(file)


def test_unknown_rescaling_is_refused():
    with refused(ArgumentError, "`rescale`", "None or 'extend'", "got 'divide'"):
        Tree.from_newick("(a:1,b:1);", rescale="divide")


GROUPS = [
    ({}, (FEW, "got none")),
    ({"hot": ["tea"]}, (FEW, "got 'tea'")),
    ({"cold": ["milk"], "hot": []}, ("'hot'", "no members")),
    ({"hot": "tea"}, ("'hot'", "got 'tea'")),
    ({"hot": 5}, ("'hot'", "got 5")),
    ([["tea", "milk"]], ("`groups`", "got list")),
    ("tea", ("`groups`", "got str")),
    ({"hot": ["tea", "milk"], "cold": ["tea"]}, ("'tea'", "'hot' and 'cold'")),
    ({"hot": ["tea", "tea"]}, ("'tea'", "twice in group 'hot'")),
    ({"hot": [1, "1"]}, ("'1'", "twice in group 'hot'")),
    ({"hot": ["tea", None]}, ("Member 2", "'hot'")),
]


@pytest.mark.parametrize(("groups", "facts"), GROUPS)
def test_bad_groups_are_refused(groups, facts):
    with refused(DataError, *facts):
        Tree.from_groups(groups)


@pytest.mark.parametrize("length", [0, -0.1, 1.0000001, NAN, INF, "0.1", True, None, 1j])
def test_bad_leaf_lengths_are_refused(length):
    with refused(ArgumentError, "leaf_length", f"got {length!r}"):
        Tree.from_groups({"hot": ["tea", "coffee"]}, length)


@pytest.mark.parametrize("length", [1, np.float32(0.5), 1e-300])
def test_leaf_length_may_be_any_number_in_its_range(length):
    tree = Tree.from_groups({"hot": ["tea", "coffee"]}, length)
    assert tree.lengths.tolist() == [length, length, 1 - length, 0.0]


STARS = [
    ([], (FEW, "got none")),
    (["a"], (FEW, "got 'a'")),
    (["a", "b", "a"], ("positions 1 and 3", "'a'")),
    (["a", NAN], ("number 2 of 2",)),
    (5, ("got 5",)),
]


@pytest.mark.parametrize(("labels", "facts"), STARS)
def test_stars_of_bad_labels_are_refused(labels, facts):
    with refused(DataError, *facts):
        Tree.star(labels)


LETTERS = [*"abcdefgh"]
MATCHES = [
    # leaves, options, facts
    (["tea", "milk"], ["tea", "milk", "juice"], ("without a leaf: 'juice'.",)),
    (["tea", "milk", "juice"], ["juice", "tea"], ("without an option: 'milk'.",)),
    (
        ["tea", "milk", "ale"],
        ["Tea", "mlik", "beer"],
        (
            "leaf: 'Tea' (",
            "'tea'?), 'mlik' (",
            "'milk'?), 'beer'",
            "option: 'tea', 'milk' and 'ale'.",
        ),
    ),
    (
        LETTERS,
        range(7),
        ("'0', '1', '2', '3', '4' and 2 more", "'a', 'b', 'c', 'd', 'e' and 3 more"),
    ),
    (LETTERS, ["a"], (FEW, "got 'a'")),
    (LETTERS, ["a", "b", "b"], ("options", "positions 2 and 3", "'b'")),
    (LETTERS, None, ("options", "got None")),
]


@pytest.mark.parametrize(("leaves", "options", "facts"), MATCHES)
def test_leaves_that_are_not_the_options(leaves, options, facts):
    with refused(DataError, *facts):
        Tree.star(leaves).for_labels(options)
