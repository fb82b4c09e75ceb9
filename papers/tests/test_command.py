"""`python -m papers`, from words on the command line to files."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import papers
from papers import Entry, Reproduction, Settings
from papers.command import _key
from papers.reproduction_entry import finished_parts


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Each test has a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_reproductions_are_listed_and_found_whatever_the_spelling():
    names = [entry.name for entry in papers.catalogue()]
    assert (
        names[:3] == ["paris-rome", "celebrities", "scan-order"]
        and len(names) == len(set(names)) == 14
    )
    assert papers.find("paris_rome").name == papers.find("Paris-Rome").name == "paris-rome"


def test_everything_that_can_be_reproduced_is_listed(done):
    for words in ([], ["--list"]):
        result = done(*words)
        for entry in papers.catalogue():
            assert f"{entry.name}\n    {entry.shows}" in result.out and entry.paper in result.out


@pytest.mark.parametrize(
    ("words", "messages"),
    [
        (["tokyo"], "'tokyo'; there are 'paris-rome'"),
        (["paris-rome", "--small", "--full"], "--small or --full"),
        (["--all"], "name a folder with --out DIR"),
        (
            ["paris-rome", "--all", "--out", "results"],
            "--all takes no name; leave out 'paris-rome' or --all",
        ),
        (
            ["--all", "--out", "results", "--data", "tea.csv"],
            "is a folder with the tables of all entries; 'tea.csv' is none",
        ),
    ],
)
def test_reproduce_bad_input(refused, words, messages):
    assert messages in refused(*words)


def made_up(interrupted=False):
    def draw():
        from matplotlib import pyplot

        return pyplot.subplots()[1]

    table = pd.DataFrame(
        {"what": ["a", "b"], "paper": [0.5, np.nan], "here": [0.51, 1.0], "error": [0.001, 0.0]}
    )
    found = Reproduction(
        {"Table 9: numbers": table},
        ["They agree.", 40 * "So-so. "],
        {"figure-9": draw},
        interrupted,
    )
    return Entry(
        "made-up", "Nobody (1900)", "Table 9", {"small": "no time"}, lambda settings: found
    )


def test_reproduce_prints_and_writes(done, folder, monkeypatch):
    monkeypatch.setattr(papers, "find", lambda name: made_up())
    result = done("made-up", "--small", "--out", "results")
    assert (
        "what  paper   here   error\na     0.500  0.510  0.0010\nb         -  1.000  0.0000"
        in result.out
    )
    assert (
        "They agree.\nSo-so. So-so." in result.out and max(map(len, result.out.splitlines())) <= 110
    )
    assert sorted(os.listdir(folder / "results")) == [
        "made-up-1.csv",
        "made-up-figure-9.png",
        "made-up.txt",
    ]
    assert (folder / "results" / "made-up.txt").read_text() == result.out


def test_a_reproduction_goes_on_from_its_job(run, refused, folder, monkeypatch):
    computed = []

    def parts(settings):
        made = {
            name: lambda name=name: computed.append(name) or {"x": settings.random_seed}
            for name in "abc"
        }
        records, interrupted = finished_parts(
            settings, "parts", {"draws": 5}, None, made, ("adding", "parts")
        )
        return Reproduction(
            {"Table 9": pd.DataFrame(records)}, ["They agree."], interrupted=interrupted
        )

    entry = Entry(
        "made-up", "Nobody (1900)", "Table 9", {"small": "no time", "full": "none"}, parts
    )
    monkeypatch.setattr(papers, "find", lambda name: entry)
    words = ["made-up", "--out", "results"]
    first = run(*words, "--small")
    assert first.code == 0 and run(*words, "--small").out == first.out and computed == list("abc")
    assert run(*words, "--full").code == 0 and computed == 2 * list("abc")  # another job
    error = refused(*words, "--small", "--seed", 2)
    assert computed == 2 * list("abc")
    assert error.endswith(
        "was started with a different seed; choose another folder, or give --overwrite.\n"
    )
    again = run(*words, "--small", "--seed", 2, "--overwrite")
    assert again.code == 0 and again.out != first.out and computed == 3 * list("abc")


@pytest.fixture
def computed(monkeypatch):
    """What was computed of three made-up entries, one of which needs data."""
    names = []

    def entry(name, **needs):
        def function(settings):
            names.append(name)
            data = "none" if settings.data is None else settings.data.read_text()
            table = pd.DataFrame({"seed": [settings.random_seed], "data": [data]})
            return Reproduction(
                {"Table 9": table}, ["They agree."], interrupted=names == ["first", "second"]
            )

        takes = dict.fromkeys(("small", "standard"), "no time")
        return Entry(name, "Nobody (1900)", f"Table {name}", takes, function, **needs)

    third = entry("third", needs="a table", reads=Path.read_text, named=("teas",))
    monkeypatch.setattr(papers, "catalogue", lambda: [entry("first"), entry("second"), third])
    return names


def test_all_is_reproduced_as_one_job_that_goes_on(run, done, refused, folder, computed):
    (folder / "data").mkdir()
    (folder / "data" / "teas.csv").write_text("green")
    words = ["--all", "--data", "data", "--out", "results"]
    stopped = run(*words)
    assert stopped.code == 130 and "the same command goes on" in stopped.err
    assert computed == ["first", "second"]
    done(*words)
    assert computed == ["first", "second", "second", "third"]
    names = {f"{name}{end}" for name in ("first", "second", "third") for end in (".txt", "-1.csv")}
    assert set(os.listdir(folder / "results")) == names | {"job"}
    assert "green" in (folder / "results" / "third.txt").read_text()
    done(*words)
    assert len(computed) == 4  # nothing is done twice
    (folder / "data" / "teas.csv").write_text("black")
    (folder / "results" / "first.txt").unlink()
    done(*words)
    assert (
        computed[4:] == ["first", "third"]
        and "black" in (folder / "results" / "third.txt").read_text()
    )
    assert "was started with" in refused(*words, "--small") and "a different seed" in refused(
        *words, "--seed", 2
    )
    done(*words, "--seed", 2, "--overwrite")
    assert computed[6:] == ["first", "second", "third"]


def test_what_lacks_its_data_is_named_and_left_out(run, folder, computed):
    result = run("--all", "--out", "results")
    assert "third is left out: it needs teas.csv in the folder of --data." in result.err
    assert "2 reproductions: first, second." in result.err


def test_a_list_runs_nothing(run, computed):
    assert run("--all", "--list", "--out", "results").code == 0 and computed == []


def test_sushi_is_data_of_the_table(tmp_path):
    (tmp_path / "sushi.csv").write_text("age")
    table = papers.find("plackett-luce-table2")
    assert [file.name for file in table.files_in(tmp_path)] == ["sushi.csv"]
    settings = table.with_data_of(Settings(data=tmp_path))
    before = _key(table, settings)
    (tmp_path / "sushi.csv").write_text("sex")
    assert _key(table, settings) != before


def test_reproduce_stopped_early(run, monkeypatch):
    monkeypatch.setattr(papers, "find", lambda name: made_up(interrupted=True))
    result = run("made-up", "--small")
    assert result.code == 130 and "They agree." in result.out and "stopped by Ctrl-C" in result.err
