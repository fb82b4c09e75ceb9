"""Recognition of a table's layout: each known layout is tried, and exactly one must match."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os.path import commonprefix
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from thali._data.base_classes import copy_with_fields
from thali._data.choice_marks import (
    clear_no_answers,
    find_repeated_numbering,
    has_marks,
    is_called_rating,
    is_response_time,
    join_marks,
    list_differing_traits,
    may_be_groups,
    number_sets,
)
from thali._data.choices.best_worst_tables import find_column_series
from thali._data.column_guesses import (
    ColumnsRead,
    find_divided_columns,
    list_respondent_candidates,
    question_respondent,
)
from thali._data.column_readers import (
    FIRST_ROWS,
    check_columns,
    classify_yes_no,
    get_column,
    is_row_number,
    iterate_distinct_cells,
)
from thali._data.column_roles import (
    CHOSEN,
    COUNT,
    OBJECTS,
    RESPONDENT,
    RESPONDENT_OF_TASKS,
    TARGET,
    TASK,
    TASK_OF_RESPONDENT,
    TRIAL,
    WEIGHTS,
    column_names,
    has_numbers,
    map_plain_names,
    refuse_ambiguous,
    simplify_name,
)
from thali._data.kinds import (
    CHOICES,
    EXPERIMENTS,
    KIND_BY_NAME,
    PAIRS,
    SIMILARITIES,
    TRIPLETS,
    find_data_spec,
)
from thali._data.respondent_table import has_adjacent_rows
from thali._input_files import Source
from thali._labels import format_label, has_repeats, is_number, shorten, suggest
from thali.errors import (
    Argument,
    ArgumentError,
    Clause,
    DataError,
    InPython,
    Message,
    Setting,
    join_facts,
    one_of,
    prefix_errors,
)

from .design_merge import find_loop_answers, match_answers
from .layouts import SHAPES
from .layouts.score_tables import describe_scores
from .layouts.signed_best_worst import is_signed
from .level_codes import read_codes, replace_codes
from .row_filter import RowFilter
from .table_files import RawTable, load_table, read_table
from .table_layout import Reading, Shape
from .text_cells import join_notes

# Labels for readers: file names without folder and ending, and labels from a table


_MEDIA = re.compile(
    r"(?:.*[/\\])?([^/\\]+)\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?|mp3|wav|ogg|flac|m4a|mp4|mov|webm)",
    re.I,
)
_ANY_TEXT = re.compile(".*", re.DOTALL)
_MAX_DISTINCT_LABELS = 10_000  # columns with more distinct cells do not contain labels


def read_labels(path: str | Path) -> dict[str, str]:
    """Read a file with columns name and label; return {name: label}."""
    frame = read_table(path)
    with prefix_errors(str(path)):
        if frame.shape[1] != 2:
            raise DataError(
                "A file of labels must have two columns: the name in the data and the label to"
                f" show. This file has {frame.shape[1]}."
            )
        columns = [list(map(format_label, cells)) for _, cells in frame.items()]
        for column_name, column_texts in zip(("name", "label"), columns, strict=True):
            if not all(column_texts):
                raise DataError(
                    f"Each row must have a name and a label, but a {column_name} is missing; fill"
                    " it in or remove the row."
                )
            if has_repeats(column_texts):
                repeated_text = max(column_texts, key=column_texts.count)
                raise DataError(
                    f"Each {column_name} may occur only once, but {repeated_text!r} is repeated."
                )
    return dict(zip(*columns, strict=True))


def _replace_labels(table: RawTable, labels: Mapping[str, str]) -> RawTable:
    """Replace names in cells (and a square's header) by labels to show."""
    all_texts = {cell for column in _list_text_cells(table) for cell in column}
    for name in labels:
        if name not in all_texts:
            advice = suggest(name, tuple(all_texts))
            raise DataError(
                Argument("labels"), f" lists {name!r}, which no text cell contains.{advice}"
            )
    for label in labels.values():
        if label in all_texts and label not in labels:
            raise DataError(
                Argument("labels"),
                f" renames a label to {label!r}, which the data already contain.",
            )
    return _apply_labels(table, labels)


def _name_numbers(
    convert: Callable[[], tuple[Any, str]], label_by_number: Mapping[str, str]
) -> tuple[Any, str]:
    """Convert a table to data whose numbered options have these labels; return its description."""
    data, sentence = convert()
    numbers = getattr(data, "labels", ())
    if not set(numbers) & set(label_by_number):
        known_options = "there are no options with labels"
        if numbers:
            known_options = f"the options are {shorten(numbers)}"
        raise DataError(
            Argument("labels"),
            f" lists {next(iter(label_by_number))!r}, which is not an option; {known_options}.",
        )
    labels = tuple(label_by_number.get(number, number) for number in numbers)
    if has_repeats(labels):
        repeated_label = max(labels, key=labels.count)
        raise DataError(
            Argument("labels"),
            f" gives several options the label {repeated_label!r}; labels must differ.",
        )
    return copy_with_fields(data, labels=labels), sentence


def _strip_file_names(table: RawTable) -> RawTable:
    """Replace file names of pictures, sounds and films by their stem, "ice cream"."""
    label_by_name = {
        file_name: " ".join(_MEDIA.sub(r"\1", file_name).replace("_", " ").split())
        for column in _list_text_cells(table, _MEDIA)
        if all(map(_MEDIA.fullmatch, column))
        for file_name in column
    }
    labels = set(label_by_name.values())
    if not labels or len(labels) < len(label_by_name) or "" in labels:
        return table
    file_name, label = next(iter(label_by_name.items()))
    note = f"file names in labels shown without folder and extension ({label!r} for {file_name!r})"
    return _apply_labels(table, label_by_name, note)


def _list_text_cells(table: RawTable, pattern: re.Pattern[str] = _ANY_TEXT) -> list[list[str]]:
    """Return the distinct texts of each text column of such texts, and of a square's header."""
    if table.sheets:
        return [column for _, sheet in table.sheets for column in _list_text_cells(sheet, pattern)]
    text_columns = [column for _, column in table.frame.items() if _is_text_dtype(column)]
    text_lists = [_list_distinct_labels(column, pattern) for column in text_columns]
    return [*text_lists, _list_header_labels(table)]


def _list_header_labels(table: RawTable) -> list[str]:
    """Return the names of columns that the first column repeats, as in a square; else []."""
    header = [format_label(name) for name in table.frame.columns[1:]]
    if header and {*header} <= {*map(format_label, table.frame.iloc[: 2 * len(header), 0])}:
        return header
    return []


def _is_text_dtype(column: pd.Series) -> bool:
    """Return whether a column contains neither numbers nor dates."""
    return column.dtype.kind not in "biufcmM"


def _list_distinct_labels(column: pd.Series, pattern: re.Pattern[str]) -> list[str]:
    """Return a column's distinct non-empty texts; [] if there are too many, or other texts."""
    labels: list[str] = []
    for distinct_cells in iterate_distinct_cells(column.dropna()):
        if len(distinct_cells) > _MAX_DISTINCT_LABELS:
            return []
        labels = list(filter(None, map(format_label, distinct_cells)))
        if not all(map(pattern.fullmatch, labels)):
            return []
    return labels


def _apply_labels(table: RawTable, label_by_name: Mapping[str, str], note: str = "") -> RawTable:
    """Replace cells of a table by their labels, and add a note."""
    note = join_notes(table.note, note)
    if table.sheets:
        sheets = tuple(
            (title, _apply_labels(sheet, label_by_name)) for title, sheet in table.sheets
        )
        return replace(table, sheets=sheets, note=note)
    frame = table.frame.copy(deep=False)
    for k, (_, column) in enumerate(table.frame.items()):
        if _is_text_dtype(column):
            label_by_cell: Any = {
                cell: label_by_name[label]
                for cell in column.dropna().unique()
                if (label := format_label(cell)) in label_by_name
            }
            if label_by_cell:
                frame.isetitem(k, column.astype(object).replace(label_by_cell))
    if _list_header_labels(table):
        frame.columns = [label_by_name.get(format_label(name), str(name)) for name in frame.columns]
    return replace(table, frame=frame, note=note)


COVARIATES = "covariates"  # columns that describe comparisons
# Arguments without influence on the shape: respondents, tasks, and arguments that select a shape.
_IRRELEVANT = (RESPONDENT.name, TASK_OF_RESPONDENT.name, OBJECTS.name, TARGET.name)
_COLUMN_ARGUMENTS = {role.name for shape in SHAPES for role in shape.roles}
# Only shapes that accept all given arguments of this set are tried.
_DECIDING_ARGUMENTS = _COLUMN_ARGUMENTS.difference(_IRRELEVANT) | {
    "unranked",
    "trait",
    COVARIATES,
    "dissimilarities",
    "outcome",
}


class RecognitionError(DataError):
    """Error for a table that matches no layout, several, or another data kind.

    Attributes
    ----------
    kinds : tuple of str
        The possible kinds of data, as `thali._data.kinds` names them.
    nearest_shape : str
        The shape that the table nearly has; "" if there is none.
    """

    def __init__(
        self,
        message: object,
        kinds: tuple[str, ...] = (),
        nearest_shape: str = "",
    ) -> None:
        choice_of_kind: Any = ""
        if len(set(kinds)) > 1:
            settings = [Setting("kind", find_data_spec(kind).name) for kind in kinds]
            choice_of_kind = Clause(" Set ", *join_facts(settings, " or ").parts, " accordingly.")
        super().__init__(message, choice_of_kind)
        self.kinds = kinds
        self.nearest_shape = nearest_shape


def read_data(path: str | Path | Source, *data_kinds: str, **options: Any) -> tuple[Any, str]:
    """Read the data in a file; also return a sentence on how they were read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tea.csv"
    >>> _ = path.write_text("winner;loser;times\\ntea;milk;3\\nmilk;tea;1\\n")
    >>> read_data(path)[1]
    "long table, 'winner' chosen over 'loser', counts in 'times': 2 options, 1 pair, 4 comparisons"
    >>> _ = path.write_text(",tea,milk\\ntea,1,0.3\\nmilk,0.3,1\\n")
    >>> read_data(path)[1]
    '2 objects, 1 similarity, square table; diagonal ignored'
    """
    where = RowFilter.parse(options.pop("where", None))
    return recognise(load_table(path), *data_kinds, where=where, **options).build()


def recognise(
    table: RawTable,
    *data_kinds: str,
    shapes: tuple[Shape, ...] = SHAPES,
    where: Any = None,
    without: str | Sequence[str] = (),
    labels: Mapping[str, str] | str | Path | None = None,
    codes: Path | None = None,
    design: Path | None = None,
    holdouts: str | None = None,
    held_out: bool = False,
    asks: bool = False,
    kind: str | None = None,
    **options: Any,
) -> Reading:
    """Recognise the layout of a table; return the `Reading` that converts it.

    `kind` is a name of `KIND_BY_NAME`, one of the kinds of data if these are given. `holdouts` is a
    condition for hold-out rows; `held_out` selects them or the others. `without`: columns to drop.
    `asks`: the kinds of data are only assumed, so a doubt is an error.
    """
    if kind is not None:
        data_kinds = (_find_kind(kind, data_kinds),)
    level_order: dict[str, list[str]] = {}
    if design is not None:
        design_table = load_table(design)
        with prefix_errors(f"{table.file} with {design_table.file}"):
            table, column_by_role = match_answers(table, design_table, options)
        options |= column_by_role
        if column_by_role and not data_kinds:  # only a design of products sets columns
            data_kinds = (EXPERIMENTS,)
    if codes is not None:
        level_codes = read_codes(codes)
        with prefix_errors(table.file):
            table, level_order = replace_codes(table, level_codes, options.get("attributes"))
    tried_shapes = _select_shapes(shapes, data_kinds, options)
    selected_shapes = [
        shape
        for shape in tried_shapes
        if any(options.get(name) is not None for name in shape.named_by)
    ] or tried_shapes
    conditions = RowFilter.parse(where)
    holdout_filter = RowFilter.parse(holdouts, "holdouts")
    if isinstance(labels, str | Path):
        labels = read_labels(labels)
    label_by_name = {
        format_label(name): format_label(label) for name, label in (labels or {}).items()
    }
    # numbers in cells may be counts, so only the options are renamed
    is_of_numbers = all(map(is_number, label_by_name))
    with prefix_errors(table.file):
        table = table.filter_rows(conditions).split_rows(holdout_filter, held_out)
        table = _strip_file_names(table.drop_columns(without, list_named_columns(options)))
        if not is_of_numbers:
            table = _replace_labels(table, label_by_name)
        _check_named_columns(table, options, selected_shapes)
        if table.named:
            table = _clean_answers(table, options)
        is_known = len(data_kinds) == 1
        if len(data_kinds) > 1:
            is_known = all(find_data_spec(kind).of_objects for kind in data_kinds)
        levels = level_order | (options.get("levels") or {}) or None
        arguments = options | {"known": is_known, "levels": levels}
        readings = _match_shapes(selected_shapes, table, arguments)
        sure_readings = [reading for reading in readings if reading.sure] or readings[:1]
        is_doubtful = not sure_readings or data_kinds == (EXPERIMENTS,)
        if design is None and is_doubtful:
            if not any(reading.has_questions for reading in sure_readings):
                _refuse_loop_answers(table)
        if not sure_readings:
            raise _unread_error(table, shapes, tried_shapes, options, data_kinds)
        if len(sure_readings) > 1:
            raise _ambiguity_error(sure_readings)
        (reading,) = sure_readings
        is_assumed = asks or not data_kinds or (SIMILARITIES in data_kinds and not is_known)
        if reading.doubt is not None and kind is None and is_assumed:
            raise _doubt_error(reading, data_kinds)
        if options.get(RESPONDENT.name) is None:
            reading = _match_finer_respondents(reading, table, arguments)
        _refuse_doubtful_columns(table.frame, reading, options, asks)
        _refuse_foreign_arguments(shapes, reading, options)
        if reading.roles is not None and reading.kind == PAIRS:
            _refuse_single_options(table.frame, reading.roles.options)
    if kind is not None:
        reading = replace(reading, other_kind="")
    if label_by_name and is_of_numbers:
        convert = partial(_name_numbers, reading.convert, label_by_name)
        reading = replace(reading, convert=convert)
    return reading


def _clean_answers(table: RawTable, options: Mapping[str, Any]) -> RawTable:
    """Return a table with empty cells for no answer, one column of marks, and task numbers."""
    if options.get("coding") is None:
        table = replace(table, frame=clear_no_answers(table.frame))
    if options.get(CHOSEN.name) is None:
        table = replace(table, frame=join_marks(table.frame))
        table = _number_all_tasks(table, options.get(RESPONDENT.name) is None)
    return table


def _refuse_doubtful_columns(
    frame: pd.DataFrame, reading: Reading, options: Mapping[str, Any], asks: bool
) -> None:
    """Raise DataError if columns that are read, such as counts, may mean something else."""
    roles = reading.roles
    if roles is not None and roles.who is None and not roles.counts:
        refuse_ambiguous(frame, list(options.values()))
    count = options.get(COUNT.name)
    if count is not None:
        _refuse_marks(frame, count)
    elif roles is not None:
        if roles.who is not None:
            _refuse_body_weights(frame, roles.counts)
        if len(roles.counts) == 1 and not asks:  # `asks`: perhaps the rows of one part
            if reading.kind == SIMILARITIES:  # means of judgements have their number beside them
                roles = roles._replace(who=None)
            _refuse_doubtful_counts(frame, roles.counts[0], roles)


def _number_all_tasks(table: RawTable, asks: bool) -> RawTable:
    """Return a table whose tasks, numbered anew in each block, have different numbers."""
    # `asks`: whether a number may be several respondents, who differ in other columns.
    columns = find_repeated_numbering(table.frame)
    if columns is None or is_signed(table.frame[columns[0]]):  # the best and the worst of a task
        return table
    block, respondent, task = columns
    if asks and (traits := list_differing_traits(table.frame, block, respondent)):
        raise DataError(
            f"Column {respondent!r} may number different respondents in each {block!r}, because the"
            f" same number has different cells in {shorten(traits)}. If so, write a column that"
            f" joins {block!r} and {respondent!r} and give its name with ",
            Argument(RESPONDENT.name),
            "; if these are the same people, set ",
            Setting(RESPONDENT.name, respondent),
            ".",
        )
    note = join_notes(table.note, f"{task!r} is numbered anew in each {block!r}")
    numbers = table.frame[block].map(format_label) + "." + table.frame[task].map(format_label)
    return replace(table, frame=table.frame.assign(**{task: numbers}), note=note)


def _match_finer_respondents(
    reading: Reading, table: RawTable, arguments: dict[str, Any]
) -> Reading:
    """Return the reading with the respondents of whom the column read for them is a trait."""
    roles = reading.roles
    if roles is None or roles.who is None:
        return reading
    _refuse_repeated_numbers(table.frame, roles.who)
    if simplify_name(roles.who) in _PEOPLE:
        return reading
    trait = get_column(table.frame, roles.who)
    is_yes_no = has_marks(trait)
    used_columns = roles.all
    guessed_names = []
    if is_yes_no:
        used_columns = {roles.who}  # what seems to number the rankings may be the respondents
        guessed_names = list_respondent_candidates(table.frame, roles._replace(who=None))
    names = list(
        RESPONDENT_OF_TASKS.find_possible_columns(map_plain_names(table.names), used_columns)
    )
    finer_columns = find_divided_columns(table.frame, roles.who, [*names, *guessed_names])
    if not finer_columns:
        return reading
    name = finer_columns[0]
    has_few_labels = trait.nunique() < _MIN_PEOPLE
    # otherwise it may number the rankings or sets of a respondent
    is_clear = is_yes_no or (roles.answer is None and has_few_labels)
    if get_column(table.frame, name).is_unique:
        is_clear = is_yes_no and reading.kind == CHOICES
        n_rows = trait.value_counts()
        is_uneven = (n_rows != n_rows.median()).mean() > 0.5  # unlike the tasks of respondents
        is_trait = has_few_labels or (is_uneven and may_be_groups(table.frame, roles.who))
        if not is_yes_no and (reading.kind != CHOICES or roles.outcome or not is_trait):
            return reading  # it numbers the rows
    if not is_clear or name not in names:
        raise DataError(question_respondent(roles.who, name))
    shapes = [shape for shape in SHAPES if shape.name == reading.shape]
    (reading,) = _match_shapes(shapes, table, arguments | {RESPONDENT.name: name})
    return reading


_PEOPLE = {RESPONDENT.name, "participant", "subject"}
_MIN_PEOPLE = 5  # from which on labels are not those of a trait


def _refuse_repeated_numbers(frame: pd.DataFrame, respondent: str) -> None:
    """Raise DataError if a number has separate rows with another age, as in two studies."""
    for name in column_names(frame):
        if (
            simplify_name(name) in _TRAITS
            and not has_adjacent_rows(number_sets(frame, [respondent]))
            and has_adjacent_rows(number_sets(frame, [respondent, name]))
        ):
            raise DataError(
                f"Column {respondent!r} may contain numbers of different respondents, such as those"
                f" of two studies, because the same number has different cells in {name!r}. If so,"
                " write a column with another label for each respondent and give its name with ",
                Argument(RESPONDENT.name),
                "; if these are the same people, set ",
                Setting(RESPONDENT.name, respondent),
                ".",
            )


_TRAITS = {"age", "birthyear", "yearofbirth", "alter", "edad"}


def _refuse_body_weights(frame: pd.DataFrame, count_columns: tuple[str, ...]) -> None:
    """Raise DataError for a column called weight that may contain kilograms of respondents."""
    for name in count_columns:
        cells = get_column(frame, name)
        if simplify_name(name) in WEIGHTS and has_numbers(cells) and cells.ge(_MIN_MASS).all():
            raise DataError(
                f"Column {name!r} contains {cells.min():g} to {cells.max():g}, which may be body"
                " weights or other masses. If they count answers, name the column with ",
                Argument(COUNT.name),
                "; otherwise drop it with ",
                Setting("without", [name]),
                ".",
            )


def _refuse_doubtful_counts(frame: pd.DataFrame, name: str, roles: ColumnsRead) -> None:
    """Raise DataError for a column called count that numbers the rows, or measures answers."""
    plain_name = simplify_name(name)
    if plain_name not in COUNT.synonyms:
        return
    _refuse_marks(frame, name)
    cells = get_column(frame, name)
    doubt = ""
    if is_row_number(cells):
        doubt = "numbers the rows"
    elif (
        plain_name not in WEIGHTS
        and roles.who
        and _numbers_answers(cells, get_column(frame, roles.who))
    ):
        doubt = f"numbers the answers of each {roles.who!r}"
    elif plain_name not in WEIGHTS and cells.ne(1).any() and _are_answers(frame, roles):
        doubt = f"may not count answers, because each row is one answer of {roles.who!r}"
    if doubt:
        raise DataError(
            f"Column {name!r} {doubt}. If it counts answers, name it with ",
            Argument(COUNT.name),
            "; otherwise drop it with ",
            Setting("without", [name]),
            ".",
        )


def _numbers_answers(cells: pd.Series, respondents: pd.Series) -> bool:
    """Return whether a column counts up from 0 or 1 in the three or more rows of respondents."""
    if not has_numbers(cells) or len(cells) < _MIN_NUMBERED * respondents.nunique():
        return False
    groups: Any = cells.groupby(respondents)
    differences = (groups.rank(method="first") - cells).dropna()
    return bool(differences.isin([0, 1]).all() and differences.nunique() == 1)


_MIN_NUMBERED = 3  # mean number of rows of a respondent


def _refuse_marks(frame: pd.DataFrame, name: str) -> None:
    """Raise DataError for a column of yes and no that is named as one of counts."""
    cells = get_column(frame, name)
    if cells.dtype.kind not in "iuf" and not classify_yes_no(cells)[1].any():
        raise DataError(
            f"Column {name!r} contains yes and no, which do not count answers. To use the rows with"
            " yes, select them with ",
            Argument("where"),
            "; drop the column with ",
            Setting("without", [name]),
            ".",
        )


def _are_answers(frame: pd.DataFrame, roles: ColumnsRead) -> bool:
    """Return whether each row is one answer of a respondent, to a set of options or in a trial."""
    if roles.who is None:
        return False
    names = column_names(frame)
    name_by_simplified = map_plain_names(names)
    keys = [
        frame[[roles.who, name]]
        for role in (TASK, TRIAL)
        for name in role.find_possible_columns(name_by_simplified, roles.all)
        if get_column(frame, name).nunique() > 1
    ]
    answers = frame[[roles.who]]
    if len(roles.options) < 3 or roles.outcome:  # otherwise cells are answers
        options = pd.DataFrame(np.sort(frame[[*roles.options]].astype(str)), frame.index)
        answers = options.assign(who=frame[roles.who])
    # answers are counted for each condition, such as a session, and some are single
    conditions = [name for name in names if name not in roles.counts and not is_response_time(name)]
    has_single = frame[[*roles.counts]].isin((0, 1)).to_numpy().any()
    if not has_single and frame.duplicated(conditions).any():
        return True
    return any(not key.duplicated().any() for key in [*keys, answers])


_MIN_MASS = 30  # of bodies in kilograms or pounds, of objects in grams


def _refuse_single_options(frame: pd.DataFrame, option_columns: tuple[str, ...]) -> None:
    """Raise DataError if each option of many pairs occurs once, as texts of answers do."""
    if len(frame) < _MIN_PAIRS or len(option_columns) != 2:
        return
    for n_rows in (FIRST_ROWS, None):
        cells = pd.concat([get_column(frame, name).iloc[:n_rows] for name in option_columns])
        if not cells.is_unique:
            return
    raise DataError(
        f"Each cell of {option_columns[0]!r} and {option_columns[1]!r} occurs once, so these"
        " options cannot be compared with others. If they are texts or pictures, name the columns"
        " of what they come from, such as models."
    )


_MIN_PAIRS = 20  # rows


def _doubt_error(reading: Reading, data_kinds: tuple[str, ...]) -> DataError:
    """Return the error that asks for the kind of data, of those that the caller reads."""
    other_kind = reading.other_kind or SIMILARITIES
    if not data_kinds or other_kind in data_kinds:
        return RecognitionError(reading.doubt, (other_kind, reading.kind))
    name = find_data_spec(reading.kind).name
    return DataError(reading.doubt, Clause(f" To read {name}, set ", Setting("kind", name), "."))


def _find_kind(name: str, data_kinds: tuple[str, ...]) -> str:
    """Return the kind of data with this name; raise ArgumentError if it is not among the kinds."""
    names: list[Any] = [
        known for known, kind in KIND_BY_NAME.items() if not data_kinds or kind in data_kinds
    ]
    if name not in names:
        raise ArgumentError(
            Argument("kind"),
            " must be ",
            one_of("kind", names, " or "),
            f"; got {name!r}.{suggest(name, names)}",
        )
    return KIND_BY_NAME[name]


def _select_shapes(
    shapes: Sequence[Shape], data_kinds: tuple[str, ...], arguments: Mapping[str, Any]
) -> list[Shape]:
    """Return the layouts of these data kinds that accept the given arguments."""
    shapes_of_kinds = [shape for shape in shapes if not data_kinds or shape.kind in data_kinds]
    deciding_names = {
        name
        for name, argument in arguments.items()
        if name in _DECIDING_ARGUMENTS and argument is not None
    }
    return [
        shape for shape in shapes_of_kinds if deciding_names.issubset(shape.options)
    ] or shapes_of_kinds


def _check_named_columns(
    table: RawTable, arguments: Mapping[str, Any], shapes: Sequence[Shape]
) -> None:
    """Raise an error if an argument names a column that the table lacks, or several columns."""
    plural_roles = {OBJECTS.name}
    if {shape.kind for shape in shapes} == {TRIPLETS}:  # the two similar objects
        plural_roles.add(CHOSEN.name)
    # the shape checks the column of classes
    for role in sorted(_COLUMN_ARGUMENTS - {TARGET.name}):
        columns = arguments.get(role)
        if columns is None:
            continue
        if isinstance(columns, str):
            columns = [columns]
        elif role not in plural_roles:
            raise ArgumentError(
                Argument(role), f" must be the name of one column; got {columns!r}."
            )
        check_columns(table.frame, columns)


def _refuse_loop_answers(table: RawTable) -> None:
    """Raise DataError for Qualtrics answers whose questions are only in a design."""
    loop_columns = find_loop_answers(table.names)
    if not loop_columns:
        return
    # the options of MD_1_b are in MD_1_item1, MD_1_item2, ...
    shown_columns = [
        series
        for series in find_column_series(table.names)
        if len(series) > 2
        and any(re.search(r"\d", commonprefix([series[0], name])) for name in loop_columns)
    ]
    problem = f"The columns {shorten(loop_columns)} contain answers"
    if shown_columns and {*shown_columns[0]}.isdisjoint(loop_columns):
        raise DataError(
            f"{problem} to several questions in one row, each with its options (such as"
            f" {shorten(shown_columns[0])}); write one row per question, with columns such as"
            " 'option1', 'option2', 'option3', 'best' and 'worst' (pandas.wide_to_long)."
        )
    raise DataError(
        f"{problem}, but the table does not show which options each question offered; add the"
        " design with ",
        Argument("design"),
        ".",
    )


def _refuse_foreign_arguments(
    shapes: Sequence[Shape], reading: Reading, arguments: Mapping[str, Any]
) -> None:
    """Raise ArgumentError for an argument of other layouts only."""
    known_names = {name for shape in shapes for name in shape.options}
    for shape in shapes:
        if shape.name == reading.shape:
            known_names.difference_update(shape.options)
    for argument_name, argument in arguments.items():
        if argument is not None and argument_name in known_names:
            raise ArgumentError(
                Argument(argument_name),
                f" does not apply to this table ({reading.description}); remove ",
                Argument(argument_name),
                ".",
            )


def list_named_columns(options: Mapping[str, Any]) -> list[str]:
    """Return the column names that the arguments give."""
    named_columns: list[str] = []
    for argument in options.values():
        if isinstance(argument, str):
            named_columns.append(argument)
        elif isinstance(argument, list | tuple | Mapping):
            named_columns += argument
    return named_columns


def check_names(
    options: dict[str, Any], *data_kinds: str, shapes: Sequence[Shape] = SHAPES
) -> None:
    """Raise ArgumentError for an argument that no layout of these kinds has."""
    known_names = {"where", "without", "kind", "labels", "codes", "design"}.union(
        *(shape.options for shape in shapes if shape.kind in data_kinds)
    )
    known_names.discard("known")
    for name in options:
        if name not in known_names:
            raise ArgumentError(
                f"Unknown argument {name!r}.{suggest(name, sorted(known_names))} For the arguments"
                " that describe tables, see help(thali.read)."
            )


def _match_shapes(shapes: list[Shape], table: RawTable, arguments: dict[str, Any]) -> list[Reading]:
    """Return the readings of all layouts that match; raise an error if none is sure."""
    # An error of a shape is raised only if no reading is sure.
    readings = []
    errors = []
    for shape in shapes:
        try:
            reading = shape.match(
                table, **{name: arguments[name] for name in shape.options if name in arguments}
            )
            if reading is not None:
                readings.append(reading)
        except DataError as error:
            errors.append(error)
    if errors and not any(reading.sure for reading in readings):
        raise errors[0]
    return readings


def _ambiguity_error(readings: list[Reading]) -> DataError:
    """Return the error that a table can be read in several ways."""
    readings_text = "; or as ".join(map(_describe_kind, readings))
    problem = f"The table can be read as {readings_text}"
    possible_kinds = tuple(dict.fromkeys(reading.kind for reading in readings))
    if len(possible_kinds) == 1:  # only the names of columns distinguish the readings
        return DataError(f"{problem}; remove or rename the columns that should not be used.")
    return RecognitionError(f"{problem}.", possible_kinds)


def _describe_kind(reading: Reading) -> str:
    """Return a reading's kind of data and layout in words."""
    return f"{reading.kind} ({reading.description})"


def _unread_error(
    table: RawTable,
    shapes: Sequence[Shape],
    tried_shapes: list[Shape],
    arguments: Mapping[str, Any],
    requested_kinds: tuple[str, ...],
) -> DataError:
    """Return the error that a table matches no layout, with what each lacks."""
    if arguments.get(COVARIATES) is not None:
        return RecognitionError(
            Message(
                "Covariates describe the first option minus the second, but the columns"
                f" {shorten(table.names, 12)} do not show which came first; use one trial per row"
                " with the columns 'left', 'right' and 'chosen', or give their names with ",
                Argument("first"),
                ", ",
                Argument("second"),
                " and ",
                Argument("chosen"),
                ". A table of pairs with counts needs the options in the columns 'left' and"
                " 'right', or 'home' and 'away'.",
                InPython(
                    "", " Columns of a file in --option-covariates are used without --covariate."
                ),
            )
        )
    # It names the nearest shape.
    expected_kinds = requested_kinds or tuple(dict.fromkeys(shape.kind for shape in tried_shapes))
    other_shapes = [shape for shape in shapes if shape not in tried_shapes]
    for reading in _match_shapes(other_shapes, table, {}):
        if reading.sure:
            return RecognitionError(
                f"The table contains {_describe_kind(reading)}, not"
                f" {_join_alternatives(expected_kinds)}.",
                (reading.kind,),
            )
    if tuple(shapes) == SHAPES:
        if description := describe_scores(table):
            return DataError(
                f"The table contains scores ({description}), which are for leaderboards; use ",
                InPython("th.leaderboard", "thali leaderboard"),
                ".",
                InPython(
                    "",
                    " If the columns describe options of other comparisons: thali fit COMPARISONS"
                    " --option-covariates FILE.",
                ),
            )
        if rating := _find_rating(table):
            return DataError(
                f"Column {rating!r} contains ratings of profiles, without choices between them;"
                " use ",
                InPython(
                    f"`th.amce` with `outcome={rating!r}`", f"thali amce with --outcome {rating!r}"
                ),
                ".",
            )
    if table.named and _lacks_header(table.frame):
        return RecognitionError(
            f"The first line, {shorten(table.names, 4)}, looks like a row of data; put a line with"
            " the names of the columns above it, such as 'first,second,similarity'."
        )
    match_note = "do not match any known layout"
    if len(expected_kinds) <= 2:
        match_note = f"are not recognised as {_join_alternatives(expected_kinds)}"
    problem = f"The columns {shorten(table.names, 12)} {match_note}"
    near_shapes = [
        (shape, lack) for shape in tried_shapes if table.named and (lack := shape.lacks(table))
    ]
    if not near_shapes:
        return RecognitionError(_no_layout_message(problem, tried_shapes, len(expected_kinds)))
    shape, lack = max(near_shapes, key=lambda shape_and_lack: shape_and_lack[1].near)
    argument_hint: Any = ""
    if lack.option:
        argument_hint = Clause(
            "; if such a column exists, give its name with ",
            *join_facts([*map(Argument, lack.option.split())], " or ").parts,
        )
    return RecognitionError(
        Message(
            f"{problem}. The closest layout is a {shape.name} ({shape.expected}), but this table"
            f" lacks {lack.missing}",
            argument_hint,
            ".",
        ),
        nearest_shape=shape.name,
    )


def _find_rating(table: RawTable) -> str | None:
    """Return the column of ratings of profiles with at least two attributes; else None."""
    rating = next(filter(is_called_rating, table.names), None)
    if rating is None or get_column(table.frame, rating).nunique() < _MIN_RATINGS:
        return None
    shapes = [shape for shape in SHAPES if shape.kind == EXPERIMENTS]
    try:
        readings = _match_shapes(shapes, table, {"outcome": rating})
        n_attributes = [len(reading.convert()[0].attributes) for reading in readings]
    except DataError:
        return None
    if max(n_attributes, default=0) < _MIN_RATED_ATTRIBUTES:
        return None
    return rating


_MIN_RATINGS = 4  # -1, 0 and 1 are the worst, other and best items of a set
_MIN_RATED_ATTRIBUTES = 2  # one may be the name of what is rated, such as a film


def _no_layout_message(problem: str, tried_shapes: list[Shape], n_kinds: int) -> Message:
    """Return the error for a table without a near layout: the simplest ones, or other advice."""
    page = ". The page 'Shapes of tables' of the documentation shows all layouts."
    if n_kinds == 1:
        examples = "; or ".join([shape.expected for shape in tried_shapes if shape.expected][:2])
        return Message(f"{problem}; expected, for example, {examples}{page}")
    return Message(
        problem,
        Clause(". State the kind of data with ", Argument("kind")),
        InPython(", or what columns contain with arguments such as `first`, `second` and `chosen`"),
        page,
    )


def _lacks_header(frame: pd.DataFrame) -> bool:
    """Return whether the names of columns look like cells: numbers, and labels of other rows."""
    names = column_names(frame)
    labels = {label for name in names for label in map(format_label, frame[name].unique())}
    return any(map(is_number, names)) and all(is_number(name) or name in labels for name in names)


def _join_alternatives(kinds: Sequence[str]) -> str:
    """Return words as "a, b or c"."""
    return " or ".join(filter(None, [", ".join(kinds[:-1]), kinds[-1]]))
