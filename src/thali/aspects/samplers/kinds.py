"""What the samplers of groups leave to do where it is not known of which kind people are.

The sweeps of kinds of people are those of groups, those of the same kind being one, with a move of everybody after some
of them. So groups and kinds have their sweeps in common, compiled once.
"""

from typing import Any

from thali.compile.jit import kernel

from ..group_stacked import group_at
from ..group_state import base_at
from ..kinds_state import kinds_at
from ..moves.kinds import draw_kinds, recount
from ..operations import cache_at
from ..state import replica
from .group_loop import on_level


@kernel
def fill_counts(rng: Any, model: Any, caches: Any, states: Any, kinds: Any) -> None:
    """Fill the counts in all caches, which are stacked by level and kind."""
    for t in range(states.w.shape[0]):
        its_caches = cache_at(group_at(model.groups.likelihood, 0), caches, t)
        recount(model, its_caches, replica(states, t), kinds_at(kinds, t))


@kernel
def move_people(rng: Any, model: Any, caches: Any, states: Any, bases: Any, kinds: Any, steps: Any) -> None:
    """One update of everybody's kind at every temperature."""
    for t in range(steps.beta.shape[0]):
        at = steps.at[t]
        its_caches = cache_at(group_at(model.groups.likelihood, 0), caches, at)
        draw_kinds(rng, model, its_caches, on_level(states, steps, t), base_at(bases, at), kinds_at(kinds, at))
