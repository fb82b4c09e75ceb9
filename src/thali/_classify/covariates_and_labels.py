"""Covariates as matrices, labels as class codes, and standardisation of columns."""

import math
import numbers
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import part_indices
from thali._inference.numerics.weight_shares import compute_shares
from thali._inference.user_warnings import is_quiet, warn
from thali.errors import DataError, DataWarning

if TYPE_CHECKING:
    from .classifier import Classifier

_MISSING = ("NoneType", "NAType", "NaTType")


def combine_error_classes(error_class: type[Any], name: str) -> type[Any]:
    """Return a class that is both our error class and scikit-learn's of that name.

    Tools of scikit-learn catch its own class. Without scikit-learn, return `error_class`.
    """
    sklearn_class = getattr(sys.modules.get("sklearn.exceptions"), name, None)
    if sklearn_class is None:
        return error_class
    # another process, which need not have made this class, gets ours
    return type(
        name,
        (error_class, sklearn_class),
        {"__reduce__": lambda self: (error_class, self.args), "__module__": __name__},
    )


class NonNumericEntryError(DataError, TypeError):
    """Error for an entry of the covariates that is not a number."""


def read_string_column_names(X: Any) -> np.ndarray | None:
    """Return the column names of a data frame; None unless all are strings."""
    column_names = list(getattr(X, "columns", ()))
    if not column_names or not all(isinstance(name, str) for name in column_names):
        return None
    return np.array(column_names, dtype=object)


def format_column_name(column_names: np.ndarray | None, column_index: int) -> str:
    """Return words for a column in messages: its name, or its number."""
    if column_names is None:
        return f"column {column_index} (counted from 0)"
    return f"column {column_names[column_index]!r}"


def convert_to_matrix(X: Any, column_names: np.ndarray | None = None) -> np.ndarray:
    """Return dense covariates as a C-contiguous float matrix, shape (n, d).

    Examples
    --------
    >>> convert_to_matrix([[1, 2], [3, float("nan")]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    thali.errors.DataError: X is NaN in row 1, column 1 (counted from 0); impute such values...
    """
    if is_sparse(X):
        raise DataError(
            f"X is a sparse matrix of shape {X.shape}, but this model requires a dense one, which"
            f" takes {_format_memory(8 * X.shape[0] * X.shape[1])}; pass X.toarray(), or use"
            " SparseMultinomialLogit with method 'auto', 'laplace', 'variational' or 'map'."
        )
    try:
        if hasattr(X, "columns") and hasattr(X, "to_numpy"):
            X = X.to_numpy()
        entries = np.asarray(X)
    except ValueError as error:
        raise DataError(
            "X must have rows of equal length; got rows of different lengths."
        ) from error
    if entries.dtype.kind == "c":
        raise DataError("Complex data not supported: X must contain real numbers.")
    if entries.ndim != 2:
        raise DataError(
            "X must be two-dimensional, with one row per observation and one column per"
            f" covariate; got shape {entries.shape}. Reshape your data: X.reshape(-1, 1) for a"
            " single covariate, X.reshape(1, -1) for a single observation."
        )
    if entries.shape[1] == 0:
        raise DataError(
            f"Found array with 0 feature(s) (shape={entries.shape}) while a minimum of 1 is"
            " required: add a column to X."
        )
    if entries.shape[0] == 0:
        raise DataError(f"X has no rows (shape {entries.shape}); pass one row per observation.")
    matrix = np.ascontiguousarray(_convert_to_floats(entries, column_names))
    is_not_finite = ~np.isfinite(matrix)
    if is_not_finite.any():
        row_index, column_index = np.argwhere(is_not_finite)[0]
        others_text = ""
        n_others = int(is_not_finite.sum()) - 1
        if n_others:
            others_text = f", and {n_others} more entries are NaN or infinite"
        raise DataError(
            f"X is {_name_non_finite(matrix[row_index, column_index])} in row {row_index},"
            f" {format_column_name(column_names, column_index)}{others_text}; impute such values,"
            " or remove the affected rows."
        )
    return matrix


