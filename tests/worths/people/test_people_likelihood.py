"""The likelihood of a person's answers, its slope and its curvature, against their definitions."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from helpers.naive.worths_of_people import PersonAnswer, compute_log_likelihood
from people_problems import build_study, build_table, find_seen, list_answers, simulate_answers

import thali as th
from thali._worths.people.answer_table import tabulate_answers
from thali._worths.people.sampler_moves import evaluate_people

CASES = {
    "pairs": {"rule": "order", "set_size": 2},
    "pairs with ties and lapse": {"rule": "order", "set_size": 2, "has_ties": True, "lapse": 0.1},
    "choices with lapse": {"rule": "order", "set_size": 4, "lapse": 0.1},
    "rankings": {"rule": "order", "set_size": 4, "depth": 3},
    "beginnings of rankings with lapse": {"rule": "order", "set_size": 5, "depth": 2, "lapse": 0.1},
    "best and worst": {"rule": "reversed", "set_size": 4},
    "best and worst with lapse": {"rule": "reversed", "set_size": 5, "lapse": 0.1},
}
NU = 0.7


class Ties(NamedTuple):
    """What the likelihood reads of the state of a chain."""

    nu: np.ndarray


def evaluate(table, worths):
    """Return the log-likelihood of all people at log worths (N, n), and slopes (N, n)."""
    person = np.repeat(np.arange(len(worths)), np.diff(table.first_option))
    log_likelihood, slope = np.empty(len(worths)), np.empty(len(person))
    state = Ties(np.array([NU]))
    evaluate_people(table, state, worths[person, table.option], log_likelihood, slope)
    slopes = np.zeros(worths.shape)
    slopes[person, table.option] = slope
    return log_likelihood.sum(), slopes


def made(name):
    """Return a table of the case with fractional counts, its answers one by one, and log worths."""
    rng = np.random.default_rng(1)
    study = build_study(rng, n_people=3, n_options=6, n_sets=4, **CASES[name])
    worths = 1.5 * rng.normal(size=(3, 6))
    study = simulate_answers(rng, study, worths, np.log(NU))
    counts = rng.integers(1, 5, len(study.person)) / 2.0
    answers = [
        answer._replace(count=count)
        for answer, count in zip(list_answers(study), counts, strict=True)
    ]
    return build_table(study)._replace(count=np.repeat(counts, study.depth)), answers, worths, study


@pytest.mark.parametrize("name", CASES)
def test_likelihood_by_definition(name):
    table, answers, worths, study = made(name)
    expected = compute_log_likelihood(
        answers, worths, study.rule, study.lapse, NU if study.has_ties else None
    )
    assert evaluate(table, worths)[0] == pytest.approx(expected, abs=1e-10)
    far = 40.0 * worths
    if study.lapse and not study.has_ties:  # without a lapse the definition loses what is unlikely
        expected = compute_log_likelihood(answers, far, study.rule, study.lapse)
        assert evaluate(table, far)[0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("name", CASES)
def test_slopes_of_answers(name):
    table, _, worths, study = made(name)
    _, slopes = evaluate(table, worths)
    for p, options in enumerate(find_seen(study)):
        for option in options:
            step = np.zeros(worths.shape)
            step[p, option] = 1e-5
            difference = evaluate(table, worths + step)[0] - evaluate(table, worths - step)[0]
            assert difference / 2e-5 == pytest.approx(slopes[p, option], abs=1e-8)
    np.testing.assert_allclose(slopes.sum(axis=1), 0.0, atol=1e-12)


def evaluate_data(data, rule="order", has_ties=False, lapse=0.0):
    """Return the log-likelihood of data at drawn log worths, and the log worths by respondent and
    option."""
    worths = np.random.default_rng(3).normal(size=(len(data.respondents), data.n_options))
    table = tabulate_answers(data, rule, lapse, has_ties)
    named = pd.DataFrame(worths, index=list(data.respondents), columns=list(data.labels))
    return evaluate(table, worths)[0], named


def log_likelihood_of_rows(rows, named, rule="order", has_ties=False, lapse=0.0):
    """Return the naive log-likelihood of rows (respondent, options, depth, count, is_tie)."""
    people, options = list(named.index), list(named.columns)
    answers = [
        PersonAnswer(people.index(who), tuple(options.index(each) for each in order), *rest)
        for who, order, *rest in rows
    ]
    return compute_log_likelihood(answers, named.to_numpy(), rule, lapse, NU if has_ties else None)


def test_table_of_rankings():
    """The second ranking names the best alone, the fourth two: the others are worse."""
    ranks = {"rank1": list("cadb"), "rank2": ["a", None, "a", "d"], "rank3": ["b", None, "c", None]}
    frame = pd.DataFrame(ranks | {"person": ["ann", "bob", "ann", "bob"]})
    data = th.Choices.from_rankings(frame, respondent="person", unranked="worse")
    rows = [("ann", "cabd", 3), ("bob", "abcd", 1), ("ann", "dacb", 3), ("bob", "bdac", 2)]
    found, named = evaluate_data(data, lapse=0.05)
    assert found == pytest.approx(log_likelihood_of_rows(rows, named, lapse=0.05), abs=1e-10)


def test_table_of_best_and_worst():
    frame = pd.DataFrame(
        [list("abcdda"), list("acdecd"), list("bcdebe")], columns=[*"1234", "best", "worst"]
    )
    frame["person"] = ["ann", "bob", "ann"]
    data = th.Choices.from_best_worst(frame, "best", "worst", list("1234"), respondent="person")
    rows = [("ann", "dabc", 1), ("bob", "cdae", 1), ("ann", "becd", 1)]
    found, named = evaluate_data(data, "reversed", lapse=0.1)
    assert found == pytest.approx(
        log_likelihood_of_rows(rows, named, "reversed", lapse=0.1), abs=1e-10
    )


@pytest.mark.parametrize("has_ties", [True, False])
def test_table_of_pairs_with_counts(has_ties):
    counts = {"wins": [1, 0, 4], "losses": [2, 3, 0], "ties": [0, 2, 1]}
    frame = pd.DataFrame(
        {"chosen": list("abc"), "rejected": list("bca"), "person": ["ann", "bob", "ann"]} | counts
    )
    data = th.PairedComparisons.from_frame(
        frame,
        "chosen",
        "rejected",
        "wins",
        losses="losses",
        ties="ties" if has_ties else None,
        respondent="person",
    )
    rows = []
    for one, other, person, won, lost, tied in frame.itertuples(index=False):
        rows += [(person, one + other, 1, won), (person, other + one, 1, lost)]
        rows += [(person, one + other, 1, tied, True)] * has_ties
    found, named = evaluate_data(data, has_ties=has_ties, lapse=0.02)
    expected = log_likelihood_of_rows(rows, named, has_ties=has_ties, lapse=0.02)
    assert found == pytest.approx(expected, abs=1e-10)
