"""A table as people read it: the index as columns, headings in words, the two ends of an interval
in one column.

Its columns as plain text are `align`.
"""

import math
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from thali._described import is_numbered
from thali._digits import DECIMALS, TERMINAL_MARKS, Marks, cell, decimals_of, with_two_digits
from thali._labels import display_width
from thali._model.table_columns import COLUMNS, HEADINGS, MONTE_CARLO, format_heading
from thali._posterior.interval import INTERVAL, interval_name, level_name

if TYPE_CHECKING:
    import pandas


_SMALL = 0.05  # numbers below which three decimals say too little
# below which a number and its interval are written with two digits of how sure it is
_SMALL_FIGURE = 0.1
_WIDTH = 3.2  # of an 89 % interval, in standard errors
# columns that say how sure the one before them is
_ERRORS = ("sd", "std_error", "mcse", "mcse_mean")


class Readable(NamedTuple):
    """A table as text."""

    head: list[str]
    rows: list[list[str]]
    is_text: list[bool]  # of each column
    sides: int  # columns that are those of the index


def readable(
    table: "pandas.DataFrame", marks: Marks = TERMINAL_MARKS, most: int | None = None
) -> Readable:
    """The first rows of a table as text."""
    level = table.attrs.get("interval", INTERVAL)
    sides = 0 if is_numbered(table) else table.index.nlevels
    frame = (table if most is None else table.head(most)).copy(deep=False)
    head, columns, is_text = [], [], []
    if sides:
        names = ["" if name is None else str(name) for name in frame.index.names]
        index = frame.index.to_frame(index=False)
        for place in range(sides):
            head.append(format_heading(names[place]))
            columns.append(_labels(marks, names[place], index.iloc[:, place].tolist()))
            is_text.append(True)
    columns_of = [str(name) for name in frame.columns]
    whole = [_whole(frame.iloc[:, place].tolist()) for place in range(len(columns_of))]
    least = _least_decimals(columns_of, whole, table.attrs.get(MONTE_CARLO, False))
    for place, name in enumerate(columns_of):
        values = whole[place]
        base, lower = _other_end(name, "low", "high"), _other_end(name, "high", "low")
        if base in columns_of and name != base:  # the lower end, which takes both
            other = columns_of.index(base)
            both = (name, values, least[place]), (base, whole[other], least[other])
            # such as a rating without decimals
            around = columns_of[place - 1] if name == "low" and place else name
            known = COLUMNS.get(around)
            alike = known is not None and known.decimals is not None
            written = (
                cells(around if alike else end, ends, decimals, marks)
                for end, ends, decimals in both
            )
            limits = zip(*written, strict=True)
            head.append(_interval_heading(name, columns_of, place, level))
            columns.append(
                [
                    low if low == high == marks.missing else f"{low} to {high}"
                    for low, high in limits
                ]
            )
            is_text.append(False)
        elif not (name != lower and lower in columns_of):
            headings = table.attrs.get(HEADINGS, {})
            head.append(
                headings.get(name) or format_heading(name, table.attrs.get(MONTE_CARLO, False))
            )
            columns.append(cells(name, values, least[place], marks))
            is_text.append(frame.dtypes.iloc[place].kind not in "iufb")
    return Readable(head, [list(row) for row in zip(*columns, strict=True)], is_text, sides)


def cells(
    column: str, values: list[Any], least: Sequence[int] = (), marks: Marks = TERMINAL_MARKS
) -> list[str]:
    """Write the cells of a column: three decimals, more where all numbers or those of a row are
    small."""
    known = COLUMNS.get(column)
    if known is not None and known.decimals is not None:
        return [cell(column, value, known.decimals, marks) for value in values]
    decimals = _decimals_of_cells(column, values, least)
    return [cell(column, value, each, marks) for value, each in zip(values, decimals, strict=True)]


def _whole(values: list[Any]) -> list[Any]:
    """The values, without decimals where all of them are whole numbers."""
    is_whole = all(isinstance(value, float) and value.is_integer() for value in values)
    return [int(value) for value in values] if is_whole else values


class _Figure(NamedTuple):
    """The columns of a number, of the ends of its interval and of its errors, by their places."""

    numbers: list[int]
    ends: list[int]
    errors: list[int]


def _least_decimals(
    names: list[str], columns: list[list[Any]], monte_carlo: bool
) -> list[list[int]]:
    """How many decimals each number deserves for what its row says of how sure it is; column by
    column."""
    least = [[DECIMALS] * len(values) for values in columns]
    for figure in _figures(names):
        of_data = [place for place in figure.errors if not (monte_carlo or "mcse" in names[place])]
        if any(
            name in COLUMNS and COLUMNS[name].decimals is not None
            for name in map(names.__getitem__, figure.numbers)
        ):
            continue
        for row in range(len(columns[0])) if figure.ends or of_data else ():
            numbers, ends, errors = (
                [_number(columns[place][row]) for place in places] for places in figure
            )
            width = ends[1] - ends[0] if ends else _WIDTH * _number(columns[of_data[0]][row])
            decimals = _decimals_of_figure([*numbers, *ends], width)
            for place in (*figure.numbers, *figure.ends):
                least[place][row] = decimals
            for place, error in zip(figure.errors, errors, strict=True):
                is_small = decimals > DECIMALS and 0.0 < error < 1.0
                least[place][row] = max(decimals, with_two_digits(error)) if is_small else decimals
    return least


