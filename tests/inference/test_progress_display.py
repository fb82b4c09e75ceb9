import io
import time
from contextlib import redirect_stderr

import pytest
from helpers.patience import PATIENCE

from thali._inference import progress_display
from thali._inference.progress_display import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch):
    """No variable of the environment claims a terminal or a notebook."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "JPY_PARENT_PID"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def wait(monkeypatch):
    """Runs show something after so many seconds."""
    return lambda seconds: monkeypatch.setattr(progress_display, "_PATIENCE", seconds)


@pytest.fixture
def patient(wait):
    wait(PATIENCE)


@pytest.fixture
def impatient(wait):
    wait(0.05)


def wait_for(bar):
    deadline = time.monotonic() + PATIENCE
    while bar._display is None and time.monotonic() < deadline:
        time.sleep(0.01)


def long_run():
    with Progress(True, "sampling", 2000) as bar:
        bar.note("compiling, once")
        wait_for(bar)
        for done in range(100, 2001, 100):
            bar.update(done)


def test_a_short_run_shows_nothing(patient, capsys):
    with Progress(True, "sampling", 10) as bar:
        bar.note("compiling, once")
        bar.update(10)
    assert capsys.readouterr().err == ""


def test_a_disabled_one_shows_nothing(impatient, capsys):
    with Progress(False, "sampling", 10) as bar:
        bar.note("compiling, once")
        time.sleep(0.3)
        bar.update(10)
    assert capsys.readouterr().err == ""


def test_a_log_file_gets_plain_lines(impatient, capsys):
    long_run()
    text = capsys.readouterr().err
    lines = text.splitlines()
    assert lines[:2] == ["sampling ...", "sampling: compiling, once"]
    assert lines[2].startswith("sampling: 2,000 of 2,000 steps in ") and len(lines) == 3
    assert text.replace("\n", "").isprintable()


def test_a_terminal_gets_a_bar(impatient, monkeypatch):
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    with redirect_stderr(terminal):
        long_run()
    text = terminal.getvalue()
    assert "sampling: compiling, once" in text
    last = text.split("\r")[-1]
    assert "100%" in last and "elapsed" in last and "left" in last and "compiling" not in last


def test_the_display_ends_when_the_run_is_interrupted(impatient, capsys):
    with pytest.raises(KeyboardInterrupt), Progress(True, "sampling", 10) as bar:
        wait_for(bar)
        bar.update(3)
        raise KeyboardInterrupt
    assert capsys.readouterr().err.splitlines()[-1].startswith("sampling: 3 of 10 steps in ")


def test_the_display_opens_with_the_count_of_finished_steps(patient, capsys):
    with Progress(True, "sampling", 10) as bar:
        bar.note("compiling, once")
        bar.update(4)
        bar._open_display()
    lines = capsys.readouterr().err.splitlines()
    assert (
        lines[0] == "sampling ..."
        and lines[1].startswith("sampling: 4 of 10 steps in ")
        and len(lines) == 2
    )


def test_a_timer_that_is_late_opens_nothing(patient, capsys):
    with Progress(True, "sampling", 10) as bar:
        pass
    bar._open_display()
    assert capsys.readouterr().err == ""


def test_a_log_file_hears_of_a_very_long_run_now_and_then(impatient, capsys, monkeypatch):
    with Progress(True, "leaving out", 9, "fits") as bar:
        wait_for(bar)
        bar.update(3)
        monkeypatch.setattr(progress_display, "_SILENCE", 0.0)
        bar.update(4)
    lines = capsys.readouterr().err.splitlines()
    assert lines[1].endswith("4 of 9 fits") and "4 of 9 fits in " in lines[2]
