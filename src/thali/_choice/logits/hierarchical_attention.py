r"""What people attend to, in a sweep of the hierarchical logit.

Person n attends to attribute k, :math:`\lambda_{nk} = 1`, or ignores it; :math:`\lambda_{nk} \sim
\operatorname{Bernoulli}(\theta_k)`, :math:`\theta_k \sim \operatorname{Beta}(1, 1)` (Gilbride,
Allenby & Brazell 2006); or, where that depends on columns of people, :math:`c_n`,

.. math::
    \operatorname{logit} \theta_{nk} = \operatorname{logit} \theta_k + c_n^T \gamma_k, \qquad
    \gamma_{rk} \sim N(0, 1).

A coefficient of utility is 0 for who ignores an attribute to which it belongs; one of an
interaction belongs to two. All :math:`\beta_n \sim N(M^T z_n, \Sigma)`, the ignored ones too, which
the choices say nothing of. For one person:

1. the ignored part I of beta_n from its conditional given the rest R: with :math:`P = \Sigma^{-1}`
   and :math:`\delta_n = \beta_n - M^T z_n`, normal of precision :math:`P_{II}` and mean
   :math:`-P_{II}^{-1} P_{IR} \delta_{nR}`;
2. each :math:`\lambda_{nk}` in turn changes with probability :math:`\min\{1, r\}`,

.. math::
    r = \Big(\frac{\theta_{nk}}{1 - \theta_{nk}}\Big)^{\pm 1}
        \frac{L_n(\beta_n, \lambda_n')}{L_n(\beta_n, \lambda_n)}.

Since step 1 leaves the ignored part independent of all that came before, whoever begins to attend
does so by tastes drawn from the population, given the person's other tastes. A change costs one
likelihood of the person; to weigh all 2^K patterns at once would cost 2^K of them, and would leave
what is slow, the tastes to begin with, as it is.

Given who attends, theta_k has a beta distribution. With columns of people :math:`a_k =
(\operatorname{logit} \theta_k, \gamma_k)` moves along a Hamiltonian trajectory of a random number
of steps; the log-density is concave, and its curvature nowhere above :math:`\tfrac14 \sum_n (1,
c_n) (1, c_n)^T + \operatorname{diag}(\tfrac12, 1, \dots, 1)`, the metric.
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import part, scalar
from thali._inference.numerics.cholesky import factorise, solve_lower, solve_upper
from thali._inference.numerics.decisions import accept, draw_index
from thali._inference.numerics.trajectories import dot, draw_step, drift, kick, sum_squares

from .hierarchical_moves import centre_of, heed, probabilities_of_task, slope_of, write_tastes

MOST_STEPS = 10  # of a trajectory of the log odds of attending to an attribute
# of such a step; a period has 6 where the curvature is the metric, 30 where nearly all attend
_LENGTH = 1.0


@part
def attend(rng: np.random.Generator, problem: Any, state: Any, space: Any, n: Any) -> None:
    """What person n ignores, drawn from the population; then, attribute by attribute, whether n
    attends to it."""
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
        for r in range(state.effect.shape[0]):
            odds += problem.looking[n, r + 1] * state.effect[r, k]
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


@part
def draw_rates(rng: np.random.Generator, problem: Any, state: Any, space: Any) -> None:
    """theta_k given who attends: Beta(1 + sum of lambda_nk, 1 + sum of 1 - lambda_nk), or with
    gamma_k a trajectory."""
    people = state.attends.shape[0]
    if state.effect.shape[0] > 0:
        for k in range(state.rate.size):
            move_odds(rng, problem, state, space, k)
        return
    for k in range(state.rate.size):
        attending = 0.0
        for n in range(people):
            attending += state.attends[n, k]
        one, other = (
            rng.standard_gamma(1.0 + attending),
            rng.standard_gamma(1.0 + people - attending),
        )
        state.rate[k] = one / (one + other)


@part
def move_odds(rng: np.random.Generator, problem: Any, state: Any, space: Any, k: Any) -> None:
    """One trajectory of logit theta_k and gamma_k given who attends."""
    odds, push, size = space.odds, space.odds_push, space.odds.size
    odds[0] = math.log(state.rate[k]) - math.log(1.0 - state.rate[k])
    for r in range(1, size):
        odds[r] = state.effect[r - 1, k]
    for r in range(size):
        push[r] = rng.standard_normal()
    step = draw_step(rng, _LENGTH)
    energy = 0.5 * sum_squares(push) - density_of_odds(problem, state, space, k)
    steps = 1 + draw_index(rng, MOST_STEPS)
    for passed in range(steps):
        kick(problem.odds_root, push, space.odds_force, 0.5 * step if passed == 0 else step)
        drift(problem.odds_root, push, odds, space.odds_force, step)
        density = density_of_odds(problem, state, space, k)
        if passed == steps - 1:
            kick(problem.odds_root, push, space.odds_force, 0.5 * step)
            energy += density - 0.5 * sum_squares(push)
    if accept(rng, energy):
        state.rate[k] = 1.0 / (1.0 + math.exp(-odds[0]))
        for r in range(1, size):
            state.effect[r - 1, k] = odds[r]


@part
def density_of_odds(problem: Any, state: Any, space: Any, k: Any) -> Any:
    """Log-density of who attends to attribute k and of the prior at `space.odds`; its slope in
    `space.odds_force`."""
    odds, slope = space.odds, space.odds_force
    # logistic, as theta_k is uniform
    total = -abs(odds[0]) - 2.0 * math.log1p(math.exp(-abs(odds[0])))
    slope[0] = -math.tanh(0.5 * odds[0])
    for r in range(1, odds.size):
        total -= 0.5 * odds[r] ** 2
        slope[r] = -odds[r]
    for n in range(state.attends.shape[0]):
        own = dot(problem.looking[n], odds)
        total -= math.log1p(math.exp(-abs(own))) + (max(own, 0.0) - state.attends[n, k] * own)
        off = state.attends[n, k] - 0.5 - 0.5 * math.tanh(0.5 * own)
        for r in range(odds.size):
            slope[r] += off * problem.looking[n, r]
    return total
