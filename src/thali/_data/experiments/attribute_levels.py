"""Levels of product attributes: natural order, bins of numbers."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._argument_checks import is_list
from thali._inference.index_arithmetic import find_first
from thali._labels import check_labels, find_label_indices, format_label, shorten, suggest
from thali.errors import Argument, ArgumentError, Clause, DataError, InPython, Message, Setting

if TYPE_CHECKING:
    import pandas as pd

# Sources of the order of levels; an alphabetical order has no meaning.
GIVEN = "given"
CATEGORIES = "categories"
NUMBERS = "numbers"
BINS = "bins"
ALPHABET = "alphabet"
MEASURED = "measured"  # numbers by size: many different values, some of them not integers
# an attribute that a model reads as a number, so that new tasks may contain other numbers
ANY_NUMBER = "any number"
# with more levels than this, an attribute of numbers is measured
MANY_LEVELS = 30
# representative levels of a measured attribute, and groups of its levels
_LANDMARKS = 5
_GROUPS = 4
_SHOWN = 4  # digits of measured levels in names


_CURRENCY = (
    r"(?:[$€£¥₹]|kr\.?|Fr\.?|zł|[A-Z]{2}\$|EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|JPY|CAD|AUD|Euro?s?)"
)
_AMOUNT = re.compile(
    rf"(?P<sign>[-−]?)\s*(?P<before>{_CURRENCY})?\s*(?P<number>\d[\d.,'\s]*)\s*(?P<after>{_CURRENCY})?"
)
_DIGITS = re.compile(r"\d+|[1-9]\d{0,2}(?P<between>[.,'\s])\d{3}(?:(?P=between)\d{3})*")


def parse_number(text: str) -> float | None:
    """Parse a label such as "3" or "$1,000" as a number; None if it is none.

    Examples
    --------
    >>> [
    ...     parse_number(text)
    ...     for text in ("99", "$99", "99,50 €", "1.299,00", "1,299.00", "EUR 1.299", "4G", "1,2,3")
    ... ]
    [99.0, 99.0, 99.5, 1299.0, 1299.0, 1299.0, None, None]
    """
    try:
        number = float(text)
    except ValueError:
        return _parse_amount(text)
    if not math.isfinite(number):
        return None
    return number


def _parse_amount(text: str) -> float | None:
    """Parse an amount such as "$1,000" or "1.000 €"; None for other texts."""
    amount_match = _AMOUNT.fullmatch(text.strip())
    if amount_match is None or (amount_match["before"] and amount_match["after"]):
        return None
    digits = amount_match["number"].strip()
    integer_part = digits
    point = ""
    cents = ""
    mark_position = max(digits.rfind("."), digits.rfind(","))
    # the last is the decimal point
    if mark_position >= 0 and (
        len(digits) - mark_position - 1 in (1, 2) or digits[:mark_position] == "0"
    ):
        integer_part = digits[:mark_position]
        point = digits[mark_position]
        cents = digits[mark_position + 1 :]
    digit_groups = _DIGITS.fullmatch(integer_part)
    if (
        digit_groups is None
        or not cents.isdigit()
        and point
        or digit_groups["between"] == point != ""
    ):
        return None
    number = float(re.sub(r"\D", "", integer_part) + "." + (cents or "0"))
    if amount_match["sign"]:
        return -number
    return number


def is_integer(value: Any) -> bool:
    """Return whether a value is an int (or numpy integer), but no bool."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def order_levels(
    series: "pd.Series", used_labels: Sequence[str], hidden_labels: Sequence[str]
) -> tuple[tuple[str, ...], str]:
    """Sort an attribute's levels naturally; also return the rule of the order.

    The source is the categories, the numbers or the alphabet.
    """
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        category_labels = [format_label(value) for value in dtype.categories]
        levels = tuple(
            label
            for label in dict.fromkeys(category_labels)
            if label not in hidden_labels or label in used_labels
        )
        sorted_levels, order_rule = sort_by_value(levels)
        if dtype.ordered or levels != sorted_levels:
            order_rule = CATEGORIES
        return levels, order_rule
    return sort_by_value(used_labels)


