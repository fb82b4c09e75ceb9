"""Sums over rows that all methods of Plackett-Luce regression need, computed in threads.

With A (K × p) and m (p): T_i = W_i·A_{Y_i}, S_i = W_i·m, and

log-likelihood Σ ln T_i / S_i, R_kj = Σ_{Y_i = k} W_ij / T_i, s_j = Σ W_ij / S_i.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import allocating, vectorised
from thali._inference.index_arithmetic import iterate_slices
from thali._inference.numerics.fast_logarithm import fast_log

# Sums of products of columns, for the Hessian of the log-likelihood in ln λ


def _add_fields(sums: tuple[Any, ...], other_sums: tuple[Any, ...]) -> Any:
    """Return the sum of two named tuples, field by field."""
    return type(sums)(*map(add, sums, other_sums))


class Curvature(NamedTuple):
    """Sums of products of columns, from which the Hessian by log weights follows.

    They are Σ_{Y_i = k} W_ij W_il / T_i² for each class, and Σ_i W_ij W_il / S_i². The sums of two
    blocks of rows can be added.
    """

    class_products: np.ndarray  # (K, q, q)
    total_products: np.ndarray  # (q, q)
    __add__ = _add_fields


@vectorised
def _dot_row(W: Any, i: Any, A: Any, k: Any) -> Any:
    """Return the dot product of row i of W with row k of A."""
    total = 0.0
    for j in range(W.shape[1]):
        total += W[i, j] * A[k, j]
    return total


@allocating
def add_row_curvature(
    W: Any, codes: Any, counts: Any, A: Any, m: Any, columns: Any, start: Any, stop: Any, sums: Any
) -> None:
    """Add the column products of rows start to stop - 1 to `sums`.

    The last entry is the sum over all classes.
    """
    q, last = len(columns), len(sums) - 1
    m_row = m.reshape(1, -1)
    row = np.empty(q)
    for i in range(start, stop):
        k = codes[i]
        t, u = _dot_row(W, i, A, k), _dot_row(W, i, m_row, 0)
        class_factor = counts[i] / t / t if t > 1e-150 else 0.0
        total_factor = counts[i] / u / u if u > 1e-150 else 0.0
        for j in range(q):
            row[j] = W[i, columns[j]]
        for j in range(q):
            x, y = class_factor * row[j], total_factor * row[j]
            for h in range(q):
                sums[k, j, h] += x * row[h]
                sums[last, j, h] += y * row[h]


def compute_hessian(
    weights: np.ndarray,
    gradient: np.ndarray,
    curvature: Curvature,
    active: tuple[np.ndarray, ...],
    columns: np.ndarray,
    total: float,
) -> np.ndarray:
    """Return the Hessian by the logs of the active weights.

    The function is the log-likelihood plus `total` · mean of ln λ̄.
    """
    class_indices, active_columns = active
    column_indices = np.searchsorted(columns, active_columns)
    active_weights = weights[active]
    products = np.outer(active_weights, active_weights)
    hessian = products * (curvature.total_products[np.ix_(column_indices, column_indices)] + total)
    hessian -= products * np.where(
        class_indices[:, None] == class_indices[None, :],
        curvature.class_products[class_indices[:, None], column_indices[:, None], column_indices],
        0.0,
    )
    hessian[np.diag_indices_from(hessian)] += gradient - total * active_weights
    return hessian


BLOCK_ROWS = 8192  # smallest block; two or more blocks are processed in threads
MAX_BLOCKS = 64  # limits the memory of partial sums to O(K p) for any number of rows
MIN_QUOTIENT = 1e-300  # smallest normal number of a quotient


class Statistics(NamedTuple):
    """Log-likelihood and sums R, s over rows, at given weights; can be added."""

    log_likelihood: float  # Σ ln T_i / S_i; minus infinity if a row has probability 0
    R: np.ndarray  # (K, p): Σ_{Y_i = k} W_ij / T_i
    s: np.ndarray  # (p,): Σ_i W_ij / S_i

    __add__ = _add_fields


@vectorised
def _dot_row_pair(W: Any, i: Any, A: Any, k: Any, m: Any) -> Any:
    """Return the dot products of row i of W with row k of A and with m."""
    t = 0.0
    s = 0.0
    for j in range(W.shape[1]):
        w = W[i, j]
        t += w * A[k, j]
        s += w * m[j]
    return t, s


@vectorised
def _sum_logs(ratio: Any, counts: Any, start: Any, size: Any) -> Any:
    """Return the count-weighted sum of logs of ratios."""
    total = 0.0
    for r in range(size):
        total += counts[start + r] * fast_log(ratio[r])
    return total


@allocating
def _add_row_sums(
    W: Any, codes: Any, counts: Any, A: Any, m: Any, start: Any, stop: Any, R: Any, s: Any
) -> Any:
    """Add the sums of rows start to stop - 1 to R and s; return log-likelihood."""
    p = W.shape[1]
    ratio = np.empty(256)
    total = 0.0
    for block_start in range(start, stop, 256):
        block_end = min(block_start + 256, stop)
        for i in range(block_start, block_end):
            k = codes[i]
            t, u = _dot_row_pair(W, i, A, k, m)
            c = counts[i]
            class_factor = c / t if t > MIN_QUOTIENT else 0.0
            total_factor = c / u if u > MIN_QUOTIENT else 0.0
            quotient = t / u if u > 0.0 else 0.0
            if quotient < MIN_QUOTIENT:
                total += c * (np.log(t) - np.log(u)) if t > 0.0 else -np.inf
                quotient = 1.0
            ratio[i - block_start] = quotient
            for j in range(p):
                w = W[i, j]
                R[k, j] += class_factor * w
                s[j] += total_factor * w
        total += _sum_logs(ratio, counts, block_start, block_end - block_start)
    return total


class CovariateRows:
    """Rows of W in memory with class codes and counts, summed in threads."""

    codes: np.ndarray
    n_classes: int
    p: int
    counts: np.ndarray
    n: float
    n_rows: int
    threads: int

    def __init__(
        self,
        W: np.ndarray,
        codes: np.ndarray,
        n_classes: int,
        counts: np.ndarray | None = None,
        threads: int | None = None,
    ) -> None:
        """Store rows, class codes and counts, divided into blocks for threads."""
        self.W = np.ascontiguousarray(W, np.float64)
        self.codes = np.ascontiguousarray(codes, np.int64)
        self.n_classes = int(n_classes)
        self.p = self.W.shape[1]
        n_rows = len(self.W)
        self.counts = (
            np.ones(n_rows) if counts is None else np.ascontiguousarray(counts, np.float64)
        )
        self.n = float(self.counts.sum())
        self.n_rows = n_rows
        self.threads = threads or os.cpu_count() or 1
        span_size = max(BLOCK_ROWS, -(-n_rows // MAX_BLOCKS))
        self.spans = [(span.start, span.stop) for span in iterate_slices(n_rows, 1, span_size)]
        self._pool: ThreadPoolExecutor | None = None

    def compute_statistics(self, A: np.ndarray, m: np.ndarray) -> Statistics:
        """Return log-likelihood and sums R, s over all rows at A (K, p), m (p)."""
        A = np.ascontiguousarray(A, np.float64)
        m = np.ascontiguousarray(m, np.float64)

        def sum_block(span: tuple[int, int]) -> Any:
            """Return log-likelihood and sums of a block of rows."""
            R = np.zeros((self.n_classes, self.p))
            s = np.zeros(self.p)
            start, stop = span
            return Statistics(
                _add_row_sums(self.W, self.codes, self.counts, A, m, start, stop, R, s), R, s
            )

        return self._sum_blocks(sum_block)

    def compute_curvature(self, A: np.ndarray, m: np.ndarray, columns: np.ndarray) -> Curvature:
        """Return the sums of products for the Hessian over all rows."""
        A = np.ascontiguousarray(A, np.float64)
        m = np.ascontiguousarray(m, np.float64)
        columns = np.ascontiguousarray(columns, np.int64)

        def sum_block(span: tuple[int, int]) -> Any:
            """Return the sums of products of a block of rows."""
            sums = np.zeros((self.n_classes + 1, len(columns), len(columns)))
            start, stop = span
            add_row_curvature(self.W, self.codes, self.counts, A, m, columns, start, stop, sums)
            return Curvature(sums[:-1], sums[-1])

        return self._sum_blocks(sum_block)

    def sample_rows(self, n_rows: int) -> "CovariateRows":
        """Return a fixed random sample of the rows, in their order."""
        row_indices = np.sort(np.random.default_rng(0).choice(len(self.W), n_rows, replace=False))
        return CovariateRows(
            self.W[row_indices],
            self.codes[row_indices],
            self.n_classes,
            self.counts[row_indices],
            self.threads,
        )

    def _sum_blocks(self, sum_block: Callable[[tuple[int, int]], Any]) -> Any:
        """Return the sum over blocks in fixed order, whatever thread ends first."""
        if self.threads == 1 or len(self.spans) == 1:
            sums = map(sum_block, self.spans)
        else:
            self._pool = self._pool or ThreadPoolExecutor(min(self.threads, len(self.spans)))
            sums = self._pool.map(sum_block, self.spans)
        return reduce(add, sums)
