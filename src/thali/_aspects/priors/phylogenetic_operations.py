"""The operations of the phylogenetic Indian buffet process, as the samplers use it.

Up to `MAX_TABLED` options (`phylogenetic.py`) a table holds the rates of all patterns. For more
options they are computed pattern by pattern, and a pass over one column stores what a toggle
changes little.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar, vectorised
from thali._inference.numerics.exponential import fast_exp

from .. import operations
from ..operations import rate_between
from ..state import ALPHA
from .ibp import gamma_alpha


class Genealogy(NamedTuple):
    """The phylogenetic Indian buffet process on one tree; V nodes, n leaves, G nodes of the
    quadrature."""

    # (2^n,) log rates by pattern, bit i for option i; (1,) if there are too many options
    table: np.ndarray
    log_single: np.ndarray  # (n,)
    # (2^n,) probability of a pattern up to this number, of those with two owners or more, not all
    rising: np.ndarray
    totals: np.ndarray  # (3,) total rates of the patterns with one owner | more, but not all | all
    log_full: float
    parent: np.ndarray  # (V,) -1 for the root, which is last
    child: np.ndarray  # (V,) first child or -1
    sibling: np.ndarray  # (V,) next sibling or -1
    size: np.ndarray  # (V,) leaves below
    first: np.ndarray  # (V,) where the leaves of each node begin in `order`
    order: np.ndarray  # (n,)
    ends: np.ndarray  # (V,) lengths of the edges, added up
    gamma: np.ndarray  # (G,)
    base: np.ndarray  # (G,)
    gain: np.ndarray  # (V, G)
    # (G,) probability of this gamma or a smaller one, given that there is an owner
    decisions: np.ndarray


@scalar
def is_tabled(prior: Any) -> Any:
    return prior.table.shape[0] > 1


@scalar
def code_of(b: Any, k: Any) -> Any:
    """The pattern in row k as a number."""
    code = 0
    for i in range(b.Z.shape[1] - 1):
        code |= int(b.Z[k, i]) << i
    return code


@operations.log_rate.register(Genealogy)
def _log_rate(prior: Any, b: Any, k: Any, m: Any) -> Any:
    if is_tabled(prior):
        return prior.table[code_of(b, k)]
    if m == 1:
        return prior.log_single[lone_owner(b, k)]
    if m == b.Z.shape[1] - 1:
        return prior.log_full
    add_gains(prior, b, k)
    return log_sum(b.grid, prior.base)


@scalar
def lone_owner(b: Any, k: Any) -> Any:
    i = 0
    while b.Z[k, i] == 0.0:
        i += 1
    return i


@scalar
def add_gains(prior: Any, b: Any, k: Any) -> None:
    """The owners below each node into b.below, the gains of the maximal owning clades, added up,
    into b.grid."""
    n = b.Z.shape[1] - 1
    root = prior.parent.shape[0] - 1
    for v in range(root + 1):
        b.below[v] = int(b.Z[k, v]) if v < n else 0
    for v in range(root):
        b.below[prior.parent[v]] += b.below[v]
    for g in range(prior.base.shape[0]):
        b.grid[g] = 0.0
    for v in range(root):
        up = prior.parent[v]
        if b.below[v] == prior.size[v] and (up == root or b.below[up] < prior.size[up]):
            add_gain(prior, b.grid, v, 1.0)


@scalar
def add_gain(prior: Any, sums: Any, v: Any, sign: Any) -> None:
    for g in range(prior.base.shape[0]):
        sums[g] += sign * prior.gain[v, g]


@vectorised
def log_sum(sums: Any, base: Any) -> Any:
    """log of the sum of exp(sums + base)."""
    top = -np.inf
    for g in range(base.shape[0]):
        top = max(top, sums[g] + base[g])
    total = 0.0
    for g in range(base.shape[0]):
        total += fast_exp(sums[g] + base[g] - top)
    return top + math.log(total)


@operations.open_column.register(Genealogy)
def _open_column(prior: Any, b: Any, k: Any) -> None:
    if not is_tabled(prior):
        add_gains(prior, b, k)


@operations.log_rate_toggled.register(Genealogy)
def _log_rate_toggled(prior: Any, b: Any, k: Any, i: Any, m: Any) -> Any:
    if is_tabled(prior):
        return prior.table[code_of(b, k) ^ (1 << i)]
    if m == 1:
        owner = lone_owner(b, k)
        if owner == i:  # which leaves it to the other one
            owner += 1
            while b.Z[k, owner] == 0.0:
                owner += 1
        return prior.log_single[owner]
    if m == b.Z.shape[1] - 1:
        return prior.log_full
    for g in range(prior.base.shape[0]):
        b.trial[g] = b.grid[g]
    toggle_gains(prior, b, b.trial, k, i)
    return log_sum(b.trial, prior.base)


@scalar
def toggle_gains(prior: Any, b: Any, sums: Any, k: Any, i: Any) -> None:
    """What a toggle of option i does to the gains: one clade takes the place of others, or the
    reverse.

    It is the largest clade that all own if i does; without i its parts beside the path from i to
    the root are separate.
    """
    root = prior.parent.shape[0] - 1
    joins = b.Z[k, i] == 0.0
    missing = 1 if joins else 0
    sign = 1.0 if joins else -1.0
    v = i
    while (
        prior.parent[v] != root
        and b.below[prior.parent[v]] + missing == prior.size[prior.parent[v]]
    ):
        up = prior.parent[v]
        other = prior.child[up]
        while other >= 0:
            if other != v:
                add_gain(prior, sums, other, -sign)
            other = prior.sibling[other]
        v = up
    add_gain(prior, sums, v, sign)


@operations.toggled.register(Genealogy)
def _toggled(prior: Any, b: Any, k: Any, i: Any) -> None:
    if not is_tabled(prior):
        toggle_gains(prior, b, b.grid, k, i)
        step = 1 if b.Z[k, i] == 0.0 else -1
        v = i
        while v >= 0:
            b.below[v] += step
            v = prior.parent[v]


@operations.rate_between.register(Genealogy)
def _rate_between(prior: Any, lo: Any, hi: Any) -> Any:
    n = prior.log_single.shape[0]
    total = 0.0
    if lo <= 1 <= hi:
        total += prior.totals[0]
    if lo <= 2 and hi >= n - 1:
        total += prior.totals[1]
    if lo <= n <= hi:
        total += prior.totals[2]
    return total


@operations.rate_single.register(Genealogy)
def _rate_single(prior: Any, i: Any) -> Any:
    return math.exp(prior.log_single[i])


@operations.draw_pattern.register(Genealogy)
def _draw_pattern(prior: Any, rng: np.random.Generator, b: Any, k: Any, lo: Any, hi: Any) -> Any:
    n = b.Z.shape[1] - 1
    u = rng.random() * rate_between(prior, lo, hi)
    single = prior.totals[0] if lo <= 1 else 0.0
    if u < single:
        i = 0
        while i < n - 1 and u >= math.exp(prior.log_single[i]):
            u -= math.exp(prior.log_single[i])
            i += 1
        return write_code(b, k, 1 << i) if is_tabled(prior) else write_owner(b, k, i)
    if hi == n and u >= single + prior.totals[1]:
        for i in range(n):
            b.Z[k, i] = 1.0
        return n
    if is_tabled(prior):
        return write_code(b, k, position(prior.rising, rng.random()))
    return draw_edges(prior, rng, b, k)


@scalar
def write_owner(b: Any, k: Any, i: Any) -> Any:
    for j in range(b.Z.shape[1]):
        b.Z[k, j] = 0.0
    b.Z[k, i] = 1.0
    return 1


@scalar
def write_code(b: Any, k: Any, code: Any) -> Any:
    """The pattern of that number into row k; returns how many own it."""
    m = 0
    for i in range(b.Z.shape[1] - 1):
        owns = (code >> i) & 1
        b.Z[k, i] = float(owns)
        m += owns
    return m


@scalar
def draw_edges(prior: Any, rng: np.random.Generator, b: Any, k: Any) -> Any:
    """Draw a pattern with two owners or more, but not all, by the edges that gain the feature.

    Draw gamma given that there is an owner, then the places of gain, a Poisson process of that rate
    on the total length, the first given that there is one; repeat until the pattern has the
    required size.
    """
    n = b.Z.shape[1] - 1
    total = prior.ends[prior.ends.shape[0] - 1]
    while True:
        gamma = prior.gamma[position(prior.decisions, rng.random())]
        for i in range(n + 1):
            b.Z[k, i] = 0.0
        m = 0
        place = -math.log1p(rng.random() * math.expm1(-gamma * total)) / gamma
        while place < total:
            v = position(prior.ends, place)
            for t in range(prior.first[v], prior.first[v] + prior.size[v]):
                i = prior.order[t]
                if b.Z[k, i] == 0.0:
                    b.Z[k, i] = 1.0
                    m += 1
            place += rng.standard_exponential() / gamma
        if 2 <= m < n:
            return m


@scalar
def position(rising: Any, value: Any) -> Any:
    """The first entry above the value; the last one if none is."""
    least = 0
    most = rising.shape[0] - 1
    while least < most:
        middle = (least + most) // 2
        if value < rising[middle]:
            most = middle
        else:
            least = middle + 1
    return least


@operations.is_exchangeable.register(Genealogy)
def _is_exchangeable(prior: Any) -> Any:
    return False


@operations.keeps_empty.register(Genealogy)
def _keeps_empty(prior: Any) -> Any:
    return False


@operations.may_flip.register(Genealogy)
def _may_flip(prior: Any) -> Any:
    return True


@operations.set_alpha.register(Genealogy)
def _set_alpha(prior: Any, b: Any, alpha: Any) -> None:
    b.real[ALPHA] = alpha


operations.draw_alpha.register(Genealogy)(gamma_alpha)
