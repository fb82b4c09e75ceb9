"""`thali fit` of similarities, from words on the command line to files."""

import re

import numpy as np
import pandas as pd
import pytest
from helpers.additive_fits import MadeUp, made_up, similarities
from helpers.remembering import remembering
from helpers.sentences import said, says

import thali
from thali._data import kinds
from thali._reading.layout_recognition import read_data
from thali.errors import ArgumentError

DRINKS = ["tea", "coffee", "milk", "water"]
TABLE = (
    ",tea,coffee,milk,water\ntea,1,.8,.3,.1\ncoffee,.8,1,.4,.15\nmilk,.3,.4,1,.2\n"
    "water,.1,.15,.2,1\n"
)
FILES = {"alike.csv": TABLE}


@pytest.fixture
def fake(stand_in):
    model = remembering(MadeUp, "AdditiveClustering")
    stand_in("additive-clustering", model)
    return model


@pytest.mark.parametrize(
    "words", [["numbers"], ["alike.csv"], ["list.csv"], ["numbers", "--model", "additive"]]
)
def test_similarities_are_fitted_by_additive_clustering(done, fake, folder, words):
    (folder / "list.csv").write_text("a,b,similarity\ntea,milk,.3\nmilk,water,.2\ntea,water,.1\n")
    result = done("fit", *words, "--draws", 20, "--print", "all")
    assert isinstance(fake.data, thali.Similarities)
    says(result.out, "Number of features")


# which model --------------------------------------------------------------------------------------


def test_a_symmetric_table_of_whole_numbers_is_comparisons_only_if_said(
    run, refused, fake, stand_in, folder
):
    def refuse(**settings):
        raise ArgumentError("this one fits comparisons")

    stand_in("elimination-by-aspects", refuse)
    (folder / "ratings.csv").write_text(",tea,milk,water\ntea,0,3,1\nmilk,3,0,2\nwater,1,2,0\n")
    asked = refused("fit", "ratings.csv")
    says(asked, "--dissimilarities", "--kind")
    result = run("fit", "ratings.csv", "--model", "elimination-by-aspects")
    said(result.err.splitlines()[-1], "thali: error: this")


# what fit passes on -------------------------------------------------------------------------------


def test_options_reach_the_model(done, fake):
    words = "--features 3 --sigma 0.05 --alpha 0.5 --weight-prior 2,4 --no-constant --tempering 12"
    words += " --draws 30 --tune 5 --chains 2 --thin 4 --cores 1 --seed 7"
    done("fit", "alike.csv", *words.split())
    assert fake.asked == {
        "features": 3,
        "sigma": 0.05,
        "alpha": 0.5,
        "weight_prior": (2.0, 4.0),
        "constant": False,
        "tempering": 12,
        "method": "mcmc",
        "link": "exp",
        "lapse": 0.01,
        "people": None,
    }
    budget = dict(draws=30, tune=5, chains=2, thin=4, cores=1, random_seed=7, progressbar=True)
    assert fake.budget == budget


@pytest.mark.parametrize(("typed", "meant"), [("learned", "learned"), ("0.2", 0.2)])
def test_a_standard_deviation_or_that_it_is_learned(run, refused, fake, typed, meant):
    assert run("fit", "alike.csv", "--sigma", typed, "--draws", 20).code == 0
    assert fake.asked["sigma"] == meant
    said(refused("fit", "alike.csv", "--sigma", "learnt"), "--sigma", "'learnt'", "'learned'")


def test_the_best_answer_alone(run, refused, fake):
    assert run("fit", "alike.csv", "--method", "map").code == 0
    assert fake.asked["method"] == "map"
    assert "--tune" in refused("fit", "alike.csv", "--method", "map", "--tune", 5)


@pytest.mark.parametrize(
    ("typed", "meant"), [("auto", None), ("off", False), ("3", 3), ("1,2.5,6", (1.0, 2.5, 6.0))]
)
def test_tempering(run, fake, typed, meant):
    assert run("fit", "alike.csv", "--tempering", typed, "--draws", 20).code == 0
    assert fake.asked["tempering"] == meant and type(fake.asked["tempering"]) is type(meant)


