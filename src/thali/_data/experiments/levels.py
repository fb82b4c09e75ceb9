"""Levels of an attribute: their natural order, and bins of a number that takes many values."""

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import is_list
from thali._labels import as_label, checked_labels, places_among, positions, shorten, suggest
from thali.errors import Argument, ArgumentError, Clause, DataError

if TYPE_CHECKING:
    import pandas as pd

# How the order of levels came about; levels in alphabetical order have none that means anything.
GIVEN, CATEGORIES, NUMBERS, BINS, ALPHABET = "given", "categories", "numbers", "bins", "alphabet"
MEASURED = "measured"  # numbers by size that are hardly levels: many, of which some are not whole
# of an attribute that a model reads as a number, so that new tasks may hold others
ANY_NUMBER = "any number"
# up to which each level of an attribute has a coefficient, unless all of them are listed
MANY_LEVELS = 30
# levels of a measured attribute that stand for all, and groups that it is divided into
_LANDMARKS, _GROUPS = 5, 4
_SHOWN = 4  # digits of its levels in names


def distinct_texts(series: "pd.Series") -> tuple[np.ndarray, list[str]]:
    """For each row the number of its text, and the distinct texts; "" is a cell that is missing."""
    import pandas as pd

    codes, values = pd.factorize(series)
    texts = [*(as_label(value) for value in values), ""]  # the last one serves the code -1
    distinct = list(dict.fromkeys(texts))
    place = positions(distinct)
    return np.array([place[text] for text in texts], dtype=np.int64)[codes], distinct


def row_texts(series: "pd.Series") -> np.ndarray:
    """The text of every row, as an array of objects."""
    codes, texts = distinct_texts(series)
    return np.array(texts, dtype=object)[codes]


_CURRENCY = (
    r"(?:[$€£¥₹]|kr\.?|Fr\.?|zł|[A-Z]{2}\$|EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|JPY|CAD|AUD|Euro?s?)"
)
_AMOUNT = re.compile(
    rf"(?P<sign>[-−]?)\s*(?P<before>{_CURRENCY})?\s*(?P<number>\d[\d.,'\s]*)\s*(?P<after>{_CURRENCY})?"
)
_DIGITS = re.compile(r"\d+|[1-9]\d{0,2}(?P<between>[.,'\s])\d{3}(?:(?P=between)\d{3})*")


def as_number(text: str) -> float | None:
    """The finite number that a label spells, or None; amounts of money may have their currency.

    Examples
    --------
    >>> [
    ...     as_number(text)
    ...     for text in ("99", "$99", "99,50 €", "1.299,00", "1,299.00", "EUR 1.299", "4G", "1,2,3")
    ... ]
    [99.0, 99.0, 99.5, 1299.0, 1299.0, 1299.0, None, None]
    """
    try:
        number = float(text)
    except ValueError:
        return _amount(text)
    return number if math.isfinite(number) else None


def _amount(text: str) -> float | None:
    """The amount of money, or number with separators, that a label spells, or None."""
    found = _AMOUNT.fullmatch(text.strip())
    if found is None or (found["before"] and found["after"]):
        return None
    digits = found["number"].strip()
    whole, point, cents = digits, "", ""
    place = max(digits.rfind("."), digits.rfind(","))
    # the last is the decimal point
    if place >= 0 and (len(digits) - place - 1 in (1, 2) or digits[:place] == "0"):
        whole, point, cents = digits[:place], digits[place], digits[place + 1 :]
    parts = _DIGITS.fullmatch(whole)
    if parts is None or not cents.isdigit() and point or parts["between"] == point != "":
        return None
    number = float(re.sub(r"\D", "", whole) + "." + (cents or "0"))
    return -number if found["sign"] else number


def is_whole(value: Any) -> bool:
    """Whether a value is an integer, which True is not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def natural_order(
    series: "pd.Series", used: Sequence[str], hidden: Sequence[str]
) -> tuple[tuple[str, ...], str]:
    """Levels in natural order, and how that order came about: categories, numbers or the
    alphabet."""
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        listed = [as_label(value) for value in dtype.categories]
        levels = tuple(
            label for label in dict.fromkeys(listed) if label not in hidden or label in used
        )
        sorted_levels, order = by_value(levels)
        return levels, order if levels == sorted_levels and not dtype.ordered else CATEGORIES
    return by_value(used)


def by_value(labels: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Labels by size if all are numbers (False before True), else by the alphabet."""
    numbers = {label: number for label in labels if (number := as_number(label)) is not None}
    if len(numbers) == len(labels):
        _refuse_two_marks(numbers)
        values = set(numbers.values())
        is_measured = len(values) > MANY_LEVELS and not all(map(float.is_integer, values))
        return tuple(
            sorted(labels, key=lambda label: (numbers[label], label))
        ), MEASURED if is_measured else NUMBERS
    ordered = tuple(sorted(labels))
    return ordered, NUMBERS if set(ordered) <= {"False", "True"} else ALPHABET


_GROUPED = re.compile(r"\D*[1-9]\d{0,2}([.,])\d{3}\D*")
_WITH_CENTS = re.compile(r".*\d([.,])\d{1,2}\D*")


def _refuse_two_marks(numbers: dict[str, float]) -> None:
    """Refuse amounts of which one has the mark of thousands where another has that of cents."""
    cents = {found[1]: label for label in numbers if (found := _WITH_CENTS.fullmatch(label))}
    for label, number in numbers.items():
        if (found := _GROUPED.fullmatch(label)) and abs(number) >= 1000.0 and found[1] in cents:
            raise DataError(
                f"{label!r} and {cents[found[1]]!r} use {found[1]!r} as both thousands separator"
                " and decimal point; write plain numbers."
            )


