"""The log posterior of Plackett–Luce regression as a function of the logarithms of the weights that are not zero."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thali.inference.optimise.newton import Slope, Target

from .curvature import hessian
from .row_sums import Statistics

_LEAST = 1e-4  # gain for which a step is taken, as a share of what it promised


@dataclass(frozen=True)
class Point:
    """The objective at some weights."""

    logs: np.ndarray  # ln λ̄ of the active weights
    value: float  # log-likelihood plus log prior
    gradient: np.ndarray  # with respect to ln λ of the active weights
    weights: np.ndarray  # (K, p): λ̄, which sums to 1
    statistics: Statistics  # at λ̄


class LogWeights(Target[Point]):
    """F(ln λ) = loglik + max(a − 1, 0) Σ ln λ̄, where weights outside `active` are zero, within so many sweeps.

    F does not change when all λ are multiplied by a number. Gradient: λ̄ (R − s) + (a − 1)(1 − K p λ̄).
    """

    active: tuple[np.ndarray, ...]
    data: Any
    shape: tuple[Any, ...]
    pull: float
    passes: int
    most_passes: float

    def __init__(self, data: Any, a: float, active: np.ndarray, most_passes: float = np.inf) -> None:
        self.data, self.active, self.most_passes = data, np.nonzero(active), most_passes
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

    def moved(self, here: Point, change: np.ndarray) -> Point:
        return self.at(here.logs + change)

    def is_spent(self) -> bool:
        return self.passes >= self.most_passes

    def slope(self, here: Point) -> Slope:
        """The derivatives; damping is by the curvature of the bound that EM maximises."""
        curve = -self.hessian(here)
        metric = np.maximum(here.weights * here.statistics.s, 0.0)[self.active]
        metric += self.pull * len(metric) * here.weights[self.active] + 1e-12 * metric.max()
        curve += metric.mean()  # the objective is flat along a common factor of all weights, the gradient zero
        return Slope(here.gradient, curve, metric)

    def rises(self, here: Point, ahead: Point, promised: float) -> bool:
        gain = ahead.value - here.value
        is_rounding = abs(gain) <= 1e-14 * self.data.n + 1e-15 * abs(here.value)
        smaller = np.abs(ahead.gradient).max() < np.abs(here.gradient).max()
        return bool(gain > _LEAST * promised or (is_rounding and smaller))

    def hessian(self, point: Point) -> np.ndarray:
        """Second derivatives, from one sweep over the rows."""
        columns = np.unique(self.active[1])
        self.passes += 1
        sums = self.data.curvature(point.weights, point.weights.sum(axis=0), columns)
        total = self.pull * len(point.logs)
        own = point.weights[self.active]
        of_data = point.gradient - self.pull * (1.0 - own.size * own)
        return hessian(point.weights, of_data, sums, self.active, columns, total)
