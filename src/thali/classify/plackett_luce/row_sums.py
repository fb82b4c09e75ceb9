"""The sums over rows that every engine of Plackett–Luce regression needs: one sweep over the rows, shared over threads.

With A (K × p) and m (p): T_i = W_i·A_{Y_i}, S_i = W_i·m, and

    log-likelihood Σ ln T_i / S_i,   R_kj = Σ_{Y_i = k} W_ij / T_i,   s_j = Σ W_ij / S_i.

These (K + 1) p + 1 numbers are also the message of a map-reduce over blocks of rows: `partial_statistics` is the map
step, `Statistics.__add__` the reduce step.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from thali.compile.jit import allocating, vectorised
from thali.errors import DataError
from thali.inference.numerics.logarithm import fast_log

from .curvature import Curvature, add_curvature

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
        return Statistics(self.log_likelihood + other.log_likelihood, self.R + other.R, self.s + other.s)


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
def _sum_rows(W: Any, codes: Any, counts: Any, A: Any, m: Any, start: Any, stop: Any, R: Any, s: Any) -> Any:
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


class Rows:
    """Rows of W in memory, with their classes and how often each occurs."""

    codes: np.ndarray
    n_classes: int
    p: Any
    counts: np.ndarray | np.ndarray
    n: float
    n_rows: int
    threads: int

    def __init__(self, W: Any, codes: Any, n_classes: int, counts: Any = None, threads: int | None = None) -> None:
        self.W = np.ascontiguousarray(W, np.float64)
        self.codes = np.ascontiguousarray(codes, np.int64)
        self.n_classes, self.p = int(n_classes), self.W.shape[1]
        rows = len(self.W)
        self.counts = np.ones(rows) if counts is None else np.ascontiguousarray(counts, np.float64)
        self.n, self.n_rows = float(self.counts.sum()), rows
        self.threads = threads or os.cpu_count() or 1
        size = max(BLOCK, -(-rows // MAX_BLOCKS))
        self._spans = [(start, min(start + size, rows)) for start in range(0, rows, size)]
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

    def sample(self, rows: int) -> "Rows":
        """This many rows chosen by a fixed stream of random numbers, in their order."""
        chosen = np.sort(np.random.default_rng(0).choice(len(self.W), rows, replace=False))
        return Rows(self.W[chosen], self.codes[chosen], self.n_classes, self.counts[chosen], self.threads)

    def _total(self, block: Any) -> Any:
        """Sum over the blocks in fixed order, whichever thread finishes first."""
        if self.threads == 1 or len(self._spans) == 1:
            parts = map(block, self._spans)
        else:
            self._pool = self._pool or ThreadPoolExecutor(min(self.threads, len(self._spans)))
            parts = self._pool.map(block, self._spans)
        total: Any = None
        for part in parts:
            total = part if total is None else total + part
        return total


@dataclass(frozen=True)
class State:
    """The input of the map step other than its rows."""

    A: np.ndarray  # (K, p) weights in T; at the maximum of the posterior λ
    m: np.ndarray  # (p,) weights in S; at the maximum of the posterior Σ_k λ_k
    classes: np.ndarray | None = None  # (K,) labels in the order of the rows of A; None: y holds 0 to K - 1
    design: Any = None  # makes W from the covariates; None: X holds rows of W


def partial_statistics(X_block: Any, y_block: Any, state: State, counts: Any = None) -> Statistics:
    """The sums over one block of rows: the map step of a fit whose rows lie on several machines.

    R_kj = Σ_{y_i = k} W_ij / T_i, s_j = Σ_i W_ij / S_i, Σ_i ln T_i / S_i with T_i = W_i·A_{y_i}, S_i = W_i·m
    """
    W = X_block if state.design is None else state.design.apply(np.asarray(X_block, np.float64))
    codes = codes_among(y_block, state.classes)
    return Rows(W, codes, len(state.A), counts, threads=1).statistics(state.A, state.m)


def codes_among(labels: Any, classes: Any) -> np.ndarray:
    """The place of every label among the sorted classes."""
    labels = np.asarray(labels)
    if classes is None:
        return labels.astype(np.int64)
    codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    unknown = classes[codes] != labels
    if unknown.any():
        known = ", ".join(map(str, classes))
        raise DataError(f"The label {labels[unknown][0]} is not among the classes {known} that `State.classes` lists.")
    return codes
