"""Move that replaces the classes that one respondent owns alone by prior draws."""

from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.discrete_draws import accept

from ..likelihood import (
    copy_differences,
    fill_hits,
    log_likelihood_without_lapses,
    update_differences_and_hits,
)
from ..prior import add_new_class
from ..state import CLASS, MUTE, OWNERS, SINGLETONS, collect_owned_slots, free_feature, remove_class


@scalar
def replace_singletons(rng: Any, problem: Any, state: Any, work: Any, n: Any, n_new: Any) -> None:
    """Propose `n_new` classes from the prior for all that only respondent n owns."""
    # Row 0 of work.sums contains the differences, before and after.
    n_old = 0
    for i in range(collect_owned_slots(state, work, n)):
        f = work.owned[i]
        if state.classes[state.features.slots[f, CLASS], OWNERS] == 1:
            work.owned[n_old] = f
            n_old += 1
    if n_old == 0 and n_new == 0:
        return
    state.counts[SINGLETONS, 0] += 1
    fill_hits(problem.tasks, state.features, work.sums, work.hit, 0, n)
    change = -log_likelihood_without_lapses(problem.tasks, state.lapsed, work.hit, n)
    for i in range(n_old):
        state.features.slots[work.owned[i], MUTE] = 1
    for _ in range(n_new):
        add_new_class(rng, problem, state, n)
    update_differences_and_hits(problem, state, work, 1, n)
    change += log_likelihood_without_lapses(problem.tasks, state.lapsed, work.hit, n)
    if accept(rng, change):
        state.counts[SINGLETONS, 1] += 1
        for i in range(n_old):
            remove_feature_and_class(state, work.owned[i])
        copy_differences(problem.tasks, work.sums, 1, 0, n)
        return
    for _ in range(n_new):
        remove_feature_and_class(state, state.features.respondents[n, 0])
    for i in range(n_old):
        state.features.slots[work.owned[i], MUTE] = 0


@scalar
def remove_feature_and_class(state: Any, f: Any) -> None:
    """Remove feature f together with its class."""
    k = state.features.slots[f, CLASS]
    free_feature(state, f)
    remove_class(state, k)
