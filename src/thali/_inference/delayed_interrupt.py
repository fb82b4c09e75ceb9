"""Delay of Ctrl-C until a critical block has finished."""

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any


@dataclass
class DelayedInterrupt:
    """Context manager within which Ctrl-C is delayed until the end.

    Python runs signal handlers in the main thread only, between any two of its instructions. A
    block in another thread is not interrupted, and there, as where Ctrl-C is ignored, nothing
    changes. Blocks may be nested: the outermost one passes Ctrl-C on. A block that may last long
    prints a message on stderr.
    """

    message: str = ""
    is_noted: bool = False

    def __enter__(self) -> "DelayedInterrupt":
        self._handler = None
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler):
            try:
                signal.signal(signal.SIGINT, self._record_interrupt)
            except ValueError:  # not the main thread
                return self
            self._handler = handler
        return self

    def __exit__(self, *failure: Any) -> None:
        if self._handler is None:
            return
        signal.signal(signal.SIGINT, self._handler)
        if self.is_noted:
            self._handler(signal.SIGINT, None)

    def _record_interrupt(self, signal_number: int, frame: FrameType | None) -> None:
        """Remember that Ctrl-C came, as signal handler."""
        if self.message and not self.is_noted and frame is not None:
            with suppress(OSError):  # no stderr; print could meet itself in the middle of a line
                os.write(2, f"{self.message}\n".encode())
        self.is_noted = True
