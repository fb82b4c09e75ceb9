"""Parsers of the texts typed after command-line options."""

import contextlib
from collections.abc import Sequence
from typing import Any

from thali._labels import suggest
from thali._model.model_spec import (
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
    Option,
)
from thali.errors import Argument, ArgumentError


def parse_option(option: Option, text: Any) -> Any:
    """Parse and check the text typed after an option, by the option's type.

    Examples
    --------
    >>> from thali._model.command_line_options import TEMPERING
    >>> [parse_option(TEMPERING, typed) for typed in ("auto", "off", "12", "1,2.5")]
    [None, False, 12, (1.0, 2.5)]
    """
    if isinstance(text, str) and text in option.words:
        return option.words[text]
    parsed_value = _PARSERS.get(option.type, _check_word)(option, text)
    if option.check is not None:
        option.check(option.name, parsed_value)
    return parsed_value


def _check_word(option: Option, text: Any) -> Any:
    """Return the text; raise ArgumentError if it is none of the option's words."""
    if option.words and option.to != FEATURES:
        allowed_words = list(option.words)
        allowed_text = " or ".join(allowed_words)
        if len(allowed_words) > 2:
            allowed_text = f"one of {', '.join(allowed_words)}"
        raise ArgumentError(
            Argument(option.name),
            f" must be {allowed_text}; got {text!r}.{suggest(text, allowed_words)}",
        )
    return text


def _parse_number(option: Option, text: str) -> float:
    """Parse "0.5" as a float."""
    try:
        return float(text)
    except ValueError:
        alternatives_text = "".join(f"{word} or " for word in option.words)
        raise ArgumentError(
            Argument(option.name),
            f" must be {alternatives_text}a number; got"
            f" {text!r}.{suggest(text, list(option.words))}",
        ) from None


def _parse_numbers(option: Option, text: str) -> int | tuple[float, ...]:
    """Parse "3" as an int, or "1,2.5" as a tuple of floats."""
    try:
        if "," in text:
            return tuple(float(part) for part in text.split(","))
        return int(text)
    except ValueError:
        alternatives_text = "".join(f"{word}, " for word in option.words)
        raise ArgumentError(
            Argument(option.name),
            f" must be {alternatives_text}a number, or numbers separated by commas, such as 1,10;"
            f" got {text!r}.",
        ) from None


def _parse_counts(option: Option, text: str) -> int | tuple[int, ...]:
    """Parse "3", the range "1-6" or the list "2,4" as integers."""
    try:
        if "," in text:
            return tuple(int(part) for part in text.split(","))
        first_text, dash, last_text = text.partition("-")
        if dash:
            return tuple(range(int(first_text), int(last_text) + 1))
        return int(text)
    except ValueError:
        raise ArgumentError(
            Argument(option.name),
            f" must be an integer, or several such as 1-6 or 2,4; got {text!r}.",
        ) from None


def _parse_names(option: Option, text: str) -> list[str]:
    """Split "a,b,c" into names."""
    return [name.strip() for name in text.split(",")]


def _parse_cell(option: Option, text: str) -> "str | dict[str, str]":
    """Parse VALUE as text, COLUMN=VALUE as {column: value}."""
    column, equals, cell = text.partition("=")
    if equals:
        return {column: cell}
    return text


def _parse_anchor(option: Option, text: str) -> "str | dict[str, float]":
    """Parse NAME as text, NAME=NUMBER as {name: number}."""
    name, equals, number_text = text.rpartition("=")
    if equals:
        with contextlib.suppress(ValueError):  # the name of an option may contain "="
            return {name: float(number_text)}
    return text


def _parse_pairs(option: Option, texts: list[str]) -> dict[str, str]:
    """Parse several NAME=VALUE texts to a dict of texts."""
    value_by_name: dict[str, str] = {}
    for name, text in split_named_values(option, texts):
        if value_by_name.get(name, text) != text:
            raise ArgumentError(
                Argument(option.name),
                f": {name!r} is given as both {value_by_name[name]} and {text}; choose one.",
            )
        value_by_name[name] = text
    return value_by_name


