"""Data frames as tables of text: readable headings, sensible decimals, joined intervals.

Function `align` writes the columns as plain text.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from thali._labels import display_width
from thali._model.column_headings import COLUMNS, HEADINGS, MONTE_CARLO, format_heading
from thali._number_format import (
    DECIMALS,
    TERMINAL_MARKS,
    Marks,
    count_decimals,
    count_two_digit_decimals,
    format_cell,
)
from thali._object_descriptions import is_numbered
from thali._posterior.posterior_interval import INTERVAL, describe_interval, format_level

if TYPE_CHECKING:
    import pandas


_SMALL = 0.05  # smaller numbers need more than three decimals
# smaller numbers and their intervals are written with two digits of the interval's width
_SMALL_FIGURE = 0.1
_WIDTH = 3.2  # width of an 89 % interval, in standard errors
# columns with the error of the column before them
_ERRORS = ("sd", "std_error", "mcse", "mcse_mean")


class FormattedTable(NamedTuple):
    """A table as texts: headings, rows, and which columns are text."""

    head: list[str]
    rows: list[list[str]]
    is_text: list[bool]  # one entry per column
    sides: int  # number of index columns


def format_table(
    table: "pandas.DataFrame", marks: Marks = TERMINAL_MARKS, max_rows: int | None = None
) -> FormattedTable:
    """Format the first rows of a data frame as texts."""
    frame = table
    if max_rows is not None:
        frame = table.head(max_rows)
    index_columns = []
    if not is_numbered(table):
        index_columns = _format_index(frame, marks)
    columns = [*index_columns, *_format_columns(frame, table.attrs, marks)]
    return FormattedTable(
        [column.head for column in columns],
        [list(row) for row in zip(*(column.cells for column in columns), strict=True)],
        [column.is_text for column in columns],
        len(index_columns),
    )


class _TextColumn(NamedTuple):
    """A column as texts: heading, cells, whether it is text."""

    head: str
    cells: list[str]
    is_text: bool


def _format_index(frame: "pandas.DataFrame", marks: Marks) -> list[_TextColumn]:
    """Format the index levels of a data frame as text columns."""
    index = frame.index.to_frame(index=False)
    index_columns = []
    for level_index, index_name in enumerate(frame.index.names):
        level_name = ""
        if index_name is not None:
            level_name = str(index_name)
        row_names = index.iloc[:, level_index].tolist()
        if level_name not in COLUMNS and all(isinstance(cell, str | int) for cell in row_names):
            cells = list(map(str, row_names))
        else:
            cells = format_cells(level_name, row_names, marks=marks)
        index_columns.append(_TextColumn(format_heading(level_name), cells, True))
    return index_columns


class _TableCells(NamedTuple):
    """Cells of a table by column, and the number of decimals of each cell."""

    names: list[str]
    cells: list[list[Any]]
    decimals: list[list[int]]
    marks: Marks

    def format_column(self, column_index: int, format_name: str) -> list[str]:
        """Format a column's cells as texts."""
        return format_cells(
            format_name, self.cells[column_index], self.decimals[column_index], self.marks
        )

    def format_interval(self, low_index: int, high_index: int) -> list[str]:
        """Format two columns of interval ends as one column "low to high"."""
        # ends have the decimals of their column, such as a rating without decimals
        base_name = self.names[low_index]
        if base_name == "low" and low_index:
            base_name = self.names[low_index - 1]
        end_columns = []
        for column_index in (low_index, high_index):
            format_name = self.names[column_index]
            if _find_fixed_decimals(base_name) is not None:
                format_name = base_name
            end_columns.append(self.format_column(column_index, format_name))
        intervals = []
        for low, high in zip(*end_columns, strict=True):
            if low == high == self.marks.missing:
                intervals.append(low)
            else:
                intervals.append(f"{low} to {high}")
        return intervals