def given_order(name: str, wanted: Any) -> tuple[str, ...]:
    """The levels that `levels=` lists for an attribute."""
    if not is_list(wanted):
        raise ArgumentError(
            Argument("levels"),
            f" of {name!r} must list the levels from worst to best; got {wanted!r}.",
        )
    return checked_labels(wanted, f"The levels of {name!r}")


def level_codes(
    name: str, codes: np.ndarray, texts: list[str], levels: tuple[str, ...], where: Any
) -> np.ndarray:
    """Level numbers of rows whose texts are `texts[codes]`; `where(row)` names the place of one
    that is no level."""
    found = places_among(texts, levels)[codes]
    if (found < 0).any():
        row = int((found < 0).argmax())
        text = texts[codes[row]]
        if not text:
            raise DataError(
                f"Attribute {name!r} {where(row)} is missing; fill in the value",
                Clause(
                    ", or enter a code for missing values and declare it with ", Argument("missing")
                ),
                ".",
            )
        raise DataError(
            f"Attribute {name!r} {where(row)} is {text!r}, which is not one of its levels"
            f" {shorten(levels)}; declare it with ",
            Argument("levels"),
            f".{suggest(text, levels)}",
        )
    return found


def numbers_of(
    name: str,
    texts: list[str],
    codes: np.ndarray,
    where: Any,
    reason: str = "only numbers can be binned",
) -> np.ndarray:
    """The number of every row of an attribute, for a reason; `where(row)` names the place of one
    that is none."""
    numbers = [as_number(text) for text in texts]
    values = np.array([math.nan if number is None else number for number in numbers])[codes]
    if np.isnan(values).any():
        row = int(np.isnan(values).argmax())
        text = texts[codes[row]]
        what = f"is {text!r}, but must be a finite number" if text else "is missing"
        raise DataError(f"Attribute {name!r} {where(row)} {what}; {reason}.")
    return values


def cut_points(name: str, wanted: Any, values: np.ndarray) -> tuple[float, ...]:
    """Where bins end: as given, or at quantiles of the values, each the largest value of its bin.

    Examples
    --------
    >>> cut_points("cost", 3, np.array([1.0, 2, 3, 4, 5, 60]))
    (2.0, 4.0)
    """
    if is_whole(wanted):
        if wanted < 2:
            raise ArgumentError(Argument("bins"), f" of {name!r} must be at least 2; got {wanted}.")
        shares = np.arange(1, wanted) / wanted
        cuts = np.unique(np.quantile(values, shares, method="inverted_cdf"))
        return tuple(float(cut) for cut in cuts if cut < values.max())
    try:
        cuts = np.array(list(wanted), dtype=float)
    except (TypeError, ValueError):
        cuts = np.empty(0)
    if not len(cuts) or not np.isfinite(cuts).all() or not (np.diff(cuts) > 0).all():
        raise ArgumentError(
            Argument("bins"),
            f" of {name!r} must be a number of bins, or increasing cut points; got {wanted!r}.",
        )
    return tuple(cuts.tolist())


def bin_labels(cuts: tuple[float, ...]) -> tuple[str, ...]:
    """Names of the bins between cut points; a value at a cut point lies below it.

    Examples
    --------
    >>> bin_labels((120.0, 180.0))
    ('<= 120', '120 to 180', '> 180')
    """
    shown = [np.format_float_positional(cut, trim="-") for cut in cuts]
    if not shown:
        return ("all values",)
    between = [f"{low} to {high}" for low, high in zip(shown, shown[1:], strict=False)]
    return (f"<= {shown[0]}", *between, f"> {shown[-1]}")


def landmarks(levels: np.ndarray) -> np.ndarray:
    """Of many levels in their order the least, the quartiles and the largest."""
    return levels[np.linspace(0, len(levels) - 1, _LANDMARKS).round().astype(np.int64)]


def _digits(values: Sequence[float] | np.ndarray, least: int) -> int:
    """Digits, at least so many, that tell numbers apart."""
    return next(
        (
            more
            for more in range(least, 17)
            if len({f"{each:.{more}g}" for each in values}) == len(values)
        ),
        17,
    )


def short_numbers(levels: Sequence[str]) -> tuple[str, ...]:
    """The levels of a measured attribute, with as few digits as tell those apart that stand for
    all."""
    values = np.array(list(map(as_number, levels)), float)
    digits = _digits(landmarks(values), _SHOWN)
    return tuple(f"{value:.{digits}g}" for value in values.tolist())


def quarters(levels: Sequence[str]) -> tuple[tuple[str, ...], np.ndarray]:
    """Names of four groups of a measured attribute, of about as many levels each, and the group of
    every level.

    Examples
    --------
    >>> names, groups = quarters(("0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4"))
    >>> names, groups.tolist()
    (('to 1', '1 to 2', '2 to 3', 'from 3'), [0, 0, 1, 1, 2, 2, 3, 3])
    """
    values = np.array(list(map(as_number, levels)), float)
    ends = cut_points("", _GROUPS, values)
    shown = [f"{end:.{_digits(ends, 3)}g}" for end in ends]
    names = (f"to {shown[0]}", *(f"{a} to {b}" for a, b in pairwise(shown)), f"from {shown[-1]}")
    return names, np.searchsorted(ends, values, side="left")


def bin_codes(
    name: str,
    codes: np.ndarray,
    texts: list[str],
    cuts: tuple[float, ...],
    levels: tuple[str, ...],
    where: Any,
) -> np.ndarray:
    """Numbers of the bins in which rows lie; a row may also name its bin."""
    named = places_among(texts, levels)[codes]
    other = named < 0
    rows = np.flatnonzero(other)
    values = numbers_of(name, texts, codes[other], lambda k: where(int(rows[k])))
    named[other] = np.searchsorted(np.asarray(cuts), values, side="left")
    return named
