"""The sums of products of columns from which the Hessian of the log-likelihood in ln λ is put together."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thali.compile.jit import allocating, vectorised


@dataclass(frozen=True)
class Curvature:
    """Σ_{Y_i = k} W_ij W_il / T_i² for every class, and Σ_i W_ij W_il / S_i²; those of two blocks of rows add up."""

    of_classes: np.ndarray  # (K, q, q)
    of_all: np.ndarray  # (q, q)

    def __add__(self, other: "Curvature") -> "Curvature":
        return Curvature(self.of_classes + other.of_classes, self.of_all + other.of_all)


@vectorised
def _dot(W: Any, i: Any, A: Any, k: Any) -> Any:
    total = 0.0
    for j in range(W.shape[1]):
        total += W[i, j] * A[k, j]
    return total


@allocating
def add_curvature(
    W: Any, codes: Any, counts: Any, A: Any, m: Any, columns: Any, start: Any, stop: Any, sums: Any
) -> None:
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


def hessian(weights: Any, gradient: Any, curvature: Curvature, active: Any, columns: Any, total: float) -> np.ndarray:
    """Hessian in the ln λ of the active weights of the log-likelihood plus `total` · mean of ln λ̄."""
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
