"""Cholesky factors of small matrices, in compiled code without allocation."""

import math
from typing import Any

from thali._compile.jit import scalar


@scalar
def factorise(a: Any, lower: Any) -> None:
    """Write the Cholesky factor L of a (a = L L^T) into the lower triangle of `lower`."""
    for i in range(a.shape[0]):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= lower[i, k] * lower[j, k]
            if i == j:
                lower[i, i] = math.sqrt(total)
            else:
                lower[i, j] = total / lower[j, j]


@scalar
def solve_lower(lower: Any, x: Any) -> None:
    """Replace x by L^-1 x, for a lower triangular matrix L."""
    for i in range(x.size):
        total = x[i]
        for k in range(i):
            total -= lower[i, k] * x[k]
        x[i] = total / lower[i, i]


@scalar
def solve_upper(lower: Any, x: Any) -> None:
    """Replace x by L^-T x, for a lower triangular matrix L."""
    for i in range(x.size - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, x.size):
            total -= lower[k, i] * x[k]
        x[i] = total / lower[i, i]


@scalar
def draw_normal(rng: Any, lower: Any, x: Any) -> None:
    """Replace x by a normal draw with mean A^-1 x and precision A = L L^T."""
    solve_lower(lower, x)
    for i in range(x.size):
        x[i] += rng.standard_normal()
    solve_upper(lower, x)
