"""Reading a choice experiment from a long table, one row per alternative of a task."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import is_list
from thali._inference.index_arithmetic import find_first, repeat_indices
from thali._inference.user_warnings import warn
from thali._labels import format_label, format_plural, is_number, shorten, suggest
from thali.errors import (
    Argument,
    ArgumentError,
    Clause,
    DataError,
    DataWarning,
    Message,
    Setting,
    join_facts,
)

from ..choice_marks import (
    ORDER_WORDS,
    find_alternative_column,
    find_key_column,
    find_keys,
    find_marked_column,
    is_answer,
    is_called_rating,
    is_free_text,
    is_response_time,
    is_result,
    marks_one_row,
    marks_same_rows,
    may_be_groups,
    measures_answers,
    number_sets,
    ranks_rows,
    read_set_marks,
    repeats_marks,
)
from ..column_guesses import encode_cells, find_divided_columns, question_respondent
from ..column_readers import (
    add_note,
    check_columns,
    classify_yes_no,
    convert_frame,
    describe_content,
    encode_texts,
    get_column,
    is_row_number,
    read_flags,
    read_row_texts,
    refuse_empty,
    rename_as_text,
    select_answered_rows,
)
from ..column_roles import (
    ALTERNATIVE,
    AVAILABLE,
    BEST,
    CHOSEN,
    NO_CHOICE,
    RESPONDENT_OF_TASKS,
    TASK,
    WORST,
    Role,
    has_numbers,
    list_name_words,
    list_weight_columns,
    map_plain_names,
    simplify_name,
)
from ..respondent_table import build_people_table, is_constant_within, varies_within
from ..suspicious_data import find_similar_labels, warn_each
from .attribute_levels import (
    BINS,
    GIVEN,
    check_level_order,
    compute_cut_points,
    name_bins,
    order_levels,
    read_numbers,
)
from .dual_response import NOTHING, add_no_choice, check_single_none
from .product_encoding import (
    HELD_OUT,
    INSIDE,
    Attribute,
    RowDescriber,
    Scheme,
    check_unique_alternatives,
    find_none_rows,
    number_positions,
    number_tasks,
)

if TYPE_CHECKING:
    import pandas as pd


CHOICE = "choice"  # outcome of a table whose other answers, such as ratings, are left out
RATED = "rated task"  # a column that marks one row of each task without a choice
_MARKS = {"0", "1", "True", "False", "true", "false"}  # cells of a column of no-choice options


class SeveralColumnsError(DataError):
    """Error for several columns of one role that differ."""


class RowLabels(NamedTuple):
    """Labels of each row's respondent, task and alternative."""

    person: np.ndarray
    task: np.ndarray
    alternative: np.ndarray | None

    @property
    def task_index(self) -> np.ndarray:
        """Number of the task of each row, shape (rows,)."""
        return number_tasks(self.person, self.task)

    def describe_row(self, row: int) -> str:
        """Describe a row by alternative, task and respondent, for an error message."""
        if self.alternative is None:
            return self.describe_task(row)
        return f"of alternative {self.alternative[row]!r} {self.describe_task(row)}"

    def describe_task(self, row: int) -> str:
        """Describe a row by task and respondent, for an error message."""
        return f"in task {self.task[row]!r} of respondent {self.person[row]!r}"


class TaskTable(NamedTuple):
    """A long table of tasks, and the names of its main columns."""

    frame: "pd.DataFrame"
    respondent: str
    task: str
    alternative: str | None
    chosen: str

    @property
    def roles(self) -> set[str | None]:
        """Names of the columns of respondent, task, alternative and choice."""
        return {self.respondent, self.task, self.alternative, self.chosen}

    def read_labels(self) -> RowLabels:
        """Read the respondent, task and alternative of each row."""
        alternative_labels = None
        if self.alternative is not None:
            alternative_labels = _read_labels(self.frame, self.alternative)
        return RowLabels(
            _read_labels(self.frame, self.respondent),
            _read_labels(self.frame, self.task),
            alternative_labels,
        )

    def read_chosen(self) -> np.ndarray:
        """Return whether each row's alternative was chosen, shape (rows,)."""
        return read_chosen_rows(self.frame, self.chosen, self.read_labels())


class AttributeSettings(NamedTuple):
    """Attribute arguments of the user: names, levels, bins, words for missing."""

    names: list[str] | None  # None: all columns without another role
    levels: dict[str, Any]
    bins: dict[str, Any]
    missing: Any  # words for products without an attribute

    @property
    def declared(self) -> set[str]:
        """Names of attributes with given levels or bins."""
        return {*self.levels, *self.bins}


def find_none_condition(
    frame: "pd.DataFrame", none: str | Mapping[str, Any] | None, alternative: str | None
) -> tuple[tuple[str, str], ...]:
    """Return (column, label) pairs that identify the rows of the no-choice option."""
    if none is None:
        return ()
    if isinstance(none, Mapping):
        if not none:
            raise ArgumentError(
                Argument("none"),
                " is an empty mapping; give a column and its value, such as {'brand': 'none'}.",
            )
        return tuple(
            (str(get_column(frame, str(name)).name), format_label(value))
            for name, value in none.items()
        )
    none_label = format_label(none)
    if none_label in frame.columns:
        if (
            alternative is not None
            and none_label in encode_texts(get_column(frame, alternative))[1]
        ):
            raise DataError(
                Setting("none", none_label),
                " is both a column and an alternative; rename one, or give the column and its"
                " value.",
            )
        if not set(read_row_texts(get_column(frame, none_label))) <= _MARKS:
            raise DataError(
                f"Column {none_label!r}, named by ",
                Argument("none"),
                ", must contain 1 for the no-choice option and 0 elsewhere.",
            )
        return ((none_label, "1"),)
    if alternative is None:
        raise DataError(
            Setting("none", none_label),
            " is not a column, and there is no column of alternatives; give its name with ",
            Argument("alternative"),
            ".",
        )
    return ((alternative, none_label),)


def build_absent_none_error(
    condition: tuple[tuple[str, str], ...], frame: "pd.DataFrame", alternative: str | None
) -> Message:
    """Build the error message for a `none` that matches no row."""
    none_column, none_label = condition[0]
    known_labels = [text for text in encode_texts(get_column(frame, none_column))[1] if text]
    if len(condition) == 1 and none_column == alternative:
        return Message(
            Argument("none"),
            f" is {none_label!r}, but there is no such alternative; the alternatives are"
            f" {shorten(known_labels)}.{suggest(none_label, known_labels)}",
        )
    condition_text = " and ".join(
        f"{none_label!r} in column {none_column!r}" for none_column, none_label in condition
    )
    return Message(
        Argument("none"),
        f" marks the no-choice option by {condition_text}, but no row matches; correct the value.",
    )


