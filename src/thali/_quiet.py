"""Fits that are a part of something larger: their warnings would be noise, and a summary for them a waste."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_IS_QUIET = ContextVar("_IS_QUIET", default=False)


@contextmanager
def quietly() -> Iterator[None]:
    """Within the block, and in this thread alone, models fit without warnings."""
    token = _IS_QUIET.set(True)
    try:
        yield
    finally:
        _IS_QUIET.reset(token)


def is_quiet() -> bool:
    """Whether warnings are unwanted here."""
    return _IS_QUIET.get()
