"""Updates of weights common to similar groups (base weights v) and of their similarity kappa.

For a column with weights w_1, ..., w_G, in x = log v with a Gamma(a, b) prior on v,

    log p(x | w) = (a - G kappa) x - b exp(x) - kappa sum_g w_g exp(-x) + constant.

kappa is drawn given all weights and, where groups are single respondents, also jointly with them:
the weights of many respondents with few answers each determine kappa much more closely than the
answers do, so that given them it almost never moves. The two kinds of updates interweave (Yu & Meng
2011, To center or not to center).
"""

import math
from typing import Any, NamedTuple

from thali._compile.jit import scalar
from thali._inference.numerics.slice_sampling import draw_on_line, log_density

from ..chain_state import BETA, COLUMNS, accept_move, count_groups, replica, scale_all_weights
from ..group_state import (
    ACCEPTED,
    KAPPA,
    KAPPA_RATE,
    KAPPA_SHAPE,
    STEP,
    TRIED,
    expected_unique_weight,
    expected_weight,
    select_group,
    select_group_likelihood,
)
from ..kernel_operations import (
    apply_scale,
    is_group_scale_free,
    log_likelihood,
    rebuild_cache,
    sum_scaled_priors,
)
from .group_weight_density import log_gamma_moments
from .group_weight_sets import (
    apply_group_weight,
    delta_group_weight,
    select_column_weights,
    select_unique_weights,
)

KAPPA_SLICE_WIDTH = 0.5  # width in log kappa of the slice that draws kappa jointly with all weights
MAX_LOG_RATIO = 600.0  # largest absolute log ratio of a weight to its base weight


@scalar
def update_base_weights(rng: Any, model: Any, caches: Any, states: Any, base: Any) -> None:
    """Update the groups' common weights v, their similarity kappa and their scale."""
    column_weights = select_column_weights(states, base)
    for k in range(replica(states, 0).whole[COLUMNS]):
        update_base_weight(rng, model, caches, states, base, column_weights, k)
    if model.unique:
        unique_weights = select_unique_weights(states, base)
        for i in range(base.unique.size):
            update_base_weight(rng, model, caches, states, base, unique_weights, i)
    if math.isnan(model.kappa):
        draw_kappa(rng, model, states, base)
        if model.persons:
            draw_kappa_and_weights(rng, model, caches, states, base)
    draw_common_scale(rng, model, caches, states, base)


@scalar
def update_base_weight(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, weights: Any, k: Any
) -> None:
    """Update common weight k with all groups' weights scaled, then given them."""
    propose_base_scale(rng, model, caches, states, base, weights, k)
    total = 0.0
    for g in range(count_groups(states)):
        total += weights.weight[g, k] / weights.covariate_factor[g, k]
    current = weights.center[k]
    weights.center[k] = draw_base_weight(
        rng, model.shape, model.rate, weights.kappa, count_groups(states), total, current
    )


@scalar
def draw_base_weight(
    rng: Any, shape: Any, rate: Any, kappa: Any, n_groups: Any, total: Any, current: Any
) -> Any:
    """Draw common weight v with prior Gamma(shape, rate), given the groups' weights.

    The width of the slice follows the width of the density.
    """
    power = shape - n_groups * kappa
    inverse = kappa * total
    root = math.sqrt(power * power + 4.0 * rate * inverse)
    if power > 0.0:
        mode = (power + root) / (2.0 * rate)
    else:
        mode = 2.0 * inverse / (root - power)
    width = 2.5 / math.sqrt(rate * mode + inverse / mode)
    return math.exp(
        draw_on_line(rng, BaseWeightLine(power, rate, inverse), math.log(current), width)
    )


class BaseWeightLine(NamedTuple):
    """Conditional density of log v (generalised inverse Gaussian v), for slice sampling."""

    power: float
    rate: float
    inverse: float


@log_density.register(BaseWeightLine)
def _log_base_weight_density(line: Any, x: Any) -> Any:
    """Return the log density of x = log v on a `BaseWeightLine`."""
    power, rate, inverse = line
    return power * x - rate * math.exp(x) - inverse * math.exp(-x)


@scalar
def draw_kappa(rng: Any, model: Any, states: Any, base: Any) -> None:
    """Draw kappa given all weights of all groups, by slice sampling of log kappa."""
    n_weights = 0
    total = 0.0
    for g in range(count_groups(states)):
        b = replica(states, g)
        for k in range(b.whole[COLUMNS]):
            ratio = b.w[k] / expected_weight(base, k, g)
            total += math.log(ratio) - ratio
        n_weights += b.whole[COLUMNS]
        if model.unique:
            for i in range(base.unique.size):
                ratio = b.s[i] / expected_unique_weight(base, i, g)
                total += math.log(ratio) - ratio
            n_weights += base.unique.size
    base.real[KAPPA] = math.exp(
        draw_on_line(rng, KappaLine(n_weights, total), math.log(base.real[KAPPA]), 1.0)
    )


class KappaLine(NamedTuple):
    """Conditional density of log kappa given the weights, for slice sampling."""

    n_weights: int
    total: float


@log_density.register(KappaLine)
def _log_kappa_line_density(line: Any, x: Any) -> Any:
    """Return the log conditional density of log kappa at x."""
    return log_kappa_density(line.n_weights, line.total, x)


