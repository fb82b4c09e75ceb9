"""Reading of large tables of comparisons in batches; equal rows are counted."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from thali._data.column_readers import check_columns, get_column, read_row_texts
from thali._data.kinds import CHOICES, PAIRS
from thali._data.pairs.dates import DAY, MissingDateError, name_date_column, read_dates
from thali._inference.index_arithmetic import find_first
from thali._inference.progress_display import Progress
from thali._inference.user_warnings import warn
from thali._input_files import Source
from thali._labels import format_label, has_repeats, shorten
from thali.errors import PYTHON, Argument, DataError, DataWarning, Words, prefix_errors

from .json_rows import is_json
from .layout_recognition import list_named_columns, recognise
from .layouts import BOARD_SHAPES
from .practice_rows import PracticeRows, find_practice_rows, list_practice_labels
from .row_filter import RowFilter
from .table_files import RawTable, build_raw_table, is_text_column, load_table
from .table_layout import Reading
from .text_cells import TextTable, find_separator, join_notes

if TYPE_CHECKING:
    import pyarrow

    from thali._data.base_classes import Judged

LARGE = 1 << 24  # bytes of a file that is read in batches
BATCH = 1 << 20  # rows per batch
BLOCK = 1 << 24  # bytes per batch of text
HEAD = 10_000  # rows for recognising the shape of the table
HEAD_BYTES = 1 << 20
MAX_PARTS = 100  # values of a column that splits the rows
_TIMES = "identical rows"
_ROW, _HOW_OFTEN = "\x00row", "\x00times"  # names that do not occur in headers


class _BatchedFile(NamedTuple):
    """An open large file: first rows, and a function that yields batches of columns."""

    head: RawTable
    n_rows: int  # approximate number
    read_batches: Callable[[list[str]], Iterator["pyarrow.RecordBatch"]]
    # converts a batch with the numbers of its rows; for text files, text columns may be given
    as_frame: Callable[["pyarrow.Table", Iterable[int], Mapping[str, bool]], pd.DataFrame]
    decimal_comma: bool | None  # None: the file stores the types of columns


class _FilteredFile(NamedTuple):
    """The rows of an open large file that fulfil conditions."""

    batches: _BatchedFile
    where: RowFilter
    # for text files: whether columns of the conditions are text
    texts: Mapping[str, bool]

    def iterate_batches(
        self, columns: list[str]
    ) -> Iterator[tuple["pyarrow.Table", np.ndarray, int]]:
        """Yield (selected rows of a batch, row numbers, number of rows read)."""
        import pyarrow as pa

        filter_columns = list(self.where.columns)
        first_row = 0
        for batch in self.batches.read_batches(list(dict.fromkeys([*columns, *filter_columns]))):
            batch_table = pa.Table.from_batches([batch])
            end_row = first_row + len(batch_table)
            row_numbers = np.arange(first_row, end_row)
            if filter_columns:
                frame = self.batches.as_frame(
                    batch_table.select(filter_columns), range(len(batch_table)), self.texts
                )
                is_kept = self.where.select(frame)
                batch_table = batch_table.filter(pa.array(is_kept))
                row_numbers = row_numbers[is_kept]
            yield batch_table.select(columns), row_numbers, end_row
            first_row = end_row

    def read_head(self) -> RawTable:
        """Read the first selected rows, from which the layout is recognised."""
        import pyarrow as pa

        if not self.where.conditions:
            return self.batches.head
        head_slices = []
        line_numbers: list[int] = []
        n_read = 0
        for table, row_numbers, n_read in self.iterate_batches(self.batches.head.names):  # noqa: B007
            n_missing = HEAD - len(line_numbers)
            head_slices.append(table.slice(0, n_missing))
            line_numbers += (row_numbers[:n_missing] + 1).tolist()
            if len(line_numbers) == HEAD:
                break
        if not line_numbers:
            raise self.where.empty_error(n_read)
        head_table = pa.concat_tables(head_slices, promote_options="permissive")
        return RawTable(
            self.batches.as_frame(head_table, line_numbers, {}),
            self.batches.head.file,
            filter_columns=self.where.columns,
        )


class ComparisonTable(NamedTuple):
    """Rows of comparisons or distinct rows with counts, and how to read them."""

    table: RawTable
    options: dict[str, Any]
    times: np.ndarray | None = None  # counts of rows; None: the table contains all rows
    counts: tuple[str, ...] = ()  # count columns
    # warns about rows that are no longer in the table, given the data
    warn: Callable[[Any], None] | None = None
    unread: str | None = None  # column of respondents that was not read
    is_board: bool = False  # whether choices and scores of options are other possible data

    def build(self, words: Words = PYTHON) -> tuple[Any, str]:
        """Convert the rows to comparisons; also return a sentence on how they were read."""
        data, sentence = self.recognise_reading().build(words)
        if self.warn is not None:
            self.warn(data)
        if self.unread is not None:
            warn(
                DataWarning(
                    f"Column {self.unread!r} seems to identify respondents, but in a file of more"
                    f" than {LARGE >> 20} MB such a column is not read unless named, so all"
                    " answers are treated as independent; give its name with ",
                    Argument("respondent"),
                    ".",
                )
            )
        return data, sentence

    def recognise_reading(self) -> Reading:
        """Recognise the table's layout and columns."""
        table = self.table
        options: dict[str, Any] = dict(self.options)
        if self.times is None:
            if self.is_board:
                return recognise(table, PAIRS, CHOICES, shapes=BOARD_SHAPES, asks=True, **options)
            return recognise(table, PAIRS, asks=True, **options)
        if self.counts:
            # raises for invalid counts, whose multiples might be valid
            recognise(table, PAIRS, **options).build()
            row_counts = {
                name: pd.to_numeric(table.frame[name]) * self.times for name in self.counts
            }
        else:
            row_counts = {_TIMES: self.times}
            options["count"] = _TIMES
        return recognise(replace(table, frame=table.frame.assign(**row_counts)), PAIRS, **options)

    def split_by(self, name: str) -> dict[str, Any]:
        """Return the comparisons for each value of a column, without empty cells."""
        with prefix_errors(self.table.file):
            column = get_column(self.table.frame, name)
        distinct_values, value_index = np.unique(
            read_row_texts(column).astype(str), return_inverse=True
        )
        if distinct_values.size - ("" in distinct_values) > MAX_PARTS:
            raise DataError(
                f"{self.table.file}: Column {name!r} has {distinct_values.size:,} different values,"
                f" and each would get a leaderboard; choose a column with at most {MAX_PARTS}."
            )
        return {
            label: self._convert_rows(value_index == k, name, label)
            for k, label in enumerate(distinct_values.tolist())
            if label
        }

    def drop_known_answers(
        self, name: str, known_hashes: np.ndarray
    ) -> "tuple[ComparisonTable, np.ndarray, int]":
        """Return the table without known answers, all known hashes, and the number dropped.

        Identifiers are known by their hashes, of 8 bytes each.
        """
        from pandas.util import hash_array

        frame = self.table.frame
        with prefix_errors(self.table.file):
            identifiers = get_column(frame, name)
            if (row := find_first(identifiers.isna().to_numpy())) is not None:
                raise DataError(
                    f"Column {name!r} identifies answers but is empty in row"
                    f" {frame.index[row]}; fill it in."
                )
        compute_hashes: Any = hash_array  # pandas declares it as an object
        row_hashes = compute_hashes(read_row_texts(identifiers), categorize=False)
        answer_index, is_repeated, answer_counts = self._group_answers()
        _, first_rows, hash_index = np.unique(row_hashes, return_index=True, return_inverse=True)
        is_known = np.isin(row_hashes, known_hashes) | (
            answer_index[first_rows][hash_index] != answer_index
        )
        n_rows_by_answer = np.bincount(answer_index)
        n_known_by_answer = np.bincount(answer_index, is_known)
        if (
            k := find_first((n_known_by_answer > 0) & (n_known_by_answer < n_rows_by_answer))
        ) is not None:
            is_in_answer = answer_index == k
            known_row = frame.index[is_in_answer & is_known][0]
            new_row = frame.index[is_in_answer & ~is_known][0]
            raise DataError(
                f"{self.table.file}: rows {known_row} and {new_row} belong to one answer, but their"
                f" identifiers in {name!r} differ, so only row {known_row} was counted when the"
                " file was first read; give all rows of an answer the same identifier."
            )
        is_kept = ~is_known & ~is_repeated
        remaining_table = self._replace(table=replace(self.table, frame=frame.loc[is_kept]))
        if self.times is not None:
            remaining_table = remaining_table._replace(times=np.ones(is_kept.sum(), np.int64))
        n_kept = np.unique(answer_index[is_kept]).size
        return (
            remaining_table,
            np.union1d(known_hashes, row_hashes),
            int(answer_counts.sum()) - n_kept,
        )

    def drop_column(self, name: str) -> "ComparisonTable":
        """Drop a column that the reading does not use."""
        roles = self.recognise_reading().roles
        if roles is None:
            return self
        if name in {*roles.all, *(roles.answer or ()), *list_named_columns(self.options)}:
            return self
        return self._replace(table=replace(self.table, frame=self.table.frame.drop(columns=name)))

    def _group_answers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return each row's answer number, which rows repeat, and answer counts."""
        frame = self.table.frame
        row_indices = np.arange(len(frame))
        if self.times is not None:
            return row_indices, row_indices < 0, self.times
        roles = self.recognise_reading().roles
        if roles is None or roles.answer is None:
            return row_indices, row_indices < 0, np.ones(len(frame))
        answer_index = 0 * row_indices
        if roles.answer:
            answer_index = (
                frame.groupby(list(roles.answer), sort=False, dropna=False).ngroup().to_numpy()
            )
        equal_rows = frame.groupby(list(frame.columns), sort=False, dropna=False)
        repetition_number = equal_rows.cumcount().to_numpy()
        answer_counts = np.zeros(answer_index.max() + 1)
        np.maximum.at(answer_counts, answer_index, repetition_number + 1.0)
        return answer_index, repetition_number > 0, answer_counts

    def _convert_rows(self, is_selected: np.ndarray, name: str, label: str) -> Any:
        """Convert these rows to comparisons; errors name the column's value."""
        table = self.table
        file = f"{table.file}, {name} {label!r}"
        table = replace(table, frame=table.frame.loc[is_selected], file=file, note="")
        times = self.times
        if times is not None:
            times = times[is_selected]
        selected_table = self._replace(table=table, times=times)
        with prefix_errors(table.file):
            return selected_table.recognise_reading().convert()[0]


