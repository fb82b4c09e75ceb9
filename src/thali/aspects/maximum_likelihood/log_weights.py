"""The log-likelihood as a function of logarithms of weights, and Newton's method for it."""

from typing import NamedTuple

import numpy as np

from thali.inference.optimise.newton import Slope, Target, newton

from .problem import Pose

_LONGEST = 5.0  # change of a logarithm in one step
_GAIN = 1e-10  # of the log-likelihood: no step that promises less is taken


class Place(NamedTuple):
    """Logarithms of weights, coefficients, and the log-likelihood there."""

    logs: np.ndarray
    beta: np.ndarray
    value: float


class _LogWeights(Target[Place]):
    """The log-likelihood, of which some weights and coefficients move.

    It does not change with a common factor of all weights; the curvature along it is made positive, which leaves the
    step as it is, because the gradient along it is zero.
    """

    def __init__(self, pose: Pose, moving: np.ndarray) -> None:
        self._pose, self._moving, self._free = pose, moving, moving[: pose.n_aspects]
        self._n_free = int(self._free.sum())

    def look(self, logs: np.ndarray, beta: np.ndarray) -> Place:
        """The log-likelihood at a point."""
        return Place(logs, beta, float(self._pose.terms(np.exp(logs), beta).sum()))

    def moved(self, here: Place, change: np.ndarray) -> Place:
        logs, beta = self.changed(here, change)
        return self.look(logs - logs[self._free].max(), beta)

    def changed(self, here: Place, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The logarithms and the coefficients after a change of those that move."""
        whole = np.zeros(len(self._moving))
        whole[self._moving] = change
        return here.logs + whole[: len(here.logs)], here.beta + whole[len(here.logs) :]

    def slope(self, here: Place) -> Slope:
        found = self._pose.slopes(np.exp(here.logs), here.beta)
        curve = -found.hessian[np.ix_(self._moving, self._moving)]
        metric = found.information[self._moving]
        metric = metric + 1e-10 * metric.max(initial=1e-300)
        curve[: self._n_free, : self._n_free] += metric.mean() / max(self._n_free, 1)
        return Slope(found.gradient[self._moving], curve, metric)


def ascend(pose: Pose, logs: np.ndarray, beta: np.ndarray, free: np.ndarray, gain: float = _GAIN) -> Place:
    """Climb from a point until no step promises a gain; weights that are not free stay."""
    target = _LogWeights(pose, np.concatenate([free, np.ones(len(beta), bool)]))
    return newton(target, target.look(logs, beta), gain, damping=1e-3, longest=_LONGEST).point


def polish(
    pose: Pose, logs: np.ndarray, beta: np.ndarray, free: np.ndarray, with_beta: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """A few plain Newton steps, which double the digits each, at the end of a climb."""
    target = _LogWeights(pose, np.concatenate([free, np.full(len(beta), with_beta)]))
    last = np.inf
    for _ in range(12):
        here = Place(logs, beta, np.nan)
        step = target.solve(target.slope(here), 0.0)
        if step is None or not (size := np.abs(step.change).max(initial=0.0)) < min(last / 2, 1e-2):
            break
        (logs, beta), last = target.changed(here, step.change), size
    return logs, beta
