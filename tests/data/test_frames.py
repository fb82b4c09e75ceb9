"""Data frames of other libraries, condensed vectors and plain matrices."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

import thali as th
from thali._data.columns import as_frame
from thali.errors import DataWarning

ROWS = {
    "respondent": [1, 1, 2],
    "left": ["tea", "tea", "milk"],
    "right": ["milk", "milk", "tea"],
    "choice": list("112"),
}
LONG = {"task": [1, 1, 2, 2], "alternative": ["tea", "milk"] * 2, "chosen": [1, 0, 0, 1]}
SIMILAR = {"first": ["a", "a"], "second": ["b", "c"], "similarity": [0.1, 0.2]}
MADE = [
    (th.PairedComparisons.from_trials, ROWS),
    (th.Choices, LONG),
    (th.Choices.from_rankings, {"rank1": ["tea"], "rank2": ["milk"]}),
    (th.Similarities.from_frame, SIMILAR),
    (th.ChoiceExperiment.from_frame, {"id": [1, 1], "task": [1, 1], "choice": [1, 0], "price": [2, 3]}),
]


@pytest.mark.parametrize(("make", "columns"), MADE)
@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_any_frame_with_the_arrow_interface(make, columns, library):
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    pytest.importorskip("narwhals", reason="narwhals is not installed")
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    assert make(frame) == make(pd.DataFrame(columns))


def test_missing_cells_stay_missing():
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pytest.importorskip("narwhals", reason="narwhals is not installed")
    frame = as_frame(pyarrow.table({"x": [1, None], "y": ["a", None]}))
    assert frame.isna().to_numpy().tolist() == [[False, False], [True, True]]


def test_what_is_no_frame(monkeypatch):
    with pytest.raises(
        ValueError, match="`frame` must be a DataFrame, of pandas, polars or whatever has the Arrow inter"
    ):
        th.PairedComparisons.from_trials({"left": ["a"]})
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(ValueError, match=r'A Table of pyarrow needs narwhals: pip install "thali\[frames\]", or pass'):
        th.PairedComparisons.from_trials(pyarrow.table(ROWS))


def test_the_condensed_vector_of_scipy():
    points = np.random.default_rng(1).random((5, 3))
    vector = pdist(points)
    square = squareform(vector)
    assert th.Similarities.from_dissimilarities(vector) == th.Similarities.from_dissimilarities(square)
    assert th.Similarities(list(vector), list("abcde")) == th.Similarities(square, list("abcde"))
    with pytest.raises(ValueError, match="A vector of 4 similarities is none of all pairs of some objects"):
        th.Similarities([0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize(
    ("model", "matrix", "said"),
    [
        (
            th.EliminationByAspects("unique"),
            [[0, 3], [1, 0]],
            "A plain matrix was given; it is taken for PairedComparisons(matrix), times the row was chosen over "
            "the column: 2 options, 1 pair, 4 comparisons.",
        ),
        (
            th.AdditiveClustering(sigma=0.1),
            np.array([[1, 0.3, 0.2], [0.3, 1, 0.4], [0.2, 0.4, 1]]),
            "A plain matrix was given; it is taken for Similarities(matrix), how similar row and column are: 3 "
            "objects, 3 similarities.",
        ),
    ],
)
def test_a_plain_matrix_is_wrapped_and_said(model, matrix, said):
    with pytest.warns(DataWarning) as caught:
        model.prepare(matrix, draws=5, tune=5)
    assert said in [str(each.message) for each in caught]
