"""Filter conditions on table rows, such as "age > 30 and sex == f", parsed from text.



::

    conditions = condition { "and" condition }
    condition  = column ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) value
               | column "in" "(" value { "," value } ")"
               | column "is" [ "not" ] "missing"

A column or a value is a word, or any text between quotes, ' or ", in which that quote is written
twice. The column, not the quotes, decides whether a value is text. "and", "in", "is" and so on are
keywords only where a keyword is expected.
"""

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from thali._data.column_readers import get_column, read_row_texts, rename_as_text
from thali._data.column_roles import has_numbers
from thali._inference.user_warnings import warn
from thali._labels import shorten, suggest
from thali.errors import Argument, ArgumentError, DataError, DataWarning, prefix_errors

from .text_cells import INTEGER, NUMBER

if TYPE_CHECKING:
    import pandas as pd

EXAMPLE = "block == 'main' and rt > 0.2"
IN = "in"
MISSING = "is missing"
NOT_MISSING = "is not missing"
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_EXPECTED = f"{', '.join(_COMPARISONS)}, 'in', {MISSING!r} or {NOT_MISSING!r}"
_TOKEN = re.compile(
    r"""(?P<quoted>'[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*")|(?P<sign>[=!<>]=|[=!<>(),])|(?P<word>[^\s'"=<>!(),]+)"""
)
_WORD = re.compile(r"[^\s'\"=<>!(),]+")
_TRUTH = {"true": 1, "false": 0}
_NUMERIC_TYPES = ("integer", "floating", "mixed-integer-float", "decimal", "boolean")


# conditions ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Condition:
    """One condition: column, operator and values."""

    column: str
    operator: str  # ==, !=, <, <=, >, >=, in, is missing, is not missing
    values: tuple[str, ...] = ()  # several for "in", none for "is missing"
    # argument that contains the condition, for errors
    argument: str = field(default="where", compare=False, repr=False)

    def __str__(self) -> str:
        quoted_column = _quote(self.column, _WORD)
        quoted_values = [_quote(text, NUMBER) for text in self.values]
        if self.operator == IN:
            return f"{quoted_column} in ({', '.join(quoted_values)})"
        return " ".join([quoted_column, self.operator, *quoted_values])


@dataclass(frozen=True)
class RowFilter:
    """Conditions of which a row must fulfil all.

    Examples
    --------
    >>> where = RowFilter.parse(["block == main and rt>.2", '"Trial type" is not missing'])
    >>> print(where)
    block == 'main' and rt > .2 and 'Trial type' is not missing
    >>> RowFilter.parse(str(where)) == where
    True
    """

    conditions: tuple[Condition, ...] = ()

    @classmethod
    def parse(
        cls, conditions: "str | Iterable[str] | RowFilter | None", argument: str = "where"
    ) -> Self:
        """Parse conditions from one or several texts; None: no conditions.

        `argument` is the name of the argument that contains them.

        Raises
        ------
        ArgumentError
            If one cannot be read.
        """
        if conditions is None:
            return cls()
        if isinstance(conditions, RowFilter):
            return cls(conditions.conditions)
        texts = conditions
        if isinstance(conditions, str):
            texts = [conditions]
        if (
            not isinstance(texts, list | tuple)
            or not texts
            or not all(isinstance(text, str) for text in texts)
        ):
            raise ArgumentError(
                Argument(argument),
                f' must be a condition such as "{EXAMPLE}", or a list of conditions; got'
                f" {type(conditions).__name__}.",
            )
        return cls(
            tuple(condition for text in texts for condition in _parse_conditions(text, argument))
        )

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns used in the conditions."""
        return tuple(dict.fromkeys(condition.column for condition in self.conditions))

    def select(self, frame: "pd.DataFrame") -> np.ndarray:
        """Return a bool array of rows that fulfil all conditions.

        Raises
        ------
        DataError
            If a column is absent, or cannot be compared with the value.
        """
        is_selected = np.ones(len(frame), bool)
        for condition in self.conditions:
            is_selected &= _check_cells(condition, _find_column(condition, frame))
        return is_selected

    def raise_if_empty(self, frame: "pd.DataFrame") -> None:
        """Raise DataError, with a reason, if no row fulfils the conditions."""
        reason = ", although each condition alone matches some"
        for condition in self.conditions:
            cells = _find_column(condition, frame)
            if _check_cells(condition, cells).any():
                continue
            reason = f"; {condition.column!r} is empty"
            if column_texts := _list_texts(cells):
                reason = f"; column {condition.column!r} contains {shorten(column_texts, 6)}"
            break
        raise DataError(
            Argument(self.conditions[0].argument),
            f" ({self}) matches none of the {len(frame):,} rows{reason}.",
        )

    def warn_about_similar_texts(self, frame: "pd.DataFrame") -> None:
        """Warn if a condition's text occurs in no row but a similar one does."""
        for condition in self.conditions:
            cells = _find_column(condition, frame)
            if (
                condition.operator not in ("==", "!=", IN)
                or _convert_numbers(cells) is not None
                or _has_dates(cells)
            ):
                continue
            column_texts = _list_texts(cells)
            for text in condition.values:
                if text not in column_texts and (suggestion := suggest(text, column_texts)):
                    warn(
                        DataWarning(
                            f"No row contains {text!r} in column {condition.column!r}.{suggestion}"
                        )
                    )

    def describe_selection(self, n_rows: int, n_selected: int) -> str:
        """Return a note such as "12 of 40 rows selected by ..."."""
        return f"{n_selected:,} of {n_rows:,} rows kept where {self}"


