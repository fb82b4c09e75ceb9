"""A shape to copy: a table with a row for each pair and, in words, which of the two was preferred.

A new shape is a section like this file in `thali/_reading/layouts/KIND.py`, with a name in `SHAPES`
there, and a test.
"""

import pandas as pd

from thali import PairedComparisons
from thali._data.column_guesses import ColumnsRead
from thali._data.kinds import PAIRS
from thali._labels import format_label
from thali._reading.table_files import RawTable
from thali._reading.table_layout import Reading, Shape
from thali.errors import DataError

NAME = "table of decisions"
COLUMNS = ("one", "other", "verdict")


def match(table: RawTable) -> Reading | None:
    """A table with these three columns; nothing is converted, and nothing is raised."""
    if not set(COLUMNS) <= set(table.names):
        return None
    # `build` names the columns that are not among these
    read = ColumnsRead(COLUMNS[:2], COLUMNS[2:], (), None)
    description = "table of pairs with a column of decisions"
    return Reading(PAIRS, NAME, description, table, lambda: converted(table), roles=read)


def converted(table: RawTable) -> tuple[PairedComparisons, str]:
    """The data, checked by their own class, and a sentence that says what was read."""
    one, other, verdict = (table.frame[name] for name in COLUMNS)
    texts = verdict.map(format_label)
    for row, text in texts.items():
        if text not in COLUMNS[:2]:
            raise DataError(
                f"Column 'verdict' contains {text!r} in row {row}; write 'one' or 'other'."
            )
    is_one = texts == "one"
    chosen, rejected = one.where(is_one, other), other.where(is_one, one)
    data = PairedComparisons.from_frame(pd.DataFrame({"winner": chosen, "loser": rejected}))
    return data, f"table of pairs with a column of decisions: {data}"


SHAPE = Shape(
    NAME, PAIRS, match, expected="the columns 'one', 'other' and 'verdict' (one or other)"
)
