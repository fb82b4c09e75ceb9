r"""The log-likelihood of the multinomial logit to second order: at some coefficients, or its mean over a normal law.

The mean over Normal(m, V) of the linear predictors of a row is that over 2 q points m ± sqrt(q) L e_j, V = L L^T, for q
classes other than the reference: exact for polynomials of degree 3.

Reference: Arasaratnam & Haykin (2009), Cubature Kalman filters, section 3.
"""

import math
from dataclasses import dataclass

import numpy as np

from .sweep import Problem

ROWS = 2**14  # whose probabilities are computed at a time


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


def expansion_at(problem: Problem, coef: np.ndarray, covariance: np.ndarray | None = None) -> Expansion:
    """The expansion at coef (q, m), or its mean over Normal(coef, covariance), by blocks of rows."""
    A, (q, m) = problem.covariates, coef.shape
    others = np.flatnonzero(np.arange(problem.classes) != problem.reference)
    total, gradient = 0.0, np.zeros((q, m))
    curvature = np.zeros((q, m, q, m))
    for first in range(0, A.shape[1], ROWS):
        part = slice(first, first + ROWS)
        Z, counts = A[:, part], problem.counts[part]
        own = others[:, None] == problem.codes[part]
        linear = coef @ Z
        points = [linear] if covariance is None else _around(linear, Z, covariance)
        each = counts / len(points)
        residual = np.zeros_like(linear)
        weights = np.zeros((q, q, Z.shape[1]))
        for point in points:
            top = np.maximum(point.max(axis=0), 0.0)
            share = np.exp(point - top)
            sums = share.sum(axis=0) + np.exp(-top)
            share /= sums
            total += float(each @ ((point * own).sum(axis=0) - top - np.log(sums)))
            residual += (own - share) * each
            for k in range(q):
                for other in range(k + 1):
                    weights[k, other] += each * share[k] * ((k == other) - share[other])
        gradient += residual @ Z.T
        for k in range(q):
            for other in range(k + 1):
                curvature[k, :, other] += (Z * weights[k, other]) @ Z.T
    for k in range(q):
        for other in range(k):
            curvature[other, :, k] = curvature[k, :, other].T
    return Expansion(total, gradient.ravel(), curvature.reshape(q * m, q * m))


def _around(linear: np.ndarray, Z: np.ndarray, covariance: np.ndarray) -> list[np.ndarray]:
    """The points (q, n) of the rule, for linear predictors (q, n) of rows Z (m, n)."""
    (q, n), m = linear.shape, len(Z)
    spread = np.empty((n, q, q))
    for k in range(q):
        for other in range(k + 1):
            block = covariance[k * m : (k + 1) * m, other * m : (other + 1) * m]
            spread[:, k, other] = spread[:, other, k] = ((block @ Z) * Z).sum(axis=0)
    spread[:, np.arange(q), np.arange(q)] += 1e-14 * (1.0 + np.einsum("ikk->ik", spread))  # of rows that are 0
    steps = math.sqrt(q) * np.linalg.cholesky(spread)
    return [linear + sign * steps[:, :, j].T for j in range(q) for sign in (1.0, -1.0)]
