r"""One sweep of the sampler of the hierarchical logit.

The model: :math:`P(x_j \mid X_{nt}) \propto \exp(x_j^T \beta_n)`, :math:`\beta_n \sim N(\mu, \Sigma)`,
:math:`\mu \sim N(0, s^2 I)`, :math:`\Sigma \sim IW(\nu, S I)` with density
:math:`\propto |\Sigma|^{-(\nu + p + 1)/2} \exp(-S \operatorname{tr} \Sigma^{-1} / 2)`, where :math:`S = \nu V` in the
terms of `HierarchicalLogit`.

A sweep: every person's beta by a random walk of covariance :math:`c_n^2 (H_n + \Sigma^{-1})^{-1}`, which is reversible
since neither H_n nor c_n depends on beta; then mu and Sigma from their conditionals.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._jit import allocating, scalar
from thali.inference.numerics.cholesky import factorise, solve_lower, solve_upper

WANTED = 0.3  # share of a person's proposals that should be accepted
_DECAY = 0.6  # of the gains of step adaptation


class Problem(NamedTuple):
    """Data and prior, which never change while a chain runs."""

    matrix: np.ndarray  # (rows, p)
    first_task: np.ndarray  # (N + 1,)
    first_row: np.ndarray  # (tasks + 1,)
    chosen_row: np.ndarray  # (tasks,)
    curvature: np.ndarray  # (N, p, p) H_n: shapes the proposals
    df: float  # nu
    scale: float  # S
    mean_precision: float  # 1 / s^2


class State(NamedTuple):
    """The state of a chain, and its work space."""

    beta: np.ndarray  # (N, p)
    log_likelihood: np.ndarray  # (N,)
    mean: np.ndarray  # (p,) mu
    precision: np.ndarray  # (p, p) the inverse of Sigma
    covariance: np.ndarray  # (p, p) Sigma
    log_step: np.ndarray  # (N,) ln c_n
    accepted: np.ndarray  # (N,) since tuning ended
    matrix: np.ndarray  # (p, p), scratch
    factor: np.ndarray  # (p, p), scratch
    bartlett: np.ndarray  # (p, p), scratch
    vector: np.ndarray  # (p,), scratch
    trial: np.ndarray  # (p,), scratch


class Draws(NamedTuple):
    """Room for the draws of a chain."""

    mean: np.ndarray  # (draws, p)
    covariance: np.ndarray  # (draws, p, p)
    beta: np.ndarray  # (draws, N, p)
    log_likelihood: np.ndarray  # (draws,)


@allocating
def run(
    rng: np.random.Generator, problem: Any, state: Any, kept: Any, sweep: Any, until: Any, tune: int, thin: Any
) -> None:
    """Sweeps number `sweep` + 1 to `until`; every `thin`-th one after `tune` is recorded."""
    while sweep < until:
        sweep += 1
        gain = sweep**-_DECAY if sweep <= tune else 0.0
        for n in range(state.beta.shape[0]):
            walk(rng, problem, state, n, gain)
        draw_mean(rng, problem, state)
        draw_covariance(rng, problem, state)
        if sweep > tune and (sweep - tune) % thin == 0:
            row = (sweep - tune) // thin - 1
            kept.mean[row] = state.mean
            kept.covariance[row] = state.covariance
            kept.beta[row] = state.beta
            kept.log_likelihood[row] = state.log_likelihood.sum()


@scalar
def walk(rng: np.random.Generator, problem: Any, state: Any, n: Any, gain: Any) -> None:
    """One proposal for the tastes of person n; during tuning its step follows the acceptance with this `gain`."""
    p = state.mean.size
    for i in range(p):
        for j in range(p):
            state.matrix[i, j] = problem.curvature[n, i, j] + state.precision[i, j]
    factorise(state.matrix, state.factor)
    for i in range(p):
        state.vector[i] = rng.standard_normal()
    solve_upper(state.factor, state.vector)
    step = math.exp(state.log_step[n])
    for i in range(p):
        state.trial[i] = state.beta[n, i] + step * state.vector[i]
    proposed = log_likelihood_of(problem, state.trial, n)
    log_ratio = proposed - state.log_likelihood[n]
    log_ratio += log_density(state, state.trial) - log_density(state, state.beta[n])
    if log_ratio > -rng.standard_exponential():
        for i in range(p):
            state.beta[n, i] = state.trial[i]
        state.log_likelihood[n] = proposed
        if gain == 0.0:
            state.accepted[n] += 1
    if gain > 0.0:
        state.log_step[n] += gain * (math.exp(min(log_ratio, 0.0)) - WANTED)


@scalar
def log_likelihood_of(problem: Any, beta: Any, n: Any) -> Any:
    """Log-likelihood of the choices of person n."""
    total = 0.0
    for t in range(problem.first_task[n], problem.first_task[n + 1]):
        own = dot(problem.matrix, problem.chosen_row[t], beta)
        top, rest = 0.0, 0.0  # ln sum_j exp(u_j - u*), the running maximum taken out
        for row in range(problem.first_row[t], problem.first_row[t + 1]):
            u = dot(problem.matrix, row, beta) - own
            if u <= top:
                rest += math.exp(u - top)
            else:
                rest = rest * math.exp(top - u) + 1.0
                top = u
        total -= top + math.log(rest)
    return total


@scalar
def dot(matrix: Any, row: Any, vector: Any) -> Any:
    """Product of a row of a matrix and a vector."""
    total = 0.0
    for i in range(vector.size):
        total += matrix[row, i] * vector[i]
    return total


@scalar
def log_density(state: Any, beta: Any) -> Any:
    """Log-density of tastes among people, without its constant."""
    total = 0.0
    for i in range(beta.size):
        inner = 0.5 * state.precision[i, i] * (beta[i] - state.mean[i])
        for j in range(i):
            inner += state.precision[i, j] * (beta[j] - state.mean[j])
        total -= inner * (beta[i] - state.mean[i])
    return total


@scalar
def draw_mean(rng: np.random.Generator, problem: Any, state: Any) -> None:
    """mu | beta, Sigma: normal of precision A = N Sigma^-1 + I / s^2 and mean A^-1 Sigma^-1 sum of beta."""
    people, p = state.beta.shape
    for i in range(p):
        total = 0.0
        for n in range(people):
            total += state.beta[n, i]
        state.trial[i] = total
    for i in range(p):
        state.vector[i] = 0.0
        for j in range(p):
            state.matrix[i, j] = people * state.precision[i, j]
            state.vector[i] += state.precision[i, j] * state.trial[j]
        state.matrix[i, i] += problem.mean_precision
    factorise(state.matrix, state.factor)
    solve_lower(state.factor, state.vector)
    for i in range(p):
        state.vector[i] += rng.standard_normal()
    solve_upper(state.factor, state.vector)
    for i in range(p):
        state.mean[i] = state.vector[i]


@scalar
def draw_covariance(rng: np.random.Generator, problem: Any, state: Any) -> None:
    """Sigma | beta, mu: inverse Wishart of nu + N degrees of freedom and scale S I + sum (beta - mu)(beta - mu)^T.

    With the scale L L^T and Bartlett's lower triangle A of a Wishart matrix, Sigma^-1 = L^-T A A^T L^-1 and
    Sigma = M M^T, M = L A^-T.
    """
    people, p = state.beta.shape
    for i in range(p):
        for j in range(i + 1):
            total = problem.scale if i == j else 0.0
            for n in range(people):
                total += (state.beta[n, i] - state.mean[i]) * (state.beta[n, j] - state.mean[j])
            state.matrix[i, j] = total
            state.matrix[j, i] = total
    factorise(state.matrix, state.factor)
    for i in range(p):
        for j in range(p):
            state.bartlett[i, j] = rng.standard_normal() if j < i else 0.0
        state.bartlett[i, i] = math.sqrt(2.0 * rng.standard_gamma(0.5 * (problem.df + people - i)))
    for j in range(p):  # columns of L^-T A, kept as columns of `matrix`
        for i in range(p):
            state.vector[i] = state.bartlett[i, j]
        solve_upper(state.factor, state.vector)
        for i in range(p):
            state.matrix[i, j] = state.vector[i]
    product(state.matrix, state.precision)
    for i in range(p):  # rows of M: A^-1 times a row of L
        for j in range(p):
            state.vector[j] = state.factor[i, j] if j <= i else 0.0
        solve_lower(state.bartlett, state.vector)
        for j in range(p):
            state.matrix[i, j] = state.vector[j]
    product(state.matrix, state.covariance)


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
