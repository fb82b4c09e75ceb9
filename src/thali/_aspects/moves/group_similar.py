"""Similar groups: what the weights of all groups vary about, v, and how little, kappa.

Of a column with weights w_1, ..., w_G, in x = log v with a Gamma(a, b) prior on v,

    log p(x | w) = (a - G kappa) x - b exp(x) - kappa sum_g w_g exp(-x) + constant.

kappa is drawn given all weights, and where groups are persons also together with them: the weights
of many people with few answers each tell kappa much more closely than the answers do, so that given
them it hardly moves. The two kinds of updates interweave (Yu & Meng 2011, To center or not to
center).
"""

import math
from typing import Any, NamedTuple

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import accept
from thali._inference.numerics.slices import draw_on_line, log_density

from ..group_state import (
    ACCEPTED,
    KAPPA,
    KAPPA_RATE,
    KAPPA_SHAPE,
    STEP,
    TRIED,
    group_at,
    middle_of,
    own_middle_of,
    select_group,
)
from ..operations import (
    apply_scale,
    is_scaled_in_groups,
    log_likelihood,
    rebuild,
    scaled_parameters,
)
from ..state import BETA, COLUMNS, replica
from .group_densities import log_moments
from .weights_of_groups import apply_to, delta_of, shared_weights, unique_weights

WIDEST = 0.5  # of log kappa: of the slice in which it is drawn with all weights
LARGEST = 600.0  # absolute logarithm of a weight over what it varies about


@scalar
def draw_similar(rng: Any, model: Any, caches: Any, states: Any, base: Any) -> None:
    """One update of every v, of kappa, and of their common scale."""
    shared = shared_weights(states, base)
    for k in range(replica(states, 0).whole[COLUMNS]):
        draw_middle_of(rng, model, caches, states, base, shared, k)
    if model.unique:
        unique = unique_weights(states, base)
        for i in range(base.own.shape[0]):
            draw_middle_of(rng, model, caches, states, base, unique, i)
    if math.isnan(model.kappa):
        draw_kappa(rng, model, states, base)
        if model.persons:
            draw_kappa_with_weights(rng, model, caches, states, base)
    draw_common_scale(rng, model, caches, states, base)


@scalar
def draw_middle_of(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, weights: Any, k: Any
) -> None:
    """What weight k varies about, with the weights of all groups and then given them."""
    scale(rng, model, caches, states, base, weights, k)
    total = 0.0
    for g in range(states.w.shape[0]):
        total += weights.weight[g, k] / weights.lift[g, k]
    now = weights.middle[k]
    weights.middle[k] = draw_middle(
        rng, model.shape, model.rate, weights.kappa, states.w.shape[0], total, now
    )


@scalar
def draw_middle(
    rng: Any, shape: Any, rate: Any, kappa: Any, groups: Any, total: Any, now: Any
) -> Any:
    """v, Gamma(shape, rate), given the sum of its weights, by a slice of log v; steps are as wide
    as the density, whatever v is."""
    power = shape - groups * kappa
    inverse = kappa * total
    root = math.sqrt(power * power + 4.0 * rate * inverse)
    mode = (power + root) / (2.0 * rate) if power > 0.0 else 2.0 * inverse / (root - power)
    width = 2.5 / math.sqrt(rate * mode + inverse / mode)
    return math.exp(draw_on_line(rng, MiddleLine(power, rate, inverse), math.log(now), width))


class MiddleLine(NamedTuple):
    """log v: a generalised inverse Gaussian distribution of v."""

    power: float
    rate: float
    inverse: float


@log_density.register(MiddleLine)
def _log_middle(line: Any, x: Any) -> Any:
    power, rate, inverse = line
    return power * x - rate * math.exp(x) - inverse * math.exp(-x)


@scalar
def draw_kappa(rng: Any, model: Any, states: Any, base: Any) -> None:
    """kappa given all weights, by a slice of log kappa."""
    count = 0
    total = 0.0
    for g in range(states.w.shape[0]):
        b = replica(states, g)
        for k in range(b.whole[COLUMNS]):
            ratio = b.w[k] / middle_of(base, k, g)
            total += math.log(ratio) - ratio
        count += b.whole[COLUMNS]
        if model.unique:
            for i in range(base.own.shape[0]):
                ratio = b.s[i] / own_middle_of(base, i, g)
                total += math.log(ratio) - ratio
            count += base.own.shape[0]
    base.real[KAPPA] = math.exp(
        draw_on_line(rng, KappaLine(count, total), math.log(base.real[KAPPA]), 1.0)
    )


class KappaLine(NamedTuple):
    """log kappa of so many weights; `total` sums log (w / v) - w / v over them."""

    number: int
    total: float


@log_density.register(KappaLine)
def _log_density_of_kappa(line: Any, x: Any) -> Any:
    return log_kappa(line.number, line.total, x)


@scalar
def log_kappa(count: Any, total: Any, x: Any) -> Any:
    """Log density of x = log kappa, where `total` sums log (w / v) - w / v over so many weights."""
    kappa = math.exp(x)
    return count * (kappa * x - math.lgamma(kappa)) + kappa * (total - KAPPA_RATE) + KAPPA_SHAPE * x


