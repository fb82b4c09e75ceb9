"""Posterior mode of the weights of Plackett-Luce regression, for a fixed prior shape a."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._inference.numerics.shares import replace_zeros
from thali._inference.optimise import Slope, Target, maximise_bfgs, maximise_newton
from thali.errors import DataError

from .row_sums import Statistics, compute_hessian

# The published rule for a < 1, normalised to total weight one -------------------------------------


# largest change of a weight, relative to the total, after convergence
_TOLERANCE = 1e-12


def iterate_fixed_point(
    data: Any, weights: np.ndarray, a: float, max_passes: int, tolerance: float = _TOLERANCE
) -> Any:
    """Iterate weights <- max(weights R - (1 - a), 0) / s, normalised.

    The density of λ is unbounded where a weight is zero, so this does not ascend to a maximum: the
    limit depends on the start, and a weight that is zero stays zero. Without the division the total
    would shrink in every step, by 1 − m (1 − a) / n with m nonzero weights, whatever b is, and
    finally underflow.
    """
    converged, passes = False, 0
    while passes < max_passes and not converged:
        sums = data.compute_statistics(weights, weights.sum(axis=0))
        passes += 1
        counts = weights * sums.R - (1.0 - a)
        updated = np.where(counts > 0.0, counts, 0.0) / replace_zeros(sums.s)
        if not (updated.sum(axis=1) > 0.0).all():
            raise DataError(
                f"With a = {a:g} the update for sparse weights sets all weights of a class to zero"
                f" at once, because each weight explains fewer than 1 − a = {1.0 - a:g} rows."
                " Choose a closer to 1, or a = 1."
            )
        updated /= updated.sum()
        converged = bool(np.abs(updated - weights).max() <= tolerance)
        weights = updated
    return weights, data.compute_statistics(weights, weights.sum(axis=0)), passes + 1, converged


# The log posterior of Plackett–Luce regression as a function of the logarithms of nonzero weights


_MIN_GAIN = 1e-4  # gain of an accepted step, as a share of its promised gain


@dataclass(frozen=True)
class WeightPoint:
    """Objective and its derivatives at given weights."""

    logs: np.ndarray  # ln λ̄ of the active weights
    value: float  # log-likelihood plus log prior
    gradient: np.ndarray  # with respect to ln λ of the active weights
    weights: np.ndarray  # (K, p): λ̄, which sums to 1
    statistics: Statistics  # at λ̄


class LogWeights(Target[WeightPoint]):
    """Log posterior of the positive weights on the log scale, to maximise.

    F = loglik + max(a − 1, 0) Σ ln λ̄ does not change when all λ are multiplied by a number.
    Gradient: λ̄ (R − s) + (a − 1)(1 − K p λ̄). The number of sweeps over the rows is limited.
    """

    active: tuple[np.ndarray, ...]
    data: Any
    shape: tuple[Any, ...]
    pull: float
    n_passes: int
    max_passes: float

    def __init__(self, data: Any, a: float, active: np.ndarray, max_passes: float = np.inf) -> None:
        self.data, self.active, self.max_passes = data, np.nonzero(active), max_passes
        self.shape = active.shape
        self.pull = max(a - 1.0, 0.0)
        self.n_passes = 0

    def evaluate(self, logs: np.ndarray) -> WeightPoint:
        """Return objective and gradient at log weights, in one pass over the rows."""
        maximum = logs.max()
        logs = logs - (maximum + np.log(np.exp(logs - maximum).sum()))
        weights = np.zeros(self.shape)
        weights[self.active] = np.exp(logs)
        self.n_passes += 1
        sums = self.data.compute_statistics(weights, weights.sum(axis=0))
        active_weights = weights[self.active]
        gradient = active_weights * (sums.R[self.active] - sums.s[self.active[1]])
        value = sums.log_likelihood
        if self.pull:
            value += self.pull * logs.sum()
            gradient += self.pull * (1.0 - active_weights.size * active_weights)
        return WeightPoint(logs, float(value), gradient, weights, sums)

    def move_point(self, point: WeightPoint, change: np.ndarray) -> WeightPoint:
        """Return the point after a change of the log weights."""
        return self.evaluate(point.logs + change)

    def is_spent(self) -> bool:
        """Return whether the limit of passes over the rows is reached."""
        return self.n_passes >= self.max_passes

    def slope(self, point: WeightPoint) -> Slope:
        """Return gradient and curvature at a point, damped by EM's bound."""
        curvature = -self.compute_hessian(point)
        metric = np.maximum(point.weights * point.statistics.s, 0.0)[self.active]
        metric += self.pull * len(metric) * point.weights[self.active] + 1e-12 * metric.max()
        # the objective is flat along a common factor of all weights, the gradient zero
        curvature += metric.mean()
        return Slope(point.gradient, curvature, metric)

    def accepts_step(self, point: WeightPoint, ahead: WeightPoint, promised: float) -> bool:
        """Return whether a step gains enough, or the gain is below rounding."""
        gain = ahead.value - point.value
        is_rounding = abs(gain) <= 1e-14 * self.data.n + 1e-15 * abs(point.value)
        is_flatter = np.abs(ahead.gradient).max() < np.abs(point.gradient).max()
        return bool(gain > _MIN_GAIN * promised or (is_rounding and is_flatter))

    def compute_hessian(self, point: WeightPoint) -> np.ndarray:
        """Return the Hessian at a point, in one pass over the rows."""
        columns = np.unique(self.active[1])
        self.n_passes += 1
        sums = self.data.compute_curvature(point.weights, point.weights.sum(axis=0), columns)
        total = self.pull * len(point.logs)
        active_weights = point.weights[self.active]
        data_gradient = point.gradient - self.pull * (1.0 - active_weights.size * active_weights)
        return compute_hessian(point.weights, data_gradient, sums, self.active, columns, total)


