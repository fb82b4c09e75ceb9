"""The highest point of a density of log worths."""

from typing import NamedTuple

import numpy as np

from thali.inference.optimise.newton import Slope, Target, newton

from .density import Density, Local, local

_LONGEST = 3.0  # change of a coordinate in one step
_GAIN = 1e-12  # of the log density: no step that promises less is taken
_ROUNDING = 1e-14  # of the log density: gains below that share of it cannot be seen


class _Place(NamedTuple):
    """Log worths with a mean of 0, and the density there."""

    where: np.ndarray
    at: Local

    @property
    def value(self) -> float:
        """The log density."""
        return self.at.value


class _Worths(Target[_Place]):
    """A density."""

    def __init__(self, density: Density) -> None:
        self._density = density

    def look(self, where: np.ndarray) -> _Place:
        """The density at a point."""
        return _Place(where, local(self._density, where))

    def moved(self, here: _Place, change: np.ndarray) -> _Place:
        n, there = self._density.n_options, here.where + change
        there[:n] -= there[:n].mean()
        return self.look(there)

    def slope(self, here: _Place) -> Slope:
        curve = fixed_scale(here.at.curvature, self._density.n_options)
        return Slope(here.at.gradient, curve, np.diag(curve).clip(1e-9))

    def rises(self, here: _Place, ahead: _Place, promised: float) -> bool:
        return ahead.value > here.value or promised < _ROUNDING * abs(here.value) + 1e-9


def highest(density: Density) -> tuple[np.ndarray, Local]:
    """The point at which the density is highest, its log worths with a mean of 0, and the density there.

    Newton's method, damped as by Levenberg and Marquardt. With a lapse the climb begins where it ends without one.
    """
    start = np.zeros(density.size)
    if density.lapse > 0.0:
        start, _ = highest(density._replace(lapse=0.0))
    target = _Worths(density)
    return newton(target, target.look(start), _GAIN, damping=1e-6, longest=_LONGEST).point


def fixed_scale(curvature: np.ndarray, n: int) -> np.ndarray:
    """The curvature with some along a common change of the first n coordinates, which leaves other directions alone."""
    whole = curvature.copy()
    whole[:n, :n] += max(np.trace(curvature[:n, :n]) / n, 1e-9) / n
    return whole
