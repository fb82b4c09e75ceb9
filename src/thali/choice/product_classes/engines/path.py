"""The path from prior to posterior: how a block of tasks enters the model, and the size of each step.

Along the lapse path δ = 1 / (1 + u) falls from 1 to that of the model; along the logit path u is the sharpness of a
logit, which ends in the choice of the best product. At u = 0 every task has the likelihood 1 / J.
"""

import math
from collections.abc import Callable

import numpy as np

from ..likelihood import log_logit
from ..state import Target

TAU = 0.5  # relative effective sample size to which a step goes
BISECTIONS = 30
CAP = {"lapse": 1e5, "logit": 1e9}  # from here one step leads to the end


class LapsePath:
    """Weights along the lapse path: they depend on how many tasks of each likelihood a particle has."""

    end: float
    cap: float
    lapse: float
    sizes: np.ndarray
    counts: np.ndarray
    size: np.ndarray
    winners: np.ndarray

    def __init__(self, lapse: float, others: np.ndarray) -> None:
        self.end = 1.0 / lapse - 1.0 if lapse > 0.0 else math.inf
        self.cap, self.lapse = CAP["lapse"], lapse
        self.sizes = others + 1

    def see(self, hits: np.ndarray, differences: np.ndarray) -> None:
        """Store the likelihoods (particles, tasks) at the current values."""
        most = int(self.sizes.max()) + 1
        with np.errstate(divide="ignore"):
            winners = np.where(hits > 0.0, np.rint(1.0 / hits), 0.0).astype(np.int64)
        kind = self.sizes * most + winners + np.arange(len(hits))[:, None] * most * most
        counts = np.bincount(kind.ravel(), minlength=len(hits) * most * most).reshape(len(hits), -1)
        used = np.flatnonzero(counts.any(axis=0))
        self.counts = counts[:, used]
        self.size, self.winners = used // most, used % most

    def log_likelihood(self, u: float) -> np.ndarray:
        """ln of the likelihood of the block in every particle."""
        delta = 1.0 / (1.0 + u)
        with np.errstate(divide="ignore"):
            hit = np.where(self.winners > 0, 1.0 / self.winners, 0.0)
            logs = np.log((1.0 - delta) * hit + delta / self.size)
        possible = logs > -math.inf
        total = self.counts[:, possible] @ logs[possible]
        total[self.counts[:, ~possible].any(axis=1)] = -math.inf
        return total

    def set(self, target: Target, tasks: slice, u: float) -> None:
        """Write the current point of the path into the target."""
        target.delta[tasks] = self.lapse if u == self.end else 1.0 / (1.0 + u)


class LogitPath:
    """Weights along the logit path, at a fixed lapse."""

    cap: float
    end: float
    lapse: float
    differences: np.ndarray
    hits: np.ndarray

    def __init__(self, lapse: float, others: np.ndarray) -> None:
        self.end, self.cap, self.lapse = math.inf, CAP["logit"], lapse
        self.others = others

    def see(self, hits: np.ndarray, differences: np.ndarray) -> None:
        """Store the likelihoods and the differences of utility at the current values."""
        self.hits, self.differences = hits, differences

    def log_likelihood(self, u: float) -> np.ndarray:
        """ln of the likelihood of the block in every particle."""
        out = np.empty(len(self.hits))
        log_logit(self.hits, self.differences, self.others, float(u), self.lapse, out)
        return out

    def set(self, target: Target, tasks: slice, u: float) -> None:
        """Write the current point of the path into the target."""
        target.sharpness[tasks] = u
        target.delta[tasks] = self.lapse


PATHS = {"lapse": LapsePath, "logit": LogitPath}


def relative_size(log_weights: np.ndarray) -> float:
    """Effective share of the particles, (Σ w)² / (n Σ w²)."""
    top = log_weights.max()
    if top == -math.inf:
        return 0.0
    w = np.exp(log_weights - top)
    return float(w.sum() ** 2 / (len(w) * (w @ w)))


def next_point(
    log_weights: Callable[[float], np.ndarray], u: float, end: float, cap: float, groups: int, gentle: bool
) -> float:
    """The next point of the path: the end, or where the effective share falls to TAU.

    `log_weights(point)` returns the log weights of a step to a point, group after group. `gentle` is for many tasks at
    once, which a small step may change much. Beyond the cap the next point is the end, whatever the share.
    """
    if u >= min(cap, end):
        return end
    last = log_weights(end)
    if relative_size(last) >= TAU and (last.reshape(groups, -1).max(axis=1) > -math.inf).all():
        return end
    low, high = u, max(1e-3, 1.2 * u) if gentle else max(0.5, 2.0 * u)
    while (share := relative_size(log_weights(high))) > TAU and high < cap:
        low, high = high, high * (1.5 if gentle else 3.0)
    if share > TAU:
        return min(cap, end)
    top = high
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if relative_size(log_weights(middle)) > TAU:
            low = middle
        else:
            high = middle
    return min(low if low > u else high if high > u else top, end)


def log_mean(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """ln of the mean of exponentials."""
    top = values.max(axis=axis, keepdims=True)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.squeeze(safe, axis) + np.log(np.exp(values - safe).mean(axis=axis))
