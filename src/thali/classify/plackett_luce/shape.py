"""Moves of the shape a of the weights' Gamma prior, under p(a) ∝ 1/a on an interval."""

import math
from typing import Any

from thali.compile.jit import scalar, vectorised
from thali.inference.numerics.decisions import accept


@scalar
def _log_density(log_a: Any, counts: Any, cells: Any, of_simplex: Any, slope: Any) -> Any:
    """ln p(ln a) = Σ ln Γ(a + n)/Γ(a) over occupied cells + ln Γ(ma)/Γ(a)^m, m = of_simplex, + a · slope."""
    a = math.exp(log_a)
    of_a = math.lgamma(a)
    total = a * slope
    if of_simplex > 0:
        total += math.lgamma(of_simplex * a) - of_simplex * of_a
    for c in range(cells):
        total += math.log(a) if counts[c] == 1 else math.lgamma(a + counts[c]) - of_a
    return total


@scalar
def _slice(
    rng: Any, log_a: Any, low: Any, high: Any, width: Any, counts: Any, cells: Any, of_simplex: Any, slope: Any
) -> Any:
    """One slice-sampling step of ln a on (low, high): step out, then shrink (Neal 2003)."""
    level = _log_density(log_a, counts, cells, of_simplex, slope) - rng.standard_exponential()
    left = log_a - width * rng.random()
    right = left + width
    while left > low and _log_density(left, counts, cells, of_simplex, slope) > level:
        left -= width
    while right < high and _log_density(right, counts, cells, of_simplex, slope) > level:
        right += width
    left, right = max(left, low), min(right, high)
    while True:
        proposal = left + (right - left) * rng.random()
        if not _log_density(proposal, counts, cells, of_simplex, slope) < level:
            return proposal
        if proposal < log_a:
            left = proposal
        else:
            right = proposal
        if not right - left > 1e-14:
            return log_a


@vectorised
def total(log_weights: Any) -> Any:
    sum_of_all = 0.0
    for k in range(log_weights.shape[0]):
        for j in range(log_weights.shape[1]):
            sum_of_all += log_weights[k, j]
    return sum_of_all


@scalar
def shape_given_latent(
    rng: Any, log_a: Any, low: Any, high: Any, counts: Any, log_rate: Any, log_b: Any, occupied: Any
) -> Any:
    """ln a given C and Z, the weights integrated out.

    p(a) ∝ a⁻¹ Π_kj Γ(a + n_kj)/Γ(a) · b^{aKp} Π_j (b + s_j)^{−Ka}
    """
    classes, p = counts.shape
    cells = 0
    for k in range(classes):
        for j in range(p):
            if counts[k, j] > 0:
                occupied[cells] = counts[k, j]
                cells += 1
    slope = 0.0
    for j in range(p):
        slope += log_b - log_rate[j]
    return _slice(rng, log_a, low, high, 1.0, occupied, cells, 0, classes * slope)


@scalar
def shape_given_weights(rng: Any, log_a: Any, low: Any, high: Any, log_weights: Any, occupied: Any) -> Any:
    """ln a given the weights' shares of their sum, the sum integrated out.

    p(a) ∝ a⁻¹ Γ(Kpa)/Γ(a)^{Kp} exp(a Σ ln λ̄_kj)
    """
    slope = total(log_weights)
    return _slice(rng, log_a, low, high, 3.0 / math.sqrt(log_weights.size), occupied, 0, log_weights.size, slope)


@scalar
def published_walk(
    rng: Any, log_a: Any, low: Any, high: Any, step: Any, log_weights: Any, log_mass: Any, log_b: Any
) -> Any:
    """The log-normal walk of a given the weights, with its exact ratio; returns ln a and whether it moved.

    ln α = Kp[(a* − a) ln b − ln Γ(a*) + ln Γ(a)] + (a* − a) Σ ln λ_kj; the prior 1/a and the Jacobian cancel.
    """
    m = log_weights.size
    proposal = log_a + step * rng.standard_normal()
    if not low < proposal < high:
        return log_a, False
    a, new = math.exp(log_a), math.exp(proposal)
    slope = total(log_weights) + m * (log_mass + log_b)
    if accept(rng, (new - a) * slope - m * (math.lgamma(new) - math.lgamma(a))):
        return proposal, True
    return log_a, False
