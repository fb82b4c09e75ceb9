"""The shapes of θ and ε, given all of them: a random walk on (ln a, logit σ)."""

import math

from thali._jit import scalar
from thali.mcmc.chance import accept
from thali.product_classes.state import PERSON, SHAPES, SIGMA, TOP, A

STEPS = 10
_SCALES = (4.0, 1.0, 0.25)


@scalar
def log_prior_shapes(a, sigma):
    """a ~ Gamma(1, 1), σ uniform, as a density of (ln a, logit σ)."""
    return math.log(a) - a + math.log(sigma) + math.log1p(-sigma)


@scalar
def log_values(g, h, n_theta, sum_theta, n_eps, sum_eps):
    """What of the density of the values depends on their shapes g and h; the sums are of logarithms."""
    total = 0.0
    if n_theta > 0:
        total += g * sum_theta - n_theta * math.lgamma(g)
    if n_eps > 0:
        total += h * sum_eps - n_eps * math.lgamma(h)
    return total


@scalar
def sum_values(problem, state):
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
def unlogit(x):
    """1 / (1 + e^-x), kept off 0 and 1."""
    return min(max(1.0 / (1.0 + math.exp(-x)), 1e-12), 1.0 - 1e-12)


@scalar
def walk_shapes(rng, problem, state):
    """Ten steps of the walk, long, middling and short in turn."""
    n_theta, sum_theta, n_eps, sum_eps = sum_values(problem, state)
    a, sigma = state.real[A], state.real[SIGMA]
    now = log_prior_shapes(a, sigma) + log_values(sigma * a, (1.0 - sigma) * a, n_theta, sum_theta, n_eps, sum_eps)
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
