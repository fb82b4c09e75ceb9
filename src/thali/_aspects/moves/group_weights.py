"""Moves of the weights of groups: within each group, given the owners; and of what they vary
about."""

import math
from typing import Any

import numpy as np

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import accept, draw_index

from ..group_state import KAPPA, middle_of, own_middle_of
from ..operations import (
    apply_compensated_weight,
    apply_own,
    apply_scale,
    apply_weight,
    delta_compensated_weight,
    delta_own,
    delta_weight,
    is_scaled_in_groups,
    scaled_parameters,
    sees_full,
    sees_single,
)
from ..state import BETA, COLUMNS, shuffle_columns
from .group_densities import draw_gamma, log_gamma_ratio, log_owners_ratio
from .mass_transfer import proposed_weight
from .tuning import COMPENSATED_WEIGHT, SHARED


@scalar
def walk_unique_of_group(
    rng: Any, likelihood: Any, c: Any, b: Any, base: Any, g: Any, tuning: Any
) -> None:
    """All unique weights of a group, on the log scale."""
    for i in range(base.own.shape[0]):
        move = tuning.unique_step[i] * rng.standard_normal()
        s = b.s[i] * math.exp(move)
        d = s - b.s[i]
        tuning.unique_tried[i] += 1
        if 0.0 < b.s[i] + d < np.inf:
            ratio = b.real[BETA] * delta_own(likelihood, c, b, i, d) + move
            if accept(
                rng, ratio + log_gamma_ratio(base.real[KAPPA], own_middle_of(base, i, g), b.s[i], d)
            ):
                apply_own(likelihood, c, b, i, d)
                b.s[i] = s
                tuning.unique_accepted[i] += 1


@scalar
def is_silent(likelihood: Any, b: Any, k: Any) -> Any:
    """Whether the likelihood does not depend on column k."""
    m = b.m[k]
    return (
        m == 0
        or (m == 1 and not sees_single(likelihood))
        or (m == b.Z.shape[1] - 1 and not sees_full(likelihood))
    )


@scalar
def walk_weights_of_group(
    rng: Any, likelihood: Any, c: Any, b: Any, base: Any, g: Any, tuning: Any
) -> None:
    """The weights of all columns in a group, on the log scale; those that it does not see come from
    the prior."""
    for t in range(shuffle_columns(rng, b)):
        k = b.order[t]
        if is_silent(likelihood, b, k):
            b.w[k] = draw_gamma(rng, base.real[KAPPA], middle_of(base, k, g))
            continue
        move = tuning.step[SHARED] * rng.standard_normal()
        w = b.w[k] * math.exp(move)
        d = w - b.w[k]
        tuning.tried[SHARED] += 1
        if 0.0 < b.w[k] + d < np.inf:
            ratio = b.real[BETA] * delta_weight(likelihood, c, b, k, b.m[k], d) + move
            if accept(
                rng, ratio + log_gamma_ratio(base.real[KAPPA], middle_of(base, k, g), b.w[k], d)
            ):
                apply_weight(likelihood, c, b, k, b.m[k], d)
                b.w[k] = w
                tuning.accepted[SHARED] += 1


@scalar
def compensated_weight_of_group(
    rng: Any, likelihood: Any, c: Any, b: Any, base: Any, g: Any, tuning: Any
) -> None:
    """Weight moves between a random column and the unique weights of its owners, as in
    `mass_transfer`."""
    k = draw_index(rng, b.whole[COLUMNS])
    if b.m[k] == 0:
        return
    tuning.tried[COMPENSATED_WEIGHT] += 1
    new, jacobian = proposed_weight(rng, b, k, tuning.step[COMPENSATED_WEIGHT])
    if new == 0.0:
        return
    w = b.w[k]
    d = new - w
    ratio = b.real[BETA] * delta_compensated_weight(likelihood, c, b, k, b.m[k], d)
    ratio += log_owners_ratio(base, g, b, k, d) + log_gamma_ratio(
        base.real[KAPPA], middle_of(base, k, g), w, d
    )
    if accept(rng, ratio + jacobian):
        apply_compensated_weight(likelihood, c, b, k, b.m[k], d)
        for i in range(base.own.shape[0]):
            b.s[i] -= d * b.Z[k, i]
        b.w[k] = new
        tuning.accepted[COMPENSATED_WEIGHT] += 1


@scalar
def draw_scale_of_group(
    rng: Any, model: Any, likelihood: Any, c: Any, b: Any, base: Any, g: Any
) -> None:
    """The size of all weights of a group given their proportions, where the likelihood sees only
    these."""
    if not is_scaled_in_groups(likelihood):
        return
    n, columns, kappa = base.own.shape[0], b.whole[COLUMNS], base.real[KAPPA]
    total = 0.0
    for k in range(columns):
        total += b.w[k] / middle_of(base, k, g)
    count = columns
    if model.unique:
        count += n
        for i in range(n):
            total += b.s[i] / own_middle_of(base, i, g)
    if count == 0:
        return
    shape, besides = scaled_parameters(likelihood, c)
    factor = rng.standard_gamma(kappa * count + shape) / (kappa * total + besides)
    for k in range(columns):
        b.w[k] *= factor
    for i in range(n):
        b.s[i] *= factor
    apply_scale(likelihood, c, b, factor)
