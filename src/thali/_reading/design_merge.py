"""Merging of a table of answers with a table of the design into one long table."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from thali._data.choice_marks import PLACE_WORDS, is_rank_name
from thali._data.choices.best_worst_tables import list_traits
from thali._data.choices.rankings import BEFORE, TIED
from thali._data.column_guesses import find_option_columns
from thali._data.column_readers import (
    check_columns,
    get_column,
    parse_position,
    read_row_texts,
)
from thali._data.column_roles import (
    ALTERNATIVE,
    BEST,
    CHOSEN,
    CHOSEN_OF_TWO,
    NO_CHOICE,
    ODD,
    RANK,
    RESPONDENT,
    RESPONDENT_OF_TASKS,
    SIMILARITY,
    TASK,
    TASK_OF_RESPONDENT,
    TIE_WORDS,
    VERSION,
    WORST,
    column_names,
    find_named_columns,
    find_no_answers,
    list_name_words,
    map_plain_names,
    simplify_name,
)
from thali._data.pairs.trial_rows import MISSING, split_missing
from thali._inference.index_arithmetic import find_first
from thali._labels import format_label, format_plural, has_repeats, shorten
from thali.errors import Argument, DataError, Setting

from .table_files import RawTable
from .text_cells import join_notes

NONE = "none"  # alternative added if the design has no no-choice option
ALL_RESPONDENTS = "0"  # version of tasks for all respondents in Sawtooth Software's design files
# the number of a loop or question, and what is asked
_LOOP = re.compile(r"Q?(?P<number>\d+)_(?P<stem>\D.*)")
_RANKING = "ranking"  # a column of rankings as text
_BETWEEN = re.compile("[>=]")  # options of a ranking as text
_LETTERS = (("b", "w"), ("m", "l"))  # best and worst: B1 and W1 in R's support.BWS, MD_1_b
_MATRIX_COLUMN = re.compile(r"[VX][1-9]\d?")  # of a matrix of sets that R wrote
# a series of answer columns, one per task
_SERIES = re.compile(r"(?P<stem>.*\D)(?P<number>\d+)\D*")
_NUMBERS = ("123456789", "ABCDEFGHI", "abcdefghi")  # of alternatives
# of columns of alternatives; brands and modes are attributes
_PLACE_NAMES = {*ALTERNATIVE.synonyms, *PLACE_WORDS, "id", "no", "nr", "number"} - {"brand", "mode"}


class DesignColumns(NamedTuple):
    """The columns of a design, by role; None for a role without a column."""

    version: str | None
    task: str | None
    item: str | None
    rank: str | None
    respondent: str | None
    alternative: str | None  # the item, if its name can mean nothing else


class DesignRows(NamedTuple):
    """A design table, and its row indices by version and task."""

    frame: pd.DataFrame
    by: str | None  # column of versions or respondents; None: one version
    task: str
    alternative: str | None
    rows: dict[tuple[str, str], np.ndarray]  # (version, task) -> rows

    def select_tasks(self, version: str) -> dict[str, np.ndarray]:
        """Return the design rows of each task of a version.

        Tasks for all respondents are included, unless the version has a task of the same name.
        """
        return {
            task: rows
            for selected in (ALL_RESPONDENTS, version)
            for (task_version, task), rows in self.rows.items()
            if task_version == selected
        }

    @property
    def all_labels(self) -> set[str]:
        """Set of the labels of all alternatives."""
        return {label for rows in self.rows.values() for label in self.list_labels(rows)}

    def list_labels(self, rows: np.ndarray) -> list[str]:
        """Return the labels of the alternatives in these design rows."""
        if self.alternative is None:
            return [str(k + 1) for k in range(len(rows))]
        return list(map(format_label, self.frame[self.alternative].iloc[rows]))


def match_answers(
    table: RawTable, design: RawTable, named_columns: Mapping[str, Any]
) -> tuple[RawTable, dict[str, Any]]:
    """Merge answers with their design; return a long table and its columns by role.

    `named_columns` names columns of the answers or the design by role.
    """
    columns = _find_design_columns(design.frame, named_columns)
    set_answers = _read_set_answers(table.frame)
    if set_answers.marked or set_answers.name_by_column:
        design = replace(design, frame=_widen_design(design.frame, columns))
    design_names = column_names(design.frame)
    option_columns = find_option_columns(design_names)
    if not option_columns and columns.task is None:
        option_columns = list(filter(_MATRIX_COLUMN.fullmatch, design_names))
    if option_columns:
        return _match_set_answers(table, design, columns, option_columns, set_answers), {}
    answer_columns = column_names(table.frame)
    check_columns(design.frame, [named_columns.get(ALTERNATIVE.name)])
    design_rows = _read_design_rows(design.frame, columns, answer_columns)
    cells = {format_label(cell) for name in answer_columns for cell in table.frame[name].unique()}
    if design_rows.alternative is None:
        attributes = named_columns.get("attributes") or ()
        if isinstance(attributes, str):
            attributes = (attributes,)
        candidates = design.frame.drop(columns=[*attributes], errors="ignore")
        alternative = _find_alternatives(candidates, [*design_rows.rows.values()], cells)
        design_rows = design_rows._replace(alternative=alternative)
    codes = _read_codes(cells, design_rows, named_columns)
    answers = _read_task_answers(table.frame, design_rows, named_columns, codes)
    _refuse_numbers_from_zero(design_rows, answers)
    products, n_unanswered = _join_answers(design_rows, answers)
    answer_index = products["answer"].to_numpy()
    alternative_column = design_rows.alternative or "alternative"
    attribute_columns = [
        name
        for name in column_names(design_rows.frame)
        if name not in (design_rows.by, design_rows.task, alternative_column)
    ]
    respondent_columns = [
        name for name in answer_columns if name not in (*answers.used, design_rows.by)
    ]
    _check_column_clash(
        respondent_columns,
        (*attribute_columns, design_rows.task, alternative_column, CHOSEN.name),
        "products",
    )
    # row -1 does not exist, so all cells become empty
    attribute_cells: Any = (
        design_rows.frame[attribute_columns].reset_index(drop=True).reindex(products["row"])
    )
    long_index = answers.frame.index[answer_index]
    long_columns = {
        answers.respondent: answers.frame[answers.respondent].to_numpy()[answer_index],
        design_rows.task: answers.task[answer_index],
        alternative_column: products["label"].to_numpy(object),
        **{name: attribute_cells[name].to_numpy() for name in attribute_columns},
        CHOSEN.name: products["picked"].to_numpy(int),
        **{name: answers.frame[name].to_numpy()[answer_index] for name in respondent_columns},
    }
    notes = [table.note, f"answers matched to the design in {design.file}"]
    if answers.respondent not in answer_columns:
        notes.append("each row of the answers is one respondent")
    if n_unanswered:
        notes.append(f"{format_plural(n_unanswered, 'task')} without an answer dropped")
    column_by_role: dict[str, Any] = {
        "respondent": answers.respondent,
        "task": design_rows.task,
        "alternative": alternative_column,
        "chosen": CHOSEN.name,
        "coding": None,
    }
    if codes.get(format_label(named_columns.get(NONE))) == NONE:
        column_by_role[NONE] = next(filter(_is_no_choice, products["label"]), named_columns[NONE])
    long_frame = pd.DataFrame(long_columns, long_index)
    return replace(table, frame=long_frame, note=join_notes(*notes)), column_by_role


def _check_column_clash(
    respondent_columns: list[str], design_columns: Collection[str | None], design_noun: str
) -> None:
    """Raise DataError if answers and design have a column of the same name."""
    for name in respondent_columns:
        if name in design_columns:
            raise DataError(
                f"The answers and the design both have a column {name!r}. Rename it in one of the"
                f" files: columns of respondents and columns of {design_noun} must have different"
                " names."
            )


def _find_design_columns(frame: pd.DataFrame, named_columns: Mapping[str, Any]) -> DesignColumns:
    """Find the columns of a design by their names."""
    names = map_plain_names(column_names(frame))
    certain_columns = ALTERNATIVE.find_certain_columns(names)
    task_column = named_columns.get(TASK_OF_RESPONDENT.name)
    if task_column not in names.values():  # it may be a column of the answers
        task_column = TASK.find_column(names)
    return DesignColumns(
        VERSION.find_column(names),
        task_column,
        ALTERNATIVE.find_column(names),
        RANK.find_column(names),
        RESPONDENT_OF_TASKS.find_column(names),
        named_columns.get(ALTERNATIVE.name) or next(certain_columns, None),
    )


def _read_design_rows(
    frame: pd.DataFrame, columns: DesignColumns, answer_columns: list[str]
) -> DesignRows:
    """Group the rows of a design by version and task."""
    version_column = columns.version
    if columns.task is None:
        raise DataError(
            "The design has no column with the number of the task; give its name with ",
            Argument(TASK_OF_RESPONDENT.name),
            ", or add one, called 'task'.",
        )
    if version_column is None and columns.respondent in answer_columns:
        version_column = columns.respondent  # each respondent has individual tasks
    version_labels = _label_cells(frame, version_column)
    if version_column is None:
        version_labels[:] = ALL_RESPONDENTS
    rows_by_task: dict[tuple[str, str], list[int]] = {}
    task_labels = _label_cells(frame, columns.task)
    for row_index, version_and_task in enumerate(zip(version_labels, task_labels, strict=True)):
        rows_by_task.setdefault(version_and_task, []).append(row_index)
    for (_, task), task_rows in rows_by_task.items():
        if len(task_rows) < 2:
            raise DataError(
                f"Task {task!r} of the design has only one row; write one row per alternative of"
                " each task (as thali design does in design.csv)."
            )
    row_arrays = {key: np.array(task_rows) for key, task_rows in rows_by_task.items()}
    return DesignRows(frame, version_column, columns.task, columns.alternative, row_arrays)


def _find_alternatives(
    frame: pd.DataFrame, rows_of_tasks: list[np.ndarray], answer_labels: set[str]
) -> str | None:
    """Return the design's column that numbers or labels the alternatives of each task."""
    n_alternatives = max(map(len, rows_of_tasks))
    counting_columns = []
    for name in column_names(frame):
        labels = _label_cells(frame, name)
        labels_of_tasks = [labels[rows].tolist() for rows in rows_of_tasks]
        if len({*labels}) > n_alternatives or any(map(has_repeats, labels_of_tasks)):
            continue
        is_called_place = simplify_name(name) in _PLACE_NAMES
        is_called_place |= _PLACE_NAMES.issuperset(list_name_words(name) or [name])
        if is_called_place and answer_labels.intersection(labels):
            return name
        is_numbering = {*labels} in [{*symbols[:n_alternatives]} for symbols in _NUMBERS]
        if is_numbering and all(cells == sorted(cells) for cells in labels_of_tasks):
            counting_columns.append(name)
    return next(iter(counting_columns), None)