def _format_columns(
    frame: "pandas.DataFrame", attrs: dict[Any, Any], marks: Marks
) -> Iterator[_TextColumn]:
    """Yield the columns of a data frame as text columns."""
    interval_level = attrs.get("interval", INTERVAL)
    is_monte_carlo = attrs.get(MONTE_CARLO, False)
    headings = attrs.get(HEADINGS, {})
    column_names = [str(column_name) for column_name in frame.columns]
    cells_by_column = [
        _convert_integers(frame.iloc[:, column_index].tolist())
        for column_index in range(len(column_names))
    ]
    table_cells = _TableCells(
        column_names,
        cells_by_column,
        _count_row_decimals(column_names, cells_by_column, is_monte_carlo),
        marks,
    )
    for column_index, column_name in enumerate(column_names):
        high_name = _swap_interval_end(column_name, "low", "high")
        if high_name in column_names:  # the lower end writes both ends
            heading = _format_interval_heading(
                column_name, column_names, column_index, interval_level
            )
            intervals = table_cells.format_interval(column_index, column_names.index(high_name))
            yield _TextColumn(heading, intervals, False)
        elif _swap_interval_end(column_name, "high", "low") not in column_names:
            heading = headings.get(column_name) or format_heading(column_name, is_monte_carlo)
            is_text = frame.dtypes.iloc[column_index].kind not in "iufb"
            yield _TextColumn(
                heading, table_cells.format_column(column_index, column_name), is_text
            )


def _find_fixed_decimals(column_name: str) -> int | None:
    """Return the fixed number of decimals of a known column; None if variable."""
    if column_name in COLUMNS:
        return COLUMNS[column_name].decimals
    return None


def format_cells(
    column_name: str,
    column_cells: list[Any],
    row_decimals: Sequence[int] = (),
    marks: Marks = TERMINAL_MARKS,
) -> list[str]:
    """Format a column's cells as texts with three decimals, more for small numbers.

    `row_decimals`: minimum decimals of each row.
    """
    fixed_decimals = _find_fixed_decimals(column_name)
    if fixed_decimals is not None:
        return [format_cell(column_name, number, fixed_decimals, marks) for number in column_cells]
    decimals_by_cell = _count_cell_decimals(column_name, column_cells, row_decimals)
    return [
        format_cell(column_name, number, n_decimals, marks)
        for number, n_decimals in zip(column_cells, decimals_by_cell, strict=True)
    ]


def _convert_integers(column_cells: list[Any]) -> list[Any]:
    """Return whole floats as ints if all cells are whole."""
    if all(isinstance(number, float) and number.is_integer() for number in column_cells):
        return [int(number) for number in column_cells]
    return column_cells


class _NumberColumns(NamedTuple):
    """Positions of the columns of a number, its interval ends and its errors."""

    numbers: list[int]
    ends: list[int]
    errors: list[int]


def _count_row_decimals(
    column_names: list[str], cells_by_column: list[list[Any]], monte_carlo: bool
) -> list[list[int]]:
    """Return the number of decimals of each cell, from its row's interval width."""
    # The result has one list per column.
    decimals_by_column = [[DECIMALS] * len(column_cells) for column_cells in cells_by_column]
    for group in _group_columns(column_names):
        data_error_indices = [
            column_index
            for column_index in group.errors
            if not (monte_carlo or "mcse" in column_names[column_index])
        ]
        has_fixed_decimals = any(
            _find_fixed_decimals(column_names[column_index]) is not None
            for column_index in group.numbers
        )
        if has_fixed_decimals or not (group.ends or data_error_indices):
            continue
        for row_index in range(len(cells_by_column[0])):
            numbers, ends, errors = (
                [
                    _convert_to_float(cells_by_column[column_index][row_index])
                    for column_index in places
                ]
                for places in group
            )
            if ends:
                interval_width = ends[1] - ends[0]
            else:
                interval_width = _WIDTH * _convert_to_float(
                    cells_by_column[data_error_indices[0]][row_index]
                )
            n_decimals = _count_interval_decimals([*numbers, *ends], interval_width)
            for column_index in (*group.numbers, *group.ends, *group.errors):
                decimals_by_column[column_index][row_index] = n_decimals
            for column_index, error in zip(group.errors, errors, strict=True):
                if n_decimals > DECIMALS and 0.0 < error < 1.0:
                    error_decimals = max(n_decimals, count_two_digit_decimals(error))
                    decimals_by_column[column_index][row_index] = error_decimals
    return decimals_by_column


def _convert_to_float(cell: Any) -> float:
    """Return a cell as float; NaN if it is not a number."""
    if isinstance(cell, Real):
        return float(cell)
    return math.nan


