"""What every sampler does between two rounds, each one sweep of every replica, and where a chain
begins."""

from typing import Any

import numpy as np

from thali._compile.jit import scalar

from ..moves.tuning import EVERY, adapt
from ..moves.unique_weights import refresh_unique
from ..operations import cache_at, log_rate, rebuild, set_alpha
from ..state import (
    ALPHA,
    BETA,
    COLUMNS,
    NO_UNIQUE,
    ROOM,
    SWEEPS,
    TOTAL_UNIQUE,
    ChainModel,
    FeatureState,
    empty_state,
    is_crowded,
    replica,
)
from .record import has_room, is_due, record

# Where a chain begins: a draw from the prior, or close to one -------------------------------------


# up to this many options, each starts with its own columns if it has no unique aspect
MAX_OWN = 500


def prior_draw(
    rng: np.random.Generator, model: ChainModel, prior: Any, n: int, alpha: float
) -> FeatureState:
    """A state drawn from the prior (`prior` is the public object that `model.prior` was compiled
    from)."""
    matrix = prior.sample(n, alpha, rng)
    if model.unique == NO_UNIQUE and model.lo == 1 and n <= MAX_OWN:
        # A prior draw leaves most pairs undecided, and chains find structure very slowly from
        # there. With a single column for each option one chain in four still got stuck on real
        # data, with three none of 48.
        matrix = np.hstack([matrix, np.tile(np.eye(n, dtype=bool), 3)])
    return with_weights(rng, model, matrix, alpha)


def with_weights(
    rng: np.random.Generator, model: ChainModel, matrix: np.ndarray, alpha: float
) -> FeatureState:
    """A state with these columns, options by columns, and weights drawn from the prior."""
    n = len(matrix)
    weights = model.weights.random(rng, matrix.shape[1])
    owners = matrix.sum(0)
    kept = np.flatnonzero((owners >= model.lo) & (owners <= model.hi))
    state = empty_state(n, 4 * kept.size + 2 * ROOM)
    state.Z[: kept.size, :n] = matrix[:, kept].T
    state.w[: kept.size] = weights[kept]
    state.m[: kept.size] = owners[kept]
    state.whole[COLUMNS] = kept.size
    state.real[ALPHA] = alpha
    if model.unique != NO_UNIQUE:
        state.s[:n] = model.weights.random(rng, n)
    if model.unique == TOTAL_UNIQUE:
        alone = owners == 1
        state.s[:n] += matrix[:, alone] @ weights[alone]
    return state


@scalar
def prepare(model: Any, b: Any) -> None:
    """Fill everything in the state that follows from the columns, their weights and alpha."""
    set_alpha(model.prior, b, b.real[ALPHA])
    for k in range(b.whole[COLUMNS]):
        b.log_rate[k] = log_rate(model.prior, b, k, b.m[k])
    refresh_unique(model, b)


GO_ON, DONE, CROWDED, RECORD_FULL = range(4)
REBUILD = 200  # sweeps after which the likelihood's cache is filled from scratch


@scalar
def before_round(
    rng: Any,
    model: Any,
    caches: Any,
    states: Any,
    steps: Any,
    out: Any,
    until: Any,
    tune: int,
    thin: Any,
) -> Any:
    """Record the previous round if it is due; returns whether the next may run, enlarged without
    any difference."""
    cold = steps.at[0]
    b = replica(states, cold)
    if is_due(b, out, tune, thin):
        if not has_room(b, out):
            return RECORD_FULL
        record(rng, model, cache_at(model.likelihood, caches, cold), b, out)
    if b.whole[SWEEPS] >= until:
        return DONE
    for t in range(steps.beta.shape[0]):
        if is_crowded(replica(states, t)):
            return CROWDED
    if b.whole[SWEEPS] == 0:
        for t in range(steps.beta.shape[0]):
            prepare(model, replica(states, t))
    if b.whole[SWEEPS] % REBUILD == 0:  # undoes the drift of the caches; the first time, fills them
        for t in range(steps.beta.shape[0]):
            rebuild(model.likelihood, cache_at(model.likelihood, caches, t), replica(states, t))
    return GO_ON


@scalar
def on_level(states: Any, steps: Any, t: Any) -> Any:
    """The state of the replica on level t, at the inverse temperature of that level."""
    b = replica(states, steps.at[t])
    b.real[BETA] = steps.beta[t]
    return b


@scalar
def after_sweep(b: Any, tuning: Any, tune: int) -> None:
    """Count and adapt."""
    b.whole[SWEEPS] += 1
    sweep = b.whole[SWEEPS]
    if sweep <= tune and sweep % EVERY == 0:
        adapt(tuning, sweep, tune)
