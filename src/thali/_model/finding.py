"""A finding: one answer of a fitted model, a comparison or a test, as data that every surface
shows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from thali._described import Described, Description
from thali._inference.warn import warn_of_loss
from thali._labels import shorten, suggest
from thali._late import carried_out_by
from thali.errors import PYTHON, ArgumentError, Fact, Message, ThaliError, Words

from .table_columns import add_column_descriptions

if TYPE_CHECKING:
    import pandas

# The surfaces: one screen of a terminal, all that it prints, a page, a folder, and a sheet of a
# workbook there.
SCREEN, TEXT, PAGE, FILES, SHEETS = "screen", "text", "page", "files", "sheets"
# Who shows a finding; FILE: a long table, of single persons or pairs, which is CSV alone.
BRIEF, FULL, SHEET, FILE = (
    (TEXT, PAGE, FILES, SHEETS),
    (PAGE, FILES, SHEETS),
    (FILES, SHEETS),
    (FILES,),
)
ON_SCREEN = (SCREEN, *BRIEF)
READ, SHOWN = (TEXT, PAGE), (PAGE,)
# The chapters of a page, in their order.
ANSWERS, MISSES, DATA, METHODS, STATISTICS = "answers", "misses", "data", "methods", "statistics"
CHAPTERS = (ANSWERS, MISSES, DATA, METHODS, STATISTICS)

Text = str | Message


@dataclass(frozen=True)
class Picture:
    """A picture of `thali.plots`: what it draws, and what it shows in words."""

    name: str  # of the function
    caption: str
    table: Any = None  # what it draws
    settings: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""  # its file, where that is not called as the function

    @property
    def stem(self) -> str:
        """What its file is called."""
        return self.file or self.name

    def draw(self, ax: Any = None) -> Any:
        """Axes, made by the function of that name."""
        return carried_out_by("Picture.draw")(self.name)(self.table, ax, **self.settings)


@dataclass(frozen=True, eq=False)
class Brief:
    """What one screen shows of a finding: a label, a sentence, and parts in a line or the first
    rows of a table."""

    label: str
    text: Text | None = None  # None: the sentence of the finding
    # names and what belongs to each, such as ("tea", "1-2")
    parts: tuple[tuple[str, str], ...] = ()
    table: Any = None  # a data frame; the columns that fit are shown
    order: int = 1  # of findings of one chapter, small numbers come first
    next: Text = ""  # what to do next

    def __post_init__(self) -> None:
        if self.table is not None:
            object.__setattr__(self, "table", add_column_descriptions(self.table))


@dataclass(frozen=True, eq=False, repr=False)
class Finding(Described):
    """One answer: a sentence, a table, a picture.

    Attributes
    ----------
    key : str
        Its name, which is that of its files; stable.
    question : str
        What it answers.
    sentence : str or Message
        The answer; `str` gives it in the words of Python. "" where the table says all.
    title : str
        Of the table.
    table : pandas.DataFrame or None
        All of it, as files hold it. The ends of intervals are `low` and `high` or `NAME_low` and
        `NAME_high`, of the probability ``attrs["interval"]``; ``attrs["columns"]`` has the unit and
        the error of each column.
    picture : Picture or None
    notes : tuple of str or Message
        What a reader should know besides.
    good : bool or None
        Whether it is good news about the model; None: it is neither good nor bad.
    headline : str
        What `good` is about, in short.
    """

    sentence: Text = ""
    title: str = ""
    table: "pandas.DataFrame | None" = None
    shown: Any = None  # a data frame: the rows and columns of it that are read; None: all of them
    is_printed: bool = True  # whether a terminal shows the table with all others
    brief: Brief | None = None  # what one screen shows
    picture: Picture | None = None
    notes: tuple[Text, ...] = ()
    good: bool | None = None
    headline: str = ""
    widget: Any = None  # what a page lets its reader change, such as a market
    leads: bool | None = None  # whether it answers what was asked, more than the others or less
    stopped: bool = False  # whether Ctrl-C cut it short
    key: str = ""
    question: str = ""
    place: tuple[str, ...] = BRIEF  # the surfaces that show it
    chapter: str = ANSWERS  # of a page

    def __post_init__(self) -> None:
        if self.table is not None:
            object.__setattr__(self, "table", add_column_descriptions(self.table))
        if self.shown is not None:
            object.__setattr__(self, "shown", add_column_descriptions(self.shown))

    @property
    def to_read(self) -> Any:
        """The table as it is read: without what only files hold."""
        return self.table if self.shown is None else self.shown

    def sentences(self, words: Words = PYTHON) -> list[str]:
        """The sentence and the notes in those words."""
        return [rendered(each, words) for each in (self.sentence, *self.notes) if each != ""]

    def plot(self, ax: Any = None) -> Any:
        """Draw its picture.

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
        """The finding as what JSON holds: texts, numbers, lists, None.

        Returns
        -------
        dict
            key, question, sentence, title, table (columns, index, index_names, data, attrs),
            picture (name, caption), notes, good.
        """
        return {
            "key": self.key,
            "question": self.question,
            "sentence": str(self.sentence),
            "title": self.title,
            "table": None if self.table is None else _as_json(self.table),
            "picture": None
            if self.picture is None
            else {"name": self.picture.name, "caption": self.picture.caption},
            "notes": [str(note) for note in self.notes],
            "good": self.good,
        }

    def _description(self) -> Description:
        note = "\n".join(self.sentences())
        return Description(self.question, table=self.to_read, note=note, good=self.good)

    def __str__(self) -> str:
        from thali._described import as_text

        return as_text(self._description())

    __repr__ = __str__


