"""Exports of the Conjoint Survey Design Tool: which columns are the answers."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused

import thali as th
from thali.errors import DataError


def test_the_design_tool_writes_names_and_levels_of_attributes(tmp_path):
    (tmp_path / "design.csv").write_text(
        "Finished,ResponseId,F-1-1,F-1-2,F-1-1-1,F-1-1-2,F-1-2-1,F-1-2-2,"
        "F-2-1,F-2-2,F-2-1-1,F-2-1-2,F-2-2-1,F-2-2-2,choice1,choice2,sex\n"
        "1,R1,Age,Party,40,Red,52,Blue,Age,Party,68,Red,40,Red,2,1,1\n"
        "1,R2,Party,Age,Blue,68,Red,40,Party,Age,Red,52,Blue,52,1,,2\n"
        "1,R3,Age,Party,52,Blue,68,Red,Age,Party,40,Blue,52,Red,1,2,1\n"
    )
    data = th.read(tmp_path / "design.csv")
    frame = data.to_frame().astype(str).set_index(["ResponseId", "task", "profile"])
    assert (data.n_respondents, data.n_tasks, len(frame)) == (3, 5, 10)
    assert frame.loc[("R2", "1", "1")].tolist() == ["1", "68", "Blue"]  # each in its order
    assert frame.loc[("R3", "2", "2")].tolist() == ["1", "52", "Red"]
    assert data.people["sex"].tolist() == [1, 2, 1]


def write_design_tool(folder, answers, n_tasks=3):
    """Write an export of the Conjoint Survey Design Tool with these columns of answers."""
    rng = np.random.default_rng(3)
    columns = {"ResponseId": [f"R{k}" for k in range(6)], "Finished": [1] * 6, "Email": [None] * 6}
    for task in range(1, n_tasks + 1):
        for attribute, levels in enumerate((["40", "52"], ["Red", "Blue"]), start=1):
            columns[f"F-{task}-{attribute}"] = ["Age", "Party"][attribute - 1]
            for profile in (1, 2):
                columns[f"F-{task}-{profile}-{attribute}"] = rng.choice(levels, 6)
    pd.DataFrame(columns | answers).to_csv(folder / "design.csv", index=False)
    return folder / "design.csv"


ANSWERS = np.array([[1, 2, 2], [2, 1, 2], [1, 1, 2], [2, 2, 1], [1, 2, 1], [2, 1, 1]])
SEX = {"Q20": [1, 2, 1, 2, 2, 1], "Q21": [1, 1, 2, 2, 1, 2]}


@pytest.mark.parametrize(
    "cells",
    [
        ANSWERS,
        np.array(["", "A", "B"])[ANSWERS],
        np.array(["", "Candidate 1", "Candidate 2"])[ANSWERS],
    ],
    ids=["numbers", "letters", "texts"],
)
def test_one_question_per_task_answers_the_design_tool(tmp_path, cells):
    data = th.read(
        write_design_tool(tmp_path, dict(zip(("Q11", "Q12", "Q13"), cells.T, strict=True)) | SEX)
    )
    frame = data.to_frame().set_index(["ResponseId", "task", "profile"])
    is_first = frame.xs("1", level="profile")["chosen"].to_numpy().reshape(6, 3) == 1
    np.testing.assert_array_equal(is_first, ANSWERS == 1)
    assert set(data.people.columns) >= {"Q20", "Q21"}


def test_projoint_calls_the_columns_k(tmp_path):
    path = write_design_tool(tmp_path, dict(zip(("q1", "q2", "q3"), ANSWERS.T, strict=True)))
    data = th.read(path)
    path.write_text(path.read_text("utf-8").replace("F-", "K-"), "utf-8")
    assert th.read(path) == data


def test_questions_between_the_answers_to_the_design_tool(tmp_path):
    ratings = {"Q12": [1, 5, 3, 2, 4, 1], "Q14": [2, 2, 4, 5, 1, 6]}
    answers = dict(zip(("Q11", "Q13", "Q15"), ANSWERS.T, strict=True))
    data = th.read(write_design_tool(tmp_path, answers | ratings))
    assert data.to_frame()["chosen"].sum() == 18
    assert {"Q12", "Q14"} <= set(data.people.columns)


def test_several_series_of_answers_are_asked_about(tmp_path):
    names = ("Q11", "Q12", "Q13", "Q14")
    path = write_design_tool(tmp_path, dict(zip(names, [*ANSWERS.T, SEX["Q20"]], strict=True)))
    with refused(DataError, "'Q11', 'Q12' and 'Q13'", "'Q12', 'Q13' and 'Q14'", "`chosen`"):
        th.read(path)
    data = th.read(path, chosen="Q11")
    assert data.people["Q14"].tolist() == SEX["Q20"]
    assert "Q11" in th.read(path, chosen="Q12").people.columns
    with refused(DataError, "3 tasks", "but 2 columns", "`chosen`"):
        th.read(path, chosen="Q13")
    with refused(DataError, "but no columns"):
        th.read(path, chosen="Email")


def test_answers_of_any_names_begin_at_the_named_column(tmp_path):
    path = write_design_tool(tmp_path, dict(zip(("one", "two", "three"), ANSWERS.T, strict=True)))
    with refused(DataError, "one column per task", "`chosen`"):
        th.read(path)
    assert th.read(path, chosen="one").n_tasks == 18


def test_questions_that_answer_twice_as_many_tasks_are_asked_about(tmp_path):
    names = ("Q11", "Q12", "Q13", "Q14", "Q15")
    cells = [ANSWERS.T[0], SEX["Q20"], ANSWERS.T[1], SEX["Q21"], ANSWERS.T[2]]
    path = write_design_tool(tmp_path, dict(zip(names, cells, strict=True)))
    with refused(DataError, "'Q11', 'Q13' and 'Q15'", "`without`"):
        th.read(path, chosen="Q11")
    assert th.read(path, without=["Q12", "Q14"]).n_tasks == 18


def test_ratings_of_the_profiles_begin_at_the_named_column(tmp_path):
    ratings = np.random.default_rng(4).integers(1, 8, (6, 6))
    columns = {}
    for task in range(3):
        columns[f"Q{2 * task + 11}"] = ANSWERS[:, task]
        for profile in range(2):
            columns[f"Q{2 * task + 12}_{profile + 1}"] = ratings[:, 2 * task + profile]
    file = write_design_tool(tmp_path, columns)
    data = th.read(file, outcome="Q12_1")
    np.testing.assert_array_equal(data.profile_columns["Q12_1"], ratings.ravel())
    assert "Q14_1" not in data.profile_columns and list(data.people) == ["Finished"]
    assert len(th.marginal_means(file, outcome="Q12_1").table) == 4
    with refused(DataError, "6 profiles", "'Q14_1'", "4 columns", "`outcome`"):
        th.read(file, outcome="Q14_1")
    assert len(th.marginal_means(file).table) == 4  # of the choices
