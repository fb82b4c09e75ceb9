"""What is known before a fit is said before it."""

import subprocess
import sys

import pytest
from helpers import rights
from helpers.patience import PATIENCE

SHORT = ("--draws", "20", "--tune", "20", "--seed", "1")


@pytest.mark.long
@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_the_same_fit_again_is_read_and_not_made(done, tmp_path):
    first = done("fit", "celebrities", *SHORT, "--out", tmp_path / "results")
    again = done("fit", "celebrities", *SHORT, "--out", tmp_path / "results")
    assert again.out == first.out
    assert (
        "this fit is finished" in again.err
        and "--overwrite" in again.err
        and "finished" not in first.err
    )
    anew = done("fit", "celebrities", *SHORT, "--out", tmp_path / "results", "--overwrite")
    assert anew.out == first.out and "finished" not in anew.err


@pytest.mark.fit
@pytest.mark.skipif(not rights.can_be_given_up, reason="whoever runs this may write everywhere")
def test_a_report_that_cannot_be_written_is_refused_before_the_fit(tmp_path):
    folder = tmp_path / "read-only"
    folder.mkdir()
    folder.chmod(0o500)
    command = [sys.executable, *"-m thali fit celebrities --report".split(), folder / "report.html"]
    done = subprocess.run(
        command, preexec_fn=rights.given_up, capture_output=True, text=True, timeout=PATIENCE
    )
    folder.chmod(0o700)
    assert done.returncode == 2 and not done.stdout
    assert "report.html" in done.stderr and "choose another" in done.stderr
