"""What a shape is: one shape of table, how it is recognised, and how it becomes data."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from thali._data.columns import column, listed_omissions, numbers_rows
from thali._data.described_columns import ColumnsRead, possible_respondents
from thali._data.roles import Role, column_names
from thali._labels import shorten
from thali.errors import PYTHON, Argument, DataError, Message, Words

from .practice import warn_of_practice
from .table import RawTable, in_file


@dataclass(frozen=True)
class Reading:
    """One way to read a table; nothing is converted before `build`."""

    kind: str  # of data, one of `thali._data.kinds`
    shape: str  # its name
    # what was recognised, such as "long table, 'winner' chosen over 'loser', one comparison a row"
    how: str
    table: RawTable | None  # None of a bundled data set
    convert: Callable[[], tuple[Any, str]]  # the data, and a sentence that says what was read
    sure: bool = True  # False: it counts only if no reading is sure, and then the first one does
    could_be: str = ""  # another kind of data that the table may hold
    # Of a table whose rows add up: the columns that count comparisons are made of, and which of
    # them are counts. Rows that are alike in the former may be read as one. None: every row must be
    # seen.
    counted: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    roles: ColumnsRead | None = None  # the columns that it reads, of rows that hold answers
    besides: tuple[str | None, ...] | None = None  # others that it reads; None without roles: all
    doubt: Message | None = None  # what to ask unless it was said of which kind the data are

    def build(self, words: Words = PYTHON) -> tuple[Any, str]:
        """The data, and a sentence in these words that says how they were read; errors name the
        file."""
        if self.table is None:
            return self.convert()
        with in_file(self.table.file), listed_omissions() as clauses:
            data, sentence = self.convert()
            warn_of_practice(self.table, data)
        note = f"; {self.table.note}" * bool(self.table.note)
        parts = *self._unused(self.table, data), *clauses, note
        return data, sentence + "".join(
            part.render(words) if isinstance(part, Message) else part for part in parts
        )

    def _unused(self, table: RawTable, data: Any) -> Iterator[str | Message]:
        """Name the columns that the data do not contain, and those that may say who answered."""
        if self.roles is None and self.besides is None:
            return
        used = {
            *(() if self.roles is None else self.roles.all),
            *(self.besides or ()),
            *table.conditioned,
        }
        if (people := getattr(data, "people", None)) is not None:
            used |= set(column_names(people))
        if (scheme := getattr(data, "scheme", None)) is not None:
            used |= {
                scheme.respondent,
                scheme.task,
                scheme.alternative,
                scheme.chosen,
                *scheme.names,
            }
            used |= {name for name, _ in scheme.none}
            # of which a clause tells
            used |= {name for name in table.names if numbers_rows(column(table.frame, name))}
        unused = [
            name for name in table.names if name not in used and not name.startswith("column ")
        ]
        if unused:
            yield f"; columns not used: {shorten(unused)}"
        if unused and self.roles is not None and not getattr(data, "respondents", ()):
            if likely := possible_respondents(
                table.frame.loc[:, [*self.roles.all, *unused]], self.roles
            ):
                which = (
                    f"; no column of respondents was recognised (perhaps {shorten(likely)}?);"
                    " name it with "
                )
                yield Message(which, Argument("respondent"))


class Lack(NamedTuple):
    """What a table lacks that nearly has a shape."""

    what: str
    option: str = ""  # of the shape, by which a column can be named
    near: int = 1  # how much of the shape is there; the nearest shape is named


def refuse(wrong: str) -> Any:
    """Raise what is wrong with a table that is no other data."""
    raise DataError(wrong)


@dataclass(frozen=True)
class Shape:
    """A shape of table."""

    name: str
    kind: str  # of the data that it holds
    # of a table and what is known of it; None: it has another shape
    match: Callable[..., Reading | None]
    expected: str  # how such a table looks, for the error about one that has no known shape
    roles: tuple[Role, ...] = ()  # of the columns that can be named: keyword arguments of `match`
    settings: tuple[str, ...] = ()  # its other keyword arguments
    named_by: tuple[str, ...] = ()  # those that, if given, say that a table has this shape
    main: tuple[str, ...] = ()  # those that name the columns which are looked at first
    # what it has instead of columns with such names, for the error about a table of no shape
    needs: str = ""
    triangle: bool = False  # whether rows may end at the diagonal
    # what a table that nearly has this shape lacks
    lacks: Callable[[RawTable], "Lack | None"] = lambda table: None

    @property
    def options(self) -> tuple[str, ...]:
        """The keyword arguments of `match` for a table of this shape."""
        return (*(role.name for role in self.roles), *self.settings)