@scalar
def log_kappa_density(n_weights: Any, total: Any, x: Any) -> Any:
    """Return the log density of x = log kappa given `n_weights` weights.

    `total` sums log (w / v) - w / v over the weights.
    """
    kappa = math.exp(x)
    return (
        n_weights * (kappa * x - math.lgamma(kappa))
        + kappa * (total - KAPPA_RATE)
        + KAPPA_SHAPE * x
    )


@scalar
def draw_kappa_and_weights(rng: Any, model: Any, caches: Any, states: Any, base: Any) -> None:
    """Draw kappa and rescale all weights, keeping their standard scores.

    A slice of log kappa is used.
    """
    x = math.log(base.real[KAPPA])
    threshold = set_kappa_and_weights(model, caches, states, base, x) - rng.standard_exponential()
    low = x - KAPPA_SLICE_WIDTH * rng.random()
    high = low + KAPPA_SLICE_WIDTH
    while True:
        candidate = low + (high - low) * rng.random()
        if (
            set_kappa_and_weights(model, caches, states, base, candidate) >= threshold
            or candidate == x
        ):
            return
        if candidate < x:
            low = candidate
        else:
            high = candidate


@scalar
def set_kappa_and_weights(model: Any, caches: Any, states: Any, base: Any, x: Any) -> Any:
    """Set log kappa to x and move all weights to keep their standard scores.

    Return the log density of log kappa given the scores. If a weight would leave the range of
    numbers, return -inf and change nothing.
    """
    kappa, shape = base.real[KAPPA], math.exp(x)
    mean, spread = log_gamma_moments(kappa)
    new_mean, new_spread = log_gamma_moments(shape)
    slope = new_spread / spread
    shift = new_mean - slope * mean
    for g in range(count_groups(states)):
        b = replica(states, g)
        for k in range(b.whole[COLUMNS]):
            if abs(shift + slope * math.log(b.w[k] / expected_weight(base, k, g))) > MAX_LOG_RATIO:
                return -math.inf
        if model.unique:
            for i in range(base.unique.size):
                if (
                    abs(shift + slope * math.log(b.s[i] / expected_unique_weight(base, i, g)))
                    > MAX_LOG_RATIO
                ):
                    return -math.inf
    base.real[KAPPA] = shape
    n_weights = 0
    total = 0.0
    fit = 0.0
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        for k in range(b.whole[COLUMNS]):
            log = shift + slope * math.log(b.w[k] / expected_weight(base, k, g))
            b.w[k] = expected_weight(base, k, g) * math.exp(log)
            total += log - math.exp(log)
        n_weights += b.whole[COLUMNS]
        if model.unique:
            for i in range(base.unique.size):
                log = shift + slope * math.log(b.s[i] / expected_unique_weight(base, i, g))
                b.s[i] = expected_unique_weight(base, i, g) * math.exp(log)
                total += log - math.exp(log)
            n_weights += base.unique.size
        rebuild_cache(likelihood, c, b)
        fit += log_likelihood(likelihood, c, b)
    fit *= replica(states, 0).real[BETA]
    return log_kappa_density(n_weights, total, x) + n_weights * math.log(new_spread) + fit


@scalar
def propose_base_scale(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, weights: Any, k: Any
) -> None:
    """Propose to scale common weight k and all groups' weights k by one factor."""
    move = base.real[STEP] * rng.standard_normal()
    relative_change = math.exp(move) - 1.0
    ratio = model.shape * move - model.rate * weights.center[k] * relative_change
    gain = 0.0
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        gain += delta_group_weight(
            weights, likelihood, c, b, k, relative_change * weights.weight[g, k]
        )
    base.real[TRIED] += 1.0
    if accept_move(rng, replica(states, 0), ratio, gain):
        base.real[ACCEPTED] += 1.0
        weights.center[k] *= 1.0 + relative_change
        for g in range(count_groups(states)):
            likelihood, c, b = select_group(model, caches, states, g)
            apply_group_weight(weights, likelihood, c, b, k, relative_change * weights.weight[g, k])
            weights.weight[g, k] *= 1.0 + relative_change


@scalar
def draw_common_scale(rng: Any, model: Any, caches: Any, states: Any, base: Any) -> None:
    """Draw a common scale of all groups' and common weights, if only ratios matter."""
    if not is_group_scale_free(select_group_likelihood(model.likelihood, 0)):
        return
    n_columns, n_options = replica(states, 0).whole[COLUMNS], base.unique.size
    count = n_columns
    total = 0.0
    for k in range(n_columns):
        total += base.v[k]
    if model.unique:
        count += n_options
        for i in range(n_options):
            total += base.unique[i]
    if count == 0:
        return
    shape, rate_sum = 0.0, 0.0
    for g in range(count_groups(states)):
        likelihood, c, _ = select_group(model, caches, states, g)
        group_shape, group_rate = sum_scaled_priors(likelihood, c)
        shape += group_shape
        rate_sum += group_rate / model.rate
    factor = rng.standard_gamma(model.shape * count + shape) / model.rate / (total + rate_sum)
    for k in range(n_columns):
        base.v[k] *= factor
    for i in range(n_options):
        base.unique[i] *= factor
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        scale_all_weights(b, factor)
        apply_scale(likelihood, c, b, factor)