class BareRows(NamedTuple):
    """Rows (at most one per task) without attribute levels."""

    rows: np.ndarray  # (rows,) bool
    lacking: np.ndarray  # (names,) whether these rows, and no others, lack the column
    labels: set[str]  # of their alternatives


def _find_bare_rows(
    frame: "pd.DataFrame", attribute_names: list[str], row_labels: RowLabels
) -> BareRows | None:
    """Find rows, at most one per task, whose attributes are all empty or one text; else None."""
    # No other row may be empty, or that text (such as "None of these"), in these attributes.
    cells = [encode_texts(get_column(frame, name)) for name in attribute_names]
    has_text = np.array([codes == texts.index("") for codes, texts in cells])
    for text in set.intersection(*(set(texts) for _, texts in cells)) - {""}:
        if len(cells) == 1 or is_number(text):
            continue
        is_text = np.array([codes == texts.index(text) for codes, texts in cells])
        if (is_text == is_text[0]).all():
            has_text |= is_text
    is_lacking: np.ndarray = np.any(has_text, axis=1)
    is_bare: np.ndarray = np.all(has_text[is_lacking], axis=0)
    if (
        not is_bare.any()
        or (has_text[is_lacking].any(axis=0) & ~is_bare).any()
        or 1 == is_lacking.sum() < len(attribute_names)
    ):
        return None
    if np.bincount(row_labels.task_index[is_bare]).max() > 1:
        return None
    alternative_labels: set[str] = set()
    if row_labels.alternative is not None:
        alternative_labels = set(map(str, row_labels.alternative[is_bare]))
    return BareRows(is_bare, is_lacking, alternative_labels)


def recognise_none(
    frame: "pd.DataFrame", names: list[str], rows: RowLabels, alternative: str | None
) -> tuple[tuple[str, str], ...]:
    """Recognise the no-choice rows; return (column, label) pairs that identify them.

    Zeros count in the same alternative of every task, as in Sawtooth's files. Raise if rows only
    seem to be the no-choice option.
    """
    if (bare_rows := _find_bare_rows(frame, names, rows)) is not None:
        none_setting: Any = Argument("none")
        lacking_names = [names[k] for k in np.flatnonzero(bare_rows.lacking)]
        for name in lacking_names:
            words = set(map(format_label, get_column(frame, name)[bare_rows.rows])) - {""}
            if len(words) == 1:  # a text in all attributes says that nothing was chosen
                return ((name, words.pop()),)
        if len(bare_rows.labels) == 1:
            (none_label,) = bare_rows.labels
            if alternative is not None and simplify_name(none_label) in NO_CHOICE:
                return ((alternative, none_label),)
            none_setting = Setting("none", none_label)
        raise DataError(
            f"No value is given for {shorten(lacking_names)}"
            f" {rows.describe_row(int(bare_rows.rows.argmax()))}; if this row is the no-choice"
            " option, set ",
            none_setting,
            "; otherwise, fill in the missing values.",
        )
    if alternative is None:
        return ()
    none_label = _find_zero_alternative(frame, names, rows)
    if none_label is None:
        return ()
    return ((alternative, none_label),)


_MIN_ZERO_ATTRIBUTES = 2  # in which 0 means no choice alone; one may have a level 0 of its own


def _find_zero_alternative(frame: "pd.DataFrame", names: list[str], rows: RowLabels) -> str | None:
    """Return the alternative of which all attributes are 0 in every task; None if there is none."""
    task_index = rows.task_index
    are_zeros = []
    for name in names:
        codes, texts = encode_texts(get_column(frame, name))
        # what is the same for all alternatives of a task is no attribute
        if not is_constant_within(codes, task_index):
            are_zeros.append(np.isin(codes, [k for k, text in enumerate(texts) if text == "0"]))
    if not are_zeros:
        return None
    is_bare = np.all(are_zeros, axis=0)
    labels = set(map(str, np.asarray(rows.alternative)[is_bare]))
    n_certain = sum((is_zero == is_bare).all() for is_zero in are_zeros)
    is_in_all_tasks = len(labels) == 1 and is_bare.sum() > task_index.max()
    if not is_in_all_tasks or n_certain < _MIN_ZERO_ATTRIBUTES:
        return None
    return min(labels)


# The chosen row of each task: 1 and 0, yes and no, or the chosen alternative in every row ---------


def read_chosen_rows(frame: "pd.DataFrame", name: str, rows: RowLabels) -> np.ndarray:
    """Return whether each row's alternative was chosen, from marks or labels.

    The label of the chosen alternative is in all rows of its task, or in the first before zeros.
    """
    task_index = rows.task_index
    is_yes, is_wrong = read_set_marks(get_column(frame, name), task_index)
    if not is_wrong.any():
        return is_yes
    codes, cell_texts = encode_texts(get_column(frame, name))
    row_texts = np.array(cell_texts, object)[codes]
    first_rows = np.unique(task_index, return_index=True)[1]
    chosen_texts = row_texts[first_rows][task_index]
    other_texts = np.delete(row_texts, first_rows)
    if (row_texts == chosen_texts).all() or (other_texts == "0").all():
        alternative_labels = rows.alternative
        if alternative_labels is None:
            alternative_labels = number_positions(task_index).astype(str)
        if set(chosen_texts) <= set(alternative_labels):
            return chosen_texts == alternative_labels
    wrong_row = int(is_wrong.argmax())
    raise DataError(
        f"Column {name!r} {describe_content(cell_texts[codes[wrong_row]])}"
        f" {rows.describe_task(wrong_row)}; it must"
        " be 1 for the chosen alternative and 0 for the others."
    )


def _find_single_rows(row_labels: RowLabels) -> np.ndarray:
    """Return which rows are alone in their task; raise if most tasks have one row."""
    task_index = row_labels.task_index
    task_sizes = np.bincount(task_index)
    is_single = task_sizes[task_index] == 1
    if np.median(task_sizes) <= 1:
        raise DataError(
            f"There is only one alternative {row_labels.describe_task(int(is_single.argmax()))},"
            " and in"
            " most other tasks; a choice needs at least two. Check the columns of respondents and"
            " tasks, or give their names with ",
            Argument("respondent"),
            " and ",
            Argument("task"),
            ".",
        )
    return is_single


