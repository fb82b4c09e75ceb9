"""Ctrl-C for tests: signals that come from outside, at any moment."""

import contextlib
import signal
import threading
import time


@contextlib.contextmanager
def pressed(*moments):
    """Ctrl-C so many seconds after the beginning of the block; each may come too late. Gives an event of the first."""
    main, is_over, is_pressed = threading.main_thread().ident, threading.Event(), threading.Event()

    def press():
        begin = time.monotonic()
        for moment in moments:
            if is_over.wait(max(0.0, begin + moment - time.monotonic())):
                return
            is_pressed.set()
            signal.pthread_kill(main, signal.SIGINT)

    finger = threading.Thread(target=press)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        finger.start()
        yield is_pressed
    finally:
        with contextlib.suppress(KeyboardInterrupt):
            is_over.set()
        while finger.is_alive():
            with contextlib.suppress(KeyboardInterrupt):
                time.sleep(0.01)
        with contextlib.suppress(KeyboardInterrupt):
            time.sleep(0.01)  # a signal that is on its way arrives
        signal.signal(signal.SIGINT, before)
