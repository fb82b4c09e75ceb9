"""Layout of best-worst choices in one column: 1 for the best, -1 for the worst."""

from typing import Any

from thali._data import column_roles as roles
from thali._data.choices import Choices
from thali._data.columns import describe_columns
from thali._data.described_columns import ColumnsRead
from thali._data.kinds import CHOICES
from thali._labels import format_label

from ..shape import Reading, Shape
from ..table_files import RawTable

NAME = "table of best-worst marks"
SET = roles.TASK.but(vague=f"{roles.TASK.vague} {roles.VERSION.english}")
OPTION = roles.ALTERNATIVE.but(vague=f"{roles.ALTERNATIVE.vague} {' '.join(sorted(roles.STEMS))}")
MARKS = {
    **dict.fromkeys(roles.BEST.sure, 1),
    **dict.fromkeys(roles.WORST.sure, -1),
    **{"1": 1, "-1": -1, "−1": -1, "0": 0, "": 0},
}


def match_signed_marks(table: RawTable, respondent: str | None = None) -> Reading | None:
    """Return a `Reading` of a best-worst table with marks 1, -1, 0; None for other tables."""
    signed = [name for name in table.names if _is_signed(table.frame[name])]
    names = roles.map_plain_names(table.names)
    task = SET.find_column(names, signed)
    respondent_column = respondent or roles.RESPONDENT_OF_TASKS.find_column(names, (*signed, task))
    other_columns = [name for name in table.names if name not in (*signed, task, respondent_column)]
    option = OPTION.find_column(names, (*signed, task, respondent_column))
    if len(other_columns) == 1:
        (option,) = other_columns
    if len(signed) != 1 or task is None or option is None:
        return None
    keys = tuple(name for name in (respondent_column, task) if name is not None)
    (column,) = signed
    marks = table.frame[column].map(_read_mark)
    frame: Any = table.frame.assign(best=(marks == 1) * 1, worst=(marks == -1) * 1)
    if (frame.groupby(list(keys))[["best", "worst"]].sum() > 1).any(axis=None):
        return None
    description = (
        f"one option ({option!r}) of a set ({task!r}) per row, {column!r} is 1 for the best and -1"
        f" for the worst{describe_columns(None, respondent_column)}"
    )

    def convert() -> tuple[Choices, str]:
        """Return the choices, and a sentence on how they were read."""
        renamed = frame.drop(columns=column).rename(columns={task: "task", option: "item"})
        data = Choices.from_best_worst(renamed, respondent=respondent_column)
        return data, f"{description}: {data}"

    read = ColumnsRead((option, task), (column,), (), respondent_column, answer=keys)
    return Reading(CHOICES, NAME, description, table, convert, roles=read)


def _is_signed(cells: Any) -> bool:
    """Return whether a column contains 1 and -1 (or best and worst) and else only 0."""
    marks = {_read_mark(cell) for cell in cells.unique()[: len(MARKS)]}
    return {1, -1} <= marks <= {1, 0, -1}


def _read_mark(cell: object) -> int | None:
    """Return 1 for best, -1 for worst, 0 for other options; None for other cells."""
    return MARKS.get(text := format_label(cell), MARKS.get(roles.simplify_name(text)))


EXPECTED = "one option of a set per row, with 'task', 'item' and a column of 1, 0 and -1"
SHAPE = Shape(
    NAME, CHOICES, match_signed_marks, EXPECTED, (roles.RESPONDENT_OF_TASKS,), needs="no such marks"
)
