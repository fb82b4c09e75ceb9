r"""Kernels of one sweep of individual worths: state, adaptation and record.

.. math::
    u_p = M' x_p + W' f_p + d_p, \qquad d_{pi} \sim N(0, \sigma^2), \quad f_{pk} \sim N(0, 1), \quad
    W_{ki} \sim N(0, \lambda^2), \quad M_{0i} \sim N(0, s^2), \quad M_{ri} \sim N(0, .5^2)

:math:`x_p` contains 1 and the standardised columns of a person; :math:`\log s \sim N(\log 1.3, 1)`,
sigma and lambda are half-normal(1), and log nu of ties is N(0, 4). People with equal columns have
the covariance :math:`\sigma^2 I + W'W`. The state keeps the options that a person has seen, and
their log worths less the mean.

A sweep:

0. nu by a slice, where pairs end in ties;
1. each person: one Hamiltonian trajectory of two leaps, f integrated out; then f given u, exactly;
2. M and W given u and f: option by option, given a level drawn for each person;
3. directions, leaving u unchanged (shifts against M, scales against W); sigma, s and lambda by
   slices of logs;
4. M, W and log sigma together with all u, with standardised deviations fixed (interweaving, Yu &
   Meng 2011);
5. log sigma, and log sigma with the scale of all worths, by random walks that transport every u
   from its normal approximation at the old values to that at the new ones.

With few answers per person, u and sigma are strongly dependent and steps 1 to 3 are slow; with many
answers, step 4 is slow.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import allocating, part, scalar
from thali._inference.numerics.array_parts import part_range
from thali._inference.numerics.hamiltonian_trajectories import dot

from .person_likelihood import compute_slope
from .sampler_moves import (
    SIGMA,
    combine_with_means,
    decompose_curvature,
    evaluate_people,
    mean_worth,
    move_common,
    move_directions,
    move_person,
    sample_level,
    sample_mean,
    sample_sds,
    sample_tie,
    view_person_matrix,
    walk_scale,
)

GAIN_DECAY = 0.6  # of the gains of step adaptation
DIFFERENCE_STEP = 1e-6  # of differences of slopes
N_CURVATURES = 8  # curvatures that are averaged in tuning


class PeopleState(NamedTuple):
    """State of a chain: individual log worths, population and step sizes."""

    z: np.ndarray  # (N, 1 + q + K): columns x, directions f
    mean: np.ndarray  # (1 + q + K, n): worths, effects, loadings
    log_sds: np.ndarray  # (3,) log s, log sigma, log lambda
    nu: np.ndarray  # (1,) of ties
    u: np.ndarray  # (seen,) centred log worths of the options that each person has seen
    log_likelihood: np.ndarray  # (N,)
    log_step: np.ndarray  # (N + 1,) of trajectories: of each person, and of all together
    log_walk: np.ndarray  # (2,)
    curvature: np.ndarray  # (squares,) H of each person: shapes the moves
    pull: np.ndarray  # (seen,) b: H u plus the slope at u, a mean like H
    axes: np.ndarray  # (squares,) of H, as rows; the last one is the level
    bends: np.ndarray  # (seen,) curvature along each
    n_points: np.ndarray  # (1,) number of averaged curvatures
    # (size, size), lower half: curvature of all likelihoods in M, W and log sigma
    metric: np.ndarray


class PeopleRecord(NamedTuple):
    """Recorded draws of a chain of individual worths, one row per draw."""

    mean: np.ndarray  # (draws, 1 + q, n) worths, effects
    loadings: np.ndarray  # (draws, K, n)
    log_sds: np.ndarray  # (draws, 3) log s, log sigma, log lambda
    log_tie: np.ndarray  # (draws,) 0 without ties
    log_likelihood: np.ndarray  # (draws,) of all answers, without coefficients
    worths: np.ndarray  # (draws, N, n) float32: centred log worths of each person


@allocating
def run_sweeps(
    rng: np.random.Generator,
    table: Any,
    state: Any,
    record: Any,
    is_spread_known: Any,
    sweep: Any,
    until: Any,
    tune: int,
    thin: Any,
) -> None:
    """Run sweeps `sweep` + 1 to `until`; record every `thin`-th after `tune`."""
    # The curvature is that at the start, in the second half of tuning its mean over draws of the
    # second quarter.
    half = tune // 2
    interval = max(1, (half - half // 2) // N_CURVATURES)
    if sweep == 0:
        sigma = math.exp(state.log_sds[SIGMA])
        state.u[:] = combine_with_means(table, state, state.mean, 1.0, sigma, state.u)
        evaluate_people(table, state, state.u, state.log_likelihood, np.empty(state.u.size))
        learn_curvature(table, state, 1.0)
    while sweep < until:
        sweep += 1
        gain = compute_restarted_adaptation_gain(sweep, tune)
        if table.has_ties:
            sample_tie(rng, table, state)
        for p in range(table.x.shape[0]):
            move_person(rng, table, state, p, gain)
        sample_mean(rng, table, state)
        move_directions(rng, table, state)
        sample_sds(rng, table, state, is_spread_known)
        move_common(rng, table, state, gain)
        for with_worths in range(2):
            walk_scale(rng, table, state, with_worths, gain)
        if half // 2 < sweep <= half and (half - sweep) % interval == 0:
            state.n_points[0] += 1.0
            learn_curvature(table, state, 1.0 / state.n_points[0])
        if sweep > tune and (sweep - tune) % thin == 0:
            record_draw(rng, table, state, record, (sweep - tune) // thin - 1)


@scalar
def compute_restarted_adaptation_gain(sweep: Any, tune: Any) -> Any:
    """Return the gain of step-size adaptation, restarted halfway through tuning."""
    if sweep > tune:
        return 0.0
    if sweep > tune // 2:
        sweep -= tune // 2
    return sweep**-GAIN_DECAY


@part
def learn_curvature(table: Any, state: Any, weight: Any) -> None:
    """Update each person's running mean curvature by that at the current worths."""
    # Without a lapse a curvature is never below 0; a lapse scales it.
    for p in range(table.x.shape[0]):
        person_slice = slice(table.first_option[p], table.first_option[p + 1])
        u, pull, curvature = (
            state.u[person_slice],
            state.pull[person_slice],
            view_person_matrix(table, state.curvature, p),
        )
        moved_slope, slope, u_moved = np.empty(u.size), np.empty(u.size), u.copy()
        compute_slope(table, 0.0, state.nu[0], p, u, slope)
        for i in range(u.size):
            u_moved[i] += DIFFERENCE_STEP
            compute_slope(table, 0.0, state.nu[0], p, u_moved, moved_slope)
            u_moved[i] = u[i]
            bend = (1.0 - table.lapse) * (slope - moved_slope) / DIFFERENCE_STEP
            curvature[i] += weight * (bend - curvature[i])
            pull[i] += weight * ((1.0 - table.lapse) * slope[i] + dot(bend, u) - pull[i])
        decompose_curvature(table, state, p)
    off = combine_with_means(table, state, state.mean, -1.0, 1.0, state.u)
    state.metric[:] = 0.0
    for p in range(table.x.shape[0]):
        add_person_metric(table, state, p, off)


