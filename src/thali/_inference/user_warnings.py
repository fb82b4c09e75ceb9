"""Warnings that point at the user's line of code, and silencing of warnings."""

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
    """Suppress thali's warnings within this block, in this thread only."""
    token = _IS_QUIET.set(True)
    try:
        yield
    finally:
        _IS_QUIET.reset(token)


def is_quiet() -> bool:
    """Return whether warnings are suppressed at present."""
    return _IS_QUIET.get()


def warn_of_failed_part(failure_text: str, error: Exception) -> None:
    """Warn that a part of the results failed; if by a bug, write its traceback to a file."""
    message = f"{failure_text} ({type(error).__name__}: {error}); all other output is complete."
    if isinstance(error, ThaliError | MemoryError | OSError):
        warnings.warn(IncompleteWarning(message), stacklevel=find_user_stack_level())
        return
    message += " This is a bug in thali; please report it"
    with (
        suppress(OSError),
        NamedTemporaryFile(
            "wb", prefix="thali-defect-", suffix=".txt", delete=False
        ) as traceback_file,
    ):
        traceback_text = "".join(traceback.format_exception(error))
        traceback_file.write(traceback_text.encode("utf-8", "backslashreplace"))
        message += f" with the file '{traceback_file.name}'"
    warnings.warn(DefectWarning(message + "."), stacklevel=find_user_stack_level())


_LIBRARY = __name__.partition(".")[0]


def warn(warning: Warning) -> None:
    """Issue a warning at the user's line of code, unless suppressed."""
    if not is_quiet():
        warnings.warn(warning, stacklevel=find_user_stack_level())


def find_user_stack_level() -> int:
    """Return the stack level of the first caller outside the library."""
    frame = sys._getframe(1)
    level = 0
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == _LIBRARY:
        frame = frame.f_back
        level = level + 1
    if frame is None:
        return 1
    return level + 1
