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


def row_of(printed, name):
    """The numbers of a line that starts with that name."""
    (line,) = re.findall(rf"^{name}  .*$", printed, re.MULTILINE)
    return [float(cell) for cell in line.split("  ") if cell.strip() not in ("", "-", name)]


# what is printed ----------------------------------------------------------------------------------


@pytest.mark.fit
def test_the_table_is_described(done):
    result = done("fit", "plants.csv", *MAP, "--a", 1, "--folds", 0, "--print", "all")
    sentence = "60 rows, 3 covariates; 3 classes in 'kind': fern 20, moss 20, reed 20"
    assert result.err == f"thali: plants.csv: {sentence}\n"
    assert "60 rows, 3 covariates, 3 classes" in result.out and "Cross-validation" not in result.out


@pytest.mark.fit
def test_the_support_of_the_maximum_is_exact(run):
    printed = run("fit", "plants.csv", *MAP, "--a", 1, "--folds", 0, "--print", "all").out
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
    words = ["--target", "kind", "--model", "sparse-logit", "--folds", 2, "--seed", 1, *SHORT]
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


@pytest.mark.fit
def test_the_printed_rates_are_those_of_fits_to_the_other_folds(run):
    printed = run(
        "fit", "plants.csv", *MAP, "--a", 1.1, "--folds", 4, "--seed", 7, "--print", "all"
    ).out
    X, y = plants()[["len", "wid", "sap"]].to_numpy(), plants()["kind"].to_numpy()
    fold = folds_of(y, 4, seed=7)
    wrong, loss, base_wrong, base_loss = [], [], [], []
    for number in range(4):
        train = fold != number
        model = thali.PlackettLuceRegression(method="map", a=1.1).fit(X[train], y[train])
        for x, label in zip(X[~train], y[~train], strict=True):
            known = [name for name in sorted(set(y))]
            counts = [sum(y[train] == name) for name in known]
            wrong.append(model.predict([x])[0] != label)
            loss.append(-np.log(model.predict_proba([x])[0, known.index(label)]))
            base_wrong.append(known[int(np.argmax(counts))] != label)
            base_loss.append(-np.log(counts[known.index(label)] / sum(counts)))
    rates = row_of(printed, "plackett-luce")
    assert rates[0] == pytest.approx(np.mean(wrong), abs=5e-4)
    assert rates[2] == pytest.approx(np.mean(loss), abs=5e-4)
    assert rates[3] == pytest.approx(np.std(loss, ddof=1) / np.sqrt(60), abs=5e-4)
    assert row_of(printed, "majority class")[0] == pytest.approx(np.mean(base_wrong), abs=5e-4)
    assert row_of(printed, "class proportions")[0] == pytest.approx(np.mean(base_loss), abs=5e-4)
    gain = np.mean(base_wrong) - np.mean(wrong)
    error = np.std(np.subtract(base_wrong, wrong, dtype=float), ddof=1) / np.sqrt(60)
    assert (
        f"predicting the majority class (difference {-gain:.3f}, standard error {error:.3f})"
        in printed
    )


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


@pytest.mark.fit
def test_what_was_finished_is_told_when_a_fold_fails(run, stand_in):
    fits = []

    class Fails(thali.PlackettLuceRegression):
        def fit(self, X, y, cores=None, progressbar=True, job=None):
            fits.append(len(X))
            if len(fits) == 4:  # the third after that of all rows
                raise DataError("no weight is left")
            return super().fit(X, y, cores=cores, progressbar=progressbar, job=job)

    stand_in("plackett-luce", Fails)
    result = run("fit", "plants.csv", *MAP, "--a", 1, "--out", "results", "--print", "all")
    assert "48 rows in 4 folds" in result.out
    says(result.out, "4 of 5 folds: DataError: no weight is left.")
    assert pd.read_csv("results/cross_validation.csv")["rows"].tolist() == [12] * 4


@pytest.mark.fit
def test_nothing_is_claimed_of_covariates_that_say_nothing(run):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(80, 2)), columns=["u", "v"]).assign(
        kind=["a"] * 50 + ["b"] * 30
    )
    table.to_csv("noise.csv", index=False)
    printed = run("fit", "noise.csv", *MAP, "--a", 1.1, "--print", "all").out
    says(printed, "not significantly lower")
    assert row_of(printed, "majority class")[0] == pytest.approx(30 / 80, abs=5e-4)


@pytest.mark.fit
def test_a_model_worse_than_none_is_said_to_be(run, stand_in):
    class Wrong(thali.PlackettLuceRegression):
        def predict_proba(self, X):
            right = super().predict_proba(X).argmax(axis=1)
            return 0.97 * np.eye(3)[(right + 1) % 3] + 0.01

    stand_in("plackett-luce", Wrong)
    printed = run("fit", "plants.csv", *MAP, "--a", 1.1, "--print", "all").out
    assert row_of(printed, "plackett-luce")[0] > 0.9
    says(printed, "has a higher error rate")


@pytest.mark.fit
def test_an_impossible_class_costs_an_infinite_log_loss_and_is_told(run, stand_in):
    class Sure(thali.PlackettLuceRegression):
        def predict_proba(self, X):
            return np.eye(3)[np.zeros(len(X), int)]

    stand_in("plackett-luce", Sure)
    printed = run("fit", "plants.csv", *MAP, "--a", 1.1, "--print", "all").out
    says(printed, "40 rows")
    assert "nan" not in printed and re.search(r"plackett-luce +0\.667 .* inf +-$", printed, re.M)


@pytest.mark.fit
def test_ctrl_c_in_the_cross_validation_costs_nothing_that_was_finished(run, stand_in):
    fits = []

    class Stopped(thali.PlackettLuceRegression):
        def fit(self, X, y, cores=None, progressbar=True, job=None):
            fits.append(len(X))
            if len(fits) == 4:
                raise KeyboardInterrupt
            return super().fit(X, y, cores=cores, progressbar=progressbar, job=job)

    stand_in("plackett-luce", Stopped)
    result = run("fit", "plants.csv", *MAP, "--a", 1, "--out", "results", "--print", "all")
    assert result.code == 130
    says(result.out, "2 of", "5 folds")
    assert "Relative weights" in result.out
    assert len(pd.read_csv("results/cross_validation.csv")) == 2


# what is written ----------------------------------------------------------------------------------


@pytest.mark.first(2)
@pytest.mark.fit
@pytest.mark.parametrize(
    "data, words, files",
    [
        (
            "plants.csv",
            [*MAP, "--a", 1],
            ["command.json", "cross_validation.csv", "model.nc", "weights.csv"],
        ),
        ("two.csv", [*MAP, "--a", 1, "--folds", 0], ["command.json", "model.nc", "weights.csv"]),
        (
            "two.csv",
            ["--target", "kind", "--folds", 2, *SHORT],
            ["cross_validation.csv", "posterior.nc", "summary.csv", "weights.csv"],
        ),
        (
            "two.csv",
            ["--target", "kind", "--model", "SparseLogit", "--folds", 0, *SHORT],
            ["coef.csv", "posterior.nc", "summary.csv"],
        ),
        (
            "plants.csv",
            [*MAP, "--model", "sparse-logit", "--eta", 5, "--folds", 0],
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
    line = run("fit", "celebrities", "--folds", 3).err
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
    "one fold": (["plants.csv", *MAP, "--a", "1", "--folds", "1"], "2 to 60"),
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
        ["continuous.csv", *MAP, "--a", "1", "--folds", "0"],
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
