"""No command replaces what it reads, or what another program wrote."""

import os

import pytest
from helpers.sentences import refused as refuses

import thali as th

VOTES = "winner,loser\ntea,milk\nmilk,tea\ntea,rum\nrum,milk\ntea,milk\n"
FILES = {
    "votes.csv": VOTES,
    "ranks.csv": VOTES,
    "leaderboard.csv": VOTES,
}
BTL = ("--model", "BTL", "--method", "maximum-likelihood")
LOSSES = {
    "report of a fit": "fit votes.csv --model BTL --report votes.csv",
    "report of a leaderboard": "leaderboard votes.csv --report votes.csv --overwrite",
    "by a link": "fit votes.csv --model BTL --report link.csv --overwrite",
    "by another path": "fit votes.csv --model BTL --report ./../HERE/votes.csv --overwrite",
    "labels": "fit ranks.csv --model BTL --labels votes.csv --report votes.csv --overwrite",
    "another table": "fit ranks.csv --model BTL --report votes.csv",
    "tables of a fit": "fit ranks.csv --model BTL --out . --overwrite",
    "tables of a leaderboard": "leaderboard leaderboard.csv --out . --overwrite",
    "another table of a folder": "leaderboard votes.csv --out .",
    "data set": "datasets celebrities --out votes.csv",
}


@pytest.mark.parametrize("typed", LOSSES.values(), ids=LOSSES)
def test_what_is_read_stays(typed, run, folder):
    os.symlink("votes.csv", folder / "link.csv")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = run(*typed.replace("HERE", folder.name).split())
    assert result.code == 2 and "Cannot write" in result.err and "Traceback" not in result.err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_what_is_piped_stays(run, folder, monkeypatch):
    with open(folder / "votes.csv", "rb") as file:
        kept = os.dup(0)
        os.dup2(file.fileno(), 0)
        try:
            result = run("fit", "-", *BTL, "--report", "votes.csv", "--overwrite")
        finally:
            os.dup2(kept, 0)
            os.close(kept)
    assert result.code == 2 and (folder / "votes.csv").read_text() == VOTES


@pytest.mark.long
@pytest.mark.fit
def test_own_files_are_replaced_and_others_if_asked_to(done, refused, folder):
    fit = ("fit", "votes.csv", *BTL, "--report", "page.html", "--out", "out")
    for _ in range(2):
        done(*fit)
    done("report", "out", "--out", "page.html")
    assert "add --overwrite" in refused("report", "out", "--out", "ranks.csv")
    assert "is read" in refused("report", "out", "--out", "out/model.nc", "--overwrite")
    done("report", "out", "--out", "ranks.csv", "--overwrite")
    for _ in range(2):
        done("datasets", "celebrities", "--out", "celebrities.csv")
        done("test", "circular", "celebrities.csv", "--out", "tests")
        done("design", "tea", "milk", "rum", "--out", "design")
    (folder / "design" / "design.csv").write_text("mine")
    assert "add --overwrite" in refused("design", "tea", "milk", "rum", "--out", "design")
    done("design", "tea", "milk", "rum", "--out", "design", "--overwrite")


@pytest.mark.long
@pytest.mark.fit
def test_python_replaces_its_own_files_alone(folder):
    model = th.BradleyTerryLuce("maximum-likelihood").fit(th.read("votes.csv"))
    board = th.leaderboard("votes.csv")
    for name, write in {
        "a.nc": model.save,
        "a.html": model.report,
        "b.nc": board.save,
        "b.csv": board.save,
        "b.json": board.save,
    }.items():
        write(name)
        write(name)
        with open(name, "w") as file:
            file.write("[1, 2]")
        with refuses(th.errors.DataError, "not written by thali", "delete it"):
            write(name)
        assert (folder / name).read_text() == "[1, 2]"