@scalar
def add_person_metric(table: Any, state: Any, p: Any, off: Any) -> None:
    """Add the curvature of person p's likelihood by M, W and log sigma."""
    (w, n), first = state.mean.shape, table.first_option[p]
    curvature = view_person_matrix(table, state.curvature, p)
    for i in range(curvature.shape[0]):
        bend = 0.0
        for j in range(curvature.shape[0]):
            bend += curvature[i, j] * off[first + j]
            for r in range(w):
                for s in range(r + 1):
                    row = r * n + table.option[first + i]
                    column = s * n + table.option[first + j]
                    state.metric[row, column] += state.z[p, r] * state.z[p, s] * curvature[i, j]
        for r in range(w):
            state.metric[w * n, r * n + table.option[first + i]] += state.z[p, r] * bend
        state.metric[w * n, w * n] += off[first + i] * bend


@part
def record_draw(rng: np.random.Generator, table: Any, state: Any, record: Any, row: Any) -> None:
    """Record the state; sample worths of options that a person has not seen."""
    q, n, sigma = table.x.shape[1], table.n_options, math.exp(state.log_sds[SIGMA])
    record.mean[row] = state.mean[:q]
    record.loadings[row] = state.mean[q:]
    record.log_sds[row] = state.log_sds
    record.log_tie[row] = math.log(state.nu[0])
    record.log_likelihood[row] = state.log_likelihood.sum()
    worths = np.empty(n)
    for p in range(table.x.shape[0]):
        for i in range(n):
            worths[i] = mean_worth(state.z, state.mean, p, i) + sigma * rng.standard_normal()
        level = sample_level(rng, table, state, p)
        for i in part_range(table.first_option, p):
            worths[table.option[i]] = state.u[i] + level
        record.worths[row, p] = worths - worths.mean()
