"""The log posterior of Plackett–Luce regression as a function of the logarithms of the weights that are not zero."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thali.regression.curvature import hessian
from thali.regression.statistics import Statistics


@dataclass(frozen=True)
class Point:
    """The objective at some weights.

    Attributes
    ----------
    logs : array, shape (number of active weights,)
        ln λ̄.
    value : float
        Log-likelihood plus the prior.
    gradient : array, shape (number of active weights,)
        With respect to ln λ.
    weights : array, shape (K, p)
        λ̄, which sums to 1.
    statistics : Statistics
        The sums over the rows at λ̄.
    """

    logs: np.ndarray
    value: float
    gradient: np.ndarray
    weights: np.ndarray
    statistics: Statistics


class LogWeights:
    """F(ln λ) = loglik + max(a − 1, 0) Σ ln λ̄, where weights outside `active` are zero.

    F does not change when all λ are multiplied by a number. Gradient: λ̄ (R − s) + (a − 1)(1 − K p λ̄).

    Parameters
    ----------
    data : Rows or Blocks
        Answers `statistics(A, m)` and `curvature(A, m, columns)`.
    a : float
    active : array of bool, shape (K, p)
        Where λ may be positive; everywhere for a > 1.
    """

    def __init__(self, data: Any, a: float, active: np.ndarray):
        self.data, self.active = data, np.nonzero(active)
        self.shape = active.shape
        self.pull = max(a - 1.0, 0.0)
        self.passes = 0

    def at(self, logs: np.ndarray) -> Point:
        """Value and gradient, from one sweep over the rows."""
        top = logs.max()
        logs = logs - (top + np.log(np.exp(logs - top).sum()))
        weights = np.zeros(self.shape)
        weights[self.active] = np.exp(logs)
        self.passes += 1
        sums = self.data.statistics(weights, weights.sum(axis=0))
        own = weights[self.active]
        gradient = own * (sums.R[self.active] - sums.s[self.active[1]])
        value = sums.log_likelihood
        if self.pull:
            value += self.pull * logs.sum()
            gradient += self.pull * (1.0 - own.size * own)
        return Point(logs, float(value), gradient, weights, sums)

    def hessian(self, point: Point) -> np.ndarray:
        """Second derivatives, from one sweep over the rows."""
        columns = np.unique(self.active[1])
        self.passes += 1
        sums = self.data.curvature(point.weights, point.weights.sum(axis=0), columns)
        total = self.pull * len(point.logs)
        own = point.weights[self.active]
        of_data = point.gradient - self.pull * (1.0 - own.size * own)
        return hessian(point.weights, of_data, sums, self.active, columns, total)
