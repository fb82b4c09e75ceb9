"""Small problems of worths, judges and periods, and the exact values of two of them."""

import numpy as np
from helpers.naive.worths import Comparison, log_joint

from thali._worths.chains import Sampler, tune_step
from thali._worths.density import (
    HALF_NORMAL_SCALE,
    LOG_SPREAD_MEAN,
    Density,
    DistinctComparisons,
    Spreads,
    add_bordered,
)


def spreads_of(worths=None, judges=None, drift=None, bias=None):
    """The standard deviations from numbers."""
    return Spreads(
        *(np.asarray(np.nan if each is None else each) for each in (worths, judges, drift, bias))
    )


def curvature_at(density, point, spreads):
    """Minus the second derivatives of the density."""
    return add_bordered(density.curvature(point), density.prior_curvature(spreads))


def judges(lapse, first=(9, 1), second=(5, 5)):
    """Two options, and two judges with so many choices of either."""
    wins, losses = np.array([first, second], float).T
    zero = np.zeros(2, int)
    rows = DistinctComparisons(
        zero, zero + 1, zero, np.arange(2), np.zeros((2, 0)), wins, losses, 0.0 * wins, lapse, False
    )
    return Density(rows, 2, 2, np.zeros(0), zero)


def periods(lapse):
    """Two options in three periods."""
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
    most=4,
    bias=False,
):
    """Options of which the last enters late, in periods of which some lie further apart."""
    rng = np.random.default_rng(seed)
    period = np.sort(rng.integers(0, n_periods, rows))
    room = np.where(period < n_periods // 2, n - 1, n)
    first = rng.integers(0, room)
    second = (first + rng.integers(1, room)) % room
    counts = rng.integers(0, most + 1, (3, rows)).astype(float)
    counts[2] *= ties
    judge, x = rng.integers(0, max(n_judges, 1), rows), rng.normal(size=(rows, covariates))
    entry = [int(period[(first == i) | (second == i)].min(initial=n_periods - 1)) for i in range(n)]
    made = DistinctComparisons(first, second, period, judge, x, *counts, lapse, ties)
    return Density(made, n, n_judges, rng.integers(1, 4, n_periods - 1), np.array(entry), bias)


def naive(density, point, spread, tau, drift, bias_sd=None):
    """The naive log density at a point."""
    rows = density.rows
    each = zip(
        rows.first,
        rows.second,
        rows.period,
        rows.judge,
        rows.x,
        rows.wins,
        rows.losses,
        rows.tied,
        strict=True,
    )
    nu = float(np.exp(point[density.nu][0])) if rows.has_ties else None
    worths = point[density.worths].reshape(density.n_periods, density.n_options)
    biases = point[density.bias].reshape(density.n_judges, -1) if density.n_bias else ()
    parts = worths, point[density.judges], point[density.beta], nu, tau, drift
    return log_joint(
        [Comparison(*row) for row in each],
        *parts,
        density.steps,
        density.entry,
        rows.lapse,
        spread,
        biases,
        bias_sd,
    )


def short_run(marginal, seed, chains=12, tune=100, sweeps=300):
    """The states of chains after each sweep, once they are tuned."""
    sampler, rng = Sampler(marginal), np.random.default_rng(seed)
    state, found = tune_step(sampler, rng, sampler.draw_start(rng, chains), tune), []
    for _ in range(sweeps):
        state, _ = sampler.sweep(rng, state)
        found.append(state)
    return found


def prior_spreads(density, rng, count, known=(None, None, None, None)):
    """Standard deviations of the prior."""
    drawn = [
        np.exp(LOG_SPREAD_MEAN + rng.normal(size=count)),
        *(HALF_NORMAL_SCALE * np.abs(rng.normal(size=(3, count)))),
    ]
    there = density.spread_kinds
    found = [
        np.full(count, np.nan) if k not in there else drawn[k] if known[k] is None else known[k]
        for k in range(4)
    ]
    return Spreads(*(np.broadcast_to(each, count).copy() for each in found))


def prior_draws(density, rng, count, known=(None, None, None, None)):
    """Points of the prior, and their standard deviations."""
    spreads = prior_spreads(density, rng, count, known)
    points = rng.normal(size=(density.size, count))
    points[density.judges] *= spreads.judges
    points[density.bias] *= spreads.bias
    worths = spreads.worths * rng.normal(size=(density.n_options, count))
    every = []
    for t in range(density.n_periods):
        if t:
            moves = np.sqrt(density.steps[t - 1]) * spreads.drift * rng.normal(size=worths.shape)
            worths = worths + np.where((density.entry < t)[:, None], moves, 0.0)
        every.append(np.where((density.entry <= t)[:, None], worths, 0.0))
    points[density.worths] = np.concatenate(every)
    points[density.nu] *= 2.0
    return points, spreads


def simulated(density, rng, points):
    """The density of as many new comparisons, of each point its own."""
    seen = [
        density.compare_at_points(block, points) for block in density.split_rows(points.shape[1])
    ]
    p = (1 - density.rows.lapse) * np.concatenate(
        [each.q for each in seen]
    ) + density.rows.lapse / 2
    tie = (
        np.exp(seen[0].log_nu) * np.sqrt(p * (1 - p)) if density.rows.has_ties else np.zeros_like(p)
    )
    total = np.broadcast_to(
        (density.rows.wins + density.rows.losses + density.rows.tied)[:, None], p.shape
    ).astype(int)
    tied = rng.binomial(total, tie / (1 + tie))
    wins = rng.binomial(total - tied, p)
    return density.with_counts(
        wins.astype(float), (total - tied - wins).astype(float), tied.astype(float)
    )
