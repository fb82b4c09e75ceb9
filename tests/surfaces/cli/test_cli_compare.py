"""`thali compare`, from words on the command line to files."""

import warnings

import pytest
from helpers.option_words import TYPED
from helpers.sentences import says
from helpers.watched_runs import stop_after, stop_at_table

import thali as th
from thali.errors import ThaliWarning

TEA = (
    "chosen,rejected,count\ntea,coffee,12\ncoffee,tea,8\ntea,milk,15\nmilk,coffee,4\n"
    "coffee,milk,9\n"
)
QUICK = ["--draws", 40, "--tune", 10, "--chains", 2, "--thin", 1, "--seed", 3, "--cores", 1]
WHOLE = [*QUICK, "--print", "all"]
FILES = {"tea.csv": TEA, "hot.csv": "option,aspect\ntea,hot\ncoffee,hot\n"}


# compare ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([], {"by": "evidence", "folds": None}),
        (["--by", "prediction"], {"by": "prediction", "folds": None}),
        (["--leave-out", "pair"], {"by": "prediction", "folds": None}),
        (["--folds", 3], {"by": "prediction", "folds": 3}),
        (["--method", "maximum-likelihood"], {"by": "prediction", "folds": None}),
        (["--models", "independent:unique,adjusted:unique"], {"by": "prediction"}),
        (["--models", "ibp"], {"by": "prediction"}),
        (["celebrities", "--method", "ml"], {"by": "prediction", "folds": 6}),
        (["celebrities", "--by", "prediction", "--folds", 36], {"by": "prediction", "folds": 36}),
    ],
)
def test_a_comparison_is_as_long_as_it_needs_to_be(run, monkeypatch, words, wanted):
    """By evidence where every model has one, else six folds where each pair in turn takes more than
    20 fits."""
    asked = {}
    monkeypatch.setattr(
        th, "compare", lambda named, data, **how: asked.update(how, names=[*dict(named)]) or 1 / 0
    )
    with pytest.raises(ZeroDivisionError):
        run("compare", *([] if "celebrities" in words else ["tea.csv"]), *words)
    assert wanted.items() <= asked.items()
    if not words:
        assert asked["names"] == ["BTL", "inferred aspects"]


@pytest.mark.fit
def test_compare_prints_the_table_of_the_library(done):
    result = done(
        "compare", "tea.csv", "--models", "unique,BIG=2,hot.csv,ibp", "--by", "prediction", *WHOLE
    )
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
    found = th.findings(table)
    for sentence in (
        *found["comparison"].format_sentences(TYPED),
        *found["chains"].format_sentences(TYPED),
    ):
        assert sentence in result.out
    for name, row in table.iterrows():
        assert any(
            line.split()[:2] == [name, f"{row['nll']:.3f}"] for line in result.out.splitlines()
        )
    assert "12 fits: each model is fitted without each of 3 parts" in result.err
    says(result.out, "WARNING: The chains disagree")
    assert "--draws" in result.out
    assert "ConvergenceWarning" not in result.err


def test_the_options_reach_the_models(compared):
    named = compared("tea.csv", "ibp,BTL = unique,3", "--no-unique", "--lapse", 0.1, "--alpha", 2)
    assert list(named) == ["ibp", "BTL", "3"] and [model.alpha for model in named.values()] == [
        2.0,
        None,
        2.0,
    ]
    assert all(model.lapse == 0.1 and model.unique is False for model in named.values())
    assert [model.aspects for model in named.values()] == ["ibp", "unique", 3]


def test_what_is_made_of_people_is_named(compared):
    first, *others = compared(
        "tea.csv", "individuals:BTL, even = independent, adjusted:2, ibp"
    ).values()
    assert type(first) is th.BradleyTerryLuce and first.people == th.people.Individuals()
    found = [(model.people, model.aspects) for model in others]
    assert found == [("independent", "ibp"), ("adjusted", 2), (None, "ibp")]


GROUPS = "option,group\ntea,leaves\ncoffee,beans\nmilk,beans\n"


@pytest.mark.fit
def test_trees_of_a_file_are_models(done, folder):
    (folder / "groups.csv").write_text(GROUPS)
    result = done(
        *"compare tea.csv --models near=tree:0.1,tree:0.5,ibp --tree groups.csv --by"
        " prediction".split(),
        *WHOLE,
    )
    assert [
        line.split()[0] for line in result.out.splitlines()[3:8]
    ] == "BASE near tree:0.5 ibp EMP".split()


