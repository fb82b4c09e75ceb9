"""Tasks of a questionnaire: options, versions."""

import csv
import itertools
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.column_guesses import find_option_columns
from thali._data.column_readers import read_flags
from thali._data.column_roles import NO_CHOICE, column_names, simplify_name
from thali._data.experiments.product_encoding import HELD_OUT
from thali._designs.set_designs import sets
from thali._labels import check_labels, format_label, format_plural, index_labels, shorten
from thali._paired.pair_design import PairDesign
from thali.errors import Argument, ArgumentError, DataError, Setting, prefix_errors

from .answer_collection import TASK, TRIAL

if TYPE_CHECKING:
    import pandas

    from thali._inference.random_seeds import RandomSeed

PAIRS, BEST, BEST_WORST, RANKING, ODD, RATINGS, CHOICE = KINDS = (
    *("pairs", "best", "best-worst", "ranking", "odd-one-out", "ratings", "choice"),
)
_SIZE_OF_KIND = {PAIRS: 2, RATINGS: 2, ODD: 3}  # options per task, where the kind fixes the number
_DEFAULT_SIZE, _MAX_RANKED = 4, 7  # default set size; the most options ranked in a single task
_MAX_TASKS = {PAIRS: 100, RATINGS: 60, ODD: 40}  # default tasks per respondent
_APPEARANCES, _MAX_SETS = 3, 30  # default appearances per option; the most sets per respondent
_N_VERSIONS = 12  # where no respondent sees all tasks
# files that `thali design --out` writes
_DESIGN_FILE = "design.csv"
_WORKBOOK_FILE = "tables.xlsx"
_TYPESET_ENDINGS = (".md", ".tex")
# also recognised in capitals
_DESIGN_COLUMNS = re.compile(r"option\d*|version|task|alternative|first|second")
# some columns of each kind of table
_HEADERS = ({"option1"}, {"first", "second"}, {"task"})
OFFERED_NONE = "available_none"  # column: 1 if the respondent may choose none of the products
_UNUSED_SEPARATOR = "\x1f"  # a separator that does not occur in text


class QuestionnaireTask(NamedTuple):
    """One task: numbers of its options, or its products."""

    shown: tuple[Any, ...]  # option numbers; in a choice task the cells of each product
    none: bool = False  # whether the respondent may choose none of the products
    held_out: bool = False


@dataclass(frozen=True)
class Survey:
    """Kind of question, options, and tasks by version."""

    kind: str
    options: tuple[str, ...]  # () in choice tasks
    versions: tuple[tuple[QuestionnaireTask, ...], ...]
    attributes: tuple[str, ...] = ()  # of products

    @property
    def tasks(self) -> list[QuestionnaireTask]:
        """Tasks of all versions, in order."""
        return list(itertools.chain(*self.versions))

    @property
    def has_held_out(self) -> bool:
        """Whether some tasks are hold-outs, excluded from fits."""
        return any(task.held_out for task in self.tasks)

    @property
    def has_none(self) -> bool:
        """Whether some tasks offer "none of these"."""
        return any(task.none for task in self.tasks)

    @property
    def number_column(self) -> str:
        """Name of the answer column with the task or trial number."""
        if self.kind == CHOICE:
            return TASK
        return TRIAL


def build_survey(
    design: Any,
    question_kind: str | None,
    size: int | None,
    per_person: int | None,
    random_seed: "RandomSeed",
) -> Survey:
    """Build a survey from a design, or from options alone."""
    if question_kind is not None and question_kind not in KINDS:
        raise ArgumentError(
            Argument("kind"), f" must be one of {shorten(KINDS, 7)}; got {question_kind!r}."
        )
    options_or_design = _read_design(design)
    if isinstance(options_or_design, tuple):
        return _build_default_survey(
            options_or_design, question_kind or PAIRS, size, per_person, random_seed
        )
    for name, setting in (("size", size), ("per_person", per_person)):
        if setting is not None:
            raise ArgumentError(
                Argument(name),
                " applies to options only; a design already defines its tasks. Remove ",
                Argument(name),
                ".",
            )
    if "alternative" in options_or_design:
        return _build_choice_survey(options_or_design, question_kind)
    return _build_set_survey(options_or_design, question_kind)


