"""Covariates of comparisons and of options by maximum likelihood, against plain logistic
regressions."""

import numpy as np
import pandas as pd
import pytest
from helpers.naive import respondent_scores as naive_scores
from helpers.sentences import refused, warned
from scipy.optimize import minimize

import thali as th
from thali._model.cluster_robust_variance import ScoreVariance, raise_improbable_variance
from thali.errors import ArgumentError, DataError, EstimateWarning

pytestmark = pytest.mark.usefixtures("few_replicates")

WORTHS = np.array([2.0, 1.2, 0.9, 0.4])
OPTIONS = np.array(list("abcd"))
ML = {"method": "maximum-likelihood"}


@pytest.fixture(scope="module")
def trials():
    rng, n = np.random.default_rng(4), 600
    i = rng.integers(0, 4, n)
    j = (i + rng.integers(1, 4, n)) % 4
    longer, judge, who = rng.normal(0, 300, n), rng.choice(list("AB"), n), rng.integers(0, 30, n)
    eta = (
        np.log(WORTHS[i] / WORTHS[j])
        + 0.5
        + 0.002 * longer
        + 0.4 * (judge == "B")
        + rng.normal(0, 0.7, 30)[who]
    )
    won = rng.random(n) < 1 / (1 + np.exp(-eta))
    sides = {"left": OPTIONS[i], "right": OPTIONS[j], "chosen": np.where(won, "left", "right")}
    return pd.DataFrame(sides | {"longer": longer, "judge": judge, "who": who})


@pytest.fixture(scope="module")
def data(trials):
    return th.PairedComparisons.from_trials(
        trials, respondent="who", covariates=["order", "longer", "judge"], labels=OPTIONS
    )


@pytest.fixture(scope="module")
def model(data):
    return th.EliminationByAspects("unique", **ML).fit(data)


def design(trials):
    """Columns of a logistic regression whose outcome is that the left was chosen, and the
    outcome."""
    sides = [
        (trials["left"] == label).astype(float) - (trials["right"] == label) for label in "bcd"
    ]
    x = np.column_stack(
        [*sides, np.ones(len(trials)), trials["longer"], trials["judge"] == "B"]
    ).astype(float)
    return x, (trials["chosen"] == "left").to_numpy()


def regression(x, won):
    """Estimates of a logistic regression by Newton's method, with the probabilities."""
    beta = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ beta))
        beta = beta + np.linalg.solve(x.T @ (x * (p * (1 - p))[:, None]), x.T @ (won - p))
    return beta, p


def test_estimates_are_those_of_a_regression(model, trials):
    x, won = design(trials)
    beta, p = regression(x, won)
    assert model._covariates == ("order", "longer", "judge=B")
    np.testing.assert_allclose(model.covariate_effects()["estimate"], beta[3:], rtol=1e-6)
    np.testing.assert_allclose(
        np.log(model.maximum_likelihood.weights() / model.maximum_likelihood.weights()["a"])[1:],
        beta[:3],
        rtol=1e-6,
    )
    assert model._estimates_.maximum.value == pytest.approx(
        np.log(np.where(won, p, 1 - p)).sum(), rel=1e-10
    )
    pairs = list(zip(trials["left"], trials["right"], strict=True))
    given = {"order": 1, "longer": trials["longer"], "judge=B": trials["judge"] == "B"}
    np.testing.assert_allclose(model.predict_proba(pairs, covariates=given), p, rtol=1e-6)
    alone = 1 / (1 + np.exp(-(x @ np.r_[beta[:3], 0, 0, 0])))
    np.testing.assert_allclose(model.predict_proba(pairs), alone, rtol=1e-6)


def test_errors_are_over_people(model, trials):
    x, won = design(trials)
    _, p = regression(x, won)
    inverse = np.linalg.inv(x.T @ (x * (p * (1 - p))[:, None]))
    scores = np.array(
        [(x * (won - p)[:, None])[trials["who"] == who].sum(axis=0) for who in range(30)]
    )
    own = [
        x[trials["who"] == who] * np.sqrt(p * (1 - p))[trials["who"] == who, None]
        for who in range(30)
    ]
    z = naive_scores.adjusted_scores(
        np.linalg.inv(inverse), [each.T @ each for each in own], scores
    )
    df, root = model._estimates_.error_df, naive_scores.power(inverse, 0.5)
    variance = raise_improbable_variance(
        ScoreVariance(z.T @ z, z.T @ z, 0.0, 0.0, 0, 1.0), df, 29 / 6
    )
    robust = np.sqrt(np.diag(root @ variance @ root))
    assert 10.0 < df < 29.0
    np.testing.assert_allclose(model.covariate_effects()["std_error"], robust[3:], rtol=1e-4)
    usual = th.EliminationByAspects("unique", **ML).fit(
        th.PairedComparisons.from_trials(
            trials[["left", "right", "chosen", "longer"]],
            covariates=["order", "longer"],
            labels=OPTIONS,
        )
    )
    small = x[:, :5]
    _, p = regression(small, won)
    expected = np.sqrt(np.diag(np.linalg.inv(small.T @ (small * (p * (1 - p))[:, None]))))
    np.testing.assert_allclose(usual.covariate_effects()["std_error"], expected[3:], rtol=1e-5)


