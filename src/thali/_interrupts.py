"""Ctrl-C at a moment of our choice: what must not be left half done is finished first."""

import os
import signal
from contextlib import suppress


class held_back:
    """Within the block Ctrl-C is noted and nothing more; at its end the handler that was set before is called.

    Python runs signal handlers in the main thread alone, between any two of its instructions. A block in another thread
    is not interrupted anyway, and there, as where Ctrl-C is ignored, nothing changes. Blocks may be nested: the
    outermost one passes Ctrl-C on. What may last longer than anybody waits without a word has one to say, on stderr.
    """

    is_noted = False

    def __init__(self, word: str = ""):
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

    def __exit__(self, *failure) -> None:
        if self._before is None:
            return
        signal.signal(signal.SIGINT, self._before)
        if self.is_noted:
            self._before(signal.SIGINT, None)

    def _note(self, number, frame) -> None:
        if self.word and not self.is_noted and frame is not None:  # None: passed on by an inner block
            with suppress(OSError):  # no stderr; print could meet itself in the middle of a line
                os.write(2, f"{self.word}\n".encode())
        self.is_noted = True
