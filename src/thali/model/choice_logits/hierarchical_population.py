r"""Moves of the population of the hierarchical logit: the mean M and the covariance Sigma of tastes.

Two conditionals given all tastes, and a Hamiltonian trajectory of M and of the scales of all tastes that takes
everybody along: with the deviations :math:`\delta_n = \beta_n - M^T z_n` at its start,

.. math::
    M \to M', \quad \beta_n \to M'^T z_n + e^t \delta_n, \quad \Sigma \to e^t \Sigma e^t, \qquad t \in R^p,

(the exponential by entries). Under the group of these changes, whose invariant measure is dM dt, the density is

.. math::
    \ln \pi(M, t) = \sum_n \ell_n(M^T z_n + e^t \delta_n) - \tfrac12 \sum_{rk} M_{rk}^2 / s_k^2
        - \nu \sum_k t_k - \tfrac S2 \sum_k (\Sigma^{-1})_{kk} e^{-2 t_k}

(Liu & Sabatti 2000): the Jacobians of the tastes and of Sigma, :math:`e^{N \sum t}` and :math:`e^{(p+1) \sum t}`, meet
the normal densities and the power of :math:`|\Sigma|` in the inverse Wishart density.
"""

import math
from typing import Any

import numpy as np

from thali._jit import scalar
from thali.inference.numerics.cholesky import factorise, solve_lower, solve_upper

from .hierarchical_people import SPREAD, acceptance_of, slope_of

STEPS = 3  # of a trajectory
WANTED = 0.8  # mean probability that a trajectory is accepted


@scalar
def centre_of(problem: Any, mean: Any, n: Any, i: Any) -> Any:
    """What people with the covariates of person n have on average as taste i."""
    total = 0.0
    for r in range(problem.covariates.shape[1]):
        total += problem.covariates[n, r] * mean[r, i]
    return total


@scalar
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


@scalar
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


@scalar
def prepare_moves(problem: Any, state: Any, evaluations: Any) -> None:
    """The metric of the moves of all together, G = C C^T: the mean curvature of everybody's likelihood, and the prior's."""
    size = state.root.shape[0]
    p = state.beta.shape[1]
    for a in range(size):
        for b in range(a + 1):
            state.root[a, b] = state.together_sum[a, b] / evaluations
        state.root[a, a] += problem.mean_precision[a % p] if a < size - p else 2.0 * problem.df
    factorise(state.root, state.root)


@scalar
def add_together(problem: Any, state: Any, space: Any, n: Any, curvature: Any, result: Any) -> None:
    """Add the curvature of the likelihood of person n in M and t, given that in beta."""
    p, q = state.beta.shape[1], problem.covariates.shape[1]
    for i in range(p):
        space.vector[i] = state.beta[n, i] - centre_of(problem, state.mean, n, i)
    for r in range(q + 1):
        for i in range(p):
            one = problem.covariates[n, r] if r < q else space.vector[i]
            for other in range(r + 1):
                for j in range(p):
                    two = problem.covariates[n, other] if other < q else space.vector[j]
                    result[r * p + i, other * p + j] += one * two * curvature[max(i, j), min(i, j)]


@scalar
def move_together(rng: np.random.Generator, problem: Any, state: Any, space: Any, gain: Any) -> None:
    """One trajectory of M, t and all tastes; during tuning its step follows the acceptance with this `gain`."""
    people, p = state.beta.shape
    q = problem.covariates.shape[1]
    energy = 0.0
    for r in range(q + 1):
        for i in range(p):
            space.place[r * p + i] = state.mean[r, i] if r < q else 0.0
            space.push[r * p + i] = rng.standard_normal()
            energy += 0.5 * space.push[r * p + i] ** 2
    for n in range(people):
        energy -= state.log_likelihood[n]
        for i in range(p):
            space.off[n, i] = state.beta[n, i] - centre_of(problem, state.mean, n, i)
            space.trial_slope[n, i] = state.slope[n, i]
    step = math.exp(state.log_step[people]) * (1.0 + SPREAD * (2.0 * rng.random() - 1.0))
    energy -= write_force(problem, state, space)
    kick_together(state, space, 0.5 * step)
    for passed in range(STEPS):
        for a in range((q + 1) * p):
            space.force[a] = space.push[a]
        solve_upper(state.root, space.force)
        for a in range((q + 1) * p):
            space.place[a] += step * space.force[a]
        log_likelihood = 0.0
        for n in range(people):
            for i in range(p):
                total = math.exp(space.place[q * p + i]) * space.off[n, i]
                for r in range(q):
                    total += problem.covariates[n, r] * space.place[r * p + i]
                space.trial[n, i] = total
            space.trial_log_likelihood[n] = slope_of(problem, space, space.trial[n], n, space.trial_slope[n])
            log_likelihood += space.trial_log_likelihood[n]
        prior = write_force(problem, state, space)
        last = passed == STEPS - 1
        kick_together(state, space, 0.5 * step if last else step)
        if last:
            energy += log_likelihood + prior
    for a in range((q + 1) * p):
        energy -= 0.5 * space.push[a] ** 2
    if energy > -rng.standard_exponential():
        adopt(state, space, q)
        if gain == 0.0:
            state.accepted[people] += 1
    if gain > 0.0:
        state.log_step[people] += gain * (acceptance_of(energy) - WANTED)


@scalar
def write_force(problem: Any, state: Any, space: Any) -> Any:
    """Log prior density of M and t, without its constant; the slope of the log posterior goes into `space.force`."""
    people, p = state.beta.shape
    q = problem.covariates.shape[1]
    log_prior = 0.0
    for r in range(q):
        for i in range(p):
            m = space.place[r * p + i]
            log_prior -= 0.5 * problem.mean_precision[i] * m * m
            space.force[r * p + i] = -problem.mean_precision[i] * m
    for i in range(p):
        t = space.place[q * p + i]
        part = problem.scale * state.precision[i, i] * math.exp(-2.0 * t)
        log_prior -= problem.df * t + 0.5 * part
        space.force[q * p + i] = part - problem.df
        space.vector[i] = math.exp(t)
    for n in range(people):
        for i in range(p):
            slope = space.trial_slope[n, i]
            for r in range(q):
                space.force[r * p + i] += problem.covariates[n, r] * slope
            space.force[q * p + i] += slope * space.vector[i] * space.off[n, i]
    return log_prior


@scalar
def kick_together(state: Any, space: Any, length: Any) -> None:
    """Change the momenta along the force, which is spoilt."""
    solve_lower(state.root, space.force)
    for a in range(space.force.size):
        space.push[a] += length * space.force[a]


@scalar
def adopt(state: Any, space: Any, q: Any) -> None:
    """Make the end of a trajectory the state."""
    people, p = state.beta.shape
    for i in range(p):
        for r in range(q):
            state.mean[r, i] = space.place[r * p + i]
        for j in range(p):
            change = math.exp(space.place[q * p + i] + space.place[q * p + j])
            state.covariance[i, j] *= change
            state.precision[i, j] /= change
    for n in range(people):
        for i in range(p):
            state.beta[n, i], state.slope[n, i] = space.trial[n, i], space.trial_slope[n, i]
        state.log_likelihood[n] = space.trial_log_likelihood[n]
