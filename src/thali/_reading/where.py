"""Conditions on the rows of a table: a small language, read once, that prints itself again.

::

    conditions = condition { "and" condition }
    condition  = column ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) value
               | column "in" "(" value { "," value } ")"
               | column "is" [ "not" ] "missing"

A column or a value is a word, or any text between quotes, ' or ", in which that quote is written
twice. Quotes do not say that a value is text: the column does. "and", "in", "is" and so on are
words of the language only where one is expected.
"""

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from thali._data.columns import column, with_text_names
from thali._inference.warn import warn
from thali._labels import as_label, shorten, suggest
from thali.errors import Argument, ArgumentError, DataError, DataWarning

from .cells import INTEGER, NUMBER

if TYPE_CHECKING:
    import pandas as pd

EXAMPLE = "block == 'main' and rt > 0.2"
IN, MISSING, NOT_MISSING = "in", "is missing", "is not missing"
_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_EXPECTED = f"{', '.join(_COMPARED)}, 'in', {MISSING!r} or {NOT_MISSING!r}"
_TOKEN = re.compile(
    r"""(?P<quoted>'[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*")|(?P<sign>[=!<>]=|[=!<>(),])|(?P<word>[^\s'"=<>!(),]+)"""
)
_WORD = re.compile(r"[^\s'\"=<>!(),]+")
_TRUTH = {"true": 1, "false": 0}


# what a condition is ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Condition:
    """What one column must hold."""

    column: str
    operator: str  # ==, !=, <, <=, >, >=, in, is missing, is not missing
    values: tuple[str, ...] = ()  # several of "in", none of "is missing"
    # by which it was given, for errors
    argument: str = field(default="where", compare=False, repr=False)

    def __str__(self) -> str:
        values = [value if NUMBER.fullmatch(value) else _quoted(value) for value in self.values]
        if self.operator == IN:
            return f"{_name(self.column)} in ({', '.join(values)})"
        return " ".join([_name(self.column), self.operator, *values])


