r"""Kernels that move all coefficients by Hamiltonian trajectories, given prior scales.

.. math:: U(\beta) = -\ln P(y \mid X, \beta) + \tfrac12 \sum_{kj} \beta_{kj}^2 / v_{kj}, \qquad
          \beta = S L^{-T} u, \quad L L^T = I + S H S, \quad S = \mathrm{diag}(\sqrt{v})

In u the posterior has about unit variances: H is the mean curvature of the log-likelihood while
tuning, and v the current prior variances of the coefficients, which a trajectory does not change.
The weighted sum of squares of a Polya-Gamma draw is narrower than the likelihood that it replaces,
so that draws of one class at a time move slowly where the classes are well separated; a trajectory
follows the likelihood itself, for all classes together.

References: Neal (2011), MCMC using Hamiltonian dynamics, equations 5.15 and 5.33.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import part, scalar

from .coefficient_draws import (
    dot_rows,
    factorise_scaled_gram,
    solve_lower_transposed,
    solve_lower_vectorised,
)

LOG_STEP, AVERAGE, TIME, CURVATURES = range(4)  # indices in `TrajectorySpace.real`
_LENGTH = 3.0  # longest trajectory, in posterior standard deviations
_MAX_STEPS = 50
_TARGET = 0.8  # mean acceptance probability while tuning
_CURVATURES = 50  # number averaged while tuning
FIRST_SWEEPS = 5  # before the first trajectory, to come near the posterior


class TrajectorySpace(NamedTuple):
    """Scratch arrays and step size of trajectories of all coefficients."""

    real: np.ndarray  # (4,) ln step, its mean, adaptation steps, number of curvatures
    curvature: np.ndarray  # (D, D) lower triangle
    factor: np.ndarray  # (D, D)
    root: np.ndarray  # (D,) S
    coef: np.ndarray  # (D,)
    slope: np.ndarray  # (D,) of U
    momentum: np.ndarray  # (D,)
    velocity: np.ndarray  # (D,)
    linear: np.ndarray  # (K, n)
    residual: np.ndarray  # (K, n)


def allocate_trajectory_space(n_classes: int, m: int, n: int) -> TrajectorySpace:
    """Allocate arrays for trajectories of m coefficients per class, n rows.

    The arrays are empty if m and n are 0.
    """
    D = (n_classes - 1) * m
    real = np.zeros(4)
    real[LOG_STEP] = math.log(0.5)
    return TrajectorySpace(
        real=real,
        curvature=np.zeros((D, D)),
        factor=np.zeros((D, D)),
        root=np.zeros(D),
        coef=np.zeros(D),
        slope=np.zeros(D),
        momentum=np.zeros(D),
        velocity=np.zeros(D),
        linear=np.zeros((n_classes, n)),
        residual=np.zeros((n_classes, n)),
    )


@part
def move_along_trajectory(rng: np.random.Generator, problem: Any, state: Any, motion: Any) -> Any:
    """Move all coefficients by a trajectory; return its acceptance probability."""
    m, D = state.coef.shape[1], motion.root.size
    _gather_coefficients(problem, state, motion)
    for a in range(D):
        for b in range(a + 1):
            motion.factor[a, b] = motion.curvature[a, b]
    factorise_scaled_gram(motion.factor, motion.root)
    energy = compute_coefficient_potential(problem, state, motion)
    for d in range(D):
        motion.momentum[d] = rng.standard_normal()
        energy += 0.5 * motion.momentum[d] * motion.momentum[d]
    step = math.exp(motion.real[LOG_STEP])
    new_energy = run_leapfrog(
        problem, state, motion, step, 1 + int(min(_LENGTH / step, _MAX_STEPS - 1.0) * rng.random())
    )
    for d in range(D):
        new_energy += 0.5 * motion.momentum[d] * motion.momentum[d]
    probability = math.exp(min(energy - new_energy, 0.0)) if new_energy < math.inf else 0.0
    if rng.random() < probability:
        start = 0
        for k in problem.free_classes:
            for i in range(state.linear.shape[1]):
                state.linear[k, i] = motion.linear[k, i]
            for j in range(m):
                state.coef[k, j] = motion.coef[start + j]
            start += m
    return probability


@scalar
def _gather_coefficients(problem: Any, state: Any, motion: Any) -> None:
    """Copy the free classes' coefficients and prior sds to the flat vectors of `motion`."""
    d = 0
    for k in problem.free_classes:
        for j in range(state.coef.shape[1]):
            motion.coef[d] = state.coef[k, j]
            motion.root[d] = math.sqrt(state.variance[k, j])
            d += 1


