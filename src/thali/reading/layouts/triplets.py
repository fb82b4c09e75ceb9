"""Triplets: a question a row, which of its objects belong together."""

from typing import Any

import numpy as np

from thali._labels import shorten
from thali.data.kinds import TRIPLETS
from thali.data.triplet_columns import EXPECTED, triplet_columns
from thali.data.triplets import Triplets

from ..layout import Layout, Reading
from ..table import Table

NAME = "table of triplets"
BARE = "three numbers a row, the last one that of the odd object"


def match(table: Table, count: str | None = None, weights: bool = False) -> Reading | None:
    """A table whose columns have the names of triplets; or nothing but three numbers a row, which may be something
    else."""
    if not table.named:
        values = table.frame.to_numpy()
        if values.shape[1] != 3 or len(values) < 4 or values.dtype.kind not in "iu" or (values < 0).any():
            return None
        return Reading(TRIPLETS, NAME, BARE, table, lambda: _bare(values), sure=False)
    columns = triplet_columns(table.names, {"count": count})
    if columns is None:
        return None
    return Reading(TRIPLETS, NAME, str(columns), table, lambda: _converted(table, columns, weights))


def _bare(values: np.ndarray) -> tuple[Triplets, str]:
    """Positions of objects, from 0."""
    data = Triplets(values)
    return data, f"{BARE}: {data}"


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