def _number(value: Any) -> float:
    """A number of a table; NaN for everything else."""
    return float(value) if isinstance(value, Real) else math.nan


def _figures(names: list[str]) -> list[_Figure]:
    """The figures of a table: errors and ends are of the column that they name, or of the one
    before them."""
    found: dict[str, _Figure] = {}
    last = ""
    for place, name in enumerate(names):
        own, upper = name, _other_end(name, "low", "high")
        partner = upper if upper != name else _other_end(name, "high", "low")
        is_end, is_error = (
            partner != name and partner in names,
            name in _ERRORS or name.endswith(("_se", "_mcse")),
        )
        if is_end:
            own = (
                last
                if name in ("low", "high")
                else name.replace("_low", "", 1).replace("_high", "", 1)
            )
        elif is_error:
            stem = name.removesuffix("_mcse").removesuffix("_se")
            own = stem if stem in names and stem != name else last
        else:
            last = name
        found.setdefault(own, _Figure([], [], []))[1 if is_end else 2 if is_error else 0].append(
            place
        )
    return list(found.values())


def _labels(marks: Marks, name: str, values: list[Any]) -> list[str]:
    """Names of rows, which are text whatever they are, but for numbers of which it is known how
    they are written."""
    if name in COLUMNS:
        return cells(name, values, marks=marks)
    is_plain = all(isinstance(value, str | int) for value in values)
    return list(map(str, values)) if is_plain else cells(name, values, marks=marks)


def _other_end(name: str, end: str, other: str) -> str:
    """What the other end of an interval is called of which a column is this end; its own name
    otherwise."""
    if name == end or name.endswith(f"_{end}"):
        return f"{name.removesuffix(end)}{other}"
    stem, bracket, rest = name.partition("[")
    return (
        f"{stem.removesuffix(end)}{other}{bracket}{rest}"
        if bracket and stem.endswith(f"_{end}")
        else name
    )


def _interval_heading(name: str, columns: list[str], place: int, level: float) -> str:
    """The interval of the column before it, or that of another one by name."""
    own = name.replace("_low", "", 1) if name != "low" else columns[place - 1] if place else ""
    if own == "respondents":
        return f"{level_name(level)} of respondents"
    return (
        interval_name(level)
        if place and columns[place - 1] in (own, "sd")
        else f"{format_heading(own)}, {interval_name(level)}"
    )


# How many decimals a number deserves --------------------------------------------------------------


def _decimals_of_small(column: str, values: Sequence[object]) -> int | None:
    """Return the decimals that a column of small numbers deserves; None: three do."""
    numbers = [abs(value) for value in values if isinstance(value, float) and math.isfinite(value)]
    if numbers and 0.0 < max(numbers) < _SMALL and not column.startswith("mcse"):
        return decimals_of(column, numbers)
    return None


def _decimals_of_cells(
    column: str, values: Sequence[object], least: Sequence[int]
) -> list[int | None]:
    """Return the decimals of each number of a column, None: as usual; `least`: those that its
    figure deserves."""
    more = _decimals_of_small(column, values)
    own = least or [DECIMALS] * len(values)
    return [max(more or 0, each) if each > DECIMALS else more for each in own]


def _decimals_of_figure(numbers: Sequence[float], width: float) -> int:
    """Return the decimals of a number and the ends of its interval: small ones show two digits of
    its width."""
    known = [abs(value) for value in numbers if math.isfinite(value)]
    if not known or not max(known) < _SMALL_FIGURE or not 0.0 < width < math.inf:
        return DECIMALS
    return with_two_digits(width)


# Tables as plain text -----------------------------------------------------------------------------


def align(rows: list[tuple[str, ...]], left: set[int]) -> str:
    """Columns of text, two blanks apart; those numbered in `left` start at the left, others at the
    right.

    A cell is one line, and as wide as a terminal shows it.
    """
    rows = [tuple(" ".join(cell.splitlines()) for cell in row) for row in rows]
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    at_left = [number in left for number in range(len(widths))]
    return "\n".join("  ".join(map(_padded, row, widths, at_left)).rstrip() for row in rows)


def _padded(cell: str, width: int, at_left: bool) -> str:
    blanks = " " * (width - display_width(cell))
    return cell + blanks if at_left else blanks + cell
