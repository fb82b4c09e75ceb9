"""What is asked: options with their pictures, and the tasks that each version of a questionnaire
shows."""

import csv
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.columns import flags
from thali._data.described_columns import shown_columns
from thali._data.experiments.scheme import HELD_OUT
from thali._data.roles import NO_CHOICE, column_names, plain
from thali._designs.sets import sets
from thali._labels import as_label, checked_labels, plural, positions, shorten
from thali._paired.design import PairDesign
from thali.errors import Argument, ArgumentError, DataError, Setting

from .pictures import ENDINGS

if TYPE_CHECKING:
    import pandas

PAIRS, BEST, BEST_WORST, RANKING, ODD, RATINGS, CHOICE = KINDS = (
    *("pairs", "best", "best-worst", "ranking", "odd-one-out", "ratings", "choice"),
)
_SIZES = {PAIRS: 2, RATINGS: 2, ODD: 3}  # options of a task, where the kind says so
_USUAL_SIZE, _RANKED = 4, 7  # of a set; options that are all ranked at once
_MOST = {PAIRS: 100, RATINGS: 60, ODD: 40}  # tasks of a person, of options alone
_TIMES, _MOST_SETS = 3, 30  # how often each option is in a set; sets of a person
_VERSIONS = 12  # where nobody sees all tasks
# as `thali design --out` writes it
_DESIGN, _WORKBOOK, _SET = "design.csv", "tables.xlsx", (".md", ".tex")
# in capitals, too
_COLUMNS = re.compile(r"option\d*|picture|version|task|alternative|first|second")
# some columns of each kind of table
_HEADERS = ({"option", "picture"}, {"option1"}, {"first", "second"}, {"task"})
OFFERED_NONE = "available_none"  # the column of whether none of the products may be chosen
_NOWHERE = "\x1f"  # a separator that no text holds


class QuestionnaireTask(NamedTuple):
    """One question: options by their numbers, or products."""

    shown: tuple[Any, ...]  # numbers of options; of a choice task the cells of each product
    none: bool = False  # whether none of the products may be chosen
    held_out: bool = False


@dataclass(frozen=True)
class QuestionnaireContent:
    """What a questionnaire asks."""

    kind: str
    options: tuple[str, ...]  # () of choice tasks
    pictures: dict[str, Path]
    versions: tuple[tuple[QuestionnaireTask, ...], ...]
    attributes: tuple[str, ...] = ()  # of products

    @property
    def has_held_out(self) -> bool:
        """Whether some tasks are held out of fits."""
        return any(task.held_out for tasks in self.versions for task in tasks)

    @property
    def has_none(self) -> bool:
        """Whether none of the products may be chosen in some tasks."""
        return any(task.none for tasks in self.versions for task in tasks)


class Options(NamedTuple):
    """Options before anybody knows how they are asked."""

    labels: tuple[str, ...]
    pictures: dict[str, Path]


def asked_of(
    design: Any, kind: str | None, size: int | None, per_person: int | None, random_seed: Any
) -> QuestionnaireContent:
    """What is asked, of a design or of options alone."""
    if kind is not None and kind not in KINDS:
        raise ArgumentError(Argument("kind"), f" must be one of {shorten(KINDS, 7)}; got {kind!r}.")
    found = _read(design)
    if isinstance(found, Options):
        return _of_options(found, kind or PAIRS, size, per_person, random_seed)
    for name, value in (("size", size), ("per_person", per_person)):
        if value is not None:
            raise ArgumentError(
                Argument(name),
                " applies to options only; a design already defines its tasks. Remove ",
                Argument(name),
                ".",
            )
    return _of_products(found, kind) if "alternative" in found else _of_sets(found, kind)


# What a user gives --------------------------------------------------------------------------------


