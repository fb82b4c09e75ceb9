"""Reading a choice experiment from a long table, one row per alternative of a task."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import is_list
from thali._inference.index_arithmetic import find_first, part_slice, sum_parts
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
    TASK_OF_RESPONDENT,
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
    find_present_rows,
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
    task_index: np.ndarray  # (rows,) number of the task, in order of first appearance

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
        person = _read_labels(self.frame, self.respondent)
        task = _read_labels(self.frame, self.task)
        return RowLabels(person, task, alternative_labels, number_tasks(person, task))

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


def _absent_none_error(
    condition: tuple[tuple[str, str], ...], frame: "pd.DataFrame", alternative: str | None
) -> DataError:
    """Return the error that `none` matches no row."""
    none_column, none_label = condition[0]
    known_labels = [text for text in encode_texts(get_column(frame, none_column))[1] if text]
    if len(condition) == 1 and none_column == alternative:
        return DataError(
            Argument("none"),
            f" is {none_label!r}, but there is no such alternative; the alternatives are"
            f" {shorten(known_labels)}.{suggest(none_label, known_labels)}",
        )
    condition_text = " and ".join(
        f"{none_label!r} in column {none_column!r}" for none_column, none_label in condition
    )
    return DataError(
        Argument("none"),
        f" marks the no-choice option by {condition_text}, but no row matches; correct the value.",
    )


def _find_bare_rows(
    frame: "pd.DataFrame", attribute_names: list[str], task_index: np.ndarray
) -> tuple[np.ndarray, list[str]]:
    """Find rows, at most one per task, whose attributes are all empty or one text; and these."""
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
        (has_text.any(axis=0) != is_bare).any()
        or 1 == is_lacking.sum() < len(attribute_names)
        or np.bincount(task_index[is_bare]).max() > 1
    ):
        return np.zeros(len(frame), bool), []
    return is_bare, [attribute_names[k] for k in np.flatnonzero(is_lacking)]


def recognise_none(
    frame: "pd.DataFrame", names: list[str], rows: RowLabels, alternative: str | None
) -> tuple[tuple[str, str], ...]:
    """Recognise the no-choice rows; return (column, label) pairs that identify them.

    Zeros count in the same alternative of every task, as in Sawtooth's files. Raise if rows only
    seem to be the no-choice option.
    """
    is_bare, lacking_names = _find_bare_rows(frame, names, rows.task_index)
    if not lacking_names:
        if alternative is None:
            return ()
        return _find_zero_alternative(frame, names, rows, alternative)
    for name in lacking_names:
        words = set(map(format_label, get_column(frame, name)[is_bare])) - {""}
        if len(words) == 1:  # a text in all attributes says that nothing was chosen
            return ((name, words.pop()),)
    none_setting: Any = Argument("none")
    if alternative is not None:
        labels = {*np.asarray(rows.alternative)[is_bare]}
        if len(labels) == 1:
            none_label = min(labels)
            if simplify_name(none_label) in NO_CHOICE:
                return ((alternative, none_label),)
            none_setting = Setting("none", none_label)
    raise DataError(
        f"No value is given for {shorten(lacking_names)}"
        f" {rows.describe_row(int(is_bare.argmax()))}; if this row is the no-choice"
        " option, set ",
        none_setting,
        "; otherwise, fill in the missing values.",
    )


_MIN_ZERO_ATTRIBUTES = 2  # in which 0 means no choice alone; one may have a level 0 of its own


def _find_zero_alternative(
    frame: "pd.DataFrame", names: list[str], rows: RowLabels, alternative: str
) -> tuple[tuple[str, str], ...]:
    """Return the column and label of the alternative with 0 in all attributes of every task."""
    task_index = rows.task_index
    are_zeros = []
    for name in names:
        codes, texts = encode_texts(get_column(frame, name))
        # what is the same for all alternatives of a task is no attribute
        if not is_constant_within(codes, task_index):
            are_zeros.append(np.array([text == "0" for text in texts])[codes])
    if not are_zeros:
        return ()
    is_bare = np.all(are_zeros, axis=0)
    labels = {*np.asarray(rows.alternative)[is_bare]}
    n_certain = sum((is_zero == is_bare).all() for is_zero in are_zeros)
    is_in_all_tasks = len(labels) == 1 and is_bare.sum() > task_index.max()
    if not is_in_all_tasks or n_certain < _MIN_ZERO_ATTRIBUTES:
        return ()
    return ((alternative, min(labels)),)


# The chosen row of each task: 1 and 0, yes and no, or the chosen alternative in every row ---------


def read_chosen_rows(frame: "pd.DataFrame", name: str, rows: RowLabels) -> np.ndarray:
    """Return whether each row's alternative was chosen, from marks or labels.

    The label of the chosen alternative is in all rows of its task, or in the first before zeros.
    """
    task_index = rows.task_index
    is_yes, is_wrong = read_set_marks(get_column(frame, name), task_index)
    if not is_wrong.any():
        return is_yes
    row_texts = read_row_texts(get_column(frame, name))
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
        f"Column {name!r} {describe_content(row_texts[wrong_row])} {rows.describe_task(wrong_row)};"
        " it must be 1 for the chosen alternative and 0 for the others."
    )


def _find_single_rows(row_labels: RowLabels) -> np.ndarray:
    """Return which rows are alone in their task; raise if most tasks have one row."""
    task_sizes = np.bincount(row_labels.task_index)
    is_single = task_sizes[row_labels.task_index] == 1
    if np.median(task_sizes) <= 1:
        raise DataError(
            f"There is only one alternative {row_labels.describe_task(int(is_single.argmax()))},"
            " and in most other tasks; a choice needs at least two. Check the columns of"
            " respondents and tasks, or give their names with ",
            Argument("respondent"),
            " and ",
            Argument("task"),
            ".",
        )
    return is_single


class SortedRows(NamedTuple):
    """The rows of a table of tasks, sorted by respondent and task."""

    rows: np.ndarray  # of the table
    respondents: tuple[str, ...]
    first_task: np.ndarray
    first_row: np.ndarray
    task_labels: np.ndarray
    alternative_labels: np.ndarray


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
) -> tuple[Any, ...]:
    """Check a long table; return the fields of a `ChoiceExperiment`, in their order.

    See `from_frame`.
    """
    frame = rename_as_text(convert_frame(frame))
    refuse_empty(frame, "tasks")
    frame = frame.mask(frame == "")
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
    products = scheme.encode_products(frame, row_labels.describe_row)
    sorted_rows = _sort_rows(row_labels)
    chosen = _read_choices(sorted_rows, row_labels, is_chosen, is_none, products)
    # guessed attributes may differ from the no-choice option alone
    is_guessed = settings.names is None
    is_compared = ~(is_none & is_guessed)
    constant_attributes = _list_constant_attributes(
        scheme,
        products[is_compared],
        row_labels.task_index[is_compared],
        settings.declared.union(dict(scheme.none)),
    )
    products = products[:, [name not in constant_attributes for name in scheme.names]]
    varying_attributes = tuple(
        attribute for attribute in scheme.attributes if attribute.name not in constant_attributes
    )
    scheme = replace(scheme, attributes=varying_attributes)
    _check_attributes(scheme.attributes)
    used_columns = task_table.roles.union(attribute.name for attribute in scheme.attributes)
    other_columns = [name for name in frame.columns if name not in used_columns]
    people = read_people(frame, other_columns, row_labels.person, task_table.respondent)
    people_columns = []
    if people is not None:
        people_columns = list(people.columns)
    if is_guessed:  # columns that describe people are not named as attributes
        constant_attributes = [name for name in constant_attributes if name not in people_columns]
    _refuse_weights_of_tasks(frame, constant_attributes)
    if has_outcome:  # such columns describe tasks
        constant_attributes = []
    _warn_about_columns(frame, other_columns, constant_attributes)
    for attribute in scheme.attributes:
        warn_each(find_similar_labels(attribute.levels, attribute.name))
    if task_table.chosen == RATED:
        chosen = np.full(len(chosen), -1)
    unused_columns = [name for name in other_columns if name not in (outcome, *people_columns)]
    varying_columns = _list_varying_columns(frame, unused_columns, row_labels)
    profile_columns = [name for name in unused_columns if name not in varying_columns]
    if outcome is not None:
        profile_columns.insert(0, outcome)
    profile_table = None
    if profile_columns:
        profile_table = frame[profile_columns].iloc[sorted_rows.rows].reset_index(drop=True)
    # equal products are merged
    products, row_product = np.unique(products[sorted_rows.rows], axis=0, return_inverse=True)
    index_arrays = (
        sorted_rows.first_task,
        sorted_rows.first_row,
        chosen,
        row_product.ravel(),
        products,
    )
    return (
        scheme,
        sorted_rows.respondents,
        *(np.ascontiguousarray(array, dtype=np.int64) for array in index_arrays),
        sorted_rows.task_labels,
        sorted_rows.alternative_labels,
        people,
        profile_table,
    )


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
        return frame, columns
    except SeveralColumnsError:
        raise
    except DataError:
        pass
    name_by_simplified = map_plain_names(name for name in frame.columns if name != outcome)
    respondent = columns[0] or RESPONDENT_OF_TASKS.find_column(name_by_simplified)
    task = columns[1] or TASK_OF_RESPONDENT.find_column(name_by_simplified)
    if respondent is None:
        raise DataError(
            f"No column identifies the respondents whose answers are in {outcome!r}; give the"
            " name of such a column with ",
            Argument("respondent"),
            f". The columns are {shorten([*frame.columns], 12)}.",
        )
    alternative = columns[2]
    if task is None or not frame.duplicated([respondent, task]).any():
        # each profile was rated alone: those of a respondent are one task
        alternative, task = alternative or task, respondent
    marks = (~frame.duplicated([respondent, task])).astype(int)
    return frame.assign(**{RATED: marks}), (respondent, task, alternative, RATED)


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
    if settings.missing is None:
        lacked_attributes = _list_lacked_attributes(table, attribute_names, row_labels)
        common_names = [name for name in attribute_names if name not in lacked_attributes]
        if common_names and not none_condition:
            none_condition = recognise_none(frame, common_names, row_labels, table.alternative)
        settings = settings._replace(missing=dict.fromkeys(lacked_attributes, ""))
        if lacked_attributes:
            add_note(
                f"{shorten(lacked_attributes)} set to 0 for alternatives whose cells are all empty"
            )
    is_none = find_none_rows(frame, none_condition)
    if none_condition and not is_none.any():
        raise _absent_none_error(none_condition, frame, table.alternative)
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
    frame = table.frame
    marks = get_column(frame, table.chosen)
    respondents = frame.groupby(row_labels.person)
    tasks = frame.groupby(row_labels.task_index)
    unfit_columns = _find_identifiers(frame, attribute_names, row_labels)
    for name in attribute_names:
        column = get_column(frame, name)
        is_answer_name = simplify_name(name) in (*BEST.sure, *WORST.sure) or (
            measures_answers(name) and not (is_response_time(name) and _has_levels(tasks, name))
        )
        # a column that is constant within tasks needs no values in its empty cells
        is_constant = (
            column.isna().to_numpy().any()
            and tasks[name].nunique(dropna=False).to_numpy().max() == 1
        )
        is_numbering = has_numbers(column) and (
            _numbers_products(column, respondents, tasks, row_labels.alternative)
            or (table.chosen == RATED and _is_measurement(column, respondents))
        )
        if (
            is_answer_name
            or is_constant
            or is_numbering
            or is_free_text(column)
            or is_result(column, tasks)
            or repeats_marks(column, marks)
        ):
            unfit_columns.add(name)
    remaining_names = [name for name in attribute_names if name not in unfit_columns]
    return unfit_columns.union(_list_copies(tasks, remaining_names))


def _list_copies(tasks: Any, names: list[str]) -> list[str]:
    """List the attributes that repeat an earlier one in other words, as brand_code does brand."""
    level_names = [name for name in names if _has_levels(tasks, name)]
    codes_by_name = {name: number_sets(tasks.obj, [name]).tobytes() for name in level_names}
    return [
        later
        for earlier, later in combinations(level_names, 2)
        if codes_by_name[earlier] == codes_by_name[later]
        and _shares_name(earlier, later)
        and not (has_numbers(tasks.obj[earlier]) and has_numbers(tasks.obj[later]))
    ]


def _shares_name(name: str, other_name: str) -> bool:
    """Return whether one of the names contains the other."""
    plain_names = simplify_name(name), simplify_name(other_name)
    return plain_names[0] in plain_names[1] or plain_names[1] in plain_names[0]


def _is_measurement(cells: Any, respondents: Any) -> bool:
    """Return whether numbers are fractions that seldom recur, or number a respondent's rows."""
    n_rows = respondents.size()
    seldom_recurs = cells.nunique() > max(_MAX_CODED_LEVELS, len(cells) / _MIN_REPEATS)
    if seldom_recurs and cells.dropna().mod(1).any():
        return True
    cells_of_respondents = respondents[cells.name]
    return bool(
        n_rows.min() > _MAX_CHANCE
        and (cells_of_respondents.nunique() == n_rows).all()
        and (cells_of_respondents.max() == n_rows).all()
    )


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
    table = TaskTable(frame, *columns)
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
    hidden_levels = [label for name, label in none_condition if name == attribute.name]
    if len(none_condition) > 1:
        return attribute
    levels = tuple(level for level in attribute.levels if level not in hidden_levels)
    return attribute._replace(levels=levels)


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
    if HELD_OUT in other_columns and {"0", "1"} <= {*encode_texts(get_column(frame, HELD_OUT))[1]}:
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
    if row_number_columns:
        add_note(f"row numbers ({shorten(row_number_columns)}) not used")
    frame = frame.drop(columns=row_number_columns)
    for name in AVAILABLE.find_possible_columns(name_by_simplified):
        is_offered, is_wrong = classify_yes_no(get_column(table.frame, name))
        if is_wrong.any():
            continue
        if (row := find_first(table.read_chosen() & ~is_offered)) is not None:
            raise DataError(
                f"The chosen alternative {table.read_labels().describe_task(row)} has {name!r} = 0,"
                " as if it were not offered; correct the row, or remove the task."
            )
        add_note(
            f"{name!r} marks the alternatives that were offered;"
            f" {format_plural(int((~is_offered).sum()), 'row')} of alternatives not offered dropped"
        )
        return table._replace(frame=frame.loc[is_offered].drop(columns=name, errors="ignore"))
    return table._replace(frame=frame)


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

    def find(role: Role) -> str | None:
        """Return the column whose name has this role; raise DataError for several."""
        free_columns = [name for name in names if name not in given_columns]
        if role is RESPONDENT_OF_TASKS:
            free_columns = [name for name in free_columns if not is_answer(frame, name)]
        name_by_simplified = map_plain_names(free_columns)
        columns = sorted(role.find_certain_columns(name_by_simplified), key=names.index)
        # which a table need not have, and brands are attributes
        if not columns and role is not ALTERNATIVE:
            columns = list(role.find_possible_columns(name_by_simplified))[:1]
        if role is TASK_OF_RESPONDENT and len(columns) > 1:
            marks = chosen or CHOSEN.find_column(name_by_simplified)
            columns = _select_tasks(frame, columns, respondent, marks)
        if len(columns) > 1 and not _are_alike(frame, columns, role, respondent):
            raise SeveralColumnsError(
                f"Columns {shorten(columns)} could each contain the"
                f" {role.name.replace('chosen', 'choice')}; give the name of one with ",
                Argument(role.name),
                ".",
            )
        return next(iter(columns), None)

    respondent = respondent or find(RESPONDENT_OF_TASKS)
    task = task or find(TASK_OF_RESPONDENT)
    alternative = alternative or find(ALTERNATIVE)
    chosen = chosen or find(CHOSEN)
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
    used_columns = [task, chosen, *filter(None, [alternative])]
    if respondent != task:  # else each respondent had one task
        used_columns.insert(0, respondent)
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


