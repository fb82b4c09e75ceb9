"""Tables from files: CSV, TSV, Excel and Parquet, and what comparisons or similarities they hold."""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from thali.data.cells import DECIMAL_COMMA, MISSING, Cells, excel_cells, text_cells
from thali.data.check import as_label, suggest
from thali.data.pairs import PairedComparisons
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
from thali.errors import DataError

INTEGER = re.compile(r"[+-]?\d+")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?[Ii]nf(inity)?")
CODE = re.compile(r"0\d+")  # "001" is a name, not the number 1


class Table(NamedTuple):
    """A table as read: rows numbered as in the file, whether its columns bear names, what else there was."""

    frame: pd.DataFrame
    named: bool
    note: str


def read_table(path: str | Path) -> pd.DataFrame:
    """A table from a CSV, TSV, Excel or Parquet file.

    The kind of file, its encoding, separator and decimal comma are recognised from its content. A column is
    numeric if all its cells are numbers or empty ("", "NA", "-", "."); numbers with leading zeros ("001") are
    names, and so is "NA" in a column of names. Excel: the first sheet that holds anything.

    Parameters
    ----------
    path : str or Path

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


def read_comparisons(path: str | Path, *, weights: bool = False) -> tuple[PairedComparisons, str]:
    """Paired comparisons from a file, and a sentence that tells how it was read.

    Read are a square table of counts, row over column, labelled in its first column and header, in its
    header, or not at all; a long table whose columns say what was chosen and what was not (chosen/rejected,
    winner/loser, preferred/other, i/j, ..., with or without a column of counts); and a table of pairs with
    the times each of the two was chosen (a, b, a_over_b, b_over_a; item1, item2, wins1, wins2; ...). The
    orientation of a square table cannot be recognised: if columns were chosen over rows, transpose it first.

    Parameters
    ----------
    path : str or Path
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
    return as_comparisons(load(path), path, weights)


def read_similarities(path: str | Path, *, symmetrize: str | None = None) -> tuple[Similarities, str]:
    """Similarities from a file, and a sentence that tells how it was read.

    Read are a square table, labelled in its first column and header, in its header, or not at all, whole or
    one triangle of it (the other empty or 0; rows may end at the diagonal); and a list of pairs whose columns
    say which two objects and how similar they are (first, second, similarity; a, b, sim; item1, item2, rating;
    ..., with or without a column of counts), repeated rows of a pair averaged. The diagonal is not read.

    Parameters
    ----------
    path : str or Path
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
    return _as_similarities(load(path, triangle=True), path, symmetrize)


def looks_like_similarities(path: str | Path) -> bool:
    """Whether a file holds similarities rather than comparisons.

    A list does if a column says how similar two objects are. A square table does if it is symmetric or one
    triangle, and holds numbers that are no counts; one of whole numbers could be either and does not.

    Parameters
    ----------
    path : str or Path

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
    return _kind(load(path, triangle=True), path) == SIMILARITIES


def read_data(path: str | Path) -> tuple[PairedComparisons | Similarities, str]:
    """Similarities if a file looks like them, paired comparisons if not, and how it was read.

    Parameters
    ----------
    path : str or Path
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
    if looks_like_similarities(path):
        return read_similarities(path)
    return read_comparisons(path)


def as_comparisons(table: Table, path: str | Path, weights: bool = False) -> tuple[PairedComparisons, str]:
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
        raise DataError(f"{Path(path).name}: {error}{hint}") from None
    return data, f"{told}; {table.note}" if table.note else told


def _may_be_similarities(table: Table) -> bool:
    """Whether a table that was refused as comparisons is a square that may hold similarities."""
    try:
        kind = kind_of_table(table.frame, table.named)
        return kind == EITHER or (kind == COMPARISONS and is_fractional_square(table.frame, table.named))
    except DataError:
        return False


def _as_similarities(table: Table, path: str | Path, symmetrize: str | None) -> tuple[Similarities, str]:
    try:
        data, told = recognised_similarities(table.frame, table.named, symmetrize)
    except DataError as error:
        raise DataError(f"{Path(path).name}: {error}") from None
    return data, f"{told}; {table.note}" if table.note else told


def _kind(table: Table, path: str | Path) -> str:
    try:
        return kind_of_table(table.frame, table.named)
    except DataError as error:
        raise DataError(f"{Path(path).name}: {error}") from None


def load(path: str | Path, triangle: bool = False) -> Table:
    """The table in a file; errors name the file. `triangle`: rows of text may end at the diagonal."""
    path = Path(path).expanduser()
    content = _content(path)
    try:
        if content.startswith(b"PAR1"):
            return _parquet(path)
        if content.startswith(b"PK\x03\x04"):
            return _table(excel_cells(content))
        if content.startswith(b"\xd0\xcf\x11\xe0"):
            raise DataError("This is an old (.xls) or locked Office file; save it as .xlsx or CSV.")
        return _table(text_cells(content, triangle))
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from None


def _content(path: Path) -> bytes:
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a folder; name a file in it.")
    if not path.exists():
        beside = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        raise DataError(f"There is no file {str(path)!r}.{suggest(path.name, beside)}")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    if not content.strip():
        raise DataError(f"{path.name}: The file is empty.")
    return content


def _parquet(path: Path) -> Table:
    try:
        frame = pd.read_parquet(path)
    except ImportError:
        raise DataError('Parquet files need pyarrow: pip install "thali[files]", or save as CSV.') from None
    except (ValueError, OSError) as error:
        raise DataError(f"This is not a readable Parquet file ({error}).") from None
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index(names=[name or "" for name in frame.index.names])
    if not len(frame):
        raise DataError("The file holds a header but no row of data below it.")
    names = _names([as_label(name) for name in frame.columns])
    return Table(frame.set_axis(names, axis=1).set_axis(range(1, len(frame) + 1)), True, "")


def _names(header: list[str]) -> list[str]:
    names = [name or f"column {k}" for k, name in enumerate(header, start=1)]
    for k, name in enumerate(names):
        if name in names[:k]:
            raise DataError(
                f"Columns {names.index(name) + 1} and {k + 1} are both called {name!r}; the first line must "
                "hold names that differ."
            )
    return names


def _table(cells: Cells) -> Table:
    header, columns, lines = cells.header, cells.columns, cells.lines
    named = not (len(header) == len(lines) + 1 and all(map(NUMBER.fullmatch, header)))
    if not named:  # a square of numbers: what looked like the header is its first row
        columns = [[name, *column] for name, column in zip(header, columns, strict=True)]
        lines = [1, *lines]
        header = [str(k) for k in range(len(header))]
    typed = [_typed(column, cells.decimal_comma) for column in columns]
    frame = pd.DataFrame(dict(zip(_names(header), typed, strict=True)), index=lines)
    return Table(frame, named, cells.note)


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
