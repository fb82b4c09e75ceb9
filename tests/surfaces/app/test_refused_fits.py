"""What is refused because of a field is said at that field, which is unfolded and has the focus."""

import json
import re

import pytest
from helpers import app_runs
from helpers.combinations import FITTED
from helpers.pages import Page
from helpers.sentences import says
from test_who_answered import EXPERIMENT

import thali._surfaces.app.background_runs as runs
import thali._surfaces.app.child_process as child
from thali._inference import progress_display
from thali._surfaces.app.study_folders import FIT
from thali.errors import DataError, Setting

pytestmark = pytest.mark.fit  # for their time
PAIRS = (
    b"winner,loser,times\ntea,milk,3\nmilk,tea,1\ntea,beer,2\nbeer,milk,2\nmilk,beer,1\n"
    b"beer,tea,1\n"
)
ML = {"model": "elimination-by-aspects", "method": "maximum-likelihood"}


def fault_of(page):
    """The words of the field with a fault, and the sentence there."""
    (field,) = re.findall(
        r'<div class="field"[^>]*data-fault>(.*?)(?=<div class="field"|</form>)', page, re.DOTALL
    )
    (sentence,) = re.findall(r'<p class="problem" role="alert" id="([^"]*)-fault">(.*?)</p>', field)
    name = re.search(r'name="([^"]*)"', field)[1]
    assert re.search(rf'aria-describedby="{sentence[0]}-fault[^>]*aria-invalid="true"', field)
    return name, Page(sentence[1]).text


def test_a_fit_that_is_refused_is_mended_in_its_study(client, children_here):
    address = client.drop("drinks.csv", PAIRS)
    client.go(f"{address}/fit", aspects="ibp", **ML)
    page = client.page(address)
    name, said = fault_of(page)
    assert name == "aspects" and page.count('class="problem"') == 1
    assert (
        '<option value="maximum-likelihood" selected>' in page
        and '<option value="ibp" selected>' in page
    )
    assert "not possible" in client.page("/home")
    client.go(f"{address}/read", where="times > 0")  # whose data may change, too
    assert client.go(f"{address}/fit", aspects="unique", **ML) == address
    assert 'data-what="fit/view"' in client.page(address) and len(client.studies.list_all()) == 1


def test_a_folded_field_is_unfolded(client, children_here):
    address = client.drop("phones.csv", EXPERIMENT.encode())
    client.go(f"{address}/read", kind="choice experiments")
    assert client.page(f"{address}/ask").count("<details open><summary>More options") == 0
    client.go(f"{address}/fit", model="hierarchical-logit", by="price")
    page = client.page(address)
    name, said = fault_of(page)
    assert name == "by"
    says(said, "'price'", "'age'", "'region'")
    folded = page[: page.index("data-fault")].rpartition("<details")[2]
    assert (
        folded.startswith(" open><summary>More options")
        and page.count("<details open><summary>More options") == 1
    )
    assert 'value="price" checked' in page


def test_a_fit_that_is_refused_for_its_data_says_so_above_the_models(
    client, children_here, monkeypatch
):
    def fit(model, data, **run):
        raise DataError("There is not enough of it.")

    app_runs.fit_by(monkeypatch, fit)
    address = client.drop("drinks.csv", PAIRS)
    client.go(f"{address}/fit", **ML)
    page = client.page(address)
    assert "data-fault" not in page and page.count('class="problem"') == 1
    assert re.search(
        r'know\?</h2>\s*<p class="problem" role="alert">There is not enough of it.</p>', page
    )


@pytest.mark.parametrize("left", ["report.html", "job"])
def test_a_fit_that_left_something_stays(client, children_here, left):
    address = client.drop("drinks.csv", PAIRS)
    client.go(f"{address}/fit", aspects="ibp", **ML)
    (study,) = client.studies.list_all()
    (study.path / FIT / left).mkdir(parents=True)
    says(client.go(f"{address}/fit", **ML), "already been fitted")


def test_what_is_refused_at_once_names_its_fields(client, children_here):
    address = client.go("/dataset", name="celebrities")
    found = client.post(
        f"/api{address}/fit", json={"model": "elimination-by-aspects", "lapse": "2"}
    ).json()
    assert found["fields"] == ["lapse"]


@pytest.fixture
def study(client):
    """A study whose fit was asked for."""
    made = client.studies.create("data", dataset="celebrities")
    made.write(
        FIT, {"model": "elimination-by-aspects", "typed": {}, "paths": [], "has_cores": True}
    )
    return made


def first_event(client, study):
    """How far the fit is."""
    return json.loads(
        client.get(f"/api/study/{study.name}/fit/events")
        .text.partition("\n")[0]
        .removeprefix("data: ")
    )


def test_a_long_run_says_how_long_it_takes_while_it_runs(client, study, monkeypatch):
    """In words of the page, with what is quicker; a run that begins anew says nothing yet."""

    def hint():
        app_runs.claim_states(monkeypatch, runs.RUNNING, runs.ENDED)
        return first_event(client, study)["hint"]

    def do(study, terminal, cores):
        assert hint() == ""
        terminal.use_options(
            next(spec.options for spec in FITTED if spec.name == "elimination-by-aspects")
        )
        progress_display.build_duration_warning("This fit", Setting("method", "laplace"))(300.0)
        quicker = "“Method” = “approximate posterior; takes seconds”"
        sentence = f"This fit takes about 5 minutes. Faster options: {quicker}."
        assert hint() == sentence

    ended = child.carry_out(FIT, do, study, 1)
    assert ended["code"] == 0 and ended["warnings"] == []
    monkeypatch.undo()
    monkeypatch.setattr(runs.subprocess, "Popen", lambda *args, **options: app_runs.Ended())
    client.go(f"/study/{study.name}/fit/go-on")
    assert hint() == ""


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ({"code": 0}, "Fit: finished."),
        ({"code": 2, "message": "No."}, "Fit: not possible; see the page for the reason."),
        ({"code": 1, "message": "No."}, "Fit: not possible; see the page for the reason."),
    ],
)
def test_nothing_is_called_finished_that_was_not_possible(client, study, end, said):
    study.write(f"{FIT}.end", end)
    assert first_event(client, study)["text"] == said
