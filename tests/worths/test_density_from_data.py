"""Densities of worths made of data: their likelihood answer by answer, and what cannot be estimated."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused

import thali as th
from thali._model.best_worst_probabilities import RANKING, REVERSED
from thali._worths.density_from_data import (
    build_density,
    check_estimable,
    convert_for_likelihood,
    is_separated,
    keep_single_choices,
    list_wins,
    split_by_respondent,
)
from thali.errors import DataError

POINT = np.random.default_rng(0).normal(size=(12, 3))


def comparisons(respondents=True, covariates=False, ties=True):
    rng = np.random.default_rng(1)
    first = rng.integers(4, size=60)
    second = (first + rng.integers(1, 4, size=60)) % 4
    names = np.array(list("abcd"))
    answers = np.array(["first", "second", "tie"][: 2 + ties])
    rows = {
        "first": names[first],
        "second": names[second],
        "chosen": answers[rng.integers(len(answers), size=60)],
    }
    if respondents:
        rows["respondent"] = [f"p{k % 5}" for k in range(60)]
    if covariates:
        rows["x"] = rng.normal(size=60).round(1)
    names = {"respondent": "respondent"} if respondents else {}
    more = {"covariates": ["x"]} if covariates else {}
    return pd.DataFrame(rows), th.PairedComparisons.from_trials(pd.DataFrame(rows), **names, **more)


@pytest.mark.parametrize("lapse", [0.0, 0.1])
@pytest.mark.parametrize("has_ties", [False, True])
def test_the_likelihood_of_comparisons_is_that_of_each_answer(lapse, has_ties):
    frame, data = comparisons(covariates=True)
    density = build_density(data, lapse, has_ties)
    points = POINT[: density.size]
    expected = np.zeros(3)
    for row in frame.itertuples():
        i, j = (data.labels.index(each) for each in (row.first, row.second))
        odds = points[i] - points[j] + row.x * points[density.beta][0]
        p = (1.0 - lapse) / (1.0 + np.exp(-odds)) + lapse / 2.0
        tie = np.exp(points[density.nu][0]) * np.sqrt(p * (1.0 - p)) if has_ties else 0.0
        likelihood = {"first": p, "second": 1.0 - p, "tie": tie}[row.chosen] / (1.0 + tie)
        if has_ties or row.chosen != "tie":
            expected += np.log(likelihood)
    np.testing.assert_allclose(density.log_likelihoods(points), expected, rtol=1e-10)
    assert density.size == 4 + has_ties + 1 and density.has_prior
    assert not build_density(data, lapse, has_ties, has_prior=False).has_prior


@pytest.mark.parametrize("kind", ["comparisons", "sets"])
def test_rows_of_respondents_add_up_to_all_and_are_those_of_each(kind):
    if kind == "comparisons":
        _, data = comparisons()
        density = build_density(data, 0.05, True)
    else:
        orders = [["a > b > c", "c > a = b"][k % 2] for k in range(6)]
        data = th.Choices.from_rankings(
            pd.DataFrame({"respondent": [f"p{k % 3}" for k in range(6)], "order": orders})
        )
        density = build_density(data, 0.05, True)
    points = POINT[: density.size]
    split, respondent = split_by_respondent(data, density)
    np.testing.assert_allclose(
        split.log_likelihoods(points), density.log_likelihoods(points), rtol=1e-12
    )
    rows = split.row_log_likelihoods(points)
    for number, part in enumerate(data.by_respondent().values()):
        alone = build_density(part, 0.05, True)
        own = rows[respondent == number].sum(axis=0)
        labels = [data.labels.index(label) for label in part.labels]
        where = [*labels, *range(4 if kind == "comparisons" else 3, density.size)]
        np.testing.assert_allclose(alone.log_likelihoods(points[where]), own, rtol=1e-10)
    assert (split.rows.judge == 0).all() and (density.rows.judge == 0).all()


def test_the_answers_of_two_respondents_are_split():
    frame, _ = comparisons()
    two = frame[frame["respondent"].isin(["p1", "p3"])]
    data = th.PairedComparisons.from_trials(two, respondent="respondent")
    _, respondent = split_by_respondent(data, build_density(data, 0.0, True))
    assert sorted(set(respondent.tolist())) == [0, 1]


def test_without_two_respondents_nothing_is_split():
    for data in (
        comparisons(respondents=False)[1],
        comparisons()[1].by_respondent()["p1"],
        th.Choices.from_comparisons(comparisons(respondents=False, ties=False)[1]),
    ):
        density = build_density(data, 0.0, True)
        found, respondent = split_by_respondent(data, density)
        assert found is density and respondent is None


def best_worst(size, times=2):
    rows = [
        ([*order, order[k % size], order[(k + 1) % size]])
        for k in range(times)
        for order in [list("abcdefgh"[:size])]
    ]
    columns = [*(f"item{k + 1}" for k in range(size)), "best", "worst"]
    return th.Choices.from_best_worst(pd.DataFrame(rows, columns=columns))


def test_data_take_the_form_of_their_likelihood():
    three = convert_for_likelihood(best_worst(3))
    assert three == best_worst(3).as_rankings() and three.worst is None
    assert convert_for_likelihood(best_worst(3), REVERSED).worst is not None
    four = best_worst(4)
    assert convert_for_likelihood(four) is four
    six = best_worst(6)
    assert convert_for_likelihood(six) is six
    with refused(DataError, "from 7 options", "limited to 6", "best_worst='reversed'"):
        convert_for_likelihood(best_worst(7))
    assert convert_for_likelihood(best_worst(7), REVERSED).worst is not None
    paired = th.Choices.from_comparisons(comparisons(ties=False)[1])
    assert isinstance(convert_for_likelihood(paired), th.PairedComparisons)
    pairs = comparisons()[1]
    assert convert_for_likelihood(pairs) is pairs
    sets = th.Choices.from_rankings([["a", "b", "c"]])
    assert convert_for_likelihood(sets) is sets
    assert build_density(four, 0.0, False, RANKING).rows.rule == RANKING
    assert build_density(four, 0.0, False, REVERSED).rows.rule == REVERSED
    assert build_density(sets, 0.0, False, RANKING).rows.rule == "choice"


def wins_of(data):
    winners, losers = list_wins(data)
    names = np.array(data.labels)
    return Counter(zip(names[winners], names[losers], strict=True))


def test_wins_are_those_of_each_answer():
    frame, data = comparisons()
    expected = set()
    for row in frame.itertuples():
        if row.chosen != "second":
            expected.add((row.first, row.second))
        if row.chosen != "first":
            expected.add((row.second, row.first))
    assert set(wins_of(data)) == expected and max(wins_of(data).values()) == 1
    alone = th.PairedComparisons([[0, 3, 0], [0, 0, 0], [2, 1, 0]], labels=list("abc"))
    assert set(wins_of(alone)) == {("a", "b"), ("c", "a"), ("c", "b")}
    rankings = th.Choices.from_rankings(["a > b = c > d", "d > a > b"])
    before = {*(("a", each) for each in "bcd"), ("b", "d"), ("c", "d")}
    before |= {("d", "a"), ("d", "b"), ("a", "b")}
    assert set(wins_of(rankings)) == before
    marked = best_worst(4, times=1)  # a is best, b is worst
    assert set(wins_of(marked)) == {*(("a", each) for each in "bcd"), ("c", "b"), ("d", "b")}


def test_what_maximum_likelihood_cannot_estimate_is_refused():
    _, data = comparisons(covariates=True)
    check_estimable(data, build_density(data, 0.0, True))
    rows, _ = comparisons(covariates=True)
    for scale in (1e-8, 1e8):  # the unit does not matter
        other = th.PairedComparisons.from_trials(
            rows.assign(x=scale * rows["x"]), respondent="respondent", covariates=["x"]
        )
        check_estimable(other, build_density(other, 0.0, True))
    frame = pd.DataFrame({"first": list("abc"), "second": list("bca"), "chosen": ["first"] * 3})
    never = th.PairedComparisons.from_trials(frame.head(2))
    with refused(DataError, "'c'", "method='laplace'"):
        check_estimable(never, build_density(never, 0.0, False))
    tied = th.PairedComparisons.from_trials(frame.assign(chosen="tie"))
    with refused(DataError, "all comparisons are ties", "method='laplace'"):
        check_estimable(tied, build_density(tied, 0.0, True))
    for x in ([1.0] * 60, None):
        rows, _ = comparisons(covariates=True)
        rows["x"] = x or (rows["first"] == "a").astype(float) - (rows["second"] == "a")
        more = {"respondent": "respondent", "covariates": ["x"]}
        if x:
            more["covariates"] = ["x", "y"]
            rows["y"] = 1.0 + rows["first"].eq("b")
            rows["x"] = 2.0 * rows["y"]
        fixed = th.PairedComparisons.from_trials(rows, **more)
        with refused(DataError, "'x'", "cannot be separated from the worths"):
            check_estimable(fixed, build_density(fixed, 0.0, True))


def test_sets_with_ties_are_left_out_where_single_choices_are_needed():
    rankings = th.Choices.from_rankings(["a > b = c > d", "d > a > b"])
    assert keep_single_choices(rankings).n_ties == 0 and rankings.n_ties == 1
    pairs = comparisons()[1]
    assert keep_single_choices(pairs) is pairs


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([[1.0], [2.0]], True),
        ([[-1.0], [-2.0]], True),
        ([[1.0], [-1.0]], False),
        ([[1.0, 3.0], [-1.0, 2.0], [0.0, -1.0]], False),
        ([[1.0, 3.0], [-1.0, -2.0], [1.0, 2.5]], True),  # 5 x - 2 y is -1, -1, 0
        ([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0]], True),  # the first column alone, as the other ties
    ],
)
def test_winners_who_are_predicted_perfectly(differences, expected):
    assert is_separated(np.array(differences)) == expected
