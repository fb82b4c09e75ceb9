"""How much a command prints of its answer: one screen, everything, or one sentence."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from thali._model.finding import SCREEN, TEXT, Findings
from thali.errors import ArgumentError, Words

from ..screen import result, screen, warnings_in
from ..text import text_of
from .boundary import notify

_SCREEN, _ALL = "screen", "all"


@dataclass(frozen=True)
class Printing:
    """What was asked of what a command prints."""

    is_whole: bool = False
    is_quiet: bool = False

    @classmethod
    def of(cls, form: str | None, quiet: bool) -> "Printing":
        """What the two options ask for."""
        if form not in (None, _SCREEN, _ALL):
            raise ArgumentError(f"--print must be {_SCREEN} or {_ALL}; got {form!r}.")
        if form is not None and quiet:
            raise ArgumentError("--quiet prints one sentence; leave --print out.")
        return cls(form == _ALL, quiet)

    @property
    def surface(self) -> str:
        """The surface whose findings are printed."""
        return TEXT if self.is_whole else SCREEN

    def say(self, message: str) -> None:
        """Write a line about what was read, or where the results are, to stderr."""
        if not self.is_quiet:
            notify(message)

    def text(self, findings: Findings, words: Words, read: str, more: Sequence[str] = ()) -> str:
        """What is printed of findings; `read`: the sentence about the data; `more`: what shows more of them."""
        if self.is_whole:
            return text_of(findings, words)
        if self.is_quiet:
            for warning in warnings_in(findings, words):
                notify(f"warning: {warning}")
            return result(findings, words)
        is_read = sys.stdout.isatty() and sys.stderr.isatty()  # where `say` has written it
        return screen(findings, words, read, more, is_read)


SHORT: Printing = Printing()
