"""Splitting of CSV-like files into text cells: encoding, separator, header, ragged rows."""

import csv
import io
import re
from codecs import BOM_UTF32_BE, BOM_UTF32_LE
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import numpy as np

from thali._data.column_roles import MISSING_WORDS
from thali._labels import format_plural, normalise_spelling
from thali.errors import DataError

NumberedRows = list[tuple[int, list[str]]]  # line number, cells
Rows = Iterator[tuple[int, list[str]]]

SEPARATORS = ("\t", ";", ",", "|")
MISSING = {"", *MISSING_WORDS}
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
INTEGER = re.compile(r"[+-]?\d+")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?[Ii]nf(inity)?")
CODE = re.compile(r"0\d+")  # "001" is a name, not the number 1
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f]")  # characters that never occur in text
_COMPARED = re.compile(r"\S [<>=] \S")  # as in "{non < Lnk, non > Grn, ...}"
# per table, gaps included: a single cell in the corner of a sheet makes 17 billion cells
MAX_CELLS = 1 << 25
_HEAD_CHARACTERS = 1 << 16  # characters that usually suffice to find the separator
BLANKS = " "  # represents any run of blanks, tried if no separator splits the header


@dataclass(frozen=True)
class TextTable:
    """Text cells by column, column names, and the file line of each row."""

    header: list[str]
    columns: list[list[str]]
    lines: list[int] | range
    decimal_comma: bool = False
    note: str = ""
    is_triangle: bool = False  # whether the rows ended at the diagonal
    questions: tuple[str, ...] = ()  # the line below the names of columns, if it labels them


def join_notes(*notes: str) -> str:
    """Join the notes with "; ", without empty ones."""
    return "; ".join(filter(None, notes))


def split_text_cells(file_bytes: bytes) -> TextTable:
    """Split the bytes of a CSV-like file into columns of text cells."""
    text = decode_text(file_bytes)
    if _CONTROL.search(text):
        raise DataError("This is not a text, Excel or Parquet file; save it as CSV.")
    if separator_line := re.match(r"sep=(.)\r?\n", text):  # Excel's own way to name the separator
        separator = separator_line[1]
        text = "\n" + text[separator_line.end() :]
    else:
        separator = _guess_separator(text)
    cells = split_even_text(text, separator)
    if cells is None:
        rows = _split_rows(text, separator)
        first_rows = list(islice(rows, 4))
        rows = chain(first_rows, rows)
        completed_rows = None
        if len({len(row) for _, row in first_rows}) > 1:
            all_rows = list(rows)
            completed_rows = complete_triangle(all_rows)
            rows = iter(completed_rows or all_rows)
        cells = assemble_columns(rows, decimal_comma=separator != ",")
        cells = replace(cells, is_triangle=completed_rows is not None)
    check_repeated_header(cells)
    return cells


def decode_text(file_bytes: bytes) -> str:
    """Decode bytes as UTF-8, UTF-16, UTF-32, Windows-1252 or Latin-1 text."""
    if file_bytes.startswith((BOM_UTF32_LE, BOM_UTF32_BE)):  # the first begins as UTF-16 does
        return file_bytes.decode("utf-32", errors="replace")
    if file_bytes.startswith((b"\xff\xfe", b"\xfe\xff")):  # "Unicode text" as Excel saves it
        return file_bytes.decode("utf-16", errors="replace")
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return file_bytes.decode(encoding)
        except UnicodeDecodeError:
            continue
    return file_bytes.decode("latin-1")


