"""`thali amce`: one screen, tables, pictures, report, and `thali show`."""

import re

import pandas as pd
import pytest
from helpers.conjoint_studies import simulate_conjoint
from helpers.sentences import said

pytestmark = pytest.mark.fit
FILES = {"study.csv": simulate_conjoint(80, seed=21).to_csv(index=False)}
FILES["ratings.csv"] = simulate_conjoint(40, seed=22).drop(columns="selected").to_csv(index=False)
BY_PARTY = ("study.csv", "--by", "resp_party", "--weights", "weight")


@pytest.mark.first(1)
@pytest.mark.parametrize("words", [("study.csv",), BY_PARTY, ("study.csv", "--repeated", "1,2")])
def test_everything_is_on_one_screen(run, refused, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    if "--repeated" in words:
        said(refused("amce", *words), "different profiles")
        return
    screen = run("amce", *words).out
    lines = screen.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    said(screen, "80 respondents", "95 % interval" if len(words) == 1 else "all differences: F(9,")
    for label in ("Effects", "Balance", "Levels", "Order", "Tasks", "Sides"):
        assert sum(line.startswith(label) for line in lines) == 1


@pytest.mark.first(1, "4")
@pytest.mark.parametrize("n_groups", [2, 4, 5, 7])
def test_the_screen_has_all_groups(run, monkeypatch, n_groups):
    monkeypatch.setenv("COLUMNS", "80")
    frame = simulate_conjoint(80, seed=21).rename(
        columns={"Education": "education of the candidate"}
    )
    numbers = frame["ResponseId"].str[2:].astype(int) % n_groups
    names = [f"Group {k} of all" for k in range(n_groups)]
    frame.assign(area=numbers.map(dict(enumerate(names)))).to_csv("areas.csv", index=False)
    screen = run("amce", "areas.csv", "--by", "area").out
    lines, text = screen.splitlines(), " ".join(screen.split())
    head, row = lines[(start := [" level " in line for line in lines].index(True)) : start + 2]
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    shown_names = re.findall(r"Gro\S*…\S* of all|Group \d of all|\b\d\b", head)
    assert len(shown_names) == n_groups
    if n_groups > 4:
        assert f"1 {names[0]}, 2 {names[1]}, 3 {names[2]}" in text
    assert len(re.findall(r"-?\d\.\d\d\b", row)) == (6 if n_groups == 2 else n_groups)
    assert "The complete table has all intervals" in text


@pytest.mark.long
def test_the_folder_has_tables_and_pictures_that_show_reads(run, folder):
    run("amce", *BY_PARTY, "--out", "results", "--report", "page.html")
    written = {file.name for file in (folder / "results").iterdir()}
    assert written == {
        *("amce.csv", "amce.png", "amce.nc", "amce_differences.csv", "command.json"),
        *("marginal_means.csv", "marginal_means.png", "mean_differences.csv"),
    }
    table = pd.read_csv(folder / "results" / "amce.csv")
    assert list(table.columns)[:8] == [
        *("attribute", "level", "group", "baseline", "estimate", "low", "high", "std_error")
    ]
    page = (folder / "page.html").read_text("utf-8")
    for text in ("Marginal means", "Hainmueller, Hopkins", "thali amce study.csv", "<svg"):
        assert text in page
    assert "all differences: F(9," in run("show", "results").out
    assert "Right" in run("show", "results", "mean_differences").out
    run("report", "results")
    assert (folder / "results" / "report.html").exists()


def test_the_folder_of_another_table_is_kept(run, refused):
    run("amce", "study.csv", "--out", "results")
    run("amce", "study.csv", "--out", "results", "--ci", "0.9")
    said(refused("amce", "ratings.csv", "--outcome", "rating", "--out", "results"), "study.csv")


def test_options_have_the_settings_of_python(run):
    run(
        *("amce", "study.csv", "--baseline", "Job=Farmer,Age=50", "--restriction", "Job,Education"),
        *("--ci", "0.9", "--outcome", "selected", "--out", "results"),
    )
    table = pd.read_csv("results/amce.csv").set_index(["attribute", "level"])
    assert table.loc[("Job", "Doctor"), "baseline"] == "Farmer"
    assert "Education and Job" in run("show", "results", "restrictions").out
    assert "90 % interval" in run("show", "results", "amce").out


def test_ratings_need_no_choices(run, refused):
    said(refused("amce", "ratings.csv"), "ratings.csv", "--chosen")
    assert "rating" in run("amce", "ratings.csv", "--outcome", "rating").err


@pytest.mark.first(3, "words3-facts3")
@pytest.mark.parametrize(
    "words, facts",
    [
        (("--by", "weight"), ("'weight'", "--by")),
        (("--ci", "95"), ("--ci", "95")),
        (("--baseline", "Job=King"), ("--baseline", "'King'")),
        (("--restriction", "Job"), ("--restriction", "two attributes")),
        (("--weights", "resp_party"), ("--weights", "numbers")),
        (("--repeated", "1,9"), ("--repeated", "'9'")),
    ],
)
def test_mistakes_are_one_sentence(refused, words, facts):
    said(refused("amce", "study.csv", *words, "--out", "results"), *facts)


def test_the_papers_are_cited(run):
    for key in ("hainmueller2014", "leeper2020", "clayton2023", "bell2002", "pustejovsky2018"):
        assert f"{{{key}," in run("cite", "amce").out