def read_rows(
    path: str | Path,
    extra_columns: Sequence[str],
    progressbar: bool,
    where: str | None,
    options: dict[str, Any],
) -> ComparisonTable:
    """Read a table of comparisons; a large file as distinct rows with counts.

    `extra_columns`: columns that also distinguish rows, in addition to the columns of comparisons.
    """
    conditions = RowFilter.parse(where)
    dropped_columns = options.pop("without", None) or ()
    named_columns = [*extra_columns, *list_named_columns(options)]
    batched_file = None
    if not isinstance(path, Source):
        batched_file = _open_batched(Path(path).expanduser())
    if batched_file is not None:
        with prefix_errors(batched_file.head.file):
            conditions.check_columns(batched_file.head.frame)
            filtered_file = _FilteredFile(
                batched_file,
                conditions,
                _find_batched_text_columns(batched_file, conditions.columns),
            )
            head = filtered_file.read_head().drop_columns(dropped_columns, named_columns)
            check_columns(head.frame, extra_columns)
            options = name_date_column(head.frame, options)
        reading = ComparisonTable(head, options, is_board=True).recognise_reading()
        if reading.countable is not None:
            columns, count_columns = reading.countable
            distinct_columns = tuple(dict.fromkeys([*columns, *extra_columns]))
            table, times = _count_distinct_rows(
                filtered_file, distinct_columns, options.get("date"), progressbar
            )
            unread_respondent = None
            if reading.roles is not None and reading.roles.who not in distinct_columns:
                unread_respondent = reading.roles.who
            unused_columns = [
                name
                for name in head.names
                if name not in (*distinct_columns, unread_respondent, *conditions.columns)
            ]
            omission_note = ""
            if unused_columns:
                omission_note = f"columns not used: {shorten(unused_columns)}"
            table = replace(table, note=join_notes(head.note, omission_note, table.note))
            return ComparisonTable(
                table,
                options,
                times,
                count_columns,
                partial(_warn_about_practice_rows, filtered_file, head),
                unread_respondent,
            )
    table = load_table(path)
    with prefix_errors(table.file):
        table = table.filter_rows(conditions).drop_columns(dropped_columns, named_columns)
        options = name_date_column(table.frame, options)
        return ComparisonTable(table, options, is_board=True)


