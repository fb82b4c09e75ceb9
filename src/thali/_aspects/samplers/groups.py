"""The samplers of groups: owners in common, weights by group.

Every move leaves the posterior invariant by itself. All columns are part of the state; those that
no group's likelihood sees are drawn from the prior once a sweep.
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import kernel, scalar
from thali._inference.numerics.decisions import accept

from ..group_state import (
    ACCEPTED,
    KAPPA,
    STEP,
    TRIED,
    base_at,
    kinds_at,
    level_caches,
    select_group,
)
from ..moves.group_births import birth_or_death_in_groups
from ..moves.group_concentration import draw_alpha_of_groups, redraw_silent
from ..moves.group_covariates import draw_common_parameters
from ..moves.group_owners import (
    compensated_flip_of_groups,
    flip_columns_of_groups,
    split_or_merge_copies,
    transfer_of_groups,
)
from ..moves.group_similar import draw_similar
from ..moves.group_slopes import draw_slopes
from ..moves.group_together import birth_or_death_together, flip_together, weight_together
from ..moves.group_weights import (
    compensated_weight_of_group,
    draw_scale_of_group,
    walk_unique_of_group,
    walk_weights_of_group,
)
from ..moves.kinds import draw_kinds, recount
from ..moves.tuning import EVERY, adapt, tuning_at
from ..operations import (
    draw_parameters_of_group,
    log_likelihood,
    log_rate,
    may_flip,
    note_parameters,
    rate_between,
    rebuild,
    set_alpha,
)
from ..state import ALPHA, BETA, COLUMNS, SWEEPS, is_crowded, replica
from .loop import CROWDED, DONE, GO_ON, REBUILD, RECORD_FULL
from .record import DRAW, FEATURE, OWNER, ChainRecord, add_owner, empty_record, is_due


def kernel_of_group_rounds(sweep: Any) -> Any:
    """Make the kernel of rounds of a sweep of groups, as `recommended.kernel_of_rounds`.

    `caches`, `states` and `tunings` are stacked by level and group, `bases` by level.
    """
    scalar(sweep)

    def rounds(
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
        while True:
            status = before_round(rng, model, caches, states, bases, steps, out, until, tune, thin)
            if status != GO_ON:
                return status
            for t in range(steps.beta.shape[0]):
                level, base = on_level(states, steps, t), base_at(bases, steps.at[t])
                its_caches = level_caches(model, caches, steps.at[t])
                its_tunings = tuning_at(tunings, t)
                sweep(rng, model, its_caches, level, base, its_tunings)
                weights_of_groups(rng, model, its_caches, level, base, its_tunings, tune)
                draw_alpha_of_groups(rng, model, level)
                after_round(level, base, its_tunings, tune)
            swap_groups(rng, model, caches, states, steps)

    rounds.__name__ = sweep.__name__
    return kernel(rounds)


@kernel_of_group_rounds
def infinite_of_groups(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, tunings: Any
) -> None:
    """Sweep the states of all groups, as `recommended.infinite`."""
    rate = rate_between(model.prior, 1, states.Z.shape[2] - 1)
    first = replica(states, 0)
    if first.real[ALPHA] > 0.0:
        redraw_silent(rng, model, states, base)
    flip_columns_of_groups(rng, model, caches, states)
    if first.real[ALPHA] > 0.0:
        for step in range(9 if model.unique else 3):
            birth_or_death_in_groups(rng, model, caches, states, base, rate, 0.5 * (step // 3))
        if model.similar and model.unique:
            for _ in range(6):
                birth_or_death_together(rng, model, caches, states, base, rate)
        if not model.similar:
            for _ in range(4):  # not as many as there are columns, whose number it changes
                split_or_merge_copies(rng, model, caches, states, base)
    for _ in range(first.whole[COLUMNS]):
        transfer_of_groups(rng, model, caches, states, base)
    if model.unique:
        for step in range(2 * first.whole[COLUMNS]):
            compensated_flip_of_groups(rng, model, caches, states, base, 0.5 + 0.5 * (step % 2))
            if model.similar:
                flip_together(rng, model, caches, states, base)
                weight_together(rng, model, caches, states, base, tunings)


@kernel_of_group_rounds
def fixed_of_groups(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, tunings: Any
) -> None:
    """The same for a fixed number of columns, whose owners are random (finite prior) or given."""
    if may_flip(model.prior):
        flip_columns_of_groups(rng, model, caches, states)
        for _ in range(replica(states, 0).whole[COLUMNS]):
            transfer_of_groups(rng, model, caches, states, base)
        if model.unique:
            for step in range(2 * replica(states, 0).whole[COLUMNS]):
                compensated_flip_of_groups(rng, model, caches, states, base, 0.5 + 0.5 * (step % 2))
                if model.similar:
                    flip_together(rng, model, caches, states, base)


@scalar
def weights_of_groups(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, tunings: Any, tune: int
) -> None:
    """The weights and parameters of every group given the owners, and what they vary about."""
    for g in range(states.w.shape[0]):
        likelihood, c, b = select_group(model, caches, states, g)
        tuning = tuning_at(tunings, g)
        if model.unique:
            for _ in range(b.whole[COLUMNS]):
                compensated_weight_of_group(rng, likelihood, c, b, base, g, tuning)
        for _ in range(2):
            if model.unique:
                walk_unique_of_group(rng, likelihood, c, b, base, g, tuning)
            walk_weights_of_group(rng, likelihood, c, b, base, g, tuning)
        draw_parameters_of_group(likelihood, rng, c, b)
        draw_scale_of_group(rng, model, likelihood, c, b, base, g)
    draw_common_parameters(model.likelihood, rng, caches, states)
    if model.similar:
        draw_similar(rng, model, caches, states, base)
        if model.known.shape[1] > 0:
            draw_slopes(rng, model, caches, states, base)


# Kinds of people that are not known: what groups leave to do --------------------------------------
#
# The sweeps of kinds of people are those of groups, those of the same kind being one, with a move
# of everybody after some of them. So groups and kinds have their sweeps in common, compiled once.


@kernel
def fill_counts(rng: Any, model: Any, caches: Any, states: Any, kinds: Any) -> None:
    """Fill the counts in all caches, which are stacked by level and kind."""
    for t in range(states.w.shape[0]):
        recount(
            model, level_caches(model.groups, caches, t), replica(states, t), kinds_at(kinds, t)
        )


@kernel
def move_people(
    rng: Any, model: Any, caches: Any, states: Any, bases: Any, kinds: Any, steps: Any
) -> None:
    """One update of everybody's kind at every temperature."""
    for t in range(steps.beta.shape[0]):
        at = steps.at[t]
        its_caches = level_caches(model.groups, caches, at)
        draw_kinds(
            rng,
            model,
            its_caches,
            on_level(states, steps, t),
            base_at(bases, at),
            kinds_at(kinds, at),
        )


