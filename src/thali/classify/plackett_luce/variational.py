"""Variational inference of Plackett–Luce regression, with its shape a fixed or learned."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali.inference.optimise.squarem import squarem

from .bound import variational_step
from .learned_shape import learned_shape

STARTS = (0.05, 0.01, 0.3)  # of a; weights that converge at a large a end where all classes are equally probable
_MAX_PASSES = 5000
_TOLERANCE, _CONVERGED = 1e-11, 1e-5
_NO_BETTER = 0.95  # share of n ln K, the lack of fit of equal probabilities, above which a fit says nothing


@dataclass(frozen=True)
class VariationalFit:
    """The best variational posterior found."""

    shapes: np.ndarray  # (K, p): q(λ_kj) = Gamma(a_kj, b_j)
    rates: np.ndarray  # (p,)
    a: float
    lower_bound: float  # F, without the prior on a
    log_likelihood: float  # at the posterior means
    bounds: list[float]  # the objective (F, plus ln p(a) if that prior is used) from the best start; never decreasing
    n_passes: int  # sweeps over the rows of all starts
    converged: bool
    collapsed: bool  # the estimate says little more than that all classes are equally probable


class _Ascent:
    """The fixed-point map of q(λ) and, if it is learned, a; a point is the logarithms of shapes, rates and a.

    After each step all weights are scaled to the prior's optimum: ⟨Λ⟩ = Kpa/b. The likelihood does not depend on that
    scale, so that plain updates find it slowly.
    """

    def __init__(self, data: Any, b: float, low: float, high: float, inverse_prior: bool) -> None:
        self.data, self.b, self.low, self.high, self.inverse_prior = data, b, low, high, inverse_prior
        self.shape = (data.n_classes, data.p)

    def unpacked(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        cells = self.shape[0] * self.shape[1]
        return np.exp(theta[:cells]).reshape(self.shape), np.exp(theta[cells:-1]), math.exp(theta[-1])

    def packed(self, shapes: np.ndarray, rates: np.ndarray, a: float) -> np.ndarray:
        rates = rates * (self.b * float((shapes / rates).sum()) / (a * shapes.size))
        return np.concatenate([np.log(shapes).ravel(), np.log(rates), [math.log(a)]])

    def start(self, a: float) -> np.ndarray:
        """The start with all cells equal."""
        cells = self.shape[0] * self.shape[1]
        return self.packed(np.full(self.shape, a + self.data.n / cells), np.full(self.shape[1], self.b), a)

    def step(self, theta: np.ndarray) -> tuple[np.ndarray, float]:
        shapes, rates, a = self.unpacked(theta)
        found = variational_step(self.data, shapes, rates, a, self.b)
        return self.packed(found.shapes, found.rates, a), found.bound

    def step_with_shape(self, theta: np.ndarray) -> tuple[np.ndarray, float]:
        theta[-1] = min(max(theta[-1], math.log(self.low)), math.log(self.high))
        shapes, rates, a = self.unpacked(theta)
        found = variational_step(self.data, shapes, rates, a, self.b)
        counts = np.maximum(found.shapes - a, 0.0)
        slope = -self.shape[0] * float(np.log(found.rates / self.b).sum())
        new = learned_shape(a, counts, slope, self.inverse_prior, self.low, self.high)
        return self.packed(new + counts, found.rates, new), found.bound - self.inverse_prior * math.log(a)


def fit_variational(
    data: Any,
    *,
    a: float | None = None,
    a_range: tuple[float, float] = (1e-3, 1e2),
    b: float = 1.0,
    prior_of_a: str = "inverse",
    starts: Sequence[float] = STARTS,
    tolerance: float = _TOLERANCE,
    most_passes: int = _MAX_PASSES,
) -> VariationalFit:
    """The variational posterior with the highest bound among several starts."""
    low, high = (float(a), float(a)) if a is not None else (float(a_range[0]), float(a_range[1]))
    ascent = _Ascent(data, b, low, high, a is None and prior_of_a == "inverse")
    best: Any = None
    passes = 0
    for start in starts if a is None else (float(a), *starts):
        run = squarem(ascent.step, ascent.start(start), most_passes, _CONVERGED)
        theta = run.theta
        if a is not None:
            theta[-1] = math.log(a)
        last = squarem(ascent.step_with_shape if a is None else ascent.step, theta, most_passes, tolerance)
        passes += run.n_passes + last.n_passes
        if best is None or last.values[-1] > best.values[-1]:
            best = last
    shapes, rates, now = ascent.unpacked(best.theta)
    means = shapes / rates
    bound = variational_step(data, shapes, rates, now, b).bound
    log_likelihood = data.statistics(means, means.sum(axis=0)).log_likelihood
    return VariationalFit(
        shapes=shapes,
        rates=rates,
        a=now,
        lower_bound=bound,
        log_likelihood=log_likelihood,
        bounds=best.values,
        n_passes=passes + 2,
        converged=best.converged,
        collapsed=log_likelihood < -_NO_BETTER * data.n * math.log(data.n_classes),
    )
