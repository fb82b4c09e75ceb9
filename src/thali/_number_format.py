"""Format of numbers that people read, in sentences, tables, pages and plots.

Sentences have three digits (`format_number`), per cent (`format_percent`), and one form of a
probability (`format_probability`) and of a p-value (`format_p_value`). Tables have three decimals,
more in columns or rows of small numbers; tables of papers have the same decimals in a column
(`count_decimals`). Thousands are separated by commas, and -0 is never written. Results printed in
Python keep six digits (`format_for_python`), because people compute with them. Files contain all
digits.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

DECIMALS = 3
_MOST_DECIMALS = 6
LARGEST_R_HAT = 100.0  # larger values are written as > 100
_LARGE = 10_000.0  # larger numbers have no decimals
_HUGE = 1e15  # larger numbers have powers of ten


class Marks(NamedTuple):
    """How names, missing, infinite and tiny numbers are written in one output format."""

    name: Callable[[Any], str]
    missing: str
    infinite: str
    less: str


def format_names(names: str | Iterable[Any]) -> str:
    """Return one or several names as text, separated by commas."""
    if isinstance(names, tuple | list | set | frozenset):
        return ", ".join(map(format_names, names))
    return str(names)


TERMINAL_MARKS = Marks(format_names, "-", "inf", "< ")
PAGE_MARKS = Marks(format_names, "–", "∞", "< ")


# Numbers in sentences -----------------------------------------------------------------------------


def format_number(number: float) -> str:
    """Return a number with three digits, for a sentence.

    Examples
    --------
    >>> format_number(0.47449), format_number(1234.4), format_number(-0.0), format_number(2e20)
    ('0.474', '1,234', '0', '2e+20')
    """
    if 100 <= abs(number) < _HUGE:
        return f"{number:,.0f}"
    return f"{number + 0.0:.3g}"


def format_factor(odds_factor: float) -> str:
    """Return a factor of odds as text, precise near 1.

    Examples
    --------
    >>> format_factor(1.000873), format_factor(0.5), format_factor(1.0)
    ('1.00087', '0.5', '1')
    """
    if abs(odds_factor - 1.0) < 0.1:
        return f"{1.0 + float(f'{odds_factor - 1.0:.2g}'):.10g}"
    return format_number(odds_factor)


def format_probability(chance: float) -> str:
    """Return a probability with two decimals, for a sentence.

    Examples
    --------
    >>> format_probability(0.474), format_probability(0.999), format_probability(0.0)
    ('0.47', '> 0.99', '< 0.01')
    """
    if chance > 0.99:
        return "> 0.99"
    if chance < 0.01:
        return "< 0.01"
    return f"{chance:.2f}"


def format_p_value(p_value: float) -> str:
    """Return a p-value as text, for a sentence.

    Examples
    --------
    >>> format_p_value(0.0123), format_p_value(1e-9)
    ('p = 0.012', 'p < 0.001')
    """
    if p_value >= 0.001:
        return f"p = {p_value:.3f}"
    return "p < 0.001"


def format_percent(share: float, decimals: int = 0) -> str:
    """Return a share as text in per cent, for a sentence.

    Examples
    --------
    >>> format_percent(0.893), format_percent(0.893, 1), format_percent(-1e-9)
    ('89 %', '89.3 %', '0 %')
    """
    return f"{format_decimals(100.0 * share, decimals)} %"


# Numbers in tables --------------------------------------------------------------------------------


def format_decimals(number: float, decimals: int) -> str:
    """Return a finite number as text with fixed decimals.

    Powers of ten are used where the maximum number of decimals would show only zeros.

    Examples
    --------
    >>> (
    ...     format_decimals(0.25, 3),
    ...     format_decimals(12345.6, 1),
    ...     format_decimals(2e-7, 6),
    ...     format_decimals(2e-7, 3),
    ...     format_decimals(-1e-7, 3),
    ... )
    ('0.250', '12,345.6', '2.0e-07', '0.000', '0.000')
    """
    if abs(number) >= _HUGE or (
        decimals >= _MOST_DECIMALS and 0.0 < abs(number) < 10.0**-decimals / 2
    ):
        return f"{number:.1e}"
    return f"{round(number, decimals) + 0.0:,.{decimals}f}"


def format_cell(column: str, content: Any, decimals: int | None, marks: Marks) -> str:
    """Return a table cell as text, by its column.

    `decimals`: None means three, fewer for counts and for large numbers.
    """
    if isinstance(content, bool | np.bool_):
        if content:
            return "yes"
        return "no"
    if isinstance(content, Integral):
        return f"{content:,}"
    if not isinstance(content, Real):
        if content is None or str(content) == "<NA>":
            return marks.missing
        return marks.name(content)
    content = float(content)
    if math.isnan(content):
        return marks.missing
    if content == math.inf:
        return marks.infinite
    if content == -math.inf:
        return f"-{marks.infinite}"
    if column == "r_hat" and content > LARGEST_R_HAT:
        return f"> {LARGEST_R_HAT:.0f}"
    if decimals is None and (is_count(column) or abs(content) >= _LARGE):
        decimals = 0
    elif decimals is None:
        decimals = DECIMALS + column.startswith("mcse")
    if is_p_value(column) and decimals and content < 10.0**-decimals:
        return f"{marks.less}{10.0**-decimals:.{decimals}f}"
    return format_decimals(content, decimals)


def format_for_python(number: float) -> str:
    """Return a number as text with six digits, as Python code."""
    if number == 0.0 or 1e-3 <= abs(number) < 1e6:
        return f"{number + 0.0:.6g}"
    return f"{number:.3g}"


def count_two_digit_decimals(number: float) -> int:
    """Return decimals (3 to 6) that show two digits of a positive number."""
    return min(max(DECIMALS, 1 - math.floor(math.log10(number))), _MOST_DECIMALS)


def count_decimals(column: str, numbers: Sequence[float], digits: int | None = None) -> int:
    """Return a column's decimals: two digits of a typical number at least.

    Examples
    --------
    >>> (
    ...     count_decimals("weight", [0.25, 0.5]),
    ...     count_decimals("weight", [0.0002, 0.0005]),
    ...     count_decimals("n", [2.0, 3.0]),
    ... )
    (3, 5, 0)
    """
    finite_magnitudes = [abs(number) for number in numbers if math.isfinite(number)]
    if is_count(column) or all(number == int(number) for number in finite_magnitudes):
        return 0
    if digits is not None:
        return digits
    if is_p_value(column):
        return DECIMALS
    median_magnitude = sorted(number for number in finite_magnitudes if number > 0.0)[
        sum(number > 0.0 for number in finite_magnitudes) // 2
    ]
    return count_two_digit_decimals(median_magnitude)


def is_count(column: str) -> bool:
    """Return whether a column counts draws (such as ESS), shown without decimals."""
    return column.startswith("ess")


def is_p_value(column: str) -> bool:
    """Return whether a column contains p-values, shown with more decimals."""
    return column.endswith("p_value")
