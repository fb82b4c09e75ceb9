"""A user's likelihood that is a sum of terms of options and pairs of options: operations derived
from these terms.

A term depends on the features only by sums of weights: own[i], of all features that option i has,
and shared[i, j], of those that i and j share. The sums and the terms are stored, so a change
evaluates only the terms that it affects.
"""

from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import generic, scalar

from .. import operations
from ..state import COLUMNS, count_born_columns, scratch_index


class TermSums(NamedTuple):
    """The cache of a chain."""

    own: np.ndarray  # (n,) sum of the weights of option i
    own_columns: np.ndarray  # (n,) of how many columns; without columns the sum is exactly 0
    option: np.ndarray  # (n,) its term
    shared: np.ndarray  # (n, n) sum of the weights that i and j share; symmetric, 0 on the diagonal
    shared_columns: np.ndarray  # (n, n) of how many columns
    pair: np.ndarray  # (n, n) their term; likewise
    owner: np.ndarray  # (n,) int64 the owners of the open pattern, in any order
    owners: np.ndarray  # (1,) int64 how many they are
    parameters: np.ndarray  # (P,) values of the learned parameters


@generic
def seen(likelihood: Any, c: Any) -> None:
    """The likelihood at the present values of its parameters; default: it has none."""


@generic
def start(likelihood: Any) -> None:
    """Where its parameters start, as Python; default: it has none."""


@seen.register(object)
def _seen(likelihood: Any, c: Any) -> Any:
    return likelihood


@start.register(object)
def _start(likelihood: Any) -> Any:
    return np.zeros(0)


@generic
def of_pair(likelihood: Any, i: Any, j: Any, shared: Any, own_i: Any, own_j: Any) -> None:
    """The term of options i < j."""


@generic
def of_option(likelihood: Any, i: Any, own: Any) -> None:
    """The term of option i."""


@generic
def sees_pairs(likelihood: Any) -> None:
    """Whether there are terms of pairs."""


@generic
def sees_own(likelihood: Any) -> None:
    """Whether the terms of pairs depend on own[i] and own[j] as well."""


@generic
def has_signed_sums(likelihood: Any) -> None:
    """Whether weights may be below 0."""


@generic
def whole(likelihood: Any, features: Any, weights: Any) -> None:
    """The user's log-likelihood of all data; features (n, K), weights (K,)."""


def empty_cache(likelihood: Any) -> TermSums:
    """Sums of no feature; terms are filled in later."""
    n = likelihood.n
    side = n if sees_pairs(likelihood) else 0
    arrays: Any = [
        *np.zeros((3, n)),
        *np.zeros((3, side, side)),
        np.zeros(n, np.int64),
        np.zeros(1, np.int64),
    ]
    arrays.append(np.array(start(likelihood)))
    return TermSums(*arrays)


@scalar
def sum_of(likelihood: Any, weights: Any, columns: Any) -> Any:
    """The sum, but 0 where there is no column, or where rounding makes a sum of weights above 0
    negative."""
    if has_signed_sums(likelihood):
        return weights if columns > 0.0 else 0.0
    return max(weights, 0.0) if columns > 0.0 else 0.0


@scalar
def pair_at(likelihood: Any, i: Any, j: Any, shared: Any, own_i: Any, own_j: Any) -> Any:
    """The term of options i and j, given their sums."""
    swapped = i > j
    first, second = j if swapped else i, i if swapped else j
    return of_pair(
        likelihood, first, second, shared, own_j if swapped else own_i, own_i if swapped else own_j
    )


@scalar
def note_own(likelihood: Any, c: Any, i: Any, d: Any, g: Any) -> None:
    """The sum of option i grows by d and by g columns; its term follows."""
    c.own_columns[i] += g
    c.own[i] = sum_of(likelihood, c.own[i] + d, c.own_columns[i])
    c.option[i] = of_option(likelihood, i, c.own[i])


@scalar
def note_pair(likelihood: Any, c: Any, i: Any, j: Any, d: Any, g: Any) -> None:
    """What i and j share grows by d and by g columns; both copies of their sum and their term
    follow."""
    c.shared_columns[i, j] += g
    c.shared_columns[j, i] = c.shared_columns[i, j]
    c.shared[i, j] = sum_of(likelihood, c.shared[i, j] + d, c.shared_columns[i, j])
    c.shared[j, i] = c.shared[i, j]
    c.pair[i, j] = pair_at(likelihood, i, j, c.shared[i, j], c.own[i], c.own[j])
    c.pair[j, i] = c.pair[i, j]


