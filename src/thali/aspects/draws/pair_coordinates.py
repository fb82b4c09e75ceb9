"""Numbers and coordinates of the pairs of options."""

from typing import Any

import numpy as np


def pair_index(first: np.ndarray, second: np.ndarray, n_options: int) -> np.ndarray:
    """Position of each pair first < second among all pairs in row-major order."""
    first, second = np.asarray(first), np.asarray(second)
    return first * (2 * n_options - first - 1) // 2 + second - first - 1


def pair_coordinates(dim: str, labels: np.ndarray, first: np.ndarray, second: np.ndarray) -> dict[Any, Any]:
    """The labels of both options of each pair along a dimension."""
    return {"option_a": (dim, labels[first]), "option_b": (dim, labels[second])}


def pair_names(labels: np.ndarray) -> dict[Any, Any]:
    """Coordinates of all pairs in row-major order: `pair` is "a, b", `option_a` and `option_b` the two options.

    ArviZ labels rows by `pair` and fails at any other coordinate along the dimensions of a variable: the options have a
    separate dimension, of the same length and order.
    """
    first, second = np.triu_indices(len(labels), k=1)
    names = np.array([f"{labels[i]}, {labels[j]}" for i, j in zip(first, second, strict=True)], dtype=str)
    return {"pair": names, **pair_coordinates("pair_number", labels, first, second)}
