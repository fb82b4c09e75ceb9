"""Large tables of comparisons: read in batches, of which only the different rows and their numbers are kept."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._source import Source
from thali.data.kinds import PAIRS
from thali.errors import DataError
from thali.inference.progress import Progress

from .cells import Cells, separator_of
from .layout import Reading
from .recognise import recognise
from .table import Table, in_file, load, text_table

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow

LARGE = 1 << 24  # bytes of a file above which it is read in batches
_BATCH = 1 << 20  # rows of a batch
_HEAD = 10_000  # rows by which the shape of the table is recognised
_HEAD_BYTES = 1 << 20
_TIMES = "rows alike"
_ROW, _HOW_OFTEN = "\x00row", "\x00times"  # no header holds these


class _Batches(NamedTuple):
    """A large table: its first rows, and all of it in batches of some columns."""

    head: Table
    rows: int  # about as many as there are
    of_columns: Callable[[list[str]], Iterator["pyarrow.RecordBatch"]]
    as_frame: Callable[["pyarrow.Table", list[int], str], "pd.DataFrame"]  # of text, or of what the file holds


def read_counts(path: Any, progressbar: bool = False, **options: Any) -> tuple[Any, str]:
    """The paired comparisons in a file of any length, and a sentence that says how they were read.

    Of a Parquet or text file above 16 MB the different rows and how often each occurs are kept, nothing else; who
    answered is not read. Other files, and tables whose rows do not add up, are read as `read` does.

    Parameters
    ----------
    path : str, Path or Source
    progressbar : bool
    **options
        Those of the layouts, as `read` takes them.

    Raises
    ------
    DataError
        As `read`.
    """
    batches = None if isinstance(path, Source) else _batches_of(Path(path).expanduser())
    if batches is not None:
        reading = recognise(batches.head, PAIRS, **options)
        if reading.counted is not None:
            table, counts = _counted(batches, *reading.counted, progressbar)
            return _as_counts(table, counts, reading.counted[1], options).build()
    return recognise(load(path), PAIRS, **options).build()


def is_large(path: str) -> bool:
    """Whether that is a file that is read in batches."""
    return _batches_of(Path(path).expanduser()) is not None


def _as_counts(table: Table, times: np.ndarray, counts: tuple[str, ...], options: dict[str, Any]) -> Reading:
    """The reading of a table of different rows, each of which occurs so many times."""
    if not counts:
        counted = Table(table.frame.assign(**{_TIMES: times}), table.file)
        named: dict[str, Any] = {**options, "count": _TIMES}
        return recognise(counted, PAIRS, **named)
    recognise(table, PAIRS, **options).build()  # refuses counts that are none, which their multiples might be
    multiples = {name: table.frame[name] * times for name in counts}
    return recognise(Table(table.frame.assign(**multiples), table.file), PAIRS, **options)


def _counted(
    batches: _Batches, columns: tuple[str, ...], counts: tuple[str, ...], progressbar: bool
) -> tuple[Table, np.ndarray]:
    """The different rows of some columns, numbered as where they first stand, and how often each occurs."""
    import pyarrow as pa

    names = list(columns)
    found, kept, row = [], 0, 0
    with Progress(progressbar, f"reading {batches.head.file}", batches.rows, "rows") as progress:
        for batch in batches.of_columns(names):
            table = pa.Table.from_batches([batch])
            table = pa.table(
                [_plain(table[name]) for name in names] + [pa.array(np.arange(row, row + len(table)))],
                names=[*names, _ROW],
            )
            found.append(_grouped(table, names, None))
            row, kept = row + len(table), kept + len(found[-1])
            progress.update(min(row, batches.rows))
            if kept > 2 * _BATCH:
                found = [_grouped(pa.concat_tables(found), names, _HOW_OFTEN)]
                kept = len(found[0])
    whole = _grouped(pa.concat_tables(found, promote_options="permissive"), names, _HOW_OFTEN).sort_by(_ROW)
    lines = [int(number) + 1 for number in whole[_ROW].to_numpy()]
    with in_file(batches.head.file):
        frame = batches.as_frame(whole.select(names), lines, batches.head.file)
    return Table(frame, batches.head.file), whole[_HOW_OFTEN].to_numpy()


def _plain(column: Any) -> Any:
    """The column without a dictionary of its values."""
    import pyarrow as pa

    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _grouped(table: Any, names: list[str], times: str | None) -> Any:
    """The different rows, the first number of each, and how often each occurs, by a column of that or by counting."""
    counted = (_ROW, "count") if times is None else (times, "sum")
    found = table.group_by(names).aggregate([(_ROW, "min"), counted])
    return found.select([*names, f"{_ROW}_min", "_".join(counted)]).rename_columns([*names, _ROW, _HOW_OFTEN])


def _batches_of(path: Path) -> _Batches | None:
    """The file in batches, if it is large and of a kind that can be read so."""
    try:
        if path.stat().st_size < LARGE:
            return None
        import pyarrow.csv
        import pyarrow.parquet  # noqa: F401

        with open(path, "rb") as file:
            head = file.read(_HEAD_BYTES)
    except (OSError, ImportError):  # which the other way of reading words, or does without
        return None
    if head.startswith(b"PAR1"):
        return _of_parquet(path)
    return None if b"\x00" in head or head.startswith(b"PK") else _of_text(path, head)


def _of_parquet(path: Path) -> _Batches | None:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as parquet

    try:
        file = parquet.ParquetFile(path)
        names, flat = file.schema_arrow.names, [pa.types.is_nested(field.type) for field in file.schema_arrow]
        simple = [name for name, nested in zip(names, flat, strict=True) if not nested]
        first = next(file.iter_batches(_HEAD, columns=simple), None)
    except (pa.ArrowException, OSError):
        return None
    if first is None or len(set(names)) < len(names):
        return None

    def as_frame(table: Any, lines: list[int], name: str) -> "pd.DataFrame":
        return table.to_pandas().set_axis(pd.Index(lines), axis=0)

    head = as_frame(pa.Table.from_batches([first]), list(range(1, len(first) + 1)), path.name)
    return _Batches(
        Table(head, path.name),
        file.metadata.num_rows,
        lambda columns: file.iter_batches(_BATCH, columns=columns),
        as_frame,
    )


def _of_text(path: Path, head: bytes) -> _Batches | None:
    import pyarrow as pa
    import pyarrow.csv as csv

    begin = head[: head.rfind(b"\n") + 1]
    try:
        begin.decode("utf-8-sig")
        separator = separator_of(begin)
        first = load(Source(path.name, begin))
    except (UnicodeDecodeError, DataError):
        return None
    if separator is None or not first.named:
        return None
    names, decimal_comma = first.names, separator != ","

    def batches(columns: list[str]) -> Iterator["pyarrow.RecordBatch"]:
        read = csv.ReadOptions(column_names=names, skip_rows=1, block_size=1 << 24)
        parse = csv.ParseOptions(delimiter=separator, newlines_in_values=True)
        types = dict.fromkeys(columns, pa.string())
        convert = csv.ConvertOptions(include_columns=columns, column_types=types, strings_can_be_null=False)
        try:
            yield from csv.open_csv(path, read, parse, convert)
        except pa.ArrowException as error:
            raise DataError(f"{path.name}: {error}") from None

    def as_frame(table: Any, lines: list[int], name: str) -> "pd.DataFrame":
        cells = [[text.strip() for text in column.to_pylist()] for column in table.columns]
        return text_table(Cells(table.column_names, cells, [line + 1 for line in lines], decimal_comma), name).frame

    rows = int(path.stat().st_size / len(begin) * len(first.frame))
    return _Batches(first, rows, batches, as_frame)
