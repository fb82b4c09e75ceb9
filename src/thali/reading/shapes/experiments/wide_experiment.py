"""Choice experiments as a wide table: one row a task, one column for each attribute of each alternative."""

from typing import Any

from thali._labels import shorten
from thali.data.experiments import ChoiceExperiment
from thali.data.experiments.wide import numbered_attributes, wide_tasks
from thali.data.kinds import EXPERIMENTS
from thali.data.roles import CHOSEN, RESPONDENT_OF_TASKS, TASK_OF_RESPONDENT

from ...shape import Lack, Reading, Shape
from ...table import Table

_WIDE = "choice experiment with a row a task"


def match_wide(
    table: Table,
    respondent: str | None = None,
    task: str | None = None,
    chosen: str | None = None,
    alternatives: list[str] | None = None,
    **more: Any,
) -> Reading | None:
    """A table with a choice and columns that are called by attribute and alternative."""
    given = {"respondent": respondent, "task": task, "chosen": chosen}
    if not table.named or table.square is not None or any(name not in (None, *table.names) for name in given.values()):
        return None
    found = wide_tasks(table.frame, given, alternatives)
    if found is None:
        return None
    return Reading(
        EXPERIMENTS,
        _WIDE,
        str(found),
        table,
        lambda: _read_wide(table, given | {"alternatives": alternatives} | more, str(found)),
    )


def _read_wide(table: Table, options: dict[str, Any], how: str) -> tuple[ChoiceExperiment, str]:
    data = ChoiceExperiment.from_wide(table.frame, **options)
    return data, f"{how}: {data}"


def wide_lacks(table: Table) -> Lack | None:
    """The choice beside columns that are called by attribute and alternative."""
    described = numbered_attributes(table.names)
    return (
        Lack(f"a column of the alternative chosen beside {shorten(described, 4)}", "chosen", 2) if described else None
    )


WIDE = Shape(
    _WIDE,
    EXPERIMENTS,
    match_wide,
    expected="one row a task, with the columns 'price_1', 'price_2' and the like (or car_time, bus_time) and 'choice'",
    roles=(RESPONDENT_OF_TASKS, TASK_OF_RESPONDENT, CHOSEN),
    settings=("alternatives", "levels", "none", "bins"),
    lacks=wide_lacks,
    main=("respondent", "task", "chosen"),
)
