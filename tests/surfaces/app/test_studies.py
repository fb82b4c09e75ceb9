"""From a file to its report, in this process: what pages show, what children leave, what goes
on."""

import io
import json
import re
import zipfile

import pandas as pd
import pytest
from helpers import app_runs, watched_runs
from helpers.pages import Page
from helpers.sentences import says
from starlette.testclient import TestClient

import thali._surfaces.app.background_runs as runs
import thali._surfaces.app.comparison_candidates as comparisons
from thali._inference.checksummed_files import lock_file
from thali._surfaces.app.background_runs import Runs
from thali._surfaces.app.request_guard import REPORT_POLICY
from thali._surfaces.app.server import build_app
from thali._surfaces.app.study_folders import EVIDENCE, FIT, READ, Studies
from thali.errors import DataError

pytestmark = pytest.mark.fit
ATTACKS = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "x" * 5000, "{{ 7 * 7 }}")
PAIRS = (
    "winner,loser,times\ntea,milk,3\nmilk,tea,1\ntea,beer,2\nbeer,milk,2\nmilk,beer,1\nbeer,tea,1\n"
)
TABLES = {
    "paired comparisons": PAIRS,
    "choices from"
    " sets": "person,1st,2nd,3rd\nann,tea,milk,beer\nbob,milk,tea,beer\ncy,beer,tea,milk\n",
    "similarities": ",tea,milk,beer\ntea,1,.3,.1\nmilk,.3,1,.2\nbeer,.1,.2,1\n",
    "choice experiments": "respondent,task,alternative,chosen,price,size\n"
    + "".join(
        f"r{r},{t},{a},{int(a == t % 2)},{1 + (t + a) % 3},{'SL'[(t + r + a) % 2]}\n"
        for r in range(3)
        for t in range(4)
        for a in range(2)
    ),
}
FITS = {"model": "elimination-by-aspects", "method": "maximum-likelihood"}


def text_of(page):
    return " ".join(Page(page).text.split())


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_is_read_and_said_in_words(client, children_here, kind):
    address = client.drop(f"{kind}.csv", TABLES[kind].encode())
    page = text_of(client.page(address))
    assert f"The table contains {kind}: " in page
    assert "tea" in page or kind == "choice experiments"
    assert "--" not in page, "options of the command line have no place here"
    if kind in ("paired comparisons", "choices from sets"):
        assert "For example, " in page and "chosen over" in page or "chosen from" in page


def test_columns_are_corrected(client, children_here, nothing_begins):
    address = client.drop("table.csv", b"a,b,c,d\ntea,milk,tea,2\nmilk,tea,tea,1\n")
    page = client.page(address)
    assert "Problem" in page or 'class="problem"' in page
    assert "--" not in text_of(page)
    columns = {"first": "a", "second": "b", "chosen": "c", "count": "d"}
    again = client.go(f"{address}/read", kind="paired comparisons", **columns)
    assert again == address
    page = text_of(client.page(address))
    assert "The table contains paired comparisons" in page and "3 comparisons" in page
    nothing_begins()
    client.go(f"{address}/fit", **FITS)
    # what was said of the columns holds for the fit
    typed = client.study(address).read(FIT)["typed"]
    assert typed == {**columns, "method": "maximum-likelihood"}


@pytest.mark.rendered
def test_the_whole_path_of_a_paired_table(client, children_here):
    address = client.drop("drinks.csv", PAIRS.encode())
    assert client.go(f"{address}/fit", **FITS) == address
    page = client.page(address)
    assert 'data-what="fit/view"' in page and "3 options" in client.page(f"{address}/compare")
    report = client.file(address, "fit/view")
    assert report.headers["content-security-policy"] == REPORT_POLICY
    assert report.text.startswith("<!doctype html>") and "tea" in report.text
    # a command that one can type
    assert "thali fit data.csv" in report.text and " --data " not in report.text
    assert (
        client.file(address, "fit/report").headers["content-disposition"].startswith("attachment")
    )
    content = client.file(address, "fit/csv").content
    assert "utility_scale.csv" in zipfile.ZipFile(io.BytesIO(content)).namelist()
    assert content == client.file(address, "fit/csv").content
    assert (
        "utility_scale"
        in pd.ExcelFile(io.BytesIO(client.file(address, "fit/xlsx").content)).sheet_names
    )
    assert client.file(address, "fit/posterior").status_code == 200
    assert "finished" in text_of(client.page("/home"))
    other = client.go(f"{address}/again")
    assert other != address
    assert other.endswith("/ask") and '<option value="maximum-likelihood" selected>' in client.page(
        other
    )
    assert client.post(f"/api{address}/delete").json() == {"go": "/"}
    assert client.get(f"/api{address}").status_code == 404


