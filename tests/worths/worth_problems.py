"""Small problems of worths, judges and periods, and the exact values of two of them."""

import numpy as np
from helpers.naive.worths import Comparison, log_joint

from thali._worths.hamiltonian_chains import HamiltonianSampler, tune_step
from thali._worths.posterior_density import (
    Density,
    DistinctComparisons,
    Spreads,
    add_bordered,
)


def build_spreads(worths=None, judges=None, drift=None, bias=None):
    """Build standard deviations from numbers; None becomes NaN."""
    return Spreads(
        *(
            np.asarray(np.nan if spread is None else spread)
            for spread in (worths, judges, drift, bias)
        )
    )


def compute_curvature(density, point, spreads):
    """Compute minus the second derivatives of the log density at a point."""
    return add_bordered(density.curvature(point), density.prior_curvature(spreads))


def judges(lapse, first=(9, 1), second=(5, 5)):
    """Build the density of two options, with choices by two judges."""
    wins, losses = np.array([first, second], float).T
    zero = np.zeros(2, int)
    rows = DistinctComparisons(
        zero, zero + 1, zero, np.arange(2), np.zeros((2, 0)), wins, losses, 0.0 * wins, lapse, False
    )
    return Density(rows, 2, 2, np.zeros(0), zero)


def periods(lapse):
    """Build the density of two options in three periods."""
    zero = np.zeros(3, int)
    counts = np.array([8.0, 5.0, 1.0]), np.array([2.0, 5.0, 9.0]), np.zeros(3)
    rows = DistinctComparisons(
        zero, zero + 1, np.arange(3), zero, np.zeros((3, 0)), *counts, lapse, False
    )
    return Density(rows, 2, 0, np.ones(2), np.zeros(2, int))


def random_density(
    seed,
    lapse=0.0,
    ties=True,
    n_judges=3,
    n_periods=4,
    covariates=2,
    n=4,
    rows=30,
    max_count=4,
    bias=False,
):
    """Build a random density whose last option enters late, with unequal periods."""
    rng = np.random.default_rng(seed)
    period = np.sort(rng.integers(0, n_periods, rows))
    n_present = np.where(period < n_periods // 2, n - 1, n)
    first = rng.integers(0, n_present)
    second = (first + rng.integers(1, n_present)) % n_present
    counts = rng.integers(0, max_count + 1, (3, rows)).astype(float)
    counts[2] *= ties
    judge, x = rng.integers(0, max(n_judges, 1), rows), rng.normal(size=(rows, covariates))
    entry = [int(period[(first == i) | (second == i)].min(initial=n_periods - 1)) for i in range(n)]
    comparisons = DistinctComparisons(first, second, period, judge, x, *counts, lapse, ties)
    return Density(
        comparisons, n, n_judges, rng.integers(1, 4, n_periods - 1), np.array(entry), bias
    )


def naive(density, point, spread, tau, drift, bias_sd=None):
    """Evaluate the naive log density at a point."""
    rows = density.rows
    rows_by_field = zip(
        rows.first,
        rows.second,
        rows.period,
        rows.judge,
        rows.x / density.covariate_scales,
        rows.wins,
        rows.losses,
        rows.tied,
        strict=True,
    )
    worths = point[density.worths].reshape(density.n_periods, density.n_options)
    biases = point[density.bias].reshape(density.n_judges, -1) if density.n_bias else ()
    beta = point[density.beta] * density.covariate_scales
    parts = worths, point[density.judges], beta, point[density.nu], tau, drift
    return np.log(density.covariate_scales).sum() + log_joint(
        [Comparison(*row) for row in rows_by_field],
        *parts,
        density.steps,
        density.entry,
        rows.lapse,
        spread,
        biases,
        bias_sd,
    )


def run_short_chains(marginal, seed, chains=12, tune=100, sweeps=300):
    """Run tuned chains, and return their states after each sweep."""
    sampler, rng = HamiltonianSampler(marginal), np.random.default_rng(seed)
    state, states = tune_step(sampler, rng, sampler.draw_start(rng, chains), tune), []
    for _ in range(sweeps):
        state, _ = sampler.sweep(rng, state)
        states.append(state)
    return states


def sample_prior_spreads(density, rng, count, known=(None, None, None, None)):
    """Sample standard deviations from the prior."""
    draws = [
        np.exp(np.log(1.3) + rng.normal(size=count)),
        *(0.5 * np.abs(rng.normal(size=(3, count)))),
    ]
    spread_kinds = density.spread_kinds
    spreads = [
        np.full(count, np.nan)
        if k not in spread_kinds
        else draws[k]
        if known[k] is None
        else known[k]
        for k in range(4)
    ]
    return Spreads(*(np.broadcast_to(spread, count).copy() for spread in spreads))


def sample_prior_points(density, rng, count, known=(None, None, None, None)):
    """Sample points and standard deviations from the prior."""
    spreads = sample_prior_spreads(density, rng, count, known)
    points = rng.normal(size=(density.size, count))
    points[density.judges] *= spreads.judges
    points[density.bias] *= spreads.bias
    points[density.beta] /= density.covariate_scales[:, None]
    worths = spreads.worths * rng.normal(size=(density.n_options, count))
    worths_by_period = []
    for t in range(density.n_periods):
        if t:
            moves = np.sqrt(density.steps[t - 1]) * spreads.drift * rng.normal(size=worths.shape)
            worths = worths + np.where((density.entry < t)[:, None], moves, 0.0)
        worths_by_period.append(np.where((density.entry <= t)[:, None], worths, 0.0))
    points[density.worths] = np.concatenate(worths_by_period)
    points[density.nu][:1] *= 2.0
    return points, spreads


def simulated(density, rng, points):
    """Simulate the same number of comparisons at each point, and return their density."""
    comparisons = [
        density.compare_at_points(block, points) for block in density.split_rows(points.shape[1])
    ]
    p = (1 - density.rows.lapse) * np.concatenate(
        [each.split_probabilities()[0] for each in comparisons]
    ) + density.rows.lapse / 2
    tie = (
        np.exp(np.concatenate([each.log_nu for each in comparisons])) * np.sqrt(p * (1 - p))
        if density.rows.has_ties
        else np.zeros_like(p)
    )
    total = np.broadcast_to(
        (density.rows.wins + density.rows.losses + density.rows.tied)[:, None], p.shape
    ).astype(int)
    tied = rng.binomial(total, tie / (1 + tie))
    wins = rng.binomial(total - tied, p)
    return density.with_counts(
        wins.astype(float), (total - tied - wins).astype(float), tied.astype(float)
    )
