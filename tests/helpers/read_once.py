"""Saved results that one test reads again and again, as `show`, `report` and `resume` do: each file
is read once, and then copied as long as it has the same bytes.

Reading takes most of the time of such commands; that it gives the same each time is tested in
`posterior`.
"""

from contextlib import contextmanager
from pathlib import Path

import pytest

FOLDERS = ("paired", "surfaces/app", "surfaces/cli", "surfaces/report")


@contextmanager
def within_a_test():
    """Within the block netCDF files are read once."""
    from thali._posterior import datatree_files

    read, trees = datatree_files.load, {}

    def load(path, verify=True):
        try:
            key = Path(path).read_bytes(), verify
        except OSError:
            return read(path, verify)
        if key not in trees:
            trees[key] = read(path, verify)
        return trees[key].copy(deep=True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datatree_files, "load", load)
        yield
