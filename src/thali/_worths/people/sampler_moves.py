r"""Kernels that update individual log worths, their population, and both together.

The log worths of person p are :math:`u_p = M' x_p + W' f_p + d_p`. The code keeps M and W as one
matrix `mean` (1 + q + K, n), and :math:`z_p = (x_p, f_p)`; the deviations c are :math:`u_p - M'
z_p` less their mean over the m options that the person has seen. The level of u is integrated out,
so that c has the density :math:`\sigma^{-(m - 1)} e^{-|c|^2 / 2 \sigma^2}`.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import part, scalar
from thali._inference.numerics.array_parts import part_ends, part_range, part_size
from thali._inference.numerics.cholesky import draw_normal, factorise, solve_lower, solve_upper
from thali._inference.numerics.discrete_draws import accept
from thali._inference.numerics.hamiltonian_trajectories import (
    compute_acceptance,
    dot,
    evaluate,
    run_trajectory,
    sum_squares,
)
from thali._inference.numerics.slice_sampling import draw_on_line, log_density

from ..posterior_density import TIE_SD
from ..spread_prior import SPREAD_BEND, SPREAD_POWER
from .person_likelihood import compute_slope, compute_weights, pair_probability

S, SIGMA, LAMBDA = range(3)  # indices of the standard deviations
EFFECT_SD = 0.5  # prior standard deviation of effects of columns
N_PERSON_LEAPS = 2
N_COMMON_LEAPS = 4
WALK_ACCEPTANCE = 0.4
MAX_LOG_SIGMA = 20.0  # limit for diverging trajectories


@scalar
def mean_worth(z: Any, mean: Any, p: Any, option: Any) -> Any:
    """Return the population mean of an option's log worth, given person p's z."""
    total = 0.0
    for r in range(z.shape[1]):
        total += z[p, r] * mean[r, option]
    return total


@part
def combine_with_means(
    table: Any, state: Any, mean: Any, mean_factor: Any, x_factor: Any, x: Any
) -> Any:
    """Return mean_factor M'z + x_factor x for each person's options, centred."""
    combination = np.empty(x.size)
    for p in range(state.z.shape[0]):
        first, stop = part_ends(table.first_option, p)
        level = 0.0
        for i in range(first, stop):
            combination[i] = (
                mean_factor * mean_worth(state.z, mean, p, table.option[i]) + x_factor * x[i]
            )
            level += combination[i] / (stop - first)
        for i in range(first, stop):
            combination[i] -= level
    return combination


@part
def evaluate_people(table: Any, state: Any, u: Any, log_likelihood: Any, slope: Any) -> None:
    """Write each person's log-likelihood and its slope at log worths u."""
    for p in range(log_likelihood.size):
        person_slice = slice(table.first_option[p], table.first_option[p + 1])
        log_likelihood[p] = compute_slope(
            table, table.lapse, state.nu[0], p, u[person_slice], slope[person_slice]
        )


@scalar
def view_person_matrix(table: Any, values: Any, p: Any) -> Any:
    """View person p's square block of `values` (flat, all people), shape (m, m)."""
    m = part_size(table.first_option, p)
    return values[table.first_square[p] : table.first_square[p + 1]].reshape(m, m)


@scalar
def row_precision(table: Any, state: Any, r: Any) -> Any:
    """Return the prior precision of row r of the population's means.

    Rows are worths, effects of columns, and loadings of directions.
    """
    if r >= table.x.shape[1]:
        return math.exp(-2.0 * state.log_sds[LAMBDA])
    return EFFECT_SD**-2.0 if r > 0 else math.exp(-2.0 * state.log_sds[S])


@scalar
def count_deviations(table: Any) -> Any:
    """Return the number of free deviations: options seen minus one, over people."""
    return table.option.size - table.x.shape[0]


# 1. Each person, f integrated out; then f given u -------------------------------------------------


class PersonTarget(NamedTuple):
    """Conditional density of one person's log worths, with factors f integrated out."""

    table: Any
    p: Any
    nu: Any
    centre: Any  # (m,) M' x
    precision: Any  # (m, m) of deviations
    log_likelihood: Any  # (1,) at the last point


