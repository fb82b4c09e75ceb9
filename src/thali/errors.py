"""What thali raises and warns with.

::

    ThaliError
    ├── DataError            (a ValueError)      the data cannot be used
    ├── ArgumentError        (a ValueError)      an argument of a model or function cannot be used
    └── NotFittedError       (an AttributeError) a fitted attribute was asked for before fit

    ThaliWarning             (a UserWarning)
    ├── DataWarning          the data can be used, but not for everything
    ├── EstimateWarning      an estimate is not what its name promises
    ├── ConvergenceWarning   the chains do not agree, or hold too few effective draws
    ├── IncompleteWarning    a part of a comparison failed; the rest was kept
    └── InterruptedWarning   a run was stopped early; what it had drawn was kept

Every message is one sentence or two on one line: what was given and where, what is expected, how to mend it.
Names and cells of any length may stand in it, since long ones are shortened here, for all messages.
The command line prints the message of a ThaliError and exits with 2; it never shows a traceback for one.
"""

import re

LONGEST_NAME = 160  # characters of what stands between quotes
LONGEST = 1_200  # characters of a message
_QUOTED = re.compile(
    rf"""(?<!\w)(?:'((?:[^'\\]|\\.){{{LONGEST_NAME},}}?)'|"((?:[^"\\]|\\.){{{LONGEST_NAME},}}?)")(?!\w)"""
)


def one_line(message: object) -> str:
    """A message without line breaks, in which long names are shortened, and the whole if need be.

    Example
    -------
    >>> one_line("It is\\n  'tea'.")
    "It is 'tea'."
    """
    lines = _middle_cut(str(message), 10 * LONGEST).splitlines()
    text = " ".join(line.strip() for line in lines if line.strip()) if len(lines) > 1 else "".join(lines)
    return _middle_cut(_QUOTED.sub(_shortened, text), LONGEST)


def _shortened(quoted: re.Match) -> str:
    text = quoted[0]
    return text[0] + _middle_cut(text[1:-1], LONGEST_NAME - 1) + text[-1]


def _middle_cut(text: str, longest: int) -> str:
    """The text, or its beginning and its end."""
    if len(text) <= longest:
        return text
    end = longest // 3
    return f"{text[: longest - end - 1]}…{text[-end:]}"


class ThaliError(Exception):
    """Base of every error that thali raises on purpose."""

    def __init__(self, message: object = "") -> None:
        super().__init__(one_line(message))


class DataError(ThaliError, ValueError):
    """The data cannot be used as given."""


class ArgumentError(ThaliError, ValueError):
    """An argument is outside what it may be."""


class NotFittedError(ThaliError, AttributeError):
    """A fitted attribute was asked for before `fit`."""


class ThaliWarning(UserWarning):
    """Base of every warning that thali gives on purpose."""

    def __init__(self, message: object = "") -> None:
        super().__init__(one_line(message))


class DataWarning(ThaliWarning):
    """The data can be used, but some question about them has no answer."""


class EstimateWarning(ThaliWarning):
    """An estimate is poorly defined for this model."""


class ConvergenceWarning(ThaliWarning):
    """The chains do not agree yet, or hold too few effective draws."""


class IncompleteWarning(ThaliWarning):
    """A part of the work failed and the rest was kept."""


class InterruptedWarning(ThaliWarning):
    """The run was stopped early and what it had drawn was kept."""
