"""What a fault of our own costs: a picture costs itself, a section costs itself, an answer leaves the fit on disk."""

import pytest

import thali as th
from thali import plots
from thali._aspects.findings import maximum_likelihood as findings
from thali._model.finding import BRIEF, Maker

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
    monkeypatch.setattr(plots, "utility_scale", fails)
    found = run(*FIT, "--out", "lacking", "--report", "page.html")
    assert found.code == 0 and "log-likelihood" in found.out.lower()
    assert found.err.count("the picture utility_scale.png could not be made (ValueError: too many values)") == 1
    assert "the picture of the report with the caption" in found.err
    whole, lacking = ({path.name for path in (folder / name).iterdir()} for name in ("whole", "lacking"))
    assert whole - lacking == {"utility_scale.png"}
    assert "</html>" in (folder / "page.html").read_text()


def test_no_picture_costs_a_comparison_its_table(run, folder, monkeypatch):
    monkeypatch.setattr(plots, "comparison", fails)
    words = ("--method", "maximum-likelihood", "--models", "unique", "--out", "found")
    found = run("compare", "celebrities", *words)
    assert found.code == 0 and "What each model predicts" in found.out
    assert found.err.count("comparison.png could not be made") == 1
    assert {"comparison.csv", "predictions.csv"} <= {path.name for path in (folder / "found").iterdir()}
    assert "wrote the tables to found." in found.err


def test_an_answer_costs_itself_alone(run, folder, monkeypatch):
    others = [each for each in findings.MAKERS if each.key != "residuals"]
    monkeypatch.setattr(findings, "MAKERS", (*others, Maker("residuals", "What does it predict worst?", BRIEF, fails)))
    found = run(*FIT, "--out", "found", "--report", "page.html")
    assert found.code == 0 and "This could not be computed: ValueError: too many values." in found.out
    assert "the answer 'residuals' could not be computed (ValueError: too many values)" in found.err
    assert "Utility scale" in found.out and (folder / "found" / "utility_scale.csv").exists()
    page = (folder / "page.html").read_text()
    assert "This could not be computed" in page and "Utility scale" in page
    assert th.load(folder / "found" / "model.nc").predict_proba([("LBJ", "HW")])[0] > 0.5


def test_the_fit_outlives_a_ctrl_c_while_answers_are_computed(run, folder, monkeypatch):
    def stopped(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(findings, "MAKERS", (Maker("residuals", "What does it predict worst?", BRIEF, stopped),))
    assert run(*FIT, "--out", "found").code == 130
    assert th.load(folder / "found" / "model.nc").predict_proba([("LBJ", "HW")])[0] > 0.5


@pytest.mark.rendered
def test_pictures_are_written_in_other_formats(run, done, folder):
    assert run(*FIT, "--out", "found", "--pictures", "svg,PDF", "--tables", "xlsx").code == 0
    written = {path.name for path in (folder / "found").iterdir()}
    assert {"utility_scale.svg", "utility_scale.pdf", "tables.xlsx"} <= written
    assert not {name for name in written if name.endswith((".png", ".csv"))}
    done(*FIT, "--out", "again", "--pictures", "svg,pdf")
    for name in ("utility_scale.svg", "utility_scale.pdf"):
        assert (folder / "found" / name).read_bytes() == (folder / "again" / name).read_bytes()
    assert "--pictures must be some of png, svg, pdf; got 'jpg'." in run(*FIT, "--out", "x", "--pictures", "jpg").err
    assert "--pictures is about the files of --out DIR" in run(*FIT, "--pictures", "svg").err
