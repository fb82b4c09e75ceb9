"""Kernels that run as Python, for fits that all tests of a file share: the fixture `uncompiled` is of one test."""

from contextlib import contextmanager

import pytest

from thali._compile import jit


@contextmanager
def run_as_python():
    """Run all kernels as Python meanwhile."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(jit, "_is_disabled", lambda: True)
        yield
