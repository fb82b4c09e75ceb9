"""The most probable weights of Plackett–Luce regression for a fixed a."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali.errors import ArgumentError
from thali.inference.optimise.first_order import first_order
from thali.inference.optimise.newton import newton

from .duplicates import distinct_rows
from .fixed_point import fixed_point
from .log_weights import LogWeights, Point
from .row_sums import Rows
from .sparse import sparse_maximum

MAX_PASSES = 20_000
_SOLVED = 1e-8  # times n: an entry of the gradient in ln λ at a maximum
_AIMED_AT = 1e-13  # times n: gain that the last of Newton's steps promises, which doubles the digits
_NEAR = 3e-3  # times n, for the sum of the gradient: where second derivatives take over from limited-memory BFGS
_DONE = 1e-7  # times n, for the sum: where they would cost too much
_LONGEST = 10.0  # change of a ln λ in one step by the gradient, and half of that by second derivatives
_PACE = 4.0  # of damping: 10 takes 6 % more sweeps
_FEW, _MAX_WEIGHTS = 200, 2000  # that second derivatives are affordable for whatever the rows, or at all
_MANY = 20_000  # rows beyond which a part of them gives the start
_STAGES = (0.1, 0.01)  # a − 1 on the way to a = 1
_PRIOR = (0.05, 0.005)  # and at most this many times n / (K p), so that the prior does not outweigh the data


@dataclass(frozen=True)
class MapFit:
    """Weights at a maximum of the posterior."""

    weights: np.ndarray  # (K, p): λ̄, which sums to 1
    a: float
    objective: float  # log-likelihood + (a − 1) Σ ln λ̄, zeros left out for a ≤ 1
    log_likelihood: float  # of the whole data set, natural logarithm
    total: float  # Λ = Σ λ at the maximum: K p (a − 1) / b for a > 1; else 0, the likelihood does not depend on it
    support: np.ndarray  # (K, p): weights above zero
    n_passes: int  # sweeps over the rows; those over a part of the rows count as that part
    n_iter: int  # steps of the optimisers
    slope: float  # largest entry of the gradient in ln λ, divided by the number of rows: at most 1e-8 at a maximum
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

    .. math:: \sum_i \ln \frac{W_i \lambda_{Y_i}}{W_i \sum_k \lambda_k} + \sum_{kj} (a - 1) \ln \lambda_{kj}
              - b \lambda_{kj}

    For a > 1 all weights are positive. At a = 1 this is the maximum of the likelihood, and most weights are exactly
    zero; it is approached by way of a = 1.1 and 1.01. For a < 1 the density has no maximum (it is unbounded where a
    weight is zero), and the published fixed-point rule is followed from the solution at a = 1: its answer depends on
    the start.
    """
    W, codes, counts = distinct_rows(np.ascontiguousarray(W, np.float64), np.asarray(codes, np.int64), counts)
    return maximise(Rows(W, codes, n_classes, counts, threads), a, b, start=start, max_passes=max_passes)


def maximise(data: Any, a: float, b: float = 1.0, *, start: Any = None, max_passes: int = MAX_PASSES) -> MapFit:
    """As `fit_map`, of rows in memory (`Rows`) or elsewhere (`Blocks`)."""
    for name, value in (("a", a), ("b", b)):
        if not (value > 0.0 and np.isfinite(value)):
            raise ArgumentError(f"{name} must be a positive number; got {value!r}.")
    weights = np.ones((data.n_classes, data.p)) if start is None else np.asarray(start, np.float64)
    if a > 1.0:
        return _finish(*_interior(data, a, weights, max_passes), data, a, b)
    if a < 1.0 and start is not None:
        return _follow_rule(data, a, weights / weights.sum(), 0, 0, max_passes)
    point, passes, iterations, converged = _at_one(data, weights, max_passes)
    if a == 1.0:
        return _finish(point, passes, iterations, converged, data, a, b)
    return _follow_rule(data, a, point.weights, passes, iterations, max_passes)