def _group_columns(column_names: list[str]) -> list[_NumberColumns]:
    """Group the columns of each number with its interval and error columns."""
    # An interval or error belongs to the column that it names, or to the column before it.
    group_by_column: dict[str, _NumberColumns] = defaultdict(lambda: _NumberColumns([], [], []))
    last_column = ""
    for column_index, column_name in enumerate(column_names):
        other_ends = {
            _swap_interval_end(column_name, "low", "high"),
            _swap_interval_end(column_name, "high", "low"),
        }
        if other_ends & set(column_names):
            base_column = column_name.replace("_low", "", 1).replace("_high", "", 1)
            if column_name in ("low", "high"):
                base_column = last_column
            group_by_column[base_column].ends.append(column_index)
        elif column_name in _ERRORS or column_name.endswith(("_se", "_mcse")):
            base_column = column_name.removesuffix("_mcse").removesuffix("_se")
            if base_column == column_name or base_column not in column_names:
                base_column = last_column
            group_by_column[base_column].errors.append(column_index)
        else:
            group_by_column[column_name].numbers.append(column_index)
            last_column = column_name
    return list(group_by_column.values())


def _swap_interval_end(column_name: str, end: str, other_end: str) -> str | None:
    """Return the column name of the other interval end; None for other columns."""
    if column_name == end or column_name.endswith(f"_{end}"):
        return f"{column_name.removesuffix(end)}{other_end}"
    stem, bracket, suffix = column_name.partition("[")
    if bracket and stem.endswith(f"_{end}"):
        return f"{stem.removesuffix(end)}{other_end}{bracket}{suffix}"
    return None


def _format_interval_heading(
    column_name: str, column_names: list[str], column_index: int, interval_level: float
) -> str:
    """Return the heading of an interval column, such as "89 % interval"."""
    column_before = ""
    if column_index:
        column_before = column_names[column_index - 1]
    base_column = column_before
    if column_name != "low":
        base_column = column_name.replace("_low", "", 1)
    if base_column == "respondents":
        return f"{format_level(interval_level)} of respondents"
    if column_index and column_before in (base_column, "sd"):
        return describe_interval(interval_level)
    return f"{format_heading(base_column)}, {describe_interval(interval_level)}"


# Numbers of decimals ------------------------------------------------------------------------------


def _count_small_decimals(column_name: str, column_cells: Sequence[object]) -> int | None:
    """Return the decimals that small numbers of a column need; None: default."""
    magnitudes = [
        abs(number)
        for number in column_cells
        if isinstance(number, float) and math.isfinite(number)
    ]
    if magnitudes and 0.0 < max(magnitudes) < _SMALL and not column_name.startswith("mcse"):
        return count_decimals(column_name, magnitudes)
    return None


def _count_cell_decimals(
    column_name: str, column_cells: Sequence[object], row_decimals: Sequence[int]
) -> list[int | None]:
    """Return the number of decimals of each cell; None: default."""
    # `row_decimals`: minimum decimals of each row.
    small_decimals = _count_small_decimals(column_name, column_cells)
    minimum_decimals = row_decimals or [DECIMALS] * len(column_cells)
    decimals_by_cell = []
    for min_decimals in minimum_decimals:
        if min_decimals > DECIMALS:
            decimals_by_cell.append(max(small_decimals or 0, min_decimals))
        else:
            decimals_by_cell.append(small_decimals)
    return decimals_by_cell


def _count_interval_decimals(numbers: Sequence[float], width: float) -> int:
    """Return the decimals that show two digits of an interval's width."""
    # Small numbers show two digits of the interval's width.
    magnitudes = [abs(number) for number in numbers if math.isfinite(number)]
    if not magnitudes or not max(magnitudes) < _SMALL_FIGURE or not 0.0 < width < math.inf:
        return DECIMALS
    return count_two_digit_decimals(width)


# Tables as plain text -----------------------------------------------------------------------------


def align(rows: list[tuple[str, ...]], left_columns: set[int]) -> str:
    """Join rows of texts into lines with aligned columns.

    Columns in `left_columns` are aligned on the left, others on the right. A cell is one line, as
    wide as a terminal shows it.
    """
    rows = [tuple(" ".join(cell.splitlines()) for cell in row) for row in rows]
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    is_left = [number in left_columns for number in range(len(widths))]
    return "\n".join("  ".join(map(_pad_cell, row, widths, is_left)).rstrip() for row in rows)


def _pad_cell(cell: str, width: int, is_left: bool) -> str:
    """Fill a cell with blanks up to a display width."""
    blanks = " " * (width - display_width(cell))
    if is_left:
        return cell + blanks
    return blanks + cell
