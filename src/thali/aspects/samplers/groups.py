"""The samplers of groups: owners in common, weights by group.

Every move leaves the posterior invariant by itself. All columns are part of the state; those that no group's likelihood
sees are drawn from the prior once a sweep.
"""

from typing import Any

from thali.compile.jit import kernel, scalar

from ..group_stacked import group_at
from ..group_state import base_at
from ..moves.group_births import birth_or_death_in_groups
from ..moves.group_concentration import draw_alpha_of_groups, redraw_silent
from ..moves.group_owners import (
    compensated_flip_of_groups,
    flip_columns_of_groups,
    split_or_merge_copies,
    transfer_of_groups,
)
from ..moves.group_similar import draw_similar
from ..moves.group_together import birth_or_death_together, flip_together, weight_together
from ..moves.group_weights import (
    compensated_weight_of_group,
    draw_scale_of_group,
    walk_unique_of_group,
    walk_weights_of_group,
)
from ..moves.tuning import tuning_at
from ..operations import cache_at, draw_parameters, may_flip, rate_between
from ..state import ALPHA, COLUMNS, replica
from .group_loop import GO_ON, after_round, before_round, on_level, swap_groups


@kernel
def infinite_of_groups(
    rng: Any,
    model: Any,
    caches: Any,
    states: Any,
    bases: Any,
    tunings: Any,
    steps: Any,
    out: Any,
    until: Any,
    tune: int,
    thin: Any,
) -> Any:
    """Sweep until `until` rounds are done, for the Indian buffet process and its relatives; see `recommended.infinite`.

    `caches`, `states` and `tunings` are stacked by level and group, `bases` by level.
    """
    rate = rate_between(model.prior, 1, states.Z.shape[3] - 1)
    while True:
        status = before_round(rng, model, caches, states, bases, steps, out, until, tune, thin)
        if status != GO_ON:
            return status
        for t in range(steps.beta.shape[0]):
            level, base = on_level(states, steps, t), base_at(bases, steps.at[t])
            its_caches = cache_at(group_at(model.likelihood, 0), caches, steps.at[t])
            its_tunings = tuning_at(tunings, t)
            first = replica(level, 0)
            if first.real[ALPHA] > 0.0:
                redraw_silent(rng, model, level, base)
            flip_columns_of_groups(rng, model, its_caches, level)
            if first.real[ALPHA] > 0.0:
                for step in range(9 if model.unique else 3):
                    birth_or_death_in_groups(rng, model, its_caches, level, base, rate, 0.5 * (step // 3))
                if model.similar and model.unique:
                    for _ in range(6):
                        birth_or_death_together(rng, model, its_caches, level, base, rate)
                if not model.similar:
                    for _ in range(4):  # not as many as there are columns, whose number it changes
                        split_or_merge_copies(rng, model, its_caches, level, base)
            for _ in range(first.whole[COLUMNS]):
                transfer_of_groups(rng, model, its_caches, level, base)
            if model.unique:
                for step in range(2 * first.whole[COLUMNS]):
                    compensated_flip_of_groups(rng, model, its_caches, level, base, 0.5 + 0.5 * (step % 2))
                    if model.similar:
                        flip_together(rng, model, its_caches, level, base)
                        weight_together(rng, model, its_caches, level, base, its_tunings)
            weights_of_groups(rng, model, its_caches, level, base, its_tunings, tune)
            draw_alpha_of_groups(rng, model, level)
            after_round(level, base, its_tunings, tune)
        swap_groups(rng, model, caches, states, steps)


@kernel
def fixed_of_groups(
    rng: Any,
    model: Any,
    caches: Any,
    states: Any,
    bases: Any,
    tunings: Any,
    steps: Any,
    out: Any,
    until: Any,
    tune: int,
    thin: Any,
) -> Any:
    """The same for a fixed number of columns, whose owners are random (finite prior) or given."""
    while True:
        status = before_round(rng, model, caches, states, bases, steps, out, until, tune, thin)
        if status != GO_ON:
            return status
        for t in range(steps.beta.shape[0]):
            level, base = on_level(states, steps, t), base_at(bases, steps.at[t])
            its_caches = cache_at(group_at(model.likelihood, 0), caches, steps.at[t])
            its_tunings = tuning_at(tunings, t)
            if may_flip(model.prior):
                flip_columns_of_groups(rng, model, its_caches, level)
                for _ in range(replica(level, 0).whole[COLUMNS]):
                    transfer_of_groups(rng, model, its_caches, level, base)
                if model.unique:
                    for step in range(2 * replica(level, 0).whole[COLUMNS]):
                        compensated_flip_of_groups(rng, model, its_caches, level, base, 0.5 + 0.5 * (step % 2))
                        if model.similar:
                            flip_together(rng, model, its_caches, level, base)
            weights_of_groups(rng, model, its_caches, level, base, its_tunings, tune)
            draw_alpha_of_groups(rng, model, level)
            after_round(level, base, its_tunings, tune)
        swap_groups(rng, model, caches, states, steps)


@scalar
def weights_of_groups(rng: Any, model: Any, caches: Any, states: Any, base: Any, tunings: Any, tune: int) -> None:
    """The weights and parameters of every group given the owners, and what they vary about."""
    for g in range(states.w.shape[0]):
        likelihood, b, tuning = group_at(model.likelihood, g), replica(states, g), tuning_at(tunings, g)
        c = cache_at(likelihood, caches, g)
        if model.unique:
            for _ in range(b.whole[COLUMNS]):
                compensated_weight_of_group(rng, likelihood, c, b, base, tuning)
        for _ in range(2):
            if model.unique:
                walk_unique_of_group(rng, likelihood, c, b, base, tuning)
            walk_weights_of_group(rng, likelihood, c, b, base, tuning)
        draw_parameters(likelihood, rng, c, b)
        draw_scale_of_group(rng, model, likelihood, c, b, base)
    if model.similar:
        draw_similar(rng, model, caches, states, base)
