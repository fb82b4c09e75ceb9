"""Tables as JSON: an object a line (JSON Lines), or an array of objects."""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from thali._labels import one_spelling, plural, shorten
from thali.errors import DataError

from .cells import MAX_CELLS, MISSING, TextTable, decoded

_ENDINGS = (".jsonl", ".ndjson", ".json")
_OBJECT = re.compile(r'\s*(?:\[\s*)?\{\s*(?:"|\}\s*$)')  # how no header of separated values begins
_HEAD = 1 << 10  # bytes by which that is seen
_EXPECTED = (
    'expected one object per line, such as {"winner": "tea", "loser": "milk"}, or an array'
    " of objects"
)


def is_json(name: str, content: bytes) -> bool:
    """Whether a file is such a table, by its name or its first signs."""
    begin = decoded(content[:_HEAD].removeprefix(BOM_UTF8))  # which may end within a letter
    return Path(name).suffix.lower() in _ENDINGS or _OBJECT.match(begin) is not None


def json_cells(content: bytes) -> tuple[TextTable, dict[str, bool]]:
    """The table, and which of its columns hold text: those in which something but "NA" and the like
    is in quotes.

    The columns are the keys, in the order in which they first occur; `null` and a key that is
    absent are empty cells. A column with a list or an object in any row is left out, which the note
    says.
    """
    text = decoded(content)
    is_array = text.lstrip().startswith("[")
    columns: dict[str, list[Any]] = {}
    lines: list[int] = []
    gaps = 0
    for line, record in _of_array(text) if is_array else _of_lines(text):
        for key, value in record.items():
            try:
                columns[key].append(value)
            except KeyError:
                columns[key] = [*[None] * len(lines), value]
                gaps += len(lines)
        lines.append(line)
        if gaps > max(MAX_CELLS, len(text)):
            raise DataError(
                f"The keys up to line {line} would make {plural(len(columns), 'column')}, almost"
                " all of them empty; use the same keys in every object."
            )
        if len(record) < len(columns):
            gaps += len(columns) - len(record)
            for column in columns.values():
                if len(column) < len(lines):
                    column.append(None)
    kinds = {key: set(map(type, column)) for key, column in columns.items()}
    nested = [key for key in columns if kinds[key] & {list, dict}]
    flat = [key for key in columns if key not in nested]
    if not flat:
        raise DataError(
            f"None of the keys of its {plural(len(lines), 'object')} contains single values;"
            f" {_EXPECTED}."
        )
    header, cells, texts = [one_spelling(key) for key in flat], [], {}
    for name, key in zip(header, flat, strict=True):
        column = columns.pop(key)  # so that no more than one is there twice
        if str in kinds[key] and any(
            isinstance(value, str) and value.strip() not in MISSING for value in set(column)
        ):
            texts[name] = True
        cells.append(_written(column, kinds[key]))
    note = f"dropped {shorten(nested)} (lists or objects)" if nested else ""
    return TextTable(header, cells, lines, note=note), texts


def _of_lines(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects, and the line of each; lines without text do not count."""
    read = json.JSONDecoder().decode
    begin, number = 0, 0
    while begin < len(text):
        end = text.find("\n", begin) % (len(text) + 1)  # of the last line -1
        line, number, begin = text[begin:end], number + 1, end + 1
        if not line or line.isspace():
            continue
        try:
            found = read(line)
        except (ValueError, RecursionError) as error:
            raise DataError(
                f"Line {number} is not a complete JSON object{_where(error)}; {_EXPECTED}."
            ) from None
        if not isinstance(found, dict):
            raise DataError(f"Line {number} is not a JSON object; {_EXPECTED}.")
        yield number, found


def _of_array(text: str) -> Iterable[tuple[int, dict[str, Any]]]:
    """The objects of an array, and the place of each."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"The array is not complete JSON{_where(error)}; {_EXPECTED}.") from None
    for number, record in enumerate(found, start=1):
        if not isinstance(record, dict):
            raise DataError(f"Element {number} of the array is not a JSON object; {_EXPECTED}.")
    return enumerate(found, start=1)


def _where(error: Exception) -> str:
    """What is wrong at which character, where that is known."""
    # an integer of thousands of digits, or as many brackets
    if not isinstance(error, json.JSONDecodeError):
        return f" ({error})"
    line = f"line {error.lineno}, " if error.lineno > 1 else ""
    return f" ({error.msg} at {line}character {error.colno})"


def _written(column: list[Any], kinds: set[type]) -> list[str]:
    """The values as the cells of a table of text have them; texts that are alike are one object."""
    if kinds <= {str, type(None)}:
        return list(map({value: _text(value) for value in set(column)}.__getitem__, column))
    return list(map(_text, column))


def _text(value: Any) -> str:
    """A value as a cell."""
    if isinstance(value, str):
        return one_spelling(value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
