"""Move 9: only the sum of the weights of columns with the same owners matters; redraw how it is
split.

Each distinct pattern is visited once. (Visiting the pattern of a random column would select
patterns in proportion to their number of columns, and bias it.)
"""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import draw_bessel_count

from ..operations import apply_copies
from ..state import ALPHA, COLUMNS, capacity, copy_row, remove_column
from ..weight_priors import rate_of


@scalar
def split_duplicates(rng: Any, model: Any, c: Any, b: Any) -> None:
    """With sum W, the number n of columns has P(n) ~ x^(n-1) / (n! (n-1)!), x = alpha * lambda *
    rate * W, and given n the weights are W times a flat Dirichlet vector. Needs exponential
    weights."""
    merge(b)
    for k in range(b.whole[COLUMNS]):
        x = b.real[ALPHA] * math.exp(b.log_rate[k]) * rate_of(model.weights) * b.w[k]
        extra = draw_bessel_count(rng, x, 1)
        while b.whole[COLUMNS] + extra > capacity(b):
            extra = draw_bessel_count(rng, x, 1)
        if extra != b.order[k]:
            apply_copies(model.likelihood, c, b, k, extra - b.order[k])
        if extra > 0:
            split(rng, b, k, extra)


@scalar
def merge(b: Any) -> None:
    """Keep one column of each pattern, with the summed weight; b.order gets the number of columns
    merged into it."""
    k = 0
    while k < b.whole[COLUMNS]:
        b.order[k] = 0
        for j in range(b.whole[COLUMNS] - 1, k, -1):
            if same_owners(b, j, k):
                b.w[k] += b.w[j]
                b.order[k] += 1
                remove_column(b, j)
        k += 1


@scalar
def same_owners(b: Any, j: Any, k: Any) -> Any:
    if b.m[j] != b.m[k]:
        return False
    for i in range(b.Z.shape[1]):
        if b.Z[j, i] != b.Z[k, i]:
            return False
    return True


@scalar
def split(rng: Any, b: Any, k: Any, extra: Any) -> None:
    """Divide the weight of column k between it and `extra` copies."""
    whole = b.w[k]
    first = b.whole[COLUMNS]
    b.w[k] = rng.standard_exponential()
    total = b.w[k]
    for j in range(first, first + extra):
        copy_row(b, k, j)
        b.m[j] = b.m[k]
        b.log_rate[j] = b.log_rate[k]
        b.w[j] = rng.standard_exponential()
        total += b.w[j]
    share = whole / total
    b.w[k] *= share
    for j in range(first, first + extra):
        b.w[j] *= share
    b.whole[COLUMNS] = first + extra
