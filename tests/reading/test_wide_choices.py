"""Wide tables of choices: which column is the choice, what its codes mean, and what each alternative
has; and long tables that name the chosen alternative once a set or lack attributes."""

import io

import pandas as pd
import pytest
from helpers.sentences import refused, said

import thali as th
from thali.errors import DataError

TIMES = [(30, 42, 25), (31, 40, 27), (35, 45, 24), (33, 41, 29), (32, 44, 26), (36, 43, 28)]
COSTS = [(5, 2, 4), (6, 1, 3), (5, 1, 4), (7, 2, 3), (6, 2, 4), (5, 1, 3)]
PEOPLE = (1, 1, 2, 2, 3, 3)
MODES = ("car", "bus", "rail")
CHOSEN = (0, 1, 2, 1, 0, 2)  # positions of the chosen alternatives


def table(codes, name="choice", time="time_{}", cost="cost_{}", modes=MODES, **columns):
    """A table of six tasks, three people and three modes (or the first of them)."""
    n = len(modes)
    cells = {"id": PEOPLE} | columns
    for k, mode in enumerate(modes):
        cells[time.format(mode)] = [task[k] for task in TIMES]
        cells[cost.format(mode)] = [task[k] for task in COSTS]
    return pd.DataFrame(cells | {name: [codes[k % n] for k in CHOSEN]})


def chosen_times(data):
    """The times of the chosen alternatives."""
    frame = data.to_frame()
    return [float(time) for time in frame.loc[frame["chosen"].astype(int) == 1, "time"]]


RIGHT = [times[k] for times, k in zip(TIMES, CHOSEN, strict=True)]


@pytest.mark.parametrize(
    "frame",
    [
        table(MODES, name="mode"),
        table(MODES, name="depvar", time="time.{}", cost="cost.{}"),
        table(("Car", "Bus", "Rail"), name="MODE", time="{}_time", cost="{}_cost"),
        table(MODES, time="time{}", cost="cost{}"),
        table((1, 2, 3)),
        table((1, 2, 3), name="chosen_alt"),
        table(("A", "B", "C"), name="option chosen", modes=("A", "B", "C")),
        table((1, 2, 3), time="{}_time", cost="{}_cost", modes=("alt1", "alt2", "alt3")),
        table((0, 1, 2)),
        table((0, 1, 2), modes=("1", "2", "3")),
        table(MODES, hh_size=[1, 1, 2, 2, 3, 3], hh_income=[9, 9, 5, 5, 7, 7]),
    ],
)
def test_the_chosen_alternative(frame):
    data = th.read(frame)
    assert set(data.attributes) == {"time", "cost"}
    assert (data.n_respondents, data.n_tasks, data.n_alternatives) == (3, 6, 18)
    assert chosen_times(data) == RIGHT


def test_attributes_have_similar_numbers():
    """As many attributes as alternatives: the names alone do not show which is which."""
    frame = table((1, 2), modes=("car", "bus"))
    data = th.read(frame)
    assert data.attributes == ("time", "cost")
    assert chosen_times(data) == [times[k % 2] for times, k in zip(TIMES, CHOSEN, strict=True)]
    frame[["cost_car", "cost_bus"]] = frame[["time_bus", "time_car"]].to_numpy()
    with refused(DataError, "'car' and 'bus'", "`alternatives`"):
        th.read(frame)
    assert th.read(frame, alternatives=["car", "bus"]).attributes == ("time", "cost")


def test_numbers_follow_the_order_in_which_the_chosen_were_available():
    frame = table(
        (1, 2, 3), av_car=1, av_rail=1, av_bus=[1, 1, 1, 1, 0, 0], GROUP=2, SURVEY=0, SP=1
    )
    data = th.read(frame)
    assert chosen_times(data) == RIGHT
    said(data.read_as, "'av_car'")


def test_one_column_for_each_product_contains_its_price():
    frame = pd.DataFrame({"hhid": PEOPLE, "choice": [k + 1 for k in CHOSEN]})
    for k, name in enumerate(("PPk_Stk", "PBB_Stk", "PGen_Tub")):
        frame[name] = [task[k] / 10 for task in COSTS]
    data = th.read(frame)
    assert data.attributes == ("price",) and data.n_alternatives == 18
    frame = frame.rename(columns={"PPk_Stk": "page", "PBB_Stk": "height", "PGen_Tub": "income"})
    with refused(DataError, "'page'", "'height'"):
        th.read(frame)