@evaluate.register(PersonTarget)
def _evaluate_person(target: PersonTarget, u: np.ndarray, slope: np.ndarray) -> Any:
    """Return the log density of a person's log worths; write its slope, (m,)."""
    table = target.table
    off = u - target.centre
    value = compute_slope(table, table.lapse, target.nu, target.p, u, slope)
    target.log_likelihood[0] = value
    pull = np.zeros(off.size)
    for i in range(off.size):
        for j in range(off.size):
            pull[j] += target.precision[i, j] * off[i]
    for i in range(off.size):
        slope[i] -= pull[i]
    return value - 0.5 * dot(pull, off)


@part
def write_precision(
    table: Any, state: Any, p: Any, loading: Any, root: Any, precision: Any
) -> None:
    r"""Write the prior precision (m, m) of person p's deviations, f integrated out.

    It is (C - V V^T) / sigma^2 with C = I - 11^T / m, V^T = L^-1 W of the centred loadings W, and
    L L^T = sigma^2 I + W W^T; V goes into `loading` (m, K), L into `root` (K, K).
    """
    m, K = loading.shape
    first, q = table.first_option[p], table.x.shape[1]
    variance = math.exp(2.0 * state.log_sds[SIGMA])
    for k in range(K):
        for i in range(m):
            loading[i, k] = state.mean[q + k, table.option[first + i]]
        loading[:, k] -= loading[:, k].mean()
        for h in range(k + 1):
            root[k, h] = dot(loading[:, k], loading[:, h])
        root[k, k] += variance
    factorise(root, root)
    for i in range(m):
        solve_lower(root, loading[i])
        for j in range(i + 1):
            free = (1.0 if i == j else 0.0) - 1.0 / m
            for k in range(K):
                free -= loading[i, k] * loading[j, k]
            precision[i, j] = free / variance
            precision[j, i] = free / variance


@part
def move_person(rng: np.random.Generator, table: Any, state: Any, p: Any, gain: Any) -> None:
    """Update person p's log worths by a trajectory, then factors f."""
    first, q, sigma = table.first_option[p], table.x.shape[1], math.exp(state.log_sds[SIGMA])
    m, K = table.first_option[p + 1] - first, state.z.shape[1] - q
    loading, root = np.empty((m, K)), np.empty((K, K))
    precision, centre = np.empty((m, m)), np.empty(m)
    write_precision(table, state, p, loading, root, precision)
    for i in range(m):
        centre[i] = mean_worth(table.x, state.mean, p, table.option[first + i])
    # the last term is that of the level
    metric = view_person_matrix(table, state.curvature, p) + precision + 1.0 / (m * sigma**2)
    factorise(metric, metric)
    u = state.u[first : first + m]
    target, u_new = PersonTarget(table, p, state.nu[0], centre, precision, np.empty(1)), u.copy()
    if run_trajectory(rng, target, metric, u_new, state.log_step[p : p + 1], N_PERSON_LEAPS, gain):
        u[:] = u_new - u_new.mean()
        state.log_likelihood[p] = target.log_likelihood[0]
    f = state.z[p, q:]
    for k in range(K):
        f[k] = sigma * rng.standard_normal() + dot(loading[:, k], u - centre)
    solve_upper(root, f)


# 2. M and W given u and f, option by option -------------------------------------------------------


@scalar
def sample_level(rng: np.random.Generator, table: Any, state: Any, p: Any) -> Any:
    """Sample the mean level of person p's log worths, which the answers leave open."""
    first, stop = part_ends(table.first_option, p)
    level = rng.standard_normal() * math.exp(state.log_sds[SIGMA]) / math.sqrt(stop - first)
    for i in range(first, stop):
        level += mean_worth(state.z, state.mean, p, table.option[i]) / (stop - first)
    return level


