"""Checks of arguments, each before any long computation starts."""

import math
import numbers

from thali.errors import ArgumentError


def whole(name: str, value, least: int) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ArgumentError(f"{name} must be a whole number of {least} or more; got {value!r}.")
    return int(value)


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
