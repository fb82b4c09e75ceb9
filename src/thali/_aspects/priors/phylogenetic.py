"""The phylogenetic Indian buffet process: options that a tree says are related share features more
readily."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from thali._trees.tree import Tree
from thali.errors import DataError

from ..state import grid_size
from .phylogenetic_operations import Genealogy
from .phylogenetic_rates import Kinship
from .shared_features import log_copies, shared_columns

# share of the features that some but not all own: for less, drawing one takes too long
MIN_SHARED = 1e-3
MIN_EDGE = 1e-9  # above a leaf
MAX_TABLED = 16  # up to this many options the rates of all patterns are computed beforehand


@dataclass(frozen=True)
class PhylogeneticBuffet:
    r"""The Indian buffet process on a tree: any number of features, each spreading from the root to
    the leaves.

    Feature k has a probability π_k. The root lacks it, and along an edge of length t what lacks it
    comes to have it with probability 1 - (1 - π_k)^t. The features are an unordered Poisson
    process: one owned by exactly the set h arrives at rate

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
        If it is no tree, or the edge above a leaf has no length.

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
        if not isinstance(self.tree, Tree):
            raise DataError(
                f"The phylogenetic prior requires a thali.Tree; got {type(self.tree).__name__}."
            )
        without = np.flatnonzero(self.tree.lengths[: self.tree.n_leaves] < MIN_EDGE)
        if without.size:
            raise DataError(
                f"The edge to the leaf {self.tree.labels[without[0]]!r} has length 0, so no"
                " feature can distinguish this leaf from its neighbours; give every leaf a"
                " positive edge length, or merge such leaves."
            )

    def for_labels(self, labels: Any) -> "PhylogeneticBuffet":
        """The same prior with the leaves in the order of these labels.

        Raises
        ------
        DataError
            If a leaf has no option or an option no leaf; it names them.
        """
        return PhylogeneticBuffet(self.tree.for_labels(labels))

    def usual_columns(self, n: int) -> float:
        """How many columns a state has in most tables of so many options; for forecasts of the time
        alone."""
        return 1.5 * math.log2(n)

    def compiled(self, n: int) -> "Genealogy":
        """The prior for n options, as the samplers read it."""
        self._check_number(n)
        tree = self.tree
        tabled = n <= MAX_TABLED
        kinship = Kinship.of(tree, grid_size(n))
        single = self._single_rates()
        log_full = float(
            kinship.log_rates(kinship.gains_of(np.ones(n, bool), tree.parents)[None])[0]
        )
        any_owner = np.exp(kinship.base + kinship.gamma * kinship.total) * -np.expm1(
            -kinship.gamma * kinship.total
        )
        alone = np.exp(kinship.log_rates(kinship.gain[:n].copy())).sum()
        middle = max(0.0, any_owner.sum() - alone - math.exp(log_full)) if n > 2 else 0.0
        table = rising = np.zeros(1)
        if tabled:
            table = kinship.table(tree.parents)
            shared = np.exp(table)
            shared[[0, *(1 << np.arange(n)), -1]] = 0.0
            middle = shared.sum() if n > 2 else 0.0
            rising = np.cumsum(shared) / (middle or 1.0)
            table[1 << np.arange(n)] = np.log(single)
        elif n > 2 and middle < MIN_SHARED * any_owner.sum():
            raise DataError(
                "On this tree almost no feature is shared by some options but not all; lengthen"
                " the edges to the leaves."
            )
        children = _children(tree.parents)
        return Genealogy(
            table,
            np.log(single),
            rising,
            np.array([single.sum(), middle, math.exp(log_full)]),
            log_full,
            np.ascontiguousarray(tree.parents, np.int64),
            *children,
            kinship.size,
            kinship.first,
            kinship.order,
            np.cumsum(tree.lengths),
            kinship.gamma,
            kinship.base,
            kinship.gain,
            np.cumsum(any_owner) / any_owner.sum(),
        )

    def _check_number(self, n: int) -> None:
        if n != self.tree.n_leaves:
            raise DataError(
                f"The tree has {self.tree.n_leaves:,} leaves, but there are {n:,} options; give"
                " one leaf per option."
            )

    def _owners(self, matrix: Any) -> np.ndarray:
        """The columns of a matrix as rows, each with an owner."""
        owners = np.asarray(matrix, bool).T
        self._check_number(owners.shape[1])
        if not owners.any(axis=1).all():
            raise DataError(
                "Every column of the matrix must belong to at least one option; remove empty"
                " columns."
            )
        return owners

    def _single_rates(self) -> np.ndarray:
        """lambda of each option alone (eq. 6): ψ(1 + T) - ψ(1 + T - t), t the edge above it."""
        from scipy.special import digamma

        total, edge = self.tree.lengths.sum(), self.tree.lengths[: self.tree.n_leaves]
        return digamma(1.0 + total) - digamma(1.0 + total - edge)

    def sample(self, n: int, alpha: float, rng: np.random.Generator) -> np.ndarray:
        """Draw a binary matrix, exactly.

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
        from scipy.special import digamma

        self._check_number(n)
        tree = self.tree
        total = tree.lengths.sum()
        columns = []
        for _ in range(rng.poisson(alpha * (digamma(1.0 + total) - digamma(1.0)))):
            turned = _turned_edges(tree.lengths, draw_gamma(total, rng), rng)
            for v in range(len(turned) - 2, -1, -1):  # parents before children
                turned[v] |= turned[tree.parents[v]]
            columns.append(turned[: tree.n_leaves])
        return np.array(columns, bool).reshape(-1, tree.n_leaves).T

    def log_prob(self, matrix: Any, alpha: float) -> float:
        """Log density of the columns of a binary matrix as an unordered multiset, with respect to
        the unit-rate Poisson process on patterns: sum over columns of log(alpha lambda_h), minus
        alpha (ψ(1 + T) - ψ(1)).

        Parameters
        ----------
        matrix : array of 0/1, shape (leaves, K)
            Options by features; every column has an owner.
        alpha : float, above 0

        Returns
        -------
        float
        """
        from scipy.special import digamma

        owners = self._owners(matrix)
        kinship = Kinship.of(self.tree, grid_size(self.tree.n_leaves))
        sums = np.array([kinship.gains_of(column, self.tree.parents) for column in owners])
        rates = kinship.log_rates(sums.reshape(len(owners), len(kinship.gamma)))
        alone = owners.sum(axis=1) == 1
        rates[alone] = np.log(owners[alone] @ self._single_rates())  # as the samplers have them
        total = digamma(1.0 + kinship.total) - digamma(1.0)
        return float(np.sum(np.log(alpha) + rates) - alpha * total)

    def log_prob_of_draws(self, columns: Any, alpha: np.ndarray) -> np.ndarray:
        """`log_prob` of every draw.

        Parameters
        ----------
        columns : Columns
            The columns of all draws.
        alpha : array (draws,)

        Returns
        -------
        array (draws,)
        """
        from scipy.special import digamma

        single, ends, known = np.log(self._single_rates()), columns.first_owner, {}
        rates = np.empty(len(columns.sizes))
        for k in range(len(rates)):
            owners = columns.owners[ends[k] : ends[k + 1]]
            key = owners.tobytes()
            if key not in known:
                column = np.zeros(columns.n_options, bool)
                column[owners] = True
                known[key] = single[owners[0]] if len(owners) == 1 else self._log_rate_of(column)
            rates[k] = known[key]
        total = digamma(1.0 + self.tree.lengths.sum()) - digamma(1.0)
        return columns.summed(np.log(alpha)[columns.draw] + rates) - alpha * total

    def log_prob_shared(self, matrix: Any, alpha: float) -> float:
        """Log probability of the columns with two owners or more as a multiset, whatever the others
        are: sum over them of log(alpha lambda_h), minus alpha times the total of their rates, minus
        log K_h! of the K_h columns with the same owners.

        Parameters
        ----------
        matrix : array of 0/1, shape (leaves, K)
            Options by features; columns with fewer than two owners are passed over.
        alpha : float, above 0

        Returns
        -------
        float
        """
        columns = shared_columns(matrix)
        self._check_number(columns.shape[1])
        rates = sum(map(self._log_rate_of, columns))
        return float(
            rates
            + len(columns) * math.log(alpha)
            - alpha * self._shared_total
            - log_copies(columns)
        )

    def _log_rate_of(self, column: np.ndarray) -> float:
        """log lambda of one pattern with two owners or more; cached, because estimates need
        thousands of them."""
        rates, key = self._known_rates, column.tobytes()
        if key not in rates:
            sums = self._kinship.gains_of(column, self.tree.parents)
            rates[key] = float(self._kinship.log_rates(sums[None])[0])
        return rates[key]

    @cached_property
    def _known_rates(self) -> dict[bytes, float]:
        return {}

    @cached_property
    def _kinship(self) -> Kinship:
        return Kinship.of(self.tree, grid_size(self.tree.n_leaves))

    @cached_property
    def _shared_total(self) -> float:
        """Total rate of the patterns with two owners or more."""
        from scipy.special import digamma

        return float(
            digamma(1.0 + self.tree.lengths.sum()) - digamma(1.0) - self._single_rates().sum()
        )

    def draw_probabilities(self, matrix: Any, rng: np.random.Generator) -> np.ndarray:
        """Draw the probability π of each feature given its owners, p(π | h) ∝ P(h | π) / π, on the
        quadrature's grid.

        Parameters
        ----------
        matrix : array of 0/1, shape (leaves, K)
        rng : numpy.random.Generator

        Returns
        -------
        ndarray, shape (K,), in (0, 1)
        """
        kinship = Kinship.of(self.tree, grid_size(self.tree.n_leaves))
        drawn = []
        for column in self._owners(matrix):
            logs = kinship.base + kinship.gains_of(column, self.tree.parents)
            decisions = np.exp(logs - logs.max())
            drawn.append(rng.choice(kinship.gamma, p=decisions / decisions.sum()))
        return -np.expm1(-np.array(drawn))


def draw_gamma(total: float, rng: np.random.Generator) -> float:
    """gamma = -log(1 - pi) of a feature that has an owner; its density is (1 - exp(-gamma T)) /
    (exp(gamma) - 1)."""
    # For a whole T that is the sum over j = 1..T of exp(-j gamma), a mixture of exponentials; for
    # others, rejection from the next whole one.
    above = math.ceil(total)
    parts = 1.0 / np.arange(1, above + 1)
    while True:
        gamma = rng.standard_exponential() / (1 + rng.choice(above, p=parts / parts.sum()))
        if rng.random() * math.expm1(-gamma * above) >= math.expm1(-gamma * total):
            return gamma


def _turned_edges(lengths: np.ndarray, gamma: float, rng: np.random.Generator) -> np.ndarray:
    """Which edges gain the feature, given that one does: the first place is drawn conditionally,
    the others freely."""
    ends = np.cumsum(lengths)
    place = -math.log1p(rng.random() * math.expm1(-gamma * ends[-1])) / gamma
    first = min(int(np.searchsorted(ends, place, side="right")), len(lengths) - 1)
    turned = np.zeros(len(lengths), bool)
    turned[first] = True
    turned[first + 1 :] = rng.random(len(lengths) - first - 1) < -np.expm1(
        -gamma * lengths[first + 1 :]
    )
    return turned


def _children(parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First child of each node and next sibling of each node, -1 where there is none."""
    child, sibling = np.full(len(parents), -1), np.full(len(parents), -1)
    for v in range(len(parents) - 2, -1, -1):
        sibling[v] = child[parents[v]]
        child[parents[v]] = v
    return child, sibling
