"""Cholesky factors of small matrices, in compiled code that allocates nothing."""

import math

from thali._jit import scalar


@scalar
def factorise(a, l):
    """Write the lower L with L L^T = a into `l`; what lies above the diagonal is left as it was."""
    for i in range(a.shape[0]):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= l[i, k] * l[j, k]
            if i == j:
                l[i, i] = math.sqrt(total)
            else:
                l[i, j] = total / l[j, j]


@scalar
def solve_lower(l, x):
    """Replace x by L^-1 x."""
    for i in range(x.size):
        total = x[i]
        for k in range(i):
            total -= l[i, k] * x[k]
        x[i] = total / l[i, i]


@scalar
def solve_upper(l, x):
    """Replace x by L^-T x."""
    for i in range(x.size - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, x.size):
            total -= l[k, i] * x[k]
        x[i] = total / l[i, i]
