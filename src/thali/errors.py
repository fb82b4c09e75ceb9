"""What thali raises and warns with.

::

    ThaliError
    ├── DataError            (a ValueError)      the data cannot be used
    ├── ArgumentError        (a ValueError)      an argument of a model or function cannot be used
    │   └── UnknownArgumentError (a TypeError)   a model or its fit has no argument of that name
    └── NotFittedError       (an AttributeError) a fitted attribute was asked for before fit

    ThaliWarning             (a UserWarning)
    ├── DataWarning          the data can be used, but not for everything
    ├── EstimateWarning      an estimate is not what its name promises
    ├── ConvergenceWarning   the chains do not agree, or hold too few effective draws
    ├── LongRunWarning       a run takes more than a minute
    ├── IncompleteWarning    a part of a comparison failed; the rest was kept
    │   └── DefectWarning    by an error of thali
    └── InterruptedWarning   a run was stopped early; what it had drawn was kept

Every message is one sentence or two on one line: what was given and where, what is expected, how to
correct it. Names and cells of any length may stand in it, since long ones are shortened here, for
all messages. The command line prints the message of a ThaliError and exits with 2; it never shows a
traceback for one.

A message consists of parts: text, and facts such as `Argument("draws")` or `Setting("unique",
False)`, which each place spells in its own words. `str(error)` spells them as Python does,
`error.render(words)` as `words` do; so nobody has to look into the text of a message.

>>> error = ArgumentError(
...     Argument("lapse"), " must be above 0; got 0. Set ", Setting("unique", True), "."
... )
>>> print(error)
`lapse` must be above 0; got 0. Set `unique=True`.
"""

import re
from dataclasses import dataclass
from typing import Any

MAX_NAME_LENGTH = 160  # characters of what stands between quotes
LONGEST = 1_200  # characters of a message
_QUOTED = re.compile(
    rf"""(?<!\w)(?:'((?:[^'\\]|\\.){{{MAX_NAME_LENGTH},}}?)'|"((?:[^"\\]|\\.){{{MAX_NAME_LENGTH},}}?)")(?!\w)"""
)


def one_line(message: object) -> str:
    """A message without line breaks, in which long names are shortened, and the whole if need be.

    Examples
    --------
    >>> one_line("It is\\n  'tea'.")
    "It is 'tea'."
    """
    lines = _middle_cut(str(message), 10 * LONGEST).splitlines()
    text = (
        " ".join(line.strip() for line in lines if line.strip())
        if len(lines) > 1
        else "".join(lines)
    )
    return _middle_cut(_QUOTED.sub(_shortened, text), LONGEST)


def _shortened(quoted: re.Match) -> str:
    text = quoted[0]
    return text[0] + _middle_cut(text[1:-1], MAX_NAME_LENGTH - 1) + text[-1]


def _middle_cut(text: str, longest: int) -> str:
    """The text, or its beginning and its end."""
    if len(text) <= longest:
        return text
    end = longest // 3
    return f"{text[: longest - end - 1]}…{text[-end:]}"


# facts --------------------------------------------------------------------------------------------


class Words:
    """How a place spells facts: here Python, which any other place overrides."""

    def argument(self, name: str) -> str:
        """An argument."""
        return f"`{name}`"

    def setting(self, name: str, value: object) -> str:
        """An argument with its value."""
        return f"`{name}={value!r}`"

    def value(self, name: str, value: object) -> str:
        """A value of an argument."""
        return repr(value)

    def model(self, name: str) -> str:
        """The class of a model."""
        return name

    def has(self, name: str) -> bool:
        """Whether the argument can be set there."""
        return True

    def is_python(self) -> bool:
        """Whether the reader writes Python."""
        return True


PYTHON = Words()


