"""The cells of a table, as text: encoding, separator, header, ragged rows."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np

from thali._data.roles import MISSING_WORDS
from thali._labels import one_spelling, plural
from thali.errors import DataError

Rows = Iterator[tuple[int, list[str]]]  # line of the file, its cells

SEPARATORS = ("\t", ";", ",", "|")
MISSING = {"", *MISSING_WORDS}
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
INTEGER = re.compile(r"[+-]?\d+")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?[Ii]nf(inity)?")
CODE = re.compile(r"0\d+")  # "001" is a name, not the number 1
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f]")  # what no text holds
_COMPARED = re.compile(r"\S [<>=] \S")  # as in "{non < Lnk, non > Grn, ...}"
# of a table, gaps included: a single cell in the corner of a sheet makes 17 billion of them
MAX_CELLS = 1 << 25
_HEAD = 1 << 16  # characters in which most tables have the lines that say how they are separated
BLANKS = " "  # stands for any run of blanks, tried when no separator splits the header


@dataclass(frozen=True)
class TextTable:
    """A table of text: a name for each column, its cells, and the line of the file for each row."""

    header: list[str]
    columns: list[list[str]]
    lines: list[int] | range
    decimal_comma: bool = False
    note: str = ""
    # what is wrong with the first row that ends early, if all end at the diagonal or beyond
    short_rows: str = ""


def joined(*notes: str) -> str:
    """The notes that say something, as one."""
    return "; ".join(filter(None, notes))


def text_cells(content: bytes, joined: bool = False) -> TextTable:
    """The cells of a file of separated values; `joined`: of files put together, whose header may
    come again."""
    text = decoded(content)
    if _CONTROL.search(text):
        raise DataError("This is not a text, Excel or Parquet file; save it as CSV.")
    if hint := re.match(r"sep=(.)\r?\n", text):  # Excel's own way to name the separator
        separator = hint[1]
        text = "\n" + text[hint.end() :]
    else:
        separator = _separator(text)
    cells = even_cells(text, separator)
    if cells is None:
        cells = assembled(_rows(text, separator), decimal_comma=separator != ",")
    if not joined:
        refuse_header_again(cells)
    return cells


def separator_of(content: bytes) -> str | None:
    """The one character between the cells of a table of text that begins so; None if that is not
    one."""
    text = decoded(content)
    found = None if text.startswith("sep=") else _separator(text)
    return None if found == BLANKS else found


def decoded(content: bytes) -> str:
    """The text in a file, whatever its encoding."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):  # "Unicode text" as Excel saves it
        return content.decode("utf-16", errors="replace")
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")


