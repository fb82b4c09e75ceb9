"""Loading of files (CSV, Excel, Parquet, Stata, JSON, PrefLib, Sawtooth) as tables."""

import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from gzip import GzipFile
from html import unescape
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

import numpy as np
import pandas as pd

from thali._data.choices.rankings import TIED
from thali._data.column_guesses import find_side_columns
from thali._data.column_readers import (
    check_columns,
    get_column,
    is_row_number,
    note_thousands,
    refuse_nested,
)
from thali._data.column_roles import (
    BEST,
    CHOSEN,
    CHOSEN_OF_TWO,
    ODD,
    RESPONDENT,
    RESPONDENT_OF_TASKS,
    ROW_NUMBERS,
    STEMS,
    WORST,
    column_names,
    has_numbers,
    map_plain_names,
    simplify_name,
)
from thali._input_files import PREFLIB_SUFFIXES, Source, read_source
from thali._labels import format_label, format_plural, has_repeats, index_labels, shorten
from thali.errors import Argument, DataError, prefix_errors

from .json_rows import is_json, parse_json_cells
from .row_filter import RowFilter
from .square_table import Square, find_square
from .text_cells import (
    CODE,
    DECIMAL_COMMA,
    INTEGER,
    MAX_CELLS,
    MISSING,
    NUMBER,
    TextTable,
    assemble_columns,
    check_repeated_header,
    join_notes,
    split_text_cells,
)

# Workbooks unpack to about 5 to 20 times their size; far more suggests an attack on memory.
HARMLESS_WORKBOOK = 1 << 25
MAX_UNPACKED = 100
MAX_WORKBOOK = 1 << 30

# digits of exact integers; a column with gaps has double precision
_EXACT = 17
_EXACT_BESIDE_GAPS = 15

_UNNAMED = re.compile(r"column \d+|\.\.\.\d+|Unnamed: \d+")  # in thali, readr, pandas

_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
# A cell with a formula and no stored value; with t="str" an empty text is a valid value.
_NEVER_CALCULATED = re.compile(
    rb"""<(?:\w+:)?c(?P<attributes>[^>]*)>\s*<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>(?P<formula>[^<]*)</(?:\w+:)?f>)\s*"""
    rb"""(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"""
)


def _read_excel_sheets(file_bytes: bytes) -> dict[str, TextTable]:
    """Read the first filled sheet of a workbook, and sheets with equal header, by title."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise DataError(
            'Excel files require openpyxl; run pip install "thali[files]", or save as CSV.'
        ) from None
    with _refuse_damaged("Excel workbook", "save it as .xlsx or CSV"):
        archive = ZipFile(io.BytesIO(file_bytes))
        _check_unpacked_size(archive, len(file_bytes))
        workbook: Any = load_workbook(io.BytesIO(file_bytes), read_only=True, data_only=True)
        rows_by_title = {
            sheet.title: rows for sheet in workbook.worksheets if (rows := _read_sheet_rows(sheet))
        }
        if not rows_by_title:
            raise DataError("The workbook is empty: no sheet has any cells.")
        headers = {
            title: {cell.strip() for cell in rows[0][1]} for title, rows in rows_by_title.items()
        }
        first_title = next(iter(headers))
        matching_titles = [title for title in headers if headers[title] == headers[first_title]]
        for title in matching_titles:
            _check_formulas(title, archive.read(workbook[title]._worksheet_path))
    ignored_sheets = [repr(title) for title in headers if title not in matching_titles]
    note = ""
    if len(matching_titles) > 1:
        note = f"{len(matching_titles)} sheets, {first_title!r} to {matching_titles[-1]!r}"
    if ignored_sheets:
        note = f"{note or f'sheet {first_title!r}'} (ignored: {', '.join(ignored_sheets)})"
    cells_by_title = {
        title: assemble_columns(
            iter(rows_by_title[title]), decimal_comma=True, note=note, ragged=False
        )
        for title in matching_titles
    }
    for cells in cells_by_title.values():
        check_repeated_header(cells)
    return cells_by_title


@contextmanager
def _refuse_damaged(kind: str, advice: str) -> Iterator[None]:
    """Raise DataError for any error of a library that unpacks or reads a damaged file."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        raise DataError(f"This is not a readable {kind} ({error}); {advice}.") from None


def _check_unpacked_size(archive: ZipFile, packed_bytes: int) -> None:
    """Raise DataError if a workbook would unpack to too many bytes."""
    # The sizes in the directory of the archive are upper limits.
    unpacked_bytes = sum(part.file_size for part in archive.infolist())
    if unpacked_bytes > MAX_WORKBOOK or (
        unpacked_bytes > HARMLESS_WORKBOOK and unpacked_bytes > MAX_UNPACKED * packed_bytes
    ):
        raise DataError(
            f"This workbook of {packed_bytes:,} bytes would unpack to {unpacked_bytes:,}, too much"
            " for a table; save the sheet as CSV."
        )


def _read_sheet_rows(sheet: Any) -> list[tuple[int, list[str]]]:
    """Return (line number, cells) of each filled row of a sheet."""
    sheet.reset_dimensions()  # some programs store a wrong size
    filled_rows = []
    n_cells = 0
    for line_number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        n_cells += len(row) + 1
        if n_cells > MAX_CELLS:
            raise DataError(
                f"Sheet {sheet.title!r} has more than {MAX_CELLS:,} cells, probably most of them"
                " empty; delete the empty rows and columns around the table, or save the sheet as"
                " CSV."
            )
        cells = ["" if value is None else str(value) for value in row]
        while cells and not cells[-1].strip():
            cells.pop()
        if cells:
            filled_rows.append((line_number, cells))
    return filled_rows


