"""The nearest most probable set of features: toggles of single owners, and deaths, that raise its probability.

Weights are integrated out one at a time: a feature of A judgements with unexplained sum B raises the likelihood by
`feature_gain`, so that a feature is kept where the logarithms of alpha, its rate and that gain add up to more than 0.
"""

from dataclasses import dataclass

import numpy as np

from ..answers.feature_gain import log_feature_gain

MAX_PASSES = 50  # over all features; a dozen are usual


@dataclass(frozen=True)
class Landscape:
    """Data and prior of a climb, with everything held fixed but owners and weights."""

    value: np.ndarray  # (n, n) similarities, 0 where there is none
    measured: np.ndarray  # (n, n) judgements
    log_rate: np.ndarray  # (n + 1,) of the prior, by number of owners
    log_alpha: float
    sigma2: float
    shape: float
    rate: float
    keeps: bool  # whether the number of features is fixed

    def gain(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return log_feature_gain(A, B, self.sigma2, self.shape, self.rate)

    def weight(self, A: float, B: float) -> float:
        """The most probable weight of a feature."""
        g, p = B - self.rate * self.sigma2, (self.shape - 1.0) * self.sigma2
        return max(0.0, float(g + np.sqrt(max(g * g + 4.0 * A * p, 0.0))) / (2.0 * A)) if g > 0.0 else 0.0


def climbed(owners: np.ndarray, weights: np.ndarray, constant: float, at: Landscape) -> tuple[np.ndarray, np.ndarray]:
    """Owners bool (features, n) and weights after the climb."""
    z, w = owners.astype(float), weights.astype(float)
    rest = (at.value - constant - (z.T * w) @ z) * at.measured
    for _ in range(MAX_PASSES):
        changed, kept = False, np.ones(len(z), bool)
        for k in np.argsort(w, kind="stable"):
            rest += w[k] * np.outer(z[k], z[k]) * at.measured
            changed |= _toggle_while_better(z[k], rest, at)
            A, B = 0.5 * z[k] @ at.measured @ z[k], 0.5 * z[k] @ rest @ z[k]
            size = int(z[k].sum())
            if not at.keeps and at.log_alpha + at.log_rate[size] + at.gain(A, B) < 0.0:
                kept[k], changed, w[k] = False, True, 0.0
                continue
            w[k] = at.weight(float(A), float(B))
            rest -= w[k] * np.outer(z[k], z[k]) * at.measured
        z, w = z[kept], w[kept]
        if not changed:
            break
    return z.astype(bool), w


def _toggle_while_better(z: np.ndarray, rest: np.ndarray, at: Landscape) -> bool:
    """Toggle the best owner of a feature, time and again, while that raises the probability; `rest` is without it."""
    toggled = False
    pull, ties = rest @ z, at.measured @ z
    while True:
        A, B, size = 0.5 * z @ ties, 0.5 * z @ pull, int(z.sum())
        sign = 1.0 - 2.0 * z
        after = size + sign.astype(int)
        better = at.gain(A + sign * ties, B + sign * pull) - at.gain(np.array(A), np.array(B))
        better += at.log_rate[after] - at.log_rate[size]
        better[after < 2] = -np.inf
        best = int(np.argmax(better))
        if not better[best] > 1e-9:
            return toggled
        z[best] += sign[best]
        pull += sign[best] * rest[best]
        ties += sign[best] * at.measured[best]
        toggled = True
