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
    values = np.asarray(values).ravel()
    low, high = int(values.min()), int(values.max())
    step = math.ceil((high - low + 1) / 20)
    counts = np.bincount((values.astype(np.int64) - low) // step)
    starts = [low + step * group for group in range(len(counts))]
    names = [str(start) if step == 1 else f"{start}-{start + step - 1}" for start in starts]
    name_width = max(map(len, names))
    bars = ["#" * round(width * count / counts.max()) for count in counts]
    return "\n".join(
        f"{name:>{name_width}} | {bar:<{width}}  {_percent(count / counts.sum())}"
        for name, bar, count in zip(names, bars, counts, strict=True)
    )


def _percent(share: float) -> str:
    return f"{'<1' if 0 < share < 0.01 else format(100 * share, '.0f'):>2} %"
