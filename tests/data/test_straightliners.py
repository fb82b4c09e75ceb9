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
