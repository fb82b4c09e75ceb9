"""What the priors share about features that several options own together."""

import math
from collections import Counter
from typing import Any

import numpy as np


def shared_columns(matrix: Any) -> np.ndarray:
    """The columns with two owners or more, as the rows of a bool array."""
    columns = np.asarray(matrix, bool).T
    return columns[np.count_nonzero(columns, axis=1) >= 2]


def log_copies(columns: np.ndarray) -> float:
    """Sum of log K! over the distinct rows, K being how often each occurs."""
    return sum(
        math.lgamma(copies + 1.0)
        for copies in Counter(column.tobytes() for column in columns).values()
    )
