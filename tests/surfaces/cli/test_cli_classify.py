"""`thali fit` of covariates and classes: what it reads, how it cross-validates, what it prints and
writes."""

import os
import re

import numpy as np
import pandas as pd
import pytest
from helpers.combinations import FITTED
from helpers.sentences import says
from helpers.short_comparisons import folds_of

import thali
from thali._posterior import datatree_files
from thali.errors import DataError

MAP = ["--target", "kind", "--method", "map"]
SHORT = ["--draws", 40, "--tune", 20, "--chains", 2, "--cores", 1]


def plants(seed=1, rows=60, noise=0.7):
    """Three kinds that differ in two covariates, not in the third."""
    rng = np.random.default_rng(seed)
    codes = np.arange(rows) % 3
    centres = np.array([[0.0, 0.0, 5.0], [2.0, 0.0, 5.0], [2.0, 2.0, 5.0]])
    table = pd.DataFrame(
        (centres[codes] + noise * rng.normal(size=(rows, 3))).round(3),
        columns=["len", "wid", "sap"],
    )
    return table.assign(kind=np.array(["fern", "moss", "reed"])[codes])


@pytest.fixture(autouse=True)
def tables(folder):
    """Each test has a folder of its own, with two tables in it."""
    plants().to_csv("plants.csv", index=False)
    plants()[["len", "wid", "kind"]].to_csv("two.csv", index=False)


# what is printed ----------------------------------------------------------------------------------


@pytest.mark.fit
def test_the_table_is_described(done):
    result = done("fit", "plants.csv", *MAP, "--a", 1, "--print", "all")
    sentence = "60 rows, 3 covariates; 3 classes in 'kind': fern 20, moss 20, reed 20"
    assert result.err == f"thali: plants.csv: {sentence}\n"
    assert "60 rows, 3 covariates, 3 classes" in result.out


@pytest.mark.fit
def test_the_support_of_the_maximum_is_exact(run):
    printed = run("fit", "plants.csv", *MAP, "--a", 1, "--print", "all").out
    table = plants()
    model = thali.PlackettLuceRegression(method="map", a=1.0).fit(
        table[["len", "wid", "sap"]], table["kind"]
    )
    lines = re.findall(r"^ *(\d\.\d{3})  (fern|moss|reed) +(\S+)$", printed, re.MULTILINE)
    wanted = [
        (f"{row.weight:.3f}", row["class"], row.column) for _, row in model.support_.iterrows()
    ]
    assert lines == wanted and 0 < len(wanted) < 10
    assert f"{len(wanted)} of 21 are > 0, all others exactly 0" in printed
    assert f"Log-likelihood: {model.log_likelihood_:.3f}.\n" in printed


@pytest.mark.fit
def test_coefficients_of_the_logit(done):
    words = ["--target", "kind", "--model", "sparse-logit", "--seed", 1, *SHORT]
    result = done("fit", "plants.csv", *words, "--out", "results", "--print", "all")
    assert "relative to class 'fern'" in result.out and "Parameter η" in result.out
    coefs = pd.read_csv("results/coef.csv")
    assert set(coefs["class"]) == {"moss", "reed"} and set(coefs["column"]) == {"len", "wid", "sap"}
    assert np.all(np.diff(coefs["coef"].abs()) <= 0)
    assert np.all((coefs["low"] < coefs["coef"]) & (coefs["coef"] < coefs["high"]))
    spread = plants()[["len", "wid", "sap"]].std(ddof=0)
    np.testing.assert_allclose(
        coefs["original"], coefs["coef"] / coefs["column"].map(spread), rtol=1e-9
    )


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")
def test_intervals_of_a_variational_posterior_are_those_of_its_gammas():
    table = plants()
    X = np.abs(table[["len", "wid"]] + 0.1) * [1.0, 0.02]
    model = thali.PlackettLuceRegression(method="variational", a=1.0, transform=None).fit(
        X, table["kind"]
    )
    found = model.findings()["weights"].table
    share = np.asarray(model.shapes_).ravel()
    # The rates of columns differ, so compare with draws made another way.
    rng = np.random.default_rng(5)
    draws = rng.gamma(np.broadcast_to(share, (40_000, share.size))).reshape(
        -1, *model.weights_.shape
    )
    draws = (draws / np.asarray(model.rates_)).reshape(len(draws), -1)
    low, high = np.quantile(draws / draws.sum(axis=1, keepdims=True), (0.055, 0.945), axis=0)
    names = [(label, column) for label in model.classes_ for column in model.weights_]
    place = [names.index((row["class"], row.column)) for _, row in found.iterrows()]
    # 1,000 draws: the standard error of such a quantile is under .1 of the interval.
    assert np.all(np.abs(found["low"] - low[place]) < 0.2 * (high - low)[place])
    assert np.all(np.abs(found["high"] - high[place]) < 0.4 * (high - low)[place])


