"""The shape of one row a task: which columns describe which alternative, and how the choice is
told."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, said
from helpers.typed_tables import made, table

import thali as th
import thali._data.kinds as kinds
from thali._reading.layout_recognition import recognise
from thali._reading.layouts import SHAPES
from thali.errors import Argument, DataError, Setting

SHAPE = {shape.name: shape for shape in SHAPES}
WIDE = SHAPE["choice experiment with one row per task"]

TASKS = [
    (90, "A", 150, "B", 1),
    (150, "A", 90, "B", 2),
    (90, "B", 150, "A", 1),
    (150, "B", 90, "A", 2),
]
LONG = "id,task,alt,price,brand,choice\n" + "".join(
    f"{k // 2},{k % 2},{alt},{task[2 * alt - 2]},{task[2 * alt - 1]},{{{k}_{alt}}}\n"
    for k, task in enumerate(TASKS)
    for alt in (1, 2)
)


def wide(header, choices=(1, 2, 1, 2), more=("", "")):
    rows = [
        f"{k // 2},{','.join(map(str, task[:4]))},{c}{more[1]}"
        for k, (task, c) in enumerate(zip(TASKS, choices, strict=True))
    ]
    return "\n".join([f"id,{header},choice{more[0]}", *rows]) + "\n"


def same(data):
    assert data.attributes == ("price", "brand") and data.levels == {
        "price": ("90", "150"),
        "brand": ("A", "B"),
    }
    assert (data.n_respondents, data.n_tasks, data.n_alternatives) == (
        2,
        4,
        8,
    ) and data.chosen.tolist() == [0, 1, 0, 1]
    assert data.products[data.row_product].tolist() == [
        [0, 0],
        [1, 1],
        [1, 0],
        [0, 1],
        [0, 1],
        [1, 0],
        [1, 1],
        [0, 0],
    ]


@pytest.mark.parametrize(
    ("header", "choices"),
    [
        ("price_1,brand_1,price_2,brand_2", (1, 2, 1, 2)),
        ("price.1,brand.1,price.2,brand.2", (1, 2, 1, 2)),
        ("bus_price,bus_brand,car_price,car_brand", ("bus", "car", "bus", "car")),
        ("price.bus,brand.bus,price.car,brand.car", ("bus", "car", "bus", "car")),
        (
            "candA_price,candA_brand,candB_price,candB_brand",
            [f"Option {letter}" for letter in "ABAB"],
        ),
        (
            "Profile 1: price,Profile 1: brand,Profile 2: price,Profile 2: brand",
            [f"Profile {letter}" for letter in "abab"],
        ),
        ("price1,brand1,price2,brand2", [f"Candidate {letter}" for letter in "ABAB"]),
        ("optionA_price,optionA_brand,optionB_price,optionB_brand", (1, 2, 1, 2)),
        ("priceA,brandA,priceB,brandB", ("Option 1", "Option 2", "Option 1", "Option 2")),
    ],
)
def test_how_columns_are_called(header, choices):
    reading = recognise(table(wide(header, choices)))
    assert reading.shape == WIDE.name
    same(reading.build()[0])


def test_the_number_of_the_alternative_and_availability():
    text = wide("bus_price,bus_brand,car_price,car_brand", more=(",bus_av,car_av", ",1,1"))
    data, sentence = made(text)
    same(data)
    said(sentence, "'bus_av'")
    text = wide("bus_price,bus_brand,car_price,car_brand", more=(",bus_av,car_av", ",1,0"))
    with refused(ValueError, "'car'", "row 3"):
        made(text)


@pytest.mark.parametrize("words", [(1, 0), ("yes", "no"), ("TRUE", "FALSE"), ("number", "number")])
def test_how_a_long_table_tells_the_choice(words):
    cells = {}
    for k, task in enumerate(TASKS):
        for alt in (1, 2):
            cells[f"{k}_{alt}"] = task[4] if words[0] == "number" else words[task[4] != alt]
    text = LONG
    for key, value in cells.items():
        text = text.replace(f"{{{key}}}", str(value))
    same(made(text, kinds.EXPERIMENTS)[0])
    sawtooth = text.replace(
        "id,task,alt,price,brand,choice", "sys_RespNum,Task,Concept,price,brand,Response"
    )
    same(made(sawtooth, kinds.EXPERIMENTS)[0])


def test_constructor_with_named_alternatives():
    frame = table(wide("bus_price,bus_brand,car_price,car_brand")).frame
    same(th.ChoiceExperiment.from_wide(frame, alternatives=["bus", "car"]))
    same(th.ChoiceExperiment.from_wide(frame))
    with refused(ValueError, "price_1", "price_2", "car_time", "bus_time"):
        th.ChoiceExperiment.from_wide(frame.drop(columns=["bus_brand", "car_price"]))


def study(names="price_{k} brand_{k}"):
    """Sixty tasks of twelve respondents: prices and brands of two products, and the answer."""
    rng = np.random.default_rng(4)
    price, brand = names.split()
    columns = {"id": np.repeat(range(12), 5), "task": [1, 2, 3, 4, 5] * 12}
    for k in (1, 2):
        columns[price.format(k=k)] = rng.choice([10, 20, 30], 60)
        columns[brand.format(k=k)] = rng.choice(["x", "y"], 60)
    return pd.DataFrame(columns | {"choice": rng.choice([1, 2], 60)})


@pytest.mark.parametrize(("name", "share"), [("rating", 0.7), ("therm", 1.0)])
@pytest.mark.fit
def test_numbers_that_are_largest_for_the_chosen_are_answers(name, share):
    frame = study()
    is_larger = (np.arange(60) >= 60 * share) != (frame["choice"] == 2)
    answers = {f"{name}_1": np.where(is_larger, 2, 6), f"{name}_2": np.where(is_larger, 5, 3)}
    with refused(DataError, Setting("without", [*answers]), Argument("attributes")):
        th.read(frame.assign(**answers))
    expected = th.read(frame)
    data = th.read(frame.assign(**answers), without=[*answers])
    assert data == expected and data.attributes == ("price", "brand")
    described = th.read(frame.assign(**answers), attributes=["price", name])
    assert described.attributes == ("price", name) and "'brand_1'" in described.read_as
    with refused(DataError, "'prise'", "'price'"):
        th.read(frame.assign(**answers), attributes=["prise"])
    effects = th.amce(frame.assign(**answers))
    assert effects.table.equals(th.amce(frame).table)
    assert f"not used: '{name}_1'" in effects.settings["read_as"]
    unanswered = frame.assign(**answers, choice=frame["choice"].where(frame.index > 0))
    assert th.amce(unanswered).settings["read_as"].count("without an answer") == 1


@pytest.mark.parametrize(
    ("names", "labels", "chosen"),
    [
        ("price_{k} brand_{k}", ("left", "right"), "chose_{}"),
        ("price{k} brand{k}", ("L", "R"), "chose{}"),
        ("price{k} brand{k}", ("A", "B"), "chose_{}"),
        ("price_{k} brand_{k}", ("sooner", "later"), "{}_chosen"),
    ],
)
@pytest.mark.parametrize("place", [1, 2])
def test_yes_and_no_may_answer_whether_a_named_alternative_was_chosen(names, labels, chosen, place):
    frame, plain = study(names), th.read(study())
    label = {"L": "Left", "R": "Right"}.get(labels[place - 1], labels[place - 1])
    marks = (frame.pop("choice") == place).astype(int)
    columns = {
        name.format(k=k): name.format(k=label)
        for name in names.split()
        for k, label in enumerate(labels, 1)
    }
    frame = frame.rename(columns=columns).assign(**{chosen.format(label): marks})
    for alternatives in (None, [*labels], [*labels[::-1]]):
        if "L" not in labels or alternatives is not None:
            data = th.read(frame, alternatives=alternatives)
            is_turned = alternatives == [*labels[::-1]]
            assert data.chosen.tolist() == [k ^ is_turned for k in plain.chosen]


@pytest.mark.parametrize("flag", ["y", "BestAlternative_", "response_", "sel."])
@pytest.mark.parametrize("n_products", [2, 3])
def test_one_mark_of_each_product_is_the_choice(flag, n_products):
    frame = study()
    if n_products == 3:
        frame["price_3"], frame["brand_3"] = frame["price_1"], frame["brand_2"]
        frame["choice"] = np.resize([1, 3, 2, 3], len(frame))
    numbers = range(1, n_products + 1)
    marks = frame.assign(**{f"{flag}{k}": (frame["choice"] == k).astype(int) for k in numbers})
    data, plain = th.read(marks.drop(columns="choice")), th.read(frame)
    assert (data.attributes, data.chosen.tolist()) == (plain.attributes, plain.chosen.tolist())


def test_times_of_alternatives_are_no_attributes():
    frame = study().assign(rt_1=np.arange(60), rt_2=np.arange(60)[::-1])
    data = th.read(frame)
    said(data.read_as, "'price' and 'brand'", "not used: 'rt_1' and 'rt_2'")
    assert data == th.read(frame.drop(columns=["rt_1", "rt_2"]))
    assert th.read(frame, attributes=["price", "rt"]).attributes == ("price", "rt")


@pytest.mark.parametrize(
    ("names", "own"),
    [
        ("price_{k} brand_{k}", "att{k}"),
        ("price_{k} brand_{k}", "age_child{k}"),
        ("price_{k} brand_{k}", "att.{k}"),
        ("price_alt{k} brand_alt{k}", "att{k}"),
        ("price{k} brand{k}", "att_{k}"),
    ],
)
def test_numbered_columns_of_respondents_are_no_attributes(names, own):
    """Constant within respondents, unlike what varies between tasks."""
    frame = study(names)
    columns = [own.format(k=k) for k in (1, 2)]
    data = th.read(frame.assign(**{name: frame["id"] % (3 + k) for k, name in enumerate(columns)}))
    assert data.attributes == ("price", "brand") and [*data.people.columns] == columns
    varying = {name: frame.index % (3 + k) for k, name in enumerate(columns)}
    assert th.read(frame.assign(**varying)).people is None
    alike = [names.split()[0].replace("price", "way").format(k=k) for k in (1, 2)]
    data = th.read(frame.assign(**{name: frame["id"] % (3 + k) for k, name in enumerate(alike)}))
    assert data.attributes == ("price", "brand") and [*data.people.columns] == alike


def test_the_only_column_of_a_series_is_no_attribute():
    data = th.read(study().assign(time_1=[k * k % 37 for k in range(60)]))
    assert data.attributes == ("price", "brand") and "columns not used: 'time_1'" in data.read_as


@pytest.mark.parametrize("name", ["approve_{}", "therm_{}", "view_time_{}"])
def test_numbers_after_the_choice_may_be_other_answers(name):
    columns = {name.format(k): [(3 * row + k) % 7 for row in range(60)] for k in (1, 2)}
    frame = study().assign(**columns)
    with refused(DataError, *map(repr, columns), "after the choice", "`attributes`", "without="):
        th.read(frame)
    assert th.read(frame, without=[*columns]).attributes == ("price", "brand")
    attributes = ["price", "brand", name[:-3]]
    assert th.read(frame, attributes=attributes).attributes == tuple(attributes)
    before = frame[[*columns, *study().columns]]
    assert {*th.read(before).attributes} == {*attributes}


@pytest.mark.parametrize("header", ["C{task}_{k}_{name}", "task{task}.{name}_{k}"])
@pytest.mark.parametrize("answers", [(1, 2), ("Candidate A", "Candidate B")])
def test_tasks_in_the_names_of_columns_are_no_alternatives(header, answers):
    frame = study()
    rows = {"id": range(30)}
    for task in (1, 2):
        tasks = frame[task - 1 :: 2].reset_index(drop=True)
        for k, name in product((1, 2), ("price", "brand")):
            rows[header.format(task=task, k="AB"[k - 1], name=name)] = tasks[f"{name}_{k}"]
        choice = header[: header.index("}") + 2].format(task=task) + "choice"
        rows[choice] = tasks["choice"].map({1: answers[0], 2: answers[1]})
    for settings in ({}, {"chosen": choice}, {"kind": "experiment"}):
        with refused(DataError, choice, "several tasks in one row", "one row per task"):
            th.read(pd.DataFrame(rows), **settings)
