"""Move 1: toggle who owns which column.

Columns are visited in a fresh random order, each whole: an order that depended on the entries that
are updated, as the order of storage does, would bias the sampler. Columns that only one option
owns, and columns that all own, are part of the state during the pass, because a toggle may create
or remove one.
"""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import accept, draw_index

from ..operations import (
    apply_joined,
    delta_joined,
    is_exchangeable,
    is_quick,
    keeps_empty,
    log_rate,
    log_rate_toggled,
    open_column,
    open_members,
    toggled,
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
from ..weight_priors import weight
from .unique_weights import refresh_bessel

MAX_IN_TURN = 12  # up to this many options, every option is tried in turn


@scalar
def flip_pass(rng: Any, model: Any, c: Any, b: Any) -> None:
    """One pass over the columns of an infinite prior."""
    expand(rng, model, b)
    flip_columns(rng, model, c, b)
    collapse(model, b)


@scalar
def flip_columns(rng: Any, model: Any, c: Any, b: Any) -> None:
    """Toggle within every column, in random order."""
    n = b.Z.shape[1] - 1
    sparse = (
        n > MAX_IN_TURN
        and is_exchangeable(model.prior)
        and not (keeps_empty(model.prior) or is_quick(model.likelihood))
    )
    for t in range(shuffle_columns(rng, b)):
        k = b.order[t]
        open_members(model.likelihood, c, b, k)
        if sparse:
            flip_at_random(rng, model, c, b, k)
        else:
            open_column(model.prior, b, k)
            start = draw_index(rng, n)
            for step in range(n):
                i = start + step
                try_flip(rng, model, c, b, k, i - n if i >= n else i)


@scalar
def try_flip(rng: Any, model: Any, c: Any, b: Any, k: Any, i: Any) -> None:
    """Accept in one or two stages, the prior's first: a slow likelihood is evaluated only for
    toggles that pass it."""
    joins = b.Z[k, i] == 0.0
    m = b.m[k] + 1 if joins else b.m[k] - 1
    if (b.m[k] == 0 or m == 0) and not keeps_empty(model.prior):
        return
    rate = log_rate_toggled(model.prior, b, k, i, m)
    d = b.w[k] if joins else -b.w[k]
    if is_quick(model.likelihood):
        gain = b.real[BETA] * delta_joined(model.likelihood, c, b, k, i, d)
        passes = accept(rng, rate - b.log_rate[k] + gain)
    else:
        passes = accept(rng, rate - b.log_rate[k]) and likelihood_coin(rng, model, c, b, k, i, d)
    if passes:
        toggle(model, c, b, k, i, d, m, rate)


@scalar
def likelihood_coin(rng: Any, model: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    return accept(rng, b.real[BETA] * delta_joined(model.likelihood, c, b, k, i, d))


@scalar
def toggle(model: Any, c: Any, b: Any, k: Any, i: Any, d: Any, m: Any, rate: Any) -> None:
    apply_joined(model.likelihood, c, b, k, i, d)
    toggled(model.prior, b, k, i)
    change_owner(b, k, i, m, rate)


@scalar
def flip_at_random(rng: Any, model: Any, c: Any, b: Any, k: Any) -> None:
    """n uniformly random toggles of column k; those that the prior's ratio rejects are skipped by a
    geometric draw."""
    n = b.Z.shape[1] - 1
    sort_owners(b, k)
    picks = n
    while True:
        m = b.m[k]
        join = (n - m) / n * math.exp(min(0.0, b.by_size[m + 1] - b.by_size[m])) if m < n else 0.0
        leave = m / n * math.exp(min(0.0, b.by_size[m - 1] - b.by_size[m])) if m > 1 else 0.0
        passing = join + leave
        if passing < 1.0:
            picks -= int(min(-rng.standard_exponential() / math.log1p(-passing), picks + 1.0))
        picks -= 1
        if picks < 0:
            return
        joins = rng.random() * passing < join
        position = m + draw_index(rng, n - m) if joins else draw_index(rng, m)
        i = b.who[position]
        after = m + 1 if joins else m - 1
        d = b.w[k] if joins else -b.w[k]
        if likelihood_coin(rng, model, c, b, k, i, d):
            toggle(model, c, b, k, i, d, after, b.by_size[after])
            edge = m if joins else m - 1  # owners stay in front
            b.who[position], b.who[edge] = b.who[edge], b.who[position]


@scalar
def sort_owners(b: Any, k: Any) -> None:
    """All options into b.who, owners of pattern k first."""
    front = 0
    back = b.Z.shape[1] - 2
    for i in range(b.Z.shape[1] - 1):
        if b.Z[k, i] != 0.0:
            b.who[front] = i
            front += 1
        else:
            b.who[back] = i
            back -= 1


@scalar
def expand(rng: Any, model: Any, b: Any) -> None:
    """Add the columns of single options and of all options, counted when alpha was drawn, to the
    state.

    If s[i] holds the weights of the former it is split, given their number, between the fixed
    unique weight and them by a flat Dirichlet distribution.
    """
    n = b.Z.shape[1] - 1
    if model.unique == TOTAL_UNIQUE:
        for i in range(n):
            if b.singles[i] > 0:
                first = b.whole[COLUMNS]
                fixed = rng.standard_exponential()
                total = fixed
                for _ in range(b.singles[i]):
                    k = append_empty(b)
                    b.w[k] = rng.standard_exponential()
                    b.Z[k, i] = 1.0
                    b.m[k] = 1
                    b.log_rate[k] = log_rate(model.prior, b, k, 1)
                    total += b.w[k]
                share = b.s[i] / total
                b.s[i] = fixed * share
                for k in range(first, b.whole[COLUMNS]):
                    b.w[k] *= share
    elif has_free_singles(model):
        for i in range(n):
            for _ in range(b.singles[i]):
                k = append_empty(b)
                b.w[k] = weight(rng, model)
                b.Z[k, i] = 1.0
                b.m[k] = 1
                b.log_rate[k] = log_rate(model.prior, b, k, 1)
    for _ in range(b.whole[FULL]):
        k = append_empty(b)
        b.w[k] = weight(rng, model)
        for i in range(n):
            b.Z[k, i] = 1.0
        b.m[k] = n
        b.log_rate[k] = log_rate(model.prior, b, k, n)


@scalar
def append_empty(b: Any) -> Any:
    k = b.whole[COLUMNS]
    b.whole[COLUMNS] = k + 1
    clear_row(b, k)
    b.m[k] = 0
    return k


@scalar
def collapse(model: Any, b: Any) -> None:
    """Remove them again: the weights of single options return to s if it holds them; the others are
    discarded."""
    n = b.Z.shape[1] - 1
    k = b.whole[COLUMNS] - 1
    while k >= 0:
        if b.m[k] < model.lo or b.m[k] > model.hi:
            if b.m[k] < model.lo and model.unique == TOTAL_UNIQUE:
                for i in range(n):
                    b.s[i] += b.w[k] * b.Z[k, i]
            remove_column(b, k)
        k -= 1
    refresh_bessel(model, b)
