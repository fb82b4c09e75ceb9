r"""The variational normal posterior: the normal law that maximises the lower bound of the evidence,

.. math:: F = E_q[\ln P(y \mid X, \beta, b) + \ln p(\beta, b \mid \eta) + \ln p(\eta) - \ln q].

A natural-gradient step of length 1 makes P the mean curvature under q, and moves m by Newton's step with that; shorter
ones mix P and P m with what they were. The steps before are combined with it (Anderson acceleration) wherever that
raises the bound; else a step is shortened until it does.

References: Opper & Archambeau (2009), The variational Gaussian approximation revisited; Khan & Lin (2017),
Conjugate-computation variational inference; Walker & Ni (2011), Anderson acceleration for fixed-point iterations.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .approximation import (
    SETTLED,
    Expand,
    NormalPosterior,
    is_free,
    law_of_eta,
    log_law_of_root,
    mean_size,
    slope_and_bend,
)
from .expansion import Expansion
from .sweep import INTERCEPT_VARIANCE, Problem

_MAX_LOOKS = 500
_MEMORY, _BYTES = 8, 2**30  # of the steps that are combined
_FEW = 8  # rounds of Newton's steps, which are faster where a step of length 1 raises the bound
_MIXED = 0.5  # of a combined step
_SHORTEST = 1e-4  # step that is tried
_FLAT = 1e-4, 10  # a coefficient: a bound that has risen by less in so many rounds is as high as it need be


class _Point(NamedTuple):
    """A normal law, its bound, and the step of length 1 from there."""

    precision: np.ndarray
    pull: np.ndarray  # P m
    factor: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    law: tuple[np.ndarray, np.ndarray]  # etas and their shares
    bound: float
    precision_step: np.ndarray
    pull_step: np.ndarray
    change: float  # by the step, in standard deviations


class _Bound:
    """The bound as a function of P and P m, q(eta) always the best one."""

    def __init__(self, problem: Problem, eta: float | None, expand: Expand) -> None:
        self.problem, self.eta, self.expand, self.free, self.looks = problem, eta, expand, is_free(problem), 0

    def look(self, precision: np.ndarray, pull: np.ndarray) -> _Point | None:
        """The normal law there; None if P has no Cholesky factor."""
        from scipy.linalg import LinAlgError, cho_solve, cholesky

        self.looks += 1
        problem, free = self.problem, self.free
        try:
            factor = cholesky(precision, lower=True)
        except LinAlgError:
            return None
        covariance = cho_solve((factor, True), np.eye(len(factor)))
        mean, sd = covariance @ pull, np.sqrt(np.diag(covariance))
        at: Expansion = self.expand(mean.reshape(problem.classes - 1, -1), covariance)
        size = float(mean_size(mean, sd)[~free].sum())
        if self.eta is None:
            law = law_of_eta(2.0 * problem.shape + np.count_nonzero(~free), size, problem.rate)
        else:
            law = np.full(1, self.eta), np.ones(1)
        slope, bend = slope_and_bend(mean, sd, float(law[1] @ np.sqrt(law[0])), free)
        wanted, gradient = at.curvature + np.diag(bend), at.gradient - slope
        bound = at.log_likelihood + _other_terms(problem, self.eta, size, mean[free], sd[free], factor)
        of_sd = 0.5 * np.abs(np.einsum("ij,ji->i", covariance, wanted - precision))
        change = max(float(np.abs(covariance @ gradient / sd).max()), float(of_sd.max()))
        steps = wanted - precision, wanted @ mean + gradient - pull
        return _Point(precision, pull, factor, mean, sd, law, bound, *steps, change)


def variational_posterior(problem: Problem, eta: float | None, expand: Expand) -> NormalPosterior:
    """The approximation; eta is fixed, or None if it is learned."""
    q, m = problem.classes - 1, problem.covariates.shape[0]
    of = _Bound(problem, eta, expand)
    prior = np.where(of.free, 1.0 / INTERCEPT_VARIANCE, 1.0)
    point = of.look(expand(np.zeros((q, m))).curvature + np.diag(prior), np.zeros(q * m))
    assert point is not None  # the curvature at one point is that of a concave function
    memory = min(_MEMORY, max(1, _BYTES // (24 * point.precision.size)))
    points, bounds, length, settled = [point], [point.bound], 1.0, point.change < SETTLED
    while not settled and of.looks < _MAX_LOOKS:
        is_slow = length < 1.0 or len(bounds) > _FEW
        ahead = of.look(*_combined(points)) if is_slow and len(points) > 1 else None
        if ahead is None or not _rises(point, ahead):
            points = points[-1:] if is_slow else points
            while True:
                ahead = of.look(*_step(point, length))
                if (ahead is not None and _rises(point, ahead)) or length < _SHORTEST:
                    break
                length *= 0.5
            if ahead is None or not _rises(point, ahead):  # the gain is below the precision of floats
                break
            length = min(1.0, 2.0 * length)
        point, points, bounds = ahead, [*points[-memory:], ahead], [*bounds, ahead.bound]
        settled = point.change < SETTLED or _is_flat(bounds, q * m)
    at = expand(point.mean.reshape(q, m))
    return NormalPosterior(point.mean, point.factor, at, *point.law, settled, point.bound)


def _rises(point: _Point, ahead: _Point) -> bool:
    return ahead.bound >= point.bound - 1e-9 * (1.0 + abs(point.bound))


def _is_flat(bounds: Sequence[float], coefficients: int) -> bool:
    rise, rounds = _FLAT
    return len(bounds) > rounds and bounds[-1] - bounds[-1 - rounds] < rise * coefficients


def _combined(points: Sequence[_Point]) -> tuple[np.ndarray, np.ndarray]:
    """P and P m by Anderson's combination of steps, whose sizes are measured in the scale of the last precision."""
    *before, last = points
    scale = 1.0 / np.sqrt(np.diag(last.precision))

    def measured(precision: np.ndarray, pull: np.ndarray) -> np.ndarray:
        return np.concatenate([(precision * scale * scale[:, None]).ravel() / math.sqrt(2.0), pull * scale])

    away = [_step(last, _MIXED), *(_step(each, _MIXED) for each in before)]
    last_step = measured(last.precision_step, last.pull_step)
    differences = np.array([last_step - measured(each.precision_step, each.pull_step) for each in before])
    gram = differences @ differences.T
    gram += 1e-10 * np.trace(gram) * np.eye(len(before))
    shares = np.linalg.solve(gram, differences @ last_step)
    weights = np.concatenate([[1.0 - shares.sum()], shares])
    shared = [(w * precision, w * pull) for w, (precision, pull) in zip(weights, away, strict=True)]
    precision, pull = (np.sum([each[part] for each in shared], axis=0) for part in (0, 1))
    return 0.5 * (precision + precision.T), pull


