"""The app without a network: requests in this process, children too."""

import os

import pytest
from helpers import app_runs
from starlette.testclient import TestClient

import thali._surfaces.app.child_process as child
from thali._surfaces.app.server import build_app
from thali._surfaces.app.study_folders import Studies

SECRET = "a-key-of-the-tests"


@pytest.fixture
def children_here(monkeypatch):
    """Children run in this process, at once."""

    def begin(self, study, name):
        here = os.getcwd()
        study.remove(f"{name}.queued")
        os.chdir(study.path)
        try:
            study.write(f"{name}.end", child.carry_out(name, child.RUN_FUNCTIONS[name], study, 1))
        finally:
            os.chdir(here)
        return app_runs.Ended()

    app_runs.begin_by(monkeypatch, begin)


@pytest.fixture
def childless(monkeypatch):
    """Children end before they do anything."""
    app_runs.begin_by(monkeypatch, lambda self, study, name: app_runs.Ended())


@pytest.fixture
def nothing_begins(monkeypatch):
    """A function after which whatever is asked for waits."""
    return lambda: app_runs.begin_by(monkeypatch, lambda self, study, name: None)


class Client(TestClient):
    """A browser with the key, which knows the studies on disk."""

    studies: Studies

    def go(self, path, **form):
        """Send a form; returns the address to go to, or the problem."""
        found = self.post(f"/api{path}", json=form)
        return found.json().get("go") or found.json()["problem"]

    def drop(self, name, content):
        """Drop a file; returns the address of the study."""
        from urllib.parse import quote

        sent = self.post("/api/upload", content=content, headers={"x-name": quote(name)})
        return sent.json()["go"]

    def study(self, address):
        """The study at an address, or at one of its screens."""
        found = self.studies.find_study(address.split("/")[2])
        assert found is not None
        return found

    def page(self, address):
        """The page at an address: that where a study stands, or one of its screens."""
        found = self.get(f"/api{address}")
        assert found.status_code == 200, found.text
        return found.text

    def file(self, address, what):
        """A file of a study, by a ticket."""
        ticket = self.post(f"/api{address}/ticket", json={"what": what}).json()["address"]
        return self.get(ticket)


@pytest.fixture
def app(tmp_path):
    return build_app(tmp_path / "studies", SECRET)


@pytest.fixture
def client(app, tmp_path):
    found = Client(app, base_url="http://127.0.0.1:8000", headers={"x-thali-key": SECRET})
    found.studies = Studies(tmp_path / "studies")
    return found
