"""The shapes of table that hold choice experiments: a row an alternative, or a row a task."""

from functools import partial
from typing import Any

import pandas as pd

from thali._data.choices.long import LONG_ROLES, is_long_table, roles
from thali._data.columns import column, numbers_rows
from thali._data.experiments import ChoiceExperiment
from thali._data.experiments.frame import task_columns
from thali._data.experiments.levels import row_texts
from thali._data.experiments.wide import numbered_attributes, wide_tasks, word_for_none
from thali._data.kinds import CHOICES, EXPERIMENTS
from thali._data.roles import (
    ALTERNATIVE,
    AVAILABLE,
    CHOSEN,
    NO_CHOICE,
    RESPONDENT_OF_TASKS,
    SURVEY_WEIGHTS,
    TASK_OF_RESPONDENT,
    by_plain_name,
    plain,
)
from thali._labels import as_label, shorten
from thali.errors import Argument, ArgumentError, DataError, Setting

from ..shape import Lack, Reading, Shape
from ..table import RawTable

# Choice experiments as a long table: a row for each alternative of each task, described by
# attributes


_LONG = "choice experiment"


def match_long(table: RawTable, known: bool = False, **options: Any) -> Reading | None:
    """A long table of choices with columns that describe the alternatives; any table if these are
    `known` to be one.

    The options are those of `ChoiceExperiment.from_frame`.
    """
    described = describing_columns(table)
    if not known and not described:
        return None
    how = "choices of one of several alternatives"
    how += f", described by {shorten(described)}" if described else ""
    other = CHOICES if numbers_places(table) else ""
    convert, besides = (
        partial(_read_long, table, options),
        AVAILABLE.each(by_plain_name(table.names)),
    )
    return Reading(
        EXPERIMENTS,
        _LONG,
        how,
        table,
        convert,
        bool(described),
        other,
        extra_columns=(options.get("bought"), *besides),
    )


def _read_long(table: RawTable, options: dict[str, Any]) -> tuple[ChoiceExperiment, str]:
    _refuse_parted_tasks(table, options)
    data = ChoiceExperiment.from_frame(table.frame, **options)
    _refuse_weights(table, data)
    return data, _described(data)


def _refuse_parted_tasks(table: RawTable, options: dict[str, Any]) -> None:
    """Refuse rows that are held out without the others of their task."""
    if table.holdout_split is None:
        return
    frame, kept, where = table.holdout_split
    names = [name for name in table.names if name != options.get("bought")]
    respondent, task, *_ = task_columns(
        names, *(options.get(role.name) for role in LONG_TABLE.roles)
    )
    parts = [
        [row_texts(column(part, name)) for name in (respondent, task)]
        for part in (frame.loc[kept], frame.loc[~kept])
    ]
    if parted := sorted(set.intersection(*(set(zip(*each, strict=True)) for each in parts))):
        person, number = parted[0]
        raise ArgumentError(
            Argument("holdouts"),
            f" ({where}) must be true in all rows of a task or in none; it is true in some rows of"
            f" task {number!r} of respondent {person!r}.",
        )


def _refuse_weights(table: RawTable, data: ChoiceExperiment) -> None:
    """Refuse a column that is called a weight, unless it is an attribute or the same in all
    rows."""
    for name in table.names:
        if (
            plain(name) in SURVEY_WEIGHTS
            and name not in data.attributes
            and column(table.frame, name).nunique() > 1
        ):
            raise DataError(
                f"Column {name!r} looks like weights, but models of choice experiments weight all"
                " tasks equally; if it describes respondents, rename it, otherwise drop it with ",
                Setting("without", [name]),
                ".",
            )


def _described(data: ChoiceExperiment) -> str:
    """Their size, and which columns are read as numbers because of what they hold."""
    names = data.scheme.measured
    return f"{data}; numeric: {shorten(names)}" if names else str(data)


def describing_columns(table: RawTable) -> list[str]:
    """The columns of a long table of choices whose values differ between the alternatives of an
    occasion."""
    if not is_long_table(table.frame):
        return []
    found = roles(table.frame, dict.fromkeys(LONG_ROLES))
    keys = dict.fromkeys(
        found[role] for role in ("respondent", "choice_id") if found[role] is not None
    )
    occasions = table.frame.groupby(list(keys), sort=False)
    further = [
        name
        for name in table.names
        if name not in found.values() and not numbers_rows(column(table.frame, name))
    ]
    return [name for name in further if (occasions[name].nunique().to_numpy() > 1).any()]


