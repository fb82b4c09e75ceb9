r"""Moves of one person's tastes in the hierarchical logit, by Hamiltonian Monte Carlo.

A trajectory of a few leapfrog steps of length e, in the metric of :math:`A = H_n + \Sigma^{-1} = C C^T`: with
r ~ N(0, I),

.. math::
    r \leftarrow r + \tfrac e2 C^{-1} \nabla \ln \pi(\beta), \quad \beta \leftarrow \beta + e C^{-T} r, \quad
    r \leftarrow r + \tfrac e2 C^{-1} \nabla \ln \pi(\beta),

accepted with probability :math:`\min\{1, \pi(\beta') e^{-r'^2/2} / (\pi(\beta) e^{-r^2/2})\}`. It is reversible, since
H_n does not depend on beta, nor does e, which is drawn within a fifth of a person's own step.
"""

import math
from typing import Any

import numpy as np

from thali.compile.jit import part, scalar, vectorised
from thali.inference.numerics.cholesky import factorise, solve_lower, solve_upper

STEPS_ALONE = 2  # of a trajectory
WANTED = 0.8  # mean probability that a trajectory is accepted
SPREAD = 0.2  # of step lengths: no length of trajectory is a period of the motion in every direction


@part
def visit(rng: np.random.Generator, problem: Any, state: Any, space: Any, n: Any, gain: Any) -> None:
    """One trajectory of the tastes of person n; during tuning its step follows the acceptance with this `gain`."""
    p = state.beta.shape[1]
    beta, slope, momentum = space.trial[n], space.trial_slope[n], space.momentum
    for i in range(p):
        for j in range(i + 1):
            space.matrix[i, j] = state.curvature[n, i, j] + state.precision[i, j]
        momentum[i] = rng.standard_normal()
        beta[i], slope[i] = state.beta[n, i], state.slope[n, i]
    factorise(space.matrix, space.factor)
    step = math.exp(state.log_step[n]) * (1.0 + SPREAD * (2.0 * rng.random() - 1.0))
    energy = 0.5 * square(momentum) - state.log_likelihood[n] - population_slope(problem, state, space, n, beta)
    kick(space.factor, momentum, slope, space.vector, 0.5 * step)
    log_likelihood = 0.0
    for passed in range(STEPS_ALONE):
        for i in range(p):
            space.vector[i] = momentum[i]
        solve_upper(space.factor, space.vector)
        for i in range(p):
            beta[i] += step * space.vector[i]
        log_likelihood = slope_of(problem, space, beta, n, slope)
        density = population_slope(problem, state, space, n, beta)
        last = passed == STEPS_ALONE - 1
        kick(space.factor, momentum, slope, space.vector, 0.5 * step if last else step)
        if last:
            energy += log_likelihood + density - 0.5 * square(momentum)
    if energy > -rng.standard_exponential():
        for i in range(p):
            state.beta[n, i], state.slope[n, i] = beta[i], slope[i]
        state.log_likelihood[n] = log_likelihood
        if gain == 0.0:
            state.accepted[n] += 1
    if gain > 0.0:
        state.log_step[n] += gain * (acceptance_of(energy) - WANTED)


@scalar
def acceptance_of(log_ratio: Any) -> Any:
    """The probability of acceptance; 0 where a trajectory left the numbers."""
    return math.exp(min(log_ratio, 0.0)) if log_ratio == log_ratio else 0.0


@scalar
def square(vector: Any) -> Any:
    """Sum of squares."""
    return dot(vector, vector)


@vectorised
def dot(one: Any, other: Any) -> Any:
    """Product of two vectors."""
    total = 0.0
    for i in range(one.size):
        total += one[i] * other[i]
    return total


@scalar
def kick(factor: Any, momentum: Any, slope: Any, population: Any, length: Any) -> None:
    """Change the momentum along the slope of the log density; `population` holds its second part and is spoilt."""
    for i in range(momentum.size):
        population[i] += slope[i]
    solve_lower(factor, population)
    for i in range(momentum.size):
        momentum[i] += length * population[i]