def _parse_amounts(option: Option, texts: list[str]) -> dict[str, float]:
    """Parse several NAME=NUMBER texts to a dict of floats."""
    number_by_name = {}
    for name, text in _parse_pairs(option, texts).items():
        try:
            number_by_name[name] = float(text)
        except ValueError:
            raise ArgumentError(
                Argument(option.name), f" of {name!r} must be a number; got {text!r}."
            ) from None
    return number_by_name


def _parse_lists(option: Option, texts: list[str]) -> dict[str, list[str]]:
    """Parse several NAME=A,B texts to a dict of lists."""
    return {name: _parse_names(option, names) for name, names in split_named_values(option, texts)}


def _parse_cuts(option: Option, texts: list[str]) -> dict[str, Any]:
    """Parse NAME=N (number of bins) and NAME=A,B (cut points) to a dict."""
    cuts_by_name: dict[str, Any] = {}
    for name, text in split_named_values(option, texts):
        try:
            if "," in text or "." in text:
                cuts_by_name[name] = [float(cut) for cut in text.split(",")]
            else:
                cuts_by_name[name] = int(text)
        except ValueError:
            raise ArgumentError(
                Argument(option.name),
                f" {name}= must be a number of bins, or at least two cut points separated by"
                f" commas; got {text!r}.",
            ) from None
    return cuts_by_name


def _parse_contrasts(option: Option, texts: list[str]) -> list[dict[str, float]]:
    """Parse texts such as "tea=1,milk=-1" to dicts of floats."""
    contrasts = []
    for text in texts:
        named_texts = split_named_values(option, [text])
        try:
            contrasts.append({name: float(coefficient) for name, coefficient in named_texts})
        except ValueError:
            raise ArgumentError(
                Argument(option.name),
                f" must be names with numbers, such as tea=1,milk=-1; got {text!r}.",
            ) from None
    return contrasts


def _parse_conditions(option: Option, texts: list[str]) -> Any:
    """Parse filter conditions on table rows to a `RowFilter`."""
    from thali._reading.row_filter import RowFilter

    return RowFilter.parse(texts, option.name)


_PARSERS = {
    NUMBER: _parse_number,
    NUMBERS: _parse_numbers,
    COUNTS: _parse_counts,
    NAMES: _parse_names,
    ANCHOR: _parse_anchor,
    CELL: _parse_cell,
    PAIRS: _parse_pairs,
    AMOUNTS: _parse_amounts,
    LISTS: _parse_lists,
    CUTS: _parse_cuts,
    CONDITIONS: _parse_conditions,
    CONTRASTS: _parse_contrasts,
}


def split_named_values(option: Option, texts: Sequence[str]) -> list[tuple[str, str]]:
    """Split each NAME=VALUE text into (name, value).

    The last "=" ends the name. A comma separates two pairs if another "=" follows; elsewhere it is
    part of the value.

    Examples
    --------
    >>> from thali._model.model_spec import Option
    >>> split_named_values(
    ...     Option("monotone", ""), ["price=decreasing,zoom=increasing", "wifi=increasing"]
    ... )
    [('price', 'decreasing'), ('zoom', 'increasing'), ('wifi', 'increasing')]
    >>> split_named_values(Option("levels", ""), ["size=small,large"])
    [('size', 'small,large')]
    >>> split_named_values(Option("coding", ""), ["A>B=first,A=B=tie"])
    [('A>B', 'first'), ('A=B', 'tie')]
    """
    named_values: list[tuple[str, str]] = []
    for text in texts:
        n_before = len(named_values)
        for piece in text.split(","):
            name, equals, text_value = piece.rpartition("=")
            if equals:
                named_values.append((name.strip(), text_value.strip()))
            elif len(named_values) > n_before:
                named_values[-1] = (named_values[-1][0], f"{named_values[-1][1]},{piece.strip()}")
            else:
                raise ArgumentError(
                    Argument(option.name), f" must be given as NAME=VALUE; got {text!r}."
                )
    return named_values
