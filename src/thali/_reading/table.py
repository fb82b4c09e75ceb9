"""Tables from files: CSV, TSV, Excel, Parquet and JSON."""

import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

import numpy as np
import pandas as pd

from thali._data.choices.rankings import TIED
from thali._data.columns import column, note_thousands, numbers_rows, refuse_nested
from thali._data.described_columns import side_columns
from thali._data.pairs.trials import STEMS
from thali._data.roles import (
    BEST,
    CHOSEN_OF_TWO,
    ODD,
    RESPONDENT,
    ROW_NUMBERS,
    WORST,
    by_plain_name,
    column_names,
    plain,
)
from thali._labels import as_label, plural, positions, shorten
from thali._source import Source, read_source
from thali.errors import Argument, DataError

from .cells import (
    CODE,
    DECIMAL_COMMA,
    INTEGER,
    MAX_CELLS,
    MISSING,
    NUMBER,
    TextTable,
    assembled,
    joined,
    refuse_header_again,
    text_cells,
)
from .json_rows import is_json, json_cells
from .square import Square, square_of
from .where import Where

# A workbook unpacks to some 5 to 20 times its size; one that unpacks to far more was made to fill
# the memory.
HARMLESS_WORKBOOK, MAX_UNPACKED, MAX_WORKBOOK = 1 << 25, 100, 1 << 30

# digits of an integer; a column with gaps holds numbers of double precision
_EXACT, _EXACT_BESIDE_GAPS = 17, 15

_UNNAMED = re.compile(r"column \d+|\.\.\.\d+|Unnamed: \d+")  # here, by readr, by pandas

_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
# A cell whose formula has no value beside it; t="str" with an empty value is one whose value is no
# text.
_NEVER_CALCULATED = re.compile(
    rb"""<(?:\w+:)?c(?P<attributes>[^>]*)>\s*<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>(?P<formula>[^<]*)</(?:\w+:)?f>)\s*"""
    rb"""(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"""
)


