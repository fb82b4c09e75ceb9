"""Which data a table holds: each shape is tried, and one of them must match."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from thali._labels import shorten
from thali._source import Source
from thali.data.columns import column
from thali.data.roles import OBJECTS, RESPONDENT, TARGET, TASK_OF_RESPONDENT, refuse_ambiguous
from thali.errors import Argument, ArgumentError, Clause, DataError, Message

from .shape import Reading, Shape
from .shapes import SHAPES
from .shown_labels import read_labels, relabelled, without_file_names
from .table import Table, in_file, load
from .where import Where

COVARIATES = "covariates"  # the columns that describe comparisons
# What decides no shape: who answered and in which task, and what names the shape.
_DECIDE_NONE = (RESPONDENT.name, TASK_OF_RESPONDENT.name, OBJECTS.name, TARGET.name)
_COLUMNS = {role.name for shape in SHAPES for role in shape.roles}
# Only shapes that know all of these that are given are tried.
_DECIDING = _COLUMNS.difference(_DECIDE_NONE) | {"unranked", COVARIATES}


class RecognitionError(DataError):
    """A table can be read in no way, in several, or only as another kind of data than was asked for.

    Attributes
    ----------
    found : tuple of str
        The kinds of data that it may hold, as `thali.data.kinds` names them.
    wanted : tuple of str
        The kinds that were asked for; none: any.
    nearest : str
        The shape that the table nearly has; "" if none is near.
    """

    found: tuple[str, ...]
    wanted: tuple[str, ...]
    nearest: str

    def __init__(
        self, message: object, found: tuple[str, ...] = (), wanted: tuple[str, ...] = (), nearest: str = ""
    ) -> None:
        super().__init__(message)
        self.found, self.wanted, self.nearest = found, wanted, nearest


def read(path: str | Path | Source, *kinds: str, **options: Any) -> tuple[Any, str]:
    """The data in a file, and a sentence that says how they were read.

    Parameters
    ----------
    path : str, Path or Source
        A CSV, TSV, Excel or Parquet file.
    *kinds : str
        The kinds of data that are wanted, of `thali.data.kinds`; none: whichever the table holds.
    **options
        What is known of the table besides: options of the shapes. A named column of choices or classes says which
        shape it is. `where`: conditions on the rows, as `recognise` takes them.

    Returns
    -------
    data : PairedComparisons, Choices, Similarities, Triplets, ChoiceExperiment or Observations
    sentence : str
        Such as "square count matrix, row over column: 9 options, 36 pairs, 8,424 comparisons".

    Raises
    ------
    DataError
        If the file cannot be read, can be read in no way or in several, or holds bad data.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tea.csv"
    >>> _ = path.write_text("winner;loser;times\\ntea;milk;3\\nmilk;tea;1\\n")
    >>> read(path)[1]
    "long table, 'winner' chosen over 'loser', counted by 'times': 2 options, 1 pair, 4 comparisons"
    >>> _ = path.write_text(",tea,milk\\ntea,1,0.3\\nmilk,0.3,1\\n")
    >>> read(path)
    (Similarities(2 objects, 1 similarity), '2 objects, 1 similarity, square table; the diagonal was not read')
    """
    where = Where.of(options.pop("where", None))
    return recognise(load(path), *kinds, where=where, **options).build()


def recognise(
    table: Table,
    *kinds: str,
    shapes: tuple[Shape, ...] = SHAPES,
    where: Any = None,
    labels: Mapping[str, str] | Path | None = None,
    **options: Any,
) -> Reading:
    """The one way to read a table.

    Parameters
    ----------
    table : Table
    *kinds, **options
        As for `read`.
    shapes : tuple of Shape
        Those that are known.
    where : str, list of str or Where, optional
        Conditions that hold in all rows that count; the others are left out before the table is looked at.
    labels : mapping of str to str, or Path, optional
        Name in the table -> label that is shown; a Path: of a table of these two columns.

    Returns
    -------
    Reading
        Nothing is converted yet.

    Raises
    ------
    ArgumentError
        If an option is of another shape than the one that the table has, or a condition cannot be read.
    RecognitionError
        If no shape matches, or several do.
    DataError
        If a label of a square is missing or occurs twice, or rows end early in a table that is no triangle.
    """
    tried = [shape for shape in shapes if not kinds or shape.kind in kinds]
    deciding = {name for name, value in options.items() if name in _DECIDING and value is not None}
    tried = [shape for shape in tried if deciding <= set(shape.options)] or tried
    named = [shape for shape in tried if any(options.get(name) is not None for name in shape.named_by)]
    triangles = {shape.name for shape in tried if shape.triangle}
    conditions = Where.of(where)
    with in_file(table.file):
        table = without_file_names(table.only(conditions))
        if labels is not None:
            table = relabelled(table, read_labels(labels) if isinstance(labels, Path) else labels)
        for role in sorted(_COLUMNS - {TARGET.name}):  # what classes are in is asked of the shape
            columns = options.get(role) or ()
            for name in [columns] if isinstance(columns, str) else columns:
                column(table.frame, name)
        if table.short_rows and not triangles:
            raise DataError(table.short_rows)
        readings = _matches(named or tried, table, options | {"known": len(kinds) == 1})
        sure = [reading for reading in readings if reading.sure] or readings[:1]
        if len(sure) > 1:
            raise _ambiguous(sure, kinds)
        if table.short_rows and not (sure and sure[0].shape in triangles):
            raise DataError(table.short_rows)
        if not sure and options.get(COVARIATES) is not None:
            raise RecognitionError(_no_order(table), (), kinds)
        if not sure:
            others = [shape for shape in shapes if shape not in tried]
            raise _unknown(table, tried, [each for each in _matches(others, table, {}) if each.sure], kinds)
        read_by = sure[0].roles
        if read_by is not None and read_by.who is None and not read_by.counts:
            refuse_ambiguous(table.frame, list(options.values()))
        of_others = {name for shape in shapes if shape.name != sure[0].shape for name in shape.options}
        of_others -= {name for shape in shapes if shape.name == sure[0].shape for name in shape.options}
        if unused := [name for name, value in options.items() if value is not None and name in of_others]:
            raise ArgumentError(Argument(unused[0]), f" says nothing of this table ({sure[0].how}); leave it out.")
    return sure[0]


def check_names(options: dict[str, Any], kind: str) -> None:
    """Refuse names of columns, and what else is said of a table, that no shape of such data has."""
    known = {name for shape in SHAPES if shape.kind == kind for name in shape.options if name != "known"}
    known |= {"where", "labels"}
    if unknown := [name for name in options if name not in known]:
        names = shorten(sorted(known), 40)
        raise ArgumentError(f"There is no argument {unknown[0]!r}; what may be said of a table is {names}.")


def _matches(shapes: list[Shape], table: Table, options: dict[str, Any]) -> list[Reading]:
    """The readings of the shapes that match; the fault of a shape counts only where no other is sure."""
    readings, faults = [], []
    for shape in shapes:
        try:
            reading = shape.match(table, **{name: options[name] for name in shape.options if name in options})
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
        return DataError(f"The table can be read as {ways}; remove or rename the columns that are not meant.")
    return RecognitionError(f"The table can be read as {ways}; say which is meant.", kinds, wanted)


def _unknown(table: Table, tried: list[Shape], others: list[Reading], wanted: tuple[str, ...]) -> RecognitionError:
    """The error about a table of another kind, or of none, which names the nearest shape."""
    kinds = wanted or tuple(dict.fromkeys(shape.kind for shape in tried))
    if others:
        found = others[0]
        message = f"The table holds {found.kind} ({found.shape}: {found.how}), not {_either(kinds)}."
        return RecognitionError(message, (found.kind,), wanted)
    near = [(shape, lack) for shape in tried if table.named and (lack := shape.lacks(table))]
    known = "have no shape that is known" if len(kinds) > 2 else f"are not {_either(kinds)}"
    found = f"The columns {shorten(table.names, 12)} {known}"
    if not near:
        shapes = "; or ".join(shape.expected for shape in tried)
        if len(kinds) > 1:
            shapes = "a " + ", a ".join(shape.name for shape in tried)
        return RecognitionError(f"{found}; expected {shapes}.", (), wanted)
    shape, lack = max(near, key=lambda each: each[1].near)
    name = Clause(", which you may name by ", Argument(lack.option)) if lack.option else ""
    message = Message(f"{found}. Nearest is a {shape.name}, but for {lack.what}", name, f"; it has {shape.expected}.")
    return RecognitionError(message, (), wanted, shape.name)


def _no_order(table: Table) -> Message:
    """The error about a table with covariates that does not say which option was first."""
    return Message(
        "Covariates describe comparisons for the first option over the second, and the columns "
        f"{shorten(table.names, 12)} do not say which was first; have a trial a row, with the columns 'left', 'right' "
        "and 'chosen', or name them by ",
        Argument("first"),
        ", ",
        Argument("second"),
        " and ",
        Argument("chosen"),
        "; a table of pairs with how often each was chosen has options in the columns 'left' and 'right', or 'home' "
        "and 'away'.",
    )


def _either(kinds: tuple[str, ...]) -> str:
    return " or ".join(filter(None, [", ".join(kinds[:-1]), kinds[-1]]))
