"""Rows of covariates, each of one of several classes: as they are read, and as a classifier is
fitted to them."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._described import Description
from thali._labels import plural

from .judged import Frozen
from .kinds import CLASSES

if TYPE_CHECKING:
    import pandas

_MAX_CLASSES = 20  # whose counts are written out


class Observations(Frozen):
    """Covariates and classes of the rows of a table."""

    kind = CLASSES
    _FIELDS = ("covariates", "labels", "target")
    covariates: "pandas.DataFrame"
    labels: np.ndarray
    target: str  # name of the column of classes

    def __init__(self, covariates: "pandas.DataFrame", labels: np.ndarray, target: str) -> None:
        self._freeze(covariates, labels, target)

    @property
    def classes(self) -> dict[str, int]:
        """Each class and its rows, in the order of the labels."""
        found, counts = np.unique(self.labels, return_counts=True)
        return dict(zip(map(str, found), counts.tolist(), strict=True))

    def __str__(self) -> str:
        classes = self.classes
        counted = [f"{name} {count:,}" for name, count in list(classes.items())[:_MAX_CLASSES]]
        more = f" and {len(classes) - _MAX_CLASSES:,} more" if len(classes) > _MAX_CLASSES else ""
        return (
            f"{plural(len(self.labels), 'row')}, {plural(self.covariates.shape[1], 'covariate')}; "
            f"{len(classes):,} classes in {self.target!r}: {', '.join(counted)}{more}"
        )

    def _description(self) -> Description:
        size = f"{len(self.covariates):,} rows of {self.covariates.shape[1]:,} covariates"
        names, classes = map(str, self.covariates.columns), map(str, dict.fromkeys(self.labels))
        facts = ("data", size), ("covariates", tuple(names)), ("classes", tuple(classes))
        return Description(type(self).__name__, facts)


# The training data of a classifier: equal rows are merged, in an order that only the rows
# themselves decide


class TrainingData(NamedTuple):
    """What a classifier is fitted to; n rows were given, m of them differ in covariates or class.

    As the m rows are sorted, k copies of a row, the weight k, and rows in another order give the
    same arrays, and so the same draws. They are sorted by class and then by number, so that a
    larger unit of a covariate changes no order.
    """

    matrix: np.ndarray  # (m, p) float
    codes: np.ndarray  # (m,) int64 positions of the classes
    counts: np.ndarray  # (m,) float, weights of equal rows added up
    row: np.ndarray  # (n,) int64: which of the m rows each row given is
    weight: np.ndarray  # (n,) float, above 0
    number: np.ndarray  # (n,) int64: of a row among all that were given, those of weight 0 included

    def first(self) -> np.ndarray:
        """The number of the first row given that each of the m rows is."""
        found = np.empty(len(self.codes), np.int64)
        found[self.row[::-1]] = self.number[::-1]
        return found


def merged(matrix: np.ndarray, codes: np.ndarray, weight: np.ndarray | None = None) -> TrainingData:
    """Merge equal rows of the same class and add up their weights; rows of weight 0 are dropped.

    Examples
    --------
    >>> import numpy as np
    >>> data = merged(np.array([[2.0], [1.0], [2.0]]), np.array([0, 0, 0]))
    >>> data.matrix[data.row].tolist(), sorted(data.counts.tolist())
    ([[2.0], [1.0], [2.0]], [1.0, 2.0])
    """
    weight = np.ones(len(matrix)) if weight is None else weight
    number = np.flatnonzero(weight > 0.0)
    used = slice(None) if len(number) == len(weight) else number
    weight = weight[used]
    keys = np.empty((len(weight), matrix.shape[1] + 1))
    keys[:, 0] = codes[used]
    np.add(matrix[used], 0.0, out=keys[:, 1:])  # makes 0.0 of -0.0
    order = np.argsort(_as_text(keys), kind="stable")
    keys = keys[order]
    is_new = np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)])
    row = np.empty(len(weight), np.int64)
    row[order] = np.cumsum(is_new) - 1
    # sums that do not depend on the order of the rows, to the bit
    rising = np.argsort(weight, kind="stable")
    counts = np.bincount(row[rising], weight[rising])
    return TrainingData(
        keys[is_new, 1:], keys[is_new, 0].astype(np.int64), counts, row, weight, number
    )


def unmerged(matrix: Any, codes: np.ndarray, weight: np.ndarray) -> TrainingData:
    """The rows of a sparse matrix in their order, without those of weight 0."""
    number = np.flatnonzero(weight > 0.0)
    weight = weight[number]
    return TrainingData(
        matrix[number], codes[number], weight, np.arange(len(number)), weight, number
    )


def made_dense(data: TrainingData) -> TrainingData:
    """Data of a sparse matrix as those of a dense one: equal rows merged."""
    matrix: Any = data.matrix
    return merged(matrix.toarray(), data.codes, data.weight)._replace(number=data.number)


def _as_text(keys: np.ndarray) -> np.ndarray:
    """Bytes (n,) of rows of numbers, whose order is that of the numbers, the first column before
    the second."""
    bits = keys.astype(">f8").view(">i8")
    for column in bits.T:  # one at a time, for want of memory
        # of negative numbers all bits, of others the sign alone
        column ^= (column >> 63) | np.int64(-(2**63))
    return bits.view(np.dtype((np.void, keys.strides[0])))[:, 0]
