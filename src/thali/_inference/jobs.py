"""Work in a folder, so that a killed run goes on where it was: a fit with the state of its
samplers.

::

    FOLDER/
      job.json          what is done, and which of the files below count; replaced last
      draws-00001.npz   draws that were recorded since the file before; never changed
      state-00007.npz   everything else that the rest of the run depends on
      lock              held by the process that runs the job

Every file has its hash in job.json, and job.json its own at its end. Jobs of many parts are in
`parts`.
"""

import errno
import hashlib
import json
import os
import platform
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from zipfile import BadZipFile

import numpy as np

from thali.errors import (
    Argument,
    ArgumentError,
    DataError,
    Fact,
    IncompleteWarning,
    Message,
    ModelName,
    Setting,
    ThaliError,
    Words,
)

from .arrays import Arrays, from_bytes, prefixed, to_bytes, without_prefix
from .files import atomic_write, cannot_write, lock
from .seeds import root, seed_as_json, seed_of_json
from .warn import warn

SCHEMA = 4
INDEX, LOCK = "job.json", "lock"
MIN_SECONDS = 3.0  # seconds of work that may be lost
SHARE = 0.05  # of the running time that writing may take
_FILES = re.compile(r"source\.npz|(draws|state)-\d+\.npz|parts-\d+\.json")  # that an index names
_OWN = re.compile(rf"job\.json|lock|{_FILES.pattern}|\.thali-.*\.part")


class _OtherFolder(Fact):
    """What to do about a folder that holds another job."""

    def render(self, words: Words) -> str:
        """The advice in those words."""
        may_overwrite = words.has("overwrite") and not words.is_python()
        return (
            "choose another folder, or"
            f" {'give --overwrite' if may_overwrite else 'delete this folder'}"
        )


OTHER_FOLDER = _OtherFolder()
_command: ContextVar[dict[str, Any] | None] = ContextVar("command", default=None)
_overwrite: ContextVar[bool] = ContextVar("overwrite", default=False)


@contextmanager
def command_noted(command: dict[str, Any] | None, overwrite: bool) -> Iterator[None]:
    """Jobs that are opened within note this command, as JSON, which goes on with them; others may
    have to give way."""
    tokens = _command.set(command), _overwrite.set(overwrite)
    try:
        yield
    finally:
        _command.reset(tokens[0])
        _overwrite.reset(tokens[1])


