"""Which layout of similarities a table has, and whether it holds similarities or comparisons at all."""

import numpy as np
import pandas as pd

from thali.data.cells import DECIMAL_COMMA, MISSING
from thali.data.check import as_label, shorten
from thali.data.layouts import refuse_other_labels, square_layout
from thali.data.recognise import readings
from thali.data.similar_pairs import pair_columns, tells_similarities
from thali.data.similarity import Similarities
from thali.data.symmetric import is_symmetric, measured_pairs
from thali.errors import DataError

COMPARISONS, SIMILARITIES, EITHER = "comparisons", "similarities", "either"


def recognised_similarities(
    frame: pd.DataFrame, named: bool = True, symmetrize: str | None = None
) -> tuple[Similarities, str]:
    """The similarities in a table, and a sentence that tells how it was read.

    `named`: False if the columns bear no names, as in a bare square of numbers.
    """
    listed = named and tells_similarities(list(frame.columns), vaguely=True)
    square = square_layout(frame, named)
    if square is not None and not (listed and not _symmetric(square[0])):
        return _square(*square, symmetrize)
    if named and not listed:
        refuse_other_labels(frame)
    columns = pair_columns(list(frame.columns))
    data = Similarities.from_frame(frame, *columns)
    used = set(columns)
    unused = [name for name in frame.columns if name not in used and not name.startswith("column ")]
    ignored = f"; columns not used: {shorten(unused)}" if unused else ""
    return data, f"{data}, {columns}{ignored}"


def kind_of_table(frame: pd.DataFrame, named: bool = True) -> str:
    """Whether a table holds comparisons, similarities, or could hold either; comparisons if it is neither.

    A symmetric square, or one triangle, holds similarities if any of them is no count; if all are, it could be
    either. A list holds what its columns are called.
    """
    square = square_layout(frame, named)
    values = None if square is None else _numbers(square[0])
    if values is None:
        names = list(frame.columns)
        choices = readings(names)
        counted_both_ways = any(len(reading.times) == 2 for reading in choices)
        similar = not counted_both_ways and tells_similarities(names, vaguely=not choices)
        return SIMILARITIES if similar else COMPARISONS
    apart = values[~np.eye(len(values), dtype=bool)]
    told = apart[~np.isnan(apart)]
    if not is_symmetric(values) and not (_has_zero_triangle(values) and not _counts(told)):
        return COMPARISONS
    return EITHER if _counts(told) else SIMILARITIES


def is_fractional_square(frame: pd.DataFrame, named: bool = True) -> bool:
    """Whether this is a square of numbers of which some off the diagonal cannot be counts."""
    square = square_layout(frame, named)
    values = None if square is None else _numbers(square[0])
    if values is None:
        return False
    apart = values[~np.eye(len(values), dtype=bool)]
    return not _counts(apart[~np.isnan(apart)])


def refuse_similarities(frame: pd.DataFrame, named: bool) -> None:
    """Raise the error for a table of similarities where comparisons are wanted."""
    if named and tells_similarities(list(frame.columns), vaguely=True) and square_layout(frame, named) is None:
        column = pair_columns(list(frame.columns)).similarity
        raise DataError(f"Column {column!r} holds similarities, not choices; fit them with --model additive.")
    raise DataError(
        "These look like similarities, a symmetric table of numbers that are not all counts; fit them with --model "
        "additive. Paired comparisons are counts, row over column."
    )


def _counts(values: np.ndarray) -> bool:
    return bool(np.all((values >= 0) & (values == np.floor(values)) & np.isfinite(values)))


def _has_zero_triangle(values: np.ndarray) -> bool:
    lower, upper = np.tril(values, -1), np.triu(values, 1)
    return lower.any() != upper.any()


def _symmetric(values: np.ndarray) -> bool:
    numbers = _numbers(values)
    return numbers is not None and is_symmetric(numbers)


def _square(values: np.ndarray, labels, symmetrize: str | None) -> tuple[Similarities, str]:
    values = _told(values)
    found = measured_pairs(values, labels, symmetrize)
    data = Similarities._of(found)
    layout = found.layout
    if found.zeros_not_read:
        layout += " (the zeros on the other side of the diagonal were not read)"
    elif symmetrize is not None and not _symmetric(values):
        layout += ", the mean of its two sides"
    return data, f"{data}, {layout}; the diagonal was not read"


def _told(values: np.ndarray) -> np.ndarray:
    """The cells with decimal commas and marks of a gap made out, where some text made a whole column text."""
    if values.dtype.kind in "biuf":
        return values
    cells = np.array([_cell(value) for value in values.ravel()], dtype=object)
    return cells.reshape(values.shape)


def _cell(value):
    if isinstance(value, str):
        if value in MISSING:
            return None
        if DECIMAL_COMMA.fullmatch(value):
            return value.replace(",", ".")
    return value


def _numbers(values: np.ndarray) -> np.ndarray | None:
    """The cells as numbers off the diagonal, None if some are none."""
    values = _told(values)
    if values.dtype.kind in "biuf":
        return np.where(np.eye(len(values), dtype=bool), np.nan, values)
    np.fill_diagonal(values, None)
    try:
        cells = [float(value) if as_label(value) and str(value) != "<NA>" else np.nan for value in values.ravel()]
    except (TypeError, ValueError):
        return None
    return np.array(cells).reshape(values.shape)
