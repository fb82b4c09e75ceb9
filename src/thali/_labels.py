"""Labels of options, objects and columns: checks, short forms and suggestions."""

import difflib
import math
import re
import unicodedata
import warnings
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from .errors import ArgumentError, DataError, DataWarning

_MERGED_LABELS = (
    "Some labels contain combining accents, non-breaking spaces or invisible characters; labels"
    " that look the same were merged."
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # first letters of spreadsheet formulas
# Non-breaking blanks and invisible characters, which web forms and spreadsheets insert.
_EQUIVALENT_LETTERS = dict.fromkeys(map(ord, "\u00a0\u202f\u2007"), " ") | dict.fromkeys(
    map(ord, "\u200b\u2060\ufeff"), None
)

# Characters that control a terminal or the direction of writing, and characters that XML or UTF-8
# forbid.
_CONTROL_LETTERS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]|\r(?!\n)"
)


def escape_unprintable(text: str) -> str:
    """Return the text with control characters escaped.

    Examples
    --------
    >>> print(escape_unprintable("tea\\x1b[31m"))
    tea\\x1b[31m
    """
    return _CONTROL_LETTERS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def choose_number(n: float, singular: str, plural: str) -> str:
    """Return the singular for one thing, else the plural.

    Examples
    --------
    >>> choose_number(2, "is", "are")
    'are'
    """
    if n == 1:
        return singular
    return plural


def has_repeats(labels: Collection[Any]) -> bool:
    """Return whether a label occurs more than once.

    Examples
    --------
    >>> has_repeats(["tea", "milk", "tea"])
    True
    """
    return len(set(labels)) < len(labels)


def format_label(cell: Any) -> str:
    """Return a table cell as a label text; "" if missing.

    Surrounding blanks and the decimals of integers are removed.
    """
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(cell, (int, float, np.integer, np.floating)) and not isinstance(
        cell, (bool, np.timedelta64)
    ):
        number = float(cell)
        if math.isnan(number):
            return ""
        if number.is_integer():
            return str(int(cell))
        return str(number)
    return normalise_spelling(str(cell))


def normalise_spelling(text: str) -> str:
    """Return the text in one normal spelling, without surrounding blanks.

    Texts that look the same become equal, with a warning.

    Examples
    --------
    >>> normalise_spelling(" green tea ")
    'green tea'
    """
    if not text.isprintable():
        text = escape_unprintable(text)
    stripped_text = text.strip()
    if stripped_text.isascii():
        return stripped_text
    normalised_text = (
        unicodedata.normalize("NFC", stripped_text).translate(_EQUIVALENT_LETTERS).strip()
    )
    if normalised_text != stripped_text:
        warnings.warn(DataWarning(_MERGED_LABELS), stacklevel=2)
    return normalised_text


def join_lines(label: str) -> str:
    """Return the label on one line, runs of blanks reduced to one."""
    return " ".join(label.split())


def display_width(text: str) -> int:
    """Return a text's width in terminal columns (2 for a wide character)."""
    if text.isascii():
        return len(text)
    return sum(map(_letter_width, text))


def _letter_width(letter: str) -> int:
    """Return a character's width in terminal columns: 0, 1 or 2."""
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    if unicodedata.east_asian_width(letter) in "WF":
        return 2
    return 1


def check_labels(names: Iterable[Any], title: str = "Labels") -> tuple[str, ...]:
    """Return labels as a tuple; raise unless distinct and not empty.

    `what`: name of the labels in the error.
    """
    if not isinstance(names, Iterable):
        raise DataError(f"{title} must be a list of names; got {names!r}.")
    labels = tuple(format_label(name) for name in names)
    position_by_label: dict[str, int] = {}
    for position, label in enumerate(labels):
        if not label:
            raise DataError(
                f"{title} must not be empty, but number {position + 1} of {len(labels)} is empty."
            )
        if label in position_by_label:
            raise DataError(
                f"{title} must be unique, but {label!r} is at positions"
                f" {position_by_label[label] + 1} and {position + 1}."
            )
        position_by_label[label] = position
    return labels