# cross-validation ---------------------------------------------------------------------------------


def test_folds_are_stratified_and_seeded():
    labels = np.repeat(["a", "b", "c"], [23, 11, 4])
    fold = folds_of(labels, 5, seed=3)
    assert set(fold) == set(range(5))
    assert np.ptp(np.bincount(fold)) <= 1
    for label in "abc":
        assert np.ptp(np.bincount(fold[labels == label], minlength=5)) <= 1
    np.testing.assert_array_equal(fold, folds_of(labels, 5, seed=3))
    assert np.any(fold != folds_of(labels, 5, seed=4))


def test_an_only_member_is_never_left_out(run):
    labels = np.array(["a", "b", "b", "c", "c", "c"])
    fold = folds_of(labels, 3, seed=0)
    assert fold[0] == -1 and (fold[1:] >= 0).all()
    assert fold[1] != fold[2]  # one of them always remains


def left_out(model, table, folds, seed):
    """A comparison of that model alone, whose fits are those of a cross-validation."""
    X, y = table.drop(columns="kind"), table["kind"]
    return thali.compare(
        {"m": model}, (X, y), folds=folds, random_seed=seed, cores=1, progressbar=False
    )


@pytest.mark.fit
def test_a_covariate_that_does_not_vary_in_a_fold_means_nothing_there():
    table = plants()
    table["rare"] = 0.0
    table.loc[7, "rare"] = 1.0
    model = thali.PlackettLuceRegression(method="map", a=1.0)
    scores, without = left_out(model, table, 3, 0), left_out(model, plants(), 3, 0)
    fold, losses, others = (
        scores.attrs["fold"],
        scores.attrs["rows"]["m"],
        without.attrs["rows"]["m"],
    )
    np.testing.assert_array_equal(losses[fold == fold[7]], others[fold == fold[7]])
    assert np.any(losses != others)


# what is written ----------------------------------------------------------------------------------


@pytest.mark.first(2)
@pytest.mark.fit
@pytest.mark.parametrize(
    "data, words, files",
    [
        (
            "plants.csv",
            [*MAP, "--a", 1],
            ["command.json", "model.nc", "weights.csv"],
        ),
        ("two.csv", [*MAP, "--a", 1], ["command.json", "model.nc", "weights.csv"]),
        (
            "two.csv",
            ["--target", "kind", *SHORT],
            ["posterior.nc", "summary.csv", "weights.csv"],
        ),
        (
            "two.csv",
            ["--target", "kind", "--model", "SparseLogit", *SHORT],
            ["coef.csv", "posterior.nc", "summary.csv"],
        ),
        (
            "plants.csv",
            [*MAP, "--model", "sparse-logit", "--eta", 5],
            ["coef.csv", "command.json", "model.nc"],
        ),
    ],
)
def test_out_holds_everything_and_nothing_else(done, data, words, files):
    result = done("fit", data, *words, "--seed", 1, "--out", "new/results")
    assert sorted(set(os.listdir("new/results")) - {"job"}) == files
    what = "the posterior" if "posterior.nc" in files else "the model"
    assert f"wrote {what}" in result.err
    if "posterior.nc" in files:
        tree = datatree_files.load("new/results/posterior.nc")
        assert tree["posterior"].sizes["draw"] == 40
        summary = pd.read_csv("new/results/summary.csv", index_col="quantity")
        assert summary.loc["log_likelihood", "mean"] == pytest.approx(
            float(tree["posterior"]["log_likelihood"].mean())
        )


# options ------------------------------------------------------------------------------------------


@pytest.fixture
def asked(stand_in):
    """What the classifiers are made with and what their `fit` gets; nothing is fitted."""
    made = []

    class Asked:
        def _complete_settings(self, data, settings):
            return settings

        def _load_findings_module(self):
            pass

        def fit(self, X, y, **run):
            made[-1][1].update(run)
            raise DataError("enough")

    for name in ("plackett-luce", "sparse-logit"):

        def stop(*, name=name, **arguments):
            made.append((name, arguments))
            return Asked()

        stand_in(name, stop)
    return made