# The maximum at a = 1, most of whose weights are exactly zero: maximise, drop, test the zeros,
# restore, repeat


MAX_RISE = 1e-6  # times n: largest slope of the likelihood at a zero weight
_ROUNDS = 60
_MIN_EXPLAINED = 1e-2  # number of rows; a weight that explains fewer may be zero


def find_sparse_maximum(
    data: Any, point: WeightPoint, max_passes: int, is_dead: Any
) -> tuple[WeightPoint, int, int, bool]:
    """Maximise the likelihood over non-negative weights, some of which become 0.

    Return the point, the numbers of passes and of steps, and whether the search converged.

    A logarithm never reaches −∞, and a maximisation in logarithms can stop where a zero weight
    would grow. So weights that explain almost nothing and lower the likelihood are set to zero if
    that costs nothing, and a zero weight whose derivative R - s is positive becomes positive again.
    """
    weights = np.where(is_dead, 0.0, point.weights)
    active = weights > 0.0
    passes = iterations = 0
    for _ in range(_ROUNDS):
        target = LogWeights(data, 1.0, active, max_passes - passes)
        for optimise in (_approach_maximum, _ascend_to_maximum):
            point, steps, converged = optimise(target, np.log(weights[active]))
            iterations += steps
            dropped_point, drop_passes = _drop_weights(data, point, active)
            passes += drop_passes
            weights = point.weights
            if dropped_point is not None:
                weights = dropped_point.weights
                break
            if not (weights[active] > 0.0).all():
                break
        passes += target.n_passes
        if dropped_point is not None:
            active = weights > 0.0
            continue
        steepness = point.statistics.R - point.statistics.s
        is_rising = (point.weights == 0.0) & (steepness > MAX_RISE * data.n) & ~is_dead
        if not is_rising.any():
            return point, passes, iterations, converged
        if passes >= max_passes:
            break
        weights, drop_passes = _restore_weights(data, point, is_rising)
        passes += drop_passes
        if weights is None:  # a maximum within float precision
            return point, passes, iterations, converged
        active = weights > 0.0
    return point, passes, iterations, False


def _drop_weights(
    data: Any, point: WeightPoint, active: np.ndarray
) -> tuple[WeightPoint | None, int]:
    """Return a point with nearly useless weights at 0, or None, and the number of tries."""
    is_falling = active & (point.statistics.R < point.statistics.s)
    explained = point.weights * point.statistics.R
    bound, n_passes = _MIN_EXPLAINED, 0
    has_vanished = active & (point.weights == 0.0)  # too small for a float
    while (
        is_dropped := has_vanished | is_falling & (explained < bound)
    ).any() and is_dropped.sum() < active.sum():
        is_kept = active & ~is_dropped
        target = LogWeights(data, 1.0, is_kept)
        new_point = target.evaluate(np.log(point.weights[is_kept]))
        n_passes += 1
        if new_point.value >= point.value - 1e-12 * abs(point.value):
            return new_point, n_passes
        bound /= 100.0
        if bound < 1e-12:
            break
    return None, n_passes


def _restore_weights(
    data: Any, point: WeightPoint, is_rising: np.ndarray
) -> tuple[np.ndarray | None, int]:
    """Return weights moved to rising zeros, or None, and the number of tries."""
    steepness = np.where(is_rising, point.statistics.R - point.statistics.s, 0.0)
    steepness /= steepness.sum()
    masses = 10.0 ** -np.arange(1, 11)
    for n_passes, mass in enumerate(masses, start=1):
        weights = (1.0 - mass) * point.weights + mass * steepness
        new_point = LogWeights(data, 1.0, weights > 0.0).evaluate(np.log(weights[weights > 0.0]))
        if new_point.value > point.value:
            return weights, n_passes
    return None, len(masses)


