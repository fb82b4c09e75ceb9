"""The phylogenetic Indian buffet process: options that are close on a tree share features."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.index_arithmetic import part_slice
from thali._inference.numerics.weight_shares import compute_shares, softmax
from thali._trees.tree import Tree
from thali.errors import DataError

from ..chain_state import count_grid_nodes
from .phylogenetic_kernels import PhylogeneticColumns
from .shared_features import log_copy_orders, select_shared_columns

if TYPE_CHECKING:
    from ..draws.feature_columns import FeatureColumns


# smallest share of features that some but not all own; with less, drawing one takes too long
MIN_SHARED_SHARE = 1e-3
# gamma at the ends of the grid; less for long trees, more for short edges above leaves
MIN_GAMMA = 1e-8
MAX_GAMMA = 24.0
MAX_GRID_GAMMA = 2.4e5
MIN_LEAF_EDGE = 1e-9  # shortest edge above a leaf
MAX_TABLE_OPTIONS = 16  # up to this number of options the rates of all patterns are tabulated


@dataclass(frozen=True)
class PhylogeneticBuffet:
    r"""The Indian buffet process on a tree: any number of features, each spreading from the root to
    the leaves.

    Feature k has a probability π_k. The root lacks it, and along an edge of length t a lineage that
    lacks it gains it with probability 1 - (1 - π_k)^t. The features are an unordered Poisson
    process: a feature owned by exactly the set h arrives at rate

    .. math:: \alpha \lambda_h, \qquad \lambda_h = \int_0^1 P(h \mid \pi)\, \pi^{-1} d\pi

    so that each option owns Poisson(alpha) features and there are Poisson(alpha (ψ(1 + T) - ψ(1)))
    in all, T the total length of the tree. π is integrated out; `draw_probabilities` draws it
    afterwards.

    Parameters
    ----------
    tree : Tree
        Every leaf at the end of an edge longer than 0.

    Raises
    ------
    DataError
        If it is not a tree, or the edge above a leaf has no length.

    References
    ----------
    Miller, Griffiths & Jordan (2008), sections 2 and 3.

    Examples
    --------
    >>> import numpy as np, thali as th
    >>> tree = th.Tree.from_groups(
    ...     {"hot": ["tea", "coffee"], "cold": ["milk", "juice"]}, leaf_length=0.1
    ... )
    >>> th.priors.PhylogeneticBuffet(tree).sample(4, alpha=2.0, rng=np.random.default_rng(5)).shape[
    ...     0
    ... ]
    4
    """

    tree: Tree
    is_infinite = True
    learns_alpha = True

    def __post_init__(self) -> None:
        """Raise DataError unless `tree` is a `Tree` with positive leaf edges."""
        if not isinstance(self.tree, Tree):
            raise DataError(
                f"The phylogenetic prior requires a thali.Tree; got {type(self.tree).__name__}."
            )
        short_leaves = np.flatnonzero(self.tree.lengths[: self.tree.n_leaves] < MIN_LEAF_EDGE)
        if short_leaves.size:
            raise DataError(
                f"The edge to the leaf {self.tree.labels[short_leaves[0]]!r} has length 0, so no"
                " feature can distinguish this leaf from its neighbours; give every leaf a"
                " positive edge length, or merge such leaves."
            )

    def for_labels(self, labels: Sequence[str]) -> "PhylogeneticBuffet":
        """Return the prior with the tree's leaves in the order of these labels.

        Raises
        ------
        DataError
            If a leaf has no option or an option no leaf; it names them.
        """
        return PhylogeneticBuffet(self.tree.for_labels(labels))

    def usual_columns(self, n: int) -> float:
        """Return a typical number of columns for n options, for forecasts of run time."""
        return 1.5 * math.log2(n)

    def compiled(self, n: int) -> "PhylogeneticColumns":
        """Return the prior for n options as kernels read it."""
        self._check_leaves(n)
        tree = self.tree
        tree_rates = TreeRates.from_tree(tree, count_grid_nodes(n))
        single_rates = self._single_rates()
        log_full = float(
            tree_rates.log_rates(tree_rates.sum_gains(np.ones(n, bool), tree.parents)[None])[0]
        )
        any_owner_density = np.exp(
            tree_rates.base + tree_rates.gamma * tree_rates.total
        ) * -np.expm1(-tree_rates.gamma * tree_rates.total)
        if n <= MAX_TABLE_OPTIONS:
            log_rate_table = tree_rates.build_table(tree.parents)
            shared_rates = np.exp(log_rate_table)
            shared_rates[[0, *(1 << np.arange(n)), -1]] = 0.0
            shared_rate = shared_rates.sum()
            cumulative_rates = np.cumsum(shared_rates) / (shared_rate or 1.0)
            log_rate_table[1 << np.arange(n)] = np.log(single_rates)
        else:
            log_rate_table = cumulative_rates = np.zeros(1)
            single_rate = np.exp(tree_rates.log_rates(tree_rates.gain[:n].copy())).sum()
            shared_rate = max(0.0, any_owner_density.sum() - single_rate - math.exp(log_full))
            if shared_rate < MIN_SHARED_SHARE * any_owner_density.sum():
                raise DataError(
                    "On this tree almost no feature is shared by some options but not all;"
                    " lengthen the edges to the leaves."
                )
        child, sibling = _list_children(tree.parents)
        return PhylogeneticColumns(
            log_rate_table,
            np.log(single_rates),
            cumulative_rates,
            np.array([single_rates.sum(), shared_rate, math.exp(log_full)]),
            log_full,
            np.ascontiguousarray(tree.parents, np.int64),
            child,
            sibling,
            tree_rates.size,
            tree_rates.first,
            tree_rates.order,
            np.cumsum(tree.lengths),
            tree_rates.gamma,
            tree_rates.base,
            tree_rates.gain,
            np.cumsum(any_owner_density) / any_owner_density.sum(),
        )

    def _check_leaves(self, n: int) -> None:
        """Raise DataError unless the tree has n leaves."""
        if n != self.tree.n_leaves:
            raise DataError(
                f"The tree has {self.tree.n_leaves:,} leaves, but there are {n:,} options; give"
                " one leaf per option."
            )

    def _owners(self, matrix: np.ndarray) -> np.ndarray:
        """Return each feature's owners as a row; raise DataError if one has none."""
        owners = np.asarray(matrix, bool).T
        self._check_leaves(owners.shape[1])
        if not owners.any(axis=1).all():
            raise DataError(
                "Every column of the matrix must belong to at least one option; remove empty"
                " columns."
            )
        return owners

    def _single_rates(self) -> np.ndarray:
        """Return the rate of features that only option i owns, shape (n,)."""
        # By eq. 6 it is ψ(1 + T) - ψ(1 + T - t), t the edge above the option.
        from scipy.special import digamma

        tree_length = self.tree.lengths.sum()
        leaf_lengths = self.tree.lengths[: self.tree.n_leaves]
        return digamma(1.0 + tree_length) - digamma(1.0 + tree_length - leaf_lengths)

    def sample(self, n: int, alpha: float, rng: np.random.Generator) -> np.ndarray:
        """Draw an ownership matrix exactly from the prior.

        Parameters
        ----------
        n : int
            Number of options: the leaves of the tree.
        alpha : float, at least 0
            Expected number of features of each option.
        rng : numpy.random.Generator

        Returns
        -------
        ndarray of bool, shape (n, K)
            Options by features, features in random order, none without an owner.
        """
        self._check_leaves(n)
        tree = self.tree
        tree_length = tree.lengths.sum()
        feature_owners = []
        for _ in range(rng.poisson(alpha * self._total_rate)):
            has_feature = _draw_gaining_edges(
                tree.lengths, draw_feature_gamma(tree_length, rng), rng
            )
            for v in range(len(has_feature) - 2, -1, -1):  # parents before children
                has_feature[v] |= has_feature[tree.parents[v]]
            feature_owners.append(has_feature[: tree.n_leaves])
        return np.array(feature_owners, bool).reshape(-1, tree.n_leaves).T

    def log_prob(self, matrix: np.ndarray, alpha: float) -> float:
        """Return the log density of a binary matrix's columns as an unordered multiset.

        The density is with respect to the unit-rate Poisson process on patterns: the sum over
        columns of log(alpha lambda_h), minus alpha (ψ(1 + T) - ψ(1)).

        Parameters
        ----------
        matrix : array of 0/1, shape (leaves, K)
            Options by features; every column has an owner.
        alpha : float, above 0

        Returns
        -------
        float
        """
        owners = self._owners(matrix)
        tree_rates = self._tree_rates
        gains = np.array([tree_rates.sum_gains(column, self.tree.parents) for column in owners])
        log_rates = tree_rates.log_rates(gains.reshape(len(owners), len(tree_rates.gamma)))
        has_one_owner = owners.sum(axis=1) == 1
        # exact, as in the samplers
        log_rates[has_one_owner] = np.log(owners[has_one_owner] @ self._single_rates())
        return float(np.sum(np.log(alpha) + log_rates) - alpha * self._total_rate)

    def log_prob_of_draws(self, columns: "FeatureColumns", alpha: np.ndarray) -> np.ndarray:
        """Return the log density of each draw's ownership, shape (n_draws,).

        Parameters
        ----------
        columns : Columns
            The columns of all draws.
        alpha : array (draws,)

        Returns
        -------
        array (draws,)
        """
        log_single_rates = np.log(self._single_rates())
        owner_offsets = columns.owner_offsets
        log_rates = np.empty(len(columns.sizes))
        for k in range(len(log_rates)):
            owners = columns.owners[part_slice(owner_offsets, k)]
            if len(owners) == 1:
                log_rates[k] = log_single_rates[owners[0]]
            else:
                is_owner = np.zeros(columns.n_options, bool)
                is_owner[owners] = True
                log_rates[k] = self._log_shared_rate(is_owner)
        log_priors = columns.sum_by_draw(np.log(alpha)[columns.draw] + log_rates)
        return log_priors - alpha * self._total_rate

    def log_prob_shared(self, matrix: np.ndarray, alpha: float) -> float:
        """Return the log probability of the features with several owners, unordered.

        This is the sum over these columns of log(alpha lambda_h), minus alpha times their total
        rate, minus log K_h! for the K_h columns with the same owners.

        Parameters
        ----------
        matrix : array of 0/1, shape (leaves, K)
            Options by features; columns with fewer than two owners are passed over.
        alpha : float, above 0

        Returns
        -------
        float
        """
        shared_features = select_shared_columns(matrix)
        self._check_leaves(shared_features.shape[1])
        log_rates = sum(map(self._log_shared_rate, shared_features))
        return float(
            log_rates
            + len(shared_features) * math.log(alpha)
            - alpha * self._shared_total
            - log_copy_orders(shared_features)
        )

    def _log_shared_rate(self, is_owner: np.ndarray) -> float:
        """Return the log rate of a feature with these owners (at least two); cached."""
        log_rates = self._rates_by_pattern
        pattern_key = is_owner.tobytes()
        if pattern_key not in log_rates:
            gains = self._tree_rates.sum_gains(is_owner, self.tree.parents)
            log_rates[pattern_key] = float(self._tree_rates.log_rates(gains[None])[0])
        return log_rates[pattern_key]

    @cached_property
    def _rates_by_pattern(self) -> dict[bytes, float]:
        """Log rates computed so far, by the bytes of the owners' mask."""
        return {}

    @cached_property
    def _tree_rates(self) -> "TreeRates":
        """Quantities of the tree from which rates are computed on a grid."""
        return TreeRates.from_tree(self.tree, count_grid_nodes(self.tree.n_leaves))

    @cached_property
    def _shared_total(self) -> float:
        """Total rate of features with at least two owners, per alpha."""
        return float(self._total_rate - self._single_rates().sum())

    @property
    def _total_rate(self) -> float:
        """Total rate of features with an owner, per alpha: ψ(1 + T) - ψ(1)."""
        from scipy.special import digamma

        return digamma(1.0 + self.tree.lengths.sum()) - digamma(1.0)

    def draw_probabilities(self, matrix: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw the probability pi of each feature given its owners, shape (K,).

        p(π | h) ∝ P(h | π) / π, on the quadrature's grid.

        Parameters
        ----------
        matrix : array of 0/1, shape (leaves, K)
        rng : numpy.random.Generator

        Returns
        -------
        ndarray, shape (K,), in (0, 1)
        """
        tree_rates = self._tree_rates
        gammas = []
        for is_owner in self._owners(matrix):
            log_weights = tree_rates.base + tree_rates.sum_gains(is_owner, self.tree.parents)
            gammas.append(rng.choice(tree_rates.gamma, p=softmax(log_weights)))
        return -np.expm1(-np.array(gammas))


def draw_feature_gamma(tree_length: float, rng: np.random.Generator) -> float:
    """Draw gamma = -log(1 - pi) of a feature that has an owner.

    Its density is (1 - exp(-gamma T)) / (exp(gamma) - 1), T the total length.
    """
    # For an integer T this is the sum over j = 1..T of exp(-j gamma), a mixture of exponentials;
    # otherwise draws for the next integer are rejected.
    ceiling = math.ceil(tree_length)
    weights = 1.0 / np.arange(1, ceiling + 1)
    while True:
        gamma = rng.standard_exponential() / (1 + rng.choice(ceiling, p=compute_shares(weights)))
        if rng.random() * math.expm1(-gamma * ceiling) >= math.expm1(-gamma * tree_length):
            return gamma


def _draw_gaining_edges(lengths: np.ndarray, gamma: float, rng: np.random.Generator) -> np.ndarray:
    """Draw a mask of tree edges on which the feature is gained, at least one."""
    # The first position is drawn conditionally, later edges independently.
    edge_ends = np.cumsum(lengths)
    first_gain = -math.log1p(rng.random() * math.expm1(-gamma * edge_ends[-1])) / gamma
    first_edge = min(int(np.searchsorted(edge_ends, first_gain, side="right")), len(lengths) - 1)
    has_gain = np.zeros(len(lengths), bool)
    has_gain[first_edge] = True
    has_gain[first_edge + 1 :] = rng.random(len(lengths) - first_edge - 1) < -np.expm1(
        -gamma * lengths[first_edge + 1 :]
    )
    return has_gain


def _list_children(parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return first child and next sibling of each tree node, -1 for none."""
    child = np.full(len(parents), -1)
    sibling = np.full(len(parents), -1)
    for v in range(len(parents) - 2, -1, -1):
        sibling[v] = child[parents[v]]
        child[parents[v]] = v
    return child, sibling


@dataclass(frozen=True)
class TreeRates:
    """Rates of sets of owners under the phylogenetic prior, by quadrature over a grid.

    Given gamma = -log(1 - pi), a pattern h arises when every maximal clade whose leaves all own the
    feature gained it (at its stem or below), and no other edge gained it:

        log P(h | gamma) = sum over maximal owning clades c of log one_c(gamma)
                           - gamma * (length of the other edges)

    so with gain_c = log one_c + gamma * (length of c, its stem included) and T the length of the
    tree,

        lambda_h = sum over the grid of weight * exp(-gamma T + sum over maximal owning clades of
        gain_c).

    The tree has V nodes as in `Tree`, n leaves.
    """

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
        parents = tree.parents
        lengths = tree.lengths
        n_leaves = tree.n_leaves
        max_gamma = min(MAX_GRID_GAMMA, MAX_GAMMA / lengths[:n_leaves].min())
        x = np.linspace(np.log(MIN_GAMMA / (1.0 + lengths.sum())), np.log(max_gamma), n_points)
        gamma = np.exp(x)
        # d pi / pi = gamma dx / (exp(gamma) - 1)
        log_weight = np.log(x[1] - x[0]) + x - gamma - np.log(-np.expm1(-gamma))
        n_nodes = len(parents)
        n_leaves_below = np.concatenate(
            [np.ones(n_leaves, np.int64), np.zeros(n_nodes - n_leaves, np.int64)]
        )
        owner_length = lengths.copy()
        # log probability that all leaves below a node own the feature if the node lacks it
        all_below = np.full((n_nodes, n_points), -np.inf)
        all_below[n_leaves:] = 0.0
        gain = np.empty((n_nodes, n_points))
        for v in range(n_nodes):  # children before parents
            with np.errstate(divide="ignore"):
                log_edge_gain = np.log(-np.expm1(-gamma * lengths[v]))
            log_one = np.logaddexp(log_edge_gain, all_below[v] - gamma * lengths[v])
            gain[v] = log_one + gamma * owner_length[v]
            if (parent := parents[v]) >= 0:
                n_leaves_below[parent] += n_leaves_below[v]
                owner_length[parent] += owner_length[v]
                all_below[parent] += log_one
        leaf_order, first_leaf = _order_leaves(parents, n_leaves_below, n_leaves)
        return cls(
            gamma,
            log_weight - gamma * lengths.sum(),
            gain,
            n_leaves_below,
            leaf_order,
            first_leaf,
            float(lengths.sum()),
        )

    def log_rates(self, sums: np.ndarray) -> np.ndarray:
        """Return log rates of owner sets from their summed gains (n_sets, G), overwritten."""
        sums += self.base
        max_sum = sums.max(axis=-1, keepdims=True)
        sums -= max_sum
        np.exp(sums, out=sums)
        return np.log(sums.sum(axis=-1)) + max_sum[..., 0]

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
        n = len(self.order)
        n_nodes = len(parents)
        gain_sums: list[Any] = [None] * n_nodes
        pattern_codes: list[Any] = [None] * n_nodes
        for v in range(n_nodes):
            if v < n:
                gain_sums[v], pattern_codes[v] = (
                    np.stack([np.zeros_like(self.gamma), self.gain[v]]),
                    np.array([0, 1 << v]),
                )
            elif v < n_nodes - 1:
                # the last pattern of each node is that of all its leaves
                gain_sums[v][-1] = self.gain[v]
            if (parent := parents[v]) >= 0:
                if gain_sums[parent] is None:
                    gain_sums[parent], pattern_codes[parent] = gain_sums[v].copy(), pattern_codes[v]
                else:
                    gain_sums[parent] = (gain_sums[parent][:, None] + gain_sums[v]).reshape(
                        -1, len(self.gamma)
                    )
                    pattern_codes[parent] = (
                        pattern_codes[parent][:, None] + pattern_codes[v]
                    ).ravel()
                gain_sums[v] = pattern_codes[v] = None
        log_rates = np.empty(1 << n)
        log_rates[pattern_codes[-1]] = self.log_rates(gain_sums[-1])
        log_rates[0] = -np.inf
        return log_rates


def _order_leaves(
    parents: np.ndarray, size: np.ndarray, n_leaves: int
) -> tuple[np.ndarray, np.ndarray]:
    """Order leaves so that those below any node are consecutive."""
    # Return the order, and each node's first position in it.
    first_leaf = np.zeros(len(parents), np.int64)
    n_placed = np.zeros(len(parents), np.int64)
    for v in range(len(parents) - 2, -1, -1):  # parents before children
        parent = parents[v]
        first_leaf[v] = first_leaf[parent] + n_placed[parent]
        n_placed[parent] += size[v]
    leaf_order = np.empty(n_leaves, np.int64)
    leaf_order[first_leaf[:n_leaves]] = np.arange(n_leaves)
    return leaf_order, first_leaf
