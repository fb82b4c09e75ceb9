"""The one renderer of the numbers that people read: in sentences, in tables, on pages and in
pictures.

A sentence has three digits (`number`), per cent (`percent`), and one form of a probability
(`probability`) and of a p-value (`p_in_words`). A table has three decimals, more in a column, or a
row, of small numbers; a table of a paper has the same decimals in a whole column (`decimals_of`).
Thousands are set apart by commas, and nothing is written as -0. What Python prints of results keeps
six digits (`for_python`), because people go on computing with it. Files hold all digits.
"""

import math
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

DECIMALS, _MOST_DECIMALS = 3, 6
LARGEST_R_HAT = 100.0  # that is written out: a larger one says no more
_LARGE = 10_000.0  # from here on there are no decimals
_HUGE = 1e15  # from here on there are powers of ten


class Marks(NamedTuple):
    """How one surface writes names, and what is no plain number."""

    name: Callable[[Any], str]
    missing: str
    infinite: str
    less: str


def in_line(value: Any) -> str:
    """Write a name, or several."""
    return (
        ", ".join(map(in_line, value))
        if isinstance(value, tuple | list | set | frozenset)
        else str(value)
    )


TERMINAL_MARKS = Marks(in_line, "-", "inf", "< ")
PAGE_MARKS = Marks(in_line, "–", "∞", "< ")


# Numbers in sentences -----------------------------------------------------------------------------


def number(value: float) -> str:
    """Write a number in a sentence, with three digits.

    Examples
    --------
    >>> number(0.47449), number(1234.4), number(-0.0), number(2e20)
    ('0.474', '1,234', '0', '2e+20')
    """
    return f"{value:,.0f}" if 100 <= abs(value) < _HUGE else f"{value + 0.0:.3g}"


def factor(value: float) -> str:
    """Write a factor of odds in a sentence: near 1 with two digits of how far it is from 1.

    Examples
    --------
    >>> factor(1.000873), factor(0.5), factor(1.0)
    ('1.00087', '0.5', '1')
    """
    return f"{1.0 + float(f'{value - 1.0:.2g}'):.10g}" if abs(value - 1.0) < 0.1 else number(value)


def probability(value: float) -> str:
    """Write a probability in a sentence, with two decimals.

    Examples
    --------
    >>> probability(0.474), probability(0.999), probability(0.0)
    ('0.47', '> 0.99', '< 0.01')
    """
    return "> 0.99" if value > 0.99 else "< 0.01" if value < 0.01 else f"{value:.2f}"


def p_in_words(value: float) -> str:
    """Write a p-value in a sentence.

    Examples
    --------
    >>> p_in_words(0.0123), p_in_words(1e-9)
    ('p = 0.012', 'p < 0.001')
    """
    return f"p = {value:.3f}" if value >= 0.001 else "p < 0.001"


def percent(share: float, decimals: int = 0) -> str:
    """Write a share in a sentence as per cent.

    Examples
    --------
    >>> percent(0.893), percent(0.893, 1), percent(-1e-9)
    ('89 %', '89.3 %', '0 %')
    """
    return f"{written(100.0 * share, decimals)} %"


# Numbers in tables --------------------------------------------------------------------------------


def written(value: float, decimals: int) -> str:
    """Write a finite number with so many decimals; with a power of ten where the most would show
    nothing of it.

    Examples
    --------
    >>> written(0.25, 3), written(12345.6, 1), written(2e-7, 6), written(2e-7, 3), written(-1e-7, 3)
    ('0.250', '12,345.6', '2.0e-07', '0.000', '0.000')
    """
    if abs(value) >= _HUGE or (
        decimals >= _MOST_DECIMALS and 0.0 < abs(value) < 10.0**-decimals / 2
    ):
        return f"{value:.1e}"
    return f"{round(value, decimals) + 0.0:,.{decimals}f}"


def cell(column: str, value: Any, decimals: int | None, marks: Marks) -> str:
    """Write a cell of the column of that name; `decimals`: None: three, fewer of counts and of
    large numbers."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return f"{value:,}"
    if not isinstance(value, Real):
        return marks.missing if value is None or str(value) == "<NA>" else marks.name(value)
    value = float(value)
    if math.isnan(value):
        return marks.missing
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}{marks.infinite}"
    if column == "r_hat" and value > LARGEST_R_HAT:
        return f"> {LARGEST_R_HAT:.0f}"
    if decimals is None and (is_count(column) or abs(value) >= _LARGE):
        decimals = 0
    elif decimals is None:
        decimals = DECIMALS + column.startswith("mcse")
    if is_p_value(column) and decimals and value < 10.0**-decimals:
        return f"{marks.less}{10.0**-decimals:.{decimals}f}"
    return written(value, decimals)


def for_python(value: float) -> str:
    """Write a number that a result prints in Python, with six digits."""
    return f"{value + 0.0:.6g}" if value == 0.0 or 1e-3 <= abs(value) < 1e6 else f"{value:.3g}"


def with_two_digits(value: float) -> int:
    """How many decimals show two digits of a number above 0: three at least, and not too many."""
    return min(max(DECIMALS, 1 - math.floor(math.log10(value))), _MOST_DECIMALS)


def decimals_of(column: str, values: Sequence[float], digits: int | None = None) -> int:
    """How many decimals the numbers of a column deserve: two digits of the typical one at least.

    Examples
    --------
    >>> (
    ...     decimals_of("weight", [0.25, 0.5]),
    ...     decimals_of("weight", [0.0002, 0.0005]),
    ...     decimals_of("n", [2.0, 3.0]),
    ... )
    (3, 5, 0)
    """
    finite = [abs(value) for value in values if math.isfinite(value)]
    if is_count(column) or all(value == int(value) for value in finite):
        return 0
    if digits is not None:
        return digits
    if is_p_value(column):
        return DECIMALS
    typical = sorted(value for value in finite if value > 0.0)[
        sum(value > 0.0 for value in finite) // 2
    ]
    return with_two_digits(typical)


def is_count(column: str) -> bool:
    """Whether the numbers of a column count draws, so that they have no decimals."""
    return column.startswith("ess")


def is_p_value(column: str) -> bool:
    """Whether the numbers of a column are p-values, of which small ones are all alike."""
    return column.endswith("p_value")
