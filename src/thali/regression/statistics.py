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

from thali._jit import allocating, lanes
from thali.errors import DataError
from thali.mcmc.logarithm import fast_log
from thali.regression.curvature import Curvature, add_curvature

BLOCK = 8192  # rows of the smallest block: two or more are shared over threads
MOST_BLOCKS = 64  # so that the partial sums need O(K p) memory whatever the number of rows
TINY = 1e-300  # below it a quotient is no normal number


@dataclass(frozen=True)
class Statistics:
    """What one sweep over rows gives; those of two blocks of rows add up.

    Attributes
    ----------
    log_likelihood : float
        Σ ln T_i / S_i, minus infinity where a row has no chance.
    R : array, shape (K, p)
        Σ_{Y_i = k} W_ij / T_i.
    s : array, shape (p,)
        Σ_i W_ij / S_i.
    """

    log_likelihood: float
    R: np.ndarray
    s: np.ndarray

    def __add__(self, other: "Statistics") -> "Statistics":
        return Statistics(self.log_likelihood + other.log_likelihood, self.R + other.R, self.s + other.s)


@lanes
def _dot_pair(W, i, A, k, m):
    t = 0.0
    s = 0.0
    for j in range(W.shape[1]):
        w = W[i, j]
        t += w * A[k, j]
        s += w * m[j]
    return t, s


@lanes
def _sum_of_logs(ratio, counts, first, size):
    total = 0.0
    for r in range(size):
        total += counts[first + r] * fast_log(ratio[r])
    return total


@allocating
def _sum_rows(W, codes, counts, A, m, start, stop, R, s):
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
    """Rows of W in memory, with their classes and how often each occurs.

    Parameters
    ----------
    W : array, shape (n, p), >= 0
    codes : array of int, shape (n,)
        Class of each row, 0 to n_classes - 1.
    n_classes : int
    counts : array, shape (n,), > 0, optional
        How many equal rows of the same class each row stands for; one each when left out.
    threads : int, optional
        Threads to share the rows over; all cores when left out. The sums are the same for any number.
    """

    def __init__(self, W, codes, n_classes: int, counts=None, threads: int | None = None):
        self.W = np.ascontiguousarray(W, np.float64)
        self.codes = np.ascontiguousarray(codes, np.int64)
        self.n_classes, self.p = int(n_classes), self.W.shape[1]
        rows = len(self.W)
        self.counts = np.ones(rows) if counts is None else np.ascontiguousarray(counts, np.float64)
        self.n, self.n_rows = float(self.counts.sum()), rows
        self.threads = threads or os.cpu_count() or 1
        size = max(BLOCK, -(-rows // MOST_BLOCKS))
        self._spans = [(start, min(start + size, rows)) for start in range(0, rows, size)]
        self._pool: ThreadPoolExecutor | None = None

    def statistics(self, A, m) -> Statistics:
        """The fused sums at A (K × p) and m (p)."""
        A, m = np.ascontiguousarray(A, np.float64), np.ascontiguousarray(m, np.float64)

        def block(span):
            R, s = np.zeros((self.n_classes, self.p)), np.zeros(self.p)
            return Statistics(_sum_rows(self.W, self.codes, self.counts, A, m, *span, R, s), R, s)

        return self._total(block)

    def curvature(self, A, m, columns) -> Curvature:
        """The sums of products that the Hessian needs, for some columns of W."""
        A, m = np.ascontiguousarray(A, np.float64), np.ascontiguousarray(m, np.float64)
        columns = np.ascontiguousarray(columns, np.int64)

        def block(span):
            sums = np.zeros((self.n_classes + 1, len(columns), len(columns)))
            add_curvature(self.W, self.codes, self.counts, A, m, columns, *span, sums)
            return Curvature(sums[:-1], sums[-1])

        return self._total(block)

    def sample(self, rows: int) -> "Rows":
        """That many rows chosen by a fixed stream of random numbers, in their order."""
        chosen = np.sort(np.random.default_rng(0).choice(len(self.W), rows, replace=False))
        return Rows(self.W[chosen], self.codes[chosen], self.n_classes, self.counts[chosen], self.threads)

    def _total(self, block) -> Any:
        """Sum over the blocks, from the first to the last whichever thread is done first."""
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
    """What the map step needs to know besides its rows.

    Attributes
    ----------
    A : array, shape (K, p)
        Weights that make T; for the maximum of the posterior λ.
    m : array, shape (p,)
        Weights that make S; for the maximum of the posterior Σ_k λ_k.
    classes : array, shape (K,), optional
        Labels in the order of the rows of A; None: y holds 0 to K - 1.
    design : Design, optional
        Makes W from the covariates; None: X holds rows of W.
    """

    A: np.ndarray
    m: np.ndarray
    classes: np.ndarray | None = None
    design: Any = None


def partial_statistics(X_block, y_block, state: State, counts=None) -> Statistics:
    """The sums over one block of rows: the map step of a fit whose rows lie on several machines.

    R_kj = Σ_{y_i = k} W_ij / T_i, s_j = Σ_i W_ij / S_i, Σ_i ln T_i / S_i with T_i = W_i·A_{y_i}, S_i = W_i·m

    Parameters
    ----------
    X_block : array, shape (n, d)
        Covariates, or rows of W if `state.design` is None.
    y_block : array, shape (n,)
        Labels, or 0 to K - 1 if `state.classes` is None.
    state : State
        Weights, classes and design, the same for all blocks.
    counts : array, shape (n,), > 0, optional
        How many rows each row stands for.

    Returns
    -------
    Statistics
        The sums of the block; those of all blocks are added with `+`, always in the same order.

    Raises
    ------
    DataError
        For a label that is not among the classes.

    References
    ----------
    Archambeau & Caron (2012), section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from thali.regression import State, partial_statistics
    >>> W, y = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([0, 1])
    >>> state = State(A=np.eye(2), m=np.ones(2))
    >>> parts = [partial_statistics(W[i : i + 1], y[i : i + 1], state) for i in range(2)]
    >>> total = parts[0] + parts[1]
    >>> round(total.log_likelihood, 6), total.s.round(6).tolist()
    (-0.81093, [1.0, 1.0])
    """
    W = X_block if state.design is None else state.design.apply(np.asarray(X_block, np.float64))
    codes = codes_among(y_block, state.classes)
    return Rows(W, codes, len(state.A), counts, threads=1).statistics(state.A, state.m)


def codes_among(labels, classes) -> np.ndarray:
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
