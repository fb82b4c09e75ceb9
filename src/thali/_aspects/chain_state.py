"""The state of one Markov chain: features with owners and weights, unique weights, alpha.

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
from thali._inference.numerics.discrete_draws import accept, shuffle

ALPHA, BETA = range(2)  # positions in FeatureState.real
COLUMNS, FULL, SWEEPS = range(3)  # positions in FeatureState.whole
NO_UNIQUE, FIXED_UNIQUE, TOTAL_UNIQUE = range(3)  # contents of FeatureState.s: see ChainModel
# A sweep starts with at least this number of free rows, plus the number of rows in use.
MIN_FREE_ROWS = 32


class ChainModel(NamedTuple):
    """Prior, likelihood and weight prior of a chain as kernels read them; read-only."""

    prior: object
    likelihood: object
    weights: Any  # the prior of weights, see weight_priors
    lo: int  # minimum and maximum number of owners of a column between moves
    hi: int
    # s[i] is: 0 | the fixed unique weight of i | that weight plus all columns that only i owns
    unique: int
    learn_alpha: bool  # Gamma(1, 1) prior on the concentration, or a fixed value


class FeatureState(NamedTuple):
    """State of a chain: owners (rows of Z), weights w, unique weights s, alpha and scratch."""

    # (rows, n + 1) 0.0 or 1.0; entry n is always 0, so that a missing neighbour owns nothing
    Z: np.ndarray
    w: np.ndarray  # (rows,) weights
    m: np.ndarray  # (rows,) int64 numbers of owners
    log_rate: np.ndarray  # (rows,) log arrival rate (or probability) of the pattern
    pi: np.ndarray  # (rows,) probability of the column; used by the published tree sampler only
    owning: np.ndarray  # (rows, 2 n) int64 owners below each node, for that sampler
    # (rows, 2 n) log probability that all leaves below a node own the column, for that sampler
    log_one: np.ndarray
    s: np.ndarray  # (n + 1,) weight that only option i owns
    # (n,) alpha * rate of {i} * rate of the weights: s[i] has Bessel argument 2 sqrt(z[i] s[i])
    z: np.ndarray
    log_bessel: np.ndarray  # (n,) log I0(2 sqrt(z[i] s[i]))
    by_size: np.ndarray  # (n + 1,) log rate by number of owners, for exchangeable priors
    # (n,) int64 number of columns that only option i owns, drawn with alpha (if lo is 2)
    singles: np.ndarray
    order: np.ndarray  # (rows,) int64 scratch: an order of the columns
    option_order: np.ndarray  # (n,) int64 scratch: an order of the options
    block: np.ndarray  # (32,) scratch: log posterior of the outcomes of a joint draw
    candidates: np.ndarray  # (5,) scratch: weights
    owners_below: np.ndarray  # (2 n,) int64 scratch: owners below each node of a tree
    # (count_grid_nodes(n),) scratch: a function of the probability of the open column
    grid: np.ndarray
    trial: np.ndarray  # (count_grid_nodes(n),) scratch: the same function after a proposed change
    # (2,) ALPHA, BETA (the power of the likelihood: 1 unless the chain is tempered)
    real: np.ndarray
    # (3,) int64 COLUMNS, FULL (columns that all options own, drawn with alpha), SWEEPS
    whole: np.ndarray


def count_grid_nodes(n: int) -> int:
    """Return how many quadrature nodes the tree sampler uses for n options.

    The logarithm of gamma = -log(1 - pi) has a standard deviation of 1.24 / sqrt(n) at the least,
    given the owners. Steps of 1.45 / sqrt(n) keep relative errors of the trapezoidal rule below
    5e-6, 96 nodes those of a dozen options below 1e-8.
    """
    return max(96, math.ceil(math.log(2.4e13 * (1 + n)) * math.sqrt(n) / 1.45))


def make_empty_state(n: int, capacity: int, n_nodes: int | None = None) -> FeatureState:
    """Make a state without features for n options.

    `n_nodes` is the number of nodes of a tree, 2 n if None.
    """
    n_rows = capacity + 2
    if n_nodes is None:
        n_nodes = 2 * n
    return FeatureState(
        Z=np.zeros((n_rows, n + 1)),
        w=np.zeros(n_rows),
        m=np.zeros(n_rows, np.int64),
        log_rate=np.zeros(n_rows),
        pi=np.zeros(n_rows),
        owning=np.zeros((n_rows, n_nodes), np.int64),  # untouched zeros take no memory
        log_one=np.zeros((n_rows, n_nodes)),
        s=np.zeros(n + 1),
        z=np.zeros(n),
        log_bessel=np.zeros(n),
        by_size=np.zeros(n + 1),
        singles=np.zeros(n, np.int64),
        order=np.zeros(n_rows, np.int64),
        option_order=np.zeros(n, np.int64),
        block=np.zeros(32),
        candidates=np.zeros(5),
        owners_below=np.zeros(2 * n, np.int64),
        grid=np.zeros(count_grid_nodes(n)),
        trial=np.zeros(count_grid_nodes(n)),
        real=np.array([0.0, 1.0]),
        whole=np.zeros(3, np.int64),
    )


def resize_state(state: FeatureState, n_columns_max: int) -> FeatureState:
    """Return a state with room for `n_columns_max` features, a copy if that changes."""
    if n_columns_max == capacity(state):
        return state
    new_state = make_empty_state(count_options(state), n_columns_max, state.owning.shape[1])
    n_columns = state.whole[COLUMNS]
    for name, old_array in state._asdict().items():
        new_array = getattr(new_state, name)
        if new_array.shape == old_array.shape:
            new_array[...] = old_array
        else:
            new_array[:n_columns] = old_array[:n_columns]
    return new_state


def stack_states(states: list[Any]) -> Any:
    """Stack NamedTuples of arrays along a new first axis of each array."""
    if len(states) == 1:  # without a copy: untouched pages take no memory
        return type(states[0])(*(a[None] for a in states[0]))
    return type(states[0])(*(np.stack(arrays) for arrays in zip(*states, strict=True)))


def append_rows(stacked: Any, rows: np.ndarray) -> Any:
    """Return stacked arrays with copies of some rows at the end."""
    return type(stacked)(*(np.concatenate([a, a[rows]]) for a in stacked))


def double_capacity(states: FeatureState) -> FeatureState:
    """Copy stacked states into arrays with twice the room for features."""
    copies = [replica(states, t) for t in range(count_replicas(states))]
    return stack_states([resize_state(b, 2 * capacity(b)) for b in copies])


@scalar
def replica(states: Any, t: Any) -> Any:
    """Return views of state number t of stacked states."""
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
        states.option_order[t],
        states.block[t],
        states.candidates[t],
        states.owners_below[t],
        states.grid[t],
        states.trial[t],
        states.real[t],
        states.whole[t],
    )


@scalar
def capacity(b: Any) -> Any:
    """Return the maximum number of features in the state's arrays."""
    return b.Z.shape[0] - 2


