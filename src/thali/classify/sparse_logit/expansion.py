r"""The log-likelihood of the multinomial logit to second order: at some coefficients, or its mean over a normal law.

The mean over Normal(mu, V) of the q linear predictors of a row, V = L L^T, is that over points mu + L u. The u are the
axes of some rotations at several distances: exact for polynomials of degree 3, and with r distances and every rotation
of degree 4 r - 1. The curvature of the mean is -2 times its slopes in V, which are exact for this rule, so that a
natural gradient of the bound raises it.

References: Arasaratnam & Haykin (2009), Cubature Kalman filters, section 3; Opper & Archambeau (2009), equation 10.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from .sweep import Problem

ROWS = 2**14  # whose probabilities are computed at a time
FEW_ROWS, MANY_ROWS = 3, 1  # radii, by whether coefficients are uncertain enough for the rule to matter


@dataclass(frozen=True)
class Expansion:
    """The log-likelihood to second order in the coefficients of the q classes other than the reference.

    Those of two blocks of rows add up.
    """

    log_likelihood: float
    gradient: np.ndarray  # (q m,)
    curvature: np.ndarray  # (q m, q m), minus the second derivatives

    def __add__(self, other: "Expansion") -> "Expansion":
        return Expansion(
            self.log_likelihood + other.log_likelihood,
            self.gradient + other.gradient,
            self.curvature + other.curvature,
        )


def expansion_at(
    problem: Problem, coef: np.ndarray, covariance: np.ndarray | None = None, radii: int = FEW_ROWS
) -> Expansion:
    """The expansion at coef (q, m), or that of its mean over Normal(coef, covariance), by blocks of rows."""
    A, (q, m) = problem.covariates, coef.shape
    others = np.flatnonzero(np.arange(problem.classes) != problem.reference)
    total, gradient = 0.0, np.zeros((q, m))
    curvature = np.zeros((q, m, q, m))
    for first in range(0, A.shape[1], ROWS):
        part = slice(first, first + ROWS)
        Z = A[:, part]
        own = (others[:, None] == problem.codes[part]).astype(float)
        each = _at(coef @ Z, own) if covariance is None else _around(coef @ Z, own, Z, covariance, radii)
        weights = problem.counts[part] * each.curvature
        total += float(problem.counts[part] @ each.log_likelihood)
        gradient += (problem.counts[part] * each.gradient) @ Z.T
        for k in range(q):
            for other in range(k + 1):
                curvature[k, :, other] += (Z * weights[k, other]) @ Z.T
    for k in range(q):
        for other in range(k):
            curvature[other, :, k] = curvature[k, :, other].T
    return Expansion(total, gradient.ravel(), curvature.reshape(q * m, q * m))


class Rule(NamedTuple):
    """Places of a standard normal vector of length q, and their weights."""

    places: np.ndarray  # (points, q)
    weights: np.ndarray  # (points,)


@cache
def rule_of(q: int, radii: int) -> Rule:
    """The axes of a few rotations, at the radii of Gauss and Laguerre."""
    from scipy.special import roots_genlaguerre

    halves, shares = roots_genlaguerre(radii, 0.5 * q - 1.0)  # of half the squared length
    rng = np.random.default_rng(0)
    turned = [np.linalg.qr(rng.normal(size=(q, q)))[0] for _ in range(1 if q == 1 else max(2, 8 // q))]
    axes = np.concatenate([sign * each for each in turned for sign in (1.0, -1.0)])
    places = np.concatenate([math.sqrt(2.0 * half) * axes for half in halves])
    return Rule(places, np.repeat(shares / shares.sum() / len(axes), len(axes)))


class _Rows(NamedTuple):
    """The log-likelihood of each row to second order in its q linear predictors."""

    log_likelihood: np.ndarray  # (n,)
    gradient: np.ndarray  # (q, n)
    curvature: np.ndarray  # (q, q, n)


def _points(linear: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log-likelihoods (J, n) and probabilities (J, q, n) at J linear predictors (J, q, n) of every row."""
    top = np.maximum(linear.max(axis=1), 0.0)
    share = np.exp(linear - top[:, None])
    sums = share.sum(axis=1) + np.exp(-top)
    share /= sums[:, None]
    return (linear * own).sum(axis=1) - top - np.log(sums), share


def _at(linear: np.ndarray, own: np.ndarray) -> _Rows:
    """At linear predictors (q, n)."""
    log_p, (share,) = _points(linear[None], own)
    curvature = -share[:, None] * share
    np.einsum("kki->ki", curvature)[:] += share
    return _Rows(log_p[0], own - share, curvature)


def _around(linear: np.ndarray, own: np.ndarray, Z: np.ndarray, covariance: np.ndarray, radii: int) -> _Rows:
    """The mean over the law of the linear predictors, by the points of the rule.

    With L̄ the slopes of that mean in L, those in V are half of L^-T (P + P^T) L^-1, where P is the lower triangle of
    L^T L̄ with half its diagonal.
    """
    (q, n), m = linear.shape, len(Z)
    spread = np.empty((n, q, q))
    for k in range(q):
        for other in range(k + 1):
            block = covariance[k * m : (k + 1) * m, other * m : (other + 1) * m]
            spread[:, k, other] = spread[:, other, k] = ((block @ Z) * Z).sum(axis=0)
    spread[:, np.arange(q), np.arange(q)] += 1e-14 * (1.0 + np.einsum("ikk->ik", spread))  # of rows that are 0
    root = np.linalg.cholesky(spread)
    places, weights = rule_of(q, radii)
    moved = places @ np.ascontiguousarray(root.transpose(2, 1, 0)).reshape(q, q * n)
    log_p, share = _points(linear + moved.reshape(-1, q, n), own)
    residual = weights[:, None, None] * (own - share)
    slopes = (places.T @ residual.reshape(-1, q * n)).reshape(q, q, n).transpose(2, 1, 0)
    P = np.tril(root.transpose(0, 2, 1) @ slopes)
    P[:, np.arange(q), np.arange(q)] *= 0.5
    inverse = np.linalg.inv(root)
    curvature = -inverse.transpose(0, 2, 1) @ (P + P.transpose(0, 2, 1)) @ inverse
    return _Rows(weights @ log_p, residual.sum(axis=0), curvature.transpose(1, 2, 0))
