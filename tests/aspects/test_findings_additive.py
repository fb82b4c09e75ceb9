"""What additive clustering, and the open combination, find out: keys, settings, words, faults."""

import pandas as pd
import pytest
from helpers.additive_fits import made_up
from helpers.posterior_cases import set_posterior
from helpers.sentences import refused, said

import thali as th
from thali.errors import PYTHON, Argument, ArgumentError, Words

KEYS = "asked features n_features estimate similarity parameters check tempering summary".split()
KEYS += ["data", "methods", "convergence"]


@pytest.fixture(scope="module")
def model():
    return made_up(4, draws=20)


@pytest.mark.fit
def test_keys_are_in_the_order_of_a_readers_questions(model):
    assert model.findings().keys() == KEYS


def test_the_estimate_is_the_one_that_was_asked_for(model):
    for kind in ("expectation", "conditional-map"):
        found, wanted = model.findings(estimator=kind), model.estimate(kind)
        assert found["estimate"].table["weight"].iloc[-1] == wanted.constant
        assert f"{100 * wanted.variance_accounted_for():.1f} %" in str(found["estimate"].sentence)
        pd.testing.assert_frame_equal(
            found["similarity"].table, wanted.similarity, check_names=False
        )


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_a_single_similarity_has_no_variance_to_account_for():
    one = th.Similarities([[1.0, 0.5], [0.5, 1.0]])
    model = th.AdditiveClustering().fit(
        one, draws=20, tune=10, thin=1, chains=2, random_seed=1, progressbar=False
    )
    open_one = th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Additive(0.1))
    open_one.fit(one, draws=20, tune=10, thin=1, chains=2, random_seed=1, progressbar=False)
    for found in (model.findings()["estimate"], open_one.findings()["check"]):
        said(found.sentence, "All similarities are equal")


def test_matched_features_have_a_table_of_their_owners(model):
    found = model.findings(similar=0.6)
    assert found["features"].picture.stem == "features" and "stability" in found["features"].table
    owners = found["membership"]
    pd.testing.assert_frame_equal(owners.table, model.membership(similar=0.6))
    assert {"page", "files"} <= set(owners.place)
    assert "membership" not in model.findings().keys()


def test_what_is_not_known_is_refused_with_what_is(model):
    with refused(ArgumentError, "'price'"):
        model.findings(price="cost")
    with refused(ArgumentError, "'ranks'"):
        model.findings()["ranks"]


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_an_estimate_is_refused_where_there_is_no_other(uncompiled):
    shortly = dict(draws=2, tune=0, thin=1, chains=2, random_seed=1, progressbar=False)
    triplets = th.Triplets([["tea", "coffee", "wall"], ["tea", "wall", "coffee"]])
    model = th.AdditiveClustering().fit(triplets, **shortly)
    with refused(ArgumentError, Argument("estimator"), "triplets"):
        model.findings(estimator="joint-map")
    assert "convergence" in model.findings()


@pytest.mark.parametrize(
    ("setting", "facts"),
    [
        ({"estimator": "jointmap"}, ("estimator", "'expectation'", "got 'jointmap'")),
        ({"random_seed": "x"}, ("random_seed", "0; got 'x'", "got 'x'")),
        ({"cores": 0}, ("cores", "1; got 0", "got 0")),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_at_once(model, setting, facts):
    with refused(ArgumentError, *facts):
        model.findings(**setting)


class Shown(Words):
    """How a place spells arguments: in capitals, without values."""

    def argument(self, name):
        return name.upper()

    def setting(self, name, value):
        return f"{name.upper()} {value}"

    def value(self, name, value):
        return str(value)


@pytest.mark.fit
def test_options_are_named_in_the_words_of_the_place():
    found = made_up(4, draws=20, sigma=0.1)
    found.sigma_scores_ = [0.0] * 4
    shown, python = (
        " ".join(found.findings()["parameters"].format_sentences(words))
        for words in (Shown(), PYTHON)
    )
    said(
        shown,
        "0.1, chosen from 4 values",
        "(WEIGHT_PRIOR)",
        "SIGMA to set another",
        "SIGMA learned",
    )
    assert "(`weight_prior`)" in python and "SIGMA" not in python


def test_probabilities_that_are_not_settled_are_counted_where_they_are_not_named():
    kept = {0: (0, 1, 2), 1: (0, 1, 3), 2: (0, 2, 3), 3: (1, 2, 3)}
    notes = " ".join(
        map(
            str,
            made_up(4, draws=50, common=(), beside=0.0, kept_by=kept).findings()["features"].notes,
        )
    )
    assert "disagree" in notes and " and 1 other set: their probabilities" in notes
    notes = " ".join(
        map(
            str,
            made_up(4, draws=50, common=(), kept_by={0: (0, 1, 2)}).findings()["features"].notes,
        )
    )
    assert "other set" not in notes


def test_the_open_combination_says_which_features_there_are_and_what_they_explain(model):
    whole = th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Additive())
    set_posterior(whole, model.posterior_, model._fitted_to_)
    found = whole.findings()
    keys = ["asked", "features", "n_features", "check", "summary", "data", "methods", "convergence"]
    assert found.keys() == keys
    assert (
        found["features"].table["probability"].tolist() == whole.features()["probability"].tolist()
    )
    assert str(found["check"].sentence) == str(model.findings()["estimate"].sentence)


def test_a_point_has_no_check_and_no_intervals():
    point = made_up(4, draws=1, chains=1, sigma=0.1)
    point.method = "map"
    point.posterior_.attrs |= {"restarts": 5, "reached": 2}  # which a fit counts
    found = point.findings()
    assert found.keys() == ["asked", "features", "parameters", "data", "methods", "convergence"]
    table = found["features"].table
    assert "weight" in table and not {"probability", "weight_low", "mcse", "r_hat"} & set(
        table.columns
    )
