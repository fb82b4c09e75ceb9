"""The density of worths seen by judges in time: by definition, its slopes, and its integrals."""

import itertools
from decimal import MAX_EMAX, Context, Decimal, localcontext

import numpy as np
import pytest
from scipy.stats import halfnorm, norm
from worth_problems import build_spreads, naive, random_density

from thali._paired.vote_forecast import VoteOutcome
from thali._worths.posterior_density import (
    DRIFT,
    WORTHS,
    Density,
    GroupDensity,
    add_bordered,
    compute_derivatives,
    split_counts,
    split_probabilities,
)

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
        density.expand(point[:, 0]).curvature, density.prior_curvature(spreads)
    ).assemble_dense()
    np.testing.assert_allclose(curvature, bends, atol=1e-7)
    assert (
        np.linalg.eigvalsh(density.curvature(point[:, 0], is_convex=True).assemble_dense()).min()
        > -1e-10
    )


def test_the_density_with_biases_does_not_depend_on_the_unit_of_a_covariate():
    """Judges' deviations had one prior in every unit, so effects of characters were uncertain."""
    density, points, spreads = made(0.05, True, (3, 2, 2, True))
    rows = density.rows._replace(x=1000.0 * density.rows.x)
    large = Density(rows, density.n_options, 3, density.steps, density.entry, True)
    large_points = points.copy()
    large_points[density.beta] /= 1000.0
    change = large.log_densities(large_points, spreads) - density.log_densities(points, spreads)
    np.testing.assert_allclose(change, 2.0 * np.log(1000.0), rtol=1e-9)


def test_the_slope_of_each_judge():
    density, points, spreads = made(0.05, True, (3, 4, 2))
    scores = density.judge_scores(points[:, 0])
    for judge in range(3):
        others = [np.where(density.rows.judge == judge, 0.0, each) for each in density.rows[5:8]]
        without = density.with_counts(*others)
        expected = density.gradients(points, spreads)[1] - without.gradients(points, spreads)[1]
        np.testing.assert_allclose(scores[:, judge], expected[:, 0], atol=1e-10)


def test_the_typical_judge_ties_as_often_as_the_mean():
    density, points, _ = made(0.0, True, (3, 1, 0))
    common, *deviations = points[density.nu]
    assert len(deviations) == 3
    np.testing.assert_allclose(density.log_ties(points), [common + np.mean(deviations, axis=0)])
    alone, points, _ = made(0.0, True, (0, 3, 0))
    np.testing.assert_array_equal(alone.log_ties(points), points[alone.nu])


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


@pytest.mark.parametrize(("lapse", "ties"), [(0.0, False), (0.05, True)])
def test_answers_of_each_judge_are_predicted_from_the_point_without_that_judge(lapse, ties):
    density = random_density(5, lapse, ties, n_judges=3)
    points, rows = np.random.default_rng(6).normal(size=(density.size, 3)), density.rows
    found = density.predict_judges(points)
    worths = points[density.worths].reshape(density.n_periods, density.n_options, 3)
    for r, judge in enumerate(rows.judge.tolist()):
        own = worths[rows.period[r], :, judge]
        log_odds = (
            own[rows.first[r]] - own[rows.second[r]] + rows.x[r] @ points[density.beta, judge]
        )
        nu = np.exp(points[density.nu, judge][[0, 1 + judge]].sum()) if ties else 0.0
        logs = []
        for odds in (log_odds, 0.0):  # of the point, and of guesses
            p = (1.0 - lapse) / (1.0 + np.exp(-odds)) + lapse / 2.0
            tie = nu * np.sqrt(p * (1.0 - p))
            with np.errstate(divide="ignore"):
                logs.append(np.log(np.array([p, 1.0 - p, tie]) / (1.0 + tie)))
        counts = np.array([rows.wins[r], rows.losses[r], rows.tied[r]])
        likely = slice(None) if ties else slice(2)
        expected = np.exp(logs[0])[likely] @ logs[0][likely] * counts.sum()
        assert found.score[r] == pytest.approx(counts[likely] @ logs[0][likely], rel=1e-10)
        assert found.expected[r] == pytest.approx(expected, rel=1e-10)
        assert found.chance[r] == pytest.approx(counts[likely] @ logs[1][likely], rel=1e-10)
        assert found.total[r] == counts.sum()


