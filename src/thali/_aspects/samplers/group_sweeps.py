"""Sweeps of several groups that share owners of features and have separate weights.

Every move leaves the posterior invariant. The state has all columns; columns that no group's
likelihood sees are drawn from the prior once per sweep.
"""

import math
from typing import Any

import numpy as np

from thali._compile.jit import kernel, scalar

from ..chain_state import (
    ALPHA,
    BETA,
    COLUMNS,
    SWEEPS,
    count_groups,
    count_options,
    is_crowded,
    replica,
)
from ..group_state import (
    ACCEPTED,
    KAPPA,
    STEP,
    TRIED,
    level_caches,
    select_common_weights,
    select_group,
    select_membership,
)
from ..kernel_operations import (
    draw_group_parameters,
    fill_rates,
    log_likelihood,
    may_flip,
    rate_by_size_range,
    rebuild_cache,
    record_parameters,
)
from ..moves.class_membership import draw_class_membership, recount_answers
from ..moves.covariate_slopes import draw_slopes
from ..moves.group_alpha import draw_group_alpha, redraw_silent_columns
from ..moves.group_base_weights import update_base_weights
from ..moves.group_births import propose_group_birth_or_death
from ..moves.group_compensated_moves import (
    propose_joint_birth_or_death,
    propose_joint_flip,
    propose_joint_weight,
)
from ..moves.group_covariate_coefficients import draw_common_parameters
from ..moves.group_owners import (
    exchange_owners,
    flip_group_columns,
    propose_compensated_group_flip,
    propose_duplicate_split_or_merge,
    propose_group_split_or_join,
)
from ..moves.group_weights import (
    draw_group_scale,
    propose_compensated_group_weight,
    walk_group_column_weights,
    walk_group_unique_weights,
)
from ..moves.step_tuning import (
    ADAPTATION_INTERVAL,
    adapt_step_sizes,
    compute_adaptation_gain,
    select_tuning,
)
from .draw_record import DRAW, FEATURE, ChainRecord, add_owners, empty_record, has_room, is_due
from .sweep_bookkeeping import CONTINUE, CROWDED, DONE, REBUILD_INTERVAL, RECORD_FULL
from .tempering import propose_swap


