"""Workbooks with a sheet a subject: squares of counts, and lists."""

import pytest

from thali.reading.layouts.squares_by_sheet import NAME
from thali.reading.recognise import recognise
from thali.reading.table import load

openpyxl = pytest.importorskip("openpyxl", reason="Excel files need openpyxl")


def workbook(path, sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return load(path)


def square(a, b):
    return [[None, "tea", "milk"], ["tea", 0, a], ["milk", b, 0]]


def test_squares(tmp_path):
    table = workbook(tmp_path / "x.xlsx", {"VP01": square(3, 1), "VP02": square(0, 2), "notes": [["read me"]]})
    reading = recognise(table)
    assert reading.layout == NAME
    data, sentence = reading.build()
    assert data.counts.tolist() == [[0, 3], [3, 0]] and data.subjects == ("VP01", "VP02")
    assert {name: each.counts.tolist() for name, each in data.by_subject().items()} == {
        "VP01": [[0, 3], [1, 0]],
        "VP02": [[0, 0], [2, 0]],
    }
    assert sentence == (
        "2 sheets, one a subject, each a square count matrix, row over column: 2 options, 1 pair, 6 comparisons, 2 "
        "subjects; 2 sheets, 'VP01' to 'VP02' (not read: 'notes')"
    )


def test_lists(tmp_path):
    rows = [["left", "right", "choice"], ["tea", "milk", "left"], ["milk", "tea", "left"]]
    data, sentence = recognise(workbook(tmp_path / "x.xlsx", {"ann": rows, "bob": rows})).build()
    assert data.subjects == ("ann", "bob") and data.n_comparisons == 4 and "subjects 'subject'" in sentence


def test_what_is_wrong_names_the_sheet(tmp_path):
    table = workbook(tmp_path / "x.xlsx", {"VP01": square(3, 1), "VP02": square(-1, 2)})
    with pytest.raises(
        ValueError, match="x.xlsx: Sheet 'VP02': The count in row 'tea', column 'milk' is -1, which is neg"
    ):
        recognise(table).build()
    rows = [["left", "right", "choice"], ["tea", "milk", "left"]]
    lone = workbook(tmp_path / "y.xlsx", {"a": rows, "b": [["x"]]})
    assert lone.note == "sheet 'a' (not read: 'b')" and lone.sheets == ()
