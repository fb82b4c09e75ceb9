"""Rates of sets of owners under the phylogenetic prior, by quadrature over a grid.

Given gamma = -log(1 - pi), a pattern h arises when every maximal clade whose leaves all own the
feature gained it (at its stem or below), and no other edge gained it:

    log P(h | gamma) = sum over maximal owning clades c of log one_c(gamma)  -  gamma * (length of
                                                                             the other edges)

so with gain_c = log one_c + gamma * (length of c, its stem included) and T the length of the tree,

    lambda_h = sum over the grid of weight * exp(-gamma T + sum over maximal owning clades of
    gain_c).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._trees.tree import Tree

# gamma at the ends of the grid; less for long trees, more for short edges above leaves
MIN_GAMMA, MAX_GAMMA = 1e-8, 24.0
MAX_GRID_GAMMA = 2.4e5


@dataclass(frozen=True)
class TreeRates:
    """A tree's quantities on a grid of gamma, from which rates of owner sets follow."""

    gamma: np.ndarray  # (G,) the grid
    base: np.ndarray  # (G,) log weight - gamma T
    gain: np.ndarray  # (V, G)
    size: np.ndarray  # (V,) leaves below
    order: np.ndarray  # (n,) leaves, in which the leaves below any node are consecutive
    first: np.ndarray  # (V,) position in `order` of the first leaf below each node
    total: float  # T

    @classmethod
    def from_tree(cls, tree: Tree, n_points: int) -> "TreeRates":
        """Compute the quantities of a tree on a grid of `n_points` values of gamma."""
        parents, lengths, n_leaves = tree.parents, tree.lengths, tree.n_leaves
        max_gamma = min(MAX_GRID_GAMMA, MAX_GAMMA / lengths[:n_leaves].min())
        x = np.linspace(np.log(MIN_GAMMA / (1.0 + lengths.sum())), np.log(max_gamma), n_points)
        gamma = np.exp(x)
        # d pi / pi = gamma dx / (exp(gamma) - 1)
        log_weight = np.log(x[1] - x[0]) + x - gamma - np.log(-np.expm1(-gamma))
        n_nodes = len(parents)
        size, length = (
            np.concatenate([np.ones(n_leaves, np.int64), np.zeros(n_nodes - n_leaves, np.int64)]),
            lengths.copy(),
        )
        # log probability that all leaves below a node own the feature if the node lacks it
        all_below = np.full((n_nodes, n_points), -np.inf)
        all_below[n_leaves:] = 0.0
        gain = np.empty((n_nodes, n_points))
        for v in range(n_nodes):  # children before parents
            with np.errstate(divide="ignore"):
                stem = np.log(-np.expm1(-gamma * lengths[v]))
            log_one = np.logaddexp(stem, all_below[v] - gamma * lengths[v])
            gain[v] = log_one + gamma * length[v]
            if (parent := parents[v]) >= 0:
                size[parent] += size[v]
                length[parent] += length[v]
                all_below[parent] += log_one
        order, first = _order_leaves(parents, size, n_leaves)
        return cls(
            gamma,
            log_weight - gamma * lengths.sum(),
            gain,
            size,
            order,
            first,
            float(lengths.sum()),
        )

    def log_rates(self, sums: np.ndarray) -> np.ndarray:
        """Return log rates of owner sets from their summed gains (n_sets, G), overwritten."""
        sums += self.base
        top = sums.max(axis=-1, keepdims=True)
        sums -= top
        np.exp(sums, out=sums)
        return np.log(sums.sum(axis=-1)) + top[..., 0]

    def sum_gains(self, owners: np.ndarray, parents: np.ndarray) -> np.ndarray:
        """Return summed gains of the largest clades that own the feature, shape (G,)."""
        n_owners = np.concatenate([owners, np.zeros(len(parents) - len(owners))]).astype(np.int64)
        for v in range(len(parents) - 1):
            n_owners[parents[v]] += n_owners[v]
        is_complete = n_owners == self.size
        is_complete[-1] = False  # the root lacks every feature
        return self.gain[is_complete & ~is_complete[parents]].sum(axis=0)

    def build_table(self, parents: np.ndarray) -> np.ndarray:
        """Return log rates of all 2^n sets of owners, indexed by their bits.

        Bit i is set if leaf i owns the feature; the rate without owners is 0.
        """
        n, n_nodes = len(self.order), len(parents)
        sums: list[Any] = [None] * n_nodes
        codes: list[Any] = [None] * n_nodes
        for v in range(n_nodes):
            if v < n:
                sums[v], codes[v] = (
                    np.stack([np.zeros_like(self.gamma), self.gain[v]]),
                    np.array([0, 1 << v]),
                )
            elif v < n_nodes - 1:
                # the last pattern of each node is that of all its leaves
                sums[v][-1] = self.gain[v]
            if (parent := parents[v]) >= 0:
                if sums[parent] is None:
                    sums[parent], codes[parent] = sums[v].copy(), codes[v]
                else:
                    sums[parent] = (sums[parent][:, None] + sums[v]).reshape(-1, len(self.gamma))
                    codes[parent] = (codes[parent][:, None] + codes[v]).ravel()
                sums[v] = codes[v] = None
        rates = np.empty(1 << n)
        rates[codes[-1]] = self.log_rates(sums[-1])
        rates[0] = -np.inf
        return rates


def _order_leaves(
    parents: np.ndarray, size: np.ndarray, n_leaves: int
) -> tuple[np.ndarray, np.ndarray]:
    """Order leaves so that those below any node are consecutive."""
    # Return the order, and each node's first position in it.
    first = np.zeros(len(parents), np.int64)
    n_used = np.zeros(len(parents), np.int64)
    for v in range(len(parents) - 2, -1, -1):  # parents before children
        parent = parents[v]
        first[v] = first[parent] + n_used[parent]
        n_used[parent] += size[v]
    order = np.empty(n_leaves, np.int64)
    order[first[:n_leaves]] = np.arange(n_leaves)
    return order, first