class ExperimentArrays(NamedTuple):
    """Arrays of a `ChoiceExperiment`, sorted by respondent and task."""

    scheme: Scheme
    respondents: tuple[str, ...]
    first_task: np.ndarray
    first_row: np.ndarray
    chosen: np.ndarray
    products_of_rows: np.ndarray  # (rows, attributes)
    is_none: np.ndarray  # (rows,) whether the row is the no-choice option
    task_labels: np.ndarray
    alternative_labels: np.ndarray
    row_order: np.ndarray  # rows of the table, sorted
    people: "pd.DataFrame | None" = None
    profile_columns: "pd.DataFrame | None" = None


def read_experiment(
    frame: "pd.DataFrame",
    columns: tuple[Any, Any, Any, Any],
    attributes: Iterable[Any] | None,
    levels: Mapping[Any, Any] | None,
    none: Any,
    bins: Mapping[Any, Any] | None,
    missing: str | Iterable[str] | Mapping[str, Any] | None,
    inside: bool,
    bought: str | None,
    outcome: str | None = None,
) -> ExperimentArrays:
    """Check a long table; encode respondents, tasks, products and choices as arrays.

    See `from_frame`.
    """
    frame = rename_as_text(convert_frame(frame))
    refuse_empty(frame, "tasks")
    has_outcome = outcome is not None
    if outcome == CHOICE:
        outcome = None
    check_single_none(none, bought)
    check_columns(frame, [bought])
    frame, columns = mark_rated_tasks(frame, columns, outcome)
    answer_columns = [name for name in (bought, outcome) if name is not None]
    columns = find_task_columns(frame.drop(columns=answer_columns), columns)
    settings = AttributeSettings(
        _list_named_attributes(attributes),
        _convert_keys(levels, "levels"),
        _convert_keys(bins, "bins"),
        missing,
    )
    task_table = _read_task_table(frame, columns, settings, bought, outcome)
    if bought is not None:
        task_table = _add_no_choice(task_table, bought)
        none = {task_table.alternative: NOTHING}
    frame = task_table.frame
    row_labels = task_table.read_labels()
    _refuse_idle_respondents(
        get_column(frame, task_table.respondent), row_labels.person, task_table.respondent
    )
    attribute_table = task_table._replace(frame=frame.drop(columns=outcome or [], errors="ignore"))
    scheme, is_none = _read_scheme(attribute_table, row_labels, settings, none, inside)
    is_chosen = read_chosen_rows(frame, task_table.chosen, row_labels)
    experiment_arrays = _sort_rows(
        scheme,
        row_labels,
        scheme.encode_products(frame, row_labels.describe_row),
        is_chosen,
        is_none,
    )
    is_guessed = settings.names is None
    experiment_arrays, constant_attributes = _drop_constant_attributes(
        experiment_arrays, settings.declared.union(dict(scheme.none)), is_guessed
    )
    _check_attributes(experiment_arrays.scheme.attributes)
    used_columns = task_table.roles.union(
        attribute.name for attribute in experiment_arrays.scheme.attributes
    )
    other_columns = [name for name in frame.columns if name not in used_columns]
    people = read_people(frame, other_columns, row_labels.person, task_table.respondent)
    # columns that describe people and are not named as attributes
    if is_guessed and people is not None:
        constant_attributes = [name for name in constant_attributes if name not in people.columns]
    _refuse_weights_of_tasks(frame, constant_attributes)
    if has_outcome:  # such columns describe tasks
        constant_attributes = []
    _warn_about_columns(frame, other_columns, constant_attributes)
    for attribute in experiment_arrays.scheme.attributes:
        warn_each(find_similar_labels(attribute.levels, attribute.name))
    if task_table.chosen == RATED:
        experiment_arrays = experiment_arrays._replace(
            chosen=np.full(len(experiment_arrays.chosen), -1)
        )
    unused_columns = [name for name in other_columns if name != outcome]
    profile_columns = _list_profile_columns(frame, unused_columns, people, row_labels)
    if outcome is not None:
        profile_columns.insert(0, outcome)
    if profile_columns:
        order = experiment_arrays.row_order
        profile_table = frame[profile_columns].iloc[order].reset_index(drop=True)
        experiment_arrays = experiment_arrays._replace(profile_columns=profile_table)
    return experiment_arrays._replace(people=people)


def _list_profile_columns(
    frame: "pd.DataFrame", names: list[str], people: "pd.DataFrame | None", rows: RowLabels
) -> list[str]:
    """List the columns that are constant within tasks but not within respondents."""
    if people is not None:
        names = [name for name in names if name not in people.columns]
    varying_names = _list_varying_columns(frame, names, rows)
    return [name for name in names if name not in varying_names]


def mark_rated_tasks(
    frame: "pd.DataFrame", columns: tuple[Any, Any, Any, Any], outcome: str | None
) -> tuple["pd.DataFrame", tuple[Any, Any, Any, Any]]:
    """Mark a row of each task of a table with ratings and no choices; return the columns too.

    `columns`: respondent, task, alternative and choice, where named.
    """
    check_columns(frame, [outcome])
    if outcome is None or columns[-1] is not None:
        return frame, columns
    try:
        find_task_columns(frame.drop(columns=outcome), columns)
    except SeveralColumnsError:
        raise
    except DataError:
        name_by_simplified = map_plain_names(name for name in frame.columns if name != outcome)
        respondent = columns[0] or RESPONDENT_OF_TASKS.find_column(name_by_simplified)
        task = columns[1] or TASK.find_column(name_by_simplified)
        if respondent is None:
            raise DataError(
                f"No column identifies the respondents whose answers are in {outcome!r}; give the"
                " name of such a column with ",
                Argument("respondent"),
                f". The columns are {shorten([*frame.columns], 12)}.",
            ) from None
        alternative = columns[2]
        if task is None or not frame.duplicated([respondent, task]).any():
            # each profile was rated alone: those of a respondent are one task
            alternative, task = alternative or task, respondent
        marks = (~frame.duplicated([respondent, task])).astype(int)
        return frame.assign(**{RATED: marks}), (respondent, task, alternative, RATED)
    return frame, columns


