"""The maximum at a = 1, most of whose weights are exactly zero: climb, drop, test the zeros, take back, repeat."""

import numpy as np

from thali.regression.log_weights import LogWeights, Point

KKT = 1e-6  # times n: how steeply the likelihood may rise at a weight that is zero
_ROUNDS = 60
_ATTRIBUTED = 1e-2  # rows explained by a weight, below which it is a candidate for zero


def sparse_maximum(data, point: Point, near, climb, max_passes: int, dead) -> tuple[Point, np.ndarray, int, int, bool]:
    """Maximise the likelihood over non-negative weights, from a point where all may be positive.

    A logarithm never reaches −∞, and a climb in logarithms can stop where a zero weight would grow. So weights that
    explain nearly nothing and pull down are set to zero when that costs nothing, and a weight at zero whose
    derivative R - s is positive is given mass again.

    Returns
    -------
    point, active, passes, iterations, converged
    """
    weights = np.where(dead, 0.0, point.weights)
    active = weights > 0.0
    passes = iterations = 0
    for _ in range(_ROUNDS):
        target = LogWeights(data, 1.0, active)
        for way in (near, climb):
            point, taken, settled = way(target, np.log(weights[active]), max_passes - passes - target.passes)
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
            return point, active, passes, iterations, settled
        if passes >= max_passes:
            break
        weights, spent = _take_back(data, point, rising)
        passes += spent
        if weights is None:  # floats cannot tell it from a maximum
            return point, active, passes, iterations, settled
        active = weights > 0.0
    return point, active, passes, iterations, False


def _rising(point: Point, n: float, dead) -> np.ndarray:
    """Zero weights at which the likelihood rises."""
    steepness = point.statistics.R - point.statistics.s
    return (point.weights == 0.0) & (steepness > KKT * n) & ~dead


def _drop(data, point: Point, active: np.ndarray) -> tuple[Point | None, int]:
    """The point without weights that are better off at zero, if there are any; and the sweeps spent."""
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


def _take_back(data, point: Point, rising: np.ndarray) -> tuple[np.ndarray | None, int]:
    """Weights with some mass on those that would rise, so much that the likelihood does; and the sweeps spent."""
    steepness = np.where(rising, point.statistics.R - point.statistics.s, 0.0)
    steepness /= steepness.sum()
    for spent, mass in enumerate(10.0 ** -np.arange(1, 11), start=1):
        weights = (1.0 - mass) * point.weights + mass * steepness
        trial = LogWeights(data, 1.0, weights > 0.0).at(np.log(weights[weights > 0.0]))
        if trial.value > point.value:
            return weights, spent
    return None, spent