def _read_codes(
    cells: set[str], design: DesignRows, named_columns: Mapping[str, Any]
) -> dict[str, str]:
    """Return the label or number of an alternative, NONE or "" that each code in answers means."""
    labels = design.all_labels
    coding, missing_codes = split_missing(named_columns.get("coding"))
    codes = dict.fromkeys(missing_codes | find_no_answers(cells, {*labels, "None"}), "")
    if (none_code := format_label(named_columns.get(NONE))) in cells - {*labels, ""}:
        codes[none_code] = NONE
    return codes | {format_label(code): format_label(text) for code, text in (coding or {}).items()}


class TaskAnswers(NamedTuple):
    """Table of answers, one row per respondent and task, and its main columns."""

    frame: pd.DataFrame
    respondent: str
    version: np.ndarray
    task: np.ndarray
    picked: np.ndarray
    column_by_task: Mapping[str, Any]
    used: set[Any]  # columns that do not describe respondents


def _read_task_answers(
    frame: pd.DataFrame,
    design: DesignRows,
    named_columns: Mapping[str, Any],
    codes: Mapping[str, str],
) -> TaskAnswers:
    """Read answers as a table with one row per respondent and task, and as labels."""
    name_by_simplified = map_plain_names(column_names(frame))
    if named_columns.get(TASK_OF_RESPONDENT.name) == design.task not in frame.columns:
        named_columns = {**named_columns, TASK_OF_RESPONDENT.name: None}
    respondent_column, task_column, chosen_column = find_named_columns(
        name_by_simplified, named_columns, (RESPONDENT_OF_TASKS, TASK_OF_RESPONDENT, CHOSEN)
    )
    check_columns(frame, [respondent_column, task_column, chosen_column])
    is_wide = task_column is None or chosen_column is None
    if respondent_column is None and is_wide:
        respondent_column = _find_row_names(frame, name_by_simplified)
        if respondent_column == RESPONDENT.name:
            frame = frame.assign(**{RESPONDENT.name: range(1, len(frame) + 1)})
    if respondent_column is None:
        raise DataError(
            "No column of the answers identifies the respondent; give its name with ",
            Argument("respondent"),
            ".",
        )
    version_column = _find_version_column(frame, design, name_by_simplified)
    used_columns = {respondent_column, version_column}
    if is_wide:
        column_by_task = _find_task_columns(frame, design, used_columns, codes)
        used_columns |= set(column_by_task.values())
        frame = pd.concat(
            [
                frame.assign(**{_TASK: label, _PICKED: frame[name]})
                for label, name in column_by_task.items()
            ]
        )
        frame = frame.sort_index(kind="stable")
        task_column = _TASK
        chosen_column = _PICKED
    else:
        column_by_task = dict.fromkeys(_label_cells(frame, task_column), chosen_column)
    labels = _label_cells(frame, chosen_column)
    return TaskAnswers(
        frame,
        respondent_column,
        _label_cells(frame, version_column),
        _label_cells(frame, task_column),
        np.array([codes.get(label, label) for label in labels], object),
        column_by_task,
        used_columns | {task_column, chosen_column},
    )


