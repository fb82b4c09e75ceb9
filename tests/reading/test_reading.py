"""What files must not do: hide what they are, be read twice, fill the memory, or be read as what they are not."""

import os
import pickle
import threading
import zipfile

import numpy as np
import pandas as pd
import pytest

import thali
from thali._data import kinds
from thali._reading.recognise import read
from thali._reading.table import load, read_table
from thali._source import Source, read_source
from thali.errors import LONGEST, MAX_NAME_LENGTH, ArgumentError, DataError, DataWarning, one_line

LONG = "winner,loser,n\ntea,milk,3\nmilk,tea,1\n"
ML = ("--method", "maximum-likelihood", "--lapse", "0")


def in_file(folder, text, name="data.csv"):
    (folder / name).write_text(text)
    return folder / name


# what is read ----------------------------------------------------------------------------------------------


@pytest.fixture
def pipe(tmp_path):
    """A named pipe that is fed once, by a thread that writes to whoever reads first."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes here")
    os.mkfifo(tmp_path / "pipe")
    feeder = threading.Thread(target=(tmp_path / "pipe").write_text, args=(LONG,), daemon=True)
    feeder.start()
    return tmp_path / "pipe"


def test_a_pipe_is_read_once_by_all_who_look_at_it(pipe, run):
    found = run("fit", pipe, *ML)
    assert found.code == 0 and "long table, 'winner' chosen over 'loser'" in found.err


def test_standard_input_by_its_short_name(run, monkeypatch, tmp_path):
    with open(in_file(tmp_path, LONG)) as stream:
        monkeypatch.setattr("sys.stdin", stream)
        found = run("fit", "-", *ML)
    assert found.code == 0 and "thali: -: long table" in found.err
    with open(os.devnull) as stream:
        monkeypatch.setattr("sys.stdin", stream)
        found = run("fit", "-", *ML)
    assert (found.code, found.err) == (2, "thali: error: standard input: The file is empty.\n")


def test_what_is_no_file_is_refused(tmp_path):
    (tmp_path / "dang").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    in_file(tmp_path, LONG, "title.csv")
    for path, sentence in (
        ("/dev/zero", "'/dev/zero' is a device, not a file; name a file or a pipe."),
        (tmp_path, f"{str(tmp_path)!r} is a folder; name a file in it."),
        (tmp_path / "dang", f"{str(tmp_path / 'dang')!r} is a link to 'nowhere', which cannot be reached."),
        (tmp_path / "loop", f"{str(tmp_path / 'loop')!r} is a link to 'loop', which cannot be reached."),
        (tmp_path / "my file.csv", f"There is no file {str(tmp_path / 'my file.csv')!r}."),
        (tmp_path / "titel.csv", f"There is no file {str(tmp_path / 'titel.csv')!r}. Did you mean 'title.csv'?"),
        (tmp_path / "a\0b.csv", f"There is no file {str(tmp_path / ('a' + chr(0) + 'b.csv'))!r}."),
    ):
        with pytest.raises(DataError) as caught:
            read_source(path)
        assert str(caught.value) == sentence
    with pytest.raises(DataError, match="cannot be read: File name too long"):
        read_source(tmp_path / ("x" * 300))


def test_a_pipe_without_an_end_is_given_up(pipe, monkeypatch):
    monkeypatch.setattr("thali._source.MAX_PIPED", 10)
    with pytest.raises(DataError, match="may never end"):
        read_source(pipe)


# Excel and Parquet ----------------------------------------------------------------------------------------


def workbook(folder, *rows):
    openpyxl = pytest.importorskip("openpyxl", reason="Excel files need openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(folder / "book.xlsx")
    return folder / "book.xlsx"


def rewritten(path, change):
    """The workbook with the XML of its sheet changed."""
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, part in parts.items():
            new.writestr(name, change(part) if name == sheet else part)
    return path


def test_a_workbook_that_would_fill_the_memory_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("thali._reading.table.HARMLESS_WORKBOOK", 1 << 20)
    path = rewritten(workbook(tmp_path, ["a", "b"], ["c", "d"]), lambda part: part + b" " * (1 << 22))
    assert path.stat().st_size < 1 << 14
    monkeypatch.setattr("openpyxl.load_workbook", lambda *_, **__: pytest.fail("unpacked"))
    with pytest.raises(DataError, match="would unpack to 4,2"):
        read_table(path)


def test_a_cell_in_the_corner_of_a_sheet_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("thali._reading.table.MAX_CELLS", 1 << 16)
    rows = b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (k, k) for k in range(1, 9))
    path = rewritten(
        workbook(tmp_path, ["a", "b"], ["c", "d"]),
        lambda part: part[: part.index(b"<sheetData>")] + b"<sheetData>" + rows + b"</sheetData></worksheet>",
    )
    with pytest.raises(DataError, match="has more than 65,536 cells"):
        read_table(path)


def test_tables_of_too_many_columns_are_refused_at_once(tmp_path):
    wide, order = tmp_path / "wide.csv", tmp_path / "order.soc"
    wide.write_text(",".join(f"a{k}" for k in range(10_001)) + "\n" + ",".join("1" * 10_001) + "\n")
    with pytest.raises(DataError, match="The table has 10,001 columns, and at most 10,000 are read; leave out those"):
        read_table(wide)
    names = "".join(f"# ALTERNATIVE NAME {k}: o{k}\n" for k in range(1, 20_001))
    order.write_text(names + "1: " + ",".join(str(k) for k in range(1, 20_001)) + "\n")
    with pytest.raises(DataError, match="The longest of 1 orders names 20,000 alternatives"):
        read_table(order)


def packed_tables():
    """Tables of some kilobytes that are not small: equal rows, a list, a long text in each row, empty text."""
    import pyarrow as pa

    same = pa.DictionaryArray.from_arrays(pa.array(np.zeros(500_000, np.int32)), pa.array(["tea"])).cast(pa.string())
    yield "1,000,000 cells", {"winner": same, "loser": same}, {}
    yield "1,000,001 cells", {"winner": pa.array([np.zeros(1_000_000, np.int8)]), "loser": pa.array([1])}, {}
    yield "unpack to 3,", {"winner": pa.array(["x" * 10_000] * 300), "loser": pa.array(["tea"] * 300)}, {}
    yield "unpack to 3,", {"winner": pa.array(["x" * 3_000_000]), "loser": pa.array(["tea"])}, {"compression": "zstd"}


@pytest.mark.parametrize("number", range(4))
def test_a_parquet_file_that_would_fill_the_memory_is_not_unpacked(tmp_path, monkeypatch, number):
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet

    said, columns, how = list(packed_tables())[number]
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "x.parquet", **how)
    assert (tmp_path / "x.parquet").stat().st_size < 15_000
    monkeypatch.setattr("thali._reading.table.HARMLESS", 1 << 16)
    monkeypatch.setattr("thali._reading.table.MAX_BYTES", 1 << 21)
    monkeypatch.setattr("thali._reading.table.MAX_TIMES", 50)
    monkeypatch.setattr("pandas.read_parquet", lambda *_, **__: pytest.fail("unpacked"))
    with pytest.raises(DataError, match=said):
        read_table(tmp_path / "x.parquet")


def test_gaps_do_not_fill_the_memory(tmp_path, monkeypatch):
    """The gaps of a lower triangle may be many, but not of rows that are nearly empty."""
    monkeypatch.setattr("thali._reading.cells.MAX_CELLS", 1000)
    (tmp_path / "x.csv").write_text(",".join(f"c{k}" for k in range(300)) + "\n" + "a\n" * 300)
    with pytest.raises(DataError, match="Line 5 holds 1 cell, but the header names 300 columns"):
        read_table(tmp_path / "x.csv")


def test_formulas_that_were_never_calculated(tmp_path):
    path = workbook(tmp_path, ["", "tea", "milk"], ["tea", None, 12], ["milk", "=20-C2", None])
    with pytest.raises(DataError, match=r"Cell B3 of sheet 'Sheet' holds a formula \(=20-C2\) that was never"):
        read(path, kinds.PAIRS)
    calculated = rewritten(path, lambda part: part.replace(b"</f><v />", b"</f><v>8</v>").replace(b"<v/>", b"<v>8</v>"))
    assert read(calculated, kinds.PAIRS)[0].counts.tolist() == [[0, 12], [8, 0]]


def test_names_that_promise_another_kind_of_file(tmp_path):
    with pytest.raises(DataError, match="This is no Excel workbook, whatever its name says, and no table as text"):
        read_table(in_file(tmp_path, "see below\n", "bad.xlsx"))
    with pytest.raises(DataError, match="not a readable Excel workbook"):
        read_table(Source("x.xlsx", b"PK\x03\x04 and no more"))


@pytest.mark.parametrize("cell", [["a"], {"a": 1}, ("a",)], ids=["list", "dict", "tuple"])
def test_nested_cells(cell, tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    frame = pd.DataFrame({"winner": ["a", "b"], "loser": [cell, cell]})
    frame.to_parquet(tmp_path / "nested.parquet")
    with pytest.raises(DataError, match="Column 'loser' holds a cell of type"):
        load(tmp_path / "nested.parquet")
    with pytest.raises(DataError, match="Column 'loser' holds a cell of type"):
        thali.PairedComparisons.from_frame(frame, "winner", "loser")
    with pytest.raises(DataError, match="Column 'loser' holds a cell of type"):
        thali.Choices(frame, choice_id="winner", alternative="loser", chosen="winner")


def test_damaged_parquet_files(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    pd.DataFrame({"winner": ["a", "b"], "loser": ["b", "a"]}).to_parquet(tmp_path / "x.parquet")
    content = (tmp_path / "x.parquet").read_bytes()
    for damaged in (content[:-9], content[:-4] + b"PARX", b"PAR1"):
        with pytest.raises(DataError, match="not a readable Parquet file"):
            load(Source("x.parquet", damaged))

    def broken(*_, **__):
        raise KeyError("pandas_type")  # as pandas does when a bit of its notes is flipped

    monkeypatch.setattr(pd, "read_parquet", broken)
    with pytest.raises(DataError, match="not a readable Parquet file"):
        load(Source("x.parquet", content))


# messages --------------------------------------------------------------------------------------------------


def test_messages_are_one_line_of_bounded_length():
    cell = 'it\'s "x" ' * 1000
    message = f"The count in column {cell!r} is {'y' * 5000!r}, which is not a number; write\n\n  a number."
    for kind in (DataError, ArgumentError, DataWarning):
        messages = str(kind(message))
        assert len(messages) < 2 * MAX_NAME_LENGTH + 100 and "\n" not in messages
        assert messages.startswith("The count in column 'it") and messages.endswith(
            "', which is not a number; write a number."
        )
        assert one_line(messages) == messages and str(pickle.loads(pickle.dumps(kind(message)))) == messages
    assert len(str(DataError("a " * 10**6))) <= LONGEST


def test_a_long_cell_makes_a_short_sentence(tmp_path):
    with pytest.raises(DataError) as caught:
        read(in_file(tmp_path, LONG.replace(",1", "," + "x" * 5000)), kinds.PAIRS)
    assert len(str(caught.value)) < 300


# readings that are wrong ----------------------------------------------------------------------------------

TOTALS = [[0, 12, 15, 27], [8, 0, 11, 19], [5, 9, 0, 14], [13, 21, 26, 0]]


def test_a_tie_is_no_option():
    frame = pd.DataFrame({"chosen": ["a", "draw", "b"], "rejected": ["b", "a", "a"]})
    with pytest.raises(DataError, match="'draw' says that neither option was chosen; name both options"):
        thali.PairedComparisons.from_frame(frame)
    with pytest.raises(DataError, match="It stands in both columns in row 0"):
        thali.PairedComparisons.from_frame(pd.DataFrame({"chosen": ["Tie"], "rejected": ["Tie"]}))
    with pytest.raises(DataError, match="'tie' says that neither"):
        thali.PairedComparisons.from_pairs([("a", "b"), ("a", "tie")])
    drawing = pd.DataFrame({"chosen": ["paint", "draw"], "rejected": ["draw", "paint"]})
    assert thali.PairedComparisons.from_frame(drawing).labels == ("paint", "draw")
    assert thali.PairedComparisons.from_frame(frame, labels=["a", "b", "draw"]).n_options == 3


def test_totals_are_no_option():
    for corner in (0, 60):
        counts = np.array(TOTALS)
        counts[3, 3] = corner
        with pytest.raises(DataError, match="Row and column 'Summe' hold the sums of the other rows and columns"):
            thali.PairedComparisons(counts, ["Kaffee", "Tee", "Milch", "Summe"])
    with pytest.raises(DataError, match="'all' hold the sums"):
        thali.PairedComparisons([[0, 3, 3], [2, 0, 2], [2, 3, 5]], ["a", "b", "all"])
    assert thali.PairedComparisons(5 - 5 * np.eye(3)).n_options == 3  # the sums of equal counts may be chance
    changed = np.array(TOTALS)
    changed[3, 0] += 1
    assert thali.PairedComparisons(changed).n_options == 4


def test_totals_on_one_side_of_a_file(tmp_path):
    table = ",a,b\na,0,3\nb,2,0\n"
    for text in (table + "Total,2,3\n", ",a,b,Total\na,0,3,3\nb,2,0,2\n", ",a,b,N\na,0,3,3\nb,2,0,2\nTotal,2,3,\n"):
        with pytest.raises(DataError, match="these are the sums of the options"):
            read(in_file(tmp_path, text), kinds.PAIRS)
    with pytest.raises(DataError, match="only rows have 'c'"):
        read(in_file(tmp_path, table + "c,2,4\n"), kinds.PAIRS)


def test_percentages_are_said(tmp_path, recwarn):
    table = ",a,b,c\na,0,60,75\nb,40,0,55\nc,25,45,0\n"
    read(in_file(tmp_path, table), kinds.PAIRS)
    thali.PairedComparisons(pd.DataFrame([[0, 60, 75], [40, 0, 55], [25, 45, 0]]))
    assert [str(each.message)[:44] for each in recwarn] == ["The two numbers of every pair sum to 100; if"] * 2
    recwarn.clear()
    with pytest.raises(DataError, match="sum to 1; if they are proportions, give the counts"):
        read(
            in_file(
                tmp_path,
                table.replace("60", ".6")
                .replace("40", ".4")
                .replace("75", ".75")
                .replace("25", ".25")
                .replace("55", ".55")
                .replace("45", ".45"),
            ),
            kinds.PAIRS,
        )
    thali.PairedComparisons([[0, 60, 75], [40, 0, 55], [25, 45, 0]])  # the array of a program
    read(in_file(tmp_path, table.replace("45", "44")), kinds.PAIRS)
    assert not len(recwarn)


@pytest.mark.parametrize(
    ("cell", "hint"),
    [
        ("1,700", "; write it without separators of thousands, 1700."),
        ("1'700'000", "; write it without separators of thousands, 1700000."),
        ("60 %", "; give counts, not percentages."),
        ("17,00", "number."),
    ],
)
def test_numbers_that_only_people_read(cell, hint, tmp_path):
    with pytest.raises(DataError) as caught:
        read(in_file(tmp_path, LONG.replace(",3", f',"{cell}"')), kinds.PAIRS)
    assert str(caught.value).endswith(hint)


def test_labels_that_are_nearly_the_same(recwarn):
    for labels in (["tea", "Tea"], ["green tea", "green  tea"], ["th\u00e9", "th\uff45\u0301"]):
        thali.PairedComparisons([[0, 3], [2, 0]], labels)
        assert str(recwarn.pop(DataWarning).message).startswith("The labels '")
    frame = pd.DataFrame({"task": [1, 1], "alternative": ["tea", "TEA"], "chosen": [1, 0]})
    thali.Choices(frame)
    assert "differ only in capitals or blanks" in str(recwarn.pop(DataWarning).message)
    thali.PairedComparisons([[0, 3], [2, 0]], ["tea", "tee"])
    assert not len(recwarn)


def test_columns_of_losses_and_ties_are_not_dropped_in_silence(recwarn):
    frame = pd.DataFrame({"row": ["a"], "col": ["b"], "win": [3], "loss": [2], "tie": [1], "year": [2020]})
    thali.PairedComparisons.from_frame(frame, "row", "col", "win")
    assert "hold losses or ties: 'loss', 'tie'; give losses rows" in str(recwarn.pop(DataWarning).message)
    thali.PairedComparisons.from_frame(frame.assign(loss=0, tie=0), "row", "col", "win")
    assert not len(recwarn)


def test_one_comparison_is_told_in_words(run, tmp_path):
    assert (
        thali.PairedComparisons([[0, 8], [12, 0]], ["tea", "milk"]).example()
        == "'milk' chosen over 'tea' 12 times of 20"
    )
    assert thali.PairedComparisons([[0, 1], [0, 0]]).example() == "'0' chosen over '1' 1 time of 1"
    assert "; e.g. 'tea' chosen over 'milk' 3 times of 4\n" in run("fit", in_file(tmp_path, LONG), *ML).err


# numbers at the edge --------------------------------------------------------------------------------------


def test_similarities_whose_squares_are_no_numbers():
    for factor in (1e300, 1e-300):
        with pytest.raises(DataError, match="by a constant, so that they are about 0 to 1"):
            thali.Similarities([[1, factor], [factor, 1]])
    assert thali.Similarities([[1, 0.0], [0.0, 1]]).n_pairs == 1


@pytest.mark.parametrize(
    "budget", [{"tune": 10**19}, {"draws": 10**12}, {"thin": 10**9}, {"draws": 10**9}, {"tune": 10**5000}]
)
def test_runs_without_an_end_are_refused(budget):
    data = thali.PairedComparisons([[0, 3], [2, 0]])
    with pytest.raises(ArgumentError, match="at most|fewer draws"):
        thali.EliminationByAspects("unique").fit(data, **budget)
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
    for model in (thali.PlackettLuceRegression(**budget), thali.SparseMultinomialLogit(**budget)):
        with pytest.raises(ArgumentError, match="at most|fewer draws"):
            model.fit(X, y)


@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_one_weight_that_is_left_has_no_standard_error():
    model = thali.EliminationByAspects("unique", method="maximum-likelihood", lapse=0.0)
    model.fit(thali.PairedComparisons([[0, 5, 5], [0, 0, 5], [0, 0, 0]], ["tea", "coffee", "milk"]))
    table = model._maximum().table()
    assert table.loc["tea", "weight"] == 1.0 and table[["std_error", "z", "p_value"]].isna().all(axis=None)


@pytest.mark.parametrize("name", ["Schüler", "Schülerin", "pupil", "VP", "participant"])
def test_who_answered_is_recognised_by_the_name_of_the_column(tmp_path, name):
    rows = "p1,a,b,a\np1,b,c,c\np2,a,b,b\np2,b,c,c\n"
    data, said = read(in_file(tmp_path, f"{name},first,second,chosen\n{rows}"), kinds.PAIRS)
    assert data.respondents == ("p1", "p2") and f"respondents {name!r}" in said
