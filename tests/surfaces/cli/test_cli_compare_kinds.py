"""`thali compare` on covariates and classes, similarities and choice experiments, from words to
files."""

import re

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import simulate_experiment

import thali as th

SHORT = ["--draws", 20, "--tune", 10, "--chains", 2, "--thin", 1, "--seed", 3, "--cores", 1]
WHOLE = [*SHORT, "--print", "all"]
SIMILAR = "a,b,c\na,1,0.8,0.3\nb,0.8,1,0.45\nc,0.3,0.45,1\n".replace("a,b,c\n", ",a,b,c\n", 1)


@pytest.fixture(autouse=True)
def tables(folder):
    rng = np.random.default_rng(1)
    codes = np.arange(60) % 3
    table = pd.DataFrame(
        rng.normal(size=(60, 2)) + codes[:, None] * [1.0, 0.5], columns=["len", "wid"]
    )
    table.assign(kind=np.array(["fern", "moss", "reed"])[codes]).to_csv("plants.csv", index=False)
    simulate_experiment(n_respondents=8, n_tasks=5).to_csv("cameras.csv", index=False)
    (folder / "similar.csv").write_text(SIMILAR)
    (folder / "tea.csv").write_text(
        "chosen,rejected,count\ntea,coffee,12\ncoffee,milk,8\nmilk,tea,5\n"
    )


def figures(printed, name):
    """The numbers in the row of a model."""
    table = printed.partition("\n\n")[0]
    (line,) = re.findall(rf"^{name} +[\d.-]+ .*$", table, re.MULTILINE)
    return [float(cell) if cell != "-" else np.nan for cell in line.split()[1:]]


@pytest.mark.fit
def test_classifiers_by_name(run):
    result = run(
        *"compare plants.csv --target kind --models PL,s=sparse-logit --folds 3".split(), *WHOLE
    )
    assert result.code == 0 and "60 rows, 2 covariates" in result.err
    table = pd.read_csv("plants.csv")
    models = {"PL": th.PlackettLuceRegression(), "s": th.SparseMultinomialLogit()}
    budget = dict(draws=20, tune=10, chains=2, thin=1, cores=1, random_seed=3, progressbar=False)
    wanted = th.compare(models, (table[["len", "wid"]], table["kind"]), folds=3, **budget)
    for name in ("BASE", "PL", "s"):
        assert figures(result.out, name)[:3] == pytest.approx(
            wanted.loc[name, ["log_loss", "log_loss_se", "accuracy"]].tolist(), abs=6e-4
        )
    assert "predicts held-out rows best" in result.out


@pytest.mark.fit
def test_logits_of_experiments_by_name(run):
    words = [
        *"--models MNL,hierarchical-logit --leave-out respondent --monotone".split(),
        *"price=decreasing".split(),
    ]
    result = run("compare", "cameras.csv", *words, *WHOLE)
    assert result.code == 0 and "8 respondents, 40 tasks" in result.err
    data = th.ChoiceExperiment.from_frame(pd.read_csv("cameras.csv"))
    wanted = th.compare(
        {"m": th.MultinomialLogit()}, data, "respondent", cores=1, random_seed=3, progressbar=False
    )
    assert figures(result.out, "MNL")[0] == pytest.approx(wanted.loc["m", "log_score"], abs=6e-4)
    assert "of new respondents best" in result.out


@pytest.mark.fit
def test_names_of_special_cases(run):
    printed = run(
        *"compare tea.csv --models iEBA,elimination-by-aspects --by prediction".split(), *WHOLE
    ).out
    assert figures(printed, "iEBA") == figures(printed, "elimination-by-aspects")


BAD = {
    "aspects of classes": (
        ["plants.csv", "--target", "kind", "--models", "ibp"],
        "--models must be plackett-luce or sparse-logit for covariates and classes; got 'ibp'.",
    ),
    "another kind": (
        ["tea.csv", "--models", "unique,additive-clustering"],
        "additive-clustering requires similarities or triplets; these data are paired comparisons",
    ),
    "unique features": (["similar.csv", "--models", "unique"], "--models must be ibp, an integer"),
    "an option of others": (
        ["plants.csv", "--target", "kind", "--lapse", "0.1"],
        "and choice experiments, but 'plants.csv' contains covariates and classes",
    ),
    "what is left out": (
        ["similar.csv", "--leave-out", "row"],
        "--leave-out must be pair for similarities; got 'row'.",
    ),
    "a bundled data set": (
        ["celebrities", "--target", "x"],
        "'celebrities' contains paired comparisons",
    ),
    "a direction of no level": (
        ["cameras.csv", "--models", "product-classes", "--monotone", "price=up"],
        "price",
    ),
}


@pytest.mark.parametrize(("words", "messages"), BAD.values(), ids=BAD)
def test_bad_input(refused, words, messages):
    assert messages in refused("compare", *words, "--out", "results", "--cores", 1)
