"""The state of one chain: a bag of weighted columns, the unique weights, and the concentration.

The arrays are allocated once and changed in place. Columns 0 to K-1 of the bag lie in rows 0 to K-1 of `Z`; row K is
where a new column is proposed, and the last row is scratch space. Patterns are named by their row number everywhere.

A chain keeps one bag for every temperature (see `thali.mcmc.tempering`), stacked: every array has one axis more, in
front, and `replica` gives the bag at one place of it.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._jit import scalar

ALPHA, HEAT = range(2)  # positions in Bag.real
COLUMNS, FULL, SWEEPS = range(3)  # positions in Bag.whole
NO_UNIQUE, FIXED_UNIQUE, TOTAL_UNIQUE = range(3)  # what Bag.s holds: see Model
ROOM = 32  # free rows that a sweep is given at least, besides as many as are in use


class Model(NamedTuple):
    """A prior over columns, a likelihood, and how the two are joined. Never changed."""

    prior: object
    likelihood: object
    shape: float  # of the Gamma prior of every weight
    rate: float
    lo: int  # least and greatest number of owners that a column in the bag may have between moves
    hi: int
    unique: int  # s[i] is: always 0 | the fixed unique weight of i | that plus every column that only i owns
    learn_alpha: bool  # Gamma(1, 1) prior on the concentration, or a fixed value


class Bag(NamedTuple):
    """The state of one chain."""

    Z: np.ndarray  # (rows, n + 1) 0.0 or 1.0; entry n is always 0, so that a missing neighbour owns nothing
    w: np.ndarray  # (rows,) weights
    m: np.ndarray  # (rows,) int64 numbers of owners
    log_rate: np.ndarray  # (rows,) log arrival rate (or probability) of the pattern
    pi: np.ndarray  # (rows,) probability of the column; only the published sampler on a tree has it
    owning: np.ndarray  # (rows, 2 n) int64 owners below each node, for that sampler
    log_one: np.ndarray  # (rows, 2 n) log probability that all leaves below a node own it, for that sampler
    s: np.ndarray  # (n + 1,) weight that only option i owns
    z: np.ndarray  # (n,) alpha * rate of {i} * rate of the weights: s[i] has Bessel argument 2 sqrt(z[i] s[i])
    log_bessel: np.ndarray  # (n,) log I0(2 sqrt(z[i] s[i]))
    by_size: np.ndarray  # (n + 1,) log rate by number of owners, for priors that know no more than that
    singles: np.ndarray  # (n,) int64 number of columns that only option i owns, drawn with alpha (if lo is 2)
    order: np.ndarray  # (rows,) int64 scratch: an order of the columns
    who: np.ndarray  # (n,) int64 scratch: an order of the options
    block: np.ndarray  # (32,) scratch: log posterior of the outcomes of a joint draw
    candidates: np.ndarray  # (5,) scratch: weights
    below: np.ndarray  # (2 n,) int64 scratch: owners below each node of a tree
    grid: np.ndarray  # (grid_size(n),) scratch: a function of the probability of the open column
    trial: np.ndarray  # (grid_size(n),) scratch: what it would be after a change
    real: np.ndarray  # (2,) ALPHA, HEAT (the power of the likelihood: 1 unless the chain is tempered)
    whole: np.ndarray  # (3,) int64 COLUMNS, FULL (columns that all options own, drawn with alpha), SWEEPS


def grid_size(n: int) -> int:
    """Nodes of the quadrature over the probability of a column: the more options, the narrower what is integrated.

    The logarithm of gamma = -log(1 - pi) has a standard deviation of 1.24 / sqrt(n) at the least, given the owners.
    Steps of 1.45 / sqrt(n) keep relative errors of the trapezoidal rule below 5e-6, 96 nodes those of a dozen options
    below 1e-8.
    """
    return max(96, math.ceil(math.log(2.4e13 * (1 + n)) * math.sqrt(n) / 1.45))


def empty_bag(n: int, capacity: int) -> Bag:
    """A bag without columns for n options."""
    rows = capacity + 2
    return Bag(
        Z=np.zeros((rows, n + 1)),
        w=np.zeros(rows),
        m=np.zeros(rows, np.int64),
        log_rate=np.zeros(rows),
        pi=np.zeros(rows),
        owning=np.zeros((rows, 2 * n), np.int64),  # zeros that nobody touches take no memory
        log_one=np.zeros((rows, 2 * n)),
        s=np.zeros(n + 1),
        z=np.zeros(n),
        log_bessel=np.zeros(n),
        by_size=np.zeros(n + 1),
        singles=np.zeros(n, np.int64),
        order=np.zeros(rows, np.int64),
        who=np.zeros(n, np.int64),
        block=np.zeros(32),
        candidates=np.zeros(5),
        below=np.zeros(2 * n, np.int64),
        grid=np.zeros(grid_size(n)),
        trial=np.zeros(grid_size(n)),
        real=np.array([0.0, 1.0]),
        whole=np.zeros(3, np.int64),
    )


def resized(bag: Bag, capacity: int) -> Bag:
    """A copy of the bag with room for that many columns."""
    larger = empty_bag(bag.Z.shape[1] - 1, capacity)
    count = bag.whole[COLUMNS]
    for name, old in bag._asdict().items():
        new = getattr(larger, name)
        if new.shape == old.shape:
            new[...] = old
        else:
            new[:count] = old[:count]
    return larger


def stack(states: list) -> Any:
    """NamedTuples of arrays, one for each replica, as one NamedTuple of arrays with an axis more in front."""
    if len(states) == 1:  # without a copy: pages that nobody has touched yet take no memory
        return type(states[0])(*(a[None] for a in states[0]))
    return type(states[0])(*(np.stack(arrays) for arrays in zip(*states, strict=True)))


def grown(bags: Bag) -> Bag:
    """A copy of stacked bags with twice the room for columns."""
    states = [replica(bags, t) for t in range(bags.w.shape[0])]
    return stack([resized(b, 2 * capacity(b)) for b in states])


@scalar
def replica(bags, t):
    """The bag at place t of stacked ones: views, which cost nothing."""
    return Bag(
        bags.Z[t],
        bags.w[t],
        bags.m[t],
        bags.log_rate[t],
        bags.pi[t],
        bags.owning[t],
        bags.log_one[t],
        bags.s[t],
        bags.z[t],
        bags.log_bessel[t],
        bags.by_size[t],
        bags.singles[t],
        bags.order[t],
        bags.who[t],
        bags.block[t],
        bags.candidates[t],
        bags.below[t],
        bags.grid[t],
        bags.trial[t],
        bags.real[t],
        bags.whole[t],
    )


@scalar
def capacity(b):
    return b.Z.shape[0] - 2


@scalar
def scratch(b):
    """The row number of the scratch pattern."""
    return b.Z.shape[0] - 1


@scalar
def is_crowded(b):
    """Whether a sweep could run out of rows for columns: the caller then doubles them."""
    needed = b.whole[COLUMNS] + b.whole[FULL]
    for i in range(b.singles.shape[0]):
        needed += b.singles[i]
    return 2 * needed + ROOM > capacity(b)


@scalar
def clear_row(b, k):
    for i in range(b.Z.shape[1]):
        b.Z[k, i] = 0.0


@scalar
def copy_row(b, source, target):
    for i in range(b.Z.shape[1]):
        b.Z[target, i] = b.Z[source, i]


@scalar
def columns_born(b, k, d):
    """How many columns come if the weight of pattern k grows by d: one in the free row, -1 if the weight goes, or 0."""
    if k == b.whole[COLUMNS]:
        return 1.0
    return -1.0 if d == -b.w[k] else 0.0


@scalar
def sum_of_weights(b):
    """Of all columns, and the unique ones."""
    total = 0.0
    for k in range(b.whole[COLUMNS]):
        total += b.w[k]
    for i in range(b.s.shape[0]):
        total += b.s[i]
    return total


@scalar
def remove_column(b, k):
    """The last column takes the place of column k."""
    last = b.whole[COLUMNS] - 1
    if k != last:
        copy_column(b, last, k)
    b.whole[COLUMNS] = last


@scalar
def copy_column(b, source, target):
    """All that is known of a column, but for what the published sampler on a tree keeps of its nodes."""
    copy_row(b, source, target)
    b.w[target] = b.w[source]
    b.m[target] = b.m[source]
    b.log_rate[target] = b.log_rate[source]
    b.pi[target] = b.pi[source]


@scalar
def copy_nodes(b, source, target):
    for v in range(b.owning.shape[1]):
        b.owning[target, v] = b.owning[source, v]
        b.log_one[target, v] = b.log_one[source, v]


@scalar
def least_unique(b, k):
    """The smallest unique weight among the owners of pattern k."""
    least = np.inf
    for i in range(b.s.shape[0] - 1):
        if b.Z[k, i] != 0.0 and b.s[i] < least:
            least = b.s[i]
    return least


@scalar
def has_free_singles(model):
    """Whether columns of single options, which the likelihood does not see, are drawn from the prior with alpha."""
    return model.unique == NO_UNIQUE and model.lo == 2
