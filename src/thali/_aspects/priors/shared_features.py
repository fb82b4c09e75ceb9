"""Ownership of features with at least two owners, as rows, and orders of equal ones."""

import math
from collections import Counter

import numpy as np


def select_shared_columns(matrix: np.ndarray) -> np.ndarray:
    """Return the features with at least two owners as rows, bool."""
    owners_by_feature = np.asarray(matrix, bool).T
    return owners_by_feature[np.count_nonzero(owners_by_feature, axis=1) >= 2]


def log_copy_orders(shared_features: np.ndarray) -> float:
    """Return the sum of log c! over distinct rows, each occurring c times."""
    return sum(
        math.lgamma(n_copies + 1.0)
        for n_copies in Counter(column.tobytes() for column in shared_features).values()
    )
