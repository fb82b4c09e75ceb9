"""Bad similarities: tables of (input, the facts that say what is wrong)."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused
from scipy.sparse import coo_array

import thali._data.kinds as kinds
from thali import Similarities
from thali._reading.layout_recognition import read_data
from thali.errors import ArgumentError, DataError

NAN, INF = float("nan"), float("inf")


def framed(values, rows="AB", columns="AB"):
    return pd.DataFrame(values, index=list(rows), columns=list(columns))


ARRAYS = [
    # matrix, labels, facts
    (np.zeros((3, 2)), None, ("`matrix`", "got shape", "(3, 2)", "from_frame")),
    ([1, 2, 3, 4], None, ("4 similarities",)),
    (0.5, None, ("`matrix`", "got shape", "from_frame")),
    ([[0, 1], [1]], None, ("`matrix`",)),
    (
        pd.DataFrame({"name": ["A", "B"], "A": [1, 0.5], "B": [0.5, 1]}),
        None,
        ("`matrix`", "(2, 3)", "set_index"),
    ),
    (coo_array(np.eye(3)), None, ("(matrix.toarray() fills in 0)",)),
    ([[1]], "A", ("got 'A'",)),
    (np.zeros((0, 0)), None, ("got none",)),
    (np.full((3, 3), NAN), None, ("3 objects",)),
    (np.diag([1.0, 2, 3]) + np.where(np.eye(3), 0, NAN), None, ("3 objects",)),
    ([[1, 0.5], [0.5, 1]], "AA", ("'A'", "positions 1 and 2")),
    ([[1, 0.5], [0.5, 1]], ["A", ""], ("Labels must not be empty",)),
    ([[1, 0.5], [0.5, 1]], "ABC", ("`labels`", "got 3", "2 objects")),
    (framed([[1, 0.5], [0.5, 1]], "AC"), None, ("'C'", "'B'")),
    (framed([[1, 0.5], [0.5, 1]]), "BA", ("`labels`", "DataFrame")),
    (framed([[1, 0.5], [0.5, 1]], "AA"), None, ("'A'", "positions 1 and 2")),
    ([[1, INF], [INF, 1]], "AB", ("row 'A'", "column 'B'")),
    ([[1, 0.5], [-INF, 1]], "AB", ("row 'B'", "column 'A'")),
    ([[1, "x"], [0.5, 1]], "AB", ("row 'A'", "column 'B'", "'x'")),
    ([[1, 0.5], [1j, 1]], "AB", ("row 'A'", "column 'B'", "0.5")),
    (
        [[1, 0.5, 0.2], [0.4, 1, 0.3], [0.2, 0.0, 1]],
        "ABC",
        ("0.3", "row 'B'", "column 'C'", "row 'C'"),
    ),
    ([[1, 0.5], [0.4, 1]], None, ("0.1", "0.5", "row '0'", "column '1'")),
]


@pytest.mark.parametrize(("matrix", "labels", "facts"), ARRAYS)
def test_bad_arrays_of_similarities_are_refused(matrix, labels, facts):
    with refused(DataError, *facts):
        Similarities(matrix, labels)


GOOD = [[1, 0.5], [0.5, 1]]
ARGUMENTS = [
    ({"symmetrize": "max"}, ("symmetrize", "'mean'", "got 'max'")),
    ({"sigma": 0}, ("sigma", "positive finite", "got 0")),
    ({"sigma": -0.1}, ("sigma", "positive finite", "got -0.1")),
    ({"sigma": NAN}, ("sigma", "positive finite", "got nan")),
    ({"sigma": INF}, ("sigma", "positive finite", "got inf")),
    ({"sigma": "0.1"}, ("sigma", "positive finite", "got '0.1'")),
    ({"sigma": 1e-300}, ("sigma", "-100", "got 1")),
]


@pytest.mark.parametrize(("arguments", "facts"), ARGUMENTS)
def test_bad_arguments_of_similarities_are_refused(arguments, facts):
    with refused(ArgumentError, *facts):
        Similarities(GOOD, **arguments)


ROWS = {"a": ["x", "y"], "b": ["y", "z"], "similarity": [0.5, 0.2]}
FRAMES = [
    (ROWS | {"a": ["x", None]}, {}, ("row 1", "column 'a'")),
    (ROWS | {"similarity": [0.5, INF]}, {}, ("row 1", "column 'similarity'")),
    (ROWS | {"similarity": ["high", 1]}, {}, ("row 0", "column 'similarity'", "'high'")),
    (ROWS | {"similarity": [NAN, NAN]}, {}, ("3 objects",)),
    ({"a": ["x"], "b": ["x"], "similarity": [1]}, {}, ("got 'x'",)),
    ({"a": [], "b": [], "similarity": []}, {}, ("no similarities",)),
    (ROWS | {"n": [1, -2]}, {}, ("row 1", "column 'n'", "-2")),
    (ROWS, {"labels": "xy"}, ("'z'", "row 1", "column 'b'", "`labels`")),
    (ROWS, {"similarity": "similarty"}, ("column 'similarty'", "'a'", "'b'", "'similarity'")),
    (ROWS, {"first": "a"}, ("`first`", "`second`")),
    (ROWS | {"sim": 1}, {}, ("'similarity'", "'sim'")),
    (ROWS | {"i": 1, "j": 2}, {}, ("'a'", "'b'", "'i'", "'j'")),
    (ROWS | {"n": 1, "times": 2}, {}, ("'n'", "'times'")),
    (
        {"a": ["x"], "b": ["y"], "distance": [1]},
        {},
        ("Column 'distance'", "dissimilarities='linear'"),
    ),
]


@pytest.mark.parametrize(("columns", "arguments", "facts"), FRAMES)
def test_bad_lists_of_similarities_are_refused(columns, arguments, facts):
    with refused(DataError, *facts):
        Similarities.from_frame(pd.DataFrame(columns), **arguments)


def test_what_is_no_frame():
    with refused(DataError, "`frame`", "DataFrame", "got list"):
        Similarities.from_frame([[1, 2]])
    with refused(DataError, "'x'", "'y'"):
        Similarities.from_frame(pd.DataFrame({"x": [1], "y": [2]}))


DISSIMILARITIES = [
    ([[0, -1], [-1, 0]], "linear", ("'0'", "'1'", "-1")),
    (np.zeros((3, 3)), "exponential", ('"exponential"', "one positive value")),
    (np.ones((3, 3)), lambda d: d[:2], ("`how`", "3 finite", "got an", "(2,)")),
    (np.ones((3, 3)), lambda d: 1 / (d - 1), ("`how`", "3 finite", "got some")),
    (np.ones((3, 3)), lambda d: "text", ("`how`", "3 finite", "got str")),
    ([[0, 1], [2, 0]], "linear", ("1, between", "row '0'", "column '1'")),
    ([[0, NAN], [NAN, 0]], "linear", ("2 objects",)),
]


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(("matrix", "how", "facts"), DISSIMILARITIES)
def test_bad_dissimilarities_are_refused(matrix, how, facts):
    with refused(DataError, *facts):
        Similarities.from_dissimilarities(matrix, how)


def test_an_unknown_way_to_convert():
    with refused(ArgumentError, "how", "'linear'", "'exponential'", "got 'log'"):
        Similarities.from_dissimilarities(GOOD, "log")


SUBJECTS = [
    ([], {}, ("`matrices`", "empty")),
    (5, {}, ("`matrices`", "got int")),
    (np.zeros((3, 3)), {}, ("`matrices`", "got shape", "(3, 3)")),
    (np.zeros((0, 3, 3)), {}, ("`matrices`", "got shape", "(0, 3, 3)")),
    (framed(GOOD), {}, ("`matrices`", "got shape", "(2, 2)")),
    ([GOOD, [[1, 0.5, 0], [0.5, 1, 0]]], {}, ("`matrix`", "got shape", "(2, 3)")),
    ([GOOD, [[1, 0.5], [0.1, 1]]], {}, ("0.4", "0.5", "row '0'")),
    ([framed(GOOD), framed(GOOD, "AC", "AC")], {}, ("'A'", "'C'")),
    (np.full((2, 3, 3), NAN), {}, ("3 objects",)),
]


@pytest.mark.parametrize(("matrices", "arguments", "facts"), SUBJECTS)
def test_bad_matrices_of_respondents_are_refused(matrices, arguments, facts):
    with refused(DataError, *facts):
        Similarities.from_respondents(matrices, **arguments)


def test_an_unknown_name_of_sigma_is_refused():
    with refused(ArgumentError, "sigma", "'standard error'", "'deviation'", "got 'error'"):
        Similarities.from_respondents([GOOD], sigma="error")
    with refused(ArgumentError, "sigma"):
        Similarities.from_respondents([GOOD], sigma=0)


NOT_COMPARISONS = [
    (",A,B\nA,1,0.5\nB,0.5,1\n", ("similarities (square table)",)),
    ("A,B\n1,0.5\n0.5,1\n", ("similarities (square table)",)),
    ("1,0.5\n0.5,1\n", ("similarities (square table)",)),
    (",A,B\nA,1,-2\nB,-2,1\n", ("similarities (square table)",)),
    (",A,B,C\nA,1,,\nB,0.5,1,\nC,0.1,0.4,1\n", ("similarities (square table)",)),
    (",A,B,C\nA,1,0,0\nB,0.5,1,0\nC,0.1,0.4,1\n", ("similarities (square table)",)),
    ("i,j,similarity\nA,B,0.5\n", ("'similarity'", "'i'", "'j'")),
    ("a,b,rating\nA,B,5\n", ("'rating'", "'a'", "'b'")),
]


@pytest.mark.parametrize(("content", "facts"), NOT_COMPARISONS)
def test_similarities_are_not_read_as_comparisons(content, facts, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(content)
    with refused(DataError, "table.csv: ", *facts):
        read_data(path, kinds.PAIRS)


FILES = [
    (",A,B\nA,1,0.5\nC,0.5,1\n", ("'C'", "'B'")),
    (",A,B\nX,1,0.5\nY,0.5,1\n", ("'X'", "'Y'", "'A'", "'B'")),
    (",A,B\nA,1,high\nB,0.5,1\n", ("row 'A'", "column 'B'", "'high'")),
    (",A,B\nA,1,0.5\nB,inf,1\n", ("row 'B'", "column 'A'")),
    (",A,B\nA,1,0.5\nB,0.2,1\n", ("0.3", "0.5", "row 'A'", "column 'B'")),
    (",A,B\nA,,\nB,,\n", ("2 objects",)),
    ("a,b,similarity\nA,B,inf\n", ("row 2", "column 'similarity'")),
    (",A,B,C\nA,0.5,0.1\nB,0.4\nC\n", ("Line 2", "3 cells", "4 columns")),
]


@pytest.mark.parametrize(("content", "facts"), FILES)
def test_bad_files_of_similarities_are_refused(content, facts, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(content)
    with refused(DataError, "table.csv: ", *facts):
        read_data(path, kinds.SIMILARITIES)


def test_a_table_that_is_nothing(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x,y,z\n1,2,3\n4,5,6\n")
    with refused(DataError, "'x'", "'y'", "'z'"):
        read_data(path, kinds.SIMILARITIES)
    with refused(DataError, "'x'", "'y'", "'z'"):
        read_data(path, kinds.PAIRS, kinds.SIMILARITIES)
    with refused(DataError, "There is no file"):
        read_data(tmp_path / "tables.csv", kinds.PAIRS, kinds.SIMILARITIES)
