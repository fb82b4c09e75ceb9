"""The draws that the sparse logit is made of: Polya-Gamma variables, Normal vectors."""

import math

import numpy as np
import pytest
from helpers.sparse_logit_runs import (
    WIDE,
    CoefficientChain,
    CoefficientPrior,
    build_coefficient_problem,
    three_classes,
)
from scipy import stats

from thali._classify.sparse_logit.gibbs_sweep import draw_class_coefficients, draw_common_shift
from thali._compile.jit import compiled
from thali._inference.numerics.polya_gamma import (
    draw_half_inverse_gaussian,
    draw_polya_gamma,
    draw_polya_gamma_shape,
)

N = 200_000
# Fewer than 60 figures below; all together they fail a right sampler for 1 in 10⁴ seeds.
FALSE_ALARM = 1e-4 / 60
ERRORS = float(stats.norm.isf(FALSE_ALARM / 2))
TILTS = [0.0, 1e-9, 0.3, 1.5, 3.1, 3.2, 8.0, 30.0, 100.0]


@compiled
def draw_many_polya_gammas(rng, c, out):
    for i in range(out.size):
        out[i] = draw_polya_gamma(rng, c)


@compiled
def draw_many_of_shape(rng, shape, c, out):
    for i in range(out.size):
        out[i] = draw_polya_gamma_shape(rng, shape, c)


@compiled
def draw_many_half_gaussians(rng, r, out):
    for i in range(out.size):
        out[i] = draw_half_inverse_gaussian(rng, r)


def draw_many(many, argument, seed=1):
    out = np.empty(N)
    many(np.random.default_rng(seed), argument, out)
    return out


def draw_by_series(c, rng, n=20_000, terms=500):
    """Draw PG(1, c) from its defining sum of exponentials.

    The mean of the omitted terms is added.
    """
    k = np.arange(1, terms + 1) - 0.5
    rates = 2 * np.pi**2 * (k**2 + c**2 / (4 * np.pi**2))
    rest = math.tanh(c / 2) / (2 * c) if c > 1e-6 else 0.25
    return rng.standard_exponential((n, terms)) @ (1 / rates) + rest - (1 / rates).sum()


@pytest.mark.parametrize("c", TILTS)
def test_a9_polya_gamma_has_its_mean_and_variance(c):
    draws = draw_many(draw_many_polya_gammas, c)
    small = c < 0.01
    mean = 0.25 if small else math.tanh(c / 2) / (2 * c)
    variance = 1 / 24 if small else (math.sinh(c) - c) / (4 * c**3 * math.cosh(c / 2) ** 2)
    assert abs(draws.mean() - mean) < ERRORS * math.sqrt(variance / N)
    squares = (draws - mean) ** 2
    assert abs(squares.mean() - variance) < ERRORS * squares.std() / math.sqrt(N)


@pytest.mark.parametrize("c", [0.0, 2.0, 3.5, 8.0])
def test_a9_polya_gamma_has_the_law_of_its_series(c):
    expected = draw_by_series(c, np.random.default_rng(7))
    assert stats.ks_2samp(draw_many(draw_many_polya_gammas, c), expected).pvalue > FALSE_ALARM


def test_polya_gamma_of_large_tilts_is_inverse_gaussian():
    c = 5000.0  # of the sum over n in the density only the first term is left
    prior = stats.invgauss(mu=2 / c, scale=0.25)
    assert stats.kstest(draw_many(draw_many_polya_gammas, c), prior.cdf).pvalue > FALSE_ALARM
    assert np.isfinite(draw_many(draw_many_polya_gammas, 1e8)).all()
    assert np.isnan(draw_polya_gamma(np.random.default_rng(0), math.nan))


@pytest.mark.parametrize("c", [1e12, 1e99, 1e160, 1e300])
@pytest.mark.parametrize("shape", [1e-15, 0.5])
def test_polya_gamma_of_any_tilt_ends(shape, c):
    """However large the tilt, which a weight near 0 beside others makes, or coefficients that are
    hardly shrunk."""
    draws = np.empty(200)
    draw_many_of_shape(np.random.default_rng(0), shape, c, draws)
    assert np.isfinite(draws).all() and (
        shape < 0.1 or draws.mean() == pytest.approx(0.5 * shape / c, rel=1e-3)
    )


def test_polya_gamma_of_what_is_no_number_is_none():
    draws = np.empty(1)
    draw_many_of_shape(np.random.default_rng(0), 0.5, math.nan, draws)
    assert np.isnan(draws[0])


@pytest.mark.first(2)
@pytest.mark.parametrize("r", [0.0, 1e-8, 0.5, 3.0, 50.0])
def test_scales_are_generalised_inverse_gaussian(r):
    prior = stats.geninvgauss(0.5, r, scale=r) if r > 1e-3 else stats.chi2(1)
    assert (
        stats.kstest(draw_many(draw_many_half_gaussians, r)[:15_000], prior.cdf).pvalue
        > FALSE_ALARM
    )


