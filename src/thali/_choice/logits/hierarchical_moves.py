r"""Kernels of one sweep of the hierarchical logit: Hamiltonian moves of tastes and population.

The tastes of one person, by Hamiltonian Monte Carlo: a trajectory of a few leapfrog steps of length
e, in the metric of :math:`A = H_n + \Sigma^{-1} = C C^T`: with r ~ N(0, I),

.. math::
    r \leftarrow r + \tfrac e2 C^{-1} \nabla \ln \pi(\beta), \quad
    \beta \leftarrow \beta + e C^{-T} r, \quad
    r \leftarrow r + \tfrac e2 C^{-1} \nabla \ln \pi(\beta),

accepted with probability :math:`\min\{1, \pi(\beta') e^{-r'^2/2} / (\pi(\beta) e^{-r^2/2})\}`. It
is reversible, since neither H_n nor e depends on beta; e is drawn within a fifth of the person's
step.

The population, that is the mean M and the covariance Sigma of tastes: two conditionals given all
tastes, and a Hamiltonian trajectory that moves all tastes, M, and a change c of the deviations
:math:`\delta_n = \beta_n - M^T z_n`: of their scales, or of their dependence on one of them, taste
k,

.. math::
    M \to M', \quad \beta_n \to M'^T z_n + G \delta_n, \quad \Sigma \to G \Sigma G^T, \qquad
    G = \operatorname{diag}(e^c) \text{ or } G = I + c\, e_k^T, \; c_k = 0.

In both cases successive changes add up, so that neither the measure dM dc nor a trajectory in these
coordinates depends on the starting point. The density is (Liu & Sabatti 2000)

.. math::
    \ln \pi(M, c) = \sum_n \ell_n(M^T z_n + G \delta_n) - \tfrac12 \sum_{rk} M_{rk}^2 / s_k^2
        - \nu \ln |G| - \tfrac S2 \operatorname{tr} (G \Sigma G^T)^{-1};

the Jacobians of the tastes and of Sigma, :math:`|G|^N` and :math:`|G|^{p+1}`, meet the normal
densities and the power of :math:`|\Sigma|` in the inverse Wishart density. With :math:`P =
\Sigma^{-1}` the trace is :math:`\sum_i P_{ii} e^{-2 c_i}` or :math:`\operatorname{tr} P - 2 (P c)_k
+ c^T P c`.
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import part, scalar
from thali._inference.numerics.array_parts import part_range
from thali._inference.numerics.cholesky import draw_normal, factorise, solve_lower, solve_upper
from thali._inference.numerics.discrete_draws import accept
from thali._inference.numerics.hamiltonian_trajectories import (
    ACCEPTANCE,
    compute_acceptance,
    dot,
    draw_step,
    drift,
    kick,
    sum_squares,
)

from .choice_kernels import person_rows, write_probabilities

N_TASTE_STEPS = 2  # of a trajectory of one person
N_POPULATION_STEPS = 3  # of a trajectory of the population


@part
def move_tastes(
    rng: np.random.Generator, problem: Any, state: Any, space: Any, n: Any, gain: Any
) -> None:
    """Update the tastes of person n by a Hamiltonian trajectory.

    In tuning, its step follows the acceptance with this `gain`.
    """
    p = state.beta.shape[1]
    beta, slope, momentum = space.trial[n], space.trial_slope[n], space.momentum
    for i in range(p):
        for j in range(i + 1):
            space.matrix[i, j] = state.curvature[n, i, j] + state.precision[i, j]
        momentum[i] = rng.standard_normal()
        beta[i], slope[i] = state.beta[n, i], state.slope[n, i]
    factorise(space.matrix, space.factor)
    step = draw_step(rng, math.exp(state.log_step[n]))
    energy = (
        0.5 * sum_squares(momentum)
        - state.log_likelihood[n]
        - write_population_slope(problem, state, space, n, beta)
    )
    kick_person(space, momentum, slope, 0.5 * step)
    log_likelihood = 0.0
    for i_step in range(N_TASTE_STEPS):
        drift(space.factor, momentum, beta, space.vector, step)
        log_likelihood = write_likelihood_slope(problem, space, beta, n, slope)
        log_density = write_population_slope(problem, state, space, n, beta)
        is_last = i_step == N_TASTE_STEPS - 1
        kick_person(space, momentum, slope, 0.5 * step if is_last else step)
        if is_last:
            energy += log_likelihood + log_density - 0.5 * sum_squares(momentum)
    if accept_trajectory(rng, state, n, energy, gain):
        for i in range(p):
            state.beta[n, i], state.slope[n, i] = beta[i], slope[i]
        state.log_likelihood[n] = log_likelihood


@scalar
def accept_trajectory(
    rng: np.random.Generator, state: Any, move: Any, energy: Any, gain: Any
) -> Any:
    """Return whether a trajectory is accepted; adapt its step size or count it.

    The move is the number of a person, or the number of people for the population.
    """
    is_accepted = accept(rng, energy)
    if gain > 0.0:
        state.log_step[move] += gain * (compute_acceptance(energy) - ACCEPTANCE)
    elif is_accepted:
        state.accepted[move] += 1
    return is_accepted


@scalar
def kick_person(space: Any, momentum: Any, slope: Any, length: Any) -> None:
    """Change a person's momenta along the slope of the log posterior.

    The population slope is in `space.vector`.
    """
    for i in range(momentum.size):
        space.vector[i] += slope[i]
    kick(space.factor, momentum, space.vector, length)


@scalar
def mean_taste(problem: Any, state: Any, n: Any, i: Any) -> Any:
    """Return the population mean of taste i at the covariates of person n."""
    total = 0.0
    for r in range(problem.covariates.shape[1]):
        total += problem.covariates[n, r] * state.mean[r, i]
    return total


@scalar
def taste_deviation(problem: Any, state: Any, n: Any, i: Any) -> Any:
    """Return taste i of person n minus its population mean."""
    return state.beta[n, i] - mean_taste(problem, state, n, i)


@scalar
def write_population_slope(problem: Any, state: Any, space: Any, n: Any, beta: Any) -> Any:
    """Return the log density of tastes in the population; write its slope.

    The slope is written into `space.vector`.
    """
    p = beta.size
    for i in range(p):
        space.taste[i] = mean_taste(problem, state, n, i) - beta[i]
    for i in range(p):
        space.vector[i] = dot(state.precision[i], space.taste)
    return -0.5 * dot(space.vector, space.taste)


@part
def write_likelihood_slope(problem: Any, space: Any, beta: Any, n: Any, slope: Any) -> Any:
    """Return the log-likelihood of person n's choices; write its slope by beta."""
    write_tastes(problem, beta, space.taste)
    log_likelihood = write_probabilities(problem, space.taste, space.utility, n)
    first, stop = person_rows(problem, n)
    for t in part_range(problem.first_task, n):
        space.utility[problem.chosen_row[t] - first] -= 1.0
    for i in range(beta.size):
        slope[i] = -dot(problem.columns[i, first:stop], space.utility)
    convert_slope(problem, space.taste, slope)
    return log_likelihood


