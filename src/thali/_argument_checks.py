"""Checks of arguments of public functions, which raise ArgumentError."""

import math
import numbers
from collections.abc import Iterable
from typing import Any, TypeGuard

from .errors import Argument, ArgumentError, Fact
from .errors import one_of as listed

MAX_COUNT = 10**9
MAX_DRAWS = 10**8  # draws of all chains; each draw contains one number per pair
MAX_SWEEPS = 10**9  # sweeps per chain: hours to days
LEAST, MOST = 1e-100, 1e100  # limits of numbers that are squared
_MAX_SPREAD = 1000.0


def _name_argument(name: str | Fact) -> Fact:
    """Return an argument's name as a message part for every surface."""
    if isinstance(name, Fact):
        return name
    return Argument(name)


def is_list(argument: Any) -> TypeGuard[Iterable[Any]]:
    """Return whether a value is iterable and not a string."""
    return isinstance(argument, Iterable) and not isinstance(argument, str)


def check_integer(name: str | Fact, argument: Any, least: int) -> int:
    """Return the argument as an integer from `least` to 10^9, or raise."""
    number = _check_least(name, argument, least)
    if number > MAX_COUNT:
        raise ArgumentError(
            _name_argument(name),
            f" must be an integer <= {MAX_COUNT:,}; got about {convert_to_float(number):.1g}.",
        )
    return number


def _check_least(name: str | Fact, argument: Any, least: int) -> int:
    """Return the argument as an integer of at least `least`, or raise."""
    if isinstance(argument, bool) or not isinstance(argument, numbers.Integral) or argument < least:
        raise ArgumentError(
            _name_argument(name), f" must be an integer >= {least}; got {argument!r}."
        )
    return int(argument)


def check_integers(name: str, argument: Any, least: int) -> tuple[int, ...]:
    """Return one or several integers sorted, each at least `least`, or raise."""
    if not is_list(argument):
        argument = (argument,)
    numbers = {check_integer(name, number, least) for number in argument}
    if not numbers:
        raise ArgumentError(Argument(name), f" must be one or more integers >= {least}; got none.")
    return tuple(sorted(numbers))


def convert_to_float(number: Any) -> float:
    """Return a number as a float, infinite if it is too large."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def check_run_length(draws: int, tune: int, chains: int, thin: int) -> None:
    """Raise ArgumentError if a run is too long or its draws too large."""
    if chains * draws > MAX_DRAWS:
        raise ArgumentError(
            f"{chains:,} chains of {draws:,} draws do not fit into memory; reduce the number of"
            " draws."
        )
    if (n_sweeps := (draws + tune) * thin) > MAX_SWEEPS:
        raise ArgumentError(
            f"{draws:,} draws and {tune:,} warm-up draws with {thin:,} sweeps each (",
            Argument("thin"),
            f") make {n_sweeps:,} sweeps per chain; the maximum is {MAX_SWEEPS:,}.",
        )


def _is_real(argument: Any) -> TypeGuard[numbers.Real]:
    """Return whether a value is a real number and not a boolean."""
    return isinstance(argument, numbers.Real) and not isinstance(argument, bool)


def check_positive(name: str | Fact, argument: Any, meaning: str) -> float:
    """Return the argument as a float from 1e-100 to 1e100, or raise."""
    if not _is_real(argument) or not 0.0 < convert_to_float(argument) < math.inf:
        raise ArgumentError(
            _name_argument(name),
            f", {meaning}, must be a positive finite number; got {argument!r}.",
        )
    if not LEAST <= convert_to_float(argument) <= MOST:
        raise ArgumentError(
            _name_argument(name),
            f", {meaning}, must be between {LEAST:g} and {MOST:g}; got {argument!r}.",
        )
    return float(argument)


def check_spread(argument: Any) -> float:
    """Return the standard deviation of log worths as a float up to 1,000, or raise."""
    # draws drift with the spread above 10,000, where ratios of worths exceed any number
    spread = check_positive("spread", argument, "a standard deviation")
    if spread > _MAX_SPREAD:
        raise ArgumentError(
            Argument("spread"),
            f", the standard deviation of log worths, must be at most {_MAX_SPREAD:g}; got"
            f" {argument!r}. A value of 10 already has almost no influence on the worths.",
        )
    return spread


def check_allowed(name: str, argument: Any, choices: tuple[Any, ...]) -> Any:
    """Return the argument if it is among `choices`, else raise ArgumentError."""
    if argument not in choices:
        requirement = " must be "
        separator = " or "
        if len(choices) > 2:
            requirement = " must be one of "
            separator = ", "
        raise ArgumentError(
            Argument(name), requirement, listed(name, choices, separator), f"; got {argument!r}."
        )
    return argument


def check_share(name: str | Fact, argument: Any, meaning: str) -> float:
    """Return the argument as a float in [0, 1), or raise ArgumentError."""
    return _check_unit_interval(name, argument, meaning, (0.0,), "[0, 1)")


def check_proportion(name: str | Fact, argument: Any, meaning: str) -> float:
    """Return the argument as a float in (0, 1], or raise ArgumentError."""
    return _check_unit_interval(name, argument, meaning, (1.0,), "(0, 1]")


def check_open_interval(name: str | Fact, argument: Any, meaning: str) -> float:
    """Return the argument as a float in (0, 1), or raise ArgumentError."""
    return _check_unit_interval(name, argument, meaning, (), "(0, 1)")


def _check_unit_interval(
    name: str | Fact, argument: Any, meaning: str, included_ends: tuple[float, ...], interval: str
) -> float:
    """Return the argument as a float between 0 and 1, ends as given, or raise."""
    if not _is_real(argument) or not (
        0.0 < float(argument) < 1.0 or float(argument) in included_ends
    ):
        raise ArgumentError(
            _name_argument(name), f", {meaning}, must be in {interval}; got {argument!r}."
        )
    return float(argument)


def check_seed(name: str | Fact, argument: Any) -> int:
    """Return the argument as an integer >= 0, or raise ArgumentError."""
    return _check_least(name, argument, 0)