def is_large(path: str) -> bool:
    """Return whether the file exceeds the size above which it is read in batches."""
    return _open_batched(Path(path).expanduser()) is not None


def _count_distinct_rows(
    filtered_file: _FilteredFile,
    columns: tuple[str, ...],
    date_column: str | None,
    progressbar: bool,
) -> tuple[RawTable, np.ndarray]:
    """Return the distinct rows of these columns, and how often each occurs."""
    # dates with times are reduced to days
    import pyarrow as pa

    column_names = list(columns)
    batches = filtered_file.batches
    file = batches.head.file
    group_tables = []
    n_groups = 0
    n_kept = 0
    n_read = 0
    max_groups = 2 * BATCH
    codes_by_column: dict[str, _TextCodes] = {name: _TextCodes() for name in column_names}
    with (
        Progress(progressbar, f"reading {file}", batches.n_rows, "rows") as progress,
        prefix_errors(file),
    ):
        for batch, row_numbers, n_read in filtered_file.iterate_batches(column_names):
            if date_column is not None:
                days = _convert_batch_days(
                    filtered_file, batch[date_column], date_column, row_numbers
                )
                batch = batch.set_column(batch.column_names.index(date_column), date_column, days)
            coded_columns = [codes_by_column[name].encode(batch[name]) for name in column_names]
            coded_table = pa.table(
                [*coded_columns, row_numbers, np.ones(len(row_numbers), np.int64)],
                names=[*column_names, _ROW, _HOW_OFTEN],
            )
            group_tables.append(_group_rows([coded_table], column_names))
            n_groups += len(group_tables[-1])
            n_kept += len(row_numbers)
            progress.update(min(n_read, batches.n_rows))
            if n_groups > max_groups:
                group_tables = [_group_rows(group_tables, column_names)]
                n_groups = len(group_tables[0])
                # otherwise, tables of mostly distinct rows would be grouped with every batch
                max_groups = 2 * max(BATCH, n_groups)
    distinct_rows = _group_rows(group_tables, column_names).sort_by(_ROW)
    line_numbers = (distinct_rows[_ROW].to_numpy() + 1).tolist()
    row_counts = distinct_rows[_HOW_OFTEN].to_numpy()
    distinct_rows = pa.table(
        [codes_by_column[name].decode(distinct_rows[name]) for name in column_names],
        names=column_names,
    )
    with prefix_errors(file):
        frame = batches.as_frame(distinct_rows, line_numbers, {})
    note = ""
    if filtered_file.where.conditions:
        note = filtered_file.where.describe_selection(n_read, n_kept)
    return RawTable(frame, file, note=note, filter_columns=filtered_file.where.columns), row_counts


