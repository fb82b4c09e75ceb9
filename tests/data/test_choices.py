"""Choices: reading, checking, counting, converting."""

import numpy as np
import pandas as pd
import pytest
from helpers.real_data import needs_data, real_data
from helpers.sentences import refused, said, warned

import thali as th
from thali.errors import DataError, DataWarning


def table(**columns):
    frame = pd.DataFrame(
        {
            "choice_id": [1, 1, 1, 2, 2, 3, 3, 3],
            "alternative": ["tea", "milk", "beer", "tea", "milk", "beer", "tea", "milk"],
            "chosen": [1, 0, 0, 0, 1, 0, 1, 0],
        }
    )
    return frame.assign(**columns)


def test_identical_occasions_are_counted_and_sets_may_differ_in_size():
    data = th.Choices(table())
    assert data.labels == ("tea", "milk", "beer")
    assert data.sets == [("tea", "milk"), ("tea", "milk", "beer")]
    assert data.counts.tolist() == [0, 1, 2, 0, 0]
    assert (data.n_choices, data.n_sets, data.n_options) == (3, 2, 3)
    said(data, "3 options", "2 sets", "3 choices")


def test_unavailable_alternatives_are_not_in_the_set():
    data = th.Choices(table(available=[1, 1, 0, 1, 1, 0, 1, 1]))
    assert data.sets == [("tea", "milk")]
    assert data.counts.tolist() == [2, 1]


@pytest.mark.parametrize(
    "names",
    [
        {"choice_id": "obsID", "alternative": "alt", "chosen": "choice"},
        {"choice_id": "chid", "alternative": "mode", "chosen": "choice"},
        {"choice_id": "ids", "alternative": "alts", "chosen": "y"},
        {"choice_id": "obs_id", "alternative": "alt_id", "chosen": "Chosen"},
        {"choice_id": "individual", "alternative": "mode", "chosen": "choice"},
        {"choice_id": "Task ID", "alternative": "item", "chosen": "outcome"},
    ],
)
def test_columns_go_by_the_names_that_others_give_them(names):
    assert th.Choices(table().rename(columns=names)).counts.tolist() == [0, 1, 2, 0, 0]


def test_availability_and_respondents_by_other_names():
    frame = table(avail=[1, 1, 0, 1, 1, 1, 1, 1], panels=["a"] * 5 + ["b"] * 3)
    data = th.Choices(frame)
    assert data.sets == [("tea", "milk"), ("tea", "milk", "beer")]
    assert data.respondents == ("a", "b")
    who = [(data.respondents[r], data.labels[data.members[c]], t) for r, c, t in zip(
        data.respondent, data.choice, data.times, strict=True
    )]  # fmt: skip
    assert who == [("a", "tea", 1), ("a", "milk", 1), ("b", "tea", 1)]


def test_occasions_may_be_numbered_within_respondents():
    frame = table(choice_id=[1, 1, 1, 2, 2, 1, 1, 1], respondent=[7, 7, 7, 7, 7, 9, 9, 9])
    assert th.Choices(frame).counts.tolist() == [0, 1, 2, 0, 0]
    with refused(DataError, "listed twice in choice set '1'"):
        th.Choices(frame.drop(columns="respondent"))


def test_numbers_of_rows_are_no_respondents():
    assert th.Choices(table(id=range(8))) == th.Choices(table())
    assert th.Choices(table(id=range(8), user=list("aaabbccc"))).respondents == ("a", "b", "c")
    assert th.Choices.from_wide(
        pd.DataFrame({"choice": ["tea", "milk"], "id": [1, 2]})
    ).respondents == ("1", "2")


def test_the_chosen_one_may_be_named_in_every_row():
    frame = table(chosen=["tea"] * 3 + ["milk"] * 2 + ["tea"] * 3)
    assert th.Choices(frame) == th.Choices(table())


@pytest.mark.parametrize(
    "change, facts",
    [
        ({"chosen": [0, 0, 0, 0, 1, 0, 1, 0]}, ("choice set '1'",)),
        ({"chosen": [1, 0, 0, 1, 1, 0, 1, 0]}, ("2 alternatives", "choice set '2'")),
        ({"available": [0, 1, 1, 1, 1, 1, 1, 1]}, ("'tea'", "choice set '1'")),
        ({"available": [1, 0, 0, 0, 1, 0, 1, 0]}, ("choice set '1'",)),
        (
            {"alternative": ["tea", "milk", "milk", "tea", "milk", "beer", "tea", "milk"]},
            ("'milk'",),
        ),
        ({"alternative": ["tea", None, "beer", "tea", "milk", "beer", "tea", "milk"]}, ("row 1",)),
        ({"chosen": [1, 0, 0, 0, 2, 0, 1, 0]}, ("Column 'chosen'", "row 4")),
        ({"count": [1, 2, 1, 1, 1, 1, 1, 1]}, ("choice set '1'",)),
        ({"weight": [3.5, 2, 1, 1, 1, 1, 1, 1]}, ("column 'weight'",)),
        ({"count": [-1] * 8}, ("row 0", "column 'count'", "-1")),
        ({"count": [0] * 8}, ("no choices",)),
        ({"count": [1.5] * 3 + [1.0] * 5}, ("which is not an integer",)),
    ],
)
def test_bad_tables_are_refused_in_one_sentence(change, facts):
    with refused(DataError, *facts):
        th.Choices(table(**change))


