"""`Table`, a data frame of results that exports to LaTeX, Markdown and Excel."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from ._inference.checksummed_files import atomic_write
from ._labels import escape_unprintable
from ._number_format import DECIMALS, Marks, count_decimals, format_names
from ._number_format import format_cell as written_cell
from ._object_descriptions import is_numbered
from .errors import ArgumentError

_FILES = 'pip install "thali[files]"'

_LATEX_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
} | {letter: f"\\{letter}" for letter in "&%$#_{}"}
_MARKDOWN_ESCAPES = {letter: f"\\{letter}" for letter in "\\`*_{}[]<>#|~&$!"}


def _escape_latex(name: Any) -> str:
    """Return a name as LaTeX text, special characters escaped."""
    escaped_text = "".join(
        _LATEX_ESCAPES.get(letter, letter) for letter in _format_on_one_line(name)
    )
    # a preceding \\ would read a bracket or star as its argument
    if escaped_text[:1] not in ("[", "*"):
        return escaped_text
    return f"{{}}{escaped_text}"


def _escape_markdown(name: Any) -> str:
    """Return a name as Markdown text, special characters escaped."""
    return "".join(_MARKDOWN_ESCAPES.get(letter, letter) for letter in _format_on_one_line(name))


LATEX = Marks(_escape_latex, "--", r"$\infty$", "$<$ ")
MARKDOWN = Marks(_escape_markdown, "–", "∞", r"\< ")


class Table(pd.DataFrame):
    """A data frame of results with `to_latex`, `to_markdown` and `to_excel` for papers.

    Numbers have three decimals, more in columns of small numbers; p-values below 0.001 are written
    as such; integers have no decimals, and missing numbers are dashes. Names are escaped. All else
    is as in pandas.

    Examples
    --------
    >>> table = Table(
    ...     {"weight": [0.25, float("nan")], "p_value": [1e-9, 0.04]}, index=["R&D", "a|b"]
    ... )
    >>> print(table.to_markdown())
    |  | weight | p\\_value |
    |:--|--:|--:|
    | R\\&D | 0.250 | \\< 0.001 |
    | a\\|b | – | 0.040 |
    """

    @property
    def _constructor(self) -> Callable[..., "Table"]:  # type: ignore[override]
        return Table

    def __finalize__(  # type: ignore[override]
        self, other: Any, method: str | None = None, **settings: Any
    ) -> "Table":
        """Copy attributes, but not of joined tables if attributes are data frames."""
        # Printing joins both ends of a wide table, and pandas 2.2 compares attributes with ==,
        # which fails for data frames.
        try:
            return super().__finalize__(other, method=method, **settings)
        except ValueError:
            return self

    def to_latex(self, buf: Any = None, *, digits: int | None = None, **settings: Any) -> Any:  # type: ignore[override]
        """Return or write the table in LaTeX, with the rules of package booktabs.

        Parameters
        ----------
        buf : str, path or file, optional
            Destination; None returns the text.
        digits : int, optional
            Decimals of all numbers except integers.
        **settings
            Arguments of `pandas.DataFrame.to_latex`: caption, label, position, index, ...

        Returns
        -------
        str or None
        """
        has_index = settings.setdefault("index", not is_numbered(self))
        column_format = ""
        if has_index:
            column_format = "l" * self.index.nlevels
        for k in range(self.shape[1]):
            if _is_numeric(self.iloc[:, k]):
                column_format += "r"
            else:
                column_format += "l"
        settings.setdefault("column_format", column_format)
        return format_text_table(self, LATEX, digits).to_latex(buf, escape=False, **settings)

    def to_markdown(  # type: ignore[override]
        self, buf: Any = None, *, digits: int | None = None, index: bool | None = None
    ) -> Any:
        """Return or write the table in Markdown, with pipes.

        Parameters
        ----------
        buf : str, path or file, optional
            Destination; None returns the text.
        digits : int, optional
            Decimals of all numbers except integers.
        index : bool, optional
            Whether to show the names of the rows; None shows them if they exist.

        Returns
        -------
        str or None
        """
        text_table = format_text_table(self, MARKDOWN, digits)
        text_rows = [list(map(str, text_table.columns)), *text_table.to_numpy().tolist()]
        if index is None:
            index = not is_numbered(self)
        alignments = []
        if index:
            alignments = [":--"] * self.index.nlevels
            labels = [[name or "" for name in text_table.index.names]]
            for label in text_table.index:
                if not isinstance(label, tuple):
                    label = (label,)
                labels.append([*map(str, label)])
            text_rows = [[*label, *row] for label, row in zip(labels, text_rows, strict=True)]
        for k in range(self.shape[1]):
            if _is_numeric(self.iloc[:, k]):
                alignments.append("--:")
            else:
                alignments.append(":--")
        lines = [f"| {' | '.join(row)} |" for row in text_rows]
        lines.insert(1, f"|{'|'.join(alignments)}|")
        text = "\n".join(lines)
        if buf is None:
            return text
        if isinstance(buf, str | Path):
            atomic_write(Path(buf), f"{text}\n".encode())
        else:
            buf.write(f"{text}\n")
        return None

    def to_excel(self, excel_writer: Any, *, digits: int | None = None, **settings: Any) -> None:  # type: ignore[override]
        """Write an Excel workbook; cells contain complete numbers with suitable formats.

        Parameters
        ----------
        excel_writer : str, path, file or pandas.ExcelWriter
            A file is replaced completely or not at all.
        digits : int, optional
            Shown decimals of all numbers except integers.
        **settings
            Arguments of `pandas.DataFrame.to_excel`: sheet_name, index, startrow, ...

        Raises
        ------
        ArgumentError
            If openpyxl is not installed.
        DataError
            If the file cannot be written.
        """
        require_excel()
        if isinstance(excel_writer, pd.ExcelWriter):
            self._write_sheet(excel_writer, digits, settings)
            return
        buffer = io.BytesIO()
        with pd.ExcelWriter(buffer, engine="openpyxl") as writer:
            self._write_sheet(writer, digits, settings)
        if isinstance(excel_writer, str | Path):
            atomic_write(Path(excel_writer), buffer.getvalue())
        else:
            excel_writer.write(buffer.getvalue())

    def _write_sheet(
        self, writer: pd.ExcelWriter, digits: int | None, settings: dict[str, Any]
    ) -> None:
        """Write the table as a sheet of an open workbook."""
        has_index = settings.setdefault("index", not is_numbered(self))
        sheet_name = settings.setdefault("sheet_name", "Sheet1")
        sheet_frame = pd.DataFrame(self).set_axis(
            [_format_on_one_line(name) for name in self.columns], axis=1
        )
        sheet_frame.index = _rename_index(self.index, _format_on_one_line)
        for k in range(sheet_frame.shape[1]):
            if not _is_numeric(sheet_frame.iloc[:, k]):
                sheet_frame.isetitem(k, sheet_frame.iloc[:, k].map(_format_excel_cell))
        sheet_frame.to_excel(writer, **settings)
        sheet = writer.sheets[sheet_name]
        number_formats = [
            _choose_excel_format(self.iloc[:, k], digits) for k in range(self.shape[1])
        ]
        n_columns_before = settings.get("startcol", 0)
        if has_index:
            n_columns_before += self.index.nlevels
        for row in sheet.iter_rows():
            for cell in row:
                k = cell.column - 1 - n_columns_before
                if cell.data_type == "f":  # a name that begins with an equals sign
                    cell.data_type = "s"
                elif cell.data_type == "n" and 0 <= k < len(number_formats):
                    cell.number_format = number_formats[k]


def format_text_table(table: pd.DataFrame, marks: Marks, digits: int | None) -> pd.DataFrame:
    """Return a table with every cell and name formatted as text."""
    text_columns = {}
    for k, name in enumerate(table.columns):
        decimals = _count_column_decimals(table.iloc[:, k], digits)
        text_columns[k] = [
            written_cell(str(name), number, decimals, marks) for number in table.iloc[:, k].tolist()
        ]
    text_table = pd.DataFrame(
        text_columns, index=_rename_index(table.index, marks.name), dtype=object
    )
    return text_table.set_axis(
        pd.Index([marks.name(name) for name in table.columns], dtype=object), axis=1
    )


def _rename_index(index: pd.Index, format_label: Callable[[Any], str]) -> pd.Index:
    """Return an index with every label and name formatted as text."""
    names = list(index.names)
    for level, name in enumerate(names):
        if name is not None:
            names[level] = format_label(name)
    if isinstance(index, pd.MultiIndex):
        return pd.MultiIndex.from_tuples(
            [tuple(map(format_label, labels)) for labels in index], names=names
        )
    return pd.Index([format_label(label) for label in index], name=names[0], dtype=object)


def _is_numeric(column: pd.Series) -> bool:
    """Return whether a column contains numbers."""
    return column.dtype.kind in "iuf"


def _count_column_decimals(numbers: pd.Series, digits: int | None) -> int:
    """Return how many decimals a numeric column shows."""
    if not _is_numeric(numbers):
        if digits is None:
            return DECIMALS
        return digits
    return count_decimals(str(numbers.name), numbers.tolist(), digits)


def _choose_excel_format(numbers: pd.Series, digits: int | None) -> str:
    """Return the Excel number format of a numeric column."""
    decimals = _count_column_decimals(numbers, digits)
    if decimals:
        return "0." + "0" * decimals
    return "0"


def _format_on_one_line(names: Any) -> str:
    """Return one or several names as one line of printable text."""
    return re.sub(r"\s+", " ", escape_unprintable(format_names(names)))


def _format_excel_cell(cell: Any) -> Any:
    """Return a number unchanged, anything else as text."""
    if cell is None or isinstance(cell, int | float):
        return cell
    return _format_on_one_line(cell)


def require_excel() -> None:
    """Raise ArgumentError with advice if openpyxl is not installed."""
    from importlib.util import find_spec

    if find_spec("openpyxl") is None:
        raise ArgumentError(f"Excel files need openpyxl: {_FILES}.")
