"""Layout of triplets: three objects per row and the odd one out, or the like."""

from collections.abc import Sequence
from typing import Any

from thali._data.column_guesses import ColumnsRead
from thali._data.column_roles import ANCHOR, COUNT, FARTHER, NEARER, OBJECTS, ODD, RESPONDENT
from thali._data.kinds import TRIPLETS
from thali._data.triplets import Triplets
from thali._data.triplets.triplet_tables import (
    EXPECTED,
    find_incomplete_columns,
    find_triplet_columns,
)
from thali._labels import shorten

from ..table_files import RawTable
from ..table_layout import Lack, Reading, Shape, keep_given

NAME = "table of triplets"
NAMED_BY = ("objects", "odd", "anchor", "nearer", "farther")


def match_triplets(
    table: RawTable,
    objects: Sequence[str] | None = None,
    odd: str | None = None,
    anchor: str | None = None,
    nearer: str | None = None,
    farther: str | None = None,
    count: str | None = None,
    respondent: str | None = None,
    weights: bool = False,
) -> Reading | None:
    """Return a `Reading` of a table of triplets; None for other tables."""
    named_columns = {
        "objects": objects,
        "odd": odd,
        "anchor": anchor,
        "nearer": nearer,
        "farther": farther,
        "count": count,
    }
    columns = find_triplet_columns(table.names, named_columns | {"respondent": respondent})
    if columns is None:
        return None
    answer_columns = keep_given(columns.odd, *(columns.chosen or ()))
    roles = ColumnsRead(columns.objects, answer_columns, keep_given(columns.count), columns.who)

    def convert() -> tuple[Triplets, str]:
        """Return the triplets, and a sentence on how they were read."""
        object_columns: Any = dict(
            zip(("anchor", "nearer", "farther"), columns.objects, strict=False)
        )
        if columns.odd is not None or columns.chosen is not None:
            object_columns = {"objects": columns.objects}
        is_weight = columns.count is not None and columns.count.casefold().startswith("weight")
        data = Triplets.from_frame(
            table.frame,
            odd=columns.odd,
            chosen=columns.chosen,
            count=columns.count,
            respondent=columns.who,
            weights=weights or is_weight,
            **object_columns,
        )
        return data, f"{columns}: {data}"

    return Reading(TRIPLETS, NAME, str(columns), table, convert, roles=roles)


def find_triplets_lack(table: RawTable) -> Lack | None:
    """Return the missing column of a table of triplets; else None."""
    objects, odd = find_incomplete_columns(table.names)
    if objects and odd is None:
        return Lack(f"a column with the odd one out of {shorten(objects)}", "odd", 2)
    if odd is not None:
        return Lack(f"three columns of objects to match {odd!r}", "objects", 3)
    return None


SHAPE = Shape(
    NAME,
    TRIPLETS,
    match_triplets,
    expected=EXPECTED,
    roles=(OBJECTS, ODD, ANCHOR, NEARER, FARTHER, COUNT, RESPONDENT),
    settings=("weights",),
    named_by=NAMED_BY,
    lacks=find_triplets_lack,
    needs="no three objects with the odd one out",
)


SHAPES = (SHAPE,)
