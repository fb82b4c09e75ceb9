"""Maximum likelihood of choices out of sets, such as rankings, with unique aspects alone."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from set_problems import random_choices

import thali as th
from thali.aspects.maximum_likelihood.problem import problem
from thali.errors import ArgumentError, DataError, EstimateWarning

# Three rankings of four, and the estimates of choix 0.4.1 (mm_rankings, tol=1e-12), exponentiated, sum 1.
RANKINGS = [[0, 1, 2, 3], [1, 0, 3, 2], [3, 1, 0, 2], [2, 0, 1, 3], [1, 3, 2, 0], [0, 2, 3, 1]]
CHOIX = [0.3249469214, 0.3249469214, 0.1750530786, 0.1750530786]


def maximised(data, **settings):
    return th.EliminationByAspects("unique", method="maximum-likelihood", **settings).fit(data)


def ranked(rankings=RANKINGS, n=4):
    return th.Choices.from_rankings(rankings, labels=[str(k) for k in range(n)])


def log_likelihood(data, weights, lapse):
    """Set by set, naively."""
    total = 0.0
    for members, counts in zip(data.sets, np.split(data.counts, data.start[1:-1]), strict=True):
        w = np.array([weights[data.labels.index(label)] for label in members])
        p = (1 - lapse) * w / w.sum() + lapse / len(w)
        total += np.log(p[counts > 0]) @ counts[counts > 0]
    return total


def test_rankings_have_the_estimates_of_choix():
    model = maximised(ranked())
    np.testing.assert_allclose(model.weights_.loc[list("0123")], CHOIX, atol=1e-8)
    assert model.lapse_ == 0.0 and model.df_ == len(model.estimates_.data.members) - model.estimates_.data.n_sets - 3
    assert "with multinomial coefficients" in str(model)


@pytest.mark.parametrize("lapse", [0.0, 0.1])
def test_derivatives_are_those_of_the_log_likelihood(lapse):
    data = random_choices(5, (2, 3, 5), 2)
    pose, at = problem(data, np.eye(5, dtype=bool), lapse), np.random.default_rng(1).normal(size=5)
    none, steps = np.zeros(0), 1e-5 * np.eye(5)

    def value(logs):
        return pose.terms(np.exp(logs), none).sum()

    assert value(at) == pytest.approx(log_likelihood(data, np.exp(at), lapse))
    found = pose.slopes(np.exp(at), none)
    np.testing.assert_allclose(found.gradient, [(value(at + e) - value(at - e)) / 2e-5 for e in steps], atol=1e-6)
    curve = [
        (pose.slopes(np.exp(at + e), none).gradient - pose.slopes(np.exp(at - e), none).gradient) / 2e-5 for e in steps
    ]
    np.testing.assert_allclose(found.hessian, curve, atol=1e-6)
    weights = np.exp(at)
    if lapse:  # without lapses nothing is chosen whose weight is 0
        weights[2] = 0.0
    by_weights, kept = pose.slope_at_zero(weights, none), [0, 1, 3, 4]
    steps = 1e-6 * np.eye(5)[kept]
    changes = [pose.terms(weights + e, none).sum() - pose.terms(weights - e, none).sum() for e in steps]
    np.testing.assert_allclose(by_weights[kept], np.array(changes) / 2e-6, atol=1e-4)


@pytest.mark.parametrize("lapse", [0.0, 0.05])
def test_the_maximum_is_that_of_a_search(lapse):
    data = random_choices(4, (2, 3, 4), 5, most=9)
    model = maximised(data, lapse=lapse)
    other = minimize(lambda x: -log_likelihood(data, np.exp(np.r_[0, x]), lapse), np.zeros(3), method="BFGS", tol=1e-9)
    w = np.exp(np.r_[0.0, other.x])
    np.testing.assert_allclose(model.weights_, w / w.sum(), atol=2e-5)
    jacobian = (np.diag(w / w.sum()) - np.outer(w, w) / w.sum() ** 2)[:, 1:]
    steps = 1e-4 * np.eye(3)

    def value(x):
        return log_likelihood(data, np.exp(np.r_[0.0, x]), lapse)

    x = other.x
    information = [
        [-(value(x + a + b) - value(x + a - b) - value(x - a + b) + value(x - a - b)) / 4e-8 for b in steps]
        for a in steps
    ]
    errors = np.sqrt(np.diag(jacobian @ np.linalg.inv(information) @ jacobian.T))
    np.testing.assert_allclose(model.standard_errors_, errors, rtol=1e-3)
    n = np.add.reduceat(data.counts, data.start[:-1])
    proportions = data.counts / np.repeat(n, data.sizes)
    saturated = float((data.counts[data.counts > 0] * np.log(proportions[data.counts > 0])).sum())
    assert model.deviance_ == pytest.approx(2 * (saturated + other.fun), abs=1e-6)


def test_choices_out_of_pairs_are_pairs():
    data = th.datasets.celebrities()
    table = pd.concat([th.Choices.from_comparisons(data).to_frame().astype({"alternative": str})])
    third = pd.DataFrame({"choice_id": 10_000, "alternative": ["LBJ", "HW", "CDG"], "chosen": [1, 0, 0], "count": 1})
    both = th.Choices(pd.concat([table, third]), labels=data.labels)
    assert not both.is_paired
    np.testing.assert_allclose(maximised(both).weights_, maximised(data).weights_, atol=2e-3)
    np.testing.assert_allclose(maximised(th.Choices.from_comparisons(data)).weights_, maximised(data).weights_)


def test_options_never_or_always_chosen_are_answered_as_for_pairs():
    last = maximised(ranked([[0, 1, 2, 3], [1, 0, 2, 3], [2, 1, 0, 3], [1, 2, 0, 3]]))
    assert (
        last.weights_["3"] == 0.0 and np.isnan(last.standard_errors_["3"]) and last.weights_.sum() == pytest.approx(1)
    )
    with pytest.warns(EstimateWarning, match="it rises for ever while the weights of '1', '2', '3' shrink"):
        first = maximised(ranked([[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 2, 1]]))
    assert first.weights_["0"] == 1.0
    (p,) = first.predict_proba([["1", "2", "3"]])
    others = th.Choices.from_rankings([["1", "2", "3"], ["2", "1", "3"], ["3", "2", "1"]])
    np.testing.assert_allclose(p, maximised(others).predict_proba([["1", "2", "3"]])[0], atol=1e-4)


@pytest.mark.usefixtures("pictures")
def test_tables_and_files(tmp_path):
    data = random_choices(4, (3, 4), 5, most=9)
    data = data.with_counts(100.0 * data.counts)  # enough for chi-square
    model = maximised(data)
    for kind, whole in (("deviance", model.deviance_), ("pearson", model.pearson_)):
        table = model.residuals(kind)
        assert (table["residual"] ** 2).sum() == pytest.approx(whole)
    assert list(table.columns) == ["alternative", "offered", "n", "observed", "predicted", "residual"]
    model.save(tmp_path / "model.nc")
    again = th.load(tmp_path / "model.nc")
    assert again.summary().equals(model.summary()) and str(again) == str(model)
    assert again.residuals().equals(model.residuals())
    with pytest.raises(DataError, match="leave_one_out is for pairs; compare leaves choices out of sets out"):
        model.leave_one_out()
    for ask in (th.paired.parametric_bootstrap, th.paired.simulate):
        with pytest.raises(ArgumentError, match="the model was fitted to choices out of larger sets"):
            ask(model)
    assert th.plots.residuals(model).get_ylabel() == "deviance residual"


def test_what_cannot_be_told_is_refused():
    apart = ranked([[0, 1], [2, 3], [1, 0]])
    assert apart.is_paired
    labels = [str(k) for k in range(6)]
    with pytest.raises(DataError, match="The options fall into 2 groups never offered together"):
        maximised(th.Choices.from_rankings([["0", "1", "2"], ["3", "4", "5"], ["1", "2", "0"]], labels=labels))
