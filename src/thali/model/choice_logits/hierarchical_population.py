r"""Moves of the population of the hierarchical logit: the mean M and the covariance Sigma of tastes.

Two conditionals given all tastes, and a Hamiltonian trajectory that takes everybody along, of M, of the scales of all
tastes, and of how they hang on one of them, taste k: with the deviations :math:`\delta_n = \beta_n - M^T z_n` at its
start,

.. math::
    M \to M', \quad \beta_n \to M'^T z_n + G \delta_n, \quad \Sigma \to G \Sigma G^T, \qquad
    G = e^{\operatorname{diag}(t)} (I + a e_k^T), \quad t, a \in R^p, \quad a_k = 0.

These changes are a group with the invariant measure dM dt da, under which the density is

.. math::
    \ln \pi(M, t, a) = \sum_n \ell_n(M^T z_n + G \delta_n) - \tfrac12 \sum_{rk} M_{rk}^2 / s_k^2 - \nu \sum_i t_i
        - \tfrac S2 \Big(\sum_{i \ne k} P_{ii} e^{-2 t_i} + (P_{kk} - 2 (Pa)_k + a^T P a) e^{-2 t_k}\Big), \quad
    P = \Sigma^{-1}

(Liu & Sabatti 2000): the Jacobians of the tastes and of Sigma, :math:`|G|^N` and :math:`|G|^{p+1}`, meet the normal
densities and the power of :math:`|\Sigma|` in the inverse Wishart density.
"""

import math
from typing import Any

import numpy as np

from thali._jit import part, scalar
from thali.inference.numerics.cholesky import factorise, solve_lower, solve_upper

from .hierarchical_people import SPREAD, acceptance_of, dot, slope_of

STEPS = 3  # of a trajectory
WANTED = 0.8  # mean probability that a trajectory is accepted


@scalar
def centre_of(problem: Any, mean: Any, n: Any, i: Any) -> Any:
    """What people with the covariates of person n have on average as taste i."""
    total = 0.0
    for r in range(problem.covariates.shape[1]):
        total += problem.covariates[n, r] * mean[r, i]
    return total