def compile_group_sweep(sweep: Any) -> Any:
    """Compile a kernel that repeats a sweep of all groups at every temperature.

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
        ladder: Any,
        record: Any,
        until: Any,
        tune: int,
        thin: Any,
    ) -> Any:
        """Sweep all groups at every temperature until `until` sweeps are done; return status."""
        while True:
            status = begin_group_round(
                rng, model, caches, states, bases, ladder, record, until, tune, thin
            )
            if status != CONTINUE:
                return status
            for t in range(ladder.beta.size):
                groups, base = (
                    select_level_groups(states, ladder, t),
                    select_common_weights(bases, ladder.at[t]),
                )
                its_caches = level_caches(model, caches, ladder.at[t])
                its_tunings = select_tuning(tunings, t)
                sweep(rng, model, its_caches, groups, base, its_tunings)
                update_group_weights(rng, model, its_caches, groups, base, its_tunings, tune)
                draw_group_alpha(rng, model, groups)
                end_group_round(groups, base, its_tunings, tune)
            swap_group_levels(rng, model, caches, states, ladder)

    rounds.__name__ = sweep.__name__
    return kernel(rounds)


@compile_group_sweep
def sweep_infinite_groups(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, tunings: Any
) -> None:
    """Update owners and weights of all groups once, under an infinite prior."""
    rate = rate_by_size_range(model.prior, 1, states.Z.shape[2] - 1)
    first_group = replica(states, 0)
    if first_group.real[ALPHA] > 0.0:
        redraw_silent_columns(rng, model, states, base)
    flip_group_columns(rng, model, caches, states)
    if first_group.real[ALPHA] > 0.0:
        n_proposals = 3
        if model.unique:
            n_proposals = 9
        for step in range(n_proposals):
            propose_group_birth_or_death(rng, model, caches, states, base, rate, 0.5 * (step // 3))
        if model.similar and model.unique:
            for _ in range(6):
                propose_joint_birth_or_death(rng, model, caches, states, base, rate)
        if not model.similar:
            for _ in range(4):  # fixed, because the move changes the number of columns
                propose_duplicate_split_or_merge(rng, model, caches, states, base)
    for _ in range(first_group.whole[COLUMNS]):
        propose_group_split_or_join(rng, model, caches, states, base)
    if model.unique:
        exchange_owners(rng, model, caches, states, base)
        for step in range(2 * first_group.whole[COLUMNS]):
            propose_compensated_group_flip(rng, model, caches, states, base, 0.5 + 0.5 * (step % 2))
            if model.similar:
                propose_joint_flip(rng, model, caches, states, base)
                propose_joint_weight(rng, model, caches, states, base, tunings)


@compile_group_sweep
def sweep_fixed_groups(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, tunings: Any
) -> None:
    """Update owners and weights of all groups once, with a fixed number of features."""
    if may_flip(model.prior):
        flip_group_columns(rng, model, caches, states)
        for _ in range(replica(states, 0).whole[COLUMNS]):
            propose_group_split_or_join(rng, model, caches, states, base)
        if model.unique:
            exchange_owners(rng, model, caches, states, base)
            for step in range(2 * replica(states, 0).whole[COLUMNS]):
                propose_compensated_group_flip(
                    rng, model, caches, states, base, 0.5 + 0.5 * (step % 2)
                )
                if model.similar:
                    propose_joint_flip(rng, model, caches, states, base)


@scalar
def update_group_weights(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, tunings: Any, tune: int
) -> None:
    """Update weights and parameters of every group, then their common weights."""
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        tuning = select_tuning(tunings, g)
        if model.unique:
            for _ in range(b.whole[COLUMNS]):
                propose_compensated_group_weight(rng, likelihood, c, b, base, g, tuning)
        for _ in range(2):
            if model.unique:
                walk_group_unique_weights(rng, likelihood, c, b, base, g, tuning)
            walk_group_column_weights(rng, likelihood, c, b, base, g, tuning)
        draw_group_parameters(likelihood, rng, c, b)
        draw_group_scale(rng, model, likelihood, c, b, base, g)
    draw_common_parameters(model.likelihood, rng, caches, states)
    if model.similar:
        update_base_weights(rng, model, caches, states, base)
        if model.known.shape[1] > 0:
            draw_slopes(rng, model, caches, states, base)


# Latent classes: the moves that groups lack -------------------------------------------------------
#
# Respondents of one latent class are treated as a group, so groups and classes share their compiled
# sweeps; after some sweeps the class of each respondent is updated.


@kernel
def fill_class_counts(rng: Any, model: Any, caches: Any, states: Any, membership: Any) -> None:
    """Fill the answer counts of all caches, by temperature and latent class."""
    for t in range(count_groups(states)):
        recount_answers(
            model,
            level_caches(model.groups, caches, t),
            replica(states, t),
            select_membership(membership, t),
        )


@kernel
def update_class_membership(
    rng: Any, model: Any, caches: Any, states: Any, bases: Any, membership: Any, ladder: Any
) -> None:
    """Update the latent class of each respondent once at every temperature."""
    for t in range(ladder.beta.size):
        level_replica = ladder.at[t]
        its_caches = level_caches(model.groups, caches, level_replica)
        draw_class_membership(
            rng,
            model,
            its_caches,
            select_level_groups(states, ladder, t),
            select_common_weights(bases, level_replica),
            select_membership(membership, level_replica),
        )


# Rounds of groups, as `sweep_bookkeeping` and `tempering` for one group ---------------------------


TARGET_ACCEPTANCE = 0.4  # acceptance rate of joint moves of v and its weights


@scalar
def begin_group_round(
    rng: Any,
    model: Any,
    caches: Any,
    states: Any,
    bases: Any,
    ladder: Any,
    record: Any,
    until: Any,
    tune: int,
    thin: Any,
) -> Any:
    """Record the last sweep if due; return whether the next has room to run."""
    cold_replica = ladder.at[0]
    groups = replica(states, cold_replica)
    first_group = replica(groups, 0)
    if is_due(first_group, record, tune, thin):
        if not has_room(first_group, record):
            return RECORD_FULL
        record_groups(
            model,
            level_caches(model, caches, cold_replica),
            groups,
            select_common_weights(bases, cold_replica),
            record,
        )
    if first_group.whole[SWEEPS] >= until:
        return DONE
    for t in range(ladder.beta.size):
        if is_crowded(replica(replica(states, t), 0)):
            return CROWDED
    if first_group.whole[SWEEPS] == 0:
        for t in range(ladder.beta.size):
            fill_rates(model.prior, replica(replica(states, t), 0))
    if first_group.whole[SWEEPS] % REBUILD_INTERVAL == 0:
        for t in range(ladder.beta.size):
            rebuild_groups(model, caches, states, t)
    return CONTINUE


@scalar
def rebuild_groups(model: Any, caches: Any, states: Any, t: Any) -> None:
    """Fill the likelihood caches of all groups in replica t."""
    its_caches, groups = level_caches(model, caches, t), replica(states, t)
    for g in range(count_groups(groups)):
        likelihood, c, b = select_group(model, its_caches, groups, g)
        rebuild_cache(likelihood, c, b)


@scalar
def select_level_groups(states: Any, ladder: Any, t: Any) -> Any:
    """Return the states of all groups at temperature t, with its inverse set."""
    groups = replica(states, ladder.at[t])
    for g in range(count_groups(groups)):
        replica(groups, g).real[BETA] = ladder.beta[t]
    return groups


@scalar
def end_group_round(states: Any, base: Any, tunings: Any, tune: int) -> None:
    """Count the sweep and adapt the step sizes of all groups during tuning."""
    first_group = replica(states, 0)
    for g in range(count_groups(states)):
        replica(states, g).whole[SWEEPS] += 1
    sweep = first_group.whole[SWEEPS]
    if sweep <= tune and sweep % ADAPTATION_INTERVAL == 0:
        for g in range(count_groups(states)):
            adapt_step_sizes(select_tuning(tunings, g), sweep, tune)
        if base.real[TRIED] > 0.0:
            base.real[STEP] *= math.exp(
                compute_adaptation_gain(sweep, tune)
                * (base.real[ACCEPTED] / base.real[TRIED] - TARGET_ACCEPTANCE)
            )
            base.real[TRIED] = base.real[ACCEPTED] = 0.0


@scalar
def sum_group_log_likelihoods(model: Any, caches: Any, states: Any, t: Any) -> Any:
    """Return the log-likelihood of all groups together in replica t."""
    its_caches, groups = level_caches(model, caches, t), replica(states, t)
    total = 0.0
    for g in range(count_groups(groups)):
        likelihood, c, b = select_group(model, its_caches, groups, g)
        total += log_likelihood(likelihood, c, b)
    return total


@scalar
def swap_group_levels(rng: Any, model: Any, caches: Any, states: Any, ladder: Any) -> None:
    """Propose to swap the states of neighbouring temperatures, for all groups."""
    for t in range(states.whole[0, 0, SWEEPS] % 2, ladder.beta.size - 1, 2):
        lower, upper = ladder.at[t], ladder.at[t + 1]
        difference = sum_group_log_likelihoods(
            model, caches, states, upper
        ) - sum_group_log_likelihoods(model, caches, states, lower)
        propose_swap(rng, ladder, t, difference)


# The record of a chain of groups: `draw_record` with one weight per group


def empty_group_record(
    draws: int,
    n_options: int,
    n_groups: int,
    n_parameters: int,
    n_respondents: int = 0,
    n_common: int = 0,
) -> ChainRecord:
    """Allocate arrays for all draws of a chain of several groups.

    `extra` has the parameters of each group in turn, and kappa last. `n_common` columns follow the
    weights of the groups: the base weights, and their slopes.
    """
    record = empty_record(draws, n_options, n_respondents=n_respondents)
    return record._replace(
        unique_weights=np.zeros((draws, n_groups + n_common, n_options)),
        weights=np.zeros((record.weights.size, n_groups + n_common)),
        extra=np.zeros((draws, n_groups * n_parameters + 1)),
    )


@scalar
def record_groups(model: Any, caches: Any, states: Any, base: Any, record: Any) -> None:
    """Record the current states of all groups as one draw."""
    first_group = replica(states, 0)
    n, n_groups = count_options(first_group), count_groups(states)
    draw, n_before = record.used[DRAW], record.used[FEATURE]
    for k in range(first_group.whole[COLUMNS]):
        if first_group.m[k] > 0:
            for g in range(n_groups):
                record.weights[record.used[FEATURE], g] = states.w[g, k]
            if record.weights.shape[1] > n_groups:
                record.weights[record.used[FEATURE], n_groups] = base.v[k]
                for j in range(base.slope.shape[1]):
                    record.weights[record.used[FEATURE], n_groups + 1 + j] = base.slope[k, j]
            record.sizes[record.used[FEATURE]] = first_group.m[k]
            record.used[FEATURE] += 1
            add_owners(record, first_group, k)
    record.n_features[draw] = record.used[FEATURE] - n_before
    record.alpha[draw] = first_group.real[ALPHA]
    record.log_likelihood[draw] = 0.0
    n_parameters = (record.extra.shape[1] - 1) // n_groups
    for g in range(n_groups - 1, -1, -1):
        likelihood, c, b = select_group(model, caches, states, g)
        for i in range(n):
            record.unique_weights[draw, g, i] = b.s[i]
        record.log_likelihood[draw] += log_likelihood(likelihood, c, b)
        # written at the front; group 0 comes last, so that its parameters stay there
        record_parameters(likelihood, c, b, record.extra, draw)
        for p in range(n_parameters):
            record.extra[draw, g * n_parameters + p] = record.extra[draw, p]
    if record.unique_weights.shape[1] > n_groups:
        for i in range(n):
            record.unique_weights[draw, n_groups, i] = base.unique[i]
            for j in range(base.slope.shape[1]):
                record.unique_weights[draw, n_groups + 1 + j, i] = base.unique_slope[i, j]
    record.extra[draw, record.extra.shape[1] - 1] = base.real[KAPPA]
    record.used[DRAW] = draw + 1
