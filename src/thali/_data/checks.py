"""The checks that all data share: labels, counts, and names that were nearly right."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from thali._labels import as_label
from thali.errors import Clause, DataError, Setting

MAX_COUNTED = 2.0**53  # floating-point numbers skip whole numbers above this
LARGEST = 1e50  # of measured numbers: their fourth powers are floats


def checked_counts(values: Any, where: Callable[[int], str], weights: bool = False) -> np.ndarray:
    """The values as a flat array of counts: finite, 0 or more, and whole unless they are declared
    weights.

    `where(k)` says in words where the k-th value stands.
    """
    counts = checked_numbers(values, where, "count")
    kind = "weights must be finite and >= 0" if weights else "counts must be integers >= 0"
    if (k := _first(np.isnan(counts))) is not None:
        raise DataError(
            f"The count {where(k)} is missing; enter 0 if there were no such comparisons."
        )
    if (k := _first(np.isinf(counts))) is not None:
        raise DataError(f"The count {where(k)} is infinite; {kind}.")
    if (k := _first(counts > MAX_COUNTED)) is not None:
        raise DataError(
            f"The count {where(k)} is {counts[k]:g}, too large to be exact (above 2^53)."
        )
    if (k := _first(counts < 0)) is not None:
        raise DataError(f"The count {where(k)} is {counts[k]:g}, which is negative; {kind}.")
    if not weights and (k := _first(counts != np.floor(counts))) is not None:
        raise DataError(
            f"The count {where(k)} is {counts[k]:g}, which is not an integer; {kind}. ",
            "For fractional counts, ",
            Clause("set ", Setting("weights", True), " or "),
            "list each pair in a row with a column 'weight'.",
        )
    return counts


def checked_numbers(values: Any, where: Callable[[int], str], what: str) -> np.ndarray:
    """The values as a flat array of floats, NaN where one is missing; `what` names them in the
    error."""
    values = np.asarray(values).ravel()
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    return np.array(
        [_number(value, k, where, what) for k, value in enumerate(values)], dtype=np.float64
    )


def refuse_extremes(values: np.ndarray, what: str) -> None:
    """Raise if squares of the values are beyond what floating-point numbers hold; `what` names one
    in the error."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest > LARGEST or 0.0 < largest < 1.0 / LARGEST:
        verb = "divide" if largest > 1.0 else "multiply"
        raise DataError(
            f"The largest {what} is {largest:.3g}, too far from 1; {verb} all values by a constant"
            " so that they range from about 0 to 1."
        )


def _number(value: Any, k: int, where: Callable[[int], str], what: str) -> float:
    if not as_label(value) or str(value) == "<NA>":
        return math.nan
    if isinstance(value, (np.str_, np.complexfloating)):
        # Python shows it as its owner wrote it, and refuses 1j where NumPy drops the j
        value = value.item()
    try:
        if isinstance(value, (np.datetime64, np.timedelta64)):
            raise TypeError("a date, which float() would turn into nanoseconds")
        return float(value)
    except (TypeError, ValueError):
        hint = _spelled_number(value, what) if isinstance(value, str) else ""
        raise DataError(
            f"The {what} {where(k)} is {value!r}, which is not a number{hint}."
        ) from None


def _spelled_number(text: str, what: str) -> str:
    """How to write what only people read as a number: with separators of thousands, or per cent."""
    if re.fullmatch(r"[+-]?\d{1,3}([,.' \u00a0\u202f\u2019]\d{3})+([,.]\d+)?", text.strip()):
        return f"; write {re.sub(r'[^0-9]', '', text)}, without thousands separators"
    if re.fullmatch(r"[+-]?[\d.,]+\s*%", text.strip()):
        return (
            "; give counts, not percentages"
            if what == "count"
            else "; give numbers without a per cent sign"
        )
    return ""


def _first(wrong: np.ndarray) -> int | None:
    """Position of the first True."""
    return int(wrong.argmax()) if wrong.any() else None


def are_whole(numbers: np.ndarray) -> bool:
    """Whether all numbers are integers."""
    return np.array_equal(numbers, np.floor(numbers))


def whole_as_integers(numbers: np.ndarray) -> np.ndarray:
    """Counts as integers, fractional ones as they are."""
    return numbers.astype(np.int64) if are_whole(numbers) else numbers
