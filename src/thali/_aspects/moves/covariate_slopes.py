"""Updates of the slopes of respondents' log weights on their covariates x.

The weight of a column has mean v exp(x' slope). For one slope, b, given all other values, where the
weights divided by v and by the factors of the other covariates are r_1, ..., r_G,

    log p(b | w) = -b^2 / (2 SLOPE_SD^2) - kappa sum_g (x_g b + r_g exp(-x_g b)) + constant,

which is concave. A slope is also drawn jointly with the weights, which keep their ratios to their
means: given the weights of many respondents with few answers each it almost never moves (Yu & Meng
2011, To center or not to center). A common shift of the slopes of all weights is drawn from its
prior if the likelihoods see proportions alone.
"""

import math
from typing import Any, NamedTuple

from thali._compile.jit import scalar
from thali._inference.numerics.slice_sampling import draw_on_line, log_density

from ..chain_state import COLUMNS, accept_move, count_groups, replica, scale_all_weights
from ..group_state import (
    ACCEPTED,
    SLOPE_SD,
    STEP,
    TRIED,
    fill_weight_factors,
    select_group,
    select_group_likelihood,
)
from ..kernel_operations import (
    apply_scale,
    is_group_scale_free,
    select_cache,
    sum_scaled_priors,
)
from .group_weight_sets import (
    apply_group_weight,
    delta_group_weight,
    group_center,
    select_column_weights,
    select_unique_weights,
)


@scalar
def draw_slopes(rng: Any, model: Any, caches: Any, states: Any, base: Any) -> None:
    """Update every slope, both given the weights and jointly with them."""
    for j in range(model.known.shape[1]):
        column_weights = select_column_weights(states, base)
        for k in range(replica(states, 0).whole[COLUMNS]):
            draw_slope(rng, model, caches, states, base, column_weights, k, j)
        if model.unique:
            unique_weights = select_unique_weights(states, base)
            for i in range(base.unique.size):
                draw_slope(rng, model, caches, states, base, unique_weights, i, j)
        draw_slope_shift(rng, model, caches, states, base, j)


@scalar
def draw_slope(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, weights: Any, k: Any, j: Any
) -> None:
    """Update slope j of weight k jointly with respondents' weights, then given them.

    The width of the slice follows the width of the density.
    """
    propose_slope_and_weights(rng, model, caches, states, base, weights, k, j)
    information = 1.0 / SLOPE_SD**2
    for g in range(model.known.shape[0]):
        information += weights.kappa * model.known[g, j] ** 2
    line = SlopeLine(model.known, weights, k, j, weights.slope[k, j])
    weights.slope[k, j] = draw_on_line(rng, line, weights.slope[k, j], 2.5 / math.sqrt(information))
    fill_weight_factors(model.known, weights.slope, weights.covariate_factor, k)


class SlopeLine(NamedTuple):
    """Conditional density of slope j of weight k given the weights, for slice sampling."""

    known: Any
    weights: Any
    k: int
    j: int
    now: float


@log_density.register(SlopeLine)
def log_slope_density(line: Any, slope: Any) -> Any:
    """Return the log conditional density of a value of the slope, up to a constant."""
    known, weights, k, j, current = line
    total = 0.0
    for g in range(known.shape[0]):
        change = known[g, j] * (slope - current)
        total += change + weights.weight[g, k] / group_center(weights, k, g) * math.exp(-change)
    return -0.5 * (slope / SLOPE_SD) ** 2 - weights.kappa * total


@scalar
def propose_slope_and_weights(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, weights: Any, k: Any, j: Any
) -> None:
    """Propose to change slope j of weight k, with all respondents' weights k.

    The weights keep their ratios to their means.
    """
    move = base.real[STEP] * rng.standard_normal()
    new_slope = weights.slope[k, j] + move
    gain = 0.0
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        relative_change = math.exp(model.known[g, j] * move) - 1.0
        gain += delta_group_weight(
            weights, likelihood, c, b, k, relative_change * weights.weight[g, k]
        )
    base.real[TRIED] += 1.0
    ratio = 0.5 * (weights.slope[k, j] ** 2 - new_slope**2) / SLOPE_SD**2
    if accept_move(rng, replica(states, 0), ratio, gain):
        base.real[ACCEPTED] += 1.0
        weights.slope[k, j] = new_slope
        fill_weight_factors(model.known, weights.slope, weights.covariate_factor, k)
        for g in range(count_groups(states)):
            likelihood, c, b = select_group(model, caches, states, g)
            relative_change = math.exp(model.known[g, j] * move) - 1.0
            apply_group_weight(weights, likelihood, c, b, k, relative_change * weights.weight[g, k])
            weights.weight[g, k] *= 1.0 + relative_change


@scalar
def draw_slope_shift(rng: Any, model: Any, caches: Any, states: Any, base: Any, j: Any) -> None:
    """Draw a common shift of slope j of all weights, if only ratios of weights matter."""
    n_columns, n_options = replica(states, 0).whole[COLUMNS], base.unique.size
    n_slopes = n_columns
    if model.unique:
        n_slopes += n_options
    first_likelihood = select_group_likelihood(model.likelihood, 0)
    if n_slopes == 0 or not is_group_scale_free(first_likelihood):
        return
    # other parameters with a scale fix the scale of the weights
    if sum_scaled_priors(first_likelihood, select_cache(first_likelihood, caches, 0))[0] > 0.0:
        return
    total = 0.0
    for k in range(n_columns):
        total += base.slope[k, j]
    if model.unique:
        for i in range(n_options):
            total += base.unique_slope[i, j]
    shift = SLOPE_SD / math.sqrt(n_slopes) * rng.standard_normal() - total / n_slopes
    for k in range(n_columns):
        base.slope[k, j] += shift
        fill_weight_factors(model.known, base.slope, base.covariate_factor, k)
    if model.unique:
        for i in range(n_options):
            base.unique_slope[i, j] += shift
            fill_weight_factors(model.known, base.unique_slope, base.unique_covariate_factor, i)
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        factor = math.exp(model.known[g, j] * shift)
        scale_all_weights(b, factor)
        apply_scale(likelihood, c, b, factor)
