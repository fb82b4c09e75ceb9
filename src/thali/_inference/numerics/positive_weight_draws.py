"""Exact draws of positive weights: truncated normals, and gammas times a normal factor.

Every draw is by rejection, with an acceptance of at least 0.3 (`draw_positive_normal`) or 0.7
(`draw_tilted_weight` with a shape above 1) for all arguments. No loop continues on a comparison
with NaN, so NaN is returned instead of an endless loop.
"""

import math
from typing import Any

from thali._compile.jit import scalar

SMALLEST = 2.2250738585072014e-308  # smallest normal float: a weight that underflows stays positive


@scalar
def draw_positive_normal(rng: Any, mean: Any, sd: Any) -> Any:
    """Draw Normal(mean, sd²) truncated to (0, ∞); always above 0.

    If zero is less than half an sd above the mean, by rejection from the Normal itself, else from
    an exponential (Robert 1995). With a = -mean/sd and the best rate r = (a + √(a² + 4))/2, a
    proposal w = sd E/r is accepted with probability exp(-(E - 1)²/2r²). In this form nothing
    cancels in the tail.
    """
    if mean > -0.5 * sd:
        w = mean + sd * rng.standard_normal()
        while w <= 0.0:
            w = mean + sd * rng.standard_normal()
        return w
    zero = -mean / sd
    rate = 0.5 * (zero + math.sqrt(zero * zero + 4.0))
    step = rng.standard_exponential()
    while rng.standard_exponential() < 0.5 * ((step - 1.0) / rate) * ((step - 1.0) / rate):
        step = rng.standard_exponential()
    return _clamp_above_zero(sd * (step / rate))


@scalar
def draw_tilted_weight(rng: Any, shape: Any, rate: Any, curvature: Any, slope: Any) -> Any:
    """Draw w > 0 with density w^(shape-1) exp(-rate w + slope w - curvature w²/2).

    This is a Gamma(shape, rate) prior times a likelihood whose logarithm is quadratic in w: for a
    feature of A pairs with summed residuals B and noise variance σ², curvature = A/σ² and slope =
    B/σ². Shape is 1 or more, curvature 0 or more; where it is 0, slope is below rate (0 gives the
    prior).
    """
    drift = slope - rate
    if drift < 0.0 and (shape > 1.0 or curvature == 0.0):
        return draw_by_gamma_proposal(rng, shape, curvature, drift)
    mean = drift / curvature
    sd = 1.0 / math.sqrt(curvature)
    if shape == 1.0:
        return draw_positive_normal(rng, mean, sd)
    return _draw_by_normal_proposal(rng, shape, mean, sd)


@scalar
def _draw_by_normal_proposal(rng: Any, shape: Any, mean: Any, sd: Any) -> Any:
    """Draw the tilted weight by rejection from a truncated normal at its mode."""
    # A proposal is accepted with probability ((w/w*) exp(1 - w/w*))^(shape-1).
    mode = 0.5 * (mean + math.sqrt(mean * mean + 4.0 * (shape - 1.0) * sd * sd))
    w = draw_positive_normal(rng, mode, sd)
    while rng.standard_exponential() < (shape - 1.0) * (w / mode - 1.0 - math.log(w / mode)):
        w = draw_positive_normal(rng, mode, sd)
    return w


@scalar
def draw_by_gamma_proposal(rng: Any, shape: Any, curvature: Any, drift: Any) -> Any:
    """Draw the tilted weight for drift < 0 by rejection from a gamma.

    A proposal is accepted with probability exp(-curvature (w - v)²/2).
    """
    # Since -w²/2 = v²/2 - vw - (w - v)²/2 for every v, a proposal of rate r = curvature v - drift
    # leaves this factor; v is chosen as the mean of the proposal, shape/r. For shape 1 this is
    # Robert's rejection.
    rate = 0.5 * (math.sqrt(drift * drift + 4.0 * shape * curvature) - drift)
    mean = shape / rate
    w = rng.standard_gamma(shape) / rate
    while rng.standard_exponential() < 0.5 * curvature * (w - mean) * (w - mean):
        w = rng.standard_gamma(shape) / rate
    return _clamp_above_zero(w)


@scalar
def _clamp_above_zero(w: Any) -> Any:
    """Return w, or the smallest normal float if w underflowed to 0."""
    return SMALLEST if w < SMALLEST else w
