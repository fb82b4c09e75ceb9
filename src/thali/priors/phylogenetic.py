"""The phylogenetic Indian buffet process: options that a tree says are related share features more readily."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thali._jit import lanes, scalar
from thali.errors import DataError
from thali.mcmc import verbs
from thali.mcmc.bag import ALPHA, grid_size
from thali.mcmc.exponential import fast_exp
from thali.priors.ibp import gamma_alpha
from thali.priors.kinship import Kinship
from thali.tree import Tree

MOST_TABLED = 16  # up to this many options the rates of all patterns are computed beforehand


@dataclass(frozen=True)
class PhylogeneticBuffet:
    r"""The Indian buffet process on a tree: any number of features, each spreading from the root to the leaves.

    Feature k has a probability π_k. The root lacks it, and along an edge of length t what lacks it comes to have it
    with probability 1 - (1 - π_k)^t. The features are an unordered Poisson process: one owned by exactly the set h
    arrives at rate

    .. math:: \alpha \lambda_h, \qquad \lambda_h = \int_0^1 P(h \mid \pi)\, \pi^{-1} d\pi

    so that each option owns Poisson(alpha) features and there are Poisson(alpha (ψ(1 + T) - ψ(1))) in all, T the total
    length of the tree. π is integrated out; `draw_probabilities` draws it afterwards.

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
    >>> tree = th.Tree.from_groups({"hot": ["tea", "coffee"], "cold": ["milk", "juice"]}, leaf_length=0.1)
    >>> th.priors.PhylogeneticBuffet(tree).sample(4, alpha=2.0, rng=np.random.default_rng(5)).shape[0]
    4
    """

    tree: Tree
    is_infinite = True
    learns_alpha = True

    def __post_init__(self):
        if not isinstance(self.tree, Tree):
            raise DataError(f"The phylogenetic prior needs a thali.Tree; got {type(self.tree).__name__}.")
        without = np.flatnonzero(self.tree.lengths[: self.tree.n_leaves] < 1e-12)
        if without.size:
            raise DataError(
                f"The edge above the leaf {self.tree.labels[without[0]]!r} has no length, so that no feature could "
                "tell it from its neighbours; give every leaf an edge longer than 0, or merge such leaves."
            )

    def for_labels(self, labels) -> "PhylogeneticBuffet":
        """The same prior with the leaves in the order of these labels.

        Raises
        ------
        DataError
            If a leaf has no option or an option no leaf; it names them.
        """
        return PhylogeneticBuffet(self.tree.for_labels(labels))

    def compiled(self, n: int) -> "Genealogy":
        """The prior for n options, as the samplers read it."""
        tree = self.tree
        if n != tree.n_leaves:
            raise DataError(f"The tree has {tree.n_leaves:,} leaves, but there are {n:,} options.")
        tabled = n <= MOST_TABLED
        kinship = Kinship.of(tree, grid_size(n))
        single = self._single_rates()
        log_full = float(kinship.log_rates(kinship.gains_of(np.ones(n, bool), tree.parents)[None])[0])
        any_owner = np.exp(kinship.base + kinship.gamma * kinship.total) * -np.expm1(-kinship.gamma * kinship.total)
        alone = np.exp(kinship.log_rates(kinship.gain[:n].copy())).sum()
        middle = max(0.0, any_owner.sum() - alone - math.exp(log_full)) if n > 2 else 0.0
        table = np.zeros(1)
        if tabled:
            table = kinship.table(tree.parents)
            table[1 << np.arange(n)] = np.log(single)
        children = _children(tree.parents)
        return Genealogy(
            table,
            np.log(single),
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

        tree = self.tree
        total = tree.lengths.sum()
        columns = []
        for _ in range(rng.poisson(alpha * (digamma(1.0 + total) - digamma(1.0)))):
            turned = _turned_edges(tree.lengths, _draw_gamma(total, rng), rng)
            for v in range(len(turned) - 2, -1, -1):  # parents before children
                turned[v] |= turned[tree.parents[v]]
            columns.append(turned[: tree.n_leaves])
        return np.array(columns, bool).reshape(-1, tree.n_leaves).T

    def log_prob(self, matrix, alpha: float) -> float:
        """Log density of the columns of a binary matrix as an unordered bag, with respect to the unit-rate Poisson
        process on patterns: sum over columns of log(alpha lambda_h), minus alpha (ψ(1 + T) - ψ(1)).

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

        owners = np.asarray(matrix, bool).T
        kinship = Kinship.of(self.tree, grid_size(self.tree.n_leaves))
        sums = np.array([kinship.gains_of(column, self.tree.parents) for column in owners])
        rates = kinship.log_rates(sums.reshape(len(owners), len(kinship.gamma)))
        alone = owners.sum(axis=1) == 1
        rates[alone] = np.log(owners[alone] @ self._single_rates())  # as the samplers have them
        total = digamma(1.0 + kinship.total) - digamma(1.0)
        return float(np.sum(np.log(alpha) + rates) - alpha * total)

    def draw_probabilities(self, matrix, rng: np.random.Generator) -> np.ndarray:
        """Draw the probability π of each feature given its owners, p(π | h) ∝ P(h | π) / π, on the quadrature's grid.

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
        for column in np.asarray(matrix, bool).T:
            logs = kinship.base + kinship.gains_of(column, self.tree.parents)
            chance = np.exp(logs - logs.max())
            drawn.append(rng.choice(kinship.gamma, p=chance / chance.sum()))
        return -np.expm1(-np.array(drawn))


def _draw_gamma(total: float, rng: np.random.Generator) -> float:
    """gamma = -log(1 - pi) of a feature that has an owner; its density is (1 - exp(-gamma T)) / (exp(gamma) - 1).

    For a whole T that is the sum over j = 1..T of exp(-j gamma), a mixture of exponentials; for others, rejection from
    the next whole one.
    """
    above = math.ceil(total)
    parts = 1.0 / np.arange(1, above + 1)
    while True:
        gamma = rng.standard_exponential() / (1 + rng.choice(above, p=parts / parts.sum()))
        if rng.random() * math.expm1(-gamma * above) >= math.expm1(-gamma * total):
            return gamma


def _turned_edges(lengths: np.ndarray, gamma: float, rng: np.random.Generator) -> np.ndarray:
    """Which edges turn, given that one at least does: the first place is drawn conditionally, the rest is free."""
    ends = np.cumsum(lengths)
    place = -math.log1p(rng.random() * math.expm1(-gamma * ends[-1])) / gamma
    first = min(int(np.searchsorted(ends, place, side="right")), len(lengths) - 1)
    turned = np.zeros(len(lengths), bool)
    turned[first] = True
    turned[first + 1 :] = rng.random(len(lengths) - first - 1) < -np.expm1(-gamma * lengths[first + 1 :])
    return turned


def _children(parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First child of each node and next sibling of each node, -1 where there is none."""
    child, sibling = np.full(len(parents), -1), np.full(len(parents), -1)
    for v in range(len(parents) - 2, -1, -1):
        sibling[v] = child[parents[v]]
        child[parents[v]] = v
    return child, sibling


