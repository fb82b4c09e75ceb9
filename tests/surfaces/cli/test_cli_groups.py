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
        "--group",
        "sex",
        "--people",
        "groups:similar",
        "--tempering",
        "off",
        *RUN,
        "--out",
        "found",
        "--report",
        "report.html",
    )
    result = done("fit", "people.csv", *words, "--print", "all")
    says(result.err, "'sex'", "2 groups", "6 comparisons", "3 options")
    for sentence in (
        "Number of aspects",
        "vary between groups with a relative standard deviation of",
        "choice_probability[m][tea, milk]",
    ):
        assert sentence in result.out
    written = {path.name for path in (folder / "found").iterdir()}
    assert {"posterior.nc", "summary.csv", "features.csv", "check.csv", "trace.png"} <= written
    assert {"m", "f"} == set(pd.read_csv(folder / "found" / "check.csv")["group"])
    says((folder / "report.html").read_text(), "Do m and")


@pytest.mark.fit
@pytest.mark.parametrize(
    ("table", "column", "groups"), [("people.csv", "respondent", 4), ("nobody.csv", "sex", 2)]
)
def test_people_are_told_apart_by_a_column(done, uncompiled, table, column, groups):
    result = done("fit", table, "--group", column, "--model", "BTL", *RUN)
    assert f"by {column!r}: {groups} groups" in result.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["people.csv", "--group", "town"], ("'town'", "'a'", "--group")),
        (
            ["people.csv", "--group", "trial"],
            ("'sex'", "'town'"),
        ),
        (["nobody.csv", "--group", "trial"], ("'trial'",)),
        (
            ["people.csv", "--people", "groups:free"],
            ("--people",),
        ),
        (["celebrities", "--group", "sex"], ("--group",)),
    ],
)
def test_what_is_refused(refused, words, sentence):
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
        ("odd.csv", ["--models", "common,free:2"], "Held-out answers"),
    ],
)
def test_models_are_compared_by_group(done, sets, odd_ones, uncompiled, table, words, sentence):
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


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize(
    ("table", "words", "sentence"),
    [
        ("odd.csv", (), ("m: 18 answers, f: 18 answers), 4 objects", "Do m and f share")),
        (
            "odd.csv",
            ("--link", "ratio", "--people", "groups:similar"),
            ("constant[m]", "kappa"),
        ),
        pytest.param(
            "odd.csv",
            ("--people", "groups:common"),
            ("by 'sex': 2 groups",),
            marks=pytest.mark.long,
        ),
        (
            "people.csv",
            ("--covariate", "order", "--people", "groups:similar"),
            (
                "m: 6 comparisons, f: 6 comparisons",
                "Odds ratio for choosing the first option",
                "order",
            ),
        ),
    ],
)
def test_every_likelihood_goes_from_a_table_to_a_report(
    done, folder, odd_ones, uncompiled, table, words, sentence
):
    words = (
        "--group",
        "sex",
        *words,
        "--tempering",
        "off",
        *RUN,
        "--out",
        "found",
        "--report",
        "report.html",
    )
    result = done("fit", table, *words)
    for each in sentence:
        assert each in result.out + result.err + (folder / "report.html").read_text()
    written = {path.name for path in (folder / "found").iterdir()}
    assert {"posterior.nc", "summary.csv", "check.csv", "trace.png"} <= written
    if "groups:common" not in words:
        assert {"m", "f"} == set(pd.read_csv(folder / "found" / "check.csv")["group"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["people.csv", "--group", "sex", "--folds", 7], ("--folds", "pairs; use at most 6")),
        (
            ["people.csv", "--group", "sex", "--leave-out", "task"],
            ("must be pair",),
        ),
        (["people.csv", "--models", "similar"], ("similar",)),
        (["people.csv", "--group", "town"], ("'town'", "'a'", "--group")),
    ],
)
def test_what_compare_refuses(refused, words, sentence):
    said(refused("compare", *words, *RUN), *sentence)


@pytest.fixture
def similar(folder):
    """How similar three foods are to six people of either sex, a row a judgement; of one it is not
    known."""
    rng, rows = np.random.default_rng(4), []
    for person in range(6):
        for a, b in (("rice", "pear"), ("rice", "leek"), ("pear", "leek")):
            rows.append(
                (f"p{person}", "mf"[person % 2] if person < 5 else "", a, b, round(rng.random(), 2))
            )
    table = pd.DataFrame(rows, columns=["person", "sex", "item1", "item2", "similarity"])
    table.assign(lab="Ghent").to_csv("similar.csv", index=False)


@pytest.mark.long
@pytest.mark.fit
def test_similarities_are_split_by_a_column(done, similar, uncompiled):
    words = ["--features", 2, "--draws", 8, "--tune", 4, "--chains", 2, "--thin", 1, "--seed", 1]
    result = done("fit", "similar.csv", "--group", "sex", *words, "--print", "all")
    says(result.err, "'sex'", "2 groups", "3 similarities", "3 objects")
    assert "weight[m]" in result.out and "constant[f]" in result.out  # the judgements tell sigma


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--group", "lab"], ("'lab'", "'Ghent'", "--group")),
        (["--group", "sez"], ("'sez'",)),
        (["--group", "sex", "--people", "groups:common"], ("--people",)),
    ],
)
def test_groups_of_similarities_that_are_refused(refused, similar, words, sentence):
    said(refused("fit", "similar.csv", *words), *sentence)