def _quote(text: str, plain: re.Pattern[str]) -> str:
    """Return a text in quotes, in which quotes are doubled, unless it matches `plain`."""
    if plain.fullmatch(text):
        return text
    quote = "'"
    if "'" in text and '"' not in text:
        quote = '"'
    return f"{quote}{text.replace(quote, 2 * quote)}{quote}"


# comparison ---------------------------------------------------------------------------------------


def _find_column(condition: Condition, frame: "pd.DataFrame") -> "pd.Series":
    """Return the column that a condition names; raise DataError if missing."""
    with prefix_errors(Argument(condition.argument), f" ({condition})"):
        return get_column(rename_as_text(frame), condition.column)


def _check_cells(condition: Condition, cells: "pd.Series") -> np.ndarray:
    """Return a bool array of cells that fulfil a condition."""
    # An empty cell fulfils only "is missing" and "!=".
    sign = condition.operator
    if sign in (MISSING, NOT_MISSING):
        return (read_row_texts(cells) == "") == (sign == MISSING)
    if sign == IN:
        sign = "=="
    return np.any(
        [_compare_cells(condition, cells, sign, operand) for operand in condition.values], axis=0
    )


def _compare_cells(condition: Condition, cells: "pd.Series", sign: str, operand: str) -> np.ndarray:
    """Compare each cell with an operand as numbers, dates or texts."""
    compare_values = _COMPARISONS[sign]
    if _has_dates(cells):
        return np.asarray(compare_values(cells, _parse_date(condition, cells, operand)))
    numbers = _convert_numbers(cells)
    if numbers is not None:
        return compare_values(numbers, _parse_operand(condition, operand))
    cell_texts = read_row_texts(cells)
    is_filled = cell_texts != ""
    filled_cells = cell_texts[is_filled]
    text_or_number: str | float = operand
    if NUMBER.fullmatch(operand) and sign not in ("==", "!="):
        if texts := sorted(text for text in {*filled_cells} if not NUMBER.fullmatch(text)):
            raise DataError(
                Argument(condition.argument),
                f" ({condition}): column {condition.column!r} contains text such as {texts[0]!r},"
                f" which cannot be ordered relative to {operand}; use == or !=.",
            )
        filled_cells = filled_cells.astype(float)
        text_or_number = float(operand)
    is_fulfilled = np.full(len(cells), sign == "!=")
    is_fulfilled[is_filled] = compare_values(filled_cells, text_or_number)
    return is_fulfilled


def _list_texts(cells: "pd.Series") -> list[str]:
    """Return the distinct non-empty texts of a column."""
    return list(filter(None, dict.fromkeys(read_row_texts(cells).tolist())))


def _convert_numbers(cells: "pd.Series") -> np.ndarray | None:
    """Return a numeric column as float array, NaN where empty; None for others."""
    # True and false are numbers.
    import pandas as pd

    if not has_numbers(cells):
        if cells.dtype != object or pd.api.types.infer_dtype(cells) not in _NUMERIC_TYPES:
            return None
    if pd.api.types.is_integer_dtype(cells.dtype) and not cells.hasnans:
        return cells.to_numpy()
    return cells.to_numpy(float, na_value=np.nan)


def _has_dates(cells: "pd.Series") -> bool:
    """Return whether the column has a date type."""
    import pandas as pd

    return pd.api.types.is_datetime64_any_dtype(cells.dtype)


def _parse_operand(condition: Condition, operand: str) -> float:
    """Convert a condition's value to a number; raise DataError if it is none."""
    if operand.casefold() in _TRUTH:
        return _TRUTH[operand.casefold()]
    if not NUMBER.fullmatch(operand):
        raise DataError(
            Argument(condition.argument),
            f" ({condition}): column {condition.column!r} contains numbers, but {operand!r} is not"
            " one; write a number such as 2 or 0.5.",
        )
    if INTEGER.fullmatch(operand) and len(operand) < 18:
        return int(operand)
    return float(operand)


