"""`thali field`: a questionnaire as a page, and a folder of answers as a table that `thali fit`
reads."""

import pandas as pd
import pytest
from helpers.handed_in import KINDS, rows_of, save
from helpers.sentences import said, says

import thali as th

pytestmark = pytest.mark.fit


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drinks.txt").write_text("tea\ncoffee\nmilk\njuice\n")
    (tmp_path / "answers").mkdir()
    return tmp_path


def test_a_page_is_made_of_a_list_and_of_a_design(run, folder):
    (folder / "study.toml").write_text('title = "Drinks"\n')
    result = run(
        *"field make drinks.txt --out out/study.html --study study.toml --title Cups".split()
    )
    said(result.out, "6 questions", "'tea'", "'coffee'", "'milk'", "'juice'")
    assert "<title>Cups</title>" in (folder / "out" / "study.html").read_text("utf-8")
    assert "thali field collect FOLDER" in result.err
    assert (
        run(*"design 6 --size 3 --per-person 4 --versions 2 --seed 1 --out plan".split()).code == 0
    )
    result = run("field", "make", "plan/design.csv", "--kind", "odd-one-out", "--out", "odd.html")
    assert (
        run("field", "make", "plan", "--kind", "odd-one-out", "--out", "same.html").out
        == result.out
    )
    says(result.out, "4 questions")
    says(result.out, "2 versions")


@pytest.mark.first(1)
@pytest.mark.parametrize("kind", ["pairs", "odd-one-out"])
def test_a_folder_is_joined_and_fitted_without_an_option(run, folder, kind):
    answers = KINDS[kind][1][:3]  # none of them a tie, for which another sampler would be compiled
    save(
        folder / "answers",
        a=rows_of(kind, "ann", answers=answers),
        b=rows_of(kind, "bob", answers=answers),
    )
    result = run("field", "collect", "answers", "--out", "answers.csv")
    assert f"2 respondents, {2 * len(answers)} answers." in result.out
    says(result.err, "answers.csv")
    assert list(pd.read_csv(folder / "answers.csv"))[:2] == ["person", "trial"]
    if kind == "pairs":  # the other kinds are read by a test of `collect`, and fitted elsewhere
        result = run(
            "fit", "answers.csv", "--model", "BTL", "--draws", 20, "--chains", 2, "--seed", 1
        )
        assert result.code == 0 and "6 comparisons, 2 respondents" in result.err


def test_a_study_for_jspsych_is_a_page(run, folder):
    result = run("field", "export", "drinks.txt", "--out", "lab/study.html", "--title", "Drinks")
    assert (
        result.out
        == "pairs: 6 questions per respondent about 'tea', 'coffee', 'milk' and 'juice'.\n"
    )
    assert "https://unpkg.com/jspsych@8" in (folder / "lab" / "study.html").read_text("utf-8")
    assert "thali field collect FOLDER" in result.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("export", "drinks.txt", "--out", "."), ("--out",)),
        (("export", "drinks.txt", "--out", "drinks.txt/a.html"), ("--out", "drinks.txt")),
        (("make", "nothing.txt", "--out", "a.html"), ("'nothing.txt'",)),
        (("make", "drinks.txt", "--out", "."), ("--out",)),
        (("make", "drinks.txt", "--out", "a.html", "--kind", "odd"), ("--kind",)),
        (("make", "drinks.txt", "--out", "a.html", "--kind", "choice"), ("--kind",)),
        (("make", "drinks.txt", "--out", "a.html", "--study", "a.toml"), ("'a.toml'",)),
        (("collect", "nothing"), ("'nothing'",)),
        (("collect", "answers"), ("contains no answers",)),
    ],
)
def test_what_is_refused(refused, folder, words, sentence):
    said(refused("field", *words), *sentence)


def test_sets_and_tasks_are_different_designs(refused, folder):
    said(refused("design", "tea", "rum", "milk", "--overlap", "balanced"), "--overlap")
    said(refused("design", "tea", "rum", "milk", "--spread", 1), "--power")
    for option in ("--versions", "--seed"):
        assert f"{option} applies to subsets of pairs or sets, or to tasks" in refused(
            "design", "tea", "rum", "milk", option, 3
        )
    said(refused("design", "a.csv", "--tasks", 4, "--size", 3), "--size", "--per-person")


@pytest.mark.long
def test_a_pilot_says_how_many_people_options_need(run, refused, folder, monkeypatch):
    """`--pilot` of options: each simulated study has the worths of one draw of that fit."""
    frame = pd.DataFrame(
        {"chosen": ["tea"] * 9 + ["milk"] * 6, "rejected": ["milk"] * 9 + ["rum"] * 6}
    )
    frame.to_csv("pairs.csv", index=False)
    few = ("--draws", 40, "--chains", 2, "--seed", 1)
    assert run("fit", "pairs.csv", "--model", "BTL", *few, "--out", "pilot").code == 0
    power, seen = th.designs.power, []

    def short(design, prior, *given, **settings):
        seen.append(prior)
        return power(design, prior, *given, **settings, simulations=10)

    monkeypatch.setattr(th.designs, "power", short)
    words = ("design", "tea", "milk", "rum", "--power", 20, "--seed", 1)
    assert run(*words, "--pilot", "pilot", "--out", "out").code == 0
    told = pd.read_csv(folder / "out" / "power.csv", index_col="respondents")
    pilot = th.load(folder / "pilot")
    assert seen[0].summary().equals(pilot.summary())
    wanted = power(
        th.paired.pair_design(["tea", "milk", "rum"]), pilot, 20, simulations=10, random_seed=1
    )
    pd.testing.assert_frame_equal(told, wanted, check_frame_type=False)
    assert "no worth for the option 'cocoa'" in refused(
        "design", "tea", "cocoa", "rum", "--power", 20, "--pilot", "pilot"
    )
