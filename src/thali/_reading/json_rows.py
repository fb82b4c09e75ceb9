"""Reading of JSON tables: JSON Lines, or an array of objects."""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from thali._input_files import JSON_SUFFIXES
from thali._labels import format_plural, normalise_spelling, shorten
from thali.errors import DataError

from . import text_cells
from .text_cells import MISSING, TextTable, decode_text

# a header of separated values never begins like this
_OBJECT = re.compile(r'\s*(?:\[\s*)?\{\s*(?:"|\}\s*$)')
_HEAD_BYTES = 1 << 10  # bytes that suffice to recognise JSON
_EXPECTED = (
    'expected one object per line, such as {"winner": "tea", "loser": "milk"}, or an array'
    " of objects"
)


def is_json(name: str, file_bytes: bytes) -> bool:
    """Return whether a file contains JSON, by its ending or first characters."""
    # the last character may be incomplete
    first_characters = decode_text(file_bytes[:_HEAD_BYTES].removeprefix(BOM_UTF8))
    return Path(name).suffix.lower() in JSON_SUFFIXES or _OBJECT.match(first_characters) is not None


def parse_json_cells(file_bytes: bytes) -> tuple[TextTable, dict[str, bool]]:
    """Parse a JSON table into text cells; also return which columns contain strings.

    Columns are the keys, in order of first occurrence; `null` and absent keys are empty cells. A
    text column has a quoted value other than "NA" and the like. Lists of texts are joined by
    semicolons; a column with another list or an object in any row is dropped, which the note
    reports.
    """
    text = decode_text(file_bytes)
    iterate_records = _iterate_lines
    if text.lstrip().startswith("["):
        iterate_records = _parse_array
    values_by_key: dict[str, list[Any]] = {}
    line_numbers: list[int] = []
    n_gaps = 0
    for line_number, record in iterate_records(text):
        for key, json_value in record.items():
            if key not in values_by_key:
                values_by_key[key] = [None] * len(line_numbers)
                n_gaps += len(line_numbers)
            values_by_key[key].append(json_value)
        line_numbers.append(line_number)
        if n_gaps > max(text_cells.MAX_CELLS, len(text)):
            raise DataError(
                f"The keys up to line {line_number} would make"
                f" {format_plural(len(values_by_key), 'column')},"
                " almost all of them empty; use the same keys in every object."
            )
        if len(record) < len(values_by_key):
            n_gaps += len(values_by_key) - len(record)
            for key_values in values_by_key.values():
                if len(key_values) < len(line_numbers):
                    key_values.append(None)
    for key, key_values in values_by_key.items():
        if all(map(_is_list_of_texts, key_values)):
            values_by_key[key] = list(map(";".join, key_values))
    types_by_key = {key: set(map(type, key_values)) for key, key_values in values_by_key.items()}
    nested_keys = [key for key, types in types_by_key.items() if types & {list, dict}]
    if len(nested_keys) == len(values_by_key) or (
        len(line_numbers) == 1 and _contains_records(values_by_key)
    ):
        raise DataError(
            f"The keys {shorten(nested_keys)} of its {format_plural(len(line_numbers), 'object')}"
            f" contain lists or objects, no single values; {_EXPECTED}."
        )
    header = []
    text_columns = []
    is_text = {}
    for key, types in types_by_key.items():
        key_values = values_by_key.pop(key)  # releases the values of one column at a time
        if key in nested_keys:
            continue
        name = normalise_spelling(key)
        if str in types and any(
            isinstance(json_value, str) and json_value.strip() not in MISSING
            for json_value in set(key_values)
        ):
            is_text[name] = True
        header.append(name)
        text_columns.append(_format_column(key_values, types))
    note = ""
    if nested_keys:
        note = f"dropped {shorten(nested_keys)} (lists or objects)"
    return TextTable(header, text_columns, line_numbers, note=note), is_text


def _contains_records(values_by_key: dict[str, list[Any]]) -> bool:
    """Return whether the first value of a key is a list of several objects."""
    first_values = [values[0] for values in values_by_key.values()]
    lists = [value for value in first_values if isinstance(value, list) and len(value) > 1]
    return any(isinstance(value[0], dict) for value in lists)


def _is_list_of_texts(json_value: Any) -> bool:
    """Return whether a value is a list of several texts that can be joined by semicolons."""
    if not isinstance(json_value, list) or len(json_value) < 2:
        return False
    return all(isinstance(item, str) and ";" not in item for item in json_value)


def _iterate_lines(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) of each non-empty line of JSON Lines."""
    decode = json.JSONDecoder().decode
    line_start = 0
    line_number = 0
    while line_start < len(text):
        # `find` returns -1 in the last line
        line_end = text.find("\n", line_start) % (len(text) + 1)
        line = text[line_start:line_end]
        line_number += 1
        line_start = line_end + 1
        if not line or line.isspace():
            continue
        try:
            record = decode(line)
        except (ValueError, RecursionError) as error:
            raise DataError(
                f"Line {line_number} is not a complete JSON object{_describe_position(error)};"
                f" {_EXPECTED}."
            ) from None
        if not isinstance(record, dict):
            raise DataError(f"Line {line_number} is not a JSON object; {_EXPECTED}.")
        yield line_number, record


def _parse_array(text: str) -> Iterable[tuple[int, dict[str, Any]]]:
    """Return (position, object) of each object in a JSON array."""
    try:
        records = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"The array is not complete JSON{_describe_position(error)}; {_EXPECTED}."
        ) from None
    for position, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise DataError(f"Element {position} of the array is not a JSON object; {_EXPECTED}.")
    return enumerate(records, start=1)


def _describe_position(error: Exception) -> str:
    """Return a JSON error as text, such as " (... at line 2, character 5)"."""
    # an integer with thousands of digits, or thousands of nested brackets
    if not isinstance(error, json.JSONDecodeError):
        return f" ({error})"
    line_text = ""
    if error.lineno > 1:
        line_text = f"line {error.lineno}, "
    return f" ({error.msg} at {line_text}character {error.colno})"


def _format_column(column: list[Any], types: set[type]) -> list[str]:
    """Convert the JSON values of a column to text cells."""
    if types <= {str, type(None)}:
        cell_by_value = {json_value: _format_cell(json_value) for json_value in set(column)}
        return list(map(cell_by_value.__getitem__, column))
    return list(map(_format_cell, column))


def _format_cell(json_value: Any) -> str:
    """Convert a JSON value to a text cell; null to ""."""
    if isinstance(json_value, str):
        return normalise_spelling(json_value)
    if isinstance(json_value, bool):
        return str(json_value).lower()
    if json_value is None:
        return ""
    return str(json_value)
