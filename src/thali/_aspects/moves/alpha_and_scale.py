"""Move 10 of the sampler: draws of the concentration alpha and of the scale of all weights."""

from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.discrete_draws import draw_bessel_count, draw_poisson

from ..chain_state import (
    ALPHA,
    COLUMNS,
    FULL,
    NO_UNIQUE,
    TOTAL_UNIQUE,
    count_options,
    has_free_singles,
    scale_all_weights,
    sum_weights,
)
from ..kernel_operations import (
    apply_scale,
    draw_alpha,
    is_scale_free,
    rate_by_size_range,
    rate_single,
    set_alpha,
)
from ..weight_priors import gamma_rate, gamma_shape
from .unique_weights import refresh_unique_prior


@scalar
def draw_alpha_and_scale(rng: Any, model: Any, c: Any, b: Any) -> None:
    """Move 10: draw alpha, then the scale of all weights."""
    draw_concentration(rng, model, b)
    draw_weight_scale(rng, model, c, b)
    refresh_unique_prior(model, b)


@scalar
def draw_concentration(rng: Any, model: Any, b: Any) -> None:
    """Draw alpha given the features; redraw features that the likelihood ignores."""
    n_options = count_options(b)
    min_owners = model.lo
    if model.unique == TOTAL_UNIQUE:
        min_owners = 1
    n_columns = b.whole[COLUMNS] + draw_single_counts(rng, model, b)
    if model.learn_alpha:
        alpha = draw_alpha(
            model.prior, rng, b, n_columns, rate_by_size_range(model.prior, min_owners, model.hi)
        )
        set_alpha(model.prior, b, alpha)
    if has_free_singles(model):
        for i in range(n_options):
            b.singles[i] = draw_poisson(rng, b.real[ALPHA] * rate_single(model.prior, i))
    if model.hi < n_options:
        b.whole[FULL] = draw_poisson(
            rng, b.real[ALPHA] * rate_by_size_range(model.prior, n_options, n_options)
        )


@scalar
def draw_single_counts(rng: Any, model: Any, b: Any) -> Any:
    """Draw the number of features that each option owns alone; return the total."""
    total = 0
    if model.unique == TOTAL_UNIQUE:
        for i in range(b.singles.size):
            b.singles[i] = draw_bessel_count(rng, b.z[i] * b.s[i], 0)
            total += b.singles[i]
    return total


@scalar
def draw_weight_scale(rng: Any, model: Any, c: Any, b: Any) -> None:
    """Draw the sum of all weights given their ratios, if only ratios matter."""
    n_options = count_options(b)
    if not is_scale_free(model.likelihood):
        return
    n_weights = b.whole[COLUMNS]
    if model.unique != NO_UNIQUE:
        n_weights += n_options
        for i in range(n_options):
            n_weights += b.singles[i]
    if n_weights == 0:
        return
    total = rng.standard_gamma(gamma_shape(model.weights) * n_weights) / gamma_rate(model.weights)
    factor = total / sum_weights(b)
    scale_all_weights(b, factor)
    apply_scale(model.likelihood, c, b, factor)
