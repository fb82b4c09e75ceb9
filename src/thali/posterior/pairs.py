"""Numbers and coordinates of the pairs of options."""

import numpy as np


def pair_index(first: np.ndarray, second: np.ndarray, n_options: int) -> np.ndarray:
    """Position of each pair first < second among all pairs in row-major order."""
    first, second = np.asarray(first), np.asarray(second)
    return first * (2 * n_options - first - 1) // 2 + second - first - 1


def pair_coordinates(dim: str, labels: np.ndarray, first: np.ndarray, second: np.ndarray) -> dict:
    """The labels of both options of each pair along a dimension."""
    return {"option_a": (dim, labels[first]), "option_b": (dim, labels[second])}