def build_fixed_conditional(wide, n=5, d=8, seed=3):
    """Build a state with constant weights, and its exact conditional."""
    rng = np.random.default_rng(seed)
    problem = build_coefficient_problem(
        rng.normal(size=(n, d)), np.arange(n) % 2, 2, 0, CoefficientPrior(1.0, 1, 1, True), wide
    )
    state = CoefficientChain(problem, 1.0, rng, 1, 0, 1).state
    state.weights[:] = rng.gamma(2.0, size=n)
    state.pull[:] = rng.normal(size=n)
    state.variance[1] = rng.gamma(0.5, size=d + 1) * 3
    full = problem.covariates if wide else problem.covariates.T
    precision = full.T * state.weights @ full + np.diag(1 / state.variance[1])
    return problem, state, np.linalg.solve(precision, full.T @ state.pull), precision


@pytest.mark.first(1)
@pytest.mark.parametrize("wide", WIDE)
def test_both_factorisations_draw_the_same_normal_vector(wide):
    problem, state, mean, precision = build_fixed_conditional(wide)
    rng, rounds = np.random.default_rng(4), 2_000
    white = np.empty((rounds, mean.size))
    root = np.linalg.cholesky(precision)
    for draw in white:
        draw_class_coefficients(rng, problem, state, 1)
        draw[:] = root.T @ (state.coef[1] - mean)
    # independent standard normals, if mean and covariance are right
    assert np.abs(white.mean(axis=0)).max() < ERRORS / math.sqrt(rounds)
    moments = white.T @ white / rounds - np.eye(mean.size)
    spread = np.where(np.eye(mean.size), math.sqrt(2), 1.0) / math.sqrt(rounds)
    assert (np.abs(moments) < (ERRORS + 1) * spread).all()  # 45 figures more
    full = problem.covariates if wide else problem.covariates.T
    assert np.allclose(state.linear[1], full @ state.coef[1], rtol=1e-12, atol=1e-12)


@pytest.mark.first(1)
@pytest.mark.parametrize("wide", WIDE)
def test_without_information_the_common_shift_is_drawn_from_its_prior(wide):
    rng, rounds = np.random.default_rng(6), 4_000
    problem = build_coefficient_problem(
        np.full((4, 2), 1e-9), np.arange(4) % 3, 3, 1, CoefficientPrior(1.0, 1, 1, False), wide
    )
    state = CoefficientChain(problem, 1.0, rng, 1, 0, 1).state
    coef = np.array([[3.0, -1.0], [0.0, 0.0], [1.0, 2.0]])
    state.variance[:] = [[2.0, 0.1], [9.0, 9.0], [0.5, 0.3]]
    precision = 1 / state.variance[0] + 1 / state.variance[2]
    mean = (coef[0] / state.variance[0] + coef[2] / state.variance[2]) / precision
    white = np.empty((rounds, 2))
    for shift in white:
        state.coef[:], state.linear[:] = coef, coef @ np.full((2, 4), 1e-9)
        draw_common_shift(rng, problem, state)
        assert (state.coef[1] == 0).all() and (state.linear[1] == 0).all()
        assert np.allclose(coef[0] - state.coef[0], coef[2] - state.coef[2])
        shift[:] = (coef[0] - state.coef[0] - mean) * np.sqrt(precision)
    assert np.abs(white.mean(axis=0)).max() < ERRORS / math.sqrt(rounds)
    assert np.abs((white**2).mean(axis=0) - 1).max() < ERRORS * math.sqrt(2 / rounds)


@pytest.mark.parametrize(("wide", "most"), [(False, 1e100), (True, 1e13)])
def test_variances_of_any_size_are_survived(wide, most):
    problem, state, _, _ = build_fixed_conditional(wide)
    state.variance[1, :3] = 1e-300
    state.variance[1, 3:5] = most
    draw_class_coefficients(np.random.default_rng(0), problem, state, 1)
    assert np.isfinite(state.coef[1]).all() and np.abs(state.coef[1, :3]).max() < 1e-140
    assert np.abs(state.coef[1]).max() < 100 * np.sqrt(most)


def test_the_number_of_rows_decides_how_to_factor():
    X, y = three_classes(3)
    assert build_coefficient_problem(
        X, y, 3, 0, CoefficientPrior(None, 1, 1, False)
    ).covariates.shape == (2, 3)
    wide = build_coefficient_problem(
        np.hstack([X, X]), y, 3, 0, CoefficientPrior(None, 1, 1, False)
    )
    assert wide.wide and wide.covariates.shape == (3, 4)
