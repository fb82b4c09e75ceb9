"""The one value of `people=`: what it may be, and the same sentence of all models for what it
cannot be."""

import pickle

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, said

import thali as th
from thali.errors import ArgumentError, DataError

FEW = {"draws": 5, "tune": 5, "thin": 1, "chains": 1, "random_seed": 1, "progressbar": False}
INDIVIDUALS = th.people.Individuals()


def trials():
    rng = np.random.default_rng(0)
    pairs = (("a", "b"), ("a", "c"), ("b", "c"))
    rows = [(f"p{k}", *pair, rng.choice(pair), 20 + 3 * k) for k in range(4) for pair in pairs]
    return pd.DataFrame(rows, columns=["person", "first", "second", "chosen", "age"])


def compared(frame=None):
    frame = trials() if frame is None else frame
    return th.PairedComparisons.from_trials(frame, "first", "second", "chosen")


def judged(frame=None):
    rows = [(f"p{k}", "a", "b", "c", "c", 20 + k) for k in range(4)]
    frame = pd.DataFrame(rows, columns=["person", "object1", "object2", "object3", "odd", "age"])
    return th.Triplets.from_frame(frame, respondent="person")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (th.people.Individuals(), "Individuals()"),
        (th.people.Individuals("age"), "Individuals(by=('age',))"),
    ],
)
def test_a_value_shows_what_is_not_the_default_and_is_equal_to_its_copy(value, text):
    assert repr(value) == text
    assert (
        pickle.loads(pickle.dumps(value)) == value
        and len({value, eval(text, {name: getattr(th.people, name) for name in dir(th.people)})})
        == 1
    )


def test_wrong_columns_are_told():
    with refused(ArgumentError, "`data.people`", "got 3"):
        th.people.Individuals(by=3)


def eliminated(people, data=None):
    return th.EliminationByAspects(2, people=people).fit(
        compared() if data is None else data, **FEW
    )


def clustered(people, data=None):
    return th.AdditiveClustering(2, people=people).fit(judged() if data is None else data, **FEW)


def weighed(people, data=None):
    return th.BradleyTerryLuce("mcmc", people=people).fit(
        compared() if data is None else data, **FEW
    )


def ranked(people, data=None):
    return th.leaderboard(
        compared() if data is None else data, people=people, method="mcmc", progressbar=False
    )


KNOWN = {
    eliminated: "",
    clustered: "",
    weighed: ", thali.people.Individuals(...)",
    ranked: "",
}


@pytest.mark.fit
@pytest.mark.parametrize("fit", KNOWN)
@pytest.mark.parametrize("people", ["random", 7, "individuals"])
def test_another_word_is_refused_by_all_models_in_one_sentence(fit, people):
    with pytest.raises(ArgumentError) as error:
        fit(people)
    words = f"None, 'independent', 'adjusted'{KNOWN[fit]}"
    said(error.value, "`people` must", words, repr(people))


@pytest.mark.parametrize("people", [None, "independent", "adjusted", INDIVIDUALS])
def test_a_mapping_of_groups_is_refused(people):
    groups = {"x": compared(), "y": compared()}
    for fit in (weighed, *((eliminated,) if people is not INDIVIDUALS else ())):
        with refused(DataError, "2 groups", "each group separately"):
            fit(people, groups)


def test_a_mapping_of_groups_is_refused_by_maximum_likelihood_too():
    model = th.EliminationByAspects("unique", method="maximum-likelihood")
    for ask in (model.fit, model.prepare):
        with refused(DataError, "2 groups"):
            ask({"x": compared(), "y": compared()})


def test_individuals_are_refused_by_models_of_features():
    for fit in (eliminated, clustered):
        with refused(ArgumentError, "people", repr(INDIVIDUALS), "BradleyTerryLuce"):
            fit(INDIVIDUALS)


UNNAMED = th.PairedComparisons([[0, 3], [1, 0]])
NOBODY = {
    eliminated: (UNNAMED, ["adjusted"]),
    clustered: (th.Triplets([("a", "b", "c"), ("a", "c", "b")]), ["adjusted"]),
    weighed: (UNNAMED, ["adjusted", INDIVIDUALS]),
    ranked: (UNNAMED, ["adjusted"]),
}


@pytest.mark.fit
@pytest.mark.parametrize(
    ("fit", "people"), [(fit, each) for fit, (_, several) in NOBODY.items() for each in several]
)
def test_data_must_contain_who_answered(fit, people):
    with refused(DataError, "respondent column", repr(people)):
        fit(people, NOBODY[fit][0])


def test_an_unknown_column_is_told():
    with refused(ArgumentError, "contains 'aeg'", "'age'"):
        weighed(th.people.Individuals(by=["aeg"]))
