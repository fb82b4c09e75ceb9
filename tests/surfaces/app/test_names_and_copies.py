"""A study gets another name, and goes as one folder, which the command line reads."""

import io
import json
import re
import zipfile

import pytest
from helpers import app_runs, watched_runs
from helpers.pages import Page

from thali._surfaces.app.study_folders import COMPARE, READ

pytestmark = pytest.mark.fit  # for their time
DRINKS = (
    b"winner,loser,times\n=tea(),milk,3\nmilk,=tea(),1\n=tea(),beer,2\nbeer,milk,2\nmilk,beer,1\n"
    b"beer,=tea(),1\n"
)
ML = {"model": "elimination-by-aspects", "method": "maximum-likelihood"}


def test_a_study_has_one_title_everywhere(client, children_here):
    address = client.drop("drinks.csv", DRINKS)
    client.go(f"{address}/fit", **ML, **{"cover-title": "What 9b drinks"})
    for page in (client.page(address), client.page(f"{address}/about"), client.page("/home")):
        assert "What 9b drinks" in Page(page).text and "drinks.csv" not in Page(page).text
    assert (
        'filename="What-9b-drinks-fit.html"'
        in client.file(address, "fit/report").headers["content-disposition"]
    )
    assert "study What 9b drinks" in client.page("/home")


def unpacked(client, address, folder):
    """The folder in the zip."""
    sent = client.file(address, "folder")
    assert sent.headers["content-type"] == "application/zip"
    name = re.fullmatch('attachment; filename="(.*).zip"', sent.headers["content-disposition"])[1]
    with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
        assert archive.testzip() is None
        archive.extractall(folder)
    assert [each.name for each in folder.iterdir()] == [name]
    return folder / name


@pytest.mark.long
def test_the_folder_of_a_study_is_read_by_the_command_line(
    client, children_here, run, done, tmp_path, monkeypatch
):
    """That of a fit with a job, beside it that of a comparison; neither names a folder of this
    computer."""
    watched_runs.shorten_comparisons(monkeypatch)
    address = client.drop("drinks.csv", DRINKS)
    client.go(
        f"{address}/fit", model=ML["model"], aspects="unique", draws="20", tune="20", chains="2"
    )
    client.go(f"{address}/compare", models="Bradley-Terry-Luce")
    folder = unpacked(client, address, tmp_path / "elsewhere")
    assert folder.name == "drinks" and (folder / "data.csv").read_bytes() == DRINKS
    for file in (folder / "job" / "job.json", folder / COMPARE / "job" / "job.json"):
        assert str(tmp_path) not in file.read_text()
    assert not list(folder.rglob("lock")) and (folder / "posterior.nc").stat().st_size > 1000
    assert "'=tea()" in (folder / "ranks.csv").read_text("utf-8"), "as in the other downloads"

    (study,) = client.studies.list_all()
    client.go(f"/study/{study.name}/delete")
    monkeypatch.chdir(tmp_path)
    said = run("status", str(folder))
    assert said.code == 0 and "finished" in said.out
    (folder / "report.html").unlink()
    assert run("report", str(folder)).code == 0 and "beer" in (folder / "report.html").read_text(
        "utf-8"
    )
    assert run("report", str(folder / COMPARE)).code == 0
    done("resume", str(folder))
    assert run("resume", str(folder / COMPARE)).code == 0


def test_what_runs_is_not_copied(client, children_here, monkeypatch):
    address = client.drop("drinks.csv", DRINKS)
    (study,) = client.studies.list_all()
    assert study.read(READ) == {}
    app_runs.claim_state(monkeypatch, "running")
    found = client.post(f"/api{address}/ticket", json={"what": "folder"})
    assert found.status_code == 409 and "stop it first" in found.json()["problem"]


def test_a_log_of_json_is_dropped(client, children_here):
    rows = [row.split(",") for row in DRINKS.decode().splitlines()]
    log = [
        {"winner": winner, "loser": loser, "times": int(times)} for winner, loser, times in rows[1:]
    ]
    address = client.drop("drinks.jsonl", "\n".join(map(json.dumps, log)).encode())
    other = client.drop("drinks.csv", DRINKS)
    assert client.study(address).data_name == "data.jsonl" and ".jsonl" in client.page("/home")
    said = "'winner' chosen over 'loser', counts in 'times'"
    assert all(said in Page(client.page(each)).text for each in (address, other))
