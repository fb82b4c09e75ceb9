"""Kernels of one sweep of the Gibbs sampler of Plackett-Luce regression."""

import math
from typing import Any

from thali._compile.jit import compiled, scalar
from thali._inference.numerics.gamma_distribution import draw_log_gamma

from .chain_state import (
    ACCEPTED,
    LOG_A,
    LOG_LIKELIHOOD,
    LOG_MASS,
    SWEEPS,
    TRIED,
    compute_scores,
    normalise_weights,
    record_if_due,
)
from .latent_variable_draws import (
    draw_latent_variables,
    draw_shape_given_latent,
    draw_shape_given_weights,
    propose_mirror_move,
    redraw_columns,
)
from .weight_proposals import exchange_columns, find_smallest_score, redraw_weight

# exchanges and single-weight proposals per sweep; one per column of W if it has fewer columns
MAX_MOVES_PER_SWEEP = 128
MIRRORS_PER_SWEEP = 4


@compiled
def run_recommended_sweeps(
    rng: Any, rows: Any, prior: Any, state: Any, record: Any, until: Any, tune: int, thin: Any
) -> None:
    """Run and record sweeps of the Gibbs sampler for a small or learned a."""
    if state.counters[SWEEPS] == 0:
        update_scores(rows, state)
    while state.counters[SWEEPS] < until:
        draw_recommended_sweep(rng, rows, prior, state, tune)
        state.counters[SWEEPS] += 1
        record_if_due(state, record, tune, thin)


@scalar
def draw_recommended_sweep(rng: Any, rows: Any, prior: Any, state: Any, tune: int) -> None:
    """Do one sweep: latent variables, a and weights, then single-weight moves.

    The columns and a are drawn with the weights integrated out, a again with their sum integrated
    out; the last moves use no latent variables.
    """
    update_latent_variables(rng, rows, prior, state)
    redraw_columns(rng, rows, state)
    if prior.learned:
        draw_shape_given_latent(rng, prior, state)
    draw_class_weights(rng, rows, state)
    if prior.learned:
        draw_shape_given_weights(rng, prior, state)
    n_moves = min(rows.mean.shape[0], MAX_MOVES_PER_SWEEP)
    for _ in range(n_moves):
        _count_move(state, tune, exchange_columns(rng, rows, state))
    if rows.opposite[0] >= 0:
        for _ in range(MIRRORS_PER_SWEEP):
            propose_mirror_move(rng, rows, state)
    state.real[LOG_MASS] = (
        draw_log_gamma(rng, math.exp(state.real[LOG_A]) * state.counts.size) - prior.log_b
    )
    smallest = find_smallest_score(rows, state)
    for _ in range(n_moves):
        smallest = redraw_weight(rng, rows, prior, state, smallest)


@scalar
def update_scores(rows: Any, state: Any) -> None:
    """Recompute class scores T, their sums S and the log-likelihood."""
    state.real[LOG_LIKELIHOOD] = compute_scores(
        rows, state.weights, state.totals, state.class_scores, state.total_scores
    )


@scalar
def update_latent_variables(rng: Any, rows: Any, prior: Any, state: Any) -> None:
    """Draw latent columns and times given the weights; update their sums.

    s_j is computed from times that are drawn for weights of sum 1.
    """
    draw_latent_variables(rng, rows, state)
    for j in range(state.s.size):
        log_s = -math.inf
        if state.s[j] > 0.0:
            log_s = math.log(state.s[j]) - state.real[LOG_MASS]
        maximum = max(prior.log_b, log_s)
        state.log_rate[j] = maximum + math.log1p(math.exp(min(prior.log_b, log_s) - maximum))


@scalar
def draw_class_weights(rng: Any, rows: Any, state: Any) -> None:
    """Draw weights ~ Gamma(a + n_kj, b + s_j) given latent variables; update scores."""
    a = math.exp(state.real[LOG_A])
    for k in range(state.counts.shape[0]):
        for j in range(state.counts.shape[1]):
            state.log_weights[k, j] = (
                draw_log_gamma(rng, a + state.counts[k, j]) - state.log_rate[j]
            )
    state.real[LOG_MASS] = normalise_weights(state)
    update_scores(rows, state)


@scalar
def _count_move(state: Any, tune: int, is_accepted: Any) -> None:
    """Count a move and its acceptance once `tune` sweeps are over."""
    if state.counters[SWEEPS] >= tune:
        state.counters[TRIED] += 1
        state.counters[ACCEPTED] += is_accepted
