"""Warnings at the line of the user's code that called thali."""

import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from tempfile import NamedTemporaryFile

from thali.errors import DefectWarning, IncompleteWarning, ThaliError

# Fits that are part of a larger computation: without warnings and summaries -----------------------


_IS_QUIET = ContextVar("_IS_QUIET", default=False)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Within the block, in this thread only, models fit without warnings."""
    token = _IS_QUIET.set(True)
    try:
        yield
    finally:
        _IS_QUIET.reset(token)


def is_quiet() -> bool:
    """Whether warnings are unwanted here."""
    return _IS_QUIET.get()


def warn_of_loss(loss: str, error: Exception) -> None:
    """Warn that a part of the answer is lost; write the traceback of an error of thali to a
    file."""
    said, kind = (
        f"{loss} ({type(error).__name__}: {error}); the rest is complete.",
        IncompleteWarning,
    )
    if not isinstance(error, ThaliError | MemoryError | OSError):
        said, kind = f"{said} This is a bug in thali; please report it", DefectWarning
        with (
            suppress(OSError),
            NamedTemporaryFile("wb", prefix="thali-defect-", suffix=".txt", delete=False) as file,
        ):
            file.write(
                "".join(traceback.format_exception(error)).encode("utf-8", "backslashreplace")
            )
            said += f" with the file '{file.name}'"
        said += "."
    warnings.warn(kind(said), stacklevel=frames_to_user())


_LIBRARY = __name__.partition(".")[0]


def warn(warning: Warning) -> None:
    """Give a warning, unless warnings are unwanted here."""
    if not is_quiet():
        warnings.warn(warning, stacklevel=frames_to_user())


def frames_to_user() -> int:
    """The stack level, for a warning given by the caller, of the first frame that is not the
    library's."""
    frame, level = sys._getframe(1), 0
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == _LIBRARY:
        frame, level = frame.f_back, level + 1
    return level + 1 if frame is not None else 1
