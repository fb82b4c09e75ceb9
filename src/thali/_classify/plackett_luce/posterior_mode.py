"""Posterior mode of the weights of Plackett-Luce regression, for a fixed prior shape a."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._inference.maximisation import Slope, Target, maximise_bfgs, maximise_newton
from thali._inference.numerics.weight_shares import replace_zeros
from thali.errors import DataError

from .row_sums import CovariateRows, Statistics, compute_hessian

# The published rule for a < 1, normalised to total weight one -------------------------------------


# largest change of a weight, relative to the total, after convergence
_TOLERANCE = 1e-12


def iterate_fixed_point(
    data: CovariateRows,
    weights: np.ndarray,
    a: float,
    max_passes: int,
    tolerance: float = _TOLERANCE,
) -> Any:
    """Iterate weights <- max(weights R - (1 - a), 0) / s, normalised.

    The density of λ is unbounded where a weight is zero, so this does not ascend to a maximum: the
    limit depends on the start, and a weight that is zero stays zero. Without the division the total
    would shrink in every step, by 1 − m (1 − a) / n with m nonzero weights, whatever b is, and
    finally underflow.
    """
    has_converged = False
    n_passes = 0
    while n_passes < max_passes and not has_converged:
        sums = data.compute_statistics(weights, weights.sum(axis=0))
        n_passes += 1
        numerators = weights * sums.R - (1.0 - a)
        new_weights = np.where(numerators > 0.0, numerators, 0.0) / replace_zeros(sums.s)
        if not (new_weights.sum(axis=1) > 0.0).all():
            raise DataError(
                f"With a = {a:g} the update for sparse weights sets all weights of a class to zero"
                f" at once, because fewer than 1 − a = {1.0 - a:g} rows support each weight."
                " Choose a closer to 1, or a = 1."
            )
        new_weights /= new_weights.sum()
        has_converged = bool(np.abs(new_weights - weights).max() <= tolerance)
        weights = new_weights
    return (
        weights,
        data.compute_statistics(weights, weights.sum(axis=0)),
        n_passes + 1,
        has_converged,
    )


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

    def __init__(
        self,
        data: CovariateRows,
        a: float,
        is_active: np.ndarray,
        max_passes: float = np.inf,
    ) -> None:
        self.data = data
        self.active = np.nonzero(is_active)
        self.max_passes = max_passes
        self.shape = is_active.shape
        self.pull = max(a - 1.0, 0.0)
        self.n_passes = 0

    def evaluate(self, log_weights: np.ndarray) -> WeightPoint:
        """Return objective and gradient at log weights, in one pass over the rows."""
        maximum = log_weights.max()
        log_weights = log_weights - (maximum + np.log(np.exp(log_weights - maximum).sum()))
        weights = np.zeros(self.shape)
        weights[self.active] = np.exp(log_weights)
        self.n_passes += 1
        sums = self.data.compute_statistics(weights, weights.sum(axis=0))
        active_weights = weights[self.active]
        gradient = active_weights * (sums.R[self.active] - sums.s[self.active[1]])
        value = sums.log_likelihood
        if self.pull:
            value += self.pull * log_weights.sum()
            gradient += self.pull * (1.0 - active_weights.size * active_weights)
        return WeightPoint(log_weights, float(value), gradient, weights, sums)

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
        total_pull = self.pull * len(point.logs)
        active_weights = point.weights[self.active]
        data_gradient = point.gradient - self.pull * (1.0 - active_weights.size * active_weights)
        return compute_hessian(point.weights, data_gradient, sums, self.active, columns, total_pull)


# The maximum at a = 1, most of whose weights are exactly zero: maximise, drop, test the zeros,
# restore, repeat


MAX_RISE = 1e-6  # times n: largest slope of the likelihood at a zero weight
_ROUNDS = 60
_MIN_EXPLAINED = 1e-2  # number of rows; a weight that explains fewer may be zero


def find_sparse_maximum(
    data: CovariateRows, point: WeightPoint, max_passes: int, is_dead: np.ndarray
) -> tuple[WeightPoint, int, int, bool]:
    """Maximise the likelihood over non-negative weights, some of which become 0.

    Return the point, the numbers of passes and of steps, and whether the search converged.

    A logarithm never reaches −∞, and a maximisation in logarithms can stop where a zero weight
    would grow. So weights that explain almost nothing and lower the likelihood are set to zero if
    that costs nothing, and a zero weight whose derivative R - s is positive becomes positive again.
    """
    weights = np.where(is_dead, 0.0, point.weights)
    is_active = weights > 0.0
    n_passes = n_iterations = 0
    for _ in range(_ROUNDS):
        target = LogWeights(data, 1.0, is_active, max_passes - n_passes)
        for maximise in (_approach_maximum, _ascend_to_maximum):
            point, n_steps, has_converged = maximise(target, np.log(weights[is_active]))
            n_iterations += n_steps
            dropped_point, n_drop_passes = _drop_weights(data, point, is_active)
            n_passes += n_drop_passes
            weights = point.weights
            if dropped_point is not None:
                weights = dropped_point.weights
                break
            if not (weights[is_active] > 0.0).all():
                break
        n_passes += target.n_passes
        if dropped_point is not None:
            is_active = weights > 0.0
            continue
        slopes = point.statistics.R - point.statistics.s
        is_rising = (point.weights == 0.0) & (slopes > MAX_RISE * data.n) & ~is_dead
        if not is_rising.any():
            return point, n_passes, n_iterations, has_converged
        if n_passes >= max_passes:
            break
        weights, n_drop_passes = _restore_weights(data, point, is_rising)
        n_passes += n_drop_passes
        if weights is None:  # a maximum within float precision
            return point, n_passes, n_iterations, has_converged
        is_active = weights > 0.0
    return point, n_passes, n_iterations, False


def _drop_weights(
    data: CovariateRows, point: WeightPoint, is_active: np.ndarray
) -> tuple[WeightPoint | None, int]:
    """Return a point with nearly useless weights at 0 (None if worse), and the number of tries."""
    is_falling = is_active & (point.statistics.R < point.statistics.s)
    explained_rows = point.weights * point.statistics.R
    max_explained = _MIN_EXPLAINED
    n_passes = 0
    has_vanished = is_active & (point.weights == 0.0)  # too small for a float
    while (
        is_dropped := has_vanished | is_falling & (explained_rows < max_explained)
    ).any() and is_dropped.sum() < is_active.sum():
        is_kept = is_active & ~is_dropped
        target = LogWeights(data, 1.0, is_kept)
        new_point = target.evaluate(np.log(point.weights[is_kept]))
        n_passes += 1
        if new_point.value >= point.value - 1e-12 * abs(point.value):
            return new_point, n_passes
        max_explained /= 100.0
        if max_explained < 1e-12:
            break
    return None, n_passes


def _restore_weights(
    data: CovariateRows, point: WeightPoint, is_rising: np.ndarray
) -> tuple[np.ndarray | None, int]:
    """Return weights with rising zeros made positive (None if not better), and number of tries."""
    slopes = np.where(is_rising, point.statistics.R - point.statistics.s, 0.0)
    slopes /= slopes.sum()
    restored_shares = 10.0 ** -np.arange(1, 11)
    for n_passes, restored_share in enumerate(restored_shares, start=1):
        weights = (1.0 - restored_share) * point.weights + restored_share * slopes
        new_point = LogWeights(data, 1.0, weights > 0.0).evaluate(np.log(weights[weights > 0.0]))
        if new_point.value > point.value:
            return weights, n_passes
    return None, len(restored_shares)


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
_MAX_FREE_WEIGHTS = 200
_MAX_WEIGHTS = 2000
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
    data: CovariateRows,
    a: float,
    *,
    start: np.ndarray | None = None,
    max_passes: int = MAX_PASSES,
) -> MapFit:
    r"""Return the most probable weights for a fixed a.

    .. math::

        \sum_i \ln \frac{W_i \lambda_{Y_i}}{W_i \sum_k \lambda_k}
        + \sum_{kj} (a - 1) \ln \lambda_{kj}
              - b \lambda_{kj}

    The rate b has no influence on relative weights. For a > 1 all weights are positive. At a = 1
    this is the maximum of the likelihood, and most weights are exactly zero; it is approached by
    way of a = 1.1 and 1.01. For a < 1 the density has no maximum (it is unbounded where a weight is
    zero), and the published fixed-point rule is followed from the solution at a = 1: its answer
    depends on the start.
    """
    if start is None:
        weights = np.ones((data.n_classes, data.p))
    else:
        weights = np.asarray(start, np.float64)
    if a > 1.0:
        return _build_map_fit(*_maximise_interior(data, a, weights, max_passes), data)
    if a < 1.0 and start is not None:
        return _follow_fixed_point(data, a, weights / weights.sum(), 0, 0, max_passes)
    point, n_passes, n_iterations, has_converged = _maximise_likelihood(data, weights, max_passes)
    if a == 1.0:
        return _build_map_fit(point, n_passes, n_iterations, has_converged, data)
    return _follow_fixed_point(data, a, point.weights, n_passes, n_iterations, max_passes)


def _maximise_interior(
    data: CovariateRows, a: float, weights: np.ndarray, max_passes: int
) -> tuple[WeightPoint, int, int, bool]:
    """Maximise the posterior for a > 1, where no weight is zero."""
    # With many rows, start at the fit to a sample of them.
    n_passes = n_iterations = 0
    is_active = np.ones(weights.shape, bool)
    log_weights = np.log(weights[is_active])
    if data.n_rows > _MAX_START_ROWS and _is_newton_affordable(weights.size, data.n_rows, data.p):
        sampled_rows = data.sample_rows(_MAX_START_ROWS)
        point, n_sweeps, n_iterations, _ = _maximise_interior(sampled_rows, a, weights, max_passes)
        n_passes = -(-n_sweeps * _MAX_START_ROWS // data.n_rows)
        target = LogWeights(data, a, is_active, max_passes - n_passes)
        point, n_steps, has_converged = _maximise_by_newton(target, target.evaluate(point.logs))
    else:
        target = LogWeights(data, a, is_active, max_passes)
        point, n_steps, has_converged = _ascend_to_maximum(target, log_weights)
    return point, n_passes + target.n_passes, n_iterations + n_steps, has_converged


def _maximise_likelihood(
    data: CovariateRows, weights: np.ndarray, max_passes: int
) -> tuple[WeightPoint, int, int, bool]:
    """Maximise the likelihood (a = 1) in stages, from larger a downwards."""
    n_passes = 0
    n_iterations = 0
    point = None
    for a_excess, max_prior_share in zip(_STAGES, _MAX_PRIOR_SHARES, strict=True):
        a = 1.0 + min(a_excess, max_prior_share * data.n / weights.size)
        weights = np.maximum(weights, 1e-12 * weights.max())
        if data.n_rows > _MAX_START_ROWS:
            point, n_sweeps, n_steps, _ = _maximise_interior(
                data, a, weights, max_passes - n_passes
            )
        else:
            target = LogWeights(data, a, np.ones(weights.shape, bool), max_passes - n_passes)
            point, n_steps, _ = _approach_maximum(target, np.log(weights).ravel())
            n_sweeps = target.n_passes
        weights = point.weights
        n_passes = n_passes + n_sweeps
        n_iterations = n_iterations + n_steps
    assert point is not None
    is_dead = np.broadcast_to(point.statistics.s == 0.0, weights.shape)
    point, n_sweeps, n_steps, has_converged = find_sparse_maximum(
        data, point, max_passes - n_passes, is_dead
    )
    return point, n_passes + n_sweeps, n_iterations + n_steps, has_converged


def _approach_maximum(
    target: LogWeights, log_weights: np.ndarray, max_slope: float = _NEWTON_SLOPE
) -> tuple[WeightPoint, int, bool]:
    """Ascend near to a maximum by L-BFGS; return point, steps and False (not converged)."""
    point, n_steps, _ = maximise_bfgs(
        target, target.evaluate(log_weights), max_slope * target.data.n, _MAX_LOG_CHANGE
    )
    return point, n_steps, False


def _ascend_to_maximum(
    target: LogWeights, log_weights: np.ndarray
) -> tuple[WeightPoint, int, bool]:
    """Ascend to a maximum by L-BFGS, then by Newton's method if affordable."""
    data = target.data
    if not _is_newton_affordable(len(log_weights), data.n_rows, data.p):
        point, n_steps, _ = _approach_maximum(target, log_weights, _BFGS_SLOPE)
        return point, n_steps, _compute_slope(point, data) <= _MAX_SLOPE
    point, n_steps, _ = _approach_maximum(target, log_weights)
    point, n_newton_steps, has_converged = _maximise_by_newton(target, point)
    return point, n_steps + n_newton_steps, has_converged