def _step(point: _Point, length: float) -> tuple[np.ndarray, np.ndarray]:
    return point.precision + length * point.precision_step, point.pull + length * point.pull_step


def _other_terms(
    problem: Problem, eta: float | None, size: float, free: np.ndarray, free_sd: np.ndarray, factor: np.ndarray
) -> float:
    """What the lower bound has besides the log-likelihood: E ln p(beta, b), the terms of eta, and the entropy."""
    from scipy.special import gammaln

    count = len(factor) - len(free)
    if eta is None:  # ln of the integral of p(eta) (sqrt(eta)/2)^count exp(-sqrt(eta) size)
        log_v, logs = log_law_of_root(2.0 * problem.shape + count, size, problem.rate)
        whole = logs.max() + math.log(np.exp(logs - logs.max()).sum() * (log_v[1] - log_v[0]))
        prior = math.log(2.0) + problem.shape * math.log(problem.rate) - gammaln(problem.shape) + whole
    else:
        prior = 0.5 * count * math.log(eta) - math.sqrt(eta) * size
    prior -= count * math.log(2.0)
    prior -= 0.5 * float((free**2 + free_sd**2).sum()) / INTERCEPT_VARIANCE
    prior -= 0.5 * len(free) * math.log(2.0 * math.pi * INTERCEPT_VARIANCE)
    return prior + 0.5 * len(factor) * (1.0 + math.log(2.0 * math.pi)) - float(np.log(np.diag(factor)).sum())
