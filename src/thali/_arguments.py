"""Checks of arguments, each before any long computation starts."""

import math
import numbers
from collections.abc import Iterable
from typing import Any, TypeGuard

from .errors import Argument, ArgumentError, Fact
from .errors import one_of as listed

MAX_COUNT = 10**9  # of what is counted
MAX_DRAWS = 10**8  # of all chains, each of which holds a number for every pair
MAX_SWEEPS = 10**9  # of a chain: hours to days
LEAST, MOST = 1e-100, 1e100  # of numbers that are squared


def _named(name: str | Fact) -> Fact:
    return name if isinstance(name, Fact) else Argument(name)


def is_list(value: Any) -> TypeGuard[Iterable[Any]]:
    """Return whether a value is several ones, and no text."""
    return isinstance(value, Iterable) and not isinstance(value, str)


def whole(name: str | Fact, value: Any, least: int) -> int:
    """A whole number of at least `least`, and of a size that can be counted to."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ArgumentError(_named(name), f" must be an integer >= {least}; got {value!r}.")
    number = int(value)
    if number > MAX_COUNT:
        raise ArgumentError(
            _named(name), f" must be an integer <= {MAX_COUNT:,}; got about {float_of(number):.1g}."
        )
    return number


def several_whole(name: str, value: Any, least: int) -> tuple[int, ...]:
    """A whole number of at least `least`, or several."""
    several = is_list(value)
    numbers = tuple(whole(name, number, least) for number in (value if several else (value,)))
    if not numbers:
        raise ArgumentError(Argument(name), f" must be one or more integers >= {least}; got none.")
    return tuple(sorted(set(numbers)))


def float_of(value: Any) -> float:
    """A whole number of any size as a float, which is infinite where floats end."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def refuse_endless(draws: int, tune: int, chains: int, thin: int) -> None:
    """Raise an error for a run that nobody could wait for, or whose draws fill any memory."""
    if chains * draws > MAX_DRAWS:
        raise ArgumentError(
            f"{chains:,} chains of {draws:,} draws do not fit into memory; reduce the number of"
            " draws."
        )
    if (sweeps := (draws + tune) * thin) > MAX_SWEEPS:
        raise ArgumentError(
            f"{draws:,} draws and {tune:,} warm-up draws with {thin:,} sweeps each (",
            Argument("thin"),
            f") make {sweeps:,} sweeps per chain; the maximum is {MAX_SWEEPS:,}.",
        )


def positive(name: str | Fact, value: Any, meaning: str) -> float:
    """Check a number from 1e-100 to 1e100, whose square and its inverse are floats."""
    if (
        isinstance(value, bool)
        or not isinstance(value, numbers.Real)
        or not 0.0 < float_of(value) < math.inf
    ):
        raise ArgumentError(
            _named(name), f", {meaning}, must be a positive finite number; got {value!r}."
        )
    if not LEAST <= float_of(value) <= MOST:
        raise ArgumentError(
            _named(name), f", {meaning}, must be between {LEAST:g} and {MOST:g}; got {value!r}."
        )
    return float(value)


def one_of(name: str, value: Any, choices: tuple[Any, ...]) -> Any:
    """One of a few values."""
    if value not in choices:
        must, between = (" must be one of ", ", ") if len(choices) > 2 else (" must be ", " or ")
        raise ArgumentError(
            Argument(name), must, listed(name, choices, between), f"; got {value!r}."
        )
    return value


def share(name: str | Fact, value: Any, meaning: str) -> float:
    """A number of 0 or more and below 1."""
    return _in_unit_interval(name, value, meaning, (0.0,), "[0, 1)")


def proportion(name: str | Fact, value: Any, meaning: str) -> float:
    """A number above 0 and up to 1."""
    return _in_unit_interval(name, value, meaning, (1.0,), "(0, 1]")


def between(name: str | Fact, value: Any, meaning: str) -> float:
    """A number between 0 and 1, which are excluded."""
    return _in_unit_interval(name, value, meaning, (), "(0, 1)")


def _in_unit_interval(
    name: str | Fact, value: Any, meaning: str, included_ends: tuple[float, ...], interval: str
) -> float:
    """A number between 0 and 1, or one of the ends that are included."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not (0.0 < float(value) < 1.0 or float(value) in included_ends):
        raise ArgumentError(_named(name), f", {meaning}, must be in {interval}; got {value!r}.")
    return float(value)


def seed_number(name: str | Fact, value: Any) -> int:
    """A whole number of 0 or more, of any size."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
        raise ArgumentError(_named(name), f" must be an integer >= 0; got {value!r}.")
    return int(value)
