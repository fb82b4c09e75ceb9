"""Square tables as read from a file, whatever the numbers in them mean."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from thali._data.roles import RESPONDENT, plain
from thali._data.similarities.tables import is_symmetric
from thali._data.squares import mismatch
from thali._data.suspicious import refuse_lone_totals
from thali._labels import as_label, checked_labels, positions
from thali.errors import DataError

from .cells import DECIMAL_COMMA, MISSING


@dataclass(frozen=True)
class Square:
    """A square table: its cells, its labels, and what kind of numbers it holds."""

    values: np.ndarray
    labels: tuple[str, ...] | None
    bare: bool  # labels stand in the header alone, or nowhere

    @cached_property
    def cells(self) -> np.ndarray:
        """The cells with decimal commas and marks of a gap resolved, where some text made a whole
        column text."""
        if self.values.dtype.kind in "biuf":
            return self.values
        cells = np.array([_cell(value) for value in self.values.ravel()], dtype=object)
        return cells.reshape(self.values.shape)

    @cached_property
    def numbers(self) -> np.ndarray | None:
        """The cells as numbers, NaN on the diagonal and in gaps; None if some off the diagonal are
        not numbers."""
        values = self.cells
        if values.dtype.kind in "biuf":
            return np.where(np.eye(len(values), dtype=bool), np.nan, values)
        values = values.copy()
        np.fill_diagonal(values, None)
        try:
            cells = [
                float(value) if as_label(value) and str(value) != "<NA>" else np.nan
                for value in values.ravel()
            ]
        except (TypeError, ValueError):
            return None
        return np.array(cells).reshape(values.shape)

    @property
    def is_symmetric(self) -> bool:
        """Whether both sides of the diagonal agree wherever both are there."""
        return self.numbers is not None and is_symmetric(self.numbers)

    @property
    def holds_counts(self) -> bool:
        """Whether all finite numbers off the diagonal are whole and 0 or more."""
        if self.numbers is None:
            return False
        there = self.numbers[np.isfinite(self.numbers)]
        return bool(np.all((there >= 0) & (there == np.floor(there))))

    @property
    def holds_similarities(self) -> bool:
        """Whether it is symmetric, or one triangle, and holds numbers that are not all counts."""
        if self.numbers is None or self.holds_counts:
            return False
        lower, upper = np.tril(self.numbers, -1), np.triu(self.numbers, 1)
        return self.is_symmetric or lower.any() != upper.any()

    @property
    def holds_symmetric_counts(self) -> bool:
        """Whether it holds counts of three options or more, the same on both sides of the
        diagonal."""
        finite = self.holds_counts and not np.isinf(np.asarray(self.numbers)).any()
        return finite and len(self.values) > 2 and self.is_symmetric

    @property
    def holds_confusions(self) -> bool:
        """Whether it holds counts, each row its largest on the diagonal, and all rows or all
        columns have one sum."""
        if not self.holds_counts or not self.has_diagonal:
            return False
        own, others = (
            pd.to_numeric(np.diag(self.cells), errors="coerce"),
            np.nan_to_num(np.asarray(self.numbers)),
        )
        one_sum = any(np.ptp(own + others.sum(axis=axis)) == 0 for axis in (0, 1))
        return one_sum and bool((own > others.max(axis=1)).all())

    @property
    def has_diagonal(self) -> bool:
        """Whether a number other than 0 stands on the diagonal."""
        return any(
            as_label(value) not in MISSING | {"0"} for value in np.diag(self.values.astype(object))
        )


def square_of(frame: pd.DataFrame, named: bool) -> Square | None:
    """The square in a table: labelled in its first column and header, in its header, or not at all;
    None if it is none.

    `named`: False if the columns have no names, as in a bare square of numbers.
    """
    if not named:
        return Square(frame.to_numpy(), None, bare=True)
    if (labelled := _labelled(frame)) is not None:
        return Square(*labelled, bare=False)
    if _is_bare(frame):
        return Square(
            frame.to_numpy(), checked_labels(frame.columns, "Labels in the header"), bare=True
        )
    return None


def other_labels(frame: pd.DataFrame) -> str:
    """What is wrong with the labels of a table that would be square but for them; "" if it would
    not."""
    numeric = [pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
    if numeric[0] or not all(numeric[1:]) or len(frame) + 1 != len(numeric):
        return ""
    rows, header = list(map(as_label, frame.iloc[:, 0])), frame.columns[1:]
    # items, and what has numbers of them
    if frame.columns[0] != "column 1" and not {*rows} & {*header}:
        return ""
    return mismatch(rows, header)


def _is_bare(frame: pd.DataFrame) -> bool:
    """Whether these are as many columns of numbers as rows; a column without any is the edge of a
    triangle."""
    if frame.shape[0] != frame.shape[1] or any(
        plain(str(name)) in RESPONDENT.synonyms for name in frame.columns
    ):
        return False
    empty = np.asarray((frame.isna() | frame.isin(list(MISSING))).all(axis=0))
    return all(
        pd.api.types.is_numeric_dtype(kind) or none
        for kind, none in zip(frame.dtypes, empty, strict=True)
    )


def _labelled(frame: pd.DataFrame) -> tuple[np.ndarray, tuple[str, ...]] | None:
    """Values and labels of a square table whose first column repeats the labels of the header."""
    header = list(frame.columns)
    if len(frame) >= 2 * (len(header) - 1) > 0:  # the header cannot name more than half of the rows
        return None
    # then "1.0" in the header is 1 beside it
    numbered = pd.api.types.is_numeric_dtype(frame.dtypes.iloc[0])
    header = [as_label(_number(name)) if numbered else as_label(name) for name in header]
    rows = [as_label(value) for value in frame.iloc[:, 0]]
    shared = len(set(rows) & set(header[1:]))
    if 2 * shared <= max(len(rows), len(header) - 1):
        return None
    own = checked_labels(header[1:], "Labels in the header")
    place = positions(checked_labels(rows, "Labels in the first column"))
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


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        if value in MISSING:
            return None
        if DECIMAL_COMMA.fullmatch(value):
            return value.replace(",", ".")
    return value
