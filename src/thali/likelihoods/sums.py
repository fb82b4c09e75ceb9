"""A user's likelihood that is a sum of terms of options and of pairs of options: the verbs, derived from these terms.

A term sees the features through sums of weights alone: own[i], of all features that option i has, and shared[i, j], of
those that i and j both have. Thali keeps the sums and the terms, so that a change evaluates only the terms it touches.
"""

from typing import NamedTuple

import numpy as np

from thali._jit import generic, scalar
from thali.mcmc import verbs
from thali.mcmc.bag import COLUMNS, scratch


class Sums(NamedTuple):
    """What a chain keeps."""

    own: np.ndarray  # (n,) sum of the weights of option i
    option: np.ndarray  # (n,) its term
    shared: np.ndarray  # (n, n) sum of the weights that i and j share; symmetric, 0 on the diagonal
    pair: np.ndarray  # (n, n) their term; likewise
    owner: np.ndarray  # (n,) int64 the owners of the open pattern, in any order
    owners: np.ndarray  # (1,) int64 how many they are


@generic
def of_pair(likelihood, i, j, shared, own_i, own_j):
    """The term of options i < j."""


@generic
def of_option(likelihood, i, own):
    """The term of option i."""


@generic
def sees_pairs(likelihood):
    """Whether there are terms of pairs."""


@generic
def sees_own(likelihood):
    """Whether the terms of pairs depend on own[i] and own[j] as well."""


@generic
def whole(likelihood, features, weights):
    """The user's log-likelihood of all data; features (n, K), weights (K,)."""


def empty_cache(likelihood) -> Sums:
    """Sums of no feature; terms are still to be filled in."""
    n = likelihood.n
    side = n if sees_pairs(likelihood) else 0
    squares = np.zeros((side, side)), np.zeros((side, side))
    return Sums(np.zeros(n), np.zeros(n), *squares, np.zeros(n, np.int64), np.zeros(1, np.int64))


@scalar
def option_at(likelihood, c, i, d):
    """The term of option i if its sum grew by d. What rounding leaves below 0 counts as 0."""
    return of_option(likelihood, i, max(c.own[i] + d, 0.0))


@scalar
def pair_at(likelihood, c, i, j, d, d_i, d_j):
    """The term of options i and j if what they share grew by d and their own sums by d_i and d_j."""
    shared = max(c.shared[i, j] + d, 0.0)
    own_i = max(c.own[i] + d_i, 0.0)
    own_j = max(c.own[j] + d_j, 0.0)
    swapped = i > j
    first, second = j if swapped else i, i if swapped else j
    return of_pair(likelihood, first, second, shared, own_j if swapped else own_i, own_i if swapped else own_j)


@scalar
def note_pair(likelihood, c, i, j, d):
    """What i and j share grows by d; both copies of their sum and their term follow."""
    c.shared[i, j] += d
    c.shared[j, i] = c.shared[i, j]
    c.pair[i, j] = pair_at(likelihood, c, i, j, 0.0, 0.0, 0.0)
    c.pair[j, i] = c.pair[i, j]


@scalar
def whole_of_bag(likelihood, b, columns):
    """The user's log-likelihood, given the first columns of the bag."""
    return whole(likelihood, b.Z[:columns, : b.Z.shape[1] - 1].T, b.w[:columns])


@scalar
def _delta_member(likelihood, c, b, k, i, d):
    change = option_at(likelihood, c, i, d) - c.option[i]
    if sees_pairs(likelihood):
        for j in range(likelihood.n):
            z = b.Z[k, j]
            if j != i and (sees_own(likelihood) or z != 0.0):
                change += pair_at(likelihood, c, i, j, d * z, d, 0.0) - c.pair[i, j]
    return change


@scalar
def _apply_member(likelihood, c, b, k, i, d):
    c.own[i] += d
    c.option[i] = option_at(likelihood, c, i, 0.0)
    if sees_pairs(likelihood):
        for j in range(likelihood.n):
            z = b.Z[k, j]
            if j != i and (sees_own(likelihood) or z != 0.0):
                note_pair(likelihood, c, i, j, d * z)


# While a pattern is open its owners are listed, so that terms of what is shared need no look at anybody else.


def _open_members(likelihood, c, b, k):
    count = 0
    for i in range(likelihood.n):
        if b.Z[k, i] != 0.0:
            c.owner[count] = i
            count += 1
    c.owners[0] = count


def _delta_joined(likelihood, c, b, k, i, d):
    if sees_own(likelihood):
        return _delta_member(likelihood, c, b, k, i, d)
    change = option_at(likelihood, c, i, d) - c.option[i]
    if sees_pairs(likelihood):
        for t in range(c.owners[0]):
            j = c.owner[t]
            if j != i:
                change += pair_at(likelihood, c, i, j, d, 0.0, 0.0) - c.pair[i, j]
    return change