def _guess_separator(text: str) -> str:
    """Guess the separator: that which splits most first lines into equally many cells."""
    # A separator that also splits the header is preferred.
    head_text = text
    if text.count("\n", 0, _HEAD_CHARACTERS) >= 50:
        head_text = text[:_HEAD_CHARACTERS]
    first_lines = [line for line in islice(io.StringIO(head_text, newline=""), 50) if line.strip()]
    if not first_lines:
        raise DataError("The file is empty.")
    best_separator = ""
    best_agreement = (0, False, 0)
    last_error = None
    for separator in (*SEPARATORS, BLANKS):
        try:
            n_cells_by_line = [
                len(cells) for _, cells in _split_rows("".join(first_lines), separator)
            ]
        # perhaps a line without this separator, as a cell that is too long
        except DataError as error:
            last_error = error
            continue
        width_counts = Counter(width for width in n_cells_by_line if width > 1)
        if width_counts and (separator != BLANKS or not best_separator):
            width, n_lines = width_counts.most_common(1)[0]
            if (agreement := (n_lines, n_cells_by_line[0] > 1, width)) > best_agreement:
                best_separator = separator
                best_agreement = agreement
    if last_error is not None and (
        not best_separator
        or (best_separator == BLANKS and any(map(first_lines[0].__contains__, SEPARATORS)))
    ):
        raise last_error
    if not best_separator:
        first_line = first_lines[0].strip()
        if len(first_line) > 60:
            first_line = first_line[:57] + "..."
        raise DataError(
            f"The columns cannot be separated; the first line is {first_line!r}."
            " Expected at least two columns, separated by commas, semicolons, tabs or spaces."
        )
    return best_separator


