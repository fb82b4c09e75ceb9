"""Move 5: columns split and join.

A column whose owners are some of another's takes them over from it, with their weight; or gives them up to a column
that has none of them. Only comparisons between the two groups of owners change.
"""

from thali._jit import scalar
from thali.mcmc.bag import COLUMNS, HEAT, scratch
from thali.mcmc.chance import accept, index
from thali.mcmc.unique import log_weight_ratio
from thali.mcmc.verbs import apply_transfer, delta_transfer, log_rate


@scalar
def transfer(rng, model, c, b):
    """A random ordered pair of columns (k, l).

    If the owners of l lie within those of k, k gives them up and w[l] grows by w[k]. If the two have no owner in common
    and w[l] > w[k], k takes the owners of l over as well and w[l] falls by w[k]. Where columns may be empty, k may give
    up all of its owners, and take over those of l when it has none.
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
    d = -b.w[k] if splits else b.w[k]  # what the owners of the other column lose against the rest of k
    if not splits and (shared > 0.0 or b.w[other] <= b.w[k]):
        return
    if m < model.lo or m > model.hi:
        return
    sign = -1.0 if splits else 1.0
    new = scratch(b)
    for i in range(n):
        b.Z[new, i] = b.Z[k, i] + sign * b.Z[other, i]
    rate = log_rate(model.prior, b, new, m)
    ratio = rate - b.log_rate[k] + log_weight_ratio(model, b.w[other], -d)
    ratio += b.real[HEAT] * delta_transfer(model.likelihood, c, b, k, other, d)
    if accept(rng, ratio):
        apply_transfer(model.likelihood, c, b, k, other, d)
        for i in range(n):
            b.Z[k, i] = b.Z[new, i]
        b.m[k] = m
        b.log_rate[k] = rate
        b.w[other] -= d
