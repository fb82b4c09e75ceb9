"""Ties by maximum likelihood: Davidson's third outcome, with unique aspects and with given ones."""

import numpy as np
import pytest
from helpers.problems import random_comparisons, with_ties
from helpers.sentences import refused, warned
from scipy.optimize import minimize
from scipy.special import gammaln, xlogy

import thali as th
from thali.errors import ArgumentError, DataError, EstimateWarning

pytestmark = pytest.mark.usefixtures("few_replicates")

DATA = with_ties(random_comparisons(5, 5, most=9), 1)
# enough for chi-square
MANY = DATA.with_counts(100 * (1 + DATA.wins), 100 * (1 + DATA.losses), 100 * (1 + DATA.tied))
GIVEN = {"0": ["x"], "1": ["x"], "2": ["x", "y"], "3": ["y"], "4": []}


def maximised(aspects="unique", data=DATA, **settings):
    return th.EliminationByAspects(aspects, method="maximum-likelihood", **settings).fit(data)


def log_likelihood(data, aspects, weights, nu, lapse):
    """Pair by pair, naively; weights by name."""
    total = 0.0
    for pair, (i, j) in enumerate(zip(data.first, data.second, strict=True)):
        members = [data.labels[i], data.labels[j]]
        named = {label: [label, *aspects.get(label, [])] for label in data.labels}
        p, q = th.likelihoods.elimination_probabilities(members, named, weights, lapse)
        r = nu * np.sqrt(p * q)
        counts = np.array([data.wins[pair], data.tied[pair], data.losses[pair]])
        total += gammaln(counts.sum() + 1) - gammaln(counts + 1).sum()
        total += xlogy(counts, np.array([p, r, q]) / (1 + r)).sum()
    return total


def test_unique_aspects_agree_with_davidson():
    model, other = maximised(data=MANY), th.paired.davidson(MANY)
    np.testing.assert_allclose(model.maximum_likelihood.weights(), other.weights)
    np.testing.assert_allclose(model.maximum_likelihood.standard_errors(), other.table["std_error"])
    assert (
        model.maximum_likelihood.tie(),
        model.maximum_likelihood.tie_std_error(),
    ) == pytest.approx((other.tie, other.tie_std_error))
    assert (model.maximum_likelihood.log_likelihood(), model.maximum_likelihood.df()) == (
        pytest.approx(other.log_likelihood),
        other.df,
    )
    assert "nu" in str(model) and model.summary().attrs["tie"] == model.maximum_likelihood.tie()


@pytest.mark.first(1)
@pytest.mark.fit  # for its time
@pytest.mark.parametrize("lapse", [0.0, 0.05])
def test_given_aspects_against_a_search(lapse):
    model = maximised(GIVEN, lapse=lapse)
    names = list(model.maximum_likelihood.weights().index)

    def loss(x):
        return -log_likelihood(
            DATA,
            GIVEN,
            dict(zip(names, np.exp(np.r_[0.0, x[:-1]]), strict=True)),
            np.exp(x[-1]),
            lapse,
        )

    start = np.r_[
        np.log(np.maximum(model.maximum_likelihood.weights(), 1e-4))[1:]
        - np.log(max(model.maximum_likelihood.weights().iloc[0], 1e-4)),
        0.0,
    ]
    assert loss(start) > -model.maximum_likelihood.log_likelihood()
    other = minimize(loss, start, method="L-BFGS-B", tol=1e-12)
    assert model.maximum_likelihood.log_likelihood() >= -other.fun - 1e-6
    assert model.maximum_likelihood.log_likelihood() == pytest.approx(-other.fun, abs=1e-3)
    assert model.maximum_likelihood.tie() == pytest.approx(np.exp(other.x[-1]), rel=1e-2)
    exact = log_likelihood(
        DATA,
        GIVEN,
        model.maximum_likelihood.weights().to_dict(),
        model.maximum_likelihood.tie(),
        lapse,
    )
    assert model.maximum_likelihood.log_likelihood() == pytest.approx(exact, abs=1e-8)


@pytest.mark.fit
@pytest.mark.usefixtures("pictures")
def test_predictions_and_residuals_include_ties(tmp_path):
    model = maximised(GIVEN, MANY)
    table = model.predict_outcomes([("0", "1"), ("1", "0")])
    assert table[["p_a", "p_tie", "p_b"]].sum(axis=1).to_numpy() == pytest.approx([1.0, 1.0])
    assert table.loc[0, "p_a"] == pytest.approx(table.loc[1, "p_b"])
    p = model.predict_proba([("0", "1")])[0]
    assert p == pytest.approx(table.loc[0, "p_a"] / (table.loc[0, "p_a"] + table.loc[0, "p_b"]))
    for kind, whole in (
        ("deviance", model.maximum_likelihood.deviance()),
        ("pearson", model.maximum_likelihood.pearson()),
    ):
        assert (model.maximum_likelihood.residuals(kind)["residual"] ** 2).sum() == pytest.approx(
            whole
        )
    model.save(tmp_path / "model.nc")
    again = th.load(tmp_path / "model.nc")
    assert again.summary().equals(model.summary()) and again.predict_outcomes([("0", "1")]).equals(
        table.iloc[:1]
    )
    assert model.maximum_likelihood.fit_test(samples=3).samples == 3


def test_ties_may_be_counted_otherwise():
    for how in ("half", "drop"):
        expected = maximised(data=DATA.without_ties(how))
        np.testing.assert_array_equal(
            maximised(ties=how).maximum_likelihood.weights(), expected.maximum_likelihood.weights()
        )
    none = DATA.without_ties("drop")
    asked = maximised(data=none, ties="davidson")
    np.testing.assert_array_equal(
        asked.maximum_likelihood.weights(), maximised(data=none).maximum_likelihood.weights()
    )
    assert (
        asked.maximum_likelihood.tie() is None
        and asked.predict_outcomes([("0", "1")]).loc[0, "p_tie"] == 0.0
    )


def test_data_of_ties_only_and_missing_outcomes_are_refused():
    ties = th.PairedComparisons(np.zeros((3, 3), int), ties=5 * (1 - np.eye(3, dtype=int)))
    with refused(DataError, "All comparisons are ties"):
        maximised(data=ties)
    with refused(ArgumentError, "not include ties"):
        maximised(ties="half").predict_outcomes([("0", "1")])
    with refused(ArgumentError, "parametric_bootstrap"):
        th.paired.parametric_bootstrap(maximised())


def test_ties_without_a_finite_estimate_are_warned_of():
    """With w = e and nu = 1 / sqrt(e) for the one who never won, e to 0, the two outcomes that
    occurred keep theirs."""
    data = th.PairedComparisons([[0, 3], [0, 0]], ties=[[0, 2], [2, 0]])
    with warned(EstimateWarning, "tie parameter grows"):
        found = th.EliminationByAspects("unique", method="maximum-likelihood").fit(data)
    assert found.predict_outcomes([("0", "1")])["p_tie"][0] == pytest.approx(0.4, abs=1e-3)
