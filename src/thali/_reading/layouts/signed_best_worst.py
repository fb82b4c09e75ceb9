"""Layout of best-worst choices in one column: 1 for the best, -1 for the worst.

The column may also say of each row which of the two a second column marks.
"""

from typing import Any

from thali._data import column_roles as roles
from thali._data.choices import Choices
from thali._data.column_guesses import ColumnsRead
from thali._data.column_readers import describe_columns, iterate_distinct_cells
from thali._data.kinds import CHOICES
from thali._labels import format_label
from thali.errors import Argument, DataError

from ..table_files import RawTable
from ..table_layout import Reading, Shape, keep_given

NAME = "table of best-worst marks"
SET = roles.TASK.but(vague=f"{roles.TASK.vague} {roles.VERSION.english}")
OPTION = roles.ALTERNATIVE.but(vague=f"{roles.ALTERNATIVE.vague} {' '.join(sorted(roles.STEMS))}")
MARKS = {
    **dict.fromkeys(roles.BEST.sure, 1),
    **dict.fromkeys(roles.WORST.sure, -1),
    **{"b": 1, "w": -1, "1": 1, "-1": -1, "−1": -1, "0": 0, "": 0},
}


def match_signed_marks(table: RawTable, respondent: str | None = None) -> Reading | None:
    """Return a `Reading` of a best-worst table with marks 1, -1, 0; None for other tables."""
    mark_columns = [name for name in table.names if is_signed(table.frame[name])]
    if len(mark_columns) != 1:
        return None
    (mark_column,) = mark_columns
    name_by_simplified = roles.map_plain_names(table.names)
    task_column = SET.find_column(name_by_simplified, mark_columns)
    respondent_column = respondent or roles.RESPONDENT_OF_TASKS.find_column(
        name_by_simplified, (mark_column, task_column)
    )
    used_columns = (mark_column, task_column, respondent_column)
    other_columns = [name for name in table.names if name not in used_columns]
    chosen_column = roles.CHOSEN.find_column(name_by_simplified, mark_columns)
    option_column = OPTION.find_column(name_by_simplified, used_columns)
    if len(other_columns) == 1:
        (option_column,) = other_columns
        chosen_column = None
    if task_column is None or option_column is None:
        return None
    key_columns = keep_given(respondent_column, task_column)
    signed_marks = table.frame[mark_column].map(_read_mark)
    description = f"{mark_column!r} is 1 for the best and -1 for the worst"
    if chosen_column is not None:
        is_chosen: Any = table.frame[chosen_column].map(format_label) == "1"
        answers = is_chosen.groupby([*(table.frame[name] for name in key_columns), signed_marks])
        kinds_by_person: Any = table.frame.groupby(key_columns[0])[mark_column].nunique()
        if (answers.sum() != 1).any() or (kinds_by_person == 1).any():  # a trait of respondents
            return None
        _refuse_separate_tasks(table, mark_column, key_columns)
        signed_marks *= is_chosen
        description = f"{chosen_column!r} marks the best or the worst, as {mark_column!r} says"
    frame = table.frame.assign(best=(signed_marks == 1) * 1, worst=(signed_marks == -1) * 1)
    sets: Any = frame.groupby(list(key_columns))
    if (sets[["best", "worst"]].sum() > 1).any(axis=None) or (sets.size() == 2).all():
        return None  # of two options, 1 is the chosen one
    if chosen_column is not None:
        options = frame.groupby([*key_columns, option_column])
        frame[["best", "worst"]] = options[["best", "worst"]].transform("max")
        frame = frame.drop_duplicates([*key_columns, option_column])
    description = (
        f"one option ({option_column!r}) of a set ({task_column!r}) per row, {description}"
        f"{describe_columns(None, respondent_column)}"
    )

    def convert() -> tuple[Choices, str]:
        """Return the choices, and a sentence on how they were read."""
        item_frame = frame.drop(columns=mark_column).rename(
            columns={task_column: "task", option_column: "item"}
        )
        data = Choices.from_best_worst(item_frame, respondent=respondent_column)
        return data, f"{description}: {data}"

    columns_read = ColumnsRead(
        (option_column, task_column),
        keep_given(mark_column, chosen_column),
        (),
        respondent_column,
        answer=key_columns,
    )
    return Reading(CHOICES, NAME, description, table, convert, roles=columns_read)


def _refuse_separate_tasks(table: RawTable, mark: str, keys: tuple[str, ...]) -> None:
    """Raise DataError if the best and the worst of a question have two numbers."""
    n_kinds: Any = table.frame.groupby([*keys])[mark].nunique()
    if (n_kinds > 1).all():
        return
    raise DataError(
        f"Column {mark!r} may say which rows mark the best and which the worst, but not every set"
        f" ({keys[-1]!r}) has both. If it does, give both answers to a question one number in"
        f" {keys[-1]!r}; otherwise drop the column with ",
        Argument("without"),
        ".",
    )


def is_signed(cells: Any) -> bool:
    """Return whether a column contains 1 and -1 (or best and worst) and else only 0."""
    marks: set[int | None] = set()
    for distinct_cells in iterate_distinct_cells(cells):
        marks |= {_read_mark(cell) for cell in distinct_cells[: len(MARKS)]}
        if not marks <= {1, 0, -1}:
            return False
    return {1, -1} <= marks


def _read_mark(cell: object) -> int | None:
    """Return 1 for best, -1 for worst, 0 for other options; None for other cells."""
    return MARKS.get(text := format_label(cell), MARKS.get(roles.simplify_name(text)))


SHAPE = Shape(NAME, CHOICES, match_signed_marks, roles=(roles.RESPONDENT_OF_TASKS,))
