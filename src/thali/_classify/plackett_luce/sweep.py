"""Sweeps of the Gibbs sampler of Plackett–Luce regression."""

import math
from typing import Any

from thali._compile.jit import compiled, scalar
from thali._inference.numerics.gamma import draw_log_gamma

from .latent_moves import (
    draw_latent,
    mirror,
    redraw_columns,
    shape_given_latent,
    shape_given_weights,
)
from .state import (
    ACCEPTED,
    LOG_A,
    LOG_LIKELIHOOD,
    LOG_MASS,
    SWEEPS,
    TRIED,
    dots,
    keep_if_due,
    normalise,
)
from .trial_moves import exchange, least, redraw

# exchanges and redraws of single weights a sweep; one a column of W if there are fewer columns
MAX_MOVES = 128
MIRRORS = 4  # a sweep


@compiled
def recommended(
    rng: Any, rows: Any, prior: Any, state: Any, kept: Any, until: Any, tune: int, thin: Any
) -> None:
    """Sweeps of the sampler for small or learned a."""
    if state.whole[SWEEPS] == 0:
        sum_rows(rows, state)
    while state.whole[SWEEPS] < until:
        recommended_sweep(rng, rows, prior, state, tune)
        state.whole[SWEEPS] += 1
        keep_if_due(state, kept, tune, thin)


@scalar
def recommended_sweep(rng: Any, rows: Any, prior: Any, state: Any, tune: int) -> None:
    """Latent variables, columns and a without the weights, the weights, a without their sum, moves
    of the weights without latent variables."""
    real, work = state.real, state.scratch
    latent(rng, rows, prior, state)
    a = math.exp(real[LOG_A])
    redraw_columns(rng, rows, a, state.log_rate, state.columns, state.counts, work.pull, work.size)
    if prior.learned:
        real[LOG_A] = shape_given_latent(
            rng,
            real[LOG_A],
            prior.low,
            prior.high,
            state.counts,
            state.log_rate,
            prior.log_b,
            work.occupied,
        )
    draw_weights(rng, rows, state)
    if prior.learned:
        real[LOG_A] = shape_given_weights(
            rng, real[LOG_A], prior.low, prior.high, state.log_weights, work.occupied
        )
    moves = min(rows.mean.shape[0], MAX_MOVES)
    for _ in range(moves):
        exchange_once(rng, rows, state, tune)
    if rows.opposite[0] >= 0:
        for _ in range(MIRRORS):
            mirror_once(rng, rows, state)
    real[LOG_MASS] = draw_log_gamma(rng, math.exp(real[LOG_A]) * state.counts.size) - prior.log_b
    redraw_some(rng, rows, prior, state, moves)


@scalar
def sum_rows(rows: Any, state: Any) -> None:
    """T, S and the log-likelihood at the current weights."""
    state.real[LOG_LIKELIHOOD] = dots(
        rows, state.weights, state.totals, state.of_class, state.of_all
    )


@scalar
def latent(rng: Any, rows: Any, prior: Any, state: Any) -> None:
    """C and Z given the weights; n_kj and ln(b + s_j), with s_j from times that are drawn for
    weights of sum 1."""
    work = state.scratch
    draw_latent(
        rng,
        rows,
        state.weights,
        state.of_class,
        state.of_all,
        state.columns,
        state.times,
        state.counts,
        state.s,
        work.target,
        work.running,
        work.place,
    )
    for j in range(state.s.shape[0]):
        log_s = math.log(state.s[j]) - state.real[LOG_MASS] if state.s[j] > 0.0 else -math.inf
        top = max(prior.log_b, log_s)
        state.log_rate[j] = top + math.log1p(math.exp(min(prior.log_b, log_s) - top))


@scalar
def draw_weights(rng: Any, rows: Any, state: Any) -> None:
    """λ_kj ~ Gamma(a + n_kj, b + s_j), and what follows from it."""
    a = math.exp(state.real[LOG_A])
    for k in range(state.counts.shape[0]):
        for j in range(state.counts.shape[1]):
            state.log_weights[k, j] = (
                draw_log_gamma(rng, a + state.counts[k, j]) - state.log_rate[j]
            )
    state.real[LOG_MASS] = normalise(state.log_weights, state.weights, state.totals)
    sum_rows(rows, state)


@scalar
def exchange_once(rng: Any, rows: Any, state: Any, tune: int) -> None:
    work = state.scratch
    state.real[LOG_LIKELIHOOD], exchanged = exchange(
        rng,
        rows,
        math.exp(state.real[LOG_A]),
        state.log_weights,
        state.weights,
        state.totals,
        state.of_class,
        state.of_all,
        work.new_class,
        work.new_all,
        work.change,
        state.real[LOG_LIKELIHOOD],
    )
    _count(state, tune, exchanged)


@scalar
def mirror_once(rng: Any, rows: Any, state: Any) -> None:
    state.real[LOG_LIKELIHOOD] = mirror(
        rng,
        rows,
        state.log_weights,
        state.weights,
        state.totals,
        state.of_class,
        state.of_all,
        state.scratch.new_class,
        state.scratch.new_all,
        state.real[LOG_LIKELIHOOD],
    )


@scalar
def redraw_some(rng: Any, rows: Any, prior: Any, state: Any, moves: Any) -> None:
    """Redraw single weights from the prior, given the current sum of all."""
    real, work = state.real, state.scratch
    smallest = least(rows, state.of_class)
    for _ in range(moves):
        real[LOG_LIKELIHOOD], log_gain, smallest = redraw(
            rng,
            rows,
            math.exp(real[LOG_A]),
            prior.log_b + real[LOG_MASS],
            smallest,
            state.log_weights,
            state.weights,
            state.totals,
            state.of_class,
            state.of_all,
            work.new_class,
            work.new_all,
            work.change,
            real[LOG_LIKELIHOOD],
        )
        real[LOG_MASS] += log_gain


@scalar
def _count(state: Any, tune: int, success: Any) -> None:
    if state.whole[SWEEPS] >= tune:
        state.whole[TRIED] += 1
        state.whole[ACCEPTED] += success