@pytest.mark.fit
def test_fit_takes_groups_or_newick(run, folder):
    (folder / "groups.csv").write_text(GROUPS)
    by_groups = run("fit", "tea.csv", "--tree", "groups.csv", "--leaf-length", 0.25, *WHOLE)
    (folder / "tree.nwk").write_text("((coffee:0.25,milk:0.25)beans:0.75,(tea:0.25)leaves:0.75);")
    by_newick = run("fit", "tea.csv", "--tree", "tree.nwk", *WHOLE)
    assert by_groups.code == by_newick.code == 0
    assert by_groups.out == by_newick.out
    assert "clade beans" in by_groups.out and "cut across the tree" in by_groups.out


BAD_TREES = {
    "a length too much": (
        ["fit", "tea.csv", "--tree", "tree.nwk", "--leaf-length", "0.1"],
        "has its own",
    ),
    "three columns": (
        ["fit", "tea.csv", "--tree", "wide.csv"],
        "two columns, option and group; found 3",
    ),
    "a gap": (
        ["fit", "tea.csv", "--tree", "gap.csv"],
        "row 2 below the header must contain an option and a group",
    ),
    "a broken tree": (["fit", "tea.csv", "--tree", "broken.nwk"], "position"),
    "which tree": (["compare", "tea.csv", "--models", "tree,ibp"], "with --tree FILE"),
    "an idle tree": (
        ["compare", "tea.csv", "--models", "unique,ibp", "--tree", "groups.csv"],
        "given but --models does",
    ),
    "no number": (
        ["compare", "tea.csv", "--models", "tree:x", "--tree", "groups.csv"],
        "'tree:' must be followed by a leaf length; got 'x'",
    ),
    "a tree for fit's paper": (
        ["compare", "tea.csv", "--models", "tree:3", "--tree", "groups.csv"],
        "in (0, 1]",
    ),
}


@pytest.mark.parametrize(("words", "messages"), BAD_TREES.values(), ids=BAD_TREES)
def test_bad_trees(refused, folder, words, messages):
    (folder / "groups.csv").write_text(GROUPS)
    (folder / "wide.csv").write_text("option,group,more\ntea,a,1\n")
    (folder / "gap.csv").write_text("option,group\ntea,a\nmilk,\n")
    (folder / "tree.nwk").write_text("((coffee:0.25,milk:0.25):0.75,tea:1);")
    (folder / "broken.nwk").write_text("((coffee:0.25,milk:0.25:0.75,tea:1);")
    assert messages in refused(*words)


@pytest.mark.fit
def test_compare_stopped_by_ctrl_c_prints_what_there_is(run, monkeypatch):
    stop_after(3, monkeypatch)
    result = run("compare", "tea.csv", "--models", "unique,2", "--by", "prediction", *WHOLE)
    assert result.code == 130
    assert "(1 of 3 pairs)" in result.out
    says(result.err, "3", "6 fits", "--out")
    result = run(*"compare tea.csv --models unique,2 --by prediction --out results".split(), *WHOLE)
    says(result.err, "3", "6 fits", "'results'")
    stop_at_table(monkeypatch)
    result = run(*"compare tea.csv --models unique,2 --by prediction --out results".split(), *WHOLE)
    assert result.code == 130 and "nothing was written" not in result.err
    says(result.err, "6 fits", "'results/job'")


BAD = {
    "two of one name": (["--models", "2,2"], "Two models are named '2'"),
    "an empty name": (["--models", "2,,3"], "list models separated by commas"),
    "no aspects": (["--models", "BTL="], "list models separated by commas"),
    "left out": (
        ["--leave-out", "day"],
        "--leave-out must be pair or respondent for paired comparisons; got 'day'",
    ),
    "too many aspects": (["--models", "-2"], "-2"),
    "a file in the way": (["--out", "tea.csv"], "is a file"),
}


@pytest.mark.parametrize(("words", "messages"), BAD.values(), ids=BAD)
def test_bad_input(refused, words, messages):
    assert messages in refused("compare", "tea.csv", *words)
