"""Tables of results as LaTeX, Markdown and Excel."""

import pickle

import numpy as np
import pandas as pd
from helpers.sentences import said
from openpyxl import load_workbook

import thali as th
from thali._exportable_table import Table
from thali._model.model_files import decode_arrays, encode_arrays

HARD = ["R&D 50 %", "a_b#1", "x|y", "<b>", "two\nlines", "[1]", "=SUM(A1)", "$~^\\{}"]


def table():
    columns = {"weight": np.linspace(0.1, 0.8, 8), "n": range(8), "members": [("a", "b_c")] * 8}
    columns |= {
        "p_value": [0.0, 1e-9, 0.5, np.nan, 1.0, 0.04, 0.2, 0.3],
        "small": np.linspace(1e-5, 8e-5, 8),
    }
    return Table(columns, index=pd.Index(HARD, name="an_option"))


def test_latex_escapes_names_and_rounds():
    lines = table().to_latex().splitlines()
    assert lines[0] == r"\begin{tabular}{lrrlrr}"
    assert (
        r" & weight & n & members & p\_value & small \\" in lines
        and r"an\_option &  &  &  &  &  \\" in lines
    )
    assert r"R\&D 50 \% & 0.100 & 0 & a, b\_c & $<$ 0.001 & 0.000010 \\" in lines
    assert r"x\textbar{}y & 0.300 & 2 & a, b\_c & 0.500 & 0.000030 \\" in lines
    assert r"\textless{}b\textgreater{} & 0.400 & 3 & a, b\_c & -- & 0.000040 \\" in lines
    assert any(line.startswith("two lines & ") for line in lines)
    # \\ before [ would take it for its argument
    assert any(line.startswith("{}[1] & ") for line in lines)
    assert any(
        line.startswith(r"\$\textasciitilde{}\textasciicircum{}\textbackslash{}\{\} & ")
        for line in lines
    )
    assert r"a\_b\#1 & 0.20 &" in table().to_latex(digits=2)


def test_markdown_escapes_what_would_break_the_table(tmp_path):
    text = table().to_markdown()
    lines = text.splitlines()
    said(lines[0], "| an\\_option |")
    assert lines[1] == "|:--|--:|--:|:--|--:|--:|"
    assert len(lines) == 10
    assert lines[4].startswith(r"| x\|y | 0.300 |") and lines[5].startswith(
        r"| \<b\> | 0.400 | 3 | a, b\_c | – |"
    )
    table().to_markdown(tmp_path / "table.md")
    assert (tmp_path / "table.md").read_text(encoding="utf-8") == text + "\n"


def test_rows_without_names_have_none():
    plain = Table({"a": ["x"], "b": [1e6]})
    assert plain.to_markdown().splitlines()[2] == "| x | 1,000,000 |"
    assert r"x & 1,000,000 \\" in plain.to_latex()


def test_excel_has_whole_numbers_and_no_formulas(tmp_path):
    table().to_excel(tmp_path / "table.xlsx")
    sheet = load_workbook(tmp_path / "table.xlsx").active
    rows = {row[0].value: row for row in sheet.iter_rows(min_row=2)}
    assert set(rows) == {"two lines" if "\n" in name else name for name in HARD}
    formula = rows["=SUM(A1)"][0]
    assert formula.data_type == "s" and formula.value == "=SUM(A1)"
    first = rows["R&D 50 %"]
    assert [cell.value for cell in first] == ["R&D 50 %", 0.1, 0, "a, b_c", 0, 1e-05]
    assert [first[k].number_format for k in (1, 2, 5)] == ["0.000", "0", "0.000000"]


def test_a_table_stays_one_and_is_saved():
    kept = table()
    assert all(
        isinstance(each, Table)
        for each in (kept.head(2), kept[["n"]], pickle.loads(pickle.dumps(kept)))
    )
    frame = kept[["weight", "n"]].reset_index(drop=True)
    pd.testing.assert_frame_equal(
        decode_arrays(encode_arrays(frame)), pd.DataFrame(frame), check_column_type=False
    )


def test_results_are_tables():
    data = th.datasets.celebrities()
    model = th.EliminationByAspects("Bradley-Terry", method="ML").fit(data)
    for frame in (
        model.summary(),
        model.maximum_likelihood.residuals(),
        th.paired.transitivity(data).table,
    ):
        assert isinstance(frame, Table)
    assert r"std\_error" in model.summary().to_latex()
    answer = th.paired.transitivity(data)
    assert (
        answer.to_markdown() == answer.table.to_markdown()
        and "strong & 34 & 84 & 0.405" in answer.to_latex()
    )
    tables = answer.tables()
    assert list(tables) == ["table", "violations", "numbers"] and len(tables["violations"]) == 34
    assert tables["numbers"].loc["n_tests", "value"] == 84
