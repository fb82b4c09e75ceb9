"""Commands run in a folder of their own."""

import pytest
from helpers import watched_runs


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, request, few_draws):
    """Each test has a folder of its own, with the tables of its file, `FILES`, in it."""
    monkeypatch.chdir(tmp_path)
    for name, text in getattr(request.module, "FILES", {}).items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def compared(run, monkeypatch):
    """A function of what follows `thali compare`: the models that it would compare, by their
    names."""
    caught = watched_runs.catch_comparisons(monkeypatch)

    def compared(data, models, *words):
        run("compare", data, "--models", models, *words)
        return dict(caught.pop())

    return compared