def _find_row_names(frame: pd.DataFrame, name_by_simplified: Mapping[str, str]) -> str | None:
    """Return the column that names respondents of one row each, or a new one if none may do so."""
    # elsewhere, a case or a session is a task
    columns = [*TASK.find_possible_columns(name_by_simplified)] or [RESPONDENT.name]
    for name in columns:
        if name not in frame.columns or frame[name].is_unique:
            return name
    return None


def _is_no_choice(label: str) -> bool:
    """Return whether a label means that no alternative was chosen."""
    return simplify_name(label) in NO_CHOICE


# A design of sets has one set per row; a respondent's answers are in one column per set


# possible contents of an answer column
_SET_ANSWERS = (CHOSEN_OF_TWO, BEST, WORST, ODD, SIMILARITY)


class SetAnswers(NamedTuple):
    """Table of answers to sets of options, and its columns."""

    frame: pd.DataFrame  # with columns best_1, worst_1, ...
    name_by_column: dict[str, str]  # B1 -> best_1, of the columns that were renamed
    marked: list[str]  # columns of the best and of the worst option, one row per set
    task: str | None
    version: str | None
    respondent: str | None


def _read_set_answers(frame: pd.DataFrame) -> SetAnswers:
    """Find the columns of answers to sets by their names."""
    name_by_column = _name_best_worst(column_names(frame))
    frame = frame.rename(columns=name_by_column)
    names = map_plain_names(column_names(frame))
    task, respondent = (role.find_column(names) for role in (TASK, RESPONDENT))
    marked_columns = _find_best_and_worst(names)
    version = _find_answer_version(names)
    return SetAnswers(frame, name_by_column, marked_columns, task, version, respondent)


