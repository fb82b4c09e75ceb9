"""Kernel operations of the phylogenetic Indian buffet process: rates and draws of owners.

Up to `MAX_TABLE_OPTIONS` options (`phylogenetic.py`) a table has the rates of all patterns. For
more options rates are computed pattern by pattern, and a pass over one column stores the sums that
a flip changes little.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import register_answers, scalar, vectorised
from thali._inference.numerics.fast_exponential import fast_exp

from .. import kernel_operations
from ..chain_state import FeatureState, clear_row, count_options, owns, write_owner_range
from ..kernel_operations import rate_by_size_range
from .indian_buffet import draw_gamma_alpha, find_position, store_alpha


class PhylogeneticColumns(NamedTuple):
    """The prior on a tree (V nodes, n leaves, G grid points) as kernels read it."""

    # (2^n,) log rates by pattern, bit i for option i; (1,) with too many options for a table
    table: np.ndarray
    log_single: np.ndarray  # (n,)
    # (2^n,) cumulative probability over patterns with at least two owners, but not all
    cumulative: np.ndarray
    totals: np.ndarray  # (3,) total rates of the patterns with one owner | more, but not all | all
    log_full: float
    parent: np.ndarray  # (V,) -1 for the root, which is last
    child: np.ndarray  # (V,) first child or -1
    sibling: np.ndarray  # (V,) next sibling or -1
    size: np.ndarray  # (V,) leaves below
    first: np.ndarray  # (V,) position in `order` of the first leaf below each node
    order: np.ndarray  # (n,)
    ends: np.ndarray  # (V,) cumulative lengths of the edges
    gamma: np.ndarray  # (G,)
    base: np.ndarray  # (G,)
    gain: np.ndarray  # (V, G)
    # (G,) cumulative probability of gamma, given that the feature has an owner
    decisions: np.ndarray


@scalar
def has_table(prior: Any) -> Any:
    """Return whether the rates of all sets of owners are tabulated (few options)."""
    return prior.table.shape[0] > 1


@scalar
def encode_pattern(b: Any, k: Any) -> Any:
    """Return the owners of row k as an integer with bit i for option i."""
    code = 0
    for i in range(count_options(b)):
        code |= int(b.Z[k, i]) << i
    return code


@kernel_operations.log_rate.register(PhylogeneticColumns)
def _log_rate(prior: PhylogeneticColumns, b: FeatureState, k: int, m: int) -> Any:
    """Return the log rate of the feature in row k, which has m owners."""
    if has_table(prior):
        return prior.table[encode_pattern(b, k)]
    if m == 1:
        return prior.log_single[find_owner(b, k)]
    if m == count_options(b):
        return prior.log_full
    sum_pattern_gains(prior, b, k)
    return log_sum_exp(b.grid, prior.base)


@scalar
def find_owner(b: Any, k: Any) -> Any:
    """Return the first owner of the feature in row k."""
    i = 0
    while not owns(b, i, k):
        i += 1
    return i


@scalar
def sum_pattern_gains(prior: Any, b: Any, k: Any) -> None:
    """Fill b.owners_below with owners below each node, b.grid with gains of complete clades."""
    n = count_options(b)
    root = prior.parent.size - 1
    for i in range(n):
        b.owners_below[i] = int(b.Z[k, i])
    for v in range(n, root + 1):
        b.owners_below[v] = 0
    for v in range(root):
        b.owners_below[prior.parent[v]] += b.owners_below[v]
    for g in range(prior.base.size):
        b.grid[g] = 0.0
    for v in range(root):
        parent = prior.parent[v]
        if b.owners_below[v] == prior.size[v] and (
            parent == root or b.owners_below[parent] < prior.size[parent]
        ):
            add_gain(prior, b.grid, v, 1.0)


@scalar
def add_gain(prior: Any, sums: Any, v: Any, sign: Any) -> None:
    """Add the gain of tree node v to the sums over the grid, or subtract it."""
    for g in range(prior.base.size):
        sums[g] += sign * prior.gain[v, g]


@vectorised
def log_sum_exp(sums: Any, base: Any) -> Any:
    """Return log(sum(exp(sums + base))) without overflow."""
    top = -np.inf
    for g in range(base.shape[0]):
        top = max(top, sums[g] + base[g])
    total = 0.0
    for g in range(base.shape[0]):
        total += fast_exp(sums[g] + base[g] - top)
    return top + math.log(total)


@kernel_operations.open_column.register(PhylogeneticColumns)
def _open_column(prior: PhylogeneticColumns, b: FeatureState, k: int) -> None:
    """Sum the gains of the feature in row k once, unless rates are tabulated."""
    if not has_table(prior):
        sum_pattern_gains(prior, b, k)


@kernel_operations.log_rate_after_toggle.register(PhylogeneticColumns)
def _log_rate_toggled(prior: PhylogeneticColumns, b: FeatureState, k: int, i: int, m: int) -> Any:
    """Return the log rate of the feature in row k if option i is toggled."""
    if has_table(prior):
        return prior.table[encode_pattern(b, k) ^ (1 << i)]
    if m == 1:
        owner = find_owner(b, k)
        if owner == i:  # option i leaves, so the other owner remains
            owner += 1
            while not owns(b, owner, k):
                owner += 1
        return prior.log_single[owner]
    if m == count_options(b):
        return prior.log_full
    for g in range(prior.base.size):
        b.trial[g] = b.grid[g]
    flip_gains(prior, b, b.trial, k, i)
    return log_sum_exp(b.trial, prior.base)


@scalar
def flip_gains(prior: Any, b: Any, sums: Any, k: Any, i: Any) -> None:
    """Update the summed gains on the grid for a toggle of option i.

    If i joins, the largest clade that all own then replaces its parts, which without i are the
    separate clades off the path from i to the root; if i leaves, the reverse.
    """
    root = prior.parent.size - 1
    missing, sign = 0, -1.0
    if not owns(b, i, k):
        missing, sign = 1, 1.0
    v = i
    while (
        prior.parent[v] != root
        and b.owners_below[prior.parent[v]] + missing == prior.size[prior.parent[v]]
    ):
        parent = prior.parent[v]
        sibling = prior.child[parent]
        while sibling >= 0:
            if sibling != v:
                add_gain(prior, sums, sibling, -sign)
            sibling = prior.sibling[sibling]
        v = parent
    add_gain(prior, sums, v, sign)


@kernel_operations.record_toggle.register(PhylogeneticColumns)
def _record_toggle(prior: PhylogeneticColumns, b: FeatureState, k: int, i: int) -> None:
    """Update the owner counts (or gains) that `open_column` stored, before a toggle of i."""
    if not has_table(prior):
        flip_gains(prior, b, b.grid, k, i)
        step = -1
        if not owns(b, i, k):
            step = 1
        v = i
        while v >= 0:
            b.owners_below[v] += step
            v = prior.parent[v]


@kernel_operations.rate_by_size_range.register(PhylogeneticColumns)
def _rate_between(prior: PhylogeneticColumns, lo: int, hi: int) -> Any:
    """Return the total rate of features with lo to hi owners, per alpha."""
    n = prior.log_single.size
    total = 0.0
    if lo <= 1 <= hi:
        total += prior.totals[0]
    if lo <= 2 and hi >= n - 1:
        total += prior.totals[1]
    if lo <= n <= hi:
        total += prior.totals[2]
    return total


@kernel_operations.rate_single.register(PhylogeneticColumns)
def _rate_single(prior: PhylogeneticColumns, i: int) -> Any:
    """Return the rate of features that only option i owns, per alpha."""
    return math.exp(prior.log_single[i])


@kernel_operations.draw_pattern.register(PhylogeneticColumns)
def _draw_pattern(
    prior: PhylogeneticColumns, rng: np.random.Generator, b: FeatureState, k: int, lo: int, hi: int
) -> Any:
    """Draw the lo to hi owners of feature k by the prior's rates; return their number."""
    n = count_options(b)
    u = rng.random() * rate_by_size_range(prior, lo, hi)
    single_rate = 0.0
    if lo <= 1:
        single_rate = prior.totals[0]
    if u < single_rate:
        i = 0
        while i < n - 1 and u >= math.exp(prior.log_single[i]):
            u -= math.exp(prior.log_single[i])
            i += 1
        write_owner_range(b, k, i, 1)
        return 1
    if hi == n and u >= single_rate + prior.totals[1]:
        write_owner_range(b, k, 0, n)
        return n
    if has_table(prior):
        return write_pattern(b, k, find_interval(prior.cumulative, rng.random()))
    return draw_pattern_by_edges(prior, rng, b, k)


