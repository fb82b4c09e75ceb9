r"""Hamiltonian Monte Carlo trajectories with metric A = C C^T, in compiled samplers.

With momenta r ~ N(0, I) a leap of length e is

.. math::
    r \leftarrow r + \tfrac e2 C^{-1} \nabla \ln \pi(x), \quad x \leftarrow x + e C^{-T} r, \quad
    r \leftarrow r + \tfrac e2 C^{-1} \nabla \ln \pi(x).

A target is a NamedTuple whose class registers the log density and its slope.
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import generic, part, scalar, vectorised

from .cholesky import solve_lower, solve_upper
from .discrete_draws import accept

ACCEPTANCE = 0.8  # target probability to accept a trajectory, for the adaptation of steps
# relative spread of step lengths, so that no trajectory is a full period of the motion
SPREAD = 0.2


@generic
def evaluate(target: Any, position: Any, slope: Any) -> Any:
    """Return the log density at a position; write its gradient into `slope`."""


@part
def run_trajectory(
    rng: np.random.Generator,
    target: Any,
    root: Any,
    position: Any,
    log_step: Any,
    n_leaps: Any,
    gain: Any,
) -> Any:
    """Run `n_leaps` leapfrog steps; return whether to accept the end point.

    `log_step` (1,) is adapted to the acceptance.
    """
    push, slope, change = np.empty(position.size), np.empty(position.size), np.empty(position.size)
    for i in range(push.size):
        push[i] = rng.standard_normal()
    step = draw_step(rng, math.exp(log_step[0]))
    log_ratio, value = 0.5 * sum_squares(push), 0.0
    for leap in range(n_leaps + 1):
        value = evaluate(target, position, slope)
        if leap == 0:
            log_ratio -= value
        is_end = leap == 0 or leap == n_leaps
        kick(root, push, slope, 0.5 * step if is_end else step)
        if leap < n_leaps:
            drift(root, push, position, change, step)
    log_ratio += value - 0.5 * sum_squares(push)
    log_step[0] += gain * (compute_acceptance(log_ratio) - ACCEPTANCE)
    return accept(rng, log_ratio)


@scalar
def kick(root: Any, push: Any, slope: Any, length: Any) -> None:
    """Add `length` times the transformed gradient to the momenta `push`."""
    solve_lower(root, slope)
    for i in range(push.size):
        push[i] += length * slope[i]


@scalar
def drift(root: Any, push: Any, position: Any, change: Any, length: Any) -> None:
    """Add `length` times the transformed momenta to the position."""
    for i in range(push.size):
        change[i] = push[i]
    solve_upper(root, change)
    for i in range(push.size):
        position[i] += length * change[i]


@scalar
def draw_step(rng: np.random.Generator, step: Any) -> Any:
    """Draw a leapfrog step size uniformly within 20 % of `step`."""
    return step * (1.0 + SPREAD * (2.0 * rng.random() - 1.0))


@scalar
def compute_acceptance(log_ratio: Any) -> Any:
    """Return min(1, exp(log_ratio)); 0 for NaN."""
    return math.exp(min(log_ratio, 0.0)) if log_ratio == log_ratio else 0.0


@scalar
def sum_squares(vector: Any) -> Any:
    """Return the sum of squares of a vector."""
    return dot(vector, vector)


@vectorised
def dot(left: Any, right: Any) -> Any:
    """Return the inner product of two vectors."""
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total
