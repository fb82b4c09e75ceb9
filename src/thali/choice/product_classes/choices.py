"""The likelihood of every choice under a given state."""

import math
from typing import Any

from thali.compile.jit import compiled, part, scalar

from .likelihood import fill_hits, sum_features, times
from .state import PRESENT


@scalar
def log_with_lapse(tasks: Any, target: Any, hit: Any, n: Any) -> Any:
    """Σ ln[(1 − δ) L + δ / J] of person n."""
    first = tasks.first_task[n]
    total, product = 0.0, 1.0
    for t in range(first, tasks.first_task[n + 1]):
        delta = target.delta[t]
        at_random = delta / (tasks.first_row[t + 1] - tasks.first_row[t])
        total, product = times(total, product, (1.0 - delta) * hit[t - first] + at_random)
    return total + math.log(product)


@part
def log_likelihood_of(problem: Any, target: Any, state: Any, work: Any) -> Any:
    """ln of the likelihood of the choices of all people present, lapse included."""
    total = 0.0
    for n in range(state.whole[PRESENT]):
        sum_features(problem.tasks, state.features, work.sums, 0, n)
        fill_hits(problem.tasks, target, state.features, work.sums, work.hit, 0, n)
        total += log_with_lapse(problem.tasks, target, work.hit, n)
    return total


@compiled
def log_likelihood(problem: Any, target: Any, state: Any, work: Any) -> Any:
    """ln of the likelihood of the choices of all people present, lapse included."""
    return log_likelihood_of(problem, target, state, work)


@compiled
def write_hits(problem: Any, target: Any, state: Any, work: Any, hits: Any) -> None:
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
