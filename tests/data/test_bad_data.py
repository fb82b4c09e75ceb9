"""Bad paired comparisons: one table of (input, the facts that say what is wrong)."""

import io

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused
from scipy.sparse import coo_array

import thali._data.kinds as kinds
from thali import PairedComparisons
from thali._reading.layout_recognition import read_data
from thali.errors import DataError

NAN, INF = float("nan"), float("inf")


def framed(values, rows="AB", columns="AB"):
    return pd.DataFrame(values, index=list(rows), columns=list(columns))


ARRAYS = [
    # counts, labels, facts
    ([[0, -3], [1, 0]], None, ("row '0'", "column '1'", "-3")),
    ([[0, 3], [2.5, 0]], "AB", ("row 'B'", "column 'A'", "2.5")),
    ([[0, NAN], [1, 0]], "AB", ("row 'A'", "column 'B'")),
    ([[0, None], [1, 0]], "AB", ("row 'A'", "column 'B'")),
    ([[0, 1e300], [1, 0]], "AB", ("row 'A'", "column 'B'", "300")),
    ([[0, INF], [1, 0]], "AB", ("row 'A'", "column 'B'")),
    ([[0, 1], ["x", 0]], "AB", ("row 'B'", "column 'A'", "'x'")),
    (
        np.full((2, 2), "2020-01-01", "datetime64[D]"),
        "AB",
        ("row 'A'", "column 'A'", "'2020-01-01'"),
    ),
    ([[0, 1], [1j, 0]], "AB", ("row 'A'", "column 'A'")),
    ([[0, 1], [1, 4]], "AB", ("row 'B'", "column 'B'")),
    (np.zeros((3, 2)), None, ("`counts`", "got shape", "(3, 2)", "PairedComparisons")),
    ([1, 2, 3], None, ("`counts`", "got shape", "(3,)", "PairedComparisons")),
    ([[0, 1], [1]], None, ("`counts`",)),
    ([[0, 1], [1, 0]], "ABC", ("`labels`", "got 3", "2 options")),
    ([[0, 1], [1, 0]], "AA", ("'A'", "positions 1 and 2")),
    ([[0, 1], [1, 0]], ["1", 1], ("'1'", "positions 1 and 2")),
    ([[0, 1], [1, 0]], ["A", " "], ("Labels must not be empty",)),
    ([[0, 0], [0, 0]], None, ("2 options",)),
    ([[0]], "A", ("got 'A'",)),
    (np.zeros((0, 0)), None, ("got none",)),
    (coo_array(([-1], ([0], [1])), shape=(2, 2)), "AB", ("row 'A'", "column 'B'", "-1")),
    (coo_array(([1], ([1], [1])), shape=(2, 2)), "AB", ("row 'B'", "column 'B'")),
    (coo_array((2, 3)), None, ("`counts`", "got shape", "(2, 3)", "PairedComparisons")),
    (framed([[0, 1], [1, 0]], "AC"), None, ("'C'", "'B'")),
    (framed([[0, 1], [1, 0]], "AA", "AA"), None, ("'A'", "positions 1 and 2")),
    (framed([[0, 1], [1, 0]]), "BA", ("`labels`", "DataFrame")),
    (
        framed([["A", 0, 1], ["B", 1, 0]], "xy", "oAB"),
        None,
        ("`counts`", "(2, 3)", "set_index"),
    ),
]


@pytest.mark.parametrize(("counts", "labels", "facts"), ARRAYS)
def test_bad_squares_of_counts_are_refused(counts, labels, facts):
    with refused(DataError, *facts):
        PairedComparisons(counts, labels)


def test_weights_must_still_be_finite_and_not_negative():
    for value, found in ((-0.5, "-0.5, which is negative"), (INF, "infinite")):
        with refused(DataError, "row '0'", "column '1'", found):
            PairedComparisons([[0, value], [1, 0]], weights=True)


