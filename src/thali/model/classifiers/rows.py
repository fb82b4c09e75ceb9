"""Rows with their classes, as chains of a classifier read them."""

from typing import NamedTuple

import numpy as np


class Rows(NamedTuple):
    """What a fit of a classifier by chains is made from."""

    matrix: np.ndarray  # (n, p) float
    codes: np.ndarray  # (n,) int64 positions of the classes
