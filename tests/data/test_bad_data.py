"""Bad paired comparisons: one table of (input, the sentence that says what is wrong and how to mend it)."""

import io

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused
from scipy.sparse import coo_array

import thali._data.kinds as kinds
from thali._data.pairs import PairedComparisons
from thali._reading.recognise import read
from thali._reading.table import read_table
from thali.errors import DataError

NAN, INF = float("nan"), float("inf")
WHOLE = "counts must be whole numbers, 0 or more."
FRACTION = f"which is not whole; {WHOLE} If fractional counts are meant, say so: weights=True, or a column called"
FRACTION += " 'weight' in a file."
SQUARE = "a row and a column for each option; got shape {}. Long tables are read by PairedComparisons.from_frame,"
SQUARE += " (winner, loser) tuples by from_pairs."


def framed(values, rows="AB", columns="AB"):
    return pd.DataFrame(values, index=list(rows), columns=list(columns))


ARRAYS = [
    # counts, labels, sentence
    ([[0, -3], [1, 0]], None, f"The count in row '0', column '1' is -3, which is negative; {WHOLE}"),
    ([[0, 3], [2.5, 0]], "AB", f"The count in row 'B', column 'A' is 2.5, {FRACTION}"),
    (
        [[0, NAN], [1, 0]],
        "AB",
        "The count in row 'A', column 'B' is missing; write 0 where there was no such comparison.",
    ),
    (
        [[0, None], [1, 0]],
        "AB",
        "The count in row 'A', column 'B' is missing; write 0 where there was no such comparison.",
    ),
    (
        [[0, 1e300], [1, 0]],
        "AB",
        "The count in row 'A', column 'B' is 1e+300, which is more than can be counted exactly (2^53).",
    ),
    ([[0, INF], [1, 0]], "AB", f"The count in row 'A', column 'B' is infinite; {WHOLE}"),
    ([[0, 1], ["x", 0]], "AB", "The count in row 'B', column 'A' is 'x', which is not a number."),
    (
        np.full((2, 2), "2020-01-01", "datetime64[D]"),
        "AB",
        "The count in row 'A', column 'A' is np.datetime64('2020-01-01'), which is not a number.",
    ),
    ([[0, 1], [1j, 0]], "AB", "The count in row 'A', column 'A' is 0j, which is not a number."),
    (
        [[0, 1], [1, 4]],
        "AB",
        "The diagonal is 4 in row 'B', column 'B', but no option is ever compared with itself; set the diagonal to 0.",
    ),
    (np.zeros((3, 2)), None, "`counts` must be square, " + SQUARE.format("(3, 2)")),
    ([1, 2, 3], None, "`counts` must be square, " + SQUARE.format("(3,)")),
    ([[0, 1], [1]], None, "`counts` must be square; its rows differ in length."),
    ([[0, 1], [1, 0]], "ABC", "`labels` must name every option once; got 3 labels for 2 options."),
    ([[0, 1], [1, 0]], "AA", "Labels must all differ; numbers 1 and 2 are both 'A'."),
    ([[0, 1], [1, 0]], ["1", 1], "Labels must all differ; numbers 1 and 2 are both '1'."),
    ([[0, 1], [1, 0]], ["A", " "], "Labels must all have a name; number 2 of 2 is empty."),
    ([[0, 0], [0, 0]], None, "There is not a single comparison among the 2 options; every count is 0."),
    ([[0]], "A", "At least two options are needed to compare; got 'A'."),
    (np.zeros((0, 0)), None, "At least two options are needed to compare; got none."),
    (
        coo_array(([-1], ([0], [1])), shape=(2, 2)),
        "AB",
        f"The count in row 'A', column 'B' is -1, which is negative; {WHOLE}",
    ),
    (
        coo_array(([1], ([1], [1])), shape=(2, 2)),
        "AB",
        "The diagonal is 1 in row 'B', column 'B', but no option is ever compared with itself; set the diagonal to 0.",
    ),
    (coo_array((2, 3)), None, "`counts` must be square, " + SQUARE.format("(2, 3)")),
    (
        framed([[0, 1], [1, 0]], "AC"),
        None,
        "Rows and columns must bear the same labels; only rows have 'C', only columns have 'B'.",
    ),
    (
        framed([[0, 1], [1, 0]], "AA", "AA"),
        None,
        "Column labels must all differ; numbers 1 and 2 are both 'A'.",
    ),
    (
        framed([[0, 1], [1, 0]]),
        "BA",
        "`labels` must be those of the DataFrame, in its order; leave them out.",
    ),
    (
        framed([["A", 0, 1], ["B", 1, 0]], "xy", "oAB"),
        None,
        "`counts` must be square; got shape (2, 3), whose first column holds labels: pass frame.set_index('o').",
    ),
]


