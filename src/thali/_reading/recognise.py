"""Which data a table holds: each shape is tried, and one of them must match."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from thali._data.columns import column
from thali._data.kinds import EXPERIMENTS, SIMILARITIES, spec_of_kind
from thali._data.roles import (
    COUNT,
    OBJECTS,
    RESPONDENT,
    TARGET,
    TASK_OF_RESPONDENT,
    by_plain_name,
    refuse_ambiguous,
)
from thali._labels import as_label, shorten, suggest
from thali._source import Source
from thali.errors import Argument, ArgumentError, Clause, DataError, Message

from .beside_design import answered, answers_in_loops
from .cells import joined
from .codes import coded, read_codes
from .shape import Reading, Shape
from .shapes import SHAPES
from .table import RawTable, in_file, load
from .where import Where

if TYPE_CHECKING:
    from .table import RawTable


# What labels are called where people read them: files without folder and ending, and names that a
# table gives


_MEDIA = re.compile(
    r"(?:.*[/\\])?([^/\\]+)\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?|mp3|wav|ogg|flac|m4a|mp4|mov|webm)",
    re.I,
)
_MAX_DIFFERENT = 10_000  # different cells of a column that holds something else than labels


def read_labels(path: Path) -> dict[str, str]:
    """Name in the data -> label that is shown, from a table of these two columns."""
    from .table import in_file, read_table

    frame = read_table(path)
    with in_file(str(path)):
        if frame.shape[1] != 2:
            raise DataError(
                "A table of labels needs two columns: the name in the data and the label to show;"
                f" this table has {frame.shape[1]}."
            )
        names, labels = ([as_label(cell) for cell in frame.iloc[:, side]] for side in (0, 1))
        for what, column in (("names", names), ("labels", labels)):
            if not all(column):
                raise DataError(
                    f"A table of labels needs a name and a label in each row; some {what} are"
                    " empty."
                )
            if twice := list(dict.fromkeys(each for each in column if column.count(each) > 1)):
                raise DataError(
                    f"The {what} in a table of labels must be unique; {shorten(twice)} is listed"
                    " twice."
                )
    return dict(zip(names, labels, strict=True))


def relabelled(table: "RawTable", labels: Mapping[str, str]) -> "RawTable":
    """The table with those names replaced wherever they are a whole cell of text, or label a
    square."""
    cells = {cell for column in _texts_of(table) for cell in column}
    if lost := [name for name in labels if name not in cells]:
        raise DataError(
            Argument("labels"),
            f" lists {lost[0]!r}, which no text cell contains.{suggest(lost[0], tuple(cells))}",
        )
    if doubled := [
        label for name, label in labels.items() if label in cells and label not in labels
    ]:
        raise DataError(
            Argument("labels"),
            f" renames a label to {doubled[0]!r}, which the data already contain.",
        )
    return _with(table, labels)


def without_file_names(table: "RawTable") -> "RawTable":
    """The table with names of pictures, sounds and films without their folder and ending, and a
    sentence about it."""
    names = [
        name for column in _texts_of(table) if all(map(_MEDIA.fullmatch, column)) for name in column
    ]
    labels = {name: _plain(name) for name in dict.fromkeys(names)}
    if not labels or len(set(labels.values())) < len(labels) or not all(labels.values()):
        return table
    name, label = next(iter(labels.items()))
    note = f"file names in labels shown without folder and extension ({label!r} for {name!r})"
    return _with(table, labels, note)


def _plain(name: str) -> str:
    """ice cream for stimuli/ice_cream.png."""
    found = _MEDIA.fullmatch(name)
    return "" if found is None else " ".join(found[1].replace("_", " ").split())


def _texts_of(table: "RawTable") -> list[list[str]]:
    """The different cells of each column of text, and the header of a square."""
    if table.sheets:
        return [column for _, sheet in table.sheets for column in _texts_of(sheet)]
    columns = [table.frame.iloc[:, k] for k in range(table.frame.shape[1])]
    found = [labels for column in columns if _is_text(column) and (labels := _different(column))]
    return [*found, *([_header(table)] if _is_square(table) else [])]


def _header(table: "RawTable") -> list[str]:
    return [as_label(name) for name in table.frame.columns[1:]]


def _is_square(table: "RawTable") -> bool:
    """Whether the first column has the labels of the header."""
    header = set(_header(table))
    return bool(header) and header <= set(map(as_label, table.frame.iloc[: 2 * len(header), 0]))


def _is_text(column: pd.Series) -> bool:
    return column.dtype.kind not in "biufcmM"


def _different(column: pd.Series) -> list[str]:
    """The different cells that are there; [] of very many."""
    values = column.dropna().unique()
    return (
        [label for value in values if (label := as_label(value))]
        if len(values) <= _MAX_DIFFERENT
        else []
    )


def _with(table: "RawTable", labels: Mapping[str, str], note: str = "") -> "RawTable":
    """The table with other labels, and a note."""

    def called(value: object) -> object:
        return labels.get(as_label(value), value)

    if table.sheets:
        sheets = tuple((title, _with(sheet, labels)) for title, sheet in table.sheets)
        return replace(table, sheets=sheets, note=joined(table.note, note))
    frame = table.frame.copy(deep=False)
    for k in range(frame.shape[1]):
        column = frame.iloc[:, k]
        if _is_text(column):
            values = [value for value in column.dropna().unique() if as_label(value) in labels]
            if values:
                frame.isetitem(
                    k, column.astype(object).replace({value: called(value) for value in values})
                )
    if _is_square(table):
        frame.columns = [str(called(name)) for name in frame.columns]
    return replace(table, frame=frame, note=joined(table.note, note))


COVARIATES = "covariates"  # the columns that describe comparisons
# What decides no shape: who answered and in which task, and what names the shape.
_DECIDE_NONE = (RESPONDENT.name, TASK_OF_RESPONDENT.name, OBJECTS.name, TARGET.name)
_COLUMNS = {role.name for shape in SHAPES for role in shape.roles}
# Only shapes that know all of these that are given are tried.
_DECIDING = _COLUMNS.difference(_DECIDE_NONE) | {"unranked", COVARIATES, "dissimilarities"}


class RecognitionError(DataError):
    """A table can be read in no way, in several, or only as another kind of data than was asked
    for.

    Attributes
    ----------
    found : tuple of str
        The kinds of data that it may hold, as `thali._data.kinds` names them.
    wanted : tuple of str
        The kinds that were asked for; none: any.
    nearest : str
        The shape that the table nearly has; "" if none is near.
    """

    found: tuple[str, ...]
    wanted: tuple[str, ...]
    nearest: str

    def __init__(
        self,
        message: object,
        found: tuple[str, ...] = (),
        wanted: tuple[str, ...] = (),
        nearest: str = "",
    ) -> None:
        super().__init__(message)
        self.found, self.wanted, self.nearest = found, wanted, nearest


def read(path: str | Path | Source, *kinds: str, **options: Any) -> tuple[Any, str]:
    """The data in a file, and a sentence that says how they were read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tea.csv"
    >>> _ = path.write_text("winner;loser;times\\ntea;milk;3\\nmilk;tea;1\\n")
    >>> read(path)[1]
    "long table, 'winner' chosen over 'loser', counts in 'times': 2 options, 1 pair, 4 comparisons"
    >>> _ = path.write_text(",tea,milk\\ntea,1,0.3\\nmilk,0.3,1\\n")
    >>> read(path)
    (Similarities(2 objects, 1 similarity), '2 objects, 1 similarity, square table; diagonal
    ignored')
    """
    where = Where.of(options.pop("where", None))
    return recognise(load(path), *kinds, where=where, **options).build()


def recognise(
    table: RawTable,
    *kinds: str,
    shapes: tuple[Shape, ...] = SHAPES,
    where: Any = None,
    without: Sequence[str] = (),
    labels: Mapping[str, str] | Path | None = None,
    codes: Path | None = None,
    design: Path | None = None,
    holdouts: Any = None,
    held_out: bool = False,
    asks: bool = False,
    **options: Any,
) -> Reading:
    """The one way to read a table; of `holdouts`, a condition, the rows that are held out, or the
    others.

    `without`: columns that are not read. `asks`: nobody said that the data are of these kinds, so a
    doubt is an error.
    """
    order: dict[str, list[str]] = {}
    if design is not None:
        with in_file(table.file):
            table, columns = answered(table, load(design), options)
        options |= columns
        kinds = kinds or ((EXPERIMENTS,) if columns else ())  # products
    if codes is not None:
        with in_file(table.file):
            table, order = coded(table, read_codes(codes), options.get("attributes"))
    tried = [shape for shape in shapes if not kinds or shape.kind in kinds]
    deciding = {name for name, value in options.items() if name in _DECIDING and value is not None}
    tried = [shape for shape in tried if deciding <= set(shape.options)] or tried
    named = [
        shape for shape in tried if any(options.get(name) is not None for name in shape.named_by)
    ]
    triangles = {shape.name for shape in tried if shape.triangle}
    conditions = Where.of(where)
    with in_file(table.file):
        table = table.only(conditions).parted(Where.of(holdouts, "holdouts"), held_out)
        table = without_file_names(table.without(without, columns_in(options)))
        if labels is not None:
            table = relabelled(table, read_labels(labels) if isinstance(labels, Path) else labels)
        for role in sorted(_COLUMNS - {TARGET.name}):  # what classes are in is asked of the shape
            columns = options.get(role) or ()
            for name in [columns] if isinstance(columns, str) else columns:
                column(table.frame, name)
        if table.short_rows and not triangles:
            raise DataError(table.short_rows)
        known = {
            "known": len(kinds) == 1
            or (bool(kinds) and all(spec_of_kind(kind).of_objects for kind in kinds)),
            "levels": order | (options.get("levels") or {}) or None,
        }
        readings = _matches(named or tried, table, options | known)
        sure = [reading for reading in readings if reading.sure] or readings[:1]
        if (
            design is None
            and (not sure or kinds == (EXPERIMENTS,))
            and (loops := answers_in_loops(table.names))
        ):
            raise DataError(
                f"The columns {shorten(loops)} contain answers, but the table does not contain the"
                " questions; name the design with ",
                Argument("design"),
                ".",
            )
        if len(sure) > 1:
            raise _ambiguous(sure, kinds)
        if sure and sure[0].doubt is not None and (asks or not kinds or SIMILARITIES in kinds):
            raise RecognitionError(sure[0].doubt, (SIMILARITIES, sure[0].kind), kinds)
        if table.short_rows and not (sure and sure[0].shape in triangles):
            raise DataError(table.short_rows)
        if not sure and options.get(COVARIATES) is not None:
            raise RecognitionError(_no_order(table), (), kinds)
        if not sure:
            others = [shape for shape in shapes if shape not in tried]
            raise _unknown(
                table, tried, [each for each in _matches(others, table, {}) if each.sure], kinds
            )
        read_by = sure[0].roles
        if read_by is not None and read_by.who is None and not read_by.counts:
            refuse_ambiguous(table.frame, list(options.values()))
        of_others = {
            name for shape in shapes if shape.name != sure[0].shape for name in shape.options
        }
        of_others -= {
            name for shape in shapes if shape.name == sure[0].shape for name in shape.options
        }
        if unused := [
            name for name, value in options.items() if value is not None and name in of_others
        ]:
            raise ArgumentError(
                Argument(unused[0]),
                f" does not apply to this table ({sure[0].how}); remove ",
                Argument(unused[0]),
                ".",
            )
    return sure[0]


def columns_in(options: Mapping[str, Any]) -> list[str]:
    """List the columns that these options name, whatever else they say."""
    several = (value for value in options.values() if isinstance(value, list | tuple | Mapping))
    return [
        *(value for value in options.values() if isinstance(value, str)),
        *chain.from_iterable(several),
    ]


def check_names(options: dict[str, Any], *kinds: str) -> None:
    """Refuse names of columns, and other arguments about a table, that no shape of such data
    has."""
    known = {
        name for shape in SHAPES if shape.kind in kinds for name in shape.options if name != "known"
    }
    known |= {"where", "without", "labels", "codes", "design"}
    if unknown := [name for name in options if name not in known]:
        names = shorten(sorted(known), 40)
        raise ArgumentError(f"Unknown argument {unknown[0]!r}; arguments for tables: {names}.")


def _matches(shapes: list[Shape], table: RawTable, options: dict[str, Any]) -> list[Reading]:
    """The readings of the shapes that match; the fault of a shape counts only where no other is
    sure."""
    readings, faults = [], []
    for shape in shapes:
        try:
            reading = shape.match(
                table, **{name: options[name] for name in shape.options if name in options}
            )
        except DataError as fault:
            faults.append(fault)
        else:
            readings += [] if reading is None else [reading]
    if faults and not any(reading.sure for reading in readings):
        raise faults[0]
    return readings


def _ambiguous(readings: list[Reading], wanted: tuple[str, ...]) -> DataError:
    ways = "; or as ".join(f"{reading.kind} ({reading.how})" for reading in readings)
    kinds = tuple(dict.fromkeys(reading.kind for reading in readings))
    if len(kinds) == 1:  # of which nothing but the names of the columns decides
        return DataError(
            f"The table can be read as {ways}; remove or rename the columns that cause the wrong"
            " reading."
        )
    return RecognitionError(
        f"The table can be read as {ways}; specify which is meant.", kinds, wanted
    )


def _unknown(
    table: RawTable, tried: list[Shape], others: list[Reading], wanted: tuple[str, ...]
) -> RecognitionError:
    """The error about a table of another kind, or of none, which names the nearest shape."""
    kinds = wanted or tuple(dict.fromkeys(shape.kind for shape in tried))
    if others:
        found = others[0]
        message = f"The table contains {found.kind} ({found.how}), not {_either(kinds)}."
        return RecognitionError(message, (found.kind,), wanted)
    near = [(shape, lack) for shape in tried if table.named and (lack := shape.lacks(table))]
    known = (
        "do not match a known layout"
        if len(kinds) > 2
        else f"are not recognised as {_either(kinds)}"
    )
    found = f"The columns {shorten(table.names, 12)} {known}"
    if not near and holds_scores(table):
        return RecognitionError(
            f"The table contains scores (real numbers in {shorten(table.names, 4)}), not"
            " comparisons; write one row per item and pair of options, with the columns 'winner'"
            " and 'loser'.",
            (),
            wanted,
        )
    if not near and not wanted:
        return RecognitionError(f"{found}. {reasons(tried, table)}", (), wanted)
    if not near:
        shapes = "; or ".join(shape.expected for shape in tried)
        if len(kinds) > 1:
            shapes = _either(tuple(f"a {shape.name}" for shape in tried))
        return RecognitionError(f"{found}; expected {shapes}.", (), wanted)
    shape, lack = max(near, key=lambda each: each[1].near)
    name = (
        Clause("; if such a column exists, name it with ", Argument(lack.option))
        if lack.option
        else ""
    )
    message = Message(
        f"{found}. The closest layout is a {shape.name}, but it lacks {lack.what}",
        name,
        f". Expected: {shape.expected}.",
    )
    return RecognitionError(message, (), wanted, shape.name)


def holds_scores(table: RawTable) -> bool:
    """Return whether a table has columns of real numbers beside one of labels or none, as scores of
    models have."""
    frame: Any = table.frame
    numbers = [name for name in frame.columns if frame[name].dtype.kind in "iuf"]
    real = [name for name in numbers if (frame[name] % 1 > 0).any()]
    return len(real) > 1 and len(numbers) > frame.shape[1] - 2


def reasons(tried: Sequence[Shape], table: RawTable) -> str:
    """List the shapes that were tried, and what the table lacks of each."""
    return (
        f"Layouts tried: {'; '.join(f'{shape.name} ({_reason(shape, table)})' for shape in tried)}."
    )


def _reason(shape: Shape, table: RawTable) -> str:
    """Say what a table lacks of a shape: columns with its names, else what such a table has."""
    own = by_plain_name(table.names)
    main = [
        role
        for role in shape.roles
        if role.name in shape.main and role.name not in (RESPONDENT.name, COUNT.name)
    ]
    lacking = [role.name for role in main if role.among(own) is None]
    return f"no {', '.join(lacking)}" if lacking else shape.needs


def _no_order(table: RawTable) -> Message:
    """The error about a table with covariates that does not say which option was first."""
    return Message(
        "Covariates describe the first option minus the second, but the columns"
        f" {shorten(table.names, 12)} do not show which came first; use one trial per row with the"
        " columns 'left', 'right' and 'chosen', or name them with ",
        Argument("first"),
        ", ",
        Argument("second"),
        " and ",
        Argument("chosen"),
        ". A table of pairs with counts needs the options in the columns 'left' and 'right', or"
        " 'home' and 'away'.",
    )


def _either(kinds: tuple[str, ...]) -> str:
    return " or ".join(filter(None, [", ".join(kinds[:-1]), kinds[-1]]))
