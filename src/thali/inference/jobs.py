"""A fit in a folder: its draws and the state of its samplers, so that a killed run goes on where it was.

::

    FOLDER/
      job.json          what is fitted, and which of the files below count; replaced last
      draws-00001.npz   draws that were recorded since the file before; never changed
      state-00007.npz   everything else that the rest of the run depends on
      lock              held by the process that runs the fit

Every file has its hash in job.json, and job.json its own at its end.
"""

import hashlib
import json
import platform
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from thali.errors import DataError, IncompleteWarning, InPython, ModelName, Setting

from .arrays import Arrays, from_bytes, prefixed, to_bytes, without_prefix
from .files import atomic_write, cannot_write
from .locks import lock
from .warn import warn

SCHEMA = 1
INDEX, LOCK = "job.json", "lock"
LEAST = 3.0  # seconds between two snapshots
SHARE = 0.05  # of the running time that snapshots may take
_OWN = re.compile(r"(job\.json|lock|(draws|state)-\d+\.npz|\.thali-.*\.part)")
_OTHER_FOLDER = InPython("choose another folder, or remove this one", "choose another folder, or give --overwrite")


_command: ContextVar[dict[str, Any] | None] = ContextVar("command", default=None)


@contextmanager
def command_noted(command: dict[str, Any]) -> Iterator[None]:
    """Jobs that are opened within note this command, as JSON: the one that goes on with them."""
    token = _command.set(command)
    try:
        yield
    finally:
        _command.reset(token)


class Snapshot(NamedTuple):
    """What a job holds of each chain."""

    states: list[Arrays]
    draws: list[Arrays]
    place: dict[str, Any]  # where the run was, as `JobFolder.write` was told
    has_ended: bool


