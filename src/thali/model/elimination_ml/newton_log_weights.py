"""Newton's method in the logarithms of the weights, damped as by Levenberg and Marquardt."""

from typing import Any

import numpy as np

from thali.inference.optimise.damped_step import damped_step

from .problem import Pose

_LONGEST = 5.0  # change of a logarithm in one step
_GAIN = 1e-10  # of the log-likelihood: no step that promises less is taken
_MOST = 500


def ascend(
    pose: Pose, logs: np.ndarray, beta: np.ndarray, free: np.ndarray, gain: float = _GAIN
) -> tuple[np.ndarray, np.ndarray]:
    """Climb from a point until no step promises a gain; weights that are not free stay.

    The likelihood does not change with a common factor of all weights; the curvature along it is made positive, which
    leaves the step as it is, because the gradient along it is zero.
    """
    moving = np.concatenate([free, np.ones(len(beta), bool)])
    value = pose.terms(np.exp(logs), beta).sum()
    damping = 1e-3
    for _ in range(_MOST):
        gradient, curve, metric = _local(pose, logs, beta, moving, int(free.sum()))
        while True:
            step = damped_step(curve, damping * metric, gradient)
            if step is not None:
                promised = step @ gradient
                if promised < gain:
                    return logs, beta
                step = step * min(1.0, _LONGEST / np.abs(step).max())
                whole = np.zeros(len(moving))
                whole[moving] = step
                to_logs, to_beta = logs + whole[: len(logs)], beta + whole[len(logs) :]
                to_logs = to_logs - to_logs[free].max()
                found = pose.terms(np.exp(to_logs), to_beta).sum()
                if found > value:
                    break
            damping *= 10.0
            if damping > 1e10:
                return logs, beta
        logs, beta, value = to_logs, to_beta, found
        damping = max(damping / 10.0, 1e-14)
    return logs, beta


def polish(
    pose: Pose, logs: np.ndarray, beta: np.ndarray, free: np.ndarray, with_beta: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """A few plain Newton steps, which double the digits each, at the end of a climb."""
    moving = np.concatenate([free, np.full(len(beta), with_beta)])
    last = np.inf
    for _ in range(12):
        gradient, curve, _ = _local(pose, logs, beta, moving, int(free.sum()))
        step = damped_step(curve, np.zeros(len(gradient)), gradient)
        if step is None or not (size := np.abs(step).max(initial=0.0)) < min(last / 2, 1e-2):
            break
        whole = np.zeros(len(moving))
        whole[moving] = step
        logs, beta, last = logs + whole[: len(logs)], beta + whole[len(logs) :], size
    return logs, beta


def _local(pose: Any, logs: Any, beta: Any, moving: Any, n_free: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    found = pose.slopes(np.exp(logs), beta)
    curve = -found.hessian[np.ix_(moving, moving)]
    metric = found.information[moving]
    metric = metric + 1e-10 * metric.max(initial=1e-300)
    curve[:n_free, :n_free] += metric.mean() / max(n_free, 1)
    return found.gradient[moving], curve, metric
