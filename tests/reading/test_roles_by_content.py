"""Roles that the cells of a column show, where its name does not."""

import io
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused

import thali as th
from thali.errors import ArgumentError, DataError

PROFILES = """CaseID,contest_no,Job,Language,Chosen_Immigrant
1,1,nurse,fluent,1
1,1,doctor,broken,0
1,2,janitor,fluent,0
1,2,nurse,broken,1
2,1,doctor,fluent,1
2,1,janitor,broken,0
2,2,nurse,fluent,0
2,2,doctor,broken,1
"""
FRUIT = """subject,trial,item,position,chosen
1,1,apple,1,0
1,1,cherry,2,1
1,2,cherry,1,1
1,2,date,2,0
2,1,date,1,0
2,1,apple,2,1
2,2,apple,1,1
2,2,cherry,2,0
"""


def frame(text):
    return pd.read_csv(io.StringIO(text))


def read(text, **columns):
    return th.read(frame(text), **columns)


def test_an_experiment_needs_no_column_of_alternatives():
    data = read(PROFILES)
    assert (data.n_respondents, data.n_tasks) == (2, 4)
    assert data.attributes == ("Job", "Language")


def test_the_choice_is_the_column_with_one_yes_in_each_task():
    assert read(PROFILES).scheme.chosen == "Chosen_Immigrant"
    # an attribute may also be 1 once in each task
    with refused(DataError, "chosen"):
        read(PROFILES.replace("Chosen_Immigrant", "nurse"))
    # a column of that name decides, whatever other columns contain
    with refused(DataError, "2 alternatives"):
        read(
            PROFILES.replace("Chosen_Immigrant", "chosen").replace(
                "doctor,broken,0", "doctor,broken,1"
            )
        )


def test_what_differs_between_tasks_for_one_alternative_makes_an_experiment():
    assert isinstance(read(FRUIT), th.Choices)
    looks = FRUIT.replace("position", "dwell_ms").replace("apple,1,", "apple,731,")
    assert isinstance(read(looks), th.Choices)
    priced = FRUIT.replace("position", "price").replace("apple,1,", "apple,3,")
    assert isinstance(read(priced), th.ChoiceExperiment)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("profile_id", lambda task, place: 2 * task + place - 2),
        ("card_no", lambda task, place: 2 * task + place - 3),
        ("profileID", lambda task, place: 100 * task + place),
        ("order_shown", lambda task, place: 3 - place),
        ("ProfileOrder", lambda task, place: place),
    ],
)
def test_numbers_of_products_are_no_attribute(name, number):
    table = frame(PROFILES)
    table.insert(2, "cand_number", [1, 2] * 4)
    table.insert(
        3, name, [number(*x) for x in zip(table["contest_no"], table["cand_number"], strict=True)]
    )
    data = th.read(table)
    assert data.attributes == ("Job", "Language")
    assert f"columns not used: {name!r}" in data.read_as
    # a level of an attribute may differ in each task, if it changes its place
    size = table.assign(**{name: [1, 2, 2, 1, 2, 1, 1, 2]}).rename(columns={name: "size"})
    assert th.read(size).attributes == ("size", "Job", "Language")


def test_an_identifier_of_products_is_no_attribute():
    products = PROFILES.replace("Language", "profileID")
    for place, (job, language) in enumerate([("nurse", "fluent"), ("doctor", "broken")]):
        products = products.replace(f"{job},{language}", f"{job},{10 + place}")
    products = products.replace("nurse,broken", "nurse,10").replace("doctor,fluent", "doctor,11")
    products = products.replace("janitor,fluent", "janitor,12").replace(
        "janitor,broken", "janitor,12"
    )
    data = read(products)
    assert data.attributes == ("Job",)
    assert "profileID" in data.read_as


