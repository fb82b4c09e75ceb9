"""The training data of a classifier, as its chains read them."""

from typing import NamedTuple

import numpy as np


class TrainingData(NamedTuple):
    """What a fit of a classifier by chains is made from."""

    matrix: np.ndarray  # (n, p) float
    codes: np.ndarray  # (n,) int64 positions of the classes