@scalar
def write_tastes(problem: Any, beta: Any, taste: Any) -> None:
    """Write utility coefficients from beta: beta itself, or its signed exponential.

    In willingness-to-pay space these are amounts except that of the price, and amounts are
    multiplied by minus the coefficient of the price.
    """
    for i in range(beta.size):
        taste[i] = beta[i] if problem.sign[i] == 0.0 else problem.sign[i] * math.exp(beta[i])
    if problem.price >= 0:
        for i in range(beta.size):
            if i != problem.price:
                taste[i] *= -taste[problem.price]


@scalar
def convert_slope(problem: Any, taste: Any, slope: Any) -> None:
    """Convert a slope by utility coefficients to a slope by beta, in place."""
    price_slope = dot(taste, slope) if problem.price >= 0 else 0.0
    for i in range(slope.size):
        if problem.sign[i] != 0.0:
            slope[i] *= taste[i]
        elif problem.price >= 0:
            slope[i] *= -taste[problem.price]
    if problem.price >= 0:
        slope[problem.price] = price_slope


@part
def add_curvature(problem: Any, space: Any, beta: Any, n: Any, curvature: Any) -> None:
    r"""Add the expected curvature of person n's log-likelihood by beta.

    .. math::
        \sum_t D^T (\sum_j p_{tj} x_{tj} x_{tj}^T - \bar x_t \bar x_t^T) D, \qquad D = db/d\beta
    """
    p = beta.size
    write_tastes(problem, beta, space.taste)
    for i in range(p):
        space.momentum[i] = 1.0
    convert_slope(problem, space.taste, space.momentum)
    if problem.price >= 0:  # the scale changes all coefficients: D has a full column
        space.momentum[problem.price] = 1.0
    write_probabilities(problem, space.taste, space.utility, n)
    first, stop = person_rows(problem, n)
    columns = problem.columns[:, first:stop]
    for t in part_range(problem.first_task, n):
        begin, end = problem.first_row[t] - first, problem.first_row[t + 1] - first
        for i in range(p):
            space.vector[i] = 0.0
            for k in range(begin, end):
                space.vector[i] += space.utility[k] * columns[i, k]
        for k in range(begin, end):
            for i in range(p):
                space.lean[i] = columns[i, k] - space.vector[i]
            if problem.price >= 0:
                space.lean[problem.price] = dot(space.lean, space.taste)
            for i in range(p):
                off = space.utility[k] * space.lean[i] * space.momentum[i]
                for j in range(i + 1):
                    curvature[i, j] += off * (space.lean[j] * space.momentum[j])


