"""Which models are compared: those with a tick; how long it may take."""

import re

import pytest
from helpers import watched_runs
from helpers.combinations import TABLES
from helpers.sentences import said
from test_who_answered import EXPERIMENT

import thali._surfaces.app.background_runs as runs
import thali._surfaces.app.comparison_candidates as comparisons
from thali._data.kinds import CHOICES, CLASSES, EXPERIMENTS, PAIRS, SIMILARITIES, TRIPLETS
from thali._surfaces.app.comparison_candidates import select_ticked
from thali._surfaces.app.study_folders import COMPARE, EVIDENCE, FIT, Studies

DRINKS = (
    b"winner,loser,times\ntea,milk,3\nmilk,tea,1\ntea,beer,2\nbeer,milk,2\nmilk,beer,1\n"
    b"beer,tea,1\n"
)
FITS = {
    **dict.fromkeys((PAIRS, CHOICES), "elimination-by-aspects"),
    **dict.fromkeys((SIMILARITIES, TRIPLETS), "additive-clustering"),
    **{EXPERIMENTS: "multinomial-logit", CLASSES: "plackett-luce"},
}
ML = {"model": "elimination-by-aspects", "method": "maximum-likelihood"}


@pytest.fixture
def study(tmp_path):
    return Studies(tmp_path).create("data", dataset="celebrities")


@pytest.mark.first(1, "similarities", "pairs")
@pytest.mark.fit  # for its imports
@pytest.mark.parametrize(
    "table", ["pairs", "sets", "similarities", "triplets", "experiment", "rows"]
)
def test_every_model_that_is_offered_can_be_compared(client, children_here, table, monkeypatch):
    what = TABLES[table]
    address = client.drop("table.csv", what.make().to_csv(index=False).encode())
    target = {"target": "y"} if table == "rows" else {}
    client.go(f"{address}/read", kind=what.kind, **target)
    study = client.study(address)
    call_fitted(study, FITS[what.kind])
    names, chosen = boxes(client.page(f"{address}/compare"), COMPARE)
    caught = watched_runs.catch_comparisons(monkeypatch)
    client.go(f"{address}/{COMPARE}", models="\n".join(names))
    assert [name for name, _ in caught[0]] == names and chosen


def test_what_was_compared_stays_ticked(study):
    study.write("reading", {"kind": PAIRS})
    assert select_ticked(study, COMPARE) == ["Bradley-Terry-Luce", "shared aspects"]
    study.write(
        COMPARE,
        comparisons.build_comparison_request(study, COMPARE, ["three shared aspects", "of nobody"]),
    )
    assert select_ticked(study, COMPARE) == ["three shared aspects"]


def test_ties_are_compared_as_they_were_fitted(study):
    study.write("reading", {"kind": PAIRS})
    typed = {"ties": "half", "draws": "100"}
    study.write(
        FIT, {"model": "elimination-by-aspects", "typed": typed, "paths": [], "has_cores": True}
    )
    assert comparisons.build_comparison_request(study, COMPARE, ["shared aspects"])["typed"] == {
        "ties": "half"
    }


def call_fitted(study, model):
    """From now on the study has a report of a fit."""
    study.write(FIT, {"model": model, "typed": {}, "paths": [], "has_cores": True})
    study.write(f"{FIT}.end", {"code": 0})
    (study.path / FIT).mkdir()
    (study.path / FIT / "report.html").write_text("<!doctype html>")


def boxes(page, run):
    """The models that are offered, and those with a tick."""
    form = page.partition(f'/{run}">')[2].partition("</form>")[0]
    found = re.findall(r'name="models" value="([^"]*)" data-line( checked)?>', form)
    return [name for name, _ in found], [name for name, tick in found if tick]


@pytest.mark.fit
def test_the_models_are_chosen_and_the_time_is_said_before(client, children_here):
    address = client.drop("drinks.csv", DRINKS)
    client.go(f"{address}/fit", **ML)
    page = client.page(f"{address}/compare")
    names, chosen = boxes(page, "compare")
    assert len(names) == 4 and chosen == ["Bradley-Terry-Luce", "shared aspects"]
    weighed = client.page(f"{address}/evidence")
    assert boxes(weighed, "evidence")[1] == [
        "Bradley-Terry-Luce",
        "shared aspects",
        "three shared aspects",
    ]
    assert 'name="sensitivity" value="yes">' in weighed, "other priors take a few times as long"
    said(client.go(f"{address}/compare", models=""), "“Models”", "no model selected")
    found = client.post(f"/api{address}/evidence", json={"models": "unheard of"})
    assert found.status_code == 400 and found.json()["fields"] == ["models"]
    (study,) = client.studies.list_all()
    assert study.read(COMPARE) == study.read(EVIDENCE) == {}


@pytest.mark.fit
def test_models_of_choice_experiments_are_chosen(client, children_here, monkeypatch):
    address = client.drop("phones.csv", EXPERIMENT.encode())
    client.go(f"{address}/read", kind="choice experiments")
    (study,) = client.studies.list_all()
    assert select_ticked(study, COMPARE) == ["Hierarchical logit", "Multinomial logit"]
    study.write(FIT, {"model": "product-classes", "typed": {}, "paths": [], "has_cores": True})
    assert "Product classes" in select_ticked(study, COMPARE), "the model that was fitted"
    study.remove("fit.json")
    assert client.go(f"{address}/compare", models="Multinomial logit") == f"{address}/compare"
    assert runs.read_end(study, COMPARE)["message"] == ""
