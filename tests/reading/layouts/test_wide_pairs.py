"""The shape of one column a pair: how its columns are known, what their cells mean, and what it
refuses."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, said, warned
from helpers.typed_tables import made, table

import thali as th
from thali._reading.layout_recognition import recognise
from thali._reading.layouts import SHAPES
from thali.errors import Argument, DataError, DataWarning

SHAPE = {shape.name: shape for shape in SHAPES}
WIDE = SHAPE["table with one column per pair"]

PAIRS = [("tea", "milk"), ("tea", "water"), ("milk", "water")]
FIRST, SECOND, TIE = range(3)
# of four
ANSWERS = [(FIRST, SECOND, TIE), (FIRST, FIRST, FIRST), (SECOND, FIRST, TIE), (FIRST, FIRST, FIRST)]
COUNTS = [[0, 3, 3], [1, 0, 2], [1, 0, 0]]  # tea, milk, water


def written(names, words):
    word_at = words if callable(words) else lambda _, answer: words[answer]
    cells = [[word_at(k, answer) for k, answer in enumerate(row)] for row in ANSWERS]
    return "\n".join([",".join(names), *(",".join(map(str, row)) for row in cells)]) + "\n"


def label(k, answer):
    return "tie" if answer == TIE else PAIRS[k][answer]


@pytest.mark.parametrize(
    "spelled", ["{}>{}", "{} > {}", "{}:{}", "{}/{}", "{} vs {}", "{}_vs_{}", "{} - {}", "{}_{}"]
)
@pytest.mark.parametrize(
    "words", [(1, -1, 0), (1, 2, "="), (">", "<", "="), ("first", "second", "both"), label]
)
def test_columns_that_name_their_pair(spelled, words):
    text = written([spelled.format(*pair) for pair in PAIRS], words)
    reading = recognise(table(text))
    assert reading.shape == WIDE.name and reading.sure
    data, sentence = reading.build()
    assert data.counts.tolist() == COUNTS and data.labels == ("tea", "milk", "water")
    assert data.ties.tolist() == [[0, 0, 0], [0, 0, 2], [0, 2, 0]] and data.respondents == (
        "1",
        "2",
        "3",
        "4",
    )
    said(sentence, "3 pair columns")
    assert th.PairedComparisons.from_wide(pd.read_csv(pd.io.common.StringIO(text))) == data


@pytest.mark.parametrize("cell", ["{}", "Sample {}", "product_{}"])
@pytest.mark.parametrize("spelled", ["{} vs {}", "{}_{}", "{}:{}"])
@pytest.mark.parametrize("options", ["ABC", "BAC"])
def test_columns_of_pairs_of_letters_are_no_sides_of_trials(options, spelled, cell):
    letters = dict(zip(["tea", "milk", "water"], options, strict=True))
    names = [spelled.format(*map(letters.get, pair)) for pair in PAIRS]
    words = ["no preference" if cell == "{}" else "tie"]
    text = written(names, lambda k, x: words[0] if x == TIE else cell.format(letters[PAIRS[k][x]]))
    data, sentence = recognise(table(text)).build()
    assert data.labels == tuple(options) and data.counts.tolist() == COUNTS and data.n_ties == 2
    assert "3 pair columns" in sentence


def test_columns_with_the_numbers_of_their_options():
    data, _ = recognise(table(written(["V12", "V13", "V23"], (1, -1, 0)))).build()
    assert data.labels == ("1", "2", "3") and data.counts.tolist() == COUNTS


def test_columns_that_are_only_numbered_are_in_the_order_of_prefmod():
    for k, pair in enumerate(["12", "13", "23", "14", "24", "34"]):
        one, other = (int(number) - 1 for number in pair)
        data = th.PairedComparisons.from_wide(numbered(6, answered=k), coding={1: "first"})
        assert np.argwhere(data.counts).tolist() == [[one, other]] and data.labels == (
            "1",
            "2",
            "3",
            "4",
        )
    with refused(DataError, "only 1 and 2", "coding"):
        recognise(table(written(["V1", "V2", "V3"], (1, 2, "")))).build()
    data, sentence = recognise(table(written(["V1", "V2", "V3"], (1, -1, "")))).build()
    assert data.counts.tolist() == COUNTS and data.n_ties == 0  # an empty cell is no answer
    said(sentence, "'V1'", "'V2'")
    frame = pd.DataFrame([[1, 2, 1]], columns=["V1", "V2", "V3"])
    assert th.PairedComparisons.from_wide(frame, labels=["tea", "milk", "water"]).labels == (
        "tea",
        "milk",
        "water",
    )


def numbered(columns, answered=0):
    """An answer to one question, of columns V1, V2 and so on."""
    cells = [1 if k == answered else None for k in range(columns)]
    return pd.DataFrame([cells], columns=[f"V{k + 1}" for k in range(columns)])


@pytest.mark.parametrize(("columns", "options"), [(1, 0), (2, 0), (3, 3), (6, 4), (10, 5), (11, 0)])
def test_numbered_columns_are_those_of_all_pairs(columns, options):
    if options:
        assert (
            len(th.PairedComparisons.from_wide(numbered(columns), coding={1: "first"}).labels)
            == options
        )
        return
    with refused(ValueError, "'V1'", "'tea > milk'"):
        th.PairedComparisons.from_wide(numbered(columns), coding={1: "first"})


@pytest.mark.parametrize("stem", ["CS", "task", "Choice Set ", "V", "item"])
@pytest.mark.parametrize("codes", [(1, 2), (0, 1)])
def test_two_codes_in_numbered_columns_may_answer_any_questions(stem, codes, tmp_path):
    """No objects are invented for the answers to a choice experiment, which needs its design."""
    names = [f"{stem}{k}" for k in range(1, 7)]
    rows = [[codes[(person + k) % 2] for k in range(6)] for person in range(5)]
    frame = pd.DataFrame(rows, columns=names).assign(RID=range(101, 106), Age=30)
    with refused(DataError, f"only {codes[0]} and {codes[1]}", Argument("design"), "prefmod"):
        th.read(frame)
    assert th.read(frame, coding={codes[0]: "first", codes[1]: "second"}).n_pairs == 6
    design = pd.DataFrame(
        [(task, alt, 10 * ((task + alt) % 3)) for task in range(1, 7) for alt in codes],
        columns=["Task", "Alt", "price"],
    )
    design.to_csv(tmp_path / "design.csv", index=False)
    assert th.read(frame, design=tmp_path / "design.csv").n_tasks == 30
    pairs = frame.rename(columns=dict(zip(names, [f"pair{k}" for k in range(1, 7)], strict=True)))
    if codes == (1, 2):
        assert th.read(pairs).n_pairs == 6


@pytest.mark.parametrize("stem", ["Q", "item"])
@pytest.mark.parametrize("codes", [(-1, 0, 1), (-1, 1, 1), (0, 1, 2)])
def test_items_of_a_questionnaire_are_no_pairs(stem, codes):
    answers = {f"{stem}{k}": [codes[(person * k) % 3] for person in range(9)] for k in range(1, 7)}
    frame = pd.DataFrame({"id": range(9), **answers, "age": 30})
    with refused(DataError, "contain only", Argument("design"), Argument("coding")):
        th.read(frame)
    coding = {-1: "second", 1: "first", 0: "tie", 2: "missing"}
    assert th.read(frame, coding=coding).n_pairs == 6
    assert th.read(frame.rename(columns=lambda name: name.replace(stem, "V"))).n_pairs == 6


def test_tables_of_prefmod_are_read_with_a_warning():
    with warned(DataWarning, "prefmod: 0 for the first"):
        data, _ = recognise(table(written(["V1", "V2", "V3"], (0, 2, 1)))).build()
    assert data.counts.tolist() == COUNTS and data.n_ties == 2
    data, _ = recognise(
        table(written(["V1", "V2", "V3"], (1, 2, 0))), coding={1: "first", 2: "second", 0: "tie"}
    ).build()
    assert data.counts.tolist() == COUNTS and data.n_ties == 2


def test_who_does_not_know_is_left_out_and_a_coding_adds():
    def cell(k, answer, tie):
        return tie if answer == TIE else PAIRS[k][answer]

    text = written(
        ["tea>milk", "tea>water", "milk>water"], lambda k, answer: cell(k, answer, "weiß nicht")
    )
    data, sentence = recognise(table(text)).build()
    assert data.counts.tolist() == COUNTS and not data.n_ties
    said(sentence, "2 answers", "'weiß nicht'")
    text = written(
        ["tea>milk", "tea>water", "milk>water"], lambda k, answer: cell(k, answer, "meh")
    )
    data, _ = recognise(table(text), coding={"meh": "tie"}).build()
    assert data.counts.tolist() == COUNTS and data.n_ties == 2


def test_pairs_by_the_two_labels_that_columns_hold():
    text = "id,Q1,Q2,Q3,sex\n1,tea,tea,milk,f\n2,milk,water,water,m\n"
    data, _ = made(text)
    assert sorted(data.labels) == ["milk", "tea", "water"] and data.n_comparisons == 6
    assert data.subset(["tea", "milk", "water"]).counts.tolist() == [
        [0, 1, 1],
        [1, 0, 1],
        [1, 1, 0],
    ]


def test_other_columns_are_no_columns_of_pairs():
    with refused(ValueError, "'x'", "'y'", "'tea > milk'"):
        th.PairedComparisons.from_wide(pd.DataFrame({"x": [1], "y": [2]}))
    data = th.PairedComparisons.from_wide(
        pd.DataFrame({"x": [1], "y": [2]}), pairs={"x": ("a", "b"), "y": ("a", "c")}
    )
    assert data.counts.tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 0]]
    with refused(ValueError, "`labels`", "3 options", "got 2"):
        th.PairedComparisons.from_wide(
            pd.DataFrame({"V12": [1], "V13": [2], "V23": [1]}), labels=["a", "b"]
        )