def _format_memory(n_bytes: int) -> str:
    """Return a number of bytes as text in gigabytes."""
    if n_bytes < 10**8:
        return "less than 0.1 GB"
    return f"{1e-9 * n_bytes:,.2g} GB"


def _name_non_finite(number: Any) -> str:
    """Return "NaN" or "inf" for a number that is not finite."""
    if math.isnan(number):
        return "NaN"
    return "inf"


def is_sparse(X: Any) -> bool:
    """Return whether X is a sparse matrix of SciPy."""
    return hasattr(X, "nnz") and hasattr(X, "toarray")


def convert_to_sparse_matrix(X: Any) -> Any:
    """Return sparse covariates as a float matrix in column order.

    Errors are the same as in `convert_to_matrix`.
    """
    from scipy import sparse

    if X.dtype.kind == "c":
        raise DataError("Complex data not supported: X must contain real numbers.")
    if X.ndim != 2 or 0 in X.shape:
        raise DataError(f"X must have at least one row and one column; got shape {X.shape}.")
    matrix = sparse.csc_array(X, dtype=np.float64)
    matrix.sum_duplicates()
    if (is_not_finite := ~np.isfinite(matrix.data)).any():
        entry_index = int(np.argmax(is_not_finite))
        column_index = int(np.searchsorted(matrix.indptr, entry_index, side="right")) - 1
        raise DataError(
            f"X is {_name_non_finite(matrix.data[entry_index])} in row"
            f" {matrix.indices[entry_index]}, {format_column_name(None, column_index)}; impute"
            " such values, or remove the affected rows."
        )
    return matrix


def _convert_to_floats(entries: np.ndarray, column_names: np.ndarray | None) -> np.ndarray:
    """Return entries as floats, missing ones as NaN; raise for non-numbers."""
    if entries.dtype.kind not in "mM":
        try:
            return entries.astype(np.float64)
        except (TypeError, ValueError):
            pass
    floats = np.full(entries.shape, math.nan)
    for cell_index, entry in np.ndenumerate(entries):
        if type(entry).__name__ in _MISSING:
            continue
        try:
            floats[cell_index] = float(entry)
        except (TypeError, ValueError):
            raise NonNumericEntryError(
                f"Row {cell_index[0]}, {format_column_name(column_names, cell_index[1])}, is"
                f" {entry!r},"
                " but every entry of this argument must be a number, or a string that represents a"
                " number. Encode categories, for instance with pandas.get_dummies."
            ) from None
    return floats


