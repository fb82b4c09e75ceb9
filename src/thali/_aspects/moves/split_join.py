"""Move 5: columns split and join.

A column takes the owners of another column, which are a subset of its own, from it, with their
weight; or it gives them to a column that has none of them. Only comparisons between the two groups
of owners change.
"""

from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import accept, draw_index

from ..operations import apply_transfer, delta_transfer, log_rate
from ..state import BETA, COLUMNS, copy_row, scratch
from ..weight_priors import are_positive, log_density_ratio


@scalar
def drawn_pair(rng: Any, b: Any) -> Any:
    """A random ordered pair of columns (k, l), the sign of the weight that l gains, and the owners
    that k then has.

    The sign is 1 if the owners of l lie within those of k, which gives them up, -1 if the two have
    no owner in common, so that k takes those of l over, and 0 otherwise.
    """
    columns = b.whole[COLUMNS]
    if columns < 2:
        return 0, 0, 0.0, 0
    k = draw_index(rng, columns)
    other = draw_index(rng, columns - 1)
    if other >= k:
        other += 1
    shared = 0.0
    for i in range(b.Z.shape[1] - 1):
        shared += b.Z[k, i] * b.Z[other, i]
    if b.m[other] == 0:
        return k, other, 0.0, b.m[k]
    if shared == b.m[other]:
        return k, other, 1.0, b.m[k] - b.m[other]
    return k, other, -1.0 if shared == 0.0 else 0.0, b.m[k] + b.m[other]


@scalar
def split_or_joined(b: Any, k: Any, other: Any, sign: Any) -> Any:
    """The scratch row in which the owners of column k are then written."""
    new = scratch(b)
    for i in range(b.Z.shape[1] - 1):
        b.Z[new, i] = b.Z[k, i] - sign * b.Z[other, i]
    return new


@scalar
def transfer(rng: Any, model: Any, c: Any, b: Any) -> None:
    """A random ordered pair of columns (k, l).

    If the owners of l lie within those of k, k gives them up and w[l] grows by w[k]. If the two
    have no owner in common and w[l] > w[k], or weights may have either sign, k takes the owners of
    l over as well and w[l] falls by w[k]. Where columns may be empty, k may give up all of its
    owners, and take over those of l when it has none.
    """
    k, other, sign, m = drawn_pair(rng, b)
    if sign == 0.0 or m < model.lo or m > model.hi:
        return
    # mass that the owners of the other column lose against the other owners of k
    d = -sign * b.w[k]
    if are_positive(model.weights) and b.w[other] <= d:
        return
    new = split_or_joined(b, k, other, sign)
    rate = log_rate(model.prior, b, new, m)
    ratio = rate - b.log_rate[k] + log_density_ratio(model.weights, b.w[other], -d)
    ratio += b.real[BETA] * delta_transfer(model.likelihood, c, b, k, other, d)
    if accept(rng, ratio):
        apply_transfer(model.likelihood, c, b, k, other, d)
        copy_row(b, new, k)
        b.m[k] = m
        b.log_rate[k] = rate
        b.w[other] -= d
