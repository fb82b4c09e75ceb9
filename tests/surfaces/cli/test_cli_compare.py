"""`thali compare` and `thali reproduce`, from words on the command line to files."""

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from short_comparisons import stop_after

import thali as th
from thali import reproduce
from thali.data.kinds import CHOICES, PAIRS
from thali.errors import ArgumentError, ThaliWarning
from thali.model.options import DRAWS, TUNE
from thali.reproduce import Entry, Reproduction, Settings
from thali.reproduce import elimination_2006 as paper
from thali.reproduce.entry import finished_parts
from thali.surfaces.cli.boundary import OptionWords
from thali.surfaces.cli.commands.reproduce import _key
from thali.surfaces.text import text_of

TEA = "chosen,rejected,count\ntea,coffee,12\ncoffee,tea,8\ntea,milk,15\nmilk,coffee,4\ncoffee,milk,9\n"
QUICK = ["--draws", 40, "--tune", 10, "--chains", 2, "--thin", 1, "--seed", 3, "--cores", 1]
FILES = {"tea.csv": TEA, "hot.csv": "option,aspect\ntea,hot\ncoffee,hot\n"}


# compare --------------------------------------------------------------------------------------------------


@pytest.mark.fit
def test_compare_prints_the_table_of_the_library(done):
    result = done("compare", "tea.csv", "--models", "unique,BIG=2,hot.csv,ibp", *QUICK)
    data = th.read_table("tea.csv")
    models = {
        "unique": th.EliminationByAspects("unique"),
        "BIG": th.EliminationByAspects(2),
        "hot": th.EliminationByAspects({"tea": ["hot"], "coffee": ["hot"], "milk": []}),
        "ibp": th.EliminationByAspects(),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        table = th.compare(
            models,
            th.PairedComparisons.from_frame(data),
            draws=40,
            tune=10,
            chains=2,
            thin=1,
            random_seed=3,
            cores=1,
            progressbar=False,
        )
    assert result.out == text_of(th.findings(table), OptionWords([DRAWS, TUNE])) + "\n"
    for name, row in table.iterrows():
        assert any(line.split()[:2] == [name, f"{row['nll']:.3f}"] for line in result.out.splitlines())
    assert "4 x 3 fits" in result.err
    assert "WARNING: Chains do not agree" in result.out and "--draws" in result.out
    assert "ConvergenceWarning" not in result.err


def test_the_options_reach_the_models():
    from thali.surfaces.cli.naming_models import parse_models

    settings = {"unique": False, "lapse": 0.1, "alpha": 2.0, "tree": None}
    named = dict(parse_models("ibp,BTL = unique,3", settings, PAIRS, ("a", "b")))
    assert [model.alpha for model in named.values()] == [2.0, None, 2.0]
    assert all(model.lapse == 0.1 and model.unique is False for model in named.values())
    assert [model.aspects for model in named.values()] == ["ibp", "unique", 3]


def test_kinds_of_people_are_named():
    from thali.surfaces.cli.naming_models import parse_models

    named = dict(parse_models("kinds:1, two = kinds:2:unique, 3", {}, CHOICES, ("a", "b")))
    assert [(model.kinds, model.aspects) for model in named.values()] == [(1, "ibp"), (2, "unique"), (None, 3)]
    with pytest.raises(ArgumentError, match="'kinds:x' in --models must be kinds: and a whole number, such as kinds:2"):
        parse_models("kinds:x", {}, PAIRS, ("a", "b"))


def test_what_is_made_of_people_is_named():
    from thali.surfaces.cli.naming_models import parse_models

    named = dict(parse_models("random:unique, even = independent, adjusted:2, ibp", {}, CHOICES, ("a", "b")))
    found = [(model.people, model.aspects) for model in named.values()]
    assert found == [("random", "unique"), ("independent", "ibp"), ("adjusted", 2), (None, "ibp")]


GROUPS = "option,group\ntea,leaves\ncoffee,beans\nmilk,beans\n"


@pytest.mark.fit
def test_trees_of_a_file_are_models(done, folder):
    (folder / "groups.csv").write_text(GROUPS)
    result = done("compare", "tea.csv", "--models", "near=tree:0.1,tree:0.5,ibp", "--tree", "groups.csv", *QUICK)
    assert [line.split()[0] for line in result.out.splitlines()[3:8]] == ["BASE", "near", "tree:0.5", "ibp", "EMP"]


@pytest.mark.fit
def test_fit_takes_groups_or_newick(run, folder):
    (folder / "groups.csv").write_text(GROUPS)
    by_groups = run("fit", "tea.csv", "--tree", "groups.csv", "--leaf-length", 0.25, *QUICK)
    (folder / "tree.nwk").write_text("((coffee:0.25,milk:0.25)beans:0.75,(tea:0.25)leaves:0.75);")
    by_newick = run("fit", "tea.csv", "--tree", "tree.nwk", *QUICK)
    assert by_groups.code == by_newick.code == 0
    assert by_groups.out == by_newick.out
    assert "clade beans" in by_groups.out and "cut across it" in by_groups.out


BAD_TREES = {
    "no such file": (["fit", "tea.csv", "--tree", "no.csv"], "no file 'no.csv'"),
    "aspects besides": (["fit", "tea.csv", "--tree", "groups.csv", "--aspects", "3"], "takes the place of --aspects"),
    "a length without a tree": (["fit", "tea.csv", "--leaf-length", "0.1"], "belongs to a tree of groups"),
    "a length too much": (["fit", "tea.csv", "--tree", "tree.nwk", "--leaf-length", "0.1"], "lengths of its own"),
    "a length outside": (["fit", "tea.csv", "--tree", "groups.csv", "--leaf-length", "2"], "at most 1; got 2"),
    "an option without a leaf": (["fit", "tea.csv", "--tree", "few.csv"], "'milk'"),
    "three columns": (["fit", "tea.csv", "--tree", "wide.csv"], "two columns, option and group; found 3"),
    "a gap": (["fit", "tea.csv", "--tree", "gap.csv"], "row 2 below the header must name an option and a group"),
    "a broken tree": (["fit", "tea.csv", "--tree", "broken.nwk"], "position"),
    "which tree": (["compare", "tea.csv", "--models", "tree,ibp"], "say with --tree FILE which"),
    "an idle tree": (
        ["compare", "tea.csv", "--models", "unique,ibp", "--tree", "groups.csv"],
        "no model of --models is",
    ),
    "no number": (["compare", "tea.csv", "--models", "tree:x", "--tree", "groups.csv"], "must follow 'tree:', not 'x'"),
    "a tree for fit's paper": (["compare", "tea.csv", "--models", "tree:3", "--tree", "groups.csv"], "at most 1"),
}


@pytest.mark.parametrize(("words", "messages"), BAD_TREES.values(), ids=BAD_TREES)
def test_bad_trees(refused, folder, words, messages):
    (folder / "groups.csv").write_text(GROUPS)
    (folder / "few.csv").write_text("option,group\ntea,a\ncoffee,b\n")
    (folder / "wide.csv").write_text("option,group,more\ntea,a,1\n")
    (folder / "gap.csv").write_text("option,group\ntea,a\nmilk,\n")
    (folder / "tree.nwk").write_text("((coffee:0.25,milk:0.25):0.75,tea:1);")
    (folder / "broken.nwk").write_text("((coffee:0.25,milk:0.25:0.75,tea:1);")
    assert messages in refused(*words)


@pytest.mark.rendered
@pytest.mark.fit
def test_compare_writes_everything(done, folder):
    done("compare", "tea.csv", "--models", "unique,2", "--out", "results", *QUICK)
    assert sorted(os.listdir(folder / "results")) == ["comparison.csv", "comparison.png", "job", "predictions.csv"]
    table = pd.read_csv(folder / "results" / "comparison.csv", index_col="model")
    assert list(table.index) == ["BASE", "unique", "2", "EMP"]
    assert len(pd.read_csv(folder / "results" / "predictions.csv")) == 6


@pytest.mark.fit
def test_compare_stopped_by_ctrl_c_prints_what_there_is(run, monkeypatch):
    stop_after(3, monkeypatch)
    result = run("compare", "tea.csv", "--models", "unique,2", *QUICK)
    assert result.code == 130
    assert "(1 of 3 pairs)" in result.out
    assert "stopped by Ctrl-C; 3 of 6 fits are finished; with --out DIR it could go on." in result.err
    result = run("compare", "tea.csv", "--models", "unique,2", "--out", "results", *QUICK)
    assert (
        "stopped by Ctrl-C; 3 of 6 fits are in 'results'; the same command, or thali resume results, goes on."
        in result.err
    )

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("thali.comparison.engine.comparison_table", stop)  # the second Ctrl-C
    result = run("compare", "tea.csv", "--models", "unique,2", "--out", "results", *QUICK)
    assert result.code == 130 and "nothing was written" not in result.err
    assert "stopped by Ctrl-C; 6 of 6 fits are in 'results/job'; the same command goes on." in result.err


BAD = {
    "no such model": (["--models", "magic"], "--models must be ibp, unique, a whole number"),
    "two of one name": (["--models", "2,2"], "Two models are named '2'"),
    "an empty name": (["--models", "2,,3"], "needs models between commas"),
    "no aspects": (["--models", "BTL="], "needs models between commas"),
    "left out": (["--leave-out", "day"], "--leave-out must be pair or subject for paired comparisons; got 'day'"),
    "too many aspects": (["--models", "-2"], "-2"),
    "a file in the way": (["--out", "tea.csv"], "is a file"),
}


@pytest.mark.parametrize(("words", "messages"), BAD.values(), ids=BAD)
def test_bad_input(refused, words, messages):
    assert messages in refused("compare", "tea.csv", *words)


# reproduce ------------------------------------------------------------------------------------------------


def test_everything_that_can_be_reproduced_is_listed(done):
    for words in (["reproduce"], ["reproduce", "--list"]):
        result = done(*words)
        for entry in reproduce.catalogue():
            assert f"{entry.name}\n    {entry.shows}" in result.out and entry.paper in result.out


@pytest.mark.parametrize(
    ("words", "messages"),
    [
        (["tokyo"], "'tokyo'; there are 'paris-rome'"),
        (["paris-rome", "--small", "--full"], "--small or --full"),
        (["--all"], "name a folder with --out DIR"),
        (["paris-rome", "--all", "--out", "results"], "--all takes no name; leave out 'paris-rome' or --all"),
        (["--all", "--out", "results", "--sushi", "tea.csv"], "in a table named sushi"),
        (
            ["--all", "--out", "results", "--data", "tea.csv"],
            "is a folder with the tables of all entries; 'tea.csv' is none",
        ),
    ],
)
def test_reproduce_bad_input(refused, words, messages):
    assert messages in refused("reproduce", *words)


def made_up(interrupted=False):
    def draw():
        from matplotlib import pyplot

        return pyplot.subplots()[1]

    table = pd.DataFrame({"what": ["a", "b"], "paper": [0.5, np.nan], "here": [0.51, 1.0], "error": [0.001, 0.0]})
    found = Reproduction({"Table 9: numbers": table}, ["They agree.", 40 * "So-so. "], {"figure-9": draw}, interrupted)
    return Entry("made-up", "Nobody (1900)", "Table 9", {"small": "no time"}, lambda settings: found)


def test_reproduce_prints_and_writes(done, folder, monkeypatch):
    monkeypatch.setattr(reproduce, "find", lambda name: made_up())
    result = done("reproduce", "made-up", "--small", "--out", "results")
    assert "what  paper   here   error\na     0.500  0.510  0.0010\nb         -  1.000  0.0000" in result.out
    assert "They agree.\nSo-so. So-so." in result.out and max(map(len, result.out.splitlines())) <= 110
    assert sorted(os.listdir(folder / "results")) == ["made-up-1.csv", "made-up-figure-9.png", "made-up.txt"]
    assert (folder / "results" / "made-up.txt").read_text() == result.out


def test_a_reproduction_goes_on_from_its_job(run, refused, folder, monkeypatch):
    computed = []

    def parts(settings):
        made = {name: lambda name=name: computed.append(name) or {"x": settings.random_seed} for name in "abc"}
        records, interrupted = finished_parts(settings, "parts", {"draws": 5}, None, made, ("adding", "parts"))
        return Reproduction({"Table 9": pd.DataFrame(records)}, ["They agree."], interrupted=interrupted)

    entry = Entry("made-up", "Nobody (1900)", "Table 9", {"small": "no time", "full": "none"}, parts)
    monkeypatch.setattr(reproduce, "find", lambda name: entry)
    words = ["reproduce", "made-up", "--out", "results"]
    first = run(*words, "--small")
    assert first.code == 0 and run(*words, "--small").out == first.out and computed == list("abc")
    assert run(*words, "--full").code == 0 and computed == 2 * list("abc")  # another job
    error = refused(*words, "--small", "--seed", 2)
    assert computed == 2 * list("abc")
    assert error.endswith("was begun with another seed; choose another folder, or give --overwrite.\n")
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
            return Reproduction({"Table 9": table}, ["They agree."], interrupted=names == ["first", "second"])

        takes = dict.fromkeys(("small", "standard"), "no time")
        return Entry(name, "Nobody (1900)", f"Table {name}", takes, function, **needs)

    third = entry("third", needs="a table", reads=Path.read_text, named=("teas",))
    monkeypatch.setattr(reproduce, "catalogue", lambda: [entry("first"), entry("second"), third])
    return names


def test_all_is_reproduced_as_one_job_that_goes_on(run, done, refused, folder, computed):
    (folder / "data").mkdir()
    (folder / "data" / "teas.csv").write_text("green")
    words = ["reproduce", "--all", "--data", "data", "--out", "results"]
    stopped = run(*words)
    assert stopped.code == 130 and "thali resume results goes on with it" in stopped.err
    assert "1 of 3 reproductions (33%)" in done("status", "results").out
    done("resume", "results")
    assert computed == ["first", "second", "second", "third"]
    names = {f"{name}{end}" for name in ("first", "second", "third") for end in (".txt", "-1.csv")}
    assert set(os.listdir(folder / "results")) == names | {"job"}
    assert "green" in (folder / "results" / "third.txt").read_text()
    assert "reproduction: finished" in done("status", "results").out
    done(*words)
    assert len(computed) == 4  # nothing is done twice
    (folder / "data" / "teas.csv").write_text("black")
    (folder / "results" / "first.txt").unlink()
    done(*words)
    assert computed[4:] == ["first", "third"] and "black" in (folder / "results" / "third.txt").read_text()
    assert "was begun with" in refused(*words, "--small") and "another seed" in refused(*words, "--seed", 2)
    done(*words, "--seed", 2, "--overwrite")
    assert computed[6:] == ["first", "second", "third"]


def test_what_lacks_its_data_is_named_and_left_out(run, folder, computed):
    result = run("reproduce", "--all", "--out", "results")
    assert "third is left out: it needs teas.csv in the folder of --data." in result.err
    assert "2 reproductions: first, second." in result.err


def test_a_list_runs_nothing(run, computed):
    assert run("reproduce", "--all", "--list", "--out", "results").code == 0 and computed == []


def test_sushi_is_data_of_the_table(tmp_path):
    (tmp_path / "sushi.csv").write_text("age")
    table = reproduce.find("plackett-luce-table2")
    assert [file.name for file in table.files_in(tmp_path)] == ["sushi.csv"]
    settings = table.with_data_of(Settings(data=tmp_path))
    before = _key(table, settings)
    (tmp_path / "sushi.csv").write_text("sex")
    assert _key(table, settings) != before


def test_reproduce_stopped_early(run, monkeypatch):
    monkeypatch.setattr(reproduce, "find", lambda name: made_up(interrupted=True))
    result = run("reproduce", "made-up", "--small")
    assert result.code == 130 and "They agree." in result.out and "stopped by Ctrl-C" in result.err


@pytest.mark.usefixtures("pictures")
@pytest.mark.fit
def test_paris_rome():
    found = paper.paris_rome(Settings("small", 1, progressbar=False))
    choices, inferred = found.tables.values()
    choices = choices.set_index("choice")
    assert choices.loc["P+ over R", "exact"] == pytest.approx(1.01 / 2.01)
    reference = {"P+ over P": 0.9848, "P+ over R": 0.5603, "P+ over R+": 0.5, "P over R+": 0.4397, "R over R+": 0.0151}
    for choice, value in reference.items():
        row = choices.loc[choice]
        assert abs(row["posterior mean"] - value) < 4.5 * row["error"] + 5e-5
    inferred = inferred.set_index("quantity")
    for name, value in {"alpha": 1.387, "aspects shared by P+ and P alone": 1.150}.items():
        assert abs(inferred.loc[name, "mean"] - value) < 4.5 * inferred.loc[name, "error"] + 1e-3
    assert all(draw() is not None for draw in found.pictures.values())


@pytest.mark.long
@pytest.mark.usefixtures("pictures")
@pytest.mark.fit
def test_celebrities_in_miniature(monkeypatch, folder):
    """All of it but the length: three options of the nine, so that three pairs are left out."""
    few = th.datasets.celebrities().subset(["LBJ", "JU", "BB"])
    monkeypatch.setattr(paper.datasets, "celebrities", lambda: few)
    trio = {"LBJ": ["politician"], "JU": ["athlete"], "BB": ["star"]}
    monkeypatch.setattr(paper, "professions", lambda: trio)
    monkeypatch.setattr(paper, "PROFESSIONS", {"politician": ["LBJ"], "others": ["JU", "BB"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        found = paper.celebrities(Settings("small", 1, 1, False, folder))
    (table,) = found.tables.values()
    assert list(table["model"]) == ["BASE", "BTL", "EBA12", "EBA15", "tEBA", "iEBA", "tree .1", "tree .5", "EMP"]
    assert table["NLL, paper"].dropna().tolist() == [17.57, 4.66, 4.50, 4.31, 3.95, 3.92, 2.89]
    assert {each.name for each in folder.iterdir()} >= {"compare", "iEBA", "tEBA"}
    assert any(remark.startswith("Fig. 4: tEBA predicts") for remark in found.remarks)
    assert set(found.pictures) == {"figure-3", "figure-4", "aspects-inferred"}
    assert all(draw() is not None for draw in found.pictures.values())


@pytest.mark.fit
@pytest.mark.long
def test_scan_order():
    found = paper.scan_order(Settings("small", 1, progressbar=False))
    (table,) = found.tables.values()
    recommended, published, printed = table["mean"][3:]
    assert abs(recommended - 10.74) < 4.5 * table["error"][3]
    assert published < recommended < printed - 10
    assert abs(table["mean"][0] - 2.5) < 4.5 * table["error"][0]
