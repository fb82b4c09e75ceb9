r"""The maximum of the posterior of the sparse multinomial logit for a fixed eta, with coefficients that are exactly 0.

.. math:: F(\beta, b) = \sum_i c_i \ln P(y_i \mid x_i) - \sqrt\eta \sum_{kj} |\beta_{kj}| - \sum_k b_k^2 / 200

F is concave. Proximal Newton steps: the likelihood's quadratic approximation at the current coefficients, with the
penalty as it is, is maximised by coordinate descent over the coefficients that are not 0 or whose slope exceeds the
penalty; a line search makes every step a rise.

Reference: Lee, Sun & Saunders (2014), Proximal Newton-type methods for minimizing composite functions.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali.compile.jit import compiled

from .sweep import INTERCEPT_VARIANCE

TOLERANCE = 1e-9  # of a slope, a unit of weight
MAX_STEPS = 200
_SWEEPS = 10_000
_INNER = 1e-2  # slope left by coordinate descent, as a share of the largest one


class Target(NamedTuple):
    """The data and the prior; the reference class is not among the q others."""

    columns: Any  # DenseColumns or SparseColumns
    is_class: np.ndarray  # (n, q) 0 or 1
    counts: np.ndarray  # (n,)
    penalised: int  # columns under the penalty: all, or all but the intercept


class Point(NamedTuple):
    """Coefficients and what follows from them."""

    coef: np.ndarray  # (q, m)
    linear: np.ndarray  # (n, q)
    share: np.ndarray  # (n, q) probabilities
    log_likelihood: float


class Maximum(NamedTuple):
    """The coefficients of the highest posterior density."""

    coef: np.ndarray  # (q, m) of standardised covariates
    log_likelihood: float
    objective: float
    n_iter: int
    slope: float  # the largest that is left, a unit of weight
    converged: bool


def maximise(target: Target, eta: float, start: np.ndarray | None = None) -> Maximum:
    """Maximise F from some coefficients, or from 0."""
    root, size = math.sqrt(eta), float(target.counts.sum())
    penalty = np.where(np.arange(target.columns.m) < target.penalised, root, 0.0)
    coef = np.zeros((target.is_class.shape[1], target.columns.m)) if start is None else start
    point, steps = point_at(target, coef, target.columns.times(coef)), 0
    while True:
        gradient = gradient_at(target, point)
        slope = _slopes(gradient, point.coef, penalty)
        largest = float(slope.max())
        if largest <= TOLERANCE * size or steps == MAX_STEPS:
            break
        better = _step(target, point, gradient, slope, penalty)
        if better is None:  # the gain is below the precision of floats
            break
        point, steps = better, steps + 1
    objective = point.log_likelihood - _prior(point.coef, penalty)
    return Maximum(
        point.coef, point.log_likelihood, objective, steps, largest / size, largest <= 1e3 * TOLERANCE * size
    )


def point_at(target: Target, coef: np.ndarray, linear: np.ndarray) -> Point:
    """Probabilities and log-likelihood at linear predictors of the classes other than the reference."""
    top = np.maximum(linear.max(axis=1), 0.0)
    share = np.exp(linear - top[:, None])
    total = share.sum(axis=1) + np.exp(-top)
    share /= total[:, None]
    own = (linear * target.is_class).sum(axis=1)
    return Point(coef, linear, share, float(target.counts @ (own - top - np.log(total))))


def gradient_at(target: Target, point: Point) -> np.ndarray:
    """The gradient (q, m) of minus the log-likelihood and minus the intercepts' prior."""
    gradient = target.columns.pulled(target.counts[:, None] * (point.share - target.is_class))
    gradient[:, target.penalised :] += point.coef[:, target.penalised :] / INTERCEPT_VARIANCE
    return gradient


def _prior(coef: np.ndarray, penalty: np.ndarray) -> float:
    free = coef[:, penalty == 0.0]
    return float((np.abs(coef) @ penalty).sum() + 0.5 * (free**2).sum() / INTERCEPT_VARIANCE)