def test_models_are_compared_by_prediction_and_by_evidence(client, children_here, monkeypatch):
    """In the shortest runs; the report of the evidence has table and other priors."""
    watched_runs.shorten_comparisons(monkeypatch)
    app_runs.compare_aspects(
        monkeypatch, comparisons.ComparisonCandidate("Bradley-Terry-Luce", "unique", ())
    )
    address = client.drop("drinks.csv", PAIRS.encode())
    client.go(f"{address}/fit", **FITS)
    says(client.page(f"{address}/evidence"), "Which model is")
    for run, form in (("compare", {}), ("evidence", {"sensitivity": "yes"})):
        assert (
            client.go(f"{address}/{run}", models="Bradley-Terry-Luce", **form) == f"{address}/{run}"
        )  # the quickest
        assert client.study(address).read(f"{run}.end")["message"] == ""
        assert f'data-what="{run}/view"' in client.page(f"{address}/{run}")
    report = client.file(address, "evidence/view").text
    assert (
        "log evidence" in report.lower() and "Luce" in report and "shape of weights x 2" in report
    )
    names = zipfile.ZipFile(io.BytesIO(client.file(address, "evidence/csv").content)).namelist()
    assert names == ["comparison.csv", "sensitivity.csv", "temperatures.csv"]


@pytest.mark.long
def test_the_evidence_that_was_stopped_goes_on(client, children_here, monkeypatch):
    """Models that are finished are kept; another question, after one that failed, begins anew."""
    watched_runs.shorten_comparisons(monkeypatch)
    two = tuple(
        comparisons.ComparisonCandidate(name, "unique", (EVIDENCE,)) for name in ("first", "second")
    )
    app_runs.compare_aspects(monkeypatch, *two)
    both = "first\nsecond"
    wanted, stops = [], {2: KeyboardInterrupt, 3: DataError("That is odd.")}

    def counted(model, data, how):
        wanted.append(model)
        if len(wanted) in stops:
            raise stops[len(wanted)]
        return found(model, data, how)

    found = watched_runs.find_evidence_by(monkeypatch, counted)
    address = client.drop("drinks.csv", PAIRS.encode())
    client.go(f"{address}/fit", **FITS)
    client.go(f"{address}/evidence", models=both)
    study = client.study(address)
    assert study.read("evidence.end") == {"code": 130, "message": "", "named": [], "warnings": []}
    page = client.page(f"{address}/evidence")
    says(page, "Stopped; finished")
    assert 'data-what="evidence/view"' not in page
    assert (
        f'data-act="{address}/evidence/go-on"' in page
        and f'data-post="{address}/evidence"' not in page
    )
    progress = runs.Runs(client.studies).read_progress(study, "evidence")
    assert (progress.done, progress.total, progress.unit) == (1, 2, "models")
    client.go(f"{address}/evidence/go-on")
    page = client.page(f"{address}/evidence")
    says(page, "second", "That is odd")
    assert f'data-post="{address}/evidence"' in page
    client.go(f"{address}/evidence/go-on")
    assert len(wanted) == 4 and 'data-what="evidence/view"' in client.page(f"{address}/evidence")
    client.go(f"{address}/evidence", models=both, sensitivity="yes")
    assert len(wanted) == 6 and "shape of weights x 2" in client.file(address, "evidence/view").text


def test_the_evidence_of_other_models_is_not_asked_for(client, children_here):
    address = client.drop("tasks.csv", TABLES["choice experiments"].encode())
    assert client.post(f"/api{address}/evidence", json={}).status_code == 404


def test_a_ticket_is_good_for_once(client, children_here):
    address = client.go("/dataset", name="celebrities")
    client.go(f"{address}/test", test="transitivity")
    ticket = client.post(f"/api{address}/ticket", json={"what": "test/view"}).json()["address"]
    assert "violat" in client.get(ticket).text
    again = client.get(ticket)
    assert again.status_code == 404
    says(again.text, "Reopen the report")
    assert 'data-what="test/view"' in client.page(f"{address}/tests")


