"""The highest point of a density of log worths."""

import numpy as np

from thali.inference.optimise.damped_step import damped_step

from .density import Density, Local, local

_LONGEST = 3.0  # change of a coordinate in one step
_GAIN = 1e-12  # of the log density: no step that promises less is taken
_ROUNDING = 1e-14  # of the log density: gains below that share of it cannot be seen
_MOST = 500


def highest(density: Density) -> tuple[np.ndarray, Local]:
    """The point at which the density is highest, its log worths with a mean of 0, and the density there.

    Newton's method, damped as by Levenberg and Marquardt. With a lapse the climb begins where it ends without one.
    """
    start = np.zeros(density.size)
    if density.lapse > 0.0:
        start, _ = highest(density._replace(lapse=0.0))
    return _climb(density, start)


def _climb(density: Density, here: np.ndarray) -> tuple[np.ndarray, Local]:
    n, found, damping = density.n_options, local(density, here), 1e-6
    for _ in range(_MOST):
        curve = fixed_scale(found.curvature, n)
        metric = np.diag(curve).clip(1e-9)
        step = damped_step(curve, damping * metric, found.gradient)
        if step is not None:
            promised = step @ found.gradient
            if promised < _GAIN:
                return here, found
            step *= min(1.0, _LONGEST / np.abs(step).max())
            there = here + step
            there[:n] -= there[:n].mean()
            ahead = local(density, there)
            if ahead.value > found.value or promised < _ROUNDING * abs(found.value) + 1e-9:
                here, found, damping = there, ahead, max(damping / 10.0, 1e-14)
                continue
        damping *= 10.0
        if damping > 1e10:
            break
    return here, found


def fixed_scale(curvature: np.ndarray, n: int) -> np.ndarray:
    """The curvature with some along a common change of the first n coordinates, which leaves other directions alone."""
    whole = curvature.copy()
    whole[:n, :n] += max(np.trace(curvature[:n, :n]) / n, 1e-9) / n
    return whole
