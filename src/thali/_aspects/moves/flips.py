"""Move 1: flip the memberships of options in columns.

Columns are visited in a fresh random order, each completely: an order that depended on the updated
entries, as the order of storage does, would bias the sampler. Columns that only one option owns,
and columns that all options own, are part of the state during the pass, because a flip may create
or remove one.
"""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import accept, draw_index

from ..operations import (
    apply_open_member,
    delta_open_member,
    is_exchangeable,
    is_quick,
    keeps_empty,
    log_rate,
    log_rate_after_toggle,
    open_column,
    open_members,
    record_toggle,
)
from ..state import (
    BETA,
    COLUMNS,
    FULL,
    TOTAL_UNIQUE,
    change_owner,
    clear_row,
    has_free_singles,
    remove_column,
    shuffle_columns,
)
from ..weight_priors import draw_prior_weight
from .unique_weights import refresh_log_bessel

MAX_SYSTEMATIC = 12  # up to this number of options, each option's membership is proposed in turn


@scalar
def flip_memberships(rng: Any, model: Any, c: Any, b: Any) -> None:
    """Flip memberships in all columns of an infinite prior, including unseen columns."""
    expand_columns(rng, model, b)
    flip_columns(rng, model, c, b)
    collapse_columns(model, b)


@scalar
def flip_columns(rng: Any, model: Any, c: Any, b: Any) -> None:
    """Flip memberships within every column, in random order."""
    n_options = b.Z.shape[1] - 1
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
            start = draw_index(rng, n_options)
            for step in range(n_options):
                i = start + step
                propose_flip(rng, model, c, b, k, i - n_options if i >= n_options else i)


@scalar
def propose_flip(rng: Any, model: Any, c: Any, b: Any, k: Any, i: Any) -> None:
    """Propose to flip the membership of option i in column k.

    For a slow likelihood the prior's ratio decides first, so that the likelihood is evaluated only
    for flips that pass it.
    """
    joins = b.Z[k, i] == 0.0
    m = b.m[k] + 1 if joins else b.m[k] - 1
    if (b.m[k] == 0 or m == 0) and not keeps_empty(model.prior):
        return
    rate = log_rate_after_toggle(model.prior, b, k, i, m)
    d = b.w[k] if joins else -b.w[k]
    if is_quick(model.likelihood):
        gain = b.real[BETA] * delta_open_member(model.likelihood, c, b, k, i, d)
        is_accepted = accept(rng, rate - b.log_rate[k] + gain)
    else:
        is_accepted = accept(rng, rate - b.log_rate[k]) and accept_by_likelihood(
            rng, model, c, b, k, i, d
        )
    if is_accepted:
        flip_member(model, c, b, k, i, d, m, rate)