def excel_sheets(content: bytes) -> dict[str, TextTable]:
    """The cells of the first sheet that holds any, and of those with the same header, by the titles
    of the sheets."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise DataError(
            'Excel files require openpyxl; run pip install "thali[files]", or save as CSV.'
        ) from None
    try:
        archive = ZipFile(io.BytesIO(content))
    except (BadZipFile, OSError, ValueError) as error:
        raise DataError(
            f"This is not a readable Excel workbook ({error}); save it as .xlsx or CSV."
        ) from None
    _refuse_workbook_bomb(archive, len(content))
    try:
        book: Any = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheets = {sheet.title: _sheet_rows(sheet) for sheet in book.worksheets}
        filled = [title for title, rows in sheets.items() if rows]
        alike = [title for title in filled if _header(sheets[title]) == _header(sheets[filled[0]])]
        for title in alike:
            _refuse_never_calculated(title, archive.read(book[title]._worksheet_path))
    except DataError:
        raise
    except Exception as error:  # openpyxl raises whatever the broken part of the archive makes it
        raise DataError(
            f"This is not a readable Excel workbook ({error}); save it as .xlsx or CSV."
        ) from None
    if not filled:
        raise DataError("The workbook is empty: no sheet has any cells.")
    others = [repr(title) for title in filled if title not in alike]
    which = (
        f"sheet {alike[0]!r}"
        if len(alike) == 1
        else f"{len(alike)} sheets, {alike[0]!r} to {alike[-1]!r}"
    )
    note = f"{which} (ignored: {', '.join(others)})" if others else which if len(alike) > 1 else ""
    found = {
        title: assembled(iter(sheets[title]), decimal_comma=True, note=note, ragged=False)
        for title in alike
    }
    for cells in found.values():
        refuse_header_again(cells)
    return found


def _header(rows: list[tuple[int, list[str]]]) -> set[str]:
    """The names in the first row."""
    return {cell.strip() for cell in rows[0][1]}


def _refuse_workbook_bomb(archive: ZipFile, packed: int) -> None:
    """Raise if the parts unpack to more than a table can hold; no part unpacks to more than the
    directory says."""
    unpacked = sum(part.file_size for part in archive.infolist())
    if unpacked > MAX_WORKBOOK or (
        unpacked > HARMLESS_WORKBOOK and unpacked > MAX_UNPACKED * packed
    ):
        raise DataError(
            f"This workbook of {packed:,} bytes would unpack to {unpacked:,}, too much for a"
            " table; save the sheet as CSV."
        )


def _sheet_rows(sheet: Any) -> list[tuple[int, list[str]]]:
    """The rows with any text in them, without the empty cells at their ends."""
    sheet.reset_dimensions()  # the size that some programs store is wrong
    found, read = [], 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        read += len(row) + 1
        if read > MAX_CELLS:
            raise DataError(
                f"Sheet {sheet.title!r} has more than {MAX_CELLS:,} cells, probably most of them"
                " empty; delete the empty rows and columns around the table, or save the sheet as"
                " CSV."
            )
        cells = ["" if value is None else str(value) for value in row]
        while cells and not cells[-1].strip():
            cells.pop()
        if cells:
            found.append((number, cells))
    return found


def _refuse_never_calculated(title: str, sheet: bytes) -> None:
    """Raise if a formula has no value, as in a workbook that a program wrote and no spreadsheet
    ever saved."""
    if not _FORMULA.search(sheet):
        return
    for cell in _NEVER_CALCULATED.finditer(sheet):
        attributes = cell["attributes"].decode("utf-8", "replace")
        if not re.search(r"""\bt\s*=\s*["']str["']""", attributes):
            place = re.search(r"""\br\s*=\s*["'](\w+)["']""", attributes)
            formula = unescape((cell["formula"] or b"").decode("utf-8", "replace"))
            shown = f" (={formula})" if formula else ""
            raise DataError(
                f"Cell {place[1] if place else '?'} of sheet {title!r} contains a formula{shown}"
                " that was never calculated; open the workbook in a spreadsheet, save it, and"
                " read it again."
            )


# The columns of a Parquet file --------------------------------------------------------------------


# A file of some kilobytes may hold any number of equal rows, and a long text for each at the room
# of one.
# cells of any file; of one; of a byte
HARMLESS, MAX_PARQUET_CELLS, MAX_TIMES = 1 << 24, 1 << 29, 100
MAX_BYTES = 1 << 28  # to which any file may unpack


def parquet_frame(content: bytes) -> "pd.DataFrame":
    """The table, an index with names or labels as its first columns; column names as text."""
    import pandas as pd

    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise DataError(
            'Parquet files require pyarrow; run pip install "thali[files]", or save as CSV.'
        ) from None
    try:
        _refuse_parquet_bomb(content)
        frame = pd.read_parquet(io.BytesIO(content), engine="pyarrow")
    except DataError:
        raise
    # pyarrow and pandas raise whatever the broken part of the file makes them
    except Exception as error:
        raise DataError(
            f"This is not a readable Parquet file ({error}); save it again, or as CSV."
        ) from None
    if not isinstance(frame.index, pd.RangeIndex):
        names = [*(name or "" for name in frame.index.names), *frame.columns]
        frame = frame.set_axis(range(frame.shape[1]), axis=1)  # one may be called as the index is
        frame = frame.reset_index(
            names=[f"index {k}" for k in range(frame.index.nlevels)]
        ).set_axis(names, axis=1)
    if not len(frame):
        raise DataError("The file has a header but no rows of data.")
    return frame.set_axis([as_label(name) for name in frame.columns], axis=1)


def _refuse_parquet_bomb(content: bytes) -> None:
    """Raise if the cells, or their texts, take far more room than a table of that many bytes
    needs."""
    import pyarrow.parquet

    packed, claimed = len(content), pyarrow.parquet.ParquetFile(io.BytesIO(content)).metadata
    groups = [claimed.row_group(group) for group in range(claimed.num_row_groups)]
    parts = [
        (group, each.column(k))
        for group, each in enumerate(groups)
        for k in range(each.num_columns)
    ]
    cells = sum(part.num_values for _, part in parts)
    if cells > min(MAX_PARQUET_CELLS, max(HARMLESS, MAX_TIMES * packed)):
        raise DataError(
            f"The file of {packed:,} bytes contains {cells:,} cells, more than fit into memory;"
            " remove columns that the model does not use."
        )
    most = max(MAX_BYTES, MAX_TIMES * packed)
    unpacked = sum(part.total_uncompressed_size for _, part in parts)
    for group, part in parts if unpacked <= most else ():
        if (
            part.physical_type == "BYTE_ARRAY"
            and part.num_values * part.total_uncompressed_size > most
        ):
            unpacked += _bytes_of_text(content, group, part.path_in_schema)
    if unpacked > most:
        raise DataError(
            f"The file of {packed:,} bytes would unpack to at least {unpacked:,}, too much for a"
            " table; remove columns that the model does not use."
        )


def _bytes_of_text(content: bytes, group: int, column: str) -> int:
    """How long the texts of a column are together, each of which is read once; 0 for a column of
    lists."""
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(io.BytesIO(content), read_dictionary=[column])
    compute: Any = pyarrow.compute  # whose functions are made when it is imported
    found = 0
    for part in file.read_row_group(group, columns=[column])[0].chunks if "." not in column else ():
        if pyarrow.types.is_dictionary(part.type):
            lengths = compute.binary_length(part.dictionary)
            found += compute.sum(lengths.take(part.indices)).as_py() or 0
    return found


# The files of PrefLib: complete and incomplete orders (.soc, .soi), and those with ties (.toc,
# .toi)


SUFFIXES = (".soc", ".soi", ".toc", ".toi")
_NAME = re.compile(r"#\s*ALTERNATIVE NAME\s+(\d+)\s*:\s*(.*)", re.IGNORECASE)
_PLACE = re.compile(r"\{([^}]*)\}|([^{},]+)")  # of an order: those that tie, or one


MAX_COLUMNS = 10_000  # of a file of text, each of which takes half a millisecond
NUMBERED = "attribute{}"  # columns of files that number attributes


def preflib_cells(content: bytes) -> TextTable:
    """A table with a row an order: its count, and what stands at each rank."""
    lines = content.decode("utf-8-sig", "replace").splitlines()
    names = {found[1]: found[2].strip() for line in lines if (found := _NAME.match(line))}
    body = [
        (k, line.strip())
        for k, line in enumerate(lines, start=1)
        if line.strip() and not line.startswith("#")
    ]
    if not names:
        names, body = _old(body)
    rows, numbers, ranked = [], [], set()
    for number, line in body:
        count, colon, order = line.partition(":")
        if not colon or not count.strip().isdigit():
            raise DataError(
                f"Line {number} is {line!r}, but PrefLib files contain orders such as '3: 2,1,4'."
            )
        groups = [(tied or single).split(",") for tied, single in _PLACE.findall(order)]
        groups = [[code.strip() for code in group if code.strip()] for group in groups]
        if unknown := [code for group in groups for code in group if code not in names]:
            raise DataError(
                f"Line {number} contains alternative {unknown[0]!r}, which the file header does"
                " not list."
            )
        ranked |= {names[code] for group in groups for code in group}
        cells = [
            TIED.join(names[code].replace(TIED, "=") for code in group) for group in groups if group
        ]
        rows.append([count.strip(), *cells])
        numbers.append(number)
    if not rows:
        raise DataError("The file has a header but no orders.")
    if never := [name for name in names.values() if name not in ranked]:
        rows.append(["0", *never])
        numbers.append(numbers[-1])
    if (width := max(3, *map(len, rows))) * max(len(rows), MAX_CELLS // MAX_COLUMNS) > MAX_CELLS:
        raise DataError(
            f"The longest order contains {width - 1:,} alternatives, which makes too large a table;"
            " truncate the orders."
        )
    header = ["count", *(f"rank{k}" for k in range(1, width))]
    columns = [[row[k] if k < len(row) else "" for row in rows] for k in range(width)]
    return TextTable(header, columns, numbers, note="a PrefLib file")


def _old(body: list[tuple[int, str]]) -> tuple[dict[str, str], list[tuple[int, str]]]:
    """The names and orders of a file as PrefLib had them before 2022."""
    # A number of names, these, a line of sums, orders.
    try:
        many = int(body[0][1])
        named = [line.split(",", 1) for _, line in body[1 : many + 1]]
        names = {code.strip(): name.strip().strip('"') for code, name in named}
        orders = [(k, ": ".join(line.split(",", 1))) for k, line in body[many + 2 :]]
    except (ValueError, IndexError):
        raise DataError(
            "This is not a PrefLib file: it starts neither with '# ALTERNATIVE NAME 1: ...' nor"
            " with the number of alternatives."
        ) from None
    return names, orders


# Sawtooth Software's .cho, as its help describes it ("CHO file format"): integers, nothing says
# what they are


CHO = ".cho"
_DUAL = 2  # of the fifth number of a person: whoever chose was asked whether they would buy


def cho_cells(content: bytes) -> TextTable:
    """A long table with a row an alternative: who, task, concept, codes of attributes, choice,
    variables of people.

    A person has five numbers (who, number of variables, attributes, tasks, whether nothing can be
    chosen), the variables, and for each task the number of concepts and of choices, the codes of
    each concept, the concept chosen, and how long it took. Nothing is the last concept, with 0 for
    its codes; tasks with choice 0 were not answered.
    """
    numbers = _integers(content)
    take = iter(numbers)
    rows: list[list[str]] = []
    lines: list[int] = []
    width, missing = None, 0
    try:
        for line, who in take:
            extra, attributes, tasks, none = [int(next(take)[1]) for _ in range(4)]
            if width not in (None, (extra, attributes)):
                raise DataError(
                    f"Line {line} starts a respondent whose numbers of variables and attributes"
                    " differ from earlier respondents."
                )
            if none == _DUAL:
                raise DataError(
                    "The choices contain a dual-response none option, which is not supported;"
                    " export them without it."
                )
            width = extra, attributes
            variables = [next(take)[1] for _ in range(extra)]
            for task in range(1, tasks + 1):
                concepts, _ = int(next(take)[1]), next(take)
                shown = [[next(take) for _ in range(attributes)] for _ in range(concepts)]
                chosen, _ = int(next(take)[1]), next(take)
                if not 0 <= chosen <= concepts + (none != 0):
                    raise DataError(
                        f"Task {task} of respondent {who} has {concepts} concepts, but concept"
                        f" {chosen} was chosen."
                    )
                if any("0" in [code for _, code in own] for own in shown):
                    raise DataError(
                        f"Task {task} of respondent {who} has a concept without some attributes,"
                        " which is not supported; export one row per concept instead."
                    )
                missing += chosen == 0
                nothing = [[(line, "0")] * attributes] if none else []
                for place, codes in enumerate([*shown, *nothing] if chosen else [], start=1):
                    cells = [code for _, code in codes]
                    rows.append(
                        [who, str(task), str(place), *cells, str(int(place == chosen)), *variables]
                    )
                    lines.append(codes[0][0])
    except StopIteration:
        raise DataError("The file ends within a task; it is not a complete .cho file.") from None
    if width is None or not rows:
        raise DataError("The file contains no choices.")
    names = [NUMBERED.format(k) for k in range(1, width[1] + 1)]
    header = [
        "respondent",
        "task",
        "concept",
        *names,
        "choice",
        *(f"variable{k}" for k in range(1, width[0] + 1)),
    ]
    left_out = f"; {plural(missing, 'task')} without an answer dropped" if missing else ""
    return TextTable(
        header,
        [list(column) for column in zip(*rows, strict=True)],
        lines,
        note=f"a .cho file{left_out}",
    )


def _integers(content: bytes) -> list[tuple[int, str]]:
    """The numbers of the file, and the line of each."""
    found = []
    for line, text in enumerate(content.decode("utf-8-sig", "replace").splitlines(), start=1):
        for word in text.split():
            if not word.lstrip("-").isdigit():
                raise DataError(
                    f"Line {line} contains {word!r}, but .cho files contain only integers; check"
                    " the file format."
                )
            found.append((line, word))
    return found


# Tables from files: CSV, TSV, Excel, Parquet and JSON ---------------------------------------------


_NO_EXCEL = (
    "This is neither an Excel workbook, despite its name, nor a text table; save it as"
    " .xlsx or CSV."
)
_OTHER_KINDS: dict[str, str] = dict.fromkeys((".xlsx", ".xlsm", ".xls"), _NO_EXCEL) | {
    ".parquet": "This is neither a Parquet file, despite its name, nor a text table; save it as"
    " Parquet or CSV."
}


_ANSWERS = {name for role in (CHOSEN_OF_TWO, BEST, WORST, ODD) for name in role.synonyms}


class Parted(NamedTuple):
    """A table of which some rows are held out, in the words of the file."""

    frame: pd.DataFrame
    kept: np.ndarray  # which rows are in this part
    where: Where


@dataclass(frozen=True)
class RawTable:
    """A table as read, once for all shapes that are tried; its rows are numbered as in the file."""

    frame: pd.DataFrame
    file: str  # its name, for errors
    named: bool = True  # False: the columns have no names, as in a bare square of numbers
    note: str = ""  # what else there was
    # what is wrong unless this is a triangle, whose rows may end at the diagonal
    short_rows: str = ""
    # of a workbook with several alike squares, by their titles
    sheets: "tuple[tuple[str, RawTable], ...]" = ()
    # of a table of text; None: the file says itself which columns are numbers
    decimal_comma: bool | None = None
    conditioned: tuple[str, ...] = ()  # the columns by which rows were left out
    parted_from: "Parted | None" = None  # where some rows are held out

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return column_names(self.frame)

    @cached_property
    def square(self) -> Square | None:
        """The table as a square, None if it is none."""
        return square_of(self.frame, self.named)

    def refuse_short_rows(self) -> None:
        """Raise an error if rows end early."""
        if self.short_rows:
            raise DataError(f"{self.file}: {self.short_rows}")

    def only(self, where: Where) -> "RawTable":
        """The rows that fulfil the conditions, as if the file had no others; the note says how many
        were left out."""
        if not where.conditions:
            return self
        if self.sheets:
            raise DataError(
                Argument("where"),
                " applies to rows, but this workbook contains square matrices; remove this"
                " argument.",
            )
        kept = where.holds(self.frame)
        if not kept.any():
            where.refuse_none_left(self.frame)
        where.warn_of_unknown_values(self.frame)
        frame = self.frame.loc[kept]
        if self.decimal_comma is not None and not kept.all():
            frame = _typed_again(frame, self.decimal_comma)
        note = joined(self.note, where.left_out(len(kept), int(kept.sum())))
        return replace(self, frame=frame, note=note, conditioned=where.columns)

    def without(self, names: Sequence[str], kept: Collection[Any] = ()) -> "RawTable":
        """Drop the columns of these names, and those that number the rows unless they are `kept`;
        note both."""
        for name in names:
            column(self.frame, name)
        numbering = []
        if (
            self.named
            and not self.sheets
            and not self.short_rows
            and (self.square is None or self.square.bare)
        ):
            numbering = [
                name
                for name in self.names
                if name not in kept and _numbers_rows(name, column(self.frame, name))
            ]
        if not names and not numbering:
            return self
        asked = f"columns omitted as requested: {shorten(list(names))}" * bool(names)
        unused = f"row numbers ({shorten(numbering)}) not used" * bool(numbering)
        return replace(
            self,
            frame=self.frame.drop(columns=[*names, *numbering]),
            note=joined(self.note, asked, unused),
        )

    def parted(self, where: Where, held_out: bool) -> "RawTable":
        """Of rows that are held out where the conditions hold, if there are any, these or the
        others."""
        if not where.conditions:
            return self
        is_held = where.holds(self.frame)
        if is_held.all() or not is_held.any():
            every = "all rows" if is_held.all() else "no rows"
            raise DataError(
                Argument("holdouts"),
                f" ({where}) selects {every} of {len(self.frame):,}; change it to select some of"
                " them.",
            )
        kept = is_held if held_out else ~is_held
        note = joined(self.note, f"{is_held.sum():,} of {len(kept):,} rows held out where {where}")
        conditioned, parted = (*self.conditioned, *where.columns), Parted(self.frame, kept, where)
        return replace(
            self, frame=self.frame.loc[kept], note=note, conditioned=conditioned, parted_from=parted
        )


def _numbers_rows(name: str, values: "pd.Series") -> bool:
    """Return whether a column numbers the rows by its name, as files of pandas and R do, and by its
    cells."""
    short = plain(name)
    is_named = short in ROW_NUMBERS or bool(_UNNAMED.fullmatch(name))
    return is_named and (
        numbers_rows(values) or (short != "x" and values.dtype.kind in "iu" and values.is_unique)
    )


def read_table(path: str | Path | Source, where: str | Sequence[str] | None = None) -> pd.DataFrame:
    """A table from a CSV, TSV, Excel, Parquet or JSON file.

    The kind of file, its encoding, separator and decimal comma are recognised from its content. A
    column is numeric if all its cells are numbers or empty ("", "NA", "-", "."); numbers with
    leading zeros ("001") are names, and so is "NA" in a column of names. Excel: the first sheet
    that holds anything. JSON: an object a line or an array of objects, in which quoted numbers are
    text, `null` and absent keys are empty cells, and columns with lists or objects are left out.

    Parameters
    ----------
    path : str, Path or Source
    where : str or list of str, optional
        Conditions on columns, all of which must hold; other rows are left out, as if the file did
        not have them. A condition compares a column by ==, !=, <, <=, > or >= with a number or a
        text, or says ``in (a, b)``, ``is missing`` or ``is not missing``; several are joined by
        ``and``. Names and texts of one word need no quotes. Columns of numbers are compared as
        numbers, others as texts; an empty cell is unequal to every value.

    Returns
    -------
    DataFrame
        One row for each row of the file that is not empty and fulfils the conditions. A square
        table of numbers without a header has the columns "0", "1", ...; an unnamed column is called
        "column 1", "column 2", ... by its position.

    Raises
    ------
    ArgumentError
        If a condition cannot be read.
    DataError
        If the file is absent, a folder, empty, not a table, or ragged; if two columns bear the same
        name; if a condition names no column, compares texts with a number, or leaves no row.

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


def load(path: str | Path | Source) -> RawTable:
    """The table in a file, parsed once; errors name the file."""
    name, content = read_source(path)
    with in_file(name):
        if content.startswith(b"PAR1"):
            return _parquet(content, name)
        if content.startswith(b"PK\x03\x04"):
            return _workbook(
                {title: text_table(cells, name) for title, cells in excel_sheets(content).items()}
            )
        if content.startswith(b"\xd0\xcf\x11\xe0"):
            raise DataError(
                "This is an old (.xls) or password-protected Office file; save it as .xlsx or CSV."
            )
        ending = Path(name).suffix.lower()
        if ending in SUFFIXES or content.startswith(b"# FILE NAME"):
            return text_table(preflib_cells(content), name)
        if ending == CHO:
            return text_table(cho_cells(content), name)
        if is_json(name, content):
            cells, texts = json_cells(content)
            return text_table(cells, name, texts)
        try:
            return text_table(text_cells(content), name)
        except DataError as error:
            raise DataError(_OTHER_KINDS.get(ending, error)) from None


def _workbook(sheets: dict[str, RawTable]) -> RawTable:
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
        frames = [table.frame.assign(respondent=title) for title, table in sheets.items()]
    return replace(first, frame=pd.concat(frames))


def _parquet(content: bytes, file: str) -> RawTable:
    frame = parquet_frame(content)
    frame = frame.set_axis(_names(list(frame.columns)), axis=1).set_axis(range(1, len(frame) + 1))
    for _, values in frame.items():
        refuse_nested(values)
    return RawTable(frame, file)


def _names(header: list[str]) -> list[str]:
    names = [name or f"column {k}" for k, name in enumerate(header, start=1)]
    seen: dict[str, int] = {}
    for k, name in enumerate(names, start=1):
        if (first := seen.setdefault(name, k)) != k:
            raise DataError(f"Columns {first} and {k} are both called {name!r}; rename one.")
    return names


def text_table(cells: TextTable, file: str, texts: Mapping[str, bool] | None = None) -> RawTable:
    """The table of these cells: columns of numbers and of text; `texts`: of which columns that is
    known."""
    if len(cells.header) > MAX_COLUMNS:
        raise DataError(
            f"The table has {len(cells.header):,} columns, but at most {MAX_COLUMNS:,} can be"
            " read; remove some, or write one row per answer."
        )
    cells = _without_questions(cells)
    header, columns, lines = cells.header, cells.columns, cells.lines
    named = not (len(header) == len(lines) + 1 and all(map(NUMBER.fullmatch, header)))
    if not named:  # a square of numbers: what looked like the header is its first row
        columns = [[name, *column] for name, column in zip(header, columns, strict=True)]
        lines = [1, *lines]
        header = [str(k) for k in range(len(header))]
    distinct = [dict.fromkeys(column) for column in columns]
    known = {**_names_alike(header, distinct), **(texts or {})}
    typed = {
        name: _typed(column, each, cells.decimal_comma, known.get(name))
        for name, column, each in zip(_names(header), columns, distinct, strict=True)
    }
    frame = pd.DataFrame(typed, index=lines)
    if cells.decimal_comma:
        columns_of = dict(zip(typed, columns, strict=True))
        note_thousands(
            frame, {name: columns_of[name] for name in typed if frame[name].dtype.kind == "f"}
        )
    return RawTable(
        frame, file, named, cells.note, cells.short_rows, decimal_comma=cells.decimal_comma
    )


def _names_alike(header: list[str], columns: Iterable[Iterable[str]]) -> dict[str, bool]:
    """Return columns that are text, by their cells: of respondents 100 and 1e2, of answers with
    words as NA."""
    found = {}
    answers = {name for name in header if plain(name) in _ANSWERS}
    sides = [each.columns for each in side_columns(header) if answers and each.stem in STEMS]
    for name, cells in zip(header, columns, strict=True):
        words = MISSING.intersection(cells) - {""}
        if words and (
            name in answers.union(*sides) or words & {*re.split(r"\s*[>:]\s*|\s+vs\.?\s+", name)}
        ):
            found[name] = True
        if plain(name) in RESPONDENT.sure:
            texts = set(cells) - MISSING
            if all(map(NUMBER.fullmatch, texts)) and len(set(map(_as_float, texts))) < len(texts):
                found[name] = True
    return found


def _without_questions(cells: TextTable) -> TextTable:
    """The table without the two lines of questions and of ids that Qualtrics writes below the
    header."""
    if not any(len(column) > 2 and column[1].startswith('{"ImportId"') for column in cells.columns):
        return cells
    note = joined(cells.note, "Qualtrics header lines (questions and IDs) dropped")
    columns = [column[2:] for column in cells.columns]
    return TextTable(
        cells.header, columns, cells.lines[2:], cells.decimal_comma, note, cells.short_rows
    )


def holds_text(texts: set[str], decimal_comma: bool) -> bool | None:
    """Whether a column of these cells holds text rather than numbers; None if all are empty."""
    written = texts - MISSING
    if not written:
        return None
    if any(CODE.fullmatch(text) for text in written):
        return True
    exact = _EXACT if texts == written else _EXACT_BESIDE_GAPS
    if max(map(len, written)) > exact and all(map(INTEGER.fullmatch, written)):
        return True  # the numbers by which people are told apart, of which some would become one
    return not all(
        NUMBER.fullmatch(text) or decimal_comma and DECIMAL_COMMA.fullmatch(text)
        for text in written
    )


def as_read(label: str) -> str:
    """A label as it is read from a column that holds it alone.

    Examples
    --------
    >>> as_read("tea"), as_read("001"), as_read("1e2")
    ('tea', '001', '100')
    """
    return as_label(_typed([label], {label: None}, False)[0])


def _typed(
    column: list[str], distinct: dict[str, None], decimal_comma: bool, text: bool | None = None
) -> "np.ndarray | pd.api.extensions.ExtensionArray":
    """Numbers if all its distinct cells are, text otherwise, unless that is known."""
    texts = distinct.keys()
    if text is None:
        text = holds_text(set(texts), decimal_comma) is not False
    if text:
        return _text(column, distinct)
    if all(map(INTEGER.fullmatch, texts)) and max(map(len, texts), default=0) <= _EXACT:
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
            distinct = dict.fromkeys(column)
            if (
                all(isinstance(text, str) for text in distinct)
                and holds_text(set(distinct), decimal_comma) is False
            ):
                again[name] = _typed(column, distinct, decimal_comma)
    return frame.assign(**again)


def _text(
    column: list[str], distinct: dict[str, None]
) -> "np.ndarray | pd.api.extensions.ExtensionArray":
    place = positions(distinct)
    codes = np.fromiter(map(place.__getitem__, column), np.int64, len(column))
    return pd.Series([text or None for text in place]).array.take(codes)
