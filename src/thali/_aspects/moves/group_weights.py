"""Moves of the weights of one of several groups, given the owners of features."""

import math
from typing import Any

import numpy as np

from thali._compile.jit import scalar
from thali._inference.numerics.discrete_draws import accept, draw_index

from ..chain_state import (
    BETA,
    COLUMNS,
    min_over_owners,
    scale_all_weights,
    shuffle_columns,
    subtract_from_owners,
)
from ..group_state import KAPPA, expected_unique_weight, expected_weight
from ..kernel_operations import (
    apply_compensated_weight,
    apply_scale,
    apply_unique,
    apply_weight,
    delta_compensated_weight,
    delta_unique,
    delta_weight,
    is_group_scale_free,
    sum_scaled_priors,
)
from .compensated_moves import propose_column_weight
from .group_weight_density import draw_gamma, log_gamma_ratio, log_owner_ratio
from .step_tuning import COLUMN_WEIGHT, COMPENSATED_WEIGHT
from .weight_walks import is_silent_column


@scalar
def walk_group_unique_weights(
    rng: Any, likelihood: Any, c: Any, b: Any, base: Any, g: Any, tuning: Any
) -> None:
    """Update all unique weights of group g by random walks on the log scale."""
    for i in range(base.unique.size):
        move = tuning.unique_step[i] * rng.standard_normal()
        s = b.s[i] * math.exp(move)
        d = s - b.s[i]
        tuning.unique_tried[i] += 1
        if 0.0 < b.s[i] + d < np.inf:
            ratio = b.real[BETA] * delta_unique(likelihood, c, b, i, d) + move
            if accept(
                rng,
                ratio
                + log_gamma_ratio(base.real[KAPPA], expected_unique_weight(base, i, g), b.s[i], d),
            ):
                apply_unique(likelihood, c, b, i, d)
                b.s[i] = s
                tuning.unique_accepted[i] += 1


@scalar
def walk_group_column_weights(
    rng: Any, likelihood: Any, c: Any, b: Any, base: Any, g: Any, tuning: Any
) -> None:
    """Update all feature weights of group g by random walks on the log scale.

    Weights that the likelihood does not see come from the prior.
    """
    for t in range(shuffle_columns(rng, b)):
        k = b.order[t]
        if is_silent_column(likelihood, b, k):
            b.w[k] = draw_gamma(rng, base.real[KAPPA], expected_weight(base, k, g))
            continue
        move = tuning.step[COLUMN_WEIGHT] * rng.standard_normal()
        w = b.w[k] * math.exp(move)
        d = w - b.w[k]
        tuning.tried[COLUMN_WEIGHT] += 1
        if 0.0 < b.w[k] + d < np.inf:
            ratio = b.real[BETA] * delta_weight(likelihood, c, b, k, b.m[k], d) + move
            if accept(
                rng,
                ratio + log_gamma_ratio(base.real[KAPPA], expected_weight(base, k, g), b.w[k], d),
            ):
                apply_weight(likelihood, c, b, k, b.m[k], d)
                b.w[k] = w
                tuning.accepted[COLUMN_WEIGHT] += 1


@scalar
def propose_compensated_group_weight(
    rng: Any, likelihood: Any, c: Any, b: Any, base: Any, g: Any, tuning: Any
) -> None:
    """Propose to shift weight of group g between a random feature and its owners.

    This is the move of `mass_transfer` for one group.
    """
    k = draw_index(rng, b.whole[COLUMNS])
    if b.m[k] == 0:
        return
    tuning.tried[COMPENSATED_WEIGHT] += 1
    new_w, jacobian = propose_column_weight(
        rng, b.w[k], min_over_owners(b.s, b, k), tuning.step[COMPENSATED_WEIGHT]
    )
    if new_w == 0.0:
        return
    w = b.w[k]
    d = new_w - w
    ratio = b.real[BETA] * delta_compensated_weight(likelihood, c, b, k, b.m[k], d)
    ratio += log_owner_ratio(base, g, b, k, d) + log_gamma_ratio(
        base.real[KAPPA], expected_weight(base, k, g), w, d
    )
    if accept(rng, ratio + jacobian):
        apply_compensated_weight(likelihood, c, b, k, b.m[k], d)
        subtract_from_owners(b.s, b, k, d)
        b.w[k] = new_w
        tuning.accepted[COMPENSATED_WEIGHT] += 1


@scalar
def draw_group_scale(
    rng: Any, model: Any, likelihood: Any, c: Any, b: Any, base: Any, g: Any
) -> None:
    """Draw the scale of group g's weights given their ratios, if only ratios matter."""
    if not is_group_scale_free(likelihood):
        return
    n_options, n_columns, kappa = base.unique.size, b.whole[COLUMNS], base.real[KAPPA]
    total = 0.0
    for k in range(n_columns):
        total += b.w[k] / expected_weight(base, k, g)
    n_weights = n_columns
    if model.unique:
        n_weights += n_options
        for i in range(n_options):
            total += b.s[i] / expected_unique_weight(base, i, g)
    if n_weights == 0:
        return
    shape, scaled_rate = sum_scaled_priors(likelihood, c)
    factor = rng.standard_gamma(kappa * n_weights + shape) / (kappa * total + scaled_rate)
    scale_all_weights(b, factor)
    apply_scale(likelihood, c, b, factor)
