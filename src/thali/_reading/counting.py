"""Large tables of comparisons: read in batches, of which only the different rows and their numbers
are kept."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.columns import column
from thali._data.kinds import PAIRS
from thali._data.pairs.dates import DAY, NoDate, when_of
from thali._inference.progress import Progress
from thali._inference.warn import warn
from thali._labels import as_label, shorten
from thali._source import Source
from thali.errors import PYTHON, Argument, DataError, DataWarning, Words

from .cells import TextTable, joined, separator_of
from .json_rows import is_json
from .practice import Marked, marked, says_practice
from .recognise import columns_in, recognise
from .shape import Reading
from .table import RawTable, holds_text, in_file, load, text_table
from .where import Where

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow

LARGE = 1 << 24  # bytes of a file above which it is read in batches
BATCH = 1 << 20  # rows of a batch
BLOCK = 1 << 24  # bytes of a batch of text
HEAD = 10_000  # rows by which the shape of the table is recognised
HEAD_BYTES = 1 << 20
MAX_PARTS = 100  # values of a column that divides the rows
_TIMES = "identical rows"
_ROW, _HOW_OFTEN = "\x00row", "\x00times"  # no header holds these


class _Batches(NamedTuple):
    """A large table: its first rows, and all of it in batches of some columns."""

    head: RawTable
    rows: int  # about as many as there are
    of_columns: Callable[[list[str]], Iterator["pyarrow.RecordBatch"]]
    # Of text, whose columns of text may be known, or of what the file holds.
    as_frame: Callable[["pyarrow.Table", list[int], str, Mapping[str, bool]], "pd.DataFrame"]
    decimal_comma: bool | None  # None: the file says itself which columns are numbers


class _Chosen(NamedTuple):
    """The rows of a large table that fulfil some conditions."""

    batches: _Batches
    where: Where
    # of the columns of the conditions, in a table of text: whether they hold text
    texts: Mapping[str, bool]

    def parts(self, columns: list[str]) -> Iterator[tuple["pyarrow.Table", np.ndarray, int]]:
        """Batches of some columns of these rows, the numbers of the rows, and how many of the file
        were seen so far."""
        import pyarrow as pa

        asked = list(self.where.columns)
        begin = 0
        for batch in self.batches.of_columns(list(dict.fromkeys([*columns, *asked]))):
            table = pa.Table.from_batches([batch])
            numbers, end = np.arange(begin, begin + len(table)), begin + len(table)
            if asked:
                frame = self.batches.as_frame(
                    table.select(asked), list(range(len(table))), self.batches.head.file, self.texts
                )
                kept = self.where.holds(frame)
                table, numbers = table.filter(pa.array(kept)), numbers[kept]
            yield table.select(columns), numbers, end
            begin = end

    def head(self) -> RawTable:
        """The first of these rows, by which the shape of the table is recognised."""
        import pyarrow as pa

        if not self.where.conditions:
            return self.batches.head
        found, lines, end = [], [], 0
        for table, numbers, end in self.parts(self.batches.head.names):  # noqa: B007
            found.append(table.slice(0, HEAD - len(lines)))
            lines += [int(number) + 1 for number in numbers[: HEAD - len(lines)]]
            if len(lines) == HEAD:
                break
        if not lines:
            raise self.where.none_left(end)
        whole = pa.concat_tables(found, promote_options="permissive")
        file = self.batches.head.file
        return RawTable(
            self.batches.as_frame(whole, lines, file, {}), file, conditioned=self.where.columns
        )


class CountedTable(NamedTuple):
    """A table of comparisons, or its different rows and how often each occurs, and what is known of
    its columns."""

    table: RawTable
    options: dict[str, Any]
    times: np.ndarray | None = None  # of each row; None: these are all rows
    counts: tuple[str, ...] = ()  # the columns of counts
    # of what rows that are no longer there say, by the data of all
    warn: Callable[[Any], None] | None = None
    unread: str | None = None  # the column that says who answered, where it was not read
    others: tuple[str, ...] = ()  # kinds of data that the table may hold besides

    def build(self, words: Words = PYTHON) -> tuple[Any, str]:
        """The comparisons, and a sentence in these words that says how they were read."""
        data, sentence = self.reading().build(words)
        if self.warn is not None:
            self.warn(data)
        if self.unread is not None:
            warn(
                DataWarning(
                    f"Column {self.unread!r} seems to identify respondents, but in a file of more"
                    f" than {LARGE >> 20} MB such a column is not read unless named, so all"
                    " answers are treated as independent; name it with ",
                    Argument("respondent"),
                    ".",
                )
            )
        return data, sentence

    def reading(self) -> Reading:
        """How it is read."""
        if self.times is None:
            return recognise(self.table, PAIRS, *self.others, asks=True, **self.options)
        return _as_counts(self.table, self.times, self.counts, self.options)

    def by(self, name: str) -> dict[str, Any]:
        """The comparisons of the rows with each value of a column, in their order; empty cells are
        of none."""
        with in_file(self.table.file):
            values = column(self.table.frame, name)
        found, place = np.unique(
            values.map(as_label, na_action="ignore").fillna("").to_numpy(str), return_inverse=True
        )
        if found.size - ("" in found) > MAX_PARTS:
            raise DataError(
                f"{self.table.file}: Column {name!r} has {found.size:,} different values, and each"
                f" would get a leaderboard; name a column with at most {MAX_PARTS}."
            )
        return {
            value: self._part(place == k, name, value)
            for k, value in enumerate(found.tolist())
            if value
        }

    def once(self, name: str, known: np.ndarray) -> "tuple[CountedTable, np.ndarray, int]":
        """The answers whose identifier, in a column, is not known and is of no answer above, the
        identifiers that are known now, and how many answers were left out; identifiers are hashes
        of 8 bytes."""
        from pandas.util import hash_array

        frame = self.table.frame
        with in_file(self.table.file):
            values = column(frame, name)
            if (empty := np.flatnonzero(values.isna())).size:
                raise DataError(
                    f"Column {name!r} identifies answers but is empty in row"
                    f" {frame.index[empty[0]]}; fill it in."
                )
        hashes: Any = hash_array  # pandas declares it as an object
        found = hashes(values.map(as_label).to_numpy(object), categorize=False)
        answer, above, times = self._answers()
        _, first, place = np.unique(found, return_index=True, return_inverse=True)
        old = np.isin(found, known) | (answer[first][place] != answer)
        rows, old_rows = np.bincount(answer), np.bincount(answer, old)
        if (torn := np.flatnonzero((old_rows > 0) & (old_rows < rows))).size:
            one, other = (
                frame.index[(answer == torn[0]) & (old == was)][0] for was in (True, False)
            )
            raise DataError(
                f"{self.table.file}: rows {one} and {other} belong to one answer, but their"
                f" identifiers in {name!r} differ, so only row {one} was counted when the file was"
                " first read; give all rows of an answer the same identifier."
            )
        kept = ~old & ~above
        left = self._replace(
            table=replace(self.table, frame=frame.loc[kept]),
            times=None if self.times is None else np.ones(kept.sum(), np.int64),
        )
        return left, np.union1d(known, found), int(times.sum()) - np.unique(answer[kept]).size

    def without(self, name: str) -> "CountedTable":
        """The same without a column, which describes nobody, unless something else is read in
        it."""
        roles = self.reading().roles
        if roles is None:
            return self
        named = {each for each in self.options.values() if isinstance(each, str)}
        if name in {*roles.all, *(roles.answer or ()), *named, *self.options.get("covariates", ())}:
            return self
        return self._replace(table=replace(self.table, frame=self.table.frame.drop(columns=name)))

    def _answers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """To which answer each row belongs, whether the same row is above it, and how often each
        answer is there."""
        frame = self.table.frame
        every = np.arange(len(frame))
        roles = None if self.times is not None else self.reading().roles
        if roles is None or roles.answer is None:
            return every, every < 0, np.ones(len(frame)) if self.times is None else self.times
        answer = 0 * every
        if roles.answer:
            answer = frame.groupby(list(roles.answer), sort=False, dropna=False).ngroup().to_numpy()
        alike = frame.groupby(list(frame.columns), sort=False, dropna=False).cumcount().to_numpy()
        times = np.zeros(answer.max() + 1)
        np.maximum.at(times, answer, alike + 1.0)
        return answer, alike > 0, times

    def _part(self, rows: np.ndarray, name: str, value: str) -> Any:
        """The comparisons of some rows."""
        table = replace(
            self.table,
            frame=self.table.frame.loc[rows],
            file=f"{self.table.file}, {name} {value!r}",
            note="",
        )
        part = self._replace(table=table, times=None if self.times is None else self.times[rows])
        with in_file(table.file):
            return part.reading().convert()[0]


def read_rows(
    path: Any,
    besides: Sequence[str],
    progressbar: bool,
    where: Any,
    options: dict[str, Any],
    others: tuple[str, ...] = (),
) -> CountedTable:
    """The rows of such a file; of a large one those that differ in what comparisons are made of, or
    `besides`.

    `others`: kinds of data that it may hold besides.
    """
    conditions, without = Where.of(where), options.pop("without", None) or ()
    named = [*besides, *columns_in(options)]
    batches = None if isinstance(path, Source) else _batches_of(Path(path).expanduser())
    if batches is not None:
        with in_file(batches.head.file):
            conditions.check(batches.head.frame)
            kept = _Chosen(batches, conditions, _which_hold_text(batches, conditions.columns))
            head = kept.head()
            head = head.without(without, named)
            for name in besides:
                column(head.frame, name)
        reading = CountedTable(head, options, others=others).reading()
        if reading.counted is not None:
            columns, counts = reading.counted
            every = tuple(dict.fromkeys([*columns, *besides]))
            table, times = _counted(kept, every, counts, options.get("date"), progressbar)
            who = None if reading.roles is None or reading.roles.who in every else reading.roles.who
            unused = [name for name in head.names if name not in (*every, who, *conditions.columns)]
            left_out = f"columns not used: {shorten(unused)}" if unused else ""
            table = replace(table, note=joined(head.note, left_out, table.note))
            return CountedTable(
                table, options, times, counts, partial(_warn_of_practice, kept, head), who
            )
    table = load(path)
    with in_file(table.file):
        table = table.only(conditions).without(without, named)
        return CountedTable(table, options, others=others)


def is_large(path: str) -> bool:
    """Whether that is a file that is read in batches."""
    return _batches_of(Path(path).expanduser()) is not None


def _as_counts(
    table: RawTable, times: np.ndarray, counts: tuple[str, ...], options: dict[str, Any]
) -> Reading:
    """The reading of a table of different rows, each of which occurs so many times."""
    import pandas as pd

    if not counts:
        counted = replace(table, frame=table.frame.assign(**{_TIMES: times}))
        named: dict[str, Any] = {**options, "count": _TIMES}
        return recognise(counted, PAIRS, **named)
    # refuses counts that are none, which their multiples might be
    recognise(table, PAIRS, **options).build()
    multiples = {name: pd.to_numeric(table.frame[name]) * times for name in counts}
    return recognise(replace(table, frame=table.frame.assign(**multiples)), PAIRS, **options)


def _counted(
    kept: _Chosen,
    columns: tuple[str, ...],
    counts: tuple[str, ...],
    date: str | None,
    progressbar: bool,
) -> tuple[RawTable, np.ndarray]:
    """The different rows of some columns, numbered as where they first stand, and how often each
    occurs."""
    # Of a column of dates and times the days count.
    import pyarrow as pa

    names, batches, file = list(columns), kept.batches, kept.batches.head.file
    found, held, taken, seen, most = [], 0, 0, 0, 2 * BATCH
    codes: dict[str, _Codes] = {name: _Codes() for name in names}
    with Progress(progressbar, f"reading {file}", batches.rows, "rows") as progress, in_file(file):
        for part, numbers, seen in kept.parts(names):
            if date is not None:
                days = _days_in(kept, part[date], date, numbers)
                part = part.set_column(part.column_names.index(date), date, days)
            values = [codes[name].of(part[name]) for name in names]
            table = pa.table([*values, pa.array(numbers)], names=[*names, _ROW])
            found.append(_grouped(table, names, None))
            held, taken = held + len(found[-1]), taken + len(numbers)
            progress.update(min(seen, batches.rows))
            if held > most:
                found = [_grouped(pa.concat_tables(found), names, _HOW_OFTEN)]
                held = len(found[0])
                # where nearly all rows differ, all would be grouped with every batch
                most = 2 * max(BATCH, held)
    whole = _grouped(
        pa.concat_tables(found, promote_options="permissive"), names, _HOW_OFTEN
    ).sort_by(_ROW)
    lines = (whole[_ROW].to_numpy() + 1).tolist()
    times = whole[_HOW_OFTEN].to_numpy()
    whole = pa.table([codes[name].decoded(whole[name]) for name in names], names=names)
    with in_file(file):
        frame = batches.as_frame(whole, lines, file, {})
    note = kept.where.left_out(seen, taken) if kept.where.conditions else ""
    return RawTable(frame, file, note=note, conditioned=kept.where.columns), times


def _which_hold_text(batches: _Batches, columns: tuple[str, ...]) -> dict[str, bool]:
    """Of a table of text, whether these columns hold text in any batch; of others nothing."""
    found: dict[str, bool] = {}
    if batches.decimal_comma is None or not columns:
        return found
    for batch in batches.of_columns(list(columns)):
        for name in columns:
            texts = {text.strip() for text in batch[name].unique().to_pylist()}
            if (text := holds_text(texts, batches.decimal_comma)) is not None:
                found[name] = found.get(name, False) or text
    return found


def _warn_of_practice(kept: _Chosen, head: RawTable, data: Any) -> None:
    """Warn of rows that say that they are practice, as `warn_of_practice` does, if the first rows
    do."""
    names = [each.column for each in marked(head, data)]
    rows = {name: Counter[str]() for name in names}
    for part, _, _ in kept.parts(names) if names else ():
        for name in names:
            for each in _plain(part[name]).combine_chunks().value_counts().to_pylist():
                rows[name][as_label(each["values"])] += each["counts"]
    for name, counts in rows.items():
        words = tuple(text for text in counts if says_practice(text))
        if (practice := sum(counts[word] for word in words)) < counts.total():
            warn(DataWarning(Marked(name, words, practice).message()))


class _Codes:
    """Numbers in place of the texts of a column, the same in all batches: they are grouped in a
    third of the time."""

    def __init__(self) -> None:
        self._places: dict[str, int] | None = None  # None: the column holds no text

    def of(self, column: Any) -> Any:
        """The column of a batch, with the place of each text in place of it; -1 where it is
        missing."""
        import pyarrow as pa

        plain = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if not (pa.types.is_string(plain) or pa.types.is_large_string(plain)):
            return _plain(column)
        known = self._places = {} if self._places is None else self._places
        chunks = []
        for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            encoded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
            texts = encoded.dictionary.to_pylist()
            places = [-1 if text is None else known.setdefault(text, len(known)) for text in texts]
            at = encoded.indices.fill_null(len(places)).to_numpy(zero_copy_only=False)
            chunks.append(pa.array(np.append(np.array(places, np.int32), np.int32(-1))[at]))
        return pa.chunked_array(chunks, pa.int32())

    def decoded(self, column: Any) -> Any:
        """The column of all batches, as it was."""
        import pyarrow as pa

        if self._places is None:
            return column
        at = column.to_numpy()
        texts = pa.array(list(self._places), pa.string())
        return pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(at, mask=at < 0), texts)])


def _stripped(column: Any) -> list[str]:
    """The texts of a column without the blanks around them; those that are alike are one object."""
    found: list[str] = []
    for chunk in column.chunks:
        encoded = chunk.dictionary_encode()
        texts = [text.strip() for text in encoded.dictionary.to_pylist()]
        found += [texts[at] for at in encoded.indices.to_pylist()]
    return found


def _plain(column: Any) -> Any:
    """The column without a dictionary of its values."""
    import pyarrow as pa

    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _days_in(kept: _Chosen, column: Any, name: str, numbers: np.ndarray) -> Any:
    """The days of a batch; an error of empty cells tells how many there are in all rows."""
    try:
        return _days(column, name, numbers)
    except NoDate as first:
        empty = 0
        for part, numbers, _ in kept.parts([name]):
            try:
                _days(part[name], name, numbers)
            except NoDate as error:
                empty += error.count
        raise NoDate(name, first.row, empty) from None


def _days(column: Any, name: str, numbers: np.ndarray) -> Any:
    """A column of dates and times as days; whole numbers of periods as they are."""
    import pandas as pd
    import pyarrow as pa

    when = when_of(
        pd.DataFrame({name: column.to_pandas().to_numpy()}, index=pd.Index(numbers + 1)), name
    )
    return (
        pa.array(when.number.astype("datetime64[D]").astype(str))
        if when.unit == DAY
        else _plain(column)
    )


def _grouped(table: Any, names: list[str], times: str | None) -> Any:
    """The different rows, the first number of each, and how often each occurs, by a column of that
    or by counting."""
    counted = (_ROW, "count") if times is None else (times, "sum")
    found = table.group_by(names).aggregate([(_ROW, "min"), counted])
    return found.select([*names, f"{_ROW}_min", "_".join(counted)]).rename_columns(
        [*names, _ROW, _HOW_OFTEN]
    )


def _batches_of(path: Path) -> _Batches | None:
    """The file in batches, if it is large and of a kind that can be read so."""
    try:
        if path.stat().st_size < LARGE:
            return None
        import pyarrow.csv
        import pyarrow.parquet  # noqa: F401

        with open(path, "rb") as file:
            head = file.read(HEAD_BYTES)
    except (OSError, ImportError):  # which the other way of reading words, or does without
        return None
    if head.startswith(b"PAR1"):
        return _of_parquet(path)
    return (
        None
        if b"\x00" in head or head.startswith(b"PK") or is_json(path.name, head)
        else _of_text(path, head)
    )


def _of_parquet(path: Path) -> _Batches | None:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as parquet

    try:
        file = parquet.ParquetFile(path)
        names, flat = (
            file.schema_arrow.names,
            [pa.types.is_nested(field.type) for field in file.schema_arrow],
        )
        simple = [name for name, nested in zip(names, flat, strict=True) if not nested]
        first = next(file.iter_batches(HEAD, columns=simple), None)
    except (pa.ArrowException, OSError):
        return None
    if first is None or len(set(names)) < len(names):
        return None

    def as_frame(
        table: Any, lines: list[int], name: str, texts: Mapping[str, bool]
    ) -> "pd.DataFrame":
        plain = pa.table([_plain(column) for column in table.columns], names=table.column_names)
        return plain.to_pandas().set_axis(pd.Index(lines), axis=0)

    head = as_frame(pa.Table.from_batches([first]), list(range(1, len(first) + 1)), path.name, {})
    return _Batches(
        RawTable(head, path.name),
        file.metadata.num_rows,
        lambda columns: file.iter_batches(BATCH, columns=columns),
        as_frame,
        None,
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
        read = csv.ReadOptions(column_names=names, skip_rows=1, block_size=BLOCK)
        parse = csv.ParseOptions(delimiter=separator, newlines_in_values=True)
        types = dict.fromkeys(columns, pa.string())
        convert = csv.ConvertOptions(
            include_columns=columns, column_types=types, strings_can_be_null=False
        )
        try:
            yield from csv.open_csv(path, read, parse, convert)
        except pa.ArrowException as error:
            raise DataError(str(error)) from None

    def as_frame(
        table: Any, lines: list[int], name: str, texts: Mapping[str, bool]
    ) -> "pd.DataFrame":
        cells = [_stripped(column) for column in table.columns]
        lines = [line + 1 for line in lines]
        return text_table(
            TextTable(table.column_names, cells, lines, decimal_comma), name, texts
        ).frame

    rows = int(path.stat().st_size / len(begin) * len(first.frame))
    return _Batches(first, rows, batches, as_frame, decimal_comma)
