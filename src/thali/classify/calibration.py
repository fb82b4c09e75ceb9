"""Predicted probabilities beside the frequencies of the classes, class by class and bin by bin."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import whole
from thali.errors import DataError
from thali.inference.seeds import streams
from thali.posterior.interval import INTERVAL, TAILS

from .input import labels_of, shown
from .rows import drawn_codes

if TYPE_CHECKING:
    import pandas

    from .predictions import Predictions

REPLICATES = 1000  # of a fit without draws
_BLOCK = 2**21  # numbers of a block of rows


def calibration_table(model: "Predictions", X: Any, y: Any, bins: Any, random_seed: Any) -> "pandas.DataFrame":
    """The table; see `model.calibration`."""
    from thali._tables import Table

    bins = whole("bins", bins, 2)
    matrix = model._checked(X)
    codes = _codes_among(labels_of(y, type(model).__name__, matrix.shape[0]), model.classes_)
    predicted = model._probabilities(matrix)
    K = predicted.shape[1]
    places = np.minimum((predicted * bins).astype(np.int64), bins - 1) + bins * np.arange(K)
    counts, sums, chosen = np.zeros((3, K * bins))
    np.add.at(counts, places, 1.0)
    np.add.at(sums, places, predicted)
    np.add.at(chosen, places[np.arange(len(codes)), codes], 1.0)
    counts[: 0 if K > 2 else bins] = 0.0  # of two classes the first mirrors the second
    kept = np.flatnonzero(counts)
    (rng,) = streams(random_seed, 1)
    drawn = np.quantile(_replicates(model, matrix, predicted, places, kept, rng), TAILS, axis=0)
    observed, (low, high) = chosen[kept] / counts[kept], drawn / counts[kept]
    table = Table(
        {
            "class": model.classes_[kept // bins],
            "rows": counts[kept].astype(np.int64),
            "predicted": sums[kept] / counts[kept],
            "observed": observed,
            "low": low,
            "high": high,
            "missed": (observed < low) | (observed > high),
        }
    )
    table.attrs["interval"] = INTERVAL
    return table


def _replicates(
    model: "Predictions", matrix: Any, predicted: np.ndarray, places: np.ndarray, kept: np.ndarray, rng: Any
) -> np.ndarray:
    """How many rows of each bin have its class, shape (replicates, bins), in labels drawn from the predictions."""
    found: Any = 0.0
    for part, probabilities in model._probability_blocks(matrix) if model._engine.draws else _the_same(predicted):
        drawn = drawn_codes(probabilities, rng)  # (rows, replicates)
        for k in range(predicted.shape[1]):
            found = found + (drawn == k).T.astype(float) @ (places[part, k, None] == kept)
    return found


def _the_same(predicted: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Some rows at a time, and their probabilities (rows, replicates, K), the same in every replicate."""
    n, K = predicted.shape
    step = max(1, _BLOCK // (REPLICATES * K))
    for first in range(0, n, step):
        part = slice(first, first + step)
        yield part, np.broadcast_to(predicted[part, None], (len(predicted[part]), REPLICATES, K))


def _codes_among(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The place of every label among the classes of the fit."""
    known = {label: k for k, label in enumerate(classes.tolist())}
    codes = np.array([known.get(label, -1) for label in labels.tolist()])
    if (codes < 0).any():
        named = ", ".join(map(repr, list(known)[:10]))
        raise DataError(f"y holds {shown(labels[int(np.argmin(codes))])}, and the model was fitted to {named}.")
    return codes