def _are_alike(frame: "pd.DataFrame", names: list[str], role: Role, respondent: str | None) -> bool:
    """Return whether columns of a role mark the same rows or divide the rows equally."""
    if role is CHOSEN:
        marks = get_column(frame, names[0])
        return all(marks_same_rows(get_column(frame, name), marks) for name in names)
    known_keys = []
    if role is TASK_OF_RESPONDENT:
        known_keys = [*filter(None, [respondent])]
    return len({number_sets(frame, [*known_keys, name]).tobytes() for name in names}) == 1


def _missing_roles_error(
    names: list[str], respondent: str | None, task: str | None, chosen: str | None
) -> DataError:
    """Return the error that no column has one of these roles."""
    columns = {"respondent": respondent, "task": task, "chosen": chosen}
    missing_roles = [role for role, column in columns.items() if column is None]
    meanings = " or ".join(_CONTENT_BY_ROLE[role] for role in missing_roles)
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
        join_facts([*map(Argument, missing_roles)], " and "),
        advice,
        f". The columns are {shorten(names, 12)}.",
    )


_CONTENT_BY_ROLE = {
    "respondent": "identifies the respondent",
    "task": "numbers the tasks of a respondent",
    "chosen": "marks the chosen alternative (1, others 0)",
}


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
        used_columns = reserved_columns
        if not isinstance(none, Mapping):
            used_columns = reserved_columns.union(dict(none_condition))
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
    # numbers of a design and names of rows need not recur, and determine nothing then
    row_names = {name for name in attribute_names if simplify_name(name) in _ROW_NAMES}
    candidates = [
        name for name in attribute_names if simplify_name(name).endswith("id") or name in row_names
    ]
    if not candidates:
        return set()
    other_names = [name for name in attribute_names if name not in candidates]
    described_names = _list_varying_columns(frame, other_names, row_labels)
    identifiers: set[str] = set()
    for name in candidates:
        cells = get_column(frame, name)
        n_values: Any = frame.groupby(name)[described_names].nunique()
        is_code = has_numbers(cells) and cells.nunique() > _MAX_CODED_LEVELS
        determines_others = (n_values <= 1).to_numpy().all()
        if name in row_names:  # each once for a respondent
            cells_of_people = frame[[name]].assign(person=row_labels.person)
            determines_others |= not cells_of_people.duplicated().any()
        if is_code or (described_names and determines_others):
            identifiers.add(name)
    return identifiers


