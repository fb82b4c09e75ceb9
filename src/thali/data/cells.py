"""The cells of a table, as text: encoding, separator, header, ragged rows."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

from thali.data.check import plural
from thali.errors import DataError

Rows = Iterator[tuple[int, list[str]]]  # line of the file, its cells

SEPARATORS = ("\t", ";", ",", "|")
MISSING = {"", "NA", "N/A", "n/a", "na", "#N/A", "NaN", "nan", "-", "–", "—", "."}
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
BLANKS = " "  # stands for any run of blanks, tried when no separator splits the header


@dataclass(frozen=True)
class Cells:
    """A table of text: a name for each column, its cells, and the line of the file for each row."""

    header: list[str]
    columns: list[list[str]]
    lines: list[int]
    decimal_comma: bool = False
    note: str = ""


class _Stripped(dict):
    """Cell -> the cell without blanks around it; each text is stored once however often it occurs."""

    def __missing__(self, cell: str) -> str:
        return self.setdefault(cell, cell.strip())


def text_cells(content: bytes, triangle: bool = False) -> Cells:
    """The cells of a file of separated values; `triangle`: rows may end at the diagonal of a square table."""
    text = _decoded(content)
    if any(ord(char) < 32 and char not in "\t\n\r\f" for char in set(text)):
        raise DataError("This is not a table of text, Excel or Parquet; save it as CSV.")
    if hint := re.match(r"sep=(.)\r?\n", text):  # Excel's own way to name the separator
        separator = hint[1]
        text = "\n" + text[hint.end() :]
    else:
        separator = _separator(text)
    return assembled(_rows(text, separator), decimal_comma=separator != ",", triangle=triangle)


def _decoded(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):  # "Unicode text" as Excel saves it
        return content.decode("utf-16", errors="replace")
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")


def _separator(text: str) -> str:
    """The separator that splits most of the first lines alike, the header among them if possible."""
    lines = [line for line in islice(io.StringIO(text, newline=""), 50) if line.strip()]
    if not lines:
        raise DataError("The file is empty.")
    best, agreeing = "", (0, False, 0)
    for separator in (*SEPARATORS, BLANKS):
        widths = [len(cells) for _, cells in _rows("".join(lines), separator)]
        split = Counter(width for width in widths if width > 1)
        if split and (separator != BLANKS or not best):
            width, lines_alike = split.most_common(1)[0]
            if (agrees := (lines_alike, widths[0] > 1, width)) > agreeing:
                best, agreeing = separator, agrees
    if not best:
        raise DataError(
            f"No columns can be told apart; the first line is {_short(lines[0])}. Expected are at least two "
            "columns, separated by commas, semicolons, tabs or blanks."
        )
    return best


def _short(line: str) -> str:
    line = line.strip()
    return repr(line if len(line) <= 60 else line[:57] + "...")


def _rows(text: str, separator: str) -> Rows:
    """Lines with any text in them, split."""
    lines = io.StringIO(text, newline="")
    if separator == BLANKS:
        for number, line in enumerate(lines, start=1):
            cells = [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', line)]
            if cells:
                yield number, cells
        return
    reader = csv.reader(lines, delimiter=separator)
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield reader.line_num, cells
    except csv.Error as error:
        raise DataError(f"Line {reader.line_num} cannot be read as separated values ({error}).") from None


def assembled(rows: Rows, decimal_comma: bool, note: str = "", ragged: bool = True, triangle: bool = False) -> Cells:
    """Columns from rows; `ragged`: a row that ends early is an error, not one with empty cells at its end.

    `triangle`: but row k may end after its label and k numbers, as those of a lower triangle do.
    """
    _, header = next(rows, (0, []))
    header = [name.strip() for name in header]
    while header and not header[-1]:
        header.pop()
    ahead = list(islice(rows, 2))
    if not ahead:
        raise DataError("The file holds a header but no row of data below it.")
    if len(header) < 2 <= max(len(cells) for _, cells in ahead):
        raise DataError(
            f"The first line holds nothing but {' '.join(header)!r}, where the names of the columns are "
            "expected; remove the lines above them."
        )
    # R's write.table gives the column of row labels no name; any other surplus cell is an error
    if ragged and all(len(cells) == len(header) + 1 and cells[0].strip() in header for _, cells in ahead):
        header = ["", *header]
    width = len(header)
    columns: list[list[str]] = [[] for _ in header]
    lines: list[int] = []
    stripped = _Stripped()
    for number, cells in chain(ahead, rows):
        if len(cells) != width:
            of_triangle = triangle and len(cells) <= len(lines) + 2
            cells = _fitted(cells, width, number, ragged and not of_triangle)
        for column, cell in zip(columns, cells, strict=True):
            column.append(stripped[cell])
        lines.append(number)
    used = [k for k in range(width) if header[k] or any(columns[k])]
    return Cells([header[k] for k in used], [columns[k] for k in used], lines, decimal_comma, note)


def _fitted(cells: list[str], width: int, line: int, ragged: bool) -> list[str]:
    """The cells of a row whose length is not the header's, if it is only empty cells that differ."""
    if any(cell.strip() for cell in cells[width:]) or (ragged and len(cells) < width):
        raise DataError(
            f"Line {line} holds {plural(len(cells), 'cell')}, but the header names {width} columns; every "
            "row needs the same number (a label that contains the separator must stand in quotes)."
        )
    return cells[:width] + [""] * (width - len(cells))
