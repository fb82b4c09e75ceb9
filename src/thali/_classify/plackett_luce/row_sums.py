"""The sums over rows that every engine of Plackett–Luce regression needs: one sweep over the rows,
shared over threads.

With A (K × p) and m (p): T_i = W_i·A_{Y_i}, S_i = W_i·m, and

    log-likelihood Σ ln T_i / S_i,   R_kj = Σ_{Y_i = k} W_ij / T_i,   s_j = Σ W_ij / S_i.

These (K + 1) p + 1 numbers are also the message of a map-reduce over blocks of rows:
`CovariateRows.statistics` is the map step, `Statistics.__add__` the reduce step.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._compile.jit import allocating, compiled, vectorised
from thali._inference.numerics.logarithm import fast_log

# The sums of products of columns from which the Hessian of the log-likelihood in ln λ is put
# together


@dataclass(frozen=True)
class Curvature:
    """Σ_{Y_i = k} W_ij W_il / T_i² for every class, and Σ_i W_ij W_il / S_i²; those of two blocks
    of rows add up."""

    of_classes: np.ndarray  # (K, q, q)
    of_all: np.ndarray  # (q, q)

    def __add__(self, other: "Curvature") -> "Curvature":
        return Curvature(self.of_classes + other.of_classes, self.of_all + other.of_all)


@vectorised
def _dot(W: Any, i: Any, A: Any, k: Any) -> Any:
    total = 0.0
    for j in range(W.shape[1]):
        total += W[i, j] * A[k, j]
    return total


@allocating
def add_curvature(
    W: Any, codes: Any, counts: Any, A: Any, m: Any, columns: Any, start: Any, stop: Any, sums: Any
) -> None:
    """Add the products of rows start:stop to sums (K + 1, q, q), the last of which is that of all
    classes."""
    q, every = len(columns), len(sums) - 1
    mass = m.reshape(1, -1)
    row = np.empty(q)
    for i in range(start, stop):
        k = codes[i]
        t, u = _dot(W, i, A, k), _dot(W, i, mass, 0)
        of_class = counts[i] / t / t if t > 1e-150 else 0.0
        of_all = counts[i] / u / u if u > 1e-150 else 0.0
        for j in range(q):
            row[j] = W[i, columns[j]]
        for j in range(q):
            x, y = of_class * row[j], of_all * row[j]
            for h in range(q):
                sums[k, j, h] += x * row[h]
                sums[every, j, h] += y * row[h]


def hessian(
    weights: Any, gradient: Any, curvature: Curvature, active: Any, columns: Any, total: float
) -> np.ndarray:
    """Hessian in the ln λ of the active weights of the log-likelihood plus `total` · mean of ln
    λ̄."""
    of_class, column = active
    place = np.searchsorted(columns, column)
    weight = weights[active]
    products = np.outer(weight, weight)
    result = products * (curvature.of_all[np.ix_(place, place)] + total)
    result -= products * np.where(
        of_class[:, None] == of_class[None, :],
        curvature.of_classes[of_class[:, None], place[:, None], place],
        0.0,
    )
    result[np.diag_indices_from(result)] += gradient - total * weight
    return result


BLOCK = 8192  # rows of the smallest block: two or more are shared over threads
MAX_BLOCKS = 64  # so that the partial sums need O(K p) memory whatever the number of rows
TINY = 1e-300  # below it a quotient is not a normal number


@dataclass(frozen=True)
class Statistics:
    """The sums of one sweep over rows; those of two blocks of rows add up."""

    log_likelihood: float  # Σ ln T_i / S_i; minus infinity where a row is impossible
    R: np.ndarray  # (K, p): Σ_{Y_i = k} W_ij / T_i
    s: np.ndarray  # (p,): Σ_i W_ij / S_i

    def __add__(self, other: "Statistics") -> "Statistics":
        return Statistics(
            self.log_likelihood + other.log_likelihood, self.R + other.R, self.s + other.s
        )


@vectorised
def _dot_pair(W: Any, i: Any, A: Any, k: Any, m: Any) -> Any:
    t = 0.0
    s = 0.0
    for j in range(W.shape[1]):
        w = W[i, j]
        t += w * A[k, j]
        s += w * m[j]
    return t, s


@vectorised
def _sum_of_logs(ratio: Any, counts: Any, first: Any, size: Any) -> Any:
    total = 0.0
    for r in range(size):
        total += counts[first + r] * fast_log(ratio[r])
    return total


@allocating
def _sum_rows(
    W: Any, codes: Any, counts: Any, A: Any, m: Any, start: Any, stop: Any, R: Any, s: Any
) -> Any:
    """Add the sums of rows start:stop to R and s; returns their log-likelihood."""
    p = W.shape[1]
    ratio = np.empty(256)
    total = 0.0
    for first in range(start, stop, 256):
        last = min(first + 256, stop)
        for i in range(first, last):
            k = codes[i]
            t, u = _dot_pair(W, i, A, k, m)
            c = counts[i]
            of_class = c / t if t > TINY else 0.0
            of_all = c / u if u > TINY else 0.0
            quotient = t / u if u > 0.0 else 0.0
            if quotient < TINY:
                total += c * (np.log(t) - np.log(u)) if t > 0.0 else -np.inf
                quotient = 1.0
            ratio[i - first] = quotient
            for j in range(p):
                w = W[i, j]
                R[k, j] += of_class * w
                s[j] += of_all * w
        total += _sum_of_logs(ratio, counts, first, last - first)
    return total


class CovariateRows:
    """Rows of W in memory, with their classes and how often each occurs."""

    codes: np.ndarray
    n_classes: int
    p: Any
    counts: np.ndarray | np.ndarray
    n: float
    n_rows: int
    threads: int

    def __init__(
        self, W: Any, codes: Any, n_classes: int, counts: Any = None, threads: int | None = None
    ) -> None:
        self.W = np.ascontiguousarray(W, np.float64)
        self.codes = np.ascontiguousarray(codes, np.int64)
        self.n_classes, self.p = int(n_classes), self.W.shape[1]
        rows = len(self.W)
        self.counts = np.ones(rows) if counts is None else np.ascontiguousarray(counts, np.float64)
        self.n, self.n_rows = float(self.counts.sum()), rows
        self.threads = threads or os.cpu_count() or 1
        size = max(BLOCK, -(-rows // MAX_BLOCKS))
        self.spans = [(start, min(start + size, rows)) for start in range(0, rows, size)]
        self._pool: ThreadPoolExecutor | None = None

    def statistics(self, A: Any, m: Any) -> Statistics:
        """The fused sums at A (K × p) and m (p)."""
        A, m = np.ascontiguousarray(A, np.float64), np.ascontiguousarray(m, np.float64)

        def block(span: Any) -> Any:
            R, s = np.zeros((self.n_classes, self.p)), np.zeros(self.p)
            return Statistics(_sum_rows(self.W, self.codes, self.counts, A, m, *span, R, s), R, s)

        return self._total(block)

    def curvature(self, A: Any, m: Any, columns: Any) -> Curvature:
        """The sums of products that the Hessian needs, for some columns of W."""
        A, m = np.ascontiguousarray(A, np.float64), np.ascontiguousarray(m, np.float64)
        columns = np.ascontiguousarray(columns, np.int64)

        def block(span: Any) -> Any:
            sums = np.zeros((self.n_classes + 1, len(columns), len(columns)))
            add_curvature(self.W, self.codes, self.counts, A, m, columns, *span, sums)
            return Curvature(sums[:-1], sums[-1])

        return self._total(block)

    def sample(self, rows: int) -> "CovariateRows":
        """This many rows chosen by a fixed stream of random numbers, in their order."""
        chosen = np.sort(np.random.default_rng(0).choice(len(self.W), rows, replace=False))
        return CovariateRows(
            self.W[chosen], self.codes[chosen], self.n_classes, self.counts[chosen], self.threads
        )

    def _total(self, block: Any) -> Any:
        """Sum over the blocks in fixed order, whichever thread finishes first."""
        if self.threads == 1 or len(self.spans) == 1:
            parts = map(block, self.spans)
        else:
            self._pool = self._pool or ThreadPoolExecutor(min(self.threads, len(self.spans)))
            parts = self._pool.map(block, self.spans)
        total: Any = None
        for part in parts:
            total = part if total is None else total + part
        return total


# Merges equal rows of the same class: exact, since the likelihood is a product over rows ----------


_WORTH_COPYING = 0.8  # distinct rows over rows, below which fewer rows are worth a copy


@compiled
def _first_of_kind(
    bits: Any, codes: Any, counts: Any, table: Any, mix: Any, firsts: Any, totals: Any
) -> Any:
    """Find distinct rows with an open hash table of row numbers; returns how many, in order of
    first appearance."""
    mask = np.uint64(len(table) - 1)
    found = 0
    for i in range(len(codes)):
        key = np.uint64(codes[i] + 1) * np.uint64(0x9E3779B97F4A7C15)
        for j in range(bits.shape[1]):
            key = (key ^ bits[i, j]) * mix[j]
            key ^= key >> np.uint64(29)
        place = key & mask
        while True:
            known = table[place]
            if known < 0:
                table[place] = found
                firsts[found] = i
                totals[found] = counts[i]
                found += 1
                break
            other = firsts[known]
            same = codes[other] == codes[i]
            j = 0
            while same and j < bits.shape[1]:
                same = bits[other, j] == bits[i, j]
                j += 1
            if same:
                totals[known] += counts[i]
                break
            place = (place + np.uint64(1)) & mask
    return found


def distinct_rows(W: Any, codes: Any, counts: Any = None) -> Any:
    """The distinct rows of W and class, and how often each occurs; the rows as they are where few
    are equal."""
    n = len(codes)
    counts = np.ones(n) if counts is None else np.ascontiguousarray(counts, np.float64)
    table = np.full(1 << int(2 * n).bit_length(), -1, np.int64)
    mix = np.random.default_rng(0).integers(0, 2**63, W.shape[1], np.uint64) * np.uint64(
        2
    ) + np.uint64(1)
    firsts, totals = np.empty(n, np.int64), np.empty(n)
    found = _first_of_kind(W.view(np.uint64), codes, counts, table, mix, firsts, totals)
    if found > _WORTH_COPYING * n:
        return W, codes, counts
    firsts = firsts[:found]
    return np.ascontiguousarray(W[firsts]), codes[firsts], totals[:found].copy()