def test_zero_is_asked_for():
    frame = table((0, 1, 2), modes=("1", "2"))
    frame["choice"] = [1, 0, 2, 1, 2, 1]
    with refused(DataError, "Column 'choice'", "'0'", "row 1", "`none='0'`", "'choice' != '0'"):
        th.read(frame)
    assert th.read(frame, none="0").n_alternatives == 18
    assert th.read(frame, where="'choice' != '0'").n_tasks == 5
    frame["choice"] = [1, 0, 1, 1, 0, 1]
    with refused(DataError, "'0'", "`alternatives`"):
        th.read(frame)
    data = th.read(frame, alternatives=["1", "2"])
    assert chosen_times(data) == [t[k] for t, k in zip(TIMES, frame["choice"], strict=True)]


@pytest.mark.parametrize("more", [[2, 9, 5, 7, 3, 4], ["a", "b", "b", "a", "a", "b"]])
def test_an_attribute_of_one_alternative(more):
    data = th.read(table(MODES, wait_bus=more, own_car=[0, 0, 1, 1, 1, 1]))
    assert data.attributes == ("time", "cost", "wait") and list(data.people.columns) == ["own_car"]
    frame = data.to_frame()
    waits = frame.loc[frame["alternative"] == "bus", "wait"]
    assert waits.astype(str).tolist() == list(map(str, more))
    said(data.read_as, "'wait' set to 0 where")


def test_zero_beside_a_design_is_asked_for(tmp_path):
    design = tmp_path / "design.csv"
    design.write_text("task,alternative,price\n1,1,5\n1,2,7\n1,3,9\n2,1,9\n2,2,5\n2,3,7\n")
    answers = tmp_path / "answers.csv"
    answers.write_text("id,choice1,choice2\n1,0,2\n2,1,0\n3,2,1\n")
    with refused(DataError, "0 to 2", "from 1", "'none'"):
        th.read(answers, design=design)
    answers.write_text("id,choice1,choice2\n1,1,3\n2,2,1\n3,3,2\n")
    assert th.read(answers, design=design).n_alternatives == 18


LONG = """id,task,mode,chosen,time,wait,class
1,1,car,1,30,,
1,1,bus,0,40,5,
1,1,rail,0,35,9,first
1,2,car,0,33,,
1,2,bus,1,41,6,
1,2,rail,0,36,7,second
2,1,car,0,31,,
2,1,bus,0,42,5,
2,1,rail,1,34,8,first
2,2,car,1,30,,
2,2,bus,0,44,4,
2,2,rail,0,38,9,second
"""


def test_attributes_that_an_alternative_of_a_long_table_lacks():
    data = th.read(pd.read_csv(io.StringIO(LONG)))
    assert data.n_tasks == 4 and {"time", "wait", "class"} <= set(data.attributes)
    said(data.read_as, "'wait' and 'class' set to 0 for")
    with refused(DataError, "'wait'", "missing"):  # one empty cell more is an error of the file
        th.read(pd.read_csv(io.StringIO(LONG.replace("41,6", "41,"))))


LEVELS = [("red", "blue"), ("blue", "blue"), ("red", "red"), ("green", "red"), ("blue", "green")]


@pytest.mark.parametrize("name", ["answer", "winner", "preferred", "choice"])
@pytest.mark.parametrize("second", [("S", "M", "M", "L", "S"), (10, 20, 20, 30, 10)])
def test_products_with_a_level_in_common_are_no_options(name, second):
    """Options of a pair differ, and levels of two products may be equal."""
    columns = {
        "id": [1, 1, 2, 2, 3],
        "colour_A": [first for first, _ in LEVELS],
        "colour_B": [other for _, other in LEVELS],
        "size_A": second,
        "size_B": second[::-1],
        name: list("ABBAB"),
    }
    data = th.read(frame := pd.DataFrame(columns))
    assert data.attributes == ("colour", "size") and data.n_tasks == 5
    assert data.to_frame().query("chosen == 1")["colour"].tolist().count("blue") == 1
    # names of two options that differ, beside what both have in common
    frame = frame.assign(colour_B=["green", "red", "blue", "blue", "red"], size_B=second)
    assert isinstance(th.read(frame.rename(columns={name: "winner"})), th.PairedComparisons)


def test_two_answers_of_the_same_values_are_asked_about():
    rows = [(k, k, 5 - k, k % 3, k % 2, 1 + k % 2, 1 + k // 2 % 2) for k in range(5)]
    names = "id price_1 price_2 size_1 size_2 choice_before choice_after".split()
    frame = pd.DataFrame(rows, columns=names)
    with refused(DataError, "'choice_before' and 'choice_after'", "`chosen`"):
        th.read(frame, kind="experiment")
    after = th.read(frame, chosen="choice_after", kind="experiment")
    assert after.chosen.tolist() == [0, 0, 1, 1, 0]
    for name in ("choice", "second_choice"):  # the usual name, and a later choice
        assert th.read(frame.rename(columns={"choice_after": name}), kind="experiment").n_tasks == 5
