"""Index arithmetic on arrays: bounds of parts, evenly spaced indices, slices."""

from collections.abc import Iterator, Sequence

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


def iterate_slices(n_rows: int, row_size: int) -> Iterator[slice]:
    """Yield slices over rows with at most `BLOCK` numbers each.

    Examples
    --------
    >>> list(iterate_slices(5, 1_000_000))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, BLOCK // max(1, row_size))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
