"""Answers as survey tools save them, which are faked: alone, and beside a design."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, said

import thali as th
from thali._reading.layout_recognition import read_data
from thali.errors import DataError

DRINKS = ["tea", "coffee", "milk", "juice"]
ATTRIBUTES = {"brand": ["A", "B"], "price": [1, 2, 3]}
READ = {  # of two people who answer everything
    "pairs": "4 options, 6 pairs, 12 comparisons, 2 respondents",
    "best": "4 options, 4 sets of 3 options, 8 choices, 2 respondents",
    "best-worst": "4 options, 4 sets of 3 options, 8 answers (a best and a worst option each), 2 respondents",
    "odd-one-out": "4 objects, 4 sets of 3 pairs, 8 answers, 2 respondents",
    "ratings": "4 objects, 6 similarities",
    "choice": "2 respondents, 4 tasks of ",
}
ONE_ROW_EACH = {  # columns of an answer; answers; what is read of two people
    "pairs": (
        "left right chosen",
        ["tea,milk,tea", "milk,juice,juice", "coffee,tea,coffee", "tea,juice,no preference"],
        "8 comparisons (2 ties), 2 respondents",
    ),
    "best": (
        "option1 option2 option3 best",
        ["tea,milk,juice,tea", "milk,juice,tea,juice"],
        "4 choices, 2 respondents",
    ),
    "best-worst": (
        "option1 option2 option3 best worst",
        ["tea,milk,juice,tea,milk", "tea,milk,coffee,milk,coffee"],
        "4 answers (a best and a worst option each), 2 respondents",
    ),
    "ranking": (
        "shown1 shown2 shown3 rank1 rank2 rank3",
        ["tea,milk,juice,milk,tea,juice", "coffee,tea,milk,milk,tea,coffee"],
        "8 choices, 2 respondents",
    ),
    "odd-one-out": (
        "object1 object2 object3 odd",
        ["tea,milk,juice,tea", "milk,tea,coffee,coffee"],
        "4 answers, 2 respondents",
    ),
    "ratings": (
        "first second similarity",
        ["tea,milk,3", "juice,milk,7", "tea,juice,1"],
        "3 similarities, each based on 2 judgements",
    ),
    "choice": (
        "brand_1 brand_2 price_1 price_2 choice",
        ["A,B,1,2,1", "B,A,2,1,none", "A,A,1,2,1", "B,B,2,1,2"],
        "2 respondents, 8 tasks of 3 alternatives, with a no-choice option",
    ),
}


def one_row_each(kind, people=("ann", "bob")):
    """A table of one row per answer, as pages of surveys hand it in."""
    names, answers, _ = ONE_ROW_EACH[kind]
    head = ["person", "task" if kind == "choice" else "trial", *names.split(), "rt", "age"]
    rows = [
        f"{person},{number},{answer},800,{30 + k}"
        for k, person in enumerate(people)
        for number, answer in enumerate(answers, 1)
    ]
    return "\n".join([",".join(head), *rows]) + "\n"


@pytest.mark.parametrize("kind", ONE_ROW_EACH)
def test_one_row_per_answer_is_read_without_an_option(tmp_path, kind):
    (tmp_path / "answers.csv").write_text(one_row_each(kind))
    data, sentence = read_data(tmp_path / "answers.csv")
    assert ONE_ROW_EACH[kind][2] in sentence
    if kind != "ratings":  # similarities are means over people
        assert "age" in data.people


@pytest.mark.parametrize(
    "people",
    [[str(600_000_000_000_000_000 + k) for k in range(3)], ["100", "1e2", "100.0"]],
    ids=["many digits", "one number"],
)
def test_people_whose_names_are_nearly_one_number_stay_apart(tmp_path, people):
    (tmp_path / "answers.csv").write_text(one_row_each("pairs", people))
    assert "3 respondents" in read_data(tmp_path / "answers.csv")[1]


def test_none_is_known_though_nobody_chose_it(tmp_path):
    """And where only some tasks have it."""
    (tmp_path / "answers.csv").write_text(
        "person,task,brand_1,brand_2,price_1,price_2,available_none,choice,rt,age\n"
        "ann,1,A,B,1,2,1,1,800,30\nann,2,B,A,2,1,0,2,800,30\n"
        "ann,3,A,A,1,2,1,1,800,30\nann,4,B,B,2,1,1,2,800,30\n"
    )
    data, sentence = read_data(tmp_path / "answers.csv")
    assert data.scheme.none
    said(sentence, "1 respondent", "4 tasks of 2 to 3 alternatives")


def test_none_with_attributes_and_choices_by_number():
    """A column of whether none is available is one of the others where none has a price, too."""
    wide = pd.DataFrame(
        {"price_a": [1, 2, 3], "price_b": [2, 3, 1], "available_a": 1, "available_b": 1}
    )
    wide = wide.assign(available_none=[0, 1, 1], choice=[1, 2, 1])
    named = wide.assign(price_none=0, choice=["a", "none", "b"])
    for frame in (wide, wide.assign(choice=[1, 2, 3]), named):
        data = th.ChoiceExperiment.from_wide(frame)
        assert data.n_tasks == 3 and len(data.row_product) == 8


def design_of(kind, **settings):
    if kind == "choice":
        return th.designs.choice(ATTRIBUTES, 4, 2, random_seed=1, **settings)
    return th.designs.sets(DRINKS, {"pairs": 2, "ratings": 2}.get(kind, 3), random_seed=1)


def conditions_of(kind):
    """The rows of a loop in PsychoPy that shows a design."""
    design = design_of(kind)
    if kind == "choice":
        wide = design.pivot(index="task", columns="alternative", values=list(ATTRIBUTES))
        wide.columns = [f"{attribute}_{place}" for attribute, place in wide.columns]
        return wide.reset_index().to_dict("records")
    names = {"pairs": ["left", "right"], "ratings": ["first", "second"]}.get(kind)
    stem = "object" if kind == "odd-one-out" else "option"
    shown = design.filter(regex=r"^option\d$")
    shown = shown.set_axis(names or [f"{stem}{k}" for k in (1, 2, 3)], axis=1)
    return shown.assign(trial=range(1, len(shown) + 1)).to_dict("records")


def picks(rng, kind):
    """What somebody answers, by the names of the answers: the place of an option from 1 on, or a
    rating."""
    if kind == "best-worst":
        best, worst = rng.permutation(3)[:2] + 1
        return {"best": best, "worst": worst}
    name = {
        "pairs": "chosen",
        "best": "best",
        "odd-one-out": "odd",
        "ratings": "similarity",
        "choice": "choice",
    }[kind]
    most = {"pairs": 2, "ratings": 7, "choice": 2}.get(kind, 3)
    return {name: rng.integers(1, most + 1)}


def of_psychopy(rows, kind, rng):
    """What PsychoPy saves: the conditions, and what each component wrote."""
    found = []
    for person in ("p1", "p2"):
        for number, row in enumerate(rows):
            keys = picks(rng, kind)
            if kind == "pairs":
                keys = {"chosen": ["left", "right"][keys["chosen"] - 1]}
            ending = "response" if kind == "ratings" else "keys"
            written = {f"{name}.{ending}": value for name, value in keys.items()}
            times = {f"{name}.rt": 0.5 for name in keys}
            more = {
                "trials.thisN": number,
                "trials.thisRepN": 0,
                "participant": person,
                "session": 1,
            }
            found.append(
                row | written | times | more | {"date": "2026-11-25", "psychopyVersion": "2026.1.0"}
            )
    return pd.DataFrame(found)


@pytest.mark.first(4)
@pytest.mark.parametrize("kind", READ)
def test_what_psychopy_saves_is_read(tmp_path, kind):
    saved = of_psychopy(conditions_of(kind), kind, np.random.default_rng(1))
    saved.to_csv(tmp_path / "data.csv", index=False)
    sentence = read_data(tmp_path / "data.csv")[1]
    assert READ[kind].replace("4 tasks", "8 tasks") in sentence


@pytest.mark.first(4)
@pytest.mark.parametrize("pattern", ["{0}_{1}", "{1}_{0}"])  # the number of a loop may stand first
@pytest.mark.parametrize("kind", READ)
def test_answers_are_read_beside_a_design(tmp_path, kind, pattern):
    """A row a person, a column an answer, whose name is made of that of the answer and of the
    number of the trial."""
    design, rng = design_of(kind), np.random.default_rng(1)
    design.to_csv(tmp_path / "design.csv", index=False)
    people = []
    for session in ("Xq1", "Zw2"):
        answers = [picks(rng, kind) for _ in design["task"].unique()]
        row = {
            pattern.format(name, k): value
            for k, one in enumerate(answers, 1)
            for name, value in one.items()
        }
        people.append({"session": session} | row)
    pd.DataFrame(people).to_csv(tmp_path / "results.csv", index=False)
    columns = {"respondent": "session"} if kind == "choice" else {}
    sentence = read_data(tmp_path / "results.csv", design=tmp_path / "design.csv", **columns)[1]
    assert READ[kind].replace("4 tasks", "8 tasks") in sentence


@pytest.mark.parametrize(("best", "worst"), [("1_best", "1_worst"), ("best_1", "worst_1")])
def test_numbers_of_answers_mean_the_options_of_the_design(tmp_path, best, worst):
    """Also where the number of a loop stands first."""
    (tmp_path / "design.csv").write_text("task,option1,option2,option3\n1,tea,milk,coffee\n")
    (tmp_path / "data.csv").write_text(f"ResponseId,{best},{worst}\nR_1,3,1\nR_2,,\n")
    data = read_data(tmp_path / "data.csv", design=tmp_path / "design.csv")[0]
    assert len(data.respondents) == 1
    said(data.example(), "'coffee'", "'tea'")


def test_a_number_more_than_two_options_is_no_preference(tmp_path):
    (tmp_path / "design.csv").write_text("task,left,right\n1,tea,milk\n2,milk,juice\n3,tea,juice\n")
    (tmp_path / "data.csv").write_text("session,chosen_1,chosen_2,chosen_3,version\nx,3,2,,1\n")
    data = read_data(tmp_path / "data.csv", design=tmp_path / "design.csv")[0]
    assert (
        data.tied.sum() == 1
        and data.counts.sum() == 1
        and data.example().startswith("'juice' chosen over")
    )


def test_versions(tmp_path):
    """Answers are read beside the version of each person."""
    design = th.designs.pairs(list("abcdef"), per_person=5, versions=2, random_seed=1)
    design.to_csv(tmp_path / "design.csv", index=False)
    own = pd.read_csv(tmp_path / "design.csv").query("version == 2").iloc[0]
    table = "session,version,chosen_1,chosen_2\nx,1,2,1\ny,2,1,\n"
    (tmp_path / "data.csv").write_text(table)
    data = read_data(tmp_path / "data.csv", design=tmp_path / "design.csv")[0]
    place = {label: k for k, label in enumerate(data.labels)}
    assert (
        data.counts.sum() == 3
        and data.counts[place[str(own["option1"])], place[str(own["option2"])]] >= 1
    )
    (tmp_path / "data.csv").write_text(table.replace("version", "v"))
    with refused(DataError, "2 versions"):
        read_data(tmp_path / "data.csv", design=tmp_path / "design.csv")
    (tmp_path / "data.csv").write_text("session,version,q\nx,1,2\n")
    with refused(DataError, "5 sets"):
        read_data(tmp_path / "data.csv", design=tmp_path / "design.csv")


def test_a_third_option_called_3_is_no_tie(tmp_path):
    (tmp_path / "design.csv").write_text("task,left,right\n1,3,5\n2,3,7\n3,5,7\n")
    (tmp_path / "data.csv").write_text("session,chosen_1,chosen_2,chosen_3\nx,3,7,5\n")
    data = read_data(tmp_path / "data.csv", design=tmp_path / "design.csv")[0]
    assert data.counts.sum() == 3


def test_columns_of_people_called_like_those_of_the_sets_are_refused(tmp_path):
    (tmp_path / "design.csv").write_text("task,left,right\n1,a,b\n2,b,c\n")
    (tmp_path / "data.csv").write_text("session,left,chosen_1,chosen_2\nx,yes,a,c\n")
    with refused(DataError, "column 'left'"):
        read_data(tmp_path / "data.csv", design=tmp_path / "design.csv")


def test_series_that_look_like_loops_of_one_question_are_series(tmp_path):
    (tmp_path / "design.csv").write_bytes(b"task,alternative,price\n1,1,5\n1,2,9\n2,1,9\n2,2,5\n")
    (tmp_path / "data.csv").write_text("person,1_Q1,1_Q2\nx,1,2\ny,2,1\n")
    data = read_data(tmp_path / "data.csv", design=tmp_path / "design.csv")[0]
    assert isinstance(data, th.ChoiceExperiment) and data.n_tasks == 4
