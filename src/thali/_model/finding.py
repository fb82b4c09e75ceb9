"""Findings: results of a model, comparison or test, which every interface prints or draws."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from thali._inference.user_warnings import warn_of_failed_part
from thali._labels import shorten, suggest
from thali._lazy_imports import load_method
from thali._object_descriptions import Description, PrintedObject
from thali.errors import PYTHON, ArgumentError, Fact, Message, ThaliError, Words

from .column_headings import add_column_descriptions

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

# The surfaces: one screen of a terminal, its full output, a page, a folder, and a workbook sheet
# in the folder.
SCREEN = "screen"
TEXT = "text"
PAGE = "page"
FILES = "files"
SHEETS = "sheets"
# The surfaces that show a finding; FILE: a long table of respondents or pairs, as CSV only.
BRIEF = (TEXT, PAGE, FILES, SHEETS)
FULL = (PAGE, FILES, SHEETS)
SHEET = (FILES, SHEETS)
FILE = (FILES,)
ON_SCREEN = (SCREEN, *BRIEF)
READ = (TEXT, PAGE)
SHOWN = (PAGE,)
# The chapters of a page, in their order.
ANSWERS = "answers"
MISSES = "misses"
DATA = "data"
METHODS = "methods"
STATISTICS = "statistics"
CHAPTERS = (ANSWERS, MISSES, DATA, METHODS, STATISTICS)

FINDING_KEYS: set[str] = set()  # of the makers in all imported modules; names of files

Text = str | Message


@dataclass(frozen=True)
class Picture:
    """A picture to draw on request: function of `thali.plots`, caption and data."""

    name: str  # of the function
    caption: str
    table: Any = None  # its data
    settings: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""  # name of its file; "": the name of the function

    @property
    def stem(self) -> str:
        """Name of the picture's file, without extension."""
        return self.file or self.name

    def draw(self, ax: "Axes | None" = None) -> Any:
        """Draw the picture with its function; return the axes."""
        return load_method("Picture.draw")(self.name)(self.table, ax, **self.settings)


@dataclass(frozen=True, eq=False)
class Brief:
    """One-screen form of a finding: label and sentence, or table rows."""

    label: str
    text: Text | None = None  # None: the sentence of the finding
    # names and their texts, such as ("tea", "1-2")
    parts: tuple[tuple[str, str], ...] = ()
    max_parts: int = 10
    table: Any = None  # a data frame; the columns that fit are shown
    order: int = 1  # position within a chapter, small numbers first
    next: Text = ""  # a suggested next step

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", add_column_descriptions(self.table))


