"""Blocks of two columns in the move that draws memberships together, so that three columns leave a
choice."""

from contextlib import contextmanager

import pytest

import thali._aspects.moves.joint_memberships as joint_rows


@contextmanager
def blocks_of_two():
    """Draw memberships of two columns together meanwhile."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(joint_rows, "BLOCK_COLUMNS", 2)
        patched.setattr(joint_rows, "STIFFNESS_START", 4)
        yield
