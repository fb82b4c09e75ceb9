"""What a fault of our own costs: a picture costs itself, a section costs itself, an answer leaves the fit on disk."""

import pytest

import thali as th
from thali import plots
from thali.cli.reports import maximum_likelihood
from thali.errors import IncompleteWarning
from thali.report import fitted

pytestmark = pytest.mark.fit  # pictures are drawn
FIT = ("fit", "celebrities", "--method", "maximum-likelihood", "--aspects", "unique")


def fails(*arguments, **more):
    raise ValueError("too many values")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_picture_costs_itself_alone(run, folder, monkeypatch):
    assert run(*FIT, "--out", "whole").code == 0
    monkeypatch.setattr(plots, "residuals", fails)
    found = run(*FIT, "--out", "lacking", "--report", "page.html")
    assert found.code == 0 and "log-likelihood" in found.out.lower()
    assert found.err.count("the picture residuals.png could not be made (ValueError: too many values)") == 1
    assert "the picture of the report with the caption" in found.err
    whole, lacking = ({path.name for path in (folder / name).iterdir()} for name in ("whole", "lacking"))
    assert whole - lacking == {"residuals.png"}
    assert "</html>" in (folder / "page.html").read_text()


def test_no_picture_costs_a_comparison_its_table(run, folder, monkeypatch):
    monkeypatch.setattr(plots, "comparison", fails)
    words = ("--method", "maximum-likelihood", "--models", "unique", "--out", "found")
    found = run("compare", "celebrities", *words)
    assert found.code == 0 and "What each model predicts" in found.out
    assert found.err.count("comparison.png could not be made") == 1
    assert {"comparison.csv", "predictions.csv"} <= {path.name for path in (folder / "found").iterdir()}
    assert "wrote the table, every prediction's scores to found." in found.err


def test_a_section_costs_itself_alone(folder, monkeypatch):
    model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(th.datasets.celebrities())
    monkeypatch.setattr(fitted, "content_of", fails)
    with pytest.warns(IncompleteWarning, match=r"the answer of the report could not be made \(ValueError"):
        th.report.report(model, folder / "report.html")
    page = (folder / "report.html").read_text()
    assert "thali met an error of its own and could not compute the answer" in page and "How sure" in page


def test_the_fit_outlives_an_answer_that_fails(run, folder, monkeypatch):
    monkeypatch.setattr(maximum_likelihood, "answer", fails)
    with pytest.raises(ValueError, match="too many values"):
        run(*FIT, "--out", "found")
    assert th.load(folder / "found" / "model.nc").predict_proba([("LBJ", "HW")])[0] > 0.5