@scalar
def run_leapfrog(problem: Any, state: Any, motion: Any, step: Any, n_steps: Any) -> Any:
    """Run leapfrog steps; return minus the log posterior U at the end.

    `motion.slope` contains the slopes at the start. U is NaN or infinite if the trajectory is
    aborted.
    """
    potential = 0.0
    for t in range(n_steps + 1):
        for d in range(motion.root.size):
            motion.velocity[d] = motion.root[d] * motion.slope[d]
        solve_lower_vectorised(motion.factor, motion.velocity)
        length = step if 0 < t < n_steps else 0.5 * step
        for d in range(motion.root.size):
            motion.momentum[d] -= length * motion.velocity[d]
            motion.velocity[d] = motion.momentum[d]
        if t < n_steps:
            solve_lower_transposed(motion.factor, motion.velocity)
            for d in range(motion.root.size):
                motion.coef[d] += step * motion.root[d] * motion.velocity[d]
            potential = compute_coefficient_potential(problem, state, motion)
            if not potential < math.inf:  # the reverse trajectory would be aborted here, too
                break
    return potential


@scalar
def compute_coefficient_potential(problem: Any, state: Any, motion: Any) -> Any:
    """Compute minus log posterior U and its slopes at `motion.coef`."""
    A = problem.covariates
    m, n = A.shape
    d = 0
    for k in problem.free_classes:
        for i in range(n):
            motion.linear[k, i] = 0.0
        for j in range(m):
            beta = motion.coef[d]
            for i in range(n):
                motion.linear[k, i] += A[j, i] * beta
            d += 1
    total = _compute_misfit(problem, motion)
    d = 0
    for k in problem.free_classes:
        for j in range(m):
            pull = motion.coef[d] / state.variance[k, j]
            motion.slope[d] = dot_rows(A, j, motion.residual, k, n) + pull
            total += 0.5 * motion.coef[d] * pull
            d += 1
    return total


@scalar
def _compute_misfit(problem: Any, motion: Any) -> Any:
    """Return minus the log-likelihood; store its slopes by linear predictors."""
    total = 0.0
    for i in range(problem.codes.size):
        code, row_weight = problem.codes[i], problem.counts[i]
        if problem.classes == 2:
            difference = motion.linear[code, i] - motion.linear[1 - code, i]
            odds = math.exp(-abs(difference))
            # the probability of the other class
            other_probability = (odds if difference > 0.0 else 1.0) / (1.0 + odds)
            total += row_weight * (math.log1p(odds) + max(-difference, 0.0))
            motion.residual[code, i] = -row_weight * other_probability
            motion.residual[1 - code, i] = row_weight * other_probability
        else:
            maximum = -math.inf
            for k in range(problem.classes):
                maximum = max(maximum, motion.linear[k, i])
            exponential_sum = 0.0
            for k in range(problem.classes):
                motion.residual[k, i] = math.exp(motion.linear[k, i] - maximum)
                exponential_sum += motion.residual[k, i]
            total += row_weight * (maximum + math.log(exponential_sum) - motion.linear[code, i])
            for k in range(problem.classes):
                motion.residual[k, i] *= row_weight / exponential_sum
            motion.residual[code, i] -= row_weight
    return total


@part
def update_curvature(problem: Any, state: Any, motion: Any) -> None:
    """Update the running mean curvature by that at the current coefficients.

    Later curvatures have more weight: the weights rise linearly. A block of classes k and l is X^T
    diag(c p_k (1{k = l} - p_l)) X.
    """
    A, free_classes = problem.covariates, problem.free_classes
    m, n = A.shape
    motion.real[CURVATURES] += 1.0
    step = 2.0 / (motion.real[CURVATURES] + 1.0)
    for k in free_classes:
        for i in range(n):
            motion.linear[k, i] = state.linear[k, i]
    _compute_misfit(problem, motion)
    for i in range(n):  # c times the probabilities
        motion.residual[problem.codes[i], i] += problem.counts[i]
    for block_row in range(free_classes.size):
        for block_column in range(block_row + 1):
            k, other_class = free_classes[block_row], free_classes[block_column]
            for i in range(n):
                diagonal = 0.0
                if k == other_class:
                    diagonal = problem.counts[i]
                state.weights[i] = (
                    motion.residual[k, i]
                    * (diagonal - motion.residual[other_class, i])
                    / problem.counts[i]
                )
            for j in range(m):
                row = block_row * m + j
                for i in range(n):
                    state.scaled[j, i] = A[j, i] * state.weights[i]
                for b in range(m):
                    column = block_column * m + b
                    motion.curvature[row, column] += step * (
                        dot_rows(state.scaled, j, A, b, n) - motion.curvature[row, column]
                    )


@scalar
def adapt_trajectory_step(motion: Any, probability: Any) -> None:
    """Adapt the step size to this acceptance probability, while tuning."""
    real = motion.real
    real[TIME] += 1.0
    real[LOG_STEP] += (probability - _TARGET) * real[TIME] ** -0.6
    real[AVERAGE] += (real[LOG_STEP] - real[AVERAGE]) * real[TIME] ** -0.6


@scalar
def adapt_trajectory(problem: Any, state: Any, motion: Any, sweep: Any, tune: Any) -> None:
    """Update the curvature while tuning, and fix the step size at its end."""
    if sweep >= FIRST_SWEEPS and (sweep - FIRST_SWEEPS) % max(1, tune // _CURVATURES) == 0:
        update_curvature(problem, state, motion)
    if sweep == tune and motion.real[TIME] > 0.0:
        motion.real[LOG_STEP] = motion.real[AVERAGE]
