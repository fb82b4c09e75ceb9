"""What additive clustering, and the open combination, find out: keys, settings, words, faults."""

import pandas as pd
import pytest
from helpers.additive_fits import made_up
from helpers.sentences import refused, warned

import thali as th
from thali import AdditiveClustering
from thali._aspects.answers.stored_layout import REACHED, RESTARTS
from thali._aspects.findings import open as of_open
from thali._aspects.spec import ADDITIVE
from thali._data.groups import GroupedData
from thali._model.finding import FILES, PAGE, Findings
from thali._model.settings import USUAL, Settings
from thali._surfaces.cli.boundary import OptionWords
from thali.errors import PYTHON, ArgumentError, IncompleteWarning, Message

OPTIONS = OptionWords(ADDITIVE.options)
KEYS = ["asked", "features", "n_features", "estimate", "similarity", "parameters", "check", "tempering", "summary"]
KEYS += ["data", "membership", "methods", "verdict"]


@pytest.fixture(scope="module")
def model():
    return made_up(4, draws=20)


def test_keys_are_in_the_order_of_a_readers_questions(model):
    assert model.findings().keys() == KEYS


def test_the_estimate_is_the_one_that_was_asked_for(model):
    for kind in ("expectation", "conditional-map"):
        found, wanted = model.findings(kind=kind), model.estimate(kind)
        assert found["estimate"].table["weight"].iloc[-1] == wanted.constant
        assert f"{100 * wanted.variance_accounted_for():.1f} %" in str(found["estimate"].sentence)
        pd.testing.assert_frame_equal(found["similarity"].table, wanted.similarity, check_names=False)


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_a_single_similarity_has_no_variance_to_account_for():
    one = th.Similarities([[1.0, 0.5], [0.5, 1.0]])
    model = AdditiveClustering().fit(one, draws=20, tune=10, thin=1, chains=2, random_seed=1, progressbar=False)
    open_one = th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Additive(0.1))
    open_one.fit(one, draws=20, tune=10, thin=1, chains=2, random_seed=1, progressbar=False)
    for found in (model.findings()["estimate"], open_one.findings()["check"]):
        assert str(found.sentence) == "No two similarities differ, so that there is no variance to account for."


def test_matched_features_have_a_table_and_a_picture_of_their_owners_besides_that_of_the_features(model):
    found = model.findings(similar=0.6)
    assert found["features"].picture.stem == "features" and "stability" in found["features"].table
    owners = found["membership"]
    (drawn,) = owners.picture.draws
    assert owners.picture.stem == "membership"
    pd.testing.assert_frame_equal(drawn, model.membership(similar=0.6))
    pd.testing.assert_frame_equal(owners.table, model.membership(similar=0.6))
    assert {PAGE, FILES} <= set(owners.place)


def test_without_matching_the_owners_are_a_picture_among_the_files_alone(model):
    owners = model.findings()["membership"]
    assert owners.table is None and owners.picture.stem == "membership" and owners.place == (FILES,)


def test_what_is_not_known_is_refused_with_what_is(model):
    with refused(ArgumentError, "'price'"):
        model.findings(price="cost")
    with refused(ArgumentError, "'ranks'"):
        model.findings()["ranks"]


def test_an_estimate_is_refused_where_there_is_no_other():
    triplets = th.Triplets([["tea", "coffee", "wall"], ["tea", "wall", "coffee"]])
    groups = GroupedData({name: th.Similarities([[1, 0.5], [0.5, 1]]) for name in "mf"})
    for data, what in ((triplets, "triplets"), (groups, "similarities of several groups")):
        with pytest.raises(ArgumentError) as wrong:
            AdditiveClustering()._settings_for(data, Settings(kind="joint-map"))
        sentence = Message(*wrong.value.args).render(OPTIONS)
        assert sentence == f"--estimate is for similarities, and these data are {what}; leave it out."
        assert AdditiveClustering()._settings_for(data, USUAL) is USUAL


def test_options_are_named_in_the_words_of_the_place():
    found = made_up(4, draws=20, sigma=0.1)
    found.sigma_scores_ = [0.0] * 4
    text = {words: " ".join(found.findings()["parameters"].sentences(words)) for words in (OPTIONS, PYTHON)}
    assert "0.1, which of 4 values" in text[OPTIONS] and "rate c times as small (--weight-prior)." in text[OPTIONS]
    assert "best; --sigma gives another, --sigma learned learns it." in text[OPTIONS]
    assert "--" not in text[PYTHON] and "c times as small (weight_prior)." in text[PYTHON]


def test_probabilities_that_are_not_settled_are_counted_where_they_are_not_named():
    kept = {0: (0, 1, 2), 1: (0, 1, 3), 2: (0, 2, 3), 3: (1, 2, 3)}
    notes = " ".join(map(str, made_up(4, draws=50, common=(), beside=0.0, kept_by=kept).findings()["features"].notes))
    assert "do not agree on the probability of " in notes and "; 1 more; another seed" in notes
    notes = " ".join(map(str, made_up(4, draws=50, common=(), kept_by={0: (0, 1, 2)}).findings()["features"].notes))
    assert " more; another seed" not in notes


def test_a_fault_costs_its_own_section():
    def lost(*_):
        raise ZeroDivisionError("of a test")

    found = made_up(4, draws=20, check=lost).findings()
    with warned(IncompleteWarning, "'check'"):
        assert "ZeroDivisionError: of a test" in str(found["check"].sentence)
    assert found.keys() == KEYS


def test_the_open_combination_says_which_features_there_are_and_what_they_explain(model):
    found = Findings(model, of_open.makers_of(model, USUAL), USUAL)
    keys = ["asked", "features", "n_features", "check", "summary", "data", "methods", "verdict"]
    assert found.keys() == keys
    assert found["features"].table["probability"].tolist() == model.features()["probability"].tolist()
    assert str(found["check"].sentence) == str(model.findings()["estimate"].sentence)


def test_a_point_has_no_check_and_no_intervals():
    point = made_up(4, draws=1, chains=1, sigma=0.1)
    point.method = "map"
    point.posterior_.attrs |= {RESTARTS: 5, REACHED: 2}  # which a fit counts
    found = point.findings()
    assert found.keys() == ["asked", "features", "parameters", "data", "methods", "verdict"]
    table = found["features"].table
    assert "weight" in table and not {"probability", "weight_low", "mcse", "r_hat"} & set(table.columns)
