"""The highest point of a density of log worths."""

import numpy as np

from thali.inference.optimise.newton import Slope, Target, newton

from .density import Density, Local, local

_LONGEST = 3.0  # change of a coordinate in one step
_GAIN = 1e-12  # of the log density: no step that promises less is taken
_ROUNDING = 1e-14  # of the log density: gains below that share of it cannot be seen


class _Worths(Target[Local]):
    """A density."""

    def __init__(self, density: Density) -> None:
        self._density = density

    def moved(self, here: Local, change: np.ndarray) -> Local:
        n, there = self._density.n_options, here.where + change
        there[:n] -= there[:n].mean()
        return local(self._density, there)

    def slope(self, here: Local) -> Slope:
        curve = fixed_scale(here.curvature, self._density.n_options)
        return Slope(here.gradient, curve, np.diag(curve).clip(1e-9))

    def rises(self, here: Local, ahead: Local, promised: float) -> bool:
        return ahead.value > here.value or promised < _ROUNDING * abs(here.value) + 1e-9


def highest(density: Density) -> Local:
    """The density where it is highest, its log worths with a mean of 0.

    Newton's method, damped as by Levenberg and Marquardt. With a lapse the climb begins where it ends without one.
    """
    start = highest(density._replace(lapse=0.0)).where if density.lapse > 0.0 else np.zeros(density.size)
    return newton(_Worths(density), local(density, start), _GAIN, damping=1e-6, longest=_LONGEST).point


def fixed_scale(curvature: np.ndarray, n: int) -> np.ndarray:
    """The curvature with some along a common change of the first n coordinates, which leaves other directions alone."""
    whole = curvature.copy()
    whole[:n, :n] += max(np.trace(curvature[:n, :n]) / n, 1e-9) / n
    return whole
