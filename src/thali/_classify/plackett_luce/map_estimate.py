"""The most probable weights of Plackett–Luce regression for a fixed a."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._inference.optimise import Slope, Target, maximise_bfgs, maximise_newton
from thali.errors import ArgumentError, DataError

from .row_sums import CovariateRows, Statistics, distinct_rows, hessian

# The published rule for a < 1, normalised to total weight one -------------------------------------


# change of a weight in a step, relative to the total, at which the rule has converged
_CONVERGED = 1e-12


def fixed_point(
    data: Any, weights: np.ndarray, a: float, max_passes: int, tolerance: float = _CONVERGED
) -> Any:
    """Repeat λ ← max(λ R − (1 − a), 0) / s, divided by its sum.

    The density of λ is unbounded where a weight is zero, so this is no ascent to a maximum: its
    limit depends on the start, and a weight that is zero stays zero. Without the division the total
    would shrink in every step, by 1 − m (1 − a) / n with m weights left, whatever b is, and
    underflow in the end.
    """
    converged, passes = False, 0
    while passes < max_passes and not converged:
        sums = data.statistics(weights, weights.sum(axis=0))
        passes += 1
        counts = weights * sums.R - (1.0 - a)
        updated = np.where(counts > 0.0, counts, 0.0) / np.where(sums.s > 0.0, sums.s, 1.0)
        if not (updated.sum(axis=1) > 0.0).all():
            raise DataError(
                f"With a = {a:g} the update for sparse weights sets all weights of a class to zero"
                f" at once, because each weight explains fewer than 1 − a = {1.0 - a:g} rows."
                " Choose a closer to 1, or a = 1."
            )
        updated /= updated.sum()
        converged = bool(np.abs(updated - weights).max() <= tolerance)
        weights = updated
    return weights, data.statistics(weights, weights.sum(axis=0)), passes + 1, converged


# The log posterior of Plackett–Luce regression as a function of the logarithms of the weights that
# are not zero


_MIN_GAIN = 1e-4  # gain for which a step is taken, as a share of what it promised


@dataclass(frozen=True)
class WeightPoint:
    """The objective at some weights."""

    logs: np.ndarray  # ln λ̄ of the active weights
    value: float  # log-likelihood plus log prior
    gradient: np.ndarray  # with respect to ln λ of the active weights
    weights: np.ndarray  # (K, p): λ̄, which sums to 1
    statistics: Statistics  # at λ̄


class LogWeights(Target[WeightPoint]):
    """F(ln λ) = loglik + max(a − 1, 0) Σ ln λ̄, where weights outside `active` are zero, within so
    many sweeps.

    F does not change when all λ are multiplied by a number. Gradient: λ̄ (R − s) + (a − 1)(1 − K p
    λ̄).
    """

    active: tuple[np.ndarray, ...]
    data: Any
    shape: tuple[Any, ...]
    pull: float
    passes: int
    most_passes: float

    def __init__(
        self, data: Any, a: float, active: np.ndarray, most_passes: float = np.inf
    ) -> None:
        self.data, self.active, self.most_passes = data, np.nonzero(active), most_passes
        self.shape = active.shape
        self.pull = max(a - 1.0, 0.0)
        self.passes = 0

    def at(self, logs: np.ndarray) -> WeightPoint:
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
        return WeightPoint(logs, float(value), gradient, weights, sums)

    def move_point(self, here: WeightPoint, change: np.ndarray) -> WeightPoint:
        return self.at(here.logs + change)

    def is_spent(self) -> bool:
        return self.passes >= self.most_passes

    def slope(self, here: WeightPoint) -> Slope:
        """The derivatives; damping is by the curvature of the bound that EM maximises."""
        curve = -self.hessian(here)
        metric = np.maximum(here.weights * here.statistics.s, 0.0)[self.active]
        metric += self.pull * len(metric) * here.weights[self.active] + 1e-12 * metric.max()
        # the objective is flat along a common factor of all weights, the gradient zero
        curve += metric.mean()
        return Slope(here.gradient, curve, metric)

    def accepts_step(self, here: WeightPoint, ahead: WeightPoint, promised: float) -> bool:
        gain = ahead.value - here.value
        is_rounding = abs(gain) <= 1e-14 * self.data.n + 1e-15 * abs(here.value)
        smaller = np.abs(ahead.gradient).max() < np.abs(here.gradient).max()
        return bool(gain > _MIN_GAIN * promised or (is_rounding and smaller))

    def hessian(self, point: WeightPoint) -> np.ndarray:
        """Second derivatives, from one sweep over the rows."""
        columns = np.unique(self.active[1])
        self.passes += 1
        sums = self.data.curvature(point.weights, point.weights.sum(axis=0), columns)
        total = self.pull * len(point.logs)
        own = point.weights[self.active]
        of_data = point.gradient - self.pull * (1.0 - own.size * own)
        return hessian(point.weights, of_data, sums, self.active, columns, total)


# The maximum at a = 1, most of whose weights are exactly zero: maximise, drop, test the zeros,
# restore, repeat


KKT = 1e-6  # times n: how steeply the likelihood may rise at a weight that is zero
_ROUNDS = 60
_ATTRIBUTED = 1e-2  # rows explained by a weight, below which it is a candidate for zero


def sparse_maximum(
    data: Any, point: WeightPoint, near: Any, ascend: Any, max_passes: int, dead: Any
) -> tuple[WeightPoint, np.ndarray, int, int, bool]:
    """Maximise the likelihood over non-negative weights, from a point where all may be positive.

    A logarithm never reaches −∞, and a maximisation in logarithms can stop where a zero weight
    would grow. So weights that explain almost nothing and lower the likelihood are set to zero if
    that costs nothing, and a zero weight whose derivative R - s is positive becomes positive again.
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