def _apply_joined(likelihood, c, b, k, i, d):
    _apply_member(likelihood, c, b, k, i, d)
    count = c.owners[0]
    if d > 0.0:
        c.owner[count] = i
        c.owners[0] = count + 1
    else:
        for t in range(count):
            if c.owner[t] == i:
                c.owner[t] = c.owner[count - 1]
        c.owners[0] = count - 1


def _delta_weight(likelihood, c, b, k, m, d):
    change = 0.0
    for i in range(likelihood.n):
        z = b.Z[k, i]
        if z != 0.0:
            change += option_at(likelihood, c, i, d) - c.option[i]
        if sees_pairs(likelihood) and (sees_own(likelihood) or z != 0.0):
            for j in range(i):
                y = b.Z[k, j]
                if z * y != 0.0 or (sees_own(likelihood) and z + y != 0.0):
                    change += pair_at(likelihood, c, i, j, d * z * y, d * z, d * y) - c.pair[i, j]
    return change


def _apply_weight(likelihood, c, b, k, m, d):
    for i in range(likelihood.n):
        if b.Z[k, i] != 0.0:
            c.own[i] += d
            c.option[i] = option_at(likelihood, c, i, 0.0)
    if sees_pairs(likelihood):
        for i in range(likelihood.n):
            z = b.Z[k, i]
            if sees_own(likelihood) or z != 0.0:
                for j in range(i):
                    y = b.Z[k, j]
                    if z * y != 0.0 or (sees_own(likelihood) and z + y != 0.0):
                        note_pair(likelihood, c, i, j, d * z * y)


# Column k loses the owners of another, which take its weight over, or the other way round: d is what each of them
# comes to share with the rest of k. Every other sum stays as it is.


def _delta_transfer(likelihood, c, b, k, other, d):
    change = 0.0
    if sees_pairs(likelihood):
        rest = k if d > 0.0 else scratch(b)
        for i in range(likelihood.n):
            if b.Z[other, i] != 0.0:
                for j in range(likelihood.n):
                    if b.Z[rest, j] != 0.0:
                        change += pair_at(likelihood, c, i, j, d, 0.0, 0.0) - c.pair[i, j]
    return change


def _apply_transfer(likelihood, c, b, k, other, d):
    if sees_pairs(likelihood):
        rest = k if d > 0.0 else scratch(b)
        for i in range(likelihood.n):
            if b.Z[other, i] != 0.0:
                for j in range(likelihood.n):
                    if b.Z[rest, j] != 0.0:
                        note_pair(likelihood, c, i, j, d)


def _rebuild(likelihood, c, b):
    n = likelihood.n
    for i in range(n):
        c.own[i] = 0.0
        for k in range(b.whole[COLUMNS]):
            c.own[i] += b.w[k] * b.Z[k, i]
        c.option[i] = option_at(likelihood, c, i, 0.0)
    if sees_pairs(likelihood):
        for i in range(n):
            for j in range(i):
                total = 0.0
                for k in range(b.whole[COLUMNS]):
                    total += b.w[k] * b.Z[k, i] * b.Z[k, j]
                c.shared[i, j] = total
                note_pair(likelihood, c, i, j, 0.0)


def _cache_at(likelihood, caches, t):
    return Sums(caches.own[t], caches.option[t], caches.shared[t], caches.pair[t], caches.owner[t], caches.owners[t])


def _log_likelihood_of_bag(likelihood, c, b):
    return whole_of_bag(likelihood, b, b.whole[COLUMNS])


def yes(likelihood):
    return True


def no(likelihood):
    return False


# Without unique weights no sampler asks for these.


def _no_own(likelihood, c, b, i, d):
    return -np.inf


def _no_pool(likelihood, c, b, i, k, d):
    return -np.inf


def _no_block(likelihood, c, b, i, size, code, paid):
    return -np.inf


def _no_carve(likelihood, c, b, k, m, d):
    return -np.inf


def _no_scale(likelihood, c, b, factor):
    pass


COMMON = {
    verbs.sees_full: yes,
    verbs.is_scale_free: no,
    verbs.log_likelihood: _log_likelihood_of_bag,
    verbs.delta_own: _no_own,
    verbs.apply_own: _no_own,
    verbs.delta_pool: _no_pool,
    verbs.apply_pool: _no_pool,
    verbs.delta_block: _no_block,
    verbs.apply_block: _no_block,
    verbs.delta_carve: _no_carve,
    verbs.apply_carve: _no_carve,
    verbs.apply_scale: _no_scale,
}

ANSWERS = COMMON | {
    verbs.cache_at: _cache_at,
    verbs.rebuild: _rebuild,
    verbs.delta_member: _delta_member,
    verbs.apply_member: _apply_member,
    verbs.open_members: _open_members,
    verbs.delta_joined: _delta_joined,
    verbs.apply_joined: _apply_joined,
    verbs.delta_weight: _delta_weight,
    verbs.apply_weight: _apply_weight,
    verbs.delta_transfer: _delta_transfer,
    verbs.apply_transfer: _apply_transfer,
}
