"""Quantities of evenly spaced pairs of objects, on which the chains of a fit should agree."""

from collections.abc import Callable
from typing import Any

import numpy as np

# Limits of the pairs for which convergence is checked: objects, pairs (minimum and maximum), and
# numbers per quantity.
MAX_CHECKED_OBJECTS = 40
MIN_CHECKED_PAIRS = 20
MAX_CHECKED_PAIRS = 200
MAX_CHECKED_NUMBERS = 1e7


def space_indices(n: int, max_indices: int) -> np.ndarray:
    """Return at most `max_indices` evenly spaced indices below n."""
    return np.unique(np.linspace(0, n - 1, min(n, max_indices)).astype(int))


def select_spaced_pairs(posterior: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return object indices of evenly spaced pairs, fewer if there are many draws."""
    object_indices = space_indices(posterior.n_options, MAX_CHECKED_OBJECTS)
    i, j = np.triu_indices(len(object_indices), 1)
    max_pairs = int(
        np.clip(MAX_CHECKED_NUMBERS / posterior.n_draws, MIN_CHECKED_PAIRS, MAX_CHECKED_PAIRS)
    )
    pair_indices = space_indices(len(i), max_pairs)
    return object_indices[i[pair_indices]], object_indices[j[pair_indices]]


def pair_quantities_by_name(
    posterior: Any, name: str, compute_draws: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> dict[str, np.ndarray]:
    """Return draws of rows `name[a, b]` for evenly spaced pairs of objects.

    `compute_draws` computes a number per draw and pair, (draws, pairs). Unlike the presence of an
    owner set, these rows suit any number of objects.
    """
    labels = posterior.labels
    first_objects, second_objects = select_spaced_pairs(posterior)
    pair_draws = compute_draws(first_objects, second_objects).T.reshape(-1, *posterior.shape)
    row_names = (
        f"{name}[{labels[i]}, {labels[j]}]"
        for i, j in zip(first_objects, second_objects, strict=True)
    )
    return dict(zip(row_names, pair_draws, strict=True))
