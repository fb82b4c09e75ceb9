"""Errors and warnings of thali, with messages worded for Python, command line and app.

::

    ThaliError
    ├── DataError            (a ValueError)      the data cannot be used
    ├── ArgumentError        (a ValueError)      an argument of a model or function cannot be used
    │   └── UnknownArgumentError (a TypeError)   a model or its fit has no argument of that name
    └── NotFittedError       (an AttributeError) a fitted attribute was requested before fit

    ThaliWarning             (a UserWarning)
    ├── DataWarning          the data can be used, but not for every result
    ├── EstimateWarning      an estimate is poorly defined
    ├── ConvergenceWarning   the chains do not agree, or contain too few effective draws
    ├── LongRunWarning       a run takes more than a minute
    ├── IncompleteWarning    a step of a comparison failed; the others were kept
    │   └── DefectWarning    because of an error in thali
    └── InterruptedWarning   a run was stopped early; its draws were kept

Every message is one or two sentences on one line: the given value and its place, the expected
value, and a correction. Long names and cells are shortened here, for all messages. The command line
prints the message of a ThaliError and exits with code 2, without a traceback.

A message consists of text and facts such as `Argument("draws")` or `Setting("unique", False)`. Each
surface writes facts in its words: `str(error)` as Python, `error.render(words)` as `words`.
Therefore no surface needs to parse the text of a message.

>>> error = ArgumentError(
...     Argument("lapse"), " must be above 0; got 0. Set ", Setting("unique", True), "."
... )
>>> print(error)
`lapse` must be above 0; got 0. Set `unique=True`.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

MAX_NAME_LENGTH = 160  # characters between quotes
LONGEST = 1_200  # characters of a message
_QUOTED = re.compile(
    rf"""(?<!\w)(?:'((?:[^'\\]|\\.){{{MAX_NAME_LENGTH},}}?)'|"((?:[^"\\]|\\.){{{MAX_NAME_LENGTH},}}?)")(?!\w)"""
)


def one_line(message: object) -> str:
    """Return a message on one line, with long quotations cut.

    Examples
    --------
    >>> one_line("It is\\n  'tea'.")
    "It is 'tea'."
    """
    lines = cut_middle(str(message), 10 * LONGEST).splitlines()
    if len(lines) > 1:
        text = " ".join(line.strip() for line in lines if line.strip())
    else:
        text = "".join(lines)
    return cut_middle(_QUOTED.sub(_shorten_quote, text), LONGEST)


def _shorten_quote(quoted: re.Match) -> str:
    """Return a quotation with its middle cut out, if long."""
    text = quoted[0]
    return text[0] + cut_middle(text[1:-1], MAX_NAME_LENGTH - 1) + text[-1]


def cut_middle(text: str, max_length: int) -> str:
    """Return a text with its middle cut out, if longer than `max_length`."""
    if len(text) <= max_length:
        return text
    tail_length = max_length // 3
    return f"{text[: max_length - tail_length - 1]}…{text[-tail_length:]}"


# facts --------------------------------------------------------------------------------------------


class Words:
    """How message parts read in Python; subclasses serve command line and app."""

    def argument(self, name: str) -> str:
        """Return an argument's name as this surface writes it."""
        return f"`{name}`"

    def setting(self, name: str, value: object) -> str:
        """Return an argument with a value as this surface writes it."""
        return f"`{name}={value!r}`"

    def value(self, name: str, value: object) -> str:
        """Return an argument's value as this surface writes it."""
        return repr(value)

    def model(self, name: str) -> str:
        """Return a model's name as this surface writes it."""
        return name

    def has(self, name: str) -> bool:
        """Return whether this surface can set the argument."""
        return True

    def is_python(self) -> bool:
        """Return whether the reader works in Python."""
        return True


PYTHON = Words()


class Fact:
    """A part of a message, worded differently in Python, command line and app."""

    def render(self, words: Words) -> str:
        """Return the part as text for Python, command line or app."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.render(PYTHON)


@dataclass(frozen=True)
class Argument(Fact):
    """The name of an argument, in a message."""

    name: str

    def render(self, words: Words) -> str:
        """Return the argument's name as the surface (Python, command line, app) writes it."""
        return words.argument(self.name)


@dataclass(frozen=True)
class Setting(Fact):
    """An argument with a value, in a message.

    Examples
    --------
    >>> str(Setting("lapse", 0.5))
    '`lapse=0.5`'
    """

    name: str
    value: object

    def render(self, words: Words) -> str:
        """Return argument and value as Python, command line or app writes them."""
        return words.setting(self.name, self.value)


class Remedy(Setting):
    """An argument with a value that a message recommends."""