def _match_set_answers(
    table: RawTable,
    design: RawTable,
    columns: DesignColumns,
    option_columns: list[str],
    set_answers: SetAnswers,
) -> RawTable:
    """Merge answers with a design of option sets: one row per respondent and set."""
    answers = set_answers.frame
    design_versions = _label_cells(design.frame, columns.version)
    set_numbers = _count_rows(design.frame, design_versions)
    marked_columns = set_answers.marked
    task = None
    if marked_columns:
        task = set_answers.task
    else:
        answers, marked_columns = _stack_answers(set_answers, max(map(int, set_numbers)))
    version = None
    if len({*design_versions}) > 1:
        version = set_answers.version
        if version is None:
            raise _build_version_error(len({*design_versions}), columns.version)
    versions = _label_cells(answers, version)
    if version is None:
        versions[:] = design_versions[0]
    if (row := find_first(~np.isin(versions, design_versions))) is not None:
        raise DataError(
            f"Version {versions[row]!r}, in row {answers.index[row]} of the answers, does not occur"
            " in the design."
        )
    if task is not None:
        answers = answers.rename(columns={task: _TASK})
        if columns.task is not None:
            set_numbers = _label_cells(design.frame, columns.task)
    elif set_answers.marked:
        answers = answers.assign(**{_TASK: _number_tasks(set_answers, versions, design_versions)})
    respondent_columns = [
        name for name in column_names(answers) if name not in (*marked_columns, version, _TASK)
    ]
    _check_column_clash(respondent_columns, (*option_columns, columns.task), "sets")
    design_sets = zip(design_versions, set_numbers, strict=True)
    row_by_set = {version_and_task: row for row, version_and_task in enumerate(design_sets)}
    answered_sets: dict[Any, dict[str, Any]] = {}
    for answer_index, version_and_task in enumerate(
        zip(versions, _label_cells(answers, _TASK), strict=True)
    ):
        answer_row = answers.iloc[answer_index]
        answer_cells = answer_row[marked_columns].to_dict()
        if not any(map(format_label, answer_cells.values())):
            continue
        if version_and_task not in row_by_set:
            raise DataError(
                f"Task {version_and_task[1]!r}, in row {answers.index[answer_index]} of the"
                " answers, does not occur in the design."
            )
        set_row = design.frame.iloc[row_by_set[version_and_task]]
        set_cells = answer_row[[*respondent_columns]].to_dict()
        if columns.task is not None:
            set_cells[columns.task] = set_row[columns.task]
        options = {name: format_label(set_row[name]) for name in option_columns}
        row_label = answers.index[answer_index]
        if answers.index.has_duplicates:  # several sets in a row
            row_label = len(answered_sets) + 1
        answered_sets[row_label] = set_cells | _join_options(answer_cells, options)
    read_columns = [
        name
        for name in column_names(table.frame)
        if set_answers.name_by_column.get(name, name) not in respondent_columns
        and name not in (version, task)
    ]
    if not answered_sets:
        raise DataError(f"The answer columns, {shorten(sorted(read_columns))}, are empty.")
    note = f"answers in {shorten(read_columns, 4)} matched to the design in {design.file}"
    frame = pd.DataFrame(list(answered_sets.values()), pd.Index(list(answered_sets)))
    return replace(table, frame=frame, note=join_notes(table.note, note))


