"""Answers in one table and the design in another: what everybody saw beside what they chose, as one
long table."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from thali._data.described_columns import shown_columns
from thali._data.roles import (
    ALTERNATIVE,
    BEST,
    CHOSEN,
    CHOSEN_OF_TWO,
    NO_CHOICE,
    ODD,
    RESPONDENT,
    RESPONDENT_OF_TASKS,
    SIMILARITY,
    TASK,
    TIE_WORDS,
    VERSION,
    WORST,
    by_plain_name,
    column_names,
    plain,
)
from thali._labels import as_label, plural, shorten
from thali.errors import Argument, DataError

from .cells import joined
from .table import RawTable, in_file

NONE = "none"  # the alternative that is added where the design has none
EVERYBODY = "0"  # the version of tasks that everybody sees, in Sawtooth Software's design files
_LOOP = re.compile(r"(\d+)_(\D.*)")  # a loop of Qualtrics, and its question
_SERIES = re.compile(r"(.*\D)(\d+)\D*")  # columns of answers, a task each


class DesignRows(NamedTuple):
    """The rows of each task, in the order of the table."""

    frame: pd.DataFrame
    by: str | None  # the column of versions, or of respondents; None: everybody has the same tasks
    task: str
    alternative: str | None
    rows: dict[tuple[str, str], np.ndarray]  # (version, task) -> rows

    def tasks_of(self, version: str) -> dict[str, np.ndarray]:
        """Task -> rows, of a version, and of everybody where it has none of that name."""
        found = {task: rows for (own, task), rows in self.rows.items() if own == EVERYBODY}
        return found | {task: rows for (own, task), rows in self.rows.items() if own == version}

    def labels(self, rows: np.ndarray) -> list[str]:
        """What the alternatives of a task are called."""
        if self.alternative is None:
            return [str(k + 1) for k in range(len(rows))]
        return [as_label(label) for label in self.frame[self.alternative].iloc[rows]]


def answered(
    table: RawTable, design: RawTable, given: Mapping[str, Any]
) -> tuple[RawTable, dict[str, str]]:
    """The tasks of the design with who chose what in them, and the columns of that table by role.

    `given` names columns of the answers by role.
    """
    table.refuse_short_rows()
    with in_file(design.file):
        design.refuse_short_rows()
        if shown := shown_columns(column_names(design.frame)):
            return _sets_answered(table, design, shown), {}
        laid_out = _design(design.frame, column_names(table.frame))
    answers = _answers(table.frame, laid_out, given)
    rows, picked, of_answer, added, unanswered = _joined(laid_out, answers)
    alternative = laid_out.alternative or "alternative"
    own = [
        name
        for name in column_names(laid_out.frame)
        if name not in (laid_out.by, laid_out.task, alternative)
    ]
    people = [
        str(name) for name in table.frame.columns if str(name) not in (*answers.used, laid_out.by)
    ]
    _refuse_both(people, (*own, laid_out.task, alternative, CHOSEN.name), "products")
    # -1: no row, all of it empty
    taken: Any = laid_out.frame[own].reset_index(drop=True).reindex(rows)
    index = answers.frame.index[of_answer]
    made = {
        answers.respondent: answers.frame[answers.respondent].to_numpy()[of_answer],
        laid_out.task: answers.task[of_answer],
        alternative: np.array(added, dtype=object),
        **{name: taken[name].to_numpy() for name in own},
        CHOSEN.name: picked.astype(int),
        **{name: answers.frame[name].to_numpy()[of_answer] for name in people},
    }
    left_out = f"; {plural(unanswered, 'task')} without an answer dropped" if unanswered else ""
    note = joined(table.note, f"answers matched to the design in {design.file}{left_out}")
    roles = {
        "respondent": answers.respondent,
        "task": laid_out.task,
        "alternative": alternative,
        "chosen": CHOSEN.name,
    }
    return replace(table, frame=pd.DataFrame(made, index), note=note), roles


def _refuse_both(people: list[str], shown: Collection[str | None], what: str) -> None:
    """Refuse columns that describe people and are called like those of what was shown."""
    if clash := [name for name in people if name in shown]:
        raise DataError(
            f"Both the answers and the design have a column {clash[0]!r}; rename the column in one"
            f" file, so that columns of respondents and columns of {what} have different names."
        )


def _design(frame: pd.DataFrame, answers: list[str]) -> DesignRows:
    """The columns of a design and the rows of its tasks."""
    own = by_plain_name(column_names(frame))
    by, task, alternative = VERSION.among(own), TASK.among(own), next(ALTERNATIVE.surely(own), None)
    if task is None:
        raise DataError(
            "A design needs a column of task numbers, such as 'task'; this design has none."
        )
    if by is None and (who := RESPONDENT_OF_TASKS.among(own)) in answers:
        by = who  # everybody's own tasks
    versions = (
        np.full(len(frame), EVERYBODY, object)
        if by is None
        else frame[by].map(as_label).to_numpy(object)
    )
    keys = list(zip(versions, frame[task].map(as_label), strict=True))
    rows: dict[tuple[str, str], list[int]] = {}
    for row, key in enumerate(keys):
        rows.setdefault(key, []).append(row)
    if single := [key for key, own_rows in rows.items() if len(own_rows) < 2]:
        raise DataError(
            f"Task {single[0][1]!r} has only one row; a design needs one row per alternative of a"
            " task (thali design writes it as design.csv)."
        )
    return DesignRows(
        frame, by, task, alternative, {key: np.array(own_rows) for key, own_rows in rows.items()}
    )


class TaskAnswers(NamedTuple):
    """Answers, a row a person and task."""

    frame: pd.DataFrame
    respondent: str
    version: np.ndarray
    task: np.ndarray
    picked: np.ndarray
    used: tuple[str, ...]  # columns that describe nobody


def _answers(frame: pd.DataFrame, design: DesignRows, given: Mapping[str, Any]) -> TaskAnswers:
    """The answers, from a row a task, or a row a person with a column a task."""
    own = by_plain_name(column_names(frame))
    respondent = given.get("respondent") or RESPONDENT_OF_TASKS.among(own)
    if respondent is None:
        raise DataError(
            "No column of the answers identifies the respondent; name it with ",
            Argument("respondent"),
            ".",
        )
    version = _version_of(frame, design, own)
    task, chosen = given.get("task") or TASK.among(own), given.get("chosen") or CHOSEN.among(own)
    if task is not None and chosen is not None:
        used = (str(respondent), str(task), str(chosen), *([] if version is None else [version]))
        return TaskAnswers(
            frame,
            respondent,
            _texts(frame, version),
            _texts(frame, str(task)),
            _texts(frame, str(chosen)),
            used,
        )
    columns = _series_of(frame, design, [respondent, version])
    long = pd.concat(
        [frame.assign(**{_TASK: label, _PICKED: frame[name]}) for label, name in columns.items()]
    )
    long = long.sort_index(kind="stable")
    used = (
        str(respondent),
        *columns.values(),
        _TASK,
        _PICKED,
        *([] if version is None else [version]),
    )
    return TaskAnswers(
        long, respondent, _texts(long, version), _texts(long, _TASK), _texts(long, _PICKED), used
    )


# Sets of options, which a design has in a row each: the answers of a person stand in a column a set


_ASKED = (CHOSEN_OF_TWO, BEST, WORST, ODD, SIMILARITY)  # what a column of answers to a set holds


def _sets_answered(table: RawTable, design: RawTable, shown: list[str]) -> RawTable:
    """A row a person and set: what was shown, and what the columns of answers hold of it."""
    own, answers = by_plain_name(column_names(design.frame)), table.frame
    version, task = VERSION.among(own, shown), TASK.among(own, shown)
    rows: dict[str, list[int]] = {}
    names = (
        [EVERYBODY] * len(design.frame) if version is None else design.frame[version].map(as_label)
    )
    for row, name in enumerate(names):
        rows.setdefault(name, []).append(row)
    there = by_plain_name(column_names(answers))
    had = None if len(rows) == 1 else VERSION.among(there)
    if had is None and len(rows) > 1:
        raise DataError(
            f"The design has {plural(len(rows), 'version')}, but no column of the answers gives"
            f" each respondent's version; name such a column {version!r}."
        )
    series = _series_of_answers(answers, max(map(len, rows.values())))
    used = {name for columns in series.values() for name in columns.values()}
    people = [name for name in column_names(answers) if name not in used and name != had]
    _refuse_both(people, (*shown, task), "sets")
    who = RESPONDENT.among(there, used)
    found: list[dict[str, Any]] = []
    for place in range(len(answers)):
        name = next(iter(rows)) if had is None else as_label(answers[had].iloc[place])
        if name not in rows:
            raise DataError(
                f"The design has no version {name!r}, which row {answers.index[place]} contains."
            )
        person = answers.iloc[place]
        for number, row in enumerate(rows[name], start=1):
            cells = {stem: person.get(columns.get(number)) for stem, columns in series.items()}
            if any(map(as_label, cells.values())):
                options = {each: as_label(design.frame[each].iloc[row]) for each in shown}
                cells = {
                    stem: _tied(stem, cell, list(options.values())) for stem, cell in cells.items()
                }
                first = {"respondent": place + 1} if who is None else {}
                at = {} if task is None else {str(task): design.frame[task].iloc[row]}
                found.append(
                    {**first, **{each: person[each] for each in people}, **at, **options, **cells}
                )
    if not found:
        raise DataError(f"The answer columns, {shorten(sorted(used))}, are empty.")
    note = joined(table.note, f"answers matched to the design in {design.file}")
    return replace(table, frame=pd.DataFrame(found, pd.RangeIndex(1, len(found) + 1)), note=note)


def _series_of_answers(frame: pd.DataFrame, tasks: int) -> dict[str, dict[int, str]]:
    """Name of an answer -> number of the set -> column: chosen_1, chosen_2, ..., or Qualtrics'
    1_chosen, ..."""
    asked = {word for role in _ASKED for word in role.sure}
    found: dict[str, dict[int, str]] = {}
    for name in column_names(frame):
        numbered = _numbered(name)
        if numbered is not None and plain(numbered[0]) in asked and 1 <= numbered[1] <= tasks:
            found.setdefault(numbered[0].strip("_. "), {})[numbered[1]] = name
    if not found:
        raise DataError(
            f"The design has {plural(tasks, 'set')}, but no columns contain the answers; use one"
            " column per set, such as 'chosen_1', 'chosen_2', ... or 'best_1', 'worst_1', ..."
        )
    return found


def _numbered(name: str) -> tuple[str, int] | None:
    """What a column is called, and its number; Qualtrics writes the number of a loop first."""
    return _in_loops(name) or _in_series(name)


def _in_loops(name: str) -> tuple[str, int] | None:
    """The same in Qualtrics alone, where the number of a loop stands first."""
    loop = _LOOP.fullmatch(name)
    return None if loop is None else (loop[2], int(loop[1]))


def answers_in_loops(names: Iterable[str]) -> list[str]:
    """Columns of answers as Qualtrics writes them, if there are several of one question: 1_chosen,
    2_chosen, ..."""
    asked = {word for role in _ASKED for word in role.sure}
    found: dict[str, list[str]] = {}
    for name in names:
        if (loop := _in_loops(name)) is not None and plain(loop[0]) in asked:
            found.setdefault(loop[0], []).append(name)
    return next((columns for columns in found.values() if len(columns) > 1), [])


def _in_series(name: str) -> tuple[str, int] | None:
    """The same where the number stands last."""
    found = _SERIES.fullmatch(name)
    return None if found is None else (found[1], int(found[2]))


def _tied(stem: str, cell: Any, options: list[str]) -> Any:
    """What an answer says; of two, the third one is that neither is preferred."""
    is_of_two = len(options) == 2 and plain(stem) in CHOSEN_OF_TWO.sure
    return TIE_WORDS[0] if is_of_two and as_label(cell) == "3" and "3" not in options else cell


# Products, of which a design has a row each -------------------------------------------------------


_TASK, _PICKED = "thali task", "thali picked"  # columns of no file


def _version_of(frame: pd.DataFrame, design: DesignRows, own: Mapping[str, str]) -> str | None:
    """The column of the answers by which the design knows which tasks they are of."""
    if design.by is None:
        return None
    if design.by in frame.columns:
        return design.by
    found = VERSION.among(own) or next(
        (name for word, name in own.items() if "version" in word), None
    )
    versions = {version for version, _ in design.rows} - {EVERYBODY}
    if found is None and len(versions) > 1:
        raise DataError(
            f"The design has {plural(len(versions), 'version')}, but no column of the answers"
            f" gives each respondent's version; name such a column {design.by!r}."
        )
    return found


def _texts(frame: pd.DataFrame, name: str | None) -> np.ndarray:
    """The cells of a column as labels; empty ones of none."""
    return (
        np.full(len(frame), "", object)
        if name is None
        else frame[name].map(as_label).to_numpy(object)
    )


def _series_of(frame: pd.DataFrame, design: DesignRows, taken: list[Any]) -> dict[str, str]:
    """Task -> column of the answers, in a table with a row a person."""
    tasks = list(dict.fromkeys(task for _, task in design.rows))
    most = max(len(rows) for rows in design.rows.values())
    picks = {
        "",
        *(str(k) for k in range(most + 2)),
        *(label for rows in design.rows.values() for label in design.labels(rows)),
    }
    answers = [
        name
        for name in column_names(frame)
        if name not in taken
        and all(
            label in picks or plain(label) in NO_CHOICE
            for label in map(as_label, frame[name].unique())
        )
    ]
    fitting = _fitting(answers, len(tasks), _in_series) or _fitting(answers, len(tasks), _in_loops)
    if len(fitting) != 1:
        named = shorten([next(iter(own.values())) for own in fitting])
        what = (
            f"several series of columns may contain the answers, starting with {named}"
            if fitting
            else "no series of columns contains the answers"
        )
        raise DataError(
            f"The design has {plural(len(tasks), 'task')}, but {what}; use one column per task"
            " with the label or number of the chosen alternative ('choice1', 'choice2', ...), or"
            " one row per respondent and task."
        )
    return dict(
        zip(_in_order(tasks), (fitting[0][number] for number in sorted(fitting[0])), strict=True)
    )


def _fitting(
    names: list[str], tasks: int, numbered: Callable[[str], tuple[str, int] | None]
) -> list[dict[int, str]]:
    """The series of so many columns, by their numbers."""
    series: dict[str, dict[int, str]] = {}
    for name in names:
        if found := numbered(name):
            series.setdefault(found[0], {})[found[1]] = name
    return [own for own in series.values() if len(own) == tasks]


def _in_order(tasks: list[str]) -> list[str]:
    """Tasks by their numbers; as they stand where they have none."""
    return sorted(tasks, key=int) if all(task.isdigit() for task in tasks) else tasks


# Of each row of the long table the row of the design (-1: no choice), whether it was picked, the
# answer that it is of and the label of its alternative; and how many tasks have no answer.
def _joined(
    design: DesignRows, answers: TaskAnswers
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str], int]:
    """The long table."""
    known = {version for version, _ in design.rows}
    of_version = {
        version: design.tasks_of(version) for version in {*answers.version.tolist(), *known}
    }
    if (alone := known - {EVERYBODY}) and len(alone) == 1:
        of_version[""] = design.tasks_of(min(alone))
    found = [_place(design, of_version, answers, place) for place in range(len(answers.picked))]
    adds = any(each is not None and each[1] == len(each[0]) for each in found)
    rows, picked, of_answer, labels = [], [], [], []
    for place, each in enumerate(found):
        if each is None:
            continue
        own, choice = each
        rows += [*own.tolist(), *([-1] if adds else [])]
        labels += [*design.labels(own), *([NONE] if adds else [])]
        size = len(own) + adds
        picked += [k == choice for k in range(size)]
        of_answer += [place] * size
    return np.array(rows), np.array(picked), np.array(of_answer), labels, found.count(None)


def _place(
    design: DesignRows,
    of_version: Mapping[str, Mapping[str, np.ndarray]],
    answers: TaskAnswers,
    place: int,
) -> tuple[np.ndarray, int] | None:
    """The rows of the task of an answer, and which was chosen; their number: none of them; None:
    there is no answer."""
    version, task, picked = answers.version[place], answers.task[place], answers.picked[place]
    where = f"in row {answers.frame.index[place]} of the answers"
    own = of_version[version].get(task)
    if not picked:
        return None
    if design.by is not None and not version and not of_version[""]:
        raise DataError(
            f"The design has several values of {design.by!r}, but the answer {where} does not say"
            f" which it belongs to; add a column {design.by!r} to the answers."
        )
    if own is None:
        of_which = f" of {design.by} {version!r}" if version else ""
        raise DataError(f"Task {task!r}{of_which} {where} is not in the design.")
    labels = design.labels(own)
    if picked in labels:
        return own, labels.index(picked)
    if plain(picked) in NO_CHOICE or picked in ("0", str(len(own) + 1)):
        return own, next(
            (k for k, label in enumerate(labels) if plain(label) in NO_CHOICE), len(own)
        )
    if picked.isdigit() and 1 <= int(picked) <= len(own):
        return own, int(picked) - 1
    raise DataError(
        f"{picked!r} was chosen {where}, but the alternatives of that task are {shorten(labels)}."
    )
