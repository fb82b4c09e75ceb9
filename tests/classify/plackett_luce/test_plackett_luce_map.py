"""The most probable weights: checks A3 and A4 of the specification, and the optimisers against slow
evaluations."""

import numpy as np
import pytest
from helpers.naive import plackett_luce as naive
from helpers.plackett_luce_data import named, problem
from helpers.plackett_luce_runs import fit_map
from helpers.real_data import needs_data
from helpers.sentences import refused

from thali._classify.plackett_luce.posterior_mode import (
    LogWeights,
    find_sparse_maximum,
    iterate_fixed_point,
)
from thali._classify.plackett_luce.row_sums import CovariateRows
from thali.errors import DataError

# data set: objective at a = 1.1 (lower bound for pima, which has two maxima), at a = 1 (lower bound
# for heart)
EXPECTED = {
    "iris": (-92.0748376646, -74.4212112),
    "wine": (-129.7908481068, -70.8224071),
    "heart": (-145.4092502772, -111.3193),
    "german_numeric": (-546.9562840026, -478.3833147),
    "pima": (-387.1814819, -364.3573414),
}


def compute_naive_sums(W, codes, weights):
    """Log-likelihood, R and s in plain NumPy."""
    scores = W @ weights.T
    own, total = scores[np.arange(len(codes)), codes], scores.sum(axis=1)
    one_hot = np.zeros_like(scores)
    one_hot[np.arange(len(codes)), codes] = 1.0 / own
    return np.log(own / total).sum(), one_hot.T @ W, (1.0 / total) @ W


def simulate_small_problem(n=40, p=5, n_classes=3, seed=1):
    rng = np.random.default_rng(seed)
    W = np.exp(rng.normal(size=(n, p)))
    return W / W.max(axis=1, keepdims=True), np.arange(n) % n_classes, n_classes


@pytest.mark.parametrize("name", named(*EXPECTED))
def test_maxima_above_one_equal_known_values(name):
    W, codes, n_classes = problem(name)
    fit = fit_map(W, codes, n_classes, a=1.1)
    expected = EXPECTED[name][0]
    assert fit.converged
    if name == "pima":
        assert fit.objective >= expected - 1e-6
    else:
        assert abs(fit.objective - expected) <= 1e-6
    assert fit.n_passes <= 100
    assert abs(fit.weights.sum() - 1.0) < 1e-12
    _, R, s = compute_naive_sums(W, codes, fit.weights)
    slope = 0.1 + fit.weights * (R - s) - 0.1 * fit.weights.size * fit.weights
    assert np.abs(slope).max() <= 1e-8 * len(W)
    # With b = 1 the total weight is K p (a - 1) / b, and a step of expectation-maximisation changes
    # nothing.
    total = fit.weights.size * 0.1
    weights = total * fit.weights
    stepped = naive.em_step(W, codes, weights, a=1.1, b=1.0)
    assert abs(stepped.sum() / total - 1.0) < 1e-8
    assert np.abs(stepped - weights).max() <= 1e-8 * len(W)


@pytest.mark.parametrize("name", named(*EXPECTED))
def test_a4_maximum_likelihood_is_sparse(name):
    W, codes, n_classes = problem(name)
    fit = fit_map(W, codes, n_classes, a=1.0)
    expected = EXPECTED[name][1]
    assert fit.converged
    assert fit.objective == fit.log_likelihood >= expected - 1e-4
    if name != "heart":
        assert fit.objective <= expected + 1e-4
    _, R, s = compute_naive_sums(W, codes, fit.weights)
    assert (fit.weights[~fit.support] == 0.0).all()
    assert (R - s)[~fit.support].max() <= 1e-5 * len(W)
    assert np.abs(fit.weights * (R - s)).max() <= 1e-8 * len(W)


def test_a4_iris_has_three_weights():
    fit = fit_map(*problem("iris"), a=1.0)
    assert np.argwhere(fit.support).tolist() == [[0, 6], [1, 5], [2, 3]]
    np.testing.assert_allclose(
        fit.weights[fit.support], [0.28738673, 0.37695898, 0.33565430], atol=1e-7
    )