def _find_best_and_worst(name_by_simplified: Mapping[str, str]) -> list[str]:
    """Return the columns of best and of worst options; [] if one is missing."""
    columns = [role.find_column(name_by_simplified) for role in (BEST, WORST)]
    if None in columns:
        return []
    return list(map(str, columns))


def _stack_answers(answers: SetAnswers, n_sets: int) -> tuple[pd.DataFrame, list[str]]:
    """Return one row per respondent and set, and the names of the answer columns."""
    frame = answers.frame
    series = _find_answer_series(frame, n_sets)
    answer_columns = {name for columns in series.values() for name in columns.values()}
    if answers.respondent is None:
        frame = frame.assign(respondent=range(1, len(frame) + 1))
    parts = [
        frame.drop(columns=list(answer_columns)).assign(
            **{_TASK: set_number},
            **{stem: frame.get(columns.get(set_number)) for stem, columns in series.items()},
        )
        for set_number in range(1, n_sets + 1)
    ]
    return pd.concat(parts).sort_index(kind="stable"), list(series)


def _number_tasks(
    answers: SetAnswers, versions: np.ndarray, design_versions: np.ndarray
) -> np.ndarray:
    """Return the number of each answer among the answers of its respondent, as texts."""
    people = _label_cells(answers.frame, answers.respondent)
    answers_by_person = Counter(people)
    sets_by_version = Counter(design_versions)
    for person, version in dict(zip(people, versions, strict=True)).items():
        n_answers = answers_by_person[person]
        n_sets = sets_by_version[version]
        if n_answers != n_sets:
            raise DataError(
                f"Respondent {person!r} has {format_plural(n_answers, 'answer')}, but the design"
                f" has {format_plural(n_sets, 'set')}; number the answers in a column 'task'."
            )
    return _count_rows(answers.frame, people)


def _count_rows(frame: pd.DataFrame, keys: Any) -> np.ndarray:
    """Return the number of each row among the rows with the same key, as texts."""
    return (frame.groupby(keys).cumcount() + 1).map(str).to_numpy(object)


def _widen_design(frame: pd.DataFrame, columns: DesignColumns) -> pd.DataFrame:
    """Convert a design with one row per item of a set to one row per set; others stay."""
    keys = [name for name in (columns.version, columns.task) if name is not None]
    known_columns = {*keys, columns.item, columns.rank}
    if columns.task is None or columns.item is None or not frame.duplicated(keys).any():
        return frame
    if not known_columns.issuperset(column_names(frame)):
        return frame  # attributes of products
    positions = "option" + _count_rows(frame, keys)
    return frame.pivot_table(columns.item, keys, positions, "first").reset_index()


