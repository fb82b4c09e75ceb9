"""Draws of which choices of a respondent were random (lapses)."""

from typing import Any

from thali._compile.jit import scalar

from ..likelihood import count_alternatives, update_differences_and_hits


@scalar
def draw_lapses(rng: Any, problem: Any, target: Any, state: Any, work: Any, n: Any) -> None:
    """Draw whether each choice of respondent n is a lapse."""
    # Later moves read the differences with all features in row 0, and L of every task in work.hit.
    update_differences_and_hits(problem, state, work, 0, n)
    start = problem.tasks.first_task[n]
    for t in range(start, problem.tasks.first_task[n + 1]):
        delta = target.delta[t]
        if delta <= 0.0:
            state.lapsed[t] = 0
            continue
        at_random = delta / count_alternatives(problem.tasks, t)
        meant = (1.0 - delta) * work.hit[t - start]
        state.lapsed[t] = 1 if rng.random() * (at_random + meant) < at_random else 0
