"""Checks of arguments, each before any long computation starts."""

import math
import numbers

from thali.errors import ArgumentError

MOST = 10**9  # of what is counted
MOST_DRAWS = 10**8  # of all chains, each of which holds a number for every pair
MOST_SWEEPS = 10**9  # of a chain: hours to days


def whole(name: str, value, least: int) -> int:
    """A whole number of at least `least`, and of a size that can be counted to."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ArgumentError(f"{name} must be a whole number of {least} or more; got {value!r}.")
    number = int(value)
    if number > MOST:
        raise ArgumentError(f"{name} must be {MOST:,} at most; got about {float_of(number):.1g}.")
    return number


def float_of(value) -> float:
    """A whole number of any size as a float, which is infinite where floats end."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def refuse_endless(draws: int, tune: int, chains: int, thin: int) -> None:
    """Raise an error for a run that nobody could wait for, or whose draws fill any memory."""
    if chains * draws > MOST_DRAWS:
        raise ArgumentError(f"{chains:,} chains of {draws:,} draws are more than fit into memory; ask for fewer draws.")
    if (sweeps := (draws + tune) * thin) > MOST_SWEEPS:
        raise ArgumentError(
            f"{draws:,} draws and {tune:,} before them to tune, every one of {thin:,} sweeps (thin), make "
            f"{sweeps:,} sweeps a chain; ask for {MOST_SWEEPS:,} at most."
        )


def positive(name: str, value, meaning: str) -> float:
    """A finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0.0 < float(value) < math.inf:
        raise ArgumentError(f"{name} is {meaning} and must be a finite number above 0; got {value!r}.")
    return float(value)


def one_of(name: str, value, choices: tuple):
    """One of a few values."""
    if value not in choices:
        raise ArgumentError(f"{name} must be one of {', '.join(repr(c) for c in choices)}; got {value!r}.")
    return value