def _find_answer_series(frame: pd.DataFrame, n_tasks: int) -> dict[str, dict[int, str]]:
    """Find series of answer columns, one per set, as {name: {set number: column}}."""
    # Examples: chosen_1, chosen_2, ..., or in Qualtrics 1_chosen, 2_chosen, ...
    columns_by_name: dict[str, dict[int, str]] = {}
    for stem, columns in _group_numbered(column_names(frame), _LOOP, _SERIES).items():
        columns = {number: name for number, name in columns.items() if 1 <= number <= n_tasks}
        if columns and _is_answer_name(stem):
            columns_by_name.setdefault(stem.strip("_. "), {}).update(columns)
    if not columns_by_name:
        raise DataError(
            f"The design has {format_plural(n_tasks, 'set')}, but no columns with the answers were"
            " found. Use one column per set, such as 'chosen_1', 'chosen_2', ..., or columns such"
            " as 'best_1' and 'worst_1', or 'rank1_1' and 'rank2_1'."
        )
    return columns_by_name


def _group_numbered(names: Iterable[str], *patterns: re.Pattern[str]) -> dict[str, dict[int, str]]:
    """Group numbered columns as {name without its number: {number: column}}."""
    columns_by_stem: dict[str, dict[int, str]] = {}
    for name in names:
        match = next(filter(None, (pattern.fullmatch(name) for pattern in patterns)), None)
        if match is not None:
            columns_by_stem.setdefault(match["stem"], {})[int(match["number"])] = name
    return columns_by_stem


def _is_answer_name(column: str) -> bool:
    """Return whether a column name means chosen, best, worst, odd, similarity or a rank."""
    plain_name = simplify_name(column)
    return _is_numbered_rank(column) or any(plain_name in role.sure for role in _SET_ANSWERS)


def _is_numbered_rank(column: str) -> bool:
    """Return whether a column name means a rank, without a number at its end."""
    return is_rank_name(simplify_name(column).rstrip("0123456789"))


def _join_options(answer_cells: dict[str, Any], option_by_column: dict[str, str]) -> dict[str, Any]:
    """Return the cells of one answered set: its options and answers, or a ranking."""
    option_labels = list(option_by_column.values())
    if len(option_labels) == 2 and "3" not in option_labels:  # 3 is a tie
        for stem, cell in answer_cells.items():
            if simplify_name(stem) in CHOSEN_OF_TWO.sure and format_label(cell) == "3":
                answer_cells[stem] = TIE_WORDS[0]
    rank_stems = sorted(filter(_is_numbered_rank, answer_cells), key=lambda stem: (len(stem), stem))
    if not rank_stems:
        return option_by_column | answer_cells
    ranked_texts = [format_label(answer_cells.pop(stem)) for stem in rank_stems]
    return answer_cells | {_RANKING: _join_ranks(ranked_texts, option_labels)}


def _join_ranks(ranked_texts: list[str], option_labels: list[str]) -> str:
    """Combine the answers rank1, rank2, ... into one ranking; unranked options tie last."""
    label_by_position = {}
    if not {*ranked_texts} & {*option_labels}:
        label_by_position = {str(k): label for k, label in enumerate(option_labels, start=1)}
    tied_groups = [label_by_position.get(label, label) for label in ranked_texts if label]
    ranked_labels = {
        label for group in tied_groups for label in map(str.strip, _BETWEEN.split(group))
    }
    unranked_text = TIED.join(
        label for label in option_labels if label and label not in ranked_labels
    )
    return BEFORE.join(filter(None, [*tied_groups, unranked_text]))


def find_loop_answers(names: Iterable[str]) -> list[str]:
    """Return the columns 1_chosen, 2_chosen, ... or B1, W1, B2, ... of answers without sets."""
    names = list(names)
    if best_worst_names := _name_best_worst(names):
        return list(best_worst_names)
    name_by_simplified = map_plain_names(names)
    marked_columns = _find_best_and_worst(name_by_simplified)
    if marked_columns and VERSION.find_column(name_by_simplified):
        return marked_columns
    for question, columns in _group_numbered(names, _LOOP).items():
        if len(columns) > 1 and _is_answer_name(question):
            return list(columns.values())
    return []


