"""Move 5 of the sampler: a feature splits in two, or two features join.

A column gives up the owners of another column, if they are a subset of its owners, together with
their weight; or it takes over the owners of a column with which it has none in common. Only
comparisons between the two groups of owners change.
"""

from typing import Any

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import accept, draw_index, draw_other_index

from ..operations import apply_transfer, delta_transfer, log_rate
from ..state import BETA, COLUMNS, copy_row, scratch_index
from ..weight_priors import is_positive_prior, log_density_ratio


@scalar
def draw_column_pair(rng: Any, b: Any) -> Any:
    """Draw an ordered pair of features (k, l); return it, split or join sign, new size.

    The sign is that of the weight that l gains; the last value is the number of owners that k then
    has. The sign is 1 if the owners of l are a subset of the owners of k, which gives them up, -1
    if the two have no owner in common, so that k takes over the owners of l, and 0 otherwise.
    """
    n_columns = b.whole[COLUMNS]
    if n_columns < 2:
        return 0, 0, 0.0, 0
    k = draw_index(rng, n_columns)
    partner = draw_other_index(rng, n_columns, k)
    n_shared = 0.0
    for i in range(b.Z.shape[1] - 1):
        n_shared += b.Z[k, i] * b.Z[partner, i]
    if b.m[partner] == 0:
        return k, partner, 0.0, b.m[k]
    if n_shared == b.m[partner]:
        return k, partner, 1.0, b.m[k] - b.m[partner]
    if n_shared == 0.0:
        return k, partner, -1.0, b.m[k] + b.m[partner]
    return k, partner, 0.0, b.m[k]


@scalar
def write_split_or_join(b: Any, k: Any, partner: Any, sign: Any) -> Any:
    """Write the owners that feature k would have into the scratch row; return the row."""
    scratch_row = scratch_index(b)
    for i in range(b.Z.shape[1] - 1):
        b.Z[scratch_row, i] = b.Z[k, i] - sign * b.Z[partner, i]
    return scratch_row


@scalar
def propose_split_or_join(rng: Any, model: Any, c: Any, b: Any) -> None:
    """Move 5: propose that a random ordered pair of features splits or joins.

    If the owners of l are a subset of the owners of k, k gives them up and w[l] grows by w[k]. If
    the two have no owner in common and w[l] > w[k], or weights may have either sign, k also takes
    the owners of l and w[l] falls by w[k]. Where columns may be empty, k may give up all of its
    owners, and take the owners of l when it has none.
    """
    k, partner, sign, m = draw_column_pair(rng, b)
    if sign == 0.0 or m < model.lo or m > model.hi:
        return
    # mass that the owners of l lose against the other owners of k
    d = -sign * b.w[k]
    if is_positive_prior(model.weights) and b.w[partner] <= d:
        return
    scratch_row = write_split_or_join(b, k, partner, sign)
    rate = log_rate(model.prior, b, scratch_row, m)
    ratio = rate - b.log_rate[k] + log_density_ratio(model.weights, b.w[partner], -d)
    ratio += b.real[BETA] * delta_transfer(model.likelihood, c, b, k, partner, d)
    if accept(rng, ratio):
        apply_transfer(model.likelihood, c, b, k, partner, d)
        copy_row(b, scratch_row, k)
        b.m[k] = m
        b.log_rate[k] = rate
        b.w[partner] -= d