def _read(design: Any) -> "Options | pandas.DataFrame":
    """Options, or the table of a design."""
    import pandas as pd

    if isinstance(design, PairDesign):
        return design.table
    if isinstance(design, str | Path):
        return _in_path(Path(design))
    if isinstance(design, pd.DataFrame):
        return _in_table(design, Path())
    if isinstance(design, Mapping):
        labels = checked_labels(design, "The options")
        pictures = {
            label: Path(path)
            for label, path in zip(labels, design.values(), strict=True)
            if path is not None
        }
        return Options(labels, pictures)
    if isinstance(design, Iterable):
        return Options(checked_labels(design, "The options"), {})
    raise ArgumentError(
        Argument("design"),
        " must be a list of options, a mapping of options to pictures, a table or a path; got"
        f" {design!r}.",
    )


def _in_path(path: Path) -> "Options | pandas.DataFrame":
    """A folder of pictures or with a design, a text with an option a line, or a table."""
    from thali._reading.cells import decoded
    from thali._reading.table import in_file, read_table

    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in ENDINGS)
        if not files and (path / _DESIGN).is_file():
            return _in_path(path / _DESIGN)
        if not files and (path / _WORKBOOK).is_file():
            return _in_workbook(path / _WORKBOOK)
        if not files:
            _refuse_set(path / f"design{ending}" for ending in _SET)
            raise DataError(
                f"{path} contains no pictures and no {_DESIGN}; pictures must have the extensions"
                f" {', '.join(ENDINGS)}."
            )
        return _with_pictures([str(file) for file in files], Path())
    if not path.is_file():
        raise DataError(
            f"There is no file or folder {str(path)!r}; give a list of options, a table or a"
            " folder."
        )
    _refuse_set([path])
    content = path.read_bytes()
    lines = [line.strip() for line in decoded(content).splitlines() if line.strip()]
    if lines and plain(lines[0].strip('"')) == "option":  # the one column, which no separator shows
        return _with_pictures(
            [row[0].strip() for row in csv.reader(lines[1:], delimiter=_NOWHERE)], path.parent
        )
    if path.suffix.lower() in (".txt", "") and not (lines and _is_header(lines[0])):
        try:
            content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise DataError(
                f"{path} is not UTF-8 text; save the options as plain text, one per line."
            ) from None
        return _with_pictures(lines, path.parent)
    frame = read_table(path)
    with in_file(path.name):
        return _in_table(frame, path.parent)


def _refuse_set(files: Iterable[Path]) -> None:
    """Tables that are set for a text, which nothing reads."""
    for file in files:
        if file.suffix.lower() in _SET and file.is_file():
            raise DataError(
                f"{file} is a table formatted for documents; write the design as CSV or Excel"
                " (--tables csv)."
            )


def _in_workbook(path: Path) -> "Options | pandas.DataFrame":
    """The design in a workbook that holds other tables beside it."""
    from thali._reading.table import excel_sheets, in_file, text_table

    with in_file(path.name):
        sheets = excel_sheets(path.read_bytes())
        if "design" not in sheets:
            raise DataError(
                "A design workbook needs a sheet 'design'; this workbook has"
                f" {shorten(list(sheets))}."
            )
        return _in_table(text_table(sheets["design"], path.name).frame, path.parent)


def _is_header(line: str) -> bool:
    """Whether a line names the columns of a table rather than an option."""
    names = {plain(name.strip(' "')) for name in re.split(r"[\t;,|]", line)}
    return len(names) > 1 and any(names >= columns for columns in _HEADERS)


def _with_pictures(names: list[str], folder: Path) -> Options:
    """Options of which those that are names of files of pictures are shown as such, under the name
    without ending."""
    labels, pictures = [], {}
    for name in names:
        file = folder / name
        is_picture = file.suffix.lower() in ENDINGS
        labels.append(" ".join(file.stem.replace("_", " ").split()) if is_picture else name)
        if is_picture:
            pictures[labels[-1]] = file
    return Options(checked_labels(labels, "The options"), pictures)


