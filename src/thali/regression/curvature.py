"""The sums of products of columns from which the Hessian of the log-likelihood in ln λ is put together."""

from dataclasses import dataclass

import numpy as np

from thali._jit import allocating, lanes


@dataclass(frozen=True)
class Curvature:
    """Σ_{Y_i = k} W_ij W_il / T_i² for every class, and Σ_i W_ij W_il / S_i²; those of two blocks of rows add up.

    Attributes
    ----------
    of_classes : array, shape (K, q, q)
    of_all : array, shape (q, q)
    """

    of_classes: np.ndarray
    of_all: np.ndarray

    def __add__(self, other: "Curvature") -> "Curvature":
        return Curvature(self.of_classes + other.of_classes, self.of_all + other.of_all)


@lanes
def _dot(W, i, A, k):
    total = 0.0
    for j in range(W.shape[1]):
        total += W[i, j] * A[k, j]
    return total


@allocating
def add_curvature(W, codes, counts, A, m, columns, start, stop, sums):
    """Add the products of rows start:stop to sums (K + 1, q, q), the last of which is that of all classes."""
    q, every = len(columns), len(sums) - 1
    mass = m.reshape(1, -1)
    row = np.empty(q)
    for i in range(start, stop):
        k = codes[i]
        t, u = _dot(W, i, A, k), _dot(W, i, mass, 0)
        of_class = counts[i] / t / t if t > 1e-150 else 0.0
        of_all = counts[i] / u / u if u > 1e-150 else 0.0
        for j in range(q):
            row[j] = W[i, columns[j]]
        for j in range(q):
            x, y = of_class * row[j], of_all * row[j]
            for h in range(q):
                sums[k, j, h] += x * row[h]
                sums[every, j, h] += y * row[h]


def hessian(weights, gradient, curvature: Curvature, active, columns, total: float) -> np.ndarray:
    """Hessian in the ln λ of the active weights of the log-likelihood plus `total` · mean of ln λ̄.

    Parameters
    ----------
    weights : array, shape (K, p)
        λ̄, which sums to 1.
    gradient : array, shape (number of active weights,)
        λ (R - s), without the prior.
    curvature : Curvature
        Of `columns`.
    active : pair of arrays of int
        Class and column of W of each active weight.
    columns : array of int, ascending
        Columns of W that any active weight belongs to.
    total : float
        (a - 1) K p, the pull of the prior.
    """
    of_class, column = active
    place = np.searchsorted(columns, column)
    weight = weights[active]
    products = np.outer(weight, weight)
    result = products * (curvature.of_all[np.ix_(place, place)] + total)
    result -= products * np.where(
        of_class[:, None] == of_class[None, :], curvature.of_classes[of_class[:, None], place[:, None], place], 0.0
    )
    result[np.diag_indices_from(result)] += gradient - total * weight
    return result