# names of numbers of profiles or rows of a design, and of a column without a name in a file
_ROW_NAMES = {
    *"card cardnr cardno cardnumber profilenr profileno profilenumber designrow rownr".split(),
    *"rownumber unnamed:0 vignettenr vignetteno vignettenumber".split(),
}


def _numbers_products(
    cells: "pd.Series", respondents: Any, tasks: Any, alternatives: np.ndarray | None
) -> bool:
    """Return whether a column numbers the products of each respondent, or of each task again."""
    cells_of_respondents = respondents[cells.name]
    cells_of_tasks = tasks[cells.name]
    # all respondents have the same numbers, which follow one another in each task
    if (
        len(tasks) > len(respondents)
        and cells.nunique() == respondents.size().max()
        and (cells_of_respondents.nunique() == respondents.size()).all()
        and (cells_of_tasks.max() - cells_of_tasks.min() == tasks.size() - 1).all()
    ):
        return True
    if alternatives is None or not ranks_rows(cells, tasks):
        return False
    return not ORDER_WORDS.isdisjoint(list_name_words(str(cells.name))) or is_constant_within(
        encode_cells(cells), np.unique(alternatives, return_inverse=True)[1]
    )


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
    words_by_attribute: dict[str, tuple[str, ...]] = {}
    for name, value in missing.items():
        words: Any = value
        if not is_list(value):
            words = [value]
        words_by_attribute[str(name)] = tuple(map(format_label, words))
    return words_by_attribute


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
    present_rows = find_present_rows(codes, cell_texts, is_none, missing_words)
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
        sorted_levels = check_level_order(attribute_name, levels[attribute_name])
        order_rule = GIVEN
    else:
        used_labels = [cell_texts[k] for k in np.unique(codes[present_rows]) if cell_texts[k]]
        hidden_labels = [*missing_words, *(cell_texts[k] for k in np.unique(codes[is_none]))]
        sorted_levels, order_rule = order_levels(column, used_labels, hidden_labels)
    return Attribute(attribute_name, sorted_levels, order_rule, missing=missing_words)