class Genealogy(NamedTuple):
    """The phylogenetic Indian buffet process on one tree; V nodes, n leaves, G nodes of the quadrature."""

    table: np.ndarray  # (2^n,) log rates by pattern, bit i for option i; (1,) if there are too many options
    log_single: np.ndarray  # (n,)
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
    chance: np.ndarray  # (G,) probability of this gamma or a smaller one, given that there is an owner


@scalar
def is_tabled(prior):
    return prior.table.shape[0] > 1


@scalar
def code_of(b, k):
    """The pattern in row k as a number."""
    code = 0
    for i in range(b.Z.shape[1] - 1):
        code |= int(b.Z[k, i]) << i
    return code


@verbs.log_rate.register(Genealogy)
def _log_rate(prior, b, k, m):
    if is_tabled(prior):
        return prior.table[code_of(b, k)]
    if m == 1:
        return prior.log_single[lone_owner(b, k)]
    if m == b.Z.shape[1] - 1:
        return prior.log_full
    add_gains(prior, b, k)
    return log_sum(b.grid, prior.base)


@scalar
def lone_owner(b, k):
    i = 0
    while b.Z[k, i] == 0.0:
        i += 1
    return i


@scalar
def add_gains(prior, b, k):
    """The owners below each node into b.below, the gains of the maximal owning clades, added up, into b.grid."""
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
def add_gain(prior, sums, v, sign):
    for g in range(prior.base.shape[0]):
        sums[g] += sign * prior.gain[v, g]


