"""Plain tables beside the kinds that are asked about: columns that only look like answers."""

import numpy as np
import pandas as pd
import pytest

import thali as th

PLAIN = {
    "the other side beside a flag": (
        {"home": "abca", "away": "bcab", "home_win": [1, 0, 1, 1], "neutral": ["y", "n", "n", "y"]},
        "chosen side in 'home_win'",
    ),
    "an unfinished game": (
        {"White": ["Ann", "Bob"], "Black": ["Bob", "Ann"], "Result": ["1-0", "*"]},
        "1 comparison",
    ),
    "the pole beside the first three": (
        {"race": "MS", "1st": "ab", "2nd": "bc", "3rd": "ca", "pole": "bb"},
        "2 rankings",
    ),
    "yes and no beside ranks": (
        {"voter": [1, 2], "rank1": "ab", "rank2": "bc", "rank3": "ca", "different": ["yes", "no"]},
        "2 rankings",
    ),
    "numbers of options": (
        {"Name": "xyz", "choice1": [3, 7, 12], "choice2": [8, 3, 4], "choice3": [1, 10, 7]},
        "3 rankings",
    ),
    "letters of products, and the order of serving": (
        {
            "judge": [1, 1, 1, 2, 2, 2],
            "product": "ABCABC",
            "rank": [1, 2, 3, 2, 1, 3],
            "serving_order": [1, 2, 3, 2, 3, 1],
        },
        "2 rankings of 3 options",
    ),
    "options of the same name and another number": (
        {"id": [1, 2], "ranking": ["A(1) > A(3) > A(2)", "A(3) > A(1) > A(2)"]},
        "2 rankings of 3 options",
    ),
    "a standard on either side": (
        {
            "participant": [1, 1, 1, 2, 2, 2],
            "standard": "ststst",
            "left": "scdtsf",
            "right": "ctsdft",
            "response": ["left", "left", "right", "right", "left", "right"],
        },
        "6 comparisons",
    ),
    "parties of two candidates": (
        {
            "age1": [30, 50, 30, 50, 40, 40],
            "age2": [50, 30, 40, 30, 50, 30],
            "party1": "DRDRDD",
            "party2": "DRDRRD",
            "choice": [1, 2, 2, 1, 1, 2],
        },
        "attributes 'age' and 'party'",
    ),
    "an attribute that one of two products has": (
        {
            "price_1": [1, 2, 3, 2, 1, 3],
            "price_2": [2, 3, 1, 1, 3, 2],
            "size_1": [10, 20] * 3,
            "size_2": [20, 10] * 3,
            "organic_1": [1, 0, 1, 0, 0, 1],
            "organic_2": [0, 1, 0, 1, 1, 0],
            "preferred": [1, 2, 2, 1, 1, 2],
        },
        "chosen alternative in 'preferred'",
    ),
    "a trait of respondents of one task": (
        {
            "respondent": np.repeat(range(6), 2),
            "student": np.repeat(["yes", "no", "yes", "no", "yes", "yes"], 2),
            "price": [1, 2, 2, 1, 3, 1] * 2,
            "brand": list("ABBA") * 3,
            "chosen": [1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1],
        },
        "respondent columns: 'student'",
    ),
    "sorted ages": (
        {
            "price_A": [1, 2, 3, 2] * 5,
            "price_B": [2, 1, 2, 3] * 5,
            "choice": list("ABBA") * 5,
            "age": np.repeat([21, 25, 33, 40, 58], 4),
        },
        "20 respondents",
    ),
    "alternatives without an attribute": (
        {
            "respondent": [1] * 6 + [2] * 6,
            "task": [1, 1, 1, 2, 2, 2] * 2,
            "alternative": [1, 2, 3] * 4,
            "brand": ["A", "B", "-", "B", "A", "-"] * 2,
            "organic": ["yes", "no", "-", "no", "yes", "-"] * 2,
            "chosen": [1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0],
        },
        "with a no-choice option",
    ),
}


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_table_needs_no_answer(name):
    columns, fact = PLAIN[name]
    columns = {key: [*cells] for key, cells in columns.items()}
    assert fact in th.read(pd.DataFrame(columns)).read_as