def _list_constant_attributes(
    scheme: Scheme, products: np.ndarray, task_index: np.ndarray, kept_names: set[str]
) -> list[str]:
    """List the attributes to drop, constant within every task; raise DataError for all."""
    codes_by_name = dict(zip(scheme.names, products.T, strict=True))
    names = [attribute.name for attribute in scheme.attributes]
    constant_names = [
        name
        for name in names
        if name not in kept_names and is_constant_within(codes_by_name[name], task_index)
    ]
    if constant_names == names:
        raise DataError(
            f"None of the attributes ({shorten(constant_names)}) varies within any task, so the"
            " choices contain no information about preferences; check the design."
        )
    return constant_names


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


def _sort_rows(row_labels: RowLabels) -> SortedRows:
    """Sort the rows by respondent and task; raise DataError for a repeated alternative."""
    import pandas as pd

    respondent_index, respondent_labels = pd.factorize(row_labels.person)
    rows = np.lexsort((row_labels.task_index, respondent_index))
    task_index = row_labels.task_index[rows]
    first_row = np.append(np.flatnonzero(np.diff(task_index, prepend=-1)), len(rows))
    first_rows = rows[first_row[:-1]]
    alternative_labels = number_positions(task_index).astype(object)
    if row_labels.alternative is not None:
        alternative_labels = row_labels.alternative[rows]
        check_unique_alternatives(
            alternative_labels, task_index, lambda k: row_labels.describe_task(rows[k])
        )
    return SortedRows(
        rows,
        tuple(map(str, respondent_labels)),
        np.searchsorted(respondent_index[first_rows], np.arange(len(respondent_labels) + 1)),
        first_row,
        row_labels.task[first_rows].astype(str),
        alternative_labels.astype(str),
    )


