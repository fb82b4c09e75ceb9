"""Data frames of other libraries, condensed vectors and plain matrices."""

import sys

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, said
from scipy.spatial.distance import pdist, squareform

import thali as th
from thali.errors import DataError, DataWarning

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
    (
        th.ChoiceExperiment.from_frame,
        {"id": [1, 1], "task": [1, 1], "choice": [1, 0], "price": [2, 3]},
    ),
]


@pytest.mark.parametrize(("make", "columns"), MADE)
@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_any_frame_with_the_arrow_interface(make, columns, library):
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    pytest.importorskip("narwhals", reason="narwhals is not installed")
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    assert make(frame) == make(pd.DataFrame(columns))


@pytest.mark.parametrize(("make", "columns"), MADE)
@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_lazy_frames_are_collected(make, columns, library):
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    narwhals = pytest.importorskip("narwhals", reason="narwhals is not installed")
    if library == "pyarrow":
        frame = narwhals.from_native(module.table(columns)).lazy()
    else:
        frame = module.DataFrame(columns).lazy()
    assert make(frame) == make(pd.DataFrame(columns))


def test_arrays_are_counts_of_pairs_or_refused():
    counts = np.array([[0, 3], [1, 0]])
    for dtype in (None, float):
        found = np.asarray(th.PairedComparisons(counts), dtype)
        assert (found == counts).all() and found.dtype == (dtype or np.asarray(counts).dtype)
    others = [
        th.Similarities([[1, 0.8], [0.8, 1]]),
        th.Triplets([("a", "b", "c")]),
        MADE[-1][0](pd.DataFrame(MADE[-1][1])),
    ]
    others += [
        th.Choices(pd.DataFrame(LONG)),
        th.read(pd.DataFrame({"x": [1.5, 2.5], "kind": ["a", "b"]}), target="kind"),
    ]
    for data in others:
        with refused(DataError, type(data).__name__, "cannot be converted to arrays"):
            np.asarray(data)


def test_missing_cells_stay_missing():
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pytest.importorskip("narwhals", reason="narwhals is not installed")
    columns = {"first": ["a", "a", "b"], "second": ["b", "c", "c"], "similarity": [0.1, None, 0.2]}
    data = th.Similarities.from_frame(pyarrow.table(columns))
    assert data == th.Similarities.from_frame(pd.DataFrame(columns)) and data.n_pairs == 2


def test_what_is_no_frame(monkeypatch):
    with refused(ValueError, "`frame`", "DataFrame"):
        th.PairedComparisons.from_trials({"left": ["a"]})
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with refused(ValueError, '"thali[frames]"'):
        th.PairedComparisons.from_trials(pyarrow.table(ROWS))


@pytest.mark.parametrize("method", ["compute", "to_pandas", "toPandas", ""])
def test_frames_of_other_libraries_are_refused_with_the_call_that_converts_them(method):
    class Frame:
        columns = list(ROWS)
        index = range(3)

        def collect(self):
            """Return rows, as frames of Spark do."""
            return [tuple(row) for row in pd.DataFrame(ROWS).to_numpy()]

    facts = ["`frame`", "pandas", "Frame"]
    if method:
        setattr(Frame, method, lambda self: pd.DataFrame(ROWS))
        facts.append(f"frame.{method}()")
    with refused(DataError, *facts):
        th.leaderboard(Frame(), progressbar=False)


def test_a_single_column_is_no_frame():
    pytest.importorskip("narwhals", reason="narwhals is not installed")
    with refused(DataError, "`frame`", "pandas Series"):
        th.read(pd.Series(["tea", "milk"], name="winner"))


def test_the_condensed_vector_of_scipy():
    points = np.random.default_rng(1).random((5, 3))
    vector = pdist(points)
    square = squareform(vector)
    assert th.Similarities.from_dissimilarities(vector) == th.Similarities.from_dissimilarities(
        square
    )
    assert th.Similarities(list(vector), list("abcde")) == th.Similarities(square, list("abcde"))
    with refused(ValueError, "4 similarities"):
        th.Similarities([0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize(
    ("model", "matrix", "facts"),
    [
        (
            th.EliminationByAspects("unique"),
            [[0, 3], [1, 0]],
            ("PairedComparisons", "2 options", "1 pair", "4 comparisons"),
        ),
        (
            th.AdditiveClustering(sigma=0.1),
            np.array([[1, 0.3, 0.2], [0.3, 1, 0.4], [0.2, 0.4, 1]]),
            ("3 objects", "3 similarities"),
        ),
    ],
)
def test_a_plain_matrix_is_wrapped_and_said(model, matrix, facts):
    with pytest.warns(DataWarning) as caught:
        model.prepare(matrix, draws=5, tune=5)
    said([str(each.message) for each in caught], *facts)