@part
def sample_mean(rng: np.random.Generator, table: Any, state: Any) -> None:
    """Sample population worths and loadings (M, W) by regression on z."""
    (w, n), precision = state.mean.shape, math.exp(-2.0 * state.log_sds[SIGMA])
    matrix, along = np.zeros((n, w, w)), np.zeros((n, w))
    for p in range(state.z.shape[0]):
        level = sample_level(rng, table, state, p)
        for i in part_range(table.first_option, p):
            option = table.option[i]
            for r in range(w):
                weight = precision * state.z[p, r]
                along[option, r] += weight * (state.u[i] + level)
                for s in range(r + 1):
                    matrix[option, r, s] += weight * state.z[p, s]
    for option in range(n):
        for r in range(w):
            matrix[option, r, r] += row_precision(table, state, r)
        factorise(matrix[option], matrix[option])
        draw_normal(rng, matrix[option], along[option])
        state.mean[:, option] = along[option]


# 3. Standard deviations and nu by slices; moves of directions that leave all u unchanged ----------


class ScaleLine(NamedTuple):
    """Conditional density of a log scale x, for slice sampling."""

    power: float
    down: float
    up: float
    bend: float


@log_density.register(ScaleLine)
def _log_density_of_scale(line: ScaleLine, x: float) -> Any:
    """Return the log conditional density of a log scale at x."""
    return (
        line.power * x
        - line.down * math.exp(-2.0 * x)
        - line.up * math.exp(2.0 * x)
        - 0.5 * line.bend * x**2
    )


class DavidsonTieLine(NamedTuple):
    """Conditional density of the log tie parameter given the answers."""

    table: Any
    balance: Any  # (answers,)


@log_density.register(DavidsonTieLine)
def _log_density_of_tie(line: DavidsonTieLine, log_tie: float) -> Any:
    """Return the log conditional density of the log tie parameter."""
    table = line.table
    nu = math.exp(log_tie)
    total = -0.5 * (log_tie / TIE_SD) ** 2
    for answer in range(table.count.size):
        log_weight = log_tie if table.tied[answer] else 0.0
        total += table.count[answer] * (log_weight - math.log1p(nu * line.balance[answer]))
    return total


@part
def sample_tie(rng: np.random.Generator, table: Any, state: Any) -> None:
    """Sample the tie parameter given all log worths, by slice sampling."""
    balance = np.empty(table.count.size)
    for p in range(table.x.shape[0]):
        v = compute_weights(state.u[table.first_option[p] : table.first_option[p + 1]])
        for answer in part_range(table.first_answer, p):
            p_first = pair_probability(table, answer, table.lapse, v, 0)
            p_second = pair_probability(table, answer, table.lapse, v, 1)
            balance[answer] = math.sqrt(p_first * p_second)
    state.nu[0] = math.exp(
        draw_on_line(rng, DavidsonTieLine(table, balance), math.log(state.nu[0]), 1.0)
    )
    evaluate_people(table, state, state.u, state.log_likelihood, np.empty(state.u.size))


@part
def sample_sds(rng: np.random.Generator, table: Any, state: Any, is_spread_known: Any) -> None:
    """Sample the standard deviations sigma, s and lambda by slices.

    Their priors are half-normal(1), log-normal and half-normal(1).
    """
    log_sds, loadings = state.log_sds, state.mean[table.x.shape[1] :]
    off = combine_with_means(table, state, state.mean, -1.0, 1.0, state.u)
    line = ScaleLine(1.0 - count_deviations(table), 0.5 * sum_squares(off), 0.5, 0.0)
    log_sds[SIGMA] = draw_on_line(rng, line, log_sds[SIGMA], 0.5)
    if not is_spread_known:
        line = ScaleLine(
            SPREAD_POWER - table.n_options,
            0.5 * sum_squares(state.mean[0]),
            0.0,
            SPREAD_BEND,
        )
        log_sds[S] = draw_on_line(rng, line, log_sds[S], 0.5)
    line = ScaleLine(1.0 - loadings.size, 0.5 * (loadings**2).sum(), 0.5, 0.0)
    log_sds[LAMBDA] = draw_on_line(rng, line, log_sds[LAMBDA], 0.5)


