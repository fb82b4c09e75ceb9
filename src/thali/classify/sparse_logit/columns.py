"""Standardised covariates and the intercept's ones, as the maximum of the posterior needs them: dense, sparse, blocks.

Taking means off would fill a sparse matrix. So a sparse one is S - 1 s^T with a sparse S and a vector s; the
intercept's ones are a column of S that is 0, with s = -1.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..blocks import sum_over
from ..standard import Standard


class DenseColumns:
    """A matrix Z (n, m)."""

    def __init__(self, matrix: np.ndarray, intercept: bool) -> None:
        self.Z = np.column_stack([matrix, np.ones(len(matrix))]) if intercept else matrix
        self.n, self.m = self.Z.shape

    def times(self, coef: np.ndarray) -> np.ndarray:
        """Z coef^T for coef (q, m)."""
        return self.Z @ coef.T

    def pulled(self, residuals: np.ndarray) -> np.ndarray:
        """residuals^T Z for residuals (n, q)."""
        return residuals.T @ self.Z

    def gram(self, weights: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Z_a^T diag(weights) Z_b for two choices of columns."""
        return self.Z[:, first].T @ (weights[:, None] * self.Z[:, second])


class SparseColumns:
    """The same of S (n, m), sparse, with s (m,)."""

    def __init__(self, matrix: Any, standard: Standard, intercept: bool) -> None:
        from scipy import sparse

        varies = np.flatnonzero(standard.varies)
        scale = 1.0 / (standard.unit * standard.sd)[varies]
        scaled = sparse.csc_array(matrix)[:, varies] @ sparse.diags_array(scale)
        ones = [sparse.csc_array((matrix.shape[0], 1))] if intercept else []
        self.S = sparse.csc_array(sparse.hstack([scaled, *ones]))
        self.shift = np.append((standard.mean / standard.sd)[varies], [-1.0] * intercept)
        self.n, self.m = matrix.shape[0], len(self.shift)

    def times(self, coef: np.ndarray) -> np.ndarray:
        """Z coef^T for coef (q, m)."""
        return self.S @ coef.T - coef @ self.shift

    def pulled(self, residuals: np.ndarray) -> np.ndarray:
        """residuals^T Z for residuals (n, q)."""
        return (self.S.T @ residuals).T - np.outer(residuals.sum(axis=0), self.shift)

    def gram(self, weights: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Z_a^T diag(weights) Z_b for two choices of columns."""
        from scipy import sparse

        one, other = self.S[:, first], self.S[:, second]
        s, t = self.shift[first], self.shift[second]
        found = (one.T @ (sparse.diags_array(weights) @ other)).toarray()
        found -= np.outer(one.T @ weights, t) + np.outer(s, other.T @ weights)
        return found + weights.sum() * np.outer(s, t)


class BlockColumns:
    """The same of rows in blocks: each is a delayed `DenseColumns`, for so many rows."""

    def __init__(self, held: Sequence[Any], rows: Sequence[int], m: int) -> None:
        self._held, self.n, self.m = list(held), sum(rows), m
        ends = np.cumsum([0, *rows]).tolist()
        self._parts = [slice(*pair) for pair in zip(ends, ends[1:], strict=False)]

    def times(self, coef: np.ndarray) -> np.ndarray:
        """Z coef^T for coef (q, m)."""
        from dask.base import compute
        from dask.delayed import delayed

        return np.concatenate(compute(*(delayed(DenseColumns.times)(block, coef) for block in self._held)))

    def pulled(self, residuals: np.ndarray) -> np.ndarray:
        """residuals^T Z for residuals (n, q)."""
        pieces = [residuals[part] for part in self._parts]
        return sum_over(_pulled_of, list(zip(self._held, pieces, strict=True)))

    def gram(self, weights: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Z_a^T diag(weights) Z_b for two choices of columns."""
        pieces = [weights[part] for part in self._parts]
        return sum_over(_gram_of, list(zip(self._held, pieces, strict=True)), first, second)


def _pulled_of(block: tuple[DenseColumns, np.ndarray]) -> np.ndarray:
    return block[0].pulled(block[1])


def _gram_of(block: tuple[DenseColumns, np.ndarray], first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return block[0].gram(block[1], first, second)
