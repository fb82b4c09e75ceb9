"""Layouts of choice experiments: one row per alternative, or one row per task."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choice_marks import (
    find_label_column,
    is_called_rating,
    is_free_text,
    is_rank_name,
    is_result,
    list_marks,
    list_respondents_of_tasks,
    measures_answers,
    mentions_first_choice,
    number_sets,
    ranks_rows,
    share_of_marked_sets,
)
from thali._data.column_guesses import ColumnsRead, guess_respondent_column
from thali._data.column_readers import add_note, get_column, is_row_number, read_row_texts
from thali._data.column_roles import (
    ALTERNATIVE,
    AVAILABLE,
    CHOSEN,
    NAME_SEPARATORS,
    RESPONDENT_OF_TASKS,
    TASK_OF_RESPONDENT,
    VERSION,
    has_numbers,
    list_name_words,
    map_plain_names,
    simplify_name,
)
from thali._data.experiments import ChoiceExperiment
from thali._data.experiments.attribute_levels import MEASURED, NUMBERS
from thali._data.experiments.long_table import (
    CHOICE,
    SeveralColumnsError,
    find_task_columns,
    mark_rated_tasks,
)
from thali._data.experiments.wide_table import (
    ColumnGroups,
    WideTasks,
    find_none_word,
    find_wide_tasks,
    list_numbered_columns,
)
from thali._data.kinds import EXPERIMENTS
from thali._data.prediction_scores import find_chosen_rows
from thali._data.respondent_table import varies_within
from thali._labels import format_label, shorten
from thali.errors import Argument, ArgumentError, DataError, Message, Setting

from ..table_files import RawTable
from ..table_layout import Lack, Reading, Shape

if TYPE_CHECKING:
    import pandas as pd


# Choice experiments as a long table: one row per alternative of each task, with its attributes


_LONG = "choice experiment"


def match_long(table: RawTable, known: bool = False, **options: Any) -> Reading | None:
    """Return a `Reading` of an experiment with one row per alternative; None for other tables.

    The options are the arguments of `ChoiceExperiment.from_frame`.
    """
    outcome = options.pop("outcome", None)
    is_choice = outcome == CHOICE
    if outcome is not None and not is_choice:
        is_choice = outcome == _find_choice_column(table, options)
    if not is_choice:
        table, options = _mark_rated_tasks(table, options | {"outcome": outcome})
    attributes = _list_attributes(table, options)
    if not known and not attributes:
        return None
    is_requested = options.get("attributes") is not None
    read_options = dict(options)
    if is_choice:
        read_options["outcome"] = CHOICE
    description = "one of several alternatives chosen per task"
    if attributes:
        description += f", attributes {shorten(attributes)}"

    def convert() -> tuple[ChoiceExperiment, str]:
        """Return the experiment, and a sentence on how it was read."""
        _check_whole_tasks(table, options)
        data = ChoiceExperiment.from_frame(table.frame, **read_options)
        # of a product, a rating would be an attribute; of a profile it is an answer
        max_share = _MAX_SHARE_OF_RATINGS
        if is_choice:
            max_share = 0.0
        second_outcomes: dict[str, float] = {}
        if not is_requested:
            _refuse_level_codes(data)
            second_outcomes = _find_second_outcomes(data, max_share)
        if second_outcomes and is_choice:
            frame = table.frame.drop(columns=list(second_outcomes))
            data = ChoiceExperiment.from_frame(frame, **read_options)
        elif second_outcomes:
            _refuse_second_outcome(second_outcomes)
        if data.scheme.respondent == data.scheme.task:
            _note_respondent(list_respondents_of_tasks(table.frame, str(data.scheme.task))[:1])
        outcome_text = ""
        if options.get("outcome") is not None:
            outcome_text = f", ratings in {options['outcome']!r}"
        return data, f"{_describe_columns(data)}{outcome_text}: {_describe_experiment(data)}"

    availability_columns = AVAILABLE.find_possible_columns(map_plain_names(table.names))
    return Reading(
        EXPERIMENTS,
        _LONG,
        description,
        table,
        convert,
        bool(attributes) and (is_requested or _vary_between_tasks(table, options, attributes)),
        extra_columns=(
            options.get("bought"),
            options.get("outcome"),
            *availability_columns,
        ),
    )


def _note_respondent(names: list[str]) -> None:
    """Note that a column of no other use may contain the respondents."""
    for name in names:
        text = f"no respondent column was recognised (perhaps {name!r}?); give its name with "
        add_note(Message(text, Argument("respondent")))


def _check_whole_tasks(table: RawTable, options: dict[str, Any]) -> None:
    """Raise DataError if only some rows of a task are held out."""
    if table.holdout_split is None:
        return
    frame, is_holdout, row_filter = table.holdout_split
    respondent_column, task_column, *_ = _find_task_columns(table, options)
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


_LEVEL_CODE = re.compile("[1-6]{5,}")  # such as 21132, a digit for each dimension of health


def _refuse_level_codes(data: ChoiceExperiment) -> None:
    """Raise DataError if the levels of an attribute are the levels of several, joined."""
    for attribute in data.scheme.all_attributes:
        codes = attribute.levels
        if len(codes) < 3 or not all(map(_LEVEL_CODE.fullmatch, codes)):
            continue
        raise DataError(
            f"Attribute {attribute.name!r} contains codes such as {codes[0]!r}, whose digits may be"
            f" the levels of {len(codes[0])} attributes, as of EQ-5D. If they are, write a column"
            " for each digit; if each code is one level, list all attributes in ",
            Argument("attributes"),
            ".",
        )


_MIN_TASKS = 20  # from which on a column is not largest for the choices by chance
_MAX_SHARE = 0.95  # share of such tasks from which on a column is an answer
_MAX_SHARE_OF_RATINGS = 0.6  # the same for a column with such a name


def _find_second_outcomes(data: ChoiceExperiment, max_share_of_ratings: float) -> dict[str, float]:
    """Return the numbers that are largest for the chosen in nearly all tasks, and the shares."""
    share_by_name: dict[str, float] = {}
    if not data.has_choices:
        return share_by_name
    levels = data.products[data.row_product]
    chosen_rows = find_chosen_rows(data)
    for attribute, row_levels in zip(data.scheme.all_attributes, levels.T, strict=True):
        if attribute.order not in (NUMBERS, MEASURED):
            continue
        if is_rank_name(attribute.name):  # the chosen has the smallest
            row_levels = np.where(row_levels >= 0, len(attribute.levels) - row_levels, -1)
        other_levels = row_levels.copy()
        other_levels[chosen_rows] = -1
        highest_others = np.maximum.reduceat(other_levels, data.first_row[:-1])
        differences = row_levels[chosen_rows] - highest_others
        is_compared = (row_levels[chosen_rows] >= 0) & (highest_others >= 0)
        differences = differences[is_compared & (differences != 0)]
        max_share = _MAX_SHARE
        if is_called_rating(attribute.name):
            max_share = max_share_of_ratings
        if len(differences) >= _MIN_TASKS and np.mean(differences > 0) >= max_share:
            share_by_name[attribute.name] = float(np.mean(differences > 0))
    return share_by_name


def _refuse_second_outcome(
    share_by_name: dict[str, float], columns_by_attribute: ColumnGroups | None = None
) -> None:
    """Raise DataError for a column, or columns of a wide table, with answers such as ratings."""
    name, share = next(iter(share_by_name.items()))
    extreme = "largest"
    if is_rank_name(name):
        extreme = "smallest"
    subject = f"Column {name!r}"
    columns = [name]
    analysis = " or analyse it with thali.amce"
    if columns_by_attribute is not None:
        columns = [*columns_by_attribute[name].values()]
        subject = f"Attribute {name!r} (columns {shorten(columns)})"
        analysis = ""
    raise DataError(
        f"{subject} is {extreme} for the chosen alternative in {100 * share:.0f} % of the"
        " tasks, so it may be a second answer (a rating or rank) rather than an attribute. If it"
        " is, drop it with ",
        Setting("without", columns),
        f"{analysis}; if it describes the products, list it in ",
        Argument("attributes"),
        ".",
    )


def _find_choice_column(table: RawTable, options: dict[str, Any]) -> str | None:
    """Return the column of choices; None if there is none."""
    try:
        return _find_task_columns(table, options)[-1]
    except DataError:
        return None


def _mark_rated_tasks(table: RawTable, options: dict[str, Any]) -> tuple[RawTable, dict[str, Any]]:
    """Return the table and options, with marked tasks if there are ratings and no choices."""
    names = [role.name for role in LONG_TABLE.roles]
    columns: Any = tuple(options.get(name) for name in names)
    frame, columns = mark_rated_tasks(table.frame, columns, options.get("outcome"))
    return replace(table, frame=frame), options | dict(zip(names, columns, strict=True))


def _describe_columns(data: ChoiceExperiment) -> str:
    """Describe in words which columns of a long table of an experiment are used."""
    scheme = data.scheme
    names = [attribute.name for attribute in scheme.attributes]
    description = f"one row per alternative, attributes {shorten(names)}"
    column_by_meaning = {
        "choices": scheme.chosen,
        "alternatives": scheme.alternative,
        "tasks": scheme.task,
        "respondents": scheme.respondent,
    }
    if not data.has_choices:
        del column_by_meaning["choices"]
    for meaning, column in column_by_meaning.items():
        if column is not None:
            description += f", {meaning} in {column!r}"
    return description


def _describe_experiment(data: ChoiceExperiment) -> str:
    """Return a sentence on the size of the data and the numeric attributes."""
    if numeric_attributes := data.scheme.measured:
        return f"{data}; numeric: {shorten(numeric_attributes)}"
    return str(data)


def _find_task_columns(
    table: RawTable, options: Mapping[str, Any]
) -> tuple[str, str, str | None, str]:
    """Return the columns of respondent, task, alternative (or None) and choice."""
    answer_columns = [options.get("bought") or "", options.get("outcome") or ""]
    frame = table.frame.drop(columns=answer_columns, errors="ignore")
    return find_task_columns(frame, (options.get(role.name) for role in LONG_TABLE.roles))


def _list_attributes(table: RawTable, options: Mapping[str, Any]) -> list[str]:
    """List the columns that vary within tasks, as attributes do; [] for other tables."""
    if not table.named or table.square is not None:
        return []
    try:
        respondent, task, alternative, chosen = _find_task_columns(table, options)
    except SeveralColumnsError:
        raise
    except DataError:
        return []
    frame = table.frame
    keys = list(dict.fromkeys((respondent, task)))
    marked_share = share_of_marked_sets(get_column(frame, chosen), number_sets(frame, keys))
    tasks = frame.groupby(keys, sort=False)
    wide_tasks = None
    if marked_share < 1.0:  # of numbers of alternatives some sets may have a single 1
        wide_tasks = find_wide_tasks(frame, {"chosen": options.get("chosen")})
    if wide_tasks is not None and wide_tasks.is_sure and wide_tasks.chosen == chosen:
        return []
    if marked_share < _MIN_MARKED and not _contains_alternatives(frame, alternative, chosen, keys):
        return []
    availability_columns = AVAILABLE.find_possible_columns(map_plain_names(table.names))
    answer_columns = (options.get("bought"), options.get("outcome"))
    used_columns = {respondent, task, alternative, chosen, *answer_columns}
    used_columns.update(availability_columns)
    other_columns = [
        name
        for name in table.names
        if name not in used_columns and not is_row_number(get_column(frame, name))
    ]
    return [
        name
        for name in other_columns
        if varies_within(tasks, name) and not is_result(get_column(frame, name), tasks)
    ]


_MIN_MARKED = 0.5  # share of tasks with one choice, from which on others are errors


def _contains_alternatives(
    frame: "pd.DataFrame", alternative: str | None, chosen: str, keys: list[str]
) -> bool:
    """Return whether the cells of the choice are labels of alternatives."""
    # Without a column of respondents, most tasks have one such label.
    if alternative is None:
        return False
    answers = frame.loc[frame[chosen].map(format_label) != "0"]
    is_single = answers.groupby(keys)[chosen].nunique() <= 1
    labels = set(map(format_label, frame[alternative].unique()))
    are_labels = set(map(format_label, answers[chosen].unique())) <= labels
    return are_labels and (len(keys) > 1 or is_single.mean() > _MIN_MARKED)


def describes_products(table: RawTable, options: Mapping[str, Any]) -> bool:
    """Return whether columns of a long table describe products that differ between tasks.

    Such a column differs between tasks for the same alternative. Positions within tasks do not
    count, nor do measures of the answer. Without alternatives every column counts.
    """
    attributes = _list_attributes(table, options)
    return bool(attributes) and _vary_between_tasks(table, options, attributes)


def _vary_between_tasks(table: RawTable, options: Mapping[str, Any], attributes: list[str]) -> bool:
    """Return whether one of the columns that vary within tasks describes products."""
    frame = table.frame
    respondent, task, alternative, chosen = _find_task_columns(table, options)
    if options.get("alternative") is None:  # also of a column of positions
        candidates = ALTERNATIVE.find_possible_columns(map_plain_names(table.names))
        possible_columns = [*attributes, alternative]
        label_column = next((name for name in candidates if name in possible_columns), None)
        label_column = label_column or find_label_column(frame, respondent, task, chosen)
        alternative = label_column or alternative
    tasks = frame.groupby(list(dict.fromkeys((respondent, task))), sort=False)
    for name in attributes:
        if name == alternative or measures_answers(name) or is_called_rating(name):
            continue
        if is_free_text(get_column(frame, name)):
            continue
        if ranks_rows(frame[name], tasks) or simplify_name(name) in RESPONDENT_OF_TASKS.synonyms:
            continue
        if (
            alternative is None
            or frame[alternative].is_unique
            or varies_within(frame.groupby(alternative), name)
        ):
            return True
    return False


def find_choice_lack(table: RawTable) -> Lack | None:
    """Return the missing column of choices next to respondents and tasks; else None."""
    name_by_simplified = map_plain_names(table.names)
    required_columns = [
        role.find_column(name_by_simplified) for role in (RESPONDENT_OF_TASKS, TASK_OF_RESPONDENT)
    ]
    if None in required_columns or CHOSEN.find_column(name_by_simplified) is not None:
        return None
    return Lack("a column with 1 for the chosen alternative and 0 for the others", "chosen")


LONG_TABLE = Shape(
    _LONG,
    EXPERIMENTS,
    match_long,
    expected=(
        "one row per alternative, with columns such as 'respondent', 'task', 'chosen' and those of"
        " the attributes"
    ),
    roles=(RESPONDENT_OF_TASKS, TASK_OF_RESPONDENT, ALTERNATIVE, CHOSEN),
    settings=("known", "attributes", "levels", "none", "bins", "bought", "outcome"),
    lacks=find_choice_lack,
    main=("respondent", "task", "chosen"),
)


# Choice experiments as a wide table: one row per task, one column per attribute of each alternative


_WIDE = "choice experiment with one row per task"


def match_wide(
    table: RawTable,
    respondent: str | None = None,
    task: str | None = None,
    chosen: str | None = None,
    alternatives: list[str] | None = None,
    attributes: list[str] | None = None,
    outcome: str | None = None,
    **settings: Any,
) -> Reading | None:
    """Return a `Reading` of an experiment with one row per task; None for other tables."""
    named_columns = {"respondent": respondent, "task": task, "chosen": chosen}
    if (
        not table.named
        or table.square is not None
        or any(name not in (None, *table.names) for name in named_columns.values())
        or outcome not in (None, CHOICE, chosen)
    ):
        return None
    wide_columns = find_wide_tasks(table.frame, named_columns, alternatives)
    if wide_columns is None:
        return None
    wide_columns = wide_columns.select_attributes(attributes)
    _refuse_tasks_in_one_row(table, wide_columns, chosen is not None)
    marks = list_marks(table.frame)
    are_alternatives = len(marks) == len(wide_columns.alternatives) > 2
    if wide_columns.chosen in marks and (are_alternatives or wide_columns.used.issuperset(marks)):
        raise DataError(
            f"Columns {shorten(marks)} mark a pick of each product, as from a menu, but a row must"
            " have one choice; several picks at once are not read. If each row has just one, write"
            " it in a column 'choice'."
        )
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
        if attributes is None:
            _refuse_options(table, wide_columns)
        if chosen is None:
            _refuse_other_answers(table, wide_columns)
        read_options = dict(settings, **named_columns, alternatives=alternatives)
        data = ChoiceExperiment.from_wide(table.frame, attributes=attributes, **read_options)
        answers: dict[str, float] = {}
        if attributes is None:
            _refuse_level_codes(data)
            answers = _find_second_outcomes(data, _MAX_SHARE_OF_RATINGS)
        if answers and outcome is None:
            _refuse_second_outcome(answers, wide_columns.attributes)
        if answers:
            names = [name for name in data.scheme.names if name not in answers]
            data = ChoiceExperiment.from_wide(table.frame, attributes=names, **read_options)
        read_columns = wide_columns.select_attributes(data.scheme.names)
        if attributes is None:
            _refuse_later_columns(table, read_columns)
        unread_columns = wide_columns.used - read_columns.used
        if unread_columns:
            names = [name for name in table.names if name in unread_columns]
            add_note(f"columns of alternatives not used: {shorten(names)}")
        other_columns = ColumnsRead(tuple(filter(None, wide_columns.used)))
        blocks = VERSION.find_possible_columns(map_plain_names(table.names))
        name = guess_respondent_column(table.frame, other_columns, list(blocks))
        if wide_columns.respondent is None and name is not None:
            if wide_columns.task is None and not _ID_WORDS.isdisjoint(list_name_words(name)):
                raise _build_respondent_error(name)
            _note_respondent([name])
        return data, f"{read_columns}: {_describe_experiment(data)}"

    return Reading(
        EXPERIMENTS,
        _WIDE,
        str(wide_columns),
        table,
        convert,
        sure=wide_columns.is_sure and not wide_columns.has_only_options,
        extra_columns=(*wide_columns.used, settings.get("bought")),
    )


# words in names of identifiers, unlike age, class or week
_ID_WORDS = {"id", "uuid", "code", "nr", "number", "record", "case", "subject", "person"}


def _build_respondent_error(name: str) -> DataError:
    """Return the question whether a column of repeated labels contains the respondents."""
    return DataError(
        "No column was recognised as the respondents, so each row would be another respondent, but"
        f" {name!r} repeats its labels, as respondents with several tasks do. If {name!r} contains"
        " the respondents, set ",
        Setting("respondent", name),
        "; if not, drop it with ",
        Setting("without", [name]),
        ".",
    )


_MIN_RATINGS = 5  # different numbers, of which attributes have fewer


def _refuse_later_columns(table: RawTable, columns: WideTasks) -> None:
    """Raise DataError for numbers after the choice, before which all other attributes stand."""
    names = table.names
    groups = [[*group.values()] for group in columns.attributes.values()]
    place = names.index(columns.chosen)
    later = [group for group in groups if names.index(group[0]) > place]
    later_columns = [name for group in later for name in group]
    columns_of_later = [get_column(table.frame, name) for name in later_columns]
    are_numbers = all(map(has_numbers, columns_of_later))
    if not 0 < len(later) < len(groups) or not are_numbers or names == sorted(names):
        return
    if max(cells.nunique() for cells in columns_of_later) < _MIN_RATINGS:
        return
    raise DataError(
        f"Columns {shorten(later_columns)} stand after the choice in {columns.chosen!r}, unlike the"
        " other attributes, so they may be ratings of the alternatives, times or other answers. If"
        " they are, drop them with ",
        Setting("without", later_columns),
        "; if they describe the products, list all attributes in ",
        Argument("attributes"),
        ".",
    )


def _refuse_options(table: RawTable, columns: WideTasks) -> None:
    """Raise DataError if columns of texts, called like the alternatives, may be the compared."""
    names = [name for name in columns.alternatives if name in table.names]
    if len(names) != 2 or not columns.used.isdisjoint(names):
        return
    if any(has_numbers(table.frame[name]) for name in names):
        return
    raise DataError(
        f"Columns {shorten(names)} are called like the alternatives, so that they may contain the"
        " compared options. If they do, set ",
        Setting("first", names[0]),
        ", ",
        Setting("second", names[1]),
        " and ",
        Setting("chosen", columns.chosen),
        "; if the options do not matter, drop these columns with ",
        Setting("without", names),
        ".",
    )


def _refuse_other_answers(table: RawTable, columns: WideTasks) -> None:
    """Raise DataError if another column of the same values may contain the choice, too."""
    values = {*get_column(table.frame, columns.chosen).dropna()}
    names = [
        name
        for name in table.names
        if mentions_first_choice(name)
        and name not in columns.used - {columns.chosen}
        and {*get_column(table.frame, name).dropna()} == values
    ]
    if len(names) > 1 and simplify_name(columns.chosen) not in CHOSEN.synonyms:
        raise DataError(
            f"Columns {shorten(names)} may each contain the choice; give the name of one with ",
            Argument("chosen"),
            ".",
        )


def _refuse_tasks_in_one_row(table: RawTable, columns: WideTasks, is_given: bool) -> None:
    """Raise DataError if rows contain choices of several tasks, as C1_choice and C2_choice do."""
    answers = set(get_column(table.frame, columns.chosen).dropna())
    numbered_name = _hide_numbers(columns.chosen)
    # the choice of C1 beside the attributes of C1 and C2: these are no alternatives
    alternatives = product(columns.alternatives, NAME_SEPARATORS)
    are_tasks = columns.chosen.startswith(tuple(map("".join, alternatives)))
    choice_columns = [
        name
        for name in table.names
        if (name[:-1] == columns.chosen[:-1] or _hide_numbers(name) == numbered_name)
        and (are_tasks or set(get_column(table.frame, name).dropna()) == answers)
    ]
    # with as many choices as alternatives, of which some are never chosen, these are the tasks
    are_tasks |= len(choice_columns) == len(columns.alternatives) > len(answers)
    if len(choice_columns) < 2 or (is_given and not are_tasks):
        return
    remedy = ()
    if not are_tasks:
        remedy = (", or give the name of one with ", Argument("chosen"))
    raise DataError(
        f"Columns {shorten(choice_columns)} contain choices of several tasks in one row; write"
        " one row per task (pandas.wide_to_long, or cj_tidy in R)",
        *remedy,
        ".",
    )


def _hide_numbers(name: str) -> str:
    """Return a column name with # for each number: C#_choice for C1_choice."""
    return re.sub(r"\d+", "#", name)


def find_wide_lack(table: RawTable) -> Lack | None:
    """Return the missing column of choices of a wide experiment; else None."""
    numbered_columns = list_numbered_columns(table.names)
    if not numbered_columns:
        return None
    nearness = 2
    if len({name.rstrip("0123456789") for name in numbered_columns}) > 1:  # several attributes
        nearness = 4
    return Lack(
        f"a column with the chosen alternative for {shorten(numbered_columns, 4)}",
        "chosen",
        nearness,
    )


WIDE = Shape(
    _WIDE,
    EXPERIMENTS,
    match_wide,
    expected="columns such as 'price_1', 'price_2' and 'choice'",
    roles=(RESPONDENT_OF_TASKS, TASK_OF_RESPONDENT, CHOSEN),
    settings=("alternatives", "attributes", "levels", "none", "bins", "bought", "outcome"),
    lacks=find_wide_lack,
    main=("respondent", "task", "chosen"),
)
