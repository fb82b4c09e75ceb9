"""PairedComparisons: constructors, what they store, and what is derived from it."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, said, warned
from scipy.sparse import coo_array, csr_matrix

from thali import PairedComparisons
from thali.errors import DataError, DataWarning

COUNTS = np.array([[0, 7, 9, 0], [3, 0, 0, 2], [1, 0, 0, 4], [0, 0, 5, 0]])
LABELS = ("tea", "coffee", "milk", "water")


@pytest.fixture
def drinks():
    return PairedComparisons(COUNTS, LABELS)


def random_counts(n, rng, density=0.3):
    counts = rng.integers(1, 20, (n, n)) * (rng.random((n, n)) < density)
    np.fill_diagonal(counts, 0)
    return counts


def test_stores_the_compared_pairs_row_by_row(drinks):
    assert drinks.labels == LABELS
    assert [array.tolist() for array in (drinks.first, drinks.second)] == [
        [0, 0, 1, 2],
        [1, 2, 3, 3],
    ]
    assert drinks.wins.tolist() == [7, 9, 2, 4]
    assert drinks.losses.tolist() == [3, 1, 0, 5]
    assert (drinks.n_options, drinks.n_pairs, drinks.n_comparisons) == (4, 4, 31)
    assert [array.dtype for array in (drinks.first, drinks.second, drinks.wins, drinks.losses)] == [
        *[np.int64] * 2,
        *[np.float64] * 2,
    ]


@pytest.mark.parametrize("seed", range(5))
def test_every_constructor_gives_the_same(seed):
    rng = np.random.default_rng(seed)
    counts = random_counts(12, rng)
    labels = [f"option {k}" for k in range(12)]
    expected = PairedComparisons(counts, labels)
    shuffled = rng.permutation(12)
    frame = pd.DataFrame(counts, labels, labels)
    winner, loser = np.nonzero(counts)
    times = counts[winner, loser]
    long = pd.DataFrame({"w": np.array(labels)[winner], "l": np.array(labels)[loser], "k": times})
    each = long.iloc[np.repeat(np.arange(len(long)), times)].sample(frac=1, random_state=seed)
    halves = (np.r_[times // 2, times - times // 2], (np.r_[winner, winner], np.r_[loser, loser]))
    for data in (
        PairedComparisons(counts.tolist(), labels),
        PairedComparisons(counts.astype(object), labels),
        PairedComparisons(frame),
        PairedComparisons(frame.iloc[shuffled]),
        PairedComparisons(csr_matrix(counts), labels),
        PairedComparisons(coo_array(halves, shape=counts.shape), labels),
        PairedComparisons.from_frame(long, "w", "l", "k", labels=labels),
        PairedComparisons.from_frame(each, "w", "l", labels=labels),
        PairedComparisons.from_pairs(zip(each["w"], each["l"], strict=True), labels=labels),
    ):
        assert data == expected
        assert np.array_equal(data.counts, counts)


def test_rows_for_the_same_pair_add_up_in_both_orders():
    rows = [("a", "b", 2), ("b", "a", 3), ("a", "b", 4), ("a", "c", 0)]
    data = PairedComparisons.from_frame(pd.DataFrame(rows, columns=["chosen", "rejected", "count"]))
    assert data.counts.tolist() == [[0, 6, 0], [3, 0, 0], [0, 0, 0]]
    assert data.never_judged == ["c"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (([10, 2], [2, 1]), ("1", "2", "10")),
        (([10.0, 2.0], [2, 1]), ("1", "2", "10")),
        ((["b", "c"], ["a", "b"]), ("b", "a", "c")),
        (([2, " x "], ["1", "y"]), ("2", "1", "x", "y")),
        ((pd.Categorical(["b", "b"], ["z", "b"]), ["a", "c"]), ("z", "b", "a", "c")),
        ((pd.array([2, 1], "Int64"), ["1", "2.5"]), ("1", "2", "2.5")),
    ],
)
def test_order_and_spelling_of_labels(values, expected):
    frame = pd.DataFrame({"chosen": values[0], "rejected": values[1]})
    assert PairedComparisons.from_frame(frame).labels == expected


def test_a_number_and_its_text_are_one_label():
    data = PairedComparisons.from_pairs([(1, "2"), (2.0, " 1"), (np.int64(1), "2")])
    assert data.counts.tolist() == [[0, 2], [1, 0]]


def test_labels_of_a_frame_without_row_labels():
    frame = pd.DataFrame([[0, 1], [2, 0]], columns=["x", "y"])
    assert PairedComparisons(frame).labels == ("x", "y")
    assert PairedComparisons(frame.set_axis(["x", "y"]).set_axis(range(2), axis=1)).labels == (
        "x",
        "y",
    )
    assert PairedComparisons(pd.DataFrame([[0, 1], [2, 0]])).labels == ("0", "1")
    assert PairedComparisons(pd.DataFrame([[0, 1], [2, 0]]), ["x", "y"]).labels == ("x", "y")


def test_an_empty_diagonal_counts_as_zero():
    counts = np.array([[np.nan, 2], [1, np.nan]])
    assert PairedComparisons(counts) == PairedComparisons([[None, 2], [1, ""]])
    assert np.isnan(counts[0, 0]), "the caller's array was changed"


def test_comparisons_are_equal_if_all_fields_are(drinks):
    assert drinks == PairedComparisons(COUNTS.astype(float), list(LABELS))
    assert drinks != PairedComparisons(COUNTS)
    assert drinks != PairedComparisons(COUNTS.T, LABELS)
    assert drinks != "drinks"


def test_repr_is_short(drinks):
    said(repr(drinks), "PairedComparisons", "4 options", "4 pairs", "31 comparisons")
    halves = PairedComparisons([[0, 0.5], [1, 0]], weights=True)
    said(repr(halves), "PairedComparisons", "2 options", "1 pair", "1.5")


def test_counts_are_whole_unless_declared_weights(drinks):
    assert drinks.counts.dtype == np.int64
    assert np.array_equal(drinks.counts, COUNTS)
    assert drinks.to_frame()["count"].dtype == np.int64
    halves = PairedComparisons([[0, 0.5], [1, 0]], weights=True)
    assert halves.counts.tolist() == [[0, 0.5], [1, 0]]
    frame = pd.DataFrame({"chosen": ["a", "b"], "rejected": ["b", "a"], "count": [0.5, 1]})
    assert PairedComparisons.from_frame(frame, weights=True).counts.tolist() == [[0, 0.5], [1, 0]]


def test_components_and_never_compared():
    pairs = [("a", "b"), ("c", "d"), ("d", "e")]
    data = PairedComparisons.from_pairs(pairs, labels="abcdefg")
    assert data.components() == [["c", "d", "e"], ["a", "b"], ["f"], ["g"]]
    assert data.never_judged == ["f", "g"]


def test_warns_of_what_is_not_connected(drinks):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drinks.warn_if_unusual()
    data = PairedComparisons.from_pairs([("a", "b"), ("c", "d")], labels="abcde")
    with pytest.warns(DataWarning) as caught:
        data.warn_if_unusual()
    said(caught[0].message, "2 groups", "'a'", "'b'", "'c'")
    assert caught[0].filename == __file__


def test_a_long_warning_is_shortened():
    pairs = [(2 * k, 2 * k + 1) for k in range(1000)]
    data = PairedComparisons.from_pairs(pairs, labels=range(3000))
    with warned(DataWarning, "1,000 groups", "996 more", "994 more") as caught:
        data.warn_if_unusual()
    assert len(str(caught[0].message)) < 500


def test_to_frame_reads_back_with_order_and_absent_options(drinks):
    frame = drinks.to_frame()
    assert frame.columns.tolist() == ["chosen", "rejected", "count"]
    assert (frame["count"] > 0).all() and frame["count"].sum() == 31
    assert PairedComparisons.from_frame(frame) == drinks
    assert PairedComparisons.from_frame(frame, count="count").labels == LABELS
    sparse = PairedComparisons.from_pairs([("c", "a")], labels="abcd")
    assert PairedComparisons.from_frame(sparse.to_frame()) == sparse


def test_proportions_are_those_of_each_compared_pair(drinks):
    table = drinks.proportions()
    assert table.columns.tolist() == ["a", "b", "n", "proportion"]
    assert table["n"].tolist() == [10, 10, 2, 9]
    assert table["proportion"].tolist() == [0.7, 0.9, 1, 4 / 9]
    assert list(zip(table["a"], table["b"], strict=True)) == [
        ("tea", "coffee"),
        ("tea", "milk"),
        ("coffee", "water"),
        ("milk", "water"),
    ]


@pytest.mark.long
@pytest.mark.fit
def test_long_tables_stay_sparse():
    """200,000 comparisons of 10,000 options: a dense matrix of them alone would hold 800 MB."""
    code = """
import re
import numpy as np, pandas as pd
from thali import PairedComparisons
rng = np.random.default_rng(1)
winner = rng.integers(0, 10_000, 200_000)
loser = (winner + rng.integers(1, 10_000, 200_000)) % 10_000
data = PairedComparisons.from_frame(pd.DataFrame({"chosen": winner, "rejected": loser}))
assert (data.n_options, data.n_comparisons) == (10_000, 200_000)
assert data.n_pairs == len(np.unique(np.minimum(winner, loser) * 10_000 + np.maximum(winner, loser)))
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) * 1024 / 1e6)
"""
    if not Path("/proc/self/status").exists():
        pytest.skip("memory is measured on Linux only")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 600


def test_a_dense_matrix_of_many_options_is_refused():
    data = PairedComparisons.from_pairs([(0, 1)], labels=range(2001))
    with refused(DataError, "2,000 options", "2,001"):
        _ = data.counts


def test_loading_it_is_light():
    """The data object alone needs neither pandas nor SciPy."""
    code = (
        "import sys, thali._data.pairs; thali._data.pairs.PairedComparisons([[0, 1], [2, 0]]);"
        "assert not {'pandas', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
