"""What a report consists of: sections of sentences, pictures and tables, before any of it is HTML."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas


class Picture(NamedTuple):
    """A picture and what it shows."""

    finding: str  # in words: the caption, and what is read aloud
    draw: Callable[[Any], Any]  # takes the module `thali.plots`, gives axes


class Table(NamedTuple):
    """A table of the answer."""

    title: str
    frame: "pandas.DataFrame"  # its index is shown if it has a name


class Section(NamedTuple):
    """A part of a report under a heading of its own; what is empty is not shown."""

    title: str
    sentences: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()  # names and values
    code: str = ""
    entries: tuple[str, ...] = ()  # a list, such as of references
    good: bool | None = None  # whether the sentences are good news; None: neither


class Document(NamedTuple):
    """A report."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    made: str  # when and by what
