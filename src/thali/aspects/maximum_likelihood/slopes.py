"""First and second derivatives of a log-likelihood."""

from typing import NamedTuple

import numpy as np


class Slopes(NamedTuple):
    """First and second derivatives by the logarithms of the weights, and by the coefficients that follow them."""

    gradient: np.ndarray
    hessian: np.ndarray
    information: np.ndarray  # expected, its diagonal alone