def _in_table(frame: "pandas.DataFrame", folder: Path) -> "Options | pandas.DataFrame":
    """A table of options, perhaps with pictures, or a design."""
    frame = frame.set_axis(_usual_names(column_names(frame)), axis=1)
    if "option" in frame and "task" not in frame:
        labels = checked_labels(frame["option"], "The options")
        files = (
            [as_label(cell) for cell in frame["picture"]]
            if "picture" in frame
            else [""] * len(labels)
        )
        return Options(
            labels,
            {label: folder / file for label, file in zip(labels, files, strict=True) if file},
        )
    if "alternative" in frame or len(shown_columns(frame)) > 1:
        return frame
    raise DataError(
        "The table must have a column option, or be a design with option1, option2 and so on,"
        " first and second, or task, alternative and attributes; it has"
        f" {shorten(list(frame.columns))}."
    )


def _usual_names(names: list[str]) -> list[str]:
    """The names of columns, of which those of a design may be in capitals where no other column has
    the name."""
    found = names[:]
    for k, name in enumerate(names):
        # beside names that are not in capitals
        is_attribute = plain(name) == "version" and "alternative" in names
        if _COLUMNS.fullmatch(plain(name)) and plain(name) not in found and not is_attribute:
            found[k] = plain(name)
    return found


# Tasks --------------------------------------------------------------------------------------------


def _of_options(
    found: Options, kind: str, size: int | None, per_person: int | None, random_seed: Any
) -> QuestionnaireContent:
    """The usual tasks of such options: all that there are, or a balanced part for each person."""
    if kind == CHOICE:
        raise ArgumentError(
            Setting("kind", CHOICE),
            " requires products; give it a design from thali.designs.choice, or its table.",
        )
    n = len(found.labels)
    if size is not None and kind in _SIZES:
        raise ArgumentError(
            Argument("size"),
            f" does not apply to the kind {kind!r}, which shows {_SIZES[kind]} options at a time."
            " Remove ",
            Argument("size"),
            ".",
        )
    usual = n if kind == RANKING and n <= _RANKED else min(_USUAL_SIZE, n)
    size = _SIZES.get(kind, usual) if size is None else size
    least = max(size, 2 if kind in (PAIRS, RATINGS) else 3)
    if n < least:
        raise ArgumentError(
            f"The kind {kind!r} requires at least {least} options; got {plural(n, 'option')}."
        )
    if per_person is None:
        most = _MOST.get(kind, min(_MOST_SETS, math.ceil(_TIMES * n / size)))
        per_person = most if math.comb(n, size) > most else None
    versions = 1 if per_person is None or per_person >= math.comb(n, size) else _VERSIONS
    return _of_sets(sets(found.labels, size, per_person, versions, random_seed), kind, found)


def _of_sets(
    frame: "pandas.DataFrame", kind: str | None, known: Options | None = None
) -> QuestionnaireContent:
    """The tasks of a design of pairs or sets."""
    columns = shown_columns(frame)
    if kind is None and len(columns) > 2:
        raise ArgumentError(
            f"The design has sets of {len(columns)}; choose the question with ",
            Argument("kind"),
            f" ({BEST!r}, {BEST_WORST!r}, {RANKING!r} or {ODD!r}).",
        )
    kind = PAIRS if kind is None else kind
    if kind == CHOICE:
        raise ArgumentError(
            Setting("kind", CHOICE),
            " requires a design with the columns task, alternative and attributes.",
        )
    if (wanted := _SIZES.get(kind)) is not None and len(columns) != wanted:
        raise ArgumentError(
            f"The kind {kind!r} shows {wanted} options at a time, but the design has sets of"
            f" {len(columns)}; change one of the two."
        )
    rows = [[as_label(cell) for cell in row] for row in frame[columns].itertuples(index=False)]
    if wanted is not None and (
        short := [number for number, row in enumerate(rows, start=1) if "" in row]
    ):
        raise DataError(
            f"The kind {kind!r} shows {wanted} options at a time, but set {short[0]} of the design"
            " has an empty cell; fill it in."
        )
    rows = [[label for label in row if label] for row in rows]
    for number, row in enumerate(rows, start=1):
        if len(set(row)) < max(2, len(row)):
            raise DataError(
                f"Set {number} of the design must show at least two different options; it has"
                f" {row!r}."
            )
    labels = (
        tuple(dict.fromkeys(label for row in rows for label in row))
        if known is None
        else known.labels
    )
    place = positions(labels)
    tasks = [QuestionnaireTask(tuple(place[label] for label in row)) for row in rows]
    return QuestionnaireContent(
        kind, labels, {} if known is None else known.pictures, _by_version(frame, tasks)
    )