@pytest.mark.parametrize(
    "table, fact",
    [
        ("winner,loser,times\ntea,milk,3\nmilk,tea,-1\n", "less.csv: "),
        ("", "The file is empty"),
        ("x,y\n1,2\n", "known layout"),
    ],
)
def test_a_table_that_cannot_be_read_says_why(client, children_here, table, fact):
    page = text_of(client.page(client.drop("less.csv", table.encode())))
    says(page, fact)
    assert "--" not in page
    assert "What do you want to know?" not in page


def test_a_file_for_an_option(client, children_here, nothing_begins):
    address = client.drop("drinks.csv", PAIRS.encode())
    study = client.study(address)
    for content in (b"option,group\n", b"option,group\ntea,hot\nmilk,cold\nbeer,cold\n"):
        sent = client.post(
            f"/api{address}/file/tree", content=content, headers={"x-name": "my%20tree.csv"}
        )
        assert sent.status_code == 200
    assert (study.path / "for-tree.csv").read_bytes() == content
    nothing_begins()
    client.go(f"{address}/fit", model="elimination-by-aspects", tree="file", draws="100")
    assert study.read(FIT) == {
        "model": "elimination-by-aspects",
        "typed": {"tree": "for-tree.csv", "draws": 100},
        "paths": ["tree"],
        "cover": {},
        "has_cores": True,
    }
    other = client.study(client.go(f"{address}/again"))
    assert other.list_option_files() == {"tree": "for-tree.csv"}


def test_labels_stay_labels(client, children_here):
    rows = [
        f'"{a.replace(chr(34), chr(34) * 2)}","{b.replace(chr(34), chr(34) * 2)}"'
        for a in ATTACKS
        for b in ATTACKS
        if a != b
    ]
    table = '"<b>winner</b>",loser\n' + "\n".join(rows)
    pages = [client.page(client.drop(f"{ATTACKS[0]}.csv", table.encode()))]
    address = client.drop(ATTACKS[1], table.replace("<b>winner</b>", "winner").encode())
    pages.append(client.page(address))
    assert "The table contains paired comparisons" in text_of(pages[1])
    client.go(f"{address}/test", test="transitivity")
    pages += [client.page(f"{address}/tests"), client.page("/home")]
    assert 'data-what="test/view"' in pages[2]
    for page in pages:
        assert "<script" not in page and "<img" not in page and "<b>winner" not in page
        assert len(page) < 200_000
    assert "{{ 7 * 7 }}" in pages[1]


def test_a_run_waits_for_a_processor_and_can_be_taken_back(client, monkeypatch, tmp_path):
    begun = []
    app_runs.begin_by(monkeypatch, lambda self, study, name: begun.append(study.name))
    studies = Studies(tmp_path / "others")
    children = Runs(studies, slots=1)
    first, second = (
        studies.create("first", dataset="celebrities"),
        studies.create("second", dataset="celebrities"),
    )
    for study in (first, second):
        study.write(FIT, {})
    children.queue(first, FIT)
    assert begun == [first.name]
    (first.path / "fit.queued").unlink()
    children.children[first.name, FIT] = Running()
    children.queue(second, FIT)
    assert begun == [first.name] and children.find_state(second, FIT) == runs.QUEUED
    children.stop(second, FIT)
    assert children.find_state(second, FIT) == runs.STOPPED


class Running:
    """A child that runs."""

    def poll(self):
        return None


def test_what_an_earlier_server_left_is_found_again(tmp_path):
    studies = Studies(tmp_path)
    study = studies.create("left", dataset="celebrities")
    assert Runs(studies).find_state(study, FIT) == runs.NEVER
    study.write(FIT, {})
    with open(study.path / "fit.lock", "ab") as held:
        assert lock_file(held.fileno())
        assert Runs(studies).find_state(study, FIT) == runs.RUNNING
    assert Runs(studies).find_state(study, FIT) == runs.STOPPED  # its child was killed
    study.write("fit.end", {"code": 0})
    assert Runs(studies).find_state(study, FIT) == runs.ENDED


