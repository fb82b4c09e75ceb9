"""Layout of the Conjoint Survey Design Tool: one row per respondent, one column per shown cell."""

import re
from dataclasses import replace
from typing import Any

import pandas as pd

from thali._data.choice_marks import mentions_choice
from thali._data.column_readers import get_column
from thali._data.column_roles import RESPONDENT_OF_TASKS, map_plain_names
from thali._data.kinds import EXPERIMENTS
from thali._labels import format_label

from ..table_files import RawTable
from ..table_layout import Lack, Reading, Shape
from .experiments import LONG_TABLE, WIDE, match_long

# F-1-2: name of attribute 2 in task 1; F-1-1-2: its level in profile 1
_SHOWN = re.compile(r"F[-_.](\d+)[-_.](\d+)(?:[-_.](\d+))?", re.I)
_TOOL = "Conjoint Survey Design Tool"
_KEYS = {"task": "task", "alternative": "profile", "chosen": "chosen"}


def match_design_tool(
    table: RawTable, respondent: str | None = None, outcome: str | None = None
) -> Reading | None:
    """Return a `Reading` of one respondent per row, with names and levels of attributes."""
    number_by_column = _number_columns(table)
    if not number_by_column:
        return None
    answer_columns = _list_answer_columns(table, number_by_column)
    other_columns = [
        name for name in table.names if name not in (*number_by_column, *answer_columns)
    ]
    if not answer_columns or not other_columns:
        return None
    respondent = respondent or RESPONDENT_OF_TASKS.find_column(map_plain_names(other_columns))
    if respondent is None:
        respondent = other_columns[0]
    frame = _build_long_frame(table.frame, number_by_column, answer_columns)
    long_table = replace(table, frame=frame)
    reading = match_long(long_table, known=True, respondent=respondent, outcome=outcome, **_KEYS)
    assert reading is not None
    return replace(reading, shape=_TOOL, sure=True, has_questions=True)


def _number_columns(table: RawTable) -> dict[str, tuple[int, ...]]:
    """Return the numbers in the names of columns: (task, attribute) or (task, profile, ...)."""
    number_by_column = {}
    for name in table.names:
        if (match := _SHOWN.fullmatch(name)) is not None:
            number_by_column[name] = tuple(int(number) for number in match.groups() if number)
    if {len(numbers) for numbers in number_by_column.values()} != {2, 3}:
        return {}
    return number_by_column


def _list_answer_columns(
    table: RawTable, number_by_column: dict[str, tuple[int, ...]]
) -> list[str]:
    """Return one column per task with the number of the chosen profile; [] if they are unclear."""
    tasks = {numbers[0] for numbers in number_by_column.values()}
    profiles = {str(numbers[1]) for numbers in number_by_column.values() if len(numbers) == 3}
    answer_columns = [
        name
        for name in table.names
        if name not in number_by_column
        and {*map(format_label, get_column(table.frame, name).dropna().unique())} <= profiles
    ]
    if len(answer_columns) > len(tasks):
        answer_columns = list(filter(mentions_choice, answer_columns))
    if len(answer_columns) != len(tasks):
        return []
    return answer_columns


def _build_long_frame(
    frame: pd.DataFrame, number_by_column: dict[str, tuple[int, ...]], answer_columns: list[str]
) -> pd.DataFrame:
    """Build a long table with one row per respondent, task and profile."""
    column_by_number = {numbers: name for name, numbers in number_by_column.items()}
    levels_by_profile: dict[tuple[int, int], list[tuple[str, str]]] = {}  # (name, level) columns
    for numbers, level_column in column_by_number.items():
        if len(numbers) == 3:
            task, profile, attribute = numbers
            name_column = column_by_number[task, attribute]
            levels_by_profile.setdefault((task, profile), []).append((name_column, level_column))
    tasks = sorted({task for task, _ in levels_by_profile})
    answer_by_task = dict(zip(tasks, answer_columns, strict=True))
    own_frame = frame.drop(columns=[*number_by_column, *answer_columns])
    rows: list[dict[Any, Any]] = []
    for cells, own_cells in zip(
        frame.to_dict("records"), own_frame.to_dict("records"), strict=True
    ):
        for (task, profile), level_columns in sorted(levels_by_profile.items()):
            answer = cells[answer_by_task[task]]
            if not pd.isna(answer):
                answer = int(format_label(answer) == str(profile))
            levels = {cells[name]: cells[level] for name, level in level_columns}
            rows.append(own_cells | {"task": task, "profile": profile, "chosen": answer} | levels)
    return pd.DataFrame(rows).dropna(axis="columns", how="all")


def find_design_tool_lack(table: RawTable) -> Lack | None:
    """Return the missing answers of a table with names and levels of attributes; else None."""
    if not _number_columns(table):
        return None
    return Lack("one column per task with the number of the chosen profile", near=4)


DESIGN_TOOL = Shape(
    _TOOL,
    EXPERIMENTS,
    match_design_tool,
    expected="one respondent per row, with the columns 'F-1-1' (name of an attribute in task 1),"
    " 'F-1-1-1' (its level in profile 1), ..., and one column per task with the chosen profile",
    roles=(RESPONDENT_OF_TASKS,),
    settings=("outcome",),
    lacks=find_design_tool_lack,
    needs="no F-1-1-1",
)


# LONG_TABLE is last, because it matches any table known to contain choices
SHAPES = (WIDE, DESIGN_TOOL, LONG_TABLE)
