r"""Hamiltonian trajectories in the metric :math:`A = C C^T`, for compiled samplers.

With momenta r ~ N(0, I) a leap of length e is

.. math::
    r \leftarrow r + \tfrac e2 C^{-1} \nabla \ln \pi(x), \quad x \leftarrow x + e C^{-T} r, \quad
    r \leftarrow r + \tfrac e2 C^{-1} \nabla \ln \pi(x).

What moves is a NamedTuple with its own class, which registers the log density with its slope.
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import generic, part, scalar, vectorised

from .cholesky import solve_lower, solve_upper
from .decisions import accept

ACCEPTANCE = 0.8  # mean probability to accept a trajectory, to which its step is adapted
# of step lengths: no length of trajectory is a period of the motion in every direction
SPREAD = 0.2


@generic
def evaluate(target: Any, place: Any, slope: Any) -> None:
    """Return the log density at a place, up to a constant, and write its slope."""


@part
def move_along(
    rng: np.random.Generator,
    target: Any,
    root: Any,
    place: Any,
    log_step: Any,
    n_leaps: Any,
    gain: Any,
) -> Any:
    """Move the place by some leaps, and return whether to accept; `log_step` (1,) follows the
    acceptance."""
    push, slope, change = np.empty(place.size), np.empty(place.size), np.empty(place.size)
    for i in range(push.size):
        push[i] = rng.standard_normal()
    step = draw_step(rng, math.exp(log_step[0]))
    log_ratio, value = 0.5 * square(push), 0.0
    for leap in range(n_leaps + 1):
        value = evaluate(target, place, slope)
        if leap == 0:
            log_ratio -= value
        is_end = leap == 0 or leap == n_leaps
        kick(root, push, slope, 0.5 * step if is_end else step)
        if leap < n_leaps:
            drift(root, push, place, change, step)
    log_ratio += value - 0.5 * square(push)
    log_step[0] += gain * (acceptance_of(log_ratio) - ACCEPTANCE)
    return accept(rng, log_ratio)


@scalar
def kick(root: Any, push: Any, slope: Any, length: Any) -> None:
    """Change the momenta along the slope of the log density, which is overwritten."""
    solve_lower(root, slope)
    for i in range(push.size):
        push[i] += length * slope[i]


@scalar
def drift(root: Any, push: Any, place: Any, change: Any, length: Any) -> None:
    """Move the place along the momenta; `change` is work space."""
    for i in range(push.size):
        change[i] = push[i]
    solve_upper(root, change)
    for i in range(push.size):
        place[i] += length * change[i]


@scalar
def draw_step(rng: np.random.Generator, step: Any) -> Any:
    """Draw the length of leaps within a fifth of a step."""
    return step * (1.0 + SPREAD * (2.0 * rng.random() - 1.0))


@scalar
def acceptance_of(log_ratio: Any) -> Any:
    """Return the probability of acceptance; 0 where a trajectory left the numbers."""
    return math.exp(min(log_ratio, 0.0)) if log_ratio == log_ratio else 0.0


@scalar
def square(vector: Any) -> Any:
    """Return the sum of squares."""
    return dot(vector, vector)


@vectorised
def dot(one: Any, other: Any) -> Any:
    """Return the product of two vectors."""
    total = 0.0
    for i in range(one.size):
        total += one[i] * other[i]
    return total
