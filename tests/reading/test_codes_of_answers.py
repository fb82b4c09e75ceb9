"""Answers in the codes and columns of other programs: yes and no, marks, ranks, sides."""

import itertools
import random
from collections import Counter

import pandas as pd
import pytest
from helpers.sentences import refused, said

import thali as th
from thali.errors import DataError

PRICES = (1, 2, 4)


def draw_tasks(n_alternatives, n_respondents=6):
    """Return (respondent, task, prices, index of the cheapest) of four tasks a respondent."""
    rng = random.Random(7)
    return [
        (person, task, prices, prices.index(min(prices)))
        for person in range(n_respondents)
        for task in range(4)
        if (prices := [rng.choice(PRICES) + k / 8 for k in range(n_alternatives)])
    ]


def list_rows(tasks, yes, no):
    """Return a long table of tasks whose chosen alternatives have the code `yes`."""
    rows = [
        (person, task, k + 1, price, yes if k == chosen else no)
        for person, task, prices, chosen in tasks
        for k, price in enumerate(prices)
    ]
    return pd.DataFrame(rows, columns=["id", "task", "alt", "price", "choice"])


def list_chosen_prices(data):
    frame = data.to_frame()
    return [float(price) for price in frame.loc[frame["choice"].astype(int) == 1, "price"]]


@pytest.mark.parametrize(
    "n_alternatives, yes, no",
    [
        (2, "ja", "nein"),
        (2, "Oui", "Non"),
        (2, "Ja", "Nee"),
        (2, "sim", "não"),
        (2, "Sì", "No"),
        (2, "chosen", "not chosen"),
        (3, 1, 2),
        (3, 2, 1),
        (3, "gewählt", "-"),
    ],
)
def test_yes_and_no_of_other_programs(n_alternatives, yes, no):
    tasks = draw_tasks(n_alternatives)
    data = th.read(list_rows(tasks, yes, no))
    assert list_chosen_prices(data) == [prices[chosen] for *_, prices, chosen in tasks]


def test_two_codes_of_pairs_are_asked_for():
    with refused(DataError, "'choice'", "1 for the chosen"):
        th.read(list_rows(draw_tasks(2), 1, 2))


def test_codes_of_options_that_are_numbers():
    rows = [
        (person, trial, option, 1 + (option != min(options)))
        for person, trial in itertools.product(range(4), range(4))
        for options in [random.Random(person * 4 + trial).sample(range(1, 6), 3)]
        for option in options
    ]
    data = th.read(pd.DataFrame(rows, columns=["subject", "trial", "item", "chosen"]))
    chosen = data.to_frame().query("chosen == 1").groupby("alternative", observed=True)
    assert chosen["count"].sum().to_dict() == Counter(str(row[2]) for row in rows if row[3] == 1)


@pytest.mark.parametrize("yes, no", [(True, False), (1, 0), ("yes", "no")])
def test_a_column_of_marks_an_alternative(yes, no):
    tasks = draw_tasks(3)
    frame = pd.DataFrame(
        [
            (person, task, *prices, *(yes if k == chosen else no for k in range(3)))
            for person, task, prices, chosen in tasks
        ],
        columns=["id", "task", *(f"{name}_{k}" for name in ("price", "chosen") for k in (1, 2, 3))],
    )
    data = th.read(frame)
    assert data.attributes == ("price",)
    table = data.to_frame()
    chosen = table.loc[table["chosen"].astype(int) == 1, "price"].astype(float).tolist()
    assert chosen == [prices[k] for *_, prices, k in tasks]
    options = frame.rename(columns=lambda name: name.replace("price", "option"))
    sets = [dict(zip((1, 2, 3), "abc", strict=True))] * len(frame)
    options = options.assign(**{f"option_{k}": [row[k] for row in sets] for k in (1, 2, 3)})
    assert th.read(options).labels == ("a", "b", "c")


def test_ballots_without_a_choice():
    frame = pd.DataFrame(
        [(1, "A", "B", "C"), (2, "B", "A", "undervote"), (3, "C", "undervote", "undervote")],
        columns=["ballot", "1st Choice", "2nd Choice", "3rd Choice"],
    )
    data = th.read(frame)
    assert data.labels == ("A", "B", "C") and sum(data.times) == 3
    said(data.read_as, "'undervote'")


