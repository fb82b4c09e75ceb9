"""Ranks and sorting, without scipy.stats, which is slow to import."""

import numpy as np

from ..index_arithmetic import argsort_descending


def average_ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks along the last axis, from 1 for the smallest; ties have their mean rank.

    Examples
    --------
    >>> average_ranks(np.array([[2.0, 1.0, 2.0, 5.0]]))
    array([[2.5, 1. , 2.5, 4. ]])
    """
    return twice_ranks(values) / 2.0 + 1.0


def twice_ranks(values: np.ndarray) -> np.ndarray:
    """Return twice the average ranks along the last axis, from 0, as integers."""
    best_rank, worst_rank = rank_bounds(values)
    return best_rank + worst_rank


def rank_bounds(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return best and worst possible rank of each value along the last axis, from 0.

    Examples
    --------
    >>> rank_bounds(np.array([2.0, 1.0, 2.0, 5.0]))
    (array([1, 0, 1, 3]), array([2, 0, 2, 3]))
    """
    n_values = values.shape[-1]
    sorted_indices = np.argsort(values, axis=-1)
    sorted_values = np.take_along_axis(values, sorted_indices, -1)
    positions = np.arange(n_values)
    is_first = np.ones(values.shape, bool)  # whether it begins a run of equal numbers
    np.not_equal(sorted_values[..., 1:], sorted_values[..., :-1], out=is_first[..., 1:])
    if is_first.all():
        best_rank = np.empty(values.shape, np.intp)
        np.put_along_axis(best_rank, sorted_indices, np.broadcast_to(positions, values.shape), -1)
        return best_rank, best_rank.copy()
    is_last = np.ones(values.shape, bool)
    is_last[..., :-1] = is_first[..., 1:]
    best_positions = np.maximum.accumulate(np.where(is_first, positions, 0), axis=-1)
    worst_positions = np.minimum.accumulate(
        np.where(is_last, positions, n_values)[..., ::-1], axis=-1
    )[..., ::-1]
    best_rank = np.empty(values.shape, np.intp)
    worst_rank = np.empty(values.shape, np.intp)
    np.put_along_axis(best_rank, sorted_indices, best_positions, -1)
    np.put_along_axis(worst_rank, sorted_indices, worst_positions, -1)
    return best_rank, worst_rank


_NEAR = 1e-9  # far above errors of rounding and maximisers, far below printed digits


def sort_descending(values: np.ndarray) -> np.ndarray:
    """Return the indices that sort values in descending order, stable for near ties.

    Examples
    --------
    >>> sort_descending(np.array([0.3, 0.1 + 0.2, 0.5]))
    array([2, 0, 1])
    """
    order = argsort_descending(values)
    is_lower = ~(np.diff(values[order], prepend=np.inf) >= -_NEAR)  # also True for NaN
    return order[np.lexsort((order, np.cumsum(is_lower)))]


def fit_descending_means(order: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return the isotonic regression of means: nearest values that never rise.

    They are in the order `order` (pool adjacent violators).

    Examples
    --------
    >>> fit_descending_means(np.array([2, 0, 1]), np.array([1.0, 4.0, 9.0]))
    array([2.5, 2.5, 9. ])
    """
    levels: list[float] = []
    sizes: list[int] = []
    for level in means[order].tolist():
        size = 1
        while levels and levels[-1] < level:
            size += sizes[-1]
            level += (levels.pop() - level) * sizes.pop() / size
        levels.append(level)
        sizes.append(size)
    fitted = np.empty(len(means))
    fitted[order] = np.repeat(levels, sizes)
    return fitted
