"""The shape of table: an answer a row, with the set that was shown and the two options that were
picked."""

from thali._reading.table_files import RawTable
from thali._reading.table_layout import Reading, Shape

from .data import Picks
from .spec import KIND

NAME = "list of picks"
HOW = "one answer per row, two picked of those shown"


def match(table: RawTable) -> Reading | None:
    """A table with both columns; nothing is converted, and nothing is raised."""
    if not table.named or not {"shown", "picked"} <= set(table.names):
        return None
    return Reading(KIND, NAME, HOW, table, lambda: _converted(table))


def _converted(table: RawTable) -> tuple[Picks, str]:
    data = Picks(
        *([str(cell).split("|") for cell in table.frame[name]] for name in ("shown", "picked"))
    )
    return data, f"{HOW}: {data}"


SHAPES = (
    Shape(NAME, KIND, match, expected="the columns 'shown' and 'picked', options between bars"),
)
