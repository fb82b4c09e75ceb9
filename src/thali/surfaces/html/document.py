"""What a report consists of: sections of sentences, pictures and tables, before any of it is HTML."""

from typing import TYPE_CHECKING, Any, NamedTuple

from thali.model.finding import Picture

if TYPE_CHECKING:
    import pandas


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
    simulator: Any = None  # the market of a finding's `widget`
    facts: tuple[tuple[str, str], ...] = ()  # names and values
    code: str = ""
    entries: tuple[str, ...] = ()  # a list, such as of references
    good: bool | None = None  # whether the sentences are good news; None: neither
    headline: str = ""  # before the sentences, where they are good news or bad: what they are about


class Document(NamedTuple):
    """A report."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    made: str  # when and by what
