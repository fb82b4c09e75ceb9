"""(a, σ) together with all values: transport along the quantiles of their prior, and a power of all values.

Given all values, (a, σ) is nearly pinned; these moves take the values along, so that choices alone decide. Lapses are
summed out here: a visit must draw them anew before anything else reads them.
"""

import math

from thali._jit import part, scalar
from thali.mcmc.chance import accept, index
from thali.product_classes.choices import log_likelihood_of, log_with_lapse
from thali.product_classes.knots import fill_knots, transported
from thali.product_classes.likelihood import fill_hits, sum_features
from thali.product_classes.state import A, NEXT_OWNED, POWER, PRESENT, SIGMA, TRANSPORT
from thali.product_classes.value_shapes import log_prior_shapes, unlogit

SHARE_OF_TRANSPORT = 0.7
_POWER = 0.3  # longest standard deviation of the logarithm of a power


@part
def move_all_values(rng, problem, target, state, work):
    """One attempt of either move."""
    a, sigma = state.real[A], state.real[SIGMA]
    is_power = rng.random() >= SHARE_OF_TRANSPORT
    scale = math.exp(-5.0 * rng.random())
    new_a, new_sigma, power = a, sigma, 1.0
    if is_power:
        power = math.exp(_POWER * scale * rng.standard_normal())
        new_a = a / power
    else:
        which = index(rng, 3)
        if which != 1:
            new_a = a * math.exp(scale * rng.standard_normal())
        if which != 0:
            new_sigma = unlogit(math.log(sigma / (1.0 - sigma)) + 2.0 * scale * rng.standard_normal())
        fill_knots(problem.knots, sigma * a, work.knots, 0)
        fill_knots(problem.knots, new_sigma * new_a, work.knots, 1)
        fill_knots(problem.knots, (1.0 - sigma) * a, work.knots, 2)
        fill_knots(problem.knots, (1.0 - new_sigma) * new_a, work.knots, 3)
    row = POWER if is_power else TRANSPORT
    state.counts[row, 0] += 1
    # An attempt ends at the first person whose choices are impossible.
    least = -rng.standard_exponential() + log_likelihood_of(problem, target, state, work)
    least -= log_prior_shapes(new_a, new_sigma) - log_prior_shapes(a, sigma)
    gain = 0.0
    done = 0
    while done < state.whole[PRESENT]:
        gain += move_person(problem, state, work, done, a, sigma, new_a, new_sigma, power, is_power)
        sum_features(problem, state, work, 0, done)
        fill_hits(problem, target, state, work, 0, done)
        gain += log_with_lapse(problem, target, work, done)
        done += 1
        if gain == -math.inf:
            break
    if gain > least:
        state.counts[row, 1] += 1
        state.real[A], state.real[SIGMA] = new_a, new_sigma
        return
    for n in range(done):
        put_back(problem, state, work, n)


@scalar
def moved(knots, first, before, after, power, is_power, x):
    """Where the logarithm of a value goes, and the change of its log-density, constants left out."""
    if is_power:
        new, slope = power * x, power
    else:
        new, slope = transported(knots, first, first + 1, before / after, x)
    return new, after * new - math.exp(new) - before * x + math.exp(x) + math.log(slope)


@part
def move_person(problem, state, work, n, a, sigma, new_a, new_sigma, power, is_power):
    """Move all values of person n, keeping the old ones in work; returns ln of prior ratio and Jacobian."""
    g, h = sigma * a, (1.0 - sigma) * a
    new_g, new_h = new_sigma * new_a, (1.0 - new_sigma) * new_a
    constant_theta = math.lgamma(g) - math.lgamma(new_g)
    constant_eps = math.lgamma(h) - math.lgamma(new_h)
    total = 0.0
    f = state.people[n, 0]
    while f >= 0:
        work.log_theta[f], work.theta[f] = state.log_theta[f], state.theta[f]
        state.log_theta[f], change = moved(work.knots, 0, g, new_g, power, is_power, state.log_theta[f])
        state.theta[f] = math.exp(state.log_theta[f])
        total += change + constant_theta
        for tau in range(problem.first_task[n + 1] - problem.first_task[n]):
            if state.separates[f, tau] != 0:
                work.all_log_eps[f, tau], work.value[f, tau] = state.log_eps[f, tau], state.value[f, tau]
                state.log_eps[f, tau], change = moved(work.knots, 2, h, new_h, power, is_power, state.log_eps[f, tau])
                state.value[f, tau] = state.theta[f] + math.exp(state.log_eps[f, tau])
                total += change + constant_eps
        f = state.slots[f, NEXT_OWNED]
    return total


@scalar
def put_back(problem, state, work, n):
    """The values of person n as they were."""
    f = state.people[n, 0]
    while f >= 0:
        state.log_theta[f], state.theta[f] = work.log_theta[f], work.theta[f]
        for tau in range(problem.first_task[n + 1] - problem.first_task[n]):
            if state.separates[f, tau] != 0:
                state.log_eps[f, tau], state.value[f, tau] = work.all_log_eps[f, tau], work.value[f, tau]
        f = state.slots[f, NEXT_OWNED]
