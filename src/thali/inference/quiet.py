"""Fits that are part of a larger computation: without warnings and summaries."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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