def map_path(
    W: Any, codes: Any, n_classes: int, grid: Sequence[float], *, counts: Any = None, threads: int | None = None
) -> Any:
    """Weights for every a of a grid, each fit starting from its neighbour's: from the largest a downwards."""
    W, codes, counts = distinct_rows(np.ascontiguousarray(W, np.float64), np.asarray(codes, np.int64), counts)
    data = Rows(W, codes, n_classes, counts, threads)
    fits: dict[float, MapFit] = {}
    start = None
    for a in sorted({float(a) for a in grid}, reverse=True):
        if a <= 1.0 and (start is None or (start > 0.0).all()):
            start = maximise(data, 1.0, start=start).weights if a < 1.0 else start
        fits[a] = maximise(data, a, start=start)
        start = fits[a].weights
    return [fits[float(a)] for a in grid]


def _interior(data: Any, a: float, weights: np.ndarray, max_passes: int) -> tuple[Point, int, int, bool]:
    """The maximum for a > 1; with many rows, a fit to a part of them is the start."""
    passes = iterations = 0
    active = np.ones(weights.shape, bool)
    logs = np.log(weights[active])
    if data.n_rows > _MANY and _is_affordable(weights.size, data.n_rows, data.p):
        part = data.sample(_MANY)
        point, sweeps, iterations, _ = _interior(part, a, weights, max_passes)
        passes = -(-sweeps * _MANY // data.n_rows)
        target = LogWeights(data, a, active, max_passes - passes)
        point, taken, converged = _by_newton(target, target.at(point.logs))
    else:
        target = LogWeights(data, a, active, max_passes)
        point, taken, converged = _ascend(target, logs)
    return point, passes + target.passes, iterations + taken, converged


def _at_one(data: Any, weights: np.ndarray, max_passes: int) -> tuple[Point, int, int, bool]:
    """The maximum at a = 1, reached through larger a."""
    passes = iterations = 0
    for excess, share in zip(_STAGES, _PRIOR, strict=True):
        a = 1.0 + min(excess, share * data.n / weights.size)
        weights = np.maximum(weights, 1e-12 * weights.max())
        if data.n_rows > _MANY:
            point, sweeps, taken, _ = _interior(data, a, weights, max_passes - passes)
        else:
            target = LogWeights(data, a, np.ones(weights.shape, bool), max_passes - passes)
            point, taken, _ = _near(target, np.log(weights).ravel())
            sweeps = target.passes
        weights = point.weights
        passes, iterations = passes + sweeps, iterations + taken
    dead = np.broadcast_to(point.statistics.s == 0.0, weights.shape)
    point, _, sweeps, taken, converged = sparse_maximum(data, point, _near, _ascend, max_passes - passes, dead)
    return point, passes + sweeps, iterations + taken, converged


def _near(target: LogWeights, logs: np.ndarray, near: float = _NEAR) -> tuple[Point, int, bool]:
    """Near a maximum, from anywhere."""
    point, steps, _ = first_order(target, target.at(logs), near * target.data.n, _LONGEST)
    return point, steps, False


def _ascend(target: LogWeights, logs: np.ndarray) -> tuple[Point, int, bool]:
    """To a maximum, from anywhere: limited-memory BFGS, then Newton's method where it is affordable."""
    data = target.data
    if not _is_affordable(len(logs), data.n_rows, data.p):
        point, steps, _ = _near(target, logs, _DONE)
        return point, steps, _slope(point, data) <= _SOLVED
    point, steps, _ = _near(target, logs)
    point, more, converged = _by_newton(target, point)
    return point, steps + more, converged


def _by_newton(target: LogWeights, point: Point) -> tuple[Point, int, bool]:
    """To a maximum, from near it."""
    gain = _AIMED_AT * target.data.n
    point, steps, _ = newton(target, point, gain, last=True, damping=1e-3, pace=_PACE, longest=_LONGEST / 2.0)
    return point, steps, _slope(point, target.data) <= _SOLVED


def _is_affordable(weights: int, n_rows: int, p: int) -> bool:
    """Whether solving for a few steps costs less than the fifty sweeps that they save."""
    return weights <= _FEW or (weights <= _MAX_WEIGHTS and weights**3 <= 75 * n_rows * p)


def _slope(point: Point, data: Any) -> float:
    return float(np.abs(point.gradient).max() / data.n)


def _finish(point: Point, passes: int, iterations: int, converged: bool, data: Any, a: Any, b: Any) -> MapFit:
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


def _follow_rule(data: Any, a: float, weights: np.ndarray, passes: int, iterations: int, max_passes: int) -> MapFit:
    left = max(max_passes - passes - 1, 0)  # the last sweep, for the sums, is not counted among its steps
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
