"""`thali fit --group`: people split by a column, from words on the command line to files."""

import numpy as np
import pandas as pd
import pytest

RUN = ("--draws", 8, "--tune", 4, "--chains", 2, "--thin", 1, "--seed", 1)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Trials of four people, two of either sex."""
    monkeypatch.chdir(tmp_path)
    rng, rows = np.random.default_rng(1), []
    for person in range(4):
        for first, second in (("tea", "milk"), ("tea", "beer"), ("milk", "beer")):
            chosen = (first, second)[rng.integers(2)]
            rows.append((f"p{person}", "mf"[person % 2], "a", len(rows), first, second, chosen))
    columns = ["subject", "sex", "town", "trial", "left", "right", "chosen"]
    pd.DataFrame(rows, columns=columns).to_csv("people.csv", index=False)
    pd.DataFrame(rows, columns=columns).drop(columns="subject").to_csv("nobody.csv", index=False)
    return tmp_path


@pytest.mark.fit
def test_a_fit_prints_and_writes_its_answer(run, folder, uncompiled):
    words = ("--group", "sex", "--weights", "similar", *RUN, "--out", "found", "--report", "report.html")
    result = run("fit", "people.csv", *words)
    assert result.code == 0, result.err
    assert "by 'sex': 2 groups: 'm' (6 comparisons), 'f' (6 comparisons); 3 options" in result.err
    for said in ("Number of aspects", "Similarity of the groups, kappa", "choice_probability[m][tea, milk]"):
        assert said in result.out
    written = {path.name for path in (folder / "found").iterdir()}
    assert {"posterior.nc", "summary.csv", "features.csv", "check.csv", "trace.png"} <= written
    assert {"m", "f"} == set(pd.read_csv(folder / "found" / "check.csv")["group"])
    assert "Do m and f attend to the same aspects" in (folder / "report.html").read_text()


@pytest.mark.fit
@pytest.mark.parametrize(("table", "column", "groups"), [("people.csv", "subject", 4), ("nobody.csv", "sex", 2)])
def test_people_are_told_apart_by_a_column(run, uncompiled, table, column, groups):
    result = run("fit", table, "--group", column, "--aspects", "unique", *RUN)
    assert result.code == 0, result.err
    assert f"by {column!r}: {groups} groups" in result.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["people.csv", "--group", "town"], "Column 'town' holds 'a' alone; leave out --group."),
        (["people.csv", "--group", "trial"], "no column 'trial' that is the same in all rows of each person"),
        (["nobody.csv", "--group", "trial"], "Column 'trial' has another value in every row"),
        (["people.csv", "--weights", "free"], "--weights is for several groups of people"),
        (["people.csv", "--group", "sex", "--sampler", "paper"], "--sampler paper knows no groups"),
        (["celebrities", "--group", "sex"], "--group is about a file"),
    ],
)
def test_what_is_refused(run, words, sentence):
    result = run("fit", *words, *RUN)
    assert result.code == 2 and sentence in result.err and not result.out