def test_with_and_without_are_compared_by_their_likelihoods(model, data, trials):
    x, won = design(trials)
    logs = []
    for columns in ([0, 1, 2, 3, 4, 5], [0, 1, 2, 3], [0, 1, 2]):
        _, p = regression(x[:, columns], won)
        logs.append(np.log(np.where(won, p, 1 - p)).sum())
    for names, value in ((["order"], logs[1]), ([], logs[2])):
        smaller = th.EliminationByAspects("unique", covariates=names, **ML).fit(data)
        test = th.likelihood_ratio(smaller, model)
        assert test.statistic == pytest.approx(2 * (logs[0] - value), rel=1e-8)
        assert test.df == 3 - len(names) and test.table["covariates"].tolist() == [len(names), 3]
        assert (
            "clustering by respondent (30 respondents)" in test.note
            and smaller._covariates == tuple(names)
        )
    with refused(ArgumentError, "different data"):
        th.likelihood_ratio(
            model, th.EliminationByAspects("unique", covariates=["order"], **ML).fit(data)
        )


def test_the_order_effect_is_the_covariate_order(trials):
    data = th.PairedComparisons.from_trials(trials[["left", "right", "chosen"]], labels=OPTIONS)
    known, found = (
        th.paired.order_effect(data),
        th.EliminationByAspects("unique", **ML).fit(data.with_order()),
    )
    effect = found.covariate_effects().loc["order"]
    assert effect["odds"] == pytest.approx(known.advantage, rel=1e-9)
    assert effect["std_error"] == pytest.approx(
        known.advantage_std_error / known.advantage, rel=1e-9
    )
    assert found.maximum_likelihood.log_likelihood() == pytest.approx(
        known.log_likelihood, rel=1e-12
    )
    smaller = th.EliminationByAspects("unique", covariates=[], **ML).fit(data.with_order())
    assert th.likelihood_ratio(smaller, found).p_value == pytest.approx(known.p_value, rel=1e-9)


@pytest.mark.parametrize("lapse", [0.0, 0.05])
def test_home_advantage_with_ties_and_lapses(trials, lapse):
    rng = np.random.default_rng(1)
    games = trials.assign(chosen=np.where(rng.random(len(trials)) < 0.25, "tie", trials["chosen"]))
    data = th.PairedComparisons.from_trials(
        games[["left", "right", "chosen"]], covariates=["order"], labels=OPTIONS
    )
    found = th.EliminationByAspects("unique", lapse=lapse, **ML).fit(data)
    x, won = design(games)
    tied = (games["chosen"] == "tie").to_numpy()

    def minus_log_likelihood(at):
        p = (1 - lapse) / (1 + np.exp(-x[:, :4] @ at[:4])) + lapse / 2
        r = np.exp(at[4]) * np.sqrt(p * (1 - p))
        return -np.log(np.where(tied, r, np.where(won, p, 1 - p)) / (1 + r)).sum()

    best = minimize(minus_log_likelihood, np.zeros(5), method="BFGS", options={"gtol": 1e-7})
    assert found._estimates_.maximum.value == pytest.approx(-best.fun, rel=1e-9)
    assert found.covariate_effects()["estimate"].iloc[0] == pytest.approx(best.x[3], abs=1e-4)
    assert found.maximum_likelihood.tie() == pytest.approx(np.exp(best.x[4]), rel=1e-4)
    if not lapse:
        known = th.paired.davidson(data, order=True)
        assert known.order == pytest.approx(found.covariate_effects()["odds"].iloc[0], rel=1e-6)
        assert known.order_std_error == pytest.approx(
            known.order * found.covariate_effects()["std_error"].iloc[0], rel=1e-6
        )
    outcomes = found.predict_outcomes([("a", "b")], covariates={"order": 1}).iloc[0]
    p = outcomes["p_a"] / (outcomes["p_a"] + outcomes["p_b"])
    assert p == pytest.approx(found.predict_proba([("a", "b")], covariates={"order": 1})[0])


def test_residuals_name_the_covariates(model):
    table = model.maximum_likelihood.residuals()
    assert list(table.columns) == "a b order longer judge=B n observed predicted residual".split()
    assert (table["residual"] ** 2).sum() == pytest.approx(model.maximum_likelihood.deviance())
    assert (
        model.maximum_likelihood.fit_test().kind == "none"
    )  # hardly two comparisons have the same covariates


def test_an_order_that_decides_everything_has_no_finite_effect(trials):
    data = th.PairedComparisons.from_trials(
        trials.assign(chosen="left"), covariates=["order"], labels=OPTIONS
    )
    with warned(EstimateWarning, "'order'"):
        th.EliminationByAspects("unique", **ML).fit(data)


def test_covariates_that_cannot_be_told_apart_are_refused(trials):
    twice = trials.assign(double=2 * trials["longer"])
    data = th.PairedComparisons.from_trials(twice, covariates=["longer", "double"], labels=OPTIONS)
    with refused(DataError, "'longer'", "'double'"):
        th.EliminationByAspects("unique", **ML).fit(data)
    as_worths = trials.assign(x=trials["left"].map(ord) - trials["right"].map(ord))
    data = th.PairedComparisons.from_trials(as_worths, covariates=["x"], labels=OPTIONS)
    with refused(DataError, "'x'"):
        th.EliminationByAspects("unique", **ML).fit(data)


def test_predictions_refuse_unknown_covariates_and_larger_sets(model):
    for given, wrong in (
        ({"longest": 1}, ("'longest'", "'order', 'longer' and 'judge=B'", "Did you mean")),
        ({"order": "first"}, ("'order'", "2 pairs", "got 'first'")),
        ({"order": np.nan}, ("finite numbers",)),
        ("order", ("covariates", "must map")),
    ):
        with refused(ArgumentError, *wrong):
            model.predict_proba([("a", "b"), ("b", "c")], covariates=given)
    with refused(ArgumentError, "of two options"):
        model.predict_proba([("a", "b", "c")], covariates={"order": 1})


@pytest.mark.fit  # for its time
def test_classical_tests_refuse_them(data):
    with refused(DataError, "without covariates"):
        th.paired.transitivity(data)
    with refused(DataError, "without covariates"):
        th.paired.group_test([data, data])
