"""Square tables with the same labels in rows and columns: arrays, data frames and sparse
matrices."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import as_label, checked_labels, plural, positions, shorten
from thali.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


class SquareWords(NamedTuple):
    """What errors call a square table, what stands in its rows, and which reader takes other
    layouts."""

    argument: str
    noun: str
    elsewhere: str


def square_table(
    values: Any, labels: Iterable[Any] | None, words: SquareWords
) -> tuple[tuple[str, ...], Any]:
    """Labels, and the values as a new array (a sparse matrix as it is), rows in the order of the
    columns."""
    if hasattr(values, "columns") and hasattr(values, "index"):
        values, labels = _square_frame(values, labels, words)
    if not hasattr(values, "tocoo"):
        values = _array(values, words)
    _check_square(values.shape, words)
    names = checked_labels(range(values.shape[0]) if labels is None else labels)
    if len(names) != values.shape[0]:
        raise DataError(
            f"`labels` must name every {words.noun} once; got {plural(len(names), 'label')} for"
            f" {plural(values.shape[0], words.noun)}."
        )
    return names, values


def cell(names: tuple[str, ...], row: int, column: int) -> str:
    """In words where a value stands."""
    return f"in row {names[row]!r}, column {names[column]!r}"


def _array(values: Any, words: SquareWords) -> np.ndarray:
    if isinstance(values, np.ma.MaskedArray):  # np.array would drop the mask
        values = np.ma.filled(values.astype(np.float64), np.nan)
    try:
        return np.array(values)
    except ValueError:
        raise DataError(
            f"`{words.argument}` must be a square matrix, but its rows differ in length."
        ) from None


def _check_square(shape: tuple[int, ...], words: SquareWords) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise DataError(
            f"`{words.argument}` must be a square matrix, with one row and one column per"
            f" {words.noun}; got shape {tuple(shape)}. {words.elsewhere}"
        )


def _square_frame(
    frame: "pd.DataFrame", labels: Iterable[Any] | None, words: SquareWords
) -> tuple[np.ndarray, Iterable[Any] | None]:
    """Values with the rows in the order of the columns, and the labels of the columns."""
    import pandas as pd

    if len(frame) + 1 == len(frame.columns) and not pd.api.types.is_numeric_dtype(frame.iloc[:, 0]):
        raise DataError(
            f"`{words.argument}` must be a square matrix; got shape {frame.shape}, whose first"
            f" column contains labels. Pass frame.set_index({frame.columns[0]!r})."
        )
    _check_square(frame.shape, words)

    def named(index: pd.Index) -> bool:
        return not (isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1)

    values = frame.to_numpy()
    own = None
    if named(frame.columns):
        own = checked_labels(frame.columns, "Column labels")
    if named(frame.index):
        rows = checked_labels(frame.index, "Row labels")
        if own is None:
            own = rows
        elif set(rows) != set(own):
            raise DataError(mismatch(rows, own))
        else:
            place = positions(rows)
            values = values[[place[name] for name in own]]
    if labels is not None:
        labels = tuple(labels)
        if own is not None and tuple(map(as_label, labels)) != own:
            raise DataError("`labels` differ from those of the DataFrame; omit `labels`.")
    return values, own if labels is None else labels


def mismatch(rows: Iterable[str], columns: Iterable[str]) -> str:
    """The sentence that says which labels of a square table stand on one side only."""
    rows, columns = list(rows), list(columns)
    only_rows = [name for name in rows if name not in columns]
    only_columns = [name for name in columns if name not in rows]
    found = [f"only the rows have {shorten(only_rows)}"] if only_rows else []
    found += [f"only the columns have {shorten(only_columns)}"] if only_columns else []
    return f"Rows and columns must have the same labels; {' and '.join(found)}."
