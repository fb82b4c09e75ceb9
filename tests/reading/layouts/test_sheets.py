"""Workbooks with a sheet a respondent: squares of counts, and lists."""

import pytest
from helpers.sentences import refused, said

from thali._reading.layout_recognition import recognise
from thali._reading.layouts import SHAPES
from thali._reading.table_files import load_table

SHAPE = {shape.name: shape for shape in SHAPES}
SHEETS = SHAPE["workbook with one square matrix per respondent"]

openpyxl = pytest.importorskip("openpyxl", reason="Excel files need openpyxl")


def workbook(path, sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return load_table(path)


def square(a, b):
    return [[None, "tea", "milk"], ["tea", 0, a], ["milk", b, 0]]


def test_sheets_of_squares_are_read_as_one_respondent_each(tmp_path):
    table = workbook(
        tmp_path / "x.xlsx", {"VP01": square(3, 1), "VP02": square(0, 2), "notes": [["read me"]]}
    )
    reading = recognise(table)
    assert reading.shape == SHEETS.name
    data, sentence = reading.build()
    assert data.counts.tolist() == [[0, 3], [3, 0]] and data.respondents == ("VP01", "VP02")
    assert {name: each.counts.tolist() for name, each in data.by_respondent().items()} == {
        "VP01": [[0, 3], [1, 0]],
        "VP02": [[0, 0], [2, 0]],
    }
    said(sentence, "2 sheets", "2 options", "1 pair", "6 comparisons")


def test_sheets_of_lists_are_read_as_one_respondent_each(tmp_path):
    rows = [["left", "right", "choice"], ["tea", "milk", "left"], ["milk", "tea", "left"]]
    data, sentence = recognise(workbook(tmp_path / "x.xlsx", {"ann": rows, "bob": rows})).build()
    assert (
        data.respondents == ("ann", "bob")
        and data.n_comparisons == 4
        and "respondents in 'respondent'" in sentence
    )


def test_an_error_names_the_sheet(tmp_path):
    table = workbook(tmp_path / "x.xlsx", {"VP01": square(3, 1), "VP02": square(-1, 2)})
    with refused(ValueError, "Sheet 'VP02'", "row 'tea'", "column 'milk'", "-1"):
        recognise(table).build()
    rows = [["left", "right", "choice"], ["tea", "milk", "left"]]
    lone = workbook(tmp_path / "y.xlsx", {"a": rows, "b": [["x"]]})
    assert lone.note == "sheet 'a' (ignored: 'b')" and lone.sheets == ()


def similar(a, b):
    return [
        [None, "tea", "milk", "water"],
        ["tea", 1, a, b],
        ["milk", a, 1, 0.5],
        ["water", b, 0.5, 1],
    ]


def test_sheets_of_similarities_are_averaged(tmp_path):
    reading = recognise(
        workbook(tmp_path / "x.xlsx", {"VP01": similar(0.25, 0.3), "VP02": similar(0.75, 0.3)})
    )
    data, sentence = reading.build()
    said(reading.shape, "similarities per respondent")
    assert data.values.tolist() == [0.5, 0.3, 0.5] and data.judgements.tolist() == [2, 2, 2]
    assert data.sigma == pytest.approx((2 * 0.25**2 / 3) ** 0.5)
    said(sentence, "2 sheets", "3 objects", "3 similarities", "2 judgements")
    uneven = similar(0.25, 0.3)
    uneven[1][2] = 0.5
    with refused(ValueError, "Sheet 'b'"):
        recognise(
            workbook(tmp_path / "y.xlsx", {"a": similar(0.25, 0.3), "b": uneven}), "similarities"
        ).build()
    counts = [
        [None, "tea", "milk", "water"],
        ["tea", 0, 1, 2],
        ["milk", 3, 0, 4],
        ["water", 5, 6, 0],
    ]
    with refused(ValueError, "'a'", "'b'"):
        recognise(workbook(tmp_path / "z.xlsx", {"a": similar(0.25, 0.3), "b": counts}))


def rated(highest, diagonal=0, *, half=False):
    pairs = [[diagonal, highest, 2], [highest, diagonal, 1], [2, 1, diagonal]]
    rows = [[None if half and j > i else pairs[i][j] for j in range(3)] for i in range(3)]
    labels = ["tea", "milk", "water"]
    return [[None, *labels], *([label, *row] for label, row in zip(labels, rows, strict=True))]


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("diagonal", [0, None, 9])
def test_sheets_of_ratings_from_one_to_nine_are_no_counts(tmp_path, diagonal, half):
    sheets = {name: rated(k, diagonal, half=half) for name, k in (("a", 8), ("b", 6))}
    table = workbook(tmp_path / "x.xlsx", sheets)
    if diagonal != 9:
        with refused(ValueError, "tie every pair", "`kind='similarities'`", "dissimilarities="):
            recognise(table)
    for options, values in (({}, [7, 2, 1]), ({"dissimilarities": "linear"}, [1, 6, 7])):
        data, sentence = recognise(table, kind="similarities", **options).build()
        assert data.values.tolist() == values and data.respondents == ("a", "b")
    said(sentence, "(linear)", "2 sheets")
    decimal = {"a": rated(8.5, diagonal), "b": rated(7, diagonal)}
    table = workbook(tmp_path / "y.xlsx", decimal)
    if diagonal == 0:
        with refused(ValueError, "table of distances"):
            recognise(table)
    assert recognise(table, kind="similarities").build()[0].values.tolist() == [7.75, 2, 1]
