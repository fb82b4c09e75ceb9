"""A table as people read it: the index as columns, headings in words, the two ends of an interval in one column.

Its columns as plain text are `align`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from thali._described import is_numbered
from thali._labels import display_width
from thali.model.columns import COLUMNS, MONTE_CARLO, heading
from thali.posterior.interval import INTERVAL, interval_name

if TYPE_CHECKING:
    import pandas


_NONE = ("-", "–")  # cells of what is missing
Cells = Callable[[str, list[Any]], list[str]]  # the texts of the values of the column of that name


class Readable(NamedTuple):
    """A table as text."""

    head: list[str]
    rows: list[list[str]]
    is_text: list[bool]  # of each column
    sides: int  # columns that are those of the index


def readable(table: "pandas.DataFrame", cells: Cells, most: int | None = None) -> Readable:
    """The first rows of a table as text."""
    level = table.attrs.get("interval", INTERVAL)
    sides = 0 if is_numbered(table) else table.index.nlevels
    frame = (table if most is None else table.head(most)).copy(deep=False)
    head, columns, is_text = [], [], []
    if sides:
        names = ["" if name is None else str(name) for name in frame.index.names]
        index = frame.index.to_frame(index=False)
        for place in range(sides):
            head.append(names[place].replace("_", " "))
            columns.append(_labels(cells, names[place], index.iloc[:, place].tolist()))
            is_text.append(True)
    columns_of = [str(name) for name in frame.columns]
    whole = [_whole(frame.iloc[:, place].tolist()) for place in range(len(columns_of))]
    for place, name in enumerate(columns_of):
        values = whole[place]
        base = _high_of(name)
        if base in columns_of and name != base:  # the lower end, which takes both
            both = (name, values), (base, whole[columns_of.index(base)])
            around = columns_of[place - 1] if name == "low" and place else name  # such as a rating without decimals
            known = COLUMNS.get(around)
            alike = known is not None and known.decimals is not None
            ends = zip(*(cells(around if alike else end, numbers) for end, numbers in both), strict=True)
            head.append(_interval_heading(name, columns_of, place, level))
            columns.append([low if low in _NONE and low == high else f"{low} to {high}" for low, high in ends])
            is_text.append(False)
        elif not (name != _low_of(name) and _low_of(name) in columns_of):
            head.append(heading(name, table.attrs.get(MONTE_CARLO, False)))
            columns.append(cells(name, values))
            is_text.append(frame.dtypes.iloc[place].kind not in "iufb")
    return Readable(head, [list(row) for row in zip(*columns, strict=True)], is_text, sides)


def _whole(values: list[Any]) -> list[Any]:
    """The values, without decimals where all of them are whole numbers."""
    is_whole = all(isinstance(value, float) and value.is_integer() for value in values)
    return [int(value) for value in values] if is_whole else values


def _labels(cells: Cells, name: str, values: list[Any]) -> list[str]:
    """Names of rows, which are text whatever they are, but for numbers of which it is known how they are written."""
    if name in COLUMNS:
        return cells(name, values)
    return list(map(str, values)) if all(isinstance(value, str | int) for value in values) else cells(name, values)


def _high_of(name: str) -> str:
    """What the upper end is called whose lower end a column is; its own name otherwise."""
    if name == "low" or name.endswith("_low"):
        return f"{name[:-3]}high"
    stem, bracket, rest = name.partition("[")
    return f"{stem[:-3]}high{bracket}{rest}" if bracket and stem.endswith("_low") else name


def _low_of(name: str) -> str:
    """The same the other way round."""
    if name == "high" or name.endswith("_high"):
        return f"{name[:-4]}low"
    stem, bracket, rest = name.partition("[")
    return f"{stem[:-4]}low{bracket}{rest}" if bracket and stem.endswith("_high") else name


def _interval_heading(name: str, columns: list[str], place: int, level: float) -> str:
    """The interval of the column before it, or that of another one by name."""
    own = name.replace("_low", "", 1) if name != "low" else columns[place - 1] if place else ""
    if own == "people":
        return f"{100 * level:.6g} % of people"
    return (
        interval_name(level)
        if place and columns[place - 1] in (own, "sd")
        else f"{heading(own)}, {interval_name(level)}"
    )


# Tables as plain text -------------------------------------------------------------------------------------------------


def align(rows: list[tuple[str, ...]], left: set[int]) -> str:
    """Columns of text, two blanks apart; those numbered in `left` start at the left, others at the right.

    A cell is one line, and as wide as a terminal shows it.
    """
    rows = [tuple(" ".join(cell.splitlines()) for cell in row) for row in rows]
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    at_left = [number in left for number in range(len(widths))]
    return "\n".join("  ".join(map(_padded, row, widths, at_left)).rstrip() for row in rows)


def _padded(cell: str, width: int, at_left: bool) -> str:
    blanks = " " * (width - display_width(cell))
    return cell + blanks if at_left else blanks + cell
