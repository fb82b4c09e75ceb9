"""Choice experiments as a long table: a row for each alternative of each task, described by attributes."""

from typing import Any

from thali._labels import shorten
from thali.data.choices.long import LONG, is_long_table, roles
from thali.data.experiments import ChoiceExperiment
from thali.data.kinds import EXPERIMENTS
from thali.data.roles import ALTERNATIVE, CHOSEN, RESPONDENT_OF_TASKS, TASK_OF_RESPONDENT

from ...shape import Reading, Shape
from ...table import Table

_LONG = "choice experiment"


def match_long(table: Table, known: bool = False, **options: Any) -> Reading | None:
    """A long table of choices with columns that describe the alternatives; any table if these are `known` to be one.

    The options are those of `ChoiceExperiment.from_frame`.
    """
    described = describing_columns(table)
    if not known and not described:
        return None
    how = f"choices of one alternative out of several, which are described by {shorten(described)}"
    return Reading(EXPERIMENTS, _LONG, how, table, lambda: _read_long(table, options), sure=bool(described))


def _read_long(table: Table, options: dict[str, Any]) -> tuple[ChoiceExperiment, str]:
    data = ChoiceExperiment.from_frame(table.frame, **options)
    return data, str(data)


def describing_columns(table: Table) -> list[str]:
    """The columns of a long table of choices whose values differ between the alternatives of an occasion."""
    if not is_long_table(table.frame):
        return []
    found = roles(table.frame, dict.fromkeys(LONG))
    keys = dict.fromkeys(found[role] for role in ("respondent", "choice_id") if found[role] is not None)
    occasions = table.frame.groupby(list(keys), sort=False)
    further = [name for name in table.names if name not in found.values()]
    return [name for name in further if (occasions[name].nunique().to_numpy() > 1).any()]


LONG_TABLE = Shape(
    _LONG,
    EXPERIMENTS,
    match_long,
    expected=(
        "one row for each alternative of a task, with the columns 'respondent', 'task', 'chosen' and those that "
        "describe the alternatives"
    ),
    roles=(RESPONDENT_OF_TASKS, TASK_OF_RESPONDENT, ALTERNATIVE, CHOSEN),
    settings=("known", "attributes", "levels", "none", "bins"),
    main=("respondent", "task", "chosen"),
)