def test_the_progress_of_a_run_is_that_of_its_job(tmp_path):
    from thali._inference.job_folders import SCHEMA, encode_index

    studies = Studies(tmp_path)
    study, children = studies.create("data", dataset="celebrities"), Runs(studies)
    assert children.read_progress(study, FIT) is None and children.count_draws(study, FIT) is None
    job = study.path / FIT / "job"
    job.mkdir(parents=True)

    def snapshot(second, done):
        index = dict(
            thali_job=SCHEMA, written=f"2026-01-01T00:00:{second}+00:00", recorded=[20, 25]
        )
        index["place"] = dict(done=done, total=1100, unit="sweeps", draws=100, tempered=False)
        index |= {"ended": False, "segments": [], "command": None, "chains": 2}
        index["state"] = {"file": "state-00001.npz", "sha256": ""}
        index["stamp"] = {
            "kind": "fit",
            "versions": {},
            "models": {"": {"class": "", "parameters": {}}},
        }
        index["stamp"] |= {"settings": {}, "data": "", "seed": []}
        (job / "job.json").write_bytes(encode_index(index))
        return children.read_progress(study, FIT)

    assert snapshot(20, 100) == (100, 1100, "sweeps", None)  # compiled for who knows how long
    assert snapshot(30, 300) == (300, 1100, "sweeps", 40.0)  # 200 sweeps in 10 seconds, 800 to come
    assert snapshot(31, 50).seconds_left is None  # began again
    assert snapshot(41, 150).seconds_left == 95.0
    assert children.count_draws(study, FIT) == (25, 100)
    assert snapshot(20, 200).seconds_left is None  # the clock was set back
    (job / "job.json").write_bytes(b"damaged")
    assert children.read_progress(study, FIT) is None and children.count_draws(study, FIT) is None


def test_a_study_may_be_moved(client, children_here, tmp_path):
    """To another folder of studies, or to another name of this one."""
    address = client.drop("drinks.csv", PAIRS.encode())
    client.go(f"{address}/fit", **FITS)
    shown = text_of(client.page(address))
    client.studies.folder.rename(tmp_path / "moved")
    other = TestClient(build_app(tmp_path / "moved", "key"), base_url="http://127.0.0.1:8000")
    found = other.get(f"/api{address}", headers={"x-thali-key": "key"})
    assert found.status_code == 200 and text_of(found.text) == shown


def test_events_follow_a_run_to_its_end(client, children_here):
    address = client.go("/dataset", name="celebrities")
    client.go(f"{address}/test", test="circular")
    found = client.get(f"/api{address}/test/events")
    assert found.headers["content-type"].startswith("text/event-stream")
    assert [json.loads(line[6:]) for line in found.text.split("\n\n") if line][-1][
        "state"
    ] == runs.ENDED


TRIALS = "person,sex,left,right,winner,louder\n" + "".join(
    f"{person},{'fm'[person % 2]},{a},{b},{(a, b)[(person + len(b)) % 2]},{(person * 7 + len(a)) % 5 - 2}\n"
    for person in range(6)
    for a, b in (("tea", "milk"), ("milk", "wine"), ("wine", "tea"))
)


def test_covariates_are_asked_where_the_data_have_them(client, children_here, nothing_begins):
    address = client.drop("trials.csv", TRIALS.encode())
    page = client.page(f"{address}/ask")
    assert page.count('value="louder"') == 1 and 'value="order"' in page
    assert page.index('name="covariate"') < page.index('name="method"'), (
        "what is asked comes before how it is answered"
    )
    assert 'name="covariate"' not in client.page(address), "a question is no correction"
    bundled = client.page(f"{client.go('/dataset', name='celebrities')}/ask")
    assert 'name="covariate"' not in bundled
    says(bundled, "What do you")
    client.go(f"{address}/read", covariate="order\nlouder")
    assert "covariates 'order' and 'louder'" in text_of(client.page(address))
    client.go(f"{address}/read", covariate="")
    page = client.page(f"{address}/ask")
    folded = page.partition("More options")[2]
    assert 'name="people"' in folded and 'type="text"' not in page.removesuffix(folded)
    nothing_begins()
    client.go(f"{address}/fit", model="BTL", people="individuals")
    assert client.study(address).read(FIT)["typed"] == {"people": "individuals"}


