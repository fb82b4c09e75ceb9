"""thali from R: the script of the page prints what the page says."""

import os
import shutil
import subprocess
import sys

import pytest
from places import PROJECT

FOLDER = PROJECT / "docs" / "how_to"


def has_reticulate():
    """Whether R and its package reticulate are there."""
    if shutil.which("Rscript") is None:
        return False
    return subprocess.run(["Rscript", "-e", "library(reticulate)"], capture_output=True, check=False).returncode == 0


@pytest.mark.long
@pytest.mark.skipif(not has_reticulate(), reason="needs R and its package reticulate")
def test_the_script_prints_what_the_page_says():
    environment = os.environ | {"RETICULATE_PYTHON": sys.executable}
    command = ["Rscript", str(FOLDER / "from_r.R")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    printed = "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"
    assert printed == (FOLDER / "from_r.txt").read_text("utf-8")
