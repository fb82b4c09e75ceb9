"""Tables as text: the index as columns, readable headings, and intervals in one column.

Function `align` writes the columns as plain text.
"""

import math
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from thali._described import is_numbered
from thali._digits import (
    DECIMALS,
    TERMINAL_MARKS,
    Marks,
    count_decimals,
    count_two_digit_decimals,
    format_cell,
)
from thali._labels import display_width
from thali._model.table_columns import COLUMNS, HEADINGS, MONTE_CARLO, format_heading
from thali._posterior.interval import INTERVAL, describe_interval, format_level

if TYPE_CHECKING:
    import pandas


_SMALL = 0.05  # smaller numbers need more than three decimals
# smaller numbers and their intervals are written with two digits of the interval's width
_SMALL_FIGURE = 0.1
_WIDTH = 3.2  # width of an 89 % interval, in standard errors
# columns with the error of the column before them
_ERRORS = ("sd", "std_error", "mcse", "mcse_mean")


class FormattedTable(NamedTuple):
    """A table as text."""

    head: list[str]
    rows: list[list[str]]
    is_text: list[bool]  # one entry per column
    sides: int  # number of index columns


def format_table(
    table: "pandas.DataFrame", marks: Marks = TERMINAL_MARKS, max_rows: int | None = None
) -> FormattedTable:
    """Return the first rows of a table as text."""
    level = table.attrs.get("interval", INTERVAL)
    n_index_columns = 0 if is_numbered(table) else table.index.nlevels
    frame = (table if max_rows is None else table.head(max_rows)).copy(deep=False)
    head, columns, is_text = [], [], []
    if n_index_columns:
        index_names = ["" if name is None else str(name) for name in frame.index.names]
        index = frame.index.to_frame(index=False)
        for column in range(n_index_columns):
            head.append(format_heading(index_names[column]))
            columns.append(
                _format_row_names(marks, index_names[column], index.iloc[:, column].tolist())
            )
            is_text.append(True)
    column_names = [str(name) for name in frame.columns]
    values_by_column = [
        _convert_integers(frame.iloc[:, column].tolist()) for column in range(len(column_names))
    ]
    decimals_by_column = _count_row_decimals(
        column_names, values_by_column, table.attrs.get(MONTE_CARLO, False)
    )
    for column, name in enumerate(column_names):
        cells_of_column = values_by_column[column]
        low_partner, high_partner = (
            _swap_interval_end(name, "low", "high"),
            _swap_interval_end(name, "high", "low"),
        )
        if low_partner in column_names and name != low_partner:  # the lower end writes both ends
            high_column = column_names.index(low_partner)
            interval_ends = (
                (name, cells_of_column, decimals_by_column[column]),
                (low_partner, values_by_column[high_column], decimals_by_column[high_column]),
            )
            # ends have the decimals of their column, such as a rating without decimals
            format_column = column_names[column - 1] if name == "low" and column else name
            column_spec = COLUMNS.get(format_column)
            has_fixed_decimals = column_spec is not None and column_spec.decimals is not None
            formatted_ends = (
                format_cells(format_column if has_fixed_decimals else end, ends, decimals, marks)
                for end, ends, decimals in interval_ends
            )
            formatted_limits = zip(*formatted_ends, strict=True)
            head.append(_format_interval_heading(name, column_names, column, level))
            columns.append(
                [
                    low if low == high == marks.missing else f"{low} to {high}"
                    for low, high in formatted_limits
                ]
            )
            is_text.append(False)
        elif not (name != high_partner and high_partner in column_names):
            headings = table.attrs.get(HEADINGS, {})
            head.append(
                headings.get(name) or format_heading(name, table.attrs.get(MONTE_CARLO, False))
            )
            columns.append(format_cells(name, cells_of_column, decimals_by_column[column], marks))
            is_text.append(frame.dtypes.iloc[column].kind not in "iufb")
    return FormattedTable(
        head, [list(row) for row in zip(*columns, strict=True)], is_text, n_index_columns
    )


def format_cells(
    column: str,
    column_cells: list[Any],
    row_decimals: Sequence[int] = (),
    marks: Marks = TERMINAL_MARKS,
) -> list[str]:
    """Return the cells of a column: three decimals, more for small numbers.

    `row_decimals`: minimum decimals of each row.
    """
    column_spec = COLUMNS.get(column)
    if column_spec is not None and column_spec.decimals is not None:
        return [format_cell(column, number, column_spec.decimals, marks) for number in column_cells]
    decimals = _count_cell_decimals(column, column_cells, row_decimals)
    return [
        format_cell(column, number, n_decimals, marks)
        for number, n_decimals in zip(column_cells, decimals, strict=True)
    ]


def _convert_integers(column_cells: list[Any]) -> list[Any]:
    """Return cells as integers if all are integers."""
    is_whole = all(isinstance(number, float) and number.is_integer() for number in column_cells)
    return [int(number) for number in column_cells] if is_whole else column_cells


class _NumberColumns(NamedTuple):
    """The columns of a number, of its interval and of its errors, by position."""

    numbers: list[int]
    ends: list[int]
    errors: list[int]


