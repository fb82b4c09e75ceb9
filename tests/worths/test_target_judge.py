"""Worths for one judge from the votes of all: by definition, slopes, exact values, the joint
distribution."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chi2, halfnorm, kstest, norm
from worth_problems import build_spreads, compute_curvature, run_short_chains, simulated

import thali._worths.hamiltonian_chains as chains
import thali._worths.prior_sd_moves as scales
from thali._posterior.summary_table import compute_mean_mcse
from thali._worths.laplace_approximation import Marginal
from thali._worths.posterior_density import (
    DistinctComparisons,
    Spreads,
    TargetDensity,
)

pytestmark = pytest.mark.fit


def build_target(judge, first, second, counts, n, n_judges, lapse=0.0, ties=False, x=None):
    """Build the density of rows; the last judge is the target."""
    if x is None:
        x = np.zeros((len(judge), 0))
    rows = DistinctComparisons(
        first, second, judge % (n_judges - 1), judge, x, *map(np.asarray, counts), lapse, ties
    )
    return TargetDensity(rows, n, n_judges)


def random_target(seed, lapse=0.0, ties=True, covariates=1, n=4, n_judges=3, rows=40):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, n, rows)
    second = (first + rng.integers(1, n, rows)) % n
    counts = rng.integers(0, 5, (3, rows)).astype(float)
    counts[2] *= ties
    x = rng.normal(size=(rows, covariates))
    judge = rng.integers(0, n_judges, rows)
    return build_target(judge, first, second, counts, n, n_judges, lapse, ties, x)


def naive_log_density(density, point, spread, tau, deviation_sd):
    """By definition, row by row."""
    rows, n = density.rows, density.n_options
    worths = point[density.worths].reshape(-1, n)
    target_worths, log_d, beta = point[density.common], point[density.judges], point[density.beta]
    found = norm(0.0, spread).logpdf(target_worths).sum()
    found += norm(0.0, deviation_sd).logpdf(worths - target_worths).sum()
    found += norm(0.0, tau).logpdf(log_d[:-1]).sum() + norm.logpdf(beta).sum()
    found += norm.logpdf(log_d[-1])  # the level of the other judges
    if rows.has_ties:
        log_nu, *deviations = point[density.nu]
        found += norm(0.0, 2.0).logpdf(log_nu) + norm.logpdf(deviations).sum()
    for i, k, j, x, wins, losses, tied in zip(
        *rows[:2], rows.judge, rows.x, rows.wins, rows.losses, rows.tied, strict=True
    ):
        if j == density.n_judges - 1:
            log_odds = target_worths[i] - target_worths[k]
        else:
            log_odds = np.exp(log_d[j] + log_d[-1]) * (worths[j, i] - worths[j, k])
        q = expit(log_odds + x @ beta)
        p = (1.0 - rows.lapse) * q + rows.lapse / 2.0
        tie = np.exp(log_nu + deviations[j]) * np.sqrt(p * (1.0 - p)) if rows.has_ties else 0.0
        found += wins * np.log(p) + losses * np.log(1.0 - p)
        found += tied * np.log(tie) if tied else 0.0
        found -= (wins + losses + tied) * np.log(1.0 + tie)
    return found


@pytest.mark.parametrize(("lapse", "ties", "covariates"), [(0.0, False, 0), (0.05, True, 2)])
def test_the_density_its_slopes_and_curvature(lapse, ties, covariates):
    density, sds = random_target(1, lapse, ties, covariates), (1.6, 0.8, 0.4)
    spreads = build_spreads(*sds)
    points = 0.5 * np.random.default_rng(2).normal(size=(density.size, 3))
    naive = [naive_log_density(density, point, *sds) for point in points.T]
    found = density.log_densities(points, spreads)
    constant = found[0] - naive[0]
    np.testing.assert_allclose(found - constant, naive, atol=1e-9)
    point, steps = points[:, :1], 1e-5 * np.eye(density.size)[:, :, None]
    value, gradient = density.gradients(point, spreads)
    assert value[0] == pytest.approx(found[0], abs=1e-9)
    ends = [[density.gradients(point + sign * step, spreads) for step in steps] for sign in (1, -1)]
    rise = [(up[0] - down[0])[0] / 2e-5 for up, down in zip(*ends, strict=True)]
    np.testing.assert_allclose(gradient[:, 0], rise, atol=1e-7)
    bend = [(down[1] - up[1])[:, 0] / 2e-5 for up, down in zip(*ends, strict=True)]
    np.testing.assert_allclose(
        compute_curvature(density, point[:, 0], spreads).assemble_dense(), bend, atol=1e-7
    )
    logs = np.array([-1.0, 0.0, 0.4])
    for k in (1, 2):
        of_spread = halfnorm(scale=1.0).logpdf(np.exp(logs)) + logs
        np.testing.assert_allclose(density.log_spread_prior(k, logs), of_spread, rtol=1e-12)


TAU = 0.6
COUNTS = np.array([[14.0, 4.0], [3.0, 2.0]])  # of two options: another judge, the target


def two_options():
    zero, (wins, losses) = np.zeros(2, int), COUNTS.T
    return build_target(np.arange(2), zero, zero + 1, (wins, losses, 0.0 * wins), 2, 2)


def exact_probability():
    """E p of the target and of the other judge, by sums over both standard deviations."""
    root = np.sqrt(2.0)
    difference = np.linspace(-9.0, 9.0, 181)
    sd_of_d = np.hypot(TAU, 1.0)  # of a judge about the level, and of the level
    log_d = np.linspace(-5.0, 5.0, 161) * sd_of_d
    p = expit(np.exp(log_d)[:, None] * difference)
    of_d = norm(0.0, sd_of_d).pdf(log_d)[:, None]
    other = (of_d * p ** COUNTS[0, 0] * (1.0 - p) ** COUNTS[0, 1]).sum(axis=0)
    other_p = (of_d * p ** (COUNTS[0, 0] + 1.0) * (1.0 - p) ** COUNTS[0, 1]).sum(axis=0)
    target_p = expit(difference)
    target = target_p ** COUNTS[1, 0] * (1.0 - target_p) ** COUNTS[1, 1]
    total = np.zeros(3)
    log_spreads = np.linspace(np.log(1.3) - 4.5, np.log(1.3) + 4.5, 46)
    of_spreads = norm(np.log(1.3), 1.0).pdf(log_spreads)
    prior = of_spreads @ norm(0.0, root * np.exp(log_spreads)[:, None]).pdf(difference) * target
    for log_sd in np.linspace(-4.5, 1.5, 41):
        sd = np.exp(log_sd)
        kernel = norm(0.0, root * sd).pdf(difference[:, None] - difference)
        kernel /= np.maximum(kernel.sum(axis=1, keepdims=True), 1e-300)
        weight = halfnorm(scale=1.0).pdf(sd) * sd
        alone = kernel @ other
        total += weight * np.array(
            [
                (prior * alone).sum(),
                (prior * alone * target_p).sum(),
                (prior * (kernel @ other_p)).sum(),
            ]
        )
    return total[1:] / total[0]


def test_two_options_and_two_judges():
    """Both standard deviations are learned, so that worths and discriminations trade scales."""
    density, expected = two_options(), exact_probability()
    marginal = Marginal(density, None, TAU)
    assert marginal.learned == (0, 2)

    def p(points):
        worths, d = points[density.worths], np.exp(density.log_discriminations(points)[0])
        common = points[density.common]
        return expit(np.array([common[0] - common[1], d * (worths[0] - worths[1])]))

    found = [p(state.points) for state in run_short_chains(marginal, 5, sweeps=600)]
    found = np.array(found).transpose(1, 2, 0)
    assert np.abs((found.mean(axis=(1, 2)) - expected) / compute_mean_mcse(found)).max() < 4.5


def sample_prior_points(density, rng, count):
    """Points of the prior, and their standard deviations."""
    spread = np.exp(np.log(1.3) + rng.normal(size=count))
    tau, deviation_sd = np.abs(rng.normal(size=(2, count)))
    points = rng.normal(size=(density.size, count))
    points[density.common] *= spread
    points[density.worths] *= deviation_sd
    points[density.worths] += np.tile(points[density.common], (density.n_periods, 1))
    points[density.judges.start : density.level] *= tau
    points[density.nu][:1] *= 2.0
    return points, Spreads(spread, tau, deviation_sd, np.full(count, np.nan))


def check_prior(density, state):
    """Compare a state with the prior, coordinate by coordinate and in units of its sds."""
    rng = np.random.default_rng(10)
    fresh, of_fresh = sample_prior_points(density, rng, 10 * state.points.shape[1])
    for k in np.flatnonzero(density.is_free):
        assert kstest(state.points[k], fresh[k]).pvalue > 1e-6, k
    for k in range(3):
        assert kstest(state.logs[k], np.log(of_fresh[k])).pvalue > 1e-6
    spread, tau, deviation_sd, _ = np.exp(state.logs)
    for standardised in (
        state.points[density.common] / spread,
        state.points[density.judges][:-1] / tau,
        density.deviations(state.points) / deviation_sd,
    ):
        # coordinates of a chain have one sd, so the mean square of each chain is one observation
        squares = (standardised**2).reshape(-1, standardised.shape[-1])
        assert kstest(squares.sum(axis=0), chi2(len(squares)).cdf).pvalue > 1e-6


def test_sweeps_pass_the_joint_distribution_test():
    """Chains that begin with the prior and get new comparisons before every sweep stay at it."""
    density, rng = random_target(2, 0.02, n=3, rows=12), np.random.default_rng(9)
    sampler = chains.HamiltonianSampler(Marginal(density))
    points, spreads = sample_prior_points(density, rng, 500)
    state = scales.ScaleState.from_points(density, points, np.log(np.array(spreads)))
    sampler.step = 0.6
    for _ in range(15):
        sampler.density = simulated(density, rng, state.points)
        state, _ = sampler.sweep(rng, scales.ScaleState.from_points(sampler.density, *state[:2]))
    check_prior(density, state)


def test_trades_of_scales_alone_pass_the_joint_distribution_test():
    """Repeated without other moves it must leave the prior; ratios of densities are exact."""
    density, rng = random_target(3, 0.02, n=3, rows=12), np.random.default_rng(4)
    points, spreads = sample_prior_points(density, rng, 10_000)
    state = scales.ScaleState.from_points(density, points, np.log(np.array(spreads)))
    for _ in range(40):
        renewed = simulated(density, rng, state.points)
        state = scales.ScaleState.from_points(renewed, *state[:2])
        state = scales.trade_scale_for_discrimination(rng, renewed, state)
        before = state
        state = scales.trade_scale_of_each_judge(rng, renewed, state)
        found = renewed.log_likelihoods(state.points)
        np.testing.assert_allclose(found, before.likelihood, atol=1e-9)
    assert (np.abs(state.logs[0] - np.log(spreads.worths)) > 0.0).mean() > 0.9
    check_prior(density, state)