@pytest.mark.long
def test_a4_the_rule_for_small_a_survives_many_steps():
    W, codes, n_classes = problem("iris")
    data = CovariateRows(W, codes, n_classes, threads=1)
    start = np.full((n_classes, W.shape[1]), 1.0 / (n_classes * W.shape[1]))
    weights, sums, passes, _ = iterate_fixed_point(data, start, 0.5, 100_000, tolerance=-1.0)
    assert passes == 100_001
    np.testing.assert_allclose(
        np.sort(weights[weights > 0.0]), [0.28738673, 0.33565430, 0.37695898], atol=1e-7
    )
    assert abs(sums.log_likelihood - -74.4212112203) < 1e-8


@needs_data
def test_colon_below_one_keeps_every_class():
    W, codes, n_classes = problem("colon")
    with refused(DataError, "class to zero"):
        fit_map(W, codes, n_classes, a=0.9, start=np.ones((2, W.shape[1])))
    guarded = fit_map(W, codes, n_classes, a=0.9)
    assert np.isfinite(guarded.weights).all()
    assert guarded.support.any(axis=1).all()
    fit = fit_map(W, codes, n_classes, a=0.99)
    assert abs(fit.log_likelihood - -15.51) <= 0.05
    assert fit.support.sum() <= 25


@pytest.mark.parametrize("a", [0.5, 0.9])
def test_the_rule_rests_at_its_fixed_point(a):
    """λ̄ (R − c s) = 1 − a on the support, where the total would otherwise shrink by c = 1 − m (1 −
    a) / n a step."""
    W, codes, n_classes = simulate_small_problem()
    fit = fit_map(W, codes, n_classes, a=a)
    _, R, s = compute_naive_sums(W, codes, fit.weights)
    shrink = 1.0 - fit.support.sum() * (1.0 - a) / len(W)
    assert fit.converged
    np.testing.assert_allclose((fit.weights * (R - shrink * s))[fit.support], 1.0 - a, rtol=1e-7)


