"""The model that data get unless one is named."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import simulate_experiment
from helpers.sentences import refused

import thali as th
from thali._data.groups import GroupedData
from thali._model.default_models import choose_default_model, default_comparison
from thali.errors import DataError

INDIVIDUALS = {"people": "individuals"}


def experiment(people, tasks):
    return th.ChoiceExperiment.from_frame(simulate_experiment(people, tasks))


def sets(size, people=1, times=1):
    """Choices out of all sets of so many of six options, which several respondents answered a few
    times."""
    rows = [
        (who, k, x, int(x == members[who % size]))
        for who in range(people)
        for k, members in enumerate([*combinations("abcdef", size)] * times)
        for x in members
    ]
    return th.Choices(
        pd.DataFrame(rows, columns=["respondent", "task", "alternative", "chosen"]),
        respondent="respondent",
    )


def best_worst(size, **columns):
    rows = [(*members, members[0], members[-1]) for members in combinations("abcdefghi", size)]
    names = [*(f"item{k}" for k in range(size)), "best", "worst"]
    return th.read(pd.DataFrame(rows, columns=names).assign(**columns))


def maxdiff():
    return best_worst(4, respondent=["v", "w"] * 63)


def pairs(options):
    return th.PairedComparisons(np.ones((options, options)) - np.eye(options))


def rows():
    return th.read(pd.DataFrame({"height": [1.5, 2.5, 3.5], "y": list("aba")}), target="y")


def rankings():
    """Every row of a table of rankings is a respondent."""
    return th.read(pd.DataFrame([list("abcd"), list("bacd")], columns=["1st", "2nd", "3rd", "4th"]))


similarities = th.Similarities(np.eye(3) + 0.5, labels=list("abc"))
triplets = th.Triplets([(0, 1, 2), (1, 0, 2)])
TABLE = {
    "the median respondent answered four tasks": (
        lambda: experiment(3, 4),
        "hierarchical-logit",
        {},
    ),
    "the median respondent answered three tasks": (
        lambda: experiment(3, 3),
        "multinomial-logit",
        {},
    ),
    "one respondent answered many tasks": (lambda: experiment(1, 12), "multinomial-logit", {}),
    "MaxDiff of sets of four": (lambda: best_worst(4), "BTL", {}),
    "MaxDiff of sets of three": (lambda: best_worst(3), "BTL", {}),
    "MaxDiff of known respondents": (maxdiff, "BTL", INDIVIDUALS),
    "MaxDiff of sets of seven": (lambda: best_worst(7), "BTL", {}),
    "rankings": (rankings, "BTL", {}),
    "choices from sets of four": (lambda: sets(4), "BTL", {}),
    "choices from sets of four by known respondents": (
        lambda: sets(4, people=2),
        "BTL",
        INDIVIDUALS,
    ),
    "choices from sets of three": (lambda: sets(3, people=2), "elimination-by-aspects", {}),
    "pairs of 40 options": (lambda: pairs(40), "elimination-by-aspects", {}),
    "pairs of 41 options": (lambda: pairs(41), "BTL", {}),
    "similarities": (lambda: similarities, "additive-clustering", {}),
    "triplets": (lambda: triplets, "additive-clustering", {}),
    "covariates and classes": (rows, "plackett-luce", {}),
}


@pytest.mark.unit
@pytest.mark.parametrize("name", TABLE)
def test_data_have_the_model_of_their_trade(name):
    make, model, settings = TABLE[name]
    default = choose_default_model(make())
    assert (default.offer.name, default.settings) == (model, settings)


@pytest.mark.unit
def test_a_respondent_who_answered_once_has_no_individual_worths():
    assert choose_default_model(best_worst(4, respondent=range(126))).settings == {}


@pytest.mark.unit
@pytest.mark.parametrize(
    ("make", "words", "model", "settings"),
    [
        (lambda: experiment(3, 4), ["classes"], "latent-class-logit", {}),
        (lambda: experiment(3, 2), ["draws", "signs"], "hierarchical-logit", {}),
        (lambda: pairs(41), ["aspects"], "elimination-by-aspects", {}),
        (lambda: pairs(41), ["draws"], "BTL", {}),
        (maxdiff, ["people"], "BTL", {}),
        (maxdiff, {"method": "laplace"}, "BTL", {}),
        (maxdiff, {"method": "mcmc"}, "BTL", INDIVIDUALS),
        (maxdiff, ["spread", "tune"], "BTL", INDIVIDUALS),
        (lambda: best_worst(4), ["tune"], "BTL", {}),
        (maxdiff, ["by", "seed"], "BTL", INDIVIDUALS),
        (lambda: pairs(41), ["group"], "BTL", {}),
        (lambda: best_worst(7), ["best-worst"], "BTL", {}),
    ],
)
def test_an_option_chooses_the_model_that_has_it(make, words, model, settings):
    default = choose_default_model(make(), words)
    assert (default.offer.name, default.settings) == (model, settings)


@pytest.mark.unit
def test_choices_of_groups_have_the_model_of_all_their_sets():
    default = choose_default_model(GroupedData({"women": sets(3), "men": sets(4)}), ["group"])
    assert (default.offer.name, default.settings) == ("BTL", {})


@pytest.mark.unit
def test_other_models_are_those_that_the_data_can_have():
    assert choose_default_model(sets(3)).others == ["BTL"]
    assert choose_default_model(sets(4)).others == []
    assert choose_default_model(experiment(3, 2)).others == [
        "hierarchical-logit",
        "latent-class-logit",
        "product-classes",
    ]


@pytest.mark.fit
def test_fit_fits_the_default_model():
    model = th.fit(maxdiff(), draws=20, tune=20, chains=2, random_seed=1, progressbar=False)
    assert model.people == th.people.Individuals()
    assert model.posterior_["posterior"].sizes["draw"] == 20


@pytest.mark.fit
def test_fit_takes_covariates_and_classes():
    model = th.fit(rows())
    assert list(model.classes_) == ["a", "b"]


@pytest.mark.unit
def test_fit_refuses_what_is_no_data():
    with refused(DataError, "list", "thali.read"):
        th.fit([("a", "b")])


@pytest.mark.parametrize(
    ("data", "models"),
    [
        (best_worst(3), "usual"),
        (sets(5), "usual"),
        (best_worst(4), "BTL"),
        (th.Choices.from_rankings(["a > b = c", "b = c > a", "c > a = b"]), "BTL"),
        (
            best_worst(4, respondent=[f"p{k % 5}" for k in range(126)]),
            "BTL,individuals=individuals:BTL",
        ),
    ],
)
def test_models_with_shared_aspects_are_compared_where_they_can_be_fitted(data, models):
    """Which are none of MaxDiff with larger sets."""
    assert default_comparison(data, "usual") == models
