"""Paired comparisons as a wide table: one column a pair, one row a subject or a pattern of answers with its count."""

from functools import partial
from typing import Any

from thali._labels import shorten
from thali.data.columns import column
from thali.data.described_columns import ColumnsRead
from thali.data.kinds import PAIRS
from thali.data.pairs import PairedComparisons
from thali.data.pairs.wide import outcomes_of_wide
from thali.data.pairs.wide_columns import WideColumns, called_like_pairs, numbered_answers, wide_columns
from thali.data.roles import COUNT, RESPONDENT

from ...shape import Lack, Reading, Shape
from ...table import Table

_WIDE = "table with a column a pair"


def match_wide(
    table: Table, respondent: str | None = None, count: str | None = None, coding: Any = None, weights: bool = False
) -> Reading | None:
    """A table whose columns are called like pairs, or hold answers to pairs; sure if it is their names."""
    if not table.named:
        return None
    # as many people as pairs look like a square, but not with answers on the diagonal
    if table.square is not None and not (table.square.bare and table.square.has_diagonal):
        return None
    given = {"subject": respondent, "count": count}
    for name in filter(None, given.values()):
        column(table.frame, name)
    found = wide_columns(table.frame, given)
    if found is None:
        return None
    how = f"a column a pair, {shorten(list(found.pairs), 3)}"
    roles = ColumnsRead(tuple(found.pairs), (), tuple(filter(None, (found.count,))), found.subject)
    convert = partial(_read_wide, table, found, coding, weights)
    return Reading(PAIRS, _WIDE, how, table, convert, sure=found.order == "named", roles=roles)


def _read_wide(table: Table, found: WideColumns, coding: Any, weights: bool) -> tuple[PairedComparisons, str]:
    data, how = PairedComparisons._of_outcomes(outcomes_of_wide(table.frame, found, coding, None, weights))
    row = "one subject a row" if data.subjects else "one pattern of answers a row"
    return data, f"{row}, {how}: {data}"


def wide_lacks(table: Table) -> Lack | None:
    """What columns lack that are called like pairs, or hold codes of answers."""
    if called := called_like_pairs(table.names):
        return Lack(f"answers in {shorten(called, 3)} such as 1 and 2; 1, -1 and 0; or the label chosen", near=3)
    if numbered := numbered_answers(table.frame):
        first, last = numbered[0], numbered[-1]
        what = f"a number of columns {first!r} to {last!r} that is one of pairs (3, 6, 10, 15, ...)"
        return Lack(what, near=3)
    return None


WIDE = Shape(
    _WIDE,
    PAIRS,
    match_wide,
    expected=(
        "a subject a row and a column a pair, called 'tea > milk', 'tea:milk' or V12, which holds 1 and 2, or 1, "
        "-1 and 0 for a tie, or the label chosen"
    ),
    roles=(RESPONDENT, COUNT),
    settings=("coding", "weights"),
    lacks=wide_lacks,
    main=("respondent",),
)
