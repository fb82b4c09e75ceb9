"""The one door to the folder of real data beside the project; only tests marked `data` may pass
it."""

import pytest

from helpers.places import PROJECT

FOLDER = PROJECT.parent / "shared" / "data"
needs_data = pytest.mark.data
_open = False


def real_data(path):
    """Where a file or folder of the real data lies."""
    if not _open:
        raise RuntimeError(
            f"Mark this test with `data`: it reads {path}, which is no part of the project."
        )
    return FOLDER / path


def open_for(is_marked):
    """Let the test that comes next read the folder, or not; whether it can."""
    global _open
    _open = is_marked and FOLDER.is_dir()
    return _open or not is_marked
