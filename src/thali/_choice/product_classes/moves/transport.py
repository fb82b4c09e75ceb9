"""(a, σ) together with all values, by transport along the quantiles of their prior.

Given all values, (a, σ) is nearly fixed; this move changes the values as well: the choices decide.
Lapses are summed out here: a visit must redraw them before anything else reads them.
"""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import draw_index
from thali._inference.numerics.gamma import apply_map, fill_map

from ..likelihood import log_likelihood_of, log_with_lapse, look_at_hits
from ..state import NEXT_OWNED, PRESENT, SIGMA, TRANSPORT, A
from .value_shapes import log_prior_shapes, unlogit

THETA, EPS = 0, 4  # first rows of the maps in Work.quantiles
# over the root of the number of tasks: the longest standard deviation of a step of ln a
_REACH = 20.0
_LONGEST = 3.0  # of these, however few tasks there are
_RANGE = 4.0  # from the longest to the shortest; steps of logit σ are twice as long


@scalar
def move_all_values(rng: Any, problem: Any, target: Any, state: Any, work: Any) -> None:
    """One attempt."""
    a, sigma = state.real[A], state.real[SIGMA]
    scale = min(_LONGEST, _REACH / math.sqrt(target.delta.shape[0])) * math.exp(
        -math.log(_RANGE) * rng.random()
    )
    new_a, new_sigma, which = a, sigma, draw_index(rng, 3)
    if which != 1:
        new_a = a * math.exp(scale * rng.standard_normal())
    if which != 0:
        new_sigma = unlogit(math.log(sigma / (1.0 - sigma)) + 2.0 * scale * rng.standard_normal())
    h, new_h = (1.0 - sigma) * a, (1.0 - new_sigma) * new_a
    fill_map(problem.quantiles, work.quantiles, THETA, sigma * a, new_sigma * new_a)
    fill_map(problem.quantiles, work.quantiles, EPS, h, new_h)
    state.counts[TRANSPORT, 0] += 1
    # An attempt ends at the first person whose choices are impossible.
    least = -rng.standard_exponential() + log_likelihood_of(problem, target, state, work)
    least -= log_prior_shapes(new_a, new_sigma) - log_prior_shapes(a, sigma)
    gain, done = 0.0, 0
    while done < state.whole[PRESENT] and gain > -math.inf:
        gain += move_person(
            problem, state.features, work, done, sigma * a, h, new_sigma * new_a, new_h
        )
        look_at_hits(problem, state, work, 0, done)
        gain += log_with_lapse(problem.tasks, target, work.hit, done)
        done += 1
    if gain > least:
        state.counts[TRANSPORT, 1] += 1
        state.real[A], state.real[SIGMA] = new_a, new_sigma
        return
    for n in range(done):
        put_back(problem.tasks, state.features, work.kept, n)


@scalar
def move_person(
    problem: Any, features: Any, work: Any, n: Any, g: Any, h: Any, new_g: Any, new_h: Any
) -> Any:
    """Move all values of person n, keeping the old ones; returns ln of prior ratio and Jacobian."""
    kept = work.kept
    constant_theta = math.lgamma(g) - math.lgamma(new_g)
    constant_eps = math.lgamma(h) - math.lgamma(new_h)
    total = 0.0
    f = features.people[n, 0]
    while f >= 0:
        old, old_theta = features.log_theta[f], features.theta[f]
        kept.log_theta[f], kept.theta[f] = old, old_theta
        new, log_slope = apply_map(work.quantiles, THETA, old)
        new_theta = math.exp(new)
        features.log_theta[f], features.theta[f] = new, new_theta
        total += new_g * new - new_theta - g * old + old_theta + log_slope + constant_theta
        for tau in range(problem.tasks.first_task[n + 1] - problem.tasks.first_task[n]):
            if features.separates[f, tau] != 0:
                old, old_value = features.log_eps[f, tau], features.value[f, tau]
                kept.log_eps[f, tau], kept.value[f, tau] = old, old_value
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
def put_back(tasks: Any, features: Any, kept: Any, n: Any) -> None:
    """Restore the values of person n."""
    f = features.people[n, 0]
    while f >= 0:
        features.log_theta[f], features.theta[f] = kept.log_theta[f], kept.theta[f]
        for tau in range(tasks.first_task[n + 1] - tasks.first_task[n]):
            if features.separates[f, tau] != 0:
                features.log_eps[f, tau], features.value[f, tau] = (
                    kept.log_eps[f, tau],
                    kept.value[f, tau],
                )
        f = features.slots[f, NEXT_OWNED]
