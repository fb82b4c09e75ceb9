"""Labels of any script, with separators and line breaks: tables align, and files give the labels
back."""

import re
import unicodedata

import pandas as pd
import pytest
from helpers.elimination_fits import FakeModel

import thali as th
from thali._data import kinds
from thali._labels import display_width
from thali._reading.layout_recognition import read_data
from thali._reading.table_files import read_table

WORLD = ['香水, "Nº5"', "향수; 파도", "عطر\nورد", "weight", "001", "NA", "a\r\nb\tc", "=1|2"]


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("tea", 3),
        ("茶", 2),
        ("향수", 4),
        ("ｔ", 2),
        ("e\u0301", 1),
        ("عطر", 3),
        ("🌹", 2),
        ("a\u200bb", 2),
        ("", 0),
    ],
)
def test_width_on_a_terminal(text, width):
    assert display_width(text) == width
    assert display_width(unicodedata.normalize("NFD", "é")) == 1


@pytest.mark.long
@pytest.mark.fit
def test_columns_align_by_width_and_a_cell_is_one_line(tmp_path, done):
    labels = ["茶", "tea\ntime", "e\u0301"]
    votes = [(a, b) for a in labels for b in labels if a != b]
    th.leaderboard(pd.DataFrame(votes, columns=["chosen", "rejected"]), progressbar=False).save(
        tmp_path / "board.nc"
    )
    lines = done("show", tmp_path / "board.nc", "leaderboard").out.splitlines()
    rows = [
        line for line in lines if line.startswith(("option  ", "茶  ", "tea time  ", "\u00e9  "))
    ]
    places = {display_width(line[: re.search(r"rank|\d", line).end()]) for line in rows}
    assert len(rows) == 4 and len(places) == 1, rows


@pytest.mark.fit
def test_files_give_the_labels_back(stand_in, tmp_path, done):
    stand_in("elimination-by-aspects", FakeModel)
    pairs = [
        (a, b, k + 2) for k, (a, b) in enumerate(zip(WORLD, WORLD[1:] + WORLD[:1], strict=True))
    ]
    pd.DataFrame(pairs, columns=["chosen", "rejected", "count"]).to_csv(
        tmp_path / "pairs.csv", index=False
    )
    done = done("fit", tmp_path / "pairs.csv", "--draws", 20, "--out", tmp_path / "results")
    assert "Glyph" not in done.err and done.err.count("No installed font") <= 1
    data, _ = read_data(tmp_path / "pairs.csv", kinds.PAIRS)
    assert sorted(data.labels) == sorted(WORLD)
    results = tmp_path / "results"
    assert read_table(results / "unique_weights.csv")["option"].tolist() == list(data.labels)
    assert sorted(read_table(results / "ranks.csv")["option"]) == sorted(WORLD)
    check = read_table(results / "check.csv")
    assert {*check["a"], *check["b"]} == {*WORLD}
    # a column for each option says which features it has
    table = pd.read_csv(tmp_path / "results" / "features.csv", keep_default_na=False)
    columns = ["weight (member)" if label == "weight" else label for label in data.labels]
    assert list(table.columns)[-len(columns) :] == columns
    assert set(table[columns].to_numpy().ravel()) == {0, 1}
    joined = [
        "; ".join(label for label, has in zip(data.labels, row, strict=True) if has)
        for row in table[columns].to_numpy()
    ]
    assert joined == table["members"].tolist()
