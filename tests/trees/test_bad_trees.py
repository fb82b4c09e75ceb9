"""Bad trees: one table of (input, the sentence that says what is wrong and how to mend it) for each way to make one."""

import numpy as np
import pytest

from thali import Tree
from thali.errors import ArgumentError, DataError

NAN, INF = float("nan"), float("inf")
AT_LEAST_TWO = "The leaves of a tree must be at least two; got {}."
TWICE = "The leaves of a tree must all differ; numbers {} and {} are both 'a'."
LOOKS = "Newick text looks like '((a:0.1,b:0.1):0.9,c:1);', but this is {!r}; the name of a file is given as a"
LOOKS += " pathlib.Path."
COMMA = "a comma or a closing parenthesis is expected; names with blanks or brackets stand in quotes"
NUMBER = "the length above the leaf 'b' must be a finite number, 0 or more, not {!r}"
COLON = "the length above the {} is missing; write it after a colon"
UNNAMED = "the name of a leaf is missing"
UNEQUAL = "All leaves must be equally far from the root, but {!r} is {} and {!r} {} away; rescale='extend' lengthens"
UNEQUAL += " the edges above the nearer leaves."
ADD_UP = "From the root of a tree to a leaf, lengths must add up to a finite number above 0; the sum for {!r} is {}."

AT = [
    # Newick text, position and what is wrong there
    ("", 1, "there is no tree"),
    ("(a:1,b:1", 9, "1 opening parenthesis is not closed"),
    ("(a:1;b:1);", 5, "1 opening parenthesis is not closed"),
    ("(c:2,(a:1,b:1", 14, "2 opening parentheses are not closed"),
    ("(a:1,b:1));", 10, "the tree ends before this"),
    ("(a:1,b:1)x y;", 12, "the tree ends before this"),
    ("(a:1,b:1);(c:1,d:1);", 11, "one tree is expected, but more follows its semicolon"),
    ("(a:1,b c:1);", 8, COMMA),
    ("(a:1,b(c):1);", 7, COMMA),
    ("(a:1,b:1:2);", 9, COMMA),
    ("(a:1,'b'c:1);", 9, COMMA),
    ("(a:1,'b:1);", 6, "a quoted name is not closed"),
    ("(a:1,[b:1);", 6, "a comment is not closed"),
    ("(a:1,,b:1);", 6, UNNAMED),
    ("(a:1,b:1,);", 10, UNNAMED),
    ("(a:1,' ':1);", 6, UNNAMED),
    ("(a:1,():1);", 7, UNNAMED),
    ("(:1,b:1);", 2, UNNAMED),
    ("(a,b:1);", 3, COLON.format("leaf 'a'")),
    ("((a:1,b:1)ab,c:2);", 13, COLON.format("inner node 'ab'")),
    ("((a:1,b:1),c:2);", 11, COLON.format("inner node that ends here")),
    ("(a:1,b:);", 8, NUMBER.format("")),
    ("(a:1,b:x);", 8, NUMBER.format("x")),
    ("(a:1,b:-1);", 8, NUMBER.format("-1")),
    ("(a:1,b:nan);", 8, NUMBER.format("nan")),
    ("(a:1,b:inf);", 8, NUMBER.format("inf")),
    ("(a:1,b:1e999);", 8, NUMBER.format("1e999")),
    ("(a:1,b:1_0);", 8, NUMBER.format("1_0")),
]


@pytest.mark.parametrize(("text", "position", "wrong"), AT)
def test_newick_syntax(text, position, wrong):
    near = text[max(0, position - 13) : position + 11]
    with pytest.raises(DataError) as caught:
        Tree.from_newick(text)
    assert str(caught.value) == f"The Newick text is wrong at position {position}, near {near!r}: {wrong}."


NEWICK = [
    (";", LOOKS.format(";")),
    ("drinks.nwk\n", LOOKS.format("drinks.nwk")),
    (None, "`text` must be Newick text, or a pathlib.Path to a file of it; got NoneType."),
    ("(a:1);", AT_LEAST_TWO.format("'a'")),
    ("(a:1,b:1,a:1);", TWICE.format(1, 3)),
    ("((a:1,' a':1):1,b:2);", TWICE.format(1, 2)),
    ("(c:1.5,b:2,a:1);", UNEQUAL.format("a", 1, "b", 2)),
    ("(a:1,(b:0.1000012,c:0.1):0.9);", UNEQUAL.format("a", 1, "b", 1.0000012)),
    ("(a:0,b:0);", ADD_UP.format("a", 0)),
    ("(a:1,b:-0);", UNEQUAL.format("b", 0, "a", 1)),
    ("(a:1e308,(b:1e308,c:1e308):1e308);", ADD_UP.format("b", "inf")),
]