# What a user gives --------------------------------------------------------------------------------


def _read_design(design: Any) -> "tuple[str, ...] | pandas.DataFrame":
    """Read options, or the table of a design, from a path or object."""
    import pandas as pd

    if isinstance(design, PairDesign):
        return design.table
    if isinstance(design, str | Path):
        return _read_path(Path(design))
    if isinstance(design, pd.DataFrame):
        return _parse_table(design)
    if isinstance(design, Iterable) and not isinstance(design, Mapping):
        return check_labels(design, "The options")
    raise ArgumentError(
        Argument("design"),
        f" must be a list of options, a table or a path; got {design!r}.",
    )


def _read_path(path: Path) -> "tuple[str, ...] | pandas.DataFrame":
    """Read options or a design from a folder, text file or table."""
    from thali._reading.table_files import read_table
    from thali._reading.text_cells import decode_text

    if path.is_dir():
        if (path / _DESIGN_FILE).is_file():
            return _read_path(path / _DESIGN_FILE)
        if (path / _WORKBOOK_FILE).is_file():
            return _read_workbook(path / _WORKBOOK_FILE)
        _check_not_typeset(path / f"design{ending}" for ending in _TYPESET_ENDINGS)
        raise DataError(f"{path} contains no {_DESIGN_FILE}; give the file with the options.")
    if not path.is_file():
        raise DataError(
            f"There is no file or folder {str(path)!r}; give a list of options, a table or a"
            " folder."
        )
    _check_not_typeset([path])
    file_bytes = path.read_bytes()
    text_lines = [line.strip() for line in decode_text(file_bytes).splitlines() if line.strip()]
    if (
        text_lines and simplify_name(text_lines[0].strip('"')) == "option"
    ):  # a single column has no separator
        option_rows = csv.reader(text_lines[1:], delimiter=_UNUSED_SEPARATOR)
        return check_labels([row[0].strip() for row in option_rows], "The options")
    if path.suffix.lower() in (".txt", "") and not (text_lines and _is_table_header(text_lines[0])):
        try:
            file_bytes.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise DataError(
                f"{path} is not UTF-8 text; save the options as plain text, one per line."
            ) from None
        return check_labels(text_lines, "The options")
    frame = read_table(path)
    with prefix_errors(path.name):
        return _parse_table(frame)


def _check_not_typeset(files: Iterable[Path]) -> None:
    """Raise DataError for tables formatted as LaTeX or Markdown."""
    for file in files:
        if file.suffix.lower() in _TYPESET_ENDINGS and file.is_file():
            raise DataError(
                f"{file} is a table formatted for documents; write the design as CSV or Excel"
                " (--tables csv)."
            )


def _read_workbook(path: Path) -> "tuple[str, ...] | pandas.DataFrame":
    """Read the design's sheet of an Excel workbook."""
    from thali._reading.table_files import build_raw_table, read_excel_sheets

    with prefix_errors(path.name):
        sheets = read_excel_sheets(path.read_bytes())
        if "design" not in sheets:
            raise DataError(
                "A design workbook needs a sheet 'design'; this workbook has"
                f" {shorten(list(sheets))}."
            )
        return _parse_table(build_raw_table(sheets["design"], path.name).frame)


def _is_table_header(line: str) -> bool:
    """Return whether a line has column names rather than an option."""
    column_names = {simplify_name(name.strip(' "')) for name in re.split(r"[\t;,|]", line)}
    return len(column_names) > 1 and any(column_names >= columns for columns in _HEADERS)


def _parse_table(frame: "pandas.DataFrame") -> "tuple[str, ...] | pandas.DataFrame":
    """Return the options or the design in a table."""
    frame = frame.set_axis(_normalise_names(column_names(frame)), axis=1)
    if "option" in frame and "task" not in frame:
        return check_labels(frame["option"], "The options")
    if "alternative" in frame or len(find_option_columns(frame)) > 1:
        return frame
    raise DataError(
        "The table must have a column option, or be a design with option1, option2 and so on,"
        " first and second, or task, alternative and attributes; it has"
        f" {shorten(list(frame.columns))}."
    )