def draw_positions(ratings):
    """Return a table of four products, with `ratings` of the place of each, for 12 people."""
    rng = random.Random(3)
    rows = [
        (person, product, place, ratings(place, rng))
        for person in range(12)
        for place, product in enumerate(rng.sample(["tea", "milk", "rum", "cola"], 4), 1)
    ]
    return pd.DataFrame(rows, columns=["subject", "product", "position", "liking"])


def test_positions_beside_ratings_are_no_ranks():
    frame = draw_positions(lambda place, rng: rng.randint(1, 9))
    with refused(DataError, "'position'", "'liking'", "`rank`"):
        th.read(frame)
    assert len(th.read(frame, rank="position").labels) == 4
    related = draw_positions(lambda place, rng: 9 - 2 * place + rng.randint(0, 1))
    assert len(th.read(related).respondents) == 12


def test_ranked_products_are_no_options():
    rows = [
        (person, task, k + 1, price, rank)
        for person, task, prices, _ in draw_tasks(3)
        for k, price in enumerate(prices)
        for rank in [1 + sorted(prices).index(price)]
    ]
    frame = pd.DataFrame(rows, columns=["resp", "task", "concept", "price", "rank"])
    with refused(DataError, "'concept'", "'price'", "`option`"):
        th.read(frame)
    assert th.read(frame, option="concept").labels == ("1", "2", "3")
    letters = frame.assign(concept=frame["concept"].map({1: "A", 2: "B", 3: "C"}))
    with refused(DataError, "'concept'", "'price'", "`option`"):
        th.read(letters)


def test_two_columns_of_tasks_are_told_apart_by_the_answers():
    rows = [
        (person, task, k + 1, price, int(k == chosen))
        for person, task, prices, chosen in draw_tasks(2)
        for k, price in enumerate(prices)
    ]
    names = ["Subject", "Choice Set", "Choice ID", "Price", "Response"]
    scheme = th.read(pd.DataFrame(rows, columns=names)).scheme
    assert (scheme.task, scheme.alternative) == ("Choice Set", "Choice ID")