@pytest.mark.parametrize(("text", "sentence"), NEWICK)
def test_newick(text, sentence):
    with pytest.raises(DataError) as caught:
        Tree.from_newick(text)
    assert str(caught.value) == sentence


def test_newick_files(tmp_path):
    path, binary = tmp_path / "of drinks.nwk", tmp_path / "binary.nwk"
    path.write_text("(tea:1 milk:1);")
    binary.write_bytes(b"(\xff\xfe:1);")
    missing, nowhere = tmp_path / "of drink.nwk", tmp_path / "no" / "x"
    for file, sentence in (
        (path, f"of drinks.nwk: The Newick text is wrong at position 8, near '(tea:1 milk:1);': {COMMA}."),
        (missing, f"There is no file {str(missing)!r}. Did you mean 'of drinks.nwk'?"),
        (nowhere, f"There is no file {str(nowhere)!r}."),
        (tmp_path, f"{str(tmp_path)!r} is a folder; name a file in it."),
        (binary, "binary.nwk: This is not text in UTF-8; save the tree as Newick text."),
    ):
        with pytest.raises(DataError) as caught:
            Tree.from_newick(file)
        assert str(caught.value).startswith(sentence)


def test_rescale():
    with pytest.raises(ArgumentError) as caught:
        Tree.from_newick("(a:1,b:1);", rescale="divide")
    assert str(caught.value) == "`rescale` must be None or 'extend'; got 'divide'."


MAP = "`groups` must map each group to a list of its members, such as {'hot': ['tea', 'coffee']}; got "
LIST = "Group 'hot' must be a list of its members, such as ['tea', 'coffee']; got "
GROUPS = [
    ({}, AT_LEAST_TWO.format("none")),
    ({"hot": ["tea"]}, AT_LEAST_TWO.format("'tea'")),
    ({"cold": ["milk"], "hot": []}, "Group 'hot' has no members; name some, or leave the group out."),
    ({"hot": "tea"}, f"{LIST}'tea'."),
    ({"hot": 5}, f"{LIST}5."),
    ([["tea", "milk"]], f"{MAP}list."),
    ("tea", f"{MAP}str."),
    ({"hot": ["tea", "milk"], "cold": ["tea"]}, "'tea' is in two groups, 'hot' and 'cold'; put it in one."),
    ({"hot": ["tea", "tea"]}, "'tea' is in group 'hot' twice; name every option once."),
    ({"hot": [1, "1"]}, "'1' is in group 'hot' twice; name every option once."),
    ({"hot": ["tea", None]}, "Member 2 of group 'hot' has no name; name it, or leave it out."),
]


@pytest.mark.parametrize(("groups", "sentence"), GROUPS)
def test_groups(groups, sentence):
    with pytest.raises(DataError) as caught:
        Tree.from_groups(groups)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("length", [0, -0.1, 1.0000001, NAN, INF, "0.1", True, None, 1j])
def test_leaf_length(length):
    with pytest.raises(ArgumentError) as caught:
        Tree.from_groups({"hot": ["tea", "coffee"]}, length)
    assert str(caught.value) == f"leaf_length must be a number above 0 and at most 1; got {length!r}."


@pytest.mark.parametrize("length", [1, np.float32(0.5), 1e-300])
def test_leaf_length_may_be_any_number_in_its_range(length):
    tree = Tree.from_groups({"hot": ["tea", "coffee"]}, length)
    assert tree.lengths.tolist() == [length, length, 1 - length, 0.0]


STARS = [
    ([], AT_LEAST_TWO.format("none")),
    (["a"], AT_LEAST_TWO.format("'a'")),
    (["a", "b", "a"], TWICE.format(1, 3)),
    (["a", NAN], "The leaves of a tree must all have a name; number 2 of 2 is empty."),
    (5, "The leaves of a tree must be a sequence of names; got 5."),
]


@pytest.mark.parametrize(("labels", "sentence"), STARS)
def test_star(labels, sentence):
    with pytest.raises(DataError) as caught:
        Tree.star(labels)
    assert str(caught.value) == sentence


