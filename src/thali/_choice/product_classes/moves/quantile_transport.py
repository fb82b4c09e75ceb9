"""Joint move of the value parameters (a, sigma) and all values along prior quantiles.

Given all values, (a, σ) is nearly fixed. This move also changes the values, so the choices decide.
Lapses are summed out here: the next update of a respondent must redraw them before any other move
reads them.
"""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.discrete_draws import draw_index
from thali._inference.numerics.gamma_distribution import apply_map, fill_map

from ..likelihood import (
    count_tasks,
    log_likelihood_with_lapse,
    sum_log_likelihood,
    update_differences_and_hits,
)
from ..state import NEXT_OWNED, PRESENT, SIGMA, TRANSPORT, A
from .value_shapes import inverse_logit, log_prior_shapes

THETA, EPS = 0, 4  # first rows of the maps in ClassWorkspace.quantiles
# the largest standard deviation of a step of ln a is this over the root of the number of tasks
_REACH = 20.0
_MAX_SCALE = 3.0  # upper limit of that standard deviation
_SCALE_RATIO = 4.0  # ratio of the largest to the smallest; steps of logit σ are twice as long


@scalar
def transport_values(rng: Any, problem: Any, target: Any, state: Any, work: Any) -> None:
    """Propose new (a, sigma), moving all values to equal prior quantiles."""
    a, sigma = state.real[A], state.real[SIGMA]
    scale = min(_MAX_SCALE, _REACH / math.sqrt(target.delta.size)) * math.exp(
        -math.log(_SCALE_RATIO) * rng.random()
    )
    new_a, new_sigma, parameter_choice = a, sigma, draw_index(rng, 3)
    if parameter_choice != 1:
        new_a = a * math.exp(scale * rng.standard_normal())
    if parameter_choice != 0:
        new_sigma = inverse_logit(
            math.log(sigma / (1.0 - sigma)) + 2.0 * scale * rng.standard_normal()
        )
    h, new_h = (1.0 - sigma) * a, (1.0 - new_sigma) * new_a
    fill_map(problem.quantiles, work.quantiles, THETA, sigma * a, new_sigma * new_a)
    fill_map(problem.quantiles, work.quantiles, EPS, h, new_h)
    state.counts[TRANSPORT, 0] += 1
    # An attempt ends at the first person whose choices are impossible.
    min_log = -rng.standard_exponential() + sum_log_likelihood(problem, target, state, work)
    min_log -= log_prior_shapes(new_a, new_sigma) - log_prior_shapes(a, sigma)
    gain, n_moved = 0.0, 0
    while n_moved < state.whole[PRESENT] and gain > -math.inf:
        gain += transport_person(
            problem, state.features, work, n_moved, sigma * a, h, new_sigma * new_a, new_h
        )
        update_differences_and_hits(problem, state, work, 0, n_moved)
        gain += log_likelihood_with_lapse(problem.tasks, target, work.hit, n_moved)
        n_moved += 1
    if gain > min_log:
        state.counts[TRANSPORT, 1] += 1
        state.real[A], state.real[SIGMA] = new_a, new_sigma
        return
    for n in range(n_moved):
        restore_values(problem.tasks, state.features, work.kept, n)


@scalar
def transport_person(
    problem: Any, features: Any, work: Any, n: Any, g: Any, h: Any, new_g: Any, new_h: Any
) -> Any:
    """Move respondent n's values to new shapes; return log prior ratio plus Jacobian.

    The old values are stored in work.kept.
    """
    backup = work.kept
    constant_theta = math.lgamma(g) - math.lgamma(new_g)
    constant_eps = math.lgamma(h) - math.lgamma(new_h)
    total = 0.0
    f = features.respondents[n, 0]
    while f >= 0:
        old, old_theta = features.log_theta[f], features.theta[f]
        backup.log_theta[f], backup.theta[f] = old, old_theta
        new, log_slope = apply_map(work.quantiles, THETA, old)
        new_theta = math.exp(new)
        features.log_theta[f], features.theta[f] = new, new_theta
        total += new_g * new - new_theta - g * old + old_theta + log_slope + constant_theta
        for tau in range(count_tasks(problem.tasks, n)):
            if features.separates[f, tau] != 0:
                old, old_value = features.log_eps[f, tau], features.value[f, tau]
                backup.log_eps[f, tau], backup.value[f, tau] = old, old_value
                new, log_slope = apply_map(work.quantiles, EPS, old)
                new_eps = math.exp(new)
                features.log_eps[f, tau], features.value[f, tau] = new, new_theta + new_eps
                total += (
                    new_h * new
                    - new_eps
                    - h * old
                    + (old_value - old_theta)
                    + log_slope
                    + constant_eps
                )
        f = features.slots[f, NEXT_OWNED]
    return total


@scalar
def restore_values(tasks: Any, features: Any, backup: Any, n: Any) -> None:
    """Restore respondent n's values after a rejected move."""
    f = features.respondents[n, 0]
    while f >= 0:
        features.log_theta[f], features.theta[f] = backup.log_theta[f], backup.theta[f]
        for tau in range(count_tasks(tasks, n)):
            if features.separates[f, tau] != 0:
                features.log_eps[f, tau], features.value[f, tau] = (
                    backup.log_eps[f, tau],
                    backup.value[f, tau],
                )
        f = features.slots[f, NEXT_OWNED]