@dataclass(frozen=True)
class Where:
    """Conditions on the rows of a table, all of which must hold.

    Examples
    --------
    >>> where = Where.of(["block == main and rt>.2", '"Trial type" is not missing'])
    >>> print(where)
    block == 'main' and rt > .2 and 'Trial type' is not missing
    >>> Where.of(str(where)) == where
    True
    """

    conditions: tuple[Condition, ...] = ()

    @classmethod
    def of(cls, given: "str | Iterable[str] | Where | None", argument: str = "where") -> Self:
        """The conditions in a text or in several, given by that argument; none: all rows.

        Raises
        ------
        ArgumentError
            If one cannot be read.
        """
        if given is None or isinstance(given, Where):
            return cls() if given is None else cls(given.conditions)
        texts = (
            [given]
            if isinstance(given, str)
            else list(given)
            if isinstance(given, list | tuple)
            else []
        )
        if not texts or not all(isinstance(text, str) for text in texts):
            raise ArgumentError(
                Argument(argument),
                f' must be a condition such as "{EXAMPLE}", or a list of them; got {given!r}.',
            )
        return cls(
            tuple(condition for text in texts for condition in _conditions(_Given(text, argument)))
        )

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names, each once."""
        return tuple(dict.fromkeys(each.column for each in self.conditions))

    def check(self, frame: "pd.DataFrame") -> None:
        """Raise an error about the first condition that names a column which the table does not
        have."""
        for each in self.conditions:
            _column_of(each, frame)

    def holds(self, frame: "pd.DataFrame") -> np.ndarray:
        """Whether each row fulfils all conditions.

        Raises
        ------
        DataError
            If a column is not there, or cannot be compared with such a value.
        """
        kept = np.ones(len(frame), bool)
        for each in self.conditions:
            kept &= _holds(each, _column_of(each, frame))
        return kept

    def refuse_none_left(self, frame: "pd.DataFrame") -> None:
        """Raise the error about a table of which these conditions leave no row."""
        alone = [
            each for each in self.conditions if not _holds(each, _column_of(each, frame)).any()
        ]
        more = ", although each condition alone matches some"
        if alone:
            values = shorten(_texts(_column_of(alone[0], frame)), 6)
            more = (
                f"; column {alone[0].column!r} contains {values}"
                if values
                else f"; {alone[0].column!r} is empty"
            )
        raise self.none_left(len(frame), more)

    def none_left(self, rows: int, more: str = "") -> DataError:
        """The error about a table of so many rows, none of which is left."""
        return DataError(
            Argument(self.conditions[0].argument),
            f" ({self}) matches none of the {rows:,} rows{more}.",
        )

    def warn_of_unknown_values(self, frame: "pd.DataFrame") -> None:
        """Warn of a text that no row holds, where one that is nearly the same stands in the
        column."""
        for each in self.conditions:
            values = _column_of(each, frame)
            if (
                each.operator not in ("==", "!=", IN)
                or _as_numbers(values) is not None
                or _holds_dates(values)
            ):
                continue
            known = _texts(values)
            for value in each.values:
                if value not in known and (near := suggest(value, known)):
                    warn(DataWarning(f"No row contains {value!r} in column {each.column!r}.{near}"))

    def left_out(self, rows: int, kept: int) -> str:
        """Return how many rows meet these conditions, as a phrase."""
        return f"{kept:,} of {rows:,} rows kept where {self}"


def _name(text: str) -> str:
    """A column as it is written in a condition."""
    return text if _WORD.fullmatch(text) else _quoted(text)


def _quoted(text: str) -> str:
    """A text between quotes."""
    quote = '"' if "'" in text and '"' not in text else "'"
    return f"{quote}{text.replace(quote, 2 * quote)}{quote}"


# which rows fulfil it -----------------------------------------------------------------------------


def _column_of(condition: Condition, frame: "pd.DataFrame") -> "pd.Series":
    try:
        return column(with_text_names(frame), condition.column)
    except DataError as error:
        raise DataError(Argument(condition.argument), f" ({condition}): ", error) from None


def _holds(condition: Condition, values: "pd.Series") -> np.ndarray:
    """Whether each cell fulfils the condition; an empty one only "is missing" and "!="."""
    if condition.operator in (MISSING, NOT_MISSING):
        empty = _labels(values) == ""
        return empty if condition.operator == MISSING else ~empty
    sign = "==" if condition.operator == IN else condition.operator
    found = np.zeros(len(values), bool)
    for value in condition.values:
        found |= _compared(condition, values, _COMPARED[sign], value, sign in ("==", "!="))
    return found


def _compared(
    condition: Condition, values: "pd.Series", sign: Any, value: str, equal: bool
) -> np.ndarray:
    """Each cell compared with a value: as numbers, dates or texts, whichever the column holds."""
    if _holds_dates(values):
        return np.asarray(sign(values, _date(condition, values, value)))
    numbers = _as_numbers(values)
    if numbers is not None:
        return sign(numbers, _number(condition, value))
    texts = _labels(values)
    empty = texts == ""
    if equal or not NUMBER.fullmatch(value):
        found = np.asarray(sign(texts, value), bool)
        return found | empty if sign is operator.ne else found & ~empty
    different = np.unique(texts[~empty].astype(str))
    if words := [text for text in different.tolist() if not NUMBER.fullmatch(text)]:
        raise DataError(
            Argument(condition.argument),
            f" ({condition}): column {condition.column!r} contains text such as {words[0]!r},"
            f" which cannot be ordered relative to {value}; use == or !=.",
        )
    found = np.zeros(len(texts), bool)
    found[~empty] = sign(texts[~empty].astype(float), _as_number(value))
    return found


def _labels(values: "pd.Series") -> np.ndarray:
    """The cells as texts, "" where one is empty; each distinct one is looked at once."""
    import pandas as pd

    codes, different = pd.factorize(values)
    texts = np.array([*(as_label(value) for value in different), ""], dtype=object)
    return texts[codes]


def _texts(values: "pd.Series") -> list[str]:
    """The different texts of a column, without the empty one."""
    return [text for text in dict.fromkeys(_labels(values).tolist()) if text]


def _as_numbers(values: "pd.Series") -> np.ndarray | None:
    """The cells as numbers, NaN where one is empty; None unless the column holds numbers, or true
    and false."""
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(values.dtype):
        if values.dtype != object or pd.api.types.infer_dtype(values) not in (
            *("integer", "floating", "mixed-integer-float", "decimal", "boolean"),
        ):
            return None
    if pd.api.types.is_integer_dtype(values.dtype) and not values.hasnans:
        return values.to_numpy()
    return values.to_numpy(dtype=float, na_value=np.nan)


def _holds_dates(values: "pd.Series") -> bool:
    import pandas as pd

    return pd.api.types.is_datetime64_any_dtype(values.dtype)


def _number(condition: Condition, value: str) -> float:
    """The value as the number that a column of numbers needs."""
    if value.casefold() in _TRUTH:
        return _TRUTH[value.casefold()]
    if not NUMBER.fullmatch(value):
        raise DataError(
            Argument(condition.argument),
            f" ({condition}): column {condition.column!r} contains numbers, but {value!r} is not"
            " one; write a number such as 2 or 0.5.",
        )
    return _as_number(value)


def _as_number(text: str) -> float:
    return int(text) if INTEGER.fullmatch(text) and len(text) < 18 else float(text)


def _date(condition: Condition, values: "pd.Series", value: str) -> Any:
    """The value as a date, in the time zone of the column if it names none."""
    import pandas as pd

    try:
        date = pd.Timestamp(datetime.fromisoformat(value))
    except ValueError:
        raise DataError(
            Argument(condition.argument),
            f" ({condition}): column {condition.column!r} contains dates, but {value!r} is not"
            " one; write a date such as 2026-05-31.",
        ) from None
    zone = getattr(values.dtype, "tz", None)
    if zone is None:
        return date.tz_localize(None)
    return date.tz_localize(zone) if date.tz is None else date


# from text ----------------------------------------------------------------------------------------


class _Given(NamedTuple):
    """A text, and the argument by which it was given."""

    text: str
    argument: str


class _Token(NamedTuple):
    """A piece of a text."""

    kind: str  # quoted, sign, word; "" at the end
    text: str  # without its quotes
    at: int  # of the character, from 1


def _tokens(given: _Given) -> list[_Token]:
    """The pieces of a text, and one for its end."""
    text, found, at = given.text, [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        match = _TOKEN.match(text, at)
        if match is None:  # what is no word, sign or closed quote is an open quote
            raise _unreadable(given, f"the quote at character {at + 1} is not closed")
        piece = match[0]
        if match.lastgroup == "quoted":
            piece = piece[1:-1].replace(2 * piece[0], piece[0])
        found.append(_Token(str(match.lastgroup), piece, at + 1))
        at = match.end()
    return [*found, _Token("", "", len(text) + 1)]


def _unreadable(given: _Given, what: str) -> ArgumentError:
    return ArgumentError(
        Argument(given.argument),
        f" {given.text!r} is not a valid condition: {what}. Example: {EXAMPLE}.",
    )


def _conditions(given: _Given) -> list[Condition]:
    """The conditions in a text."""
    tokens = iter(_tokens(given))
    found = []
    while True:
        condition, end = _condition(given, tokens)
        found.append(condition)
        if not end.kind:
            return found
        if not _is_word(end, "and"):
            raise _unexpected(given, end, "'and' or the end (quote text that contains spaces)")


def _condition(given: _Given, tokens: Any) -> tuple[Condition, _Token]:
    """The next condition, and the token after it."""
    name = _operand(given, next(tokens), "a column name")
    sign = next(tokens)
    if sign.kind == "sign" and sign.text in _COMPARED:
        return Condition(name, sign.text, (_value(given, next(tokens)),), given.argument), next(
            tokens
        )
    if _is_word(sign, "in"):
        return Condition(name, IN, _list(given, tokens), given.argument), next(tokens)
    if _is_word(sign, "is"):
        word = next(tokens)
        negated = _is_word(word, "not")
        word = next(tokens) if negated else word
        if not _is_word(word, "missing"):
            raise _unexpected(given, word, "'missing'" if negated else "'missing' or 'not missing'")
        return Condition(name, NOT_MISSING if negated else MISSING, (), given.argument), next(
            tokens
        )
    expected = "'=='" if sign.text == "=" and sign.kind == "sign" else _EXPECTED
    blanks = " (quote names that contain spaces)" if sign.kind == "word" else ""
    raise _unexpected(given, sign, f"{expected}{blanks}")


def _list(given: _Given, tokens: Any) -> tuple[str, ...]:
    """The values between parentheses."""
    if (opening := next(tokens)) != _Token("sign", "(", opening.at):
        raise _unexpected(given, opening, "'(' before the values of 'in'")
    values = []
    while True:
        values.append(_value(given, next(tokens)))
        sign = next(tokens)
        if sign == _Token("sign", ")", sign.at):
            return tuple(values)
        if sign != _Token("sign", ",", sign.at):
            raise _unexpected(given, sign, "',' or ')'")


def _value(given: _Given, token: _Token) -> str:
    value = _operand(given, token, "a number or text")
    if not value.strip():
        raise _unexpected(
            given, token, f"a number or text (use {MISSING!r} and {NOT_MISSING!r} for empty cells)"
        )
    return value.strip()


def _operand(given: _Given, token: _Token, what: str) -> str:
    """The column or the value that a token is."""
    if token.kind not in ("word", "quoted"):
        raise _unexpected(given, token, what)
    return token.text


def _is_word(token: _Token, word: str) -> bool:
    return token.kind == "word" and token.text.lower() == word


def _unexpected(given: _Given, token: _Token, expected: str) -> ArgumentError:
    if not token.kind:
        return _unreadable(given, f"it ends where {expected} is expected")
    return _unreadable(given, f"found {token.text!r} at character {token.at}, expected {expected}")