def sort_by_value(labels: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Sort labels by number if all are numbers, else alphabetically; return the rule too."""
    number_by_label = {
        label: number for label in labels if (number := parse_number(label)) is not None
    }
    if len(number_by_label) == len(labels):
        _check_number_marks(number_by_label)
        distinct_numbers = set(number_by_label.values())
        order_rule = NUMBERS
        if len(distinct_numbers) > MANY_LEVELS and not all(map(float.is_integer, distinct_numbers)):
            order_rule = MEASURED
        return tuple(sorted(labels, key=lambda label: (number_by_label[label], label))), order_rule
    order_rule = ALPHABET
    if set(labels) <= {"False", "True"}:
        order_rule = NUMBERS
    return tuple(sorted(labels)), order_rule


_GROUPED = re.compile(r"\D*[1-9]\d{0,2}([.,])\d{3}\D*")
_WITH_CENTS = re.compile(r".*\d([.,])\d{1,2}\D*")


def _check_number_marks(number_by_label: dict[str, float]) -> None:
    """Raise DataError if "," (or ".") means thousands in one amount and decimals in another."""
    label_by_mark = {
        mark_match[1]: label
        for label in number_by_label
        if (mark_match := _WITH_CENTS.fullmatch(label))
    }
    for label, number in number_by_label.items():
        mark_match = _GROUPED.fullmatch(label)
        if mark_match and abs(number) >= 1000.0 and mark_match[1] in label_by_mark:
            raise DataError(
                f"{label!r} and {label_by_mark[mark_match[1]]!r} use {mark_match[1]!r} as both"
                " thousands separator and decimal point; write plain numbers."
            )


def check_level_order(name: str, level_list: Iterable[Any]) -> tuple[str, ...]:
    """Check and return the levels that the argument `levels` lists for one attribute."""
    if not is_list(level_list):
        raise ArgumentError(
            Argument("levels"),
            f" of {name!r} must list the levels from worst to best; got {level_list!r}.",
        )
    return check_labels(level_list, f"The levels of {name!r}")


def encode_levels(
    name: str,
    codes: np.ndarray,
    texts: list[str],
    levels: tuple[str, ...],
    describe_row: Callable[[int], str],
) -> np.ndarray:
    """Return the level index of each row; raise DataError for an unknown level."""
    level_numbers = find_label_indices(texts, levels)[codes]
    if (wrong_row := find_first(level_numbers < 0)) is not None:
        unknown_level = texts[codes[wrong_row]]
        if not unknown_level:
            raise DataError(
                f"Attribute {name!r} {describe_row(wrong_row)} is missing; fill in the value",
                Clause(
                    ", or enter a code for missing values and declare it with ", Argument("missing")
                ),
                "; if this is not an attribute, drop the column",
                InPython("", Clause(" with ", Setting("without", [name]))),
                ".",
            )
        raise DataError(
            f"Attribute {name!r} {describe_row(wrong_row)} is {unknown_level!r}, which is not one"
            f" of its levels {shorten(levels)}; declare it with ",
            Argument("levels"),
            advise_linear(name, levels) or f".{suggest(unknown_level, levels)}",
        )
    return level_numbers


def advise_linear(name: str, levels: Sequence[str]) -> Message | None:
    """Return the advice to read an attribute whose levels are numbers as a number."""
    if None not in map(parse_number, levels):
        return Message(", or fit with ", Setting("linear", name), ", which applies to any number.")
    return None


def read_numbers(
    name: str,
    texts: list[str],
    codes: np.ndarray,
    describe_row: Callable[[int], str],
    reason: str = "only numbers can be binned",
) -> np.ndarray:
    """Parse the number in each row; raise DataError for other texts.

    `where(row)` describes a row in the error.
    """
    row_numbers = np.array([parse_number(text) for text in texts], float)[codes]
    if (wrong_row := find_first(np.isnan(row_numbers))) is not None:
        problem = "is missing"
        if text := texts[codes[wrong_row]]:
            problem = f"is {text!r}, but must be a finite number"
        raise DataError(f"Attribute {name!r} {describe_row(wrong_row)} {problem}; {reason}.")
    return row_numbers


def compute_cut_points(name: str, bins: Any, values: np.ndarray) -> tuple[float, ...]:
    """Return the upper ends of an attribute's bins, as given or at quantiles.

    Examples
    --------
    >>> compute_cut_points("cost", 3, np.array([1.0, 2, 3, 4, 5, 60]))
    (2.0, 4.0)
    """
    if is_integer(bins):
        if bins < 2:
            raise ArgumentError(Argument("bins"), f" of {name!r} must be at least 2; got {bins}.")
        shares = np.arange(1, bins) / bins
        cuts = np.unique(np.quantile(values, shares, method="inverted_cdf"))
        return tuple(float(cut) for cut in cuts if cut < values.max())
    try:
        cuts = np.array(list(bins), float)
    except (TypeError, ValueError):
        cuts = np.empty(0)
    if not len(cuts) or not np.isfinite(cuts).all() or not (np.diff(cuts) > 0).all():
        raise ArgumentError(
            Argument("bins"),
            f" of {name!r} must be a number of bins, or increasing cut points; got {bins!r}.",
        )
    return tuple(cuts.tolist())


def name_bins(cuts: tuple[float, ...]) -> tuple[str, ...]:
    """Return names of bins, such as "<= 5", "5 to 10", "> 10".

    Examples
    --------
    >>> name_bins((120.0, 180.0))
    ('<= 120', '120 to 180', '> 180')
    """
    cut_texts = [np.format_float_positional(cut, trim="-") for cut in cuts]
    if not cut_texts:
        return ("all values",)
    inner_names = [f"{low} to {high}" for low, high in pairwise(cut_texts)]
    return (f"<= {cut_texts[0]}", *inner_names, f"> {cut_texts[-1]}")


def select_landmarks(levels: np.ndarray) -> np.ndarray:
    """Select minimum, quartiles and maximum of many ordered levels."""
    return levels[np.linspace(0, len(levels) - 1, _LANDMARKS).round().astype(np.int64)]


def _count_digits(values: Sequence[float] | np.ndarray, min_digits: int) -> int:
    """Return the number of significant digits that distinguish all values."""
    for digits in range(min_digits, 17):
        if len({f"{value:.{digits}g}" for value in values}) == len(values):
            return digits
    return 17


def shorten_numbers(levels: Sequence[str]) -> tuple[str, ...]:
    """Round numeric levels to the digits that distinguish minimum, quartiles, maximum."""
    level_numbers = np.array(list(map(parse_number, levels)), float)
    digits = _count_digits(select_landmarks(level_numbers), _SHOWN)
    return tuple(f"{value:.{digits}g}" for value in level_numbers.tolist())


def group_quarters(levels: Sequence[str]) -> tuple[tuple[str, ...], np.ndarray]:
    """Group numeric levels into quarters; return their names and each level's group.

    Examples
    --------
    >>> names, groups = group_quarters(("0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4"))
    >>> names, groups.tolist()
    (('to 1', '1 to 2', '2 to 3', 'from 3'), [0, 0, 1, 1, 2, 2, 3, 3])
    """
    level_numbers = np.array(list(map(parse_number, levels)), float)
    upper_ends = compute_cut_points("", _GROUPS, level_numbers)
    end_texts = [f"{end:.{_count_digits(upper_ends, 3)}g}" for end in upper_ends]
    group_names = (
        f"to {end_texts[0]}",
        *(f"{a} to {b}" for a, b in pairwise(end_texts)),
        f"from {end_texts[-1]}",
    )
    return group_names, np.searchsorted(upper_ends, level_numbers, side="left")


def encode_bins(
    name: str,
    codes: np.ndarray,
    texts: list[str],
    cuts: tuple[float, ...],
    levels: tuple[str, ...],
    describe_row: Callable[[int], str],
) -> np.ndarray:
    """Return the bin index of each row, from its number or the name of its bin."""
    bin_index = find_label_indices(texts, levels)[codes]
    is_unnamed = bin_index < 0
    unnamed_rows = np.flatnonzero(is_unnamed)
    row_numbers = read_numbers(
        name, texts, codes[is_unnamed], lambda k: describe_row(int(unnamed_rows[k]))
    )
    bin_index[is_unnamed] = np.searchsorted(np.asarray(cuts), row_numbers, side="left")
    return bin_index
