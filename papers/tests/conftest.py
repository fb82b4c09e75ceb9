"""The command line of these tests is `python -m papers`."""

import pytest
from typer.main import get_command

from papers.command import app


@pytest.fixture(scope="session")
def command_line():
    """The command and its options."""
    return get_command(app)
