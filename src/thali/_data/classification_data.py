"""Covariates and class labels of table rows, and equal rows merged for fitting classifiers."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import format_plural
from thali._object_descriptions import Description

from .base_classes import Frozen
from .kinds import CLASSES

if TYPE_CHECKING:
    import pandas

_MAX_SHOWN_CLASSES = 20  # classes with printed counts


class Observations(Frozen):
    """Covariates (rows, columns) and class label of each table row."""

    kind = CLASSES
    _FIELDS = ("covariates", "labels", "target")
    covariates: "pandas.DataFrame"
    labels: np.ndarray
    target: str  # name of the column of classes

    def __init__(self, covariates: "pandas.DataFrame", labels: np.ndarray, target: str) -> None:
        self._freeze(covariates, labels, target)

    @property
    def classes(self) -> dict[str, int]:
        """Number of rows of each class, in the order of the labels."""
        class_names, counts = np.unique(self.labels, return_counts=True)
        return dict(zip(map(str, class_names), counts.tolist(), strict=True))

    def __str__(self) -> str:
        class_sizes = self.classes
        class_counts = [
            f"{name} {count:,}" for name, count in list(class_sizes.items())[:_MAX_SHOWN_CLASSES]
        ]
        remainder_text = ""
        if len(class_sizes) > _MAX_SHOWN_CLASSES:
            remainder_text = f" and {len(class_sizes) - _MAX_SHOWN_CLASSES:,} more"
        return (
            f"{format_plural(len(self.labels), 'row')},"
            f" {format_plural(self.covariates.shape[1], 'covariate')}; "
            f"{len(class_sizes):,} classes in {self.target!r}:"
            f" {', '.join(class_counts)}{remainder_text}"
        )

    def _description(self) -> Description:
        """Return what `print` shows: numbers of rows, covariates and classes."""
        size_text = f"{len(self.covariates):,} rows of {self.covariates.shape[1]:,} covariates"
        covariate_names = map(str, self.covariates.columns)
        classes = map(str, dict.fromkeys(self.labels))
        facts = (
            ("data", size_text),
            ("covariates", tuple(covariate_names)),
            ("classes", tuple(classes)),
        )
        return Description(type(self).__name__, facts)


# The training data of a classifier: equal rows are merged, and the order depends only on the rows


class TrainingData(NamedTuple):
    """Training data of a classifier: n rows merged into m distinct weighted rows.

    The m rows are sorted, so k copies of a row, a weight of k, and another order of rows all give
    the same arrays, and so the same draws. The rows are sorted by class and then by number, so that
    a change of a covariate's unit changes no order.
    """

    matrix: np.ndarray  # (m, p) float
    codes: np.ndarray  # (m,) int64 positions of the classes
    counts: np.ndarray  # (m,) float, weights of equal rows added up
    row: np.ndarray  # (n,) int64: which of the m rows each row given is
    weight: np.ndarray  # (n,) float, above 0
    number: np.ndarray  # (n,) int64: of a row among all rows, including rows of weight 0

    def first_row_indices(self) -> np.ndarray:
        """Return the index of the first original row of each merged row, shape (m,)."""
        first_rows = np.empty(len(self.codes), np.int64)
        first_rows[self.row[::-1]] = self.number[::-1]
        return first_rows


def merge_rows(
    matrix: np.ndarray, codes: np.ndarray, weight: np.ndarray | None = None
) -> TrainingData:
    """Merge rows with equal covariates and class; sum their weights.

    Rows of weight 0 are dropped.

    Examples
    --------
    >>> import numpy as np
    >>> data = merge_rows(np.array([[2.0], [1.0], [2.0]]), np.array([0, 0, 0]))
    >>> data.matrix[data.row].tolist(), sorted(data.counts.tolist())
    ([[2.0], [1.0], [2.0]], [1.0, 2.0])
    """
    if weight is None:
        weight = np.ones(len(matrix))
    row_numbers = np.flatnonzero(weight > 0.0)
    selected_rows: Any = row_numbers
    if len(row_numbers) == len(weight):
        selected_rows = slice(None)  # saves a copy
    weight = weight[selected_rows]
    row_keys = np.empty((len(weight), matrix.shape[1] + 1))
    row_keys[:, 0] = codes[selected_rows]
    np.add(matrix[selected_rows], 0.0, out=row_keys[:, 1:])  # makes 0.0 of -0.0
    sort_order = np.argsort(_encode_sortable(row_keys), kind="stable")
    row_keys = row_keys[sort_order]
    is_new = np.concatenate([[True], (row_keys[1:] != row_keys[:-1]).any(axis=1)])
    merged_index = np.empty(len(weight), np.int64)
    merged_index[sort_order] = np.cumsum(is_new) - 1
    # adding the smallest weights first gives sums that do not depend on the order of the rows
    weight_order = np.argsort(weight, kind="stable")
    counts = np.bincount(merged_index[weight_order], weight[weight_order])
    return TrainingData(
        row_keys[is_new, 1:],
        row_keys[is_new, 0].astype(np.int64),
        counts,
        merged_index,
        weight,
        row_numbers,
    )


def wrap_sparse_rows(matrix: Any, codes: np.ndarray, weight: np.ndarray) -> TrainingData:
    """Wrap a sparse matrix as training data; drop rows of weight 0."""
    row_numbers = np.flatnonzero(weight > 0.0)
    weight = weight[row_numbers]
    return TrainingData(
        matrix[row_numbers],
        codes[row_numbers],
        weight,
        np.arange(len(row_numbers)),
        weight,
        row_numbers,
    )


def convert_sparse_data(data: TrainingData) -> TrainingData:
    """Convert sparse training data to dense data with equal rows merged."""
    matrix: Any = data.matrix
    return merge_rows(matrix.toarray(), data.codes, data.weight)._replace(number=data.number)


def _encode_sortable(keys: np.ndarray) -> np.ndarray:
    """Encode each row of numbers as bytes with the same sort order, shape (n,)."""
    # The first column counts before the second.
    sortable_bits = keys.astype(">f8").view(">i8")
    for column in sortable_bits.T:  # one at a time, to save memory
        # flip all bits of negative numbers, and the sign bit of others
        column ^= (column >> 63) | np.int64(-(2**63))
    return sortable_bits.view(np.dtype((np.void, keys.strides[0])))[:, 0]
