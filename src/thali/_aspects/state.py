"""The state of one chain: weighted columns (a Poisson process), the unique weights, and the
concentration.

The arrays are allocated once and changed in place. Columns 0 to K-1 are rows 0 to K-1 of `Z`; a new
column is proposed in row K, and the last row is scratch space. A pattern is referred to by its row
number.

A chain has one state for every temperature (see `samplers.tempering`), stacked along a new first
axis of every array; `replica` returns one of them.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar
from thali._inference.numerics.decisions import shuffle

ALPHA, BETA = range(2)  # positions in State.real
COLUMNS, FULL, SWEEPS = range(3)  # positions in State.whole
NO_UNIQUE, FIXED_UNIQUE, TOTAL_UNIQUE = range(3)  # what State.s holds: see Model
ROOM = 32  # least number of free rows at the start of a sweep, in addition to as many as are in use


class ChainModel(NamedTuple):
    """A prior over columns, a likelihood, and how the two are joined. Never changed."""

    prior: object
    likelihood: object
    weights: Any  # their prior, see weight_priors
    lo: int  # least and greatest number of owners of a column of the state between moves
    hi: int
    # s[i] is: always 0 | the fixed unique weight of i | that plus every column that only i owns
    unique: int
    learn_alpha: bool  # Gamma(1, 1) prior on the concentration, or a fixed value


class FeatureState(NamedTuple):
    """The state of one chain."""

    # (rows, n + 1) 0.0 or 1.0; entry n is always 0, so that a missing neighbour owns nothing
    Z: np.ndarray
    w: np.ndarray  # (rows,) weights
    m: np.ndarray  # (rows,) int64 numbers of owners
    log_rate: np.ndarray  # (rows,) log arrival rate (or probability) of the pattern
    pi: np.ndarray  # (rows,) probability of the column; only the published sampler on a tree has it
    owning: np.ndarray  # (rows, 2 n) int64 owners below each node, for that sampler
    # (rows, 2 n) log probability that all leaves below a node own it, for that sampler
    log_one: np.ndarray
    s: np.ndarray  # (n + 1,) weight that only option i owns
    # (n,) alpha * rate of {i} * rate of the weights: s[i] has Bessel argument 2 sqrt(z[i] s[i])
    z: np.ndarray
    log_bessel: np.ndarray  # (n,) log I0(2 sqrt(z[i] s[i]))
    by_size: np.ndarray  # (n + 1,) log rate by number of owners, for exchangeable priors
    # (n,) int64 number of columns that only option i owns, drawn with alpha (if lo is 2)
    singles: np.ndarray
    order: np.ndarray  # (rows,) int64 scratch: an order of the columns
    who: np.ndarray  # (n,) int64 scratch: an order of the options
    block: np.ndarray  # (32,) scratch: log posterior of the outcomes of a joint draw
    candidates: np.ndarray  # (5,) scratch: weights
    below: np.ndarray  # (2 n,) int64 scratch: owners below each node of a tree
    grid: np.ndarray  # (grid_size(n),) scratch: a function of the probability of the open column
    trial: np.ndarray  # (grid_size(n),) scratch: what it would be after a change
    # (2,) ALPHA, BETA (the power of the likelihood: 1 unless the chain is tempered)
    real: np.ndarray
    # (3,) int64 COLUMNS, FULL (columns that all options own, drawn with alpha), SWEEPS
    whole: np.ndarray


def grid_size(n: int) -> int:
    """Nodes of the quadrature over the probability of a column: the integrand is narrower for more
    options.

    The logarithm of gamma = -log(1 - pi) has a standard deviation of 1.24 / sqrt(n) at the least,
    given the owners. Steps of 1.45 / sqrt(n) keep relative errors of the trapezoidal rule below
    5e-6, 96 nodes those of a dozen options below 1e-8.
    """
    return max(96, math.ceil(math.log(2.4e13 * (1 + n)) * math.sqrt(n) / 1.45))


def empty_state(n: int, capacity: int, nodes: int | None = None) -> FeatureState:
    """A state without columns for n options; `nodes` of a tree, where it is not for every
    sampler."""
    rows, nodes = capacity + 2, 2 * n if nodes is None else nodes
    return FeatureState(
        Z=np.zeros((rows, n + 1)),
        w=np.zeros(rows),
        m=np.zeros(rows, np.int64),
        log_rate=np.zeros(rows),
        pi=np.zeros(rows),
        owning=np.zeros((rows, nodes), np.int64),  # untouched zeros take no memory
        log_one=np.zeros((rows, nodes)),
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


def resized(state: FeatureState, capacity: int) -> FeatureState:
    """A copy of the state with room for that many columns."""
    larger = empty_state(state.Z.shape[1] - 1, capacity, state.owning.shape[1])
    count = state.whole[COLUMNS]
    for name, old in state._asdict().items():
        new = getattr(larger, name)
        if new.shape == old.shape:
            new[...] = old
        else:
            new[:count] = old[:count]
    return larger


def stack(replicas_: list[Any]) -> Any:
    """Stack NamedTuples of arrays, one for each replica, along a new first axis of each array."""
    if len(replicas_) == 1:  # without a copy: untouched pages take no memory
        return type(replicas_[0])(*(a[None] for a in replicas_[0]))
    return type(replicas_[0])(*(np.stack(arrays) for arrays in zip(*replicas_, strict=True)))


def grown(states: FeatureState) -> FeatureState:
    """A copy of stacked states with twice the room for columns."""
    replicas_ = [replica(states, t) for t in range(states.w.shape[0])]
    return stack([resized(b, 2 * capacity(b)) for b in replicas_])


@scalar
def replica(states: Any, t: Any) -> Any:
    """State number t of stacked states: views, which cost nothing."""
    return FeatureState(
        states.Z[t],
        states.w[t],
        states.m[t],
        states.log_rate[t],
        states.pi[t],
        states.owning[t],
        states.log_one[t],
        states.s[t],
        states.z[t],
        states.log_bessel[t],
        states.by_size[t],
        states.singles[t],
        states.order[t],
        states.who[t],
        states.block[t],
        states.candidates[t],
        states.below[t],
        states.grid[t],
        states.trial[t],
        states.real[t],
        states.whole[t],
    )


@scalar
def capacity(b: Any) -> Any:
    return b.Z.shape[0] - 2


@scalar
def scratch(b: Any) -> Any:
    """The row number of the scratch pattern."""
    return b.Z.shape[0] - 1


@scalar
def is_crowded(b: Any) -> Any:
    """Whether a sweep could run out of rows for columns: the caller then doubles them."""
    needed = b.whole[COLUMNS] + b.whole[FULL]
    for i in range(b.singles.shape[0]):
        needed += b.singles[i]
    return 2 * needed + ROOM > capacity(b)


@scalar
def clear_row(b: Any, k: Any) -> None:
    for i in range(b.Z.shape[1]):
        b.Z[k, i] = 0.0


@scalar
def copy_row(b: Any, source: Any, target: Any) -> None:
    for i in range(b.Z.shape[1]):
        b.Z[target, i] = b.Z[source, i]


@scalar
def columns_born(b: Any, k: Any, d: Any) -> Any:
    """Change of the number of columns if the weight of pattern k grows by d: 1 at a birth, -1 at a
    death, else 0."""
    if k == b.whole[COLUMNS]:
        return 1.0
    return -1.0 if d == -b.w[k] else 0.0


@scalar
def sum_of_weights(b: Any) -> Any:
    """Of all columns, and the unique ones."""
    total = 0.0
    for k in range(b.whole[COLUMNS]):
        total += b.w[k]
    for i in range(b.s.shape[0]):
        total += b.s[i]
    return total


@scalar
def change_owner(b: Any, k: Any, i: Any, m: Any, rate: Any) -> None:
    """Option i joins column k or leaves it, which then has m owners and that log rate."""
    b.Z[k, i] = 1.0 - b.Z[k, i]
    b.m[k] = m
    b.log_rate[k] = rate


@scalar
def remove_column(b: Any, k: Any) -> None:
    """The last column takes the place of column k."""
    last = b.whole[COLUMNS] - 1
    if k != last:
        copy_column(b, last, k)
    b.whole[COLUMNS] = last


@scalar
def copy_column(b: Any, source: Any, target: Any) -> None:
    """Copy a column, without the node arrays of the published sampler on a tree."""
    copy_row(b, source, target)
    b.w[target] = b.w[source]
    b.m[target] = b.m[source]
    b.log_rate[target] = b.log_rate[source]
    b.pi[target] = b.pi[source]


@scalar
def least_unique(b: Any, k: Any) -> Any:
    """The smallest unique weight among the owners of pattern k."""
    least = np.inf
    for i in range(b.s.shape[0] - 1):
        if b.Z[k, i] != 0.0 and b.s[i] < least:
            least = b.s[i]
    return least


@scalar
def has_free_singles(model: Any) -> Any:
    """Whether columns of single options, which the likelihood does not see, are drawn from the
    prior with alpha."""
    return model.unique == NO_UNIQUE and model.lo == 2


# The order in which a pass visits the columns -----------------------------------------------------


@scalar
def shuffle_columns(rng: Any, b: Any) -> Any:
    """All columns into b.order, in uniformly random order; returns how many there are.

    New columns are stored last, so the order of storage depends on weights and owners.
    """
    columns = b.whole[COLUMNS]
    for k in range(columns):
        b.order[k] = k
    shuffle(rng, b.order, columns)
    return columns
