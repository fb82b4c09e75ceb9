"""Where a chain begins: a draw from the prior, or close to one."""

from typing import Any

import numpy as np

from thali.compile.jit import scalar

from ..moves.unique_weights import refresh_unique
from ..operations import log_rate, set_alpha
from ..state import ALPHA, COLUMNS, NO_UNIQUE, ROOM, TOTAL_UNIQUE, Model, State, empty_state

MAX_OWN = 500  # up to this many options, each starts with its own columns if it has no unique aspect


def prior_draw(rng: np.random.Generator, model: Model, prior: Any, n: int, alpha: float) -> State:
    """A state drawn from the prior (`prior` is the public object that `model.prior` was compiled from)."""
    matrix = prior.sample(n, alpha, rng)
    if model.unique == NO_UNIQUE and model.lo == 1 and n <= MAX_OWN:
        # A prior draw leaves most pairs undecided, and chains find structure very slowly from there. With a
        # single column for each option one chain in four still got stuck on real data, with three none of 48.
        matrix = np.hstack([matrix, np.tile(np.eye(n, dtype=bool), 3)])
    return with_weights(rng, model, matrix, alpha)


def with_weights(rng: np.random.Generator, model: Model, matrix: np.ndarray, alpha: float) -> State:
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
