"""Move 9 of the sampler: redraw how duplicate features (same owners) share their weight.

Only their sum affects the likelihood. Each distinct pattern is visited once. (Visiting the pattern
of a random column would select patterns in proportion to their number of columns, and bias that
number.)
"""

import math
from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.discrete_draws import draw_bessel_count

from ..chain_state import ALPHA, COLUMNS, capacity, copy_row, remove_column
from ..kernel_operations import apply_copies
from ..weight_priors import gamma_rate


@scalar
def redraw_duplicates(rng: Any, model: Any, c: Any, b: Any) -> None:
    """Redraw number and weights of duplicate features, for each set of owners.

    With sum W, the number n of columns has P(n) ~ x^(n-1) / (n! (n-1)!), x = alpha * lambda * rate
    * W, and given n the weights are W times a flat Dirichlet vector. Weights must have an
    exponential prior.
    """
    merge_duplicates(b)
    for k in range(b.whole[COLUMNS]):
        x = b.real[ALPHA] * math.exp(b.log_rate[k]) * gamma_rate(model.weights) * b.w[k]
        n_copies = draw_bessel_count(rng, x, 1)
        while b.whole[COLUMNS] + n_copies > capacity(b):
            n_copies = draw_bessel_count(rng, x, 1)
        if n_copies != b.order[k]:
            apply_copies(model.likelihood, c, b, k, n_copies - b.order[k])
        if n_copies > 0:
            split_weight(rng, b, k, n_copies)


@scalar
def merge_duplicates(b: Any) -> None:
    """Merge features with the same owners; write the number merged into b.order."""
    k = 0
    while k < b.whole[COLUMNS]:
        b.order[k] = 0
        for j in range(b.whole[COLUMNS] - 1, k, -1):
            if have_same_owners(b, j, k):
                b.w[k] += b.w[j]
                b.order[k] += 1
                remove_column(b, j)
        k += 1


@scalar
def have_same_owners(b: Any, j: Any, k: Any) -> Any:
    """Return whether features j and k have the same owners."""
    if b.m[j] != b.m[k]:
        return False
    for i in range(b.Z.shape[1]):
        if b.Z[j, i] != b.Z[k, i]:
            return False
    return True


@scalar
def split_weight(rng: Any, b: Any, k: Any, n_copies: Any) -> None:
    """Divide the weight of feature k at random between it and `n_copies` copies."""
    w = b.w[k]
    start = b.whole[COLUMNS]
    b.w[k] = rng.standard_exponential()
    total = b.w[k]
    for j in range(start, start + n_copies):
        copy_row(b, k, j)
        b.m[j] = b.m[k]
        b.log_rate[j] = b.log_rate[k]
        b.w[j] = rng.standard_exponential()
        total += b.w[j]
    share = w / total
    b.w[k] *= share
    for j in range(start, start + n_copies):
        b.w[j] *= share
    b.whole[COLUMNS] = start + n_copies
