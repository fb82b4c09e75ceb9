"""Square tables, and tests of what their numbers may mean."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from thali._data.column_roles import RESPONDENT, column_names, has_numbers, simplify_name
from thali._data.square_reader import convert_numbers, describe_label_mismatch, find_asymmetry
from thali._data.suspicious_data import refuse_lone_totals
from thali._labels import check_labels, format_label, index_labels
from thali.errors import DataError

from .text_cells import DECIMAL_COMMA, MISSING

_CHECKED = 100  # objects whose numbers are checked as distances
_FEW = 0.03  # share of detours that is small


@dataclass(frozen=True)
class Square:
    """Cells and labels of a square table, with tests of what the numbers may mean."""

    values: np.ndarray
    labels: tuple[str, ...] | None
    is_bare: bool  # without labels in the first column

    @cached_property
    def cells(self) -> np.ndarray:
        """Cells of the square; decimal commas and signs for missing are converted."""
        if self.values.dtype.kind in "biuf":
            return self.values
        cells = np.array([_normalise_cell(cell) for cell in self.values.ravel()], object)
        return cells.reshape(self.values.shape)

    @cached_property
    def numbers(self) -> np.ndarray | None:
        """Cells as floats (n, n), NaN on the diagonal; None if they are not numbers."""
        try:
            return convert_numbers(self.cells, range(len(self.cells)), "number")
        except DataError:
            return None

    @property
    def is_symmetric(self) -> bool:
        """Whether cells (i, j) and (j, i) agree where both are numbers."""
        return self.numbers is not None and find_asymmetry(self.numbers) is None

    @property
    def has_counts(self) -> bool:
        """Whether all numbers off the diagonal are integers >= 0."""
        if self.numbers is None:
            return False
        finite_numbers = self.numbers[np.isfinite(self.numbers)]
        return bool(np.all((finite_numbers >= 0) & (finite_numbers == np.floor(finite_numbers))))

    @property
    def has_similarities(self) -> bool:
        """Whether the numbers are symmetric, or one triangle, and not all counts."""
        if self.numbers is None or self.has_counts:
            return False
        lower_triangle = np.tril(self.numbers, -1)
        upper_triangle = np.triu(self.numbers, 1)
        return self.is_symmetric or lower_triangle.any() != upper_triangle.any()

    @property
    def has_symmetric_counts(self) -> bool:
        """Whether the numbers are symmetric counts of three or more options."""
        is_finite = self.has_counts and not np.isinf(np.asarray(self.numbers)).any()
        return is_finite and len(self.values) > 2 and self.is_symmetric

    @cached_property
    def has_distances(self) -> bool:
        """Whether the numbers are symmetric, 0 for equal objects only, and can be no similarities.

        Detours are rarely shorter than distances, but would be if the numbers were similarities.
        """
        numbers = self.numbers
        diagonal_texts = {format_label(cell) for cell in np.diag(self.values)}
        if numbers is None or not self.is_symmetric or diagonal_texts != {"0"}:
            return False
        least = np.nanmin(numbers, initial=np.inf)
        most = np.nanmax(numbers, initial=0.0)
        return least > 0.0 and (
            _share_of_shorter_detours(numbers) < _FEW
            and _share_of_shorter_detours(least + most - numbers) > _FEW
        )

    @property
    def has_shares(self) -> bool:
        """Whether symmetric counts are largest on the diagonal, as in shares of common groups."""
        return self.has_symmetric_counts and self.has_largest_diagonal

    @property
    def has_largest_diagonal(self) -> bool:
        """Whether the largest number of each row and column is on the diagonal."""
        if not self.has_counts or not self.has_diagonal:
            return False
        diagonal_numbers = pd.to_numeric(np.diag(self.cells), errors="coerce")
        off_diagonal = np.nan_to_num(np.asarray(self.numbers))
        largest_numbers = np.maximum(off_diagonal.max(axis=0), off_diagonal.max(axis=1))
        return bool((diagonal_numbers >= largest_numbers).all())

    @cached_property
    def games(self) -> pd.DataFrame | None:
        """Games of a round robin, where a half is a draw; None for other tables."""
        if self.numbers is None or self.labels is None or self.has_counts:
            return None
        points = self.numbers
        first, second = np.nonzero(np.triu(points + points.T == 1))
        if not np.isin(points, (0, 0.5, 1)).sum() == 2 * len(first) == np.isfinite(points).sum():
            return None
        labels = np.array(self.labels, object)
        results = points[first, second]
        return pd.DataFrame(
            {
                "first": labels[first],
                "second": labels[second],
                "wins": results == 1,
                "losses": results == 0,
                "ties": results == 0.5,
            }
        )

    @property
    def has_diagonal(self) -> bool:
        """Whether any diagonal cell is a number other than 0."""
        cells = np.diag(self.values.astype(object))
        return not {*map(format_label, cells)} <= MISSING | {"0"}


def _share_of_shorter_detours(distances: np.ndarray) -> float:
    """Return the share of ways over a third object that are shorter than the direct way."""
    distances = distances[:_CHECKED, :_CHECKED]
    return float((distances[:, None] > distances[:, :, None] + distances).mean())


def find_square(frame: pd.DataFrame, named: bool) -> Square | None:
    """Return the square that a table contains; None for other tables.

    Labels are in the first column and header, in the header only, or absent. `named`: False if the
    columns have no names, as in a bare square of numbers.
    """
    if not named:
        return Square(frame.to_numpy(), None, is_bare=True)
    if (labelled_square := _match_labels(frame)) is not None:
        return labelled_square
    if _is_bare_square(frame):
        return Square(
            frame.to_numpy(), check_labels(frame.columns, "Labels in the header"), is_bare=True
        )
    return None


def describe_non_square(frame: pd.DataFrame) -> str:
    """Return which labels prevent a table from being square; "" if none do."""
    is_numeric = [has_numbers(cells) for _, cells in frame.items()]
    if is_numeric[0] or not all(is_numeric[1:]) or len(frame) + 1 != len(is_numeric):
        return ""
    row_labels = list(map(format_label, frame.iloc[:, 0]))
    header = frame.columns[1:]
    # a table of items by variables is not a square
    if frame.columns[0] != "column 1" and not {*row_labels} & {*header}:
        return ""
    return describe_label_mismatch(row_labels, header)


def _is_bare_square(frame: pd.DataFrame) -> bool:
    """Return whether a table is n numeric columns by n rows, without labels."""
    # An empty column may be the edge of a triangle.
    n_rows, n_columns = frame.shape
    if n_rows != n_columns or any(
        simplify_name(name) in RESPONDENT.synonyms for name in column_names(frame)
    ):
        return False
    is_edge = (frame.isna() | frame.isin(list(MISSING))).all(axis=0).to_numpy()
    is_numeric = [has_numbers(cells) for _, cells in frame.items()]
    return bool((is_edge | is_numeric).all())


def _match_labels(frame: pd.DataFrame) -> Square | None:
    """Return the square if the first column repeats the header; else None."""
    header = list(frame.columns)
    if len(frame) >= 2 * (len(header) - 1) > 0:  # the header cannot name more than half of the rows
        return None
    # "1.0" in the header then equals 1 in the first column
    if has_numbers(frame.iloc[:, 0]):
        header = list(map(_parse_number, header))
    header = list(map(format_label, header))
    row_labels = [format_label(cell) for cell in frame.iloc[:, 0]]
    n_shared = len(set(row_labels) & set(header[1:]))
    if 2 * n_shared <= max(len(row_labels), len(header) - 1):
        return None
    column_labels = check_labels(header[1:], "Labels in the header")
    row_by_label = index_labels(check_labels(row_labels, "Labels in the first column"))
    if set(row_by_label) != set(column_labels):
        cell_numbers = frame.iloc[:, 1:].apply(pd.to_numeric, errors="coerce").to_numpy(float)
        refuse_lone_totals(list(row_by_label), column_labels, cell_numbers)
        raise DataError(describe_label_mismatch(row_by_label, column_labels))
    cells = frame.iloc[[row_by_label[name] for name in column_labels], 1:].to_numpy()
    return Square(cells, column_labels, is_bare=False)


def _parse_number(column: str) -> float | str:
    """Return a column name as a float if it is a number; else unchanged."""
    try:
        return float(column.replace(",", "."))
    except ValueError:
        return column


def _normalise_cell(cell: str) -> Any:
    """Convert a decimal comma to a point, a sign for missing to None."""
    if isinstance(cell, str):
        if cell in MISSING:
            return None
        if DECIMAL_COMMA.fullmatch(cell):
            return cell.replace(",", ".")
        if cell.endswith("½"):
            return (cell[:-1] or "0") + ".5"
    return cell
