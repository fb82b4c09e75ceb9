"""One damaged or foreign file in the folder of the studies: a line on the page, and nothing
else."""

import json
import shutil
import time

import pytest
from helpers import app_runs
from helpers.patience import PATIENCE
from helpers.sentences import says

import thali._surfaces.app.background_runs as runs
from thali._surfaces.app.background_runs import Runs
from thali._surfaces.app.study_folders import FIT, READ, Studies

FOREIGN = "20260101-0000-00000000"
ABOUT = {"title": "a title", "created": "2026-01-01T00:00:00+00:00", "dataset": "celebrities"}
ASKED = {"model": "elimination-by-aspects", "typed": {"draws": 100}, "paths": [], "has_cores": True}
HELD = {
    "study": ABOUT,
    READ: {"kind": "", "typed": {}},
    "reading": {"kind": "paired comparisons", "size": "9 comparisons"},
    FIT: ASKED,
    "draft": ASKED,
    "fit.end": {"code": 0, "message": "", "warnings": []},
    "fit.process": {"pid": 1},
}


def wrong_types(content):
    """The same names with values of another kind."""
    return json.dumps(
        {key: 5 if isinstance(value, list | str) else "x" for key, value in content.items()}
    ).encode()


DAMAGES = {
    "empty": lambda content: b"",
    "cut": lambda content: json.dumps(content).encode()[:-3],
    "zeros": lambda content: b"\0" * 40,
    "a list": lambda content: b"[]",
    "null": lambda content: b"null",
    "of another": lambda content: b'{"a": 1}',
    "wrong types": wrong_types,
    "not text": lambda content: b"\xff\xfe\xfd",
    "nested": lambda content: b"[" * 200_000,
    "a folder": None,
}
GETS = ("", "/fit/events")
POSTS = (
    "/read",
    "/fit",
    "/more",
    "/compare",
    "/evidence",
    "/test",
    "/again",
    "/fit/go-on",
    "/fit/stop",
)
POSTS += ("/who", "/ticket", "/file/tree")


def study_with(studies, *names):
    study = studies.create("a title", dataset="celebrities")
    for name in names:
        study.write(name, HELD[name])
    return study


def damage(study, name, how):
    file = study.path / f"{name}.json"
    file.unlink(missing_ok=True)
    file.mkdir() if how is None else file.write_bytes(how(HELD[name]))


def tried(client, address):
    """No request fails, whatever it asks for."""
    found = [client.get(f"/api{address}{path}") for path in GETS]
    found += [
        client.post(f"/api{address}{path}", json={"model": ASKED["model"], "draws": "200"})
        for path in POSTS
    ]
    for each in found:
        assert each.status_code < 500, each.text
        if each.status_code >= 400:
            assert each.json()["problem"].endswith(".")
    return found[0].text


@pytest.mark.fit
@pytest.mark.first(4, "empty-fit.end")
@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_file_costs_its_study_alone(client, childless, name, how):
    others = [FIT] if name.startswith("fit.") else []
    healthy, study = (
        study_with(client.studies),
        study_with(client.studies, READ, "reading", *others),
    )
    damage(study, name, DAMAGES[how])
    page = client.page(f"/study/{study.name}")
    home = client.page("/home")
    assert home.count('class="what"><a href="/study/') == 2
    tried(client, f"/study/{study.name}")
    if name in ("study", FIT) or (
        how not in ("of another", "wrong types") and name in ("reading", READ)
    ):
        assert "study cannot be read" in page
        assert f"{name}.json" in page
        assert name in (READ, "reading") or f"{name}.json" in home
    assert client.go(f"/study/{study.name}/delete") == "/"
    assert [
        each.name for each in client.studies.list_all() if each.name in (study.name, healthy.name)
    ] == [healthy.name]


@pytest.mark.fit
@pytest.mark.parametrize("what", ["a file", "an empty folder", "a link", "a link to nothing"])
def test_what_is_called_like_a_study_is_shown_and_removed(client, childless, tmp_path, what):
    study_with(client.studies)
    path = client.studies.folder / FOREIGN
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "kept").touch()
    if what == "a file":
        path.touch()
    elif what == "an empty folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / ("other" if what == "a link" else "nothing"))
    assert FOREIGN in client.page("/home") and "a title" in client.page("/home")
    says(tried(client, f"/study/{FOREIGN}"), "This study cannot")
    assert client.go(f"/study/{FOREIGN}/delete") == "/"
    assert FOREIGN not in client.page("/home") and (tmp_path / "other" / "kept").exists()


def test_two_may_delete_at_once(client, monkeypatch):
    study, remove = study_with(client.studies, FIT), shutil.rmtree

    def after_another(path, *more, **how):
        if path == study.path:
            remove(path)
        return remove(path, *more, **how)

    monkeypatch.setattr(shutil, "rmtree", after_another)
    assert client.go(f"/study/{study.name}/delete") == "/"
    assert client.studies.list_all() == []


def test_the_queue_outlives_what_is_wrong_with_one_study(tmp_path, monkeypatch, capsys):
    studies, begun = Studies(tmp_path), []
    (tmp_path / FOREIGN).touch()
    broken, healthy = (
        studies.create("broken", dataset="celebrities"),
        studies.create("healthy", dataset="celebrities"),
    )
    for study in (broken, healthy):
        study.write(FIT, ASKED)
        (study.path / "fit.queued").touch()

    def begin(self, study, name):
        if study.name == broken.name:
            raise PermissionError("of somebody else")
        begun.append(study.name)

    app_runs.begin_by(monkeypatch, begin)
    children = Runs(studies, slots=1)
    for _ in range(3):
        children.start_queued_runs()
    assert set(begun) == {healthy.name}
    assert capsys.readouterr().err.count("of somebody else") == 1
    state = children.find_state
    monkeypatch.setattr(
        children,
        "find_state",
        lambda each, name: 1 / (each.name != broken.name) and state(each, name),
    )
    begun.clear()
    children.start_queued_runs()
    assert begun == [healthy.name]


def test_the_queue_goes_on_after_an_error(client, monkeypatch):
    looked = []

    def tend(self):
        looked.append(len(looked))
        raise OSError("the disk is away")

    app_runs.tend_by(monkeypatch, tend)
    end = time.monotonic() + PATIENCE
    with client:
        while len(looked) < 2 and time.monotonic() < end:
            time.sleep(0.05)
    assert len(looked) > 1


def test_a_lock_of_another_user_is_none_of_ours(tmp_path):
    study = Studies(tmp_path).create("data", dataset="celebrities")
    study.write(FIT, ASKED)
    (study.path / "fit.lock").mkdir()
    assert Runs(Studies(tmp_path)).find_state(study, FIT) == runs.STOPPED


@pytest.mark.parametrize("pid", ["x", None, 0, 1, -1])
def test_no_process_is_signalled_but_a_child(tmp_path, monkeypatch, pid):
    sent = []
    monkeypatch.setattr(runs.os, "killpg", lambda *to: sent.append(to), raising=False)
    study = Studies(tmp_path).create("data", dataset="celebrities")
    study.write("fit.process", {"pid": pid})
    app_runs.claim_state(monkeypatch, runs.RUNNING)
    Runs(Studies(tmp_path)).stop(study, FIT)
    assert sent == []
