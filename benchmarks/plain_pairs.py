"""Elimination on pairs in plain arithmetic: the library's operations with `math.log` and without
vector instructions.

A straightforward implementation of the same caches, which separates the gain of the algorithm from
that of the arithmetic.
"""

import math
from typing import NamedTuple

import numpy as np

from thali._aspects import kernel_operations
from thali._aspects.chain_state import COLUMNS
from thali._aspects.likelihoods.elimination import Elimination
from thali._compile.jit import scalar

FLOOR = 1e-14


class PlainPairs(NamedTuple):
    start: np.ndarray  # (n + 1,) pairs of option i
    neighbour: np.ndarray  # (slots,)
    transposed: np.ndarray  # (slots,)
    wins: np.ndarray
    losses: np.ndarray
    lapse: float


class PlainCache(NamedTuple):
    own: np.ndarray
    other: np.ndarray
    term: np.ndarray


class PlainElimination(Elimination):
    def compiled(self, data, shape=1.0, rate=1.0):
        owner = np.concatenate([data.first, data.second])
        order = np.argsort(owner, kind="stable")
        rank = np.argsort(order)
        count = data.first.size
        pairs = PlainPairs(
            np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=data.n_options))]),
            np.concatenate([data.second, data.first])[order],
            np.concatenate([rank[count:], rank[:count]])[order],
            np.concatenate([data.wins, data.losses])[order],
            np.concatenate([data.losses, data.wins])[order],
            float(self.lapse),
        )
        return pairs, lambda pairs: PlainCache(*np.zeros((3, 2 * count)))


@scalar
def term(pairs, v, own, other):
    own, other = max(own, FLOOR), max(other, FLOOR)
    p = (1.0 - pairs.lapse) * own / (own + other) + 0.5 * pairs.lapse
    return pairs.wins[v] * math.log(p) + pairs.losses[v] * math.log(1.0 - p)


@scalar
def row(pairs, c, b, k, i, a0, a1, b0, b1, commit):
    total = 0.0
    for v in range(pairs.start[i], pairs.start[i + 1]):
        z = b.Z[k, pairs.neighbour[v]]
        own, other = c.own[v] + a0 + a1 * z, c.other[v] + b0 + b1 * z
        new = term(pairs, v, own, other)
        total += new - c.term[v]
        if commit:
            there = pairs.transposed[v]
            c.own[v], c.other[v], c.term[v] = own, other, new
            c.own[there], c.other[there], c.term[there] = other, own, new
    return total


@scalar
def cut(pairs, c, b, k, d, commit):
    total = 0.0
    for i in range(b.Z.shape[1] - 1):
        if b.Z[k, i] != 0.0:
            total += row(pairs, c, b, k, i, d, -d, 0.0, 0.0, commit)
    return total


@scalar
def inside(pairs, c, b, k, d, commit):
    total = 0.0
    for i in range(b.Z.shape[1] - 1):
        if b.Z[k, i] != 0.0:
            for v in range(pairs.start[i], pairs.start[i + 1]):
                if b.Z[k, pairs.neighbour[v]] != 0.0:
                    new = term(pairs, v, c.own[v] - d, c.other[v] - d)
                    total += 0.5 * (new - c.term[v])
                    if commit:
                        c.own[v], c.other[v], c.term[v] = c.own[v] - d, c.other[v] - d, new
    return total


kernel_operations.sees_full.register(PlainPairs)(lambda pairs: False)
kernel_operations.select_cache.register(PlainPairs)(
    lambda p, caches, t: PlainCache(caches.own[t], caches.other[t], caches.term[t])
)
kernel_operations.is_scale_free.register(PlainPairs)(lambda pairs: True)
kernel_operations.delta_unique.register(PlainPairs)(
    lambda p, c, b, i, d: row(p, c, b, 0, i, d, 0.0, 0.0, 0.0, False)
)
kernel_operations.apply_unique.register(PlainPairs)(
    lambda p, c, b, i, d: row(p, c, b, 0, i, d, 0.0, 0.0, 0.0, True)
)
kernel_operations.delta_member.register(PlainPairs)(
    lambda p, c, b, k, i, d: row(p, c, b, k, i, d, -d, 0.0, -d, False)
)
kernel_operations.apply_member.register(PlainPairs)(
    lambda p, c, b, k, i, d: row(p, c, b, k, i, d, -d, 0.0, -d, True)
)
kernel_operations.delta_compensated_member.register(PlainPairs)(
    lambda p, c, b, i, k, d: row(p, c, b, k, i, 0.0, -d, 0.0, -d, False)
)
kernel_operations.apply_compensated_member.register(PlainPairs)(
    lambda p, c, b, i, k, d: row(p, c, b, k, i, 0.0, -d, 0.0, -d, True)
)
kernel_operations.delta_weight.register(PlainPairs)(
    lambda p, c, b, k, m, d: cut(p, c, b, k, d, False)
)
kernel_operations.apply_weight.register(PlainPairs)(
    lambda p, c, b, k, m, d: cut(p, c, b, k, d, True)
)
kernel_operations.delta_compensated_weight.register(PlainPairs)(
    lambda p, c, b, k, m, d: inside(p, c, b, k, d, False)
)
kernel_operations.apply_compensated_weight.register(PlainPairs)(
    lambda p, c, b, k, m, d: inside(p, c, b, k, d, True)
)


@kernel_operations.apply_scale.register(PlainPairs)
def _apply_scale(pairs, c, b, factor):
    for v in range(c.own.shape[0]):
        c.own[v] *= factor
        c.other[v] *= factor


@kernel_operations.rebuild_cache.register(PlainPairs)
def _rebuild(pairs, c, b):
    for i in range(b.Z.shape[1] - 1):
        for v in range(pairs.start[i], pairs.start[i + 1]):
            j = pairs.neighbour[v]
            own, other = b.s[i], b.s[j]
            for k in range(b.whole[COLUMNS]):
                own += b.w[k] * b.Z[k, i] * (1.0 - b.Z[k, j])
                other += b.w[k] * b.Z[k, j] * (1.0 - b.Z[k, i])
            c.own[v], c.other[v], c.term[v] = own, other, term(pairs, v, own, other)


@kernel_operations.log_likelihood.register(PlainPairs)
def _log_likelihood(pairs, c, b):
    total = 0.0
    for v in range(c.own.shape[0]):
        total += 0.5 * term(pairs, v, c.own[v], c.other[v])
    return total
