"""Classes and segments of people at the command line, and designs of choice experiments."""

import pandas as pd
import pytest
from helpers.experiment_data import of_segments
from helpers.sentences import said, says

import thali as th

pytestmark = pytest.mark.fit

MODEL = ["--model", "latent-class-logit", "--seed", "1"]


@pytest.fixture(autouse=True)
def tables(folder):
    of_segments()[0].to_csv("study.csv", index=False)
    lines = "brand,A,0\nbrand,B,.5\nprice,9,0\nprice,12,-.5\nprice,15,-1\n"
    (folder / "attributes.csv").write_text(f"attribute,level,utility\n{lines}")


def test_classes_and_segments_are_printed_and_written(run, done, folder):
    result = done(
        "fit",
        "study.csv",
        *MODEL,
        *"--classes 2-3 --linear price --segments 3 --out out --print all".split(),
    )
    data = th.ChoiceExperiment.from_frame(of_segments()[0])
    model = th.LatentClassLogit((2, 3), "price").fit(data, random_seed=1, progressbar=False)
    found = model.respondents.segments(3)
    written = {path.name for path in (folder / "out").iterdir()}
    tables = {
        "segments.csv",
        "segment_sizes.csv",
        "segment_profiles.csv",
        "summary.csv",
        "check.csv",
    }
    tables |= {"classes.csv", "numbers_of_classes.csv", "membership.csv"}
    study = {"level_effects", "attribute_importance", "willingness_to_pay"}
    of_people = ("importance", "level_effects", "willingness_to_pay", "utilities", "zero_centred")
    tables |= {"utilities.csv", *(f"individual_{name}.csv" for name in of_people)}
    pictures = {f"{name}.png" for name in {*study, "segments"}}
    assert written == {
        "command.json",
        "model.nc",
        *pictures,
        *tables,
        *(f"{name}.csv" for name in study),
    }
    assignment = pd.read_csv(folder / "out" / "segments.csv", index_col="respondent")
    assert assignment["segment"].tolist() == found.assignment["segment"].tolist()
    says(result.out, "Segments in the population")
    assert found.sizes.loc[1, "name"] in result.out
    says(result.out, "Fit by number of classes")
    says(result.out, "Stability is the")
    # membership may depend on a column of the respondents
    rows = pd.read_csv("study.csv")
    rows.assign(sex=rows["id"].str[1:].astype(int) % 2).to_csv("by_sex.csv", index=False)
    by_sex = done("fit", "by_sex.csv", *MODEL, *"--classes 2 --by sex --print all".split())
    says(by_sex.out, "sex")
    plain = run("fit", "study.csv", *MODEL, "--classes", "1", "--print", "all")
    assert plain.code == 0 and "egment" not in plain.out and "were tried" not in plain.out


MISTAKES = [
    (
        ["--classes", "two"],
        "--classes must be an integer, or several such as 1-6 or 2,4; got 'two'",
    ),
    (["--classes", "0"], "--classes must be an integer >= 1; got 0"),
    (["--classes", "61"], "61 classes are too many for 60 respondents; reduce --classes"),
    (["--segments", "1"], "--segments must be an integer >= 2; got 1"),
    (["--segments", "3-2"], "--segments must be one or more integers >= 2; got none"),
    (["--segments", "2,61"], "61 segments are too many for 60 respondents; reduce --segments"),
    (["--choose", "aic"], "--choose must be bic or held-out; got 'aic'."),
]


@pytest.mark.parametrize(("words", "sentence"), MISTAKES)
def test_mistakes(refused, words, sentence):
    assert sentence in refused("fit", "study.csv", *MODEL, *words)


def test_a_design_is_printed_and_written(run, folder):
    words = ["--tasks", 4, "--alternatives", 2, "--none", "--versions", 2, "--seed", 1]
    result = run("design", "attributes.csv", *words, "--out", "out", "--print", "all")
    assert result.code == 0
    says(result.out, "2 versions", "8 tasks of 3 alternatives")
    printed = run("design", "attributes.csv", *words).out.splitlines()
    assert "version  task  alternative  brand  price" in printed[0] and printed[1].split()[:3] == [
        "1",
        "1",
        "1",
    ]
    attributes = {"brand": ["A", "B"], "price": ["9", "12", "15"]}
    prior = {"brand": [0.0, 0.5], "price": [0.0, -0.5, -1.0]}
    wanted = th.designs.choice(attributes, 4, 2, none=True, prior=prior, versions=2, random_seed=1)
    assert (folder / "out" / "design.csv").read_text() == wanted.to_csv(index=False)
    assert {path.stem for path in (folder / "out").iterdir()} == {
        "design",
        "tasks",
        "errors",
        "balance",
        "overlap",
    }
    assert f"D-error {th.designs.check(wanted, prior).d_error:.4g}" in result.out