def _maximise_by_newton(target: LogWeights, point: WeightPoint) -> tuple[WeightPoint, int, bool]:
    """Ascend to a maximum by Newton's method from a nearby point."""
    min_gain = _MIN_PROMISED_GAIN * target.data.n
    point, n_steps, _ = maximise_newton(
        target,
        point,
        min_gain,
        take_last=True,
        damping=1e-3,
        damping_factor=_PACE,
        max_change=_MAX_LOG_CHANGE / 2.0,
    )
    return point, n_steps, _compute_slope(point, target.data) <= _MAX_SLOPE


def _is_newton_affordable(n_weights: int, n_rows: int, p: int) -> bool:
    """Return whether a few Newton steps cost less than fifty sweeps saved."""
    return n_weights <= _MAX_FREE_WEIGHTS or (
        n_weights <= _MAX_WEIGHTS and n_weights**3 <= 75 * n_rows * p
    )


def _compute_slope(point: WeightPoint, data: CovariateRows) -> float:
    """Return the largest absolute gradient, divided by the number of rows."""
    return float(np.abs(point.gradient).max() / data.n)


def _build_map_fit(
    point: WeightPoint,
    n_passes: int,
    n_iterations: int,
    has_converged: bool,
    data: CovariateRows,
) -> MapFit:
    """Return the result of a fit with a >= 1."""
    return MapFit(
        point.weights,
        point.value,
        point.statistics.log_likelihood,
        point.weights > 0.0,
        n_passes,
        n_iterations,
        _compute_slope(point, data),
        has_converged,
    )


def _follow_fixed_point(
    data: CovariateRows,
    a: float,
    weights: np.ndarray,
    n_passes: int,
    n_iterations: int,
    max_passes: int,
) -> MapFit:
    """Return the result of a fit with a < 1, by fixed-point iterations."""
    # the last sweep, for the sums, is not counted as a step
    n_remaining_passes = max(max_passes - n_passes - 1, 0)
    weights, sums, n_sweeps, has_converged = iterate_fixed_point(
        data, weights, a, n_remaining_passes
    )
    is_positive = weights > 0.0
    objective = sums.log_likelihood + (a - 1.0) * float(np.log(weights[is_positive]).sum())
    shrinkage = 1.0 - is_positive.sum() * (1.0 - a) / data.n
    slopes = weights * (sums.R - shrinkage * sums.s) - (1.0 - a)
    return MapFit(
        weights,
        objective,
        sums.log_likelihood,
        is_positive,
        n_passes + n_sweeps,
        n_iterations + n_sweeps,
        float(np.abs(slopes[is_positive]).max() / data.n),
        has_converged,
    )
