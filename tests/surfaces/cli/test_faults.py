"""What a fault of our own costs: a picture costs itself, a section costs itself, an answer leaves
the fit on disk."""

import pytest
from helpers.sentences import says

import thali as th
from thali import plots

pytestmark = pytest.mark.fit  # pictures are drawn
FIT = ("fit", "celebrities", "--method", "maximum-likelihood", "--aspects", "unique")


def fails(*arguments, **more):
    raise ValueError("too many values")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fail_to_draw(monkeypatch, name):
    """A picture cannot be made."""
    monkeypatch.setattr(plots, name, fails)


def test_a_picture_costs_itself_alone(run, folder, monkeypatch):
    assert run(*FIT, "--out", "whole", "--print", "all").code == 0
    fail_to_draw(monkeypatch, "predictions")
    found = run(*FIT, "--out", "lacking", "--report", "page.html", "--print", "all")
    assert found.code == 0 and "log-likelihood" in found.out.lower()
    assert found.err.count("choice_probabilities.png") == 1
    says(found.err, "choice_probabilities.png", "ValueError: too many values")
    says(found.err, "the report figure captioned")
    whole, lacking = (
        {path.name for path in (folder / name).iterdir()} for name in ("whole", "lacking")
    )
    assert whole - lacking == {"choice_probabilities.png"}
    assert "</html>" in (folder / "page.html").read_text()


def test_no_picture_costs_a_comparison_its_table(run, folder, monkeypatch):
    fail_to_draw(monkeypatch, "comparison")
    words = ("--method", "maximum-likelihood", "--models", "unique", "--out", "found")
    found = run("compare", "celebrities", *words, "--print", "all")
    assert found.code == 0 and "Scores for predictions" in found.out
    assert found.err.count("comparison.png") == 1
    assert {"comparison.csv", "predictions.csv"} <= {
        path.name for path in (folder / "found").iterdir()
    }
    says(found.err, "wrote the tables")


def with_residuals(residuals):
    """The class of elimination whose residuals are computed by this function."""

    class EliminationByAspects(th.EliminationByAspects):
        @property
        def maximum_likelihood(self):
            estimates = super().maximum_likelihood
            estimates.residuals = residuals
            return estimates

    return EliminationByAspects


def test_an_answer_costs_itself_alone(run, folder, stand_in):
    stand_in("elimination-by-aspects", with_residuals(fails))
    found = run(*FIT, "--out", "found", "--report", "page.html", "--print", "all")
    assert found.code == 0
    says(found.out, "ValueError")
    says(found.err, "'residuals'", "ValueError")
    assert "Utility scale" in found.out and (folder / "found" / "utility_scale.csv").exists()
    page = (folder / "page.html").read_text()
    says(page, "This result could not")
    assert "Utility scale" in page
    assert th.load(folder / "found" / "model.nc").predict_proba([("LBJ", "HW")])[0] > 0.5


def test_the_fit_outlives_a_ctrl_c_while_answers_are_computed(run, folder, stand_in):
    def stopped(*arguments):
        raise KeyboardInterrupt

    stand_in("elimination-by-aspects", with_residuals(stopped))
    assert run(*FIT, "--out", "found").code == 130
    assert th.load(folder / "found" / "model.nc").predict_proba([("LBJ", "HW")])[0] > 0.5


@pytest.mark.long
@pytest.mark.rendered
def test_pictures_are_written_in_other_formats(run, done, folder):
    assert run(*FIT, "--out", "found", "--pictures", "svg,PDF", "--tables", "xlsx").code == 0
    written = {path.name for path in (folder / "found").iterdir()}
    assert {"choice_probabilities.svg", "choice_probabilities.pdf", "tables.xlsx"} <= written
    assert not {name for name in written if name.endswith((".png", ".csv"))}
    done(*FIT, "--out", "again", "--pictures", "svg,pdf")
    for name in ("choice_probabilities.svg", "choice_probabilities.pdf"):
        assert (folder / "found" / name).read_bytes() == (folder / "again" / name).read_bytes()
    says(run(*FIT, "--out", "x", "--pictures", "jpg").err, "--pictures", "'jpg'")
    says(run(*FIT, "--pictures", "svg").err, "--pictures", "--out")
