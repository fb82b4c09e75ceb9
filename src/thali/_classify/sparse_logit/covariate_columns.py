"""Standardised covariates with an intercept column, dense or sparse.

Subtracting means would fill a sparse matrix. So it is stored as S - 1 s^T with a sparse S and a
vector s; the intercept's ones are a column of zeros in S, with s = -1.
"""

from typing import Any

import numpy as np

from ..covariates_and_labels import Standardization


def add_intercept_column(matrix: np.ndarray, has_intercept: bool) -> np.ndarray:
    """Return covariates (n, d), followed by a column of ones if there is an intercept."""
    if not has_intercept:
        return matrix
    return np.column_stack([matrix, np.ones(len(matrix))])


def compute_class_probabilities(
    linear: np.ndarray, is_class: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return log probabilities of the observed classes and probabilities of all but the reference.

    Axis 1 of `linear`, the linear predictors, is that of the classes other than the reference.
    """
    maximum = np.maximum(linear.max(axis=1), 0.0)
    probabilities = np.exp(linear - maximum[:, None])
    sums = probabilities.sum(axis=1) + np.exp(-maximum)
    probabilities /= sums[:, None]
    return (linear * is_class).sum(axis=1) - maximum - np.log(sums), probabilities


class DenseColumns:
    """Standardised covariates as a dense matrix Z (n, m), with its products."""

    Z: np.ndarray
    n: int
    m: int

    def __init__(self, matrix: np.ndarray, has_intercept: bool) -> None:
        self.Z = add_intercept_column(matrix, has_intercept)
        self.n, self.m = self.Z.shape

    def multiply(self, coef: np.ndarray) -> np.ndarray:
        """Return linear predictors Z coef' for coefficients (q, m)."""
        return self.Z @ coef.T

    def multiply_transposed(self, residuals: np.ndarray) -> np.ndarray:
        """Return residuals' Z, shape (q, m), for residuals (n, q)."""
        return residuals.T @ self.Z

    def compute_gram(
        self, weights: np.ndarray, columns_a: np.ndarray, columns_b: np.ndarray
    ) -> np.ndarray:
        """Return Za' diag(weights) Zb for two selections of columns."""
        return self.Z[:, columns_a].T @ (weights[:, None] * self.Z[:, columns_b])


class SparseColumns:
    """Standardised covariates Z = S - 1 s' with sparse S (n, m), never made dense."""

    S: Any  # a sparse array (n, m)
    shift: np.ndarray
    n: int
    m: int

    def __init__(self, S: Any, shift: np.ndarray) -> None:
        self.S = S
        self.shift = shift
        self.n, self.m = S.shape

    @property
    def shape(self) -> tuple[int, int]:
        """(number of columns, number of rows), the order in which problems store them."""
        return self.m, self.n

    def multiply(self, coef: np.ndarray) -> np.ndarray:
        """Return linear predictors Z coef' for coefficients (q, m)."""
        return self.S @ coef.T - coef @ self.shift

    def multiply_transposed(self, residuals: np.ndarray) -> np.ndarray:
        """Return residuals' Z, shape (q, m), for residuals (n, q)."""
        return (self.S.T @ residuals).T - np.outer(residuals.sum(axis=0), self.shift)

    def compute_gram(
        self,
        weights: np.ndarray,
        columns_a: np.ndarray | slice = slice(None),
        columns_b: np.ndarray | slice = slice(None),
    ) -> np.ndarray:
        """Return Za' diag(weights) Zb for two selections of columns."""
        from scipy import sparse

        a = self.S[:, columns_a]
        b = self.S[:, columns_b]
        s = self.shift[columns_a]
        t = self.shift[columns_b]
        gram = (a.T @ (sparse.diags_array(weights) @ b)).toarray()
        gram -= np.outer(a.T @ weights, t) + np.outer(s, b.T @ weights)
        return gram + weights.sum() * np.outer(s, t)

    def compute_quadratic_forms(self, matrix: np.ndarray) -> np.ndarray:
        """Return z'Mz of each row z, for a matrix M (m, m)."""
        quadratic_forms = self.S.multiply(self.S @ matrix).sum(axis=1) - self.S @ (
            matrix @ self.shift + self.shift @ matrix
        )
        return np.asarray(quadratic_forms + self.shift @ matrix @ self.shift)

    def store_by_rows(self) -> "SparseColumns":
        """Return the same columns, stored by rows."""
        return SparseColumns(self.S.tocsr(), self.shift)


def build_sparse_columns(
    matrix: Any, standardization: Standardization, has_intercept: bool
) -> SparseColumns:
    """Return the varying columns of a sparse matrix, standardised."""
    from scipy import sparse

    varying_indices = np.flatnonzero(standardization.varies)
    scales = 1.0 / (standardization.unit * standardization.sd)[varying_indices]
    scaled_columns = sparse.csc_array(matrix)[:, varying_indices] @ sparse.diags_array(scales)
    shift = (standardization.mean / standardization.sd)[varying_indices]
    if has_intercept:
        zero_column = sparse.csc_array((matrix.shape[0], 1))
        scaled_columns = sparse.hstack([scaled_columns, zero_column])
        shift = np.append(shift, -1.0)
    return SparseColumns(sparse.csc_array(scaled_columns), shift)