MAX_PASSES = 20_000
_MAX_SLOPE = 1e-8  # times n: largest entry of the gradient in ln λ at a maximum
# times n: promised gain of the last Newton step, which doubles the digits
_MIN_PROMISED_GAIN = 1e-13
# times n: sum of the gradient below which Newton's method replaces limited-memory BFGS
_NEWTON_SLOPE = 3e-3
_BFGS_SLOPE = 1e-7  # times n: sum of the gradient at the end, if Newton's method costs too much
# largest change of a ln λ in a BFGS step; half of it in a Newton step
_MAX_LOG_CHANGE = 10.0
_PACE = 4.0  # factor of damping: 10 requires 6 % more sweeps
# largest numbers of weights for Newton's method: with any number of rows, or at all
_MAX_FREE_WEIGHTS, _MAX_WEIGHTS = 200, 2000
_MAX_START_ROWS = 20_000  # with more rows, the fit to a sample is the start
_STAGES = (0.1, 0.01)  # a − 1 on the way to a = 1
# largest a − 1, times n / (K p), so that the prior does not outweigh the data
_MAX_PRIOR_SHARES = (0.05, 0.005)


@dataclass(frozen=True)
class MapFit:
    """Weights at a maximum of the posterior, with convergence."""

    weights: np.ndarray  # (K, p): λ̄, which sums to 1
    objective: float  # log-likelihood + (a − 1) Σ ln λ̄, without zeros for a ≤ 1
    log_likelihood: float  # full data set, natural logarithm
    support: np.ndarray  # (K, p): weights above zero
    n_passes: int  # sweeps over the rows; sweeps over a sample count in proportion
    n_iter: int  # steps of the optimisers
    # largest entry of the gradient in ln λ per row: at most 1e-8 at a maximum
    slope: float
    converged: bool


def maximise_class_weights(
    data: Any, a: float, *, start: Any = None, max_passes: int = MAX_PASSES
) -> MapFit:
    r"""Return the most probable weights for a fixed a, rows in memory or Dask.

    .. math::

        \sum_i \ln \frac{W_i \lambda_{Y_i}}{W_i \sum_k \lambda_k}
        + \sum_{kj} (a - 1) \ln \lambda_{kj}
              - b \lambda_{kj}

    The rate b has no influence on relative weights. For a > 1 all weights are positive. At a = 1
    this is the maximum of the likelihood, and most weights are exactly zero; it is approached by
    way of a = 1.1 and 1.01. For a < 1 the density has no maximum (it is unbounded where a weight is
    zero), and the published fixed-point rule is followed from the solution at a = 1: its answer
    depends on the start. `data` is a `CovariateRows` or `DaskRows`.
    """
    if start is None:
        weights = np.ones((data.n_classes, data.p))
    else:
        weights = np.asarray(start, np.float64)
    if a > 1.0:
        return _build_map_fit(*_maximise_interior(data, a, weights, max_passes), data)
    if a < 1.0 and start is not None:
        return _follow_fixed_point(data, a, weights / weights.sum(), 0, 0, max_passes)
    point, passes, iterations, converged = _maximise_likelihood(data, weights, max_passes)
    if a == 1.0:
        return _build_map_fit(point, passes, iterations, converged, data)
    return _follow_fixed_point(data, a, point.weights, passes, iterations, max_passes)


