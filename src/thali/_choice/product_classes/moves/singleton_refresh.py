"""The classes that one person owns alone: all replaced at once by new ones from the prior."""

from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import accept

from ..likelihood import fill_hits, log_open_hits, look_at_hits
from ..prior import own_new_class
from ..state import CLASS, MUTE, OWNERS, SINGLETONS, drop_class, gather, give_back
from .ownership import copy_sums


@scalar
def replace_singletons(rng: Any, problem: Any, state: Any, work: Any, n: Any, new: Any) -> None:
    """Propose a Poisson number of new classes in place of all that person n owns alone."""
    # Row 0 of work.sums holds the differences, before and after.
    old = 0
    for i in range(gather(state, work, n)):
        f = work.owned[i]
        if state.classes[state.features.slots[f, CLASS], OWNERS] == 1:
            work.owned[old] = f
            old += 1
    if old == 0 and new == 0:
        return
    state.counts[SINGLETONS, 0] += 1
    fill_hits(problem.tasks, state.features, work.sums, work.hit, 0, n)
    change = -log_open_hits(problem.tasks, state.lapsed, work.hit, n)
    for i in range(old):
        state.features.slots[work.owned[i], MUTE] = 1
    for _ in range(new):
        own_new_class(rng, problem, state, n)
    look_at_hits(problem, state, work, 1, n)
    change += log_open_hits(problem.tasks, state.lapsed, work.hit, n)
    if accept(rng, change):
        state.counts[SINGLETONS, 1] += 1
        for i in range(old):
            forget(state, work.owned[i])
        copy_sums(work.sums, 1, 0)
        return
    for _ in range(new):
        forget(state, state.features.people[n, 0])
    for i in range(old):
        state.features.slots[work.owned[i], MUTE] = 0


@scalar
def forget(state: Any, f: Any) -> None:
    """Remove a feature together with its class."""
    k = state.features.slots[f, CLASS]
    give_back(state, f)
    drop_class(state, k)
