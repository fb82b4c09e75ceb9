"""Checks that all data classes share: counts and measured numbers."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from thali._inference.index_arithmetic import find_first
from thali._labels import format_label
from thali.errors import Clause, DataError, Setting

MAX_EXACT_COUNT = 2.0**53  # floating-point numbers skip integers above this
MAX_MAGNITUDE = 1e50  # measured numbers above this have fourth powers that overflow


def check_counts(
    values: Any, describe_position: Callable[[int], str], weights: bool = False
) -> np.ndarray:
    """Convert a column of counts to a flat float array; raise DataError for other numbers.

    Counts are finite, 0 or more, and integers unless `weights` is true. `where(k)` describes the
    position of the k-th value in errors.
    """
    counts = check_numbers(values, describe_position, "count")
    requirement = "counts must be integers >= 0"
    if weights:
        requirement = "counts must be finite and >= 0"
    for is_wrong, problem in (
        (np.isnan(counts), "missing; enter 0 if there were no such comparisons."),
        (np.isinf(counts), f"infinite; {requirement}."),
        (counts > MAX_EXACT_COUNT, "{:g}, too large to be exact (above 2^53)."),
        (counts < 0, f"{{:g}}, which is negative; {requirement}."),
    ):
        if (k := find_first(is_wrong)) is not None:
            raise DataError(f"The count {describe_position(k)} is {problem.format(counts[k])}")
    if not weights and (k := find_first(counts != np.floor(counts))) is not None:
        raise DataError(
            f"The count {describe_position(k)} is {counts[k]:g}, which is not an integer;"
            f" {requirement}. ",
            "For fractional counts, ",
            Clause("set ", Setting("weights", True), " or "),
            "write one row per pair, with a column 'weight'.",
        )
    return counts


def check_numbers(values: Any, describe_position: Callable[[int], str], noun: str) -> np.ndarray:
    """Convert a column of numbers to a flat float array, NaN where empty.

    `noun` names the values in errors; `describe_position(k)` describes the position of value k.
    """
    values = np.asarray(values).ravel()
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    return np.array(
        [_convert_number(value, k, describe_position, noun) for k, value in enumerate(values)],
        np.float64,
    )


def refuse_extremes(values: np.ndarray, noun: str) -> None:
    """Raise DataError if the largest value is too large or small to be squared.

    `noun` names a value in the error.
    """
    largest_magnitude = float(np.abs(values).max(initial=0.0))
    if largest_magnitude > MAX_MAGNITUDE or 0.0 < largest_magnitude < 1.0 / MAX_MAGNITUDE:
        size = "small"
        if largest_magnitude > 1.0:
            size = "large"
        raise DataError(
            f"The largest {noun} is {largest_magnitude:.3g}, which is too {size}; rescale the"
            " values so that they range from about 0 to 1."
        )


def _convert_number(
    value: Any, k: int, describe_position: Callable[[int], str], noun: str
) -> float:
    """Convert one cell to a float, NaN if it is empty; raise DataError for texts."""
    if not format_label(value) or str(value) == "<NA>":
        return math.nan
    if isinstance(value, (np.str_, np.complexfloating)):
        # Python prints the value as it was written, and rejects 1j where NumPy drops the j
        value = value.item()
    try:
        if isinstance(value, (np.datetime64, np.timedelta64)):
            raise TypeError("a date, which float() would turn into nanoseconds")
        return float(value)
    except (TypeError, ValueError):
        problem = "not a real number"
        if isinstance(value, str):
            problem = f"not a number{_suggest_number_format(value, noun)}"
        raise DataError(
            f"The {noun} {describe_position(k)} is {value!r}, which is {problem}."
        ) from None


def _suggest_number_format(text: str, noun: str) -> str:
    """Return the advice to write "1,000" or "5 %" as plain numbers; else ""."""
    if re.fullmatch(r"[+-]?\d{1,3}([,.' \u00a0\u202f\u2019]\d{3})+([,.]\d+)?", text.strip()):
        return f"; write {re.sub(r'[^0-9]', '', text)}, without thousands separators"
    if re.fullmatch(r"[+-]?[\d.,]+\s*%", text.strip()):
        if noun == "count":
            return "; give counts, not percentages"
        return "; give numbers without a per cent sign"
    return ""


def are_integers(numbers: np.ndarray) -> bool:
    """Return whether all numbers have no fractional part."""
    return np.array_equal(numbers, np.floor(numbers))


def convert_whole_counts(numbers: np.ndarray) -> np.ndarray:
    """Convert a count array to int64 if all counts are integers."""
    if are_integers(numbers):
        return numbers.astype(np.int64)
    return numbers
