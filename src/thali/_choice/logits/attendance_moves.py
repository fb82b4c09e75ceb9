r"""Kernels that update attention to attributes in the hierarchical logit's sampler.

Person n attends to attribute k, :math:`\lambda_{nk} = 1`, or ignores it; :math:`\lambda_{nk} \sim
\operatorname{Bernoulli}(\theta_k)`, :math:`\theta_k \sim \operatorname{Beta}(1, 1)` (Gilbride,
Allenby & Brazell 2006); or, if it depends on columns of people, :math:`c_n`,

.. math::
    \operatorname{logit} \theta_{nk} = \operatorname{logit} \theta_k + c_n^T \gamma_k, \qquad
    \gamma_{rk} \sim N(0, 1).

A coefficient of utility is 0 for a person who ignores its attribute; the coefficient of an
interaction has two attributes. All :math:`\beta_n \sim N(M^T z_n, \Sigma)`, the ignored ones too,
although the choices contain no information about them. For one person:

1. the ignored entries I of beta_n from their conditional given the others R: with :math:`P =
   \Sigma^{-1}`
   and :math:`\delta_n = \beta_n - M^T z_n`, normal of precision :math:`P_{II}` and mean
   :math:`-P_{II}^{-1} P_{IR} \delta_{nR}`;
2. each :math:`\lambda_{nk}` in turn changes with probability :math:`\min\{1, r\}`,

.. math::
    r = \Big(\frac{\theta_{nk}}{1 - \theta_{nk}}\Big)^{\pm 1}
        \frac{L_n(\beta_n, \lambda_n')}{L_n(\beta_n, \lambda_n)}.

After step 1 the ignored entries are independent of the past, so a person starts to attend with
tastes from the population, given the person's other tastes. A change costs one likelihood of the
person; weighing all 2^K patterns jointly would cost 2^K of them, without speeding up the slow
coordinates, the first tastes after a change.

Given attention, theta_k has a beta distribution. With columns of people :math:`a_k =
(\operatorname{logit} \theta_k, \gamma_k)` moves along a Hamiltonian trajectory of a random number
of steps; the log-density is concave, and its curvature nowhere above :math:`\tfrac14 \sum_n (1,
c_n) (1, c_n)^T + \operatorname{diag}(\tfrac12, 1, \dots, 1)`, the metric.
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import part, scalar
from thali._inference.numerics.array_parts import part_range
from thali._inference.numerics.cholesky import factorise, solve_lower, solve_upper
from thali._inference.numerics.discrete_draws import accept, draw_index
from thali._inference.numerics.hamiltonian_trajectories import (
    dot,
    draw_step,
    drift,
    kick,
    sum_squares,
)

from .hierarchical_moves import (
    mean_taste,
    taste_deviation,
    write_likelihood_slope,
    write_task_probabilities,
    write_tastes,
    zero_ignored,
)

MAX_ODDS_STEPS = 10  # of a trajectory of the log odds of attending to an attribute
# a period has 6 steps if the curvature equals the metric, 30 if nearly all people attend
_STEP_LENGTH = 1.0


@part
def sample_attention(
    rng: np.random.Generator, problem: Any, state: Any, space: Any, n: Any
) -> None:
    """Update person n's ignored tastes, then attention to each attribute."""
    sample_ignored_tastes(rng, problem, state, space, n)
    flip_attention(rng, problem, state, space, n)
    state.log_likelihood[n] = write_likelihood_slope(
        problem, state, space, state.beta[n], n, state.slope[n]
    )


@scalar
def sample_ignored_tastes(
    rng: np.random.Generator, problem: Any, state: Any, space: Any, n: Any
) -> None:
    """Sample tastes that person n ignores, given the other tastes."""
    p = state.beta.shape[1]
    for i in range(p):  # deviations of attended coefficients
        space.taste[i] = taste_deviation(problem, state, n, i)
    zero_ignored(state, n, space.taste)
    for i in range(p):
        is_ignored = state.heeded[n, i] == 0.0
        space.vector[i] = -dot(state.precision[i], space.taste) if is_ignored else 0.0
        for j in range(i + 1):
            are_ignored = is_ignored and state.heeded[n, j] == 0.0
            space.matrix[i, j] = state.precision[i, j] if are_ignored else (1.0 if i == j else 0.0)
    factorise(space.matrix, space.factor)
    solve_lower(space.factor, space.vector)
    for i in range(p):
        if state.heeded[n, i] == 0.0:
            space.vector[i] += rng.standard_normal()
    solve_upper(space.factor, space.vector)
    for i in range(p):
        if state.heeded[n, i] == 0.0:
            state.beta[n, i] = mean_taste(problem, state, n, i) + space.vector[i]


