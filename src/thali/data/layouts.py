"""Square layouts of a table as read from a file, whatever the numbers in it mean."""

import numpy as np
import pandas as pd

from thali.data.cells import MISSING
from thali.data.check import as_label, checked_labels
from thali.data.squares import mismatch
from thali.data.suspicious import refuse_lone_totals
from thali.errors import DataError


def is_bare_square(frame: pd.DataFrame) -> bool:
    """Whether these are as many columns of numbers as rows; a column without any is the edge of a triangle."""

    if frame.shape[0] != frame.shape[1]:
        return False
    empty = np.asarray((frame.isna() | frame.isin(list(MISSING))).all(axis=0))
    return all(pd.api.types.is_numeric_dtype(kind) or none for kind, none in zip(frame.dtypes, empty, strict=True))


def refuse_other_labels(frame: pd.DataFrame) -> None:
    """Raise if this would be a square table but for its labels."""
    numeric = [pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
    if not numeric[0] and all(numeric[1:]) and len(frame) + 1 == len(numeric):
        raise DataError(mismatch(map(as_label, frame.iloc[:, 0]), frame.columns[1:]))


def labelled_square(frame: pd.DataFrame) -> tuple[np.ndarray, tuple[str, ...]] | None:
    """Values and labels of a square table whose first column repeats the labels of the header."""
    header = list(frame.columns)
    numbered = pd.api.types.is_numeric_dtype(frame.dtypes.iloc[0])  # then "1.0" in the header is 1 beside it
    header = [as_label(_number(name)) if numbered else as_label(name) for name in header]
    rows = [as_label(value) for value in frame.iloc[:, 0]]
    shared = len(set(rows) & set(header[1:]))
    if 2 * shared <= max(len(rows), len(header) - 1):
        return None
    own = checked_labels(header[1:], "Labels in the header")
    place = {name: k for k, name in enumerate(checked_labels(rows, "Labels in the first column"))}
    if set(place) != set(own):
        numbers = frame.iloc[:, 1:].apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
        refuse_lone_totals(list(place), own, numbers)
        raise DataError(mismatch(place, own))
    return frame.iloc[[place[name] for name in own], 1:].to_numpy(), own


def _number(name: str) -> float | str:
    try:
        return float(name.replace(",", "."))
    except ValueError:
        return name


def square_layout(frame: pd.DataFrame, named: bool) -> tuple[np.ndarray, tuple[str, ...] | None] | None:
    """Values and labels of a table that is square in any of the three ways, None if it is not."""
    if not named:
        return frame.to_numpy(), None
    if (labelled := labelled_square(frame)) is not None:
        return labelled
    if is_bare_square(frame):
        return frame.to_numpy(), checked_labels(frame.columns, "Labels in the header")
    return None
