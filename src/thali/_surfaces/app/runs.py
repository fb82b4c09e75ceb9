"""Child processes that read, fit and compare: begun, stopped, and found again after the server was
gone.

A child has a session of its own and writes to files alone, so it survives the server. It holds a
lock while it runs, which ends with it; so whoever finds the lock free and no NAME.end.json knows
that the child was killed.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from thali._inference.files import lock_file
from thali._inference.jobs import read_index
from thali.errors import DataError

from .studies import FIT, QUEUED_RUNS, READ, Studies, StudyFolder

NEVER, QUEUED, RUNNING, ENDED, STOPPED = "never", "queued", "running", "ended", "stopped"
REFUSED = 2  # how a run ends that is not possible as it was asked for
PATIENCE = 300.0  # seconds in which a child may write down what it has
MAX_SECONDS = 180.0  # of reading a table
_AT_ONCE = 4  # chains of a fit that run at once


class RunProgress(NamedTuple):
    """How far a run is."""

    done: int
    total: int
    unit: str
    left: float | None  # seconds, if that is known yet


class DrawCounts(NamedTuple):
    """Of each chain."""

    made: int
    aimed_at: int


def cores_of_run() -> int:
    """The processors of one run."""
    return min(_AT_ONCE, os.cpu_count() or 1)


class Runs:
    """The children of one server, and those that an earlier one left."""

    def __init__(self, studies: Studies, slots: int | None = None) -> None:
        self._studies = studies
        self.children: dict[tuple[str, str], subprocess.Popen[Any]] = {}
        # when a child is killed that does not stop
        self._stopping: dict[tuple[str, str], float] = {}
        # the first that was seen of each run
        self._snapshots: dict[tuple[str, str], tuple[datetime, int]] = {}
        self._reported: set[str] = set()
        self.slots: int = slots or max(1, (os.cpu_count() or 1) // _AT_ONCE)

    def state(self, study: StudyFolder, name: str) -> str:
        """Whether a run was asked for, waits, runs, has ended, or was stopped before its end."""
        child = self.children.get((study.name, name))
        if child is not None and child.poll() is None:
            return RUNNING
        if not (study.path / f"{name}.json").exists():
            return NEVER
        if (study.path / f"{name}.queued").exists():
            return QUEUED
        if child is None and _is_locked(study.path / f"{name}.lock"):
            return RUNNING
        return ENDED if (study.path / f"{name}.end.json").exists() else STOPPED

    def queue(self, study: StudyFolder, name: str) -> None:
        """Begin the run, or go on with it, as soon as there are processors for it."""
        if self.state(study, name) != RUNNING:
            study.remove(f"{name}.end.json")
            (study.path / f"{name}.queued").touch()
            self.tend()

    def tend(self) -> None:
        """Begin what waits, as far as there are processors; kill what was asked to stop long
        ago."""
        for (study_name, name), deadline in list(self._stopping.items()):
            study = self._studies.named(study_name)
            if study is None or self.state(study, name) != RUNNING:
                del self._stopping[study_name, name]
            elif time.monotonic() > deadline:
                self._signal(study, name, _KILL)
        found: dict[str, list[tuple[StudyFolder, str]]] = {RUNNING: [], QUEUED: []}
        for study in self._studies.all():
            with self.reporting(study.path):
                for name in QUEUED_RUNS:
                    found.setdefault(self.state(study, name), []).append((study, name))
        free, waiting = self.slots - len(found[RUNNING]), found[QUEUED]
        for study, name in sorted(waiting, key=lambda each: _queued_at(*each)):
            if free > 0:
                with self.reporting(study.path):
                    self._begin(study, name)
                    free -= 1

    @contextmanager
    def reporting(self, path: Path) -> Iterator[None]:
        """Print what goes wrong with one folder once, and go on with the others."""
        try:
            yield
        except Exception as error:
            if (line := f"thali app: {path}: {error!r}") not in self._reported:
                self._reported.add(line)
                print(line, file=sys.stderr, flush=True)

    def stop(self, study: StudyFolder, name: str) -> None:
        """Ask the child to write down what it has and end; the second time, end it."""
        key = (study.name, name)
        if self.state(study, name) == QUEUED:
            study.remove(f"{name}.queued")
        elif self.state(study, name) == RUNNING:
            again = key in self._stopping
            self._stopping.setdefault(key, time.monotonic() + PATIENCE)
            self._signal(study, name, _KILL if again else signal.SIGTERM)

    def is_stopping(self, study: StudyFolder, name: str) -> bool:
        """Whether the child was asked to end."""
        return (study.name, name) in self._stopping and self.state(study, name) == RUNNING

    def begin(self, study: StudyFolder, name: str) -> None:
        """Begin a run that is short, and waits for nothing."""
        if self.state(study, name) != RUNNING:
            self._begin(study, name)

    def read(self, study: StudyFolder) -> None:
        """Read the data, and wait for it."""
        study.remove("read.end.json", "reading.json", "read.log")
        child = self._begin(study, READ)
        try:
            child.wait(MAX_SECONDS)
        except subprocess.TimeoutExpired:
            self._signal(study, READ, _KILL)
            child.wait()

    def _begin(self, study: StudyFolder, name: str) -> "subprocess.Popen[Any]":
        """Start the child."""
        study.remove(f"{name}.end.json", f"{name}.long.json")
        self._snapshots.pop((study.name, name), None)
        with open(study.path / f"{name}.log", "ab") as log:
            child = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "thali._surfaces.app.child",
                    name,
                    str(study.path),
                    str(cores_of_run()),
                ],
                # -P: a table may lie beside a file that is called as a module of Python
                cwd=study.path,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **_OWN_SESSION,
            )
        self.children[study.name, name] = child
        study.remove(f"{name}.queued")
        return child

    def _signal(self, study: StudyFolder, name: str, number: int) -> None:
        """Send a signal to the child, and to whatever it has begun."""
        child = self.children.get((study.name, name))
        process = child.pid if child is not None else study.read(f"{name}.process").get("pid")
        if not isinstance(process, int) or process < 2:
            return
        try:
            if sys.platform == "win32":
                os.kill(process, signal.SIGTERM)
            else:
                os.killpg(process, number)
        except ProcessLookupError:
            pass

    def draws(self, study: StudyFolder, name: str) -> DrawCounts | None:
        """The draws of each chain in its job; None if there is no job of chains."""
        index = _index(study, name)
        # particles, say, or parts of a comparison
        if index is None or "draws" not in index["place"]:
            return None
        return DrawCounts(max(index["recorded"], default=0), index["place"]["draws"])

    def progress(self, study: StudyFolder, name: str) -> RunProgress | None:
        """How far a run is, as its job says; None before its first snapshot."""
        index = _index(study, name)
        if index is None:
            return None
        done, total, unit = (index["place"][key] for key in ("done", "total", "unit"))
        written = datetime.fromisoformat(index["written"])
        first, before = self._snapshots.setdefault((study.name, name), (written, done))
        if done < before:  # the chains began again
            self._snapshots[study.name, name] = written, done
        spent, since = (written - first).total_seconds(), done - before
        left = spent * (total - done) / since if since > 0 and spent > 0 and total > done else None
        return RunProgress(done, total, unit, left)


def ended(study: StudyFolder, name: str) -> dict[str, Any]:
    """How a run ended: code, message, the arguments that it names, and warnings."""
    return {"code": 0, "message": "", "named": [], "warnings": []} | study.read(f"{name}.end")


def was_refused(study: StudyFolder) -> bool:
    """Whether the fit was not possible as it was asked for, and left nothing."""
    has_left = study.has_report or (study.path / FIT / "job").exists()
    return ended(study, FIT)["code"] == REFUSED and not has_left


def why_it_died(study: StudyFolder) -> str:
    """The last line that a table's child printed, where it left no end."""
    lines = study.log(READ).splitlines()
    return (
        f"The table could not be read: {lines[-1]}"
        if lines
        else "The table could not be read within the time or memory limit."
    )


def _index(study: StudyFolder, name: str) -> dict[str, Any] | None:
    """What the job of a run says; None if there is none that can be read."""
    try:
        return read_index(study.path / name / "job")
    except DataError:
        return None


def _queued_at(study: StudyFolder, name: str) -> float:
    try:
        return (study.path / f"{name}.queued").stat().st_mtime
    except OSError:
        return 0.0


def _is_locked(path: Path) -> bool:
    """Whether a child holds the lock."""
    if not path.is_file():
        return False
    try:
        with open(path, "ab") as file:
            return not lock_file(file.fileno())
    except OSError:  # of another user
        return False


_OWN_SESSION: dict[str, Any] = (
    # CREATE_NEW_PROCESS_GROUP
    {"creationflags": 0x200} if sys.platform == "win32" else {"start_new_session": True}
)
_KILL = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL
