"""The model that data get unless one is named."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import simulate_experiment
from helpers.sentences import refused, said
from helpers.watched_runs import catch_comparisons, catch_fits, without_fit

import thali as th
from thali.errors import DataError

INDIVIDUALS = th.people.Individuals()
WORTHS, ASPECTS, FEATURES = "BradleyTerryLuce", "EliminationByAspects", "AdditiveClustering"
LOGIT, PLAIN_LOGIT = "HierarchicalLogit", "MultinomialLogit"
ONE, BOTH = {"BTL": None}, {"BTL": None, "inferred aspects": None}


def experiment(people, tasks):
    return th.ChoiceExperiment.from_frame(simulate_experiment(people, tasks))


def table_of_sets(size, people=1, task=0):
    """Choices out of all sets of so many of six options, which several respondents answered."""
    rows = [
        (who, task + k, x, int(x == members[who % size]))
        for who in range(people)
        for k, members in enumerate(combinations("abcdef", size))
        for x in members
    ]
    return pd.DataFrame(rows, columns=["respondent", "task", "alternative", "chosen"])


def sets(size, people=1):
    return th.Choices(table_of_sets(size, people), respondent="respondent")


def table_of_best_worst(size, **columns):
    rows = [(*members, members[0], members[-1]) for members in combinations("abcdefghi", size)]
    names = [*(f"item{k}" for k in range(size)), "best", "worst"]
    return pd.DataFrame(rows, columns=names).assign(**columns)


def table_of_maxdiff(**columns):
    return table_of_best_worst(4, respondent=["v", "w"] * 63, **columns)


def best_worst(size):
    return th.read(table_of_best_worst(size))


def maxdiff():
    return th.read(table_of_maxdiff())


def table_of_pairs(options):
    rows = [(f"o{a}", f"o{b}", "xy"[(a + b) % 2]) for a in range(options) for b in range(options)]
    frame = pd.DataFrame(rows, columns=["winner", "loser", "language"])
    return frame[frame["winner"] != frame["loser"]]


def pairs(options):
    return th.PairedComparisons(np.ones((options, options)) - np.eye(options))


def once():
    """Each set was answered by another respondent."""
    return th.read(table_of_best_worst(4, respondent=range(126)))


def rows():
    return th.read(pd.DataFrame({"height": [1.5, 2.5, 3.5], "y": list("aba")}), target="y")


def rankings():
    """Every row of a table of rankings is a respondent."""
    return th.read(pd.DataFrame([list("abcd"), list("bacd")], columns=["1st", "2nd", "3rd", "4th"]))


similarities = th.Similarities(np.eye(3) + 0.5, labels=list("abc"))
triplets = th.Triplets([(0, 1, 2), (1, 0, 2)])
TABLE = {
    "the median respondent answered four tasks": (lambda: experiment(3, 4), LOGIT, None),
    "the median respondent answered three tasks": (lambda: experiment(3, 3), PLAIN_LOGIT, None),
    "one respondent answered many tasks": (lambda: experiment(1, 12), PLAIN_LOGIT, None),
    "MaxDiff of sets of four": (lambda: best_worst(4), WORTHS, None),
    "MaxDiff of sets of three": (lambda: best_worst(3), WORTHS, None),
    "MaxDiff of known respondents": (maxdiff, WORTHS, INDIVIDUALS),
    "MaxDiff of sets of seven": (lambda: best_worst(7), WORTHS, None),
    "MaxDiff of respondents who answered once": (once, WORTHS, None),
    "rankings": (rankings, WORTHS, None),
    "choices from sets of four": (lambda: sets(4), WORTHS, None),
    "choices from sets of four by known respondents": (lambda: sets(4, 2), WORTHS, INDIVIDUALS),
    "choices from sets of three": (lambda: sets(3, 2), ASPECTS, None),
    "pairs of 40 options": (lambda: pairs(40), ASPECTS, None),
    "pairs of 41 options": (lambda: pairs(41), WORTHS, None),
    "similarities": (lambda: similarities, FEATURES, None),
    "triplets": (lambda: triplets, FEATURES, None),
}


@pytest.mark.unit
@pytest.mark.parametrize("name", TABLE)
def test_data_have_the_model_of_their_trade(name):
    make, wanted, people = TABLE[name]
    model = without_fit(th, make())
    assert (type(model).__name__, model.get_params()["people"] if people else None) == (
        wanted,
        people,
    )


@pytest.fixture
def chosen(run, tmp_path, monkeypatch):
    """A function of a table and options: the class and people of the model that the command line
    would fit to them, and what it says."""
    caught = catch_fits(monkeypatch)

    def chosen(frame, *words):
        frame.to_csv(tmp_path / "table.csv", index=False)
        found = run("fit", tmp_path / "table.csv", *words).err
        model = caught.pop()
        return type(model).__name__, model.get_params().get("people"), found

    return chosen


OPTIONS = {
    "--classes 2": (simulate_experiment(3, 4), "LatentClassLogit", None),
    "--draws 100": (simulate_experiment(3, 2), LOGIT, None),
    "--aspects unique": (table_of_pairs(41), ASPECTS, None),
    "--draws 99": (table_of_pairs(41), WORTHS, None),
    "--people adjusted": (table_of_maxdiff(), WORTHS, "adjusted"),
    "--method laplace": (table_of_maxdiff(), WORTHS, None),
    "--method mcmc": (table_of_maxdiff(), WORTHS, INDIVIDUALS),
    "--spread 2 --tune 100": (table_of_maxdiff(), WORTHS, INDIVIDUALS),
    "--by age --seed 1": (
        table_of_maxdiff(age=[20, 40] * 63),
        WORTHS,
        th.people.Individuals(by="age"),
    ),
    "--best-worst reversed": (table_of_best_worst(7), WORTHS, None),
}


@pytest.mark.long
@pytest.mark.parametrize("words", OPTIONS)
def test_an_option_chooses_the_model_that_has_it(chosen, words):
    frame, model, people = OPTIONS[words]
    assert chosen(frame, *words.split())[:2] == (model, people)


@pytest.mark.parametrize(
    ("frame", "others"),
    [
        (table_of_sets(3), ("BTL",)),
        (table_of_sets(4), ()),
        (
            simulate_experiment(3, 2),
            ("hierarchical-logit", "latent-class-logit", "product-classes"),
        ),
    ],
)
def test_other_models_are_those_that_the_data_can_have(chosen, frame, others):
    sentence = chosen(frame)[2]
    said(sentence, *others)
    assert ("alternative" in sentence.partition("; ")[2].rpartition("(")[2]) == bool(others)


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
    with refused(DataError, "got DataFrame"):
        th.fit(pd.DataFrame({"kind": ["a", "b"], "population": ["c", "d"]}))


@pytest.mark.parametrize(
    ("frame", "models"),
    [
        (table_of_best_worst(3), [BOTH]),
        (table_of_sets(5), [BOTH]),
        (table_of_best_worst(4), [ONE]),
        (
            table_of_best_worst(4, respondent=[f"p{k % 5}" for k in range(126)]),
            [{"BTL": None, "individuals": INDIVIDUALS}],
        ),
    ],
)
def test_models_with_shared_aspects_are_compared_where_they_can_be_fitted(
    run, tmp_path, monkeypatch, frame, models
):
    """Which are none of MaxDiff with larger sets."""
    caught = catch_comparisons(monkeypatch)
    frame.to_csv(tmp_path / "table.csv", index=False)
    run("compare", tmp_path / "table.csv")
    found = [{name: model.get_params()["people"] for name, model in each} for each in caught]
    assert found == models
