"""Tables of results as papers need them: LaTeX, Markdown and Excel, with sensible digits and
escaped names."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from ._described import is_numbered
from ._digits import DECIMALS, Marks, count_decimals, format_names
from ._digits import format_cell as written_cell
from ._inference.files import atomic_write
from ._labels import escape_unprintable
from .errors import ArgumentError

_FILES = 'pip install "thali[files]"'

_IN_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
} | {letter: f"\\{letter}" for letter in "&%$#_{}"}
_IN_MARKDOWN = {letter: f"\\{letter}" for letter in "\\`*_{}[]<>#|~&$!"}


def _latex_name(text: Any) -> str:
    escaped = "".join(_IN_LATEX.get(letter, letter) for letter in _text(text))
    # which \\ before it would take for its own
    return f"{{}}{escaped}" if escaped[:1] in ("[", "*") else escaped


def _markdown_name(text: Any) -> str:
    return "".join(_IN_MARKDOWN.get(letter, letter) for letter in _text(text))


LATEX = Marks(_latex_name, "--", r"$\infty$", "$<$ ")
MARKDOWN = Marks(_markdown_name, "–", "∞", r"\< ")


class Table(pd.DataFrame):
    """A data frame of results, whose `to_latex`, `to_markdown` and `to_excel` are made for papers.

    Numbers have three decimals, more in a column of small ones; p-values below .001 say so; whole
    numbers have no decimals, and missing ones are dashes. Names are escaped. Everything else is as
    in pandas.

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

    def to_latex(self, buf: Any = None, *, digits: int | None = None, **settings: Any) -> Any:  # type: ignore[override]
        """The table in LaTeX, with the rules of the package booktabs.

        Parameters
        ----------
        buf : str, path or file, optional
            Where to write; None gives back the text.
        digits : int, optional
            Decimals of all numbers that are not whole.
        **settings
            Of `pandas.DataFrame.to_latex`: caption, label, position, longtable, index, ...

        Returns
        -------
        str or None
        """
        index = settings.setdefault("index", not is_numbered(self))
        sides = "l" * (self.index.nlevels if index else 0)
        sides += "".join("r" if _is_number(self.iloc[:, k]) else "l" for k in range(self.shape[1]))
        settings.setdefault("column_format", sides)
        return in_words(self, LATEX, digits).to_latex(buf, escape=False, **settings)

    def to_markdown(  # type: ignore[override]
        self, buf: Any = None, *, digits: int | None = None, index: bool | None = None
    ) -> Any:
        """The table in Markdown, with pipes.

        Parameters
        ----------
        buf : str, path or file, optional
            Where to write; None gives back the text.
        digits : int, optional
            Decimals of all numbers that are not whole.
        index : bool, optional
            Whether the names of the rows are shown; None: if they have names.

        Returns
        -------
        str or None
        """
        shown = in_words(self, MARKDOWN, digits)
        right = [_is_number(self.iloc[:, k]) for k in range(self.shape[1])]
        rows = [list(map(str, shown.columns)), *shown.to_numpy().tolist()]
        if not is_numbered(self) if index is None else index:
            names = ["" if name is None else str(name) for name in shown.index.names]
            places = [[*place] if isinstance(place, tuple) else [place] for place in shown.index]
            rows = [
                [*map(str, place), *row] for place, row in zip([names, *places], rows, strict=True)
            ]
            right = [False] * len(names) + right
        rows.insert(1, ["--:" if number else ":--" for number in right])
        cells = [
            "| " + " | ".join(row) + " |" if k != 1 else "|" + "|".join(row) + "|"
            for k, row in enumerate(rows)
        ]
        text = "\n".join(cells)
        if buf is None:
            return text
        if isinstance(buf, str | Path):
            atomic_write(Path(buf), f"{text}\n".encode())
        else:
            buf.write(f"{text}\n")
        return None

    def to_excel(self, excel_writer: Any, *, digits: int | None = None, **settings: Any) -> None:  # type: ignore[override]
        """Write an Excel workbook: whole numbers as they are, shown with sensible digits.

        Parameters
        ----------
        excel_writer : str, path, file or pandas.ExcelWriter
            A file is replaced whole or not at all.
        digits : int, optional
            Decimals that are shown of all numbers that are not whole.
        **settings
            Of `pandas.DataFrame.to_excel`: sheet_name, index, startrow, ...

        Raises
        ------
        ArgumentError
            If openpyxl is not installed.
        DataError
            If the file cannot be written.
        """
        needs_excel()
        if isinstance(excel_writer, pd.ExcelWriter):
            self._write_sheet(excel_writer, digits, settings)
            return
        content = io.BytesIO()
        with pd.ExcelWriter(content, engine="openpyxl") as writer:
            self._write_sheet(writer, digits, settings)
        if isinstance(excel_writer, str | Path):
            atomic_write(Path(excel_writer), content.getvalue())
        else:
            excel_writer.write(content.getvalue())

    def _write_sheet(self, writer: Any, digits: int | None, settings: dict[str, Any]) -> None:
        index = settings.setdefault("index", not is_numbered(self))
        sheet_name = settings.setdefault("sheet_name", "Sheet1")
        plain = pd.DataFrame(self).set_axis([_text(name) for name in self.columns], axis=1)
        plain.index = _renamed(self.index, _text)
        for k in range(plain.shape[1]):
            if not _is_number(plain.iloc[:, k]):
                plain.isetitem(k, plain.iloc[:, k].map(_text_or_number))
        plain.to_excel(writer, **settings)
        sheet = writer.sheets[sheet_name]
        formats = [_excel_format(self.iloc[:, k], digits) for k in range(self.shape[1])]
        before = settings.get("startcol", 0) + (self.index.nlevels if index else 0)
        for row in sheet.iter_rows():
            for cell in row:
                if cell.data_type == "f":  # a name that begins with an equals sign is no formula
                    cell.data_type = "s"
                elif cell.data_type == "n" and 0 <= cell.column - 1 - before < len(formats):
                    cell.number_format = formats[cell.column - 1 - before]