class JobFolder:
    """The folder of a job; one process at a time uses it.

    Parameters
    ----------
    path : str or path
        Made if it is absent; removed when it is closed if nothing was written.
    stamp : mapping
        What determines the results, as JSON: `kind` (such as "fit"), `models` (by name, each with
        its `class` and its `parameters`), `settings` and `data`.
    random_seed
        As of `fit`; None is that of the job.

    Raises
    ------
    DataError
        If the folder cannot be used, holds other files, is damaged, or holds a job with another
        stamp.
    """

    def __init__(self, path: Any, stamp: Mapping[str, Any], random_seed: Any) -> None:
        try:
            self.path: Path = Path(path)
        except TypeError:
            raise ArgumentError(
                Argument("job"), f" must be the path of a folder; got {path!r}."
            ) from None
        seed = None if random_seed is None else seed_as_json(root(random_seed))
        self._stamp = json.loads(json.dumps({"versions": versions(), **stamp, "seed": seed}))
        self._segments: list[dict[str, str]] = []
        self._number = 0
        self._pause, self._last = MIN_SECONDS, time.monotonic()
        self._is_full = False  # whether the disk refused to hold more
        self._command = _command.get()
        _check_place(self.path)
        self._is_new = _overwrite.get() or not self.path.exists()
        self._lock = locked(self.path)
        try:
            if _overwrite.get():
                self._remove()
            index = read_index(self.path)
            if index is not None:
                with as_written(self.path):
                    self._refuse_other(index)
                    self._stamp["seed"] = index["stamp"]["seed"]
                    self._segments = index["segments"]
                    self._command = self._command or index["command"]
                    self._take_up(index)
        except BaseException:
            self.close()
            raise
        if self._stamp["seed"] is None:
            self._stamp["seed"] = seed_as_json(root(None))

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: Any, *exception: Any) -> None:
        self.close()

    def close(self) -> None:
        """Let other processes use the folder."""
        if self._is_new and not (self.path / INDEX).exists():
            with suppress(OSError):  # a system that removes no open files
                (self.path / LOCK).unlink()
                self.path.rmdir()
        self._lock.close()

    def _remove(self) -> None:
        """Remove what is in the folder, the index first."""
        for file in sorted(self.path.iterdir(), key=lambda file: file.name != INDEX):
            if file.name != LOCK:
                file.unlink()

    @property
    def kind(self) -> str:
        """What the job is, in messages."""
        return self._stamp["kind"]

    @property
    def seed(self) -> np.random.SeedSequence:
        """The seed of the job."""
        with as_written(self.path):
            return seed_of_json(self._stamp["seed"])

    def _take_up(self, index: Mapping[str, Any]) -> None:
        """Go on from what an earlier process left."""
        raise NotImplementedError

    def _refuse_other(self, index: Mapping[str, Any]) -> None:
        """Refuse a job whose results would not be those of this one."""
        self._refuse(index["stamp"])

    def _refuse(self, was: Mapping[str, Any]) -> None:
        """Refuse a job with another stamp."""
        if found := difference(was, self._stamp, f"this {self._stamp['kind']}"):
            raise DataError(f"The job '{self.path}' ", found, "; ", OTHER_FOLDER, ".")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Writes within: a disk that is full is reported, and the run goes on without the job."""
        began = time.monotonic()
        self._number += 1
        try:
            yield
        except DataError as error:
            warn(IncompleteWarning(error, f" The {self.kind} continues without saving its job."))
            self._is_full = True
            return
        self._last = time.monotonic()
        self._pause = max(MIN_SECONDS, (self._last - began) / SHARE)

    def _store(self, name: str, content: bytes) -> dict[str, str]:
        """Write a file; returns its entry in the index."""
        atomic_write(self.path / name, content)
        return {"file": name, "sha256": hashlib.sha256(content).hexdigest()}

    def _store_index(
        self, segments: list[dict[str, str]], place: Mapping[str, Any], ended: bool, **more: Any
    ) -> None:
        """Replace the index: from now on these files count."""
        index = {
            "thali_job": SCHEMA,
            "stamp": self._stamp,
            "segments": segments,
            "place": dict(place),
            "ended": ended,
            "written": datetime.now().astimezone().isoformat(timespec="seconds"),
            "command": self._command,
            **more,
        }
        atomic_write(self.path / INDEX, sealed(index))
        self._segments = segments


class Snapshot(NamedTuple):
    """What a job holds of each chain."""

    states: list[Arrays]
    draws: list[Arrays]
    place: dict[str, Any]  # where the run was, as `FitFolder.write` was given it
    has_ended: bool


class FitFolder(JobFolder):
    """The folder of a fit."""

    found: Snapshot | None = None
    recorded: Sequence[int] = ()  # draws of each chain that are in the folder
    _state = ""
    _outdated: Sequence[dict[str, str]] = ()  # segments that the next snapshot replaces

    def restart(self) -> None:
        """Take the next snapshot for that of another run, which replaces what was written so
        far."""
        self._outdated, self._segments, self.recorded = [*self._outdated, *self._segments], [], ()

    def is_due(self) -> bool:
        """Whether enough time has passed since the last snapshot."""
        return not self._is_full and time.monotonic() >= self._last + self._pause

    def write(
        self,
        states: Sequence[Arrays],
        draws: Sequence[Arrays],
        recorded: Sequence[int],
        place: Mapping[str, Any],
        has_ended: bool = False,
    ) -> None:
        """Add draws to those that were written, so many of each chain then, and replace the
        state."""
        with self._writing():
            segments, former = list(self._segments), self._state
            if any(len(array) for each in draws for array in each.values()):
                segments.append(self._store(f"draws-{self._number:05d}.npz", _packed(draws)))
            state = self._store(f"state-{self._number:05d}.npz", _packed(states))
            of_chains = {"chains": len(states), "state": state, "recorded": list(recorded)}
            self._store_index(segments, place, has_ended, **of_chains)
            self._state, self.recorded = state["file"], list(recorded)
            for name in [entry["file"] for entry in self._outdated] + [former] * bool(former):
                (self.path / name).unlink(missing_ok=True)
            self._outdated = ()

    def _take_up(self, index: Mapping[str, Any]) -> None:
        self._state, self.recorded = index["state"]["file"], index["recorded"]
        self._number = int(Path(self._state).stem.rpartition("-")[2])
        parts = [from_bytes(content_of(self.path, each)) for each in self._segments]
        state = from_bytes(content_of(self.path, index["state"]))
        chains = range(min(index["chains"], len(state) + 1))  # each has an array or more
        states = [without_prefix(f"{k}/", state) for k in chains]
        draws = [_joined(parts, f"{k}/") for k in chains]
        if not all(states):
            raise ValueError("a chain without a state")
        self.found = Snapshot(states, draws, index["place"], index["ended"])

    def _refuse_other(self, index: Mapping[str, Any]) -> None:
        was = index["stamp"]
        settings = dict(was["settings"])
        if "draws" in settings and (wanted := self._stamp["settings"].get("draws")) is not None:
            # A longer run goes on with a shorter one, or with one until chains agree.
            former = (
                index["place"].get("draws", wanted)
                if settings["draws"] is None
                else settings["draws"]
            )
            if wanted > former:
                settings["draws"] = wanted
        self._refuse({**was, "settings": settings})


def difference(was: Mapping[str, Any], now: Mapping[str, Any], this: str) -> Message | None:
    """How a job with the stamp `was` differs from `this` one, with the stamp `now`; None if it does
    not.

    The words follow the name of the former. Models may have been added; a seed that is None is any.
    """
    for name, version in now["versions"].items():
        if (former := was["versions"].get(name)) != version:
            return Message(
                f"was started with {name} {former}, but {this} uses {name} {version}, which may"
                " give different draws"
            )
    if was["kind"] != now["kind"]:
        return Message(f"belongs to a {was['kind']}, but this is a {now['kind']}")
    for name, model in was["models"].items():
        if name not in now["models"]:
            return Message(f"was started with the model {name!r}, which {this} does not include")
        if found := _difference_of_models(name, model, now["models"][name], this):
            return found
    for name, value in now["settings"].items():
        if (former := was["settings"].get(name)) != value:
            return Message(
                "was started with ",
                Setting(name, former),
                f", but {this} has ",
                Setting(name, value),
            )
    if was["data"] != now["data"]:
        return Message("was started with other data")
    if now["seed"] is not None and was["seed"] != now["seed"]:
        return Message("was started with another seed")
    return None


def _difference_of_models(
    name: str, was: Mapping[str, Any], now: Mapping[str, Any], this: str
) -> Message | None:
    """The same of two models of a name, which is empty where there is only one."""
    if was["class"] != now["class"]:
        called = f" as {name!r}" if name else ""
        return Message(
            "was started with ",
            ModelName(was["class"]),
            f"{called}, but {this} has ",
            ModelName(now["class"]),
        )
    for parameter, value in now["parameters"].items():
        if (former := was["parameters"].get(parameter)) != value:
            parts = (
                "was started with ",
                Setting(parameter, former),
                f" for {name!r}" if name else "",
            )
            return Message(*parts, f", but {this} has ", Setting(parameter, value))
    return None


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
        raise DataError(f"The job '{path}' must be a folder, but is a file; choose another name.")
    if not path.parent.is_dir():
        raise DataError(f"The folder '{path.parent}' for the job does not exist; create it first.")
    if not path.is_dir():
        return
    if others := [
        each.name for each in path.iterdir() if not _OWN.fullmatch(each.name) or each.is_symlink()
    ]:
        raise DataError(
            f"The folder '{path}' is not a job: it contains '{min(others)}'; choose another folder."
        )


def locked(path: Path, to_write: bool = True) -> BinaryIO:
    """The lock of a folder, which is made if it is absent; where nothing is to be written, one may
    be read-only."""
    try:
        path.mkdir(exist_ok=True)
        file = _opened(path / LOCK, to_write)
    except OSError as error:
        raise DataError(cannot_write(path, error)) from None
    if not lock(file.fileno()):
        file.close()
        raise DataError(
            f"The job '{path}' is running in another process; wait until it finishes, or choose"
            " another folder."
        )
    return file


def content_of(path: Path, entry: Mapping[str, str]) -> bytes:
    """The content of a file of a job, from its entry in the index."""
    try:
        content = (path / entry["file"]).read_bytes()
    except OSError:
        content = b""
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise DataError(
            f"The file '{path / entry['file']}' of the job is damaged or missing; ",
            OTHER_FOLDER,
            ".",
        )
    return content


def read_index(path: Path) -> dict[str, Any] | None:
    """What job.json holds; None if there is none."""
    file = path / INDEX
    if not file.is_file():
        return None
    index = unsealed(file.read_bytes())
    if not isinstance(index, dict):
        raise DataError(f"The file '{file}' of the job is damaged; ", OTHER_FOLDER, ".")
    if index.get("thali_job") != SCHEMA:
        raise DataError(
            f"The job '{path}' was written by another version of thali; ", OTHER_FOLDER, "."
        )
    with as_written(path):
        if not _is_index(index):
            raise ValueError("what every job has, or another file's name")
    return index


@contextmanager
def as_written(path: Path) -> Iterator[None]:
    """Within, a job that somebody else made up is refused, whatever it lacks."""
    try:
        yield
    except ThaliError:
        raise
    except (
        LookupError,
        ValueError,
        TypeError,
        AttributeError,
        OverflowError,
        EOFError,
        BadZipFile,
    ) as error:
        raise DataError(
            f"The files of the job '{path}' have been changed since thali wrote them; ",
            OTHER_FOLDER,
            ".",
        ) from error


def _is_index(index: Mapping[str, Any]) -> bool:
    """Whether an index holds what every job has, and names files of its own folder alone."""
    stamp: Any = index.get("stamp")
    place: Any = index.get("place")
    command = index.get("command")
    if not (_holds(index, segments=list, ended=bool, written=str) and {"command"} <= index.keys()):
        return False
    if (
        not _holds(stamp, kind=str, versions=dict, models=dict, settings=dict)
        or "data" not in stamp
    ):
        return False
    if not all(
        _holds(model, **{"class": str, "parameters": dict}) for model in stamp["models"].values()
    ):
        return False
    if not (
        _holds(place, done=int, total=int, unit=str)
        and _holds(stamp, seed=list)
        and _is_time(index["written"])
    ):
        return False
    if command is not None and not _holds(command, name=str, arguments=dict, folder=str):
        return False
    is_fit = stamp["kind"] == "fit"
    if is_fit and not (_holds(index, chains=int, recorded=list) and "" in stamp["models"]):
        return False
    if index.get("recorded") and not _holds(
        {"tune": 0, "spent": 0, **place}, draws=int, tempered=bool, tune=int, spent=int
    ):
        return False
    counts = [
        *(index["recorded"] if is_fit else []),
        *(n for two in place.get("each", {}).values() for n in two),
    ]
    if not all(isinstance(number, int) for number in counts):
        return False
    entry = index.get("state" if is_fit else "source")
    entries = [*index["segments"], *([] if entry is None and not is_fit else [entry])]
    return all(
        _holds(each, file=str, sha256=str) and _FILES.fullmatch(each["file"]) for each in entries
    )


def _holds(held: Any, **kinds: type) -> bool:
    """Whether these values are there, each of its kind."""
    return isinstance(held, dict) and all(
        isinstance(held.get(name), kind) for name, kind in kinds.items()
    )


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def is_running(path: Path) -> bool:
    """Whether a process runs the job."""
    try:
        with _opened(path / LOCK, to_write=False) as file:
            return not lock(file.fileno())
    except FileNotFoundError:  # of a folder that nobody may write to
        return False


def _opened(path: Path, to_write: bool) -> BinaryIO:
    """The file of a lock; read-only where nobody may write to it, and nobody wants to."""
    try:
        return open(path, "ab", opener=_no_link)
    except OSError as error:
        if to_write or error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
    return open(path, "rb", opener=_no_link)


def _no_link(path: str, flags: int) -> int:
    """Open a file that is no link to another."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def sealed(index: Mapping[str, Any]) -> bytes:
    """JSON with its hash in a second line."""
    body = json.dumps(index).encode()
    return body + b"\n" + hashlib.sha256(body).hexdigest().encode() + b"\n"


def unsealed(content: bytes) -> dict[str, Any] | None:
    """What `sealed` was given, or None if the bytes are not as it made them."""
    body, _, rest = content.partition(b"\n")
    if rest != hashlib.sha256(body).hexdigest().encode() + b"\n":
        return None
    with suppress(ValueError, RecursionError):
        return json.loads(body)
    return None


def _packed(of_chains: Sequence[Arrays]) -> bytes:
    """Arrays of all chains as a file."""
    return to_bytes(
        {
            key: array
            for k, each in enumerate(of_chains)
            for key, array in prefixed(f"{k}/", each).items()
        }
    )


def _joined(parts: Sequence[Arrays], prefix: str) -> Arrays:
    """The draws of one chain, from all segments."""
    own = [without_prefix(prefix, part) for part in parts]
    return {name: np.concatenate([each[name] for each in own]) for name in own[0]} if own else {}
