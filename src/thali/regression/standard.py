"""Covariates on one scale: those of the training data have mean 0 and standard deviation 1."""

from typing import NamedTuple

import numpy as np

from thali.errors import DataError
from thali.regression.input import column_name


class Standard(NamedTuple):
    """Mean and standard deviation of each column, both after division by `unit`, its largest absolute value.

    The division keeps squares of numbers such as 1e300 and 1e-300 within the range of floats.
    """

    unit: np.ndarray
    mean: np.ndarray
    sd: np.ndarray

    def apply(self, matrix: np.ndarray) -> np.ndarray:
        """The matrix (n, d) with the means taken off and divided by the standard deviations."""
        with np.errstate(over="ignore"):  # a row far outside the training data
            return (matrix / self.unit - self.mean) / self.sd


def standard_of(matrix: np.ndarray, names: np.ndarray | None = None) -> Standard:
    r"""Mean and population standard deviation of the columns of the training data.

    .. math:: z_{ij} = (x_{ij} - \bar x_j) / s_j, \qquad s_j^2 = \tfrac1n \sum_i (x_{ij} - \bar x_j)^2

    Parameters
    ----------
    matrix : array of float (n, d)
        Finite.
    names : array of str (d,), optional
        Of the columns, for the message.

    Returns
    -------
    Standard

    Raises
    ------
    DataError
        If a column is constant; the message names it.

    Example
    -------
    >>> import numpy as np
    >>> table = np.array([[1e300, 3.0], [3e300, 1.0]])
    >>> standard_of(table).apply(table).round(12).tolist()
    [[-1.0, 1.0], [1.0, -1.0]]
    """
    constant = np.flatnonzero(matrix.min(axis=0) == matrix.max(axis=0))
    if constant.size:
        column = int(constant[0])
        more = f", and {constant.size - 1} more columns are constant too" if constant.size > 1 else ""
        raise DataError(
            f"Every row of {column_name(names, column)} holds {matrix[0, column]:g}{more}; leave constant columns out, "
            "or pass standardize=False."
        )
    unit = np.maximum(np.abs(matrix).max(axis=0), np.finfo(float).tiny)
    scaled = matrix / unit
    mean = scaled.mean(axis=0)
    return Standard(unit, mean, scaled.std(axis=0))
