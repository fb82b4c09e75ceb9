"""Move 1 of the sampler: flip whether an option owns a feature.

Columns are visited in a fresh random order, each completely: an order that depended on the updated
entries, as the order of storage does, would bias the sampler. Columns that only one option owns,
and columns that all options own, are part of the state during the pass, because a flip may create
or remove one.
"""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.array_parts import part_size
from thali._inference.numerics.discrete_draws import accept, draw_index

from ..chain_state import (
    BETA,
    COLUMNS,
    FULL,
    TOTAL_UNIQUE,
    accept_move,
    change_owner,
    count_after_flip,
    count_options,
    flipped_weight,
    has_free_singles,
    owns,
    remove_column,
    shuffle_columns,
    write_owner_range,
)
from ..kernel_operations import (
    apply_open_member,
    delta_open_member,
    is_exchangeable,
    is_quick,
    keeps_empty,
    log_rate_after_toggle,
    open_column,
    open_members,
    record_toggle,
)
from ..weight_priors import draw_prior_weight
from .births_and_splits import append_column
from .unique_weights import refresh_log_bessel

MAX_SYSTEMATIC = 12  # up to this number of options, each option's membership is proposed in turn


@scalar
def flip_memberships(rng: Any, model: Any, c: Any, b: Any) -> None:
    """Flip memberships in all features of an infinite prior, unseen ones included."""
    expand_columns(rng, model, b)
    flip_columns(rng, model, c, b)
    collapse_columns(model, b)


@scalar
def flip_columns(rng: Any, model: Any, c: Any, b: Any) -> None:
    """Propose to flip every option's membership in every feature, in random order."""
    n_options = count_options(b)
    is_sparse = (
        n_options > MAX_SYSTEMATIC
        and is_exchangeable(model.prior)
        and not (keeps_empty(model.prior) or is_quick(model.likelihood))
    )
    for t in range(shuffle_columns(rng, b)):
        k = b.order[t]
        open_members(model.likelihood, c, b, k)
        if is_sparse:
            flip_random_members(rng, model, c, b, k)
        else:
            open_column(model.prior, b, k)
            i = draw_index(rng, n_options)
            for _ in range(n_options):
                propose_flip(rng, model, c, b, k, i)
                i += 1
                if i == n_options:
                    i = 0


@scalar
def propose_flip(rng: Any, model: Any, c: Any, b: Any, k: Any, i: Any) -> None:
    """Propose to flip whether option i owns feature k.

    For a slow likelihood the prior's ratio decides first, so that the likelihood is evaluated only
    for flips that pass it.
    """
    m = count_after_flip(b, k, i)
    if (b.m[k] == 0 or m == 0) and not keeps_empty(model.prior):
        return
    rate = log_rate_after_toggle(model.prior, b, k, i, m)
    d = flipped_weight(b, k, i)
    if is_quick(model.likelihood):
        gain = delta_open_member(model.likelihood, c, b, k, i, d)
        is_accepted = accept_move(rng, b, rate - b.log_rate[k], gain)
    else:
        is_accepted = accept(rng, rate - b.log_rate[k]) and accept_by_likelihood(
            rng, model, c, b, k, i, d
        )
    if is_accepted:
        flip_member(model, c, b, k, i, d, m, rate)


