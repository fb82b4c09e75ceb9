"""Rows that say that they are practice are noticed."""

import warnings

import pandas as pd
import pytest
from helpers.sentences import said, warned

import thali as th
from thali._data.kinds import PAIRS
from thali._reading.layout_recognition import read_data
from thali.errors import DataWarning

ROWS = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "c"), ("b", "a"), ("c", "b")]


def file_of(folder, **columns):
    frame = pd.DataFrame(ROWS, columns=["winner", "loser"]).assign(**columns)
    frame.to_csv(folder / "table.csv", index=False)
    return folder / "table.csv"


@pytest.mark.parametrize(
    "word",
    [
        "practice",
        "PRACTISE",
        "Training",
        "training_2",
        "warm-up",
        "Warm up",
        "catch",
        "catch trial",
        "demo",
        "Practice",
    ]
    + ["Übung", "Übungsblock 1", "Probe", "Probedurchgang", "entraînement", "práctica"]
    + ["Survey Preview", "Spam"],
)
def test_words_that_say_so(tmp_path, word):
    with pytest.warns(DataWarning, match="1 row.*'block'"):
        read_data(file_of(tmp_path, block=[word, *5 * ["main"]]), PAIRS)


@pytest.mark.parametrize(
    "word", ["main", "practical", "test", "", "7", "caught", "democracy", "strain", "problem"]
)
def test_words_that_do_not(tmp_path, word):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        read_data(file_of(tmp_path, block=[word, *5 * ["other"]]), PAIRS)


@pytest.mark.parametrize("name", ["is_catch", "practice"])
@pytest.mark.parametrize("marks", [(1, 0), ("yes", "no"), (True, False)])
def test_a_mark_of_practice_is_noticed(tmp_path, name, marks):
    yes, no = marks
    with warned(DataWarning, "1 row", f"{name} != ", str(yes)):
        read_data(file_of(tmp_path, **{name: [yes, *5 * [no]], "judge": [1, 1, 1, 2, 2, 2]}), PAIRS)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        read_data(file_of(tmp_path, **{name: range(6)}, attention_check=[0, *5 * [1]]), PAIRS)


def test_rows_that_say_practice_are_noticed_and_counted(tmp_path):
    path = file_of(
        tmp_path, block=2 * ["Practice"] + 4 * ["main"], kind=["catch", "demo"] + 4 * [None]
    )
    with warned(DataWarning, "2 rows", "'block' is 'Practice'", "block != 'Practice'") as messages:
        data, _ = read_data(path, PAIRS)
    assert data.n_comparisons == 6 and len(messages) == 2
    said(messages[1].message, "2 rows", "'kind' is 'catch' or 'demo'", "kind != 'demo'")
    with warned(DataWarning, "1 row", "'block'"):
        path = file_of(tmp_path, block=["demo", *5 * ["main"]])
        th.leaderboard(path, method="maximum-likelihood", progressbar=False)


def test_practice_rows_that_are_filtered_are_not_warned_of(tmp_path):
    path = file_of(tmp_path, block=2 * ["Practice"] + 4 * ["main"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        assert read_data(path, PAIRS, where="block == main")[0].n_comparisons == 4
        assert read_data(path, PAIRS, where="block in (main, Practice)")[0].n_comparisons == 6


@pytest.mark.parametrize(
    "columns",
    [
        {"block": 6 * ["practice"]},  # all of them: that is what the file is about
        {
            "winner": ["demo" if a == "a" else a for a, _ in ROWS],
            "loser": ["demo" if b == "a" else b for _, b in ROWS],
        },
        {"subject": ["demo", *"vwxyz"]},
        {"block": range(6)},
    ],
)
def test_options_people_and_whole_files_may_be_called_so(tmp_path, columns):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        assert read_data(file_of(tmp_path, **columns), PAIRS)[0].n_comparisons == 6
