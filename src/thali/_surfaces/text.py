"""Findings in a terminal: plain text, aligned, names never cut off."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._digits import decimals_of_cells, in_a_column
from thali._labels import printable
from thali._model.columns import COLUMNS
from thali._model.finding import TEXT, Finding, Findings
from thali.errors import Words

from .readable import align, readable

if TYPE_CHECKING:
    pass


def text_of(findings: Findings, words: Words) -> str:
    """All that a terminal shows of findings, one after the other."""
    return "\n\n".join(filter(None, (part_of(found, words) for found in findings.of(TEXT))))


def part_of(found: Finding, words: Words) -> str:
    """One finding: its sentences and its table."""
    sentences = found.sentences(words)
    if found.good is False and found.table is None:
        sentences[:1] = [f"WARNING: {each}" for each in sentences[:1]]
    first, notes = (sentences[:1], sentences[1:]) if found.sentence != "" else ([], sentences)
    return printable("\n".join([*first, *_table(found), *notes]))


def _table(found: Finding) -> Iterable[str]:
    """The table of a finding, in lines."""
    table = found.to_read
    if table is None or not found.is_printed or not len(table):
        return ()
    shown = readable(table, cells)
    rows = [tuple(row) for row in (shown.head, *shown.rows)]
    lines = [found.title] if found.title else []
    lines.append(align(rows, {k for k, text in enumerate(shown.is_text) if text}))
    return lines


def cells(column: str, values: list[Any], least: Sequence[int] = ()) -> list[str]:
    """The cells of the column of that name: three decimals, more where all numbers or those of a row are small."""
    decimals = decimals_of_cells(column, values, least)
    return [_cell(column, value, each) for value, each in zip(values, decimals, strict=True)]


def _cell(column: str, value: Any, decimals: int | None) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if not isinstance(value, float | np.floating):
        return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    if (known := COLUMNS.get(column)) is not None and known.decimals is not None:
        decimals = known.decimals
    if decimals is None or not math.isfinite(value):
        return in_a_column(column, float(value))
    return f"{value:,.{decimals}f}"