GOOD = [[0, 1, 1, 2], [3, 2, 2, 3]]
SHAPE = "The linkage of {} labels must have shape {}, as scipy.cluster.hierarchy.linkage returns it; got {}."
ABSENT = "Row {} of the linkage joins cluster {}, which is not there to be joined."
FINITE = "Row {} of the linkage joins {} at height {}; clusters and heights must be finite numbers, 0 or more."
LINKAGES = [
    (GOOD, "ab", SHAPE.format(2, (1, 4), (2, 4))),
    (GOOD, "abcd", SHAPE.format(4, (3, 4), (2, 4))),
    (np.array(GOOD)[:, :3], "abc", SHAPE.format(3, (2, 4), (2, 3))),
    (None, "abc", SHAPE.format(3, (2, 4), ())),
    ("tree", "abc", "`linkage` must be an array of numbers; got str."),
    ([[0, 1], [2]], "abc", "`linkage` must be an array of numbers; got list."),
    (GOOD, "aab", TWICE.format(1, 2)),
    (np.zeros((0, 4)), "a", AT_LEAST_TWO.format("'a'")),
    ([[0, 1, 1, 2], [3, 1, 2, 3]], "abc", ABSENT.format(1, 1)),
    ([[0, 0, 1, 2], [3, 2, 2, 3]], "abc", ABSENT.format(0, 0)),
    ([[0, 3, 1, 2], [3, 2, 2, 3]], "abc", ABSENT.format(0, 3)),
    ([[0, -1, 1, 2], [3, 2, 2, 3]], "abc", ABSENT.format(0, -1)),
    ([[0, 1.5, 1, 2], [3, 2, 2, 3]], "abc", ABSENT.format(0, 1.5)),
    ([[0, 1, NAN, 2], [3, 2, 2, 3]], "abc", FINITE.format(0, "0 and 1", "nan")),
    ([[0, 1, 1, 2], [3, 2, INF, 3]], "abc", FINITE.format(1, "3 and 2", "inf")),
    ([[0, 1, -1, 2], [3, 2, 2, 3]], "abc", FINITE.format(0, "0 and 1", -1)),
    ([[NAN, 1, 1, 2], [3, 2, 2, 3]], "abc", FINITE.format(0, "nan and 1", 1)),
    ([[0, 1, 0, 2], [3, 2, 0, 3]], "abc", ADD_UP.format("a", 0)),
    (
        [[0, 1, 1, 2], [3, 2, 0.5, 3]],
        "abc",
        "Row 1 of the linkage has height 0.5, below 1 of a cluster inside it; use a method without inversions, such as "
        "'average'.",
    ),
]


@pytest.mark.parametrize(("linkage", "labels", "sentence"), LINKAGES)
def test_linkage(linkage, labels, sentence):
    with pytest.raises(DataError) as caught:
        Tree.from_linkage(linkage, labels)
    assert str(caught.value) == sentence


NAMED = "The leaves of the tree must be named as the options are; "
LETTERS = [*"abcdefgh"]
MATCHES = [
    # leaves, options, sentence
    (["tea", "milk"], ["tea", "milk", "juice"], NAMED + "options without a leaf: 'juice'."),
    (["tea", "milk", "juice"], ["juice", "tea"], NAMED + "leaves without an option: 'milk'."),
    (
        ["tea", "milk", "ale"],
        ["Tea", "mlik", "beer"],
        NAMED + "options without a leaf: 'Tea' (Did you mean 'tea'?), 'mlik' (Did you mean 'milk'?), 'beer'; leaves "
        "without an option: 'tea', 'milk', 'ale'.",
    ),
    (
        LETTERS,
        range(7),
        NAMED + "options without a leaf: '0', '1', '2', '3', '4' and 2 more; leaves without an option: 'a', 'b', 'c', "
        "'d', 'e' and 3 more.",
    ),
    (LETTERS, ["a"], "The options must be at least two; got 'a'."),
    (LETTERS, ["a", "b", "b"], "The options must all differ; numbers 2 and 3 are both 'b'."),
    (LETTERS, None, "The options must be a sequence of names; got None."),
]


@pytest.mark.parametrize(("leaves", "options", "sentence"), MATCHES)
def test_leaves_that_are_not_the_options(leaves, options, sentence):
    with pytest.raises(DataError) as caught:
        Tree.star(leaves).for_labels(options)
    assert str(caught.value) == sentence
