"""The maximum of the likelihood: several starts, weights that are zero, and maxima that lie at infinity."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .log_weights import ascend, polish
from .problem import Pose

_TINY = 1e-6  # share of the largest weight below which a weight may be zero
_LOSS = 1e-7  # of the log-likelihood, that setting weights to zero may cost: what the climb left to gain, and rounding


class Maximum(NamedTuple):
    """The best point found."""

    weights: np.ndarray  # they sum to 1; those that vanish are 0
    working: np.ndarray  # the same up to a factor, but small where they vanish: their ratios decide choices, too
    beta: np.ndarray
    value: float  # log-likelihood without binomial coefficients
    vanishing: np.ndarray  # bool: the likelihood has no maximum, and rises for ever while these weights shrink


def maximise(pose: Pose, starts: Iterable[np.ndarray]) -> Maximum:
    """Climb from every start (logarithms of weights) and keep the best."""
    found = [_from_start(pose, np.asarray(start, float)) for start in starts]
    return max(found, key=lambda one: one.value)


def highest(pose: Pose, start: np.ndarray, beta: np.ndarray) -> float:
    """The log-likelihood at the top of a climb, to six digits after the point; less work than the maximum itself."""
    return ascend(pose, start, beta, np.ones(len(start), bool), 1e-6).value


def starting_points(pose: Pose, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Equal weights, weights by how often what owns them was chosen, and random ones, near and far.

    One start is enough where the likelihood is concave.
    """
    equal = np.zeros(pose.n_aspects)
    if pose.is_concave() or count == 1:
        return [equal]
    chosen, rejected = pose.chosen_and_rejected()
    by_choice = np.log((chosen + 0.5) / (rejected + 0.5))
    spread = np.where(np.arange(count - 2) % 2, 1.0, 3.0)
    return [equal, by_choice, *(spread[:, None] * rng.normal(size=(count - 2, pose.n_aspects)))]


def _from_start(pose: Pose, logs: np.ndarray) -> Maximum:
    beta = np.zeros(pose.n_coefficients)
    free = np.ones(len(logs), bool)
    logs, beta, _ = ascend(pose, logs, beta, free)
    weights, vanishing = _boundary(pose, np.exp(logs), beta)
    for _ in range(len(logs)):  # a weight set to zero too early is set free again
        free = weights > 0.0
        with np.errstate(divide="ignore"):
            logs = np.log(weights)
        # Weights that vanish would take all of a step; their ratios are polished apart from the others.
        logs, beta = polish(pose, logs, beta, free & ~vanishing)
        if vanishing.any():
            logs, _ = polish(pose, logs, beta, free & vanishing, with_beta=False)
        weights = np.exp(logs)
        rising = ~free & (pose.slope_at_zero(weights, beta) * weights.sum() > _LOSS)
        if not rising.any() or vanishing.any():
            break
        logs[rising] = np.log(_TINY * weights.max())
        logs, beta, _ = ascend(pose, logs, beta, free | rising)
        weights, vanishing = _boundary(pose, np.exp(logs), beta)
    value = float(pose.terms(weights, beta).sum())
    reported = np.where(vanishing, 0.0, weights)
    return Maximum(reported / reported.sum(), weights, beta, value, vanishing)


def _boundary(pose: Pose, weights: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weights with zeros where they belong, and those that shrink for ever.

    Tiny weights become zero if that costs no likelihood. Where it would leave a pair that was told apart before without
    any weight, only the ratio of what vanishes explains its choices: then there is no maximum.
    """
    before = pose.terms(weights, beta)
    decided = pose.strength(weights, beta) > 0.0
    tiny = np.flatnonzero(weights <= _TINY * weights.max())
    tiny = tiny[np.argsort(weights[tiny])]
    while len(tiny):
        zeroed = weights.copy()
        zeroed[tiny] = 0.0
        lost = decided & (pose.strength(zeroed, beta) == 0.0)
        after = pose.terms(zeroed, beta)
        if (before - after)[~lost].sum() <= _LOSS:
            if not lost.any():
                return zeroed, np.zeros(len(weights), bool)
            vanishing = np.zeros(len(weights), bool)
            vanishing[tiny] = True
            return weights, vanishing
        tiny = tiny[:-1]
    return weights, np.zeros(len(weights), bool)