class JobFolder:
    """The folder of a fit; one process at a time uses it.

    Parameters
    ----------
    path : str or path
        Made if it is absent.
    stamp : mapping
        What determines the draws, as JSON: `model` (its class), `parameters`, `settings`, `data`, and `seed`, which is
        None for that of the job.

    Raises
    ------
    DataError
        If the folder cannot be used, holds other files, is damaged, or holds a job with another stamp.
    """

    found: Snapshot | None = None
    recorded: Sequence[int] = ()  # draws of each chain that are in the folder

    def __init__(self, path: Any, stamp: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self._stamp = json.loads(json.dumps({**stamp, "versions": versions()}))
        self._segments: list[dict[str, Any]] = []
        self._state = ""
        self._number = 0
        self._next = time.monotonic() + LEAST
        self._is_full = False  # whether the disk refused a snapshot
        self._command = _command.get()
        _check_place(self.path)
        self._lock = self._locked()
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "JobFolder":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def close(self) -> None:
        """Let other processes use the folder."""
        self._lock.close()

    @property
    def seed(self) -> Any:
        """The seed of the job, as its stamp holds it; None if there is none yet."""
        return self._stamp["seed"]

    def begin(self, seed: Any) -> None:
        """Say with which seed a new job runs."""
        self._stamp["seed"] = json.loads(json.dumps(seed))

    def is_due(self) -> bool:
        """Whether enough time has passed since the last snapshot."""
        return not self._is_full and time.monotonic() >= self._next

    def write(
        self,
        states: Sequence[Arrays],
        draws: Sequence[Arrays],
        recorded: Sequence[int],
        place: Mapping[str, Any],
        has_ended: bool = False,
    ) -> None:
        """Add draws to those that were written, so many of each chain then, and replace the state.

        A disk that is full is reported once, and the run goes on without snapshots.
        """
        began = time.monotonic()
        self._number += 1
        segments, state = list(self._segments), f"state-{self._number:05d}.npz"
        try:
            if any(len(array) for each in draws for array in each.values()):
                name = f"draws-{self._number:05d}.npz"
                segments.append({"file": name, "sha256": self._store(name, draws)})
            index = {
                "thali_job": SCHEMA,
                "stamp": self._stamp,
                "chains": len(states),
                "segments": segments,
                "state": {"file": state, "sha256": self._store(state, states)},
                "recorded": list(recorded),
                "place": dict(place),
                "ended": has_ended,
                "written": datetime.now().astimezone().isoformat(timespec="seconds"),
                "command": self._command,
            }
            atomic_write(self.path / INDEX, sealed(index))
        except DataError as error:
            warn(IncompleteWarning(error, " The fit goes on without its job."))
            self._is_full = True
            return
        if self._state:
            (self.path / self._state).unlink(missing_ok=True)
        self._segments, self._state, self.recorded = segments, state, list(recorded)
        now = time.monotonic()
        self._next = now + max(LEAST, (now - began) / SHARE)

    def _store(self, name: str, of_chains: Sequence[Arrays]) -> str:
        """Write arrays of all chains to a file; returns its hash."""
        arrays = {key: array for k, each in enumerate(of_chains) for key, array in prefixed(f"{k}/", each).items()}
        content = to_bytes(arrays)
        atomic_write(self.path / name, content)
        return hashlib.sha256(content).hexdigest()

    def _locked(self) -> BinaryIO:
        try:
            self.path.mkdir(exist_ok=True)
            file = open(self.path / LOCK, "ab")
        except OSError as error:
            raise DataError(cannot_write(self.path, error)) from None
        if not lock(file.fileno()):
            file.close()
            raise DataError(
                f"The job '{self.path}' is running in another process; wait for its end, or choose another folder."
            )
        return file

    def _open(self) -> None:
        """Read what an earlier process left, if its stamp is that of this fit."""
        index = read_index(self.path)
        if index is None:
            return
        self._refuse_other(index["stamp"])
        self._stamp = index["stamp"] | {"settings": self._stamp["settings"]}
        self._segments, self._state = index["segments"], index["state"]["file"]
        self.recorded = index["recorded"]
        self._number = int(Path(self._state).stem.rpartition("-")[2])
        self._command = self._command or index["command"]
        chains, parts = index["chains"], [self._loaded(each) for each in self._segments]
        state = self._loaded(index["state"])
        states = [without_prefix(f"{k}/", state) for k in range(chains)]
        self.found = Snapshot(states, [_joined(parts, f"{k}/") for k in range(chains)], index["place"], index["ended"])

    def _loaded(self, entry: Mapping[str, str]) -> Arrays:
        path = self.path / entry["file"]
        try:
            content = path.read_bytes()
        except OSError:
            content = b""
        if hashlib.sha256(content).hexdigest() != entry["sha256"]:
            raise DataError(f"The file '{path}' of the job is damaged or missing; ", _OTHER_FOLDER, ".")
        return from_bytes(content)

    def _refuse_other(self, was: Mapping[str, Any]) -> None:
        """Refuse a job whose draws would not be those of this fit."""
        now, path = self._stamp, self.path
        if was["versions"] != now["versions"]:
            name = next(name for name, version in now["versions"].items() if was["versions"].get(name) != version)
            raise DataError(
                f"The job '{path}' was begun with {name} {was['versions'].get(name)}, and this is {name} "
                f"{now['versions'][name]}, which may draw otherwise; go on with the former, or ",
                *(_OTHER_FOLDER, "."),
            )
        if was["model"] != now["model"]:
            raise DataError(
                f"The job '{path}' is a fit of ",
                *(ModelName(was["model"]), ", not of ", ModelName(now["model"]), "; ", _OTHER_FOLDER, "."),
            )
        for part in ("parameters", "settings"):
            for name, value in now[part].items():
                former = was[part].get(name)
                is_longer = name in ("draws", "sweeps") and former is not None and value is not None and value > former
                if former != value and not is_longer:
                    raise self._other_value(name, former, value)
        if was["data"] != now["data"]:
            raise DataError(f"The job '{path}' is a fit to other data; ", _OTHER_FOLDER, ".")
        if now["seed"] is not None and was["seed"] != now["seed"]:
            raise DataError(
                f"The job '{path}' was begun with another seed; leave the seed out to go on with it, or ",
                *(_OTHER_FOLDER, "."),
            )

    def _other_value(self, name: str, was: Any, now: Any) -> DataError:
        return DataError(
            f"The job '{self.path}' was begun with ",
            *(Setting(name, was), ", and this fit has ", Setting(name, now), "; ", _OTHER_FOLDER, "."),
        )


def versions() -> dict[str, str]:
    """What besides the stamp decides about the last bits of a draw."""
    from importlib.metadata import version

    from thali import __version__

    machine = f"{platform.system()} {platform.machine()}"
    python = ".".join(platform.python_version_tuple()[:2])
    return {
        "thali": __version__,
        "numba": version("numba"),
        "numpy": np.__version__,
        "Python": python,
        "machine": machine,
    }


def _check_place(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise DataError(f"The job '{path}' must be a folder, and is a file; choose another name.")
    if not path.parent.is_dir():
        raise DataError(f"There is no folder '{path.parent}' for the job; make it first.")
    if path.is_dir() and (others := [each.name for each in path.iterdir() if not _OWN.fullmatch(each.name)]):
        raise DataError(f"The folder '{path}' is no job: it holds '{min(others)}'; choose another folder.")


def remove_job(path: Path) -> None:
    """Remove a job, so that another can begin there."""
    if path.exists():
        _check_place(path)
        shutil.rmtree(path)


def read_index(path: Path) -> dict[str, Any] | None:
    """What job.json holds; None if there is none.

    Raises
    ------
    DataError
        If it is damaged, or of another version.
    """
    file = path / INDEX
    if not file.is_file():
        return None
    index = unsealed(file.read_bytes())
    if index is None:
        raise DataError(f"The file '{file}' of the job is damaged; ", _OTHER_FOLDER, ".")
    if index.get("thali_job") != SCHEMA:
        raise DataError(f"The job '{path}' was written by another version of thali; ", _OTHER_FOLDER, ".")
    return index


def is_running(path: Path) -> bool:
    """Whether a process runs the job."""
    with open(path / LOCK, "ab") as file:
        return not lock(file.fileno())


def sealed(index: Mapping[str, Any]) -> bytes:
    """JSON with its hash in a second line."""
    body = json.dumps(index).encode()
    return body + b"\n" + hashlib.sha256(body).hexdigest().encode() + b"\n"


def unsealed(content: bytes) -> dict[str, Any] | None:
    """What `sealed` was given, or None if the bytes are not as it made them."""
    body, _, rest = content.partition(b"\n")
    return json.loads(body) if rest == hashlib.sha256(body).hexdigest().encode() + b"\n" else None


def _joined(parts: Sequence[Arrays], prefix: str) -> Arrays:
    """The draws of one chain, from all segments."""
    own = [without_prefix(prefix, part) for part in parts]
    return {name: np.concatenate([each[name] for each in own]) for name in own[0]} if own else {}