def test_one_task_of_each_respondent_may_be_numbered_by_any_column():
    rows = [
        (10 * person + task, "abc"[k], price, person, int(k == chosen))
        for person, task, prices, chosen in draw_tasks(3)
        for k, price in enumerate(prices)
    ]
    frame = pd.DataFrame(rows, columns=["family_id", "restaurant", "cost", "kids", "chosen"])
    data = th.read(frame)
    assert (data.scheme.respondent, data.n_tasks) == ("family_id", len(frame) // 3)
    assert [*data.people] == ["kids"]


@pytest.mark.parametrize("word", ["NA", "NaN", "NULL", ".", "don't know"])
@pytest.mark.parametrize(("yes", "no"), [("1", "0"), ("1.0", "0.0"), ("yes", "no")])
def test_a_word_for_no_answer_does_not_change_the_kind(word, yes, no):
    rows = [
        (person, task, k + 1, price, (no, yes)[k == chosen])
        for person, task, prices, chosen in draw_tasks(2)
        for k, price in enumerate(prices)
    ]
    frame = pd.DataFrame(rows, columns=["resp", "task", "alt", "price", "choice"])
    frame.loc[2:3, "choice"] = word
    data = th.read(frame)
    assert isinstance(data, th.ChoiceExperiment)
    assert data.n_tasks == len(frame) // 2 - 1


def test_nameless_columns_of_ranks_are_asked_for():
    rows = [random.Random(k).sample(range(1, 5), 4) for k in range(12)]
    with refused(DataError, "'V1'", "'rank1'"):
        th.read(pd.DataFrame(rows, columns=["V1", "V2", "V3", "V4"]))
    assert th.read(pd.DataFrame(rows, columns=list("abcd"))).labels == tuple("abcd")


def test_a_code_for_missing_ranks_is_named():
    rows = [(*random.Random(k).sample((1, 2, 3, 99, 99), 5), k % 2) for k in range(12)]
    frame = pd.DataFrame(rows, columns=["tea", "milk", "rum", "cola", "water", "sex"])
    with refused(DataError, "99", "'tea'", "empty"):
        th.read(frame)
    assert th.read(frame.replace(99, float("nan"))).labels[0] == "tea"


GAMES = [("ann", "bob"), ("bob", "cy"), ("cy", "ann"), ("bob", "ann")] * 3
WINS = {"ann": 3, "bob": 6, "cy": 3}


def list_wins(data):
    wins = dict.fromkeys(data.labels, 0)
    for i, j, n_wins, n_losses in zip(data.first, data.second, data.wins, data.losses, strict=True):
        wins[data.labels[i]] += n_wins
        wins[data.labels[j]] += n_losses
    return wins


@pytest.mark.parametrize(
    "names, codes",
    [
        (("black", "white", "result"), ("B+R", "W+2.5")),
        (("white", "black", "result"), ("W+0.5", "B+R")),
        (("White Player #", "Black Player #", "Score"), (1.0, 0.0)),
    ],
)
def test_results_of_board_games(names, codes):
    rows = [(*pair[:: 1 - 2 * (k % 2)], codes[k % 2]) for k, pair in enumerate(GAMES)]
    rows.append(("ann", "bob", {"result": "Draw", "Score": 0.5}[names[2]]))
    data = th.read(pd.DataFrame(rows, columns=list(names)))
    assert list_wins(data) == WINS and sum(data.tied) == 1


def test_winners_beside_ties_in_the_name_of_the_column():
    frame = pd.DataFrame([(*pair, 7) for pair in GAMES])
    data = th.read(frame.set_axis(["Winner/tie", "Loser/tie", "PtsW"], axis=1))
    assert list_wins(data) == WINS


def test_how_often_each_product_was_preferred():
    frame = pd.DataFrame([("a", "b", 7, 2, 1), ("a", "c", 5, 4, 0)])
    names = ["product_a", "product_b", "prefer_a", "prefer_b", "no_preference"]
    data = th.read(frame.set_axis(names, axis=1))
    assert list_wins(data) == {"a": 12, "b": 2, "c": 4} and sum(data.tied) == 1


def test_the_last_columns_are_named_in_the_second_line(tmp_path):
    path = tmp_path / "survey.csv"
    rows = ["Respondent ID,Start Date,Rank these.,,", ",,Tea,Milk,Rum"]
    rows += [f"{900 + k},2024-01-0{k},1,{2 + k % 2},{3 - k % 2}" for k in range(1, 8)]
    path.write_text("\n".join(rows), encoding="utf-8")
    assert th.read(path).labels == ("Tea", "Milk", "Rum")


def test_tasks_that_are_numbered_anew_in_each_session():
    tasks = draw_tasks(2)
    frame = list_rows(tasks, 1, 0)
    blocks = frame.assign(session=1 + frame["task"] // 2, task=1 + frame["task"] % 2)
    data = th.read(blocks)
    assert data.n_tasks == len(tasks)
    assert list_chosen_prices(data) == [prices[chosen] for *_, prices, chosen in tasks]
    said(data.read_as, "'task' is numbered anew in each 'session'")


def test_the_same_numbers_in_two_samples_are_asked_about():
    tasks = draw_tasks(2)
    frame = pd.concat([list_rows(tasks, 1, 0).assign(sample=name) for name in ("UK", "US")])
    frame = frame.reset_index(drop=True).rename(columns={"id": "rid"})
    with refused(DataError, "different respondents in each 'sample'", "`respondent='rid'`"):
        th.read(frame)
    people = frame["sample"] + frame["rid"].astype(str)
    assert len(th.read(frame.assign(who=people), respondent="who").respondents) == 12
    assert len(th.read(frame, respondent="rid").respondents) == 6
    assert th.read(frame, respondent="rid").n_tasks == 2 * len(tasks)


def test_people_numbered_from_1_to_different_numbers_in_each_country_are_asked_about():
    """Unlike those who missed a session, whose numbers have gaps."""
    tasks = draw_tasks(2)
    parts = [list_rows(tasks[: 4 * n], 1, 0).assign(country=k) for k, n in ((1, 6), (2, 4), (3, 5))]
    frame = pd.concat(parts, ignore_index=True)
    frame["id"] += 1
    with refused(DataError, "different respondents in each 'country'", "`respondent='id'`"):
        th.read(frame)
    assert len(th.read(frame, respondent="id").respondents) == 6
    gaps = frame.loc[(frame["country"] == 1) | (frame["id"] != 2)]
    data = th.read(gaps.rename(columns={"country": "session"}))
    assert len(data.respondents) == 6


def test_households_are_found_beside_numbers_of_purchases():
    rows = [
        (person, k, *prices, ("heinz", "hunts")[chosen])
        for k, (person, _, prices, chosen) in enumerate(draw_tasks(2))
    ]
    data = th.read(
        pd.DataFrame(rows, columns=["hid", "id", "price.heinz", "price.hunts", "choice"])
    )
    assert data.respondents == tuple("012345")


def test_the_column_of_the_choice_is_asked_for_beside_numbered_attributes():
    rows = [(person, *prices, *prices, 1 + chosen) for person, _, prices, chosen in draw_tasks(2)]
    names = ["hhid", "price1", "price2", "size1", "size2", "brand"]
    frame = pd.DataFrame(rows, columns=names)
    with refused(DataError, "`chosen`", "'price1'"):
        th.read(frame)
    assert th.read(frame, chosen="brand").attributes == ("price", "size")


def test_wins_of_models_against_opponents():
    rows = [(*pair[:: 1 - 2 * (k % 2)], 1 - k % 2) for k, pair in enumerate(GAMES)]
    data = th.read(pd.DataFrame([*rows, ("ann", "cy", 0.5)], columns=["model", "opponent", "win"]))
    assert list_wins(data) == WINS and sum(data.tied) == 1


def test_more_numbers_than_ranks_beside_a_text_are_no_ranks():
    names = [*map(str, range(1, 99)), "136A"]
    frame = pd.DataFrame({"family": names, "sex": "m", "child": 1, "height": 70.5})
    with pytest.raises(DataError, match="known layout"):
        th.read(frame)


def test_a_prefix_of_the_columns_of_respondents_and_choices_is_dropped(tmp_path):
    lines = ['"","Tuna.hid","Tuna.choice","price.skw","price.pw"']
    lines += [
        f'"{k}",{person},"{("skw", "pw")[chosen]}",{prices[0]},{prices[1]}'
        for k, (person, _, prices, chosen) in enumerate(draw_tasks(2), 1)
    ]
    path = tmp_path / "Tuna.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    data = th.read(path)
    assert data.respondents == tuple("012345") and data.attributes == ("price",)
    said(data.read_as, "'Tuna.' dropped")


def rank_tasks(column):
    """Return a long table of tasks of three prices; `column` gives its last column."""
    rows = [
        (person, task, k + 1, price, int(k == chosen), column(prices, k))
        for person, task, prices, chosen in draw_tasks(3)
        for k, price in enumerate(prices)
    ]
    return rows


def test_a_rank_beside_the_choice_is_an_answer():
    rows = rank_tasks(lambda prices, k: 1 + sorted(prices).index(prices[k]))
    frame = pd.DataFrame(rows, columns=["id", "task", "alt", "price", "chosen", "rank"])
    frame["price"] = frame["price"].sample(frac=1, random_state=1).to_numpy()
    with refused(DataError, "'rank' is smallest", "without"):
        th.read(frame)
    assert th.read(frame, without=["rank"]).attributes == ("price",)


def test_second_choices_are_no_attribute():
    rows = rank_tasks(lambda prices, k: int(sorted(prices).index(prices[k]) == 1))
    names = ["id", "task", "alt", "price", "first_choice", "second_choice"]
    data = th.read(pd.DataFrame(rows, columns=names))
    assert data.attributes == ("price",) and data.scheme.chosen == "first_choice"
    said(data.read_as, "columns not used: 'second_choice'")


@pytest.mark.parametrize("pattern", ["profile_{}_{}", "Concept {} {}"])
def test_alternatives_by_a_word_and_a_letter_within_names(pattern):
    rows = [(person, *prices, *prices, "AB"[chosen]) for person, _, prices, chosen in draw_tasks(2)]
    names = [pattern.format(letter, name) for name in ("cost", "time") for letter in "AB"]
    data = th.read(pd.DataFrame(rows, columns=["id", *names, "chosen_profile"]))
    assert data.attributes == ("cost", "time")
    table = data.to_frame()
    costs = table.loc[table["chosen"].astype(int) == 1, "cost"].astype(float).tolist()
    assert costs == [prices[chosen] for *_, prices, chosen in draw_tasks(2)]


def test_amounts_and_their_probabilities_are_no_pairs():
    rows = [(k % 7, 0.5, 9 - k % 5, 0.25) for k in range(12)]
    with pytest.raises(DataError, match="known layout"):
        th.read(pd.DataFrame(rows, columns=["Ha", "pHa", "Hb", "pHb"]))
    texts = pd.DataFrame(
        [("x", "y", 0.7), ("y", "z", 0.6)], columns=["item_a", "item_b", "p_item_a"]
    )
    assert th.read(texts).labels == ("x", "y", "z")


def test_the_number_of_a_race_counts_nothing():
    rows = [
        (race, horse, place, race) for race in (3, 4, 5) for place, horse in enumerate("abc", 1)
    ]
    data = th.read(pd.DataFrame(rows, columns=["race_id", "option", "rank", "number"]))
    assert sum(data.times) == 6


def test_a_code_0_beside_named_alternatives_is_asked_for():
    rows = [
        (person, *prices, *(price / 9 for price in prices), 1 + chosen)
        for person, _, prices, chosen in draw_tasks(2)
    ]
    names = ["ID", "TRAIN_TT", "CAR_TT", "TRAIN_CO", "CAR_CO", "CHOICE"]
    frame = pd.DataFrame(rows, columns=names)
    unknown = frame.assign(CHOICE=[0, *frame["CHOICE"][1:]])
    with refused(DataError, "'0'", "'CHOICE' != '0'"):
        th.read(unknown)
    assert th.read(unknown, where="'CHOICE' != '0'").n_tasks == len(frame) - 1


@pytest.mark.parametrize("name", ["p_choice", "fitted", "Probability", "utility"])
def test_what_a_model_computed_is_no_attribute(name):
    """Probabilities add up to 1 in each task; an alternative's own constant is not one of them."""
    tasks = draw_tasks(3)
    frame = list_rows(tasks, 1, 0)
    results = (3 - frame["price"] / 2).round(3)
    if name != "utility":
        results = 2.0**results
        results = (results / results.groupby([frame["id"], frame["task"]]).transform("sum")).round(
            3
        )
    frame["constant"] = (frame["alt"] == 2) * 1.0
    data = th.read(frame.assign(**{name: results}))
    assert data == th.read(frame) and data.attributes == ("price", "constant")
    said(data.read_as, f"columns not used: {name!r}")
    columns = {f"{name}_{k}": results[k - 1 :: 3].to_numpy() for k in (1, 2, 3)}
    columns |= {f"price_{k}": frame["price"][k - 1 :: 3].to_numpy() for k in (1, 2, 3)}
    choice = [chosen + 1 for *_, chosen in tasks]
    wide = th.read(pd.DataFrame({"id": frame["id"][::3], "choice": choice} | columns))
    assert wide.attributes == ("price",)
    said(wide.read_as, f"not used: '{name}_1'")
    items = frame.assign(item=frame["alt"].map({1: "tea", 2: "milk", 3: "rum"}))
    choices = th.read(items.drop(columns=["alt", "price", "constant"]).assign(**{name: results}))
    assert choices.labels == ("tea", "milk", "rum")


STATES = [11121, 21111, 32123, 22222, 11213, 33333]


@pytest.mark.parametrize("prefix", ["", "1"])
def test_levels_of_several_attributes_in_one_code_are_asked_about(prefix):
    """Those of a health state; as options of pairs, the codes are labels."""
    tasks = draw_tasks(2)
    frame = list_rows(tasks, 1, 0)
    frame["state"] = [int(f"{prefix}{STATES[(k + k // 5) % 6]}") for k in range(len(frame))]
    sides = {
        f"{name}_{side}": frame[name][k::2].to_numpy()
        for name in ("state", "price")
        for k, side in enumerate("ab")
    }
    choice = ["ab"[chosen] for *_, chosen in tasks]
    wide = pd.DataFrame({"id": frame["id"][::2], **sides, "choice": choice})
    for table, kind in ((frame, None), (wide, "experiment")):
        with refused(DataError, "'state'", str(frame["state"].min()), "a column for each digit"):
            th.read(table, kind=kind)
        data = th.read(table, kind=kind, attributes=["state", "price"])
        assert data.attributes == ("state", "price")
    pairs = wide[["id", "state_a", "state_b", "choice"]]
    data = th.read(pairs, first="state_a", second="state_b")
    assert {*data.labels} == {*map(str, frame["state"])}