# Between two rounds, as `loop` and `tempering` do for one group -----------------------------------


TARGET = 0.4  # acceptance rate of the moves of v with its weights


@scalar
def before_round(
    rng: Any,
    model: Any,
    caches: Any,
    states: Any,
    bases: Any,
    steps: Any,
    out: Any,
    until: Any,
    tune: int,
    thin: Any,
) -> Any:
    """Record the previous round if it is due; returns whether the next may run."""
    cold = steps.at[0]
    level = replica(states, cold)
    first = replica(level, 0)
    if is_due(first, out, tune, thin):
        if not has_room(first, out):
            return RECORD_FULL
        record(model, level_caches(model, caches, cold), level, base_at(bases, cold), out)
    if first.whole[SWEEPS] >= until:
        return DONE
    for t in range(steps.beta.shape[0]):
        if is_crowded(replica(replica(states, t), 0)):
            return CROWDED
    if first.whole[SWEEPS] == 0:
        for t in range(steps.beta.shape[0]):
            prepare_groups(model, replica(states, t))
    if first.whole[SWEEPS] % REBUILD == 0:
        for t in range(steps.beta.shape[0]):
            rebuild_groups(model, caches, states, t)
    return GO_ON


@scalar
def rebuild_groups(model: Any, caches: Any, states: Any, t: Any) -> None:
    """Fill the caches of all groups at replica t."""
    its_caches, level = level_caches(model, caches, t), replica(states, t)
    for g in range(level.w.shape[0]):
        likelihood, c, b = select_group(model, its_caches, level, g)
        rebuild(likelihood, c, b)


@scalar
def prepare_groups(model: Any, states: Any) -> None:
    """Fill everything that follows from the columns and alpha."""
    first = replica(states, 0)
    set_alpha(model.prior, first, first.real[ALPHA])
    for k in range(first.whole[COLUMNS]):
        first.log_rate[k] = log_rate(model.prior, first, k, first.m[k])


@scalar
def on_level(states: Any, steps: Any, t: Any) -> Any:
    """The states of the replica on level t, at the inverse temperature of that level."""
    level = replica(states, steps.at[t])
    for g in range(level.w.shape[0]):
        replica(level, g).real[BETA] = steps.beta[t]
    return level