@pytest.mark.parametrize(("counts", "labels", "sentence"), ARRAYS)
def test_square_counts(counts, labels, sentence):
    with pytest.raises(DataError) as caught:
        PairedComparisons(counts, labels)
    assert str(caught.value) == sentence


def test_weights_must_still_be_finite_and_not_negative():
    for value, found in ((-0.5, "-0.5, which is negative"), (INF, "infinite")):
        with refused(DataError, "row '0'", "column '1'", found):
            PairedComparisons([[0, value], [1, 0]], weights=True)


FRAMES = [
    # table, arguments of from_frame, sentence
    (
        "chosen,rejected,count\nA,B,1\nB,A,-2",
        {},
        f"The count in row 1, column 'count' is -2, which is negative; {WHOLE}",
    ),
    ("chosen,rejected,count\nA,B,1\nB,A,0.5", {}, f"The count in row 1, column 'count' is 0.5, {FRACTION}"),
    (
        "chosen,rejected,n\nA,B,1\nB,A,",
        {"count": "n"},
        "The count in row 1, column 'n' is missing; write 0 where there was no such comparison.",
    ),
    (
        "chosen,rejected,n\nA,B,1\nB,A,inf",
        {"count": "n"},
        f"The count in row 1, column 'n' is infinite; {WHOLE}",
    ),
    (
        "chosen,rejected,n\nA,B,1\nB,A,two",
        {"count": "n"},
        "The count in row 1, column 'n' is 'two', which is not a number.",
    ),
    (
        "chosen,rejected\nA,B\nB,B",
        {},
        "'B' is compared with itself in row 1, column 'chosen'; remove the row or mend a label.",
    ),
    (
        "chosen,rejected\nA,B\nB,",
        {},
        "A label is missing in row 1, column 'rejected'; fill it in or remove the row.",
    ),
    (
        "chosen,rejected\nA,B\n ,A",
        {},
        "A label is missing in row 1, column 'chosen'; fill it in or remove the row.",
    ),
    ("chosen,rejected", {}, "There is not a single comparison; the table has no rows."),
    (
        "chosen,rejected,count\nA,B,0",
        {},
        "There is not a single comparison among the 2 options; every count is 0.",
    ),
    ("chosen,rejected,count\nA,A,0", {}, "At least two options are needed to compare; got 'A'."),
    (
        "winner,rank\nA,B",
        {},
        "The columns 'winner', 'rank' do not say which option was chosen over which; name them by `chosen` and "
        "`rejected`.",
    ),
    (
        "winner,loser\nA,B",
        {"chosen": "Winer", "rejected": "loser"},
        "There is no column 'Winer'; the columns are 'winner', 'loser'. Did you mean 'winner'?",
    ),
    (
        "chosen,rejected,Count\nA,B,1",
        {"count": "count"},
        "There is no column 'count'; the columns are 'chosen', 'rejected', 'Count'. Did you mean 'Count'?",
    ),
    (
        "chosen,rejected\nApple,Pear",
        {"labels": ["Appel", "Pear"]},
        "'Apple' in row 0, column 'chosen' is not among `labels`. Did you mean 'Appel'?",
    ),
]


@pytest.mark.parametrize(("text", "arguments", "sentence"), FRAMES)
def test_long_frames(text, arguments, sentence):
    with pytest.raises(DataError) as caught:
        PairedComparisons.from_frame(pd.read_csv(io.StringIO(text)), **arguments)
    assert str(caught.value) == sentence


def test_frames_that_are_none():
    with refused(DataError, "`frame`", "DataFrame", "got dict"):
        PairedComparisons.from_frame({"chosen": ["A"], "rejected": ["B"]})  # type: ignore[arg-type]
    twice = pd.DataFrame([["A", "B", "C"]], columns=["chosen", "rejected", "rejected"])
    with refused(DataError, "'rejected'"):
        PairedComparisons.from_frame(twice)
    nullable = pd.DataFrame({"chosen": ["A"], "rejected": ["B"], "count": pd.array([None], "Int64")})
    with refused(DataError, "row 0", "column 'count'"):
        PairedComparisons.from_frame(nullable)