@dataclass(frozen=True)
class Value(Fact):
    """A value of an argument, in a message."""

    argument: str
    value: object

    def render(self, words: Words) -> str:
        """Return the value as Python, command line or app writes it."""
        return words.value(self.argument, self.value)


@dataclass(frozen=True)
class ModelName(Fact):
    """The name of a model class, in a message."""

    name: str

    def render(self, words: Words) -> str:
        """Return the model's name as Python, command line or app writes it."""
        return words.model(self.name)


@dataclass(frozen=True)
class InPython(Fact):
    """A part worded for Python, with another text for command line and app."""

    text: str
    elsewhere: str | Fact = ""

    def render(self, words: Words) -> str:
        """Return the text for Python, or the other one for command line and app."""
        if words.is_python():
            return self.text
        return _render_part(self.elsewhere, words)


class Message(Fact):
    """A sentence or clause made of texts and parts worded by surface.

    Examples
    --------
    >>> str(Message("fit again with ", Setting("draws", 11000)))
    'fit again with `draws=11000`'
    """

    def __init__(self, *parts: object) -> None:
        self.parts = parts

    def render(self, words: Words) -> str:
        """Return the sentence for Python, command line or app."""
        return _render_parts(self.parts, words)

    def __repr__(self) -> str:
        return f"Message{self.parts!r}"


class Clause(Message):
    """A clause that is omitted if the surface cannot set an argument in it.

    Examples
    --------
    >>> str(Message("rescale it", Clause(", or set ", Setting("standardize", True)), "."))
    'rescale it, or set `standardize=True`.'
    """

    def render(self, words: Words) -> str:
        """Format the clause; "" if command line or app cannot set its argument."""
        argument_names = (part.name for part in self.parts if isinstance(part, Argument | Setting))
        if all(map(words.has, argument_names)):
            return super().render(words)
        return ""


def one_of(
    argument: str, values: "tuple[object, ...] | list[object]", between: str = ", "
) -> Message:
    """Return the possible values of an argument, separated by commas or other words."""
    return join_facts([Value(argument, value) for value in values], between)


def join_facts(facts: "list[Any]", between: str) -> Message:
    """Return facts separated by words, such as " or "."""
    parts: list[object] = []
    for fact in facts:
        parts += [between, fact]
    return Message(*parts[1:])


def _render_parts(parts: tuple[object, ...], words: Words) -> str:
    """Return message parts joined as text for one surface."""
    return "".join(_render_part(part, words) for part in parts)


def _render_part(part: object, words: Words) -> str:
    """Return one message part (text, fact or error) as text for one surface."""
    if isinstance(part, Fact | _MessageWithParts):
        return part.render(words)
    return str(part)


# errors -------------------------------------------------------------------------------------------


class _MessageWithParts:
    """Base of errors and warnings, whose message is made of parts."""

    args: tuple[Any, ...]

    def render(self, words: Words) -> str:
        """Format the message for Python, command line or app."""
        return one_line(_render_parts(self.args, words))

    def __str__(self) -> str:
        return self.render(PYTHON)


class ThaliError(_MessageWithParts, Exception):
    """Base of all errors that thali raises; its parts are text, facts and other errors."""


class DataError(ThaliError, ValueError):
    """The data cannot be used as given."""


class ArgumentError(ThaliError, ValueError):
    """An argument is outside its range."""


class UnknownArgumentError(ArgumentError, TypeError):
    """A model or its `fit` has no argument of that name."""


class NotFittedError(ThaliError, AttributeError):
    """A fitted attribute was requested before `fit`."""


@contextmanager
def prefix_errors(*names: object, kind: type[ThaliError] = DataError) -> Iterator[None]:
    """Prefix errors of a kind raised within this block by names and a colon."""
    try:
        yield
    except kind as error:
        error.args = (*names, ": ", *error.args)
        raise


# warnings -----------------------------------------------------------------------------------------


class ThaliWarning(_MessageWithParts, UserWarning):
    """Base of all warnings of thali; its parts are text, facts and errors."""


class DataWarning(ThaliWarning):
    """The data can be used, but not for every result."""


class EstimateWarning(ThaliWarning):
    """An estimate is poorly defined for this model."""


class ConvergenceWarning(ThaliWarning):
    """The chains do not agree, or contain too few effective draws."""


class LongRunWarning(ThaliWarning):
    """A run takes more than a minute; states the duration and a faster method."""


class IncompleteWarning(ThaliWarning):
    """A step failed; the results of the other steps were kept."""


class DefectWarning(IncompleteWarning):
    """A step failed because of an error in thali; names the file of its traceback."""


class InterruptedWarning(ThaliWarning):
    """The run was stopped early; its draws were kept."""
