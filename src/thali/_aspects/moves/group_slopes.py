"""Slopes of log weights in what is known of people, x: the weight of a column is about v exp(x' slope).

Of one slope, b, given everything else, where the weights over v and over the factors of the other columns of people are
r_1, ..., r_G,

    log p(b | w) = -b^2 / (2 SLOPE_SD^2) - kappa sum_g (x_g b + r_g exp(-x_g b)) + constant,

which is concave. A slope is also drawn together with the weights, which keep their ratios to what they vary about:
given the weights of many people with few answers each it hardly moves (Yu & Meng 2011, To center or not to center).
What the slopes of all weights have in common is drawn from its prior where the likelihoods see proportions alone.
"""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import accept

from ..group_state import ACCEPTED, SLOPE_SD, STEP, TRIED, fill_lifts_of, group_at
from ..operations import (
    apply_own,
    apply_scale,
    apply_weight,
    cache_at,
    delta_own,
    delta_weight,
    is_scaled_in_groups,
    scaled_parameters,
)
from ..state import BETA, COLUMNS, replica


@scalar
def draw_slopes(rng: Any, model: Any, caches: Any, states: Any, base: Any) -> None:
    """One update of every slope, by itself and with the weights."""
    for j in range(model.known.shape[1]):
        for k in range(replica(states, 0).whole[COLUMNS]):
            slide_column(rng, model, caches, states, base, k, j)
            base.slope[k, j] = drawn_slope(
                rng, model, base.kappa, states.w, base.v[k], base.lift, k, j, base.slope[k, j]
            )
            fill_lifts_of(model.known, base.slope, base.lift, k)
        if model.unique:
            for i in range(base.own.shape[0]):
                slide_unique(rng, model, caches, states, base, i, j)
                base.own_slope[i, j] = drawn_slope(
                    rng, model, base.own_kappa, states.s, base.own[i], base.own_lift, i, j, base.own_slope[i, j]
                )
                fill_lifts_of(model.known, base.own_slope, base.own_lift, i)
        draw_common_slope(rng, model, caches, states, base, j)


@scalar
def drawn_slope(
    rng: Any, model: Any, kappas: Any, weights: Any, middle: Any, lift: Any, k: Any, j: Any, now: Any
) -> Any:
    """Slope j of a weight about `middle` given the weights, by a slice whose steps are as wide as the density."""
    information = 1.0 / SLOPE_SD**2
    for g in range(model.known.shape[0]):
        information += kappas[k] * model.known[g, j] ** 2
    width = 2.5 / math.sqrt(information)
    level = log_slope(model, kappas, weights, middle, lift, k, j, now, now) - rng.standard_exponential()
    low = now - width * rng.random()
    high = low + width
    while log_slope(model, kappas, weights, middle, lift, k, j, now, low) > level:
        low -= width
    while log_slope(model, kappas, weights, middle, lift, k, j, now, high) > level:
        high += width
    while True:
        drawn = low + (high - low) * rng.random()
        if log_slope(model, kappas, weights, middle, lift, k, j, now, drawn) >= level or drawn == now:
            return drawn
        if drawn < now:
            low = drawn
        else:
            high = drawn


@scalar
def log_slope(
    model: Any, kappas: Any, weights: Any, middle: Any, lift: Any, k: Any, j: Any, now: Any, value: Any
) -> Any:
    """Log density of a value of slope j given the weights, up to a constant."""
    total = 0.0
    for g in range(model.known.shape[0]):
        change = model.known[g, j] * (value - now)
        total += change + weights[g, k] / (middle * lift[g, k]) * math.exp(-change)
    return -0.5 * (value / SLOPE_SD) ** 2 - kappas[k] * total


@scalar
def slide_column(rng: Any, model: Any, caches: Any, states: Any, base: Any, k: Any, j: Any) -> None:
    """Slope j of column k with all its weights, which keep their ratios to what they vary about."""
    move = base.real[STEP] * rng.standard_normal()
    new = base.slope[k, j] + move
    gain = 0.0
    for g in range(states.w.shape[0]):
        likelihood, b = group_at(model.likelihood, g), replica(states, g)
        share = math.exp(model.known[g, j] * move) - 1.0
        gain += delta_weight(likelihood, cache_at(likelihood, caches, g), b, k, b.m[k], share * b.w[k])
    base.real[TRIED] += 1.0
    ratio = 0.5 * (base.slope[k, j] ** 2 - new**2) / SLOPE_SD**2
    if accept(rng, ratio + replica(states, 0).real[BETA] * gain):
        base.real[ACCEPTED] += 1.0
        base.slope[k, j] = new
        fill_lifts_of(model.known, base.slope, base.lift, k)
        for g in range(states.w.shape[0]):
            likelihood, b = group_at(model.likelihood, g), replica(states, g)
            share = math.exp(model.known[g, j] * move) - 1.0
            apply_weight(likelihood, cache_at(likelihood, caches, g), b, k, b.m[k], share * b.w[k])
            b.w[k] *= 1.0 + share


@scalar
def slide_unique(rng: Any, model: Any, caches: Any, states: Any, base: Any, i: Any, j: Any) -> None:
    """The same of the unique weights of option i."""
    move = base.real[STEP] * rng.standard_normal()
    new = base.own_slope[i, j] + move
    gain = 0.0
    for g in range(states.w.shape[0]):
        likelihood, b = group_at(model.likelihood, g), replica(states, g)
        share = math.exp(model.known[g, j] * move) - 1.0
        gain += delta_own(likelihood, cache_at(likelihood, caches, g), b, i, share * b.s[i], 0.0)
    base.real[TRIED] += 1.0
    ratio = 0.5 * (base.own_slope[i, j] ** 2 - new**2) / SLOPE_SD**2
    if accept(rng, ratio + replica(states, 0).real[BETA] * gain):
        base.real[ACCEPTED] += 1.0
        base.own_slope[i, j] = new
        fill_lifts_of(model.known, base.own_slope, base.own_lift, i)
        for g in range(states.w.shape[0]):
            likelihood, b = group_at(model.likelihood, g), replica(states, g)
            share = math.exp(model.known[g, j] * move) - 1.0
            apply_own(likelihood, cache_at(likelihood, caches, g), b, i, share * b.s[i], 0.0)
            b.s[i] *= 1.0 + share


@scalar
def draw_common_slope(rng: Any, model: Any, caches: Any, states: Any, base: Any, j: Any) -> None:
    """What slopes j of all weights have in common, where the likelihoods see only proportions of each group's."""
    columns, n = replica(states, 0).whole[COLUMNS], base.own.shape[0]
    count = columns + n if model.unique else columns
    first = group_at(model.likelihood, 0)
    if count == 0 or not is_scaled_in_groups(first):
        return
    if scaled_parameters(first, cache_at(first, caches, 0))[0] > 0.0:  # they have a scale, and a prior of their own
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
        likelihood, b = group_at(model.likelihood, g), replica(states, g)
        factor = math.exp(model.known[g, j] * move)
        for k in range(columns):
            b.w[k] *= factor
        if model.unique:
            for i in range(n):
                b.s[i] *= factor
        apply_scale(likelihood, cache_at(likelihood, caches, g), b, factor)
