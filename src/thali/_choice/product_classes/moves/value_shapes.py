"""Random walk of the value parameters (a, sigma), which are Gamma shapes, given values."""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.discrete_draws import accept

from ..likelihood import count_tasks
from ..state import PERSON, SHAPES, SIGMA, TOP, A

STEPS = 10
_SCALES = (4.0, 1.0, 0.25)


@scalar
def log_prior_shapes(a: Any, sigma: Any) -> Any:
    """Return the log prior density of the shape parameters, as (ln a, logit σ).

    a ~ Gamma(1, 1) and σ is uniform.
    """
    return math.log(a) - a + math.log(sigma) + math.log1p(-sigma)


@scalar
def log_value_density(
    g: Any, h: Any, n_theta: Any, sum_theta: Any, n_eps: Any, sum_eps: Any
) -> Any:
    """Return the log density of all values: theta ~ Gamma(g), epsilon ~ Gamma(h).

    The sums are sums of logarithms.
    """
    total = 0.0
    if n_theta > 0:
        total += g * sum_theta - n_theta * math.lgamma(g)
    if n_eps > 0:
        total += h * sum_eps - n_eps * math.lgamma(h)
    return total


@scalar
def sum_log_values(problem: Any, state: Any) -> Any:
    """Return number and sum of logs of theta, then of epsilon."""
    n_theta, sum_theta, n_eps, sum_eps = 0, 0.0, 0, 0.0
    for f in range(state.whole[TOP]):
        n = state.features.slots[f, PERSON]
        if n < 0:
            continue
        n_theta += 1
        sum_theta += state.features.log_theta[f]
        for tau in range(count_tasks(problem.tasks, n)):
            if state.features.separates[f, tau] != 0:
                n_eps += 1
                sum_eps += state.features.log_eps[f, tau]
    return n_theta, sum_theta, n_eps, sum_eps


@scalar
def inverse_logit(x: Any) -> Any:
    """Return 1 / (1 + e^-x), kept strictly between 0 and 1."""
    return min(max(1.0 / (1.0 + math.exp(-x)), 1e-12), 1.0 - 1e-12)


@scalar
def sample_shapes_by_walk(rng: Any, problem: Any, state: Any) -> None:
    """Update (a, sigma) by ten random-walk steps of three lengths."""
    n_theta, sum_theta, n_eps, sum_eps = sum_log_values(problem, state)
    a, sigma = state.real[A], state.real[SIGMA]
    log_density = log_prior_shapes(a, sigma) + log_value_density(
        sigma * a, (1.0 - sigma) * a, n_theta, sum_theta, n_eps, sum_eps
    )
    for i in range(STEPS):
        scale = _SCALES[i % 3] * 2.0 / math.sqrt(1.0 + n_theta)
        new_a = a * math.exp(scale * rng.standard_normal())
        new_sigma = inverse_logit(math.log(sigma / (1.0 - sigma)) + scale * rng.standard_normal())
        new_log_density = log_prior_shapes(new_a, new_sigma) + log_value_density(
            new_sigma * new_a, (1.0 - new_sigma) * new_a, n_theta, sum_theta, n_eps, sum_eps
        )
        state.counts[SHAPES, 0] += 1
        if accept(rng, new_log_density - log_density):
            state.counts[SHAPES, 1] += 1
            a, sigma, log_density = new_a, new_sigma, new_log_density
    state.real[A], state.real[SIGMA] = a, sigma
