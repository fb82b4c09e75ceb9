"""`thali fit --people classes:N`: latent classes of people, from words on the command line to
files."""

import pandas as pd
import pytest
from helpers.sentences import said, says

RUN = ("--draws", 5, "--tune", 2, "--chains", 2, "--thin", 1, "--seed", 1)


@pytest.fixture(autouse=True)
def tables(folder):
    """Trials of four people, of whom two always choose what the others never do."""
    pairs = (("tea", "milk"), ("tea", "beer"), ("milk", "beer"))
    rows = [
        (f"p{k}", "mf"[k % 2], *pair, pair[k // 2])
        for k in range(4)
        for pair in pairs
        for _ in range(4)
    ]
    table = pd.DataFrame(rows, columns=["person", "sex", "left", "right", "chosen"])
    table.to_csv("people.csv", index=False)
    table.drop(columns=["person", "sex"]).to_csv("nobody.csv", index=False)


@pytest.mark.fit
def test_a_fit_prints_and_writes_its_answer(done, folder, uncompiled):
    words = ("--people", "classes:2:similar", "--respondent", "person", *RUN)
    result = done(
        "fit", "people.csv", *words, "--out", "found", "--report", "report.html", "--print", "all"
    )
    for sentence in (
        "Latent classes, largest first",
        "P(occupied)",
        "class_agreement",
        "Spread between respondents",
    ):
        assert sentence in result.out
    written = {path.name for path in (folder / "found").iterdir()}
    assert {
        "posterior.nc",
        "latent_classes.csv",
        "assignment.csv",
        "same_class.csv",
        "worths.csv",
    } <= written
    assert pd.read_csv(folder / "found" / "assignment.csv").iloc[:, 0].tolist() == [
        "p0",
        "p1",
        "p2",
        "p3",
    ]
    report = (folder / "report.html").read_text()
    says(report, "Which latent classes")
    assert "Stephens, 2000" in report


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["people.csv", "--respondent", "person", "--people", "classes:0"],
            ("classes", "1", "got 0"),
        ),
        (["people.csv", "--respondent", "person", "--people", "classes:9"], ("--people", "9")),
        (
            ["nobody.csv", "--people", "classes:2"],
            ("--people", "classes:2 requires data that say which respondent"),
        ),
        (["people.csv", "--group", "sex", "--people", "classes:2"], ("2 groups", "--people")),
        (
            ["celebrities", "--people", "classes:2"],
            ("--people", "classes:2 requires data that say which respondent"),
        ),
        (["numbers", "--people", "classes:2"], ("--people", "got LatentClasses", "2")),
    ],
)
def test_what_is_refused(refused, words, sentence):
    said(refused("fit", *words, *RUN), *sentence)