def _find_batched_text_columns(batches: _BatchedFile, columns: tuple[str, ...]) -> dict[str, bool]:
    """Return whether each column contains text in any batch of the file."""
    is_text: dict[str, bool] = {}
    if batches.decimal_comma is None or not columns:
        return is_text
    for batch in batches.read_batches(list(columns)):
        for column in columns:
            batch_texts = {text.strip() for text in batch[column].unique().to_pylist()}
            is_batch_text = is_text_column(batch_texts, batches.decimal_comma)
            if is_batch_text is not None:
                is_text[column] = is_text.get(column, False) or is_batch_text
    return is_text


def _warn_about_practice_rows(
    filtered_file: _FilteredFile, first_rows: RawTable, data: "Judged"
) -> None:
    """Warn that a large file contains rows labelled as practice."""
    practice_columns = [rows.column for rows in find_practice_rows(first_rows, data)]
    if not practice_columns:
        return
    counts_by_column = {column: Counter[str]() for column in practice_columns}
    for batch, _, _ in filtered_file.iterate_batches(practice_columns):
        for column, counts in counts_by_column.items():
            batch_cells = _remove_dictionary(batch[column]).combine_chunks()
            for cell in batch_cells.value_counts().to_pylist():
                counts[format_label(cell["values"])] += cell["counts"]
    for column, counts in counts_by_column.items():
        practice_words = tuple(list_practice_labels(column, counts))
        if (n_practice_rows := sum(counts[word] for word in practice_words)) < counts.total():
            warn(DataWarning(PracticeRows(column, practice_words, n_practice_rows).message()))


