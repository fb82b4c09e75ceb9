"""Features with at least two owners, for all priors."""

import math
from collections import Counter
from typing import Any

import numpy as np


def select_shared_columns(matrix: Any) -> np.ndarray:
    """Return columns with at least two owners as rows, bool."""
    columns = np.asarray(matrix, bool).T
    return columns[np.count_nonzero(columns, axis=1) >= 2]


def log_copy_orders(columns: np.ndarray) -> float:
    """Return the sum of log K! over distinct rows, which occur K times."""
    return sum(
        math.lgamma(n_copies + 1.0)
        for n_copies in Counter(column.tobytes() for column in columns).values()
    )