def test_a_target_is_enough_to_choose_the_model(run, asked):
    run("fit", "plants.csv", "--target", "kind")
    run("fit", "plants.csv", "--target", "kind", "--model", "sparse-logit")
    bar = {"progressbar": True}
    assert asked == [("plackett-luce", bar), ("sparse-logit", bar)]


def test_options_reach_the_model(run, asked):
    words = "--a 0.2 --transform none --draws 30 --tune 5 --chains 2 --thin 4 --cores 1 --seed 7"
    run("fit", "plants.csv", "--target", "kind", *words.split())
    run(*"fit plants.csv --target kind --model sparse-logit --method polya-gamma --seed 0".split())
    budget = dict(draws=30, tune=5, chains=2, thin=4, cores=1, random_state=7, progressbar=True)
    own = {"a": 0.2, "transform": None}
    assert asked[0][1] == own | budget
    assert asked[1][1] == {"method": "polya-gamma", "progressbar": True, "random_state": 0}


@pytest.mark.first(40)
@pytest.mark.parametrize("spec", FITTED, ids=[spec.name for spec in FITTED])
@pytest.mark.parametrize(
    "word", dict.fromkeys(option.word for spec in FITTED for option in spec.options)
)
def test_an_option_of_other_models_is_refused(refused, word, spec):
    owners = {
        owner.name: option for owner in FITTED for option in owner.options if option.word == word
    }
    if spec.name in owners:
        return
    option = next(iter(owners.values()))
    typed = (
        []
        if option.type is bool
        else [next(iter(option.words), "x=1" if option.is_repeatable else "1")]
    )
    error = refused(
        "fit", "plants.csv", "--model", spec.name, f"--{word}", *typed, "--out", "results"
    )
    (line,) = error.splitlines()
    named = " and ".join(", ".join(owners).rsplit(", ", 1))
    assert line.startswith(f"thali: error: --{word}") and f"applies to {named}" in line
    assert f"not to {spec.name}" in line


def test_an_option_of_classes_for_other_data_names_the_way_out(run):
    line = run("fit", "celebrities", "--transform", "none").err
    says(line, "'celebrities' was read as")
    says(line, "--target")


# bad input ----------------------------------------------------------------------------------------

TABLES = {
    "options.csv": "lizard,length,mass\ntea,12,3\nmilk,8,4\nrum,15,2\nale,9,9\n",
    "words.csv": "name,len,kind\nann,1,x\nbob,2,y\n",
    "question.csv": "len,wid,kind\n1,2,x\n2,?,y\n3,3,x\n",
    "empty.csv": "len,wid,kind\n1,2,x\n2,,y\n,3,x\n",
    "nameless.csv": "len,wid,kind\n1,2,x\n2,3,\n3,3,x\n",
    "alone.csv": "kind\nx\ny\n",
    "continuous.csv": "len,kind\n3,0.5\n2,1.25\n1,0.75\n",
}
BAD = {
    "method of the other": (
        ["plants.csv", "--target", "kind", "--method", "polya-gamma"],
        "gibbs, map",
    ),
    "no such transform": (
        ["plants.csv", "--target", "kind", "--transform", "log"],
        "exponential-pairs, none",
    ),
    "words": (
        ["words.csv", "--target", "kind"],
        "Column 'name' is not numeric (line 2 of 'name' contains",
    ),
    "a question mark": (["question.csv", "--target", "kind"], "line 3 of 'wid' contains '?')"),
    "empty cells": (
        ["empty.csv", "--target", "kind"],
        "Line 3 of 'wid' is empty (and 1 more cell)",
    ),
    "no class": (["nameless.csv", "--target", "kind"], "Line 3 has no class in 'kind'"),
    "no covariate": (["alone.csv", "--target", "kind"], "Expected at least two columns"),
    "continuous": (
        ["continuous.csv", *MAP, "--a", "1"],
        "a continuous target first",
    ),
    "neither": (["plants.csv"], "thali fit FILE --target COLUMN"),
    "what is known of options": (
        ["options.csv"],
        "thali fit COMPARISONS --option-covariates FILE.",
    ),
    "no trials": (["plants.csv"], "thali fit FILE --first COLUMN --second COLUMN --chosen COLUMN"),
}


@pytest.mark.fit
@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_that_says_what_to_do(refused, folder, case):
    for name, text in TABLES.items():
        (folder / name).write_text(text)
    words, part = BAD[case]
    error = refused("fit", *words, "--out", "results")
    errors = [line for line in error.splitlines() if line.startswith("thali: error: ")]
    assert len(errors) == 1 and part in errors[0] and "standardize=" not in errors[0]
