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


@pytest.mark.long
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
        "choice_probabilities.png",
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
