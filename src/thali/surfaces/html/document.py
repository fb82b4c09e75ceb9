"""What a report consists of: a cover, an answer, chapters of sections, before any of it is HTML."""

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


class Chapter(NamedTuple):
    """Sections under one heading."""

    title: str
    sections: tuple[Section, ...]


class Light(NamedTuple):
    """Good news or bad about the answer, in a line."""

    is_good: bool
    headline: str
    where: str  # the title of the section that says more


class Cover(NamedTuple):
    """What the author of a report calls it; "" is what thali calls it."""

    title: str = ""
    author: str = ""
    question: str = ""


class Document(NamedTuple):
    """A report."""

    title: str
    question: str  # that was asked
    facts: tuple[str, ...]  # in a line below the title: the model, the data, the author
    lead: Section | None  # the answer to it
    lights: tuple[Light, ...]
    chapters: tuple[Chapter, ...]
    made: str  # when and by what
