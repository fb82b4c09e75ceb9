"""Layout of the Conjoint Survey Design Tool: one row per respondent, one column per shown cell."""

import re
from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd

from thali._data.choice_marks import mentions_choice
from thali._data.column_readers import get_column, match_places
from thali._data.column_roles import CHOSEN, RESPONDENT_OF_TASKS, hide_numbers, map_plain_names
from thali._data.kinds import EXPERIMENTS
from thali._labels import format_label, format_plural, shorten
from thali.errors import Argument, DataError

from ..table_files import RawTable
from ..table_layout import Lack, Reading, Shape, keep_given
from .experiments import LONG_TABLE, WIDE, match_long

# F-1-2: name of attribute 2 in task 1; F-1-1-2: its level in profile 1; K in projoint's surveys
_SHOWN = re.compile(r"[FK][-_.](\d+)[-_.](\d+)(?:[-_.](\d+))?", re.I)
_NUMBER = re.compile(r"\d+")
_TOOL = "Conjoint Survey Design Tool export"
_KEYS = {"task": "task", "alternative": "profile", "chosen": "chosen"}


def match_design_tool(
    table: RawTable,
    respondent: str | None = None,
    chosen: str | None = None,
    outcome: str | None = None,
) -> Reading | None:
    """Return a `Reading` of one respondent per row, with names and levels of attributes."""
    number_by_column = _number_columns(table)
    if not number_by_column:
        return None
    tasks = {numbers[0] for numbers in number_by_column.values()}
    profiles = sorted(
        {str(numbers[1]) for numbers in number_by_column.values() if len(numbers) == 3}
    )
    texts_by_column = {
        name: map(format_label, get_column(table.frame, name).dropna().unique())
        for name in table.names
        if name not in number_by_column
    }
    # the profile number of 1 and 2, A and B, or "Profile 1"; {} for other cells
    profiles_by_column = {
        name: codes
        for name, texts in texts_by_column.items()
        if (codes := match_places(texts, profiles))
    }
    answer_columns = _list_answer_columns(list(profiles_by_column), len(tasks), chosen)
    other_columns = [
        name for name in table.names if name not in (*number_by_column, *answer_columns)
    ]
    if not answer_columns or not other_columns:
        return None
    respondent = (
        respondent
        or RESPONDENT_OF_TASKS.find_column(map_plain_names(other_columns))
        or other_columns[0]
    )
    answers = {name: profiles_by_column[name] for name in answer_columns}
    rating_columns: list[str] = []
    if outcome in other_columns:
        rating_columns = _list_rating_columns(other_columns, outcome, len(tasks) * len(profiles))
    frame = _build_long_frame(table.frame, number_by_column, answers, rating_columns)
    long_table = replace(table, frame=frame)
    reading = match_long(long_table, known=True, respondent=respondent, outcome=outcome, **_KEYS)
    assert reading is not None
    return replace(reading, shape=_TOOL, sure=True, has_questions=True)


def _number_columns(table: RawTable) -> dict[str, tuple[int, ...]]:
    """Return the numbers in the names of columns: (task, attribute) or (task, profile, ...)."""
    number_by_column = {
        match[0]: tuple(map(int, keep_given(*match.groups())))
        for match in filter(None, map(_SHOWN.fullmatch, table.names))
    }
    if {len(numbers) for numbers in number_by_column.values()} != {2, 3}:
        return {}
    return number_by_column


def _list_answer_columns(columns: list[str], n_tasks: int, chosen: str | None) -> list[str]:
    """Return the column with the answer to each task, from `chosen` on; [] if there are none."""
    named_columns = list(filter(mentions_choice, columns))
    if chosen is None and len(named_columns) == n_tasks:
        return named_columns
    possible_series = _list_series(columns, n_tasks)
    if chosen is not None:
        later_columns = columns[[*columns, chosen].index(chosen) :]
        if len(later_columns) < n_tasks:
            raise DataError(
                f"There are {format_plural(n_tasks, 'task')}, but"
                f" {len(later_columns) or 'no'} columns from {chosen!r} onwards contain the number"
                " of a profile (1 and 2, A and B, or 'Profile 1' and 'Profile 2'). As ",
                Argument("chosen"),
                ", give the name of the column with the answer to the first task.",
            )
        possible_series = [names for names in possible_series if names[0] == chosen]
        possible_series = possible_series or [later_columns[:n_tasks]]
    if len(possible_series) > 1:
        _ask_for_answers(possible_series)
    return [name for names in possible_series for name in names]


