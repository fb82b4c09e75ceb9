"""Warnings about tasks that are in a table twice, and levels that differ in capitals only."""

import random
import warnings

import pandas as pd
import pytest

import thali as th
from thali.errors import DataWarning

ITEMS = ["tea", "milk", "rum", "gin", "ale"]


def draw_answers(n_respondents=8):
    """Return rows (respondent, task, four items, best, worst), six of each respondent."""
    generator = random.Random(5)
    rows = []
    for person in range(1, n_respondents + 1):
        for task in range(1, 7):
            shown = generator.sample(ITEMS, 4)
            rows.append((f"R{person}", task, *shown, *generator.sample(shown, 2)))
    return rows


# columns of the answers that each layout uses, and their names
LAYOUTS = {
    "best and worst": (range(8), "id,Set,item1,item2,item3,item4,best,worst"),
    "best": (range(7), "id,task,item1,item2,item3,item4,chosen"),
    "pairs": ((0, 1, 6, 7, 6), "id,question,left,right,chosen"),
}


def list_warnings(frame):
    """Return the texts of the warnings about a table."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        th.read(frame)
    return [str(warning.message) for warning in caught if warning.category is DataWarning]


@pytest.mark.first(2)
@pytest.mark.parametrize(("used", "header"), LAYOUTS.values(), ids=LAYOUTS)
def test_a_task_entered_twice_is_reported(used, header):
    rows = [[row[k] for k in used] for row in draw_answers()]
    columns = header.split(",")
    assert list_warnings(pd.DataFrame(rows, columns=columns)) == []
    (sentence,) = list_warnings(pd.DataFrame([*rows, rows[8]], columns=columns))
    assert f"Task '3' (column {columns[1]!r}) of respondent 'R2'" in sentence
    assert "row 48" in sentence
    (sentence,) = list_warnings(pd.DataFrame([*rows, *rows[8:10]], columns=columns))
    assert "1 more" in sentence


def test_a_number_that_many_answers_share_is_no_task():
    rows = [(*row[:1], row[1] % 3, *row[2:]) for row in draw_answers()]
    header = LAYOUTS["best and worst"][1]
    assert list_warnings(pd.DataFrame(rows, columns=header.split(","))) == []


def test_levels_that_differ_in_capitals_only_are_reported():
    generator = random.Random(6)
    rows = [
        (person, task, k, generator.choice(("Red", "red", "Blue")), 10 + k, int(k == task % 2))
        for person in range(8)
        for task in range(5)
        for k in range(2)
    ]
    frame = pd.DataFrame(rows, columns="respondent task alternative colour price chosen".split())
    (sentence,) = [text for text in list_warnings(frame) if "capitals" in text]
    assert "levels 'Red' and 'red' of 'colour'" in sentence and "one spelling" in sentence
    assert list_warnings(frame.replace("red", "Red")) == []