def _rising(point: WeightPoint, n: float, dead: Any) -> np.ndarray:
    """Zero weights at which the likelihood rises."""
    steepness = point.statistics.R - point.statistics.s
    return (point.weights == 0.0) & (steepness > KKT * n) & ~dead


def _drop(data: Any, point: WeightPoint, active: np.ndarray) -> tuple[WeightPoint | None, int]:
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


def _take_back(data: Any, point: WeightPoint, rising: np.ndarray) -> tuple[np.ndarray | None, int]:
    """Weights with enough mass on those that would grow that the likelihood increases; and the
    sweeps used."""
    steepness = np.where(rising, point.statistics.R - point.statistics.s, 0.0)
    steepness /= steepness.sum()
    masses = 10.0 ** -np.arange(1, 11)
    for spent, mass in enumerate(masses, start=1):
        weights = (1.0 - mass) * point.weights + mass * steepness
        trial = LogWeights(data, 1.0, weights > 0.0).at(np.log(weights[weights > 0.0]))
        if trial.value > point.value:
            return weights, spent
    return None, len(masses)


MAX_PASSES = 20_000
_SOLVED = 1e-8  # times n: an entry of the gradient in ln λ at a maximum
# times n: gain that the last of Newton's steps promises, which doubles the digits
_AIMED_AT = 1e-13
# times n, for the sum of the gradient: where second derivatives take over from limited-memory BFGS
_NEAR = 3e-3
_DONE = 1e-7  # times n, for the sum: where they would cost too much
# change of a ln λ in one step by the gradient, and half of that by second derivatives
_LONGEST = 10.0
_PACE = 4.0  # of damping: 10 takes 6 % more sweeps
# that second derivatives are affordable for whatever the rows, or at all
_ALWAYS_AFFORDABLE, _MAX_WEIGHTS = 200, 2000
_MAX_START_ROWS = 20_000  # rows beyond which a part of them gives the start
_STAGES = (0.1, 0.01)  # a − 1 on the way to a = 1
# and at most this many times n / (K p), so that the prior does not outweigh the data
_PRIOR = (0.05, 0.005)


