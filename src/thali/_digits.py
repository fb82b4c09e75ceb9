"""How many digits a number is written with, wherever people read it.

Three purposes have rules of their own: a column of a table in a paper (`decimals_of`, the same for the whole column), a
number that stands by itself in a page or in words (`by_itself`), and a column of a terminal, which must align and must
not move when a fit is repeated (`in_a_column`). What Python prints of results keeps six digits (`for_python`), because
people go on computing with it. Files hold all digits.
"""

import math
from collections.abc import Sequence

DECIMALS, _MOST_DECIMALS = 3, 6
_SMALL = 0.05  # numbers below which three decimals say too little
LARGEST_R_HAT = 100.0  # that is written out: a larger one says no more
_SMALL_FIGURE = 0.1  # below which a number and its interval are written with two digits of how sure it is
_LARGE = 10_000.0  # from here on thousands are set apart


def written(value: float, decimals: int) -> str:
    """A finite number with so many decimals; where they would show nothing of it, by its power of ten.

    Examples
    --------
    >>> written(0.25, 3), written(12345.6, 1), written(2e-7, 3), written(0.0, 3)
    ('0.250', '12,345.6', '2.0e-07', '0.000')
    """
    if decimals and 0.0 < abs(value) < 10.0**-decimals / 2:
        return f"{value:.1e}"
    return f"{value:,.{decimals}f}" if abs(value) >= _LARGE else f"{value:.{decimals}f}"


def by_itself(column: str, value: float) -> str:
    """A finite number of the column of that name in a page: three decimals or three digits, whichever is longer."""
    if is_count(column) or abs(value) >= _LARGE:
        return f"{value:,.0f}"
    return written(value, DECIMALS if abs(value) < 100 else 1)


def in_a_column(column: str, value: float) -> str:
    """A number of the column of that name in a terminal; "-" where there is none."""
    if math.isnan(value):
        return "-"
    if is_count(column):
        return f"{value:,.0f}"
    if column == "r_hat" and value > LARGEST_R_HAT:
        return f"> {LARGEST_R_HAT:.0f}"
    return f"{value:.{DECIMALS + 1 if column.startswith('mcse') else DECIMALS}f}"


def for_python(value: float) -> str:
    """A number that a result prints in Python: six digits."""
    return f"{value:.6g}" if value == 0.0 or 1e-3 <= abs(value) < 1e6 else f"{value:.3g}"


def decimals_of_small(column: str, values: Sequence[object]) -> int | None:
    """How many decimals the numbers of a column deserve of which three decimals would say too little; None otherwise.

    Examples
    --------
    >>> decimals_of_small("log_odds", [0.00087]), decimals_of_small("log_odds", [0.00087, 0.5])
    (5, None)
    """
    numbers = [abs(value) for value in values if isinstance(value, float) and math.isfinite(value)]
    if numbers and 0.0 < max(numbers) < _SMALL and not column.startswith("mcse"):
        return decimals_of(column, numbers)
    return None


def decimals_of_cells(column: str, values: Sequence[object], least: Sequence[int]) -> list[int | None]:
    """How many decimals each number of a column has; None: as usual. `least`: those that its figure deserves, or none.

    Examples
    --------
    >>> decimals_of_cells("coef", [-0.0107, 0.5], [4, 3]), decimals_of_cells("coef", [-0.0107, 0.5], [])
    ([4, None], [None, None])
    """
    more = decimals_of_small(column, values)
    own = least or [DECIMALS] * len(values)
    return [max(more or 0, each) if each > DECIMALS else more for each in own]


def decimals_of_figure(numbers: Sequence[float], width: float) -> int:
    """How many decimals a figure deserves, that is a number and the ends of its interval, in a table with larger ones.

    Two digits of the width of the interval where all of its numbers are small; three decimals otherwise.

    Examples
    --------
    >>> decimals_of_figure([-0.0107, -0.0115, -0.0099], 0.0016), decimals_of_figure([0.37, 0.369, 0.371], 0.002)
    (4, 3)
    """
    known = [abs(value) for value in numbers if math.isfinite(value)]
    if not known or not max(known) < _SMALL_FIGURE or not 0.0 < width < math.inf:
        return DECIMALS
    return with_two_digits(width)


def with_two_digits(value: float) -> int:
    """How many decimals show two digits of a number above 0: three at least, and not too many."""
    return min(max(DECIMALS, 1 - math.floor(math.log10(value))), _MOST_DECIMALS)


def decimals_of(column: str, values: Sequence[float], digits: int | None = None) -> int:
    """How many decimals the numbers of a column deserve: two digits of the typical one at least.

    Examples
    --------
    >>> decimals_of("weight", [0.25, 0.5]), decimals_of("weight", [0.0002, 0.0005]), decimals_of("n", [2.0, 3.0])
    (3, 5, 0)
    """
    finite = [abs(value) for value in values if math.isfinite(value)]
    if is_count(column) or all(value == int(value) for value in finite):
        return 0
    if digits is not None:
        return digits
    if is_p_value(column):
        return DECIMALS
    typical = sorted(value for value in finite if value > 0.0)[sum(value > 0.0 for value in finite) // 2]
    return with_two_digits(typical)


def is_count(column: str) -> bool:
    """Whether the numbers of a column count draws, so that they have no decimals."""
    return column.startswith("ess")


def is_p_value(column: str) -> bool:
    """Whether the numbers of a column are p-values, of which small ones are all alike."""
    return column == "p" or column.endswith("p_value")
