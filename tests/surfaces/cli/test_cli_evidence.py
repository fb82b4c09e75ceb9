"""`thali compare --by evidence`: what it prints, writes and refuses."""

import math

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import said, says
from helpers.watched_runs import find_evidence_by

from thali._posterior.convergence_check import ConvergenceCheck
from thali._posterior.log_evidence import LogEvidence
from thali.errors import Message

TEA = (
    "chosen,rejected,count\ntea,coffee,12\ncoffee,tea,8\ntea,milk,15\nmilk,coffee,4\n"
    "coffee,milk,9\n"
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A table of choices, and evidence by the number of aspects in place of any computation."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tea.csv").write_text(TEA)
    runs: list = []
    stops: list = []

    def found(model, data, how):
        if stops:
            raise KeyboardInterrupt
        runs.append(how)
        if len(runs) == 1 and (tmp_path / "stop").exists():
            stops.append(True)
        value = -20.0 if model.aspects == "unique" else -25.0
        path = pd.DataFrame(
            {"inverse_temperature": [1.0, 0.1, 0.0], "log_likelihood": [-3.0, -5.0, -9.0]}
        )
        path = path.assign(
            log_likelihood_sd=1.0, log_evidence=[value, -0.7, 0.0], swap_rate=[0.5, 0.4, math.nan]
        )
        frame = pd.DataFrame(
            {"log_evidence": [value + 9], "std_error": [0.1], "difference": [9.0]}, ["alpha"]
        )
        sentence = ConvergenceCheck(True, {}, Message("It agrees."))
        return LogEvidence(
            value, 0.1, 11.0, sentence, np.array([value]), path, frame if how.sensitivity else None
        )

    find_evidence_by(monkeypatch, found)
    return runs


def test_prints_the_table_and_what_it_says(done, folder):
    result = done(
        *"compare tea.csv --by evidence --draws 300 --seed 4 --models unique,two=2 --print"
        " all".split()
    )
    assert ["two", "-25.000", "0.100", "0.007", "5.000", "0.141", "strong"] in map(
        str.split, result.out.splitlines()
    )
    says(result.out, "-20.00", "'unique' has the")
    assert [how.draws for how in folder] == [300, 300]
    assert [how.chains for how in folder] == [12, 12]


@pytest.mark.fit
def test_writes_tables_pictures_and_the_report(run, tmp_path):
    assert (
        run(*"compare tea.csv --by evidence --sensitivity --out found --tables csv,md".split()).code
        == 0
    )
    names = {path.name for path in (tmp_path / "found").iterdir()}
    tables = ("comparison", "temperatures", "sensitivity")
    assert names == {f"{name}.{kind}" for name in tables for kind in ("csv", "md")} | {
        "report.html",
        "job",
    }
    table = pd.read_csv(tmp_path / "found" / "comparison.csv", index_col=0)
    assert table.loc["inferred aspects", "log_evidence"] == -25.0


@pytest.mark.fit
def test_a_stopped_one_goes_on(run, folder, tmp_path):
    """The first model is kept, the second is found by resume; then the folder holds the whole."""
    how = "compare tea.csv --by evidence --models unique,two=2 --draws 300 --seed 4".split()
    (tmp_path / "stop").touch()
    stopped = run(*how, "--out", "found", "--print", "all")
    assert stopped.code == 130
    says(stopped.err, "1", "2 models", "'found'")
    says(stopped.out, "is not available yet")
    assert "comparison by evidence: stopped\n1 of 2 models (50 %)\n" in run("status", "found").out


@pytest.mark.fit
def test_a_comparison_by_evidence_is_resumed_reported_and_refused(run, refused, folder, tmp_path):
    how = "compare tea.csv --by evidence --draws 300 --seed 4 --out found --models".split()
    assert run(*how, "unique").code == 0
    assert run(*how, "unique,two=2").code == 0 and len(folder) == 2
    again = run("resume", "found")
    assert again.code == 0 and len(folder) == 2 and "two" in again.out
    assert "comparison by evidence: finished\n2 of 2 models (100 %)" in run("status", "found").out
    (tmp_path / "found" / "report.html").unlink()
    assert run("report", "found").code == 0 and "two" in (
        tmp_path / "found" / "report.html"
    ).read_text("utf-8")
    said(refused(*how, "unique,two=2", "--sensitivity"), "--no-sensitivity")
    assert run(*how, "unique,two=2", "--sensitivity", "--overwrite").code == 0 and len(folder) == 4


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--by", "luck"], ("--by", "'luck'")),
        (["--by", "evidence", "--folds", 3], ("--folds",)),
        (["--by", "evidence", "--leave-out", "pair"], ("--leave-out",)),
        (["--by", "prediction", "--sensitivity"], ("--sensitivity", "--by")),
        (
            ["--by", "evidence", "--method", "maximum-likelihood", "--models", "unique"],
            ("no evidence",),
        ),
    ],
)
def test_mistakes(refused, words, sentence):
    said(refused("compare", "tea.csv", *words), *sentence)
