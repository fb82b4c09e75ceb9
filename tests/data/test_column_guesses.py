"""Which columns describe people, which describe comparisons, and which may say who answered."""

import pandas as pd
import pytest

from thali._data.column_guesses import (
    ColumnsRead,
    guess_respondent_column,
    list_comparison_columns,
    list_people_columns,
)

PEOPLE = [f"S{k:02}" for k in range(6)]
PAIRS = [("tea", "milk"), ("milk", "wine"), ("wine", "tea"), ("tea", "cola")]
ROLES = ColumnsRead(("left", "right"), ("winner",), (), "who")
NOBODY = ROLES._replace(who=None)


def trials(**more):
    """Six people with four trials each, and more columns: a function of person, trial and row."""
    rows = []
    for person, name in enumerate(PEOPLE):
        for trial, (a, b) in enumerate(PAIRS):
            row = dict(who=name, left=a, right=b, winner=(a, b)[(person + trial * (trial > 1)) % 2])
            rows.append(row | {key: value(person, trial, row) for key, value in more.items()})
    return pd.DataFrame(rows)


NEVER = {
    "sex": lambda person, trial, row: "fm"[person % 2],  # describes people
    "age": lambda person, trial, row: person + 8,
    "initials": lambda person, trial, row: f"{person}.{person}",
    "verdict": lambda person, trial, row: row["winner"],  # the outcome
    "pressed": lambda person, trial, row: "f" if row["winner"] == row["left"] else "j",
    "Antwort": lambda person, trial, row: (person * trial) % 3,
    "picture": lambda person, trial, row: f"{row['left']}.png",  # an option
    "loser": lambda person, trial, row: (
        row["left"] if row["winner"] == row["right"] else row["right"]
    ),
    "Trial": lambda person, trial, row: (trial * 7 + person) % 24,  # the trial
    "counter": lambda person, trial, row: 10 * trial + person,
    "trials.thisRepN": lambda person, trial, row: trial // 2,
    "clock": lambda person, trial, row: 1000.0 * person + 13.1 * trial,
    "when": lambda person, trial, row: f"2026-01-{1 + (person * trial) % 28:02}_10h12",  # the date
    "day": lambda person, trial, row: pd.Timestamp(2026, 1, 1 + (person * trial) % 28),
    "time": lambda person, trial, row: f"{(person * trial) % 24}:05",
    "session": lambda person, trial, row: "x",  # constants
    "empty": lambda person, trial, row: None,
    "comment": lambda person, trial, row: f"{person}{trial}",
    "Reaktionszeit (s)": lambda person, trial, row: (person * 5 + trial * 3) % 7 / 10,  # a time
}
ALWAYS = {
    "louder": lambda person, trial, row: (person * 7 + trial * trial) % 5 - 2,
    "block": lambda person, trial, row: "AB"[(person + trial) % 2 * (trial % 3 > 0)],
}


@pytest.mark.parametrize("name", NEVER)
def test_what_says_something_else_describes_no_comparison(name):
    assert list_comparison_columns(trials(**{name: NEVER[name]}, **ALWAYS), ROLES) == list(ALWAYS)


@pytest.mark.parametrize("name", ["session", "empty"])
def test_what_is_the_same_in_every_row_describes_none(name):
    frame = trials(**{name: NEVER[name]}, **ALWAYS)
    assert list_comparison_columns(frame, NOBODY) == ["who", *ALWAYS]


def test_goals_describe_no_comparison():
    frame = trials(
        goals_left=lambda p, t, row: p % 3, goals_right=lambda p, t, row: t % 2, **ALWAYS
    )
    assert list_comparison_columns(frame, ROLES._replace(who=None)) == ["who", *ALWAYS]


def test_a_few_rows_may_rise_by_chance():
    frame = trials(**ALWAYS).iloc[:4].assign(louder=[1, 2, 3, 4])
    frame["margin"] = [3, 1, 2, 4]
    roles = ROLES._replace(who=None, outcome=("winner", "margin"))
    assert list_comparison_columns(frame, roles) == [*ALWAYS]


def test_columns_of_people_tell_them_apart():
    born = ["2016-01-02", "2016-01-02", "2017-1-3"]
    people = pd.DataFrame({"sex": list("fmf"), "age": [8, 9, 7], "mail": list("abc"), "born": born})
    assert list_people_columns(people.assign(city="x")) == ["sex", "age"]
    assert list_people_columns(None) == []


@pytest.mark.parametrize("values", [lambda name: name, lambda name: int(name[1:]) * 3])
def test_a_column_that_repeats_as_people_do_may_say_who_answered(values):
    frame = trials(**ALWAYS).rename(columns={"who": "Kuerzel"})
    frame["Kuerzel"] = frame["Kuerzel"].map(values)
    assert guess_respondent_column(frame, NOBODY) == "Kuerzel"
    assert guess_respondent_column(frame, NOBODY, ["Kuerzel"]) is None
    assert guess_respondent_column(frame, NOBODY._replace(judged=False)) is None, (
        "teams are no people"
    )
    assert guess_respondent_column(frame, NOBODY._replace(counts=("louder",))) is None, (
        "several people may stand in a row"
    )
    assert guess_respondent_column(trials(half=lambda p, t, row: 2 * p + t // 2), ROLES) is None, (
        "they are known"
    )
    assert (
        guess_respondent_column(
            frame.assign(twin=frame["Kuerzel"]), NOBODY._replace(options=("Kuerzel", "right"))
        )
        is None
    )
    mixed = frame.sample(frac=1, random_state=1)
    assert guess_respondent_column(mixed, NOBODY) is None, "nothing shows that a value is a person"
    assert (
        guess_respondent_column(mixed.assign(sex=mixed["Kuerzel"].rank(method="dense") % 2), NOBODY)
        == "Kuerzel"
    )


def test_of_several_columns_the_finest_may_say_who_answered():
    frame = trials(Klasse=lambda p, t, row: min(p, 4), **ALWAYS).rename(columns={"who": "Kuerzel"})
    assert guess_respondent_column(frame[list(frame.columns)[::-1]], NOBODY) == "Kuerzel"


@pytest.mark.parametrize(
    "name, value",
    [
        ("few", lambda p, t, row: p // 2),
        ("step", lambda p, t, row: (4 * p + t) % 6),
        ("level", lambda p, t, row: p + 0.5),
        ("single", lambda p, t, row: p if p < 5 else 4 + t),
        ("picture", lambda p, t, row: f"{row['left']}.png"),
        ("when", lambda p, t, row: f"2026-01-0{p + 1}"),
    ],
)
def test_what_does_not_repeat_so_is_not_asked_about(name, value):
    frame = trials(**{name: value}, third=lambda p, t, row: (4 * p + t) % 6 // 2)
    assert guess_respondent_column(frame.drop(columns="who"), NOBODY) is None