@part
def move_directions(rng: np.random.Generator, table: Any, state: Any) -> None:
    """Move factors f and means M (or W) against each other, leaving worths unchanged."""
    (N, q), n = table.x.shape, table.n_options
    f, W = state.z[:, q:], state.mean[q:]
    K = len(W)
    matrix, shift = np.empty((K, K)), np.empty(K)
    for r in range(q if K > 0 else 0):
        x, worths, precision = state.z[:, r], state.mean[r], row_precision(table, state, r)
        for k in range(K):
            shift[k] = precision * dot(W[k], worths) - dot(x, f[:, k])
            for h in range(k + 1):
                matrix[k, h] = precision * dot(W[k], W[h])
            matrix[k, k] += sum_squares(x)
        factorise(matrix, matrix)
        draw_normal(rng, matrix, shift)
        for k in range(K):
            f[:, k] += shift[k] * x
            worths -= shift[k] * W[k]
    for k in range(K):
        up = 0.5 * sum_squares(W[k]) * row_precision(table, state, q + k)
        a = draw_on_line(
            rng, ScaleLine(float(n - N), 0.5 * sum_squares(f[:, k]), up, 0.0), 0.0, 0.2
        )
        f[:, k] *= math.exp(-a)
        W[k] *= math.exp(a)


# 4. M, W and log sigma with all u, f and standardised deviations fixed ----------------------------


@scalar
def log_prior(table: Any, state: Any, mean: Any, log_sigma: Any) -> Any:
    """Return the log prior density of M, W and log sigma."""
    log_p = log_sigma - 0.5 * math.exp(2.0 * log_sigma)
    for r in range(mean.shape[0]):
        log_p -= 0.5 * row_precision(table, state, r) * sum_squares(mean[r])
    return log_p


class CommonTarget(NamedTuple):
    """Density of M, W and log sigma, given factors and standardised deviations."""

    table: Any
    state: Any
    standardised: Any  # (seen,)
    u: Any  # (seen,) at the last point
    log_likelihood: Any  # (N,) at the last point


@evaluate.register(CommonTarget)
def _evaluate_common(target: CommonTarget, point: np.ndarray, slope: np.ndarray) -> Any:
    """Return the log density of M, W and log sigma; write its slope."""
    table = target.table
    state = target.state
    size = point.size - 1
    u_slope = np.empty(target.u.size)
    mean = point[:size].reshape(state.mean.shape)
    mean_slope = slope[:size].reshape(state.mean.shape)
    log_sigma = min(point[size], MAX_LOG_SIGMA)
    sigma = math.exp(log_sigma)
    target.u[:] = combine_with_means(table, state, mean, 1.0, sigma, target.standardised)
    evaluate_people(table, state, target.u, target.log_likelihood, u_slope)
    slope[size] = 1.0 - sigma**2 + sigma * dot(u_slope, target.standardised)
    for r in range(mean.shape[0]):
        mean_slope[r] = -row_precision(table, state, r) * mean[r]
    for p in range(state.z.shape[0]):
        for i in part_range(table.first_option, p):
            for r in range(mean.shape[0]):
                mean_slope[r, table.option[i]] += state.z[p, r] * u_slope[i]
    return target.log_likelihood.sum() + log_prior(table, state, mean, log_sigma)


