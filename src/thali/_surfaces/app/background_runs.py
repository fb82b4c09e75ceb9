"""Child processes of the app (runs): start, stop, queue, progress.

A child has a separate session and writes only to files, so it survives the server. It holds a lock
until it ends. If the lock is free and NAME.end.json is missing, the child was killed.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from thali._inference.checksummed_files import lock_file
from thali._inference.job_folders import read_index
from thali._inference.progress_display import can_forecast
from thali.errors import DataError

from .study_folders import FIT, QUEUED_RUNS, READ, Studies, StudyFolder

NEVER = "never"
QUEUED = "queued"
RUNNING = "running"
ENDED = "ended"
STOPPED = "stopped"
REFUSED = 2  # exit code of a run with invalid options or data
PATIENCE = 300.0  # seconds in which a stopped child may save its results
MAX_SECONDS = 180.0  # for reading a table
_PARALLEL_CHAINS = 4  # chains of a fit that run in parallel


class RunProgress(NamedTuple):
    """Progress of a run: draws made, total, and time left."""

    done: int
    total: int
    unit: str
    seconds_left: float | None  # seconds; None before they can be estimated


class DrawCounts(NamedTuple):
    """Numbers of draws made and requested per chain."""

    recorded: int
    target: int


class Runs:
    """The runs (child processes) of this server, and those left by an earlier one."""

    def __init__(self, studies: Studies, slots: int | None = None) -> None:
        self._studies = studies
        self.children: dict[tuple[str, str], subprocess.Popen[Any]] = {}
        # run -> time at which a child that does not stop is killed
        self._stopping: dict[tuple[str, str], float] = {}
        # run -> time and progress of its first snapshot
        self._snapshots: dict[tuple[str, str], tuple[datetime, int]] = {}
        self._reported: set[str] = set()
        # requests and the clock of the server start and stop runs at the same time
        self._lock = threading.RLock()
        self.slots: int = slots or max(1, (os.cpu_count() or 1) // _PARALLEL_CHAINS)

    def find_state(self, study: StudyFolder, run_name: str) -> str:
        """Return a run's state: "", queued, running, ended or stopped."""
        child = self.children.get((study.name, run_name))
        if child is not None and child.poll() is None:
            return RUNNING
        if not (study.path / f"{run_name}.json").exists():
            return NEVER
        if (study.path / f"{run_name}.queued").exists():
            return QUEUED
        if child is None and _is_locked(study.path / f"{run_name}.lock"):
            return RUNNING
        if (study.path / f"{run_name}.end.json").exists():
            return ENDED
        return STOPPED

    def queue(self, study: StudyFolder, run_name: str) -> None:
        """Queue a run, which starts or resumes as soon as processors are free."""
        with self._lock:
            if self.find_state(study, run_name) != RUNNING:
                study.remove(f"{run_name}.end.json")
                (study.path / f"{run_name}.queued").touch()
                self.start_queued_runs()

    def start_queued_runs(self) -> None:
        """Start queued runs if processors are free; kill runs that ignore a stop."""
        with self._lock:
            for (study_name, run_name), deadline in list(self._stopping.items()):
                study = self._studies.find_study(study_name)
                if study is None or self.find_state(study, run_name) != RUNNING:
                    del self._stopping[study_name, run_name]
                elif time.monotonic() > deadline:
                    self._send_signal(study, run_name, _KILL)
            runs_by_state: dict[str, list[tuple[StudyFolder, str]]] = {RUNNING: [], QUEUED: []}
            for study in self._studies.list_all():
                with self.report_errors(study.path):
                    for run_name in QUEUED_RUNS:
                        runs_by_state.setdefault(self.find_state(study, run_name), []).append(
                            (study, run_name)
                        )
            n_free_slots = self.slots - len(runs_by_state[RUNNING])
            queued_runs = runs_by_state[QUEUED]
            for study, run_name in sorted(queued_runs, key=lambda run: _read_queue_time(*run)):
                if n_free_slots > 0:
                    with self.report_errors(study.path):
                        self._start_child(study, run_name)
                        n_free_slots -= 1

    @contextmanager
    def report_errors(self, path: Path) -> Iterator[None]:
        """Print an error raised within this block, once for each folder."""
        try:
            yield
        except Exception as error:
            if (error_line := f"thali app: {path}: {error!r}") not in self._reported:
                self._reported.add(error_line)
                print(error_line, file=sys.stderr, flush=True)

    def stop(self, study: StudyFolder, run_name: str) -> None:
        """Ask a run to save its results and end; kill it at the second request."""
        with self._lock:
            run_key = (study.name, run_name)
            if self.find_state(study, run_name) == QUEUED:
                study.remove(f"{run_name}.queued")
            elif self.find_state(study, run_name) == RUNNING:
                if run_key in self._stopping:
                    self._send_signal(study, run_name, _KILL)
                else:
                    self._stopping[run_key] = time.monotonic() + PATIENCE
                    self._send_signal(study, run_name, signal.SIGTERM)

    def is_stopping(self, study: StudyFolder, run_name: str) -> bool:
        """Return whether a run was asked to stop."""
        return (study.name, run_name) in self._stopping and self.find_state(
            study, run_name
        ) == RUNNING

    def start_run(self, study: StudyFolder, run_name: str) -> None:
        """Start a short run at once, without queueing."""
        if self.find_state(study, run_name) != RUNNING:
            self._start_child(study, run_name)

    def read_data(self, study: StudyFolder) -> None:
        """Read a study's data in a child process; wait until it ends."""
        study.remove("read.end.json", "reading.json", "read.log")
        child = self._start_child(study, READ)
        try:
            child.wait(MAX_SECONDS)
        except subprocess.TimeoutExpired:
            self._send_signal(study, READ, _KILL)
            child.wait()

    def _start_child(self, study: StudyFolder, run_name: str) -> "subprocess.Popen[Any]":
        """Start the child process that carries out a run."""
        study.remove(f"{run_name}.end.json", f"{run_name}.long.json")
        self._snapshots.pop((study.name, run_name), None)
        with open(study.path / f"{run_name}.log", "ab") as log_file:
            child = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "thali._surfaces.app.child_process",
                    run_name,
                    str(study.path),
                    str(min(_PARALLEL_CHAINS, os.cpu_count() or 1)),
                ],
                # -P: the folder of the table may contain a file named like a Python module
                cwd=study.path,
                stdin=subprocess.DEVNULL,
                stdout=log_file,
                stderr=log_file,
                **_OWN_SESSION,
            )
        self.children[study.name, run_name] = child
        study.remove(f"{run_name}.queued")
        return child

    def _send_signal(self, study: StudyFolder, run_name: str, signal_number: int) -> None:
        """Send a signal to a run's process group, if it still exists."""
        child = self.children.get((study.name, run_name))
        if child is not None:
            process_id = child.pid
        else:
            process_id = study.read(f"{run_name}.process").get("pid")
        if not isinstance(process_id, int) or process_id < 2:
            return
        try:
            if sys.platform == "win32":
                os.kill(process_id, signal.SIGTERM)
            else:
                os.killpg(process_id, signal_number)
        except ProcessLookupError:
            pass

    def count_draws(self, study: StudyFolder, run_name: str) -> DrawCounts | None:
        """Return draws made and requested per chain; None without a job of chains."""
        job_index = _read_run_index(study, run_name)
        # jobs of particles or of comparisons have no draws
        if job_index is None or "draws" not in job_index["place"]:
            return None
        return DrawCounts(max(job_index["recorded"], default=0), job_index["place"]["draws"])

    def read_progress(self, study: StudyFolder, run_name: str) -> RunProgress | None:
        """Return the progress in a run's job; None before its first snapshot."""
        job_index = _read_run_index(study, run_name)
        if job_index is None:
            return None
        n_done, n_total, unit = (job_index["place"][key] for key in ("done", "total", "unit"))
        snapshot_time = datetime.fromisoformat(job_index["written"])
        first_snapshot_time, first_n_done = self._snapshots.setdefault(
            (study.name, run_name), (snapshot_time, n_done)
        )
        if n_done < first_n_done:  # the chains were restarted
            self._snapshots[study.name, run_name] = snapshot_time, n_done
        seconds_spent = (snapshot_time - first_snapshot_time).total_seconds()
        n_done_since = n_done - first_n_done
        seconds_left = None
        if n_total > n_done and can_forecast(seconds_spent, n_done_since, n_total):
            seconds_left = seconds_spent * (n_total - n_done) / n_done_since
        return RunProgress(n_done, n_total, unit, seconds_left)