@lanes
def log_sum(sums, base):
    """log of the sum of exp(sums + base)."""
    top = -np.inf
    for g in range(base.shape[0]):
        top = max(top, sums[g] + base[g])
    total = 0.0
    for g in range(base.shape[0]):
        total += fast_exp(sums[g] + base[g] - top)
    return top + math.log(total)


@verbs.open_column.register(Genealogy)
def _open_column(prior, b, k):
    if not is_tabled(prior):
        add_gains(prior, b, k)


@verbs.log_rate_toggled.register(Genealogy)
def _log_rate_toggled(prior, b, k, i, m):
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
def toggle_gains(prior, b, sums, k, i):
    """What a toggle of option i does to the gains: one clade takes the place of others, or the reverse.

    The clade is the largest that all own when i does; without i its parts beside the way up from i stand alone.
    """
    root = prior.parent.shape[0] - 1
    joins = b.Z[k, i] == 0.0
    missing = 1 if joins else 0
    sign = 1.0 if joins else -1.0
    v = i
    while prior.parent[v] != root and b.below[prior.parent[v]] + missing == prior.size[prior.parent[v]]:
        up = prior.parent[v]
        other = prior.child[up]
        while other >= 0:
            if other != v:
                add_gain(prior, sums, other, -sign)
            other = prior.sibling[other]
        v = up
    add_gain(prior, sums, v, sign)


@verbs.toggled.register(Genealogy)
def _toggled(prior, b, k, i):
    if not is_tabled(prior):
        toggle_gains(prior, b, b.grid, k, i)
        step = 1 if b.Z[k, i] == 0.0 else -1
        v = i
        while v >= 0:
            b.below[v] += step
            v = prior.parent[v]


@verbs.rate_between.register(Genealogy)
def _rate_between(prior, lo, hi):
    n = prior.log_single.shape[0]
    total = 0.0
    if lo <= 1 <= hi:
        total += prior.totals[0]
    if lo <= 2 and hi >= n - 1:
        total += prior.totals[1]
    if lo <= n <= hi:
        total += prior.totals[2]
    return total


@verbs.rate_single.register(Genealogy)
def _rate_single(prior, i):
    return math.exp(prior.log_single[i])


@verbs.draw_pattern.register(Genealogy)
def _draw_pattern(prior, rng, b, k, lo, hi):
    # gamma given that there is an owner, then the places where edges turn, a Poisson process of that rate on the total
    # length, the first of them given that there is one
    n = b.Z.shape[1] - 1
    total = prior.ends[prior.ends.shape[0] - 1]
    while True:
        gamma = prior.gamma[position(prior.chance, rng.random())]
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
        if lo <= m <= hi:
            return m


@scalar
def position(rising, value):
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


@verbs.is_exchangeable.register(Genealogy)
def _is_exchangeable(prior):
    return False


@verbs.keeps_empty.register(Genealogy)
def _keeps_empty(prior):
    return False


@verbs.may_flip.register(Genealogy)
def _may_flip(prior):
    return True


@verbs.set_alpha.register(Genealogy)
def _set_alpha(prior, b, alpha):
    b.real[ALPHA] = alpha


verbs.draw_alpha.register(Genealogy)(gamma_alpha)