@scalar
def count_replicas(states: Any) -> Any:
    """Return the number of replicas whose states are stacked."""
    return states.w.shape[0]


@scalar
def count_options(b: Any) -> Any:
    """Return the number of options."""
    return b.Z.shape[1] - 1


@scalar
def owns(b: Any, i: Any, k: Any) -> Any:
    """Return whether option i owns column k."""
    return b.Z[k, i] != 0.0


@scalar
def scratch_index(b: Any) -> Any:
    """Return the row of Z that moves use as scratch space for owners."""
    return b.Z.shape[0] - 1


@scalar
def is_crowded(b: Any) -> Any:
    """Return whether a sweep could run out of rows for new features."""
    needed = b.whole[COLUMNS] + b.whole[FULL]
    for i in range(b.singles.size):
        needed += b.singles[i]
    return 2 * needed + MIN_FREE_ROWS > capacity(b)


@scalar
def clear_row(b: Any, k: Any) -> None:
    """Remove all owners from row k."""
    for i in range(b.Z.shape[1]):
        b.Z[k, i] = 0.0


@scalar
def write_owner_range(b: Any, k: Any, i: Any, m: Any) -> None:
    """Make options i to i + m - 1 owners of row k."""
    clear_row(b, k)
    for j in range(i, i + m):
        b.Z[k, j] = 1.0