def _normalise_names(names: list[str]) -> list[str]:
    """Return column names; names of a design in lower case."""
    # A name changes only where no other column has the plain name.
    plain_names = names[:]
    for k, name in enumerate(names):
        # a version is an attribute next to columns in lower case
        is_attribute = simplify_name(name) == "version" and "alternative" in names
        if (
            _DESIGN_COLUMNS.fullmatch(simplify_name(name))
            and simplify_name(name) not in plain_names
            and not is_attribute
        ):
            plain_names[k] = simplify_name(name)
    return plain_names


# Tasks --------------------------------------------------------------------------------------------


def _build_default_survey(
    options: tuple[str, ...],
    question_kind: str,
    size: int | None,
    per_person: int | None,
    random_seed: "RandomSeed",
) -> Survey:
    """Build tasks for options without design: all sets, or a balanced subset."""
    if question_kind == CHOICE:
        raise ArgumentError(
            Setting("kind", CHOICE),
            " requires products; give it a design from thali.designs.choice, or its table.",
        )
    n = len(options)
    if size is not None and question_kind in _SIZE_OF_KIND:
        raise ArgumentError(
            Argument("size"),
            f" does not apply to the kind {question_kind!r}, which shows"
            f" {_SIZE_OF_KIND[question_kind]} options at a time. Remove ",
            Argument("size"),
            ".",
        )
    if size is None:
        default_size = min(_DEFAULT_SIZE, n)
        if question_kind == RANKING and n <= _MAX_RANKED:
            default_size = n
        size = _SIZE_OF_KIND.get(question_kind, default_size)
    min_options = max(size, 3)
    if question_kind in (PAIRS, RATINGS):
        min_options = size
    if n < min_options:
        raise ArgumentError(
            f"The kind {question_kind!r} requires at least {min_options} options; got"
            f" {format_plural(n, 'option')}."
        )
    n_sets = math.comb(n, size)
    if per_person is None:
        max_tasks = min(_MAX_SETS, math.ceil(_APPEARANCES * n / size))
        per_person = min(n_sets, _MAX_TASKS.get(question_kind, max_tasks))
    versions = _N_VERSIONS
    if per_person >= n_sets:
        versions = 1
    design = sets(options, size, per_person, versions, random_seed)
    return _build_set_survey(design, question_kind, options)


def _build_set_survey(
    frame: "pandas.DataFrame",
    question_kind: str | None,
    options: tuple[str, ...] | None = None,
) -> Survey:
    """Build a survey from a design of pairs or sets."""
    option_columns = find_option_columns(frame)
    if question_kind is None and len(option_columns) > 2:
        raise ArgumentError(
            f"The design has sets of {len(option_columns)}; choose the question with ",
            Argument("kind"),
            f" ({BEST!r}, {BEST_WORST!r}, {RANKING!r} or {ODD!r}).",
        )
    question_kind = question_kind or PAIRS
    if question_kind == CHOICE:
        raise ArgumentError(
            Setting("kind", CHOICE),
            " requires a design with the columns task, alternative and attributes.",
        )
    required_size = _SIZE_OF_KIND.get(question_kind)
    if required_size is not None and len(option_columns) != required_size:
        raise ArgumentError(
            f"The kind {question_kind!r} shows {required_size} options at a time, but the design"
            f" has sets of {len(option_columns)}; change one of the two."
        )
    labels_by_row = [
        [format_label(cell) for cell in row]
        for row in frame[option_columns].itertuples(index=False)
    ]
    for row_number, row in enumerate(labels_by_row, start=1):
        if required_size is not None and "" in row:
            raise DataError(
                f"The kind {question_kind!r} shows {required_size} options at a time, but set"
                f" {row_number} of the design has an empty cell; fill it in."
            )
    labels_by_row = [[label for label in row if label] for row in labels_by_row]
    for row_number, row in enumerate(labels_by_row, start=1):
        if len(set(row)) < max(2, len(row)):
            raise DataError(
                f"Set {row_number} of the design must show at least two different options; it has"
                f" {row!r}."
            )
    if options is None:
        options = tuple(dict.fromkeys(itertools.chain(*labels_by_row)))
    option_index = index_labels(options)
    tasks = [
        QuestionnaireTask(tuple(option_index[label] for label in row)) for row in labels_by_row
    ]
    versions = _group_by_version(frame, tasks)
    return Survey(question_kind, options, versions)