@dataclass(frozen=True)
class MapFit:
    """Weights at a maximum of the posterior."""

    weights: np.ndarray  # (K, p): λ̄, which sums to 1
    a: float
    objective: float  # log-likelihood + (a − 1) Σ ln λ̄, zeros left out for a ≤ 1
    log_likelihood: float  # of the whole data set, natural logarithm
    # Λ = Σ λ at the maximum: K p (a − 1) / b for a > 1; else 0, the likelihood does not depend on
    # it
    total: float
    support: np.ndarray  # (K, p): weights above zero
    n_passes: int  # sweeps over the rows; those over a part of the rows count as that part
    n_iter: int  # steps of the optimisers
    # largest entry of the gradient in ln λ, divided by the number of rows: at most 1e-8 at a
    # maximum
    slope: float
    converged: bool


def fit_map(
    W: Any,
    codes: Any,
    n_classes: int,
    a: float,
    b: float = 1.0,
    *,
    counts: Any = None,
    start: np.ndarray | None = None,
    max_passes: int = MAX_PASSES,
    threads: int | None = None,
) -> MapFit:
    r"""The most probable weights for a fixed a.

    .. math::

        \sum_i \ln \frac{W_i \lambda_{Y_i}}{W_i \sum_k \lambda_k}
        + \sum_{kj} (a - 1) \ln \lambda_{kj}
              - b \lambda_{kj}

    For a > 1 all weights are positive. At a = 1 this is the maximum of the likelihood, and most
    weights are exactly zero; it is approached by way of a = 1.1 and 1.01. For a < 1 the density has
    no maximum (it is unbounded where a weight is zero), and the published fixed-point rule is
    followed from the solution at a = 1: its answer depends on the start.
    """
    W, codes, counts = distinct_rows(
        np.ascontiguousarray(W, np.float64), np.asarray(codes, np.int64), counts
    )
    return maximise(
        CovariateRows(W, codes, n_classes, counts, threads),
        a,
        b,
        start=start,
        max_passes=max_passes,
    )


def maximise(
    data: Any, a: float, b: float = 1.0, *, start: Any = None, max_passes: int = MAX_PASSES
) -> MapFit:
    """As `fit_map`, of rows in memory (`Rows`) or elsewhere (`Blocks`)."""
    for name, value in (("a", a), ("b", b)):
        if not (value > 0.0 and np.isfinite(value)):
            raise ArgumentError(f"`{name}` must be a positive number; got {value!r}.")
    weights = np.ones((data.n_classes, data.p)) if start is None else np.asarray(start, np.float64)
    if a > 1.0:
        return _finish(*_interior(data, a, weights, max_passes), data, a, b)
    if a < 1.0 and start is not None:
        return _follow_rule(data, a, weights / weights.sum(), 0, 0, max_passes)
    point, passes, iterations, converged = _at_one(data, weights, max_passes)
    if a == 1.0:
        return _finish(point, passes, iterations, converged, data, a, b)
    return _follow_rule(data, a, point.weights, passes, iterations, max_passes)


