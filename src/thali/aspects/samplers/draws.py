"""The draws of one chain."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ChainDraws:
    """The recorded draws of one chain; features are ragged, concatenated draw after draw."""

    alpha: np.ndarray  # (draws,) float64
    log_likelihood: np.ndarray  # (draws,) float64, whole data, natural log, without binomial coefficients
    unique_weights: np.ndarray  # (draws, n_options) float64; zeros when the model has no unique aspects
    n_features: np.ndarray  # (draws,) int64: columns with at least one owner in each draw
    weights: np.ndarray  # (sum n_features,) float64
    sizes: np.ndarray  # (sum n_features,) int64: owners of each column, >= 1
    owners: np.ndarray  # (sum sizes,) int32: option indices, ascending within a column
    extra: dict[str, np.ndarray] = field(default_factory=dict)  # (draws,) of each parameter of the likelihood
    kinds: np.ndarray = field(
        default_factory=lambda: np.zeros((0, 0), np.int16)
    )  # (draws, people), if these are unknown
    stats: dict[str, Any] = field(default_factory=dict)  # of the whole chain, for sample_stats: numbers, or arrays