@scalar
def whole_of_state(likelihood: Any, b: Any, columns: Any) -> Any:
    """The user's log-likelihood, given the first columns of the state."""
    return whole(likelihood, b.Z[:columns, : b.Z.shape[1] - 1].T, b.w[:columns])


@scalar
def _delta_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    likelihood = seen(likelihood, c)
    g = 1.0 - 2.0 * b.Z[k, i]
    own = sum_of(likelihood, c.own[i] + d, c.own_columns[i] + g)
    change = of_option(likelihood, i, own) - c.option[i]
    if sees_pairs(likelihood):
        for j in range(likelihood.n):
            z = b.Z[k, j]
            if j != i and (sees_own(likelihood) or z != 0.0):
                shared = sum_of(likelihood, c.shared[i, j] + d * z, c.shared_columns[i, j] + g * z)
                change += pair_at(likelihood, i, j, shared, own, c.own[j]) - c.pair[i, j]
    return change


@scalar
def _apply_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    likelihood = seen(likelihood, c)
    g = 1.0 - 2.0 * b.Z[k, i]
    note_own(likelihood, c, i, d, g)
    if sees_pairs(likelihood):
        for j in range(likelihood.n):
            z = b.Z[k, j]
            if j != i and (sees_own(likelihood) or z != 0.0):
                note_pair(likelihood, c, i, j, d * z, g * z)


# While a pattern is open its owners are listed, so that terms of shared sums need no other option.


def _open_members(likelihood: Any, c: Any, b: Any, k: Any) -> None:
    count = 0
    for i in range(likelihood.n):
        if b.Z[k, i] != 0.0:
            c.owner[count] = i
            count += 1
    c.owners[0] = count


