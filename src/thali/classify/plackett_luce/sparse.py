"""The maximum at a = 1, most of whose weights are exactly zero: maximise, drop, test the zeros, restore, repeat."""

from typing import Any

import numpy as np

from .log_weights import LogWeights, Point

KKT = 1e-6  # times n: how steeply the likelihood may rise at a weight that is zero
_ROUNDS = 60
_ATTRIBUTED = 1e-2  # rows explained by a weight, below which it is a candidate for zero


def sparse_maximum(
    data: Any, point: Point, near: Any, ascend: Any, max_passes: int, dead: Any
) -> tuple[Point, np.ndarray, int, int, bool]:
    """Maximise the likelihood over non-negative weights, from a point where all may be positive.

    A logarithm never reaches −∞, and a maximisation in logarithms can stop where a zero weight would grow. So weights
    that explain almost nothing and lower the likelihood are set to zero if that costs nothing, and a zero weight whose
    derivative R - s is positive becomes positive again.
    """
    weights = np.where(dead, 0.0, point.weights)
    active = weights > 0.0
    passes = iterations = 0
    for _ in range(_ROUNDS):
        target = LogWeights(data, 1.0, active, max_passes - passes)
        for way in (near, ascend):
            point, taken, converged = way(target, np.log(weights[active]))
            iterations += taken
            dropped, spent = _drop(data, point, active)
            passes += spent
            weights = point.weights if dropped is None else dropped.weights
            if dropped is not None or not (weights[active] > 0.0).all():
                break
        passes += target.passes
        if dropped is not None:
            active = weights > 0.0
            continue
        rising = _rising(point, data.n, dead)
        if not rising.any():
            return point, active, passes, iterations, converged
        if passes >= max_passes:
            break
        weights, spent = _take_back(data, point, rising)
        passes += spent
        if weights is None:  # a maximum within float precision
            return point, active, passes, iterations, converged
        active = weights > 0.0
    return point, active, passes, iterations, False


def _rising(point: Point, n: float, dead: Any) -> np.ndarray:
    """Zero weights at which the likelihood rises."""
    steepness = point.statistics.R - point.statistics.s
    return (point.weights == 0.0) & (steepness > KKT * n) & ~dead


def _drop(data: Any, point: Point, active: np.ndarray) -> tuple[Point | None, int]:
    """The point after weights that are better at zero were dropped, if any; and the sweeps used."""
    pulled = active & (point.statistics.R < point.statistics.s)
    explained = point.weights * point.statistics.R
    bound, spent = _ATTRIBUTED, 0
    gone = active & (point.weights == 0.0)  # too small for a float
    while (idle := gone | pulled & (explained < bound)).any() and idle.sum() < active.sum():
        kept = active & ~idle
        target = LogWeights(data, 1.0, kept)
        trial = target.at(np.log(point.weights[kept]))
        spent += 1
        if trial.value >= point.value - 1e-12 * abs(point.value):
            return trial, spent
        bound /= 100.0
        if bound < 1e-12:
            break
    return None, spent


def _take_back(data: Any, point: Point, rising: np.ndarray) -> tuple[np.ndarray | None, int]:
    """Weights with enough mass on those that would grow that the likelihood increases; and the sweeps used."""
    steepness = np.where(rising, point.statistics.R - point.statistics.s, 0.0)
    steepness /= steepness.sum()
    for spent, mass in enumerate(10.0 ** -np.arange(1, 11), start=1):
        weights = (1.0 - mass) * point.weights + mass * steepness
        trial = LogWeights(data, 1.0, weights > 0.0).at(np.log(weights[weights > 0.0]))
        if trial.value > point.value:
            return weights, spent
    return None, spent