@scalar
def accept_by_likelihood(rng: Any, model: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    """Return whether the likelihood ratio of a flip passes its random test."""
    return accept(rng, b.real[BETA] * delta_open_member(model.likelihood, c, b, k, i, d))


@scalar
def flip_member(model: Any, c: Any, b: Any, k: Any, i: Any, d: Any, m: Any, rate: Any) -> None:
    """Flip the membership of option i in column k; update caches and prior."""
    apply_open_member(model.likelihood, c, b, k, i, d)
    record_toggle(model.prior, b, k, i)
    change_owner(b, k, i, m, rate)


@scalar
def flip_random_members(rng: Any, model: Any, c: Any, b: Any, k: Any) -> None:
    """Propose n random flips of column k, skipping those that the prior rejects.

    The number of skipped flips is a geometric draw.
    """
    n_options = b.Z.shape[1] - 1
    sort_owners(b, k)
    n_left = n_options
    while True:
        m = b.m[k]
        join_probability = (
            (n_options - m) / n_options * math.exp(min(0.0, b.by_size[m + 1] - b.by_size[m]))
            if m < n_options
            else 0.0
        )
        leave_probability = (
            m / n_options * math.exp(min(0.0, b.by_size[m - 1] - b.by_size[m])) if m > 1 else 0.0
        )
        pass_probability = join_probability + leave_probability
        if pass_probability < 1.0:
            n_left -= int(
                min(-rng.standard_exponential() / math.log1p(-pass_probability), n_left + 1.0)
            )
        n_left -= 1
        if n_left < 0:
            return
        joins = rng.random() * pass_probability < join_probability
        position = m + draw_index(rng, n_options - m) if joins else draw_index(rng, m)
        i = b.option_order[position]
        new_m = m + 1 if joins else m - 1
        d = b.w[k] if joins else -b.w[k]
        if accept_by_likelihood(rng, model, c, b, k, i, d):
            flip_member(model, c, b, k, i, d, new_m, b.by_size[new_m])
            boundary = m if joins else m - 1  # owners stay in front
            b.option_order[position], b.option_order[boundary] = (
                b.option_order[boundary],
                b.option_order[position],
            )


@scalar
def sort_owners(b: Any, k: Any) -> None:
    """Fill b.who with all options, owners of pattern k first."""
    front = 0
    back = b.Z.shape[1] - 2
    for i in range(b.Z.shape[1] - 1):
        if b.Z[k, i] != 0.0:
            b.option_order[front] = i
            front += 1
        else:
            b.option_order[back] = i
            back -= 1


@scalar
def expand_columns(rng: Any, model: Any, b: Any) -> None:
    """Add the columns of single options and of all options to the state.

    Their numbers were drawn with alpha. Where s[i] includes the weights of single-option columns,
    it is split between the fixed unique weight and these columns, given their number, by a flat
    Dirichlet distribution.
    """
    n_options = b.Z.shape[1] - 1
    if model.unique == TOTAL_UNIQUE:
        for i in range(n_options):
            if b.singles[i] > 0:
                start = b.whole[COLUMNS]
                unique_weight = rng.standard_exponential()
                total = unique_weight
                for _ in range(b.singles[i]):
                    k = append_empty_column(b)
                    b.w[k] = rng.standard_exponential()
                    b.Z[k, i] = 1.0
                    b.m[k] = 1
                    b.log_rate[k] = log_rate(model.prior, b, k, 1)
                    total += b.w[k]
                share = b.s[i] / total
                b.s[i] = unique_weight * share
                for k in range(start, b.whole[COLUMNS]):
                    b.w[k] *= share
    elif has_free_singles(model):
        for i in range(n_options):
            for _ in range(b.singles[i]):
                k = append_empty_column(b)
                b.w[k] = draw_prior_weight(rng, model)
                b.Z[k, i] = 1.0
                b.m[k] = 1
                b.log_rate[k] = log_rate(model.prior, b, k, 1)
    for _ in range(b.whole[FULL]):
        k = append_empty_column(b)
        b.w[k] = draw_prior_weight(rng, model)
        for i in range(n_options):
            b.Z[k, i] = 1.0
        b.m[k] = n_options
        b.log_rate[k] = log_rate(model.prior, b, k, n_options)


@scalar
def append_empty_column(b: Any) -> Any:
    """Append a column without owners; return its row."""
    k = b.whole[COLUMNS]
    b.whole[COLUMNS] = k + 1
    clear_row(b, k)
    b.m[k] = 0
    return k


@scalar
def collapse_columns(model: Any, b: Any) -> None:
    """Remove the columns that `expand_columns` added.

    Weights of single options return to s where s includes them; other weights are discarded.
    """
    n_options = b.Z.shape[1] - 1
    k = b.whole[COLUMNS] - 1
    while k >= 0:
        if b.m[k] < model.lo or b.m[k] > model.hi:
            if b.m[k] < model.lo and model.unique == TOTAL_UNIQUE:
                for i in range(n_options):
                    b.s[i] += b.w[k] * b.Z[k, i]
            remove_column(b, k)
        k -= 1
    refresh_log_bessel(model, b)
