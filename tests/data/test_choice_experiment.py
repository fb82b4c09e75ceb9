"""Choice experiments: from tables, with levels, no-choice options, missing attributes and bins; and
what is refused."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import camera, simulate_experiment, table
from helpers.real_data import needs_data
from helpers.sentences import refused, said, warned

import thali as th
from thali.errors import ArgumentError, DataError, DataWarning

NAN = float("nan")


def frame(**columns):
    """Two people with two tasks each of two alternatives; columns may be replaced or, with None,
    left out."""
    usual = {
        "id": list("aaaabbbb"),
        "task": [1, 1, 2, 2, 1, 1, 2, 2],
        "alt": [1, 2] * 4,
        "choice": [1, 0, 0, 1, 1, 0, 0, 1],
        "price": [5, 10, 10, 7.5, 5, 7.5, 10, 5],
        "zoom": ["no", "yes", "yes", "no", "no", "yes", "no", "yes"],
    }
    return pd.DataFrame(
        {name: values for name, values in (usual | columns).items() if values is not None}
    )


def read(options=None, **columns):
    return th.ChoiceExperiment.from_frame(frame(**columns), **(options or {}))


def test_arrays_say_what_the_table_says():
    data = read()
    assert data.respondents == ("a", "b")
    assert data.attributes == ("price", "zoom")
    assert data.levels == {"price": ("5", "7.5", "10"), "zoom": ("no", "yes")}
    assert data.orders == {"price": "numbers", "zoom": "alphabet"}
    assert (data.n_respondents, data.n_tasks, data.n_alternatives, data.has_none) == (
        2,
        4,
        8,
        False,
    )
    assert data.first_task.tolist() == [0, 2, 4]
    assert data.first_row.tolist() == [0, 2, 4, 6, 8]
    assert data.chosen.tolist() == [0, 1, 0, 1]
    wanted = [[0, 0], [2, 1], [2, 1], [1, 0], [0, 0], [1, 1], [2, 0], [0, 1]]
    assert data.products[data.row_product].tolist() == wanted
    assert len(np.unique(data.products, axis=0)) == len(data.products)
    assert data.task_labels.tolist() == ["1", "2", "1", "2"]
    assert data.respondent_of_task.tolist() == [0, 0, 1, 1]


def test_rows_may_stand_in_any_order_and_sets_differ_in_size():
    rows = frame().iloc[[4, 0, 6, 2, 7, 1, 3, 5]]
    extra = {"id": "a", "task": 2, "alt": 3, "choice": 0, "price": 5, "zoom": "no"}
    data = th.ChoiceExperiment.from_frame(
        pd.concat([rows, pd.DataFrame([extra])], ignore_index=True)
    )
    assert data.respondents == ("b", "a")
    assert np.diff(data.first_row).tolist() == [2, 2, 2, 3]
    assert data.alternative_labels.tolist() == ["1", "2", "1", "2", "1", "2", "1", "2", "3"]
    assert data.chosen.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    "names",
    [
        ("respondent", "obsID", "alternative", "chosen"),
        ("Person", "chid", "alts", "selected"),
        ("panels", "scenario", "altID", "y"),
        ("resp", "choice_id", None, "choice"),
        ("ID", "ques", "alt", "choice"),
    ],
)
def test_columns_of_an_experiment_are_recognised_by_usual_names(names):
    renamed = {
        old: new for old, new in zip(("id", "task", "alt", "choice"), names, strict=True) if new
    }
    rows = frame(alt=None) if names[2] is None else frame()
    data = th.ChoiceExperiment.from_frame(rows.rename(columns=renamed))
    assert data.attributes == ("price", "zoom")
    assert data.alternative_labels.tolist() == ["1", "2"] * 4


def test_orders_of_levels():
    given = read({"levels": {"zoom": ["yes", "no", "double"], "price": [10, 7.5, 5]}})
    assert given.levels == {"price": ("10", "7.5", "5"), "zoom": ("yes", "no", "double")}
    assert given.orders == {"price": "given", "zoom": "given"}
    zoom = pd.Categorical(frame()["zoom"], ["yes", "no", "triple"], ordered=True)
    assert read(zoom=zoom).levels["zoom"] == ("yes", "no", "triple")
    assert read(zoom=zoom).orders["zoom"] == "categories"
    assert read(zoom=frame()["zoom"].astype("category")).orders["zoom"] == "alphabet"
    assert read(price=["10", "9", "9", "10"] * 2).levels["price"] == ("9", "10")
    assert read(zoom=[True, False] * 4).levels["zoom"] == ("False", "True")


def test_repr_and_describe_show_the_order_of_levels():
    assert repr(read()) == (
        "ChoiceExperiment(2 respondents, 4 tasks of 2 alternatives)\n  price: 5 < 7.5 < 10\n  zoom:"
        " no, yes"
    )
    assert read({"bins": {"price": 2}}).describe().splitlines()[1:] == [
        "price: <= 7.5, > 7.5",
        "zoom: no, yes",
    ]


NONE = dict(id=["a"] * 3, task=[1] * 3, alt=["x", "y", "z"], choice=[0, 0, 1], price=[5, 10, 0])
NONE |= {"zoom": ["no", "yes", "none"], "out": [0, 0, 1]}


@pytest.mark.parametrize("none", ["z", "out", {"zoom": "none"}, {"zoom": "none", "price": 0}])
def test_no_choice_option(none):
    rows = pd.DataFrame(NONE).drop(columns=[] if none == "out" else "out")
    data = th.ChoiceExperiment.from_frame(rows, none=none)
    assert data.has_none
    assert data.attributes == ("inside", "price", "zoom")
    assert data.levels == dict(inside=("none", "inside"), price=("5", "10"), zoom=("no", "yes"))
    assert data.products[data.row_product].tolist() == [[1, 0, 0], [1, 1, 1], [0, -1, -1]]
    again = th.ChoiceExperiment.from_frame(data.to_frame(), none=none)
    assert again.levels == data.levels
    assert np.array_equal(again.products, data.products) and np.array_equal(
        again.chosen, data.chosen
    )
    assert (
        data.encode(data.to_frame()).products.tolist() == data.products[data.row_product].tolist()
    )
    without = th.ChoiceExperiment.from_frame(rows, none=none, inside=False)
    assert without.products[without.row_product].tolist() == [[0, 0], [1, 1], [-1, -1]]
    assert without.to_frame().isna().sum().sum() == data.to_frame().isna().sum().sum()


def test_levels_of_the_none_row_alone_are_none():
    rows = (
        pd.DataFrame(NONE)
        .drop(columns="out")
        .assign(zoom=pd.Categorical(NONE["zoom"], ["yes", "none", "no"]))
    )
    assert th.ChoiceExperiment.from_frame(rows, none={"zoom": "none"}).levels["zoom"] == (
        "yes",
        "no",
    )
    listed = th.ChoiceExperiment.from_frame(
        rows, none={"zoom": "none"}, levels={"zoom": ["no", "yes", "none"]}
    )
    assert listed.levels["zoom"] == ("no", "yes")


@pytest.mark.parametrize("missing", ["n/a", ["n/a", "?"], {"zoom": "n/a"}, NAN])
def test_missing_attributes_are_declared(missing):
    word = None if isinstance(missing, float) else "n/a"
    data = read({"missing": missing}, zoom=["no", "yes", word, "no", "no", "yes", "no", word])
    assert data.levels["zoom"] == ("no", "yes")
    assert data.products[data.row_product][:, 1].tolist() == [0, 1, -1, 0, 0, 1, 0, -1]
    again = th.ChoiceExperiment.from_frame(data.to_frame(), missing=missing)
    assert np.array_equal(again.products[again.row_product], data.products[data.row_product])


def list_cuts(data):
    return {attribute.name: attribute.cuts for attribute in data.scheme.attributes}


def test_binned_attributes_have_the_cut_points_asked_for():
    cost = [1, 2, 3, 4, 5, 6, 7, 100]
    data = read({"bins": {"price": 4}}, price=cost)
    assert list_cuts(data)["price"] == (2.0, 4.0, 6.0)
    assert data.levels["price"] == ("<= 2", "2 to 4", "4 to 6", "> 6")
    assert data.products[data.row_product][:, 0].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    given = read({"bins": {"price": [3.5, 50]}}, price=cost)
    assert given.levels["price"] == ("<= 3.5", "3.5 to 50", "> 50")
    assert given.products[given.row_product][:, 0].tolist() == [0, 0, 0, 1, 1, 1, 1, 2]
    new = frame(price=[0, 3.5, 3.6, 50, 51, 1e9, "<= 3.5", "> 50"])
    assert given.encode(new).products[:, 0].tolist() == [0, 0, 1, 1, 2, 2, 0, 2]
    few = read({"bins": {"price": 4}}, price=[1] * 6 + [2, 3])
    assert list_cuts(few)["price"] == (1.0,)


def test_encode_numbers_tasks_people_and_products_of_new_rows():
    data = read()
    new = frame(id=list("bbzzaabb"), choice=None).iloc[::-1]
    tasks, people, products = data.encode(new)
    assert tasks.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert people.tolist() == [1, 1, 0, 0, -1, -1, 1, 1]
    assert products.tolist() == data.products[data.row_product][::-1].tolist()
    market = data.encode(pd.DataFrame({"zoom": ["no", "yes"], "price": ["10", 5.0]}))
    assert market.task_of_row.tolist() == [0, 0]
    assert market.respondent_of_row.tolist() == [-1, -1]
    assert market.products.tolist() == [[2, 0], [0, 1]]


def test_new_data_are_read_by_their_labels():
    data = read()
    other = read({"levels": {"zoom": ["yes", "no"]}}, price=[10, 7.5] * 4, id=list("bbbbcccc"))
    found = data.encode(other)
    assert found.products.tolist() == data.encode(other.to_frame()).products.tolist()
    assert found.respondent_of_row.tolist() == [1, 1, 1, 1, -1, -1, -1, -1]
    with refused(DataError, "attribute 'price'", "'6'"):
        data.encode(read(price=[6, 7.5] * 4))


def test_split_holds_out_the_last_tasks():
    data = th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=6, n_tasks=5))
    train, test = data.split(tasks=2)
    assert (
        train.task_labels.tolist() == ["1", "2", "3"] * 6
        and test.task_labels.tolist() == ["4", "5"] * 6
    )
    assert train.respondents == test.respondents == data.respondents
    rows = data.to_frame()
    wanted = th.ChoiceExperiment.from_frame(rows[rows["task"].astype(int) > 3])
    assert np.array_equal(test.products[test.row_product], wanted.products[wanted.row_product])
    assert np.array_equal(test.chosen, wanted.chosen)
    one, other = data.split(tasks=2, random_seed=1), data.split(tasks=2, random_seed=1)
    assert one == other and one != (train, test)
    assert np.diff(one[1].first_task).tolist() == [2] * 6
    train, test = data.split(respondents=["p3", "p0"])
    assert test.respondents == ("p0", "p3") and train.respondents == ("p1", "p2", "p4", "p5")
    train, test = data.split(respondents=2, random_seed=3)
    assert (
        set(train.respondents) | set(test.respondents) == set(data.respondents)
        and test.n_respondents == 2
    )
    assert data.take([0, 7]).respondents == ("p0", "p1")


@needs_data
def test_the_camera_data_have_the_published_size_and_attributes():
    rows, data = table("camera"), camera()
    said(data, "332 respondents", "5,312 tasks of 5 alternatives")
    assert data.attributes == (
        "inside",
        "brand",
        "pixels",
        "zoom",
        "video",
        "swivel",
        "wifi",
        "price",
    )
    assert data.levels["price"] == ("0.79", "1.29", "1.79", "2.29", "2.79")
    assert data.levels["brand"] == ("canon", "nikon", "panasonic", "sony")
    labelled = th.ChoiceExperiment.from_frame(rows, none=5)
    assert np.array_equal(labelled.products, data.products) and np.array_equal(
        labelled.row_product, data.row_product
    )
    prices = np.array([*map(float, data.levels["price"]), 0.0])
    assert np.array_equal(prices[data.products[data.row_product][:, -1]], rows["price"])


WHERE = "in task '2' of respondent 'a'"
BAD = [
    # columns, options, sentence
    ({"choice": [1, 0, 1, 1, 1, 0, 0, 1]}, {}, ("2 alternatives", "task '2'", "respondent 'a'")),
    (  # every row twice
        {name: [value for value in frame()[name] for _ in "ab"] for name in frame()},
        {},
        ("'1'", "task '1'", "respondent 'a'"),
    ),
    (
        {
            name: [value for value in frame()[name] for _ in "ab"]
            for name in frame().drop(columns="alt")
        }
        | {"alt": None},
        {},
        ("2 times", "task '1'", "respondent 'a'"),
    ),
    ({"price": [5, 5, 10, 10] * 2, "zoom": None}, {}, ("'price'",)),
    ({"choice": [1, 0, 0, 0, 1, 0, 0, 1]}, {}, ("task '2'", "respondent 'a'")),
    (
        {"choice": [1, 0, 0, 3, 1, 0, 0, 1]},
        {},
        ("Column 'choice'", "'3'", "task '2'", "respondent 'a'"),
    ),
    ({"choice": [1, 0, 0, NAN, 1, 0, 0, 1]}, {}, ("Column 'choice'", "task '2'", "respondent 'a'")),
    ({"alt": [1, 2, 2, 2, 1, 2, 1, 2]}, {}, ("'2'", "task '2'", "respondent 'a'")),
    (
        {"zoom": ["no", "yes", None, "no"] * 2},
        {},
        ("Attribute 'zoom'", "'1'", "task '2'", "respondent 'a'"),
    ),
    (
        {"price": [5, 10, NAN, 7.5, 5, 7.5, 10, 5]},
        {"bins": {"price": 2}},
        ("Attribute 'price'", "'1'", "task '2'", "respondent 'a'"),
    ),
    (
        {"price": [5, 10, "x", 7.5, 5, 7.5, 10, 5]},
        {"bins": {"price": 2}},
        ("Attribute 'price'", "'1'", "task '2'", "respondent 'a'"),
    ),
    (
        {},
        {"levels": {"zoom": ["No", "yes"]}},
        ("Attribute 'zoom'", "'1'", "task '1'", "respondent 'a'"),
    ),
    ({"zoom": ["no", "?", "?", "no"] * 2}, {"missing": "?"}, ("Attribute 'zoom'", "'no'")),
    ({"zoom": ["?"] * 8}, {"missing": "?"}, ("Attribute 'zoom'",)),
    ({"task": [1, 2, 3, 4] * 2}, {}, ("only one", "task '1'", "respondent 'a'")),
    (
        {"id": pd.Categorical(list("aaaabbbb"), list("abc"))},
        {},
        ("'c'", "column 'id'", "remove_unused_categories"),
    ),
    ({"id": ["a"] * 7 + [None]}, {}, ("row 7", "column 'id'")),
    ({"task": [NAN] + [1] * 7}, {}, ("row 0", "column 'task'")),
    ({}, {"none": 3}, ("'3'", "'1'", "'2'")),
    ({}, {"none": {"zoom": "non"}}, ("'non'", "column 'zoom'")),
    ({"out": [0, 2] * 4}, {"none": "out"}, ("Column 'out'", "0 elsewhere")),
    (
        {"zoom": ["no", "yes", "off", "off", "no", "yes", "no", "yes"]},
        {"none": {"zoom": "off"}},
        ("2 times", "task '2'", "respondent 'a'"),
    ),
    ({"person": list("aaaabbcc")}, {}, ("'id'", "'person'")),
    ({"choice": None}, {}, ("'id'", "'task'")),
    ({}, {"chosen": "chioce"}, ("column 'chioce'", "'id'", "'task'", "'alt'")),
    ({}, {"attributes": ["prise"]}, ("column 'prise'", "'id'", "'task'", "'alt'")),
    ({}, {"attributes": []}, ("describe the products",)),
]
ARGUMENTS = [
    ({"levels": {"prise": [1, 2]}}, ("levels", "contains 'prise'", "'price'")),
    ({"bins": {"x": 2}}, ("bins", "contains 'x'")),
    ({"missing": {"x": "?"}}, ("missing", "contains 'x'")),
    ({"levels": {"zoom": "no"}}, ("'zoom'", "got 'no'")),
    ({"bins": {"price": 1}}, ("'price'", "least 2", "got 1")),
    ({"bins": {"price": [3, 2]}}, ("'price'",)),
    ({"bins": {"price": True}}, ("'price'", "got True")),
    ({"bins": {"price": 2}, "levels": {"price": [5, 10]}}, ("Attribute 'price'",)),
    ({"attributes": "price"}, ("attributes", "got the", "'price'")),
    ({"attributes": ["price", "price"]}, ("Attribute 'price'",)),
    ({"attributes": ["task"]}, ("Column 'task'",)),
    ({"alternative": "id", "respondent": "id"}, ("Column 'id'",)),
    ({"none": {}}, ("none", "'brand'", "'none'")),
    ({"inside": 1}, ("inside", "got 1")),
]


@pytest.mark.parametrize(("columns", "options", "facts"), BAD)
def test_bad_tables_of_experiments_are_refused(columns, options, facts):
    with refused(DataError, *facts):
        read(options, **columns)


@pytest.mark.parametrize(("options", "facts"), ARGUMENTS)
def test_bad_arguments_of_from_frame_are_refused(options, facts):
    with refused(ArgumentError, *facts):
        read(options)


def test_no_table_and_no_rows():
    with refused(DataError, "`frame`", "DataFrame", "got list"):
        th.ChoiceExperiment.from_frame([1])
    with refused(DataError, "no tasks"):
        th.ChoiceExperiment.from_frame(frame().iloc[:0])
    with pytest.raises(TypeError, match="from_frame"):
        th.ChoiceExperiment()


def test_bad_new_rows_are_refused_by_encode():
    data = read()
    with refused(DataError, "Attribute 'zoom'", "'triple'", "'no'", WHERE):
        data.encode(frame(zoom=["no", "yes", "triple", "no"] * 2))
    with refused(DataError, "Attribute 'price'", WHERE):
        data.encode(frame(price=[5, 10, NAN, 5] * 2))
    with refused(DataError, "'2'", WHERE):
        data.encode(frame(alt=[1, 2, 2, 2] * 2))
    with refused(DataError, "column 'zoom'"):
        data.encode(frame(zoom=None))
    with refused(DataError, "row 3", "column 'id'"):
        data.encode(frame(id=["a"] * 3 + [None] * 5))
    with refused(DataError, "one alternative"):
        data.encode(frame().iloc[:0])
    with refused(DataError, "ChoiceExperiment", "DataFrame", "got dict"):
        data.encode({})


SPLITS = [
    ({}, ArgumentError, ("exactly one of `tasks` and `respondents`",)),
    ({"tasks": 1, "respondents": 1}, ArgumentError, ("exactly one of `tasks` and `respondents`",)),
    ({"tasks": 0}, ArgumentError, ("tasks", "got 0")),
    ({"tasks": 2}, DataError, ("'a'", "2 tasks")),
    ({"tasks": np.ones(4, bool)}, DataError, ("none; each part",)),
    ({"respondents": 2}, DataError, ("2 respondents",)),
    ({"respondents": ["z"]}, DataError, ("Unknown respondent 'z'.",)),
    ({"respondents": "a"}, ArgumentError, ("respondents", "got 'a'")),
]


@pytest.mark.parametrize(("arguments", "error", "facts"), SPLITS)
def test_bad_arguments_of_split_are_refused(arguments, error, facts):
    with refused(error, *facts):
        read().split(**arguments)


def test_many_numbers_that_are_not_whole_are_measured():
    rows = simulate_experiment(n_respondents=4).assign(price=lambda f: np.arange(len(f)) / 7.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = th.ChoiceExperiment.from_frame(rows)
        binned = th.ChoiceExperiment.from_frame(rows, bins={"price": 4})
        listed = th.ChoiceExperiment.from_frame(rows, levels={"price": rows["price"]})
    assert data.orders["price"] == "measured" and data.scheme.measured == ("price",)
    said(data.describe(), "13.57", "96 different")
    assert math.isclose(list_cuts(binned)["price"][1], rows["price"][47])
    assert listed.orders["price"] == "given" and listed.levels == data.levels
    again = th.ChoiceExperiment.from_frame(data.to_frame())
    assert again.scheme == data.scheme and (again.products == data.products).all()
    assert data.take(range(3)).scheme == data.scheme  # parts of the data are read alike


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (np.arange(96)[::-1], "numbers"),  # whole: they may be names
        (np.arange(96) % 30 + 0.5, "numbers"),
        (np.arange(96) % 31 + 0.5, "measured"),
        (np.where(np.arange(96) == 3, 0.5, np.arange(96) % 30), "measured"),
        ([f"shop {k % 40}" for k in range(96)], "alphabet"),
        (pd.Categorical(np.arange(96) % 31 + 0.5, ordered=True), "categories"),
    ],
)
def test_which_columns_are_measured(values, order):
    data = th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=4).assign(price=values))
    assert data.orders["price"] == order and (data.scheme.measured == ("price",)) == (
        order == "measured"
    )


def test_groups_and_landmarks_of_a_measured_attribute():
    data = th.ChoiceExperiment.from_frame(
        simulate_experiment(n_respondents=4).assign(price=np.arange(96) / 7.0)
    )
    names, groups = data.scheme.groups["price"]
    assert names == ("to 3.29", "3.29 to 6.71", "6.71 to 10.1", "from 10.1")
    assert np.bincount(groups).tolist() == [24, 24, 24, 24]
    compared = data.scheme.select_compared_levels("price", np.arange(96)).tolist()
    assert compared == [0, 24, 48, 71, 95]
    assert [data.scheme.labels["price"][k] for k in compared] == "0 3.429 6.857 10.14 13.57".split()
    names, groups = data.scheme.groups["zoom"]
    assert names == data.levels["zoom"] and groups.tolist() == [0, 1]
    assert data.scheme.select_compared_levels("zoom", np.arange(2)).tolist() == [0, 1]
    near = th.ChoiceExperiment.from_frame(
        simulate_experiment(n_respondents=4).assign(price=5 + np.arange(96) / 7e6)
    )
    assert len(set(near.scheme.groups["price"][0])) == 4
    assert len({near.scheme.labels["price"][k] for k in compared}) == 5


def test_attributes_constant_within_every_task_are_dropped_with_a_warning():
    rows = frame(income=[20, 20, 20, 20, 30, 30, 30, 30], qID=[1, 1, 2, 2, 3, 3, 4, 4], wave=1)
    with warned(DataWarning, "'qID'", "within every task") as messages:
        data = th.ChoiceExperiment.from_frame(rows)
    assert [message.filename for message in messages] == [__file__]
    assert data.people.columns.tolist() == ["income", "wave"]
    assert data.describe().splitlines()[-1] == "respondent columns: 'income'"
    assert data.attributes == read().attributes and data.to_frame().equals(read().to_frame())
    with warned(DataWarning, "'income'"):
        named = th.ChoiceExperiment.from_frame(rows, attributes=["zoom", "income"])
    assert named.attributes == ("zoom",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        declared = read({"levels": {"income": [20, 30]}}, income=rows["income"])
    assert declared.attributes == ("price", "zoom", "income")


def test_a_no_choice_option_makes_no_attribute_of_a_persons_income():
    """Only who names the column wants to know whether those with a high income choose nothing less
    often."""
    rows = pd.concat(
        [pd.DataFrame(NONE).assign(id=person, income=k) for k, person in enumerate("ab")]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert th.ChoiceExperiment.from_frame(rows, none="out").attributes == (
            "inside",
            "price",
            "zoom",
        )
    named = th.ChoiceExperiment.from_frame(rows, none="out", attributes=["price", "zoom", "income"])
    assert named.attributes == ("inside", "price", "zoom", "income")


def test_people_are_the_columns_that_are_constant_within_everybody():
    rows = dict(
        id=["b"] * 4 + ["a"] * 4, task=[1, 1, 2, 2] * 2, choice=[1, 0] * 4, price=[90, 150] * 4
    )
    frame = pd.DataFrame(rows | {"age": [30] * 4 + [40] * 4, "minute": [1, 1, 2, 2] * 2})
    with warned(DataWarning, "'minute'"):
        data = th.ChoiceExperiment.from_frame(frame)
    assert data.people.to_dict() == {"age": {"b": 30, "a": 40}}
    assert data.take([False, False, True, False]).people.to_dict() == {"age": {"a": 40}}
    assert data.with_fields(chosen=data.chosen).people is data.people
    assert th.ChoiceExperiment.from_frame(frame, attributes=["price"]).people.equals(data.people)
    assert th.ChoiceExperiment.from_frame(frame[list(rows)]).people is None


def test_people_of_a_wide_table():
    frame = pd.DataFrame(
        {"id": [7, 7, 8], "price_1": [90, 150, 90], "price_2": [150, 90, 150], "choice": [1, 2, 1]}
    )
    data = th.ChoiceExperiment.from_wide(frame.assign(sex=["f", "f", "m"], minute=[1, 2, 3]))
    assert data.people.to_dict() == {"sex": {"7": "f", "8": "m"}}
    nobody = th.ChoiceExperiment.from_wide(frame.drop(columns="id").assign(sex=["f", "f", "m"]))
    assert nobody.people["sex"].tolist() == ["f", "f", "m"]


# Columns that are called as thali calls something else --------------------------------------------


@pytest.mark.parametrize("with_none", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_an_attribute_called_inside_is_refused(with_none, inside):
    rows = [
        (p, t, k, int(k == t), 10 * (k + t), "AB"[(k + p) % 2])
        for p in (1, 2)
        for t in (0, 1)
        for k in (0, 1)
    ]
    rows += [(p, t, "none", 0, None, None) for p in (1, 2) for t in (0, 1)] if with_none else []
    frame = pd.DataFrame(rows, columns=["id", "task", "alt", "choice", "price", "inside"])
    with refused(DataError, "attribute name 'inside'"):
        th.ChoiceExperiment.from_frame(frame, none="none" if with_none else None, inside=inside)
    people = frame.assign(inside=frame["id"])  # which describes who answered
    data = th.ChoiceExperiment.from_frame(people, none="none" if with_none else None, inside=inside)
    assert data.people["inside"].tolist() == [1, 2]


@pytest.mark.parametrize("name", ["row", "place", "price"])
def test_wide_attributes_are_called_as_their_columns(name):
    wide = pd.DataFrame(
        {
            f"{name}_1": [3, 1, 2],
            f"{name}_2": [1, 2, 3],
            "brand_1": list("ABA"),
            "brand_2": list("BAB"),
        }
    )
    data = th.ChoiceExperiment.from_wide(wide.assign(choice=[1, 2, 1]))
    assert set(data.attributes) == {name, "brand"}
    assert data.to_frame()[name].astype(int).tolist() == [3, 1, 1, 2, 2, 3]


@pytest.mark.parametrize("name", ["respondent", "task", "alternative", "chosen"])
def test_wide_attributes_called_as_columns_of_tasks_are_refused(name):
    wide = pd.DataFrame(
        {
            f"{name}_1": [3, 1, 2],
            f"{name}_2": [1, 2, 3],
            "brand_1": list("ABA"),
            "brand_2": list("BAB"),
        }
    )
    with refused(DataError, "task column", name):
        th.ChoiceExperiment.from_wide(wide.assign(choice=[1, 2, 1]))


def test_alternatives_end_the_names_of_columns_without_a_separator():
    frame = pd.DataFrame(
        [
            ("boat", 15, 34, 0.2, 0.5, 9),
            ("pier", 12, 30, 0.1, 0.4, 8),
            ("pier", 20, 3, 0.1, 0.3, 7),
        ],
        columns=["mode", "ppier", "pboat", "cpier", "cboat", "income"],
    )
    data = th.ChoiceExperiment.from_wide(frame, chosen="mode", alternatives=["pier", "boat"])
    assert (data.n_tasks, data.n_alternatives, {*data.levels}) == (3, 6, {"p", "c"})


@pytest.mark.parametrize("name", ["Package", "Option", "profile"])
def test_a_column_that_numbers_the_products_of_a_task_is_no_attribute(name):
    frame = pd.DataFrame(
        {"id": 1, "task": [1, 1, 2, 2], "price": [1, 2, 2, 1], "choice": [1, 0, 0, 1]}
    ).assign(**{name: [1, 2, 1, 2]})
    assert {*th.ChoiceExperiment.from_frame(frame).levels} == {"price"}
    other = frame.assign(**{name: [3, 1, 1, 2]})  # which describes the products
    assert {*th.ChoiceExperiment.from_frame(other).levels} == {"price", name}