def _delta_joined(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    likelihood = seen(likelihood, c)
    if sees_own(likelihood):
        return _delta_member(likelihood, c, b, k, i, d)
    g = 1.0 - 2.0 * b.Z[k, i]
    change = (
        of_option(likelihood, i, sum_of(likelihood, c.own[i] + d, c.own_columns[i] + g))
        - c.option[i]
    )
    if sees_pairs(likelihood):
        for t in range(c.owners[0]):
            j = c.owner[t]
            if j != i:
                shared = sum_of(likelihood, c.shared[i, j] + d, c.shared_columns[i, j] + g)
                change += pair_at(likelihood, i, j, shared, c.own[i], c.own[j]) - c.pair[i, j]
    return change


def _apply_joined(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    _apply_member(likelihood, c, b, k, i, d)
    count = c.owners[0]
    if b.Z[k, i] == 0.0:
        c.owner[count] = i
        c.owners[0] = count + 1
    else:
        for t in range(count):
            if c.owner[t] == i:
                c.owner[t] = c.owner[count - 1]
        c.owners[0] = count - 1


def _delta_weight(likelihood: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> Any:
    likelihood = seen(likelihood, c)
    g = count_born_columns(b, k, d)
    change = 0.0
    for i in range(likelihood.n):
        z = b.Z[k, i]
        own_i = sum_of(likelihood, c.own[i] + d * z, c.own_columns[i] + g * z)
        if z != 0.0:
            change += of_option(likelihood, i, own_i) - c.option[i]
        if sees_pairs(likelihood) and (sees_own(likelihood) or z != 0.0):
            for j in range(i):
                y = b.Z[k, j]
                if z * y != 0.0 or (sees_own(likelihood) and z + y != 0.0):
                    shared = sum_of(
                        likelihood, c.shared[i, j] + d * z * y, c.shared_columns[i, j] + g * z * y
                    )
                    own_j = sum_of(likelihood, c.own[j] + d * y, c.own_columns[j] + g * y)
                    change += pair_at(likelihood, i, j, shared, own_i, own_j) - c.pair[i, j]
    return change


def _apply_weight(likelihood: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    likelihood = seen(likelihood, c)
    g = count_born_columns(b, k, d)
    for i in range(likelihood.n):
        if b.Z[k, i] != 0.0:
            note_own(likelihood, c, i, d, g)
    if sees_pairs(likelihood):
        for i in range(likelihood.n):
            z = b.Z[k, i]
            if sees_own(likelihood) or z != 0.0:
                for j in range(i):
                    y = b.Z[k, j]
                    if z * y != 0.0 or (sees_own(likelihood) and z + y != 0.0):
                        note_pair(likelihood, c, i, j, d * z * y, g * z * y)


# Column k loses the owners of another, which takes their weight over, or the reverse: d is the
# change of what each of them shares with the rest of k. Every other sum is unchanged, but not its
# number of columns.


@scalar
def owners_gained(b: Any, other: Any) -> Any:
    """1 if the scratch row, which column k becomes, has the owners of the other column; -1 if it
    lacks them."""
    new = scratch_index(b)
    for i in range(b.Z.shape[1]):
        if b.Z[other, i] != 0.0:
            return 1.0 if b.Z[new, i] != 0.0 else -1.0
    return 1.0


def _delta_transfer(likelihood: Any, c: Any, b: Any, k: Any, other: Any, d: Any) -> Any:
    likelihood = seen(likelihood, c)
    change = 0.0
    if sees_pairs(likelihood):
        g = owners_gained(b, other)
        rest = k if g > 0.0 else scratch_index(b)
        for i in range(likelihood.n):
            if b.Z[other, i] != 0.0:
                for j in range(likelihood.n):
                    if b.Z[rest, j] != 0.0:
                        shared = sum_of(likelihood, c.shared[i, j] + d, c.shared_columns[i, j] + g)
                        change += (
                            pair_at(likelihood, i, j, shared, c.own[i], c.own[j]) - c.pair[i, j]
                        )
    return change


def _apply_transfer(likelihood: Any, c: Any, b: Any, k: Any, other: Any, d: Any) -> None:
    likelihood = seen(likelihood, c)
    g = owners_gained(b, other)
    _apply_copies(likelihood, c, b, other, g)
    if sees_pairs(likelihood):
        rest = k if g > 0.0 else scratch_index(b)
        for i in range(likelihood.n):
            if b.Z[other, i] != 0.0:
                for j in range(likelihood.n):
                    if b.Z[rest, j] != 0.0:
                        note_pair(likelihood, c, i, j, d, g)


@scalar
def _apply_copies(likelihood: Any, c: Any, b: Any, k: Any, extra: Any) -> None:
    for i in range(likelihood.n):
        if b.Z[k, i] != 0.0:
            c.own_columns[i] += extra
            if sees_pairs(likelihood):
                for j in range(likelihood.n):
                    c.shared_columns[i, j] += extra * b.Z[k, j] if j != i else 0.0


def _rebuild(likelihood: Any, c: Any, b: Any) -> None:
    likelihood = seen(likelihood, c)
    n = likelihood.n
    for i in range(n):
        total = 0.0
        columns = 0.0
        for k in range(b.whole[COLUMNS]):
            total += b.w[k] * b.Z[k, i]
            columns += b.Z[k, i]
        c.own[i] = c.own_columns[i] = 0.0
        note_own(likelihood, c, i, total, columns)
    if sees_pairs(likelihood):
        for i in range(n):
            for j in range(i):
                total = 0.0
                columns = 0.0
                for k in range(b.whole[COLUMNS]):
                    total += b.w[k] * b.Z[k, i] * b.Z[k, j]
                    columns += b.Z[k, i] * b.Z[k, j]
                c.shared[i, j] = c.shared_columns[i, j] = 0.0
                note_pair(likelihood, c, i, j, total, columns)


def _cache_at(likelihood: Any, caches: Any, t: Any) -> Any:
    return TermSums(
        caches.own[t],
        caches.own_columns[t],
        caches.option[t],
        caches.shared[t],
        caches.shared_columns[t],
        caches.pair[t],
        caches.owner[t],
        caches.owners[t],
        caches.parameters[t],
    )


def _log_likelihood_of_state(likelihood: Any, c: Any, b: Any) -> Any:
    likelihood = seen(likelihood, c)
    return whole_of_state(likelihood, b, b.whole[COLUMNS])


def yes(likelihood: Any) -> Any:
    return True


def no(likelihood: Any) -> Any:
    return False


COMMON: dict[Any, Any] = operations.WITHOUT_UNIQUE | {
    operations.sees_full: yes,
    operations.is_scale_free: no,
    operations.log_likelihood: _log_likelihood_of_state,
}

ANSWERS: dict[Any, Any] = COMMON | {
    operations.cache_at: _cache_at,
    operations.rebuild_cache: _rebuild,
    operations.delta_member: _delta_member,
    operations.apply_member: _apply_member,
    operations.open_members: _open_members,
    operations.delta_open_member: _delta_joined,
    operations.apply_open_member: _apply_joined,
    operations.delta_weight: _delta_weight,
    operations.apply_weight: _apply_weight,
    operations.delta_transfer: _delta_transfer,
    operations.apply_transfer: _apply_transfer,
    operations.apply_copies: _apply_copies,
}
