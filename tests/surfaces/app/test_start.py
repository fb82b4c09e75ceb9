"""`thali app` at the command line."""

import sys

import pytest
from helpers.sentences import said

import thali._surfaces as surfaces


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_what_is_not_installed_is_named(run, monkeypatch, missing, tmp_path):
    monkeypatch.delattr(surfaces, "app", raising=False)  # which is imported anew
    for name in [*sys.modules]:
        if name.partition(".")[0] == missing or name.startswith("thali._surfaces.app"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    result = run("app", "--no-browser", "--folder", str(tmp_path))
    said(result.err, missing, "'thali[app]'")
    assert result.code == 2


def test_a_place_that_cannot_be_served_is_named(refused, tmp_path):
    assert "Cannot serve the app at 192.0.2.1, port 0" in refused(
        "app", "--no-browser", "--host", "192.0.2.1", "--folder", tmp_path
    )
    (tmp_path / "file").touch()
    assert "Cannot create the folder" in refused(
        "app", "--no-browser", "--folder", str(tmp_path / "file")
    )
