"""Kernel operations of a user-defined likelihood that is one function of the whole state.

Each operation evaluates all data after the change. A `delta_*` changes the state, evaluates the
function and reverts the change; the following `apply_*` keeps the value. Row K of the state, with K
the number of columns, is free during a change.
"""

from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar

from .. import kernel_operations
from ..chain_state import COLUMNS, FeatureState, copy_row, scratch_index, toggle_owner
from .custom_term_kernels import (
    COMMON_OPERATIONS,
    insert_parameters,
    return_false,
    starting_parameters,
    state_log_likelihood,
)

CURRENT, PROPOSED = range(2)  # positions in EvaluationCache.real


class EvaluationCache(NamedTuple):
    """A chain's cache: log-likelihood of the current and of the proposed state."""

    real: np.ndarray  # (2,) the CURRENT log-likelihood, and the last PROPOSED
    parameters: np.ndarray  # (P,) values of the learned parameters


def make_cache(likelihood: Any) -> EvaluationCache:
    """Make a chain's cache of two log-likelihoods, filled later."""
    return EvaluationCache(np.zeros(2), np.array(starting_parameters(likelihood)))


@scalar
def propose_change(likelihood: Any, c: Any, b: Any, n_columns: Any) -> Any:
    """Evaluate the log-likelihood of the proposed state; return its change."""
    c.real[PROPOSED] = state_log_likelihood(insert_parameters(likelihood, c), b, n_columns)
    return c.real[PROPOSED] - c.real[CURRENT]


def _delta_member(
    likelihood: Any, c: EvaluationCache, b: FeatureState, k: int, i: int, d: float
) -> Any:
    """Return the log-likelihood change if option i joins or leaves feature k."""
    toggle_owner(b, k, i)
    change = propose_change(likelihood, c, b, b.whole[COLUMNS])
    toggle_owner(b, k, i)
    return change


def _delta_weight(
    likelihood: Any, c: EvaluationCache, b: FeatureState, k: int, m: int, d: float
) -> Any:
    """Return the log-likelihood change if the weight of feature k grows by d."""
    n_columns = b.whole[COLUMNS]
    last_column = n_columns - 1
    w = b.w[k]
    if k == n_columns:  # a birth
        b.w[k] = d
        change = propose_change(likelihood, c, b, n_columns + 1)
    elif d == -w:  # a death: the last column takes its row
        copy_row(b, k, n_columns)
        copy_row(b, last_column, k)
        b.w[k] = b.w[last_column]
        change = propose_change(likelihood, c, b, last_column)
        copy_row(b, n_columns, k)
    else:
        b.w[k] = w + d
        change = propose_change(likelihood, c, b, n_columns)
    b.w[k] = w
    return change


def _delta_transfer(
    likelihood: Any, c: EvaluationCache, b: FeatureState, k: int, partner: int, d: float
) -> Any:
    """Return the log-likelihood change if k gets the scratch row's owners and w[partner] -= d."""
    n_columns = b.whole[COLUMNS]
    w = b.w[partner]
    copy_row(b, k, n_columns)
    copy_row(b, scratch_index(b), k)
    b.w[partner] = w - d
    change = propose_change(likelihood, c, b, n_columns)
    b.w[partner] = w
    copy_row(b, n_columns, k)
    return change


def _apply_member(
    likelihood: Any, c: EvaluationCache, b: FeatureState, k: int, i: int, d: float
) -> None:
    """Keep the log-likelihood that the last `delta_member` computed."""
    c.real[CURRENT] = c.real[PROPOSED]


def _apply_weight(
    likelihood: Any, c: EvaluationCache, b: FeatureState, k: int, m: int, d: float
) -> None:
    """Keep the log-likelihood that the last `delta_weight` computed."""
    c.real[CURRENT] = c.real[PROPOSED]


def _apply_transfer(
    likelihood: Any, c: EvaluationCache, b: FeatureState, k: int, partner: int, d: float
) -> None:
    """Keep the log-likelihood that the last `delta_transfer` computed."""
    c.real[CURRENT] = c.real[PROPOSED]


def _rebuild_cache(likelihood: Any, c: EvaluationCache, b: FeatureState) -> None:
    """Evaluate and store the log-likelihood of the current state."""
    c.real[CURRENT] = state_log_likelihood(insert_parameters(likelihood, c), b, b.whole[COLUMNS])


def _select_cache(likelihood: Any, caches: EvaluationCache, t: int) -> Any:
    """Return views of the cache of the replica at temperature t."""
    return EvaluationCache(caches.real[t], caches.parameters[t])


OPERATIONS: dict[Any, Any] = COMMON_OPERATIONS | {
    kernel_operations.sums_duplicates: return_false,
    kernel_operations.select_cache: _select_cache,
    kernel_operations.rebuild_cache: _rebuild_cache,
    kernel_operations.delta_member: _delta_member,
    kernel_operations.apply_member: _apply_member,
    kernel_operations.delta_weight: _delta_weight,
    kernel_operations.apply_weight: _apply_weight,
    kernel_operations.delta_transfer: _delta_transfer,
    kernel_operations.apply_transfer: _apply_transfer,
}
