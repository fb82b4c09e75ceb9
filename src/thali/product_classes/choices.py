"""The likelihood of every choice under a state as it is."""

import math

from thali._jit import lean, part, scalar
from thali.product_classes.likelihood import fill_hits, sum_features
from thali.product_classes.state import PRESENT


@scalar
def log_with_lapse(problem, target, work, n):
    """Σ ln[(1 − δ) L + δ / J] of person n, of work.hit."""
    first = problem.first_task[n]
    total = 0.0
    for t in range(first, problem.first_task[n + 1]):
        delta = target.delta[t]
        p = (1.0 - delta) * work.hit[t - first] + delta / (problem.first_row[t + 1] - problem.first_row[t])
        total += math.log(p) if p > 0.0 else -math.inf
    return total


@part
def log_likelihood_of(problem, target, state, work):
    """ln of the likelihood of the choices of all people present, lapse included."""
    total = 0.0
    for n in range(state.whole[PRESENT]):
        sum_features(problem, state, work, 0, n)
        fill_hits(problem, target, state, work, 0, n)
        total += log_with_lapse(problem, target, work, n)
    return total


@lean
def log_likelihood(problem, target, state, work):
    """ln of the likelihood of the choices of all people present, lapse included."""
    return log_likelihood_of(problem, target, state, work)


@lean
def write_hits(problem, target, state, work, hits):
    """L of every task, without lapse, into `hits` (tasks,); 1 / alternatives for people who are not present."""
    for n in range(problem.first_task.shape[0] - 1):
        first = problem.first_task[n]
        if n < state.whole[PRESENT]:
            sum_features(problem, state, work, 0, n)
            fill_hits(problem, target, state, work, 0, n)
        for t in range(first, problem.first_task[n + 1]):
            hits[t] = work.hit[t - first] if n < state.whole[PRESENT] else 1.0 / (
                problem.first_row[t + 1] - problem.first_row[t]
            )
