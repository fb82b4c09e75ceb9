"""Maximisation in ln λ by second derivatives: Newton's method with Levenberg–Marquardt damping."""

import numpy as np

from thali.inference.optimise.damped_step import damped_step

from .log_weights import LogWeights, Point

_FEW, _MAX_WEIGHTS = 200, 2000
_LONGEST = 5.0  # change of a ln λ in one step


def ascend(target: LogWeights, point: Point, tolerance: float, max_passes: int) -> tuple[Point, int]:
    """Maximise from a point until no entry of the gradient exceeds the tolerance; the last point and the iterations.

    Steps solve (−H + μ D) δ = g, where D is the curvature of the bound that EM maximises. μ is multiplied or divided
    according to how well the quadratic model predicted the gain (Nielsen 1999).
    """
    damping, growth = 1e-3, 2.0
    last = target.passes + max_passes
    iterations = 0
    while np.abs(point.gradient).max() > tolerance and target.passes + 2 <= last:
        iterations += 1
        curve = -target.hessian(point)
        metric = np.maximum(point.weights * point.statistics.s, 0.0)[target.active]
        metric += target.pull * len(metric) * point.weights[target.active] + 1e-12 * metric.max()
        curve += metric.mean()  # the objective is flat along a common factor of all weights, the gradient zero
        improved = None
        while improved is None and target.passes < last and damping < 1e12:
            step = damped_step(curve, damping * metric, point.gradient)
            if step is None:
                damping, growth = damping * growth, growth * 2.0
                continue
            step *= min(1.0, _LONGEST / np.abs(step).max())
            foreseen = step @ point.gradient - 0.5 * step @ curve @ step
            trial = target.at(point.logs + step)
            gain = trial.value - point.value
            rounding = 1e-14 * target.data.n + 1e-15 * abs(point.value)
            smaller = np.abs(trial.gradient).max() < np.abs(point.gradient).max()
            if foreseen > 0.0 and (gain > 1e-4 * foreseen or (abs(gain) <= rounding and smaller)):
                ratio = gain / foreseen if foreseen > rounding else 1.0
                damping = max(damping * max(1.0 / 3.0, 1.0 - (2.0 * ratio - 1.0) ** 3), 1e-12)
                growth, improved = 2.0, trial
            else:
                damping, growth = damping * growth, growth * 2.0
                if foreseen <= rounding:  # the remaining gain is below float precision
                    return point, iterations
        if improved is None:
            break
        point = improved
    return point, iterations


def is_affordable(weights: int, n_rows: int, p: int) -> bool:
    """Whether solving for a few steps costs less than the fifty sweeps that they save."""
    return weights <= _FEW or (weights <= _MAX_WEIGHTS and weights**3 <= 75 * n_rows * p)
