"""From dissimilarities to similarities."""

from collections.abc import Callable
from typing import Any

import numpy as np

from thali.data.symmetric import Measured
from thali.errors import DataError


def as_similarities(found: Measured, how: str | Callable[[np.ndarray], Any]) -> np.ndarray:
    """The similarities of the measured pairs: "linear", "exponential" or what a function makes of the vector."""
    distance = found.values
    if (distance < 0).any():
        k = int((distance < 0).argmax())
        a, b = found.labels[found.first[k]], found.labels[found.second[k]]
        raise DataError(
            f"The dissimilarity of {a!r} and {b!r} is {distance[k]:g}, which is negative; dissimilarities must be 0 "
            "or more."
        )
    if callable(how):
        return _returned(how(distance.copy()), len(distance))
    if how == "linear":
        return (1.0 if distance.max() <= 1.0 else distance.max()) - distance
    if not distance.any():
        raise DataError('All dissimilarities are 0, so their mean gives no scale; how="exponential" needs one above 0.')
    return np.exp(-distance / distance.mean())


def _returned(similarity: Any, pairs: int) -> np.ndarray:
    try:
        values = np.array(similarity, dtype=np.float64)
        got = f"an array of shape {values.shape}" if values.shape != (pairs,) else "some that are not finite"
    except (TypeError, ValueError):
        values, got = np.empty(0), type(similarity).__name__
    if values.shape != (pairs,) or not np.isfinite(values).all():
        raise DataError(
            f"`how` must return {pairs:,} finite numbers, one similarity for each dissimilarity; got {got}."
        )
    return values