@scalar
def centre_of(problem: Any, mean: Any, n: Any, i: Any) -> Any:
    """What people with the covariates of person n have on average as taste i."""
    total = 0.0
    for r in range(problem.covariates.shape[1]):
        total += problem.covariates[n, r] * mean[r, i]
    return total


@scalar
def population_slope(problem: Any, state: Any, space: Any, n: Any, beta: Any) -> Any:
    """Log-density of tastes among people, without its constant; its slope goes into `space.vector`."""
    p = beta.size
    for i in range(p):
        space.taste[i] = centre_of(problem, state.mean, n, i) - beta[i]
    for i in range(p):
        space.vector[i] = dot(state.precision[i], space.taste)
    return -0.5 * dot(space.vector, space.taste)


@part
def slope_of(problem: Any, space: Any, beta: Any, n: Any, slope: Any) -> Any:
    """Log-likelihood of the choices of person n; its slope in beta goes into `slope`."""
    total = 0.0
    write_tastes(problem, beta, space.taste)
    for i in range(beta.size):
        slope[i] = 0.0
    for t in range(problem.first_task[n], problem.first_task[n + 1]):
        total += probabilities_of_task(problem, space, t)
        first = problem.first_row[t]
        for row in range(first, problem.first_row[t + 1]):
            weight = -space.utility[row - first]
            if row == problem.chosen_row[t]:
                weight += 1.0
            for i in range(beta.size):
                slope[i] += weight * problem.matrix[row, i]
    for i in range(beta.size):
        if problem.sign[i] != 0.0:
            slope[i] *= space.taste[i]
    return total


@scalar
def write_tastes(problem: Any, beta: Any, taste: Any) -> None:
    """The coefficients of utility: beta, or its exponential with a sign."""
    for i in range(beta.size):
        taste[i] = beta[i] if problem.sign[i] == 0.0 else problem.sign[i] * math.exp(beta[i])


@scalar
def probabilities_of_task(problem: Any, space: Any, t: Any) -> Any:
    """Write the probabilities of the alternatives of task t into `space.utility`; returns ln of that of the choice."""
    first, last = problem.first_row[t], problem.first_row[t + 1]
    top = -math.inf
    for row in range(first, last):
        u = dot(problem.matrix[row], space.taste)
        space.utility[row - first] = u
        top = max(top, u)
    own, total = space.utility[problem.chosen_row[t] - first] - top, 0.0
    for j in range(last - first):
        space.utility[j] = math.exp(space.utility[j] - top)
        total += space.utility[j]
    for j in range(last - first):
        space.utility[j] /= total
    return own - math.log(total)


@part
def add_curvature(problem: Any, space: Any, beta: Any, n: Any, result: Any) -> None:
    r"""Add the expected negative second derivative of the log-likelihood of person n in beta.

    .. math::
        \sum_t D (\sum_j p_{tj} x_{tj} x_{tj}^T - \bar x_t \bar x_t^T) D, \qquad D = \operatorname{diag}(db/d\beta)
    """
    p = beta.size
    write_tastes(problem, beta, space.taste)
    for t in range(problem.first_task[n], problem.first_task[n + 1]):
        probabilities_of_task(problem, space, t)
        first = problem.first_row[t]
        for i in range(p):
            space.vector[i] = 0.0
        for row in range(first, problem.first_row[t + 1]):
            for i in range(p):
                space.vector[i] += space.utility[row - first] * problem.matrix[row, i]
        for row in range(first, problem.first_row[t + 1]):
            weight = space.utility[row - first]
            for i in range(p):
                off = weight * (problem.matrix[row, i] - space.vector[i])
                if problem.sign[i] != 0.0:
                    off *= space.taste[i]
                for j in range(i + 1):
                    other = problem.matrix[row, j] - space.vector[j]
                    if problem.sign[j] != 0.0:
                        other *= space.taste[j]
                    result[i, j] += off * other
