"""The density of worths seen by judges in time: by definition, its slopes, and its integrals."""

import itertools
from decimal import MAX_EMAX, Context, Decimal, localcontext

import numpy as np
import pytest
from scipy.stats import halfnorm, norm
from worth_problems import build_spreads, naive, random_density

from thali._paired.vote_forecast import VoteOutcome
from thali._worths.posterior_density import add_bordered, compute_derivatives, split_probabilities

SETTINGS = list(
    itertools.product(
        [0.0, 0.05], [False, True], [(0, 1, 1), (3, 1, 0), (0, 3, 0), (3, 4, 2), (3, 2, 2, True)]
    )
)


def made(lapse, ties, sizes):
    n_judges, n_periods, covariates, *bias = sizes
    density = random_density(3, lapse, ties, n_judges, n_periods, covariates, bias=bool(bias))
    points = np.random.default_rng(4).normal(size=(density.size, 2)) * 0.8
    points[~density.is_free] = 0.0
    tau, drift, bias_sd = (
        0.7 if n_judges else None,
        0.4 if n_periods > 1 else None,
        0.6 if bias else None,
    )
    return density, points, build_spreads(1.6, tau, drift, bias_sd)


@pytest.mark.parametrize(("lapse", "ties", "sizes"), SETTINGS)
def test_the_density_is_that_of_the_model(lapse, ties, sizes):
    density, points, spreads = made(lapse, ties, sizes)
    found = density.log_densities(points, spreads)
    for value, point in zip(found, points.T, strict=True):
        assert value == pytest.approx(naive(density, point, *map(float, spreads)), rel=1e-12)
    np.testing.assert_allclose(density.gradients(points, spreads)[0], found, rtol=1e-12)
    # of which rows are taken a few at a time
    many = density.log_densities(np.tile(points, 4_000), spreads)
    np.testing.assert_allclose(many, np.tile(found, 4_000), rtol=1e-12)
    np.testing.assert_allclose(
        density.row_log_likelihoods(points).sum(axis=0), density.log_likelihoods(points), rtol=1e-12
    )


@pytest.mark.parametrize(("lapse", "ties", "sizes"), SETTINGS)
def test_slopes_and_curvature_agree_with_differences(lapse, ties, sizes):
    density, points, spreads = made(lapse, ties, sizes)
    point, free = points[:, :1], density.is_free
    step = 1e-5 * np.eye(density.size)
    up, down = (density.gradients(point + sign * step, spreads) for sign in (1, -1))
    _, gradient = density.gradients(point, spreads)
    np.testing.assert_allclose(gradient[free, 0], ((up[0] - down[0]) / 2e-5)[free], atol=1e-7)
    assert not gradient[~free].any()
    bends = np.where(np.outer(free, free), (down[1] - up[1]) / 2e-5, np.eye(density.size))
    curvature = add_bordered(
        density.curvature(point[:, 0]), density.prior_curvature(spreads)
    ).assemble_dense()
    np.testing.assert_allclose(curvature, bends, atol=1e-7)
    assert (
        np.linalg.eigvalsh(density.curvature(point[:, 0], is_convex=True).assemble_dense()).min()
        > -1e-10
    )


def test_the_slope_of_each_judge():
    density, points, spreads = made(0.05, True, (3, 4, 2))
    scores = density.judge_scores(points[:, 0])
    for judge in range(3):
        others = [np.where(density.rows.judge == judge, 0.0, each) for each in density.rows[5:8]]
        without = density.with_counts(*others)
        expected = density.gradients(points, spreads)[1] - without.gradients(points, spreads)[1]
        np.testing.assert_allclose(scores[:, judge], expected[:, 0], atol=1e-10)


@pytest.mark.parametrize("log_odds", [-1e5, -800.0, -700.0, -3.0, 0.0, 5.0, 800.0, 1e5])
@pytest.mark.parametrize(("lapse", "nu"), [(0.0, None), (0.0, 0.7), (0.02, None), (0.02, 0.7)])
def test_slopes_are_exact_quotients_at_any_log_odds(log_odds, lapse, nu):
    """By decimals of 100 digits, of which no quotient is 0/0."""
    wins, losses, tied = 3.0, 2.0, 4.0 if nu else 0.0
    rows = VoteOutcome(*(np.full(1, each) for each in (wins, losses, tied)), lapse, nu is not None)
    found = compute_derivatives(
        rows, *split_probabilities(np.full(1, log_odds)), np.log(np.full(1, nu or 1.0))
    )
    with localcontext(Context(prec=100, Emin=-MAX_EMAX, Emax=MAX_EMAX)):
        small = (-abs(Decimal(log_odds))).exp()
        q, rest = 1 / (1 + small), small / (1 + small)
        q, rest = (q, rest) if log_odds >= 0 else (rest, q)
        scale, base = 1 - Decimal(lapse), Decimal(lapse) / 2
        p, other = scale * q + base, scale * rest + base
        toward, away = scale * q * rest / p, scale * q * rest / other
        bends = toward * (rest - q - toward), -away * (rest - q + away)
        slope = Decimal(wins) * toward - Decimal(losses) * away
        bend = Decimal(wins) * bends[0] + Decimal(losses) * bends[1]
        if nu:
            ratio = Decimal(nu) * (p * other).sqrt()
            share, tilt = ratio / (1 + ratio), (toward - away) / 2
            more, spread = Decimal(tied) - 9 * share, 9 * share * (1 - share)
            slope, bend = slope + more * tilt, bend + more * sum(bends) / 2 - spread * tilt**2
    np.testing.assert_allclose(
        [found.slope[0], found.bend[0]], [float(slope), float(bend)], rtol=1e-12, atol=1e-150
    )


def test_the_priors_of_standard_deviations():
    """Log-normal of the spread of worths about 1.3, half-normal of all others, as densities of
    logarithms."""
    density, _, _ = made(0.0, False, (3, 4, 2))
    logs = np.linspace(-3.0, 2.0, 7)
    np.testing.assert_allclose(
        density.log_spread_prior(0, logs), norm(np.log(1.3), 1.0).logpdf(logs), rtol=1e-12
    )
    expected = halfnorm(scale=0.5).logpdf(np.exp(logs)) + logs
    for k in (1, 2, 3):
        np.testing.assert_allclose(density.log_spread_prior(k, logs), expected, rtol=1e-12)