@part
def move_common(rng: np.random.Generator, table: Any, state: Any, gain: Any) -> None:
    """Update M, W, log sigma and all log worths jointly by a trajectory."""
    N, size = table.x.shape[0], state.mean.size
    off = combine_with_means(table, state, state.mean, -1.0, 1.0, state.u)
    off *= math.exp(-state.log_sds[SIGMA])
    point, root = np.append(state.mean, state.log_sds[SIGMA]), state.metric.copy()
    for i in range(size):
        root[i, i] += row_precision(table, state, i // table.n_options)
    root[size, size] += 2.0
    factorise(root, root)
    target = CommonTarget(table, state, off, np.empty(off.size), np.empty(N))
    if run_trajectory(rng, target, root, point, state.log_step[N:], N_COMMON_LEAPS, gain):
        state.mean[:], state.log_sds[SIGMA] = point[:size].reshape(state.mean.shape), point[size]
        state.u[:], state.log_likelihood[:] = target.u, target.log_likelihood


# 5. Walks of log sigma, alone and with the scale of worths, which transport all u -----------------


@part
def decompose_curvature(table: Any, state: Any, p: Any) -> None:
    """Write eigenvectors and eigenvalues of person p's curvature.

    The last axis is the level.
    """
    curvature = view_person_matrix(table, state.curvature, p)
    m = len(curvature)
    bends, columns = np.linalg.eigh(curvature + (1.0 + np.trace(curvature)) / m)
    view_person_matrix(table, state.axes, p)[:] = columns.T
    state.bends[table.first_option[p] : table.first_option[p + 1]] = bends


@part
def transport_people(table: Any, state: Any, mean: Any, log_sigma: Any, u: Any) -> Any:
    r"""Move all log worths along with new means and sigma; return the log Jacobian.

    Tuning averaged the curvature H and b = H u + slope at u. The approximation has the precision
    :math:`A = H + C / \sigma^2` and the mean :math:`A^{-1} (b + M'z / \sigma^2)`, and
    :math:`u' = \bar u' + A'^{-1/2} A^{1/2} (u - \bar u)`, axis by axis of H.
    """
    log_jacobian = 0.0
    old, new = math.exp(-2.0 * state.log_sds[SIGMA]), math.exp(-2.0 * log_sigma)
    centre = combine_with_means(table, state, state.mean, 1.0, 0.0, state.u)
    new_centre = combine_with_means(table, state, mean, 1.0, 0.0, state.u)
    u[:] = 0.0
    for p in range(table.x.shape[0]):
        person_slice = slice(table.first_option[p], table.first_option[p + 1])
        axes = view_person_matrix(table, state.axes, p)
        pull = state.pull[person_slice] + old * centre[person_slice]
        new_pull = state.pull[person_slice] + new * new_centre[person_slice]
        v, new_v, bends = state.u[person_slice], u[person_slice], state.bends[person_slice]
        for k in range(len(axes) - 1):
            axis, before, after = axes[k], bends[k] + old, bends[k] + new
            shrink = math.sqrt(before / after)
            coordinate = (
                shrink * (dot(axis, v) - dot(axis, pull) / before) + dot(axis, new_pull) / after
            )
            log_jacobian += math.log(shrink)
            for i in range(v.size):
                new_v[i] += coordinate * axis[i]
    return log_jacobian


@part
def joint_log_density(
    table: Any, state: Any, mean: Any, log_sigma: Any, u: Any, log_likelihood: Any
) -> Any:
    """Return the log density of M, W, log sigma and all log worths.

    It is given f, s, lambda and nu, up to a constant.
    """
    off = combine_with_means(table, state, mean, -1.0, 1.0, u)
    people_term = log_likelihood.sum() - 0.5 * sum_squares(off) * math.exp(-2.0 * log_sigma)
    return (
        people_term - count_deviations(table) * log_sigma + log_prior(table, state, mean, log_sigma)
    )


@part
def walk_scale(
    rng: np.random.Generator, table: Any, state: Any, with_worths: Any, gain: Any
) -> None:
    """Propose a random-walk step of log sigma, moving all log worths along."""
    step = math.exp(state.log_walk[with_worths]) * rng.standard_normal()
    mean, log_sigma = state.mean.copy(), state.log_sds[SIGMA] + step
    mean[0] *= math.exp(with_worths * step)
    u, log_likelihood = np.empty(state.u.size), np.empty(state.log_likelihood.size)
    log_ratio = (
        transport_people(table, state, mean, log_sigma, u) + with_worths * table.n_options * step
    )
    evaluate_people(table, state, u, log_likelihood, np.empty(u.size))
    log_ratio += joint_log_density(table, state, mean, log_sigma, u, log_likelihood)
    log_ratio -= joint_log_density(
        table, state, state.mean, state.log_sds[SIGMA], state.u, state.log_likelihood
    )
    if accept(rng, log_ratio):
        state.mean[:], state.log_sds[SIGMA] = mean, log_sigma
        state.u[:], state.log_likelihood[:] = u, log_likelihood
    state.log_walk[with_worths] += gain * (compute_acceptance(log_ratio) - WALK_ACCEPTANCE)
