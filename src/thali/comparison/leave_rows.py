"""Covariates and classes, of which rows are left out in stratified folds."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import Argument, ArgumentError, DataError

from .splitter import Splitter

if TYPE_CHECKING:
    import pandas

FOLDS = 5  # unless the user says otherwise


class Rows(Splitter):
    """Leaves out a fold of rows at a time, every class spread over the folds; a part is a mask of rows.

    Parameters
    ----------
    data : (X, y)
        X an array or data frame (n, d), y a label for each row.

    Raises
    ------
    DataError
        If X and y differ in their number of rows.
    """

    leave_out = "row"
    is_frame: bool
    y: np.ndarray

    def __init__(self, data: tuple[Any, Any]) -> None:
        X, y = data
        self.is_frame = hasattr(X, "iloc")
        self.X: Any = X if self.is_frame else X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
        self.y = np.asarray(y)
        if self.y.ndim != 1 or self.X.shape[:1] != self.y.shape:
            raise DataError(f"X and y must have one row an observation; got shapes {self.X.shape} and {self.y.shape}.")
        super().__init__((self.X, self.y))

    def parts(self, seed: np.random.SeedSequence, hold_out: int | None, folds: int | None) -> list[np.ndarray]:
        if hold_out is not None:
            raise ArgumentError(
                Argument("hold_out"), " is not for covariates and classes, whose rows are left out in folds."
            )
        number = FOLDS if folds is None else folds
        fold = fold_of_rows(self.y, number, seed)
        return [fold == k for k in range(number)]

    def train(self, part: np.ndarray) -> tuple[Any, np.ndarray]:
        return self.rows(~part), self.y[~part]

    def test(self, part: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        """Covariates of the rows left out; the number of the class of each, and the share of each class elsewhere."""
        classes, counts = np.unique(self.y[~part], return_counts=True)
        return self.rows(part), np.searchsorted(classes, self.y[part]), counts / counts.sum()

    def rows(self, wanted: np.ndarray) -> Any:
        """Some rows of the covariates."""
        return self.X.iloc[np.flatnonzero(wanted)] if self.is_frame else self.X[np.flatnonzero(wanted)]

    def units(self, part: np.ndarray) -> np.ndarray:
        return np.flatnonzero(part)

    def labels(self, units: np.ndarray) -> "pandas.Index":
        import pandas as pd

        return pd.Index(units, name="row")


def fold_of_rows(labels: np.ndarray, folds: int, seed: Any) -> np.ndarray:
    """A fold for each row, every class spread over them as evenly as can be.

    Examples
    --------
    >>> np.bincount(fold_of_rows(np.repeat(["a", "b"], [7, 2]), 3, seed=0)).tolist()
    [3, 3, 3]
    """
    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or not 2 <= folds <= max_folds(labels):
        raise ArgumentError(
            Argument("folds"),
            f" must be 2 to {max_folds(labels):,} (the rows of classes with two members or more); got {folds!r}.",
        )
    codes, counts = np.unique(labels, return_inverse=True, return_counts=True)[1:]
    shared = counts[codes] > 1
    rng = np.random.default_rng(seed)
    # Rows dealt like cards, class after class: neither folds nor classes in folds differ in size by more than one.
    order = [rng.permutation(np.flatnonzero((codes == k) & shared)) for k in range(len(counts))]
    fold = np.full(len(codes), -1)
    fold[np.concatenate(order)] = np.arange(shared.sum()) % folds
    return fold


def max_folds(labels: np.ndarray) -> int:
    """The number of rows whose class has two members or more, which alone are left out."""
    counts = np.unique(labels, return_counts=True)[1]
    return int(counts[counts > 1].sum())
