"""Small private parts at one value each."""

import ast
from pathlib import Path

import matplotlib
import numpy as np
import pytest

import thali
import thali as th
from thali._aspects.answers.features import place_in_tree
from thali._aspects.draws.counts import log_binomial, log_coefficient
from thali._inference.threads import rectangle

matplotlib.use("Agg")


def test_the_rectangle_of_most_draws():
    assert rectangle([50, 40, 45, 10]) == ([0, 1, 2], 40)
    assert rectangle([0, 0]) == ([0, 1], 0)


def test_the_binomial_coefficient_and_the_binomial():
    assert log_coefficient(1, 1) == pytest.approx(np.log(2.0))
    assert log_binomial(1, 1, 0.5) == pytest.approx(np.log(0.5))


def test_a_newick_text_is_parsed_and_written():
    tree = th.Tree.from_newick("((a:0.1,'b c':0.1)hot:0.9,d:1);")
    assert tree.labels == ("a", "b c", "d") and "hot" in tree.names
    assert tree.to_newick() == "((a:0.1,'b c':0.1)hot:0.9,d:1.0);"


def test_where_a_feature_lies_in_a_tree():
    tree = th.Tree.from_groups({"hot": ["tea", "coffee"], "cold": ["milk", "juice"]})
    assert place_in_tree([("tea",), ("tea", "coffee"), ("tea", "milk")], tree) == ["leaf", "clade hot", "across"]


def test_private_functions_have_a_docstring_of_one_line():
    """What they promise besides is a comment."""
    found = []
    for path in sorted(Path(thali.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("_") and not node.name.startswith("__"):
                found += [f"{path.name}: {node.name}"] if "\n" in (ast.get_docstring(node) or "") else []
    assert not found
