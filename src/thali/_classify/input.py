"""What a user passes to a classifier, as numbers: a matrix of covariates, names of its columns,
codes of labels."""

import math
import numbers
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.warn import is_quiet, warn
from thali.errors import DataError, DataWarning

if TYPE_CHECKING:
    from .sparse_logit.model import SparseMultinomialLogit

_MISSING = ("NoneType", "NAType", "NaTType")


def sklearn_error(ours: type[Any], name: str) -> type[Any]:
    """A class that is ours and scikit-learn's of that name, which its tools look for; ours where it
    is absent."""
    theirs = getattr(sys.modules.get("sklearn.exceptions"), name, None)
    if theirs is None:
        return ours
    # another process, which need not have made this class, gets ours
    return type(
        name, (ours, theirs), {"__reduce__": lambda self: (ours, self.args), "__module__": __name__}
    )


class NotNumbers(DataError, TypeError):
    """An entry of the covariates is no number."""


def names_of(X: Any) -> np.ndarray | None:
    """Names of the columns of a data frame, if all are strings."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = list(columns)
    return (
        np.array(names, dtype=object)
        if names and all(isinstance(name, str) for name in names)
        else None
    )


def column_name(names: np.ndarray | None, column: int) -> str:
    """How a message calls a column."""
    return f"column {column} (counted from 0)" if names is None else f"column {names[column]!r}"


def matrix_of(X: Any, names: np.ndarray | None = None) -> np.ndarray:
    """Covariates as a matrix of finite numbers, C-contiguous, one row an observation.

    Examples
    --------
    >>> matrix_of([[1, 2], [3, float("nan")]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    thali.errors.DataError: X is NaN in row 1, column 1 (counted from 0); enter finite numbers ...
    """
    if is_sparse(X):
        raise DataError(
            f"X is a sparse matrix of shape {X.shape}, but this model requires a dense one, which"
            f" takes {_memory(8 * X.shape[0] * X.shape[1])}; pass X.toarray(), or use"
            " SparseMultinomialLogit with method 'auto', 'laplace', 'variational' or 'map'."
        )
    try:
        values = np.asarray(X.to_numpy() if hasattr(X, "columns") and hasattr(X, "to_numpy") else X)
    except ValueError as error:
        raise DataError(
            "X must have rows of equal length; got rows of different lengths."
        ) from error
    if values.dtype.kind == "c":
        raise DataError("Complex data not supported: X must contain real numbers.")
    if values.ndim != 2:
        raise DataError(
            "X must be two-dimensional, with one row per observation and one column per"
            f" covariate; got shape {values.shape}. Reshape your data: X.reshape(-1, 1) for a"
            " single covariate, X.reshape(1, -1) for a single observation."
        )
    if values.shape[1] == 0:
        raise DataError(
            f"Found array with 0 feature(s) (shape={values.shape}) while a minimum of 1 is"
            " required: add a column to X."
        )
    if values.shape[0] == 0:
        raise DataError(f"X has no rows (shape {values.shape}); pass one row per observation.")
    matrix = np.ascontiguousarray(_as_floats(values, names))
    wrong = ~np.isfinite(matrix)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        what = "NaN" if math.isnan(matrix[row, column]) else "inf"
        count = int(wrong.sum())
        more = f", and {count - 1} more entries are NaN or infinite" if count > 1 else ""
        raise DataError(
            f"X is {what} in row {row}, {column_name(names, column)}{more}; enter finite numbers"
            " or remove such rows."
        )
    return matrix


def _memory(size: int) -> str:
    """A number of bytes, as a message says it."""
    return f"{1e-9 * size:,.2g} GB" if size >= 10**8 else "less than 0.1 GB"


def is_sparse(X: Any) -> bool:
    """Whether this is a sparse matrix of SciPy."""
    return hasattr(X, "nnz") and hasattr(X, "toarray")


def sparse_matrix_of(X: Any) -> Any:
    """Covariates that stay a sparse matrix, of finite numbers, column by column; errors as in
    `matrix_of`."""
    from scipy import sparse

    if X.dtype.kind == "c":
        raise DataError("Complex data not supported: X must contain real numbers.")
    if X.ndim != 2 or 0 in X.shape:
        raise DataError(f"X must have at least one row and one column; got shape {X.shape}.")
    matrix = sparse.csc_array(X, dtype=np.float64)
    matrix.sum_duplicates()
    if (wrong := ~np.isfinite(matrix.data)).any():
        place = int(np.argmax(wrong))
        column = int(np.searchsorted(matrix.indptr, place, side="right")) - 1
        what = "NaN" if math.isnan(matrix.data[place]) else "inf"
        raise DataError(
            f"X is {what} in row {matrix.indices[place]}, {column_name(None, column)}; enter"
            " finite numbers or remove such rows."
        )
    return matrix


def _as_floats(values: np.ndarray, names: np.ndarray | None) -> np.ndarray:
    if values.dtype.kind not in "mM":
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError):
            pass
    floats = np.empty(values.shape)
    for place, value in np.ndenumerate(values):
        try:
            floats[place] = math.nan if type(value).__name__ in _MISSING else float(value)
        except (TypeError, ValueError):
            raise NotNumbers(
                f"Row {place[0]}, {column_name(names, place[1])}, is {value!r}, but every entry of"
                " this argument must be a number, or a string that reads as a number. Encode"
                " categories, for instance with pandas.get_dummies."
            ) from None
    return floats


def codes_of(y: Any, model: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Class labels in sorted order, and the position of every observation's label among them.

    Examples
    --------
    >>> codes_of(["b", "a", "b", "a"], "Model", 4)
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1, 0]))
    """
    labels = labels_of(y, model, rows)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise DataError(
            f"y contains only one class, {shown(classes[0])}; a classifier requires at least two."
        )
    counts = np.bincount(codes)
    if (alone := np.flatnonzero(counts == 1)).size and not is_quiet():
        named = ", ".join(shown(classes[k]) for k in alone[:5]) + (
            ", ..." if alone.size > 5 else ""
        )
        warn(
            DataWarning(
                f"Classes with a single row in y: {named}. The probability of such a class depends"
                " on this row alone; merge rare classes if one row is too little."
            )
        )
    return classes, codes.astype(np.int64)


def labels_of(y: Any, model: str, rows: int) -> np.ndarray:
    """Labels of one kind, one a row, whose classes are yet to be found; parameters and errors as in
    `codes_of`."""
    if y is None:
        raise DataError(
            f"{model} requires y to be passed, but the target y is None; pass one label per row of"
            " X."
        )
    labels = np.array(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        warn(
            sklearn_error(DataWarning, "DataConversionWarning")(
                "A column-vector y was passed when a 1d array was expected; pass y.ravel(), of"
                f" shape ({len(labels)},)."
            )
        )
        labels = labels.ravel()
    if labels.ndim != 1:
        raise DataError(
            f"y should be a 1d array of labels, one per row of X; got shape {labels.shape}."
        )
    if len(labels) != rows:
        raise DataError(
            f"X has {rows} rows but y has {len(labels)} labels; pass one label per row of X."
        )
    if labels.dtype == object:
        labels = _of_one_kind(labels, keep=not isinstance(y, list | tuple))
    if labels.dtype.kind in "fc":
        _refuse_continuous(labels)
    return labels


def _of_one_kind(labels: np.ndarray, keep: bool) -> np.ndarray:
    """Labels of Python's own types, all of one kind; numbers become an array of numbers."""
    seen: dict[str, object] = {}
    for row, label in enumerate(labels):
        if type(label).__name__ in _MISSING:
            raise DataError(
                f"Input y contains NaN: the label of row {row} is missing; remove such rows."
            )
        seen.setdefault(_kind(label), label)
    if "other" in seen:
        raise DataError(
            f"Unknown label type: {type(seen['other']).__name__}; labels must be strings, integers"
            " or booleans."
        )
    if len(seen) > 1:
        examples = " and ".join(f"{label!r} ({kind})" for kind, label in seen.items())
        raise DataError(
            f"y contains labels of mixed types, {examples}; convert them to one type, such as"
            " strings."
        )
    return labels if keep and "string" in seen else np.array(labels.tolist())


def _kind(label: Any) -> str:
    if isinstance(label, str):
        return "string"
    if isinstance(label, bool | np.bool_):
        return "boolean"
    return "number" if isinstance(label, numbers.Number) else "other"


def _refuse_continuous(labels: np.ndarray) -> None:
    if labels.dtype.kind == "c":
        raise DataError(
            "Complex data not supported: labels in y must be strings, integers or booleans."
        )
    if not np.isfinite(labels).all():
        row = int(np.argmin(np.isfinite(labels)))
        what = "NaN" if math.isnan(labels[row]) else "infinity"
        raise DataError(
            f"Input y contains {what}: the label of row {row} is not a class; remove such rows."
        )
    if (fractions := labels != np.floor(labels)).any():
        row = int(np.argmax(fractions))
        raise DataError(
            f"Unknown label type: continuous, such as {labels[row]} in row {row} of y; a"
            " classifier requires classes. Bin a continuous target first."
        )


def shown(label: Any) -> str:
    """How a message calls a class."""
    return repr(label.item() if isinstance(label, np.generic) else label)


# Covariates on one scale: those of the training data have mean 0 and standard deviation 1 ---------


class Standard(NamedTuple):
    """Mean and standard deviation of each column, both after division by `unit`, its largest
    absolute value.

    The division keeps squares of numbers such as 1e300 and 1e-300 within the range of floats. A
    column that is the same in every row of the training data says nothing: its sd is infinite here,
    so that it is 0 in every other row as well.
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

    def varying(self, matrix: Any) -> np.ndarray:
        """The standardised columns that varied in the training data, dense."""
        matrix = matrix.toarray() if is_sparse(matrix) else matrix
        return np.ascontiguousarray(self.apply(matrix)[:, self.varies])


def standard_of(
    matrix: Any, names: np.ndarray | None = None, counts: np.ndarray | None = None
) -> Standard:
    r"""Mean and population standard deviation of the columns of the training data.

    .. math::

        z_{ij} = (x_{ij} - \bar x_j) / s_j, \qquad
        s_j^2 = \frac{\sum_i c_i (x_{ij} - \bar x_j)^2}{\sum_i c_i}

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
            f"All columns of X are constant ({column_name(names, 0)} is {low[0]:g}), so the"
            " classes cannot be distinguished; include a column that varies."
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


def _moments(
    matrix: np.ndarray, unit: np.ndarray, share: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the columns divided by their units."""
    scaled = matrix / unit
    # to the bit whatever other columns there are, unlike a product
    mean = np.einsum("i,ij->j", share, scaled)
    scaled -= mean
    return mean, np.einsum("i,ij,ij->j", share, scaled, scaled)


def _sparse_moments(
    matrix: Any, unit: np.ndarray, share: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same of a sparse matrix, column by column; entries that are not stored are 0."""
    column = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    scaled, weight = matrix.data / unit[column], share[matrix.indices]
    size = matrix.shape[1]
    mean = np.bincount(column, weight * scaled, size)
    stored = np.bincount(column, weight, size)
    variance = np.bincount(column, weight * (scaled - mean[column]) ** 2, size)
    return mean, variance + np.maximum(1.0 - stored, 0.0) * mean**2


def warn_of_left_out(
    standard: Standard | None, names: np.ndarray | None, usual: Any = False
) -> None:
    """Warn of columns that are the same in every row of the training data, unless that is usual of
    them.

    `names` as in `standard_of`.
    """
    if standard is None or is_quiet():
        return
    constant = np.flatnonzero(~(standard.varies | usual))
    if not constant.size:
        return
    named = ", ".join(column_name(names, int(j)) for j in constant[:5]) + (
        ", ..." if constant.size > 5 else ""
    )
    warn(
        DataWarning(
            "Covariates that are constant in all rows are ignored in the fit and in predictions:"
            f" {named}."
        )
    )


def varying_names(model: "SparseMultinomialLogit") -> list[str]:
    """Names of the covariates that have a coefficient."""
    return [
        name
        for name, varies in zip(model._column_names(), model._standard_.varies, strict=True)
        if varies
    ]


def other_classes(model: "SparseMultinomialLogit") -> list[Any]:
    """The classes but the reference."""
    return [label for label in model.classes_.tolist() if label != model._reference_]