@pytest.mark.long
def test_what_a_design_is_asked_besides(run, folder):
    """Interactions, directions, prohibitions and tasks held out reach the design; a row a task for
    survey tools."""
    (folder / "fixed.csv").write_text("task,brand,price\nlast,A,10\nlast,B,12\n")
    words = [*"--tasks 8 --alternatives 2 --seed 1 --overlap balanced --holdouts fixed.csv".split()]
    words += ["--direction", "price=decreasing", "--prohibit", "brand=A,price=9,15", "--out", "out"]
    assert run("design", "attributes.csv", *words).code == 0
    design = pd.read_csv(folder / "out" / "design.csv")
    assert design.groupby("brand")["price"].unique().map(sorted).to_dict() == {
        "A": [10, 12],
        "B": [9, 12, 15],
    }
    tasks = pd.read_csv(folder / "out" / "tasks.csv")
    assert tasks.columns.tolist() == "version task held_out brand_1 price_1 brand_2 price_2".split()
    assert len(tasks) == 9 and tasks.iloc[-1].tolist() == [1, 9, 1, "A", 10, "B", 12]
    out = run("design", "attributes.csv", *words[:6], "--interaction", "brand=price").out
    assert "brand[B]:price[12]" in out


@pytest.mark.long
def test_a_design_for_uncertain_utilities_and_its_power(run, folder, refused):
    """Of a table with utilities and their standard deviations, and of a pilot; simulated studies
    with the design."""
    rows = "A,0,0\nbrand,B,1,0.5\nprice,9,0,0\nprice,12,-1,0.2\nprice,15,-2,0.4\n"
    (folder / "prior.csv").write_text("attribute,level,utility,sd\nbrand," + rows)
    words = ["--tasks", 4, "--alternatives", 2, "--seed", 1]
    result = run(
        "design", "prior.csv", *words, *"--power 20 --spread 0.5 --out out --print all".split()
    )
    assert result.code == 0 and "Bayesian D-error" in result.out
    says(result.out, "200 simulated", "20 respondents")
    power = pd.read_csv(folder / "out" / "power.csv", index_col="coefficient")
    attributes = {"brand": ["A", "B"], "price": ["9", "12", "15"]}
    prior, sd = {"brand": [0, 1], "price": [0, -1, -2]}, {"brand": [0, 0.5], "price": [0, 0.2, 0.4]}
    design = th.designs.choice(attributes, 4, 2, prior=prior, prior_sd=sd, random_seed=1)
    assert (folder / "out" / "design.csv").read_text() == design.to_csv(index=False)
    wanted = th.designs.power(design, prior, 20, 0.5, random_seed=1)
    pd.testing.assert_frame_equal(power, wanted, check_frame_type=False)
    assert run("fit", "study.csv", "--model", "MNL", "--out", "pilot", "--print", "all").code == 0
    (folder / "bare.csv").write_text("attribute,level\nbrand,A\nbrand,B\nprice,5\nprice,15\n")
    assert (
        "Bayesian D-error"
        in run("design", "bare.csv", *words, "--pilot", "pilot", "--print", "all").out
    )
    said(refused("design", "bare.csv", *words, "--power", 20), "--power")
    said(refused("design", "prior.csv", *words, "--pilot", "pilot"), "--pilot")
    (folder / "sd.csv").write_text("attribute,level,sd\nbrand,A,0\nbrand,B,1\n")
    said(refused("design", "sd.csv", *words), "column 'sd' but no column 'utility'")


@pytest.mark.parametrize("cell", ["", "high"])
def test_a_utility_that_is_no_number_is_refused(folder, refused, cell):
    (folder / "gap.csv").write_text(f"attribute,level,utility\nbrand,A,0\nbrand,B,{cell}\n")
    words = ("--tasks", 4, "--alternatives", 2)
    said(refused("design", "gap.csv", *words), "'utility'", "'brand', 'B' has none")


DESIGNS = [
    (
        ["tea", "rum", "milk", "--prohibit", "a=b"],
        "--prohibit applies to choice tasks; set their number with",
    ),
    (
        ["attributes.csv", "--tasks", 4],
        "--tasks requires --alternatives, the number of products per task",
    ),
    (
        ["attributes.csv", "study.csv", "--tasks", 4, "--alternatives", 2],
        "--tasks requires one table of attributes and levels; got attributes.csv study.csv",
    ),
    (
        ["study.csv", "--tasks", 4, "--alternatives", 2],
        "study.csv must have one row per level and the columns 'attribute', 'level' and optionally"
        " 'utility' and 'sd'",
    ),
    (
        ["attributes.csv", "--tasks", 1, "--alternatives", 2],
        "--tasks: 1 task can identify at most 1 coefficient, but there are 3; use at least 3"
        " tasks, or more --versions.",
    ),
]


@pytest.mark.parametrize(("words", "sentence"), DESIGNS)
def test_designs_that_cannot_be_made(refused, words, sentence):
    assert sentence in refused("design", *words)