def test_missing_columns_and_unknown_labels():
    with refused(DataError, "recognised as 'alternative'"):
        th.Choices(table().drop(columns="alternative"))
    with refused(DataError, "'milk'", "row 1", "column 'alternative'", "`labels`"):
        th.Choices(table(), labels=["tea", "beer"])
    with refused(DataError, "no column 'winner'"):
        th.Choices(table(), chosen="winner")
    with refused(DataError, "must be a DataFrame"):
        th.Choices([[1, 2]])  # type: ignore[arg-type]
    with refused(DataError, "got 5"):
        th.Choices(table(), labels=5)  # type: ignore[arg-type]


def test_wide_tables():
    frame = pd.DataFrame({"choice": ["tea", "milk", "tea"], "id": [1, 2, 2], "av": [1, 0, 1]})
    data = th.Choices.from_wide(frame, respondent="id")
    assert data.sets == [("tea", "milk")]
    assert data.respondents == ("1", "2")
    named = frame.assign(t=1, m=1)
    data = th.Choices.from_wide(named, available={"tea": "t", "milk": "m", "beer": "av"})
    assert data.labels == ("tea", "milk", "beer")
    assert data.counts.tolist() == [0, 1, 2, 0, 0]
    listed = frame.assign(
        a=["tea", "tea", "milk"], b=["milk", "milk", "beer"], c=["beer", None, "tea"]
    )
    assert th.Choices.from_wide(listed, alternatives=["a", "b", "c"]).counts.tolist() == [
        0,
        1,
        2,
        0,
        0,
    ]
    with refused(DataError, "'tea'", "row 0"):
        th.Choices.from_wide(
            named.assign(t=[0, 1, 1]), available={"tea": "t", "milk": "m", "beer": "av"}
        )


@pytest.mark.parametrize(
    "change, more, facts",
    [
        ({}, {"available": ["t", "m"]}, ("`available`",)),
        ({}, {"alternatives": "a"}, ("`alternatives`", "got the string 'a'")),
        ({"t": 0, "m": 0}, {"available": {"tea": "t", "milk": "m"}}, ("alternative was offered",)),
        ({"a": None}, {"alternatives": ["a"]}, ("alternative was offered",)),
        ({}, {"alternatives": ["a"], "available": {"tea": "t"}}, ("cannot be combined",)),
    ],
)
def test_bad_wide_tables_are_refused_in_one_sentence(change, more, facts):
    frame = pd.DataFrame({"choice": ["tea", "milk"], "t": 1, "m": 1, "a": ["tea", "milk"]}).assign(
        **change
    )
    with refused(DataError, *facts):
        th.Choices.from_wide(frame, **more)


def test_categories_of_a_wide_table_are_options_in_their_order():
    kind = pd.CategoricalDtype(["beer", "milk", "tea"])
    frame = pd.DataFrame({"choice": pd.Series(["tea", "milk"], dtype=kind), "t": 1, "m": 1})
    assert th.Choices.from_wide(frame).sets == [("beer", "milk", "tea")]
    data = th.Choices.from_wide(frame, available={"tea": "t", "milk": "m"})
    assert data.labels == ("beer", "milk", "tea") and data.sets == [("milk", "tea")]


def test_conversion_from_and_to_pairs():
    pairs = th.PairedComparisons(
        [[0, 7, 9], [3, 0, 0], [1, 0, 0]], labels=["tea", "coffee", "milk"]
    )
    data = th.Choices.from_comparisons(pairs)
    assert data.is_paired and data.counts.tolist() == [7, 3, 9, 1]
    assert data.to_comparisons() == pairs
    with refused(DataError, "choices between two"):
        th.Choices(table()).to_comparisons()
    assert th.Choices(data.to_frame()) == data


def test_tables_read_back_what_they_hold():
    rng = np.random.default_rng(3)
    rows = []
    for occasion in range(60):
        members = rng.permutation(7)[: rng.integers(2, 6)]
        rows += [(occasion % 4, occasion, x, int(x == members[0])) for x in members]
    data = th.Choices(
        pd.DataFrame(rows, columns=["respondent", "choice_id", "alternative", "chosen"])
    )
    assert th.Choices(data.to_frame()) == data
    assert data.times.sum() == data.counts.sum() == 60
    for v, members in enumerate(data.sets):  # against a count by hand
        frame = pd.DataFrame(rows, columns=["r", "o", "x", "c"])
        same = frame.groupby("o").filter(lambda g, m=members: {str(x) for x in g["x"]} == set(m))
        found = same[same["c"] == 1]["x"].value_counts()
        assert data.counts[data.start[v] : data.start[v + 1]].tolist() == [
            found.get(int(x), 0) for x in members
        ]


def test_unusual_data_are_warned_of():
    with warned(DataWarning, "'9' was never compared"):
        th.Choices(table(), labels=["tea", "milk", "beer", "9"]).warn_if_unusual()


@needs_data
def test_yogurt_and_travel_mode():
    travel = th.Choices(pd.read_csv(real_data("choice_travelmode/travelmode.csv")))
    assert travel.counts.tolist() == [58, 63, 30, 59] and len(travel.respondents) == 210
    yogurt = th.Choices(pd.read_csv(real_data("choice_yogurt/yogurt.csv")))
    assert yogurt.n_choices == 2412 and len(yogurt.respondents) == 100 and yogurt.n_sets == 1
