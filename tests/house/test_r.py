"""thali from R: the script of the page prints what the page says."""

import os
import shutil
import subprocess
import sys

import pytest
from helpers.patience import PATIENCE
from helpers.places import PROJECT

FOLDER = PROJECT / "docs" / "doors"


@pytest.mark.long
def test_the_script_prints_what_the_page_says():
    load = ["Rscript", "-e", "library(reticulate)"]
    if (
        shutil.which("Rscript") is None
        or subprocess.run(load, capture_output=True, check=False).returncode
    ):
        pytest.skip("needs R and its package reticulate")
    environment = os.environ | {"RETICULATE_PYTHON": sys.executable}
    command = ["Rscript", str(FOLDER / "from_r.R")]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    printed = "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"
    assert printed == (FOLDER / "from_r.txt").read_text("utf-8")