def rendered(text: Text, words: Words) -> str:
    """A sentence in those words."""
    return text.render(words) if isinstance(text, Fact) else text


def _as_json(table: "pandas.DataFrame") -> dict[str, Any]:
    """A table as lists of texts, numbers, truth values and None."""
    split = table.to_dict("split")
    names = [None if name is None else str(name) for name in table.index.names]
    return {
        "columns": [str(name) for name in split["columns"]],
        "index_names": names,
        "index": [_plain(each) for each in split["index"]],
        "data": [[_plain(value) for value in row] for row in split["data"]],
        "attrs": _plain(table.attrs),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(each) for each in value]
    if hasattr(value, "item"):  # a number of NumPy
        value = value.item()
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


# what makes them ----------------------------------------------------------------------------------


class Maker:
    """What makes one finding, when it is asked for."""

    key: str
    question: str
    place: tuple[str, ...]
    chapter: str

    def __init__(
        self,
        key: str,
        question: str,
        place: tuple[str, ...],
        make: Callable[..., Finding | None],
        chapter: str = ANSWERS,
    ) -> None:
        self.key, self.question, self.place, self.chapter, self._make = (
            key,
            question,
            place,
            chapter,
            make,
        )
        self.__doc__ = make.__doc__

    def __call__(self, source: Any, settings: Any) -> Finding | None:
        """The finding of a source; None where there is nothing to say."""
        found = self._make(source, settings)
        return None if found is None else self.named(found)

    def named(self, found: Finding) -> Finding:
        """The finding with the key and the question of this maker."""
        return replace(
            found, key=self.key, question=self.question, place=self.place, chapter=self.chapter
        )


def finding(
    key: str, question: str, place: tuple[str, ...] = BRIEF, chapter: str = ANSWERS
) -> Callable[[Callable[..., Finding | None]], Maker]:
    """Make a function (source, settings) -> Finding or None the maker of the finding of that key.

    Examples
    --------
    >>> @finding("size", "How many are there?")
    ... def size(source, settings):
    ...     return Finding(sentence=f"There are {len(source)}.")
    >>> Findings([1, 2], (size,))["size"].sentence
    'There are 2.'
    """
    return partial(Maker, key, question, place, chapter=chapter)


class Findings(Sequence[Finding], Described):
    """The findings of one source, in the order of a reader's questions; each is computed once, when
    it is asked for.

    `findings["ranks"]` is the one of that key, `findings[0]` the first.
    """

    def __init__(self, source: Any, makers: Sequence[Maker], settings: Any = None) -> None:
        self._source, self._settings = source, settings
        self._makers = {maker.key: maker for maker in makers}
        self._made: dict[str, Finding | None] = {}

    def find(self, key: str) -> Finding | None:
        """The finding of that key; None where there is nothing to say.

        Raises
        ------
        ArgumentError
            If there is no such key.
        """
        if key not in self._makers:
            known = tuple(self._makers)
            raise ArgumentError(
                f"There is no finding {key!r}; available:"
                f" {shorten(known, 99)}.{suggest(key, known)}"
            )
        if key not in self._made:
            self._made[key] = self._of(self._makers[key])
        return self._made[key]

    def plot(self, name: str, ax: Any = None) -> Any:
        """Draw the picture of that name; see `Finding.plot`.

        Raises
        ------
        ArgumentError
            If no finding has such a picture; the pictures that there are are named.
        """
        names = []
        # most pictures have the name of their finding
        for key in sorted(self._makers, key=lambda key: key != name):
            found = self.find(key)
            if found is None or found.picture is None:
                continue
            if found.picture.name == name:
                return found.plot(ax)
            names.append(found.picture.name)
        known = ", ".join(names) or "none"
        raise ArgumentError(
            f"There is no picture {name!r} here; the pictures are {known}.{suggest(name, names)}"
        )

    def keys(self) -> list[str]:
        """The keys of the findings that there are."""
        return [found.key for found in self]

    def of(self, surface: str) -> Iterator[Finding]:
        """Those that a surface shows: SCREEN, TEXT, PAGE or FILES."""
        for key, maker in self._makers.items():
            if surface in maker.place and (found := self.find(key)) is not None:
                yield found

    def _of(self, maker: Maker) -> Finding | None:
        """The finding; one that fails says so, and costs no other."""
        try:
            return maker(self._source, self._settings)
        except ThaliError as error:  # it does not apply to this source
            return maker.named(
                Finding(Message(error), good=False, headline="This result could not be computed.")
            )
        except Exception as error:  # whatever it is: the others are worth more
            warn_of_loss(f"'{maker.key}' could not be computed", error)
            fault = f"This result could not be computed ({type(error).__name__}: {error})."
            return maker.named(Finding(fault, good=False, headline="This is a bug in thali."))

    def __iter__(self) -> Iterator[Finding]:
        return (found for key in self._makers if (found := self.find(key)) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @overload
    def __getitem__(self, which: int | str) -> Finding: ...
    @overload
    def __getitem__(self, which: slice) -> list[Finding]: ...
    def __getitem__(self, which: int | str | slice) -> Finding | list[Finding]:
        if not isinstance(which, str):
            return list(self)[which]
        if (found := self.find(which)) is None:
            raise ArgumentError(
                f"There is no result {which!r}; available: {shorten(self.keys(), 99)}."
            )
        return found

    def __contains__(self, key: object) -> bool:
        return key in self._makers and self.find(str(key)) is not None

    def _description(self) -> Description:
        facts = tuple((found.key, found.question) for found in self)
        return Description("Findings", facts)

    def __repr__(self) -> str:
        from thali._described import as_text

        return as_text(self._description())