BOARDS = {
    "scores on several scales": {
        "model": [*"pqrs"],
        "elo": [1450, 1440, 1420, 1400],
        "mmlu": [0.88, 0.87, 0.85, 0.84],
        "gpqa": [0.7, 0.72, 0.6, 0.58],
    },
    "a model called max": {"task": ["t1", "t2"], "qwen-max": [0.9, 0.8], "phi": [0.7, 0.6]},
    "scores in the order of the rows": {
        "item": [*"pqrst"],
        "gpt": [1, 2, 3, 4, 5],
        "phi": [2, 3, 2, 4, 4],
    },
    "parts of speech": {"model": [*"abc"], "POS": [97.1, 97.4, 97.2], "NER": [91.2, 92.3, 90.9]},
    "items of two sentences": {
        "item": ["q1", "q2", "q3", "q4"],
        "sentence1": [*"abab"],
        "sentence2": [*"cdcd"],
        "gpt": [1, 0, 1, 1],
        "phi": [0, 1, 1, 0],
    },
}


@pytest.mark.fit
@pytest.mark.parametrize("name", BOARDS)
def test_plain_scores_are_a_board(name):
    columns = BOARDS[name]
    option = {name: name for name in columns if name in ("item", "task")}
    board = th.leaderboard(pd.DataFrame(columns), progressbar=False, item=next(iter(option), None))
    assert len(board.table) >= 2


MODELS = {"Model": [*"pqrs"], "MMLU": [88, 87, 85, 84], "ARC": [70, 72, 60, 58]}


@pytest.mark.fit
def test_descriptions_of_models_are_no_items():
    names = ["Size (B)", "#Params", "Release year", "Votes", "FLOPs", "95% CI", "n", "Seed"]
    descriptions = dict.fromkeys(names, [7, 70, 8, 9])
    descriptions |= {"Organization": ["a", "01.AI", "b", "c"], "Date": ["2024-01-02"] * 4}
    board = th.leaderboard(pd.DataFrame(MODELS | descriptions), progressbar=False)
    assert {*board.data.respondents} == {"MMLU", "ARC"}
    assert "descriptions of options ('Size (B)'" in board.recipe.counted.read_as
    items = {"5-shot": [7, 8, 9, 6], "Tokens/s": [1, 5, 6, 7], "COCO2017": 1}
    board = th.leaderboard(pd.DataFrame(MODELS | items), progressbar=False)
    assert {*board.data.respondents} == {"MMLU", "ARC", *items}


@pytest.mark.parametrize("dtype", ["object", "category"])
def test_categories_are_labels(dtype):
    trials = {"left": [*"ABCA"], "right": [*"BCAC"], "choice": ["left", "right"] * 2}
    trials["city"] = ["Rome", "Oslo", "Rome", "Bern"]
    assert th.read(pd.DataFrame(trials).astype(dtype)).n_comparisons == 4
    rated = pd.DataFrame({"item1": [*"aab"], "item2": [*"bcc"], "similarity": [3, 5, 2]})
    rated = rated.astype({"item1": dtype, "item2": dtype})
    assert isinstance(th.read(rated), th.Similarities)


def test_a_sign_may_be_given_a_meaning():
    frame = pd.DataFrame({"white": [*"ABCAB"], "black": [*"BCACA"], "result": [*"10--1"]})
    coding = {"1": "first", "0": "second", "-": "tie"}
    assert th.read(frame, coding=coding).n_ties == 2


SHOWN = {
    "id": [1, 1, 2, 2, 3, 3],
    "price_1": [1, 2, 3, 2, 1, 3],
    "price_2": [2, 3, 1, 1, 3, 2],
    "choice": [1, 2, 2, 1, 1, 2],
}


def test_a_sum_or_difference_of_alternatives_is_no_alternative():
    expected = th.read(pd.DataFrame(SHOWN))
    computed = {"price_total": [3, 5, 4, 3, 4, 5], "price_diff": [1, 1, -2, -1, 2, -1]}
    data = th.read(pd.DataFrame(SHOWN | computed))
    assert data.attributes == expected.attributes == ("price",)
    assert "of the alternatives '1' and '2'" in data.read_as
    assert "not used: 'price_total' and 'price_diff'" in data.read_as


