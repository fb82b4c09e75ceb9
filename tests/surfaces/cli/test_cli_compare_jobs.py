"""Comparisons at the command line go on where they were: the same command, `thali resume`, `thali
status`."""

import pytest
from helpers.sentences import said, without_folder
from helpers.watched_runs import run_fits_by, stop_after

from thali._inference import job_folders

pytestmark = pytest.mark.fit

QUICK = "--draws 40 --tune 10 --chains 2 --thin 1 --seed 3 --cores 1".split()
COMPARE = ["compare", "tea.csv", "--models", "unique,2", "--by", "prediction", *QUICK]
FILES = {
    "tea.csv": "option,tea,milk,juice\ntea,0,7,9\nmilk,3,0,6\njuice,1,4,0\n",
    "other.csv": "option,tea,milk,juice\ntea,0,7,9\nmilk,3,0,6\njuice,1,5,0\n",
}


@pytest.fixture
def no_fit(monkeypatch):
    """Makes fits fail from the moment that it is called."""
    return lambda: run_fits_by(monkeypatch, lambda run_fit, task: pytest.fail("it fits"))


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_the_same_command_on_a_finished_job_prints_its_results(run, done, folder, no_fit):
    first = done(*COMPARE, "--out", "results")
    written = contents(folder / "results")
    no_fit()
    for words in ([*COMPARE, "--out", "results"], ["resume", "results"]):
        again = run(*words)
        assert (
            again.code == 0 and again.out == first.out and contents(folder / "results") == written
        )
    lines = run("status", "results").out.splitlines()
    assert lines[:4] == [
        "predictive comparison: finished",
        "6 of 6 fits (100 %)",
        "  unique: 3 of 3",
        "  2: 3 of 3",
    ]


@pytest.mark.long
def test_stopped_status_and_resume(run, folder, monkeypatch):
    whole = run(*COMPARE, "--out", "whole")
    with monkeypatch.context() as patch:
        stop_after(4, patch)
        assert run(*COMPARE, "--out", "results").code == 130
    lines = run("status", "results").out.splitlines()
    assert lines[:4] == [
        "predictive comparison: stopped",
        "4 of 6 fits (67 %)",
        "  unique: 2 of 3",
        "  2: 2 of 3",
    ]
    said(lines[-1], "thali resume results")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    resumed = run("resume", "../results")
    assert resumed.code == 0
    assert without_folder(resumed.out) == without_folder(whole.out)
    assert (folder / "results" / "comparison.csv").read_bytes() == (
        folder / "whole" / "comparison.csv"
    ).read_bytes()


def done(job):
    index = job_folders.read_index(job)
    return 0 if index is None else index["place"]["done"]


OTHERS = {
    "other data": (
        ["compare", "other.csv", *COMPARE[2:], "--out", "results"],
        "was started with different data",
    ),
    "draws": (
        [*COMPARE, "--draws", "50", "--out", "results"],
        "was started with --draws 40, but this predictive comparison uses --draws 50",
    ),
    "parameter": (
        [*COMPARE, "--lapse", "0.1", "--out", "results"],
        "was started with no --lapse for 'unique', but this predictive comparison uses --lapse 0.1",
    ),
    "models": (
        ["compare", "tea.csv", "--models", "unique", *QUICK, "--out", "results"],
        "includes the model '2', which is not in this predictive comparison",
    ),
    "seed": ([*COMPARE, "--seed", "4", "--out", "results"], "was started with a different seed"),
    "a fit": (
        ["fit", "tea.csv", *QUICK, "--out", "results"],
        "is a predictive comparison, but this is a fit",
    ),
}


@pytest.mark.long
def test_another_command_is_refused_unless_it_may_overwrite(run, refused, folder):
    run(*COMPARE, "--out", "results")
    written = contents(folder / "results")
    for words, sentence in OTHERS.values():
        error = refused(*words)
        assert contents(folder / "results") == written
        line = error.splitlines()[-1]
        assert sentence in line and line.endswith(
            "; choose another folder, or give --overwrite."
        ), line
    error = refused(*COMPARE, "--models", "unique,tree:3", "--out", "results", "--overwrite")
    assert contents(folder / "results") == written
    for words, _ in (OTHERS["draws"], OTHERS["a fit"]):
        assert run(*words, "--overwrite").code == 0
    assert run("status", "results").out.startswith("EliminationByAspects: finished")