@pytest.mark.fit
def test_features_from_tables_and_trees(run, fake, folder):
    (folder / "hot.csv").write_text("object,feature\ntea,hot\ncoffee,hot\ncoffee,bitter\n")
    (folder / "groups.csv").write_text("option,group\ntea,hot\ncoffee,hot\nmilk,cold\nwater,cold\n")
    fake.common, fake.beside = ((0, 1), (1,)), 0.0
    printed = run("fit", "alike.csv", "--features", "hot.csv", "--draws", 20, "--print", "all").out
    assert re.search(r"^hot .*  tea, coffee$", printed, re.MULTILINE)
    assert fake.asked["features"] == dict(tea=["hot"], coffee=["hot", "bitter"], milk=[], water=[])
    fake.common = ((0, 1), (1, 2))
    result = run(
        *"fit alike.csv --tree groups.csv --leaf-length".split(),
        0.3,
        *"--draws 50 --print all".split(),
    )
    assert isinstance(fake.asked["features"], thali.Tree)
    assert re.search(r"clade hot +tea, coffee$", result.out, re.MULTILINE)
    assert re.search(
        r"^Of 1\.\d+ features .* not all objects, .* 0\.\d+ cut across the tree\.$",
        result.out,
        re.M,
    )


@pytest.mark.fit
def test_the_estimate_that_was_asked_for(done, fake):
    printed = {}
    for kind in ("expectation", "map-features", "conditional-map", "joint-map"):
        result = done(
            *"fit alike.csv --sigma 0.1 --alpha 1 --draws 50 --estimate".split(),
            kind,
            "--print",
            "all",
        )
        printed[kind] = re.search(
            r"^[^\n]* account for .*?additive constant$", result.out, re.DOTALL | re.MULTILINE
        )[0]
    assert ["probability" in text for text in printed.values()] == [True, False, False, False]
    model = fake(sigma=0.1, alpha=1.0).fit(read_data("alike.csv", kinds.SIMILARITIES)[0], draws=50)
    assert (
        f"{100 * model.estimate('conditional-map').variance_accounted_for():.1f} %"
        in printed["conditional-map"]
    )


# bad input ----------------------------------------------------------------------------------------


def test_an_exported_table_says_which_sigma_it_lost(run, folder):
    assert "--sigma 0.05" in run("datasets", "numbers", "--out", "numbers.csv").err
    data, _ = read_data(folder / "numbers.csv", kinds.SIMILARITIES)
    assert data.sigma is None and np.array_equal(data.values, thali.datasets.numbers().values)


# the answer ---------------------------------------------------------------------------------------


def number(value):
    return f"{value:.3g}"


@pytest.fixture
def printed(done, stand_in, folder):
    """What is printed of a fit with made-up draws; `messages`: attributes of the model, `options`
    of the command."""

    def printed(n=4, labels=None, draws=100, options=(), **messages):
        stand_in("additive-clustering", type("Told", (MadeUp,), messages))
        names = labels or [f"o{k}" for k in range(n)]
        pd.DataFrame(similarities(n).matrix, names, names).to_csv(folder / "made.csv")
        return done("fit", "made.csv", "--draws", draws, *options, "--print", "all").out

    return printed


@pytest.mark.fit
def test_the_number_of_features_with_and_without_singles(printed):
    posterior = made_up(4, draws=50, beside=3.0).posterior_["posterior"]
    text = printed(4, draws=50, beside=3.0)
    assert (
        f"two or more objects: {number(float(posterior['n_shared_features'].mean()))} (89 %" in text
    )
    assert f"of a single object: {number(float(posterior['n_features'].mean()))} (89 %" in text
    assert re.search(r"^\d +0\.\d{3}$", text, re.MULTILINE)  # the probability of a number
    same = printed(4, draws=20, beside=0.0, common=())
    says(same, "0 in")
    says(same, "No shared feature is")
    assert "additive constant" in same


