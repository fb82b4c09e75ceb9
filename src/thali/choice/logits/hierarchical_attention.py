r"""What people attend to, in a sweep of the hierarchical logit.

Person n attends to attribute k, :math:`\lambda_{nk} = 1`, or ignores it;
:math:`\lambda_{nk} \sim \operatorname{Bernoulli}(\theta_k)`, :math:`\theta_k \sim \operatorname{Beta}(1, 1)` (Gilbride,
Allenby & Brazell 2006). A coefficient of utility is 0 for who ignores an attribute to which it belongs; one of an
interaction belongs to two. All :math:`\beta_n \sim N(M^T z_n, \Sigma)`, the ignored ones too, which the choices say
nothing of. For one person:

1. the ignored part I of beta_n from its conditional given the rest R: with :math:`P = \Sigma^{-1}` and
   :math:`\delta_n = \beta_n - M^T z_n`, normal of precision :math:`P_{II}` and mean
   :math:`-P_{II}^{-1} P_{IR} \delta_{nR}`;
2. each :math:`\lambda_{nk}` in turn changes with probability :math:`\min\{1, r\}`,

.. math::
    r = \Big(\frac{\theta_k}{1 - \theta_k}\Big)^{\pm 1}
        \frac{L_n(\beta_n, \lambda_n')}{L_n(\beta_n, \lambda_n)}.

Since step 1 leaves the ignored part independent of all that came before, whoever begins to attend does so by tastes
drawn from the population, given the person's other tastes. A change costs one likelihood of the person; to weigh all
2^K patterns at once would cost 2^K of them, and would leave what is slow, the tastes to begin with, as it is.
"""

import math
from typing import Any

import numpy as np

from thali.compile.jit import part, scalar
from thali.inference.numerics.cholesky import factorise, solve_lower, solve_upper
from thali.inference.numerics.decisions import accept

from .hierarchical_moves import centre_of, dot, heed, probabilities_of_task, slope_of, write_tastes


@part
def attend(rng: np.random.Generator, problem: Any, state: Any, space: Any, n: Any) -> None:
    """What person n ignores, drawn from the population; then, attribute by attribute, whether n attends to it."""
    draw_ignored(rng, problem, state, space, n)
    decide(rng, problem, state, space, n)
    state.log_likelihood[n] = slope_of(problem, state, space, state.beta[n], n, state.slope[n])


@scalar
def draw_ignored(rng: np.random.Generator, problem: Any, state: Any, space: Any, n: Any) -> None:
    """The ignored part of beta_n given the rest: normal of precision P_II."""
    p = state.beta.shape[1]
    for i in range(p):  # the deviations that are known
        space.taste[i] = state.beta[n, i] - centre_of(problem, state.mean, n, i)
    heed(state, n, space.taste)
    for i in range(p):
        ignores = state.heeded[n, i] == 0.0
        space.vector[i] = -dot(state.precision[i], space.taste) if ignores else 0.0
        for j in range(i + 1):
            both = ignores and state.heeded[n, j] == 0.0
            space.matrix[i, j] = state.precision[i, j] if both else (1.0 if i == j else 0.0)
    factorise(space.matrix, space.factor)
    solve_lower(space.factor, space.vector)
    for i in range(p):
        if state.heeded[n, i] == 0.0:
            space.vector[i] += rng.standard_normal()
    solve_upper(space.factor, space.vector)
    for i in range(p):
        if state.heeded[n, i] == 0.0:
            state.beta[n, i] = centre_of(problem, state.mean, n, i) + space.vector[i]


@scalar
def decide(rng: np.random.Generator, problem: Any, state: Any, space: Any, n: Any) -> None:
    """Change each lambda_nk in turn, or not, given all tastes."""
    now = log_likelihood_of(problem, state, space, n)
    for k in range(state.rate.size):
        odds = math.log(state.rate[k]) - math.log(1.0 - state.rate[k])
        was = state.attends[n, k]
        state.attends[n, k] = 1.0 - was
        write_heeded(problem, state, n)
        then = log_likelihood_of(problem, state, space, n)
        if accept(rng, then - now + (odds if was == 0.0 else -odds)):
            now = then
        else:
            state.attends[n, k] = was
            write_heeded(problem, state, n)


@part
def log_likelihood_of(problem: Any, state: Any, space: Any, n: Any) -> Any:
    """Log-likelihood of the choices of person n."""
    write_tastes(problem, state.beta[n], space.taste)
    heed(state, n, space.taste)
    total = 0.0
    for t in range(problem.first_task[n], problem.first_task[n + 1]):
        total += probabilities_of_task(problem, space, t)
    return total


@part
def write_heeded(problem: Any, state: Any, n: Any) -> None:
    """Which coefficients person n does not ignore."""
    for i in range(state.heeded.shape[1]):
        heeded = 1.0
        for k in range(state.rate.size):
            if problem.owned[k, i] == 1.0:
                heeded *= state.attends[n, k]
        state.heeded[n, i] = heeded


@scalar
def draw_rates(rng: np.random.Generator, state: Any) -> None:
    """theta_k given who attends: Beta(1 + sum of lambda_nk, 1 + sum of 1 - lambda_nk)."""
    people = state.attends.shape[0]
    for k in range(state.rate.size):
        attending = 0.0
        for n in range(people):
            attending += state.attends[n, k]
        one, other = rng.standard_gamma(1.0 + attending), rng.standard_gamma(1.0 + people - attending)
        state.rate[k] = one / (one + other)