def read_end(study: StudyFolder, run_name: str) -> dict[str, Any]:
    """Return the content of NAME.end.json: exit code, message, warnings."""
    return {"code": 0, "message": "", "named": [], "warnings": []} | study.read(f"{run_name}.end")


def is_refused(study: StudyFolder) -> bool:
    """Return whether the fit ended with an error message and no results."""
    has_results = study.has_report or (study.path / FIT / "job").exists()
    return read_end(study, FIT)["code"] == REFUSED and not has_results


def explain_failed_read(study: StudyFolder) -> str:
    """Return a sentence on why the data process failed, with its last printed line."""
    log_lines = study.read_log(READ).splitlines()
    if log_lines:
        return f"The table could not be read: {log_lines[-1]}"
    return "The table could not be read within the time or memory limit."


def _read_run_index(study: StudyFolder, run_name: str) -> dict[str, Any] | None:
    """Return the index of a run's job; None if missing or damaged."""
    try:
        return read_index(study.path / run_name / "job")
    except DataError:
        return None


def _read_queue_time(study: StudyFolder, run_name: str) -> float:
    """Return when a run was queued, in seconds since 1970; 0 if it was not."""
    try:
        return (study.path / f"{run_name}.queued").stat().st_mtime
    except OSError:
        return 0.0


def _is_locked(path: Path) -> bool:
    """Return whether a process holds the lock file, that is, the run is active."""
    if not path.is_file():
        return False
    try:
        with open(path, "ab") as file:
            return not lock_file(file.fileno())
    except OSError:  # the file belongs to another user
        return False


_OWN_SESSION: dict[str, Any]
if sys.platform == "win32":
    _OWN_SESSION = {"creationflags": 0x200}  # CREATE_NEW_PROCESS_GROUP
    _KILL = signal.SIGTERM
else:
    _OWN_SESSION = {"start_new_session": True}
    _KILL = signal.SIGKILL
