"""Respondents who always chose the same position are listed, and kept."""

import pandas as pd

import thali as th

NAME = "Always chose the same position"


def study(tasks, positions):
    rows = [
        (person, task, position, "xy"[(position + task) % 2], int(position == choose(task)))
        for person, choose in positions.items()
        for task in range(tasks)
        for position in range(2)
    ]
    columns = ["respondent", "task", "alternative", "colour", "choice"]
    return th.ChoiceExperiment.from_frame(pd.DataFrame(rows, columns=columns))


def test_whoever_always_chose_the_same_position_is_listed():
    data = study(
        9, {"left": lambda task: 0, "right": lambda task: 1, "both": lambda task: task % 2}
    )
    assert dict(data._facts())[NAME] == "left and right"
    assert data.n_respondents == 3


def test_few_tasks_may_be_chance():
    assert NAME not in dict(study(7, {"left": lambda task: 0})._facts())


def test_ratings_have_no_chosen_position():
    rows = [(who, t, p, "xy"[(p + t) % 2], 1 + p) for who in "ab" for t in range(9) for p in (0, 1)]
    columns = ["respondent", "task", "profile", "colour", "rating"]
    data = th.read(pd.DataFrame(rows, columns=columns), outcome="rating")
    assert NAME not in dict(data._facts())


def read_times(time_by_person, name="rt"):
    rows = [
        (person, *pair, time)
        for person, times in time_by_person.items()
        for time, pair in zip(
            times, [("tea", "milk"), ("milk", "rum"), ("rum", "tea")], strict=True
        )
    ]
    return th.read(pd.DataFrame(rows, columns=["respondent", "winner", "loser", name])).read_as


USUAL = {person: [2000, 1500, 9000] for person in "abcde"}


def test_who_answers_in_less_than_a_third_of_the_usual_time_is_listed():
    sentence = read_times(USUAL | {"f": [600, 8000, 500], "g": [700, 700, 9000]})
    assert sentence.endswith("answered in less than a third of the usual time (column 'rt'): 'f'")


def test_times_of_careful_respondents_are_not_remarked_on():
    assert "usual time" not in read_times(USUAL)


def test_other_columns_are_no_times():
    assert "usual time" not in read_times(USUAL | {"f": [6, 8, 5]}, "age")


def test_times_of_a_choice_experiment():
    rows = [
        (person, task, place, "xy"[(place + task) % 2], int(place == task % 2), time)
        for person, time in {"a": 9.5, "b": 8.0, "c": 1.0, "d": 7.5}.items()
        for task in range(4)
        for place in range(2)
    ]
    columns = ["respondent", "task", "alternative", "colour", "choice", "duration"]
    sentence = th.read(pd.DataFrame(rows, columns=columns)).read_as
    assert "less than a third of the usual time (column 'duration'): 'c'" in sentence