def _check_filled(frame: "pandas.DataFrame", names: Iterable[str]) -> None:
    """Raise DataError if a cell of these columns is empty."""
    for name in names:
        for row_number, cell in enumerate(frame[name], start=1):
            if not format_label(cell):
                raise DataError(
                    f"Column {name!r} of the design is empty in row {row_number}; fill it in."
                )


def _build_choice_survey(frame: "pandas.DataFrame", question_kind: str | None) -> Survey:
    """Build a survey from a design of products."""
    if question_kind not in (None, CHOICE):
        raise ArgumentError(
            Setting("kind", question_kind),
            f" requires options, but the design has products; use {CHOICE!r}.",
        )
    if "task" not in frame:
        raise DataError(
            "A design of choice tasks with a column alternative also needs a column task; add it."
        )
    attributes = [
        name for name in frame if name not in ("version", "task", "alternative", HELD_OUT)
    ]
    if not attributes:
        raise DataError(
            "A design of choice tasks needs at least one attribute in addition to task and"
            " alternative; add its column."
        )
    frame = frame.reset_index(drop=True)  # merged designs repeat row numbers
    task_columns = [name for name in ("version", "task") if name in frame]
    _check_filled(frame, task_columns)
    if (is_repeated := frame.duplicated([*task_columns, "alternative"])).any():
        repeated_row = frame.loc[is_repeated.idxmax()]
        raise DataError(
            f"Task {format_label(repeated_row['task'])} of the design lists alternative"
            f" {format_label(repeated_row['alternative'])} twice; if several designs were merged,"
            " add a column named 'version'."
        )
    is_held_out = np.zeros(len(frame), bool)
    if HELD_OUT in frame:
        is_held_out = read_flags(frame, HELD_OUT)
    tasks = []
    first_task_rows = []
    for _, task_rows in frame.groupby(task_columns, sort=False):
        tasks.append(_build_choice_task(task_rows, is_held_out[task_rows.index], attributes))
        first_task_rows.append(task_rows.index[0])
    n_shown = {len(task.shown) for task in tasks}
    if len(n_shown) > 1:
        raise DataError(
            "All tasks of a design must have the same number of products; these tasks have"
            f" {sorted(n_shown)}."
        )
    return Survey(
        CHOICE, (), _group_by_version(frame.loc[first_task_rows], tasks), tuple(attributes)
    )


def _build_choice_task(
    task_rows: "pandas.DataFrame", is_held_out: np.ndarray, attributes: list[str]
) -> QuestionnaireTask:
    """Build a task from the design rows of its products."""
    if is_held_out.any() and not is_held_out.all():
        task_label = format_label(task_rows["task"].iloc[0])
        raise DataError(
            f"Task {task_label} of the design is a holdout in some rows but not in others; use one"
            " value in all."
        )
    labels = task_rows["alternative"].map(format_label)
    is_none = labels.map(simplify_name).isin(NO_CHOICE) & task_rows[attributes].isna().all(axis=1)
    product_rows = task_rows.loc[~is_none, attributes].itertuples(index=False)
    products = tuple(tuple(map(format_label, row)) for row in product_rows)
    if len(products) < 2:
        raise DataError(
            f"Each task of the design needs at least two products; one has {len(products)}."
        )
    return QuestionnaireTask(products, bool(is_none.any()), bool(is_held_out.any()))


def _group_by_version(
    frame: "pandas.DataFrame", tasks: list[QuestionnaireTask]
) -> tuple[tuple[QuestionnaireTask, ...], ...]:
    """Return each version's tasks, in the order of the design."""
    if "version" not in frame:
        return (tuple(tasks),)
    _check_filled(frame, ["version"])
    tasks_of_version: dict[str, list[QuestionnaireTask]] = {}
    for version, task in zip(frame["version"], tasks, strict=True):
        tasks_of_version.setdefault(format_label(version), []).append(task)
    return tuple(map(tuple, tasks_of_version.values()))