@pytest.mark.fit
def test_features_of_a_single_object_are_left_out_and_that_is_said(printed):
    text = printed(4, DRINKS, common=((0, 1), (2,)), beside=0.0)
    assert re.search(
        r"^ *0\.\d{3} +0\.\d{4} +0\.\d+ +0\.\d+ to 0\.\d+  tea, coffee$", text, re.MULTILINE
    )
    assert not re.search(r"  milk$", text, re.MULTILINE)
    says(text, "the data carry no information")
    assert "tell nothing" not in printed(4, DRINKS, beside=0.0)


@pytest.mark.fit
def test_probabilities_that_are_not_settled_are_said_to_be(printed):
    text = printed(4, DRINKS, common=((0, 1),), beside=0.0, kept_by={0: (1, 2, 3)})
    assert re.search(r"^ *0\.250  .*  coffee, milk, water$", text, re.MULTILINE)
    says(text, "chains do not")
    assert "do not agree on the probability" not in printed(4, DRINKS, common=((0, 1),), beside=0.0)


@pytest.mark.parametrize(
    ("options", "sigma", "alpha"),
    [
        (
            (),
            r"0\.1\d* \(89 % .*\); prior σ² ~ InverseGamma\(2, 0\.02 times the variance",
            r"\d.*89 %",
        ),
        (("--sigma", 0.1, "--alpha", 0.5), "0.1, fixed", "0.5, fixed"),
    ],
)
def test_sigma_and_alpha_say_where_they_come_from(printed, options, sigma, alpha):
    text = printed(options=options)
    assert re.search(
        f"^Error standard deviation σ of the similarities: {sigma}", text, re.MULTILINE
    )
    assert re.search(f"^Concentration α: {alpha}", text, re.MULTILINE)
    assert re.search(
        r"^Prior on each weight and the constant: Gamma\(shape 1, rate [\d.]+\), with mean [\d.]+ ",
        text,
        re.M,
    )


@pytest.mark.fit
def test_trades_between_temperatures(printed):
    good = printed(4, swap_rates=(0.4, 0.14, 0.3))
    says(good, "4 temperatures", "1 to", "10", "14 %")
    assert "WARNING: Replicas" not in good
    bad = printed(4, swap_rates=(0.4, 0.04, np.nan))
    says(bad, "2.15", "4.64", "4 %", "--tune", "--tempering")
    says(bad, "4 temperatures", "4 %")
    short = printed(4, swap_rates=(np.nan, np.nan))
    says(short, "too short to")
    assert "WARNING: Replicas" not in short
    says(printed(4, swap_rates=()), "Tempering was")


# what to do about chains that stay apart ----------------------------------------------------------


APART = {"beside": 0.0, "kept_by": {0: (0, 3), 1: (0, 3)}}


def apart(swap_rates):
    """A model whose chains never agree on some features, of 1,000 draws each."""
    return made_up(4, draws=1000, **APART, swap_rates=swap_rates)


@pytest.mark.fit
def test_the_advice_for_chains_apart_is_about_tempering():
    convergence = apart(()).convergence()
    sentence = str(convergence)
    assert not convergence.agrees
    said(sentence, "shared_features", "0", "3")
    said(sentence, "tempering='auto'")
    assert "unique" not in sentence
    convergence = apart((0.3,) * 9).convergence()
    sentence = str(convergence)
    assert not convergence.agrees
    said(sentence, "tempering=20", "10 temperatures", "draws=10000")
    assert "unique" not in sentence
    assert "`tempering=64`" in str(apart((0.3,) * 49).convergence())


@pytest.mark.fit
def test_the_advice_is_told_in_words_to_type(done, stand_in, folder):
    def printed(swap_rates):
        stand_in("additive-clustering", type("Told", (MadeUp,), APART | {"swap_rates": swap_rates}))
        return done("fit", "alike.csv", "--draws", 1000, "--print", "all").out

    untempered, tempered = printed(()), printed((0.3,) * 9)
    says(untempered, "4 chains")
    assert "refit with --tempering auto" in untempered
    says(tempered, "--tempering", "20", "10 temperatures", "--draws", "10000")
    assert not re.search(r"(?<!-)(tempering|draws)=", untempered + tempered)