def encode_class_labels(y: Any, model: str, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted class labels, and each row's class index.

    Examples
    --------
    >>> encode_class_labels(["b", "a", "b", "a"], "Model", 4)
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1, 0]))
    """
    labels = check_class_labels(y, model, n_rows)
    classes, class_codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise DataError(
            f"y contains only one class, {format_class_label(classes[0])}; a classifier requires at"
            " least two."
        )
    class_counts = np.bincount(class_codes)
    if (single_row_classes := np.flatnonzero(class_counts == 1)).size and not is_quiet():
        class_list = join_first(map(format_class_label, classes[single_row_classes]))
        warn(
            DataWarning(
                f"Classes with a single row in y: {class_list}. The probability of such a class"
                " depends on this row alone; consider merging rare classes."
            )
        )
    return classes, class_codes.astype(np.int64)


def check_class_labels(y: Any, model: str, n_rows: int) -> np.ndarray:
    """Return the labels as an array of one type, shape (n,), or raise.

    Parameters and errors as in `encode_class_labels`; the classes are determined later.
    """
    if y is None:
        raise DataError(
            f"{model} requires y to be passed, but the target y is None; pass one label per row of"
            " X."
        )
    is_list = isinstance(y, list | tuple)
    if is_list:
        labels = np.array(y, dtype=object)
    else:
        labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        warn(
            combine_error_classes(DataWarning, "DataConversionWarning")(
                "A column-vector y was passed when a 1d array was expected; pass y.ravel(), of"
                f" shape ({len(labels)},)."
            )
        )
        labels = labels.ravel()
    if labels.ndim != 1:
        raise DataError(
            f"y should be a 1d array of labels, one per row of X; got shape {labels.shape}."
        )
    if len(labels) != n_rows:
        raise DataError(
            f"X has {n_rows} rows but y has {len(labels)} labels; pass one label per row of X."
        )
    if labels.dtype == object:
        labels = _check_label_types(labels, keeps_dtype=not is_list)
    if labels.dtype.kind in "fc":
        _refuse_continuous_labels(labels)
    return labels


def _check_label_types(labels: np.ndarray, keeps_dtype: bool) -> np.ndarray:
    """Return labels of one Python type, numbers as a numeric array; raise for mixtures."""
    label_by_type: dict[str, object] = {}
    for row_index, label in enumerate(labels):
        if type(label).__name__ in _MISSING:
            raise DataError(
                f"Input y contains NaN: the label of row {row_index} is missing; remove such rows."
            )
        label_by_type.setdefault(_name_label_type(label), label)
    if "other" in label_by_type:
        raise DataError(
            f"Unknown label type: {type(label_by_type['other']).__name__}; labels must be strings,"
            " integers or booleans."
        )
    if len(label_by_type) > 1:
        examples = " and ".join(
            f"{label!r} ({label_type})" for label_type, label in label_by_type.items()
        )
        raise DataError(
            f"y contains labels of mixed types, {examples}; convert them to one type, such as"
            " strings."
        )
    if keeps_dtype and "string" in label_by_type:
        return labels
    return np.array(labels.tolist())


def _name_label_type(label: Any) -> str:
    """Return "string", "boolean", "number" or "other" for a label."""
    if isinstance(label, str):
        return "string"
    if isinstance(label, bool | np.bool_):
        return "boolean"
    if isinstance(label, numbers.Number):
        return "number"
    return "other"


def _refuse_continuous_labels(labels: np.ndarray) -> None:
    """Raise DataError for complex, infinite or fractional labels."""
    if labels.dtype.kind == "c":
        raise DataError(
            "Complex data not supported: labels in y must be strings, integers or booleans."
        )
    if not np.isfinite(labels).all():
        row_index = int(np.argmin(np.isfinite(labels)))
        number_name = "infinity"
        if math.isnan(labels[row_index]):
            number_name = "NaN"
        raise DataError(
            f"Input y contains {number_name}: the label of row {row_index} is not a class; remove"
            " such rows."
        )
    if (is_fractional := labels != np.floor(labels)).any():
        row_index = int(np.argmax(is_fractional))
        raise DataError(
            f"Unknown label type: continuous, such as {labels[row_index]} in row {row_index} of y;"
            " a classifier requires classes. Bin a continuous target first."
        )


def format_class_label(label: Any) -> str:
    """Return a class label for messages, as Python code."""
    if isinstance(label, np.generic):
        label = label.item()
    return repr(label)


def join_first(names: Iterable[str]) -> str:
    """Return the first five names joined by commas, with "..." for more."""
    names = list(names)
    if len(names) > 5:
        names[5:] = ["..."]
    return ", ".join(names)


# Standardised covariates: mean 0 and standard deviation 1 in the training data --------------------


class Standardization(NamedTuple):
    """Mean and sd of each training column, after division by `unit`.

    `unit` is the largest absolute value of the column; dividing by it keeps squares of numbers such
    as 1e300 and 1e-300 within the range of floats. A column that is constant in the training data
    carries no information: its sd is infinite here, so that it is 0 in every other row as well.
    """

    unit: np.ndarray
    mean: np.ndarray
    sd: np.ndarray

    @property
    def varies(self) -> np.ndarray:
        """Mask of the columns that vary in the training data, shape (d,)."""
        return np.isfinite(self.sd)

    def apply(self, matrix: np.ndarray) -> np.ndarray:
        """Return the matrix (n, d) minus the means, divided by the sds."""
        with np.errstate(over="ignore"):  # a row far outside the training data
            return (matrix / self.unit - self.mean) / self.sd

    def varying(self, matrix: Any) -> np.ndarray:
        """Return the standardised columns that vary in training data, dense."""
        if is_sparse(matrix):
            matrix = matrix.toarray()
        return np.ascontiguousarray(self.apply(matrix)[:, self.varies])


def compute_standardization(
    matrix: Any, column_names: np.ndarray | None = None, counts: np.ndarray | None = None
) -> Standardization:
    r"""Return mean and population sd of each training column.

    .. math::

        z_{ij} = (x_{ij} - \bar x_j) / s_j, \qquad
        s_j^2 = \frac{\sum_i c_i (x_{ij} - \bar x_j)^2}{\sum_i c_i}

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[1e300, 3.0], [3e300, 1.0]])
    >>> compute_standardization(table).apply(table).round(12).tolist()
    [[-1.0, 1.0], [1.0, -1.0]]
    """
    column_min, column_max = compute_column_ranges(matrix)
    is_constant = column_min == column_max
    if is_constant.all():
        raise DataError(
            f"All columns of X are constant ({format_column_name(column_names, 0)} is"
            f" {column_min[0]:g}),"
            " so the classes cannot be distinguished; include a column that varies."
        )
    unit = np.where(
        is_constant, 1.0, np.maximum(np.maximum(-column_min, column_max), np.finfo(float).tiny)
    )
    if counts is None:
        counts = np.ones(int(matrix.shape[0]))
    compute_moments = _compute_dense_moments
    if is_sparse(matrix):
        compute_moments = _compute_sparse_moments
    mean, variance = compute_moments(matrix, unit, compute_shares(counts))
    sd = np.sqrt(variance)
    return Standardization(
        unit, np.where(is_constant, 0.0, mean), np.where(is_constant, np.inf, sd)
    )


def compute_column_ranges(matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the minimum and maximum of each column of a matrix."""
    if is_sparse(matrix):
        return matrix.min(axis=0).toarray().ravel(), matrix.max(axis=0).toarray().ravel()
    return matrix.min(axis=0), matrix.max(axis=0)


