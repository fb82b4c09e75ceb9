"""Replacement of level codes (1, 2, 3) by labels, from a table of attribute, code, label."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from thali._data.column_roles import NAME_SEPARATORS, column_names, simplify_name
from thali._inference.index_arithmetic import find_first
from thali._labels import format_label, shorten, suggest
from thali.errors import Argument, DataError, prefix_errors

from .table_files import NUMBERED, RawTable, read_table
from .text_cells import join_notes

Codes = dict[str, dict[str, str]]  # attribute -> code -> label

# cells of products without the attribute in Sawtooth Software's files
LACKING = ("", "0")
_NUMBERED = re.compile(NUMBERED.format(r"\d+"))
_STEM_AND_NUMBER = re.compile(r"(.*\D)\d+")


def read_codes(path: Path) -> Codes:
    """Read a file with columns attribute, code, label; return {attribute: {code: label}}."""
    frame = read_table(path)
    with prefix_errors(str(path)):
        if frame.shape[1] != 3:
            raise DataError(
                "A file of codes must have three columns: an attribute, a code, and its label or"
                f" price. This file has {frame.shape[1]}."
            )
        codes: Codes = {}
        for row_number, cells in enumerate(frame.itertuples(index=False), start=1):
            attribute, code, label = map(format_label, cells)
            if not (attribute and code and label):
                raise DataError(
                    f"Row {row_number} has an empty cell; fill it in or remove the row."
                )
            label_by_code = codes.setdefault(attribute, {})
            if code in label_by_code or label in label_by_code.values():
                entry_text = f"label {label!r}"
                if code in label_by_code:
                    entry_text = f"code {code!r}"
                raise DataError(
                    f"Attribute {attribute!r} lists the {entry_text} twice; remove one."
                )
            label_by_code[code] = label
    return codes


def replace_codes(
    table: RawTable, codes: Codes, attributes: Iterable[str] | None
) -> tuple[RawTable, dict[str, list[str]]]:
    """Replace codes in a table by labels; also return the levels' order by attribute.

    The order is given for text labels of attributes in several columns.
    """
    frame = _name_numbered_columns(table.frame, codes)
    all_columns = column_names(frame)
    level_order = {}
    for attribute, labels in codes.items():
        plain_name = simplify_name(attribute)
        matching_columns = [name for name in all_columns if simplify_name(name) == plain_name] or [
            name
            for name in all_columns
            if plain_name in map(simplify_name, _list_attribute_names(name))
        ]
        if not matching_columns:
            raise DataError(
                Argument("codes"),
                f" gives labels for column {attribute!r}, but there is no such"
                f" column.{suggest(attribute, all_columns)}",
            )
        label_columns = {
            name: _replace_column_codes(frame[name], labels, name) for name in matching_columns
        }
        if not _is_all_numeric(labels.values()):
            if len(matching_columns) > 1:
                level_order[attribute] = list(labels.values())
            # an ordered column may describe an attribute or respondents, so it is not listed
            else:
                ((name, cells),) = label_columns.items()
                missing_codes = [
                    text
                    for text in LACKING
                    if text and text not in labels and (cells == text).any()
                ]
                levels = [*labels.values(), *missing_codes]
                label_columns = {name: pd.Categorical(cells, levels, ordered=True)}
        frame = frame.assign(**label_columns)
    selected_order = {
        name: label_order
        for name, label_order in level_order.items()
        if attributes is None or name in attributes
    }
    note = join_notes(table.note, f"labels of {shorten(list(codes))} read from codes")
    return replace(table, frame=frame, note=note), selected_order


def _list_attribute_names(name: str) -> list[str]:
    """List attribute names that a column may belong to: of "price_1" price and 1, of "pf2" pf."""
    name_parts = [
        part
        for separator in NAME_SEPARATORS
        if separator in name
        for part in (name.rpartition(separator)[0], name.partition(separator)[2])
    ]
    if not name_parts and (match := _STEM_AND_NUMBER.fullmatch(name)):
        name_parts = [match[1]]
    return list(dict.fromkeys(filter(None, name_parts)))


def _name_numbered_columns(frame: pd.DataFrame, codes: Codes) -> pd.DataFrame:
    """Rename columns att1, att2, ... to the attributes, if there are equally many."""
    numbered_columns = [str(name) for name in frame.columns if _NUMBERED.fullmatch(str(name))]
    if len(numbered_columns) != len(codes):
        return frame
    return frame.rename(columns=dict(zip(numbered_columns, codes, strict=True)))


def _replace_column_codes(cells: Any, labels: Mapping[str, str], column: str) -> Any:
    """Return a column with codes replaced by labels, as numbers if all are numeric."""
    cell_texts = cells.map(format_label)
    label_by_code = {text: text for text in LACKING} | dict(labels)
    if (wrong_row := find_first(~cell_texts.isin(list(label_by_code)).to_numpy())) is not None:
        raise DataError(
            f"Column {column!r} contains {cell_texts.iloc[wrong_row]!r} in row"
            f" {cells.index[wrong_row]}, which ",
            Argument("codes"),
            f" does not list; the listed codes are {shorten(list(labels), 12)}.",
        )
    column_labels = cell_texts.map(label_by_code)
    column_labels = column_labels.where(column_labels != "", None)
    if _is_all_numeric(label_by_code[text] for text in cell_texts.unique() if text):
        return pd.to_numeric(column_labels)
    return column_labels


def _is_all_numeric(labels: Iterable[str]) -> bool:
    """Return whether all labels are finite numbers."""
    try:
        return bool(np.isfinite([float(label) for label in labels]).all())
    except ValueError:
        return False