def test_covariates_are_chosen_with_the_question(client, children_here):
    """What they cannot be is said at their field, and the table stays as it was read."""
    address = client.drop("trials.csv", TRIALS.encode())
    client.go(f"{address}/read", where="louder < 2")
    asked = {"model": "BTL", "method": "maximum-likelihood", "asked": "yes"}
    found = client.post(f"/api{address}/fit", json={**asked, "covariate": "nobody"})
    assert found.status_code == 400 and found.json()["fields"] == ["covariate"]
    study = client.study(address)
    assert (
        study.read(READ)["typed"] == {"where": ["louder < 2"]}
        and not study.read("reading")["problem"]
    )
    assert client.go(f"{address}/fit", covariate="louder", **asked) == address
    typed = {"where": ["louder < 2"], "covariate": ["louder"]}
    assert study.read(READ)["typed"] == typed
    assert study.read(FIT)["typed"] == typed | {"method": "maximum-likelihood"}


def test_groups_are_chosen_with_the_test_of_groups(client, children_here):
    address = client.drop("trials.csv", TRIALS.encode())
    page = client.page(f"{address}/tests")
    assert '<option value="group"' in page and '<option value="sex"' in page
    for column in ("louder", ""):
        answer = client.post(f"/api{address}/test", json={"test": "group", "group": column})
        assert answer.status_code == 400
    client.go(f"{address}/test", test="group", group="sex")
    assert client.study(address).read("test")["typed"] == {"group": "sex"}
    bundled = client.page(f"{client.go('/dataset', name='celebrities')}/tests")
    assert 'value="group"' not in bundled


def test_what_stands_at_the_head_of_a_report_is_written_with_the_question(client, children_here):
    address = client.drop("drinks.csv", PAIRS.encode())
    cover = {
        "cover-title": "<b>Drinks</b>",
        "cover-author": " A. Author ",
        "cover-question": "",
        "cover-x": "no",
    }
    client.go(f"{address}/fit", **FITS, **cover)
    report = client.file(address, "fit/view").text
    assert "<h1>&lt;b&gt;Drinks&lt;/b&gt;</h1>" in report and "A. Author" in report
    study = client.study(address)
    assert study.read(FIT)["cover"] == {"title": "<b>Drinks</b>", "author": "A. Author"}
    assert "<b>Drinks</b>" in text_of(client.page("/home")), (
        "where equal names could not be told apart"
    )
    page = client.page(client.go(f"{address}/again"))
    assert 'value="A. Author"' in page
    assert "<b>Drinks" not in page


@pytest.mark.long
def test_a_study_has_the_screens_that_it_can_have(client, children_here):
    def screens(address):
        return re.findall(rf'href="{address}/([a-z]+)" data-go', client.page(address))

    address = client.drop("drinks.csv", PAIRS.encode())
    assert screens(address)[:4] == ["data", "ask", "tests", "about"]
    assert client.page(f"{address}/report") == client.page(address), "what is not there yet"
    client.go(f"{address}/fit", **FITS)
    assert screens(address) == ["report", "compare", "evidence", "tests", "about"]
    for screen in screens(address):
        assert f'href="{address}/{screen}" data-go aria-current="page"' in client.page(
            f"{address}/{screen}"
        )
    assert client.get(f"/api{address}/nowhere").status_code == 404
    unread = client.drop("less.csv", b"x,y\n1,2\n")
    assert screens(unread) == ["data", "about"]


@pytest.mark.first(3)
@pytest.mark.parametrize(
    ("kind", "table", "shown"),
    [
        ("", PAIRS, ["winner", "loser", "times"]),
        ("", TRIALS, ["left", "right", "winner"]),
        ("", "a,b,wins_a,wins_b\ntea,milk,3,1\nmilk,beer,2,2\n", [""] * 3),
        ("", "home,away,result\ntea,milk,H\nmilk,beer,A\n", ["home", "away", "result"]),
        ("", "item1,item2,item3,best,worst\na,b,c,a,c\nb,c,a,b,a\n", ["best", "worst", ""]),
        ("choice experiments", TABLES["choice experiments"], ["respondent", "task", "chosen"]),
    ],
)
def test_the_columns_that_were_recognised_are_named(client, children_here, kind, table, shown):
    address = client.drop("table.csv", table.encode())
    client.go(f"{address}/read", kind=kind)
    roles = (
        client.page(address)
        .partition('<div class="roles">')[2]
        .partition("</form>")[0]
        .partition("<details")[0]
    )
    first = re.findall(r'<option value="" selected>recognised(?:: (.*?))?</option>', roles)
    assert sorted(first) == sorted(shown)