def _read_scheme(
    table: TaskTable,
    row_labels: RowLabels,
    settings: AttributeSettings,
    none: str | Mapping[str, Any] | None,
    inside: bool,
) -> tuple[Scheme, np.ndarray]:
    """Read attributes and levels; also return which rows are the no-choice option."""
    frame = table.frame
    none_condition = find_none_condition(frame, none, table.alternative)
    attribute_names = _list_attribute_names(
        frame, settings.names, table.roles, none_condition, none
    )
    if settings.names is None:
        unfit_columns = _find_unfit_columns(table, attribute_names, row_labels)
        unfit_columns -= settings.declared
        attribute_names = [name for name in attribute_names if name not in unfit_columns]
    lacked_attributes = []
    if settings.missing is None:
        lacked_attributes = _list_lacked_attributes(table, attribute_names, row_labels)
        common_names = [name for name in attribute_names if name not in lacked_attributes]
        if common_names and not none_condition:
            none_condition = recognise_none(frame, common_names, row_labels, table.alternative)
    if lacked_attributes:
        settings = settings._replace(missing=dict.fromkeys(lacked_attributes, ""))
        add_note(
            f"{shorten(lacked_attributes)} set to 0 for alternatives whose cells are all empty"
        )
    is_none = find_none_rows(frame, none_condition)
    if none_condition and not is_none.any():
        raise DataError(build_absent_none_error(none_condition, frame, table.alternative))
    attribute_list = _read_attributes(
        frame, attribute_names, is_none, settings, row_labels.describe_row
    )
    scheme = Scheme(
        table.respondent,
        table.task,
        table.alternative,
        table.chosen,
        tuple(_hide_none_level(attribute, none_condition) for attribute in attribute_list),
        none_condition,
        bool(inside and none_condition),
    )
    return scheme, is_none


def _find_unfit_columns(
    table: TaskTable, attribute_names: list[str], row_labels: RowLabels
) -> set[str]:
    """Return the columns that are no attributes: identifiers, texts, times, answers, results."""
    # nor are columns that are constant within tasks, whose empty cells need no values then
    frame = table.frame
    unfit_columns = _find_identifiers(frame, attribute_names, row_labels)
    unfit_columns.update(
        name for name in attribute_names if simplify_name(name) in (*BEST.sure, *WORST.sure)
    )
    unfit_columns.update(_find_numberings(table, attribute_names, row_labels))
    if table.chosen == RATED:
        unfit_columns.update(_find_measurements(frame, attribute_names, row_labels))
    marks = get_column(frame, table.chosen)
    tasks = frame.groupby(row_labels.task_index)
    unfit_columns.update(
        name
        for name in filter(measures_answers, attribute_names)
        if not (is_response_time(name) and _has_levels(tasks, name))
    )
    for name in attribute_names:
        column = get_column(frame, name)
        is_constant = (
            column.isna().to_numpy().any()
            and tasks[name].nunique(dropna=False).to_numpy().max() == 1
        )
        is_unfit = is_constant or is_free_text(column) or is_result(column, tasks)
        if is_unfit or repeats_marks(column, marks):
            unfit_columns.add(name)
    return unfit_columns


def _find_measurements(
    frame: "pd.DataFrame", attribute_names: list[str], row_labels: RowLabels
) -> Iterator[str]:
    """Yield the columns of fractions that seldom recur, or that number a respondent's rows."""
    respondents: Any = frame.groupby(row_labels.person)
    n_rows = respondents.size()
    for name in filter(lambda name: has_numbers(frame[name]), attribute_names):
        cells = get_column(frame, name)
        n_values = cells.nunique()
        seldom_recurs = n_values > max(_MAX_CODED_LEVELS, len(frame) / _MIN_REPEATS)
        is_fraction = cells.dropna().mod(1).any()
        is_numbering = (
            n_rows.min() > _MAX_CHANCE
            and (respondents[name].nunique() == n_rows).all()
            and (respondents[name].max() == n_rows).all()
        )
        if (seldom_recurs and is_fraction) or is_numbering:
            yield name


_MAX_CHANCE = 3  # rows of a respondent that may differ in a level by chance


