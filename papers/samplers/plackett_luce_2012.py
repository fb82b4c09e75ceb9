"""The published Gibbs sampler of Plackett–Luce regression: Archambeau & Caron (2012)."""

import math
from typing import Any

from thali._classify.plackett_luce.chain_state import (
    ACCEPTED,
    LOG_A,
    LOG_MASS,
    STEP,
    SWEEPS,
    TRIED,
    record_if_due,
)
from thali._classify.plackett_luce.gibbs_sweep import (
    draw_class_weights,
    update_latent_variables,
    update_scores,
)
from thali._classify.plackett_luce.latent_variable_draws import sum_log_weights
from thali._compile.jit import compiled, scalar
from thali._inference.numerics.discrete_draws import accept

_WALK_RATE = 0.44  # target acceptance rate


@compiled
def published(
    rng: Any, rows: Any, prior: Any, state: Any, kept: Any, until: Any, tune: int, thin: Any
) -> None:
    """Sweeps of the published sampler: latent variables, weights, a log-normal walk of a."""
    if state.counters[SWEEPS] == 0:
        update_scores(rows, state)
    while state.counters[SWEEPS] < until:
        update_latent_variables(rng, rows, prior, state)
        draw_class_weights(rng, rows, state)
        if prior.learned:
            walk(rng, prior, state, tune)
        state.counters[SWEEPS] += 1
        record_if_due(state, kept, tune, thin)


@scalar
def walk(rng: Any, prior: Any, state: Any, tune: int) -> None:
    """The published walk of a, whose step is adapted during tuning."""
    real, sweep = state.real, state.counters[SWEEPS]
    real[LOG_A], moved = published_walk(
        rng,
        real[LOG_A],
        prior.low,
        prior.high,
        real[STEP],
        state.log_weights,
        real[LOG_MASS],
        prior.log_b,
    )
    if sweep >= tune:
        state.counters[TRIED] += 1
        state.counters[ACCEPTED] += moved
    else:
        gain = 10.0 / (10.0 + sweep) ** 0.75
        real[STEP] = min(max(real[STEP] * math.exp(gain * (moved - _WALK_RATE)), 1e-4), 10.0)


@scalar
def published_walk(
    rng: Any,
    log_a: Any,
    low: Any,
    high: Any,
    step: Any,
    log_weights: Any,
    log_mass: Any,
    log_b: Any,
) -> Any:
    """The log-normal walk of a given the weights, with its exact ratio; returns ln a and whether it
    moved.

    ln α = Kp[(a* − a) ln b − ln Γ(a*) + ln Γ(a)] + (a* − a) Σ ln λ_kj; the prior 1/a and the
    Jacobian cancel.
    """
    m = log_weights.size
    proposal = log_a + step * rng.standard_normal()
    if not low < proposal < high:
        return log_a, False
    a, new = math.exp(log_a), math.exp(proposal)
    slope = sum_log_weights(log_weights) + m * (log_mass + log_b)
    if accept(rng, (new - a) * slope - m * (math.lgamma(new) - math.lgamma(a))):
        return proposal, True
    return log_a, False