def check_design_labels(options: int | Iterable[Any], least: int) -> tuple[str, ...]:
    """Return at least `least` labels of a design; a number n gives "0" to "n-1"."""
    if isinstance(options, int | np.integer) and not isinstance(options, bool):
        labels = tuple(str(k) for k in range(int(options)))
    elif isinstance(options, Iterable) and not isinstance(options, str):
        labels = check_labels(options, "The labels of a design")
    else:
        raise ArgumentError(
            f"A design requires the number of options or a list of labels; got {options!r}."
        )
    if len(labels) < least:
        least_text = {2: "two", 3: "three"}.get(least, str(least))
        raise ArgumentError(
            f"This design requires at least {least_text} options; got {len(labels)}."
        )
    return labels


def escape_formula(cell: str) -> str:
    """Return a cell text that spreadsheets do not take for a formula.

    A formula gets an apostrophe.

    Examples
    --------
    >>> escape_formula("=HYPERLINK(1)"), escape_formula("-0.5")
    ("'=HYPERLINK(1)", '-0.5')
    """
    if cell[:1] in _FORMULA and not is_number(cell):
        return f"'{cell}"
    return cell


def unescape_formula(cell: str) -> str:
    """Return the text that `escape_formula` was given.

    Examples
    --------
    >>> unescape_formula("'+5 GB"), unescape_formula("'tis")
    ('+5 GB', "'tis")
    """
    if cell[:1] == "'" and escape_formula(cell[1:]) == cell:
        return cell[1:]
    return cell


def is_number(cell: str) -> bool:
    """Return whether a text can be read as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def index_labels(labels: Iterable[Any]) -> dict[Any, int]:
    """Return {label: its index}, from 0.

    Examples
    --------
    >>> index_labels(["tea", "milk"])
    {'tea': 0, 'milk': 1}
    """
    return {label: index for index, label in enumerate(labels)}


def find_label_indices(labels: Iterable[Any], names: Iterable[Any]) -> np.ndarray:
    """Return the index of each label in names, -1 if absent, shape (n_labels,)."""
    index_by_label = index_labels(names)
    return np.array([index_by_label.get(label, -1) for label in labels], np.int64)


def suggest(name: str, known_names: Sequence[str]) -> str:
    """Return " Did you mean 'x'?" for the most similar known name, or ""."""
    name_by_casefold: dict[str, str] = {}
    for candidate in known_names:
        name_by_casefold.setdefault(candidate.casefold(), candidate)
    similar_names = difflib.get_close_matches(name.casefold(), name_by_casefold, n=1, cutoff=0.6)
    if similar_names:
        return f" Did you mean {name_by_casefold[similar_names[0]]!r}?"
    return ""


def shorten(names: Sequence[str], max_names: int = 6) -> str:
    """Return quoted names joined by commas, at most `max_names` of them."""
    quoted_names = list(map(repr, names[:max_names]))
    if len(names) > max_names:
        quoted_names.append(f"{len(names) - max_names:,} more")
    return _join_with_and(quoted_names)


def format_plural(number: float, noun: str) -> str:
    """Return a number with its noun, such as "1 pair" or "8,424 pairs"."""
    if number == 1:
        return f"{number:,} {noun}"
    return f"{number:,} {noun}s"


def simplify_number(number: float) -> int | float:
    """Return an integral float as an int, other numbers without noise of sums."""
    number = round(float(number), 9)
    if number.is_integer():
        return int(number)
    return number


def list_names(names: Iterable[Any], max_names: int = 6) -> str:
    """Return names joined by commas and "and", at most `max_names` of them."""
    names = [str(name) for name in names]
    if len(names) > max_names:
        names[max_names - 1 :] = [f"{len(names) - max_names + 1:,} more"]
    return _join_with_and(names)


def _join_with_and(names: list[str]) -> str:
    """Return names joined by commas and "and"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
