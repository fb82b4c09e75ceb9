"""Ctrl-C at a moment of our choice: what must not be left half done is finished first."""

import signal


class held_back:
    """Within the block Ctrl-C is noted and nothing more; at its end the handler that was set before is called.

    Python runs signal handlers in the main thread alone, between any two of its instructions. A block in another thread
    is not interrupted anyway, and there, as where Ctrl-C is ignored, nothing changes. Blocks may be nested: the
    outermost one passes Ctrl-C on.
    """

    is_noted = False

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
        self.is_noted = True