def in_words(table: pd.DataFrame, marks: Marks, digits: int | None = None) -> pd.DataFrame:
    """The table with every cell and every name as text."""
    columns = [
        [written_cell(column, value, decimals, marks) for value in values]
        for column, values, decimals in (
            (str(name), table.iloc[:, k].tolist(), _decimals(str(name), table.iloc[:, k], digits))
            for k, name in enumerate(table.columns)
        )
    ]
    shown = pd.DataFrame(
        dict(enumerate(columns)), index=_renamed(table.index, marks.name), dtype=object
    )
    return shown.set_axis(
        pd.Index([marks.name(each) for each in table.columns], dtype=object), axis=1
    )


def _renamed(index: pd.Index, name: Callable[[Any], str]) -> pd.Index:
    """The index with every value and every name as text."""
    names = [None if each is None else name(each) for each in index.names]
    if isinstance(index, pd.MultiIndex):
        return pd.MultiIndex.from_tuples([tuple(map(name, place)) for place in index], names=names)
    return pd.Index([name(each) for each in index], name=names[0], dtype=object)


def _is_number(values: pd.Series) -> bool:
    return values.dtype.kind in "iuf"


def _decimals(column: str, values: pd.Series, digits: int | None) -> int:
    """How many decimals the numbers of a column have."""
    if not _is_number(values):
        return DECIMALS if digits is None else digits
    return count_decimals(column, values.tolist(), digits)


def _excel_format(values: pd.Series, digits: int | None) -> str:
    decimals = _decimals(str(values.name), values, digits)
    return "0." + "0" * decimals if decimals else "0"


def _text(value: Any) -> str:
    """A name, or several, in one line."""
    return re.sub(r"\s+", " ", escape_unprintable(format_names(value)))


def _text_or_number(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float) else _text(value)


def needs_excel() -> None:
    """Refuse what needs openpyxl where it is not installed."""
    from importlib.util import find_spec

    if find_spec("openpyxl") is None:
        raise ArgumentError(f"Excel files need openpyxl: {_FILES}.")