@pytest.mark.parametrize("name", ["document_id", "imageID", "bid"])
@pytest.mark.parametrize("prefix", ["1", "d1"])
def test_an_identifier_that_occurs_in_several_sets_is_an_option(name, prefix):
    rows = [f"comparison_id,{name},result,worker_id"]
    for task in range(12):
        pair = sorted({task % 4, (task + 1 + task // 4) % 4})
        rows += [
            f"{task + 900},{prefix}{option},{int(option == pair[task % 2])},w{task % 3}"
            for option in pair
        ]
    data = read("\n".join(rows))
    if name == "bid":
        assert isinstance(data, th.ChoiceExperiment)  # an amount of money
        return
    assert isinstance(data, th.Choices)
    assert data.labels == tuple(f"{prefix}{option}" for option in range(4))
    assert set(data.sizes) == {2} and len(data.respondents) == 3
    priced = [f"{row},{'price' if k == 0 else 3 * k % 7}" for k, row in enumerate(rows)]
    assert isinstance(read("\n".join(priced)), th.ChoiceExperiment)


def test_zeros_after_the_last_choice_are_no_option():
    data = read("rank1,rank2,rank3\n1,2,0\n2,3,0\n3,0,0\n")
    assert data.labels == ("1", "2", "3")
    # an option called 0 is ranked before others
    assert "0" in read("rank1,rank2,rank3\n1,0,2\n0,1,2\n2,1,0\n").labels


def test_an_option_beside_the_two_is_asked_about():
    trials = "shown,left,right,response\nbrick,wall,dog,left\ndog,brick,wall,right\nwall,dog,brick,left\n"
    with refused(DataError, "'shown'", "'left' and 'right'", "triplets", "anchor", "without"):
        read(trials)
    assert isinstance(read(trials, without="shown"), th.PairedComparisons)
    assert isinstance(read(trials, anchor="shown"), th.Triplets)


def test_the_chosen_option_is_found_by_its_cells():
    data = read("left_text,right_text,selected_text\na,b,a\nb,c,c\nc,a,a\n")
    assert data.n_comparisons == 3
    # the answer of another question is not in every row one of the two
    with pytest.raises(DataError):
        read("left_text,right_text,last_text\na,b,a\nb,c,a\nc,a,a\n")


# Columns of many tasks, known by their cells alone


def study(n_tasks=30, **columns):
    """Tasks of two products, three for each respondent; columns are functions of task and place."""
    rows = []
    for task in range(n_tasks):
        chosen = task * task % 7 % 2
        for place in (0, 1):
            row = {
                "person": task // 3,
                "task": task % 3 + 1,
                "price": 1 + (2 * task + 3 * place) % 5,
                "size": "SML"[(task + task // 4 + place) % 3],
                "chosen": int(place == chosen),
            }
            rows.append(row | {name: cell(task, place) for name, cell in columns.items()})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("respondent", "task"),
    [("person", "screen"), ("UnitID", "screen"), ("subject", "game"), ("panelist", "week")],
)
def test_the_task_is_the_column_that_leaves_one_choice(respondent, task):
    table = study().rename(columns={"person": respondent, "task": task})
    data = th.read(table)
    assert (data.n_respondents, data.n_tasks) == (10, 30)
    assert (data.scheme.respondent, data.scheme.task) == (respondent, task)


@pytest.mark.parametrize("name", ["RES", "win", "P2"])
def test_one_yes_in_each_of_ten_sets_is_the_choice(name):
    for n_tasks in (12, 30):
        data = th.read(study(n_tasks).rename(columns={"chosen": name}))
        assert (data.scheme.chosen, data.n_tasks) == (name, n_tasks)
        assert data.attributes == ("price", "size")
    # of nine sets, an attribute may have one yes in each by chance
    with pytest.raises(DataError, match="a choice experiment .* lacks .* `chosen`"):
        th.read(study(9).rename(columns={"chosen": name}))


def test_a_mark_that_is_always_in_the_same_place_is_no_choice():
    with pytest.raises(DataError, match="a choice experiment .* lacks .* `chosen`"):
        th.read(study(left=lambda task, place: 1 - place).drop(columns="chosen"))


@pytest.mark.parametrize("name", ["profile", "option_no", "mode", "card", "anything"])
def test_what_numbers_the_products_is_no_attribute(name):
    data = th.read(study(**{name: lambda task, place: place + 1}))
    assert (data.scheme.alternative, data.attributes) == (name, ("price", "size"))


def test_a_price_that_counts_up_is_the_only_attribute():
    data = th.read(study(price=lambda task, place: place + 1).drop(columns="size"))
    assert (data.scheme.alternative, data.attributes) == (None, ("price",))


def test_labels_that_determine_the_other_columns_make_choices():
    models = {
        "model_name": lambda task, place: "abc"[(task + place) % 3],
        "n_weights": lambda task, place: 7 * ((task + place) % 3),
        "latency": lambda task, place: 31 * task + place,
    }
    table = study(**models).drop(columns=["price", "size"])
    assert isinstance(th.read(table), th.Choices)
    table["price"] = [1 + k * k % 11 for k in range(60)]
    assert isinstance(th.read(table), th.ChoiceExperiment)


def test_free_texts_times_and_a_second_mark_are_no_attributes():
    data = th.read(
        study(
            answer_text=lambda task, place: f"an answer, {task} {place}",
            rt=lambda task, place: 400 + 13 * task + place,
            vote=lambda task, place: int(place == task * task % 7 % 2),
        )
    )
    assert data.attributes == ("price", "size")
    for name in ("answer_text", "rt", "vote"):
        assert repr(name) in data.read_as


def test_a_second_answer_is_asked_about():
    table = study(rating=lambda task, place: 3 + 2 * (place == task * task % 7 % 2) + task % 2)
    with refused(DataError, "'rating'", "100 %", "without=['rating']", "`attributes`"):
        th.read(table)
    assert th.read(table, without="rating").attributes == ("price", "size")
    named = ["price", "size", "rating"]
    assert th.read(table, attributes=named).attributes == tuple(named)
    # a liking that is not that of the chosen describes products
    table["rating"] = [1 + k * k % 5 for k in range(60)]
    assert th.read(table).attributes == tuple(named)


@pytest.mark.parametrize("name", ["weight", "wgt", "Freq", "survey_weight"])
def test_weights_of_respondents_are_kept_and_refused_by_models(name):
    data = th.read(study(**{name: lambda task, place: 0.5 + task // 3}))
    assert data.attributes == ("price", "size") and name in data.people.columns
    with refused(DataError, repr(name), f"without=[{name!r}]"):
        th.MultinomialLogit().fit(data)
    weights_of_tasks = study(**{name: lambda task, place: 0.5 + task})
    with refused(DataError, repr(name), "differs between the tasks"):
        th.read(weights_of_tasks)


# Kinds by name


SQUARE = pd.DataFrame([[0, 4, 2], [4, 0, 1], [2, 1, 0]], list("abc"), list("abc"))


@pytest.mark.parametrize(
    ("table", "kinds"),
    [
        (SQUARE, {"comparisons": th.PairedComparisons, "similarities": th.Similarities}),
        (frame(FRUIT), {"choices": th.Choices, "experiment": th.ChoiceExperiment}),
        (
            frame("shown,left,right,chosen\ntea,rum,gin,rum\nrum,gin,tea,tea\ngin,tea,rum,tea\n"),
            {"comparisons": th.PairedComparisons},
        ),
        (
            frame("anchor,left,right,chosen\ntea,rum,gin,rum\nrum,gin,tea,tea\ngin,tea,rum,tea\n"),
            {"triplets": th.Triplets},
        ),
    ],
    ids=["square", "items", "shown", "anchor"],
)
def test_a_kind_by_its_name(table, kinds):
    for name, kind in kinds.items():
        assert isinstance(th.read(table, kind=name), kind)
    with refused(ArgumentError, "'triplet'", "'triplets'?", "experiment"):
        th.read(table, kind="triplet")


def test_a_kind_that_the_table_has_not():
    with refused(DataError, "choices from sets", "not triplets"):
        th.read(frame(FRUIT), kind="triplets")


# Covariates and classes


def covariates(**columns):
    cells = {"x": [k % 5 for k in range(12)], "kind": ["a", "b"] * 6}
    return pd.DataFrame(cells | columns)


@pytest.mark.parametrize("words", [("True", "False"), ("TRUE", "FALSE"), (True, False)])
def test_true_and_false_are_covariates(words):
    data = th.read(covariates(smokes=[words[k % 3 == 0] for k in range(12)]), target="kind")
    assert data.covariates["smokes"].tolist() == [float(k % 3 != 0) for k in range(12)]


def test_numbers_of_rows_and_of_patients_are_no_covariates():
    table = covariates(patient_id=[900 - 7 * k for k in range(12)], row=range(1, 13))
    data = th.read(table, target="kind")
    assert list(data.covariates.columns) == ["x"]
    assert "'patient_id'" in data.read_as
    # a number that two rows share may be a dose
    shared = table.assign(patient_id=[k // 2 for k in range(12)])
    assert "patient_id" in th.read(shared, target="kind").covariates.columns


@pytest.mark.parametrize("name", ["freq", "weight", "Count", "wt"])
def test_counts_of_rows_are_no_covariates(name):
    table = covariates(**{name: [1 + k % 4 for k in range(12)]})
    with refused(DataError, repr(name), f"without=[{name!r}]"):
        th.read(table, target="kind")
    assert list(th.read(table, target="kind", without=name).covariates.columns) == ["x"]
    # a negative number is a measurement
    table[name] -= 3
    assert name in th.read(table, target="kind").covariates.columns


def test_clicks_beside_bookings_and_positions_beside_both_are_no_attributes():
    rows = [
        (search, place + 1, 80 + 40 * (search * (place + 2) % 3), clicked, booked)
        for search in range(24)
        for place in range(4)
        for booked in [int(place == search % 4)]
        for clicked in [int(booked or place == search % 3)]
    ]
    columns = ["srch_id", "position", "price_usd", "click_bool", "booking_bool"]
    data = th.read(pd.DataFrame(rows, columns=columns))
    assert (data.n_tasks, data.attributes) == (24, ("price_usd",))
    assert (data.scheme.alternative, data.scheme.chosen) == ("position", "booking_bool")


def test_two_columns_of_choices_that_differ_are_asked_about():
    same = [f"{row},{row[-1]}" for row in PROFILES.splitlines()[1:]]
    other = [f"{row},{1 - int(row[-1])}" for row in PROFILES.splitlines()[1:]]
    header = "CaseID,contest_no,Job,Language,chosen,selected"
    assert read("\n".join([header, *same])).scheme.chosen == "chosen"
    with refused(DataError, "'chosen'", "'selected'"):
        read("\n".join([header, *other]))


def test_items_that_are_offered_once_are_no_options():
    """Nobody chooses among options of which each is in one set only."""
    items = study(item_id=lambda task, place: 1000 + 7 * (2 * task + place) % 60)
    assert isinstance(th.read(items), th.ChoiceExperiment)
    shops = items.groupby(["person", "task"], sort=False).ngroup().rename("impression_id")
    data = th.read(items.drop(columns=["person", "task"]).assign(impression_id=shops))
    assert (data.n_tasks, data.attributes) == (30, ("price", "size"))


@pytest.mark.parametrize("columns", ["stim1,stim2,stim3", "stim0,stim1,stim2"])
def test_positions_of_the_odd_one_may_count_from_zero(columns):
    rows = ["cat,dog,car,2", "car,cat,bus,1", "bus,dog,cat,0", "dog,cat,bus,2"]
    data = read("\n".join([f"{columns},odd", *rows]))
    chosen = [k for k, count in enumerate(data.counts) if count]
    pairs = {frozenset((data.labels[data.first[k]], data.labels[data.second[k]])) for k in chosen}
    assert pairs == {frozenset(("cat", "dog")), frozenset(("car", "bus"))}


@pytest.mark.parametrize("words", ["leftvote rightvote tievote", "L R bothbad_vote"])
def test_votes_for_a_side(words):
    left, right, tie = words.split()
    rows = [f"tea,rum,{left}", f"rum,tea,{right}", f"gin,tea,{tie}", f"tea,gin,{right}"]
    data = read("\n".join(["model_left,model_right,vote", *rows]))
    assert (data.counts[data.labels.index("tea")].sum(), data.n_ties) == (2.0, 1.0)


def test_fractions_are_no_outcome():
    data = read("word1,word2,score\ntake,grab,7.35\ntake,eat,5.16\ngrab,eat,4.2\neat,see,3.47\n")
    assert isinstance(data, th.Similarities)


def test_a_list_of_dissimilarities_names_what_reads_it():
    rows = "item1,item2,dissimilarity\ntea,milk,1.5\ntea,rum,2.6\nmilk,rum,1.1\n"
    with refused(DataError, "'dissimilarity'", "dissimilarities='linear'"):
        read(rows)
    assert isinstance(read(rows, dissimilarities="linear"), th.Similarities)


def test_tasks_in_columns_are_not_the_alternatives_of_one_choice():
    columns = {
        f"c{task}_{side}_{attribute}": [f"{attribute} {(row * task + k) % 3}" for row in range(30)]
        for task in range(1, 6)
        for k, side in enumerate("ab")
        for attribute in ("sex", "policy")
    }
    choices = {f"choice{task}": [1 + row * task % 2 for row in range(30)] for task in (1, 3, 5)}
    choices |= {
        f"choice{task}": [1 + (row + task) // 3 % 2 for row in range(30)] for task in (2, 4)
    }
    table = pd.DataFrame(columns | choices).rename_axis("respid").reset_index()
    with refused(DataError, "'choice1'", "several tasks in one row"):
        th.read(table, chosen="choice1")


def build_study(none=None, **columns):
    """A study of two products in each of 12 tasks, and of one whose cells are `none`."""
    rows = []
    for k in range(12):
        products = [(10 * (k % 3 + 1), "x"), (10 * ((k + 1) % 3 + 1), "y"), (none, none)]
        for place, (price, brand) in enumerate(products[: 2 + (none is not None)]):
            row = {"id": k // 4, "task": k % 4, "alternative": "ABN"[place]}
            row |= {"price": price, "brand": brand, "choice": int(place == k % 2)}
            rows.append(
                row | {name: values[(2 * k + place) % 12] for name, values in columns.items()}
            )
    return pd.DataFrame(rows)


@pytest.mark.parametrize("none", ["None", "Opt out", "Keines davon", "I would buy none of these"])
def test_a_product_with_one_text_in_all_attributes_is_no_choice(none):
    """It was a level of each attribute, and the price no number."""
    data = th.read(build_study(none))
    assert data.scheme.none and data.scheme.levels["price"] == ("10", "20", "30")
    empty = th.read(build_study("").replace("", None), none="N")
    assert data.n_tasks == empty.n_tasks == 12
    # a text of some products only, or of two products of a task, is a level
    plain = build_study(none)
    plain.loc[0, "brand"] = none
    assert not th.read(plain).scheme.none


def test_a_duration_of_a_few_levels_is_an_attribute_and_one_of_many_a_time():
    levels = build_study(duration=[1, 5, 10, 1, 10, 5] * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert th.read(levels).attributes == ("price", "brand", "duration")
    times = build_study(duration=[3.1, 5.2, 8.8, 2.4, 6.5, 7.1, 4.9, 9.2, 1.7, 2.2, 3.3, 5.8])
    assert th.read(times).attributes == ("price", "brand")
    constant = build_study(duration=[1, 1, 5, 5, 10, 10] * 2)  # of the task
    assert th.read(constant).attributes == ("price", "brand")


def test_names_of_the_best_and_the_worst_item_are_no_attributes():
    """Pairs of items of best-worst scaling, as R's support.BWS lists them."""
    items = build_study(BEST=[1, 2, 3, 1, 2, 3] * 2, WORST=[2, 3, 1, 3, 1, 2] * 2)
    assert th.read(items).attributes == ("price", "brand")


@pytest.mark.parametrize("name", ["display_position", "screen order", "Order"])
@pytest.mark.parametrize("alternatives", [None, [1, 2, 3], ["car", "bus", "rail"]])
def test_places_in_any_order_are_no_attributes(name, alternatives):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "person": np.repeat(range(8), 15),
            "task": np.tile(np.repeat(range(5), 3), 8),
            name: np.concatenate([rng.permutation(3) + 1 for _ in range(40)]),
            "price": rng.integers(1, 5, 120),
            "brand": np.concatenate([rng.permutation(3) + 1 for _ in range(40)]),
            "choice": np.resize([1, 0, 0, 0, 0, 1, 0, 1, 0], 120),
        }
    )
    if alternatives is not None:
        frame.insert(2, "alt", np.resize(alternatives, 120))
    data = th.read(frame)
    assert data.attributes == ("price", "brand")
    assert data.scheme.alternative == (name if alternatives is None else "alt")
    if alternatives is not None:
        assert name in th.read(frame, attributes=["price", name]).attributes