def _interior(
    data: Any, a: float, weights: np.ndarray, max_passes: int
) -> tuple[WeightPoint, int, int, bool]:
    """The maximum for a > 1; with many rows, a fit to a part of them is the start."""
    passes = iterations = 0
    active = np.ones(weights.shape, bool)
    logs = np.log(weights[active])
    if data.n_rows > _MAX_START_ROWS and _is_affordable(weights.size, data.n_rows, data.p):
        part = data.sample(_MAX_START_ROWS)
        point, sweeps, iterations, _ = _interior(part, a, weights, max_passes)
        passes = -(-sweeps * _MAX_START_ROWS // data.n_rows)
        target = LogWeights(data, a, active, max_passes - passes)
        point, taken, converged = _by_newton(target, target.at(point.logs))
    else:
        target = LogWeights(data, a, active, max_passes)
        point, taken, converged = _ascend(target, logs)
    return point, passes + target.passes, iterations + taken, converged


def _at_one(data: Any, weights: np.ndarray, max_passes: int) -> tuple[WeightPoint, int, int, bool]:
    """The maximum at a = 1, reached through larger a."""
    passes, iterations, point = 0, 0, None
    for excess, share in zip(_STAGES, _PRIOR, strict=True):
        a = 1.0 + min(excess, share * data.n / weights.size)
        weights = np.maximum(weights, 1e-12 * weights.max())
        if data.n_rows > _MAX_START_ROWS:
            point, sweeps, taken, _ = _interior(data, a, weights, max_passes - passes)
        else:
            target = LogWeights(data, a, np.ones(weights.shape, bool), max_passes - passes)
            point, taken, _ = _near(target, np.log(weights).ravel())
            sweeps = target.passes
        weights = point.weights
        passes, iterations = passes + sweeps, iterations + taken
    assert point is not None  # there are stages
    dead = np.broadcast_to(point.statistics.s == 0.0, weights.shape)
    point, _, sweeps, taken, converged = sparse_maximum(
        data, point, _near, _ascend, max_passes - passes, dead
    )
    return point, passes + sweeps, iterations + taken, converged


def _near(
    target: LogWeights, logs: np.ndarray, near: float = _NEAR
) -> tuple[WeightPoint, int, bool]:
    """Near a maximum, from anywhere."""
    point, steps, _ = maximise_bfgs(target, target.at(logs), near * target.data.n, _LONGEST)
    return point, steps, False


def _ascend(target: LogWeights, logs: np.ndarray) -> tuple[WeightPoint, int, bool]:
    """To a maximum, from anywhere: limited-memory BFGS, then Newton's method where it is
    affordable."""
    data = target.data
    if not _is_affordable(len(logs), data.n_rows, data.p):
        point, steps, _ = _near(target, logs, _DONE)
        return point, steps, _slope(point, data) <= _SOLVED
    point, steps, _ = _near(target, logs)
    point, more, converged = _by_newton(target, point)
    return point, steps + more, converged


def _by_newton(target: LogWeights, point: WeightPoint) -> tuple[WeightPoint, int, bool]:
    """To a maximum, from near it."""
    gain = _AIMED_AT * target.data.n
    point, steps, _ = maximise_newton(
        target, point, gain, take_last=True, damping=1e-3, pace=_PACE, max_change=_LONGEST / 2.0
    )
    return point, steps, _slope(point, target.data) <= _SOLVED


def _is_affordable(weights: int, n_rows: int, p: int) -> bool:
    """Whether solving for a few steps costs less than the fifty sweeps that they save."""
    return weights <= _ALWAYS_AFFORDABLE or (
        weights <= _MAX_WEIGHTS and weights**3 <= 75 * n_rows * p
    )


def _slope(point: WeightPoint, data: Any) -> float:
    return float(np.abs(point.gradient).max() / data.n)


def _finish(
    point: WeightPoint, passes: int, iterations: int, converged: bool, data: Any, a: Any, b: Any
) -> MapFit:
    return MapFit(
        point.weights,
        float(a),
        point.value,
        point.statistics.log_likelihood,
        point.weights.size * (a - 1.0) / b,
        point.weights > 0.0,
        passes,
        iterations,
        _slope(point, data),
        converged,
    )


def _follow_rule(
    data: Any, a: float, weights: np.ndarray, passes: int, iterations: int, max_passes: int
) -> MapFit:
    # the last sweep, for the sums, is not counted among its steps
    left = max(max_passes - passes - 1, 0)
    weights, sums, sweeps, converged = fixed_point(data, weights, a, left)
    support = weights > 0.0
    objective = sums.log_likelihood + (a - 1.0) * float(np.log(weights[support]).sum())
    shrink = 1.0 - support.sum() * (1.0 - a) / data.n
    slope = weights * (sums.R - shrink * sums.s) - (1.0 - a)
    return MapFit(
        weights,
        float(a),
        objective,
        sums.log_likelihood,
        0.0,
        support,
        passes + sweeps,
        iterations + sweeps,
        float(np.abs(slope[support]).max() / data.n),
        converged,
    )
