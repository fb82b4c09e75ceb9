"""What several tests of the command line share."""

from types import SimpleNamespace

import pytest

from thali.cli import app


@pytest.fixture
def run(capsys):
    """Run the command line in this process: its exit code, what it printed, what it said besides."""

    def run(*words):
        with pytest.raises(SystemExit) as stop:
            app([str(word) for word in words])
        out, err = capsys.readouterr()
        return SimpleNamespace(code=stop.value.code, out=out, err=err)

    return run
