"""A user's likelihood that is one function: each operation evaluates all data after the change.

A `delta_*` changes the state, evaluates, and reverts the change; the `apply_*` that follows
immediately keeps the value. Row K of the state, K the number of columns, is free during a change.
"""

from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar

from .. import operations
from ..state import COLUMNS, copy_row, scratch_index
from .term_sums import COMMON, no, seen, start, whole_of_state

NOW, PROPOSED = range(2)  # positions in Value.real


class EvaluationCache(NamedTuple):
    """The cache of a chain."""

    real: np.ndarray  # (2,) the current log-likelihood NOW, and the last PROPOSED
    parameters: np.ndarray  # (P,) values of the learned parameters


def empty_cache(likelihood: Any) -> EvaluationCache:
    """A value that is filled in later."""
    return EvaluationCache(np.zeros(2), np.array(start(likelihood)))


@scalar
def proposed(likelihood: Any, c: Any, b: Any, columns: Any) -> Any:
    """The change of the log-likelihood; the state holds the proposal."""
    c.real[PROPOSED] = whole_of_state(seen(likelihood, c), b, columns)
    return c.real[PROPOSED] - c.real[NOW]


def _delta_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    b.Z[k, i] = 1.0 - b.Z[k, i]
    change = proposed(likelihood, c, b, b.whole[COLUMNS])
    b.Z[k, i] = 1.0 - b.Z[k, i]
    return change


def _delta_weight(likelihood: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> Any:
    columns = b.whole[COLUMNS]
    last = columns - 1
    w = b.w[k]
    if k == columns:  # a birth
        b.w[k] = d
        change = proposed(likelihood, c, b, columns + 1)
    elif d == -w:  # a death: the last column takes its place
        copy_row(b, k, columns)
        copy_row(b, last, k)
        b.w[k] = b.w[last]
        change = proposed(likelihood, c, b, last)
        copy_row(b, columns, k)
    else:
        b.w[k] = w + d
        change = proposed(likelihood, c, b, columns)
    b.w[k] = w
    return change


def _delta_transfer(likelihood: Any, c: Any, b: Any, k: Any, other: Any, d: Any) -> Any:
    columns = b.whole[COLUMNS]
    w = b.w[other]
    copy_row(b, k, columns)
    copy_row(b, scratch_index(b), k)
    b.w[other] = w - d
    change = proposed(likelihood, c, b, columns)
    b.w[other] = w
    copy_row(b, columns, k)
    return change


def _apply_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    c.real[NOW] = c.real[PROPOSED]


def _apply_weight(likelihood: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    c.real[NOW] = c.real[PROPOSED]


def _apply_transfer(likelihood: Any, c: Any, b: Any, k: Any, other: Any, d: Any) -> None:
    c.real[NOW] = c.real[PROPOSED]


def _rebuild(likelihood: Any, c: Any, b: Any) -> None:
    c.real[NOW] = whole_of_state(seen(likelihood, c), b, b.whole[COLUMNS])


def _cache_at(likelihood: Any, caches: Any, t: Any) -> Any:
    return EvaluationCache(caches.real[t], caches.parameters[t])


ANSWERS: dict[Any, Any] = COMMON | {
    operations.sums_duplicates: no,
    operations.cache_at: _cache_at,
    operations.rebuild_cache: _rebuild,
    operations.delta_member: _delta_member,
    operations.apply_member: _apply_member,
    operations.delta_weight: _delta_weight,
    operations.apply_weight: _apply_weight,
    operations.delta_transfer: _delta_transfer,
    operations.apply_transfer: _apply_transfer,
}
