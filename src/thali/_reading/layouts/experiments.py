"""Layouts of choice experiments: one row per alternative, or one row per task."""

import re
from collections.abc import Mapping
from contextlib import suppress
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
    hide_numbers,
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
from ..table_layout import Lack, Reading, Shape, keep_given

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
        with suppress(DataError):
            is_choice = outcome == _find_task_columns(table, options)[-1]
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
        second_outcomes: list[str] = []
        if not is_requested:
            # of a product, a rating would be an attribute; of a profile it is an answer
            max_share = _MAX_SHARE_OF_RATINGS
            if is_choice:
                max_share = 0.0
            second_outcomes = _list_second_outcomes(data, max_share, is_choice)
        if second_outcomes:
            frame = table.frame.drop(columns=second_outcomes)
            data = ChoiceExperiment.from_frame(frame, **read_options)
        if data.scheme.respondent == data.scheme.task:
            _note_respondent(list_respondents_of_tasks(table.frame, str(data.scheme.task))[:1])
        outcome_text = ""
        if options.get("outcome") is not None:
            outcome_text = f", ratings in {options['outcome']!r}"
        return data, f"{_describe_columns(data)}{outcome_text}: {_describe_experiment(data)}"

    is_sure = bool(attributes) and (is_requested or _vary_between_tasks(table, options, attributes))
    extra_columns = _list_answer_columns(table, options)
    return Reading(
        EXPERIMENTS, _LONG, description, table, convert, is_sure, extra_columns=extra_columns
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
    respondents, tasks = (
        read_row_texts(get_column(frame, name)) for name in _find_task_columns(table, options)[:2]
    )
    tasks_of_parts = [
        {*zip(respondents[is_part], tasks[is_part], strict=True)}
        for is_part in (is_holdout, ~is_holdout)
    ]
    if divided_tasks := sorted(set.intersection(*tasks_of_parts)):
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


def _list_second_outcomes(
    data: ChoiceExperiment,
    max_share_of_ratings: float,
    is_accepted: bool,
    columns_by_attribute: ColumnGroups | None = None,
) -> list[str]:
    """List the attributes that are answers; unless accepted, raise DataError for them."""
    _refuse_level_codes(data)
    if not data.has_choices:
        return []
    names = []
    levels = data.products[data.row_product]
    chosen_rows = find_chosen_rows(data)
    for attribute, row_levels in zip(data.scheme.all_attributes, levels.T, strict=True):
        if attribute.order not in (NUMBERS, MEASURED):
            continue
        if is_rank_name(attribute.name):  # the chosen has the smallest
            row_levels = np.where(row_levels >= 0, len(attribute.levels) - row_levels, -1)
        chosen_levels = row_levels[chosen_rows]
        other_levels = row_levels.copy()
        other_levels[chosen_rows] = -1
        highest_others = np.maximum.reduceat(other_levels, data.first_row[:-1])
        is_compared = (chosen_levels >= 0) & (highest_others >= 0)
        is_compared &= chosen_levels != highest_others
        max_share = _MAX_SHARE
        if is_called_rating(attribute.name):
            max_share = max_share_of_ratings
        if is_compared.sum() < _MIN_TASKS:
            continue
        share = float(np.mean((chosen_levels > highest_others)[is_compared]))
        if share < max_share:
            continue
        if not is_accepted:
            raise _build_outcome_error(attribute.name, share, columns_by_attribute)
        names.append(attribute.name)
    return names


def _build_outcome_error(
    name: str, share: float, columns_by_attribute: ColumnGroups | None
) -> DataError:
    """Return the error for a column, or columns of a wide table, with answers such as ratings."""
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
    return DataError(
        f"{subject} is {extreme} for the chosen alternative in {100 * share:.0f} % of the"
        " tasks, so it may be a second answer (a rating or rank) rather than an attribute. If it"
        " is, drop it with ",
        Setting("without", columns),
        f"{analysis}; if it describes the products, list it in ",
        Argument("attributes"),
        ".",
    )


def _mark_rated_tasks(table: RawTable, options: dict[str, Any]) -> tuple[RawTable, dict[str, Any]]:
    """Return the table and options, with marked tasks if there are ratings and no choices."""
    names = [role.name for role in LONG_TABLE.roles]
    columns: Any = tuple(map(options.get, names))
    frame, columns = mark_rated_tasks(table.frame, columns, options.get("outcome"))
    return replace(table, frame=frame), options | dict(zip(names, columns, strict=True))


def _describe_columns(data: ChoiceExperiment) -> str:
    """Describe in words which columns of a long table of an experiment are used."""
    scheme = data.scheme
    names = [attribute.name for attribute in scheme.attributes]
    description = f"one row per alternative, attributes {shorten(names)}"
    if data.has_choices:
        description += f", choices in {scheme.chosen!r}"
    if scheme.alternative is not None:
        description += f", alternatives in {scheme.alternative!r}"
    return f"{description}, tasks in {scheme.task!r}, respondents in {scheme.respondent!r}"


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
    if marked_share < 1.0:  # of numbers of alternatives some sets may have a single 1
        wide_tasks = find_wide_tasks(frame, {"chosen": options.get("chosen")})
        if wide_tasks is not None and wide_tasks.is_sure and wide_tasks.chosen == chosen:
            return []
    if marked_share < _MIN_MARKED and not _contains_alternatives(frame, alternative, chosen, keys):
        return []
    answer_columns = _list_answer_columns(table, options)
    used_columns = {respondent, task, alternative, chosen, *answer_columns}
    return [
        name
        for name in table.names
        if name not in used_columns
        and not is_row_number(get_column(frame, name))
        and varies_within(tasks, name)
        and not is_result(get_column(frame, name), tasks)
    ]


def _list_answer_columns(table: RawTable, options: Mapping[str, Any]) -> tuple[str | None, ...]:
    """Return the columns of purchases, ratings and offers, None for an absent one."""
    offers = AVAILABLE.find_possible_columns(map_plain_names(table.names))
    return options.get("bought"), options.get("outcome"), *offers


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
    descriptions = [
        name
        for name in attributes
        if name != alternative
        and not measures_answers(name)
        and not is_called_rating(name)
        and not is_free_text(get_column(frame, name))
        and not ranks_rows(frame[name], tasks)
        and simplify_name(name) not in RESPONDENT_OF_TASKS.synonyms
    ]
    if alternative is None or frame[alternative].is_unique:
        return bool(descriptions)
    products = frame.groupby(alternative)
    return any(varies_within(products, name) for name in descriptions)


def find_choice_lack(table: RawTable) -> Lack | None:
    """Return the missing column of choices next to respondents and tasks; else None."""
    name_by_simplified = map_plain_names(table.names)
    required_columns = [
        role.find_column(name_by_simplified) for role in (RESPONDENT_OF_TASKS, TASK_OF_RESPONDENT)
    ]
    if None in required_columns or CHOSEN.find_column(name_by_simplified) is not None:
        return None
    return Lack(f"a column with {CHOSEN.meaning}", "chosen")


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
    if not table.named or table.square is not None or outcome not in (None, CHOICE, chosen):
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
    has_no_setting = settings.get("none") is None and settings.get("bought") is None
    if table.holdout_split is not None and has_no_setting:
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
        answers: list[str] = []
        if attributes is None:
            answers = _list_second_outcomes(
                data, _MAX_SHARE_OF_RATINGS, outcome is not None, wide_columns.attributes
            )
        if answers:
            names = [name for name in data.scheme.names if name not in answers]
            data = ChoiceExperiment.from_wide(table.frame, attributes=names, **read_options)
        read_columns = wide_columns.select_attributes(data.scheme.names)._replace(marks=())
        if attributes is None:
            _refuse_later_columns(table, read_columns)
        unread_columns = wide_columns.used - read_columns.used
        if names := [name for name in table.names if name in unread_columns]:
            add_note(f"columns of alternatives not used: {shorten(names)}")
        if wide_columns.respondent is None:
            _ask_for_respondent(table, wide_columns)
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


def _ask_for_respondent(table: RawTable, columns: WideTasks) -> None:
    """Note which column may contain the respondents; raise DataError for a clear one."""
    other_columns = ColumnsRead(keep_given(*columns.used))
    blocks = VERSION.find_possible_columns(map_plain_names(table.names))
    name = guess_respondent_column(table.frame, other_columns, list(blocks))
    if name is None:
        return
    if columns.task is not None or _ID_WORDS.isdisjoint(list_name_words(name)):
        _note_respondent([name])
        return
    raise DataError(
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
    cells = [get_column(table.frame, name) for name in later_columns]
    if len(later) in (0, len(groups)) or names == sorted(names) or not all(map(has_numbers, cells)):
        return
    if max(column.nunique() for column in cells) < _MIN_RATINGS:
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
    have_numbers = [has_numbers(table.frame[name]) for name in names]
    if len(names) != 2 or not columns.used.isdisjoint(names) or any(have_numbers):
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
    if simplify_name(columns.chosen) in CHOSEN.synonyms:
        return
    values = {*get_column(table.frame, columns.chosen).dropna()}
    names = [
        name
        for name in table.names
        if mentions_first_choice(name)
        and name not in columns.used - {columns.chosen}
        and {*get_column(table.frame, name).dropna()} == values
    ]
    if len(names) > 1:
        raise DataError(
            f"Columns {shorten(names)} may each contain the choice; give the name of one with ",
            Argument("chosen"),
            ".",
        )


def _refuse_tasks_in_one_row(table: RawTable, columns: WideTasks, is_given: bool) -> None:
    """Raise DataError if rows contain choices of several tasks, as C1_choice and C2_choice do."""
    answers = set(get_column(table.frame, columns.chosen).dropna())
    numbered_name = hide_numbers(columns.chosen)
    # the choice of C1 beside the attributes of C1 and C2: these are no alternatives
    prefixes = map("".join, product(columns.alternatives, NAME_SEPARATORS))
    are_tasks = columns.chosen.startswith(tuple(prefixes))
    choice_columns = [
        name
        for name in table.names
        if (name[:-1] == columns.chosen[:-1] or hide_numbers(name) == numbered_name)
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