def _read_choices(
    sorted_rows: SortedRows,
    row_labels: RowLabels,
    is_chosen: np.ndarray,
    is_none: np.ndarray,
    products: np.ndarray,
) -> np.ndarray:
    """Return the chosen row of each task, counted from its first; raise for none or several."""
    rows, first_row = sorted_rows.rows, sorted_rows.first_row
    n_chosen = sum_parts(is_chosen[rows].astype(int), first_row)
    n_none = sum_parts(is_none[rows].astype(int), first_row)
    wrong_task = find_first(n_chosen != 1)
    if wrong_task is None:
        wrong_task = find_first(n_none > 1)
    if wrong_task is None:
        return np.flatnonzero(is_chosen[rows]) - first_row[:-1]
    task_rows = rows[part_slice(first_row, wrong_task)]
    task_text = row_labels.describe_task(task_rows[0])
    n_marked = int(n_chosen[wrong_task])
    if n_marked == 0:
        raise DataError(f"No alternative is marked as chosen {task_text}; mark exactly one.")
    if n_marked == 1:
        raise DataError(
            f"The no-choice option is listed {n_none[wrong_task]} times {task_text}; list it once."
        )
    if (np.ptp(products[task_rows[is_chosen[task_rows]]], axis=0) == 0).all():
        raise DataError(
            f"The chosen alternative is listed {n_marked} times {task_text}; remove the duplicates."
        )
    raise DataError(f"{n_marked} alternatives are marked as chosen {task_text}; mark exactly one.")
