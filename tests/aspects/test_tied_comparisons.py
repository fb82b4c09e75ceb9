"""What a model of paired comparisons with ties answers."""

import numpy as np
import pytest
from helpers.problems import random_comparisons, with_ties
from helpers.sentences import refused

import thali as th
from thali.errors import ArgumentError, DataError

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]

DATA = with_ties(random_comparisons(5, 5), 1)
RUN = {"draws": 60, "tune": 40, "thin": 2, "chains": 2, "random_seed": 1, "progressbar": False}


def fitted(**settings):
    return th.EliminationByAspects(**settings).fit(DATA, **RUN)


@pytest.fixture(scope="module")
def model():
    return fitted()


def test_ties_are_modelled_where_there_are_some(model):
    np.testing.assert_array_equal(
        fitted(ties="davidson").posterior_["posterior"]["tie"], model.posterior_["posterior"]["tie"]
    )
    assert "tie" in model.summary().index
    without = th.EliminationByAspects().fit(DATA.without_ties("drop"), **RUN)
    assert "tie" not in without.posterior_["posterior"]
    for how in ("half", "drop"):
        one, other = fitted(ties=how), th.EliminationByAspects().fit(DATA.without_ties(how), **RUN)
        np.testing.assert_array_equal(
            *(m.posterior_["posterior"]["choice_probability"] for m in (one, other))
        )


def test_outcomes_are_predicted(model):
    table = model.predict_outcomes([("0", "1"), ("1", "0"), ("2", "4")])
    assert list(table.columns) == ["a", "b", "p_a", "p_tie", "p_b"]
    np.testing.assert_allclose(table[["p_a", "p_tie", "p_b"]].sum(axis=1), 1.0)
    np.testing.assert_allclose(
        table.loc[0, ["p_a", "p_tie", "p_b"]], table.loc[1, ["p_b", "p_tie", "p_a"]]
    )
    with refused(ArgumentError, "of labels"):
        model.predict_outcomes([("0", "1", "2")])
    with refused(ArgumentError, "not include ties"):
        fitted(ties="half").predict_outcomes([("0", "1")])


@pytest.mark.usefixtures("pictures")
def test_choices_and_ties_are_checked(model):
    table = model.check(random_seed=1)
    assert sorted(table["tied"]) == [False] * DATA.n_pairs + [True] * DATA.n_pairs
    tied = table[table["tied"]].set_index(["a", "b"])
    first = DATA.labels[DATA.first[0]], DATA.labels[DATA.second[0]]
    n = DATA.wins[0] + DATA.losses[0] + DATA.tied[0]
    assert tied.loc[first, "n"] == n and tied.loc[first, "observed"] == pytest.approx(
        DATA.tied[0] / n
    )
    labels = [label.get_text() for label in th.plots.check(table, max_pairs=20).get_yticklabels()]
    assert f"{first[0]} and {first[1]} tied" in labels


def test_ties_that_cannot_be_modelled_are_refused():
    with refused(ArgumentError, "ties", "'davidson'", "'half'", "'drop'", "got 'win'"):
        fitted(ties="win")
    half = th.EliminationByAspects("unique", method="maximum-likelihood", ties="half").fit(DATA)
    assert half.maximum_likelihood.weights().equals(
        half.fit(DATA.without_ties("half")).maximum_likelihood.weights()
    )
    with refused(DataError, "comparisons", "without_ties"):
        th.likelihoods.Elimination().check(th.priors.IndianBuffet(), DATA)
    likelihood = th.likelihoods.Elimination(ties=True)
    with refused(ArgumentError, "weight_prior", "0.5"):
        th.LatentFeatureModel(th.priors.IndianBuffet(), likelihood, weight_prior=(0.3, 1.0)).fit(
            DATA, **RUN
        )
    sets = th.Choices.from_comparisons(DATA.without_ties("drop"))
    assert sets.is_paired
