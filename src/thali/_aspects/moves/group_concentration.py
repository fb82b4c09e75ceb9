"""The concentration of groups, and the columns that no group's likelihood sees."""

from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import draw_poisson

from ..group_state import (
    KAPPA,
    append_proposed,
    copy_proposed,
    draw_slopes_of_new,
    group_at,
    middle_of,
    remove_from_all,
)
from ..operations import (
    draw_alpha,
    log_rate,
    rate_between,
    rate_single,
    sees_full,
    sees_single,
    set_alpha,
)
from ..state import ALPHA, COLUMNS, capacity, clear_row, replica
from .group_densities import draw_gamma
from .group_weights import is_silent


@scalar
def draw_alpha_of_groups(rng: Any, model: Any, states: Any) -> None:
    """The concentration given the number of columns, all of which are in the state."""
    first = replica(states, 0)
    if model.learn_alpha:
        rate = rate_between(model.prior, 1, first.Z.shape[1] - 1)
        set_alpha(
            model.prior, first, draw_alpha(model.prior, rng, first, first.whole[COLUMNS], rate)
        )


@scalar
def redraw_silent(rng: Any, model: Any, states: Any, base: Any) -> None:
    """Columns that the likelihoods do not see are a Poisson process apart: draw all of them from
    the prior."""
    first = replica(states, 0)
    likelihood = group_at(model.likelihood, 0)
    n = first.Z.shape[1] - 1
    k = first.whole[COLUMNS] - 1
    while k >= 0:
        if is_silent(likelihood, first, k):
            remove_from_all(states, base, k)
        k -= 1
    if not sees_single(likelihood):
        for i in range(n):
            add_from_prior(
                rng, model, states, base, i, 1, first.real[ALPHA] * rate_single(model.prior, i)
            )
    if not sees_full(likelihood):
        add_from_prior(
            rng, model, states, base, 0, n, first.real[ALPHA] * rate_between(model.prior, n, n)
        )


@scalar
def add_from_prior(rng: Any, model: Any, states: Any, base: Any, i: Any, m: Any, mean: Any) -> None:
    """A Poisson number of columns of m options from option i on, with weights from their prior."""
    first = replica(states, 0)
    count = draw_poisson(rng, mean)
    while first.whole[COLUMNS] + count > capacity(first):
        count = draw_poisson(rng, mean)
    for _ in range(count):
        k = first.whole[COLUMNS]
        clear_row(first, k)
        for j in range(i, i + m):
            first.Z[k, j] = 1.0
        copy_proposed(states, m)
        base.v[k] = model.shape / model.rate
        if model.similar:
            base.v[k] = draw_gamma(rng, model.shape, model.shape / model.rate)
        draw_slopes_of_new(rng, model, base, k)
        for g in range(states.w.shape[0]):
            replica(states, g).w[k] = draw_gamma(rng, base.real[KAPPA], middle_of(base, k, g))
        append_proposed(states, log_rate(model.prior, first, k, m))