@part
def draw_mean(rng: np.random.Generator, problem: Any, state: Any, space: Any) -> None:
    """M | beta, Sigma: normal of precision A = Z^T Z x Sigma^-1 + diag(1 / s^2) and mean A^-1 vec(Z^T beta Sigma^-1)."""
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
        for other in range(r + 1):
            weight = 0.0
            for n in range(people):
                weight += problem.covariates[n, r] * problem.covariates[n, other]
            for i in range(p):
                for j in range(p):
                    space.wide[r * p + i, other * p + j] = weight * state.precision[i, j]
        for i in range(p):
            space.wide[r * p + i, r * p + i] += problem.mean_precision[i]
    factorise(space.wide, space.wide_factor)
    solve_lower(space.wide_factor, space.long)
    for i in range(q * p):
        space.long[i] += rng.standard_normal()
    solve_upper(space.wide_factor, space.long)
    for i in range(q * p):
        state.mean[i // p, i % p] = space.long[i]


@part
def draw_covariance(rng: np.random.Generator, problem: Any, state: Any, space: Any) -> None:
    """Sigma | beta, M: inverse Wishart of nu + N degrees of freedom and scale S I + sum (beta - M z)(beta - M z)^T.

    With the scale L L^T and Bartlett's lower triangle A of a Wishart matrix, Sigma^-1 = L^-T A A^T L^-1 and
    Sigma = M M^T, M = L A^-T.
    """
    people, p = state.beta.shape
    for i in range(p):
        for j in range(i + 1):
            space.matrix[i, j] = problem.scale if i == j else 0.0
    for n in range(people):
        for i in range(p):
            space.vector[i] = state.beta[n, i] - centre_of(problem, state.mean, n, i)
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
    product(space.matrix, state.precision)
    for i in range(p):  # rows of M: A^-1 times a row of L
        for j in range(p):
            space.vector[j] = space.factor[i, j] if j <= i else 0.0
        solve_lower(space.bartlett, space.vector)
        for j in range(p):
            space.matrix[i, j] = space.vector[j]
    product(space.matrix, state.covariance)


@scalar
def product(matrix: Any, result: Any) -> None:
    """Write matrix matrix^T into `result`."""
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            total = 0.0
            for k in range(matrix.shape[1]):
                total += matrix[i, k] * matrix[j, k]
            result[i, j] = total
            result[j, i] = total


@part
def prepare_moves(problem: Any, state: Any) -> None:
    """The metric C C^T of the moves of all together: the mean curvature of everybody's likelihood, and of the prior."""
    q, p = state.mean.shape
    size = (q + 2) * p
    for k in range(p):
        root = state.root[k]
        for one in range(size):
            for two in range(one + 1):
                root[one, two] = state.together_sum[k, one, two] / state.evaluated[0]
                state.together_sum[k, one, two] = 0.0
        for i in range(p):
            for r in range(q):
                root[r * p + i, r * p + i] += problem.mean_precision[i]
            root[q * p + i, q * p + i] += 2.0 * problem.df
        for two in range(size):  # a_k does not move
            one = (q + 1) * p + k
            root[max(one, two), min(one, two)] = 1.0 if one == two else 0.0
        factorise(root, root)


@part
def add_together(problem: Any, state: Any, space: Any, n: Any, curvature: Any) -> None:
    """Add the curvature of the likelihood of person n in M, t and a, for every k, given that in beta."""
    q, p = state.mean.shape
    for i in range(p):
        for r in range(q):
            space.weight[r, i] = problem.covariates[n, r]
        space.weight[q, i] = state.beta[n, i] - centre_of(problem, state.mean, n, i)
        for j in range(p):
            space.matrix[i, j] = curvature[max(i, j), min(i, j)]
    for k in range(p):
        for i in range(p):
            space.weight[q + 1, i] = space.weight[q, k]
        for r in range(q + 2):
            for i in range(p):
                row = state.together_sum[k, r * p + i]
                for other in range(r + 1):
                    for j in range(p):
                        change = space.weight[r, i] * space.matrix[i, j] * space.weight[other, j]
                        if other * p + j <= r * p + i:
                            row[other * p + j] += change


@scalar
def add_together_prior(problem: Any, state: Any) -> None:
    """Add the curvature of the prior in a, for every k."""
    q, p = state.mean.shape
    for k in range(p):
        for i in range(p):
            row = state.together_sum[k, (q + 1) * p + i]
            for j in range(i + 1):
                row[(q + 1) * p + j] += problem.scale * state.precision[i, j]


@part
def move_together(rng: np.random.Generator, problem: Any, state: Any, space: Any, k: Any, gain: Any) -> None:
    """One trajectory of M, t, a and all tastes; during tuning its step follows the acceptance with this `gain`."""
    people, p = state.beta.shape
    q = problem.covariates.shape[1]
    size = (q + 2) * p
    energy = 0.0
    for one in range(size):
        space.place[one] = state.mean[one // p, one % p] if one < q * p else 0.0
        space.push[one] = rng.standard_normal() if one != (q + 1) * p + k else 0.0
        energy += 0.5 * space.push[one] ** 2
    for n in range(people):
        energy -= state.log_likelihood[n]
        for i in range(p):
            space.off[n, i] = state.beta[n, i] - centre_of(problem, state.mean, n, i)
            space.trial_slope[n, i] = state.slope[n, i]
    step = math.exp(state.log_step[people]) * (1.0 + SPREAD * (2.0 * rng.random() - 1.0))
    energy -= write_force(problem, state, space, k)
    kick_together(state.root[k], space, 0.5 * step)
    for passed in range(STEPS):
        for one in range(size):
            space.force[one] = space.push[one]
        solve_upper(state.root[k], space.force)
        for one in range(size):
            space.place[one] += step * space.force[one]
        log_likelihood = follow(problem, space, k)
        prior = write_force(problem, state, space, k)
        last = passed == STEPS - 1
        kick_together(state.root[k], space, 0.5 * step if last else step)
        if last:
            energy += log_likelihood + prior
    for one in range(size):
        energy -= 0.5 * space.push[one] ** 2
    if energy > -rng.standard_exponential():
        adopt(problem, state, space, k)
        if gain == 0.0:
            state.accepted[people] += 1
    if gain > 0.0:
        state.log_step[people] += gain * (acceptance_of(energy) - WANTED)


@scalar
def follow(problem: Any, space: Any, k: Any) -> Any:
    """Everybody's tastes where M, t and a are, and their likelihood with its slope."""
    people, p = space.trial.shape
    q = problem.covariates.shape[1]
    scale, tilt = space.place[q * p : (q + 1) * p], space.place[(q + 1) * p :]
    log_likelihood = 0.0
    for n in range(people):
        for i in range(p):
            total = math.exp(scale[i]) * (space.off[n, i] + tilt[i] * space.off[n, k])
            for r in range(q):
                total += problem.covariates[n, r] * space.place[r * p + i]
            space.trial[n, i] = total
        space.trial_log_likelihood[n] = slope_of(problem, space, space.trial[n], n, space.trial_slope[n])
        log_likelihood += space.trial_log_likelihood[n]
    return log_likelihood


@part
def write_force(problem: Any, state: Any, space: Any, k: Any) -> Any:
    """Log prior density of M, t and a, without its constant; the slope of the log posterior goes into `space.force`."""
    people, p = state.beta.shape
    q = problem.covariates.shape[1]
    log_prior = 0.0
    for r in range(q):
        for i in range(p):
            m = space.place[r * p + i]
            log_prior -= 0.5 * problem.mean_precision[i] * m * m
            space.force[r * p + i] = -problem.mean_precision[i] * m
    scale, tilt = space.place[q * p : (q + 1) * p], space.place[(q + 1) * p :]
    of_scale, of_tilt = space.force[q * p : (q + 1) * p], space.force[(q + 1) * p :]
    own = state.precision[k, k]  # of G^-T P G^-1, without its factor e^-2t
    shrunk = problem.scale * math.exp(-2.0 * scale[k])
    for i in range(p):
        bent = dot(state.precision[i], tilt)
        own += (bent if i != k else 0.0) * tilt[i] - (2.0 * bent if i == k else 0.0)
        of_tilt[i] = shrunk * (state.precision[i, k] - bent)
    for i in range(p):
        part = problem.scale * math.exp(-2.0 * scale[i]) * (own if i == k else state.precision[i, i])
        log_prior -= problem.df * scale[i] + 0.5 * part
        of_scale[i] = part - problem.df
        space.vector[i] = math.exp(scale[i])
    for n in range(people):
        for i in range(p):
            slope = space.trial_slope[n, i]
            for r in range(q):
                space.force[r * p + i] += problem.covariates[n, r] * slope
            slope *= space.vector[i]
            of_scale[i] += slope * (space.off[n, i] + tilt[i] * space.off[n, k])
            of_tilt[i] += slope * space.off[n, k]
    of_tilt[k] = 0.0
    return log_prior


@scalar
def kick_together(root: Any, space: Any, length: Any) -> None:
    """Change the momenta along the force, which is spoilt."""
    solve_lower(root, space.force)
    for one in range(space.force.size):
        space.push[one] += length * space.force[one]


@scalar
def adopt(problem: Any, state: Any, space: Any, k: Any) -> None:
    """Make the end of a trajectory the state: M, everybody's tastes, G Sigma G^T and its inverse."""
    people, p = state.beta.shape
    q = problem.covariates.shape[1]
    scale, tilt = space.place[q * p : (q + 1) * p], space.place[(q + 1) * p :]
    for i in range(p):
        for r in range(q):
            state.mean[r, i] = space.place[r * p + i]
        space.vector[i] = state.precision[i, k] - dot(state.precision[i], tilt)  # column k of P (I - a e_k^T)
        space.taste[i] = state.covariance[i, k]
    own = space.vector[k] - dot(tilt, space.vector)
    most = state.covariance[k, k]
    for i in range(p):
        for j in range(p):
            first, second = tilt[i] * space.taste[j], tilt[j] * space.taste[i]
            covariance = state.covariance[i, j] + first + second + tilt[i] * tilt[j] * most
            precision = state.precision[i, j]
            if i == k or j == k:
                precision = own if i == j else space.vector[i if j == k else j]
            change = math.exp(scale[i] + scale[j])
            state.covariance[i, j] = covariance * change
            state.precision[i, j] = precision / change
    for n in range(people):
        for i in range(p):
            state.beta[n, i], state.slope[n, i] = space.trial[n, i], space.trial_slope[n, i]
        state.log_likelihood[n] = space.trial_log_likelihood[n]
