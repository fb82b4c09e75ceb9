"""Bad similarities: tables of (input, the sentence that says what is wrong and how to mend it)."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused
from scipy.sparse import coo_array

import thali._data.kinds as kinds
from thali._data.similarities import Similarities
from thali._reading.recognise import read
from thali.errors import ArgumentError, DataError

NAN, INF = float("nan"), float("inf")
SQUARE = "a row and a column for each object; got shape {}. Long tables are read by Similarities.from_frame."
ASYMMETRIC = (
    "Similarities must be symmetric; the largest difference is {}. To take the mean of the two, set symmetrize='mean'."
)
SPARSE = (
    "A sparse matrix does not say whether an absent similarity is 0 or was not measured; pass an array with NaN where "
    "it was not (matrix.toarray() has 0)."
)


def framed(values, rows="AB", columns="AB"):
    return pd.DataFrame(values, index=list(rows), columns=list(columns))


ARRAYS = [
    # matrix, labels, sentence
    (np.zeros((3, 2)), None, "`matrix` must be square, " + SQUARE.format("(3, 2)")),
    (
        [1, 2, 3, 4],
        None,
        "A vector of 4 similarities is none of all pairs of some objects (1, 3, 6, 10, ...); give a square table, or "
        "the "
        "condensed vector of scipy.spatial.distance.",
    ),
    (0.5, None, "`matrix` must be square, " + SQUARE.format("()")),
    ([[0, 1], [1]], None, "`matrix` must be square; its rows differ in length."),
    (
        pd.DataFrame({"name": ["A", "B"], "A": [1, 0.5], "B": [0.5, 1]}),
        None,
        "`matrix` must be square; got shape (2, 3), whose first column holds labels: pass frame.set_index('name').",
    ),
    (coo_array(np.eye(3)), None, SPARSE),
    ([[1]], "A", "At least two objects are needed to compare; got 'A'."),
    (np.zeros((0, 0)), None, "At least two objects are needed to compare; got none."),
    (np.full((3, 3), NAN), None, "There is not a single similarity among the 3 objects."),
    (np.diag([1.0, 2, 3]) + np.where(np.eye(3), 0, NAN), None, "There is not a single similarity among the 3 objects."),
    ([[1, 0.5], [0.5, 1]], "AA", "Labels must all differ; numbers 1 and 2 are both 'A'."),
    ([[1, 0.5], [0.5, 1]], ["A", ""], "Labels must all have a name; number 2 of 2 is empty."),
    ([[1, 0.5], [0.5, 1]], "ABC", "`labels` must name every object once; got 3 labels for 2 objects."),
    (
        framed([[1, 0.5], [0.5, 1]], "AC"),
        None,
        "Rows and columns must bear the same labels; only rows have 'C', only columns have 'B'.",
    ),
    (framed([[1, 0.5], [0.5, 1]]), "BA", "`labels` must be those of the DataFrame, in its order; leave them out."),
    (framed([[1, 0.5], [0.5, 1]], "AA"), None, "Row labels must all differ; numbers 1 and 2 are both 'A'."),
    (
        [[1, INF], [INF, 1]],
        "AB",
        "The similarity in row 'A', column 'B' is infinite; similarities must be finite, and empty or NaN where a "
        "pair was not measured.",
    ),
    (
        [[1, 0.5], [-INF, 1]],
        "AB",
        "The similarity in row 'B', column 'A' is infinite; similarities must be finite, and empty or NaN where a "
        "pair was not measured.",
    ),
    ([[1, "x"], [0.5, 1]], "AB", "The similarity in row 'A', column 'B' is 'x', which is not a number."),
    ([[1, 0.5], [1j, 1]], "AB", "The similarity in row 'A', column 'B' is (0.5+0j), which is not a number."),
    (
        [[1, 0.5, 0.2], [0.4, 1, 0.3], [0.2, 0.0, 1]],
        "ABC",
        ASYMMETRIC.format("0.3, between 0.3 in row 'B', column 'C' and 0 in row 'C', column 'B'"),
    ),
    (
        [[1, 0.5], [0.4, 1]],
        None,
        ASYMMETRIC.format("0.1, between 0.5 in row '0', column '1' and 0.4 in row '1', column '0'"),
    ),
]


@pytest.mark.parametrize(("matrix", "labels", "sentence"), ARRAYS)
def test_arrays(matrix, labels, sentence):
    with pytest.raises(DataError) as caught:
        Similarities(matrix, labels)
    assert str(caught.value) == sentence


GOOD = [[1, 0.5], [0.5, 1]]
SIGMA = "sigma is the standard deviation of a similarity and must be a finite number above 0; got "
ARGUMENTS = [
    ({"symmetrize": "max"}, "symmetrize must be one of None, 'mean'; got 'max'."),
    ({"sigma": 0}, SIGMA + "0."),
    ({"sigma": -0.1}, SIGMA + "-0.1."),
    ({"sigma": NAN}, SIGMA + "nan."),
    ({"sigma": INF}, SIGMA + "inf."),
    ({"sigma": "0.1"}, SIGMA + "'0.1'."),
    (
        {"sigma": 1e-300},
        "sigma is the standard deviation of a similarity and must be from 1e-100 to 1e+100; got 1e-300.",
    ),
]


@pytest.mark.parametrize(("arguments", "sentence"), ARGUMENTS)
def test_arguments(arguments, sentence):
    with pytest.raises(ArgumentError) as caught:
        Similarities(GOOD, **arguments)
    assert str(caught.value) == sentence


ROWS = {"a": ["x", "y"], "b": ["y", "z"], "similarity": [0.5, 0.2]}
FRAMES = [
    (ROWS | {"a": ["x", None]}, {}, "A label is missing in row 1, column 'a'; fill it in or remove the row."),
    (
        ROWS | {"similarity": [0.5, INF]},
        {},
        "The similarity in row 1, column 'similarity' is infinite; similarities must be finite.",
    ),
    (
        ROWS | {"similarity": ["high", 1]},
        {},
        "The similarity in row 0, column 'similarity' is 'high', which is not a number.",
    ),
    (ROWS | {"similarity": [NAN, NAN]}, {}, "There is not a single similarity among the 3 objects."),
    ({"a": ["x"], "b": ["x"], "similarity": [1]}, {}, "At least two objects are needed to compare; got 'x'."),
    ({"a": [], "b": [], "similarity": []}, {}, "There is not a single similarity; the table has no rows."),
    (
        ROWS | {"n": [1, -2]},
        {},
        "The count in row 1, column 'n' is -2, which is negative; weights must be finite and 0 or more.",
    ),
    (ROWS, {"labels": "xy"}, "'z' in row 1, column 'b' is not among `labels`."),
    (
        ROWS,
        {"similarity": "similarty"},
        "There is no column 'similarty'; the columns are 'a', 'b', 'similarity'. Did you mean 'similarity'?",
    ),
    (ROWS, {"first": "a"}, "Name both columns of objects, `first` and `second`, or neither."),
    (
        ROWS | {"sim": 1},
        {},
        "'similarity', 'sim' could each tell the similarity; say which, or rename those that are not meant.",
    ),
    (
        ROWS | {"i": 1, "j": 2},
        {},
        "'a' and 'b', 'i' and 'j' could each tell the two objects; say which, or rename those that are not meant.",
    ),
    (
        ROWS | {"n": 1, "times": 2},
        {},
        "'n', 'times' could each tell how many judgements a row stands for; say which, or rename those that are not "
        "meant.",
    ),
    (
        {"a": ["x"], "b": ["y"], "distance": [1]},
        {},
        "Column 'distance' holds dissimilarities; make similarities of them first, as "
        "Similarities.from_dissimilarities does of a square table.",
    ),
]


@pytest.mark.parametrize(("columns", "arguments", "sentence"), FRAMES)
def test_frames(columns, arguments, sentence):
    with pytest.raises(DataError) as caught:
        Similarities.from_frame(pd.DataFrame(columns), **arguments)
    assert str(caught.value) == sentence


def test_what_is_no_frame():
    with refused(DataError, "`frame`", "DataFrame", "got list"):
        Similarities.from_frame([[1, 2]])
    with refused(DataError, "'x'", "'y'"):
        Similarities.from_frame(pd.DataFrame({"x": [1], "y": [2]}))


FEW = "`how` must return 3 finite numbers, one similarity for each dissimilarity; got "
DISSIMILARITIES = [
    (
        [[0, -1], [-1, 0]],
        "linear",
        "The dissimilarity of '0' and '1' is -1, which is negative; dissimilarities must be 0 or more.",
    ),
    (
        np.zeros((3, 3)),
        "exponential",
        'All dissimilarities are 0, so their mean gives no scale; how="exponential" needs one above 0.',
    ),
    (np.ones((3, 3)), lambda d: d[:2], FEW + "an array of shape (2,)."),
    (np.ones((3, 3)), lambda d: 1 / (d - 1), FEW + "some that are not finite."),
    (np.ones((3, 3)), lambda d: "text", FEW + "str."),
    ([[0, 1], [2, 0]], "linear", ASYMMETRIC.format("1, between 1 in row '0', column '1' and 2 in row '1', column '0'")),
    ([[0, NAN], [NAN, 0]], "linear", "There is not a single similarity among the 2 objects."),
]


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(("matrix", "how", "sentence"), DISSIMILARITIES)
def test_dissimilarities(matrix, how, sentence):
    with pytest.raises(DataError) as caught:
        Similarities.from_dissimilarities(matrix, how)
    assert str(caught.value) == sentence


def test_an_unknown_way_to_convert():
    with refused(ArgumentError, "how", "'linear'", "'exponential'", "got 'log'"):
        Similarities.from_dissimilarities(GOOD, "log")


PEOPLE = "`matrices` must be a list of square tables, or an array people x objects x objects; got shape "
SUBJECTS = [
    ([], {}, "`matrices` must hold the table of one person at least; got none."),
    (5, {}, "`matrices` must be a list of square tables; got int."),
    (np.zeros((3, 3)), {}, PEOPLE + "(3, 3)."),
    (np.zeros((0, 3, 3)), {}, PEOPLE + "(0, 3, 3)."),
    (framed(GOOD), {}, PEOPLE + "(2, 2)."),
    ([GOOD, [[1, 0.5, 0], [0.5, 1, 0]]], {}, "Person 2: `matrix` must be square, " + SQUARE.format("(2, 3)")),
    (
        [GOOD, [[1, 0.5], [0.1, 1]]],
        {},
        "Person 2: " + ASYMMETRIC.format("0.4, between 0.5 in row '0', column '1' and 0.1 in row '1', column '0'"),
    ),
    (
        [framed(GOOD), framed(GOOD, "AC", "AC")],
        {},
        "Every person's table must bear the same labels; those of person 2 are 'A', 'C', those of person 1 'A', 'B'.",
    ),
    (np.full((2, 3, 3), NAN), {}, "There is not a single similarity among the 3 objects."),
]


@pytest.mark.parametrize(("matrices", "arguments", "sentence"), SUBJECTS)
def test_people(matrices, arguments, sentence):
    with pytest.raises(DataError) as caught:
        Similarities.from_respondents(matrices, **arguments)
    assert str(caught.value) == sentence


def test_an_unknown_deviation():
    with refused(ArgumentError, "sigma", "'standard error'", "'deviation'", "got 'error'"):
        Similarities.from_respondents([GOOD], sigma="error")
    with refused(ArgumentError, "sigma"):
        Similarities.from_respondents([GOOD], sigma=0)


LOOKS = "The table holds similarities (square of similarities: square table), not paired comparisons."
LISTED = (
    "The table holds similarities (list of similarities: table of pairs, {0!r} of {1!r} and {2!r}), not paired "
    "comparisons."
)
NOT_COMPARISONS = [
    (",A,B\nA,1,0.5\nB,0.5,1\n", LOOKS),
    ("A,B\n1,0.5\n0.5,1\n", LOOKS),
    ("1,0.5\n0.5,1\n", LOOKS),
    (",A,B\nA,1,-2\nB,-2,1\n", LOOKS),
    (",A,B,C\nA,1,,\nB,0.5,1,\nC,0.1,0.4,1\n", LOOKS),
    (",A,B,C\nA,1,0,0\nB,0.5,1,0\nC,0.1,0.4,1\n", LOOKS),
    ("i,j,similarity\nA,B,0.5\n", LISTED.format("similarity", "i", "j")),
    ("a,b,rating\nA,B,5\n", LISTED.format("rating", "a", "b")),
]


@pytest.mark.parametrize(("content", "sentence"), NOT_COMPARISONS)
def test_similarities_are_not_read_as_comparisons(content, sentence, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(DataError) as caught:
        read(path, kinds.PAIRS)
    assert str(caught.value) == f"table.csv: {sentence}"


FILES = [
    (
        ",A,B\nA,1,0.5\nC,0.5,1\n",
        "Rows and columns must bear the same labels; only rows have 'C', only columns have 'B'.",
    ),
    (
        ",A,B\nX,1,0.5\nY,0.5,1\n",
        "Rows and columns must bear the same labels; only rows have 'X', 'Y', only columns have 'A', 'B'.",
    ),
    (",A,B\nA,1,high\nB,0.5,1\n", "The similarity in row 'A', column 'B' is 'high', which is not a number."),
    (
        ",A,B\nA,1,0.5\nB,inf,1\n",
        "The similarity in row 'B', column 'A' is infinite; similarities must be finite, and empty or NaN where a "
        "pair was not measured.",
    ),
    (
        ",A,B\nA,1,0.5\nB,0.2,1\n",
        ASYMMETRIC.format("0.3, between 0.5 in row 'A', column 'B' and 0.2 in row 'B', column 'A'"),
    ),
    (",A,B\nA,,\nB,,\n", "There is not a single similarity among the 2 objects."),
    (
        "a,b,similarity\nA,B,inf\n",
        "The similarity in row 2, column 'similarity' is infinite; similarities must be finite.",
    ),
    (
        ",A,B,C\nA,0.5,0.1\nB,0.4\nC\n",
        "Line 2 holds 3 cells, but the header names 4 columns; every row needs the same number (a label that contains "
        "the separator must stand in quotes).",
    ),
]


@pytest.mark.parametrize(("content", "sentence"), FILES)
def test_files(content, sentence, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(DataError) as caught:
        read(path, kinds.SIMILARITIES)
    assert str(caught.value) == f"table.csv: {sentence}"


def test_a_table_that_is_nothing(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x,y,z\n1,2,3\n4,5,6\n")
    with refused(DataError, "'x'", "'y'", "'z'"):
        read(path, kinds.SIMILARITIES)
    with refused(DataError, "'x'", "'y'", "'z'"):
        read(path, kinds.PAIRS, kinds.SIMILARITIES)
    with refused(DataError, "There is no file"):
        read(tmp_path / "tables.csv", kinds.PAIRS, kinds.SIMILARITIES)
