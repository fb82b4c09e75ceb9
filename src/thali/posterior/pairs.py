"""Numbers and coordinates of the pairs of options."""

import numpy as np


def pair_index(first: np.ndarray, second: np.ndarray, n_options: int) -> np.ndarray:
    """Position of each pair first < second among all pairs in row-major order."""
    first, second = np.asarray(first), np.asarray(second)
    return first * (2 * n_options - first - 1) // 2 + second - first - 1


def pair_coordinates(dim: str, labels: np.ndarray, first: np.ndarray, second: np.ndarray) -> dict:
    """The labels of both options of each pair along a dimension."""
    return {"option_a": (dim, labels[first]), "option_b": (dim, labels[second])}


def pair_names(labels: np.ndarray) -> dict:
    """The names "a, b" of all pairs in row-major order, the coordinate of the dimension `pair`.

    ArviZ can name what it summarises by such a coordinate, and stops at any that is not of a dimension.
    """
    first, second = np.triu_indices(len(labels), k=1)
    return {"pair": np.array([f"{labels[i]}, {labels[j]}" for i, j in zip(first, second, strict=True)], dtype=str)}
