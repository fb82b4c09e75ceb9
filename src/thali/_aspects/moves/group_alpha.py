"""Draws of alpha for several groups, and of features that no likelihood depends on."""

from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.discrete_draws import draw_poisson

from ..chain_state import (
    ALPHA,
    COLUMNS,
    capacity,
    count_groups,
    count_options,
    replica,
    write_owner_range,
)
from ..group_state import (
    KAPPA,
    append_proposed_column,
    copy_proposed_pattern,
    draw_new_slopes,
    expected_weight,
    remove_group_column,
    select_group_likelihood,
)
from ..kernel_operations import (
    draw_alpha,
    log_rate,
    rate_by_size_range,
    rate_single,
    sees_full,
    sees_single,
    set_alpha,
)
from .group_weight_density import draw_gamma
from .group_weights import is_silent_column


@scalar
def draw_group_alpha(rng: Any, model: Any, states: Any) -> None:
    """Draw alpha given the number of features that all groups share."""
    first_group = replica(states, 0)
    if model.learn_alpha:
        rate = rate_by_size_range(model.prior, 1, count_options(first_group))
        set_alpha(
            model.prior,
            first_group,
            draw_alpha(model.prior, rng, first_group, first_group.whole[COLUMNS], rate),
        )


@scalar
def redraw_silent_columns(rng: Any, model: Any, states: Any, base: Any) -> None:
    """Redraw from the prior all features on which no group's likelihood depends.

    They form an independent Poisson process.
    """
    first_group = replica(states, 0)
    likelihood = select_group_likelihood(model.likelihood, 0)
    n_options = count_options(first_group)
    k = first_group.whole[COLUMNS] - 1
    while k >= 0:
        if is_silent_column(likelihood, first_group, k):
            remove_group_column(states, base, k)
        k -= 1
    if not sees_single(likelihood):
        for i in range(n_options):
            add_prior_columns(
                rng,
                model,
                states,
                base,
                i,
                1,
                first_group.real[ALPHA] * rate_single(model.prior, i),
            )
    if not sees_full(likelihood):
        add_prior_columns(
            rng,
            model,
            states,
            base,
            0,
            n_options,
            first_group.real[ALPHA] * rate_by_size_range(model.prior, n_options, n_options),
        )


@scalar
def add_prior_columns(
    rng: Any, model: Any, states: Any, base: Any, i: Any, m: Any, mean: Any
) -> None:
    """Add Poisson(mean) features owned by options i to i + m - 1, with prior weights."""
    first_group = replica(states, 0)
    n_new = draw_poisson(rng, mean)
    while first_group.whole[COLUMNS] + n_new > capacity(first_group):
        n_new = draw_poisson(rng, mean)
    for _ in range(n_new):
        k = first_group.whole[COLUMNS]
        write_owner_range(first_group, k, i, m)
        copy_proposed_pattern(states, m)
        base.v[k] = model.shape / model.rate
        if model.similar:
            base.v[k] = draw_gamma(rng, model.shape, model.shape / model.rate)
        draw_new_slopes(rng, model, base, k)
        for g in range(count_groups(states)):
            replica(states, g).w[k] = draw_gamma(rng, base.real[KAPPA], expected_weight(base, k, g))
        append_proposed_column(states, log_rate(model.prior, first_group, k, m))