def _check_formulas(title: str, sheet_xml: bytes) -> None:
    """Raise DataError if a formula has no stored value."""
    if not _FORMULA.search(sheet_xml):
        return
    for cell_match in _NEVER_CALCULATED.finditer(sheet_xml):
        attributes, formula = (
            (part or b"").decode("utf-8", "replace") for part in cell_match.groups()
        )
        if not re.search(r"""\bt\s*=\s*["']str["']""", attributes):
            cell_names = re.findall(r"""\br\s*=\s*["'](\w+)["']""", attributes) or ["?"]
            if formula:
                formula = f" (={unescape(formula)})"
            raise DataError(
                f"Cell {cell_names[0]} of sheet {title!r} contains a formula{formula} that was"
                " never calculated; open the workbook in a spreadsheet, save it, and read it again."
            )


# The columns of a Parquet file --------------------------------------------------------------------


# A small file can contain any number of equal rows, and store a long text of all of them only once.
# cells: always allowed; at most per file; at most per byte
HARMLESS = 1 << 24
MAX_PARQUET_CELLS = 1 << 29
MAX_TIMES = 100
MAX_BYTES = 1 << 28  # unpacked bytes that are always allowed


def read_parquet_frame(file_bytes: bytes) -> "pd.DataFrame":
    """Read a Parquet file as a data frame; a named index becomes columns."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise DataError(
            'Parquet files require pyarrow; run pip install "thali[files]", or save as CSV.'
        ) from None
    with _refuse_damaged("Parquet file", "save it again, or as CSV"):
        _check_parquet_size(file_bytes)
        frame = pd.read_parquet(io.BytesIO(file_bytes), engine="pyarrow")
    if not isinstance(frame.index, pd.RangeIndex):
        column_labels = [*(name or "" for name in frame.index.names), *frame.columns]
        # a column may have the name of the index
        frame = frame.set_axis(range(frame.shape[1]), axis=1)
        frame = frame.reset_index(
            names=[f"index {k}" for k in range(frame.index.nlevels)]
        ).set_axis(column_labels, axis=1)
    return frame.set_axis([format_label(name) for name in frame.columns], axis=1)


def read_stata_frame(file_bytes: bytes) -> "pd.DataFrame":
    """Read a Stata file as a data frame; codes are replaced by their labels."""
    with _refuse_damaged("Stata file", "save it again, or as CSV"):
        frame: Any = pd.read_stata(io.BytesIO(file_bytes))
    labelled_columns = frame.select_dtypes("category").columns
    return frame.astype(dict.fromkeys(labelled_columns, object))


def _check_parquet_size(file_bytes: bytes) -> None:
    """Raise DataError if a Parquet file would need far more memory than its size."""
    import pyarrow.parquet

    packed_bytes = len(file_bytes)
    metadata = pyarrow.parquet.ParquetFile(io.BytesIO(file_bytes)).metadata
    column_parts = [
        (group_index, metadata.row_group(group_index).column(k))
        for group_index in range(metadata.num_row_groups)
        for k in range(metadata.num_columns)
    ]
    n_cells = sum(column_part.num_values for _, column_part in column_parts)
    if n_cells > min(MAX_PARQUET_CELLS, max(HARMLESS, MAX_TIMES * packed_bytes)):
        raise DataError(
            f"The file of {packed_bytes:,} bytes contains {n_cells:,} cells, more than fit into"
            " memory; remove columns that the model does not use, or count equal rows in one row"
            " (column 'count')."
        )
    max_bytes = max(MAX_BYTES, MAX_TIMES * packed_bytes)
    unpacked_bytes = sum(column_part.total_uncompressed_size for _, column_part in column_parts)
    for group_index, column_part in column_parts:
        if (
            unpacked_bytes <= max_bytes  # otherwise there is no need to measure texts
            and column_part.physical_type == "BYTE_ARRAY"
            and column_part.num_values * column_part.total_uncompressed_size > max_bytes
        ):
            unpacked_bytes += _measure_text(file_bytes, group_index, column_part.path_in_schema)
    if unpacked_bytes > max_bytes:
        raise DataError(
            f"The file of {packed_bytes:,} bytes would unpack to at least {unpacked_bytes:,}, too"
            " much for a table; remove columns that the model does not use."
        )


def _measure_text(file_bytes: bytes, group_index: int, column: str) -> int:
    """Return the total bytes of a Parquet column's texts; 0 for other types."""
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet

    if "." in column:
        return 0
    file = pyarrow.parquet.ParquetFile(io.BytesIO(file_bytes), read_dictionary=[column])
    arrow_compute: Any = pyarrow.compute  # pyarrow creates the functions at import
    n_bytes = 0
    for chunk in file.read_row_group(group_index, columns=[column])[0].chunks:
        if pyarrow.types.is_dictionary(chunk.type):
            lengths = arrow_compute.binary_length(chunk.dictionary)
            n_bytes += arrow_compute.sum(lengths.take(chunk.indices)).as_py() or 0
    return n_bytes


# PrefLib files: complete and incomplete orders (.soc, .soi), and orders with ties (.toc, .toi)