FRAMES = [
    # table, arguments of from_frame, sentence
    ("chosen,rejected,count\nA,B,1\nB,A,-2", {}, ("row 1", "column 'count'", "-2")),
    (
        "chosen,rejected,count\nA,B,1\nB,A,0.5",
        {},
        ("row 1", "column 'count'", "0.5", "weights=True"),
    ),
    ("chosen,rejected,n\nA,B,1\nB,A,", {"count": "n"}, ("row 1", "column 'n'")),
    ("chosen,rejected,n\nA,B,1\nB,A,inf", {"count": "n"}, ("row 1", "column 'n'")),
    ("chosen,rejected,n\nA,B,1\nB,A,two", {"count": "n"}, ("row 1", "column 'n'", "'two'")),
    ("chosen,rejected\nB,B", {}, ("'B'", "row 0", "column 'chosen'")),
    ("chosen,rejected\nA,B\nB,", {}, ("row 1", "column 'rejected'")),
    ("chosen,rejected\nA,B\n ,A", {}, ("row 1", "column 'chosen'")),
    ("chosen,rejected", {}, ("no comparisons",)),
    ("chosen,rejected,count\nA,B,0", {}, ("2 options",)),
    ("chosen,rejected,count\nA,A,0", {}, ("got 'A'",)),
    ("winner,rank\nA,B", {}, ("'winner'", "'rank'", "`chosen`", "`rejected`")),
    (
        "winner,loser\nA,B",
        {"chosen": "Winer", "rejected": "loser"},
        ("column 'Winer'", "'winner'", "'loser'"),
    ),
    (
        "chosen,rejected,Count\nA,B,1",
        {"count": "count"},
        ("column 'count'", "'chosen'", "'rejected'", "'Count'"),
    ),
    (
        "chosen,rejected\nApple,Pear",
        {"labels": ["Appel", "Pear"]},
        ("'Apple'", "row 0", "column 'chosen'", "`labels`"),
    ),
    ("chosen,rejected\n , ", {}, ("row 0", "column 'chosen'")),
]


@pytest.mark.parametrize(("text", "arguments", "facts"), FRAMES)
def test_bad_long_tables_are_refused(text, arguments, facts):
    with refused(DataError, *facts):
        PairedComparisons.from_frame(pd.read_csv(io.StringIO(text)), **arguments)


def test_frames_that_are_none():
    with refused(DataError, "`frame`", "DataFrame", "got dict"):
        PairedComparisons.from_frame({"chosen": ["A"], "rejected": ["B"]})  # type: ignore[arg-type]
    twice = pd.DataFrame([["A", "B", "C"]], columns=["chosen", "rejected", "rejected"])
    with refused(DataError, "'rejected'"):
        PairedComparisons.from_frame(twice)
    nullable = pd.DataFrame(
        {"chosen": ["A"], "rejected": ["B"], "count": pd.array([None], "Int64")}
    )
    with refused(DataError, "row 0", "column 'count'"):
        PairedComparisons.from_frame(nullable)


PAIRS = [
    ([], ("no comparisons",)),
    (["AB"], ("`pairs`", "'AB'")),
    ([("A", "B"), ("A", "B", 3)], ("`pairs`", "'A'", "'B'")),
    ([("A", "B"), ("A", "A")], ("'A'", "compared with itself")),
    ([("A", "B"), ("A", None)], ("missing in pairs[1]",)),
    ([(1, 2), (NAN, 1)], ("missing in pairs[1]",)),
]


@pytest.mark.parametrize(("pairs", "facts"), PAIRS)
def test_bad_tuples_of_pairs_are_refused(pairs, facts):
    with refused(DataError, *facts):
        PairedComparisons.from_pairs(pairs)


PARTS = [
    (lambda data: data.subset(["tea", "cofee"]), ("option 'cofee'", "'coffee'")),
    (lambda data: data.subset(["tea", "x"]), ("option 'x'", "'tea'", "'coffee'", "'milk'")),
    (lambda data: data.subset(["tea", "tea"]), ("'tea'",)),
    (lambda data: data.subset(["tea"]), ("got 'tea'",)),
    (lambda data: data.subset(["coffee", "milk"]), ("2 options",)),
    (lambda data: data.without_pair("coffee", "milk"), ("'coffee'", "'milk'")),
    (
        lambda data: data.without_pair("tea", "milk").without_pair("coffee", "tea"),
        ("'coffee'", "'tea'"),
    ),
]


@pytest.mark.parametrize(("part", "facts"), PARTS)
def test_bad_parts_of_comparisons_are_refused(part, facts):
    data = PairedComparisons.from_pairs(
        [("tea", "coffee"), ("milk", "tea")], labels=["tea", "coffee", "milk"]
    )
    with refused(DataError, *facts):
        part(data)


