"""Move 8 of the sampler: random walks of all weights, in logs for positive weights."""

import math
from typing import Any

import numpy as np

from thali._compile.jit import scalar
from thali._inference.numerics.discrete_draws import accept

from ..chain_state import BETA, NO_UNIQUE, count_options, shuffle_columns
from ..kernel_operations import (
    apply_unique,
    apply_weight,
    delta_unique,
    delta_weight,
    sees_full,
    sees_single,
)
from ..weight_priors import (
    draw_prior_weight,
    is_possible,
    log_density_ratio,
    log_step_derivative,
    step_weight,
)
from .step_tuning import COLUMN_WEIGHT
from .unique_weights import log_unique_ratio, set_unique_weight


@scalar
def walk_unique_weights(rng: np.random.Generator, model: Any, c: Any, b: Any, tuning: Any) -> None:
    """Update each unique weight by a random-walk step with its own step size."""
    if model.unique == NO_UNIQUE:
        return
    for i in range(count_options(b)):
        move = tuning.unique_step[i] * rng.standard_normal()
        s = b.s[i] * math.exp(move)
        d = s - b.s[i]
        tuning.unique_tried[i] += 1
        if 0.0 < s < np.inf:
            ratio = (
                b.real[BETA] * delta_unique(model.likelihood, c, b, i, d)
                + log_unique_ratio(model, b, i, s)
                + move
            )
            if accept(rng, ratio):
                apply_unique(model.likelihood, c, b, i, d)
                set_unique_weight(b, i, s)
                tuning.unique_accepted[i] += 1


@scalar
def is_silent_column(likelihood: Any, b: Any, k: Any) -> Any:
    """Return whether the likelihood does not depend on feature k."""
    m = b.m[k]
    return (
        m == 0
        or (m == 1 and not sees_single(likelihood))
        or (m == count_options(b) and not sees_full(likelihood))
    )


@scalar
def walk_column_weights(rng: np.random.Generator, model: Any, c: Any, b: Any, tuning: Any) -> None:
    """Update all feature weights by random walks; draw unseen ones from the prior."""
    for t in range(shuffle_columns(rng, b)):
        k = b.order[t]
        if is_silent_column(model.likelihood, b, k):
            b.w[k] = draw_prior_weight(rng, model)
            continue
        m = b.m[k]
        move = tuning.step[COLUMN_WEIGHT] * rng.standard_normal()
        w = step_weight(model.weights, b.w[k], move)
        d = w - b.w[k]
        tuning.tried[COLUMN_WEIGHT] += 1
        if is_possible(model.weights, b.w[k], d):
            ratio = b.real[BETA] * delta_weight(
                model.likelihood, c, b, k, m, d
            ) + log_step_derivative(model.weights, move)
            ratio += log_density_ratio(model.weights, b.w[k], d)
            if accept(rng, ratio):
                apply_weight(model.likelihood, c, b, k, m, d)
                b.w[k] = w
                tuning.accepted[COLUMN_WEIGHT] += 1