def _name_best_worst(names: list[str]) -> dict[str, str]:
    """Map B1, W1, B2, ... or MD_1_b, MD_1_w, ... to best_1, worst_1, ...; {} for other names."""
    new_names = {}
    for question, (best, worst) in list_traits(names, _LETTERS).items():
        if number := re.search(r"\d+$", question):
            new_names |= {best: f"best_{number[0]}", worst: f"worst_{number[0]}"}
    if not 2 < len(new_names) == len({*new_names.values()}):
        return {}
    return new_names


# A design of products has one product per row -----------------------------------------------------


_TASK, _PICKED = "thali task", "thali picked"  # names that do not occur in files


def _find_version_column(
    frame: pd.DataFrame, design: DesignRows, name_by_simplified: Mapping[str, str]
) -> str | None:
    """Find the answers' column with the design version; None if there is one version."""
    if design.by is None:
        return None
    if design.by in frame.columns:
        return design.by
    version_column = _find_answer_version(name_by_simplified)
    design_versions = {version for version, _ in design.rows} - {ALL_RESPONDENTS}
    if version_column is None and len(design_versions) > 1:
        raise _build_version_error(len(design_versions), design.by)
    return version_column


def _find_answer_version(name_by_simplified: Mapping[str, str]) -> str | None:
    """Return the answers' column of versions, such as sys_CBCVersion_1; None if there is none."""
    return VERSION.find_column(name_by_simplified) or next(
        (name for word, name in name_by_simplified.items() if "version" in word), None
    )


def _build_version_error(n_versions: int, version_column: str | None) -> DataError:
    """Build the error for answers that do not state the design version."""
    return DataError(
        f"The design has {format_plural(n_versions, 'version')}, but the answers do not show which"
        f" version each respondent received; add a column called {version_column!r}."
    )


def _label_cells(frame: pd.DataFrame, column: str | None) -> np.ndarray:
    """Return a column's cells as an array of labels; "" everywhere if `column` is None."""
    if column is None:
        return np.full(len(frame), "", object)
    return read_row_texts(get_column(frame, column))


def _find_task_columns(
    frame: pd.DataFrame, design: DesignRows, used_columns: set[Any], codes: Mapping[str, str]
) -> dict[str, str]:
    """Find the answer column of each task, where a row has all answers of a respondent."""
    tasks = list(dict.fromkeys(task for _, task in design.rows))
    max_alternatives = max(len(rows) for rows in design.rows.values())
    possible_answers = {
        *("", *codes),
        *map(str, range(max_alternatives + 2)),
        *design.all_labels,
    }
    shares = {  # of labels that are no answers
        name: np.mean(
            [
                label not in possible_answers and not _is_no_choice(label)
                for label in map(format_label, frame[name].unique())
            ]
        )
        for name in column_names(frame)
        if name not in used_columns
    }

    def select_series(max_share: float) -> list[dict[int, str]]:
        """Return the series of columns with at most this share of foreign labels."""
        columns = [name for name, share in shares.items() if share <= max_share]
        return _select_series(columns, len(tasks))

    matching_series = select_series(0.0)
    if not matching_series:  # the first cell that is no answer will be reported
        matching_series = select_series(1.0)
        if len(matching_series) > 1:
            matching_series = select_series(_MAX_FOREIGN)[:1]
    if len(matching_series) != 1:
        problem = "no series of columns contains the answers"
        if matching_series:
            first_columns = shorten([next(iter(columns.values())) for columns in matching_series])
            problem = (
                f"several series of columns could contain the answers: those from {first_columns}"
                " onwards"
            )
        raise DataError(
            f"The design has {format_plural(len(tasks), 'task')}, but {problem}. Keep one column"
            " per task ('choice1', 'choice2', ...) with the label or number of the chosen"
            " alternative, or use one row per respondent and task."
        )
    columns = [name for _, name in sorted(matching_series[0].items())]
    if all(map(str.isdigit, tasks)):
        tasks.sort(key=int)
    return dict(zip(tasks, columns, strict=True))


_MAX_FOREIGN = 0.5  # share of the labels of a column that are neither alternatives nor codes


def _select_series(all_columns: list[str], n_tasks: int) -> list[dict[int, str]]:
    """Return each series of numbered columns that has one column per task."""
    for pattern in (_SERIES, _LOOP):
        series = _group_numbered(all_columns, pattern).values()
        if matching_series := [columns for columns in series if len(columns) == n_tasks]:
            return matching_series
    return []


