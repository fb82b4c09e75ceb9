"""The density of worths seen by judges in time: by definition, its slopes, and its integrals."""

import itertools
from decimal import MAX_EMAX, Context, Decimal, localcontext

import numpy as np
import pytest
from scipy.special import expit, gammaln, logsumexp
from worth_problems import EXACT, exact_problem, naive, random_density

from thali._paired.more_votes import Vote
from thali._worths.density import Spreads, added, log_half_normal, shares, slopes

SETTINGS = list(
    itertools.product([0.0, 0.05], [False, True], [(0, 1, 1), (3, 1, 0), (0, 3, 0), (3, 4, 2), (3, 2, 2, True)])
)


def made(lapse, ties, sizes):
    n_judges, n_periods, covariates, *bias = sizes
    density = random_density(3, lapse, ties, n_judges, n_periods, covariates, bias=bool(bias))
    points = np.random.default_rng(4).normal(size=(density.size, 2)) * 0.8
    points[~density.is_free] = 0.0
    return density, points, Spreads.of(0.7 if n_judges else None, 0.4 if n_periods > 1 else None, 0.6 if bias else None)


@pytest.mark.parametrize(("lapse", "ties", "sizes"), SETTINGS)
def test_the_density_is_that_of_the_model(lapse, ties, sizes):
    density, points, spreads = made(lapse, ties, sizes)
    found = density.values(points, spreads)
    for value, point in zip(found, points.T, strict=True):
        assert value == pytest.approx(naive(density, point, *map(float, spreads)), rel=1e-12)
    np.testing.assert_allclose(density.gradients(points, spreads)[0], found, rtol=1e-12)
    many = density.values(np.tile(points, 4_000), spreads)  # of which rows are taken a few at a time
    np.testing.assert_allclose(many, np.tile(found, 4_000), rtol=1e-12)
    np.testing.assert_allclose(density.by_row(points).sum(axis=0), density.log_likelihoods(points), rtol=1e-12)


@pytest.mark.parametrize(("lapse", "ties", "sizes"), SETTINGS)
def test_slopes_and_curvature(lapse, ties, sizes):
    density, points, spreads = made(lapse, ties, sizes)
    point, free = points[:, :1], density.is_free
    step = 1e-5 * np.eye(density.size)
    up, down = (density.gradients(point + sign * step, spreads) for sign in (1, -1))
    _, gradient = density.gradients(point, spreads)
    np.testing.assert_allclose(gradient[free, 0], ((up[0] - down[0]) / 2e-5)[free], atol=1e-7)
    assert not gradient[~free].any()
    bends = np.where(np.outer(free, free), (down[1] - up[1]) / 2e-5, np.eye(density.size))
    curvature = added(density.curvature(point[:, 0]), density.prior_curvature(point[:, 0], spreads)).dense()
    np.testing.assert_allclose(curvature, bends, atol=1e-7)
    assert np.linalg.eigvalsh(density.curvature(point[:, 0], is_convex=True).dense()).min() > -1e-10


def test_the_slope_of_each_judge():
    density, points, spreads = made(0.05, True, (3, 4, 2))
    scores = density.scores_of_judges(points[:, 0])
    for judge in range(3):
        others = [np.where(density.rows.judge == judge, 0.0, each) for each in density.rows[5:8]]
        without = density.with_counts(*others)
        expected = density.gradients(points, spreads)[1] - without.gradients(points, spreads)[1]
        np.testing.assert_allclose(scores[:, judge], expected[:, 0], atol=1e-10)


def integrated(density, tau, s):
    """Points of a grid, and the log of the density there times the cells, of differences of worths and of log d.

    The common scale of worths, and common changes in time, are integrated exactly: the Gamma(2, 1) integral over the
    mean log worth of the first period is e^2 / 4 times its top, and changes of the mean are Normal(0, s^2 / 2).
    """
    changes = density.n_periods - 1
    axes = [np.linspace(-9, 9, 61 if changes else 121)]
    axes += [np.linspace(-6, 6, 41 if s < 0.35 else 61) * np.sqrt(2.0) * s] * changes
    axes += [np.linspace(-6, 6, 49) * tau] * density.n_judges
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")])
    d, rest = np.cumsum(grid[: changes + 1], axis=0), grid[changes + 1 :]
    scale = np.log(2.0) - np.logaddexp(d[0] / 2, -d[0] / 2)
    points = np.concatenate([np.stack([scale + d / 2, scale - d / 2], axis=1).reshape(-1, d.shape[1]), rest])
    common = 2.0 - np.log(4.0) + 0.5 * changes * (np.log(np.pi) + 2.0 * np.log(s))
    cell = sum(np.log(axis[1] - axis[0]) for axis in axes)
    return points, density.values(points, Spreads.of(tau, s)) + common + cell


@pytest.mark.first(2)
@pytest.mark.fit
@pytest.mark.parametrize(
    ("name", "lapse", "spread", "exact"),
    [pytest.param(*case, marks=() if case[1] else pytest.mark.long) for case in EXACT],
)
def test_exact_values_by_quadrature(name, lapse, spread, exact):
    evidence, probabilities, log_d, sd = exact
    density, _ = exact_problem(name, lapse, spread)
    logs = np.log([spread]) if spread else np.linspace(-7.0, 1.1, 28)
    found, values = [], []
    for s in np.exp(logs):
        points, log_p = integrated(density, s, s)
        found.append(logsumexp(log_p))
        worths = points[density.worths].reshape(density.n_periods, 2, -1)
        q = (1 - lapse) * expit(worths[:, 0] - worths[:, 1]) + lapse / 2
        p = np.exp(log_p - found[-1])
        values.append([*(q @ p), *(points[density.judges] @ p), s])
    found = np.array(found)
    if spread is None:
        found = found + log_half_normal(logs) + np.log(logs[1] - logs[0])
    rows = density.rows
    known = (gammaln(rows.wins + rows.losses + 1) - gammaln(rows.wins + 1) - gammaln(rows.losses + 1)).sum()
    if evidence is not None:
        assert logsumexp(found) + known == pytest.approx(evidence, abs=5e-6 if spread else 2e-3)
    mean = np.exp(found - logsumexp(found)) @ np.array(values)
    if sd is not None:
        np.testing.assert_allclose(mean, [*probabilities, *log_d, sd], atol=6e-6 if spread and evidence else 1e-3)


@pytest.mark.parametrize("log_odds", [-1e5, -800.0, -700.0, -3.0, 0.0, 5.0, 800.0, 1e5])
@pytest.mark.parametrize(("lapse", "nu"), [(0.0, None), (0.0, 0.7), (0.02, None), (0.02, 0.7)])
def test_slopes_are_exact_quotients_at_any_log_odds(log_odds, lapse, nu):
    """By decimals of 100 digits, of which no quotient is 0/0."""
    wins, losses, tied = 3.0, 2.0, 4.0 if nu else 0.0
    rows = Vote(*(np.full(1, each) for each in (wins, losses, tied)), lapse, nu is not None)
    found = slopes(rows, *shares(np.full(1, log_odds)), np.log(np.full(1, nu or 1.0)))
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
    np.testing.assert_allclose([found.slope[0], found.bend[0]], [float(slope), float(bend)], rtol=1e-12, atol=1e-150)
