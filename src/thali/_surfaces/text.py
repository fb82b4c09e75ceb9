"""Findings in a terminal: plain text, aligned, names never cut off."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from thali._digits import decimals_of_cells, in_a_column
from thali._labels import printable
from thali._model.columns import COLUMNS
from thali._model.finding import TEXT, Finding, Findings
from thali.errors import Words

from .readable import align, readable

if TYPE_CHECKING:
    import pandas

# Histograms in plain characters ---------------------------------------------------------------------------------------


def bars(numbers: npt.ArrayLike, shares: npt.ArrayLike, width: int = 40) -> str:
    """Whole numbers and the share of each, one line a number, or a group of neighbouring ones if there are many.

    Examples
    --------
    >>> print(bars([1, 2, 3], [1 / 6, 1 / 2, 1 / 3], width=6))
    1 | ##      17 %
    2 | ######  50 %
    3 | ####    33 %
    """
    numbers, shares = np.asarray(numbers).astype(np.int64), np.asarray(shares, float)
    low, high = int(numbers.min()), int(numbers.max())
    step = math.ceil((high - low + 1) / 20)
    grouped = np.bincount((numbers - low) // step, shares)
    starts = [low + step * group for group in range(len(grouped))]
    names = [str(start) if step == 1 else f"{start}-{start + step - 1}" for start in starts]
    name_width = max(map(len, names))
    drawn = ["#" * round(width * share / grouped.max()) for share in grouped]
    return "\n".join(
        f"{name:>{name_width}} | {bar:<{width}}  {_percent(share)}"
        for name, bar, share in zip(names, drawn, grouped, strict=True)
    )


def _percent(share: float) -> str:
    return f"{'<1' if 0 < share < 0.01 else format(100 * share, '.0f'):>2} %"


_BAR_WIDTH = 40


def text_of(findings: Findings, words: Words) -> str:
    """What a terminal shows of findings: those that are brief, one after the other."""
    return "\n\n".join(filter(None, (part_of(found, words) for found in findings.of(TEXT))))


def part_of(found: Finding, words: Words) -> str:
    """One finding: its sentences and its table."""
    sentences = found.sentences(words)
    if found.verdict is False and found.table is None:
        sentences[:1] = [f"WARNING: {each}" for each in sentences[:1]]
    first, notes = (sentences[:1], sentences[1:]) if found.sentence != "" else ([], sentences)
    return printable("\n".join([*first, *_table(found), *notes]))


def _table(found: Finding) -> Iterable[str]:
    """The table of a finding, in lines."""
    table = found.to_read
    if table is None or not found.is_printed or not len(table):
        return ()
    drawn = _DRAWN.get("" if found.picture is None else found.picture.name)
    if drawn is not None:
        return (drawn(table),)
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


def _histogram(table: "pandas.DataFrame") -> str:
    """Bars for the probabilities of whole numbers."""
    return bars(table.index.to_numpy(), table["probability"].to_numpy(), _BAR_WIDTH)


# pictures that plain characters draw as well
_DRAWN: "dict[str, Callable[[pandas.DataFrame], str]]" = {"n_features": _histogram}
