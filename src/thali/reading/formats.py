"""Tables in files of other formats than text: Excel, Parquet, PrefLib."""

import io
import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from thali._labels import as_label
from thali.errors import DataError

from .cells import MAX_CELLS, Cells, assembled

if TYPE_CHECKING:
    import pandas as pd

# A workbook unpacks to some 5 to 20 times its size; one that unpacks to far more was made to fill the memory.
HARMLESS_WORKBOOK, MAX_UNPACKED, MAX_WORKBOOK = 1 << 25, 100, 1 << 30

_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
# A cell whose formula has no value beside it; t="str" with an empty value is one whose value is no text.
_NEVER_CALCULATED = re.compile(
    rb"""<(?:\w+:)?c(?P<attributes>[^>]*)>\s*<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>(?P<formula>[^<]*)</(?:\w+:)?f>)\s*"""
    rb"""(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"""
)


def excel_sheets(content: bytes) -> dict[str, Cells]:
    """The cells of the first sheet that holds any, and of those with the same header, by the titles of the sheets."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise DataError('Excel files need openpyxl: pip install "thali[files]", or save as CSV.') from None
    try:
        archive = ZipFile(io.BytesIO(content))
    except (BadZipFile, OSError, ValueError) as error:
        raise DataError(f"This is not a readable Excel workbook ({error}); save it as .xlsx or CSV.") from None
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
        raise DataError(f"This is not a readable Excel workbook ({error}); save it as .xlsx or CSV.") from None
    if not filled:
        raise DataError("The workbook is empty: no sheet holds a cell.")
    others = [repr(title) for title in filled if title not in alike]
    which = f"sheet {alike[0]!r}" if len(alike) == 1 else f"{len(alike)} sheets, {alike[0]!r} to {alike[-1]!r}"
    note = f"{which} (not read: {', '.join(others)})" if others else which if len(alike) > 1 else ""
    return {title: assembled(iter(sheets[title]), decimal_comma=True, note=note, ragged=False) for title in alike}


def _header(rows: list[tuple[int, list[str]]]) -> set[str]:
    """The names in the first row."""
    return {cell.strip() for cell in rows[0][1]}


def _refuse_workbook_bomb(archive: ZipFile, packed: int) -> None:
    """Raise if the parts unpack to more than a table can hold; no part unpacks to more than the directory says."""
    unpacked = sum(part.file_size for part in archive.infolist())
    if unpacked > MAX_WORKBOOK or (unpacked > HARMLESS_WORKBOOK and unpacked > MAX_UNPACKED * packed):
        raise DataError(
            f"This workbook of {packed:,} bytes would unpack to {unpacked:,}, which is more than a table needs; save "
            "the sheet as CSV."
        )


def _sheet_rows(sheet: Any) -> list[tuple[int, list[str]]]:
    """The rows with any text in them, without the empty cells at their ends."""
    sheet.reset_dimensions()  # the size that some programs store is wrong
    found, read = [], 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        read += len(row) + 1
        if read > MAX_CELLS:
            raise DataError(
                f"Sheet {sheet.title!r} has more than {MAX_CELLS:,} cells, most of them empty perhaps; delete the "
                "empty rows and columns around the table, or save the sheet as CSV."
            )
        cells = ["" if value is None else str(value) for value in row]
        while cells and not cells[-1].strip():
            cells.pop()
        if cells:
            found.append((number, cells))
    return found


def _refuse_never_calculated(title: str, sheet: bytes) -> None:
    """Raise if a formula has no value, as in a workbook that a program wrote and no spreadsheet ever saved."""
    if not _FORMULA.search(sheet):
        return
    for cell in _NEVER_CALCULATED.finditer(sheet):
        attributes = cell["attributes"].decode("utf-8", "replace")
        if not re.search(r"""\bt\s*=\s*["']str["']""", attributes):
            place = re.search(r"""\br\s*=\s*["'](\w+)["']""", attributes)
            formula = unescape((cell["formula"] or b"").decode("utf-8", "replace"))
            shown = f" (={formula})" if formula else ""
            raise DataError(
                f"Cell {place[1] if place else '?'} of sheet {title!r} holds a formula{shown} that was never "
                "calculated; open the workbook in a spreadsheet, save it, and read it again."
            )


# The columns of a Parquet file ----------------------------------------------------------------------------------------


# A file of some kilobytes may hold any number of equal rows, and a long text for each at the room of one.
HARMLESS, MAX_PARQUET_CELLS, MAX_TIMES = 1 << 24, 1 << 29, 100  # cells of any file; of one; of a byte
MAX_BYTES = 1 << 28  # to which any file may unpack


def parquet_frame(content: bytes) -> "pd.DataFrame":
    """The table, an index with names or labels as its first columns; column names as text."""
    import pandas as pd

    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise DataError('Parquet files need pyarrow: pip install "thali[files]", or save as CSV.') from None
    try:
        _refuse_parquet_bomb(content)
        frame = pd.read_parquet(io.BytesIO(content), engine="pyarrow")
    except DataError:
        raise
    except Exception as error:  # pyarrow and pandas raise whatever the broken part of the file makes them
        raise DataError(f"This is not a readable Parquet file ({error}); save it again, or as CSV.") from None
    if not isinstance(frame.index, pd.RangeIndex):
        names = [*(name or "" for name in frame.index.names), *frame.columns]
        frame = frame.set_axis(range(frame.shape[1]), axis=1)  # one may be called as the index is
        frame = frame.reset_index(names=[f"index {k}" for k in range(frame.index.nlevels)]).set_axis(names, axis=1)
    if not len(frame):
        raise DataError("The file holds a header but no row of data below it.")
    return frame.set_axis([as_label(name) for name in frame.columns], axis=1)


def _refuse_parquet_bomb(content: bytes) -> None:
    """Raise if the cells, or their texts, take far more room than a table of that many bytes needs."""
    import pyarrow.parquet

    packed, claimed = len(content), pyarrow.parquet.ParquetFile(io.BytesIO(content)).metadata
    groups = [claimed.row_group(group) for group in range(claimed.num_row_groups)]
    parts = [(group, each.column(k)) for group, each in enumerate(groups) for k in range(each.num_columns)]
    cells = sum(part.num_values for _, part in parts)
    if cells > min(MAX_PARQUET_CELLS, max(HARMLESS, MAX_TIMES * packed)):
        raise DataError(
            f"The file of {packed:,} bytes holds {cells:,} cells, more than fit into memory; leave out what the model "
            "does not need."
        )
    most = max(MAX_BYTES, MAX_TIMES * packed)
    unpacked = sum(part.total_uncompressed_size for _, part in parts)
    for group, part in parts if unpacked <= most else ():
        if part.physical_type == "BYTE_ARRAY" and part.num_values * part.total_uncompressed_size > most:
            unpacked += _bytes_of_text(content, group, part.path_in_schema)
    if unpacked > most:
        raise DataError(
            f"The file of {packed:,} bytes would unpack to {unpacked:,} or more, which no table needs; leave out what "
            "the model does not need."
        )


def _bytes_of_text(content: bytes, group: int, column: str) -> int:
    """How long the texts of a column are together, each of which is read once; 0 for a column of lists."""
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


# The files of PrefLib: complete and incomplete orders (.soc, .soi), and those with ties (.toc, .toi) ------------------


SUFFIXES = (".soc", ".soi", ".toc", ".toi")
_NAME = re.compile(r"#\s*ALTERNATIVE NAME\s+(\d+)\s*:\s*(.*)", re.IGNORECASE)


def is_preflib(name: str, content: bytes) -> bool:
    """Whether a file is one, by its name or its first words."""
    return Path(name).suffix.lower() in SUFFIXES or content.startswith(b"# FILE NAME")


def preflib_cells(content: bytes) -> Cells:
    """A table with a row an order: its count, and what stands at each rank."""
    lines = content.decode("utf-8-sig", "replace").splitlines()
    names = {found[1]: found[2].strip() for line in lines if (found := _NAME.match(line))}
    body = [(k, line.strip()) for k, line in enumerate(lines, start=1) if line.strip() and not line.startswith("#")]
    if not names:
        names, body = _old(body)
    rows, numbers = [], []
    for number, line in body:
        count, colon, order = line.partition(":")
        if not colon or not count.strip().isdigit():
            raise DataError(f"Line {number} is {line!r}, but an order of a PrefLib file is written as '3: 2,1,4'.")
        if "{" in order:
            raise DataError(
                f"Line {number} ranks several alternatives alike, {order.strip()!r}; rankings with ties are not read."
            )
        codes = [code.strip() for code in order.split(",") if code.strip()]
        if unknown := [code for code in codes if code not in names]:
            raise DataError(f"Line {number} names alternative {unknown[0]!r}, which the head of the file does not.")
        rows.append([count.strip(), *(names[code] for code in codes)])
        numbers.append(number)
    if not rows:
        raise DataError("The file holds no order below its head.")
    if (width := max(map(len, rows))) * len(rows) > MAX_CELLS:
        raise DataError(
            f"The longest of {len(rows):,} orders names {width - 1:,} alternatives; a table with a row for each order"
            " would not fit into memory, so leave out the last places."
        )
    header = ["count", *(f"rank{k}" for k in range(1, width))]
    columns = [[row[k] if k < len(row) else "" for row in rows] for k in range(width)]
    return Cells(header, columns, numbers, note="a PrefLib file")


def _old(body: list[tuple[int, str]]) -> tuple[dict[str, str], list[tuple[int, str]]]:
    """The names and orders of a file as PrefLib had them before 2022: a number of names, these, a line of sums, "
    "orders."""
    try:
        many = int(body[0][1])
        named = [line.split(",", 1) for _, line in body[1 : many + 1]]
        names = {code.strip(): name.strip().strip('"') for code, name in named}
        orders = [(k, ": ".join(line.split(",", 1))) for k, line in body[many + 2 :]]
    except (ValueError, IndexError):
        raise DataError(
            "This is no PrefLib file: it has neither '# ALTERNATIVE NAME 1: ...' nor a number of names."
        ) from None
    return names, orders
