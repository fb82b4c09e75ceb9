"""Kernels that run as Python, for fits that all tests of a file share: the fixture `uncompiled` is
of one test."""

from contextlib import contextmanager

import pytest

from helpers import compiled_code


@contextmanager
def run_as_python():
    """Run all kernels as Python inside the block."""
    with pytest.MonkeyPatch.context() as patch:
        compiled_code.run_as_python(patch)
        yield
