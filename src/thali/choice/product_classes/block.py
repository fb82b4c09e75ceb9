"""The likelihood of a block of tasks in a state, and its change along the path of a logit."""

import math
from typing import Any

from thali.compile.jit import compiled

from .likelihood import fill_hits, sum_features


@compiled
def write_block(
    problem: Any, target: Any, state: Any, work: Any, people: Any, tasks: Any, hits: Any, differences: Any, row: Any
) -> None:
    """L of the tasks[0], ..., tasks[1] - 1 of the people[0], ..., people[1] - 1, without lapse, into a row of `hits`.

    Differences between chosen and other utilities go into the same row of `differences`, if it is large enough.
    """
    at = 0
    for n in range(people[0], people[1]):
        sum_features(problem.tasks, state.features, work.sums, 0, n)
        fill_hits(problem.tasks, target, state.features, work.sums, work.hit, 0, n)
        first, c = problem.tasks.first_task[n], 0
        for t in range(first, problem.tasks.first_task[n + 1]):
            size = problem.tasks.first_row[t + 1] - problem.tasks.first_row[t] - 1
            if tasks[0] <= t < tasks[1]:
                hits[row, t - tasks[0]] = work.hit[t - first]
                if differences.shape[1] > 0:
                    for i in range(size):
                        differences[row, at + i] = work.sums.total[0, c + i]
                    at += size
            c += size


@compiled
def log_logit(hits: Any, differences: Any, others: Any, sharpness: Any, lapse: Any, out: Any) -> None:
    """Σ ln[(1 − lapse) L(sharpness) + lapse / J] of every row into `out`; `others` is J − 1 of every task."""
    for row in range(out.shape[0]):
        total, at = 0.0, 0
        for t in range(others.shape[0]):
            size = others[t]
            hit = hits[row, t]
            if sharpness != math.inf:
                hit = 1.0
                for i in range(at, at + size):
                    hit += math.exp(-sharpness * differences[row, i])
                hit = 1.0 / hit
            p = (1.0 - lapse) * hit + lapse / (size + 1.0)
            total += math.log(p) if p > 0.0 else -math.inf
            at += size
        out[row] = total
