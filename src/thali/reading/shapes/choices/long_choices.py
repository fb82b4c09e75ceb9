"""Choices of one option out of several as a long table: a row for each alternative of each occasion."""

from typing import Any

from thali._labels import shorten
from thali.data.choices import Choices
from thali.data.choices.long import LONG_ROLES, is_long_table, roles
from thali.data.described_columns import ColumnsRead
from thali.data.kinds import CHOICES
from thali.data.roles import ALTERNATIVE, CHOSEN, COUNT, RESPONDENT_OF_TASKS, TASK, WEIGHTS, by_plain_name, plain
from thali.errors import DataError

from ...shape import Lack, Reading, Shape
from ...table import Table

_LONG = "long table of choices"
_NEEDED = (
    ((TASK, RESPONDENT_OF_TASKS), Lack("a column that numbers the occasions", "choice_id")),
    ((ALTERNATIVE,), Lack("a column of alternatives", "alternative")),
    ((CHOSEN,), Lack("a column with 1 for the chosen alternative and 0 for the others", "chosen")),
)
_LONG_NAMED_BY = ("choice_id", "alternative")


def match_long(table: Table, **columns: str | None) -> Reading | None:
    """A table of which a column was named, or whose columns have the usual names; sure if their cells say so, too."""
    named = {role: name for role, name in columns.items() if name is not None}
    asked = any(columns.get(name) is not None for name in _LONG_NAMED_BY)
    try:
        found = roles(table.frame, dict.fromkeys(LONG_ROLES) | named)
    except DataError:
        if not asked:
            return None
        return Reading(CHOICES, _LONG, "long table", table, lambda: _read_long(table, named))
    sure = asked or is_long_table(table.frame)
    return Reading(
        CHOICES, _LONG, _long_sentence(found), table, lambda: _read_long(table, named), sure, roles=_long_roles(found)
    )


def _long_roles(found: dict[str, str | None]) -> ColumnsRead:
    """The columns that are read; an occasion of everybody's own says who answered."""

    def named(*roles: str) -> tuple[str, ...]:
        return tuple(name for role in roles if (name := found[role]) is not None)

    return ColumnsRead(
        named("alternative", "choice_id", "available"), named("chosen"), named("count"), found["respondent"]
    )


def _read_long(table: Table, named: dict[str, Any]) -> tuple[Choices, str]:
    found = roles(table.frame, dict.fromkeys(LONG_ROLES) | named)
    fractional: dict[str, Any] = {"weights": plain(found["count"] or "") in WEIGHTS}
    data = Choices(table.frame, **fractional | named)
    further = [name for name in table.names if name not in found.values()]
    ignored = f"; not read: {shorten(further)}" if further else ""
    return data, f"{_long_sentence(found)}: {data}{ignored}"


def _long_sentence(found: dict[str, str | None]) -> str:
    how = f"long table, {found['alternative']!r} chosen if {found['chosen']!r}, occasions {found['choice_id']!r}"
    if found["respondent"] not in (None, found["choice_id"]):
        how += f" of respondents {found['respondent']!r}"
    for role, word in (("available", "offered if"), ("count", "counted by")):
        how += f", {word} {found[role]!r}" if found[role] is not None else ""
    return how


def long_lacks(table: Table) -> Lack | None:
    """The column that is missing where the two others are there."""
    own = by_plain_name(table.names)
    missing = [lack for roles, lack in _NEEDED if all(role.among(own) is None for role in roles)]
    return missing[0]._replace(near=2) if len(missing) == 1 else None


LONG_TABLE = Shape(
    _LONG,
    CHOICES,
    match_long,
    expected=(
        "one row for each alternative of an occasion, with the columns 'choice_id', 'alternative' and 'chosen' (task, "
        "obsID; alt, option; choice)"
    ),
    roles=(TASK, ALTERNATIVE, CHOSEN, RESPONDENT_OF_TASKS, COUNT),
    named_by=_LONG_NAMED_BY,
    lacks=long_lacks,
    main=("choice_id", "alternative", "chosen"),
)