# The population: the mean M and the covariance Sigma of tastes ------------------------------------


@part
def sample_mean(rng: np.random.Generator, problem: Any, state: Any, space: Any) -> None:
    """Sample the population means M given tastes and covariance.

    It is normal with precision A = Z^T Z x Sigma^-1 + diag(1 / s^2) and mean A^-1 Z^T beta
    Sigma^-1.
    """
    people, p = state.beta.shape
    q = problem.covariates.shape[1]
    for r in range(q):
        for i in range(p):
            total = 0.0
            for n in range(people):
                total += problem.covariates[n, r] * state.beta[n, i]
            space.vector[i] = total
        for i in range(p):
            total = 0.0
            for j in range(p):
                total += state.precision[i, j] * space.vector[j]
            space.long[r * p + i] = total
        for s in range(r + 1):
            weight = 0.0
            for n in range(people):
                weight += problem.covariates[n, r] * problem.covariates[n, s]
            for i in range(p):
                for j in range(p):
                    space.wide[r * p + i, s * p + j] = weight * state.precision[i, j]
        for i in range(p):
            space.wide[r * p + i, r * p + i] += problem.mean_precision[i]
    factorise(space.wide, space.wide_factor)
    draw_normal(rng, space.wide_factor, space.long)
    for i in range(q * p):
        state.mean[i // p, i % p] = space.long[i]


@part
def sample_covariance(rng: np.random.Generator, problem: Any, state: Any, space: Any) -> None:
    """Sample the population covariance Sigma given tastes and means.

    It is inverse Wishart with nu + N degrees of freedom and scale S I + sum (beta - M z)(beta - M
    z)^T.
    """
    # With the scale L L^T and Bartlett's lower triangle A of a Wishart matrix, Sigma^-1 = L^-T A
    # A^T L^-1 and Sigma = M M^T, M = L A^-T.
    people, p = state.beta.shape
    for i in range(p):
        for j in range(i + 1):
            space.matrix[i, j] = problem.scale if i == j else 0.0
    for n in range(people):
        for i in range(p):
            space.vector[i] = taste_deviation(problem, state, n, i)
        for i in range(p):
            for j in range(i + 1):
                space.matrix[i, j] += space.vector[i] * space.vector[j]
    factorise(space.matrix, space.factor)
    for i in range(p):
        for j in range(p):
            space.bartlett[i, j] = rng.standard_normal() if j < i else 0.0
        space.bartlett[i, i] = math.sqrt(2.0 * rng.standard_gamma(0.5 * (problem.df + people - i)))
    for j in range(p):  # columns of L^-T A, kept as columns of `matrix`
        for i in range(p):
            space.vector[i] = space.bartlett[i, j]
        solve_upper(space.factor, space.vector)
        for i in range(p):
            space.matrix[i, j] = space.vector[i]
    write_gram(space.matrix, state.precision)
    for i in range(p):  # rows of M: A^-1 times a row of L
        for j in range(p):
            space.vector[j] = space.factor[i, j] if j <= i else 0.0
        solve_lower(space.bartlett, space.vector)
        for j in range(p):
            space.matrix[i, j] = space.vector[j]
    write_gram(space.matrix, state.covariance)


@scalar
def write_gram(matrix: Any, gram: Any) -> None:
    """Write X X' of the matrix X into `gram`."""
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            total = 0.0
            for k in range(matrix.shape[1]):
                total += matrix[i, k] * matrix[j, k]
            gram[i, j] = total
            gram[j, i] = total


@part
def update_population_metric(problem: Any, state: Any) -> None:
    """Update the metric by which population moves are scaled.

    It is the mean curvature of all likelihoods and of the prior.
    """
    q, p = state.mean.shape
    size = (q + 1) * p
    for k in range(p + 1):
        root = state.root[k]
        for row in range(size):
            for column in range(row + 1):
                root[row, column] = state.together_sum[k, row, column] / state.evaluated[0]
                state.together_sum[k, row, column] = 0.0
        for i in range(p):
            for r in range(q):
                root[r * p + i, r * p + i] += problem.mean_precision[i]
            if k == p:
                root[q * p + i, q * p + i] += 2.0 * problem.df
        for column in range(size if k < p else 0):  # c_k does not move
            row = q * p + k
            root[max(row, column), min(row, column)] = 1.0 if row == column else 0.0
        factorise(root, root)


@part
def add_population_curvature(problem: Any, state: Any, space: Any, n: Any, curvature: Any) -> None:
    """Add the curvature of person n's likelihood by population parameters."""
    q, p = state.mean.shape
    for i in range(p):
        for r in range(q):
            space.weight[r, i] = problem.covariates[n, r]
        space.vector[i] = taste_deviation(problem, state, n, i)
        for j in range(p):
            space.matrix[i, j] = curvature[max(i, j), min(i, j)]
    for k in range(p + 1):
        for i in range(p):
            space.weight[q, i] = space.vector[k] if k < p else space.vector[i]
        for r in range(q + 1):
            for i in range(p):
                row = state.together_sum[k, r * p + i]
                for s in range(r + 1):
                    for j in range(p):
                        change = space.weight[r, i] * space.matrix[i, j] * space.weight[s, j]
                        if s * p + j <= r * p + i:
                            row[s * p + j] += change


@scalar
def add_prior_curvature(problem: Any, state: Any) -> None:
    """Add the curvature of the prior by the population's log scales."""
    q, p = state.mean.shape
    for k in range(p):
        for i in range(p):
            row = state.together_sum[k, q * p + i]
            for j in range(i + 1):
                row[q * p + j] += problem.scale * state.precision[i, j]


@part
def move_population(
    rng: np.random.Generator, problem: Any, state: Any, space: Any, k: Any, gain: Any
) -> None:
    """Update population means, scales and all tastes jointly by a trajectory.

    The change c belongs to the deviation of taste k, or to the scales if k is p.
    """
    people, p = state.beta.shape
    q = problem.covariates.shape[1]
    size = (q + 1) * p
    energy = 0.0
    for coordinate in range(size):
        space.place[coordinate] = (
            state.mean[coordinate // p, coordinate % p] if coordinate < q * p else 0.0
        )
        space.push[coordinate] = rng.standard_normal() if coordinate != q * p + k else 0.0
        energy += 0.5 * space.push[coordinate] ** 2
    for n in range(people):
        energy -= state.log_likelihood[n]
        for i in range(p):
            space.off[n, i] = taste_deviation(problem, state, n, i)
            space.trial_slope[n, i] = state.slope[n, i]
    step = draw_step(rng, math.exp(state.log_step[people]))
    energy -= write_force(problem, state, space, k)
    kick(state.root[k], space.push, space.force, 0.5 * step)
    for i_step in range(N_POPULATION_STEPS):
        drift(state.root[k], space.push, space.place, space.force, step)
        log_likelihood = write_trial_tastes(problem, state, space, k)
        prior = write_force(problem, state, space, k)
        is_last = i_step == N_POPULATION_STEPS - 1
        kick(state.root[k], space.push, space.force, 0.5 * step if is_last else step)
        if is_last:
            energy += log_likelihood + prior
    for coordinate in range(size):
        energy -= 0.5 * space.push[coordinate] ** 2
    if accept_trajectory(rng, state, people, energy, gain):
        accept_population_move(problem, state, space, k)


@scalar
def write_trial_tastes(problem: Any, state: Any, space: Any, k: Any) -> Any:
    """Write proposed tastes of all people and their slopes; return the log-likelihood."""
    people, p = space.trial.shape
    q = problem.covariates.shape[1]
    change = space.place[q * p :]
    log_likelihood = 0.0
    for i in range(p):
        space.vector[i] = math.exp(change[i]) if k == p else 1.0
    for n in range(people):
        for i in range(p):
            total = space.vector[i] * space.off[n, i]
            if k < p:
                total += change[i] * space.off[n, k]
            for r in range(q):
                total += problem.covariates[n, r] * space.place[r * p + i]
            space.trial[n, i] = total
        space.trial_log_likelihood[n] = write_likelihood_slope(
            problem, space, space.trial[n], n, space.trial_slope[n]
        )
        log_likelihood += space.trial_log_likelihood[n]
    return log_likelihood


@part
def write_force(problem: Any, state: Any, space: Any, k: Any) -> Any:
    """Return the log prior of means and scales; write the log posterior's slope.

    The slope is written into `space.force`.
    """
    people, p = state.beta.shape
    q = problem.covariates.shape[1]
    log_prior = 0.0
    for r in range(q):
        for i in range(p):
            m = space.place[r * p + i]
            log_prior -= 0.5 * problem.mean_precision[i] * m * m
            space.force[r * p + i] = -problem.mean_precision[i] * m
    change, change_force = space.place[q * p :], space.force[q * p :]
    for i in range(p):
        if k == p:
            shrunk = problem.scale * state.precision[i, i] * math.exp(-2.0 * change[i])
            log_prior -= problem.df * change[i] + 0.5 * shrunk
            change_force[i] = shrunk - problem.df
            space.vector[i] = math.exp(change[i])
        else:
            bent = dot(state.precision[i], change)
            log_prior += problem.scale * change[i] * (state.precision[i, k] - 0.5 * bent)
            change_force[i] = problem.scale * (state.precision[i, k] - bent)
    for n in range(people):
        for i in range(p):
            slope = space.trial_slope[n, i]
            for r in range(q):
                space.force[r * p + i] += problem.covariates[n, r] * slope
            change_force[i] += slope * (
                space.vector[i] * space.off[n, i] if k == p else space.off[n, k]
            )
    if k < p:
        change_force[k] = 0.0
    return log_prior


@scalar
def accept_population_move(problem: Any, state: Any, space: Any, k: Any) -> None:
    """Store the end of a population trajectory: means, tastes and covariance."""
    people, p = state.beta.shape
    q = problem.covariates.shape[1]
    change = space.place[q * p :]
    for i in range(p):
        for r in range(q):
            state.mean[r, i] = space.place[r * p + i]
    if k == p:
        for i in range(p):
            for j in range(p):
                factor = math.exp(change[i] + change[j])
                state.covariance[i, j] *= factor
                state.precision[i, j] /= factor
    else:
        variance = state.covariance[k, k]
        for i in range(p):
            space.taste[i] = state.covariance[i, k]
            # column k of P G^-1
            space.vector[i] = state.precision[i, k] - dot(state.precision[i], change)
        precision_kk = space.vector[k] - dot(change, space.vector)
        for i in range(p):
            state.precision[i, k], state.precision[k, i] = space.vector[i], space.vector[i]
            for j in range(p):
                added = (
                    change[i] * space.taste[j]
                    + change[j] * space.taste[i]
                    + change[i] * change[j] * variance
                )
                state.covariance[i, j] += added
        state.precision[k, k] = precision_kk
    for n in range(people):
        for i in range(p):
            state.beta[n, i], state.slope[n, i] = space.trial[n, i], space.trial_slope[n, i]
        state.log_likelihood[n] = space.trial_log_likelihood[n]