@scalar
def copy_row(b: Any, source: Any, target: Any) -> None:
    """Copy the owners of row `source` to row `target`."""
    for i in range(b.Z.shape[1]):
        b.Z[target, i] = b.Z[source, i]


@scalar
def accept_move(rng: Any, b: Any, ratio: Any, gain: Any) -> Any:
    """Return whether a move is accepted, given log prior and proposal ratio and likelihood gain.

    The gain in log-likelihood counts by the inverse temperature of the state.
    """
    return accept(rng, ratio + b.real[BETA] * gain)


@scalar
def count_born_columns(b: Any, k: Any, d: Any) -> Any:
    """Return +1, -1 or 0: features gained if the weight of feature k grows by d.

    It is 1 at a birth, -1 at a death, and 0 otherwise.
    """
    if k == b.whole[COLUMNS]:
        return 1.0
    if d == -b.w[k]:
        return -1.0
    return 0.0


@scalar
def sum_weights(b: Any) -> Any:
    """Return the sum of all feature weights and unique weights."""
    total = 0.0
    for k in range(b.whole[COLUMNS]):
        total += b.w[k]
    for i in range(b.s.size):
        total += b.s[i]
    return total


@scalar
def count_after_flip(b: Any, k: Any, i: Any) -> Any:
    """Return the number of owners of feature k after option i joins or leaves it."""
    if not owns(b, i, k):
        return b.m[k] + 1
    return b.m[k] - 1


@scalar
def flipped_weight(b: Any, k: Any, i: Any) -> Any:
    """Return the weight that option i gains by joining feature k, or loses by leaving."""
    if not owns(b, i, k):
        return b.w[k]
    return -b.w[k]


@scalar
def toggle_owner(b: Any, k: Any, i: Any) -> None:
    """Make option i an owner of feature k, or no longer one; counts stay as they are."""
    b.Z[k, i] = 1.0 - b.Z[k, i]


@scalar
def change_owner(b: Any, k: Any, i: Any, m: Any, rate: Any) -> None:
    """Toggle whether option i owns feature k, which then has m owners and this log rate."""
    toggle_owner(b, k, i)
    b.m[k] = m
    b.log_rate[k] = rate


@scalar
def remove_column(b: Any, k: Any) -> None:
    """Remove feature k; the last feature takes its row."""
    last = b.whole[COLUMNS] - 1
    if k != last:
        copy_column(b, last, k)
    b.whole[COLUMNS] = last


@scalar
def copy_column(b: Any, source: Any, target: Any) -> None:
    """Copy a feature's owners, weight and log rate from row `source` to row `target`."""
    copy_row(b, source, target)
    b.w[target] = b.w[source]
    b.m[target] = b.m[source]
    b.log_rate[target] = b.log_rate[source]
    b.pi[target] = b.pi[source]


@scalar
def min_over_owners(unique_weights: Any, b: Any, k: Any) -> Any:
    """Return the smallest unique weight of the owners of feature k."""
    smallest = np.inf
    for i in range(count_options(b)):
        if owns(b, i, k):
            smallest = min(smallest, unique_weights[i])
    return smallest


@scalar
def subtract_from_owners(unique_weights: Any, b: Any, k: Any, d: Any) -> None:
    """Subtract d from the unique weight of every owner of feature k."""
    for i in range(count_options(b)):
        unique_weights[i] -= d * b.Z[k, i]


@scalar
def scale_all_weights(b: Any, factor: Any) -> None:
    """Multiply all feature weights and unique weights by a factor."""
    for k in range(b.whole[COLUMNS]):
        b.w[k] *= factor
    for i in range(count_options(b)):
        b.s[i] *= factor


@scalar
def has_free_singles(model: Any) -> Any:
    """Return whether features of one owner are drawn from the prior with alpha.

    That holds if the likelihood does not depend on them.
    """
    return model.unique == NO_UNIQUE and model.lo == 2


# Order of the columns in a pass -------------------------------------------------------------------


@scalar
def shuffle_columns(rng: Any, b: Any) -> Any:
    """Fill b.order with all features in random order; return their number.

    New columns are stored last, so the order of storage depends on weights and owners.
    """
    n_columns = b.whole[COLUMNS]
    for k in range(n_columns):
        b.order[k] = k
    shuffle(rng, b.order, n_columns)
    return n_columns
