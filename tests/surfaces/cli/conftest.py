"""Commands run in a folder of their own."""

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, request):
    """Each test has a folder of its own, with the tables of its file, `FILES`, in it."""
    monkeypatch.chdir(tmp_path)
    for name, text in getattr(request.module, "FILES", {}).items():
        (tmp_path / name).write_text(text)
    return tmp_path