PAIRS = [
    ([], "There is not a single comparison; the table has no rows."),
    (["AB"], "`pairs` must hold (winner, loser) tuples; pairs[0] is 'AB'."),
    ([("A", "B"), ("A", "B", 3)], "`pairs` must hold (winner, loser) tuples; pairs[1] is ('A', 'B', 3)."),
    ([("A", "B"), ("A", "A")], "'A' is compared with itself in pairs[1]; remove the row or mend a label."),
    ([("A", "B"), ("A", None)], "A label is missing in pairs[1]; fill it in or remove the row."),
    ([(1, 2), (NAN, 1)], "A label is missing in pairs[1]; fill it in or remove the row."),
]


@pytest.mark.parametrize(("pairs", "sentence"), PAIRS)
def test_tuples(pairs, sentence):
    with pytest.raises(DataError) as caught:
        PairedComparisons.from_pairs(pairs)
    assert str(caught.value) == sentence


PARTS = [
    (lambda data: data.subset(["tea", "cofee"]), "There is no option 'cofee'. Did you mean 'coffee'?"),
    (
        lambda data: data.subset(["tea", "x"]),
        "There is no option 'x'. The options are 'tea', 'coffee', 'milk'.",
    ),
    (
        lambda data: data.subset(["tea", "tea"]),
        "The labels of a subset must all differ; numbers 1 and 2 are both 'tea'.",
    ),
    (lambda data: data.subset(["tea"]), "At least two options are needed to compare; got 'tea'."),
    (
        lambda data: data.subset(["coffee", "milk"]),
        "There is not a single comparison among the 2 options; every count is 0.",
    ),
    (
        lambda data: data.without_pair("coffee", "milk"),
        "'coffee' and 'milk' were never compared: nothing to leave out.",
    ),
    (
        lambda data: data.without_pair("tea", "milk").without_pair("coffee", "tea"),
        "'coffee' and 'tea' are the only pair compared: nothing would be left.",
    ),
]


@pytest.mark.parametrize(("part", "sentence"), PARTS)
def test_parts(part, sentence):
    data = PairedComparisons.from_pairs([("tea", "coffee"), ("milk", "tea")], labels=["tea", "coffee", "milk"])
    with pytest.raises(DataError) as caught:
        part(data)
    assert str(caught.value) == sentence


