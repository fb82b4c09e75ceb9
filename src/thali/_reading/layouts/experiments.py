"""Layouts of choice experiments: one row per alternative, or one row per task."""

from typing import Any

import pandas as pd

from thali._data.choices.long_and_wide_tables import LONG_ROLES, find_columns, is_long_table
from thali._data.column_readers import get_column, is_row_number, read_row_texts
from thali._data.column_roles import (
    ALTERNATIVE,
    AVAILABLE,
    CHOSEN,
    NO_CHOICE,
    RESPONDENT_OF_TASKS,
    SURVEY_WEIGHTS,
    TASK_OF_RESPONDENT,
    map_plain_names,
    simplify_name,
)
from thali._data.experiments import ChoiceExperiment
from thali._data.experiments.long_table import find_task_columns
from thali._data.experiments.wide_table import (
    find_none_word,
    find_wide_tasks,
    list_numbered_columns,
)
from thali._data.kinds import CHOICES, EXPERIMENTS
from thali._labels import format_label, shorten
from thali.errors import Argument, ArgumentError, DataError, Setting

from ..table_files import RawTable
from ..table_layout import Lack, Reading, Shape

# Choice experiments as a long table: one row per alternative of each task, with its attributes


_LONG = "choice experiment"


def match_long(table: RawTable, known: bool = False, **options: Any) -> Reading | None:
    """Return a `Reading` of an experiment with one row per alternative; None for other tables.

    The options are the arguments of `ChoiceExperiment.from_frame`.
    """
    attributes = list_attributes(table)
    if not known and not attributes:
        return None
    description = "choices of one of several alternatives"
    other_kind = ""
    if attributes:
        description += f", described by {shorten(attributes)}"
    if has_position_labels(table):
        other_kind = CHOICES

    def convert() -> tuple[ChoiceExperiment, str]:
        """Return the experiment, and a sentence on how it was read."""
        _check_whole_tasks(table, options)
        data = ChoiceExperiment.from_frame(table.frame, **options)
        _check_no_weights(table, data)
        return data, _describe_experiment(data)

    availability_columns = AVAILABLE.find_possible_columns(map_plain_names(table.names))
    return Reading(
        EXPERIMENTS,
        _LONG,
        description,
        table,
        convert,
        bool(attributes),
        other_kind,
        extra_columns=(options.get("bought"), *availability_columns),
    )


def _check_whole_tasks(table: RawTable, options: dict[str, Any]) -> None:
    """Raise DataError if only some rows of a task are held out."""
    if table.holdout_split is None:
        return
    frame, is_holdout, row_filter = table.holdout_split
    task_columns = [name for name in table.names if name != options.get("bought")]
    respondent_column, task_column, *_ = find_task_columns(
        task_columns, *(options.get(role.name) for role in LONG_TABLE.roles)
    )
    cells_of_parts = [
        [read_row_texts(get_column(rows, name)) for name in (respondent_column, task_column)]
        for rows in (frame.loc[is_holdout], frame.loc[~is_holdout])
    ]
    if divided_tasks := sorted(
        set.intersection(*(set(zip(*part_cells, strict=True)) for part_cells in cells_of_parts))
    ):
        respondent_name, task_name = divided_tasks[0]
        raise ArgumentError(
            Argument("holdouts"),
            f" ({row_filter}) must be true in all rows of a task or in none; it is true in some"
            f" rows of task {task_name!r} of respondent {respondent_name!r}.",
        )


def _check_no_weights(table: RawTable, data: ChoiceExperiment) -> None:
    """Raise DataError if a column looks like unused weights."""
    for column in table.names:
        if (
            simplify_name(column) in SURVEY_WEIGHTS
            and column not in data.attributes
            and get_column(table.frame, column).nunique() > 1
        ):
            raise DataError(
                f"Column {column!r} looks like weights, but models of choice experiments weight all"
                " tasks equally; if it describes respondents, rename it, otherwise drop it with ",
                Setting("without", [column]),
                ".",
            )


def _describe_experiment(data: ChoiceExperiment) -> str:
    """Return a sentence on the size of the data and the numeric attributes."""
    if numeric_attributes := data.scheme.measured:
        return f"{data}; numeric: {shorten(numeric_attributes)}"
    return str(data)


