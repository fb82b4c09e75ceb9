"""What comparisons carry is used or refused by every function that takes them, never ignored."""

from inspect import getmembers, isfunction

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused

import thali as th
from thali import paired
from thali.errors import ArgumentError, DataError

LABELS = list("abcd")
ASPECTS = {"a": ["x"], "b": ["x", "y"], "c": ["y"], "d": ["z"]}


def table(ties=False):
    """Trials of nine people in which a side, a length and perhaps ties matter."""
    rng = np.random.default_rng(5)
    first, second = np.array([rng.choice(4, 2, replace=False) for _ in range(400)]).T
    longer = rng.normal(size=400)
    log_odds = 0.4 * (second - first) + 0.8 * longer + 0.5
    chosen = np.where(rng.random(400) < 1 / (1 + np.exp(-log_odds)), first, second)
    names = np.array([*LABELS, "tie"])
    chosen = np.where(ties & (rng.random(400) < 0.2), 4, chosen)
    who = {"respondent": rng.integers(0, 9, 400)}
    return pd.DataFrame(
        {
            "first": names[first],
            "second": names[second],
            "chosen": names[chosen],
            **who,
            "longer": longer,
        }
    )


def read(covariates=None, ties=False):
    return th.PairedComparisons.from_trials(table(ties), covariates=covariates)


# How each function that takes comparisons is called.
CALLS = {
    "agreement": paired.agreement,
    "bootstrap": lambda data: paired.bootstrap(data.by_respondent(), samples=5, random_seed=1),
    "circular_triads": paired.circular_triads,
    "davidson": paired.davidson,
    "group_test": lambda data: paired.group_test(
        {"few": data.by_respondent()["0"], "many": data.by_respondent()["1"]}, aspects="unique"
    ),
    "half_wins": paired.half_wins,
    "leaderboard": lambda data: th.leaderboard(data, progressbar=False).table,
    "order_effect": paired.order_effect,
    "thurstone": paired.thurstone,
    "transitivity": paired.transitivity,
    "trinary_inequality": lambda data: paired.trinary_inequality(data, ASPECTS),
}


@pytest.mark.parametrize(
    "call", [paired.order_effect, lambda data: paired.davidson(data, order=True)]
)
def test_an_effect_of_order_says_that_answers_of_respondents_are_taken_for_independent(call):
    rows = table(ties=call is not paired.order_effect)
    sentence = "The answers of each respondent are treated as independent."
    assert sentence in call(rows).note
    assert sentence not in call(rows.drop(columns="respondent")).note


# options, models or aspects
NO_DATA = {"pair_design", "parametric_bootstrap", "simulate", "wald_test"}
WITHOUT_TIES = set(CALLS) - {"davidson", "half_wins", "leaderboard"}  # the others know them


def test_every_function_stands_in_the_table():
    public = {name for name, _ in getmembers(paired, isfunction) if not name.startswith("_")}
    assert public | {"leaderboard"} == set(CALLS) | NO_DATA


@pytest.mark.parametrize("name", sorted(set(CALLS) - {"leaderboard"}))  # which controls for them
def test_covariates_are_refused(name):
    with refused(DataError, "'longer'", "with_covariates"):
        CALLS[name](read(["longer"]))


def test_the_order_of_presentation_is_what_its_test_uses():
    assert str(paired.order_effect(read(["order"]))) == str(paired.order_effect(read()))
    with refused(DataError, "'longer'"):
        paired.order_effect(read(["order", "longer"]))


@pytest.mark.parametrize("name", sorted(WITHOUT_TIES))
def test_ties_are_refused(name):
    with refused(DataError, "tie"):
        CALLS[name](read(ties=True))


@pytest.mark.first(1)
@pytest.mark.fit  # imports what draws pictures
@pytest.mark.parametrize("name", sorted(set(CALLS) - WITHOUT_TIES))
def test_ties_change_the_answer(name):
    with_ties, dropped = read(ties=True), read(ties=True).without_ties("drop")
    try:
        without = str(CALLS[name](dropped))
    except DataError as refused:  # davidson: there is no tie
        assert "no tie" in str(refused)
    else:
        assert str(CALLS[name](with_ties)) != without


@pytest.mark.fit
def test_a_leaderboard_takes_no_argument_that_says_nothing():
    for source in (table(), read(), read().counts):
        with refused(ArgumentError, "'nonsense'"):
            th.leaderboard(source, nonsense=3)
    with refused(ArgumentError, "'chosen'", "PairedComparisons"):
        th.leaderboard(read(), chosen="chosen")
    with refused(ArgumentError, "`coding` does not"):
        th.leaderboard(read().to_frame(), coding="12")
