"""Names of options, objects and columns: checked, shortened, and suggested where one was nearly
right."""

import difflib
import math
import re
import unicodedata
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .errors import ArgumentError, DataError, DataWarning

_ALIKE = (
    "Some labels contain combining accents, non-breaking spaces or invisible characters; labels"
    " that look the same were merged."
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a formula of a spreadsheet begins with
# Blanks at which no line breaks, and characters that are not seen: of web forms and spreadsheets.
_SEEN_ALIKE = dict.fromkeys(map(ord, "\u00a0\u202f\u2007"), " ") | dict.fromkeys(
    map(ord, "\u200b\u2060\ufeff"), None
)

# Characters that steer a terminal or the direction of writing, and those that no XML or UTF-8 may
# hold.
_STEERING = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]|\r(?!\n)"
)


def printable(text: str) -> str:
    """Return the text with an escape for each character that no terminal, page or picture may hold.

    Examples
    --------
    >>> print(printable("tea\\x1b[31m"))
    tea\\x1b[31m
    """
    return _STEERING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def as_label(value: Any) -> str:
    """The text of a label: no blanks around it, no decimals of a whole number, "" where it is
    missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(
        value, (bool, np.timedelta64)
    ):
        number = float(value)
        if math.isnan(number):
            return ""
        return str(int(value)) if number.is_integer() else str(number)
    return one_spelling(str(value))


def one_spelling(text: str) -> str:
    """The text without blanks around it, spelled as everywhere: what looks the same is the same,
    and that is said.

    Examples
    --------
    >>> one_spelling(" green tea ")
    'green tea'
    """
    plain = (text if text.isprintable() else printable(text)).strip()
    if plain.isascii():
        return plain
    spelled = unicodedata.normalize("NFC", plain).translate(_SEEN_ALIKE).strip()
    if spelled != plain:
        warnings.warn(DataWarning(_ALIKE), stacklevel=2)
    return spelled


def one_line(label: str) -> str:
    """The label with a blank for each line break and each run of blanks."""
    return " ".join(label.split())


def display_width(text: str) -> int:
    """The columns that a text takes on a terminal: two for a wide character such as 茶, none for a
    mere accent."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def checked_labels(values: Iterable[Any], what: str = "Labels") -> tuple[str, ...]:
    """The values as distinct, non-empty labels; `what` names them in the error."""
    if not isinstance(values, Iterable):
        raise DataError(f"{what} must be a list of names; got {values!r}.")
    labels = tuple(as_label(value) for value in values)
    seen: dict[str, int] = {}
    for position, label in enumerate(labels):
        if not label:
            raise DataError(
                f"{what} must not be empty, but position {position + 1} of {len(labels)} is."
            )
        if label in seen:
            raise DataError(
                f"{what} must be unique, but {label!r} is at positions {seen[label] + 1} and"
                f" {position + 1}."
            )
        seen[label] = position
    return labels


def labels_of_design(options: Any, least: int) -> tuple[str, ...]:
    """The labels of the options of a design, of which there are `least` or more; "0", "1", ... of a
    number."""
    if isinstance(options, int | np.integer) and not isinstance(options, bool):
        labels = tuple(str(k) for k in range(int(options)))
    elif isinstance(options, Iterable) and not isinstance(options, str):
        labels = checked_labels(options, "The labels of a design")
    else:
        raise ArgumentError(
            f"A design requires the number of options or a list of labels; got {options!r}."
        )
    if len(labels) < least:
        few = {2: "two", 3: "three"}.get(least, str(least))
        raise ArgumentError(f"This design requires at least {few} options; got {len(labels)}.")
    return labels


def without_formula(cell: str) -> str:
    """The cell of a table as a spreadsheet takes it for text or a number: a formula gets an
    apostrophe.

    Examples
    --------
    >>> without_formula("=HYPERLINK(1)"), without_formula("-0.5")
    ("'=HYPERLINK(1)", '-0.5')
    """
    return f"'{cell}" if cell[:1] in _FORMULA and not is_number(cell) else cell


def as_labelled(cell: str) -> str:
    """The cell that `without_formula` wrote.

    Examples
    --------
    >>> as_labelled("'+5 GB"), as_labelled("'tis")
    ('+5 GB', "'tis")
    """
    return cell[1:] if cell[:1] == "'" and without_formula(cell[1:]) == cell else cell


def is_number(cell: str) -> bool:
    """Whether a text reads as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def positions(labels: Iterable[Any]) -> dict[Any, int]:
    """Return the place of each label among these, from 0.

    Examples
    --------
    >>> positions(["tea", "milk"])
    {'tea': 0, 'milk': 1}
    """
    return {label: place for place, label in enumerate(labels)}


def places_among(labels: Iterable[Any], names: Iterable[Any]) -> np.ndarray:
    """Return the place of each label among names, -1 of one that is none of them (labels,)."""
    place = positions(names)
    return np.array([place.get(label, -1) for label in labels], np.int64)


def suggest(name: str, known: Sequence[str]) -> str:
    """ " Did you mean 'x'?" for the known name nearest to `name`, or "" when none is near."""
    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(candidate.casefold(), candidate)
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""


def shorten(names: Sequence[str], most: int = 6) -> str:
    """The names, quoted, of which at most `most` are written out."""
    more = [f"{len(names) - most:,} more"] if len(names) > most else []
    return _joined([*map(repr, names[:most]), *more])


def plural(number: float, noun: str) -> str:
    """ "1 pair", "8,424 pairs"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def short_number(value: float) -> int | float:
    """The number, without decimals if it is whole."""
    return int(value) if float(value).is_integer() else float(value)


def listed(names: Iterable[Any], most: int = 6) -> str:
    """Names in a sentence."""
    names = [str(name) for name in names]
    shown = names if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1:,} more"]
    return _joined(shown)


def _joined(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
