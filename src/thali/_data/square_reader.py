"""Reading square tables with equal row and column labels."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import check_labels, format_label, format_plural, index_labels, shorten
from thali.errors import DataError

from .column_roles import is_data_frame
from .number_checks import check_numbers

if TYPE_CHECKING:
    import pandas as pd


ROUNDING = 1e-8  # share of the range of cells that rounding explains


class SquareTableWords(NamedTuple):
    """Words for error messages about a square table."""

    argument: str
    noun: str
    elsewhere: str


def read_square_table(
    values: Any, labels: Iterable[Any] | None, words: SquareTableWords
) -> tuple[tuple[str, ...], Any]:
    """Return labels and values of a square array, data frame or sparse matrix.

    The values are a new array (a sparse matrix stays one), with rows in the order of the columns.
    """
    if is_data_frame(values):
        values, labels = _read_square_frame(values, labels, words)
    if not hasattr(values, "tocoo"):
        values = _copy_square_table(values, words)
    _check_square(values.shape, words)
    if labels is None:
        labels = range(values.shape[0])
    label_texts = check_labels(labels)
    if len(label_texts) != values.shape[0]:
        raise DataError(
            f"`labels` must name every {words.noun} once; got"
            f" {format_plural(len(label_texts), 'label')}"
            f" for {format_plural(values.shape[0], words.noun)}."
        )
    return label_texts, values


def find_asymmetry(table: np.ndarray) -> tuple[int, int] | None:
    """Return the indices of the cell that differs most from its mirror image.

    None if rounding explains the difference.
    """
    with np.errstate(invalid="ignore"):  # infinite numbers are refused later
        differences = np.nan_to_num(np.abs(table - table.T))
        measured_values = table[~np.isnan(table) & ~np.eye(len(table), dtype=bool)]
        if not measured_values.size:
            return None
        i, j = divmod(int(differences.argmax()), len(table))
        if differences[i, j] <= ROUNDING * np.ptp(measured_values):
            return None
    return i, j


def describe_cell(names: Sequence[Any], row: int, column: int) -> str:
    """Describe a cell by row and column label, for an error message."""
    return f"in row {names[row]!r}, column {names[column]!r}"


def convert_numbers(table: np.ndarray, names: Sequence[Any], noun: str) -> np.ndarray:
    """Convert cells to floats; NaN on the diagonal and where empty."""
    n = len(names)
    if table.dtype.kind not in "biuf":
        table = table.astype(object)
        np.fill_diagonal(table, None)
    number_table = check_numbers(table, lambda k: describe_cell(names, k // n, k % n), noun)
    number_table = number_table.reshape(n, n)
    np.fill_diagonal(number_table, np.nan)
    return number_table


def _copy_square_table(table: Any, words: SquareTableWords) -> np.ndarray:
    """Copy a table to an array, NaN where masked; raise DataError for rows of several lengths."""
    if isinstance(table, np.ma.MaskedArray):  # np.array would drop the mask
        table = np.ma.filled(table.astype(np.float64), np.nan)
    try:
        return np.array(table)
    except ValueError:
        raise DataError(
            f"`{words.argument}` must be a square matrix, but its rows differ in length."
        ) from None


def _check_square(shape: tuple[int, ...], words: SquareTableWords) -> None:
    """Raise DataError unless the shape is (n, n)."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise DataError(
            f"`{words.argument}` must be a square matrix, with one row and one column per"
            f" {words.noun}; got shape {tuple(shape)}. {words.elsewhere}"
        )


def _read_square_frame(
    frame: "pd.DataFrame", labels: Iterable[Any] | None, words: SquareTableWords
) -> tuple[np.ndarray, Iterable[Any] | None]:
    """Return a data frame's values with rows sorted like columns, and its labels."""
    import pandas as pd

    if len(frame) + 1 == len(frame.columns) and not pd.api.types.is_numeric_dtype(frame.iloc[:, 0]):
        raise DataError(
            f"`{words.argument}` must be a square matrix; got a table of shape {frame.shape}. Its"
            f" first column seems to contain labels: pass frame.set_index({frame.columns[0]!r})."
        )
    _check_square(frame.shape, words)

    def has_labels(index: pd.Index) -> bool:
        """Return whether an index has names rather than row numbers."""
        return not (isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1)

    values = frame.to_numpy()
    frame_labels = None
    if has_labels(frame.columns):
        frame_labels = check_labels(frame.columns, "Column labels")
    if has_labels(frame.index):
        row_labels = check_labels(frame.index, "Row labels")
        if frame_labels is None:
            frame_labels = row_labels
        elif set(row_labels) != set(frame_labels):
            raise DataError(describe_label_mismatch(row_labels, frame_labels))
        else:
            row_indices = index_labels(row_labels)
            values = values[[row_indices[name] for name in frame_labels]]
    if labels is not None:
        labels = tuple(labels)
        if frame_labels is not None and tuple(map(format_label, labels)) != frame_labels:
            raise DataError("`labels` differ from those of the DataFrame; omit `labels`.")
        frame_labels = labels
    return values, frame_labels


def describe_label_mismatch(rows: Iterable[str], columns: Iterable[str]) -> str:
    """Return a sentence on labels that only rows or only columns have."""
    rows = list(rows)
    columns = list(columns)
    clauses = []
    if only_rows := [name for name in rows if name not in columns]:
        clauses.append(f"only the rows have {shorten(only_rows)}")
    if only_columns := [name for name in columns if name not in rows]:
        clauses.append(f"only the columns have {shorten(only_columns)}")
    return f"Rows and columns must have the same labels; {' and '.join(clauses)}."
