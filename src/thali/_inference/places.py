"""Places along an array: where parts of given sizes begin, and evenly spaced ones."""

from collections.abc import Iterator, Sequence

import numpy as np

BLOCK = 2**21  # numbers held at once: 16 MiB as float64


def starts(sizes: np.ndarray | Sequence[int]) -> np.ndarray:
    """Return where parts of these sizes begin, one after another, and where the last ends (parts +
    1,).

    Examples
    --------
    >>> starts([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def evenly_spaced(count: int, most: int) -> np.ndarray:
    """Return at most so many of `count` places, evenly spaced, the first and the last among them.

    Examples
    --------
    >>> evenly_spaced(10, 4).tolist()
    [0, 3, 6, 9]
    """
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def slices(count: int, numbers: int) -> Iterator[slice]:
    """Yield slices over a count of things, each of a bounded size if every thing has so many
    numbers.

    Examples
    --------
    >>> list(slices(5, 1_000_000))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, BLOCK // max(1, numbers))
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))
