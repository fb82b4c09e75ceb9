"""The shapes of trials and of results: which columns they take, what their cells mean, and what
they refuse."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, said
from helpers.typed_tables import made, table

import thali as th
from thali._data.column_guesses import find_side_columns
from thali._reading.layout_recognition import recognise
from thali._reading.layouts import SHAPES
from thali.errors import Argument, DataError, Setting

SHAPE = {shape.name: shape for shape in SHAPES}
TRIALS = SHAPE["table of trials"]
RESULTS = SHAPE["table of results"]


def counted(data):
    return tuple(int(array[0]) for array in (data.wins, data.losses, data.tied))


def rows(header, cells):
    """A over B twice, B over A once, a tie; the second column of options is the one chosen in row
    2."""
    pairs = ["tea,milk", "milk,tea", "tea,milk", "milk,tea"]
    return (
        "\n".join(
            [header, *(f"{pair},{cell}" for pair, cell in zip(pairs, cells.split(), strict=True))]
        )
        + "\n"
    )


@pytest.mark.parametrize(
    ("header", "cells", "answer"),
    [
        ("a,b,chosen", "tea tea milk tie", ("label", "tie")),
        ("left,right,response", "left right right same", ("side", "same")),
        ("left,right,key_resp.keys", "arrowleft arrowright arrowright both", ("side", "both")),
        ("option1,option2,choice", "1 2 2 tie", ("side", "tie")),
        ("first,second,preferred", "first second second equal", ("side", "equal")),
        ("img_left,img_right,choice", "l r r neither", ("side", "neither")),
        ("stim1,stim2,choice", "1 -1 -1 0", ("side", "0")),
        (
            "model_a,model_b,winner",
            "model_a model_b model_b tie(bothbad)",
            ("side", "tie(bothbad)"),
        ),
        ("links,rechts,gewählt", "links rechts rechts unentschieden", ("side", "unentschieden")),
        ("gauche,droite,choix", "tea tea milk égalité", ("label", "égalité")),
        ("izquierda,derecha,elegido", "tea tea milk empate", ("label", "empate")),
        ("left,right,choice", "1 2 2 tie", ("side", "tie")),
    ],
)
def test_trials_are_recognised_and_counted(header, cells, answer):
    reading = recognise(table(rows(header, cells)))
    assert reading.shape == TRIALS.name
    data, sentence = reading.build()
    assert counted(data) == (2, 1, 1)
    first, second, chosen = header.split(",")
    word, tie = answer
    holds = f"chosen {word} in {chosen!r} (ties: {tie!r})"
    said(
        sentence,
        f"{first!r} against {second!r}",
        holds,
        "2 options",
        "1 pair",
        "4 comparisons (1 tie)",
    )
    frame = pd.read_csv(pd.io.common.StringIO(rows(header, cells)))
    assert th.PairedComparisons.from_trials(frame) == data


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("home,away,result", "H A A D"),
        ("HomeTeam,AwayTeam,FTR", "H A A D"),
        ("home,away,result", "1 2 2 X"),
        ("home,away,result", "1 -1 -1 0"),
        ("white,black,result", "1 0 0 0.5"),
        ("Heim,Gast,Ergebnis", "tea tea milk remis"),
        ("home,away,home_goals,away_goals", "3,1 0,2 1,2 0,0"),
        ("visitor,opponent,visitor_score,opponent_score", "3,1 0,2 1,2 2,2"),
    ],
)
def test_results_of_games_are_recognised_and_counted(header, cells):
    reading = recognise(table(rows(header, cells)))
    assert reading.shape == RESULTS.name
    assert counted(reading.build()[0]) == (2, 1, 1)


def test_the_buttons_of_jspsych_begin_at_0():
    text = (
        "trial_type,trial_index,left,right,response\nb,1,tea,milk,0\nb,2,tea,milk,1\n"
        "b,3,tea,milk,0\n"
    )
    data, sentence = made(text)
    assert counted(data) == (2, 1, 0)
    said(sentence, "0 for the first, jsPsych")


def test_columns_and_values_in_any_words():
    text = "who,X eins,X zwei,Urteil\n1,tea,milk,f\n1,tea,milk,j\n2,tea,milk,g\n2,tea,milk,f\n"
    columns = {"first": "X eins", "second": "X zwei", "chosen": "Urteil", "respondent": "who"}
    data, _ = made(text, **columns, coding={"f": "first", "j": "second", "g": "tie"})
    assert counted(data) == (2, 1, 1) and data.respondents == ("1", "2")


def test_a_coding_says_all_that_it_has_to():
    frame = pd.DataFrame({"left": ["a", "b"], "right": ["b", "a"], "choice": ["f", "j"]})
    with refused(ValueError, "Column 'choice'", "'j'", "row 1"):
        th.PairedComparisons.from_trials(frame, coding={"f": "first"})
    with refused(ValueError, "coding", "got 'up'"):
        th.PairedComparisons.from_trials(frame, coding={"f": "up", "j": "second"})
    sides = th.PairedComparisons.from_trials(frame, coding={"f": "left", "j": "right"})
    assert sides == th.PairedComparisons.from_trials(frame, coding={"f": "first", "j": "second"})


def test_a_coding_adds_to_what_is_recognised():
    rows = "tea,milk,tea\nmilk,tea,tea\ntea,milk,unentschieden\ntea,milk,meh\n"
    data, sentence = made("left,right,choice\n" + rows, coding={"meh": "tie"})
    assert counted(data) == (2, 0, 2)
    said(sentence, "'meh'", "'unentschieden'")
    data, _ = made("left,right,choice\ntea,milk,left\ntea,milk,x\n", coding={"x": "tie"})
    assert counted(data) == (1, 0, 1)
    for left, right in ("12", "AB"):
        rows = f"tea,milk,{left}\ntea,milk,C\ntea,milk,{right}\nmilk,tea,{right}\n"
        data, _ = made("left,right,choice\n" + rows, coding={"C": "tie"})
        assert counted(data) == (2, 1, 1)
    with refused(ValueError, "'1'", "row 3"):  # 0 may be the first
        made("left,right,choice\ntea,milk,0\ntea,milk,1\n", coding={0: "first"})
    with refused(ValueError, "'rum'", "row 3"):
        made("left,right,choice\ntea,milk,x\ntea,milk,rum\ntea,milk,tea\n", coding={"x": "tie"})


def test_a_coding_names_what_is_no_answer():
    rows = "tea,milk,1\ntea,milk,-99\nmilk,tea,1\ntea,milk,2\n"
    data, sentence = made("left,right,choice\n" + rows, coding={-99: "missing"})
    assert counted(data) == (1, 2, 0)
    said(sentence, "1 row", "'-99'")
    frame = pd.DataFrame(
        {"tea>milk": ["tea", "refused", "milk"], "tea>rum": ["rum", "tea", "refused"]}
    )
    data = th.PairedComparisons.from_wide(frame, coding={"refused": "missing"})
    assert data.n_comparisons == 4


@pytest.mark.parametrize("word", ["weiß nicht", "Don't know", "dk", "keine Angabe", "k. A."])
def test_who_does_not_know_says_nothing(word):
    data, sentence = made(
        f"left,right,choice\ntea,milk,left\ntea,milk,\ntea,milk,{word}\ntea,milk,gleich\n"
    )
    assert counted(data) == (
        1,
        0,
        1,
    ) and f"; 2 rows without an answer ('{word}') dropped" in sentence.replace('"', "'")
    data, _ = made(f"left,right,choice\ntea,milk,left\ntea,milk,{word}\n", coding={word: "tie"})
    assert counted(data) == (1, 0, 1)
    data, _ = made(f"left,right,choice\ntea,{word},{word}\n")
    assert data.n_comparisons == 1  # an option of that name is one


def test_side_columns_are_found_in_pairs_only():
    found = {
        each.columns
        for each in find_side_columns(
            ["Model A", "Model B", "x1", "x2", "x3", "left_img", "right_img", "a"]
        )
    }
    # three of x are no two sides
    assert found == {("Model A", "Model B"), ("left_img", "right_img")}


def test_named_sides_without_an_answer_ask_for_it():
    with refused(DataError, Argument("chosen")):
        made("wer,eins,zwei,u\n1,tea,milk,f\n1,milk,tea,f\n", first="eins", second="zwei")


@pytest.mark.parametrize("marks", ["AB", "12"])
def test_codes_of_levels_are_options_or_one_attribute(marks):
    """As texts are: health states such as 21132 are no amounts, unlike prices."""
    rng = np.random.default_rng(3)
    states = np.unique(rng.integers(1, 6, (40, 5)) @ 10 ** np.arange(5))
    names = [f"state_{mark}" for mark in marks]
    frame = pd.DataFrame(rng.choice(states, (90, 2)), columns=names)
    frame = frame.assign(id=np.repeat(range(9), 10), choice=rng.choice([*marks], 90))
    with refused(DataError, Setting("kind", "experiment"), Setting("kind", "comparisons")):
        th.read(frame)
    assert set(th.read(frame, kind="comparisons").labels) <= set(map(str, states))
    assert th.read(frame, kind="experiment").attributes == ("state",)
    amounts = frame.assign(**{name: rng.integers(11111, 55556, 90) for name in names})
    assert th.read(amounts).attributes == ("state",)
