"""A fit at the command line goes on where it was: the same command, `thali resume`, `thali
status`."""

import re

import pytest
from helpers.sentences import said, says, without_folder
from helpers.watched_runs import write_often, write_snapshots_by

pytestmark = pytest.mark.fit

QUICK = ["--draws", "60", "--tune", "50", "--chains", "2", "--seed", "1"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "tea.csv").write_text("option,tea,milk,juice\ntea,0,7,9\nmilk,3,0,6\njuice,1,4,0\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.long
def test_a_folder_with_results_of_another_command_is_refused(run, refused, folder):
    likely = ("--method", "maximum-likelihood")
    run("leaderboard", "tea.csv", "--out", "board")
    before = {file: file.read_bytes() for file in (folder / "board").iterdir()}
    for settings in (likely, QUICK):
        assert "'thali leaderboard tea.csv'" in refused(
            "fit", "tea.csv", *settings, "--out", "board"
        )
    assert before == {file: file.read_bytes() for file in (folder / "board").iterdir()}
    for ci in ("0.5", "0.9"):  # the same fit with other results
        assert run("fit", "tea.csv", *likely, "--ci", ci, "--out", "fit").code == 0
    assert "choose another folder" in refused("leaderboard", "tea.csv", "--out", "fit")


@pytest.mark.long
def test_status_and_resume(run, folder, monkeypatch):
    write_often(monkeypatch, share=0.05)
    whole = run("fit", "tea.csv", *QUICK, "--out", "whole")
    title, sweeps = run("status", "whole").out.splitlines()[:2]
    assert title == "EliminationByAspects: finished" and re.fullmatch(
        r"([\d,]+) of \1 sweeps \(100 %\)", sweeps
    )
    left = [1]

    def stopping(write, folder, *args):
        write(folder, *args)
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        write_snapshots_by(patch, stopping)
        stopped = run("fit", "tea.csv", *QUICK, "--out", "results")
    assert stopped.code == 130
    sentence = run("status", "results").out
    assert "EliminationByAspects: stopped" in sentence
    says(sentence, "thali resume results")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    resumed = run("resume", "../results")
    assert resumed.code == 0
    assert without_folder(resumed.out) == without_folder(whole.out)


def test_what_is_no_job(run, refused, folder):
    (folder / "empty").mkdir()
    for words in (["status", "empty"], ["resume", "empty"], ["resume", "absent"]):
        said(refused(*words), "There is no")
    run("fit", "tea.csv", *QUICK, "--out", "results")
    (folder / "results" / "job" / "job.json").write_text("{}")
    assert "is damaged" in run("resume", "results").err


@pytest.mark.long
def test_time_is_up(run, folder):
    words = "fit tea.csv --draws 1000000 --tune 50 --chains 2 --max-time 1.5".split()
    result = run(*words, "--out", "results")
    assert result.code == 0 and re.search("stopped early; kept (1 chain|2 chains) of ", result.err)
    assert "--max-time" in run("fit", "tea.csv", "--max-time", "0").err
