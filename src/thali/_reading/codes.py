"""What the codes of levels stand for: a table of attribute, code and label, as survey programs keep
them apart."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from thali._data.experiments.wide import bases_of
from thali._data.roles import column_names, plain
from thali._labels import as_label, shorten, suggest
from thali.errors import Argument, DataError

from .cells import joined
from .table import NUMBERED, RawTable, in_file, read_table

Codes = dict[str, dict[str, str]]  # attribute -> code -> label

# a cell of a product without the attribute, as Sawtooth Software's files have it
LACKING = ("", "0")
_NUMBERED = re.compile(NUMBERED.format(r"\d+"))


def read_codes(path: Path) -> Codes:
    """The labels by attribute and code, from a table of these three columns."""
    frame = read_table(path)
    with in_file(str(path)):
        if frame.shape[1] != 3:
            raise DataError(
                "A table of codes needs three columns: an attribute, a code and its label or"
                f" price; this table has {frame.shape[1]}."
            )
        found: Codes = {}
        for row, cells in enumerate(frame.itertuples(index=False), start=1):
            attribute, code, label = map(as_label, cells)
            if not (attribute and code and label):
                raise DataError(f"Row {row} of the table of codes has an empty cell; fill it in.")
            own = found.setdefault(attribute, {})
            if code in own or label in own.values():
                what = f"code {code!r}" if code in own else f"label {label!r}"
                raise DataError(f"Attribute {attribute!r} lists the {what} twice; remove one.")
            own[code] = label
    return found


def coded(
    table: RawTable, codes: Codes, attributes: Any = None
) -> tuple[RawTable, dict[str, list[str]]]:
    """The table with labels in place of codes, and the order of labels, no numbers, that stand in
    several columns."""
    frame, note = _named(table.frame, codes), f"labels of {shorten(list(codes))} read from codes"
    names = column_names(frame)
    order = {}
    for attribute, labels in codes.items():
        columns = [name for name in names if plain(name) == plain(attribute)]
        columns = columns or [
            name for name in names if plain(attribute) in map(plain, bases_of(name))
        ]
        if not columns:
            raise DataError(
                Argument("codes"),
                f" contains labels of {attribute!r}, but there is no such"
                f" column.{suggest(attribute, names)}",
            )
        for name in columns:
            frame = frame.assign(**{name: _labelled(frame[name], labels, name)})
        if _are_numbers(labels.values()):
            continue
        if len(columns) > 1:
            order[attribute] = list(labels.values())
        # of an attribute or of people: that a column has an order does not make it an attribute
        else:
            (name,) = columns
            lacking = [
                text
                for text in LACKING
                if text and text not in labels and (frame[name] == text).any()
            ]
            frame = frame.assign(
                **{name: pd.Categorical(frame[name], [*labels.values(), *lacking], ordered=True)}
            )
    kept = {name: own for name, own in order.items() if attributes is None or name in attributes}
    return replace(table, frame=frame, note=joined(table.note, note)), kept


def _named(frame: pd.DataFrame, codes: Codes) -> pd.DataFrame:
    """The table with the names of the attributes in place of their numbers, where a file has
    numbers alone."""
    numbered = [str(name) for name in frame.columns if _NUMBERED.fullmatch(str(name))]
    if len(numbered) != len(codes):
        return frame
    return frame.rename(columns=dict(zip(numbered, codes, strict=True)))


def _labelled(cells: Any, labels: Mapping[str, str], name: str) -> Any:
    """The labels of the codes in a column; numbers, if all are."""
    texts = cells.map(as_label)
    known = dict(labels) | {text: text for text in LACKING if text not in labels}
    if (unknown := ~texts.isin(list(known))).any():
        row = int(np.flatnonzero(unknown)[0])
        raise DataError(
            f"Column {name!r} contains {texts.iloc[row]!r} in row {cells.index[row]}, which ",
            Argument("codes"),
            f" does not list; the listed codes are {shorten(list(labels), 12)}.",
        )
    found = texts.map(known)
    if _are_numbers(known[text] for text in texts.unique() if text):
        return pd.to_numeric(found.where(found != "", None))
    return found.where(found != "", None)


def _are_numbers(labels: Any) -> bool:
    try:
        return bool(np.isfinite([float(label) for label in labels]).all())
    except ValueError:
        return False