def _has_levels(tasks: Any, name: str) -> bool:
    """Return whether a column has a few values, many times each, that differ within tasks."""
    n_values = tasks.obj[name].nunique()
    n_least = min(_MAX_DURATIONS, len(tasks.obj) // _MIN_REPEATS)
    return 1 < n_values <= n_least and varies_within(tasks, name)


_MAX_DURATIONS, _MIN_REPEATS = 8, 5  # levels of a duration, and rows for each, unlike times


def _list_lacked_attributes(
    table: TaskTable, attribute_names: list[str], row_labels: RowLabels
) -> list[str]:
    """List the attributes whose cells are empty for some named alternatives, and only for these."""
    frame = table.frame
    alternative_column = table.alternative or ALTERNATIVE.find_column(
        map_plain_names(attribute_names)
    )
    is_empty = frame[attribute_names].isna()
    if (
        alternative_column is None
        or has_numbers(frame[alternative_column])
        or not is_empty.to_numpy().any()
    ):
        return []
    described_names = _list_varying_columns(frame, attribute_names, row_labels)
    labels = frame[alternative_column].to_numpy()
    n_levels: Any = frame[described_names].groupby(labels).nunique()
    empty_shares: Any = is_empty.groupby(labels).mean()
    empty_shares = empty_shares.loc[n_levels.max(axis=1) > 1]  # without the no-choice option
    return [name for name in attribute_names if set(empty_shares[name]) == {0, 1}]


def _list_varying_columns(
    frame: "pd.DataFrame", names: list[str], row_labels: RowLabels
) -> list[str]:
    """List the columns that vary within tasks."""
    tasks = frame.groupby(row_labels.task_index)
    return [name for name in names if varies_within(tasks, name)]


def _read_task_table(
    frame: "pd.DataFrame",
    columns: tuple[str, str, str | None, str],
    settings: AttributeSettings,
    bought_column: str | None,
    outcome: str | None,
) -> TaskTable:
    """Find the columns; keep the rows of offered alternatives in answered tasks."""
    respondent_column, task_column, alternative_column, chosen_column = columns
    if outcome is not None and not has_numbers(get_column(frame, outcome)):
        frame = frame.assign(**{outcome: _read_yes_no(get_column(frame, outcome))})
    frame = select_answered_rows(
        frame,
        [chosen_column],
        list(filter(None, [alternative_column])),
        task_columns=(respondent_column, task_column),
    )
    table = TaskTable(
        frame,
        respondent=respondent_column,
        task=task_column,
        alternative=alternative_column,
        chosen=chosen_column,
    )
    answer_columns = [bought_column, outcome]
    kept_columns = table.roles.union(settings.declared, settings.names or (), answer_columns)
    table = _select_offered_rows(
        table, [name for name in frame.columns if name not in kept_columns]
    )
    if bought_column is None and (is_single := _find_single_rows(table.read_labels())).any():
        add_note(f"{format_plural(int(is_single.sum()), 'task')} with a single alternative dropped")
        table = table._replace(frame=table.frame.loc[~is_single])
    return table


def _read_yes_no(column: "pd.Series") -> np.ndarray:
    """Return 1 for yes, 0 for no and NaN for an empty cell; raise DataError for other texts."""
    is_yes, is_other = classify_yes_no(column)
    is_empty = column.isna().to_numpy()
    if (is_other & ~is_empty).any():
        raise DataError(
            f"Column {column.name!r} contains texts; give the name of a column of numbers, or of"
            " yes and no, with ",
            Argument("outcome"),
            ".",
        )
    return np.where(is_empty, np.nan, is_yes)


def _add_no_choice(table: TaskTable, bought_column: str) -> TaskTable:
    """Add a no-choice row to each task, using the answers in the column `bought_column`."""
    frame = table.frame
    task_column = table.task
    row_labels = table.read_labels()
    task_index = row_labels.task_index
    is_chosen = table.read_chosen()
    if task_column == table.respondent:  # each respondent had one task, and now may have two
        task_column = next(
            name for name in ("task", "task of respondent") if name not in frame.columns
        )
        frame = frame.assign(**{task_column: "1"})
    frame, alternative_column = add_no_choice(
        frame, task_index, is_chosen, (task_column, table.alternative, table.chosen), bought_column
    )
    return table._replace(frame=frame, task=task_column, alternative=alternative_column)


def _hide_none_level(
    attribute: Attribute, none_condition: tuple[tuple[str, str], ...]
) -> Attribute:
    """Drop the level that denotes the no-choice option from an attribute."""
    if len(none_condition) != 1 or none_condition[0][0] != attribute.name:
        return attribute
    none_label = none_condition[0][1]
    return attribute._replace(
        levels=tuple(level for level in attribute.levels if level != none_label)
    )


def _refuse_weights_of_tasks(frame: "pd.DataFrame", constant_attributes: list[str]) -> None:
    """Raise DataError if a column that is constant within tasks contains different weights."""
    for name in list_weight_columns(constant_attributes):
        if get_column(frame, name).nunique() > 1:
            raise DataError(
                f"Column {name!r} looks like weights, but it differs between the tasks of a"
                " respondent; give one weight per respondent, or drop the column with ",
                Setting("without", [name]),
                ".",
            )


def _warn_about_columns(
    frame: "pd.DataFrame", other_columns: list[str], constant_attributes: list[str]
) -> None:
    """Warn about a column of holdout tasks, and about dropped attributes."""
    if HELD_OUT in other_columns and {"0", "1"} <= set(
        encode_texts(get_column(frame, HELD_OUT))[1]
    ):
        constant_attributes = [name for name in constant_attributes if name != HELD_OUT]
        warn(
            DataWarning(
                f"Column {HELD_OUT!r} marks holdout tasks, but these tasks are fitted like all"
                " others; exclude these tasks",
                Clause(" with ", Setting("where", f"{HELD_OUT} == 0")),
                Clause(", or predict them with ", Setting("holdouts", f"{HELD_OUT} == 1")),
                ".",
            )
        )
    if constant_attributes:
        warn(
            DataWarning(
                "Attributes dropped because they are constant within every task and cannot"
                f" explain choices: {shorten(constant_attributes, 12)}."
            )
        )


def _select_offered_rows(table: TaskTable, candidate_columns: Iterable[str]) -> TaskTable:
    """Keep the rows of offered alternatives; drop columns of offers and row numbers."""
    frame = table.frame
    name_by_simplified = map_plain_names(candidate_columns)
    row_number_columns = [
        name for name in name_by_simplified.values() if is_row_number(get_column(frame, name))
    ]
    available_column = next(
        (
            name
            for name in AVAILABLE.find_possible_columns(name_by_simplified)
            if not classify_yes_no(get_column(frame, name))[1].any()
        ),
        None,
    )
    if row_number_columns:
        add_note(f"row numbers ({shorten(row_number_columns)}) not used")
    if available_column is None:
        return table._replace(frame=frame.drop(columns=row_number_columns))
    is_offered = read_flags(frame, available_column)
    if (row := find_first(table.read_chosen() & ~is_offered)) is not None:
        raise DataError(
            f"The chosen alternative {table.read_labels().describe_task(row)}"
            f" has {available_column!r} = 0, as if it were not offered; correct the row, or remove"
            " the task."
        )
    add_note(
        f"{available_column!r} marks the alternatives that were offered;"
        f" {format_plural(int((~is_offered).sum()), 'row')} of alternatives not offered dropped"
    )
    return table._replace(
        frame=frame.loc[is_offered].drop(columns=[*row_number_columns, available_column])
    )


def read_people(
    frame: "pd.DataFrame", other_columns: list[str], person: np.ndarray, title: str
) -> "pd.DataFrame | None":
    """Build a table of respondents from columns constant within each; None if there are none.

    Respondents are in order of first appearance.
    """
    import pandas as pd

    respondent_index, respondent_labels = pd.factorize(person)
    return build_people_table(
        frame.loc[:, other_columns],
        (),
        respondent_index,
        tuple(map(format_label, respondent_labels)),
        title,
    )


def find_task_columns(
    frame: "pd.DataFrame", given_names: Iterable[Any]
) -> tuple[str, str, str | None, str]:
    """Return the columns of respondent, task, alternative (or None) and choice.

    Names decide, and for the choice the cells: 1 in one row of each task. Respondents who chose
    once are tasks.
    """
    names = [str(name) for name in frame.columns]
    given_columns = [None if name is None else str(name) for name in given_names]
    check_columns(frame, given_columns)
    respondent, task, alternative, chosen = given_columns

    def find(role: str, column_role: Role) -> str | None:
        """Return the column whose name has this role; raise DataError for several."""
        used_columns = [name for name in given_columns if name is not None]
        if role == "respondent":
            used_columns += [name for name in names if is_answer(frame, name)]
        name_by_simplified = map_plain_names([name for name in names if name not in used_columns])
        matching_columns = sorted(
            column_role.find_certain_columns(name_by_simplified), key=names.index
        )
        # which a table need not have, and brands are attributes
        if not matching_columns and role != "alternative":
            matching_columns = list(column_role.find_possible_columns(name_by_simplified))[:1]
        if role == "task" and len(matching_columns) > 1:
            marks = chosen or CHOSEN.find_column(name_by_simplified)
            matching_columns = _select_tasks(frame, matching_columns, respondent, marks)
        if len(matching_columns) > 1:
            if _are_alike(frame, matching_columns, role, respondent):
                return matching_columns[0]
            meaning = role.replace("chosen", "choice")
            raise SeveralColumnsError(
                f"Columns {shorten(matching_columns)} could each contain the {meaning}; give the"
                " name of one with ",
                Argument(role),
                ".",
            )
        return next(iter(matching_columns), None)

    respondent = respondent or find("respondent", RESPONDENT_OF_TASKS)
    task = task or find("task", TASK)
    alternative = alternative or find("alternative", ALTERNATIVE)
    chosen = chosen or find("chosen", CHOSEN)
    if given_columns[0] is None and _varies_within_tasks(frame, respondent, task, chosen):
        respondent = None
    if chosen is None:
        chosen = find_marked_column(frame, (respondent, task), (alternative,))
    if chosen is not None:
        respondent, task = find_keys(frame, respondent, task, chosen, alternative)
    if respondent is None or task is None or chosen is None:
        raise _missing_roles_error(names, respondent, task, chosen)
    if respondent == task and given_columns[0] is None:
        _refuse_coarser_respondents(frame, respondent)
    if alternative is None:
        alternative = find_alternative_column(frame, [respondent, task], chosen)
    used_columns = [name for name in (respondent, task, alternative, chosen) if name is not None]
    if respondent == task:  # each respondent had one task
        used_columns = used_columns[1:]
    for name in used_columns:
        if used_columns.count(name) > 1:
            raise ArgumentError(
                f"Column {name!r} has more than one role (respondent, task, alternative or"
                " chosen); choose different columns."
            )
    return respondent, task, alternative, chosen


def _select_tasks(
    frame: "pd.DataFrame", names: list[str], respondent: str | None, marks: str | None
) -> list[str]:
    """Return the columns in whose tasks one alternative is chosen each; all if there are none."""
    if marks is None:
        return names
    keys = list(filter(None, [respondent]))
    answers = get_column(frame, marks)
    return [
        name for name in names if marks_one_row(answers, number_sets(frame, [*keys, name]))
    ] or names


def _refuse_coarser_respondents(frame: "pd.DataFrame", task: str) -> None:
    """Raise SeveralColumnsError if another column called respondents has several tasks each."""
    if simplify_name(task) in ("respondent", "participant", "subject"):
        return
    n_tasks = get_column(frame, task).nunique()
    for name in RESPONDENT_OF_TASKS.find_possible_columns(map_plain_names(frame.columns), (task,)):
        is_coarser = 2 * get_column(frame, name).nunique() <= n_tasks
        if (
            is_coarser
            and not may_be_groups(frame, name)
            and find_divided_columns(frame, name, [task])
        ):
            raise SeveralColumnsError(question_respondent(name, task))


def _varies_within_tasks(
    frame: "pd.DataFrame", respondent: str | None, task: str | None, chosen: str | None
) -> bool:
    """Return whether a column called respondents is an attribute, as PID of candidates may be."""
    # Another column forms tasks with one choice each, within which it differs.
    marks = chosen or find_marked_column(frame, (task,), (respondent,))
    if respondent is None or task is None or marks is None:
        return False
    if marks_one_row(get_column(frame, marks), number_sets(frame, [respondent, task])):
        return False
    key = find_key_column(frame, [task], marks, ())
    return key is not None and not is_constant_within(
        encode_cells(get_column(frame, respondent)), number_sets(frame, [key, task])
    )


def _are_alike(frame: "pd.DataFrame", names: list[str], role: str, respondent: str | None) -> bool:
    """Return whether columns of a role mark the same rows or divide the rows equally."""
    if role == "chosen":
        marks = get_column(frame, names[0])
        return all(marks_same_rows(get_column(frame, name), marks) for name in names)
    known_keys = []
    if role == "task" and respondent is not None:
        known_keys = [respondent]
    return len({number_sets(frame, [*known_keys, name]).tobytes() for name in names}) == 1


def _missing_roles_error(
    names: list[str], respondent: str | None, task: str | None, chosen: str | None
) -> DataError:
    """Return the error that no column has one of these roles."""
    missing_roles = []
    if respondent is None:
        missing_roles.append(("identifies the respondent", Argument("respondent")))
    if task is None:
        missing_roles.append(("numbers the tasks of a respondent", Argument("task")))
    if chosen is None:
        missing_roles.append(("marks the chosen alternative (1, others 0)", Argument("chosen")))
    meanings = " or ".join(meaning for meaning, _ in missing_roles)
    rating = next(filter(is_called_rating, names), None)
    advice = Message()
    if chosen is None and rating is not None:
        advice = Message("; for ratings, use thali.amce with ", Setting("outcome", rating))
    kind = DataError
    if task is not None and chosen is not None:  # the only other key is a block or group
        kind = SeveralColumnsError
        advice = Message(f"; if there is none, give each task its own number in {task!r}")
    return kind(
        f"No column {meanings}; give the name of such a column with ",
        join_facts([argument for _, argument in missing_roles], " and "),
        advice,
        f". The columns are {shorten(names, 12)}.",
    )


def _read_labels(frame: "pd.DataFrame", column: str) -> np.ndarray:
    """Read a column of labels as texts; raise DataError if a cell is empty."""
    label_texts = read_row_texts(get_column(frame, column))
    if (empty_row := find_first(label_texts == "")) is not None:
        raise DataError(
            f"A label is missing in row {frame.index[empty_row]}, column {column!r}; fill it in or"
            " remove the row."
        )
    return label_texts


def _refuse_idle_respondents(
    column: "pd.Series", respondent_labels: np.ndarray, column_name: str
) -> None:
    """Raise DataError if a categorical column lists a respondent without rows."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        active_respondents = set(respondent_labels)
        idle_respondents = [
            label
            for label in map(format_label, column.dtype.categories)
            if label not in active_respondents
        ]
        if idle_respondents:
            raise DataError(
                f"Respondent {idle_respondents[0]!r} has no task, although it is a category of"
                f" column {column_name!r}; drop unused categories with"
                " .cat.remove_unused_categories()."
            )


def _list_named_attributes(attributes: Iterable[Any] | None) -> list[str] | None:
    """Return the argument `attributes` as list of texts; None if not given."""
    if attributes is None:
        return None
    if isinstance(attributes, str):
        raise ArgumentError(
            Argument("attributes"),
            f" must be a list of columns; got the string {attributes!r}.",
        )
    return [str(name) for name in attributes]


def _list_attribute_names(
    frame: "pd.DataFrame",
    named_attributes: list[str] | None,
    reserved_columns: set[Any],
    none_condition: tuple[tuple[str, str], ...],
    none: str | Mapping[str, Any] | None,
) -> list[str]:
    """Return the columns that are attributes, given or not used otherwise."""
    attribute_names = named_attributes
    if attribute_names is None:
        used_columns = set(reserved_columns)
        if not isinstance(none, Mapping):
            used_columns |= {name for name, _ in none_condition}
        attribute_names = [name for name in frame.columns if name not in used_columns]
    if not attribute_names:
        raise DataError("There are no attributes: no column is left to describe the products.")
    for name in attribute_names:
        get_column(frame, name)
        if name in reserved_columns:
            raise ArgumentError(
                f"Column {name!r} cannot be an attribute, because it contains the respondents,"
                " tasks, alternatives or choices."
            )
        if attribute_names.count(name) > 1:
            raise ArgumentError(f"Attribute {name!r} is listed twice; remove one.")
    return attribute_names


_MAX_CODED_LEVELS = 30  # of an attribute such as brand_id; more numbers are identifiers


def _find_identifiers(
    frame: "pd.DataFrame", attribute_names: list[str], row_labels: RowLabels
) -> set[str]:
    """Return the columns such as profileID, of many numbers or whose cells determine attributes."""
    candidates = [name for name in attribute_names if simplify_name(name).endswith("id")]
    if not candidates:
        return set()
    described_names = _list_varying_columns(frame, attribute_names, row_labels)
    identifiers = {
        name
        for name in candidates
        if has_numbers(frame[name]) and get_column(frame, name).nunique() > _MAX_CODED_LEVELS
    }
    for candidate in candidates:
        other_names = [name for name in described_names if name not in candidates]
        n_values = frame.groupby(candidate)[other_names].nunique()
        if other_names and bool((n_values <= 1).to_numpy().all()):
            identifiers.add(candidate)
    return identifiers


def _find_numberings(
    table: TaskTable, attribute_names: list[str], row_labels: RowLabels
) -> Iterator[str]:
    """Yield the columns that number the products of each respondent, or of each task again."""
    respondents: Any = table.frame.groupby(row_labels.person)
    tasks: Any = table.frame.groupby(row_labels.task_index)
    for name in filter(lambda name: has_numbers(table.frame[name]), attribute_names):
        cells = get_column(table.frame, name)
        # all respondents have the same numbers, which follow one another in each task
        is_numbering = (
            len(tasks) > len(respondents)
            and cells.nunique() == respondents.size().max()
            and (respondents[name].nunique() == respondents.size()).all()
            and (tasks[name].max() - tasks[name].min() == tasks.size() - 1).all()
        )
        if is_numbering or (
            row_labels.alternative is not None
            and ranks_rows(cells, tasks)
            and (
                not ORDER_WORDS.isdisjoint(list_name_words(name))
                or is_constant_within(
                    encode_cells(cells), np.unique(row_labels.alternative, return_inverse=True)[1]
                )
            )
        ):
            yield name


def _convert_keys(mapping: Mapping[Any, Any] | None, argument: str) -> dict[str, Any]:
    """Return the mapping with its keys as texts; raise for other types."""
    if mapping is None:
        return {}
    if not isinstance(mapping, Mapping):
        raise ArgumentError(
            Argument(argument), f" must be a mapping from attribute; got {type(mapping).__name__}."
        )
    return {str(name): value for name, value in mapping.items()}


def _read_attributes(
    frame: "pd.DataFrame",
    attribute_names: list[str],
    is_none: np.ndarray,
    settings: AttributeSettings,
    describe_row: RowDescriber,
) -> list[Attribute]:
    """Read the ordered levels of all attributes from their columns."""
    words_by_attribute = list_missing_words(settings.missing, attribute_names)
    for argument, setting_by_attribute in (
        ("levels", settings.levels),
        ("bins", settings.bins),
        ("missing", words_by_attribute),
    ):
        for attribute_name in setting_by_attribute:
            if attribute_name not in attribute_names:
                raise ArgumentError(
                    Argument(argument),
                    f" contains {attribute_name!r}, which is not an"
                    f" attribute.{suggest(attribute_name, attribute_names)}",
                )
    return [
        _read_attribute(
            frame,
            attribute_name,
            is_none,
            settings._replace(missing=words_by_attribute.get(attribute_name, ())),
            describe_row,
        )
        for attribute_name in attribute_names
    ]


def list_missing_words(
    missing: str | Iterable[str] | Mapping[str, Any] | None, attribute_names: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """Return, for each attribute, the cells that mean a product lacks it."""
    if missing is None:
        return {}
    if not isinstance(missing, Mapping):
        missing = dict.fromkeys(attribute_names, missing)
    return {
        str(attribute_name): _convert_labels(value) for attribute_name, value in missing.items()
    }


def _convert_labels(value: str | Iterable[Any]) -> tuple[str, ...]:
    """Convert one label, or several, to a tuple of texts."""
    if not is_list(value):
        return (format_label(value),)
    return tuple(map(format_label, value))


def _read_attribute(
    frame: "pd.DataFrame",
    attribute_name: str,
    is_none: np.ndarray,
    settings: AttributeSettings,
    describe_row: RowDescriber,
) -> Attribute:
    """Read the ordered levels of one attribute from its column."""
    _, levels, bins, missing_words = settings
    column = get_column(frame, attribute_name)
    codes, cell_texts = encode_texts(column)
    is_absent = is_none | np.isin(
        codes, [k for k, text in enumerate(cell_texts) if text in missing_words]
    )
    present_rows = np.flatnonzero(~is_absent)
    if not len(present_rows):
        raise DataError(
            f"Attribute {attribute_name!r} is missing for every product; remove this attribute."
        )
    if attribute_name in bins:
        if attribute_name in levels:
            raise ArgumentError(
                f"Attribute {attribute_name!r} has both levels and bins; remove one of them."
            )
        row_values = read_numbers(
            attribute_name,
            cell_texts,
            codes[present_rows],
            lambda k: describe_row(int(present_rows[k])),
        )
        cuts = compute_cut_points(attribute_name, bins[attribute_name], row_values)
        return Attribute(attribute_name, name_bins(cuts), BINS, cuts, missing_words)
    if attribute_name in levels:
        return Attribute(
            attribute_name,
            check_level_order(attribute_name, levels[attribute_name]),
            GIVEN,
            (),
            missing_words,
        )
    used_labels = [cell_texts[k] for k in np.unique(codes[present_rows]) if cell_texts[k]]
    hidden_labels = [*missing_words, *(cell_texts[k] for k in np.unique(codes[is_absent]))]
    sorted_levels, order_rule = order_levels(column, used_labels, hidden_labels)
    return Attribute(attribute_name, sorted_levels, order_rule, (), missing_words)


def _drop_constant_attributes(
    experiment_arrays: ExperimentArrays, kept_names: set[str], is_guessed: bool
) -> tuple[ExperimentArrays, list[str]]:
    """Drop attributes constant within every task; return their names too."""
    # If attributes are guessed, ignore the no-choice option, which always differs from the others.
    is_compared = ~(experiment_arrays.is_none & is_guessed)
    task_index = repeat_indices(np.diff(experiment_arrays.first_row))[is_compared]
    products = experiment_arrays.products_of_rows[
        is_compared, int(experiment_arrays.scheme.has_inside) :
    ]
    is_same_task = np.diff(task_index) == 0
    constant_names = [
        attribute.name
        for attribute, codes in zip(experiment_arrays.scheme.attributes, products.T, strict=True)
        if attribute.name not in kept_names and not np.diff(codes)[is_same_task].any()
    ]
    varying_attributes = tuple(
        attribute
        for attribute in experiment_arrays.scheme.attributes
        if attribute.name not in constant_names
    )
    if not varying_attributes:
        raise DataError(
            f"None of the attributes ({shorten(constant_names)}) varies within any task, so the"
            " choices contain no information about preferences; check the design."
        )
    is_kept = [name not in constant_names for name in experiment_arrays.scheme.names]
    scheme = replace(experiment_arrays.scheme, attributes=varying_attributes)
    return experiment_arrays._replace(
        scheme=scheme, products_of_rows=experiment_arrays.products_of_rows[:, is_kept]
    ), constant_names


def _check_attributes(attributes: Iterable[Attribute]) -> None:
    """Raise DataError if an attribute has a reserved name or fewer than two levels."""
    if INSIDE in [attribute.name for attribute in attributes]:
        raise DataError(
            f"The attribute name {INSIDE!r} is reserved for the utility of buying any product;"
            " rename the column."
        )
    for attribute in attributes:
        if len(attribute.levels) < 2:
            raise DataError(
                f"Attribute {attribute.name!r} has only one level, {shorten(attribute.levels)},"
                " and cannot explain choices; remove it from the attributes, or declare its other"
                " levels with ",
                Argument("levels"),
                ".",
            )


def _sort_rows(
    scheme: Scheme,
    row_labels: RowLabels,
    products: np.ndarray,
    is_chosen: np.ndarray,
    is_none: np.ndarray,
) -> ExperimentArrays:
    """Sort rows by respondent and task, check the tasks, and return all arrays."""
    import pandas as pd

    respondent_index, respondent_labels = pd.factorize(row_labels.person)
    task_index = row_labels.task_index
    sort_order = np.lexsort((task_index, respondent_index))
    task_index = task_index[sort_order]
    respondent_index = respondent_index[sort_order]
    first_row = np.append(np.flatnonzero(np.diff(task_index, prepend=-1)), len(sort_order)).astype(
        np.int64
    )
    first_rows = first_row[:-1]
    task_sizes = np.diff(first_row)
    first_task = np.searchsorted(
        respondent_index[first_rows], np.arange(len(respondent_labels) + 1)
    ).astype(np.int64)
    alternative_labels = number_positions(task_index).astype(object)
    if row_labels.alternative is not None:
        alternative_labels = row_labels.alternative[sort_order]
        task_of_row = repeat_indices(task_sizes)
        check_unique_alternatives(
            alternative_labels, task_of_row, lambda k: row_labels.describe_task(sort_order[k])
        )
    _check_tasks(
        row_labels,
        sort_order,
        first_rows,
        is_chosen[sort_order],
        is_none[sort_order],
        task_sizes,
        products[sort_order],
    )
    chosen_index = np.flatnonzero(is_chosen[sort_order]) - first_rows
    respondents = tuple(str(label) for label in respondent_labels)
    task_labels = row_labels.task[sort_order][first_rows].astype(str)
    return ExperimentArrays(
        scheme,
        respondents,
        first_task,
        first_row,
        chosen_index,
        products[sort_order],
        is_none[sort_order],
        task_labels,
        alternative_labels.astype(str),
        sort_order,
    )


def _check_tasks(
    row_labels: RowLabels,
    sort_order: Any,
    first_rows: Any,
    is_chosen: np.ndarray,
    is_none: np.ndarray,
    task_sizes: np.ndarray,
    products: np.ndarray,
) -> None:
    """Raise DataError unless each task has one choice and at most one no-choice option."""
    n_chosen = np.add.reduceat(is_chosen.astype(int), first_rows)
    n_none = np.add.reduceat(is_none.astype(int), first_rows)

    def describe_first_task(task: int) -> str:
        """Describe a task, for an error message."""
        return row_labels.describe_task(sort_order[first_rows[task]])

    if (k := find_first(n_chosen != 1)) is not None:
        n_marked = int(n_chosen[k])
        task_rows = slice(first_rows[k], first_rows[k] + task_sizes[k])
        if n_marked > 1 and (np.ptp(products[task_rows][is_chosen[task_rows]], axis=0) == 0).all():
            raise DataError(
                f"The chosen alternative is listed {n_marked} times {describe_first_task(k)};"
                " remove the duplicates."
            )
        subject = "No alternative is"
        if n_marked > 1:
            subject = f"{n_marked} alternatives are"
        raise DataError(f"{subject} marked as chosen {describe_first_task(k)}; mark exactly one.")
    if (k := find_first(n_none > 1)) is not None:
        raise DataError(
            f"The no-choice option is listed {n_none[k]} times {describe_first_task(k)}; list it"
            " once."
        )