@scalar
def accept_by_likelihood(rng: Any, model: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    """Return whether a flip of option i in feature k passes the likelihood's Metropolis test."""
    return accept(rng, b.real[BETA] * delta_open_member(model.likelihood, c, b, k, i, d))


@scalar
def flip_member(model: Any, c: Any, b: Any, k: Any, i: Any, d: Any, m: Any, rate: Any) -> None:
    """Flip whether option i owns feature k; update the cache and the prior's log rate."""
    apply_open_member(model.likelihood, c, b, k, i, d)
    record_toggle(model.prior, b, k, i)
    change_owner(b, k, i, m, rate)


@scalar
def flip_random_members(rng: Any, model: Any, c: Any, b: Any, k: Any) -> None:
    """Propose n random flips of feature k, skipping those that the prior rejects.

    The number of skipped flips is a geometric draw.
    """
    n_options = count_options(b)
    sort_owners(b, k)
    n_left = n_options
    while True:
        m = b.m[k]
        join_probability, leave_probability = 0.0, 0.0
        if m < n_options:
            join_share = (n_options - m) / n_options
            join_probability = join_share * math.exp(min(0.0, part_size(b.by_size, m)))
        if m > 1:
            leave_share = m / n_options
            leave_probability = leave_share * math.exp(min(0.0, b.by_size[m - 1] - b.by_size[m]))
        pass_probability = join_probability + leave_probability
        if pass_probability < 1.0:
            n_left -= int(
                min(-rng.standard_exponential() / math.log1p(-pass_probability), n_left + 1.0)
            )
        n_left -= 1
        if n_left < 0:
            return
        if rng.random() * pass_probability < join_probability:
            position, boundary = m + draw_index(rng, n_options - m), m
        else:
            position, boundary = draw_index(rng, m), m - 1
        i = b.option_order[position]
        d = flipped_weight(b, k, i)
        if accept_by_likelihood(rng, model, c, b, k, i, d):
            new_m = count_after_flip(b, k, i)
            flip_member(model, c, b, k, i, d, new_m, b.by_size[new_m])
            # owners stay in front
            b.option_order[position], b.option_order[boundary] = (
                b.option_order[boundary],
                b.option_order[position],
            )


@scalar
def sort_owners(b: Any, k: Any) -> None:
    """Fill b.who with all options, the owners of feature k first."""
    front = 0
    back = b.Z.shape[1] - 2
    for i in range(count_options(b)):
        if owns(b, i, k):
            b.option_order[front] = i
            front += 1
        else:
            b.option_order[back] = i
            back -= 1


@scalar
def expand_columns(rng: Any, model: Any, b: Any) -> None:
    """Add the features of single options and of all options, drawn with alpha.

    Their numbers were drawn with alpha. Where s[i] includes the weights of single-option columns,
    it is split between the fixed unique weight and these columns, given their number, by a flat
    Dirichlet distribution.
    """
    n_options = count_options(b)
    if model.unique == TOTAL_UNIQUE:
        for i in range(n_options):
            if b.singles[i] > 0:
                start = b.whole[COLUMNS]
                unique_weight = rng.standard_exponential()
                total = unique_weight
                for _ in range(b.singles[i]):
                    w = rng.standard_exponential()
                    append_range_column(model, b, i, 1, w)
                    total += w
                share = b.s[i] / total
                b.s[i] = unique_weight * share
                for k in range(start, b.whole[COLUMNS]):
                    b.w[k] *= share
    elif has_free_singles(model):
        for i in range(n_options):
            for _ in range(b.singles[i]):
                append_range_column(model, b, i, 1, draw_prior_weight(rng, model))
    for _ in range(b.whole[FULL]):
        append_range_column(model, b, 0, n_options, draw_prior_weight(rng, model))


@scalar
def append_range_column(model: Any, b: Any, i: Any, m: Any, w: Any) -> None:
    """Append a feature of weight w that options i to i + m - 1 own."""
    k = b.whole[COLUMNS]
    write_owner_range(b, k, i, m)
    append_column(model, b, m, w)


@scalar
def collapse_columns(model: Any, b: Any) -> None:
    """Remove the features that `expand_columns` added to the state.

    Weights of single options return to s where s includes them; other weights are discarded.
    """
    n_options = count_options(b)
    k = b.whole[COLUMNS] - 1
    while k >= 0:
        if b.m[k] < model.lo or b.m[k] > model.hi:
            if b.m[k] < model.lo and model.unique == TOTAL_UNIQUE:
                for i in range(n_options):
                    b.s[i] += b.w[k] * b.Z[k, i]
            remove_column(b, k)
        k -= 1
    refresh_log_bessel(model, b)