@scalar
def flip_attention(rng: np.random.Generator, problem: Any, state: Any, space: Any, n: Any) -> None:
    """Propose to flip person n's attention to each attribute, given all tastes."""
    log_likelihood = person_log_likelihood(problem, state, space, n)
    for k in range(state.rate.size):
        log_odds = math.log(state.rate[k]) - math.log(1.0 - state.rate[k])
        for r in range(state.effect.shape[0]):
            log_odds += problem.looking[n, r + 1] * state.effect[r, k]
        old_attends = state.attends[n, k]
        state.attends[n, k] = 1.0 - old_attends
        write_heeded_mask(problem, state, n)
        new_log_likelihood = person_log_likelihood(problem, state, space, n)
        if accept(
            rng,
            new_log_likelihood - log_likelihood + (log_odds if old_attends == 0.0 else -log_odds),
        ):
            log_likelihood = new_log_likelihood
        else:
            state.attends[n, k] = old_attends
            write_heeded_mask(problem, state, n)


@part
def person_log_likelihood(problem: Any, state: Any, space: Any, n: Any) -> Any:
    """Return the log-likelihood of person n's choices."""
    write_tastes(problem, state.beta[n], space.taste)
    zero_ignored(state, n, space.taste)
    total = 0.0
    for t in part_range(problem.first_task, n):
        total += write_task_probabilities(problem, space, t)
    return total


@part
def write_heeded_mask(problem: Any, state: Any, n: Any) -> None:
    """Write a mask of coefficients that person n attends to."""
    for i in range(state.heeded.shape[1]):
        heeded = 1.0
        for k in range(state.rate.size):
            if problem.owned[k, i] == 1.0:
                heeded *= state.attends[n, k]
        state.heeded[n, i] = heeded


@part
def sample_rates(rng: np.random.Generator, problem: Any, state: Any, space: Any) -> None:
    """Sample theta_k, the population's rates of attention.

    It is Beta(1 + sum of lambda_nk, 1 + sum of 1 - lambda_nk), or with gamma_k a trajectory.
    """
    people = state.attends.shape[0]
    if state.effect.shape[0] > 0:
        for k in range(state.rate.size):
            move_attention_odds(rng, problem, state, space, k)
        return
    for k in range(state.rate.size):
        n_attending = 0.0
        for n in range(people):
            n_attending += state.attends[n, k]
        gamma = rng.standard_gamma(1.0 + n_attending)
        state.rate[k] = gamma / (gamma + rng.standard_gamma(1.0 + people - n_attending))


@part
def move_attention_odds(
    rng: np.random.Generator, problem: Any, state: Any, space: Any, k: Any
) -> None:
    """Update log odds and covariate effects of attention to attribute k by a trajectory."""
    odds, push, size = space.odds, space.odds_push, space.odds.size
    odds[0] = math.log(state.rate[k]) - math.log(1.0 - state.rate[k])
    for r in range(1, size):
        odds[r] = state.effect[r - 1, k]
    for r in range(size):
        push[r] = rng.standard_normal()
    step = draw_step(rng, _STEP_LENGTH)
    energy = 0.5 * sum_squares(push) - write_odds_slope(problem, state, space, k)
    n_steps = 1 + draw_index(rng, MAX_ODDS_STEPS)
    for i_step in range(n_steps):
        kick(problem.odds_root, push, space.odds_force, 0.5 * step if i_step == 0 else step)
        drift(problem.odds_root, push, odds, space.odds_force, step)
        log_density = write_odds_slope(problem, state, space, k)
        if i_step == n_steps - 1:
            kick(problem.odds_root, push, space.odds_force, 0.5 * step)
            energy += log_density - 0.5 * sum_squares(push)
    if accept(rng, energy):
        state.rate[k] = 1.0 / (1.0 + math.exp(-odds[0]))
        for r in range(1, size):
            state.effect[r - 1, k] = odds[r]


@part
def write_odds_slope(problem: Any, state: Any, space: Any, k: Any) -> Any:
    """Return the log density of attention to attribute k, prior included; write its slope.

    It is evaluated at `space.odds`; its slope is written into `space.odds_force`.
    """
    odds, slope = space.odds, space.odds_force
    # logistic, as theta_k is uniform
    total = -abs(odds[0]) - 2.0 * math.log1p(math.exp(-abs(odds[0])))
    slope[0] = -math.tanh(0.5 * odds[0])
    for r in range(1, odds.size):
        total -= 0.5 * odds[r] ** 2
        slope[r] = -odds[r]
    for n in range(state.attends.shape[0]):
        log_odds = dot(problem.looking[n], odds)
        total -= math.log1p(math.exp(-abs(log_odds))) + (
            max(log_odds, 0.0) - state.attends[n, k] * log_odds
        )
        off = state.attends[n, k] - 0.5 - 0.5 * math.tanh(0.5 * log_odds)
        for r in range(odds.size):
            slope[r] += off * problem.looking[n, r]
    return total