@scalar
def write_pattern(b: Any, k: Any, code: Any) -> Any:
    """Write owners encoded as bits of `code` into row k; return their number."""
    m = 0
    for i in range(count_options(b)):
        owns = (code >> i) & 1
        b.Z[k, i] = float(owns)
        m += owns
    return m


@scalar
def draw_pattern_by_edges(prior: Any, rng: np.random.Generator, b: Any, k: Any) -> Any:
    """Draw at least two, not all, owners into row k, by tree edges that gain the feature.

    Draw gamma given that the feature has an owner, then the positions of gains, a Poisson process
    of rate gamma on the total length, with at least one gain; repeat until the pattern has the
    required number of owners.
    """
    n = count_options(b)
    total = prior.ends[-1]
    while True:
        gamma = prior.gamma[find_interval(prior.decisions, rng.random())]
        clear_row(b, k)
        m = 0
        position = -math.log1p(rng.random() * math.expm1(-gamma * total)) / gamma
        while position < total:
            v = find_interval(prior.ends, position)
            for t in range(prior.first[v], prior.first[v] + prior.size[v]):
                i = prior.order[t]
                if not owns(b, i, k):
                    b.Z[k, i] = 1.0
                    m += 1
            position += rng.standard_exponential() / gamma
        if 2 <= m < n:
            return m


@scalar
def find_interval(cumulative: Any, x: Any) -> Any:
    """Return the index of the first entry above x, else the last index."""
    return find_position(cumulative, x, 0, cumulative.size - 1)


register_answers(
    PhylogeneticColumns,
    {
        kernel_operations.is_exchangeable: False,  # rates depend on owners' positions in the tree
        kernel_operations.keeps_empty: False,
        kernel_operations.may_flip: True,
    },
)
kernel_operations.set_alpha.register(PhylogeneticColumns)(store_alpha)
kernel_operations.draw_alpha.register(PhylogeneticColumns)(draw_gamma_alpha)
