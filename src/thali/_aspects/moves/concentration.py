"""Move 10: the concentration alpha, and the common scale of all weights."""

from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import draw_bessel_count, draw_poisson

from ..operations import (
    apply_scale,
    draw_alpha,
    is_scale_free,
    rate_between,
    rate_single,
    set_alpha,
)
from ..state import ALPHA, COLUMNS, FULL, NO_UNIQUE, TOTAL_UNIQUE, has_free_singles
from ..weight_priors import rate_of, shape_of
from .unique_weights import refresh_unique


@scalar
def draw_alpha_and_scale(rng: Any, model: Any, c: Any, b: Any) -> None:
    """Move 10."""
    draw_concentration(rng, model, b)
    draw_scale(rng, model, c, b)
    refresh_unique(model, b)


@scalar
def draw_concentration(rng: Any, model: Any, b: Any) -> None:
    """Draw alpha given the columns of the state, then the columns that the likelihood ignores from
    the prior."""
    n = b.Z.shape[1] - 1
    lo = 1 if model.unique == TOTAL_UNIQUE else model.lo
    columns = b.whole[COLUMNS] + count_singles(rng, model, b)
    if model.learn_alpha:
        alpha = draw_alpha(model.prior, rng, b, columns, rate_between(model.prior, lo, model.hi))
        set_alpha(model.prior, b, alpha)
    if has_free_singles(model):
        for i in range(n):
            b.singles[i] = draw_poisson(rng, b.real[ALPHA] * rate_single(model.prior, i))
    if model.hi < n:
        b.whole[FULL] = draw_poisson(rng, b.real[ALPHA] * rate_between(model.prior, n, n))


@scalar
def count_singles(rng: Any, model: Any, b: Any) -> Any:
    """Draw how many columns each option owns alone, given s; returns their sum."""
    total = 0
    if model.unique == TOTAL_UNIQUE:
        for i in range(b.singles.shape[0]):
            b.singles[i] = draw_bessel_count(rng, b.z[i] * b.s[i], 0)
            total += b.singles[i]
    return total


@scalar
def draw_scale(rng: Any, model: Any, c: Any, b: Any) -> None:
    """The sum of all weights given their proportions, which are all that the likelihood sees."""
    n = b.Z.shape[1] - 1
    if not is_scale_free(model.likelihood):
        return
    total = 0.0
    count = b.whole[COLUMNS]
    for k in range(b.whole[COLUMNS]):
        total += b.w[k]
    if model.unique != NO_UNIQUE:
        count += n
        for i in range(n):
            total += b.s[i]
            count += b.singles[i]
    if count == 0:
        return
    factor = rng.standard_gamma(shape_of(model.weights) * count) / rate_of(model.weights) / total
    for k in range(b.whole[COLUMNS]):
        b.w[k] *= factor
    for i in range(n):
        b.s[i] *= factor
    apply_scale(model.likelihood, c, b, factor)
