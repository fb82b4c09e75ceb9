"""Worths of parts about common ones: by definition, its slopes, exact values, chains and groups
that are "similar"."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import halfnorm, kstest, norm
from worth_problems import (
    build_spreads,
    compute_curvature,
    run_short_chains,
    sample_prior_spreads,
    simulated,
)

import thali._worths.hamiltonian_chains as chains
import thali._worths.prior_sd_moves as scales
from thali._posterior.summary_table import compute_mean_mcse
from thali._worths.laplace_approximation import Marginal
from thali._worths.posterior_density import DistinctComparisons, GroupDensity, Spreads
from thali._worths.posterior_sample import sample_posterior

pytestmark = pytest.mark.fit


def random_parts(seed, lapse=0.0, ties=True, covariates=1, n=4, parts=3, rows=40):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, n, rows)
    second = (first + rng.integers(1, n, rows)) % n
    counts = rng.integers(0, 5, (3, rows)).astype(float)
    counts[2] *= ties
    x = rng.normal(size=(rows, covariates))
    return GroupDensity(
        DistinctComparisons(
            first, second, rng.integers(0, parts, rows), 0 * first, x, *counts, lapse, ties
        ),
        n,
        parts,
    )


def log_prior(density, point, spread, part_sd):
    """By definition."""
    worths, common = point[density.worths].reshape(density.n_periods, -1), point[density.common]
    found = (
        norm(0.0, spread).logpdf(common).sum() + norm(0.0, part_sd).logpdf(worths - common).sum()
    )
    return (
        found
        + norm(0.0, 2.0).logpdf(point[density.nu]).sum()
        + norm.logpdf(point[density.beta]).sum()
    )


@pytest.mark.parametrize(("lapse", "ties", "covariates"), [(0.0, False, 0), (0.05, True, 2)])
def test_the_density_its_slopes_and_curvature(lapse, ties, covariates):
    density, sds = random_parts(1, lapse, ties, covariates), (1.6, 0.4)
    spreads = build_spreads(sds[0], None, sds[1])
    points = 0.5 * np.random.default_rng(2).normal(size=(density.size, 2))
    by_definition = [log_prior(density, point, *sds) for point in points.T]
    np.testing.assert_allclose(density.log_priors(points, spreads), by_definition, rtol=1e-12)
    point, steps = points[:, :1], 1e-5 * np.eye(density.size)[:, :, None]
    value, gradient = density.gradients(point, spreads)
    assert value[0] == density.log_densities(point, spreads)[0]
    ends = [[density.gradients(point + sign * step, spreads) for step in steps] for sign in (1, -1)]
    rise = [(up[0] - down[0])[0] / 2e-5 for up, down in zip(*ends, strict=True)]
    np.testing.assert_allclose(gradient[:, 0], rise, atol=1e-7)
    bend = [(down[1] - up[1])[:, 0] / 2e-5 for up, down in zip(*ends, strict=True)]
    np.testing.assert_allclose(
        compute_curvature(density, point[:, 0], spreads).assemble_dense(), bend, atol=1e-7
    )
    logs = np.array([-1.0, 0.0, 0.4])
    of_spread = halfnorm(scale=0.5).logpdf(np.exp(logs)) + logs
    np.testing.assert_allclose(density.log_spread_prior(2, logs), of_spread, rtol=1e-12)
    given = density.conditional_log_spread_density(points[:, [0, 0, 0]], 2)(logs)
    each = [
        density.log_priors(point, build_spreads(1.6, None, np.exp(log)))[0] for log in logs
    ] + of_spread
    np.testing.assert_allclose(given - given[0], each - each[0], rtol=1e-10)


COUNTS = np.array([[8.0, 2.0], [2.0, 3.0], [0.0, 1.0]])  # of two options in three parts


def two_options():
    zero = np.zeros(3, int)
    wins, losses = COUNTS.T
    return GroupDensity(
        DistinctComparisons(
            zero, zero + 1, np.arange(3), zero, np.zeros((3, 0)), wins, losses, 0 * wins, 0.0, False
        ),
        2,
        3,
    )


def exact(spread, sd):
    """E p of the first in each part, by sums: differences of parts about a common difference."""
    d = np.linspace(-8.0, 8.0, 401) * spread
    away = np.linspace(-6.0, 6.0, 121) * np.sqrt(2.0) * sd
    p = expit(d[:, None] + away)
    weight = norm(0.0, np.sqrt(2.0) * sd).pdf(away)
    parts = [weight * p**wins * (1.0 - p) ** losses for wins, losses in COUNTS]
    alone = np.array([part.sum(axis=1) for part in parts])
    together = norm(0.0, np.sqrt(2.0) * spread).pdf(d) * alone.prod(axis=0)
    return [
        float((together / own * (part * p).sum(axis=1)).sum() / together.sum())
        for part, own in zip(parts, alone, strict=True)
    ]


@pytest.mark.first(1)
@pytest.mark.parametrize("sd", [0.7, 0.25])
def test_two_options_in_three_parts(sd):
    density, expected = two_options(), exact(1.5, sd)
    marginal = Marginal(density, 1.5, None, sd)

    def p(points):
        worths = points[density.worths].reshape(3, 2, *points.shape[1:])
        return expit(worths[:, 0] - worths[:, 1])

    points, _ = sample_posterior(marginal, np.random.default_rng(1), 20_000)
    np.testing.assert_allclose(p(points).mean(axis=1), expected, atol=0.008)
    found = [p(state.points) for state in run_short_chains(marginal, 5)]
    found = np.array(found).transpose(1, 2, 0)
    assert np.abs((found.mean(axis=(1, 2)) - expected) / compute_mean_mcse(found)).max() < 4.5


def test_parts_that_agree_are_found_to_agree():
    """Ten thousand comparisons a pair and part, as expected if all parts have the same worths."""
    log_worths, parts = np.array([0.6, 0.1, -0.7]), 4
    first, second = (np.tile(each, parts) for each in ([0, 0, 1], [1, 2, 2]))
    wins = 1e4 * expit(log_worths[first] - log_worths[second])
    none, part_of = np.zeros((len(first), 0)), np.repeat(np.arange(parts), 3)
    made = DistinctComparisons(
        first, second, part_of, 0 * part_of, none, wins, 1e4 - wins, 0 * wins, 0.0, False
    )
    _, spreads = sample_posterior(
        Marginal(GroupDensity(made, 3, parts)), np.random.default_rng(1), 1000
    )
    assert np.quantile(spreads.drift, 0.95) < 0.06


def sample_prior_points(density, rng, count):
    """Points of the prior, and their standard deviations."""
    spreads = sample_prior_spreads(density, rng, count)
    points = rng.normal(size=(density.size, count))
    points[density.common] *= spreads.worths
    points[density.worths] *= spreads.drift
    points[density.worths] += np.tile(points[density.common], (density.n_periods, 1))
    points[density.nu] *= 2.0
    return points, spreads


def test_sweeps_of_parts_pass_the_joint_distribution_test():
    """Chains that begin with the prior and get new comparisons before every sweep stay at the
    prior, each by itself."""
    density, rng = random_parts(2, 0.02, n=3, parts=2, rows=12), np.random.default_rng(9)
    sampler = chains.HamiltonianSampler(Marginal(density))
    points, spreads = sample_prior_points(density, rng, 500)
    state = scales.ScaleState.from_points(density, points, np.log(np.array(spreads)))
    sampler.step = 0.6
    for _ in range(15):
        sampler.density = simulated(density, rng, state.points)
        state, _ = sampler.sweep(rng, scales.ScaleState.from_points(sampler.density, *state[:2]))
    rng = np.random.default_rng(10)
    fresh, of_fresh = sample_prior_points(density, rng, 10 * state.points.shape[1])
    for k in range(density.size):
        assert kstest(state.points[k], fresh[k]).pvalue > 1e-6, k
    assert kstest(state.logs[2], np.log(of_fresh.drift)).pvalue > 1e-6
    for a, b in ((0, 1), (0, 3)):
        assert kstest(state.points[a] - state.points[b], fresh[a] - fresh[b]).pvalue > 1e-6


@pytest.mark.long
@pytest.mark.parametrize("method", ["laplace", "mcmc"])
def test_intervals_of_parts_are_calibrated(method):
    """As in test_worth_calibration."""
    design, found = random_parts(5, 0.01, False, 0, rows=60), []
    for seed in range(200 if method == "laplace" else 100):
        rng = np.random.default_rng(seed)
        truth, of_truth = sample_prior_points(design, rng, 1)
        rows = simulated(design, rng, truth).rows
        density = design.with_counts(rows.wins[:, 0], rows.losses[:, 0], rows.tied[:, 0])
        marginal = Marginal(density)
        if method == "laplace":
            points, spreads = sample_posterior(marginal, rng, 1000)
        else:
            sampler = chains.HamiltonianSampler(marginal)
            state, states = chains.tune_step(sampler, rng, sampler.draw_start(rng, 8), 150), []
            for _ in range(400):
                state, _ = sampler.sweep(rng, state)
                states.append(state)
            points = np.concatenate([each.points for each in states[::8]], axis=1)
            spreads = Spreads(*np.exp(np.concatenate([each.logs for each in states[::8]], axis=1)))
        own = [points[k] - points[k + 1] for k in (0, 4, 9)] + [
            points[0] - points[4],
            spreads.drift,
        ]
        true = [truth[k] - truth[k + 1] for k in (0, 4, 9)] + [truth[0] - truth[4], of_truth.drift]
        found.append([(each < real).mean() for each, real in zip(own, true, strict=True)])
    smallest = [
        kstest(np.clip(each, 1e-9, 1 - 1e-9), "uniform").pvalue for each in np.array(found).T
    ]
    print(method, np.round(smallest, 4))
    assert min(smallest) > (1e-4 if method == "mcmc" else 1e-6)
