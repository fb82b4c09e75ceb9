"""Slopes of log weights in what is known of people, x: the weight of a column is about v exp(x'
slope).

Of one slope, b, given everything else, where the weights over v and over the factors of the other
columns of people are r_1, ..., r_G,

    log p(b | w) = -b^2 / (2 SLOPE_SD^2) - kappa sum_g (x_g b + r_g exp(-x_g b)) + constant,

which is concave. A slope is also drawn together with the weights, which keep their ratios to what
they vary about: given the weights of many people with few answers each it hardly moves (Yu & Meng
2011, To center or not to center). What the slopes of all weights have in common is drawn from its
prior where the likelihoods see proportions alone.
"""

import math
from typing import Any, NamedTuple

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import accept
from thali._inference.numerics.slices import draw_on_line, log_density

from ..group_state import ACCEPTED, SLOPE_SD, STEP, TRIED, fill_lifts_of, group_at, select_group
from ..operations import (
    apply_scale,
    cache_at,
    is_scaled_in_groups,
    scaled_parameters,
)
from ..state import BETA, COLUMNS, replica
from .weights_of_groups import apply_to, delta_of, middle_in, shared_weights, unique_weights


@scalar
def draw_slopes(rng: Any, model: Any, caches: Any, states: Any, base: Any) -> None:
    """One update of every slope, by itself and with the weights."""
    for j in range(model.known.shape[1]):
        shared = shared_weights(states, base)
        for k in range(replica(states, 0).whole[COLUMNS]):
            draw_slope(rng, model, caches, states, base, shared, k, j)
        if model.unique:
            unique = unique_weights(states, base)
            for i in range(base.own.shape[0]):
                draw_slope(rng, model, caches, states, base, unique, i, j)
        draw_common_slope(rng, model, caches, states, base, j)


@scalar
def draw_slope(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, weights: Any, k: Any, j: Any
) -> None:
    """Slope j of weight k with all its weights, then given them, by a slice whose steps are as wide
    as the density."""
    slide(rng, model, caches, states, base, weights, k, j)
    information = 1.0 / SLOPE_SD**2
    for g in range(model.known.shape[0]):
        information += weights.kappa * model.known[g, j] ** 2
    line = SlopeLine(model.known, weights, k, j, weights.slope[k, j])
    weights.slope[k, j] = draw_on_line(rng, line, weights.slope[k, j], 2.5 / math.sqrt(information))
    fill_lifts_of(model.known, weights.slope, weights.lift, k)


class SlopeLine(NamedTuple):
    """Slope j, now `now`, of weight k given the weights of all groups."""

    known: Any
    weights: Any
    k: int
    j: int
    now: float


@log_density.register(SlopeLine)
def log_slope(line: Any, value: Any) -> Any:
    """Log density of a value of the slope, up to a constant."""
    known, weights, k, j, now = line
    total = 0.0
    for g in range(known.shape[0]):
        change = known[g, j] * (value - now)
        total += change + weights.weight[g, k] / middle_in(weights, k, g) * math.exp(-change)
    return -0.5 * (value / SLOPE_SD) ** 2 - weights.kappa * total


@scalar
def slide(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, weights: Any, k: Any, j: Any
) -> None:
    """Slope j of weight k with the weights of all groups, which keep their ratios to what they vary
    about."""
    move = base.real[STEP] * rng.standard_normal()
    new = weights.slope[k, j] + move
    gain = 0.0
    for g in range(states.w.shape[0]):
        likelihood, c, b = select_group(model, caches, states, g)
        share = math.exp(model.known[g, j] * move) - 1.0
        gain += delta_of(weights, likelihood, c, b, k, share * weights.weight[g, k])
    base.real[TRIED] += 1.0
    ratio = 0.5 * (weights.slope[k, j] ** 2 - new**2) / SLOPE_SD**2
    if accept(rng, ratio + replica(states, 0).real[BETA] * gain):
        base.real[ACCEPTED] += 1.0
        weights.slope[k, j] = new
        fill_lifts_of(model.known, weights.slope, weights.lift, k)
        for g in range(states.w.shape[0]):
            likelihood, c, b = select_group(model, caches, states, g)
            share = math.exp(model.known[g, j] * move) - 1.0
            apply_to(weights, likelihood, c, b, k, share * weights.weight[g, k])
            weights.weight[g, k] *= 1.0 + share


@scalar
def draw_common_slope(rng: Any, model: Any, caches: Any, states: Any, base: Any, j: Any) -> None:
    """What slopes j of all weights have in common, where the likelihoods see only proportions of
    each group's."""
    columns, n = replica(states, 0).whole[COLUMNS], base.own.shape[0]
    count = columns + n if model.unique else columns
    first = group_at(model.likelihood, 0)
    if count == 0 or not is_scaled_in_groups(first):
        return
    # they have a scale, and a prior of their own
    if scaled_parameters(first, cache_at(first, caches, 0))[0] > 0.0:
        return
    total = 0.0
    for k in range(columns):
        total += base.slope[k, j]
    if model.unique:
        for i in range(n):
            total += base.own_slope[i, j]
    move = SLOPE_SD / math.sqrt(count) * rng.standard_normal() - total / count
    for k in range(columns):
        base.slope[k, j] += move
        fill_lifts_of(model.known, base.slope, base.lift, k)
    if model.unique:
        for i in range(n):
            base.own_slope[i, j] += move
            fill_lifts_of(model.known, base.own_slope, base.own_lift, i)
    for g in range(states.w.shape[0]):
        likelihood, c, b = select_group(model, caches, states, g)
        factor = math.exp(model.known[g, j] * move)
        for k in range(columns):
            b.w[k] *= factor
        if model.unique:
            for i in range(n):
                b.s[i] *= factor
        apply_scale(likelihood, c, b, factor)