def _slopes(gradient: np.ndarray, coef: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """How far each coefficient (q, m) is from optimal: the smallest subgradient of -F."""
    at_zero = np.maximum(np.abs(gradient) - penalty, 0.0)
    return np.where(coef == 0.0, at_zero, np.abs(gradient + penalty * np.sign(coef)))


def _step(target: Target, point: Point, gradient: np.ndarray, slope: np.ndarray, penalty: np.ndarray) -> Point | None:
    """A proximal Newton step that raises F; None if there is none."""
    of_class, column = np.nonzero((point.coef != 0.0) | (slope > 0.0) | (penalty == 0.0))
    curve = _hessian(target, point, of_class, column)
    own, slopes, prices = point.coef[of_class, column], gradient[of_class, column], penalty[column]
    step, change = np.zeros(len(own)), np.zeros(len(own))
    descend(curve, slopes, own, prices, step, change, _SWEEPS, _INNER * float(slope.max()))
    direction = np.zeros_like(point.coef)
    direction[of_class, column] = step
    ahead = target.columns.times(direction)
    before = _prior(point.coef, penalty) - point.log_likelihood
    foreseen = slopes @ step + prices @ (np.abs(own + step) - np.abs(own))  # below 0
    rounding, length = 1e-15 * (abs(before) + target.columns.n), 1.0
    while -foreseen * length > rounding:
        trial = point_at(target, point.coef + length * direction, point.linear + length * ahead)
        gain = before - _prior(trial.coef, penalty) + trial.log_likelihood
        if gain >= -1e-4 * length * foreseen - rounding:
            return trial
        length *= 0.5
    return None


def _hessian(target: Target, point: Point, of_class: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Second derivatives of minus log-likelihood and intercepts' prior: Z_a^T diag(c p_k (1{k=l} - p_l)) Z_b."""
    places = [np.flatnonzero(of_class == k) for k in range(point.coef.shape[0])]
    curve = np.empty((len(column), len(column)))
    for k, rows in enumerate(places):
        for other in range(k + 1):
            within = places[other]
            weights = target.counts * point.share[:, k] * ((k == other) - point.share[:, other])
            block = target.columns.gram(weights, column[rows], column[within])
            curve[np.ix_(rows, within)] = block
            curve[np.ix_(within, rows)] = block.T
    free = np.flatnonzero(column >= target.penalised)
    curve[free, free] += 1.0 / INTERCEPT_VARIANCE
    return curve


@compiled
def descend(
    curve: Any, slopes: Any, coef: Any, penalty: Any, step: Any, change: Any, sweeps: int, tolerance: Any
) -> None:
    """Minimise slopes·step + step·curve step / 2 + penalty·|coef + step| by coordinates; change = curve step."""
    for _ in range(sweeps):
        worst = 0.0
        for j in range(step.size):
            own = curve[j, j]
            if own <= 0.0:
                continue
            now = coef[j] + step[j]
            new = now - (slopes[j] + change[j]) / own
            limit = penalty[j] / own
            if new > limit:
                new -= limit
            elif new < -limit:
                new += limit
            else:
                new = 0.0
            moved = new - now
            if moved != 0.0:
                step[j] = new - coef[j]
                for other in range(step.size):
                    change[other] += curve[j, other] * moved
                worst = max(worst, abs(moved) * own)
        if worst <= tolerance:
            return


def largest_eta(target: Target) -> float:
    """The smallest eta for which all coefficients are 0, and a millionth more against rounding.

    It is the square of the largest slope where there are only intercepts.
    """
    alone = maximise(target, 1e300).coef
    gradient = gradient_at(target, point_at(target, alone, target.columns.times(alone)))
    return float(np.abs(gradient[:, : target.penalised]).max() ** 2) * (1.0 + 1e-6)
