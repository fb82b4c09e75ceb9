"""Delays Ctrl-C until a critical block is finished."""

import os
import signal
from contextlib import suppress
from typing import Any


class held_back:
    """Within the block Ctrl-C is only recorded; at its end the handler that was set before is
    called.

    Python runs signal handlers in the main thread only, between any two of its instructions. A
    block in another thread is not interrupted, and there, as where Ctrl-C is ignored, nothing
    changes. Blocks may be nested: the outermost one passes Ctrl-C on. A block that may last long
    prints a message on stderr.
    """

    is_noted: bool

    is_noted = False

    def __init__(self, word: str = "") -> None:
        self.word = word

    def __enter__(self) -> "held_back":
        self._before = None
        before = signal.getsignal(signal.SIGINT)
        if callable(before):
            try:
                signal.signal(signal.SIGINT, self._note)
            except ValueError:  # not the main thread
                return self
            self._before = before
        return self

    def __exit__(self, *failure: Any) -> None:
        if self._before is None:
            return
        signal.signal(signal.SIGINT, self._before)
        if self.is_noted:
            self._before(signal.SIGINT, None)

    def _note(self, number: Any, frame: Any) -> None:
        # None: passed on by an inner block
        if self.word and not self.is_noted and frame is not None:
            with suppress(OSError):  # no stderr; print could meet itself in the middle of a line
                os.write(2, f"{self.word}\n".encode())
        self.is_noted = True