def test_worths_are_centred_over_options_that_are_always_present():
    density, points, _ = made(0.0, False, (0, 4, 1))
    worths = points[density.worths].reshape(4, 4, 2)
    permanent = density.entry == 0
    expected = worths - worths[:, permanent].mean(axis=1, keepdims=True)
    np.testing.assert_allclose(density.centre_by_period(points), expected, rtol=1e-12)
    density.entry[:] = 1  # none is: all that are present count
    density.present = np.arange(4)[:, None] >= density.entry
    expected = worths[1:] - worths[1:].mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(density.centre_by_period(points)[1:], expected, rtol=1e-12)


def test_without_a_prior_the_level_alone_has_curvature():
    density = random_density(3, ties=True, n_judges=0, n_periods=1)
    without = Density(density.rows, density.n_options, has_prior=False)
    point, none = np.random.default_rng(1).normal(size=(without.size, 1)), build_spreads()
    level = np.zeros((without.size, without.size))
    level[:4, :4] = 1.0 / 4.0
    np.testing.assert_array_equal(without.prior_curvature(none).assemble_dense(), level)
    assert without.log_priors(point, none)[0] == pytest.approx(-0.5 * point[:4].sum() ** 2 / 4)
    gradient = np.zeros_like(point)
    without.add_prior_slope(gradient, point, none)
    np.testing.assert_allclose(gradient, -level @ point, rtol=1e-12)


def test_common_worths_and_deviations_of_parts_are_scaled_apart():
    rows = random_density(3, ties=False, n_judges=0, n_periods=3, covariates=0).rows
    density = GroupDensity(rows, 4, 3)
    points, factor = np.random.default_rng(2).normal(size=(density.size, 2)), np.array([0.5, 3.0])
    common = points[density.common]
    deviations = points[density.worths].reshape(3, 4, 2) - common
    for kind, mean, deviation in ((WORTHS, factor, 1.0), (DRIFT, 1.0, factor)):
        scaled = density.scale_coordinates(points, kind, factor)
        np.testing.assert_allclose(scaled[density.common], common * mean, rtol=1e-12)
        expected = common * mean + deviations * deviation
        np.testing.assert_allclose(scaled[density.worths].reshape(3, 4, 2), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", [0, 1, 2, 3])
def test_coordinates_of_one_standard_deviation_are_scaled_alone(kind):
    density, points, spreads = made(0.0, True, (3, 3, 2, True))
    factor = np.array([0.5, 3.0])
    scaled = density.scale_coordinates(points, kind, factor)
    for k in density.spread_kinds:
        expected = density.sum_of_squares(points, k) * (factor**2 if k == kind else 1.0)
        np.testing.assert_allclose(density.sum_of_squares(scaled, k), expected, rtol=1e-12)
        # as the prior of that standard deviation has it
        log_density = density.conditional_log_spread_density(points, k)
        ends = [spreads[k], 2.0 * spreads[k]]
        wanted = [
            density.log_priors(points, spreads._replace(**{spreads._fields[k]: end}))
            + density.log_spread_prior(k, np.log(end))
            for end in ends
        ]
        found = [log_density(np.log(end)) for end in ends]
        np.testing.assert_allclose(found[1] - found[0], wanted[1] - wanted[0], rtol=1e-9)


def test_halves_of_answers_add_up():
    rng = np.random.default_rng(0)
    counts = np.array([0.0, 1.0, 2.5, 40.0, 1000.25])
    halves = np.array([split_counts(rng, counts) for _ in range(2000)])
    assert (halves >= 0.0).all() and (halves <= counts).all()
    parts = halves % 1.0
    assert set(np.unique(parts[:, 2])) == {0.0, 0.5} and set(np.unique(parts[:, 4])) == {0.0, 0.25}
    # five standard errors; a fraction goes to either half
    whole = np.floor(counts)
    errors = np.sqrt((whole / 4 + (counts - whole) ** 2 / 4) / 2000)
    assert (abs(halves.mean(axis=0) - counts / 2) <= 5 * errors).all()
    density, _, _ = made(0.0, True, (0, 1, 1))
    for half, other, whole in zip(
        *(each.counts for each in density.split_answers(rng)), density.counts, strict=True
    ):
        np.testing.assert_array_equal(half + other, whole)