def _compute_dense_moments(
    matrix: np.ndarray, unit: np.ndarray, row_shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of each dense column divided by its unit."""
    scaled = matrix / unit
    # to the bit whatever other columns there are, unlike a product
    mean = np.einsum("i,ij->j", row_shares, scaled)
    scaled -= mean
    return mean, np.einsum("i,ij,ij->j", row_shares, scaled, scaled)


def _compute_sparse_moments(
    matrix: Any, unit: np.ndarray, row_shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of each sparse column divided by its unit."""
    column_indices = part_indices(matrix.indptr)
    scaled_values = matrix.data / unit[column_indices]
    weights = row_shares[matrix.indices]
    n_columns = matrix.shape[1]
    mean = np.bincount(column_indices, weights * scaled_values, n_columns)
    stored_share = np.bincount(column_indices, weights, n_columns)
    variance = np.bincount(
        column_indices, weights * (scaled_values - mean[column_indices]) ** 2, n_columns
    )
    return mean, variance + np.maximum(1.0 - stored_share, 0.0) * mean**2


def warn_about_constant_columns(
    standardization: Standardization | None,
    column_names: np.ndarray | None,
    is_expected: bool | np.ndarray = False,
) -> None:
    """Warn of training columns that do not vary, unless expected.

    `column_names` as in `compute_standardization`.
    """
    if standardization is None or is_quiet():
        return
    constant_indices = np.flatnonzero(~(standardization.varies | is_expected))
    if not constant_indices.size:
        return
    column_list = join_first(format_column_name(column_names, int(j)) for j in constant_indices)
    warn(
        DataWarning(
            "Covariates that are constant in all rows are ignored in the fit and in predictions:"
            f" {column_list}."
        )
    )


def list_covariate_names(model: "Classifier") -> list[str]:
    """Return the covariates' names; x0, x1, ... if the data have none."""
    names = vars(model).get("feature_names_in_")
    if names is None:
        return [f"x{j}" for j in range(model.n_features_in_)]
    return [str(name) for name in names]
