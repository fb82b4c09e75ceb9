"""The arrival rates of patterns on a tree, by quadrature over the probability of a feature.

Given gamma = -log(1 - pi), a pattern h arises when every maximal clade whose leaves all own the
feature got it (at its stem or below), and no other edge gained it:

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

MIN_GAMMA, MAX_GAMMA = (
    1e-8,
    24.0,
)  # gamma at the ends of the grid; less for long trees, more for short edges above leaves
LARGEST = 2.4e5


@dataclass(frozen=True)
class Kinship:
    """A tree in the form that rates are computed from; nodes as in `Tree`, of which there are V,
    leaves n."""

    gamma: np.ndarray  # (G,) the grid
    base: np.ndarray  # (G,) log weight - gamma T
    gain: np.ndarray  # (V, G)
    size: np.ndarray  # (V,) leaves below
    order: np.ndarray  # (n,) leaves, those of any node in one run
    first: np.ndarray  # (V,) where the run of each node begins
    total: float  # T

    @classmethod
    def of(cls, tree: Tree, nodes: int) -> "Kinship":
        """The kinship of a tree on a grid of this many nodes."""
        parents, lengths, n = tree.parents, tree.lengths, tree.n_leaves
        most = min(LARGEST, MAX_GAMMA / lengths[:n].min())
        x = np.linspace(np.log(MIN_GAMMA / (1.0 + lengths.sum())), np.log(most), nodes)
        gamma = np.exp(x)
        # d pi / pi = gamma dx / (exp(gamma) - 1)
        log_weight = np.log(x[1] - x[0]) + x - gamma - np.log(-np.expm1(-gamma))
        count = len(parents)
        size, length = (
            np.concatenate([np.ones(n, np.int64), np.zeros(count - n, np.int64)]),
            lengths.copy(),
        )
        # log probability that all leaves own it if the node lacks it
        all_below = np.full((count, nodes), -np.inf)
        all_below[n:] = 0.0
        gain = np.empty((count, nodes))
        for v in range(count):  # children before parents
            with np.errstate(divide="ignore"):
                stem = np.log(-np.expm1(-gamma * lengths[v]))
            one = np.logaddexp(stem, all_below[v] - gamma * lengths[v])
            gain[v] = one + gamma * length[v]
            if (up := parents[v]) >= 0:
                size[up] += size[v]
                length[up] += length[v]
                all_below[up] += one
        order, first = _runs(parents, size, n)
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
        """log lambda of patterns whose gains add up to the rows of `sums` (patterns, G); they are
        overwritten."""
        sums += self.base
        top = sums.max(axis=-1, keepdims=True)
        sums -= top
        np.exp(sums, out=sums)
        return np.log(sums.sum(axis=-1)) + top[..., 0]

    def gains_of(self, owners: np.ndarray, parents: np.ndarray) -> np.ndarray:
        """The sum of the gains of one pattern's maximal owning clades, array (G,); `owners` is a
        bool array (n,)."""
        owning = np.concatenate([owners, np.zeros(len(parents) - len(owners))]).astype(np.int64)
        for v in range(len(parents) - 1):
            owning[parents[v]] += owning[v]
        whole = owning == self.size
        whole[-1] = False  # the root lacks every feature
        return self.gain[whole & ~whole[parents]].sum(axis=0)

    def table(self, parents: np.ndarray) -> np.ndarray:
        """log lambda of every pattern, by the number whose bit i says whether leaf i owns it;
        nothing for no owner."""
        n, count = len(self.order), len(parents)
        sums: list[Any] = [None] * count
        codes: list[Any] = [None] * count
        for v in range(count):
            if v < n:
                sums[v], codes[v] = (
                    np.stack([np.zeros_like(self.gamma), self.gain[v]]),
                    np.array([0, 1 << v]),
                )
            elif v < count - 1:
                # the last pattern of each node is that of all its leaves
                sums[v][-1] = self.gain[v]
            if (up := parents[v]) >= 0:
                if sums[up] is None:
                    sums[up], codes[up] = sums[v].copy(), codes[v]
                else:
                    sums[up] = (sums[up][:, None] + sums[v]).reshape(-1, len(self.gamma))
                    codes[up] = (codes[up][:, None] + codes[v]).ravel()
                sums[v] = codes[v] = None
        rates = np.empty(1 << n)
        rates[codes[-1]] = self.log_rates(sums[-1])
        rates[0] = -np.inf
        return rates


def _runs(parents: np.ndarray, size: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """An order of the leaves in which those below any node form one run, and where each run
    begins."""
    first = np.zeros(len(parents), np.int64)
    used = np.zeros(len(parents), np.int64)
    for v in range(len(parents) - 2, -1, -1):  # parents before children
        up = parents[v]
        first[v] = first[up] + used[up]
        used[up] += size[v]
    order = np.empty(n, np.int64)
    order[first[:n]] = np.arange(n)
    return order, first
