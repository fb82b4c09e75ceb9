"""Tables from files: CSV, TSV, Excel and Parquet."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from thali._source import Source, read_source
from thali.data.columns import note_thousands, refuse_nested
from thali.data.roles import RESPONDENT, by_plain_name
from thali.errors import Argument, DataError

from .cells import CODE, DECIMAL_COMMA, INTEGER, MISSING, NUMBER, Cells, text_cells
from .formats import excel_sheets, is_preflib, parquet_frame, preflib_cells
from .square import Square, square_of
from .where import Where

_NO_EXCEL = "This is no Excel workbook, whatever its name says, and no table as text; save it as .xlsx or CSV."
_OTHER_KINDS: dict[str, str] = dict.fromkeys((".xlsx", ".xlsm", ".xls"), _NO_EXCEL) | {
    ".parquet": "This is no Parquet file, whatever its name says, and no table as text; write it again, or save CSV."
}


@dataclass(frozen=True)
class Table:
    """A table as read, once for all shapes that are tried; its rows are numbered as in the file."""

    frame: pd.DataFrame
    file: str  # its name, for errors
    named: bool = True  # False: the columns have no names, as in a bare square of numbers
    note: str = ""  # what else there was
    short_rows: str = ""  # what is wrong unless this is a triangle, whose rows may end at the diagonal
    sheets: "tuple[tuple[str, Table], ...]" = ()  # of a workbook with several alike squares, by their titles
    decimal_comma: bool | None = None  # of a table of text; None: the file says itself which columns are numbers
    conditioned: tuple[str, ...] = ()  # the columns by which rows were left out

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [str(name) for name in self.frame.columns]

    @cached_property
    def square(self) -> Square | None:
        """The table as a square, None if it is none."""
        return square_of(self.frame, self.named)

    def refuse_short_rows(self) -> None:
        """Raise an error if rows end early."""
        if self.short_rows:
            raise DataError(f"{self.file}: {self.short_rows}")

    def only(self, where: Where) -> "Table":
        """The rows that fulfil the conditions, as if the file had no others; the note says how many were left out."""
        if not where.conditions:
            return self
        if self.sheets:
            raise DataError(Argument("where"), " is for rows, but this workbook holds squares; leave it out.")
        kept = where.holds(self.frame)
        if not kept.any():
            where.refuse_none_left(self.frame)
        where.warn_of_unknown_values(self.frame)
        frame = self.frame.loc[kept]
        if self.decimal_comma is not None and not kept.all():
            frame = _typed_again(frame, self.decimal_comma)
        note = "; ".join(filter(None, [self.note, where.left_out(len(kept), int(kept.sum()))]))
        return replace(self, frame=frame, note=note, conditioned=where.columns)


def read_table(path: str | Path | Source, where: str | Sequence[str] | None = None) -> pd.DataFrame:
    """A table from a CSV, TSV, Excel or Parquet file.

    The kind of file, its encoding, separator and decimal comma are recognised from its content. A column is
    numeric if all its cells are numbers or empty ("", "NA", "-", "."); numbers with leading zeros ("001") are
    names, and so is "NA" in a column of names. Excel: the first sheet that holds anything.

    Parameters
    ----------
    path : str, Path or Source
    where : str or list of str, optional
        Conditions on columns, all of which must hold; other rows are left out, as if the file did not have them. A
        condition compares a column by ==, !=, <, <=, > or >= with a number or a text, or says ``in (a, b)``,
        ``is missing`` or ``is not missing``; several are joined by ``and``. Names and texts of one word need no
        quotes. Columns of numbers are compared as numbers, others as texts; an empty cell is unequal to every value.

    Returns
    -------
    DataFrame
        One row for each row of the file that is not empty and fulfils the conditions. A square table of numbers without
        a header has the columns "0", "1", ...; an unnamed column is called "column 1", "column 2", ... by its position.

    Raises
    ------
    ArgumentError
        If a condition cannot be read.
    DataError
        If the file is absent, a folder, empty, not a table, or ragged; if two columns bear the same name; if a
        condition names no column, compares texts with a number, or leaves no row.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tea.csv"
    >>> _ = path.write_text("winner;loser;times\\ntea;milk;3\\nmilk;tea;1\\n")
    >>> read_table(path)
      winner loser  times
    0    tea  milk      3
    1   milk   tea      1
    >>> read_table(path, where="times > 1 and winner != rum")
      winner loser  times
    0    tea  milk      3
    """
    conditions = Where.of(where)
    table = load(path)
    table.refuse_short_rows()
    with in_file(table.file):
        table = table.only(conditions)
    return table.frame.reset_index(drop=True)


@contextmanager
def in_file(name: str) -> Iterator[None]:
    """Errors about the data begin with the name of the file."""
    try:
        yield
    except DataError as error:
        error.args = (f"{name}: ", *error.args)
        raise


def load(path: str | Path | Source) -> Table:
    """The table in a file, parsed once; errors name the file."""
    name, content = read_source(path)
    with in_file(name):
        if content.startswith(b"PAR1"):
            return _parquet(content, name)
        if content.startswith(b"PK\x03\x04"):
            return _workbook({title: text_table(cells, name) for title, cells in excel_sheets(content).items()})
        if content.startswith(b"\xd0\xcf\x11\xe0"):
            raise DataError("This is an old (.xls) or locked Office file; save it as .xlsx or CSV.")
        if is_preflib(name, content):
            return text_table(preflib_cells(content), name)
        try:
            return text_table(text_cells(content), name)
        except DataError as error:
            raise DataError(_OTHER_KINDS.get(Path(name).suffix.lower(), error)) from None


def _workbook(sheets: dict[str, Table]) -> Table:
    """The sheets as one table: several squares side by side, several lists one below the other."""
    tables = list(sheets.values())
    if len(tables) == 1:
        return tables[0]
    first = tables[0]
    if all(table.square is not None for table in tables):
        return replace(first, sheets=tuple(sheets.items()))
    own = by_plain_name(first.names)
    frames = [table.frame for table in tables]
    if RESPONDENT.among(own) is None:
        frames = [table.frame.assign(subject=title) for title, table in sheets.items()]
    return replace(first, frame=pd.concat(frames))


def _parquet(content: bytes, file: str) -> Table:
    frame = parquet_frame(content)
    frame = frame.set_axis(_names(list(frame.columns)), axis=1).set_axis(range(1, len(frame) + 1))
    for _, values in frame.items():
        refuse_nested(values)
    return Table(frame, file)


def _names(header: list[str]) -> list[str]:
    names = [name or f"column {k}" for k, name in enumerate(header, start=1)]
    seen: dict[str, int] = {}
    for k, name in enumerate(names, start=1):
        if (first := seen.setdefault(name, k)) != k:
            raise DataError(
                f"Columns {first} and {k} are both called {name!r}; the first line must hold names that differ."
            )
    return names


def text_table(cells: Cells, file: str, texts: Mapping[str, bool] | None = None) -> Table:
    """The table of these cells: columns of numbers and of text; `texts`: of which columns that is known."""
    cells = _without_questions(cells)
    header, columns, lines = cells.header, cells.columns, cells.lines
    named = not (len(header) == len(lines) + 1 and all(map(NUMBER.fullmatch, header)))
    if not named:  # a square of numbers: what looked like the header is its first row
        columns = [[name, *column] for name, column in zip(header, columns, strict=True)]
        lines = [1, *lines]
        header = [str(k) for k in range(len(header))]
    known = texts or {}
    typed = {
        name: _typed(column, cells.decimal_comma, known.get(name))
        for name, column in zip(_names(header), columns, strict=True)
    }
    frame = pd.DataFrame(typed, index=lines)
    if cells.decimal_comma:
        columns_of = dict(zip(typed, columns, strict=True))
        note_thousands(frame, {name: columns_of[name] for name in typed if frame[name].dtype.kind == "f"})
    return Table(frame, file, named, cells.note, cells.short_rows, decimal_comma=cells.decimal_comma)


def _without_questions(cells: Cells) -> Cells:
    """The table without the two lines of questions and of ids that Qualtrics writes below the header."""
    if not any(len(column) > 2 and column[1].startswith('{"ImportId"') for column in cells.columns):
        return cells
    note = "; ".join(filter(None, [cells.note, "Qualtrics' lines of questions and of ids left out"]))
    columns = [column[2:] for column in cells.columns]
    return Cells(cells.header, columns, cells.lines[2:], cells.decimal_comma, note, cells.short_rows)


def holds_text(texts: set[str], decimal_comma: bool) -> bool | None:
    """Whether a column of these cells holds text rather than numbers; None if all are empty."""
    written = texts - MISSING
    if not written:
        return None
    if any(CODE.fullmatch(text) for text in written):
        return True
    return not all(NUMBER.fullmatch(text) or decimal_comma and DECIMAL_COMMA.fullmatch(text) for text in written)


def _typed(
    column: list[str], decimal_comma: bool, text: bool | None = None
) -> "np.ndarray | pd.api.extensions.ExtensionArray":
    """Numbers if all cells are, text otherwise, unless that is known; each distinct text is looked at once."""
    texts = set(column)
    if (holds_text(texts, decimal_comma) is not False) if text is None else text:
        return _text(column)
    if all(INTEGER.fullmatch(text) for text in texts) and max(map(len, texts), default=0) < 18:
        integers = {text: int(text) for text in texts}
        return np.fromiter(map(integers.__getitem__, column), np.int64, len(column))
    numbers = {text: np.nan if text in MISSING else _as_float(text) for text in texts}
    return np.fromiter(map(numbers.__getitem__, column), np.float64, len(column))


def _as_float(text: str) -> float:
    """The number in a cell, with a comma or a point."""
    return float(text if NUMBER.fullmatch(text) else text.replace(",", "."))


def _typed_again(frame: pd.DataFrame, decimal_comma: bool) -> pd.DataFrame:
    """Some rows of a table of text, with numbers in the columns that hold nothing else there."""
    again = {}
    for name, values in frame.items():
        if not pd.api.types.is_numeric_dtype(values.dtype):
            column = ["" if value is None or value != value else value for value in values]
            texts = set(column)
            if all(isinstance(text, str) for text in texts) and holds_text(texts, decimal_comma) is False:
                again[name] = _typed(column, decimal_comma)
    return frame.assign(**again)


def _text(column: list[str]) -> "np.ndarray | pd.api.extensions.ExtensionArray":
    place = {text: k for k, text in enumerate(dict.fromkeys(column))}
    codes = np.fromiter(map(place.__getitem__, column), np.int64, len(column))
    return pd.Series([text or None for text in place]).array.take(codes)
