"""Ranks of numbers, the same as SciPy's without its statistics, which take a third of a second to
load."""

import numpy as np


def average_ranks(values: np.ndarray) -> np.ndarray:
    """The rank of each number along the last axis, 1 the smallest; equal numbers share the mean of
    their ranks.

    Examples
    --------
    >>> average_ranks(np.array([[2.0, 1.0, 2.0, 5.0]]))
    array([[2.5, 1. , 2.5, 4. ]])
    """
    return twice_ranks(values) / 2.0 + 1.0


def twice_ranks(values: np.ndarray) -> np.ndarray:
    """Twice the average rank of each number along the last axis, counted from 0: a whole number."""
    best, worst = rank_bounds(values)
    return best + worst


def rank_bounds(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best and the worst rank of each number along the last axis, counted from 0; equal numbers
    share both.

    Examples
    --------
    >>> rank_bounds(np.array([2.0, 1.0, 2.0, 5.0]))
    (array([1, 0, 1, 3]), array([2, 0, 2, 3]))
    """
    size = values.shape[-1]
    order = np.argsort(values, axis=-1)
    sorted_values = np.take_along_axis(values, order, -1)
    place = np.arange(size)
    first = np.ones(values.shape, bool)  # of a run of equal numbers
    np.not_equal(sorted_values[..., 1:], sorted_values[..., :-1], out=first[..., 1:])
    if first.all():
        best = np.empty(values.shape, np.intp)
        np.put_along_axis(best, order, np.broadcast_to(place, values.shape), -1)
        return best, best.copy()
    last = np.ones(values.shape, bool)
    last[..., :-1] = first[..., 1:]
    starts = np.maximum.accumulate(np.where(first, place, 0), axis=-1)
    ends = np.minimum.accumulate(np.where(last, place, size)[..., ::-1], axis=-1)[..., ::-1]
    best, worst = np.empty(values.shape, np.intp), np.empty(values.shape, np.intp)
    np.put_along_axis(best, order, starts, -1)
    np.put_along_axis(worst, order, ends, -1)
    return best, worst


_NEAR = 1e-9  # far above rounding and what maximisers leave, far below what is printed


def descending(values: np.ndarray) -> np.ndarray:
    """Return the order from the largest number down; of numbers that differ by rounding the first
    is first.

    Examples
    --------
    >>> descending(np.array([0.3, 0.1 + 0.2, 0.5]))
    array([2, 0, 1])
    """
    order = np.argsort(-values, kind="stable")
    is_lower = ~(np.diff(values[order], prepend=np.inf) >= -_NEAR)  # also where either is no number
    return order[np.lexsort((order, np.cumsum(is_lower)))]


def means_along(order: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return the numbers nearest to means that never rise along an order (pool adjacent violators).

    Examples
    --------
    >>> means_along(np.array([2, 0, 1]), np.array([1.0, 4.0, 9.0]))
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
    found = np.empty(len(means))
    found[order] = np.repeat(levels, sizes)
    return found
