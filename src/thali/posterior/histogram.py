"""Histograms in plain characters."""

import math

import numpy as np
import numpy.typing as npt


def text_histogram(values: npt.ArrayLike, width: int = 40) -> str:
    """A histogram in plain characters, one line a value, or a group of neighbouring values if there are many.

    Parameters
    ----------
    values : int array
        At least one.
    width : int
        Characters of the longest bar.

    Returns
    -------
    str
        At most 20 lines without a final line break: the value, its bar, its share of all draws.

    Examples
    --------
    >>> print(text_histogram([1, 2, 2, 2, 3, 3], width=6))
    1 | ##      17 %
    2 | ######  50 %
    3 | ####    33 %
    """
    numbers, counts = np.unique(np.asarray(values).ravel(), return_counts=True)
    return bars(numbers, counts / counts.sum(), width)


def bars(numbers: npt.ArrayLike, shares: npt.ArrayLike, width: int = 40) -> str:
    """The same of whole numbers and the share of each."""
    numbers, shares = np.asarray(numbers).astype(np.int64), np.asarray(shares, float)
    low, high = int(numbers.min()), int(numbers.max())
    step = math.ceil((high - low + 1) / 20)
    grouped = np.bincount((numbers - low) // step, shares)
    starts = [low + step * group for group in range(len(grouped))]
    names = [str(start) if step == 1 else f"{start}-{start + step - 1}" for start in starts]
    name_width = max(map(len, names))
    drawn = ["#" * round(width * share / grouped.max()) for share in grouped]
    return "\n".join(
        f"{name:>{name_width}} | {bar:<{width}}  {_percent(share)}"
        for name, bar, share in zip(names, drawn, grouped, strict=True)
    )


def _percent(share: float) -> str:
    return f"{'<1' if 0 < share < 0.01 else format(100 * share, '.0f'):>2} %"
