"""What a shape is: one shape of table, how it is recognised, and how it becomes data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from thali._data.columns import listed_omissions
from thali._data.described_columns import ColumnsRead
from thali._data.roles import Role

from .practice import warn_of_practice
from .table import Table, in_file


@dataclass(frozen=True)
class Reading:
    """One way to read a table; nothing is converted before `build`."""

    kind: str  # of data, one of `thali._data.kinds`
    shape: str  # its name
    how: str  # what was recognised, such as "long table, 'winner' chosen over 'loser', one comparison a row"
    table: Table | None  # None of a bundled data set
    convert: Callable[[], tuple[Any, str]]  # the data, and a sentence that says what was read
    sure: bool = True  # False: it counts only if no reading is sure, and then the first one does
    could_be: str = ""  # another kind of data that the table may hold
    # Of a table whose rows add up: the columns that count comparisons are made of, and which of them are counts. Rows
    # that are alike in the former may be read as one. None: every row must be seen.
    counted: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    roles: ColumnsRead | None = None  # the columns that it reads, of rows that hold answers

    def build(self) -> tuple[Any, str]:
        """The data, and a sentence that says how they were read; errors name the file."""
        if self.table is None:
            return self.convert()
        with in_file(self.table.file), listed_omissions() as clauses:
            data, sentence = self.convert()
            warn_of_practice(self.table, data)
        sentence += "".join(dict.fromkeys(clauses))
        return data, f"{sentence}; {self.table.note}" if self.table.note else sentence


class Lack(NamedTuple):
    """What a table lacks that nearly has a shape."""

    what: str
    option: str = ""  # of the shape, by which a column can be named
    near: int = 1  # how much of the shape is there; the nearest shape is named


@dataclass(frozen=True)
class Shape:
    """A shape of table."""

    name: str
    kind: str  # of the data that it holds
    match: Callable[..., Reading | None]  # of a table and what is known of it; None: it has another shape
    expected: str  # how such a table looks, for the error about one that has no known shape
    roles: tuple[Role, ...] = ()  # of the columns that can be named: keyword arguments of `match`
    settings: tuple[str, ...] = ()  # its other keyword arguments
    named_by: tuple[str, ...] = ()  # those that, if given, say that a table has this shape
    main: tuple[str, ...] = ()  # those that name the columns which are looked at first
    triangle: bool = False  # whether rows may end at the diagonal
    lacks: Callable[[Table], "Lack | None"] = lambda table: None  # what a table that nearly has this shape lacks

    @property
    def options(self) -> tuple[str, ...]:
        """The keyword arguments of `match` for a table of this shape."""
        return (*(role.name for role in self.roles), *self.settings)
