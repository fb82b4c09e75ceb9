"""The command line on choices from sets, by maximum likelihood, and its classical tests."""

import re

import numpy as np
import pandas as pd
import pytest
from helpers import sentences
from helpers.sentences import said, says

import thali as th
from thali._data import kinds
from thali._reading.layout_recognition import read_data
from thali.errors import DataError

PAIRS = (
    "chosen,rejected,count\ntea,coffee,12\ncoffee,tea,8\ntea,milk,15\nmilk,tea,5\nmilk,coffee,4\n"
    "coffee,milk,9\n"
)
SHORT = ("--draws", 60, "--tune", 60, "--chains", 2, "--seed", 1)


@pytest.fixture(autouse=True)
def tables(folder):
    (folder / "tea.csv").write_text(PAIRS)
    rng = np.random.default_rng(1)
    rows = []
    for occasion in range(40):
        offered = rng.permutation(["tea", "coffee", "milk"])[: 2 + occasion % 2]
        rows += [
            (occasion // 4, occasion, name, int(k == 0), 2.5 + k) for k, name in enumerate(offered)
        ]
    frame = pd.DataFrame(rows, columns=["id", "obsID", "alt", "choice", "price"])
    frame.to_csv(folder / "priced.csv", index=False)
    frame.drop(columns="price").to_csv(folder / "plain.csv", index=False)
    frame.rename(columns={"alt": "drink", "obsID": "when"}).to_csv(folder / "odd.csv", index=False)


@pytest.mark.fit
def test_a_long_table_of_choices_is_recognised_and_fitted(done, folder):
    result = done("fit", "plain.csv", *SHORT, "--out", "out", "--print", "all")
    says(result.err, "plain.csv", "'alt'", "'choice'", "'obsID'", "'id'")
    assert "3 options" in result.err and "not read" not in result.err
    says(result.out, "0.01", "Lapse rate")
    assert "Rank of each option" in result.out and "set_probability[tea | " in result.out
    assert re.search(
        r"\d of \d+ observed proportions fell outside the 89 % predictive interval", result.out
    )
    written = {path.name for path in (folder / "out").iterdir()}
    assert {
        "ranks.csv",
        "ranks.png",
        "check.csv",
        "check.png",
        "choice_probabilities.png",
        "posterior.nc",
    } <= written
    assert set(pd.read_csv(folder / "out" / "check.csv")) >= {
        "alternative",
        "offered",
        "observed",
        "missed",
    }


def test_a_price_that_changes_between_tasks_describes_products():
    """Where choices are meant, it is named as not used."""
    said(read_data("priced.csv")[1], "40 tasks of 2 to 3 alternatives")
    messages = read_data("priced.csv", kinds.CHOICES)[1]
    said(messages, "40 choices", "10 respondents", "'price'")


@pytest.mark.fit
@pytest.mark.parametrize(
    "row, column, value, facts",
    [
        (2, "alt", None, ("row 4", "'alt'")),
        (2, "choice", "maybe", ("'choice'", "row 4", "'maybe'")),
        (2, "obsID", None, ("row 4", "'obsID'")),
        (slice(None), "choice", 0, ("no alternative", "'0'")),
    ],
)
def test_a_bad_cell_is_named_in_a_long_table(refused, folder, row, column, value, facts):
    frame = pd.read_csv(folder / "plain.csv").astype(object)
    frame.loc[row, column] = value
    frame.to_csv(folder / "bad.csv", index=False)
    for words in (
        ("fit", "bad.csv"),
        ("fit", "bad.csv", "--model", "elimination"),
        ("compare", "bad.csv"),
    ):
        said(refused(*words), "thali: error: bad.csv: ", *facts)


def test_an_attribute_called_weight_is_to_be_renamed(run, folder):
    frame = pd.read_csv(folder / "plain.csv")
    frame.assign(weight=np.arange(len(frame)) + 0.5).to_csv(folder / "heavy.csv", index=False)
    sentence = "(0.5 and 1.5); give all its rows the same count, or rename the column"
    assert sentence in run("fit", "heavy.csv", "--model", "elimination").err


@pytest.mark.long
@pytest.mark.fit
def test_weighted_choices_are_fitted_and_not_checked(run, folder):
    frame = pd.read_csv(folder / "plain.csv")
    frame.assign(weight=1.5).to_csv(folder / "weighted.csv", index=False)
    assert read_data("weighted.csv", kinds.CHOICES)[0].n_choices == 60
    result = run("fit", "weighted.csv", *SHORT, "--out", "out", "--print", "all")
    assert result.code == 0 and "Rank of each option" in result.out
    says(result.out, "The check simulates")
    written = {path.name for path in (folder / "out").iterdir()}
    assert "ranks.csv" in written and "check.csv" not in written


@pytest.mark.fit
def test_columns_may_be_named(run, refused):
    wanted = "--model elimination --alternative drink --task when --chosen choice".split()
    says(run("fit", "odd.csv", *wanted, *SHORT).err, "'drink'", "'choice'", "'when'")
    says(run("fit", "odd.csv", *wanted[:2], "--task", "when").err, "--alternative")
    # prices that differ between tasks describe products
    says(run("fit", "odd.csv", *SHORT).err, "'drink' and 'price'", "'when'")
    said(refused("fit", "celebrities", "--alternative", "drink"), "--alternative")
    with sentences.refused(DataError, "odd.csv", "'cup'"):
        read_data("odd.csv", kinds.CHOICES, alternative="cup")


@pytest.mark.fit  # for its time
def test_maximum_likelihood_is_that_of_the_library(done, folder):
    result = done(
        "fit", "celebrities", "--method", "maximum-likelihood", "--out", "out", "--print", "all"
    )
    says(result.out, "-143.0395, including")
    says(result.out, "0", "Lapse rate")
    assert "G² 78.2172 on 28 degrees of freedom" in result.out
    says(result.err, "wrote the model,")
    model = th.EliminationByAspects("unique", method="maximum-likelihood").fit(
        th.datasets.celebrities()
    )
    saved = th.load("out/model.nc")
    assert saved.summary().equals(model.summary())
    assert saved.maximum_likelihood.aic() == model.maximum_likelihood.aic()
    weights = pd.read_csv(folder / "out" / "weights.csv", index_col=0)
    wanted = pd.DataFrame(model.summary()).dropna(axis="columns", how="all")
    pd.testing.assert_frame_equal(weights, wanted, check_names=False)
    assert {path.name for path in (folder / "out").iterdir()} == {
        *(
            "weights.csv",
            "utility_scale.csv",
            "residuals.csv",
            "fit.csv",
            "choice_probabilities.csv",
        ),
        # without aspects that options share there is no tree
        *("utility_scale.png", "choice_probabilities.png"),
        *("model.nc", "command.json"),
    }


@pytest.mark.fit  # for its time
def test_maximum_likelihood_with_given_aspects(run, folder):
    (folder / "hot.csv").write_text("option,aspect\ntea,hot\ncoffee,hot\n")
    result = run(
        *"fit tea.csv --method maximum-likelihood --aspects hot.csv --lapse 0.01 --out out".split()
    )
    assert result.code == 0 and "hot" in result.out and "not available" in result.out
    assert (folder / "out" / "preference_tree.png").exists()


@pytest.mark.parametrize(
    "words, facts",
    [
        (("tea.csv", "--method", "guess"), ("--method", "elimination-by-aspects", "'guess'")),
        (
            ("tea.csv", "--method", "maximum-likelihood", "--draws", 9),
            ("--draws", "--method", "maximum-likelihood"),
        ),
        (
            ("tea.csv", "--method", "maximum-likelihood", "--aspects", "ibp"),
            ("to be inferred from the data",),
        ),
        (("tea.csv", "--chosen", "x"), ("'x'", "'chosen', 'rejected' and 'count'")),
    ],
)
def test_what_cannot_be_fitted(refused, words, facts):
    error = refused("fit", *words)
    said(error.splitlines()[-1], "thali: error: ", *facts)


def test_a_classical_test_of_other_data_speaks_of_its_own_options(run):
    error = run("test", "transitivity", "numbers").err
    said(error, "thali: error: ", "'numbers' contains similarities")


def test_classical_tests(run, refused):
    printed = run("test", "transitivity", "celebrities", "--print", "all").out
    assert "strong            34     84     0.404762" in printed
    assert "0.117176" in run("test", "agreement", "celebrities", "--print", "all").out
    assert "Circular triads" in run("test", "circular", "tea.csv", "--print", "all").out
    frame = th.Choices.from_comparisons(th.datasets.celebrities()).to_frame()
    frame.to_csv("long.csv", index=False)
    assert run("test", "transitivity", "long.csv", "--print", "all").out == printed
    said(refused("test", "transitivity", "plain.csv"), "'tea'", "'coffee'", "'milk'")
    error = refused("test", "circulr", "tea.csv")
    said(error, "'circulr'")
    assert "circular" in error
    assert "error: No file" in run("test", "agreement", "celebritis", "--print", "all").err


@pytest.mark.fit  # for its time
def test_rankings_by_maximum_likelihood(run, refused, tmp_path):
    path, out = tmp_path / "ranks.csv", tmp_path / "out"
    path.write_text(
        "rank1,rank2,rank3\ntea,milk,water\nmilk,tea,water\ntea,water,milk\nwater,milk,tea\n"
    )
    done = run(
        "fit", path, *"--model BTL --method maximum-likelihood --out".split(), out, "--print", "all"
    )
    assert done.code == 0 and (out / "worths.csv").exists()
    said(
        refused("fit", path, "--method", "maximum-likelihood", "--aspects", "unique"),
        "fit bradley-terry-luce",
    )
    said(
        refused("fit", path, "--method", "maximum-likelihood", "--aspects", "ibp"),
        "Maximum likelihood requires",
    )
    aspects = tmp_path / "aspects.csv"
    aspects.write_text("option,hot\ntea,1\nmilk,1\nwater,0\n")
    said(
        refused("fit", path, "--method", "maximum-likelihood", "--aspects", aspects),
        "--method mcmc",
    )
