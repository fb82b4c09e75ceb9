"""`--where`: rows that are left out, in every command that reads a table."""

import html
import itertools

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import said, says

from thali._inference.job_folders import read_index

FOODS = ("tea", "milk", "juice")
ML = ("--method", "maximum-likelihood")
MAIN = ("--where", "block == 'main'")


@pytest.fixture(autouse=True)
def tables(folder):
    """A log of trials with a block of practice in which everybody presses left."""
    rng = np.random.default_rng(3)
    rows = [
        (
            person,
            "old" if person < 4 else "young",
            block,
            a,
            b,
            "left" if block == "practice" or rng.random() < p else "right",
        )
        for person in range(8)
        for block in ("practice", "main", "main")
        for (a, b), p in zip(itertools.combinations(FOODS, 2), (0.6, 0.4, 0.5), strict=True)
    ]
    frame = pd.DataFrame(
        rows, columns=["respondent", "age", "block", "left", "right", "choice"]
    ).assign(expName="tea")
    frame.to_csv(folder / "trials.csv", index=False)
    frame[frame["block"] == "main"].to_csv(folder / "main.csv", index=False)


LEFT_OUT = "48 of 72 rows kept where block == 'main'"
NOTICED = (
    "thali: warning: The data include 24 rows in which 'block' is 'practice'; exclude such rows"
    " with --where \"block != 'practice'\".\n"
)


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize(
    "words",
    [
        ("fit", ML),
        ("leaderboard", ML),
        ("test agreement", ("--without", "respondent")),
        ("test circular", ()),
    ],
)
def test_the_answer_is_that_of_a_table_without_these_rows(run, words):
    command, options = words[0].split(), words[1]
    done = run(*command, "trials.csv", *options, *MAIN, "--print", "all")
    assert done.code == 0 and LEFT_OUT in done.err and "warning" not in done.err, done.err
    part = run(*command, "main.csv", *options, "--print", "all")
    assert done.out == part.out and part.code == 0
    whole = run(*command, "trials.csv", *options, "--print", "all")
    assert whole.out != done.out and NOTICED in whole.err and whole.err.count("practice") == 2


QUICK = ("--draws", "20", "--tune", "10", "--chains", "2", "--cores", "1", "--seed", "1")


@pytest.mark.long
@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize(
    "command", [("fit", "--aspects", "unique"), ("compare", "--models", "unique")]
)
def test_a_job_that_goes_on_leaves_out_the_same_rows(run, refused, folder, command):
    more = ("--where", "left != milk")
    words = (command[0], "trials.csv", *command[1:], *QUICK, *MAIN)
    first = run(*words, *more, "--out", "results")
    sentence = "32 of 72 rows kept where block == 'main' and left != 'milk'"
    assert first.code == 0 and sentence in first.err, first.err
    index = read_index(folder / "results" / "job")
    assert index is not None and index["command"]["arguments"]["typed"]["where"] == [
        "block == 'main'",
        "left != milk",
    ]
    again = run("resume", "results")
    assert again.code == 0 and again.out == first.out and sentence in again.err
    assert "data" in refused(*words, "--out", "results").splitlines()[-1]


@pytest.mark.fit
def test_a_command_is_written_as_it_was_typed(done, folder):
    done(
        "fit",
        "trials.csv",
        *ML,
        "--where",
        "block == 'main'",
        "--where",
        "left != milk",
        "--report",
        "page.html",
    )
    page = html.unescape((folder / "page.html").read_text("utf-8"))
    said(
        page.partition("thali fit ")[2].partition("<")[0],
        "trials.csv",
        "'block == '",
        '"\'"',
        "'main'",
        "--where '",
    )


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (("trials.csv", "--where", "blok == 1"), ("trials.csv", "--where (blok == 1)", "'blok'")),
        (("trials.csv", "--where", "block = main"), ("--where", "'block = main'", "character 7")),
        (("absent.csv", "--where", "block"), ("--where", "'block'")),
        (("trials.csv", "--where", "block > 2"), ("trials.csv", "--where (block > 2)", "'block'")),
        (("trials.csv", *MAIN, "--where", "age == odl"), ("72", "'age'", "'old' and 'young'")),
        (("celebrities", *MAIN), ("--where", "celebrities")),
    ],
)
@pytest.mark.parametrize("command", ["fit", "compare", "test agreement", "leaderboard"])
def test_mistakes_are_answered_in_one_sentence_before_anything_is_computed(
    refused, command, words, facts
):
    error = refused(*command.split(), *words, "--out", "results")
    said(error, *facts)
    assert error.startswith("thali: error: ") and error.count("\n") == 1, error


@pytest.mark.fit
def test_the_kind_of_a_table_is_that_of_the_rows_that_count(run, refused, folder):
    pressed = (
        (folder / "trials.csv")
        .read_text()
        .replace("practice,tea,milk,left", "practice,tea,milk,space")
    )
    (folder / "pressed.csv").write_text(pressed)
    assert "'space' in row 2" in refused("fit", "pressed.csv", *ML)
    done = run("fit", "pressed.csv", *ML, *MAIN, "--print", "all")
    assert (
        done.code == 0
        and LEFT_OUT in done.err
        and done.out == run("fit", "main.csv", *ML, "--print", "all").out
    )


def test_columns_of_people_are_those_that_tell_them_apart(run):
    done = run("test", "circular", "main.csv")
    says(done.err, "48 comparisons", "respondent columns: ", "'age'")
    done = run("test", "circular", "main.csv", "--where", "age == old")
    says(done.err, "24 comparisons", "4 respondents")
