"""The shapes of θ and ε, given all of them: a random walk on (ln a, logit σ)."""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import accept

from ..state import PERSON, SHAPES, SIGMA, TOP, A

STEPS = 10
_SCALES = (4.0, 1.0, 0.25)


@scalar
def log_prior_shapes(a: Any, sigma: Any) -> Any:
    """a ~ Gamma(1, 1), σ uniform, as a density of (ln a, logit σ)."""
    return math.log(a) - a + math.log(sigma) + math.log1p(-sigma)


@scalar
def log_values(g: Any, h: Any, n_theta: Any, sum_theta: Any, n_eps: Any, sum_eps: Any) -> Any:
    """The part of the density of the values that depends on their shapes g and h; the sums are of
    logarithms."""
    total = 0.0
    if n_theta > 0:
        total += g * sum_theta - n_theta * math.lgamma(g)
    if n_eps > 0:
        total += h * sum_eps - n_eps * math.lgamma(h)
    return total


@scalar
def sum_values(problem: Any, state: Any) -> Any:
    """Number of θ, sum of their logarithms, the same of ε."""
    n_theta, sum_theta, n_eps, sum_eps = 0, 0.0, 0, 0.0
    for f in range(state.whole[TOP]):
        n = state.features.slots[f, PERSON]
        if n < 0:
            continue
        n_theta += 1
        sum_theta += state.features.log_theta[f]
        for tau in range(problem.tasks.first_task[n + 1] - problem.tasks.first_task[n]):
            if state.features.separates[f, tau] != 0:
                n_eps += 1
                sum_eps += state.features.log_eps[f, tau]
    return n_theta, sum_theta, n_eps, sum_eps


@scalar
def unlogit(x: Any) -> Any:
    """1 / (1 + e^-x), never 0 or 1."""
    return min(max(1.0 / (1.0 + math.exp(-x)), 1e-12), 1.0 - 1e-12)


@scalar
def walk_shapes(rng: Any, problem: Any, state: Any) -> None:
    """Ten steps of the walk: long, medium and short in turn."""
    n_theta, sum_theta, n_eps, sum_eps = sum_values(problem, state)
    a, sigma = state.real[A], state.real[SIGMA]
    now = log_prior_shapes(a, sigma) + log_values(
        sigma * a, (1.0 - sigma) * a, n_theta, sum_theta, n_eps, sum_eps
    )
    for i in range(STEPS):
        scale = _SCALES[i % 3] * 2.0 / math.sqrt(1.0 + n_theta)
        new_a = a * math.exp(scale * rng.standard_normal())
        new_sigma = unlogit(math.log(sigma / (1.0 - sigma)) + scale * rng.standard_normal())
        then = log_prior_shapes(new_a, new_sigma) + log_values(
            new_sigma * new_a, (1.0 - new_sigma) * new_a, n_theta, sum_theta, n_eps, sum_eps
        )
        state.counts[SHAPES, 0] += 1
        if accept(rng, then - now):
            state.counts[SHAPES, 1] += 1
            a, sigma, now = new_a, new_sigma, then
    state.real[A], state.real[SIGMA] = a, sigma