def _parse_date(condition: Condition, cells: "pd.Series", operand: str) -> Any:
    """Convert a condition's value to a date in the column's time zone."""
    import pandas as pd

    try:
        date = pd.Timestamp(datetime.fromisoformat(operand))
    except ValueError:
        raise DataError(
            Argument(condition.argument),
            f" ({condition}): column {condition.column!r} contains dates, but {operand!r} is not"
            " one; write a date such as 2026-05-31.",
        ) from None
    time_zone = getattr(cells.dtype, "tz", None)
    if time_zone is None or date.tz is None:
        return date.tz_localize(time_zone)
    return date


# parsing ------------------------------------------------------------------------------------------


class _FilterProblem(ValueError):
    """What is wrong with a text of conditions."""


class _Token(NamedTuple):
    """A word, sign or quoted text, with its position."""

    kind: str  # quoted, sign, word; "" at the end
    text: str  # without its quotes
    at: int  # position of the first character, from 1

    def is_plain(self, text: str) -> bool:
        """Return whether the token is this sign or word, in any case, without quotes."""
        return self.kind != "quoted" and self.text.lower() == text


def _split_tokens(text: str) -> Iterator[_Token]:
    """Yield the tokens of a filter text; the last marks the end."""
    character_index = 0
    while character_index < len(text):
        if text[character_index].isspace():
            character_index += 1
            continue
        token_match = _TOKEN.match(text, character_index)
        if token_match is None:  # only an open quote matches no token
            raise _FilterProblem(f"the quote at character {character_index + 1} is not closed")
        token_text = token_match[0]
        if token_match.lastgroup == "quoted":
            token_text = token_text[1:-1].replace(2 * token_text[0], token_text[0])
        yield _Token(str(token_match.lastgroup), token_text, character_index + 1)
        character_index = token_match.end()
    yield _Token("", "", len(text) + 1)


def _parse_conditions(text: str, argument: str) -> Iterator[Condition]:
    """Yield conditions joined by "and"."""
    try:
        tokens = iter([*_split_tokens(text)])
        yield _parse_condition(tokens, argument)
        while (token := next(tokens)).kind:
            if not token.is_plain("and"):
                raise _unexpected(token, "'and' or the end (quote text that contains spaces)")
            yield _parse_condition(tokens, argument)
    except _FilterProblem as problem:
        raise ArgumentError(
            Argument(argument),
            f" {text!r} is not a valid condition: {problem}. Example: {EXAMPLE}.",
        ) from None


def _parse_condition(tokens: Iterator[_Token], argument: str) -> Condition:
    """Parse one condition."""
    column_name = _read_operand(next(tokens), "a column name")
    token = next(tokens)
    values: tuple[str, ...] = ()
    if token.kind == "sign" and token.text in _COMPARISONS:
        sign = token.text
        values = (_parse_value(next(tokens)),)
    elif token.is_plain("in"):
        sign = IN
        values = _parse_list(tokens)
    elif token.is_plain("is"):
        sign = _parse_missing(tokens)
    elif token.is_plain("="):
        raise _unexpected(token, "'=='")
    else:
        hint = ""
        if token.kind == "word":
            hint = " (quote names that contain spaces)"
        raise _unexpected(token, _EXPECTED + hint)
    return Condition(column_name, sign, values, argument)


def _parse_missing(tokens: Iterator[_Token]) -> str:
    """Parse what follows "is": "missing" or "not missing"."""
    token = next(tokens)
    sign = MISSING
    expected_text = "'missing' or 'not missing'"
    if token.is_plain("not"):
        token = next(tokens)
        sign = NOT_MISSING
        expected_text = "'missing'"
    if not token.is_plain("missing"):
        raise _unexpected(token, expected_text)
    return sign


def _parse_list(tokens: Iterator[_Token]) -> tuple[str, ...]:
    """Parse values in parentheses, such as (a, b)."""
    if not (token := next(tokens)).is_plain("("):
        raise _unexpected(token, "'(' before the values of 'in'")
    operands = []
    while not token.is_plain(")"):
        operands.append(_parse_value(next(tokens)))
        token = next(tokens)
        if token.text not in (",", ")") or token.kind != "sign":
            raise _unexpected(token, "',' or ')'")
    return tuple(operands)


def _parse_value(token: _Token) -> str:
    """Return a value's text; raise an error if it is empty."""
    value_text = _read_operand(token, "a number or text").strip()
    if not value_text:
        raise _unexpected(
            token, f"a number or text (use {MISSING!r} and {NOT_MISSING!r} for empty cells)"
        )
    return value_text


def _read_operand(token: _Token, expected_text: str) -> str:
    """Return the text of a column or value token; raise for other tokens."""
    if token.kind not in ("word", "quoted"):
        raise _unexpected(token, expected_text)
    return token.text


def _unexpected(token: _Token, expected_text: str) -> _FilterProblem:
    """Return the error that a token is not what was expected."""
    if not token.kind:
        return _FilterProblem(f"it ends where {expected_text} is expected")
    return _FilterProblem(f"found {token.text!r} at character {token.at}, expected {expected_text}")