def _maximise_interior(
    data: Any, a: float, weights: np.ndarray, max_passes: int
) -> tuple[WeightPoint, int, int, bool]:
    """Maximise the posterior for a > 1, where no weight is zero."""
    # With many rows, start at the fit to a sample of them.
    passes = iterations = 0
    active = np.ones(weights.shape, bool)
    logs = np.log(weights[active])
    if data.n_rows > _MAX_START_ROWS and _is_newton_affordable(weights.size, data.n_rows, data.p):
        sample = data.sample_rows(_MAX_START_ROWS)
        point, sweeps, iterations, _ = _maximise_interior(sample, a, weights, max_passes)
        passes = -(-sweeps * _MAX_START_ROWS // data.n_rows)
        target = LogWeights(data, a, active, max_passes - passes)
        point, steps, converged = _maximise_by_newton(target, target.evaluate(point.logs))
    else:
        target = LogWeights(data, a, active, max_passes)
        point, steps, converged = _ascend_to_maximum(target, logs)
    return point, passes + target.n_passes, iterations + steps, converged


def _maximise_likelihood(
    data: Any, weights: np.ndarray, max_passes: int
) -> tuple[WeightPoint, int, int, bool]:
    """Maximise the likelihood (a = 1) in stages, from larger a downwards."""
    passes, iterations, point = 0, 0, None
    for excess, share in zip(_STAGES, _MAX_PRIOR_SHARES, strict=True):
        a = 1.0 + min(excess, share * data.n / weights.size)
        weights = np.maximum(weights, 1e-12 * weights.max())
        if data.n_rows > _MAX_START_ROWS:
            point, sweeps, steps, _ = _maximise_interior(data, a, weights, max_passes - passes)
        else:
            target = LogWeights(data, a, np.ones(weights.shape, bool), max_passes - passes)
            point, steps, _ = _approach_maximum(target, np.log(weights).ravel())
            sweeps = target.n_passes
        weights = point.weights
        passes, iterations = passes + sweeps, iterations + steps
    assert point is not None
    is_dead = np.broadcast_to(point.statistics.s == 0.0, weights.shape)
    point, sweeps, steps, converged = find_sparse_maximum(data, point, max_passes - passes, is_dead)
    return point, passes + sweeps, iterations + steps, converged


def _approach_maximum(
    target: LogWeights, logs: np.ndarray, max_slope: float = _NEWTON_SLOPE
) -> tuple[WeightPoint, int, bool]:
    """Ascend near to a maximum by L-BFGS; return point, steps and False (not converged)."""
    point, steps, _ = maximise_bfgs(
        target, target.evaluate(logs), max_slope * target.data.n, _MAX_LOG_CHANGE
    )
    return point, steps, False


def _ascend_to_maximum(target: LogWeights, logs: np.ndarray) -> tuple[WeightPoint, int, bool]:
    """Ascend to a maximum by L-BFGS, then by Newton's method if affordable."""
    data = target.data
    if not _is_newton_affordable(len(logs), data.n_rows, data.p):
        point, steps, _ = _approach_maximum(target, logs, _BFGS_SLOPE)
        return point, steps, _compute_slope(point, data) <= _MAX_SLOPE
    point, steps, _ = _approach_maximum(target, logs)
    point, newton_steps, converged = _maximise_by_newton(target, point)
    return point, steps + newton_steps, converged


def _maximise_by_newton(target: LogWeights, point: WeightPoint) -> tuple[WeightPoint, int, bool]:
    """Ascend to a maximum by Newton's method from a nearby point."""
    gain = _MIN_PROMISED_GAIN * target.data.n
    point, steps, _ = maximise_newton(
        target,
        point,
        gain,
        take_last=True,
        damping=1e-3,
        pace=_PACE,
        max_change=_MAX_LOG_CHANGE / 2.0,
    )
    return point, steps, _compute_slope(point, target.data) <= _MAX_SLOPE


def _is_newton_affordable(n_weights: int, n_rows: int, p: int) -> bool:
    """Return whether a few Newton steps cost less than fifty sweeps saved."""
    return n_weights <= _MAX_FREE_WEIGHTS or (
        n_weights <= _MAX_WEIGHTS and n_weights**3 <= 75 * n_rows * p
    )


def _compute_slope(point: WeightPoint, data: Any) -> float:
    """Return the largest absolute gradient, divided by the number of rows."""
    return float(np.abs(point.gradient).max() / data.n)


def _build_map_fit(
    point: WeightPoint, passes: int, iterations: int, converged: bool, data: Any
) -> MapFit:
    """Return the result of a fit with a >= 1."""
    return MapFit(
        point.weights,
        point.value,
        point.statistics.log_likelihood,
        point.weights > 0.0,
        passes,
        iterations,
        _compute_slope(point, data),
        converged,
    )


def _follow_fixed_point(
    data: Any, a: float, weights: np.ndarray, passes: int, iterations: int, max_passes: int
) -> MapFit:
    """Return the result of a fit with a < 1, by fixed-point iterations."""
    # the last sweep, for the sums, is not counted as a step
    remaining_passes = max(max_passes - passes - 1, 0)
    weights, sums, sweeps, converged = iterate_fixed_point(data, weights, a, remaining_passes)
    support = weights > 0.0
    objective = sums.log_likelihood + (a - 1.0) * float(np.log(weights[support]).sum())
    shrink = 1.0 - support.sum() * (1.0 - a) / data.n
    slope = weights * (sums.R - shrink * sums.s) - (1.0 - a)
    return MapFit(
        weights,
        objective,
        sums.log_likelihood,
        support,
        passes + sweeps,
        iterations + sweeps,
        float(np.abs(slope[support]).max() / data.n),
        converged,
    )
