"""The cells of an Excel workbook, as text."""

import io
import re
from html import unescape
from typing import Any
from zipfile import BadZipFile, ZipFile

from thali.errors import DataError

from .cells import MAX_CELLS, Cells, assembled

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