@scalar
def after_round(states: Any, base: Any, tunings: Any, tune: int) -> None:
    """Count and adapt."""
    first = replica(states, 0)
    for g in range(states.w.shape[0]):
        replica(states, g).whole[SWEEPS] += 1
    sweep = first.whole[SWEEPS]
    if sweep <= tune and sweep % EVERY == 0:
        for g in range(states.w.shape[0]):
            adapt(tuning_at(tunings, g), sweep, tune)
        if base.real[TRIED] > 0.0:
            gain = 0.5 if 3 * sweep < tune else 0.15
            base.real[STEP] *= math.exp(gain * (base.real[ACCEPTED] / base.real[TRIED] - TARGET))
            base.real[TRIED] = base.real[ACCEPTED] = 0.0


@scalar
def whole_of_groups(model: Any, caches: Any, states: Any, t: Any) -> Any:
    """The log-likelihood of all groups at replica t."""
    its_caches, level = level_caches(model, caches, t), replica(states, t)
    total = 0.0
    for g in range(level.w.shape[0]):
        likelihood, c, b = select_group(model, its_caches, level, g)
        total += log_likelihood(likelihood, c, b)
    return total


@scalar
def swap_groups(rng: Any, model: Any, caches: Any, states: Any, steps: Any) -> None:
    """Swap neighbouring levels, as `tempering.swap`."""
    for t in range(states.whole[0, 0, SWEEPS] % 2, steps.beta.shape[0] - 1, 2):
        lower, upper = steps.at[t], steps.at[t + 1]
        difference = whole_of_groups(model, caches, states, upper) - whole_of_groups(
            model, caches, states, lower
        )
        steps.tried[t] += 1.0
        if accept(rng, (steps.beta[t] - steps.beta[t + 1]) * difference):
            steps.at[t], steps.at[t + 1] = upper, lower
            steps.accepted[t] += 1.0


# The record of a chain of groups: that of `record`, with a weight for each group wherever that has
# one


def empty_group_record(
    draws: int, n: int, groups: int, parameters: int, people: int = 0, common: int = 0
) -> ChainRecord:
    """Room for all draws; the last of the extra parameters is kappa, those before are group after
    group.

    `common`: so many columns stand after the weights of the groups: what these vary about, and its
    slopes.
    """
    made = empty_record(draws, n, people=people)
    return made._replace(
        unique_weights=np.zeros((draws, groups + common, n)),
        weights=np.zeros((made.weights.size, groups + common)),
        extra=np.zeros((draws, groups * parameters + 1)),
    )


@scalar
def has_room(b: Any, out: Any) -> Any:
    """Whether the columns of the current state fit into the rest of the record."""
    owners = 0
    for k in range(b.whole[COLUMNS]):
        owners += b.m[k]
    return (
        out.used[FEATURE] + b.whole[COLUMNS] <= out.weights.shape[0]
        and out.used[OWNER] + owners <= out.owners.shape[0]
    )


@scalar
def record(model: Any, caches: Any, states: Any, base: Any, out: Any) -> None:
    """Record the states of all groups."""
    first = replica(states, 0)
    n, groups = first.Z.shape[1] - 1, states.w.shape[0]
    draw, before = out.used[DRAW], out.used[FEATURE]
    for k in range(first.whole[COLUMNS]):
        if first.m[k] > 0:
            for g in range(groups):
                out.weights[out.used[FEATURE], g] = states.w[g, k]
            if out.weights.shape[1] > groups:
                out.weights[out.used[FEATURE], groups] = base.v[k]
                for j in range(base.slope.shape[1]):
                    out.weights[out.used[FEATURE], groups + 1 + j] = base.slope[k, j]
            out.sizes[out.used[FEATURE]] = first.m[k]
            out.used[FEATURE] += 1
            for i in range(n):
                if first.Z[k, i] != 0.0:
                    add_owner(out, i)
    out.n_features[draw] = out.used[FEATURE] - before
    out.alpha[draw] = first.real[ALPHA]
    out.log_likelihood[draw] = 0.0
    each = (out.extra.shape[1] - 1) // groups
    for g in range(groups - 1, -1, -1):
        likelihood, c, b = select_group(model, caches, states, g)
        for i in range(n):
            out.unique_weights[draw, g, i] = b.s[i]
        out.log_likelihood[draw] += log_likelihood(likelihood, c, b)
        # at the front, where those of group 0, the last, stay
        note_parameters(likelihood, c, b, out.extra, draw)
        for p in range(each):
            out.extra[draw, g * each + p] = out.extra[draw, p]
    if out.unique_weights.shape[1] > groups:
        for i in range(n):
            out.unique_weights[draw, groups, i] = base.own[i]
            for j in range(base.slope.shape[1]):
                out.unique_weights[draw, groups + 1 + j, i] = base.own_slope[i, j]
    out.extra[draw, out.extra.shape[1] - 1] = base.real[KAPPA]
    out.used[DRAW] = draw + 1
