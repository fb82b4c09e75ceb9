"""Findings in a terminal: plain text, aligned, names never cut off."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from thali._digits import in_a_column
from thali.errors import Words
from thali.model.columns import COLUMNS
from thali.model.finding import BRIEF, Finding, Findings
from thali.posterior.histogram import bars

from .aligned import align
from .readable import readable

_BAR_WIDTH = 40


def text_of(findings: Findings, words: Words) -> str:
    """What a terminal shows of findings: those that are brief, one after the other."""
    return "\n\n".join(filter(None, (part_of(found, words) for found in findings.read_in(BRIEF))))


def part_of(found: Finding, words: Words) -> str:
    """One finding: its sentences, and the first rows of its table."""
    sentences = found.sentences(words)
    if found.verdict is False and found.table is None:
        sentences[:1] = [f"WARNING: {each}" for each in sentences[:1]]
    first, notes = (sentences[:1], sentences[1:]) if found.sentence != "" else ([], sentences)
    return "\n".join([*first, *_table(found), *notes])


def _table(found: Finding) -> Iterable[str]:
    """The table of a finding, in lines."""
    table = found.to_read
    if table is None or found.rows == 0 or not len(table):
        return ()
    drawn = _DRAWN.get("" if found.picture is None else found.picture.name)
    if drawn is not None:
        return (drawn(table),)
    shown = readable(table, cell, found.rows)
    rows = [tuple(row) for row in (shown.head, *shown.rows)]
    lines = [found.title] if found.title else []
    lines.append(align(rows, {k for k, text in enumerate(shown.is_text) if text}))
    if found.rows is not None and (more := len(table) - found.rows) > 0:
        lines.append(f"... and {more:,} more")
    return lines


def cell(column: str, value: Any) -> str:
    """A cell of the column of that name."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if isinstance(value, float | np.floating):
        if (known := COLUMNS.get(column)) is not None and known.decimals is not None and math.isfinite(value):
            return f"{value:,.{known.decimals}f}"
        small = 1e-9 < abs(value) < 5e-4 and not column.startswith("mcse")
        return f"{value:.2g}" if small and math.isfinite(value) else in_a_column(column, float(value))
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _histogram(table: Any) -> str:
    """Bars for the probabilities of whole numbers."""
    return bars(table.index.to_numpy(), table["probability"].to_numpy(), _BAR_WIDTH)


_DRAWN: dict[str, Callable[[Any], str]] = {"n_features": _histogram}  # pictures that plain characters draw as well
