"""`thali fit --group`: people split by a column, from words on the command line to files."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import said, says

RUN = ("--draws", 5, "--tune", 2, "--chains", 2, "--thin", 1, "--seed", 1)


@pytest.fixture(autouse=True)
def tables(folder):
    """Trials of four people, two of either sex."""
    rng, rows = np.random.default_rng(1), []
    for person in range(4):
        for first, second in (("tea", "milk"), ("tea", "beer"), ("milk", "beer")):
            chosen = (first, second)[rng.integers(2)]
            rows.append((f"p{person}", "mf"[person % 2], "a", len(rows), first, second, chosen))
    columns = ["respondent", "sex", "town", "trial", "left", "right", "chosen"]
    pd.DataFrame(rows, columns=columns).to_csv("people.csv", index=False)
    pd.DataFrame(rows, columns=columns).drop(columns="respondent").to_csv("nobody.csv", index=False)


@pytest.mark.fit
def test_a_fit_prints_and_writes_its_answer(done, folder, uncompiled):
    words = (
        *"--group sex --people groups:similar".split(),
        *RUN,
        *"--out found --report report.html".split(),
    )
    result = done("fit", "people.csv", *words, "--print", "all")
    says(result.err, "'sex'", "2 groups", "6 comparisons", "3 options")
    for sentence in ("Spread between groups", "log_worth[m, tea]"):
        assert sentence in result.out
    written = {path.name for path in (folder / "found").iterdir()}
    assert {"posterior.nc", "summary.csv", "worths.csv", "check.csv", "trace.png"} <= written
    assert {"m", "f"} == set(pd.read_csv(folder / "found" / "check.csv")["group"])
    says((folder / "report.html").read_text(), "How strongly do m and f")


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize(
    ("table", "column", "groups"), [("people.csv", "respondent", 4), ("nobody.csv", "sex", 2)]
)
def test_people_are_told_apart_by_a_column(done, uncompiled, table, column, groups):
    result = done("fit", table, "--group", column, "--model", "BTL", *RUN)
    assert f"by {column!r}: {groups} groups" in result.err


@pytest.mark.first(5)
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["people.csv", "--group", "town"], ("'town'", "'a'", "--group")),
        (["people.csv", "--group", "trial"], ("'sex'", "'town'")),
        (["nobody.csv", "--group", "trial"], ("'trial'",)),
        (["people.csv", "--people", "groups:free"], ("--people",)),
        (["celebrities", "--group", "sex"], ("--group",)),
        (["people.csv", "--group", "sex", "--model", "EBA"], ("--group", "elimination-by-aspects")),
        (["people.csv", "--model", "EBA", "--people", "groups:common"], ("--people",)),
        (["people.csv", "--model", "EBA", "--people", "individuals"], ("--people",)),
        (["odd.csv", "--group", "sex"], ("--group", "bradley-terry-luce")),
    ],
)
def test_what_is_refused(refused, odd_ones, words, sentence):
    said(refused("fit", *words, *RUN), *sentence)


@pytest.fixture
def sets(folder):
    """Choices out of two to four drinks by six people of either sex, a row an alternative."""
    rng, rows = np.random.default_rng(2), []
    for task in range(24):
        offered = rng.choice(["tea", "milk", "beer", "cocoa"], 2 + task % 3, replace=False)
        chosen = rng.choice(offered)
        rows += [
            (f"p{task % 6}", "mf"[task % 2], task, item, int(item == chosen)) for item in offered
        ]
    pd.DataFrame(rows, columns=["person", "sex", "task", "item", "chosen"]).to_csv(
        "sets.csv", index=False
    )


@pytest.mark.long
@pytest.mark.fit
def test_choices_out_of_sets_are_split_by_a_column(done, sets, uncompiled):
    result = done("fit", "sets.csv", "--group", "sex", *RUN, "--print", "all")
    says(result.err, "'sex'", "2 groups", "12 choices", "4 options")
    assert "log_worth[m, tea]" in result.out


@pytest.mark.fit
@pytest.mark.parametrize(
    ("table", "words", "sentence"),
    [
        ("people.csv", ["--models", "similar:BTL"], "6 fits: each"),
        (
            "people.csv",
            ["--leave-out", "respondent", "--models", "plain=free:BTL"],
            "choices of new",
        ),
        ("sets.csv", ["--models", "common:BTL,free:BTL", "--folds", 2], "Held-out choices"),
    ],
)
def test_models_are_compared_by_group(done, sets, uncompiled, table, words, sentence):
    result = done("compare", table, "--group", "sex", "--by", "prediction", *words, *RUN)
    assert sentence in result.out + result.err


@pytest.fixture
def odd_ones(folder):
    """The odd one out of three foods, by six people of either sex."""
    rng, rows = np.random.default_rng(3), []
    for number in range(36):
        three = rng.choice(["tea", "milk", "beer", "cocoa"], 3, replace=False)
        rows.append((f"p{number % 6}", "mf"[number % 2], *three, rng.choice(three)))
    columns = ["person", "sex", "object1", "object2", "object3", "odd"]
    pd.DataFrame(rows, columns=columns).to_csv("odd.csv", index=False)


@pytest.mark.first(3)
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["people.csv", "--group", "sex", "--folds", 7], ("--folds", "pairs; use at most 6")),
        (["people.csv", "--group", "sex", "--leave-out", "task"], ("must be pair",)),
        (["people.csv", "--models", "similar"], ("similar",)),
        (["people.csv", "--group", "sex", "--models", "free:ibp"], ("'free:ibp'", "worths")),
        (["odd.csv", "--group", "sex"], ("--group", "triplets")),
        (["people.csv", "--group", "town"], ("'town'", "'a'", "--group")),
    ],
)
def test_what_compare_refuses(refused, odd_ones, words, sentence):
    said(refused("compare", *words, *RUN), *sentence)
