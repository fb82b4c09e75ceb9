"""Move 5: columns split and join.

A column takes the owners of another column, which are a subset of its own, from it, with their weight; or it gives them
to a column that has none of them. Only comparisons between the two groups of owners change.
"""

from typing import Any

from thali._jit import scalar
from thali.inference.numerics.decisions import accept, index

from ..operations import apply_transfer, delta_transfer, log_rate
from ..state import BETA, COLUMNS, scratch
from ..weight_priors import are_positive, log_density_ratio


@scalar
def transfer(rng: Any, model: Any, c: Any, b: Any) -> None:
    """A random ordered pair of columns (k, l).

    If the owners of l lie within those of k, k gives them up and w[l] grows by w[k]. If the two have no owner in common
    and w[l] > w[k], or weights may have either sign, k takes the owners of l over as well and w[l] falls by w[k]. Where
    columns may be empty, k may give up all of its owners, and take over those of l when it has none.
    """
    columns = b.whole[COLUMNS]
    if columns < 2:
        return
    k = index(rng, columns)
    other = index(rng, columns - 1)
    if other >= k:
        other += 1
    n = b.Z.shape[1] - 1
    shared = 0.0
    for i in range(n):
        shared += b.Z[k, i] * b.Z[other, i]
    if b.m[other] == 0:
        return
    splits = shared == b.m[other]
    m = b.m[k] - b.m[other] if splits else b.m[k] + b.m[other]
    d = -b.w[k] if splits else b.w[k]  # mass that the owners of the other column lose against the other owners of k
    if not splits and (shared > 0.0 or (are_positive(model.weights) and b.w[other] <= b.w[k])):
        return
    if m < model.lo or m > model.hi:
        return
    sign = -1.0 if splits else 1.0
    new = scratch(b)
    for i in range(n):
        b.Z[new, i] = b.Z[k, i] + sign * b.Z[other, i]
    rate = log_rate(model.prior, b, new, m)
    ratio = rate - b.log_rate[k] + log_density_ratio(model.weights, b.w[other], -d)
    ratio += b.real[BETA] * delta_transfer(model.likelihood, c, b, k, other, d)
    if accept(rng, ratio):
        apply_transfer(model.likelihood, c, b, k, other, d)
        for i in range(n):
            b.Z[k, i] = b.Z[new, i]
        b.m[k] = m
        b.log_rate[k] = rate
        b.w[other] -= d