class Fact:
    """What a message speaks of; every place spells it in its own way."""

    def render(self, words: Words) -> str:
        """The fact in those words."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.render(PYTHON)


@dataclass(frozen=True)
class Argument(Fact):
    """The name of an argument or option."""

    name: str

    def render(self, words: Words) -> str:
        """The name in those words."""
        return words.argument(self.name)


@dataclass(frozen=True)
class Setting(Fact):
    """An argument or option with a value.

    Examples
    --------
    >>> str(Setting("lapse", 0.5))
    '`lapse=0.5`'
    """

    name: str
    value: object

    def render(self, words: Words) -> str:
        """Both in those words."""
        return words.setting(self.name, self.value)


class Remedy(Setting):
    """A setting that a message advises."""


@dataclass(frozen=True)
class Value(Fact):
    """A value of an argument."""

    argument: str
    value: object

    def render(self, words: Words) -> str:
        """The value in those words."""
        return words.value(self.argument, self.value)


@dataclass(frozen=True)
class ModelName(Fact):
    """The class of a model."""

    name: str

    def render(self, words: Words) -> str:
        """The model in those words."""
        return words.model(self.name)


@dataclass(frozen=True)
class InPython(Fact):
    """Text for whoever writes Python, and text or a message for everybody else."""

    text: str
    elsewhere: str | Fact = ""

    def render(self, words: Words) -> str:
        """The text for that reader."""
        return self.text if words.is_python() else _rendered((self.elsewhere,), words)


class Message(Fact):
    """Text and facts that make a sentence, or a part of one.

    Examples
    --------
    >>> str(Message("fit again with ", Setting("draws", 11000)))
    'fit again with `draws=11000`'
    """

    def __init__(self, *parts: object) -> None:
        self.parts = parts

    def render(self, words: Words) -> str:
        """The sentence in those words."""
        return _rendered(self.parts, words)

    def __repr__(self) -> str:
        return f"Message{self.parts!r}"


class Clause(Message):
    """A part of a sentence that only stands where all arguments in it can be set.

    Examples
    --------
    >>> str(Message("rescale it", Clause(", or set ", Setting("standardize", True)), "."))
    'rescale it, or set `standardize=True`.'
    """

    def render(self, words: Words) -> str:
        """The part in those words, or nothing."""
        named = (part.name for part in self.parts if isinstance(part, Argument | Setting))
        return super().render(words) if all(map(words.has, named)) else ""


def one_of(
    argument: str, values: "tuple[object, ...] | list[object]", between: str = ", "
) -> Message:
    """The values that an argument may have, between commas or other words."""
    parts: list[object] = []
    for value in values:
        parts += [between, Value(argument, value)]
    return Message(*parts[1:])


def _rendered(parts: tuple[object, ...], words: Words) -> str:
    return "".join(
        part.render(words) if isinstance(part, Fact | _OfParts) else str(part) for part in parts
    )


# errors -------------------------------------------------------------------------------------------


class _OfParts:
    """What errors and warnings share: a message of parts."""

    args: tuple[Any, ...]

    def render(self, words: Words) -> str:
        """The message in those words."""
        return one_line(_rendered(self.args, words))

    def __str__(self) -> str:
        return self.render(PYTHON)


class ThaliError(_OfParts, Exception):
    """Base of every error that thali raises on purpose; its parts are text, facts and other
    errors."""


class DataError(ThaliError, ValueError):
    """The data cannot be used as given."""


class ArgumentError(ThaliError, ValueError):
    """An argument is outside what it may be."""


class UnknownArgumentError(ArgumentError, TypeError):
    """A model or its `fit` has no argument of that name."""


class NotFittedError(ThaliError, AttributeError):
    """A fitted attribute was asked for before `fit`."""


# warnings -----------------------------------------------------------------------------------------


class ThaliWarning(_OfParts, UserWarning):
    """Base of every warning that thali gives on purpose; its parts are as those of an error."""


class DataWarning(ThaliWarning):
    """The data can be used, but some question about them has no answer."""


class EstimateWarning(ThaliWarning):
    """An estimate is poorly defined for this model."""


class ConvergenceWarning(ThaliWarning):
    """The chains do not agree yet, or hold too few effective draws."""


class LongRunWarning(ThaliWarning):
    """A run takes more than a minute; how long, and what is quicker."""


class IncompleteWarning(ThaliWarning):
    """A part of the work failed and the rest was kept."""


class DefectWarning(IncompleteWarning):
    """An error of thali cost a part of the work; the warning names the file of its traceback."""


class InterruptedWarning(ThaliWarning):
    """The run was stopped early and what it had drawn was kept."""
