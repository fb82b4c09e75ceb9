"""The shapes of trials and of results: which columns they take, what their cells mean, and what
they refuse."""

import re

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
    answers = cells.split("/") if "/" in cells else cells.split()
    lines = [f"{pair},{cell}" for pair, cell in zip(pairs, answers, strict=True)]
    return "\n".join([header, *lines]) + "\n"


@pytest.mark.parametrize(
    ("header", "cells", "answer"),
    [
        ("a,b,chosen", "tea tea milk tie", ("label", "tie")),
        ("left,right,response", "left right right same", ("side", "same")),
        ("left,right,key_resp.keys", "arrowleft arrowright arrowright both", ("side", "both")),
        ("option1,option2,choice", "1 2 2 tie", ("side", "tie")),
        ("first,second,preferred", "first second second equal", ("side", "equal")),
        ("img_left,img_right,choice", "l r r neither", ("side", "neither")),
        ("stim1,stim2,choice", "1 -1 -1 0", ("side (1 for 'stim1', -1 for 'stim2')", "0")),
        (
            "model_a,model_b,winner",
            "model_a model_b model_b tie(bothbad)",
            ("side", "tie(bothbad)"),
        ),
        ("links,rechts,gewählt", "links rechts rechts unentschieden", ("side", "unentschieden")),
        ("gauche,droite,choix", "tea tea milk égalité", ("label", "égalité")),
        ("izquierda,derecha,elegido", "tea tea milk empate", ("label", "empate")),
        ("left,right,choice", "1 2 2 tie", ("side", "tie")),
        ("model_a,model_b,vote", "Response A/Response B/Response B/Both bad", ("side", "Both bad")),
        ("a,b,vote", "👈  A is better/👉 B/👉 B/🤝  Tie", ("side", "🤝  Tie")),
        ("a,b,vote", "A 👈/B 👉/B/👎 Both equally poor", ("side", "👎 Both equally poor")),
        ("player1,player2,outcome", "W1 W2 W2 D", ("side", "D")),
        ("player1,player2,outcome", "win1/Player 2 wins/win2/draw", ("side", "draw")),
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
        ("Weiß,Schwarz,Ergebnis", "1:0 0:1 0:1 ½:½"),
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


GOALS = "home,away,home_goals,away_goals,home_{0},away_{0}\nA,B,10,11,70,68\nB,C,9,10,74,66\n"


@pytest.mark.parametrize("other", ["points", "Total", "total_score", "sets"])
def test_scores_that_disagree_about_a_winner_are_a_question(other):
    text = GOALS.format(other)
    for columns in ({}, {"home": "home", "away": "away"}):
        with refused(DataError, "'home_goals'", f"'home_{other}'", "row 2", "`without`"):
            recognise(table(text), **columns)
    with pytest.raises(DataError, match="different winners"):
        th.PairedComparisons.from_results(pd.read_csv(pd.io.common.StringIO(text)))
    without = ["home_goals", "away_goals"]
    if "otal" not in other:  # such columns alone may be of anything
        assert made(text, without=without)[0].wins.tolist() == [1, 1]
    agreed = text.replace("10,11,", "11,10,").replace("9,10,", "10,9,")
    assert made(agreed)[0].wins.tolist() == [1, 1]


OPTIONS_WITH_NUMBERS = [
    ("Judge,Sample 1,Sample 2,Code 1,Code 2,Preference", "2 1 1 2", "Code"),
    ("Judge,item_1,item_2,x_pos_1,x_pos_2,choice", "2 1 1 2", "x_pos"),
    ("Judge,left_image,right_image,left_lat,right_lat,response", "right left left right", "lat"),
    ("Judge,team_1,team_2,result_1,result_2,choice", "2 1 1 2", "result"),
]


@pytest.mark.parametrize(("header", "answers", "attribute"), OPTIONS_WITH_NUMBERS)
def test_options_with_numbers_beside_them_are_a_question(header, answers, attribute):
    cells = ["J1,A,B,10,20", "J1,A,C,20,30", "J2,B,C,30,10", "J2,C,A,10,30"]
    rows = [f"{row},{answer}" for row, answer in zip(cells, answers.split(), strict=True)]
    text = "\n".join([header, *rows])
    with refused(DataError, f"'{attribute}'", "kind='experiment'", "kind='comparisons'"):
        recognise(table(text))
    data = recognise(table(text), kind="comparisons").build()[0]
    assert counted(data) == (0, 1, 0) and data.n_comparisons == 4
    data = recognise(table(text), kind="experiment").build()[0]
    assert [each.name for each in data.scheme.attributes][-1] == attribute
    # a brand is an attribute, and so are texts of which a row has two equal ones
    for name in ("Sample", "item", "image", "team"):
        header = header.replace(name, "brand")
    assert isinstance(made("\n".join([header, *rows]))[0], th.ChoiceExperiment)
    equal = "\n".join([text, f"J2,C,C,10,30,{answers.split()[0]}"])
    assert isinstance(made(equal)[0], th.ChoiceExperiment)


@pytest.mark.parametrize("names", ["blueTag,redTag", "redTag,blueTag", "B_team,R_team"])
def test_the_first_colour_of_the_table_is_first(names):
    text = f"{names},result\nA,B,1\nA,C,1\nB,C,1\nA,B,0\n"
    with refused(DataError, f"'first' means {names.split(',')[0]!r}"):
        made(text)
    data, _ = made(text, coding={1: "first", 0: "second"})
    assert counted(data) == (1, 1, 0) and data.wins.tolist() == [1, 1, 1]
    if "Tag" in names:  # colours in cells, and scores in the other order, are of their columns
        first, second = (name.removesuffix("Tag") for name in names.split(","))
        words = {"1\n": f"{first}\n", "0\n": f"{second}\n"}
        for number, word in words.items():
            text = text.replace(number, word)
        assert made(text)[0] == data
        text = text.replace("result", f"{second}Score,{first}Score")
        text = text.replace(f",{first}\n", ",1,2\n").replace(f",{second}\n", ",2,1\n")
        assert made(text)[0] == data
    else:
        cells = text.replace(",1\n", ",Blue\n").replace(",0\n", ",Red\n")
        assert made(cells)[0] == data


def test_scores_belong_to_the_sides_that_are_named():
    text = "home_team,away_team,home_score,away_score\nA,B,3,1\nB,C,2,0\nA,C,2,1\n"
    data, sentence = made(text, first="away_team", second="home_team")
    assert sorted(data.to_frame()["chosen"]) == ["A", "A", "B"]
    assert "'away_score' and 'home_score'" in sentence
    text = "right,left,resp\na,b,leftwins\nb,c,rightwins\na,c,leftwins\n"
    data, _ = made(text, first="right", second="left", chosen="resp")
    assert sorted(data.to_frame()["chosen"]) == ["b", "b", "c"]


def test_a_winner_by_number_shows_the_options():
    text = "First_pokemon,Second_pokemon,Winner\n11,12,11\n12,13,13\n11,13,11\n11,12,12\n"
    data, _ = made(text)
    assert data.labels == ("11", "12", "13") and data.n_comparisons == 4
    assert sorted(data.to_frame()["chosen"]) == ["11", "11", "12", "13"]
    with pytest.raises(DataError):  # levels of an attribute, and sides
        made("first_size,second_size,winner\n1,2,1\n2,1,2\n1,2,1\n")


def test_a_coding_is_no_text():
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"], "winner": ["A", "B"]})
    with refused(ValueError, Argument("coding"), "mapping"):
        th.read(frame, coding="A=first,B=second")
    with refused(ValueError, Argument("coding"), "mapping"):
        th.read(pd.DataFrame({"x > y": [1, 2], "x > z": [2, 1], "y > z": [1, 1]}), coding="1=first")


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
    with refused(DataError, "'state'", "a column for each digit", "`attributes`"):
        th.read(frame, kind="experiment")
    assert th.read(frame, kind="experiment", attributes=["state"]).attributes == ("state",)
    amounts = frame.assign(**{name: rng.integers(11111, 55556, 90) for name in names})
    assert th.read(amounts).attributes == ("state",)


@pytest.mark.parametrize("answer", ["left", "label"])
def test_an_answer_without_options_is_no_trial(answer):
    rows = ["p1,ok,,", "p1,left,a,b", "p1,right,b,c", "p2,ok,,", "p2,right,a,b", "p2,,,"]
    text = "\n".join(["participant,response,image_left,image_right", *rows, ""])
    if answer == "label":
        text = text.replace("left,a,b", "a,a,b").replace("right,b,c", "c,b,c")
        text = text.replace("right,a,b", "b,a,b")
    data, sentence = recognise(table(text)).build()
    assert data.n_comparisons == 3 and data.respondents == ("p1", "p2")
    said(sentence, "2 rows without options dropped", "1 row without an answer dropped")
    with refused(DataError, "A label is missing", "'image_left'"):
        recognise(table(re.sub("p2,(.+),a,b", r"p2,\1,,b", text))).build()


PLAYED = "home,away,result\nA,B,4-2\nB,C,{}\nC,A,1-3\n"
BEHIND = ["4-3 (OT)", "4:3 n.V.", "4-3 aet", "4-3 (3-3)", "3:1 (25:20; 20:25; 25:18)", "4-3 SO"]


@pytest.mark.parametrize("score", BEHIND)
def test_words_and_brackets_behind_a_score_do_not_change_it(score):
    data, sentence = made(PLAYED.format(score))
    assert "scores of both sides" in sentence
    assert data == made(PLAYED.format("4-3"))[0]
    assert made(PLAYED.format("1-1 (1-0)"))[0] == made(PLAYED.format("1-1"))[0]


@pytest.mark.parametrize("score", ["1-1 (4-3)", "1-1 n.E.", "2-1 B", "3-1 L", "B by 2"])
def test_an_unclear_score_is_asked_about_and_may_be_coded(score):
    file = table(PLAYED.format(score))
    with refused(DataError, f"{score!r} in row 3", "define it"):
        recognise(file).build()
    data, _ = recognise(file, coding={score: "second"}).build()
    assert data == made(PLAYED.format("3-4"))[0]
    _, sentence = recognise(file, coding={score: "missing"}).build()
    assert f"1 row without an answer ({score!r}) dropped" in sentence


def test_coded_wins_leave_a_draw_a_draw():
    file = table("player1,player2,outcome\nA,B,1W\nB,C,2W\nC,A,D\nA,C,1W\n")
    data, _ = recognise(file, coding={"1W": "first", "2W": "second"}).build()
    assert data.tied.sum() == 1 and data.wins.sum() + data.losses.sum() == 3
