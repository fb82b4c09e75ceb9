"""A shape to copy: a table with a row for each pair and, in words, which of the two was preferred.

A new shape is a section like this file in `thali/_reading/shapes/KIND.py`, with a name in `SHAPES`
there, and a test.
"""

from thali import PairedComparisons
from thali._data.kinds import PAIRS
from thali._reading.shape import Reading, Shape
from thali._reading.table_files import RawTable

NAME = "table of decisions"
COLUMNS = ("one", "other", "verdict")


def match(table: RawTable) -> Reading | None:
    """A table with these three columns; nothing is converted, and nothing is raised."""
    if not set(COLUMNS) <= set(table.names):
        return None
    return Reading(
        PAIRS, NAME, "table of pairs with a column of decisions", table, lambda: converted(table)
    )


def converted(table: RawTable) -> tuple[PairedComparisons, str]:
    """The data, checked by their own class, and a sentence that says what was read."""
    rows = table.frame.loc[:, list(COLUMNS)].itertuples(index=False)
    pairs = [(one, other) if verdict == "one" else (other, one) for one, other, verdict in rows]
    data = PairedComparisons.from_pairs(pairs)
    return data, f"table of pairs with a column of decisions: {data}"


SHAPE = Shape(
    NAME, PAIRS, match, expected="the columns 'one', 'other' and 'verdict' (one or other)"
)
