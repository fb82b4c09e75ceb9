"""Which choices were made at random, redrawn at the start of every visit of a person."""

from typing import Any

from thali._compile.jit import scalar

from ..likelihood import look_at_hits


@scalar
def draw_lapses(rng: Any, problem: Any, target: Any, state: Any, work: Any, n: Any) -> None:
    """P(lapse) = (δ / J) / (δ / J + (1 − δ) L) for each task of person n."""
    # Leaves the differences with all features in row 0 and L of every task in work.hit.
    look_at_hits(problem, state, work, 0, n)
    first = problem.tasks.first_task[n]
    for t in range(first, problem.tasks.first_task[n + 1]):
        delta = target.delta[t]
        if delta <= 0.0:
            state.lapsed[t] = 0
            continue
        at_random = delta / (problem.tasks.first_row[t + 1] - problem.tasks.first_row[t])
        meant = (1.0 - delta) * work.hit[t - first]
        state.lapsed[t] = 1 if rng.random() * (at_random + meant) < at_random else 0
