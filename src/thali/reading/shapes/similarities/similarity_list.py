"""Similarities as a list: two objects a row, and how similar they are."""

from thali._labels import shorten
from thali.data.kinds import SIMILARITIES
from thali.data.pairs.columns import choice_columns
from thali.data.roles import DISSIMILARITY, SIMILARITY, by_plain_name
from thali.data.similarities import Similarities
from thali.data.similarities.listed import pair_columns, tells_similarities

from ...shape import Reading, Shape
from ...table import Table

_LIST = "list of similarities"


def match_list(table: Table, known: bool = False, symmetrize: str | None = None) -> Reading | None:
    """A table whose columns have the names of such a list.

    `known`: these are similarities, so that a column of dissimilarities, or two of similarities, is what is wrong.
    `symmetrize`: of squares; a list has nothing to take the mean of.
    """
    names = table.names if table.named else []
    if not tells_similarities(names, vaguely=True):
        own = by_plain_name(names)
        if not known or all(role.among(own) is None for role in (SIMILARITY, DISSIMILARITY)):
            return None
        return Reading(SIMILARITIES, _LIST, "table of pairs", table, lambda: _read_list(table), sure=False)
    square = table.square
    if square is not None and square.is_symmetric:
        return None
    choices = choice_columns(names)
    both_ways = any(len(columns.times) == 2 for columns in choices)
    sure = not both_ways and tells_similarities(names, vaguely=not choices)
    if square is not None and square.numbers is not None:
        sure &= square.bare and square.has_diagonal
    return Reading(SIMILARITIES, _LIST, str(pair_columns(names)), table, lambda: _read_list(table), sure)


def _read_list(table: Table) -> tuple[Similarities, str]:
    columns = pair_columns(table.names)
    data = Similarities.from_frame(table.frame, *columns)
    unused = [name for name in table.names if name not in columns and not name.startswith("column ")]
    ignored = f"; columns not used: {shorten(unused)}" if unused else ""
    return data, f"{data}, {columns}{ignored}"


LIST = Shape(
    _LIST,
    SIMILARITIES,
    match_list,
    expected=(
        "the columns 'first', 'second' and 'similarity' (or a and b, i and j, item1 and item2, row and column; sim, "
        "rating, proximity) and, if rows stand for several judgements, 'count'"
    ),
    settings=("known", "symmetrize"),
)