def _split_rows(text: str, separator: str) -> Rows:
    """Yield (line number, cells) of each line that is not empty."""
    text_lines = io.StringIO(text, newline="")
    if separator == BLANKS:
        for line_number, line in enumerate(text_lines, start=1):
            cells = [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', line)]
            if cells:
                yield line_number, cells
        return
    reader = csv.reader(text_lines, delimiter=separator)
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


def split_even_text(text: str, separator: str) -> TextTable | None:
    """Split a text whose lines have equally many cells, without a loop over lines.

    The cells equal the result of `assemble_columns`, without a loop over lines. Return None for
    another text.
    """
    # Most large files have equally many cells in all lines; other files are read line by line.
    text = text.replace("\r\n", "\n")
    if separator == BLANKS or '"' in text or "\r" in text:
        return None
    if not text.endswith("\n"):
        text += "\n"
    text_bytes = np.frombuffer(text.encode(), np.uint8)
    cell_ends = np.flatnonzero((text_bytes == ord(separator)) | (text_bytes == 10))
    n_columns = text.count(separator, 0, text.index("\n")) + 1
    if (
        n_columns < 2
        or len(cell_ends) % n_columns
        or len(cell_ends) < 2 * n_columns
        or np.diff(cell_ends).max() > csv.field_size_limit()
    ):
        return None
    if (
        (text_bytes[cell_ends].reshape(-1, n_columns) == 10)
        != (np.arange(n_columns) == n_columns - 1)
    ).any():
        return None
    cells = text[:-1].replace("\n", separator).split(separator)
    header = [normalise_spelling(name) for name in cells[:n_columns]]
    if not header[-1]:
        return None
    columns = [_strip_cells(cells[k::n_columns]) for k in range(n_columns, 2 * n_columns)]
    if all("" in column for column in columns):  # perhaps a row without text, which is skipped
        return None
    return _drop_empty_columns(header, columns, range(2, len(columns[0]) + 2), separator != ",")


def _strip_cells(column: list[str]) -> list[str]:
    """Return the cells without blanks at their ends."""
    stripped_cells = {cell: normalise_spelling(cell) for cell in set(column)}
    if all(cell is stripped_cell for cell, stripped_cell in stripped_cells.items()):
        return column
    return list(map(stripped_cells.__getitem__, column))


def assemble_columns(
    rows: Rows, decimal_comma: bool, note: str = "", ragged: bool = True
) -> TextTable:
    """Turn rows of cells (the first is the header) into columns; check their widths.

    `ragged`: a short row is an error; otherwise empty cells fill it.
    """
    _, header = next(rows, (0, []))
    header = [normalise_spelling(column_name) for column_name in header]
    first_rows = list(islice(rows, 2))
    if not first_rows:
        raise DataError("The file has a header but no rows of data.")
    # a second header line, whose first cell is empty, may name these columns
    names_below = first_rows[0][1] if not first_rows[0][1][0] else []
    while header and not header[-1] and not any(names_below[len(header) - 1 :]):
        header.pop()
    if len(header) < 2 <= max(len(cells) for _, cells in first_rows):
        raise DataError(
            f"The first line contains only {' '.join(header)!r}, but column names are expected;"
            " remove all lines above the column names."
        )
    # R's write.table gives the column of row names no name; any other surplus cell is an error
    if ragged and all(len(cells) == len(header) + 1 for _, cells in first_rows):
        first_rows += rows
        if _has_row_names(header, [cells for _, cells in first_rows], decimal_comma):
            header = ["", *header]
    n_columns = len(header)
    columns: list[list[str]] = [[] for _ in header]
    line_numbers: list[int] = []
    n_gaps = 0
    for line_number, cells in chain(first_rows, rows):
        if len(cells) != n_columns:
            check_paircomp(header, cells)
            n_gaps += n_columns - len(cells)
            is_short = ragged and len(cells) < n_columns
            if is_short or any(map(str.strip, cells[n_columns:])) or n_gaps > MAX_CELLS:
                raise DataError(
                    f"Line {line_number} has {format_plural(len(cells), 'cell')}, but the header"
                    f" has {n_columns} columns; give every row the same number of cells (quote"
                    " labels that contain the separator)."
                )
            cells = cells[:n_columns] + [""] * (n_columns - len(cells))
        for column, cell in zip(columns, cells, strict=True):
            column.append(cell)
        line_numbers.append(line_number)
    for column_name, column in zip(header, columns, strict=True):
        check_paircomp([column_name], column[:1])
    return _drop_empty_columns(
        header, [_strip_cells(column) for column in columns], line_numbers, decimal_comma, note
    )


def _has_row_names(header: list[str], rows: list[list[str]], has_no_commas: bool) -> bool:
    """Return whether each row has one more cell than the header: a row name."""
    # `is_plain`: the separator is not a comma, so no label was split.
    if {len(cells) for cells in rows} != {len(header) + 1} or not any(
        row[-1].strip() for row in rows
    ):
        return False
    row_names = [cells[0].strip() for cells in rows]
    are_names = has_no_commas or {*row_names} <= {*header} or all(map(INTEGER.fullmatch, row_names))
    return are_names and len(rows) == len({*row_names})


# Lower triangles, whose rows end at the diagonal --------------------------------------------------


def complete_triangle(rows: NumberedRows) -> NumberedRows | None:
    """Mirror a lower triangle of numbers to a square with labels; None for other rows.

    The diagonal, the first row, the header and the labels may be absent. The first line may contain
    the number of objects.
    """
    numbered_rows = [(line, list(map(normalise_spelling, cells))) for line, cells in rows]
    for _, cells in numbered_rows:
        while cells and not cells[-1]:
            cells.pop()
    if numbered_rows[0][1] == [str(len(numbered_rows) - 1)]:
        numbered_rows = numbered_rows[1:]
    if not all(cells for _, cells in numbered_rows):
        return None
    header = numbered_rows[0][1]
    first_cells = [cells[0] for _, cells in numbered_rows]
    number_labels = [str(k) for k in range(1, len(numbered_rows) + 2)]
    # with a header and labels, with labels only, and with numbers only
    layouts = [
        (_find_objects(header, first_cells), numbered_rows[1:], 1),
        (first_cells, numbered_rows, 1),
        (number_labels, numbered_rows, 0),
    ]
    if _is_numeric(first_cells) and first_cells != number_labels[:-1]:
        layouts.pop(1)  # the first column contains numbers of the triangle
    for names, body, n_labels in layouts:
        triangle = [(line, cells[n_labels:]) for line, cells in body]
        if not n_labels and len({cells[-1] for _, cells in triangle}) == 1:
            names = names[:-1]  # the diagonal, all the same
        if (
            names
            and (square_rows := _complete_rows(names, triangle, numbered_rows[0][0])) is not None
        ):
            return [(numbered_rows[0][0], ["", *names]), *square_rows]
    return None


def _find_objects(header: list[str], row_labels: list[str]) -> list[str]:
    """Return the object labels of a triangle with header and row labels; [] otherwise."""
    if header[0] == "" or header[1:] == row_labels[1:]:  # the corner
        header = header[1:]
    object_labels = [*header[:1], *row_labels[1:]]  # the first row, which has no numbers, is absent
    if row_labels[1:2] == header[:1]:
        object_labels = row_labels[1:]
    are_names = not _is_numeric(header) or all(map(INTEGER.fullmatch, header))
    if not are_names or header not in (object_labels, object_labels[:-1]):
        return []
    return object_labels


def _complete_rows(
    object_labels: list[str], triangle: NumberedRows, first_line: int
) -> NumberedRows | None:
    """Mirror the rows of a lower triangle to a square; None for rows of other lengths."""
    # The cells must be numbers, and all rows must end at the diagonal or just before it.
    if not all(_is_numeric(cells) for _, cells in triangle):
        return None
    n_absent_rows = len(object_labels) - len(triangle)
    row_lengths = [len(cells) for _, cells in triangle]
    lengths_without_diagonal = [*range(n_absent_rows, len(object_labels))]
    if row_lengths not in (
        lengths_without_diagonal,
        [width + 1 for width in lengths_without_diagonal],
    ):
        return None
    numbered_rows: NumberedRows = [*[(first_line, [])] * n_absent_rows, *triangle]
    return [
        (line, [name, *cells, *[""] * (len(object_labels) - len(cells))])
        for name, (line, cells) in zip(object_labels, numbered_rows, strict=True)
    ]


def _is_numeric(cells: list[str]) -> bool:
    """Return whether all cells are numbers or signs for missing."""
    return all(
        NUMBER.fullmatch(cell) or DECIMAL_COMMA.fullmatch(cell) or cell in MISSING for cell in cells
    )


def _drop_empty_columns(
    header: list[str], columns: list[list[str]], line_numbers: list[int] | range, *settings: Any
) -> TextTable:
    """Drop the columns that have neither a name nor text."""
    used_columns = [k for k in range(len(header)) if header[k] or any(columns[k])]
    return TextTable(
        [header[k] for k in used_columns],
        [columns[k] for k in used_columns],
        line_numbers,
        *settings,
    )


def check_repeated_header(cells: TextTable) -> None:
    """Raise DataError if a row repeats the header's names, as in merged files."""
    header = cells.header
    if (
        len(header) < 2
        or all(not name or NUMBER.fullmatch(name) for name in header)
        or header[0] not in cells.columns[0]
    ):
        return
    for line, *row in zip(cells.lines, *cells.columns, strict=True):
        if row == header:
            raise DataError(
                f"Line {line} repeats the column names; if files were merged, keep only the first"
                " header."
            )


def check_paircomp(header: list[str], cells: list[str]) -> None:
    """Raise DataError for cells with printed comparisons of R's psychotools.

    The comparisons are in one cell, or in several where nothing is quoted.
    """
    for name, cell, column_index in zip(header, cells, range(len(cells)), strict=False):
        if cell.lstrip().startswith("{") and any(
            _COMPARED.search(later_cell) for later_cell in cells[column_index:]
        ):
            raise DataError(
                f"Column {name!r} contains R's abbreviated printout of a paircomp object; in R,"
                f" write.csv(as.matrix(x${name})) writes the comparisons, one column per pair."
            )