RAGGED = "every row needs the same number (a label that contains the separator must stand in quotes)."
FILES = [
    # content, sentence
    ("", "The file is empty."),
    (" \n\n", "The file is empty."),
    ("winner,loser\n", "The file holds a header but no row of data below it."),
    ("winner,loser,n\nA,B,3\nA,C\n", f"Line 3 holds 2 cells, but the header names 3 columns; {RAGGED}"),
    ("winner,loser,n\nA,B,3\nA,C,4,5\n", f"Line 3 holds 4 cells, but the header names 3 columns; {RAGGED}"),
    ("sep=;\nwinner;loser\nA;B\nA;C;4\n", f"Line 4 holds 3 cells, but the header names 2 columns; {RAGGED}"),
    ("winner,loser\nA,B,3\nB,A,4\n", f"Line 2 holds 3 cells, but the header names 2 columns; {RAGGED}"),
    ("winner,loser\nA,B\n\nA,C,4\n", f"Line 4 holds 3 cells, but the header names 2 columns; {RAGGED}"),
    (
        "Preferences\n,A,B\nA,0,1\nB,1,0\n",
        "The first line holds nothing but 'Preferences', where the names of the "
        "columns are expected; remove the lines above them.",
    ),
    (
        "A\nB\n",
        "No columns can be told apart; the first line is 'A'. Expected are at least two columns, separated "
        "by "
        "commas, semicolons, tabs or blanks.",
    ),
    (bytes(range(256)), "This is not a table of text, Excel or Parquet; save it as CSV."),
    (b"%PDF-1.4\n\x00\x01", "This is not a table of text, Excel or Parquet; save it as CSV."),
    (b"\xd0\xcf\x11\xe0 ...", "This is an old (.xls) or locked Office file; save it as .xlsx or CSV."),
    (
        "winner,loser,winner\nA,B,C\n",
        "Columns 1 and 3 are both called 'winner'; the first line must hold names that differ.",
    ),
    (
        ",A,B\nA,0,1\nC,1,0\n",
        "Rows and columns must bear the same labels; only rows have 'C', only columns have 'B'.",
    ),
    (
        ",A,B\nX,0,1\nY,1,0\n",
        "Rows and columns must bear the same labels; only rows have 'X', 'Y', only columns have 'A', 'B'.",
    ),
    (",A,B,C\nA,0,1,2\nB,1,0,2\n", "Rows and columns must bear the same labels; only columns have 'C'."),
    (
        ",A,B,C\nA,0,1,1\nA,1,0,1\nB,1,1,0\n",
        "Labels in the first column must all differ; numbers 1 and 2 are both 'A'.",
    ),
    (
        ",A,B\nA,0,1\nB,,0\n",
        "The count in row 'B', column 'A' is missing; write 0 where there was no such comparison.",
    ),
    (
        ",A,B\nA,0,1\nB,1,7\n",
        "The diagonal is 7 in row 'B', column 'B', but no option is ever compared with itself; set the diagonal to 0.",
    ),
    (";A;B\nA;0;1,5\nB;1;0\n", f"The count in row 'A', column 'B' is 1.5, {FRACTION}"),
    (",A,B\nA,0,one\nB,1,0\n", "The count in row 'A', column 'B' is 'one', which is not a number."),
    (
        "winner,loser,n\nA,B,3\nA,B,\n",
        "The count in row 3, column 'n' is missing; write 0 where there was no such comparison.",
    ),
    (
        "winner,loser,n\nA,B,3\n,B,1\n",
        "A label is missing in row 3, column 'winner'; fill it in or remove the row.",
    ),
    (
        "a,b,wins_a,wins_b\nA,B,1,2\nB,A,-1,2\n",
        f"The count in row 3, column 'wins_a' is -1, which is negative; {WHOLE}",
    ),
    (
        "a,b,wins_a,wins_b\nA,B,1,2\nB,B,1,2\n",
        "'B' is compared with itself in row 3, column 'a'; remove the row or mend a label.",
    ),
    (
        "a,b,wins_a,wins_b,tied,draws\nA,B,1,2,0,3\nB,A,1,2,3,0\n",
        "Columns 'tied', 'draws' seem to hold ties, all of them; remove or rename all but one.",
    ),
    (
        "winner,loser,n,count\nA,B,1,2\n",
        "The columns can be read in several ways: long table, 'winner' chosen over 'loser', counted by "
        "'count'; or long "
        "table, 'winner' chosen over 'loser', counted by 'n'. Remove or rename those that are not meant.",
    ),
]


@pytest.mark.parametrize(("content", "sentence"), FILES)
def test_files(content, sentence, tmp_path):
    path = tmp_path / "my table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as caught:
        read(path, kinds.PAIRS)
    assert str(caught.value) == f"my table.csv: {sentence}"


def test_columns_that_say_nothing_of_choices(tmp_path):
    path = tmp_path / "football.csv"
    path.write_text("club,stadium,seats\nHull,KCOM,25400\nStoke,Bet365,30089\nWigan,DW,25138\n")
    with refused(DataError, "football.csv", "'club'", "'stadium'", "'seats'"):
        read(path, kinds.PAIRS)


@pytest.mark.parametrize("reader", [read_table, read])
def test_paths(reader, tmp_path):
    (tmp_path / "choices.csv").write_text(",A,B\nA,0,1\nB,1,0\n")
    for path, sentence in (
        (tmp_path, f"{str(tmp_path)!r} is a folder; name a file in it."),
        (
            tmp_path / "choice.csv",
            f"There is no file {str(tmp_path / 'choice.csv')!r}. Did you mean 'choices.csv'?",
        ),
        (tmp_path / "no" / "x.csv", f"There is no file {str(tmp_path / 'no' / 'x.csv')!r}."),
    ):
        with pytest.raises(DataError) as caught:
            reader(path)
        assert str(caught.value) == sentence


def test_workbooks_and_parquet_files(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="Excel files need openpyxl")
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    openpyxl.Workbook().save(tmp_path / "empty.xlsx")
    (tmp_path / "cut.xlsx").write_bytes((tmp_path / "empty.xlsx").read_bytes()[:400])
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    pd.DataFrame({"winner": [], "loser": []}).to_parquet(tmp_path / "header.parquet")
    for name, found in (
        ("empty.xlsx", "The workbook is empty: no sheet holds a cell."),
        ("cut.xlsx", "This is not a readable Excel workbook"),
        ("cut.parquet", "This is not a readable Parquet file"),
        ("header.parquet", "The file holds a header but no row of data below it."),
    ):
        with pytest.raises(DataError) as caught:
            read(tmp_path / name, kinds.PAIRS)
        assert str(caught.value).startswith(f"{name}: {found}")
