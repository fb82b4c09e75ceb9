"""What was typed after an option, turned into what an argument takes."""

from collections.abc import Sequence
from typing import Any

from thali._labels import suggest
from thali._model.spec import (
    AMOUNTS,
    ANCHOR,
    CELL,
    CONDITIONS,
    CONTRASTS,
    COUNTS,
    CUTS,
    FEATURES,
    LISTS,
    NAMES,
    NUMBER,
    NUMBERS,
    PAIRS,
    PEOPLE_VALUE,
    Option,
)
from thali._people.populations import parse_people
from thali.errors import Argument, ArgumentError


def value_of(option: Option, typed: Any) -> Any:
    """The value of an option.

    Examples
    --------
    >>> from thali._model.options import TEMPERING
    >>> [value_of(TEMPERING, typed) for typed in ("auto", "off", "12", "1,2.5")]
    [None, False, 12, (1.0, 2.5)]
    """
    if isinstance(typed, str) and typed in option.words:
        return option.words[typed]
    value = _READ.get(option.type, _as_it_is)(option, typed)
    if option.check is not None:
        option.check(option.name, value)
    return value


def _as_it_is(option: Option, typed: Any) -> Any:
    if option.words and option.to != FEATURES:
        words = list(option.words)
        known = " or ".join(words) if len(words) < 3 else f"one of {', '.join(words)}"
        raise ArgumentError(
            Argument(option.name), f" must be {known}; got {typed!r}.{suggest(typed, words)}"
        )
    return typed


def _number(option: Option, typed: str) -> float:
    try:
        return float(typed)
    except ValueError:
        words = "".join(f"{word} or " for word in option.words)
        raise ArgumentError(
            Argument(option.name),
            f" must be {words}a number; got {typed!r}.{suggest(typed, list(option.words))}",
        ) from None


def _numbers(option: Option, typed: str) -> int | tuple[float, ...]:
    try:
        return int(typed) if "," not in typed else tuple(float(part) for part in typed.split(","))
    except ValueError:
        words = "".join(f"{word}, " for word in option.words)
        raise ArgumentError(
            Argument(option.name),
            f" must be {words}a number, or numbers separated by commas, such as 1,10; got"
            f" {typed!r}.",
        ) from None


def _counts(option: Option, typed: str) -> int | tuple[int, ...]:
    try:
        if "," in typed:
            return tuple(int(part) for part in typed.split(","))
        first, dash, last = typed.partition("-")
        return tuple(range(int(first), int(last) + 1)) if dash else int(typed)
    except ValueError:
        raise ArgumentError(
            Argument(option.name),
            f" must be an integer, or several such as 1-6 or 2,4; got {typed!r}.",
        ) from None


def _names(option: Option, typed: str) -> list[str]:
    return [name.strip() for name in typed.split(",")]


def _cell(option: Option, typed: str) -> "str | dict[str, str]":
    column, equals, value = typed.partition("=")
    return {column: value} if equals else typed


def _anchor(option: Option, typed: str) -> "str | dict[str, float]":
    """A name, or the number behind the last "=" as that of a name."""
    name, equals, number = typed.rpartition("=")
    try:
        return {name: float(number)} if equals else typed
    except ValueError:
        return typed


def _pairs(option: Option, typed: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in named_values(option, typed):
        if found.get(name, value) != value:
            raise ArgumentError(
                Argument(option.name),
                f": {name!r} is given as both {found[name]} and {value}; choose one.",
            )
        found[name] = value
    return found


def _amounts(option: Option, typed: list[str]) -> dict[str, float]:
    found = {}
    for name, value in _pairs(option, typed).items():
        try:
            found[name] = float(value)
        except ValueError:
            raise ArgumentError(
                Argument(option.name), f" of {name!r} must be a number; got {value!r}."
            ) from None
    return found


def _lists(option: Option, typed: list[str]) -> dict[str, list[str]]:
    return {name: _names(option, value) for name, value in named_values(option, typed)}


def _cuts(option: Option, typed: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in named_values(option, typed):
        try:
            several = "," in value or "." in value
            found[name] = [float(cut) for cut in value.split(",")] if several else int(value)
        except ValueError:
            raise ArgumentError(
                Argument(option.name),
                f" {name}= must be a number of bins, or at least two cut points separated by"
                f" commas; got {value!r}.",
            ) from None
    return found


def _contrasts(option: Option, typed: list[str]) -> list[dict[str, float]]:
    found = []
    for text in typed:
        try:
            found.append({name: float(value) for name, value in named_values(option, [text])})
        except ValueError as error:
            if isinstance(error, ArgumentError):
                raise
            raise ArgumentError(
                Argument(option.name),
                f" must be names with numbers, such as tea=1,milk=-1; got {text!r}.",
            ) from None
    return found


def _conditions(option: Option, typed: list[str]) -> Any:
    from thali._reading.row_filter import RowFilter

    return RowFilter.parse(typed, option.name)


_READ = {
    NUMBER: _number,
    NUMBERS: _numbers,
    COUNTS: _counts,
    NAMES: _names,
    ANCHOR: _anchor,
    CELL: _cell,
    PAIRS: _pairs,
    AMOUNTS: _amounts,
    LISTS: _lists,
    CUTS: _cuts,
    CONDITIONS: _conditions,
    CONTRASTS: _contrasts,
    PEOPLE_VALUE: lambda option, typed: parse_people(typed),
}


def named_values(option: Option, typed: Sequence[str]) -> list[tuple[str, str]]:
    """(name, value) of every "name=value" that was typed, in one option or several.

    The last "=" ends the name. A comma begins another pair where another "=" follows; elsewhere the
    value goes on.

    Examples
    --------
    >>> from thali._model.spec import Option
    >>> named_values(
    ...     Option("monotone", ""), ["price=decreasing,zoom=increasing", "wifi=increasing"]
    ... )
    [('price', 'decreasing'), ('zoom', 'increasing'), ('wifi', 'increasing')]
    >>> named_values(Option("levels", ""), ["size=small,large"])
    [('size', 'small,large')]
    >>> named_values(Option("coding", ""), ["A>B=first,A=B=tie"])
    [('A>B', 'first'), ('A=B', 'tie')]
    """
    pairs: list[tuple[str, str]] = []
    for text in typed:
        start = len(pairs)
        for piece in text.split(","):
            name, equals, value = piece.rpartition("=")
            if equals:
                pairs.append((name.strip(), value.strip()))
            elif len(pairs) > start:
                pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]},{piece.strip()}")
            else:
                raise ArgumentError(
                    Argument(option.name), f" must be given as NAME=VALUE; got {text!r}."
                )
    return pairs
