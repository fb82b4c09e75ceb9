"""Tables from files: CSV, TSV, Excel and Parquet, and what comparisons or similarities they hold."""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from thali.data.cells import DECIMAL_COMMA, MISSING, Cells, text_cells
from thali.data.columns import refuse_nested
from thali.data.excel import excel_cells
from thali.data.pairs import PairedComparisons
from thali.data.parquet import parquet_frame
from thali.data.recognise import recognised
from thali.data.recognise_similarities import (
    COMPARISONS,
    EITHER,
    SIMILARITIES,
    is_fractional_square,
    kind_of_table,
    recognised_similarities,
    refuse_similarities,
)
from thali.data.similarity import Similarities
from thali.data.source import Source, read_source
from thali.errors import DataError

INTEGER = re.compile(r"[+-]?\d+")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?[Ii]nf(inity)?")
CODE = re.compile(r"0\d+")  # "001" is a name, not the number 1

_BINARY = (b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # how files that are no text begin
_NO_EXCEL = "This is no Excel workbook, whatever its name says. "
_OTHER_KINDS: dict[str, str] = dict.fromkeys((".xlsx", ".xlsm", ".xls"), _NO_EXCEL) | {
    ".parquet": "This is no Parquet file, whatever its name says. "
}


class Table(NamedTuple):
    """A table as read: rows numbered as in the file, whether its columns bear names, what else there was."""

    frame: pd.DataFrame
    named: bool
    note: str
    file: str  # its name, for errors


def read_table(path: str | Path | Source) -> pd.DataFrame:
    """A table from a CSV, TSV, Excel or Parquet file.

    The kind of file, its encoding, separator and decimal comma are recognised from its content. A column is
    numeric if all its cells are numbers or empty ("", "NA", "-", "."); numbers with leading zeros ("001") are
    names, and so is "NA" in a column of names. Excel: the first sheet that holds anything.

    Parameters
    ----------
    path : str, Path or Source

    Returns
    -------
    DataFrame
        One row for each row of the file that is not empty. A square table of numbers without a header has the
        columns "0", "1", ...; an unnamed column is called "column 1", "column 2", ... by its position.

    Raises
    ------
    DataError
        If the file is absent, a folder, empty, not a table, or ragged; if two columns bear the same name.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tea.csv"
    >>> _ = path.write_text("winner;loser;times\\ntea;milk;3\\nmilk;tea;1\\n")
    >>> read_table(path)
      winner loser  times
    0    tea  milk      3
    1   milk   tea      1
    """
    return load(path).frame.reset_index(drop=True)


def read_comparisons(path: str | Path | Source, *, weights: bool = False) -> tuple[PairedComparisons, str]:
    """Paired comparisons from a file, and a sentence that tells how it was read.

    Read are a square table of counts, row over column, labelled in its first column and header, in its
    header, or not at all; a long table whose columns say what was chosen and what was not (chosen/rejected,
    winner/loser, preferred/other, i/j, ..., with or without a column of counts); and a table of pairs with
    the times each of the two was chosen (a, b, a_over_b, b_over_a; item1, item2, wins1, wins2; ...). The
    orientation of a square table cannot be recognised: if columns were chosen over rows, transpose it first.

    Parameters
    ----------
    path : str, Path or Source
        A CSV, TSV, Excel or Parquet file.
    weights : bool
        Fractional counts are meant; a column called "weight" says so too.

    Returns
    -------
    PairedComparisons
    str
        Such as "square count matrix, row over column: 9 options, 36 pairs, 8,424 comparisons".

    Raises
    ------
    DataError
        If the file cannot be read, can be read in no way or in several, tells of ties, or holds bad counts.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tea.csv"
    >>> _ = path.write_text("winner;loser;times\\ntea;milk;3\\nmilk;tea;1\\n")
    >>> read_comparisons(path)[1]
    "long table, 'winner' chosen over 'loser', counted by 'times': 2 options, 1 pair, 4 comparisons"
    """
    return as_comparisons(load(path), weights)


def read_similarities(path: str | Path | Source, *, symmetrize: str | None = None) -> tuple[Similarities, str]:
    """Similarities from a file, and a sentence that tells how it was read.

    Read are a square table, labelled in its first column and header, in its header, or not at all, whole or
    one triangle of it (the other empty or 0; rows may end at the diagonal); and a list of pairs whose columns
    say which two objects and how similar they are (first, second, similarity; a, b, sim; item1, item2, rating;
    ..., with or without a column of counts), repeated rows of a pair averaged. The diagonal is not read.

    Parameters
    ----------
    path : str, Path or Source
        A CSV, TSV, Excel or Parquet file.
    symmetrize : "mean", optional
        Take the mean of the two sides of a square table where they differ; None: an error.

    Returns
    -------
    Similarities
    str
        Such as "10 objects, 45 similarities, square table; the diagonal was not read".

    Raises
    ------
    DataError
        If the file cannot be read, is not a table of similarities, or holds bad ones.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tea.csv"
    >>> _ = path.write_text(",tea,coffee,milk\\ntea\\ncoffee,0.8\\nmilk,0.3,0.45\\n")
    >>> read_similarities(path)[1]
    '3 objects, 3 similarities, lower triangle; the diagonal was not read'
    """
    return _as_similarities(load(path, triangle=True), symmetrize)


def looks_like_similarities(path: str | Path | Source) -> bool:
    """Whether a file holds similarities rather than comparisons.

    A list does if a column says how similar two objects are. A square table does if it is symmetric or one
    triangle, and holds numbers that are no counts; one of whole numbers could be either and does not.

    Parameters
    ----------
    path : str, Path or Source

    Returns
    -------
    bool

    Raises
    ------
    DataError
        If the file cannot be read.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tea.csv"
    >>> _ = path.write_text(",tea,milk\\ntea,1,0.3\\nmilk,0.3,1\\n")
    >>> looks_like_similarities(path)
    True
    """
    return _kind(load(path, triangle=True)) == SIMILARITIES


def read_data(path: str | Path | Source) -> tuple[PairedComparisons | Similarities, str]:
    """Similarities if a file looks like them, paired comparisons if not, and how it was read.

    Parameters
    ----------
    path : str, Path or Source
        A CSV, TSV, Excel or Parquet file.

    Returns
    -------
    PairedComparisons or Similarities
    str
        As from `read_comparisons` or `read_similarities`; that of a table that could be either says so.

    Raises
    ------
    DataError
        If the file cannot be read as what it looks like.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tea.csv"
    >>> _ = path.write_text(",tea,milk\\ntea,1,0.3\\nmilk,0.3,1\\n")
    >>> read_data(path)
    (Similarities(2 objects, 1 similarity), '2 objects, 1 similarity, square table; the diagonal was not read')
    """
    source = read_source(path)
    if looks_like_similarities(source):
        return read_similarities(source)
    return read_comparisons(source)


def as_comparisons(table: Table, weights: bool = False) -> tuple[PairedComparisons, str]:
    """The comparisons in a table that was loaded, as `read_comparisons` tells them."""
    try:
        kind = kind_of_table(table.frame, table.named)
        if kind == SIMILARITIES and not weights:
            refuse_similarities(table.frame, table.named)
        data, told = recognised(table.frame, table.named, weights)
        if kind == EITHER:
            told += "; the table is symmetric: if these are similarities, say --model additive"
    except DataError as error:
        hint = " If these are similarities, say --model additive." if _may_be_similarities(table) else ""
        raise DataError(f"{table.file}: {error}{hint}") from None
    return data, f"{told}; {table.note}" if table.note else told


def _may_be_similarities(table: Table) -> bool:
    """Whether a table that was refused as comparisons is a square that may hold similarities."""
    try:
        kind = kind_of_table(table.frame, table.named)
        return kind == EITHER or (kind == COMPARISONS and is_fractional_square(table.frame, table.named))
    except DataError:
        return False


def _as_similarities(table: Table, symmetrize: str | None) -> tuple[Similarities, str]:
    try:
        data, told = recognised_similarities(table.frame, table.named, symmetrize)
    except DataError as error:
        raise DataError(f"{table.file}: {error}") from None
    return data, f"{told}; {table.note}" if table.note else told


def _kind(table: Table) -> str:
    try:
        return kind_of_table(table.frame, table.named)
    except DataError as error:
        raise DataError(f"{table.file}: {error}") from None


def load(path: str | Path | Source, triangle: bool = False) -> Table:
    """The table in a file; errors name the file. `triangle`: rows of text may end at the diagonal."""
    name, content = read_source(path)
    try:
        if content.startswith(b"PAR1"):
            return _parquet(content, name)
        if content.startswith(b"PK\x03\x04"):
            return _table(excel_cells(content), name)
        if content.startswith(b"\xd0\xcf\x11\xe0"):
            raise DataError("This is an old (.xls) or locked Office file; save it as .xlsx or CSV.")
        return _table(text_cells(content, triangle), name)
    except DataError as error:
        hint = _OTHER_KINDS.get(Path(name).suffix.lower(), "")
        raise DataError(f"{name}: {hint if not content.startswith(_BINARY) else ''}{error}") from None


def _parquet(content: bytes, file: str) -> Table:
    frame = parquet_frame(content)
    frame = frame.set_axis(_names(list(frame.columns)), axis=1).set_axis(range(1, len(frame) + 1))
    for _, values in frame.items():
        refuse_nested(values)
    return Table(frame, True, "", file)


def _names(header: list[str]) -> list[str]:
    names = [name or f"column {k}" for k, name in enumerate(header, start=1)]
    seen: dict[str, int] = {}
    for k, name in enumerate(names, start=1):
        if (first := seen.setdefault(name, k)) != k:
            raise DataError(
                f"Columns {first} and {k} are both called {name!r}; the first line must hold names that differ."
            )
    return names


def _table(cells: Cells, file: str) -> Table:
    header, columns, lines = cells.header, cells.columns, cells.lines
    named = not (len(header) == len(lines) + 1 and all(map(NUMBER.fullmatch, header)))
    if not named:  # a square of numbers: what looked like the header is its first row
        columns = [[name, *column] for name, column in zip(header, columns, strict=True)]
        lines = [1, *lines]
        header = [str(k) for k in range(len(header))]
    typed = [_typed(column, cells.decimal_comma) for column in columns]
    frame = pd.DataFrame(dict(zip(_names(header), typed, strict=True)), index=lines)
    return Table(frame, named, cells.note, file)


def _typed(column: list[str], decimal_comma: bool) -> list | np.ndarray:
    """Numbers if all cells are, text otherwise."""
    texts = set(column)
    told = texts - MISSING
    if not told or any(CODE.fullmatch(text) for text in told):
        return _text(column)
    if all(INTEGER.fullmatch(text) for text in texts) and max(map(len, texts)) < 18:
        numbers = {text: int(text) for text in texts}
        return np.array([numbers[cell] for cell in column], dtype=np.int64)
    numbers = dict.fromkeys(texts & MISSING, np.nan)
    for text in told:
        if NUMBER.fullmatch(text):
            numbers[text] = float(text)
        elif decimal_comma and DECIMAL_COMMA.fullmatch(text):
            numbers[text] = float(text.replace(",", "."))
        else:
            return _text(column)
    return np.array([numbers[cell] for cell in column])


def _text(column: list[str]) -> list:
    return [cell or None for cell in column]