@pytest.mark.parametrize("mark", ["chose_A", "chosen_A", "selected_A", "y_A", "choice_A", "won_A"])
def test_a_mark_of_one_alternative_repeats_the_choice(mark):
    frame = pd.concat([pd.DataFrame(SHOWN)] * 2, ignore_index=True).assign(id=np.arange(12) // 4)
    frame = frame.rename(columns={"price_1": "price_A", "price_2": "price_B"})
    frame["choice"] = frame["choice"].map({1: "A", 2: "B"})
    data = th.read(frame.assign(**{mark: 1 * (frame["choice"] == "A")}))
    assert data.attributes == th.read(frame).attributes == ("price",)
    assert f"not used: '{mark}'" in data.read_as


def make_profiles():
    """Return a long table of 24 tasks of three profiles."""
    rng = np.random.default_rng(1)
    tasks = np.repeat(np.arange(24), 3)
    frame = pd.DataFrame({"id": tasks // 4, "task": tasks % 4, "alt": np.tile([1, 2, 3], 24)})
    frame["quality"] = rng.choice(["low", "medium", "high"], 72)
    frame["cost"] = rng.choice([10, 20, 40], 72)
    return frame.assign(choice=1 * (frame["alt"] == rng.integers(1, 4, 24)[tasks]))


FURTHER = {
    "not_chosen": lambda frame: 1 - frame["choice"],
    "quality_label": lambda frame: frame["quality"].map({"low": 1, "medium": 2, "high": 3}),
    "card": lambda frame: frame["cost"] + frame["quality"].map({"low": 1, "medium": 2, "high": 3}),
    "design_row": lambda frame: 3 * frame["task"] + frame["alt"] + 12 * (frame["id"] % 2),
    "Unnamed: 0": lambda frame: "set" + frame["task"].astype(str) + frame["alt"].astype(str),
    "comment": lambda frame: "",
}


@pytest.mark.parametrize("name", FURTHER)
def test_marks_copies_and_numbers_are_no_attributes(name):
    frame = make_profiles()
    data = th.read(frame.assign(**{name: FURTHER[name](frame)}))
    assert data.attributes == ("quality", "cost")
    assert f"not used: '{name}'" in data.read_as


def test_an_attribute_may_be_called_a_choice():
    frame = pd.DataFrame(SHOWN).assign(selected_1=[0, 0, 1, 1, 0, 1], selected_2=0)
    frame = frame[["selected_1", "selected_2", *SHOWN]]
    with pytest.raises(th.errors.DataError, match="'choice', 'selected_1' and 'selected_2' could"):
        th.read(frame)
    assert {*th.read(frame, chosen="choice").attributes} == {"price", "selected"}


def test_names_of_columns_may_be_numbers():
    frame = pd.DataFrame(SHOWN | {0: [7, 7, 8, 8, 9, 9]})
    data = th.ChoiceExperiment.from_wide(frame, respondent="id")
    assert data.people["0"].tolist() == [7, 8, 9]


@pytest.mark.parametrize("ranks", [["rank1", "rank2", "rank3"], ["tea", "milk", "rum"]])
def test_a_column_of_options_needs_one_of_ranks(ranks):
    frame = pd.DataFrame(dict(zip(ranks, ([1, 2, 3], [2, 3, 1], [3, 1, 2]), strict=True)))
    with pytest.raises(th.errors.DataError, match="'respondent', 'option' and 'rank'"):
        th.read(frame.assign(kind=[*"abc"]), option="kind")


GAMES = [("x", "y", 2, 1), ("y", "z", 1, 1), ("z", "x", 0, 0), ("y", "x", 0, 3)]


@pytest.mark.parametrize("winners", [["x", None, None, "x"], ["H", None, None, "A"]])
def test_equal_scores_without_a_winner_are_ties(winners):
    frame = pd.DataFrame(GAMES, columns=["home", "away", "home_goals", "away_goals"])
    data = th.read(frame.assign(result=winners))
    assert data.n_comparisons == 4 and data.n_ties == 2 and "are ties" in data.read_as
    unplayed = frame.assign(home_goals=[2, 0, 0, 0], away_goals=[1, 0, 0, 3], result=winners)
    assert th.read(unplayed).n_comparisons == 2


@pytest.mark.parametrize("word", ["BYE", "Bye", "Freilos", "spielfrei", "TBD"])
@pytest.mark.parametrize("names", [("White", "Black", "Result"), ("player1", "player2", "winner")])
def test_a_bye_is_no_player(word, names):
    rows = [("Ann", "Bob", "Ann"), ("Bob", "Cid", "Bob"), ("Ann", word, "Ann")]
    data = th.read(pd.DataFrame(rows, columns=names))
    assert {*data.labels} == {"Ann", "Bob", "Cid"} and "without options" in data.read_as
    words = th.read(pd.DataFrame(rows, columns=["left", "right", "chosen"]))
    assert word in words.labels


BLANKS = "none blank (blank) exhausted abstain spoiled".split()


@pytest.mark.parametrize("word", [*BLANKS, "No preference", "no further preference"])
def test_a_word_for_no_further_preference_is_no_candidate(word):
    frame = pd.DataFrame({"voter": range(4), "pref1": [*"abca"], "pref2": [*"bcab"]})
    ballots = frame.assign(pref3=["c", word, word, "c"])
    assert {*th.read(ballots).labels} == {*"abc"} and "no option" in th.read(ballots).read_as
    if word == "none":
        ranked_none = ballots.assign(pref1=["none", *"bca"], pref2=[*"acab"])
        assert "none" in th.read(ranked_none).labels


MIRRORED = ["team,opponent,wins,losses", "option_a,option_b,wins_a,wins_b"]


@pytest.mark.parametrize("names", MIRRORED)
def test_counts_from_both_sides_count_once(names):
    rows = [("a", "b", 5, 3), ("a", "c", 4, 4), ("b", "c", 1, 6)]
    rows += [(second, first, y, x) for first, second, x, y in rows]
    data = th.read(pd.DataFrame(rows, columns=names.split(",")))
    assert data.n_comparisons == 23 and "listed twice" in data.read_as
    assert th.read(pd.DataFrame(rows[1:], columns=names.split(","))).n_comparisons == 38
    # unanimous choices of options in both orders
    unanimous = pd.DataFrame([(*row[:2], 9 * (row[:2] < row[1::-1]), 0) for row in rows])
    unanimous[3] = 9 - unanimous[2]
    unanimous.columns = names.split(",")
    assert th.read(unanimous).n_comparisons == 54


RANKS = [
    ("Judge", "Product", "Position", "Rank"),
    ("judge", "essay", "predicted_rank", "rank"),
    ("comp", "athlete", "qual_rank", "final_rank"),
]


@pytest.mark.parametrize("names", RANKS)
def test_the_rank_is_what_is_called_so(names):
    rows = [(f"J{j}", p, s, r) for j in range(6) for p, s, r in ["a31", "b22", "c13"]]
    frame = pd.DataFrame(rows, columns=names).astype(dict.fromkeys(names[2:], int))
    assert f"rank in {names[3]!r}" in th.read(frame).read_as
    race = frame.set_axis(["raceId", "driver", "position", "rank"], axis=1)
    assert "rank in 'position'" in th.read(race).read_as


COUNTS = ["team,opponent,W,D,L", "model,baseline,win,tie,loss", "team,opponent,W,T,L"]


@pytest.mark.parametrize("names", COUNTS)
def test_short_names_of_wins_draws_and_losses(names):
    rows = [("a", "b", 5, 2, 3), ("a", "c", 6, 1, 3), ("b", "c", 4, 2, 4)]
    data = th.read(pd.DataFrame(rows, columns=names.split(",")))
    assert data.n_comparisons == 30 and data.n_ties == 5 and data.wins.sum() == 15
