"""The same study for other tools: files are written, answers are faked in their layout, and thali
reads them."""

import csv
import json
import re

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, said

import thali as th
from thali._reading.layout_recognition import read_data
from thali.errors import ArgumentError, DataError

DRINKS = ["tea", "coffee", "milk", "juice"]
ATTRIBUTES = {"brand": ["A", "B"], "price": [1, 2, 3]}
PRODUCTS = pd.DataFrame({"task": [1, 1, 2, 2], "alternative": [1, 2, 1, 2], "brand": list("abba")})
READ = {  # of two people who answer everything
    "pairs": "4 options, 6 pairs, 12 comparisons, 2 respondents",
    "best": "4 options, 4 sets of 3 options, 8 choices, 2 respondents",
    "best-worst": "4 options, 4 sets of 3 options, 8 best-worst choices, 2 respondents",
    "odd-one-out": "4 objects, 4 sets of 3 pairs, 8 answers, 2 respondents",
    "ratings": "4 objects, 6 similarities",
    "choice": "2 respondents, 4 tasks, ",
}
STUDY = {
    "consent": "Do you agree?",
    "questions": [
        {"name": "age", "ask": "How *old* are you?", "kind": "number", "least": 16, "most": 99}
    ],
}


def design_of(kind, **settings):
    if kind == "choice":
        return th.designs.choice(ATTRIBUTES, 4, 2, random_seed=1, **settings)
    return th.designs.sets(DRINKS, {"pairs": 2, "ratings": 2}.get(kind, 3), random_seed=1)


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


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


@pytest.mark.parametrize("kind", READ)
def test_psychopy_reads_conditions_and_thali_what_it_saves(tmp_path, kind):
    message = th.field.export(design_of(kind), tmp_path, "psychopy", kind, study=STUDY)
    assert "response component, called " in message
    said(message, "Not exported: consent")
    rows = rows_of(tmp_path / "trials.csv")
    assert all(name.isidentifier() for name in rows[0])  # or a loop refuses them
    of_psychopy(rows, kind, np.random.default_rng(1)).to_csv(tmp_path / "data.csv", index=False)
    sentence = read_data(tmp_path / "data.csv")[1]
    assert READ[kind].replace("4 tasks", "8 tasks") in sentence


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
    """A file each; answers are read beside the version of each person."""
    design = th.designs.pairs(list("abcdef"), per_person=5, versions=2, random_seed=1)
    th.field.export(design, tmp_path, "psychopy")
    assert {row["version"] for row in rows_of(tmp_path / "trials_2.csv")} == {"2"}
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


def test_catch_trials_practice_and_pictures_go_to_psychopy(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for name in ("green tea", "milk", "juice"):
        image.new("RGB", (20, 10), "red").save(tmp_path / f"{name}.png")
    study = {
        "catch": [{"options": ["milk", "juice"], "answer": "juice"}],
        "practice": [{"options": ["milk", "juice"]}],
    }
    th.field.export(tmp_path, tmp_path / "out", "psychopy", study=study)
    rows = rows_of(tmp_path / "out" / "trials.csv")
    assert {row["left"] for row in rows} <= {"green_tea.jpg", "milk.jpg", "juice.jpg"}
    assert all(
        (tmp_path / "out" / row[side]).is_file() for row in rows for side in ("left", "right")
    )
    catch = [row for row in rows if row["part"] == "catch"]
    assert [row[row["correct"]] for row in catch] == ["juice.jpg"] and len(rows) == 4
    assert [row["part"] for row in rows_of(tmp_path / "out" / "practice.csv")] == ["practice"]
    of_psychopy(rows, "pairs", np.random.default_rng(1)).to_csv(tmp_path / "data.csv", index=False)
    data, sentence = read_data(tmp_path / "data.csv", where="part == 'main'")
    assert (
        set(data.labels) == {"green tea", "milk", "juice"}
        and "6 comparisons, 2 respondents" in sentence
    )


EVIL = "</script><script>alert(1)</script>"


def test_a_page_for_jspsych_loads_jspsych_to_the_letter_and_holds_labels_as_text(tmp_path):
    th.field.export([EVIL, '"><img src=x onerror=alert(1)>'], tmp_path, "jspsych", title=EVIL)
    page = (tmp_path / "index.html").read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    scripts = re.findall(
        r'<script src="(https://unpkg.com/[^"]*)" integrity="sha384-[^"]{64}"', page
    )
    assert len(scripts) == 3 and page.count("<script") == 5 and "<img src=x" not in page
    assert policy.startswith("default-src 'none'; ") and "connect-src" not in policy
    assert re.search(r" script-src 'sha256-[^ ]*' ([^;]*);", policy)[1].split() == scripts
    data = json.loads(re.search(r'id="study">(.*?)</script>', page, re.S)[1])
    assert data["options"][0]["label"] == EVIL


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


@pytest.mark.parametrize(
    ("tool", "design", "settings", "facts"),
    [
        ("word", DRINKS, {}, ("got 'word'",)),
        ("psychopy", DRINKS, {"kind": "ranking"}, ("best-worst",)),
        ("psychopy", design_of("choice"), {"study": {"dual": True}}, ("use jspsych",)),
        ("psychopy", DRINKS, {"study": {"no_preference": True}}, ("means no preference",)),
        ("psychopy", ["[__import__('os').system('id')]", "tea"], {}, ('part of "[__import__(',)),
        ("psychopy", ["=1+1", "tea"], {}, ("'=1+1'",)),
        ("psychopy", ["$tea", "tea"], {}, ("'$tea'",)),
        ("psychopy", ["7", "2", "9"], {"kind": "best"}, ("'2'", "records the position")),
        ("psychopy", ["N/A", "tea"], {}, ("PsychoPy", "'N/A'")),
        ("psychopy", ["1,5", "2,5"], {}, ("PsychoPy", "'1,5'")),
        ("psychopy", ["8", "9.5"], {}, ("PsychoPy", "'8'", "'8.0'")),
        ("psychopy", ["TRUE", "FALSE"], {}, ("PsychoPy", "'TRUE'", "'True'")),
        (
            "psychopy",
            PRODUCTS.assign(price=["1.50", "2.50"] * 2),
            {},
            ("PsychoPy would show '1.50' as '1.5'",),
        ),
        (
            "psychopy",
            PRODUCTS.assign(price=["007", "8"] * 2),
            {},
            ("PsychoPy would show '007' as '7'",),
        ),
        (
            "psychopy",
            PRODUCTS.assign(price=["1e3", "8"] * 2),
            {},
            ("PsychoPy would show '1e3' as '1000.0'",),
        ),
        ("psychopy", ["tea", "12"], {}, ("PsychoPy", "'12'")),
    ],
)
def test_what_another_tool_cannot_ask_or_would_run(tmp_path, tool, design, settings, facts):
    with refused((DataError, ArgumentError), *facts):
        th.field.export(design, tmp_path / "out", tool, **settings)
    assert not (tmp_path / "out").exists()
