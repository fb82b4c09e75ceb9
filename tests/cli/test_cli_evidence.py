"""`thali compare --by evidence`: what it prints, writes and refuses."""

import math

import numpy as np
import pandas as pd
import pytest

from thali.errors import Message
from thali.model.latent_features.evidence import LatentFeatureEvidence
from thali.posterior.evidence import LogEvidence
from thali.posterior.verdict import Verdict

TEA = "chosen,rejected,count\ntea,coffee,12\ncoffee,tea,8\ntea,milk,15\nmilk,coffee,4\ncoffee,milk,9\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A table of choices, and evidence by the number of aspects in place of any computation."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tea.csv").write_text(TEA)
    runs = []

    def found(model, data, how):
        runs.append(how)
        value = -20.0 if model.aspects == "unique" else -25.0
        path = pd.DataFrame({"inverse_temperature": [1.0, 0.1, 0.0], "log_likelihood": [-3.0, -5.0, -9.0]})
        path = path.assign(log_likelihood_sd=1.0, log_evidence=[value, -0.7, 0.0], swap_rate=[0.5, 0.4, math.nan])
        frame = pd.DataFrame({"log_evidence": [value + 9], "standard_error": [0.1], "difference": [9.0]}, ["alpha"])
        said = Verdict(True, {}, Message("It agrees."))
        return LogEvidence(value, 0.1, 11.0, said, np.array([value]), path, frame if how.sensitivity else None)

    monkeypatch.setattr(LatentFeatureEvidence, "_evidence_of", found)
    return runs


def test_prints_the_table_and_what_it_says(run, folder):
    result = run("compare", "tea.csv", "--by", "evidence", "--draws", 300, "--seed", 4, "--models", "unique,two=2")
    assert result.code == 0
    assert ["two", "-25.000", "0.100", "0.007", "5.000", "0.141", "strong"] in map(str.split, result.out.splitlines())
    assert "unique has the greatest evidence (log -20.00" in result.out
    assert [how.draws for how in folder] == [300, 300]
    assert [how.chains for how in folder] == [12, 12]


@pytest.mark.fit
def test_writes_tables_pictures_and_the_report(run, tmp_path):
    assert (
        run("compare", "tea.csv", "--by", "evidence", "--sensitivity", "--out", "found", "--tables", "csv,md").code == 0
    )
    names = {path.name for path in (tmp_path / "found").iterdir()}
    tables = ("comparison", "temperatures", "sensitivity")
    assert names == {f"{name}.{kind}" for name in tables for kind in ("csv", "md")} | {
        "evidence.png",
        "temperatures.png",
        "report.html",
    }
    table = pd.read_csv(tmp_path / "found" / "comparison.csv", index_col=0)
    assert table.loc["unique", "log_evidence"] == -20.0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--by", "luck"], "--by must be one of prediction, evidence; got 'luck'"),
        (["--by", "evidence", "--folds", 3], "--folds is for a comparison by prediction"),
        (["--by", "evidence", "--leave-out", "pair"], "--leave-out is for a comparison by prediction"),
        (["--sensitivity"], "--sensitivity goes with --by evidence"),
        (["--by", "evidence", "--method", "maximum-likelihood", "--models", "unique"], "whose evidence is not known"),
    ],
)
def test_mistakes(run, words, said):
    result = run("compare", "tea.csv", *words)
    assert result.code == 2
    assert said in result.err
