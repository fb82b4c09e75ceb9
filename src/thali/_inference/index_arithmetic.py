"""Index arithmetic on arrays: bounds of parts, evenly spaced indices, slices."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

BLOCK = 2**21  # numbers in memory at a time: 16 MiB as float64


def part_bounds(sizes: np.ndarray | Sequence[int]) -> np.ndarray:
    """Return the cumulative sum of part sizes with leading 0, shape (parts + 1,).

    Examples
    --------
    >>> part_bounds([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def find_distinct_keys(keys: np.ndarray, n_possible: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct keys, sorted, and the place of each key among them.

    Keys are integers from 0 on, below `n_possible`.

    Examples
    --------
    >>> [found.tolist() for found in find_distinct_keys(np.array([7, 2, 7]), 9)]
    [[2, 7], [1, 0, 1]]
    """
    if n_possible > len(keys):
        return np.unique(keys, return_inverse=True)
    is_present = np.zeros(n_possible, bool)
    is_present[keys] = True
    return np.flatnonzero(is_present), (np.cumsum(is_present) - 1)[keys]


def find_first(is_true: np.ndarray) -> int | None:
    """Return the flat index of the first true element; None if there is none.

    Examples
    --------
    >>> find_first(np.array([False, True, True]))
    1
    """
    if is_true.any():
        return int(is_true.argmax())
    return None


def space_evenly(n_indices: int, max_count: int) -> np.ndarray:
    """Return at most `max_count` evenly spaced integers from 0 to `n_indices` - 1.

    Examples
    --------
    >>> space_evenly(10, 4).tolist()
    [0, 3, 6, 9]
    """
    return np.unique(
        np.linspace(0, n_indices - 1, min(n_indices, max_count)).round().astype(np.int64)
    )


def iterate_slices(n_rows: int, row_size: int, block_size: int | None = None) -> Iterator[slice]:
    """Yield slices over rows with at most `block_size` numbers each, by default `BLOCK`.

    Examples
    --------
    >>> list(iterate_slices(5, 1_000_000))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, (block_size or BLOCK) // max(1, row_size))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def repeat_indices(sizes: np.ndarray | Sequence[int]) -> np.ndarray:
    """Return the index of each part as often as the part has entries.

    Examples
    --------
    >>> repeat_indices(np.array([2, 0, 3])).tolist()
    [0, 0, 2, 2, 2]
    """
    return np.repeat(np.arange(len(sizes)), sizes)


def part_indices(bounds: np.ndarray) -> np.ndarray:
    """Return the index of the part of each entry, where `bounds` are as from `part_bounds`.

    Examples
    --------
    >>> part_indices(np.array([0, 2, 2, 5])).tolist()
    [0, 0, 2, 2, 2]
    """
    return repeat_indices(np.diff(bounds))


def sum_parts(values: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Sum values over each part along the first axis; no part may be empty.

    Examples
    --------
    >>> sum_parts(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 3])).tolist()
    [3.0, 4.0]
    """
    return np.add.reduceat(values, bounds[:-1])


def count_pairs(n: Any) -> Any:
    """Return the number of pairs of n objects, elementwise for an array of numbers.

    Examples
    --------
    >>> count_pairs(4)
    6
    """
    return n * (n - 1) // 2


def argsort_descending(values: np.ndarray) -> np.ndarray:
    """Return the indices in descending order; equal numbers keep their order.

    Examples
    --------
    >>> argsort_descending(np.array([3.0, 5.0, 3.0])).tolist()
    [1, 0, 2]
    """
    return np.argsort(-values, kind="stable")


def part_positions(sizes: np.ndarray) -> np.ndarray:
    """Return the position of each entry within its part.

    Examples
    --------
    >>> part_positions(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def part_slice(bounds: np.ndarray | Sequence[int], part: int) -> slice:
    """Return the slice of the entries of a part.

    Examples
    --------
    >>> part_slice([0, 2, 5], 1)
    slice(2, 5, None)
    """
    return slice(bounds[part], bounds[part + 1])


def sum_by_index(
    index: np.ndarray, rows: np.ndarray | Sequence[np.ndarray], n_sums: int
) -> np.ndarray:
    """Sum each row's values with equal index, shape (rows, n_sums).

    Examples
    --------
    >>> sum_by_index(np.array([0, 1, 0]), [np.array([1.0, 2.0, 4.0])], 2)
    array([[5., 2.]])
    """
    return np.array([np.bincount(index, values, n_sums) for values in rows])