def numbers_places(table: RawTable) -> bool:
    """Whether alternatives are numbered by their place in a task: words that describe them differ
    within each number.

    Numbers alone, such as prices and times, differ as well between the occasions of an option whose
    label is a number.
    """
    if not is_long_table(table.frame):
        return False
    name = roles(table.frame, dict.fromkeys(LONG_ROLES))["alternative"]
    known = {value: as_label(value) for value in table.frame[name].unique()}
    labels = table.frame[name].map(known.get).fillna("")
    real = ~labels.map(plain).isin(NO_CHOICE)
    numbers = set(labels[real])
    if numbers != {str(k + 1) for k in range(len(numbers))}:
        return False
    cells, described = table.frame.loc[real], describing_columns(table)
    as_numbers = cells[described].apply(pd.to_numeric, errors="coerce")
    in_words = [name for name in described if as_numbers[name].isna().any()]
    if not in_words:
        return False
    return bool((cells[in_words].groupby(labels[real]).nunique() > 1).any(axis=1).all())


LONG_TABLE = Shape(
    _LONG,
    EXPERIMENTS,
    match_long,
    expected=(
        "one row per alternative of a task, with the columns 'respondent', 'task', 'chosen' and"
        " the attributes"
    ),
    roles=(RESPONDENT_OF_TASKS, TASK_OF_RESPONDENT, ALTERNATIVE, CHOSEN),
    settings=("known", "attributes", "levels", "none", "bins", "bought"),
    main=("respondent", "task", "chosen"),
    needs="no attributes that vary within tasks",
)


# Choice experiments as a wide table: one row a task, one column for each attribute of each
# alternative


_WIDE = "choice experiment with one row per task"


def match_wide(
    table: RawTable,
    respondent: str | None = None,
    task: str | None = None,
    chosen: str | None = None,
    alternatives: list[str] | None = None,
    **more: Any,
) -> Reading | None:
    """A table with a choice and columns that are called by attribute and alternative."""
    given = {"respondent": respondent, "task": task, "chosen": chosen}
    if (
        not table.named
        or table.square is not None
        or any(name not in (None, *table.names) for name in given.values())
    ):
        return None
    found = wide_tasks(table.frame, given, alternatives)
    if found is None:
        return None
    if table.holdout_split is not None and more.get("none") is None and more.get("bought") is None:
        # which all tasks have, though in one part nobody may have taken it
        picked = map(as_label, table.holdout_split.frame[found.chosen].unique())
        more["none"] = word_for_none(picked, found.alternatives)
    return Reading(
        EXPERIMENTS,
        _WIDE,
        str(found),
        table,
        lambda: _read_wide(table, given | {"alternatives": alternatives} | more, str(found)),
        sure=found.is_sure,
        extra_columns=(*found.used, more.get("bought")),
    )


def _read_wide(table: RawTable, options: dict[str, Any], how: str) -> tuple[ChoiceExperiment, str]:
    data = ChoiceExperiment.from_wide(table.frame, **options)
    _refuse_weights(table, data)
    return data, f"{how}: {_described(data)}"


def wide_lacks(table: RawTable) -> Lack | None:
    """The choice beside columns that are called by attribute and alternative."""
    described = numbered_attributes(table.names)
    return (
        Lack(f"a column with the chosen alternative for {shorten(described, 4)}", "chosen", 2)
        if described
        else None
    )


WIDE = Shape(
    _WIDE,
    EXPERIMENTS,
    match_wide,
    expected="one row per task, with columns such as 'price_1', 'price_2' (or 'car_time',"
    " 'bus_time') and 'choice'",
    roles=(RESPONDENT_OF_TASKS, TASK_OF_RESPONDENT, CHOSEN),
    settings=("alternatives", "levels", "none", "bins", "bought"),
    lacks=wide_lacks,
    main=("respondent", "task", "chosen"),
    needs="no columns such as 'price_1' and 'price_2'",
)


SHAPES = WIDE, LONG_TABLE  # which is tried last, as it is any table of what is known to be choices