def test_the_rule_is_published_em_divided_by_its_sum():
    W, codes, n_classes = simulate_small_problem()
    start = np.full((3, 5), 1.0 / 15.0)
    ours, *_ = iterate_fixed_point(CovariateRows(W, codes, n_classes), start, 0.5, 1)
    theirs = naive.em_step(W, codes, start, a=0.5, b=0.0)
    np.testing.assert_allclose(ours, theirs / theirs.sum(), rtol=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("a", [1.0, 1.1, 3.0])
def test_expectation_maximisation_ends_at_the_same_objective(a):
    W, codes, n_classes = simulate_small_problem()
    fit = fit_map(W, codes, n_classes, a=a)
    weights = naive.em(W, codes, n_classes, a, 1.0, steps=3000)
    assert abs(fit.objective - naive.log_posterior(W, codes, fit.weights, a)) < 1e-10
    # EM approaches from below, at a = 1 by about 1/steps
    assert (
        0.0
        <= fit.objective - naive.log_posterior(W, codes, weights, a) + 1e-10
        < (1e-8 if a > 1.0 else 1e-2)
    )


def test_gradient_and_hessian_are_the_differences_of_naive_evaluations():
    W, codes, n_classes = simulate_small_problem()
    target = LogWeights(CovariateRows(W, codes, n_classes), 1.3, np.ones((3, 5), bool))
    point = target.evaluate(np.random.default_rng(2).normal(size=15))
    assert abs(point.value - naive.log_posterior(W, codes, point.weights, 1.3)) < 1e-11
    curve = target.compute_hessian(point)
    for j in range(15):
        h = 1e-5 * np.eye(15)[j]
        up, down = np.exp(point.logs + h).reshape(3, 5), np.exp(point.logs - h).reshape(3, 5)
        slope = (
            naive.log_posterior(W, codes, up, 1.3) - naive.log_posterior(W, codes, down, 1.3)
        ) / 2e-5
        # a central difference errs by h² and by the rounding of a value of about 50, divided by h
        assert abs(slope - point.gradient[j]) < 1e-7
        turned = (
            target.evaluate(point.logs + h).gradient - target.evaluate(point.logs - h).gradient
        ) / 2e-5
        np.testing.assert_allclose(curve[j], turned, atol=1e-7)


def test_hessian_of_a_part_of_the_weights():
    W, codes, n_classes = simulate_small_problem()
    active = np.random.default_rng(3).random((3, 5)) < 0.6
    active[:, 0] = True
    target = LogWeights(CovariateRows(W, codes, n_classes), 1.0, active)
    point = target.evaluate(np.random.default_rng(4).normal(size=active.sum()))
    curve = target.compute_hessian(point)
    for j in range(len(curve)):
        h = 1e-5 * np.eye(len(curve))[j]
        turned = (
            target.evaluate(point.logs + h).gradient - target.evaluate(point.logs - h).gradient
        ) / 2e-5
        np.testing.assert_allclose(curve[j], turned, atol=1e-7)


def test_a_zero_weight_that_should_grow_is_restored():
    """Started where weights that the maximum needs are exactly zero, the climb takes them back."""
    W, codes, n_classes = simulate_small_problem()
    best = fit_map(W, codes, n_classes, a=1.0)
    data = CovariateRows(W, codes, n_classes)
    for k, j in np.argwhere(best.support):
        active = np.ones((3, 5), bool)
        active[k, j] = False
        start = LogWeights(data, 1.0, active).evaluate(np.zeros(14))
        point, *_, converged = find_sparse_maximum(data, start, 2000, np.zeros((3, 5), bool))
        assert converged
        assert abs(point.value - best.objective) < 1e-8
        assert np.array_equal(point.weights > 0.0, best.support)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_multiplying_a_row_changes_nothing(scale):
    W, codes, n_classes = simulate_small_problem()
    factors = np.where(np.arange(len(W)) % 2, 1.0, scale)[:, None]
    for a in (0.9, 1.0, 1.1):
        fit, other = fit_map(W, codes, n_classes, a=a), fit_map(W * factors, codes, n_classes, a=a)
        assert abs(fit.objective - other.objective) < 1e-10 * abs(fit.objective)
        np.testing.assert_allclose(fit.weights, other.weights, atol=1e-8)


def test_many_rows_start_from_a_part_of_them():
    rng = np.random.default_rng(5)
    W = np.exp(rng.normal(size=(25_000, 6)))
    W /= W.max(axis=1, keepdims=True)
    scores = W @ rng.gamma(0.3, size=(3, 6)).T
    codes = (
        scores.cumsum(axis=1) < rng.random((25_000, 1)) * scores.sum(axis=1, keepdims=True)
    ).sum(axis=1)
    fit = fit_map(W, codes, 3, a=1.1)
    _, R, s = compute_naive_sums(W, codes, fit.weights)
    assert fit.converged
    assert np.abs(0.1 + fit.weights * (R - s) - 0.1 * 18 * fit.weights).max() <= 1e-8 * len(W)
    assert fit_map(W, codes, 3, a=1.0).log_likelihood > fit.log_likelihood


def test_too_few_sweeps_cause_a_warning():
    assert not fit_map(*simulate_small_problem(), a=1.1, max_passes=3).converged
    assert not fit_map(*simulate_small_problem(), a=1.0, max_passes=6).converged
    assert not fit_map(
        *simulate_small_problem(), a=0.9, start=np.ones((3, 5)), max_passes=2
    ).converged


@pytest.mark.parametrize("a", [1.1, 1.0, 0.5])
@pytest.mark.parametrize("most", [5, 50, 200])
def test_the_limit_of_sweeps_applies_to_the_complete_search(a, most):
    fit = fit_map(*problem("wine"), a=a, max_passes=most)
    assert fit.n_passes <= most + 5  # each of its stages looks at its start
    assert fit.n_passes > 0.5 * most or fit.converged