@scalar
def draw_kappa_with_weights(rng: Any, model: Any, caches: Any, states: Any, base: Any) -> None:
    """kappa with all weights, which keep their places among those that kappa makes likely; by a
    slice of log kappa."""
    x = math.log(base.real[KAPPA])
    level = stretch(model, caches, states, base, x) - rng.standard_exponential()
    low = x - WIDEST * rng.random()
    high = low + WIDEST
    while True:
        drawn = low + (high - low) * rng.random()
        if stretch(model, caches, states, base, drawn) >= level or drawn == x:
            return
        if drawn < x:
            low = drawn
        else:
            high = drawn


@scalar
def stretch(model: Any, caches: Any, states: Any, base: Any, to: Any) -> Any:
    """Set log kappa to `to`, and keep of all weights the standard scores z of log (w / v) under
    their prior.

    Returns the log density of log kappa given z. Where a weight would leave the range of numbers,
    that is -inf, and nothing changes.
    """
    now, shape = base.real[KAPPA], math.exp(to)
    mean, spread = log_moments(now)
    new_mean, new_spread = log_moments(shape)
    slope = new_spread / spread
    shift = new_mean - slope * mean
    for g in range(states.w.shape[0]):
        b = replica(states, g)
        for k in range(b.whole[COLUMNS]):
            if abs(shift + slope * math.log(b.w[k] / middle_of(base, k, g))) > LARGEST:
                return -math.inf
        if model.unique:
            for i in range(base.own.shape[0]):
                if abs(shift + slope * math.log(b.s[i] / own_middle_of(base, i, g))) > LARGEST:
                    return -math.inf
    base.real[KAPPA] = shape
    count = 0
    total = 0.0
    fit = 0.0
    for g in range(states.w.shape[0]):
        likelihood, c, b = select_group(model, caches, states, g)
        for k in range(b.whole[COLUMNS]):
            log = shift + slope * math.log(b.w[k] / middle_of(base, k, g))
            b.w[k] = middle_of(base, k, g) * math.exp(log)
            total += log - math.exp(log)
        count += b.whole[COLUMNS]
        if model.unique:
            for i in range(base.own.shape[0]):
                log = shift + slope * math.log(b.s[i] / own_middle_of(base, i, g))
                b.s[i] = own_middle_of(base, i, g) * math.exp(log)
                total += log - math.exp(log)
            count += base.own.shape[0]
        rebuild(likelihood, c, b)
        fit += log_likelihood(likelihood, c, b)
    fit *= replica(states, 0).real[BETA]
    return log_kappa(count, total, to) + count * math.log(new_spread) + fit


@scalar
def scale(rng: Any, model: Any, caches: Any, states: Any, base: Any, weights: Any, k: Any) -> None:
    """Weight k of all groups and what it varies about, in the same ratio."""
    move = base.real[STEP] * rng.standard_normal()
    share = math.exp(move) - 1.0
    ratio = model.shape * move - model.rate * weights.middle[k] * share
    gain = 0.0
    for g in range(states.w.shape[0]):
        likelihood, c, b = select_group(model, caches, states, g)
        gain += delta_of(weights, likelihood, c, b, k, share * weights.weight[g, k])
    base.real[TRIED] += 1.0
    if accept(rng, ratio + replica(states, 0).real[BETA] * gain):
        base.real[ACCEPTED] += 1.0
        weights.middle[k] *= 1.0 + share
        for g in range(states.w.shape[0]):
            likelihood, c, b = select_group(model, caches, states, g)
            apply_to(weights, likelihood, c, b, k, share * weights.weight[g, k])
            weights.weight[g, k] *= 1.0 + share


@scalar
def draw_common_scale(rng: Any, model: Any, caches: Any, states: Any, base: Any) -> None:
    """The size of everything, weights and what they vary about, where the likelihoods see only
    proportions."""
    if not is_scaled_in_groups(group_at(model.likelihood, 0)):
        return
    columns, n = replica(states, 0).whole[COLUMNS], base.own.shape[0]
    count = columns
    total = 0.0
    for k in range(columns):
        total += base.v[k]
    if model.unique:
        count += n
        for i in range(n):
            total += base.own[i]
    if count == 0:
        return
    shape, besides = 0.0, 0.0
    for g in range(states.w.shape[0]):
        likelihood, c, _ = select_group(model, caches, states, g)
        its_shape, its_value = scaled_parameters(likelihood, c)
        shape += its_shape
        besides += its_value / model.rate
    factor = rng.standard_gamma(model.shape * count + shape) / model.rate / (total + besides)
    for k in range(columns):
        base.v[k] *= factor
    for i in range(n):
        base.own[i] *= factor
    for g in range(states.w.shape[0]):
        likelihood, c, b = select_group(model, caches, states, g)
        for k in range(columns):
            b.w[k] *= factor
        for i in range(n):
            b.s[i] *= factor
        apply_scale(likelihood, c, b, factor)