class _TextCodes:
    """Codes that replace the texts of a column, equal in all batches.

    Grouping codes takes a third of the time of grouping texts.
    """

    def __init__(self) -> None:
        self._code_of_text: dict[str, int] | None = None  # None: the column is not text

    def encode(self, column: Any) -> Any:
        """Replace the texts of a batch's column by codes; -1 for missing."""
        import pyarrow as pa

        text_type = column.type
        if pa.types.is_dictionary(text_type):
            text_type = text_type.value_type
        if not (pa.types.is_string(text_type) or pa.types.is_large_string(text_type)):
            return _remove_dictionary(column)
        if self._code_of_text is None:
            self._code_of_text = {}
        code_by_text = self._code_of_text
        code_chunks = []
        for chunk in column.chunks:
            encoded_chunk = chunk.dictionary_encode()
            codes = [
                -1 if text is None else code_by_text.setdefault(text, len(code_by_text))
                for text in encoded_chunk.dictionary.to_pylist()
            ]
            chunk_codes = encoded_chunk.indices.fill_null(len(codes)).to_numpy(zero_copy_only=False)
            code_chunks.append(pa.array(np.array([*codes, -1], np.int32)[chunk_codes]))
        return pa.chunked_array(code_chunks, pa.int32())

    def decode(self, column: Any) -> Any:
        """Replace the codes of a column by their texts."""
        import pyarrow as pa

        if self._code_of_text is None:
            return column
        codes = column.to_numpy()
        text_array = pa.array(list(self._code_of_text), pa.string())
        return pa.chunked_array(
            [pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), text_array)]
        )


def _list_stripped_texts(column: Any) -> list[str]:
    """Return a column's texts without blanks at their ends."""
    stripped_texts: list[str] = []
    for chunk in column.chunks:
        encoded_chunk = chunk.dictionary_encode()
        texts = [text.strip() for text in encoded_chunk.dictionary.to_pylist()]
        stripped_texts += [texts[text_index] for text_index in encoded_chunk.indices.to_pylist()]
    return stripped_texts


