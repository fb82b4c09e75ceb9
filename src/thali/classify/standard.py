"""Covariates on one scale: those of the training data have mean 0 and standard deviation 1."""

from typing import Any, NamedTuple

import numpy as np

from thali.errors import DataError, DataWarning
from thali.inference.quiet import is_quiet
from thali.inference.warn import warn

from .input import column_name, is_sparse


class Standard(NamedTuple):
    """Mean and standard deviation of each column, both after division by `unit`, its largest absolute value.

    The division keeps squares of numbers such as 1e300 and 1e-300 within the range of floats. A column that is the same
    in every row of the training data says nothing: its sd is infinite here, so that it is 0 in every other row as well.
    """

    unit: np.ndarray
    mean: np.ndarray
    sd: np.ndarray

    @property
    def varies(self) -> np.ndarray:
        """Which columns the training data say anything of, bool (d,)."""
        return np.isfinite(self.sd)

    def apply(self, matrix: np.ndarray) -> np.ndarray:
        """The matrix (n, d) with the means taken off and divided by the standard deviations."""
        with np.errstate(over="ignore"):  # a row far outside the training data
            return (matrix / self.unit - self.mean) / self.sd

    def varying(self, matrix: np.ndarray) -> np.ndarray:
        """The standardised columns that varied in the training data."""
        return np.ascontiguousarray(self.apply(matrix)[:, self.varies])


def standard_of(matrix: Any, names: np.ndarray | None = None, counts: np.ndarray | None = None) -> Standard:
    r"""Mean and population standard deviation of the columns of the training data.

    .. math:: z_{ij} = (x_{ij} - \bar x_j) / s_j, \qquad s_j^2 = \frac{\sum_i c_i (x_{ij} - \bar x_j)^2}{\sum_i c_i}

    Parameters
    ----------
    matrix : array of float (n, d), or sparse by columns
        Finite.
    names : array of str (d,), optional
        Of the columns, for the message.
    counts : array of float (n,), optional
        Weights of the rows; None: 1 each.

    Returns
    -------
    Standard

    Raises
    ------
    DataError
        If every column is constant.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[1e300, 3.0], [3e300, 1.0]])
    >>> standard_of(table).apply(table).round(12).tolist()
    [[-1.0, 1.0], [1.0, -1.0]]
    """
    low, high = ends_of(matrix)
    constant = low == high
    if constant.all():
        raise DataError(
            f"All columns of X are the same in every row ({column_name(names, 0)} holds {low[0]:g}), so that "
            "nothing tells the classes apart; pass a column that varies."
        )
    unit = np.where(constant, 1.0, np.maximum(np.maximum(-low, high), np.finfo(float).tiny))
    share = np.ones(matrix.shape[0]) if counts is None else counts
    share = share / share.sum()
    mean, variance = (_sparse_moments if is_sparse(matrix) else _moments)(matrix, unit, share)
    sd = np.sqrt(variance)
    return Standard(unit, np.where(constant, 0.0, mean), np.where(constant, np.inf, sd))


def ends_of(matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest value of every column, of a dense or a sparse matrix."""
    if is_sparse(matrix):
        return matrix.min(axis=0).toarray().ravel(), matrix.max(axis=0).toarray().ravel()
    return matrix.min(axis=0), matrix.max(axis=0)


def _moments(matrix: np.ndarray, unit: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the columns divided by their units."""
    scaled = matrix / unit
    mean = np.einsum("i,ij->j", share, scaled)  # to the bit whatever other columns there are, unlike a product
    scaled -= mean
    return mean, np.einsum("i,ij,ij->j", share, scaled, scaled)


def _sparse_moments(matrix: Any, unit: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same of a sparse matrix, column by column; entries that are not stored are 0."""
    column = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    scaled, weight = matrix.data / unit[column], share[matrix.indices]
    size = matrix.shape[1]
    mean = np.bincount(column, weight * scaled, size)
    stored = np.bincount(column, weight, size)
    variance = np.bincount(column, weight * (scaled - mean[column]) ** 2, size)
    return mean, variance + np.maximum(1.0 - stored, 0.0) * mean**2


def warn_of_left_out(standard: Standard | None, names: np.ndarray | None) -> None:
    """Warn of columns that are the same in every row of the training data; `names` as in `standard_of`."""
    if standard is None or standard.varies.all() or is_quiet():
        return
    constant = np.flatnonzero(~standard.varies)
    named = ", ".join(column_name(names, int(j)) for j in constant[:5]) + (", ..." if constant.size > 5 else "")
    warn(
        DataWarning(
            f"Covariates that are the same in every row say nothing, and predictions do not depend on them: {named}."
        )
    )
