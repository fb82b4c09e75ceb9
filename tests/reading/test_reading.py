"""What files must not do: hide what they are, be read twice, fill the memory, or be read as what
they are not."""

import os
import pickle
import re
import sys
import threading
import zipfile
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from helpers import limits
from helpers.sentences import refused, said

import thali as th
import thali._data.kinds as kinds
from thali._input_files import Source, read_source
from thali._reading.layout_recognition import read_data
from thali._reading.table_files import load_table, read_table
from thali.errors import LONGEST, MAX_NAME_LENGTH, ArgumentError, DataError, DataWarning, one_line

LONG = "winner,loser,n\ntea,milk,3\nmilk,tea,1\n"
ML = ("--method", "maximum-likelihood", "--lapse", "0")


def in_file(folder, text, name="data.csv"):
    (folder / name).write_text(text)
    return folder / name


# what is read -------------------------------------------------------------------------------------


@pytest.fixture
def pipe(tmp_path):
    """A named pipe that is fed once, by a thread that writes to whoever reads first."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes here")
    os.mkfifo(tmp_path / "pipe")
    feeder = threading.Thread(target=(tmp_path / "pipe").write_text, args=(LONG,), daemon=True)
    feeder.start()
    return tmp_path / "pipe"


@contextmanager
def standard_input(path):
    """Let a file be what is typed."""
    with open(path) as stream:
        usual, sys.stdin = sys.stdin, stream
        try:
            yield
        finally:
            sys.stdin = usual


def test_standard_input_by_its_short_name(run, tmp_path):
    with standard_input(in_file(tmp_path, LONG)):
        found = run("fit", "-", *ML)
    assert found.code == 0 and "thali: -: long table" in found.err
    with standard_input(os.devnull):
        found = run("fit", "-", *ML)
    assert found.code == 2
    said(found.err, "standard input", "is empty")


def test_other_paths_than_files_are_refused(tmp_path):
    (tmp_path / "dang").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    in_file(tmp_path, LONG, "title.csv")
    for path, *facts in (
        ("/dev/zero", "is a device"),
        (tmp_path, "is a folder"),
        (tmp_path / "dang", "a link to 'nowhere'"),
        (tmp_path / "loop", "a link to 'loop'"),
        (tmp_path / "my file.csv", "There is no file"),
        (tmp_path / "titel.csv", "There is no file", "'title.csv'?"),
        (tmp_path / "a\0b.csv", "There is no file"),
    ):
        with refused(DataError, repr(str(path)), *facts):
            read_source(path)
    # where the name is cut depends on the folder
    with pytest.raises(DataError, match="cannot be read: "):
        read_source(tmp_path / ("x" * 300))


def test_a_pipe_without_an_end_is_given_up(pipe, monkeypatch):
    limits.lower(monkeypatch, bytes_of_a_pipe=10)
    with refused(DataError, "may never end"):
        read_source(pipe)


# Excel and Parquet --------------------------------------------------------------------------------


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
    limits.lower(monkeypatch, bytes_of_a_workbook=1 << 20)
    damaged = b"<" + b" " * (1 << 22)  # what unpacks it says so
    path = rewritten(workbook(tmp_path, ["a", "b"], ["c", "d"]), lambda part: part + damaged)
    assert path.stat().st_size < 1 << 14
    with pytest.raises(DataError, match="would unpack to 4,2"):  # how small it is packed varies
        read_table(path)


def test_a_cell_in_the_corner_of_a_sheet_does_not_fill_the_memory(tmp_path, monkeypatch):
    limits.lower(monkeypatch, cells_of_a_sheet=1 << 16)
    rows = b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (k, k) for k in range(1, 9))
    path = rewritten(
        workbook(tmp_path, ["a", "b"], ["c", "d"]),
        lambda part: (
            part[: part.index(b"<sheetData>")] + b"<sheetData>" + rows + b"</sheetData></worksheet>"
        ),
    )
    with refused(DataError, "has more than 65,536 cells"):
        read_table(path)


def test_tables_of_too_many_columns_are_refused_at_once(tmp_path):
    wide, order = tmp_path / "wide.csv", tmp_path / "order.soc"
    wide.write_text(",".join(f"a{k}" for k in range(10_001)) + "\n" + ",".join("1" * 10_001) + "\n")
    with refused(DataError, "10,001 columns", "most 10,000"):
        read_table(wide)
    names = "".join(f"# ALTERNATIVE NAME {k}: o{k}\n" for k in range(1, 20_001))
    order.write_text(names + "1: " + ",".join(str(k) for k in range(1, 20_001)) + "\n")
    with refused(DataError, "20,000 alternatives"):
        read_table(order)


def packed_tables():
    """Tables of some kilobytes that are not small: equal rows, a list, a long text in each row,
    empty text."""
    import pyarrow as pa

    same = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(500_000, np.int32)), pa.array(["tea"])
    ).cast(pa.string())
    yield "1,000,000 cells", {"winner": same, "loser": same}, {}
    yield (
        "1,000,001 cells",
        {"winner": pa.array([np.zeros(1_000_000, np.int8)]), "loser": pa.array([1])},
        {},
    )
    yield (
        "unpack to at least 3,",
        {"winner": pa.array(["x" * 10_000] * 300), "loser": pa.array(["tea"] * 300)},
        {},
    )
    yield (
        "unpack to at least 3,",
        {"winner": pa.array(["x" * 3_000_000]), "loser": pa.array(["tea"])},
        {"compression": "zstd"},
    )


# Threads of Arrow return memory to the pool that it came from, even after the reader has returned:
# a pool that is deleted before that ends the process with a segmentation fault.
_pools = []


@pytest.mark.parametrize("number", range(4))
def test_a_parquet_file_that_would_fill_the_memory_is_not_unpacked(tmp_path, monkeypatch, number):
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet

    fact, columns, how = list(packed_tables())[number]
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "x.parquet", **how)
    assert (tmp_path / "x.parquet").stat().st_size < 15_000
    limits.lower(
        monkeypatch,
        cells_of_Parquet=1 << 16,
        cells_of_a_byte_of_Parquet=50,
        bytes_of_Parquet=1 << 21,
    )
    usual = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(usual)
    _pools.append(pool)
    pa.set_memory_pool(pool)
    try:
        with pytest.raises(DataError, match=fact):  # how small it is packed varies
            read_table(tmp_path / "x.parquet")
    finally:
        pa.set_memory_pool(usual)
    assert pool.max_memory() < 1 << 21, "it was unpacked"


def test_gaps_do_not_fill_the_memory(tmp_path, monkeypatch):
    """A sheet may have gaps, but not rows that are nearly empty."""
    limits.lower(monkeypatch, cells_of_a_text=1000)
    path = workbook(tmp_path, [f"c{k}" for k in range(300)], *(["a"] for _ in range(5)))
    with refused(DataError, "Line 5", "1 cell", "300 columns"):
        read_table(path)


def test_formulas_that_were_never_calculated(tmp_path):
    path = workbook(tmp_path, ["", "tea", "milk"], ["tea", None, 12], ["milk", "=20-C2", None])
    with refused(DataError, "sheet 'Sheet'", "20"):
        read_data(path, kinds.PAIRS)
    calculated = rewritten(
        path, lambda part: re.sub(rb"</f>(<v */>|<v></v>)", b"</f><v>8</v>", part)
    )
    assert read_data(calculated, kinds.PAIRS)[0].counts.tolist() == [[0, 12], [8, 0]]


def test_names_that_promise_another_kind_of_file(tmp_path):
    with refused(DataError, "an Excel workbook"):
        read_table(in_file(tmp_path, "see below\n", "bad.xlsx"))
    with refused(DataError, "not a readable Excel workbook"):
        read_table(Source("x.xlsx", b"PK\x03\x04 and no more"))


@pytest.mark.parametrize("cell", [["a"], {"a": 1}, ("a",)], ids=["list", "dict", "tuple"])
def test_cells_with_lists_are_refused(cell, tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    frame = pd.DataFrame({"winner": ["a", "b"], "loser": [cell, cell]})
    frame.to_parquet(tmp_path / "nested.parquet")
    with refused(DataError, "Column 'loser'"):
        load_table(tmp_path / "nested.parquet")
    with refused(DataError, "Column 'loser'"):
        th.PairedComparisons.from_frame(frame, "winner", "loser")
    with refused(DataError, "Column 'loser'"):
        th.Choices(frame, choice_id="winner", alternative="loser", chosen="winner")


def test_damaged_parquet_files(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    pd.DataFrame({"winner": ["a", "b"], "loser": ["b", "a"]}).to_parquet(tmp_path / "x.parquet")
    content = (tmp_path / "x.parquet").read_bytes()
    for damaged in (content[:-9], content[:-4] + b"PARX", b"PAR1"):
        with pytest.raises(DataError, match="not a readable Parquet file"):
            load_table(Source("x.parquet", damaged))
    # of a page, not of the notes
    flipped = content[:8] + bytes(~byte & 255 for byte in content[8:24]) + content[24:]
    with pytest.raises(DataError, match="not a readable Parquet file"):
        load_table(Source("x.parquet", flipped))


# messages -----------------------------------------------------------------------------------------


def test_messages_are_one_line_of_bounded_length():
    cell = 'it\'s "x" ' * 1000
    message = (
        f"The count in column {cell!r} is {'y' * 5000!r}, which is not a number; write\n\n  a"
        " number."
    )
    for kind in (DataError, ArgumentError, DataWarning):
        messages = str(kind(message))
        assert len(messages) < 2 * MAX_NAME_LENGTH + 100 and "\n" not in messages
        said(messages, "count in column", "write a number")
        assert (
            one_line(messages) == messages
            and str(pickle.loads(pickle.dumps(kind(message)))) == messages
        )
    assert len(str(DataError("a " * 10**6))) <= LONGEST


def test_a_long_cell_makes_a_short_sentence(tmp_path):
    with pytest.raises(DataError) as caught:
        read_data(in_file(tmp_path, LONG.replace(",1", "," + "x" * 5000)), kinds.PAIRS)
    assert len(str(caught.value)) < 300


# readings that are wrong --------------------------------------------------------------------------

TOTALS = [[0, 12, 15, 27], [8, 0, 11, 19], [5, 9, 0, 14], [13, 21, 26, 0]]


def test_a_tie_is_no_option():
    frame = pd.DataFrame({"chosen": ["a", "draw", "b"], "rejected": ["b", "a", "a"]})
    with refused(DataError, "'draw'"):
        th.PairedComparisons.from_frame(frame)
    with refused(DataError, "row 0"):
        th.PairedComparisons.from_frame(pd.DataFrame({"chosen": ["Tie"], "rejected": ["Tie"]}))
    with refused(DataError, "'tie' seems to mean that neither"):
        th.PairedComparisons.from_pairs([("a", "b"), ("a", "tie")])
    drawing = pd.DataFrame({"chosen": ["paint", "draw"], "rejected": ["draw", "paint"]})
    assert th.PairedComparisons.from_frame(drawing).labels == ("paint", "draw")
    assert th.PairedComparisons.from_frame(frame, labels=["a", "b", "draw"]).n_options == 3


def test_totals_are_no_option():
    for corner in (0, 60):
        counts = np.array(TOTALS)
        counts[3, 3] = corner
        with refused(DataError, "column 'Summe'"):
            th.PairedComparisons(counts, ["Kaffee", "Tee", "Milch", "Summe"])
    with refused(DataError, "'all' appear to be totals"):
        th.PairedComparisons([[0, 3, 3], [2, 0, 2], [2, 3, 5]], ["a", "b", "all"])
    # the sums of equal counts may be chance
    assert th.PairedComparisons(5 - 5 * np.eye(3)).n_options == 3
    changed = np.array(TOTALS)
    changed[3, 0] += 1
    assert th.PairedComparisons(changed).n_options == 4


def test_totals_on_one_side_of_a_file(tmp_path):
    table = ",a,b\na,0,3\nb,2,0\n"
    for text in (
        table + "Total,2,3\n",
        ",a,b,Total\na,0,3,3\nb,2,0,2\n",
        ",a,b,N\na,0,3,3\nb,2,0,2\nTotal,2,3,\n",
    ):
        with refused(DataError, "appear to be totals"):
            read_data(in_file(tmp_path, text), kinds.PAIRS)
    with refused(DataError, "only the rows have 'c'"):
        read_data(in_file(tmp_path, table + "c,2,4\n"), kinds.PAIRS)


def test_percentages_in_counts_are_named(tmp_path, recwarn):
    table = ",a,b,c\na,0,60,75\nb,40,0,55\nc,25,45,0\n"
    read_data(in_file(tmp_path, table), kinds.PAIRS)
    th.PairedComparisons(pd.DataFrame([[0, 60, 75], [40, 0, 55], [25, 45, 0]]))
    assert len(recwarn) == 2 and all("sum to 100" in str(each.message) for each in recwarn)
    recwarn.clear()
    with refused(DataError, "these are proportions"):
        read_data(
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
    th.PairedComparisons([[0, 60, 75], [40, 0, 55], [25, 45, 0]])  # the array of a program
    read_data(in_file(tmp_path, table.replace("45", "44")), kinds.PAIRS)
    assert not len(recwarn)


@pytest.mark.parametrize(
    ("cell", "facts"),
    [
        ("1,700", ("thousands separators", "1700")),
        ("1'700'000", ("thousands separators", "1700000")),
        ("60 %", ("not percentages",)),
        ("17,00", ("'17,00'", "number")),
    ],
)
def test_numbers_that_only_people_read(cell, facts, tmp_path):
    with refused(DataError, *facts):
        read_data(in_file(tmp_path, LONG.replace(",3", f',"{cell}"')), kinds.PAIRS)


def test_labels_that_are_nearly_the_same(recwarn):
    for labels in (["tea", "Tea"], ["green tea", "green  tea"], ["th\u00e9", "th\uff45\u0301"]):
        th.PairedComparisons([[0, 3], [2, 0]], labels)
        assert str(recwarn.pop(DataWarning).message).startswith("The labels '")
    frame = pd.DataFrame({"task": [1, 1], "alternative": ["tea", "TEA"], "chosen": [1, 0]})
    th.Choices(frame)
    said(recwarn.pop(DataWarning).message, "capitals or spaces")
    th.PairedComparisons([[0, 3], [2, 0]], ["tea", "tee"])
    assert not len(recwarn)


def test_columns_of_losses_and_ties_are_not_dropped_in_silence(recwarn):
    frame = pd.DataFrame(
        {"row": ["a"], "col": ["b"], "win": [3], "loss": [2], "tie": [1], "year": [2020]}
    )
    th.PairedComparisons.from_frame(frame, "row", "col", "win")
    said(recwarn.pop(DataWarning).message, "'loss'", "'tie'")
    th.PairedComparisons.from_frame(frame.assign(loss=0, tie=0), "row", "col", "win")
    assert not len(recwarn)


# numbers at the edge ------------------------------------------------------------------------------


def test_similarities_whose_squares_are_no_numbers():
    for factor in (1e300, 1e-300):
        with refused(DataError, "range from about"):
            th.Similarities([[1, factor], [factor, 1]])
    assert th.Similarities([[1, 0.0], [0.0, 1]]).n_pairs == 1


def test_a_number_of_thousands_of_digits_ends_in_a_sentence():
    with refused(ArgumentError):
        th.EliminationByAspects("unique").fit(th.PairedComparisons([[0, 3], [2, 0]]), tune=10**5000)


@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_one_weight_that_is_left_has_no_standard_error(few_replicates):
    model = th.EliminationByAspects("unique", method="maximum-likelihood", lapse=0.0)
    model.fit(th.PairedComparisons([[0, 5, 5], [0, 0, 5], [0, 0, 0]], ["tea", "coffee", "milk"]))
    table = model.summary()
    assert table.loc["tea", "weight"] == 1.0 and table[["std_error", "z", "p_value"]].isna().all(
        axis=None
    )