def _remove_dictionary(column: Any) -> Any:
    """Return a pyarrow column without dictionary encoding."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column


def _convert_batch_days(
    filtered_file: _FilteredFile, column: Any, column_name: str, row_numbers: np.ndarray
) -> Any:
    """Convert the dates of a batch to days since 1970; errors name rows of the file."""
    try:
        return _convert_days(column, column_name, row_numbers)
    except MissingDateError as first_error:
        n_empty = 0
        for batch, row_numbers, _ in filtered_file.iterate_batches([column_name]):
            try:
                _convert_days(batch[column_name], column_name, row_numbers)
            except MissingDateError as error:
                n_empty += error.count
        raise MissingDateError(column_name, first_error.row, n_empty) from None


def _convert_days(column: Any, column_name: str, row_numbers: np.ndarray) -> Any:
    """Convert dates and times to days since 1970; integers are unchanged."""
    import pyarrow as pa

    dates = read_dates(
        pd.DataFrame({column_name: column.to_pandas().to_numpy()}, index=pd.Index(row_numbers + 1)),
        column_name,
    )
    if dates.unit != DAY:
        return _remove_dictionary(column)
    return pa.array(dates.number.astype("datetime64[D]").astype(str))


def _group_rows(tables: list[Any], columns: list[str]) -> Any:
    """Group equal rows of tables; return the first row number of each, and how often it occurs."""
    import pyarrow as pa

    table = pa.concat_tables(tables, promote_options="permissive")
    group_table = table.group_by(columns).aggregate([(_ROW, "min"), (_HOW_OFTEN, "sum")])
    names = [*columns, f"{_ROW}_min", f"{_HOW_OFTEN}_sum"]
    return group_table.select(names).rename_columns([*columns, _ROW, _HOW_OFTEN])


def _open_batched(path: Path) -> _BatchedFile | None:
    """Open a large Parquet or text file for reading in batches; None for other files."""
    try:
        if path.stat().st_size < LARGE:
            return None
        import pyarrow.csv
        import pyarrow.parquet  # noqa: F401

        with open(path, "rb") as file:
            first_bytes = file.read(HEAD_BYTES)
    except (OSError, ImportError):  # the ordinary reader reports the error or works without pyarrow
        return None
    if first_bytes.startswith(b"PAR1"):
        return _open_batched_parquet(path)
    if b"\x00" in first_bytes or first_bytes.startswith(b"PK") or is_json(path.name, first_bytes):
        return None
    return _open_batched_text(path, first_bytes)


def _open_batched_parquet(path: Path) -> _BatchedFile | None:
    """Open a Parquet file for reading in batches; None if it is damaged."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    try:
        file = parquet.ParquetFile(path)
        all_columns = file.schema_arrow.names
        schema_fields = list(file.schema_arrow)
        flat_names = [field.name for field in schema_fields if not pa.types.is_nested(field.type)]
        first_batch = next(file.iter_batches(HEAD, columns=flat_names), None)
    except (pa.ArrowException, OSError):
        return None
    if first_batch is None or has_repeats(all_columns):
        return None

    def as_frame(table: Any, row_numbers: Iterable[int], texts: Mapping[str, bool]) -> pd.DataFrame:
        """Convert a batch to a data frame whose index has line numbers."""
        plain_table = pa.table(
            [_remove_dictionary(column) for column in table.columns], names=table.column_names
        )
        return plain_table.to_pandas().set_axis(pd.Index(row_numbers), axis=0)

    first_rows = as_frame(pa.Table.from_batches([first_batch]), range(1, len(first_batch) + 1), {})
    return _BatchedFile(
        RawTable(first_rows, path.name),
        file.metadata.num_rows,
        lambda columns: file.iter_batches(BATCH, columns=columns),
        as_frame,
        None,
    )


def _open_batched_text(path: Path, first_bytes: bytes) -> _BatchedFile | None:
    """Open a UTF-8 CSV-like file for reading in batches; None for other texts."""
    import pyarrow as pa
    import pyarrow.csv as csv

    first_lines = first_bytes[: first_bytes.rfind(b"\n") + 1]
    try:
        first_lines.decode("utf-8-sig")
        separator = find_separator(first_lines)
        first_table = load_table(Source(path.name, first_lines))
    except (UnicodeDecodeError, DataError):
        return None
    if separator is None or not first_table.named:
        return None
    all_columns = first_table.names
    decimal_comma = separator != ","

    def read_batches(columns: list[str]) -> Iterator["pyarrow.RecordBatch"]:
        """Yield batches of these columns as text."""
        read_options = csv.ReadOptions(column_names=all_columns, skip_rows=1, block_size=BLOCK)
        parse_options = csv.ParseOptions(delimiter=separator, newlines_in_values=True)
        column_types = dict.fromkeys(columns, pa.string())
        convert_options = csv.ConvertOptions(
            include_columns=columns, column_types=column_types, strings_can_be_null=False
        )
        try:
            yield from csv.open_csv(path, read_options, parse_options, convert_options)
        except pa.ArrowException as error:
            raise DataError(str(error)) from None

    def as_frame(table: Any, row_numbers: Iterable[int], texts: Mapping[str, bool]) -> pd.DataFrame:
        """Convert a batch to a data frame whose index has line numbers."""
        text_columns = [_list_stripped_texts(column) for column in table.columns]
        line_numbers = [row_number + 1 for row_number in row_numbers]
        cells = TextTable(table.column_names, text_columns, line_numbers, decimal_comma)
        return build_raw_table(cells, path.name, texts).frame

    n_rows = int(path.stat().st_size / len(first_lines) * len(first_table.frame))
    return _BatchedFile(first_table, n_rows, read_batches, as_frame, decimal_comma)
