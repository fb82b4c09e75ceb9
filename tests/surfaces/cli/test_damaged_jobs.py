"""Jobs whose files were damaged, killed, moved or dated wrongly: a sentence, or the same result to
the last digit."""

import math
import os
import shutil
import subprocess
import sys
from collections import Counter
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from helpers import rights
from helpers.patience import PATIENCE
from helpers.sentences import said, says, without_folder
from helpers.watched_runs import find_evidence_by, stop_after

from thali._inference import job_folders
from thali._posterior.convergence_check import ConvergenceCheck
from thali._posterior.log_evidence import LogEvidence
from thali.errors import Message

pytestmark = pytest.mark.fit

QUICK = "--draws 40 --tune 10 --chains 2 --thin 1 --seed 3 --cores 1".split()
WORDS = {
    "fit": ["fit", "tea.csv", "--draws", "60", "--tune", "50", "--chains", "2", "--seed", "1"],
    "comparison": ["compare", "tea.csv", "--models", "unique,2", "--by", "prediction", *QUICK],
    "evidence": "compare tea.csv --by evidence --models unique,two=2 --draws 300 --seed 4".split(),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A table of choices, and evidence by the number of aspects in place of any computation."""
    (tmp_path / "tea.csv").write_text("option,tea,milk,juice\ntea,0,7,9\nmilk,3,0,6\njuice,1,4,0\n")
    monkeypatch.chdir(tmp_path)

    def found(model, data, how):
        value = -20.0 if model.aspects == "unique" else -25.0
        path = pd.DataFrame({"inverse_temperature": [1.0, 0.0], "log_likelihood": [-3.0, -9.0]})
        path = path.assign(
            log_likelihood_sd=1.0, log_evidence=[value, 0.0], swap_rate=[0.5, math.nan]
        )
        sentence = ConvergenceCheck(True, {}, Message("It agrees."))
        return LogEvidence(value, 0.1, 11.0, sentence, np.array([value]), path, None)

    find_evidence_by(monkeypatch, found)
    return tmp_path


def stopped(run, kind, monkeypatch):
    """The folder of a comparison that was stopped after its first part."""
    with monkeypatch.context() as patch:
        if kind == "comparison":
            stop_after(1, patch)
        else:
            asked = []

            def only_one(*given):
                asked.append(given)
                if len(asked) > 1:
                    raise KeyboardInterrupt
                return whole(*given)

            whole = find_evidence_by(patch, only_one)
        assert run(*WORDS[kind], "--out", "results").code == 130


def begun(run, kind, monkeypatch):
    """What the unbroken command prints; its job is in the folder `results`."""
    name = kind.rpartition(" ")[2]
    whole = run(*WORDS[name], "--out", "whole")
    if kind.startswith("stopped"):
        stopped(run, name, monkeypatch)
        return whole.out
    run(*WORDS[name], "--out", "results")
    return whole.out


def damaged(content, how, rng):
    """The bytes with one thing wrong; None: there is no such file."""
    raw, k = bytearray(content), int(rng.integers(max(1, len(content))))
    match how:
        case "flip" if raw:
            raw[k] ^= 1 << int(rng.integers(8))
        case "cut":
            del raw[k:]
        case "zeros":
            raw[k : k + 50] = bytes(len(raw[k : k + 50]))
        case "extra":
            raw[k:k] = b"x"
        case "lost":
            return None
    return bytes(raw)


def said_in_a_sentence(found):
    last = found.err.splitlines()[-1]
    return found.code == 2 and last.startswith("thali: error: ") and last.endswith(".")


def is_the_same(found, place, whole):
    """Whether a command gave what the unbroken one had given; False if it was refused in a
    sentence."""
    if found.code:
        assert said_in_a_sentence(found), found.err
        return False
    assert without_folder(found.out) == without_folder(whole)
    assert (place / "comparison.csv").read_bytes() == (
        place.parent / "whole" / "comparison.csv"
    ).read_bytes()
    return True


def broken(run, folder, kind, monkeypatch, damages):
    """Damage every file of the job in each way; returns how often that was refused, and how often
    harmless."""
    whole, results = begun(run, kind, monkeypatch), folder / "results"
    shutil.copytree(results, kept := folder.parent / f"{folder.name} kept")
    counts, rng = Counter(), np.random.default_rng(7)
    for file in sorted((kept / "job").iterdir()):
        for how in damages:
            shutil.rmtree(results)
            shutil.copytree(kept, results)
            content, path = damaged(file.read_bytes(), how, rng), results / "job" / file.name
            path.unlink() if content is None else path.write_bytes(content)
            for command in ("status", "report"):
                found = run(command, "results")
                assert found.code == 0 or said_in_a_sentence(found)
                os.chdir(folder)
            same = is_the_same(run("resume", "results"), results, whole)
            os.chdir(folder)
            assert same or file.name != job_folders.LOCK  # whose content says nothing
            counts["the same" if same else "refused"] += 1
    return counts


@pytest.mark.long
@pytest.mark.parametrize(
    "kind", ["comparison", "stopped comparison", "evidence", "stopped evidence"]
)
def test_jobs_of_parts_with_every_file_damaged(run, folder, monkeypatch, kind):
    damages = ["flip"] * 12 + ["cut"] * 5 + ["zeros"] * 5 + ["extra"] * 3 + ["lost"]
    counts = broken(run, folder, kind, monkeypatch, damages)
    print(f"{kind}: {counts.total()} damaged files, {dict(counts)}, 0 failed")
    assert counts["refused"] >= counts["the same"]


def test_jobs_of_parts_have_one_writer(run, refused, folder):
    commands = [*WORDS["evidence"], "--out", "results"], ["resume", "results"]
    run(*commands[0])
    with job_folders.lock_folder(folder / "results" / "job"):
        assert "running" in run("status", "results").out
        for words in commands:
            said(refused(*words), "is running in")
    for words in commands:
        assert run(*words).code == 0


# dates and places ---------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("kind", ["fit", "comparison"])
def test_clocks_and_places_do_not_matter(run, refused, folder, kind, monkeypatch):
    """The clock was ahead when the job was written, and its files are of 1970; the folder was moved
    and renamed."""
    whole = run(*WORDS[kind], "--out", "results")
    job = folder / "results" / "job"
    later = datetime.now().astimezone() + timedelta(days=400)
    (job / job_folders.INDEX).write_bytes(
        job_folders.encode_index(job_folders.read_index(job) | {"written": later.isoformat()})
    )
    for path in folder.rglob("*"):
        os.utime(path, (0, 0))
    assert "finished" in run("status", "results").out
    assert without_folder(run("resume", "results").out) == without_folder(whole.out)
    folder.rename(moved := folder.with_name("moved"))
    try:
        monkeypatch.chdir(moved)
        again = run("resume", "results")
        assert without_folder(again.out) == without_folder(whole.out)
        says(again.err, "does not exist here")
        (moved / "elsewhere").mkdir()
        (moved / "results").rename(moved / "elsewhere" / "other")
        elsewhere = run("resume", "elsewhere/other")
        assert without_folder(elsewhere.out) == without_folder(whole.out)
        (moved / "tea.csv").unlink()
        said(refused("resume", "elsewhere/other").splitlines()[-1], "'tea.csv'")
    finally:
        os.chdir("/")
        moved.rename(folder)


@pytest.mark.long
@pytest.mark.skipif(not rights.can_be_given_up, reason="whoever runs this may write everywhere")
def test_read_only_jobs_are_read(run, folder):
    """Nothing is written there; what needs to write says so before anything else."""
    run(*WORDS["comparison"], "--out", "results")
    read_only = [folder / "results", *(folder / "results").rglob("*")]
    for path in read_only:
        path.chmod(path.stat().st_mode & ~0o222)

    def as_somebody(*words):
        command = [sys.executable, "-m", "thali", *words]
        return subprocess.run(
            command, preexec_fn=rights.given_up, capture_output=True, text=True, timeout=PATIENCE
        )

    try:
        assert as_somebody("status", "results").stdout.startswith(
            "predictive comparison: finished\n"
        )
        refused = as_somebody("resume", "results")
        assert refused.returncode == 2 and "to write to the folder" in refused.stderr, (
            refused.stderr
        )
    finally:
        for path in read_only:
            path.chmod(path.stat().st_mode | 0o200)
