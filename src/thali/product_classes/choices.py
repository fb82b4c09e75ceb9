"""The likelihood of every choice under a state as it is."""

import math

from thali._jit import compiled, part, scalar
from thali.product_classes.likelihood import fill_hits, sum_features, times
from thali.product_classes.state import PRESENT


@scalar
def log_with_lapse(tasks, target, hit, n):
    """Σ ln[(1 − δ) L + δ / J] of person n."""
    first = tasks.first_task[n]
    total, product = 0.0, 1.0
    for t in range(first, tasks.first_task[n + 1]):
        delta = target.delta[t]
        at_random = delta / (tasks.first_row[t + 1] - tasks.first_row[t])
        total, product = times(total, product, (1.0 - delta) * hit[t - first] + at_random)
    return total + math.log(product)


@part
def log_likelihood_of(problem, target, state, work):
    """ln of the likelihood of the choices of all people present, lapse included."""
    total = 0.0
    for n in range(state.whole[PRESENT]):
        sum_features(problem.tasks, state.features, work.sums, 0, n)
        fill_hits(problem.tasks, target, state.features, work.sums, work.hit, 0, n)
        total += log_with_lapse(problem.tasks, target, work.hit, n)
    return total


@compiled
def log_likelihood(problem, target, state, work):
    """ln of the likelihood of the choices of all people present, lapse included."""
    return log_likelihood_of(problem, target, state, work)


@compiled
def write_hits(problem, target, state, work, hits):
    """L of every task, without lapse, into `hits` (tasks,); 1 / alternatives for people who are not present."""
    for n in range(problem.tasks.first_task.shape[0] - 1):
        first = problem.tasks.first_task[n]
        if n < state.whole[PRESENT]:
            sum_features(problem.tasks, state.features, work.sums, 0, n)
            fill_hits(problem.tasks, target, state.features, work.sums, work.hit, 0, n)
        for t in range(first, problem.tasks.first_task[n + 1]):
            hits[t] = (
                work.hit[t - first]
                if n < state.whole[PRESENT]
                else 1.0 / (problem.tasks.first_row[t + 1] - problem.tasks.first_row[t])
            )
