"""Start and end of each sweep, and the initial state of a chain."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._compile.jit import scalar

from ..chain_state import (
    ALPHA,
    BETA,
    COLUMNS,
    MIN_FREE_ROWS,
    NO_UNIQUE,
    SWEEPS,
    TOTAL_UNIQUE,
    ChainModel,
    FeatureState,
    is_crowded,
    make_empty_state,
    replica,
)
from ..kernel_operations import fill_rates, rebuild_cache, select_cache
from ..moves.step_tuning import ADAPTATION_INTERVAL, adapt_step_sizes
from ..moves.unique_weights import refresh_unique_prior
from .draw_record import has_room, is_due, record_state

if TYPE_CHECKING:
    from ..priors.prior_from_argument import FeaturePrior


# The initial state of a chain: a draw from the prior, or close to one -----------------------------


# up to this number of options, each option without a unique aspect starts with single columns
MAX_SINGLE_COLUMNS = 500


def sample_alpha(rng: np.random.Generator, alpha: float | None) -> float:
    """Return a fixed concentration; sample a learned one (None) from its Gamma(1, 1) prior."""
    if alpha is None:
        return rng.standard_exponential()
    return alpha


def sample_initial_state(
    rng: np.random.Generator, model: ChainModel, prior: "FeaturePrior", n_options: int, alpha: float
) -> FeatureState:
    """Sample a state of n options from the prior, where chains start."""
    ownership = prior.sample(n_options, alpha, rng)
    if model.unique == NO_UNIQUE and model.lo == 1 and n_options <= MAX_SINGLE_COLUMNS:
        # A prior draw leaves most pairs undecided, and chains then find structure very slowly.
        # With a single column for each option one chain in four still got stuck on real data,
        # with three none of 48.
        ownership = np.hstack([ownership, np.tile(np.eye(n_options, dtype=bool), 3)])
    return build_state_with_weights(rng, model, ownership, alpha)


def build_state_with_weights(
    rng: np.random.Generator, model: ChainModel, ownership: np.ndarray, alpha: float
) -> FeatureState:
    """Build a state from an (n, K) matrix, with weights drawn from the prior."""
    n = len(ownership)
    weights = model.weights.random(rng, ownership.shape[1])
    n_owners = ownership.sum(0)
    column_indices = np.flatnonzero((n_owners >= model.lo) & (n_owners <= model.hi))
    state = make_empty_state(n, 4 * column_indices.size + 2 * MIN_FREE_ROWS)
    state.Z[: column_indices.size, :n] = ownership[:, column_indices].T
    state.w[: column_indices.size] = weights[column_indices]
    state.m[: column_indices.size] = n_owners[column_indices]
    state.whole[COLUMNS] = column_indices.size
    state.real[ALPHA] = alpha
    if model.unique != NO_UNIQUE:
        state.s[:n] = model.weights.random(rng, n)
    if model.unique == TOTAL_UNIQUE:
        is_single = n_owners == 1
        state.s[:n] += ownership[:, is_single] @ weights[is_single]
    return state


@scalar
def prepare_state(model: Any, b: Any) -> None:
    """Fill entries of the state that follow from features, weights and alpha."""
    fill_rates(model.prior, b)
    refresh_unique_prior(model, b)


CONTINUE, DONE, CROWDED, RECORD_FULL = range(4)
REBUILD_INTERVAL = 200  # sweeps between two complete computations of the likelihood's cache


@scalar
def begin_round(
    rng: Any,
    model: Any,
    caches: Any,
    states: Any,
    ladder: Any,
    record: Any,
    until: Any,
    tune: int,
    thin: Any,
) -> Any:
    """Record the last sweep if due; return whether the next has room to run.

    Otherwise return which arrays must be enlarged, or that the run is done.
    """
    cold = ladder.at[0]
    b = replica(states, cold)
    if is_due(b, record, tune, thin):
        if not has_room(b, record):
            return RECORD_FULL
        record_state(rng, model, select_cache(model.likelihood, caches, cold), b, record)
    if b.whole[SWEEPS] >= until:
        return DONE
    for t in range(ladder.beta.size):
        if is_crowded(replica(states, t)):
            return CROWDED
    if b.whole[SWEEPS] == 0:
        for t in range(ladder.beta.size):
            prepare_state(model, replica(states, t))
    if b.whole[SWEEPS] % REBUILD_INTERVAL == 0:  # fills the caches, later corrects their drift
        for t in range(ladder.beta.size):
            rebuild_cache(
                model.likelihood, select_cache(model.likelihood, caches, t), replica(states, t)
            )
    return CONTINUE


@scalar
def select_level_state(states: Any, ladder: Any, t: Any) -> Any:
    """Return the state at temperature t, with its inverse temperature set."""
    b = replica(states, ladder.at[t])
    b.real[BETA] = ladder.beta[t]
    return b


@scalar
def end_sweep(b: Any, tuning: Any, tune: int) -> None:
    """Count the sweep and, during tuning, adapt the step sizes."""
    b.whole[SWEEPS] += 1
    sweep = b.whole[SWEEPS]
    if sweep <= tune and sweep % ADAPTATION_INTERVAL == 0:
        adapt_step_sizes(tuning, sweep, tune)