def _separator(text: str) -> str:
    """The separator that splits most of the first lines alike, the header among them if
    possible."""
    head = text[:_HEAD] if text.count("\n", 0, _HEAD) >= 50 else text
    lines = [line for line in islice(io.StringIO(head, newline=""), 50) if line.strip()]
    if not lines:
        raise DataError("The file is empty.")
    best, agreeing, fault = "", (0, False, 0), None
    for separator in (*SEPARATORS, BLANKS):
        try:
            widths = [len(cells) for _, cells in _rows("".join(lines), separator)]
        # perhaps of a line without this separator, which is one cell, longer than any
        except DataError as error:
            fault = error
            continue
        split = Counter(width for width in widths if width > 1)
        if split and (separator != BLANKS or not best):
            width, lines_alike = split.most_common(1)[0]
            if (agrees := (lines_alike, widths[0] > 1, width)) > agreeing:
                best, agreeing = separator, agrees
    if fault is not None and (
        not best or (best == BLANKS and any(map(lines[0].__contains__, SEPARATORS)))
    ):
        raise fault
    if not best:
        raise DataError(
            f"The columns cannot be separated; the first line is {_short(lines[0])}. Expected at"
            " least two columns, separated by commas, semicolons, tabs or spaces."
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
        if "field limit" in str(error):
            raise DataError(
                f"Line {reader.line_num} contains a cell of more than {csv.field_size_limit():,}"
                " characters; shorten it, or remove the column."
            ) from None
        raise DataError(f"Line {reader.line_num} is not valid delimited text ({error}).") from None


def even_cells(text: str, separator: str) -> TextTable | None:
    """The cells that `assembled` gives, at once, of a text without quotes whose lines are alike;
    None of another."""
    # Lines are alike that hold equally many cells, all with text: most large files. Others are read
    # line by line.
    text = text.replace("\r\n", "\n")
    if separator == BLANKS or '"' in text or "\r" in text:
        return None
    text = text if text.endswith("\n") else text + "\n"
    raw = np.frombuffer(text.encode(), np.uint8)
    ends = np.flatnonzero((raw == ord(separator)) | (raw == 10))
    width = text.count(separator, 0, text.index("\n")) + 1
    if (
        width < 2
        or len(ends) % width
        or len(ends) < 2 * width
        or np.diff(ends).max() > csv.field_size_limit()
    ):
        return None
    if ((raw[ends].reshape(-1, width) == 10) != (np.arange(width) == width - 1)).any():
        return None
    cells = text[:-1].replace("\n", separator).split(separator)
    header = [one_spelling(name) for name in cells[:width]]
    if not header[-1]:
        return None
    columns = [_stripped(cells[k::width]) for k in range(width, 2 * width)]
    if all("" in column for column in columns):  # perhaps a row without text, which does not count
        return None
    return _used(header, columns, range(2, len(columns[0]) + 2), separator != ",")


def _stripped(column: list[str]) -> list[str]:
    """The cells without blanks around them."""
    stripped = {cell: one_spelling(cell) for cell in set(column)}
    if all(cell is bare for cell, bare in stripped.items()):
        return column
    return list(map(stripped.__getitem__, column))


def assembled(rows: Rows, decimal_comma: bool, note: str = "", ragged: bool = True) -> TextTable:
    """Columns from rows; `ragged`: a row that ends early is an error, not one with empty cells at
    its end.

    But row k may end after its label and k numbers, as those of a lower triangle do; the error is
    then kept for those who need whole rows.
    """
    _, header = next(rows, (0, []))
    header = [one_spelling(name) for name in header]
    while header and not header[-1]:
        header.pop()
    ahead = list(islice(rows, 2))
    if not ahead:
        raise DataError("The file has a header but no rows of data.")
    if len(header) < 2 <= max(len(cells) for _, cells in ahead):
        raise DataError(
            f"The first line contains only {' '.join(header)!r}, but column names are expected;"
            " remove all lines above the column names."
        )
    # R's write.table gives the column of row labels no name; any other surplus cell is an error
    if ragged and all(
        len(cells) == len(header) + 1 and cells[0].strip() in header for _, cells in ahead
    ):
        header = ["", *header]
    width = len(header)
    columns: list[list[str]] = [[] for _ in header]
    lines: list[int] = []
    short_rows, gaps = "", 0
    for number, cells in chain(ahead, rows):
        if len(cells) != width:
            if ragged and len(cells) < width:
                short_rows = short_rows or _uneven(cells, width, number)
            refuse_paircomp(header, cells)
            if any(cell.strip() for cell in cells[width:]) or (
                short_rows and len(lines) + 2 < len(cells) < width
            ):
                raise DataError(_uneven(cells, width, number))
            gaps += width - len(cells)
            if gaps > MAX_CELLS:
                raise DataError(_uneven(cells, width, number))
            cells = cells[:width] + [""] * (width - len(cells))
        for column, cell in zip(columns, cells, strict=True):
            column.append(cell)
        lines.append(number)
    for name, column in zip(header, columns, strict=True):
        refuse_paircomp([name], column[:1])
    return _used(
        header, [_stripped(column) for column in columns], lines, decimal_comma, note, short_rows
    )


def _used(
    header: list[str], columns: list[list[str]], lines: list[int] | range, *further: Any
) -> TextTable:
    """The columns that have a name or hold anything."""
    used = [k for k in range(len(header)) if header[k] or any(columns[k])]
    return TextTable([header[k] for k in used], [columns[k] for k in used], lines, *further)


def refuse_header_again(cells: TextTable) -> None:
    """Refuse a row that is the header once more, as where files were put together; a row of numbers
    may be."""
    header, columns, lines = cells.header, cells.columns, cells.lines
    if (
        len(header) < 2
        or all(not name or NUMBER.fullmatch(name) for name in header)
        or header[0] not in columns[0]
    ):
        return
    for row, first in enumerate(columns[0]):
        if first == header[0] and all(
            column[row] == name for name, column in zip(header, columns, strict=True)
        ):
            raise DataError(
                f"Line {lines[row]} repeats the column names; if files were merged, keep only the"
                " first header."
            )


def refuse_paircomp(header: list[str], cells: list[str]) -> None:
    """Refuse comparisons of R's psychotools as R prints them, in one cell or in several where
    nothing is quoted."""
    for name, cell, further in zip(header, cells, range(len(cells)), strict=False):
        if cell.lstrip().startswith("{") and any(
            _COMPARED.search(each) for each in cells[further:]
        ):
            raise DataError(
                f"Column {name!r} contains R's abbreviated printout of a paircomp object; in R,"
                f" write.csv(as.matrix(x${name})) writes the comparisons, one column per pair."
            )


def _uneven(cells: list[str], width: int, line: int) -> str:
    """What is wrong with a row whose length is not the header's."""
    return (
        f"Line {line} has {plural(len(cells), 'cell')}, but the header has {width} columns; give"
        " every row the same number of cells (quote labels that contain the separator)."
    )