@dataclass(frozen=True, eq=False, repr=False)
class Finding(PrintedObject):
    """One result of a fit: sentence, table and picture.

    Attributes
    ----------
    key : str
        Its stable name, also that of its files.
    question : str
        The question that it answers.
    sentence : str or Message
        The answer; `str` formats it for Python. "" if the table suffices.
    title : str
        Of the table.
    table : pandas.DataFrame or None
        The complete table, as in files. The ends of intervals are `low` and `high` or `NAME_low`
        and `NAME_high`, with probability ``attrs["interval"]``; ``attrs["columns"]`` has the unit
        and the error of each column.
    picture : Picture or None
    notes : tuple of str or Message
        Additional remarks.
    good : bool or None
        Whether it supports the model; None: neutral.
    headline : str
        Short text about `good`.
    """

    sentence: Text = ""
    title: str = ""
    table: "pandas.DataFrame | None" = None
    shown: Any = None  # a data frame: its main rows and columns; None: all
    is_printed: bool = True  # whether the full output of a terminal includes the table
    brief: Brief | None = None  # its form on one screen
    picture: Picture | None = None
    notes: tuple[Text, ...] = ()
    good: bool | None = None
    headline: str = ""
    widget: Any = None  # an interactive part of a page, such as a market
    leads: bool | None = None  # whether it comes first (True) or last (False) among answers
    key: str = ""
    question: str = ""
    place: tuple[str, ...] = BRIEF  # the surfaces that show it
    chapter: str = ANSWERS  # of a page

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", add_column_descriptions(self.table))
        object.__setattr__(self, "shown", add_column_descriptions(self.shown))

    @property
    def main_table(self) -> Any:
        """The table without the columns and rows that only files contain."""
        if self.shown is None:
            return self.table
        return self.shown

    def format_sentences(self, words: Words = PYTHON) -> list[str]:
        """Return the sentence and notes as texts in the words of an interface."""
        return [render_text(text, words) for text in (self.sentence, *self.notes) if text != ""]

    def plot(self, ax: "Axes | None" = None) -> Any:
        """Draw the finding's picture; return its axes.

        Parameters
        ----------
        ax : matplotlib axes, or a sequence of them, optional
            Where to draw; a new figure if None.

        Returns
        -------
        matplotlib axes, or a list of them

        Raises
        ------
        ArgumentError
            If the finding has no picture.
        """
        if self.picture is None:
            raise ArgumentError(f"The result {self.key!r} has no picture here.")
        return self.picture.draw(ax)

    def to_dict(self) -> dict[str, Any]:
        """Convert the finding to JSON types (dict, list, text, number, None).

        Returns
        -------
        dict
            key, question, sentence, title, table (columns, index, index_names, data, attrs),
            picture (name, caption), notes, good.
        """
        table = None
        if self.table is not None:
            table = _table_to_json(self.table)
        picture = None
        if self.picture is not None:
            picture = {"name": self.picture.name, "caption": self.picture.caption}
        return {
            "key": self.key,
            "question": self.question,
            "sentence": str(self.sentence),
            "title": self.title,
            "table": table,
            "picture": picture,
            "notes": [str(note) for note in self.notes],
            "good": self.good,
        }

    def _description(self) -> Description:
        """Return what `print` shows: sentence, notes and table."""
        note = "\n".join(self.format_sentences())
        return Description(self.question, table=self.main_table, note=note, good=self.good)


def render_text(text: Text, words: Words) -> str:
    """Return a text or message as a string, in the words of an interface."""
    if isinstance(text, Fact):
        return text.render(words)
    return text


def _table_to_json(table: "pandas.DataFrame") -> dict[str, Any]:
    """Convert a data frame to a dict of lists of JSON types."""
    split_table = table.to_dict("split")
    return {
        "columns": [str(name) for name in split_table["columns"]],
        "index_names": _to_json(list(table.index.names)),
        "index": _to_json(split_table["index"]),
        "data": _to_json(split_table["data"]),
        "attrs": _to_json(table.attrs),
    }


def _to_json(cell: Any) -> Any:
    """Convert a cell, label or attribute of a table to a JSON type."""
    if isinstance(cell, Mapping):
        return {str(name): _to_json(entry) for name, entry in cell.items()}
    if isinstance(cell, list | tuple | set | frozenset):
        return [_to_json(entry) for entry in cell]
    if hasattr(cell, "item"):  # a number of NumPy
        cell = cell.item()
    if isinstance(cell, float):
        if cell == cell and abs(cell) != float("inf"):
            return cell
        return None
    if cell is None or isinstance(cell, bool | int | str):
        return cell
    return str(cell)


# Makers of findings -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FindingMaker:
    """A function that computes one finding on request, with the finding's key and question."""

    key: str
    question: str
    place: tuple[str, ...]
    make: Callable[..., Finding | None]
    chapter: str = ANSWERS

    def __post_init__(self) -> None:
        FINDING_KEYS.add(self.key)

    def __call__(self, source: Any, settings: Any) -> Finding | None:
        """Compute the finding of a model or other source; None if nothing to report."""
        unnamed_finding = self.make(source, settings)
        if unnamed_finding is None:
            return None
        return self.add_key(unnamed_finding)

    def add_key(self, unnamed_finding: Finding) -> Finding:
        """Return the finding with this maker's key, question and place added."""
        return replace(
            unnamed_finding,
            key=self.key,
            question=self.question,
            place=self.place,
            chapter=self.chapter,
        )