def _refuse_empty(frame: "pandas.DataFrame", names: Iterable[str]) -> None:
    """Rows that do not say of which version or task they are."""
    for name in names:
        if (empty := np.array([not as_label(cell) for cell in frame[name]])).any():
            raise DataError(
                f"Column {name!r} of the design is empty in row {int(empty.argmax()) + 1}; fill it"
                " in."
            )


def _of_products(frame: "pandas.DataFrame", kind: str | None) -> QuestionnaireContent:
    """The tasks of a design of choice tasks."""
    if kind not in (None, CHOICE):
        raise ArgumentError(
            Setting("kind", kind),
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
    frame = frame.reset_index(drop=True)  # designs that were put together have numbers twice
    keys = [name for name in ("version", "task") if name in frame]
    _refuse_empty(frame, keys)
    if (again := frame.duplicated([*keys, "alternative"])).any():
        row = frame.loc[again.idxmax()]
        raise DataError(
            f"Task {as_label(row['task'])} of the design lists alternative"
            f" {as_label(row['alternative'])} twice; if several designs were merged, add a column"
            " named 'version'."
        )
    held_out = flags(frame, HELD_OUT) if HELD_OUT in frame else np.zeros(len(frame), bool)
    tasks, firsts = [], []
    for _, part in frame.groupby(keys, sort=False):
        if len(set(held_out[part.index].tolist())) > 1:
            task = as_label(part["task"].iloc[0])
            raise DataError(
                f"Task {task} of the design is a holdout in some rows but not in others; use one"
                " value in all."
            )
        is_none = [plain(as_label(label)) in NO_CHOICE for label in part["alternative"]]
        is_none = [
            told and bool(row.isna().all())
            for told, (_, row) in zip(is_none, part[attributes].iterrows(), strict=True)
        ]
        cells = part[attributes].itertuples(index=False)
        products = tuple(
            tuple(map(as_label, row))
            for row, nothing in zip(cells, is_none, strict=True)
            if not nothing
        )
        if len(products) < 2:
            raise DataError(
                f"Each task of the design needs at least two products; one has {len(products)}."
            )
        tasks.append(QuestionnaireTask(products, any(is_none), bool(held_out[part.index[0]])))
        firsts.append(part.index[0])
    sizes = {len(task.shown) for task in tasks}
    if len(sizes) > 1:
        raise DataError(
            "All tasks of a design must have the same number of products; these tasks have"
            f" {sorted(sizes)}."
        )
    return QuestionnaireContent(
        CHOICE, (), {}, _by_version(frame.loc[firsts], tasks), tuple(attributes)
    )


def _by_version(
    frame: "pandas.DataFrame", tasks: list[QuestionnaireTask]
) -> tuple[tuple[QuestionnaireTask, ...], ...]:
    """The tasks of each version, in the order of the design."""
    if "version" not in frame:
        return (tuple(tasks),)
    _refuse_empty(frame, ["version"])
    parts: dict[str, list[QuestionnaireTask]] = {}
    for version, task in zip(frame["version"], tasks, strict=True):
        parts.setdefault(as_label(version), []).append(task)
    return tuple(map(tuple, parts.values()))