def _join_answers(design: DesignRows, answers: TaskAnswers) -> tuple[pd.DataFrame, int]:
    """Return the products of all answers, and the number of tasks without an answer."""
    # The columns are the design row (-1: no choice), the label of the alternative, whether it was
    # picked, and the index of the answer.
    rows_by_version = {version: design.select_tasks(version) for version in {*answers.version}}
    design_versions = {version for version, _ in design.rows} - {ALL_RESPONDENTS}
    if len(design_versions) == 1:
        rows_by_version[""] = design.select_tasks(*design_versions)
    choice_by_answer = {
        index: choice
        for index in range(len(answers.picked))
        if (choice := _find_choice(design, rows_by_version, answers, index)) is not None
    }
    has_added_none = any(
        chosen_position == len(task_rows)
        for task_rows, chosen_position in choice_by_answer.values()
    )
    products = []
    for index, (task_rows, chosen_position) in choice_by_answer.items():
        labels_of_task = zip(task_rows.tolist(), design.list_labels(task_rows), strict=True)
        rows_of_task = [*labels_of_task, *[(-1, NONE)] * has_added_none]
        products += [
            (row, label, k == chosen_position, index) for k, (row, label) in enumerate(rows_of_task)
        ]
    n_unanswered = len(answers.picked) - len(choice_by_answer)
    return pd.DataFrame(products, columns=["row", "label", "picked", "answer"]), n_unanswered


def _refuse_numbers_from_zero(design: DesignRows, answers: TaskAnswers) -> None:
    """Raise DataError if 0 among the answers may be the first alternative, or none."""
    n_alternatives = max(map(len, design.rows.values()))
    numbers_from_zero = {str(k) for k in range(n_alternatives)}
    if numbers_from_zero == {*answers.picked} - {""} and not design.all_labels & {"0", *NO_CHOICE}:
        raise DataError(
            f"The answers are the numbers 0 to {n_alternatives - 1}, so 0 may mean the first of"
            f" the {n_alternatives} alternatives or none of them. Number the alternatives from 1,"
            f" and write {NONE!r} if none was chosen."
        )


def _find_choice(
    design: DesignRows,
    rows_by_version: Mapping[str, Mapping[str, np.ndarray]],
    answers: TaskAnswers,
    answer_index: int,
) -> tuple[np.ndarray, int] | None:
    """Return an answer's design rows and its chosen position; None if unanswered."""
    # A position after the last row means no choice.
    version = answers.version[answer_index]
    task = answers.task[answer_index]
    chosen_text = answers.picked[answer_index]
    location_text = f"in row {answers.frame.index[answer_index]} of the answers"
    rows_of_task = rows_by_version[version].get(task)
    if not chosen_text:
        return None
    if design.by is not None and not version and not rows_by_version[""]:
        raise DataError(
            f"The design has several values of {design.by!r}, but the answer {location_text} has"
            f" none of them; add a column {design.by!r} to the answers."
        )
    if rows_of_task is None:
        description = f"Task {task!r}"
        if version:
            description += f" of {design.by} {version!r}"
        raise DataError(f"{description} {location_text} is not in the design.")
    alternative_labels = design.list_labels(rows_of_task)
    if chosen_text in alternative_labels:
        return rows_of_task, alternative_labels.index(chosen_text)
    if _is_no_choice(chosen_text) or chosen_text in ("0", str(len(rows_of_task) + 1)):
        return rows_of_task, next(
            (k for k, label in enumerate(alternative_labels) if _is_no_choice(label)),
            len(rows_of_task),
        )
    position = parse_position(chosen_text, len(rows_of_task))
    ordered_labels = sorted(alternative_labels)
    # of letters in another order, a number may mean the letter or the row
    are_letters = "".join(ordered_labels) in {symbols[: len(rows_of_task)] for symbols in _NUMBERS}
    if position >= 0 and (alternative_labels == ordered_labels or not are_letters):
        return rows_of_task, position
    raise DataError(
        f"Column {answers.column_by_task[task]!r} contains {chosen_text!r} {location_text}, but the"
        f" alternatives of that task are {shorten(alternative_labels)}. If it means that none of"
        " them was chosen, set ",
        Setting(NONE, chosen_text),
        "; if there is no answer, set ",
        Setting("coding", {chosen_text: MISSING}),
        ", or give the label or number of an alternative instead of 'missing'.",
    )