def finding(
    key: str, question: str, place: tuple[str, ...] = BRIEF, chapter: str = ANSWERS
) -> Callable[[Callable[..., Finding | None]], FindingMaker]:
    """Decorate a function (source, settings) -> Finding or None as a `FindingMaker`.

    Examples
    --------
    >>> @finding("size", "How many are there?")
    ... def size(source, settings):
    ...     return Finding(sentence=f"There are {len(source)}.")
    >>> Findings([1, 2], (size,))["size"].sentence
    'There are 2.'
    """
    return partial(FindingMaker, key, question, place, chapter=chapter)


class Findings(Sequence[Finding], PrintedObject):
    """Sequence of findings of one source, in reading order, each computed on request.

    `findings["ranks"]` is the one of that key, `findings[0]` the first.
    """

    def __init__(self, source: Any, makers: Sequence[FindingMaker], settings: Any = None) -> None:
        self._source = source
        self._settings = settings
        self._makers = {maker.key: maker for maker in makers}
        self._made: dict[str, Finding | None] = {}

    def find(self, key: str) -> Finding | None:
        """Return the finding with this key or question; None if it reports nothing.

        Raises
        ------
        ArgumentError
            If there is no such key.
        """
        key_by_question = {maker.question.lower(): name for name, maker in self._makers.items()}
        key = key_by_question.get(key.lower(), key)
        if key not in self._makers:
            keys = tuple(self._makers)
            raise ArgumentError(
                f"There is no finding {key!r}; available: {shorten(keys, 99)}.{suggest(key, keys)}"
            )
        if key not in self._made:
            self._made[key] = self._compute(self._makers[key])
        return self._made[key]

    def plot(self, name: str, ax: "Axes | None" = None) -> Any:
        """Draw the picture with this name, such as "ranks"; return its axes.

        Raises
        ------
        ArgumentError
            If no finding has such a picture; the pictures that there are are named.
        """
        picture_names = []
        # most pictures have the name of their finding
        for key in sorted(self._makers, key=lambda key: key != name):
            result = self.find(key)
            if result is None or result.picture is None:
                continue
            if result.picture.name == name:
                return result.plot(ax)
            picture_names.append(result.picture.name)
        names_text = ", ".join(picture_names) or "none"
        raise ArgumentError(
            f"No plot named {name!r} is available; available plots:"
            f" {names_text}.{suggest(name, picture_names)}"
        )

    def keys(self) -> list[str]:
        """Return the keys of all findings."""
        return [result.key for result in self]

    def select_surface(self, surface: str) -> Iterator[Finding]:
        """Yield the findings shown on one surface: SCREEN, TEXT, PAGE or FILES."""
        for key, maker in self._makers.items():
            if surface in maker.place and (result := self.find(key)) is not None:
                yield result

    def _compute(self, maker: FindingMaker) -> Finding | None:
        """Compute one finding, cached; an exception becomes a finding that states it."""
        try:
            return maker(self._source, self._settings)
        except ThaliError as error:  # it does not apply to this source
            return maker.add_key(
                Finding(Message(error), good=False, headline="This result could not be computed.")
            )
        except Exception as error:  # a bug in one finding must not cost the others
            warn_of_failed_part(f"'{maker.key}' could not be computed", error)
            message = f"This result could not be computed ({type(error).__name__}: {error})."
            return maker.add_key(Finding(message, good=False, headline="This is a bug in thali."))

    def __iter__(self) -> Iterator[Finding]:
        return (result for key in self._makers if (result := self.find(key)) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @overload
    def __getitem__(self, key: int | str) -> Finding: ...
    @overload
    def __getitem__(self, key: slice) -> list[Finding]: ...
    def __getitem__(self, key: int | str | slice) -> Finding | list[Finding]:
        if not isinstance(key, str):
            return list(self)[key]
        if (requested_finding := self.find(key)) is None:
            raise ArgumentError(
                f"There is no result {key!r}; available: {shorten(self.keys(), 99)}."
            )
        return requested_finding

    def __contains__(self, key: object) -> bool:
        return key in self._makers and self.find(str(key)) is not None

    def _description(self) -> Description:
        """Return what `print` shows: the key and question of each finding."""
        return Description("Findings", tuple((result.key, result.question) for result in self))