def _count_row_decimals(
    names: list[str], columns: list[list[Any]], monte_carlo: bool
) -> list[list[int]]:
    """Return the decimals of each number, given the uncertainty in its row."""
    # The result has one list per column.
    decimals_by_column = [[DECIMALS] * len(column_cells) for column_cells in columns]
    for figure in _group_columns(names):
        data_errors = [
            column for column in figure.errors if not (monte_carlo or "mcse" in names[column])
        ]
        if any(
            name in COLUMNS and COLUMNS[name].decimals is not None
            for name in map(names.__getitem__, figure.numbers)
        ):
            continue
        for row in range(len(columns[0])) if figure.ends or data_errors else ():
            row_numbers, row_ends, row_errors = (
                [_convert_to_float(columns[column][row]) for column in places] for places in figure
            )
            width = (
                row_ends[1] - row_ends[0]
                if row_ends
                else _WIDTH * _convert_to_float(columns[data_errors[0]][row])
            )
            decimals = _count_interval_decimals([*row_numbers, *row_ends], width)
            for column in (*figure.numbers, *figure.ends):
                decimals_by_column[column][row] = decimals
            for column, error in zip(figure.errors, row_errors, strict=True):
                is_small = decimals > DECIMALS and 0.0 < error < 1.0
                decimals_by_column[column][row] = (
                    max(decimals, count_two_digit_decimals(error)) if is_small else decimals
                )
    return decimals_by_column


def _convert_to_float(cell: Any) -> float:
    """Return a cell as a number, or NaN."""
    return float(cell) if isinstance(cell, Real) else math.nan


def _group_columns(names: list[str]) -> list[_NumberColumns]:
    """Group columns into numbers with their intervals and errors."""
    # An interval or error belongs to the column that it names, or to the column before it.
    group_by_column: dict[str, _NumberColumns] = {}
    last_column = ""
    for column, name in enumerate(names):
        high_partner = _swap_interval_end(name, "low", "high")
        partner = high_partner if high_partner != name else _swap_interval_end(name, "high", "low")
        if partner != name and partner in names:
            base_column, role = name.replace("_low", "", 1).replace("_high", "", 1), "ends"
            if name in ("low", "high"):
                base_column = last_column
        elif name in _ERRORS or name.endswith(("_se", "_mcse")):
            stem = name.removesuffix("_mcse").removesuffix("_se")
            base_column, role = stem if stem in names and stem != name else last_column, "errors"
        else:
            base_column, role, last_column = name, "numbers", name
        getattr(group_by_column.setdefault(base_column, _NumberColumns([], [], [])), role).append(
            column
        )
    return list(group_by_column.values())


def _format_row_names(marks: Marks, name: str, names: list[Any]) -> list[str]:
    """Return row names as text, as numbers if the column has a number format."""
    if name in COLUMNS:
        return format_cells(name, names, marks=marks)
    is_plain = all(isinstance(row_name, str | int) for row_name in names)
    return list(map(str, names)) if is_plain else format_cells(name, names, marks=marks)


def _swap_interval_end(name: str, end: str, other_end: str) -> str:
    """Return the column of the other interval end, or the name itself."""
    if name == end or name.endswith(f"_{end}"):
        return f"{name.removesuffix(end)}{other_end}"
    stem, bracket, suffix = name.partition("[")
    return (
        f"{stem.removesuffix(end)}{other_end}{bracket}{suffix}"
        if bracket and stem.endswith(f"_{end}")
        else name
    )


def _format_interval_heading(name: str, columns: list[str], column: int, level: float) -> str:
    """Return the heading of an interval, with its column unless that is adjacent."""
    if name != "low":
        base_column = name.replace("_low", "", 1)
    else:
        base_column = columns[column - 1] if column else ""
    if base_column == "respondents":
        return f"{format_level(level)} of respondents"
    return (
        describe_interval(level)
        if column and columns[column - 1] in (base_column, "sd")
        else f"{format_heading(base_column)}, {describe_interval(level)}"
    )


# Numbers of decimals ------------------------------------------------------------------------------


def _count_small_decimals(column: str, column_cells: Sequence[object]) -> int | None:
    """Return the decimals of a column of small numbers; None for three."""
    numbers = [
        abs(number)
        for number in column_cells
        if isinstance(number, float) and math.isfinite(number)
    ]
    if numbers and 0.0 < max(numbers) < _SMALL and not column.startswith("mcse"):
        return count_decimals(column, numbers)
    return None


def _count_cell_decimals(
    column: str, column_cells: Sequence[object], row_decimals: Sequence[int]
) -> list[int | None]:
    """Return the decimals of each cell, None for the default."""
    # `row_decimals`: minimum decimals of each row.
    small_decimals = _count_small_decimals(column, column_cells)
    minimum_decimals = row_decimals or [DECIMALS] * len(column_cells)
    return [
        max(small_decimals or 0, minimum) if minimum > DECIMALS else small_decimals
        for minimum in minimum_decimals
    ]


def _count_interval_decimals(numbers: Sequence[float], width: float) -> int:
    """Return the decimals of a number and its interval."""
    # Small numbers show two digits of the interval's width.
    magnitudes = [abs(number) for number in numbers if math.isfinite(number)]
    if not magnitudes or not max(magnitudes) < _SMALL_FIGURE or not 0.0 < width < math.inf:
        return DECIMALS
    return count_two_digit_decimals(width)


# Tables as plain text -----------------------------------------------------------------------------


def align(rows: list[tuple[str, ...]], left: set[int]) -> str:
    """Return columns of text, separated by two blanks.

    Columns in `left` are aligned on the left, others on the right. A cell is one line, as wide as a
    terminal shows it.
    """
    rows = [tuple(" ".join(cell.splitlines()) for cell in row) for row in rows]
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    is_left = [number in left for number in range(len(widths))]
    return "\n".join("  ".join(map(_pad_cell, row, widths, is_left)).rstrip() for row in rows)


def _pad_cell(cell: str, width: int, is_left: bool) -> str:
    """Return a cell with blanks up to a width."""
    blanks = " " * (width - display_width(cell))
    return cell + blanks if is_left else blanks + cell