def list_attributes(table: RawTable) -> list[str]:
    """List the columns that vary within tasks, as attributes do."""
    if not is_long_table(table.frame):
        return []
    column_by_role = find_columns(table.frame, dict.fromkeys(LONG_ROLES))
    key_columns = {column_by_role["respondent"], column_by_role["choice_id"]} - {None}
    choice_sets = table.frame.groupby(list(key_columns), sort=False)
    other_columns = [
        name
        for name in table.names
        if name not in column_by_role.values() and not is_row_number(get_column(table.frame, name))
    ]
    return [name for name in other_columns if (choice_sets[name].nunique().to_numpy() > 1).any()]


def has_position_labels(table: RawTable) -> bool:
    """Return whether alternatives are just numbered within each task.

    Text attributes then differ within each number. Numeric attributes, such as prices and times,
    also vary between choice sets if the labels of options are numbers.
    """
    if not is_long_table(table.frame):
        return False
    name = find_columns(table.frame, dict.fromkeys(LONG_ROLES))["alternative"]
    label_by_cell = {cell: format_label(cell) for cell in table.frame[name].unique()}
    alternative_labels = table.frame[name].map(label_by_cell.get).fillna("")
    is_product = ~alternative_labels.map(simplify_name).isin(NO_CHOICE)
    product_labels = set(alternative_labels[is_product])
    if product_labels != {str(k + 1) for k in range(len(product_labels))}:
        return False
    product_rows = table.frame.loc[is_product]
    attributes = list_attributes(table)
    numeric_cells = product_rows[attributes].apply(pd.to_numeric, errors="coerce")
    text_attributes = [name for name in attributes if numeric_cells[name].isna().any()]
    if not text_attributes:
        return False
    return bool(
        (product_rows[text_attributes].groupby(alternative_labels[is_product]).nunique() > 1)
        .any(axis=1)
        .all()
    )


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


# Choice experiments as a wide table: one row per task, one column per attribute of each alternative


_WIDE = "choice experiment with one row per task"


def match_wide(
    table: RawTable,
    respondent: str | None = None,
    task: str | None = None,
    chosen: str | None = None,
    alternatives: list[str] | None = None,
    **settings: Any,
) -> Reading | None:
    """Return a `Reading` of an experiment with one row per task; None for other tables."""
    named_columns = {"respondent": respondent, "task": task, "chosen": chosen}
    if (
        not table.named
        or table.square is not None
        or any(name not in (None, *table.names) for name in named_columns.values())
    ):
        return None
    wide_columns = find_wide_tasks(table.frame, named_columns, alternatives)
    if wide_columns is None:
        return None
    if (
        table.holdout_split is not None
        and settings.get("none") is None
        and settings.get("bought") is None
    ):
        # all tasks offer no choice, even if no respondent of one part took it
        chosen_texts = map(format_label, table.holdout_split.frame[wide_columns.chosen].unique())
        settings["none"] = find_none_word(chosen_texts, wide_columns.alternatives)

    def convert() -> tuple[ChoiceExperiment, str]:
        """Return the experiment, and a sentence on how it was read."""
        data = ChoiceExperiment.from_wide(
            table.frame, **named_columns, alternatives=alternatives, **settings
        )
        _check_no_weights(table, data)
        return data, f"{wide_columns}: {_describe_experiment(data)}"

    return Reading(
        EXPERIMENTS,
        _WIDE,
        str(wide_columns),
        table,
        convert,
        sure=wide_columns.is_sure,
        extra_columns=(*wide_columns.used, settings.get("bought")),
    )


def find_wide_lack(table: RawTable) -> Lack | None:
    """Return the missing column of choices of a wide experiment; else None."""
    numbered_columns = list_numbered_columns(table.names)
    if not numbered_columns:
        return None
    return Lack(
        f"a column with the chosen alternative for {shorten(numbered_columns, 4)}", "chosen", 2
    )


WIDE = Shape(
    _WIDE,
    EXPERIMENTS,
    match_wide,
    expected="one row per task, with columns such as 'price_1', 'price_2' (or 'car_time',"
    " 'bus_time') and 'choice'",
    roles=(RESPONDENT_OF_TASKS, TASK_OF_RESPONDENT, CHOSEN),
    settings=("alternatives", "levels", "none", "bins", "bought"),
    lacks=find_wide_lack,
    main=("respondent", "task", "chosen"),
    needs="no columns such as 'price_1' and 'price_2'",
)


# LONG_TABLE is last, because it matches any table known to contain choices
SHAPES = (
    WIDE,
    LONG_TABLE,
)
