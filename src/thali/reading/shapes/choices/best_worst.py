"""Best-worst choices: a set a row, and which of its options is the best and which the worst."""

from typing import Any

from thali.data.choices import Choices
from thali.data.choices.best_worst import best_worst_columns, series
from thali.data.choices.best_worst_long import long_columns
from thali.data.described_columns import ColumnsRead
from thali.data.kinds import CHOICES
from thali.data.roles import BEST, COUNT, RESPONDENT, WORST, by_plain_name
from thali.errors import DataError

from ...shape import Lack, Reading, Shape
from ...table import Table

_BEST_WORST = "table of best-worst choices"


def match_best_worst(
    table: Table,
    best: str | None = None,
    worst: str | None = None,
    respondent: str | None = None,
    count: str | None = None,
    weights: bool = False,
) -> Reading | None:
    """A table with a column of the best, one of the worst, and a series of options."""
    given = {"best": best, "worst": worst, "respondent": respondent, "count": count}
    marked = long_columns(table.frame, {**given, "subject": respondent})
    if marked is not None:
        return _best_worst_reading(
            table, given, weights, str(marked), _best_worst_roles(marked, marked.option, marked.task)
        )
    try:
        found = best_worst_columns(table.frame, {**given, "subject": respondent})
    except DataError:
        if best is None and worst is None:
            return None
        return _best_worst_reading(table, given, weights, _BEST_WORST, None)
    return _best_worst_reading(table, given, weights, str(found), _best_worst_roles(found, *found.options))


def _best_worst_reading(
    table: Table, given: dict[str, Any], weights: bool, how: str, roles: ColumnsRead | None
) -> Reading:
    return Reading(CHOICES, _BEST_WORST, how, table, lambda: _read_best_worst(table, given, weights, how), roles=roles)


def _best_worst_roles(found: Any, *options: str) -> ColumnsRead:
    """The columns that are read."""
    return ColumnsRead(options, (found.best, found.worst), tuple(filter(None, (found.count,))), found.subject)


def _read_best_worst(table: Table, given: dict[str, Any], weights: bool, how: str) -> tuple[Choices, str]:
    data = Choices.from_best_worst(table.frame, **given, weights=weights)
    return data, f"{how}: {data}"


def best_worst_lacks(table: Table) -> Lack | None:
    """The options beside the best and the worst."""
    own = by_plain_name(table.names)
    best, worst = BEST.among(own), WORST.among(own)
    if best is not None and worst is not None:
        return Lack(
            f"columns 'option1', 'option2', 'option3' of what was offered beside {best!r} and {worst!r}", near=3
        )
    if best is not None and series([name for name in table.names if name != best]):
        return Lack(f"a column of the worst beside {best!r}", "worst", 3)
    return None


BEST_WORST_TABLE = Shape(
    _BEST_WORST,
    CHOICES,
    match_best_worst,
    expected=(
        "a set of options a row, in columns 'option1', 'option2', 'option3', with the columns 'best' "
        "and 'worst' (most, least); or a row an option of a set, with 'task', 'item', and 1 in 'best' and in 'worst'"
    ),
    roles=(BEST, WORST, RESPONDENT, COUNT),
    settings=("weights",),
    named_by=("best", "worst"),
    lacks=best_worst_lacks,
    main=("best", "worst", "respondent"),
)
