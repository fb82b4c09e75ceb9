"""Triplets: a question a row, which of its objects belong together."""

from typing import Any

from thali._labels import shorten
from thali.data.kinds import TRIPLETS
from thali.data.triplet_columns import EXPECTED, triplet_columns
from thali.data.triplets import Triplets

from ..layout import Layout, Reading
from ..table import Table

NAME = "table of triplets"


def match(table: Table, count: str | None = None, weights: bool = False) -> Reading | None:
    """A table whose columns have the names of triplets."""
    columns = triplet_columns(table.names, {"count": count})
    if columns is None:
        return None
    return Reading(TRIPLETS, NAME, str(columns), table, lambda: _converted(table, columns, weights))


def _converted(table: Table, columns: Any, weights: bool) -> tuple[Triplets, str]:
    chosen = {"odd": columns.odd, "chosen": columns.chosen, "count": columns.count}
    objects = dict(zip(("anchor", "nearer", "farther"), columns.objects, strict=False))
    if columns.odd is not None or columns.chosen is not None:
        objects = {"objects": columns.objects}
    is_weight = columns.count is not None and columns.count.casefold().startswith("weight")
    data = Triplets.from_frame(table.frame, **objects, **chosen, weights=weights or is_weight)
    unused = [name for name in table.names if name not in columns.used]
    ignored = f"; columns not used: {shorten(unused)}" if unused else ""
    return data, f"{columns}: {data}{ignored}"


LAYOUT = Layout(NAME, TRIPLETS, match, expected=EXPECTED, options=("count", "weights"))
