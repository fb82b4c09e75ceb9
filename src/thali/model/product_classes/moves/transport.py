"""(a, σ) together with all values, by transport along the quantiles of their prior.

Given all values, (a, σ) is nearly fixed; this move changes the values as well: the choices decide. Of each person one
feature's ε is integrated out in the hard tasks, so that fewer choices are at the edge of a bound, and drawn afterwards.
Lapses are summed out here: a visit must redraw them before anything else reads them.
"""

import math
from typing import Any

from thali._jit import scalar
from thali.inference.numerics.decisions import index
from thali.inference.numerics.gamma_quantiles import fill_map, mapped

from ..state import NEXT_OWNED, PRESENT, SIGMA, TRANSPORT, A
from .freed import draw_freed, freed_feature, is_freed, log_freed_hits
from .value_shapes import log_prior_shapes, unlogit

THETA, EPS = 0, 4  # first rows of the maps in Work.quantiles
_REACH = 7.0  # over the root of the number of tasks, at most 1: the longest standard deviation of a step of ln a
_RANGE = 10.0  # from the longest to the shortest; steps of logit σ are twice as long


@scalar
def move_all_values(rng: Any, problem: Any, target: Any, state: Any, work: Any, attempts: Any) -> None:
    """A number of attempts."""
    now, h = 0.0, (1.0 - state.real[SIGMA]) * state.real[A]
    for n in range(state.whole[PRESENT]):
        now += log_freed_hits(problem, target, state.features, work, n, freed_feature(state.features, n), h)
    for _ in range(attempts):
        now = attempt(rng, problem, target, state, work, now)


@scalar
def attempt(rng: Any, problem: Any, target: Any, state: Any, work: Any, now: Any) -> Any:
    """One attempt, given ln of the likelihood without the freed ε; returns what that is afterwards."""
    a, sigma = state.real[A], state.real[SIGMA]
    scale = min(1.0, _REACH / math.sqrt(target.delta.shape[0])) * math.exp(-math.log(_RANGE) * rng.random())
    new_a, new_sigma, which = a, sigma, index(rng, 3)
    if which != 1:
        new_a = a * math.exp(scale * rng.standard_normal())
    if which != 0:
        new_sigma = unlogit(math.log(sigma / (1.0 - sigma)) + 2.0 * scale * rng.standard_normal())
    h, new_h = (1.0 - sigma) * a, (1.0 - new_sigma) * new_a
    fill_map(problem.quantiles, work.quantiles, THETA, sigma * a, new_sigma * new_a)
    fill_map(problem.quantiles, work.quantiles, EPS, h, new_h)
    state.counts[TRANSPORT, 0] += 1
    # An attempt ends at the first person whose choices are impossible.
    least = -rng.standard_exponential() - (log_prior_shapes(new_a, new_sigma) - log_prior_shapes(a, sigma))
    ratio, fit, done = 0.0, 0.0, 0
    while done < state.whole[PRESENT] and fit > -math.inf:
        free = freed_feature(state.features, done)
        ratio += move_person(
            problem,
            target,
            state.features,
            work,
            done,
            free,
            sigma * a,
            h,
            new_sigma * new_a,
            new_h,
        )
        fit += log_freed_hits(problem, target, state.features, work, done, free, new_h)
        done += 1
    if ratio + fit - now > least:
        state.counts[TRANSPORT, 1] += 1
        state.real[A], state.real[SIGMA] = new_a, new_sigma
        for n in range(done):
            draw_freed(rng, problem, target, state.features, work, n, freed_feature(state.features, n), new_h)
        return fit
    for n in range(done):
        put_back(problem.tasks, state.features, work.kept, n)
    return now


@scalar
def move_person(
    problem: Any,
    target: Any,
    features: Any,
    work: Any,
    n: Any,
    free: Any,
    g: Any,
    h: Any,
    new_g: Any,
    new_h: Any,
) -> Any:
    """Move all values of person n but the freed ε, keeping the old ones; returns ln of prior ratio and Jacobian."""
    first = problem.tasks.first_task[n]
    kept = work.kept
    constant_theta = math.lgamma(g) - math.lgamma(new_g)
    constant_eps = math.lgamma(h) - math.lgamma(new_h)
    total = 0.0
    f = features.people[n, 0]
    while f >= 0:
        old, old_theta = features.log_theta[f], features.theta[f]
        kept.log_theta[f], kept.theta[f] = old, old_theta
        new, log_slope = mapped(work.quantiles, THETA, old)
        new_theta = math.exp(new)
        features.log_theta[f], features.theta[f] = new, new_theta
        total += new_g * new - new_theta - g * old + old_theta + log_slope + constant_theta
        for tau in range(problem.tasks.first_task[n + 1] - problem.tasks.first_task[n]):
            if features.separates[f, tau] != 0:
                old, old_value = features.log_eps[f, tau], features.value[f, tau]
                kept.log_eps[f, tau], kept.value[f, tau] = old, old_value
                if is_freed(target, features, f, free, first + tau, tau):
                    continue
                new, log_slope = mapped(work.quantiles, EPS, old)
                new_eps = math.exp(new)
                features.log_eps[f, tau], features.value[f, tau] = new, new_theta + new_eps
                total += new_h * new - new_eps - h * old + (old_value - old_theta) + log_slope + constant_eps
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
                features.log_eps[f, tau], features.value[f, tau] = kept.log_eps[f, tau], kept.value[f, tau]
        f = features.slots[f, NEXT_OWNED]