FILES = [
    # content, sentence
    ("", ("The file is empty.",)),
    (" \n\n", ("The file is empty.",)),
    ("winner,loser\n", ("has a header",)),
    ("winner,loser,n\nA,B,3\nA,C\n", ("Line 3", "2 cells", "3 columns")),
    ("winner,loser,n\nA,B,3\nA,C,4,5\n", ("Line 3", "4 cells", "3 columns")),
    ("sep=;\nwinner;loser\nA;B\nA;C;4\n", ("Line 4", "3 cells", "2 columns")),
    ("winner,loser\nA,B,3\nB,A,4\n", ("Line 2", "3 cells", "2 columns")),
    ("winner,loser\nA,B\n\nA,C,4\n", ("Line 4", "3 cells", "2 columns")),
    ("Preferences\n,A,B\nA,0,1\nB,1,0\n", ("'Preferences'",)),
    ("A\nB\n", ("'A'", "commas, semicolons, tabs")),
    (bytes(range(256)), ("Excel or Parquet",)),
    (b"%PDF-1.4\n\x00\x01", ("Excel or Parquet",)),
    (b"\xd0\xcf\x11\xe0 ...", ("password-protected Office file",)),
    ("winner,loser,winner\nA,B,C\n", ("'winner'",)),
    (",A,B\nA,0,1\nC,1,0\n", ("'C'", "'B'")),
    (",A,B\nX,0,1\nY,1,0\n", ("'X'", "'Y'", "'A'", "'B'")),
    (",A,B,C\nA,0,1,2\nB,1,0,2\n", ("'C'", "labels; only the columns")),
    (",A,B,C\nA,0,1,1\nA,1,0,1\nB,1,1,0\n", ("'A'", "positions 1 and 2")),
    (",A,B\nA,0,1\nB,,0\n", ("row 'B'", "column 'A'")),
    (",A,B\nA,0,1\nB,1,7\n", ("row 'B'", "column 'B'")),
    (";A;B\nA;0;1,5\nB;1;0\n", ("row 'A'", "column 'B'", "1.5")),
    (",A,B\nA,0,one\nB,1,0\n", ("row 'A'", "column 'B'", "'one'")),
    ("winner,loser,n\nA,B,3\nA,B,\n", ("row 3", "column 'n'")),
    ("winner,loser,n\nA,B,3\n,B,1\n", ("row 3", "column 'winner'")),
    ("a,b,wins_a,wins_b\nA,B,1,2\nB,A,-1,2\n", ("row 3", "column 'wins_a'", "-1")),
    ("a,b,wins_a,wins_b\nB,B,1,2\n", ("'B'", "row 2", "column 'a'")),
    ("a,b,wins_a,wins_b,tied,draws\nA,B,1,2,0,3\nB,A,1,2,3,0\n", ("'tied'", "'draws'")),
    ("winner,loser,n,count\nA,B,1,2\n", ("'winner'", "'loser'", "'count'", "'n'")),
]


@pytest.mark.parametrize(("content", "facts"), FILES)
def test_bad_files_of_comparisons_are_refused(content, facts, tmp_path):
    path = tmp_path / "my table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with refused(DataError, "my table.csv: ", *facts):
        read_data(path, kinds.PAIRS)


def test_columns_that_say_nothing_of_choices(tmp_path):
    path = tmp_path / "football.csv"
    path.write_text("club,stadium,seats\nHull,KCOM,25400\nStoke,Bet365,30089\nWigan,DW,25138\n")
    with refused(DataError, "football.csv", "'club'", "'stadium'", "'seats'"):
        read_data(path, kinds.PAIRS)


def test_workbooks_and_parquet_files(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="Excel files need openpyxl")
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    openpyxl.Workbook().save(tmp_path / "empty.xlsx")
    (tmp_path / "cut.xlsx").write_bytes((tmp_path / "empty.xlsx").read_bytes()[:400])
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    pd.DataFrame({"winner": [], "loser": []}).to_parquet(tmp_path / "header.parquet")
    for name, found in (
        ("empty.xlsx", "The workbook is empty: no sheet has any cells."),
        ("cut.xlsx", "This is not a readable Excel workbook"),
        ("cut.parquet", "This is not a readable Parquet file"),
        ("header.parquet", "The file has a header but no rows of data."),
    ):
        with pytest.raises(DataError) as caught:
            read_data(tmp_path / name, kinds.PAIRS)
        assert str(caught.value).startswith(f"{name}: {found}")
