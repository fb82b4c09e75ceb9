"""Warnings at the line of the user's code that called thali."""

import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from tempfile import NamedTemporaryFile

from thali.errors import DefectWarning, IncompleteWarning, ThaliError

# Fits within a larger computation: without warnings and summaries ---------------------------------


_IS_QUIET = ContextVar("_IS_QUIET", default=False)


@contextmanager
def silence_warnings() -> Iterator[None]:
    """Let models fit without warnings within the block, in this thread only."""
    token = _IS_QUIET.set(True)
    try:
        yield
    finally:
        _IS_QUIET.reset(token)


def is_quiet() -> bool:
    """Return whether warnings are silenced here."""
    return _IS_QUIET.get()


def warn_of_loss(loss: str, error: Exception) -> None:
    """Warn that a part of the results is lost; write a defect's traceback to a file."""
    message = f"{loss} ({type(error).__name__}: {error}); the rest is complete."
    if isinstance(error, ThaliError | MemoryError | OSError):
        warnings.warn(IncompleteWarning(message), stacklevel=find_user_frame())
        return
    message += " This is a bug in thali; please report it"
    with (
        suppress(OSError),
        NamedTemporaryFile("wb", prefix="thali-defect-", suffix=".txt", delete=False) as file,
    ):
        report = "".join(traceback.format_exception(error))
        file.write(report.encode("utf-8", "backslashreplace"))
        message += f" with the file '{file.name}'"
    warnings.warn(DefectWarning(message + "."), stacklevel=find_user_frame())


_LIBRARY = __name__.partition(".")[0]


def warn(warning: Warning) -> None:
    """Issue a warning, unless warnings are silenced here."""
    if not is_quiet():
        warnings.warn(warning, stacklevel=find_user_frame())


def find_user_frame() -> int:
    """Return the stack level of the first frame outside the library, for a warning."""
    frame, level = sys._getframe(1), 0
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == _LIBRARY:
        frame, level = frame.f_back, level + 1
    if frame is None:
        return 1
    return level + 1
