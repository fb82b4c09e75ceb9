"""Ctrl-C for tests: signals that come from outside, at any moment."""

import contextlib
import signal
import threading
import time
from types import SimpleNamespace

from helpers.patience import PATIENCE


@contextlib.contextmanager
def pressed(*moments, after=None):
    """Ctrl-C so many seconds after the beginning of the block, or after an event; each may come too
    late.

    Gives two events, of the first and the last. What is to catch the KeyboardInterrupt stands
    before it in `with`.
    """
    main, is_over, is_ready = threading.main_thread().ident, threading.Event(), threading.Event()
    events = SimpleNamespace(first=threading.Event(), last=threading.Event())

    def press():
        (after or is_ready).wait(PATIENCE)
        begin = time.monotonic()
        for moment in moments:
            if is_over.wait(max(0.0, begin + moment - time.monotonic())):
                return
            events.first.set()
            signal.pthread_kill(main, signal.SIGINT)
        events.last.set()

    finger = threading.Thread(target=press, daemon=True)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        finger.start()
        is_ready.set()
        yield events
    finally:
        while signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            with contextlib.suppress(KeyboardInterrupt):
                signal.signal(signal.SIGINT, lambda *_: None)
        is_over.set()
        finger.join()
        time.sleep(0.01)  # a signal that is on its way arrives
        signal.signal(signal.SIGINT, before)