_PREFLIB_NAME = re.compile(r"#\s*ALTERNATIVE NAME\s+(\d+)\s*:\s*(.*)", re.IGNORECASE)
_PREFLIB_RANK = re.compile(r"\{([^}]*)\}|([^{},]+)")  # a tied group, or one alternative


MAX_COLUMNS = 10_000  # per text file; each column takes half a millisecond
NUMBERED = "attribute{}"  # columns of files that number attributes


def parse_preflib_cells(file_bytes: bytes) -> TextTable:
    """Parse a PrefLib file into one row per ranking: count, and alternatives by rank."""
    file_lines = file_bytes.decode("utf-8-sig", "replace").splitlines()
    name_by_code = {
        name_line[1]: name_line[2].strip()
        for line in file_lines
        if (name_line := _PREFLIB_NAME.match(line))
    }
    order_lines = [
        (k, line.strip())
        for k, line in enumerate(file_lines, start=1)
        if line.strip() and not line.startswith("#")
    ]
    if not name_by_code:
        name_by_code, order_lines = _parse_old_preflib(order_lines)
    table_rows = []
    line_numbers = []
    ranked_names = set()
    for line_number, line in order_lines:
        count_text, colon, order_text = line.partition(":")
        if not colon or not count_text.strip().isdigit():
            raise DataError(
                f"Line {line_number} is {line!r}, but PrefLib files contain orders such as '3:"
                " 2,1,4'."
            )
        rank_cells = []
        for tied, single in _PREFLIB_RANK.findall(order_text):
            codes = list(filter(None, map(str.strip, (tied or single).split(","))))
            for code in codes:
                if code not in name_by_code:
                    raise DataError(
                        f"Line {line_number} contains alternative {code!r}, which the file header"
                        " does not list."
                    )
            names = [name_by_code[code] for code in codes]
            ranked_names.update(names)
            if names:
                rank_cells.append(TIED.join(name.replace(TIED, "=") for name in names))
        table_rows.append([count_text.strip(), *rank_cells])
        line_numbers.append(line_number)
    if not table_rows:
        raise DataError("The file has a header but no rankings.")
    if unranked_names := [name for name in name_by_code.values() if name not in ranked_names]:
        table_rows.append(["0", *unranked_names])
        line_numbers.append(line_numbers[-1])
    n_columns = max(3, *map(len, table_rows))
    if n_columns * max(len(table_rows), MAX_CELLS // MAX_COLUMNS) > MAX_CELLS:
        raise DataError(
            f"The longest order contains {n_columns - 1:,} alternatives, which makes too large a"
            " table; truncate the orders."
        )
    header = ["count", *(f"rank{k}" for k in range(1, n_columns))]
    columns = list(map(list, zip_longest(header, *table_rows, fillvalue="")))
    return TextTable(
        header, [cells for _, *cells in columns], line_numbers, note="file format: PrefLib"
    )


def _parse_old_preflib(
    body_lines: list[tuple[int, str]],
) -> tuple[dict[str, str], list[tuple[int, str]]]:
    """Return names and rankings of a PrefLib file in the format before 2022."""
    # The format: number of names, the names, a line of sums, the orders.
    try:
        n_names = int(body_lines[0][1])
        name_fields = [line.split(",", 1) for _, line in body_lines[1 : n_names + 1]]
        name_by_code = {code.strip(): name.strip().strip('"') for code, name in name_fields}
        order_lines = [(k, ": ".join(line.split(",", 1))) for k, line in body_lines[n_names + 2 :]]
    except (ValueError, IndexError):
        raise DataError(
            "This is not a PrefLib file: it starts neither with '# ALTERNATIVE NAME 1: ...' nor"
            " with the number of alternatives."
        ) from None
    return name_by_code, order_lines


# Sawtooth Software's .cho, as its help describes it ("CHO file format"): integers without names


CHO = ".cho"
STATA = ".dta"
_DUAL_RESPONSE = (
    2  # fifth number of a respondent: each choice was followed by the question whether to buy
)


def parse_cho_cells(file_bytes: bytes) -> TextTable:
    """Parse a Sawtooth .cho file into one row per alternative.

    Columns: respondent, task, concept, codes of attributes, choice, variables of respondents. A
    respondent has five numbers (label, number of variables, attributes, tasks, whether "none" can
    be chosen), the variables, and for each task the numbers of concepts and of choices, the codes
    of each concept, the chosen concept, and the response time. "None" is the last concept, with
    codes 0; tasks with choice 0 were not answered.
    """
    integer_tokens = iter(_parse_integers(file_bytes))
    table_rows: list[list[str]] = []
    line_numbers: list[int] = []
    expected_numbers = None
    n_unanswered = 0

    def read_texts(n_integers: int) -> list[str]:
        """Return the next integers, as texts."""
        return [next(integer_tokens)[1] for _ in range(n_integers)]

    try:
        for line_number, respondent_text in integer_tokens:
            n_variables, n_attributes, n_tasks, has_none = map(int, read_texts(4))
            if expected_numbers not in (None, (n_variables, n_attributes)):
                raise DataError(
                    f"Line {line_number} starts a respondent whose numbers of variables and"
                    " attributes differ from earlier respondents."
                )
            if has_none == _DUAL_RESPONSE:
                raise DataError(
                    "The choices contain a dual-response none option, which is not supported;"
                    " export them without it."
                )
            expected_numbers = n_variables, n_attributes
            variable_texts = read_texts(n_variables)
            for task_number in range(1, n_tasks + 1):
                n_concepts, _ = map(int, read_texts(2))
                tokens_of_concepts = [
                    [next(integer_tokens) for _ in range(n_attributes)] for _ in range(n_concepts)
                ]
                concept_lines = [tokens[0][0] for tokens in tokens_of_concepts]
                concepts = [[code for _, code in tokens] for tokens in tokens_of_concepts]
                chosen_concept, _ = map(int, read_texts(2))
                task_text = f"Task {task_number} of respondent {respondent_text}"
                _check_cho_task(concepts, chosen_concept, has_none, task_text)
                if not chosen_concept:
                    n_unanswered += 1
                    continue
                if has_none:
                    concepts.append(["0"] * n_attributes)
                    concept_lines.append(line_number)
                line_numbers += concept_lines
                table_rows += [
                    [
                        respondent_text,
                        str(task_number),
                        str(concept),
                        *codes,
                        str(int(concept == chosen_concept)),
                        *variable_texts,
                    ]
                    for concept, codes in enumerate(concepts, start=1)
                ]
    except StopIteration:
        raise DataError("The file ends within a task; it is not a complete .cho file.") from None
    if expected_numbers is None or not table_rows:
        raise DataError("The file contains no choices.")
    n_variables, n_attributes = expected_numbers
    header = [
        *("respondent", "task", "concept"),
        *(NUMBERED.format(k) for k in range(1, n_attributes + 1)),
        "choice",
        *(f"variable{k}" for k in range(1, n_variables + 1)),
    ]
    note = "file format: .cho"
    if n_unanswered:
        note += f"; {format_plural(n_unanswered, 'task')} without an answer dropped"
    return TextTable(
        header, list(map(list, zip(*table_rows, strict=True))), line_numbers, note=note
    )


Token = tuple[int, str]  # line and text of an integer


def _check_cho_task(
    concepts: list[list[str]], chosen_concept: int, has_none: int, task_text: str
) -> None:
    """Raise DataError if a .cho task's choice or concepts are invalid."""
    if not 0 <= chosen_concept <= len(concepts) + (has_none != 0):
        raise DataError(
            f"{task_text} has {len(concepts)} concepts, but concept {chosen_concept} was chosen."
        )
    if any("0" in codes for codes in concepts):
        raise DataError(
            f"{task_text} has a concept that lacks some attributes, which is not supported; export"
            " one row per concept instead."
        )


def _parse_integers(file_bytes: bytes) -> list[Token]:
    """Return (line number, text) of each integer in a file."""
    tokens = []
    for line_number, line_text in enumerate(
        file_bytes.decode("utf-8-sig", "replace").splitlines(), start=1
    ):
        for integer_text in line_text.split():
            if not INTEGER.fullmatch(integer_text) or len(integer_text) > _EXACT:
                raise DataError(
                    f"Line {line_number} contains {integer_text!r}, but .cho files contain only"
                    " integers; check the file format."
                )
            tokens.append((line_number, integer_text))
    return tokens


# Tables from files: CSV, TSV, Excel, Parquet and JSON ---------------------------------------------


_NO_EXCEL = (
    "This is neither an Excel workbook, despite its name, nor a text table; save it as"
    " .xlsx or CSV."
)
_ERROR_OF_ENDING: dict[str, str] = dict.fromkeys((".xlsx", ".xlsm", ".xls"), _NO_EXCEL) | {
    ".parquet": "This is neither a Parquet file, despite its name, nor a text table; save it as"
    " Parquet or CSV."
}


_ANSWER_NAMES = {name for role in (CHOSEN_OF_TWO, BEST, WORST, ODD) for name in role.synonyms}


class HoldoutSplit(NamedTuple):
    """A table before its split into held-out and other rows, and which rows are kept."""

    frame: pd.DataFrame
    kept: np.ndarray  # mask of rows in this part
    where: RowFilter


@dataclass(frozen=True)
class RawTable:
    """A table as loaded, before its meaning is known; its index has file line numbers."""

    frame: pd.DataFrame
    file: str  # its name, for errors
    named: bool = True  # False: the columns have no names, as in a bare square of numbers
    note: str = ""  # what was ignored or changed
    is_triangle: bool = False  # whether the rows ended at the diagonal
    # sheets of a workbook with several squares, by title
    sheets: "tuple[tuple[str, RawTable], ...]" = ()
    # for text tables; None: the file stores the types of columns
    decimal_comma: bool | None = None
    filter_columns: tuple[str, ...] = ()  # columns of the conditions on rows
    holdout_split: "HoldoutSplit | None" = (
        None  # the table before the split, if some rows are held out
    )
    has_guessed_names: bool = False  # whether the file has no names of the columns
    # label of each column, such as its question, from a line below the names
    questions: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Column names as texts."""
        return column_names(self.frame)

    @cached_property
    def square(self) -> Square | None:
        """The table as a `Square`; None if it is not square."""
        return find_square(self.frame, self.named)

    def filter_rows(self, where: RowFilter) -> "RawTable":
        """Return the rows that fulfil the conditions; note their number."""
        if not where.conditions:
            return self
        if self.sheets:
            raise DataError(
                Argument("where"),
                " applies to rows, but this workbook contains square matrices; remove this"
                " argument.",
            )
        is_kept = where.select(self.frame)
        if not is_kept.any():
            where.raise_if_empty(self.frame)
        where.warn_about_similar_texts(self.frame)
        frame = self.frame.loc[is_kept]
        if self.decimal_comma is not None and not is_kept.all():
            frame = _retype_columns(frame, self.decimal_comma)
        note = join_notes(self.note, where.describe_selection(len(is_kept), int(is_kept.sum())))
        return replace(self, frame=frame, note=note, filter_columns=where.columns)

    def drop_columns(
        self, names: str | Sequence[str], used_names: Collection[Any] = ()
    ) -> "RawTable":
        """Drop columns by name, and unused columns of row numbers."""
        if isinstance(names, str):
            names = [names]
        check_columns(self.frame, names)
        row_numbers = []
        has_rows = self.named and not self.sheets
        if has_rows and (self.square is None or self.square.is_bare):
            row_numbers = [
                name
                for name in self.names
                if name not in used_names and _is_row_number(name, get_column(self.frame, name))
            ]
        if not names and not row_numbers:
            return self
        notes = [self.note]
        if names:
            notes.append(f"columns omitted as requested: {shorten(list(names))}")
        if row_numbers:
            notes.append(f"row numbers ({shorten(row_numbers)}) not used")
        return replace(
            self,
            frame=self.frame.drop(columns=[*names, *row_numbers]),
            note=join_notes(*notes),
        )

    def split_rows(self, where: RowFilter, held_out: bool) -> "RawTable":
        """Return the held-out rows, or the other rows."""
        if not where.conditions:
            return self
        is_holdout = where.select(self.frame)
        if is_holdout.all() or not is_holdout.any():
            selection_text = "no rows"
            if is_holdout.all():
                selection_text = "all rows"
            raise DataError(
                Argument("holdouts"),
                f" ({where}) selects {selection_text} of {len(self.frame):,}; change it to select"
                " some of them.",
            )
        is_kept = is_holdout == held_out
        note = join_notes(
            self.note, f"{is_holdout.sum():,} of {len(is_kept):,} rows held out where {where}"
        )
        return replace(
            self,
            frame=self.frame.loc[is_kept],
            note=note,
            filter_columns=(*self.filter_columns, *where.columns),
            holdout_split=HoldoutSplit(self.frame, is_kept, where),
        )


def _is_row_number(column: str, cells: "pd.Series") -> bool:
    """Return whether a column's name and cells just number the rows."""
    plain_name = simplify_name(column)
    is_named = plain_name in ROW_NUMBERS or bool(_UNNAMED.fullmatch(column))
    return is_named and (
        is_row_number(cells) or (plain_name != "x" and cells.dtype.kind in "iu" and cells.is_unique)
    )


def read_table(path: str | Path | Source, where: str | Sequence[str] | None = None) -> pd.DataFrame:
    """Read a table from a CSV, TSV, Excel, Parquet, Stata or JSON file; it may be a .gz or .zip.

    Kind of file, encoding, separator and decimal comma are recognised from the content. A column is
    numeric if all its cells are numbers or empty ("", "NA", "-", "."); numbers with leading zeros
    ("001") are names, and so is "NA" in a column of names. Excel: the first sheet with cells is
    read. JSON: one object per line or an array of objects; quoted numbers are text, `null` and
    absent keys are empty cells, and columns with lists or objects are dropped.

    Parameters
    ----------
    path : str, Path or Source
    where : str or list of str, optional
        Conditions on columns; rows that fail any of them are dropped, as if the file did not
        contain them. A condition compares a column by ==, !=, <, <=, > or >= with a number or a
        text, or is ``in (a, b)``, ``is missing`` or ``is not missing``; ``and`` joins several.
        Names and texts of one word need no quotes. Columns of numbers are compared as numbers,
        others as texts; an empty cell is unequal to every value.

    Returns
    -------
    DataFrame
        One row per non-empty row of the file that fulfils the conditions. A square table of numbers
        without a header has the columns "0", "1", ...; unnamed columns are called "column 1",
        "column 2", ... by position.

    Raises
    ------
    ArgumentError
        If a condition cannot be read.
    DataError
        If the file is absent, a folder, empty, not a table, or ragged; if two columns have the same
        name; if a condition names an unknown column, compares texts with a number, or selects no
        row.

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
    conditions = RowFilter.parse(where)
    table = load_table(path)
    with prefix_errors(table.file):
        table = table.filter_rows(conditions)
    return table.frame.reset_index(drop=True)


def load_table(path: str | Path | Source) -> RawTable:
    """Load a file as a `RawTable`; errors name the file."""
    source = read_source(path)
    with prefix_errors(source.name):
        name, file_bytes = _unpack(source)
    ending = Path(name).suffix.lower()
    with prefix_errors(name):
        if file_bytes.startswith(b"PAR1"):
            return _build_typed_table(read_parquet_frame(file_bytes), name)
        if ending == STATA:
            return _build_typed_table(read_stata_frame(file_bytes), name)
        if file_bytes.startswith(b"PK\x03\x04"):
            return _merge_sheets(
                {
                    title: build_raw_table(cells, name)
                    for title, cells in _read_excel_sheets(file_bytes).items()
                }
            )
        if file_bytes.startswith(b"\xd0\xcf\x11\xe0"):
            raise DataError(
                "This is an old (.xls) or password-protected Office file; save it as .xlsx or CSV."
            )
        if ending in PREFLIB_SUFFIXES or file_bytes.startswith(b"# FILE NAME"):
            return build_raw_table(parse_preflib_cells(file_bytes), name)
        if ending == CHO:
            return build_raw_table(parse_cho_cells(file_bytes), name)
        if is_json(name, file_bytes):
            cells, is_text = parse_json_cells(file_bytes)
            return build_raw_table(cells, name, is_text)
        if (triplets := _read_index_triplets(file_bytes)) is not None:
            note = "no column names: three object numbers per line, the last the odd one out"
            return RawTable(triplets, name, note=note, has_guessed_names=True)
        try:
            return build_raw_table(split_text_cells(file_bytes), name)
        except DataError as error:
            raise DataError(_ERROR_OF_ENDING.get(ending, error)) from None


_TRIPLET_NAMES = ["object1", "object2", "odd"]
_THREE_NUMBERS = re.compile(rb"\s*\d{1,9}([ \t]+|,|;)\d{1,9}\1\d{1,9}\s*")


def _read_index_triplets(file_bytes: bytes) -> pd.DataFrame | None:
    """Return lines of three different object numbers as a table of triplets; else None."""
    first_line, _, more_bytes = file_bytes.partition(b"\n")
    match = _THREE_NUMBERS.fullmatch(first_line)
    if match is None or not _THREE_NUMBERS.fullmatch(more_bytes.partition(b"\n")[0]):
        return None
    separator = match[1].decode().strip(" ") or r"\s+"
    try:
        frame = pd.read_csv(
            io.BytesIO(file_bytes), sep=separator, header=None, dtype=np.int64, names=_TRIPLET_NAMES
        )
    except (ValueError, OverflowError):
        return None
    numbers = frame.to_numpy()
    # Three lines may be a square of counts, and consecutive numbers names of columns.
    if len(numbers) <= 3 or (np.diff(numbers[0]) == 1).all() or numbers.min() < 0:
        return None
    if (np.diff(np.sort(numbers)) == 0).any():
        return None
    return frame.set_axis(range(1, len(frame) + 1))


def _unpack(source: Source) -> Source:
    """Decompress a .gz file, or a .zip archive of one file; return other files unchanged."""
    name, packed_bytes = source
    max_bytes = min(MAX_WORKBOOK, max(HARMLESS_WORKBOOK, MAX_UNPACKED * len(packed_bytes)))
    packed_file = io.BytesIO(packed_bytes)
    with _refuse_damaged("archive", "extract the table"):
        if packed_bytes.startswith(b"\x1f\x8b"):
            file_name = name.removesuffix(".gz")
            content = GzipFile(fileobj=packed_file).read(max_bytes + 1)
        elif name.lower().endswith(".zip"):
            archive = ZipFile(packed_file)
            file_names = [
                part.filename
                for part in archive.infolist()
                if not part.is_dir() and not part.filename.startswith("__MACOSX/")
            ]
            if len(file_names) != 1:
                raise DataError(
                    f"This archive contains {format_plural(len(file_names), 'file')}; extract the"
                    " one with the table."
                )
            (file_name,) = file_names
            content = archive.open(file_name).read(max_bytes + 1)
        else:
            return source
    if len(content) > max_bytes:
        raise DataError(
            f"This file of {len(packed_bytes):,} bytes would unpack to more than {max_bytes:,}, too"
            " much for a table; extract it."
        )
    return Source(file_name, content)


def _merge_sheets(sheets: dict[str, RawTable]) -> RawTable:
    """Merge sheets into one table: lists below, squares next to each other."""
    tables = list(sheets.values())
    first_table = tables[0]
    if len(tables) == 1:
        return first_table
    if all(table.square is not None for table in tables):
        return replace(first_table, sheets=tuple(sheets.items()))
    name_by_simplified = map_plain_names(first_table.names)
    frames = [table.frame for table in tables]
    if RESPONDENT.find_column(name_by_simplified) is None:
        frames = [table.frame.assign(respondent=title) for title, table in sheets.items()]
    return replace(first_table, frame=pd.concat(frames))


def _build_typed_table(frame: pd.DataFrame, file: str) -> RawTable:
    """Build a `RawTable` with unique column names from columns with types."""
    if not len(frame):
        raise DataError("The file has a header but no rows of data.")
    frame = frame.set_axis(_name_columns(list(frame.columns)), axis=1).set_axis(
        range(1, len(frame) + 1)
    )
    for _, cells in frame.items():
        refuse_nested(cells)
    return RawTable(frame, file)


def _name_columns(header: list[str]) -> list[str]:
    """Return the header with unique names; unnamed columns become "column N"."""
    column_labels = [name or f"column {k}" for k, name in enumerate(header, start=1)]
    first_number_by_name: dict[str, int] = {}
    for k, name in enumerate(column_labels, start=1):
        if (first_number := first_number_by_name.setdefault(name, k)) != k:
            raise DataError(f"Columns {first_number} and {k} are both called {name!r}; rename one.")
    return column_labels


def build_raw_table(
    cells: TextTable, file: str, texts: Mapping[str, bool] | None = None
) -> RawTable:
    """Convert text cells to a `RawTable` with numeric and text columns.

    `texts`: whether columns are text, where that is known.
    """
    if len(cells.header) > MAX_COLUMNS:
        raise DataError(
            f"The table has {len(cells.header):,} columns, but at most {MAX_COLUMNS:,} can be"
            " read; remove some, or write one row per answer."
        )
    cells = _drop_shared_prefix(_join_header_lines(_drop_qualtrics_lines(cells)))
    header = cells.header
    columns = cells.columns
    lines = cells.lines
    has_names = not (len(header) == len(lines) + 1 and all(map(NUMBER.fullmatch, header)))
    if not has_names:  # a square of numbers: what looked like the header is its first row
        columns = [[name, *column] for name, column in zip(header, columns, strict=True)]
        lines = [1, *lines]
        header = [str(k) for k in range(len(header))]
    distinct_by_column = [dict.fromkeys(column) for column in columns]
    if has_names:
        _refuse_numeric_header(header, distinct_by_column)
    columns = [*columns]
    note = cells.note
    for k, distinct_cells in enumerate(distinct_by_column):
        mark, example = _find_thousands(distinct_cells.keys() - MISSING, cells.decimal_comma)
        if mark:
            columns[k] = [text.replace(mark, "") for text in columns[k]]
            distinct_by_column[k] = dict.fromkeys(columns[k])
        elif example:
            number = f"{_parse_float(example):g}"
            note = join_notes(note, f"{example!r} in column {header[k]!r} read as {number}")
    text_columns = {**_find_text_columns(header, distinct_by_column), **(texts or {})}
    distinct_by_name = dict(zip(_name_columns(header), distinct_by_column, strict=True))
    typed_columns = {
        name: _convert_column(column, distinct_cells, cells.decimal_comma, text_columns.get(name))
        for (name, distinct_cells), column in zip(distinct_by_name.items(), columns, strict=True)
    }
    frame = pd.DataFrame(typed_columns, index=lines)
    if cells.decimal_comma:
        fractions = {name for name in typed_columns if frame[name].dtype.kind == "f"}
        note_thousands(frame, {name: [*distinct_by_name[name]] for name in fractions})
    return RawTable(
        frame,
        file,
        has_names,
        note,
        cells.is_triangle,
        decimal_comma=cells.decimal_comma,
        questions=dict(zip(header, cells.questions, strict=False)),
    )


_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
_HUNDREDS = re.compile(r"[+-]?[1-9]\d\d")


def _find_thousands(texts: set[str], decimal_comma: bool) -> tuple[str, str]:
    """Return the mark of thousands, and an example of numbers that may have one; else ""."""
    # decimals that end in 0 beside whole numbers are unusual
    thousands = {text for text in texts if _THOUSANDS.fullmatch(text)}
    marks = {text[-4] for text in thousands}
    others = texts - thousands
    if (
        len(marks) != 1
        or not (decimal_comma or marks == {"."})
        or not any(text.endswith("0") for text in thousands)
        or not others
        or not all(map(INTEGER.fullmatch, others))
    ):
        return "", ""
    if all(map(_HUNDREDS.fullmatch, others)):
        return marks.pop(), ""
    return "", min(thousands)


def _refuse_numeric_header(header: list[str], columns: list[dict[str, None]]) -> None:
    """Raise DataError if the header looks like a row of integers."""
    all_cells = [cell for column in columns for cell in column]
    is_like_rows = all(map(INTEGER.fullmatch, (*header, *all_cells)))
    # options called 1, 2, 3, ..., or years
    if not is_like_rows or header == [str(k + int(header[0])) for k in range(len(header))]:
        return
    cell_numbers = list(map(int, all_cells))
    if min(cell_numbers) <= min(map(int, header)) and max(map(int, header)) <= max(cell_numbers):
        raise DataError(
            f"The first line ({' '.join(header)}) contains integers, like the other lines, but"
            " column names are expected. Add a line of names above it, such as 'object1',"
            " 'object2', 'odd' for triplets or 'winner', 'loser' for comparisons; if these are"
            " names, rename the columns."
        )


def _find_text_columns(header: list[str], columns: Iterable[Iterable[str]]) -> dict[str, bool]:
    """Return {name: True} for columns to keep as text: NA is an option, or 1e2 is not 100."""
    is_text = {}
    answer_names = {column for column in header if simplify_name(column) in _ANSWER_NAMES}
    label_names = answer_names.union(
        *(pair.columns for pair in find_side_columns(header) if answer_names and pair.stem in STEMS)
    )
    for column, cells in zip(header, columns, strict=True):
        missing_words = MISSING.intersection(cells) - {""}
        options = re.split(r"\s*[>:]\s*|\s+vs\.?\s+", column)
        if missing_words and (column in label_names or not missing_words.isdisjoint(options)):
            is_text[column] = True
        if simplify_name(column) in RESPONDENT.sure:
            labels = set(cells) - MISSING
            if all(map(NUMBER.fullmatch, labels)) and has_repeats([*map(_parse_float, labels)]):
                is_text[column] = True
    return is_text


def _drop_qualtrics_lines(cells: TextTable) -> TextTable:
    """Drop the lines of questions, and of IDs if there are any, that Qualtrics writes."""
    questions = {simplify_name(column[0]) for column in cells.columns if column}
    n_lines = 1
    if any(len(column) > 2 and column[1].startswith('{"ImportId"') for column in cells.columns):
        n_lines = 2
        clause = "Qualtrics header lines (questions and IDs) dropped"
    elif not questions.isdisjoint(_QUALTRICS_QUESTIONS):
        clause = "Qualtrics header lines (questions) dropped"
    elif _has_label_line(cells):
        clause = "line of labels below the header dropped"
    else:
        return cells
    return replace(
        cells,
        columns=[column[n_lines:] for column in cells.columns],
        lines=cells.lines[n_lines:],
        note=join_notes(cells.note, clause),
        questions=tuple(column[0] for column in cells.columns),
    )


def _has_label_line(cells: TextTable) -> bool:
    """Return whether the first line has texts only, most of them above numbers."""
    columns = [column for column in cells.columns if len(column) > _MIN_LABELLED and column[0]]
    labels = {column[0] for column in columns}
    if len(columns) < len(cells.columns) or any(map(NUMBER.fullmatch, labels)):
        return False
    if not any(" " in label for label in labels):  # answers in words, or an option's own row
        return False
    n_numeric = sum(not _is_text_column({*column[1:]}, cells.decimal_comma) for column in columns)
    return n_numeric > len(columns) / 2


_MIN_LABELLED = 3  # lines of data


_QUALTRICS_QUESTIONS = {"responseid", "startdate"}


def _join_header_lines(cells: TextTable) -> TextTable:
    """Use the options in the line below the header, which SurveyMonkey writes, as names."""
    names = cells.header
    first_cells = [column[0] for column in cells.columns if column]
    if "" not in names or len(first_cells) < len(names) or first_cells[0]:
        return cells
    if not all(name or option for name, option in zip(names, first_cells, strict=True)):
        return cells
    header = list(names)
    for k, option in enumerate(first_cells):
        if "" in names[k : k + 2]:
            header[k] = option
    note = join_notes(cells.note, "names of columns from two header lines")
    columns = [column[1:] for column in cells.columns]
    return TextTable(header, columns, cells.lines[1:], cells.decimal_comma, note)


def _drop_shared_prefix(cells: TextTable) -> TextTable:
    """Drop a prefix of names: oTree's player., or that of the respondent and the choice."""
    prefixes = [
        name[: -len(word)]
        for name in cells.header
        for word in CHOSEN.sure
        if name.endswith(f".{word}")
    ]
    if "participant.code" in cells.header:
        prefixes = ["player."]
    for prefix in prefixes:
        header = [name.removeprefix(prefix) for name in cells.header]
        new_names = {*header} - {*cells.header}
        is_known = prefix == "player." or not new_names.isdisjoint(RESPONDENT_OF_TASKS.sure)
        if is_known and header != cells.header and len({*header}) == len({*cells.header}):
            note = join_notes(cells.note, f"{prefix!r} dropped from names of columns")
            return replace(cells, header=header, note=note)
    return cells


def _is_text_column(texts: set[str], decimal_comma: bool) -> bool:
    """Return whether a column's cells are text, or all empty."""
    filled_texts = texts - MISSING
    if not filled_texts:
        return True
    if any(CODE.fullmatch(text) for text in filled_texts):
        return True
    max_digits = _EXACT
    if texts != filled_texts:
        max_digits = _EXACT_BESIDE_GAPS
    if max(map(len, filled_texts)) > max_digits and all(map(INTEGER.fullmatch, filled_texts)):
        return True  # respondent numbers, some of which would coincide after rounding
    return not all(
        NUMBER.fullmatch(text) or decimal_comma and DECIMAL_COMMA.fullmatch(text)
        for text in filled_texts
    )


def _convert_column(
    column: list[str],
    distinct_cells: dict[str, None],
    decimal_comma: bool,
    is_text: bool | None = None,
) -> "np.ndarray | pd.api.extensions.ExtensionArray":
    """Convert a column of text cells to numbers if all are; else to texts."""
    # `is_text` decides where it is not None.
    texts = distinct_cells.keys()
    if is_text is None:
        is_text = _is_text_column(set(texts), decimal_comma)
    if is_text:
        text_index = index_labels(distinct_cells)
        codes = np.fromiter(map(text_index.__getitem__, column), np.int64, len(column))
        # empty cells become missing
        return pd.Series([text or None for text in text_index]).array.take(codes)
    parse_number: Callable[[str], float] = _parse_float
    dtype = np.float64
    if all(map(INTEGER.fullmatch, texts)) and max(map(len, texts), default=0) <= _EXACT:
        parse_number = int
        dtype = np.int64
    number_by_text = {text: parse_number(text) for text in texts}
    return np.fromiter(map(number_by_text.__getitem__, column), dtype, len(column))


def _parse_float(text: str) -> float:
    """Convert a cell to a float, decimal comma or point; NaN for a gap."""
    if text in MISSING:
        return np.nan
    if not NUMBER.fullmatch(text):
        text = text.replace(",", ".")
    return float(text)


def _retype_columns(frame: pd.DataFrame, decimal_comma: bool) -> pd.DataFrame:
    """Convert text columns to numbers if all cells left after filtering are."""
    numeric_columns = {}
    for column, cells in frame.items():
        if not has_numbers(cells):
            cell_texts = cells.astype(object).where(cells.notna(), "").tolist()
            distinct_texts = dict.fromkeys(cell_texts)
            if all(isinstance(text, str) for text in distinct_texts) and not _is_text_column(
                set(distinct_texts), decimal_comma
            ):
                numeric_columns[column] = _convert_column(cell_texts, distinct_texts, decimal_comma)
    return frame.assign(**numeric_columns)