def _list_series(columns: list[str], n_tasks: int) -> list[list[str]]:
    """Return the series of numbered columns, such as Q11, Q12, ... or Q11, Q13, ..."""
    groups: dict[str, dict[int, str]] = {}
    for name in columns:
        for match in _NUMBER.finditer(name):
            stem = f"{name[: match.start()]}#{name[match.end() :]}"
            groups.setdefault(stem, {})[int(match[0])] = name
    possible_series = {}
    for group in groups.values():
        for first, second in product(group, group):
            numbers = [first + k * (second - first) for k in range(n_tasks)]
            if (first < second or n_tasks == 1) and group.keys() >= {*numbers}:
                names = [group[number] for number in numbers]
                possible_series[tuple(names)] = names
    return list(possible_series.values())


def _list_rating_columns(columns: list[str], outcome: str, n_profiles: int) -> list[str]:
    """Return the column with the rating of each profile of each task, from `outcome` on."""
    stem = hide_numbers(outcome)
    later_columns = columns[columns.index(outcome) :]
    rating_columns = [name for name in later_columns if hide_numbers(name) == stem]
    if len(rating_columns) < n_profiles:
        raise DataError(
            f"There are {format_plural(n_profiles, 'profile')}, but only"
            f" {format_plural(len(rating_columns), 'column')} from {outcome!r} onwards have names"
            " that differ only in their numbers. As ",
            Argument("outcome"),
            ", give the name of the column that rates the first profile in the first task.",
        )
    return rating_columns[:n_profiles]


def _ask_for_answers(possible_series: list[list[str]]) -> None:
    """Raise DataError that asks which columns are the answers."""
    first, second = (shorten(names, 10) for names in possible_series[:2])
    remedy = [" give the name of the first answer column with ", Argument("chosen")]
    if possible_series[0][0] == possible_series[1][0]:
        remedy = [" drop the columns between the answers with ", Argument("without")]
    raise DataError(
        f"The answers to the {len(possible_series[0])} tasks could be in columns {first}, or in"
        f" {second};",
        *remedy,
        ".",
    )


def _build_long_frame(
    frame: pd.DataFrame,
    number_by_column: dict[str, tuple[int, ...]],
    answers: dict[str, dict[str, str]],  # profile number of each cell, by the column of a task
    rating_columns: list[str],  # of each profile of each task; empty: no ratings
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
    answer_by_task = dict(zip(tasks, answers, strict=True))
    own_frame = frame.drop(columns=[*number_by_column, *answers, *rating_columns])
    rows: list[dict[Any, Any]] = []
    for cells, own_cells in zip(
        frame.to_dict("records"), own_frame.to_dict("records"), strict=True
    ):
        for k, ((task, profile), level_columns) in enumerate(sorted(levels_by_profile.items())):
            column = answer_by_task[task]
            answer = cells[column]
            if not pd.isna(answer):
                answer = int(answers[column][format_label(answer)] == str(profile))
            levels = {cells[name]: cells[level] for name, level in level_columns}
            if rating_columns:
                levels[rating_columns[0]] = cells[rating_columns[k]]
            rows.append(own_cells | {"task": task, "profile": profile, "chosen": answer} | levels)
    return pd.DataFrame(rows).dropna(axis="columns", how="all")


def find_design_tool_lack(table: RawTable) -> Lack | None:
    """Return the missing answers of a table with names and levels of attributes; else None."""
    if not _number_columns(table):
        return None
    return Lack("one column per task with the number of the chosen profile", "chosen", near=4)


DESIGN_TOOL = Shape(
    _TOOL,
    EXPERIMENTS,
    match_design_tool,
    expected="one respondent per row, with columns such as 'F-1-1' and 'F-1-1-1', and one column of"
    " answers per task",
    roles=(RESPONDENT_OF_TASKS, CHOSEN),
    settings=("outcome",),
    lacks=find_design_tool_lack,
)


# LONG_TABLE is last, because it matches any table known to contain choices
SHAPES = (WIDE, DESIGN_TOOL, LONG_TABLE)
