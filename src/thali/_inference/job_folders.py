"""Job folders, from which an interrupted fit or comparison continues.

::

    FOLDER/
      job.json          the index: work done, and valid files; replaced last
      draws-00001.npz   draws that were recorded since the file before; never changed
      state-00007.npz   everything else that the rest of the run depends on
      lock              locked by the process that runs the job

job.json contains the hash of every file and ends with its own hash. Jobs of many parts are in
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

from .array_dict_encoding import Arrays, add_prefix, decode_npz, encode_npz, select_prefix
from .checksummed_files import atomic_write, describe_write_error, lock_file
from .random_seeds import RandomSeed, build_seed_sequence, decode_seed, encode_seed
from .user_warnings import warn

SCHEMA = 4
INDEX = "job.json"
LOCK = "lock"
MIN_SECONDS = 3.0  # seconds of work that may be lost
SHARE = 0.05  # maximum share of the running time spent on writing
# files that an index names
_INDEXED_FILES = re.compile(r"source\.npz|(draws|state)-\d+\.npz|parts-\d+\.json")
_JOB_FILES = re.compile(rf"job\.json|lock|{_INDEXED_FILES.pattern}|\.thali-.*\.part")


class _OtherFolderAdvice(Fact):
    """Advice for a folder that contains another job, in the words of an interface."""

    def render(self, words: Words) -> str:
        """Return the advice for Python, or for the command line."""
        if words.has("overwrite") and not words.is_python():
            return "choose another folder, or give --overwrite"
        return "choose another folder, or delete the job's folder"


OTHER_FOLDER = _OtherFolderAdvice()
_command: ContextVar[dict[str, Any] | None] = ContextVar("command", default=None)
_overwrite: ContextVar[bool] = ContextVar("overwrite", default=False)


@contextmanager
def note_command(command: dict[str, Any] | None, overwrite: bool) -> Iterator[None]:
    """Store this command in jobs opened within the block.

    The command is JSON; it continues the job. With `overwrite` these jobs replace other jobs.
    """
    tokens = _command.set(command), _overwrite.set(overwrite)
    try:
        yield
    finally:
        _command.reset(tokens[0])
        _overwrite.reset(tokens[1])


class JobFolder:
    """Locked folder of a job: index file job.json, and the files that it names.

    Parameters
    ----------
    path : str or path
        Created if it is absent; removed when it is closed if nothing was written.
    stamp : mapping
        What determines the results, as JSON: `kind` (such as "fit"), `models` (by name, each with
        its `class` and its `parameters`), `settings` and `data`.
    random_seed
        As in `fit`; None is the seed of the job.

    Raises
    ------
    DataError
        If the folder cannot be used, contains other files, is damaged, or contains a job with
        another stamp.
    """

    def __init__(
        self, path: str | os.PathLike[str], stamp: Mapping[str, Any], random_seed: RandomSeed
    ) -> None:
        try:
            self.path: Path = Path(path)
        except TypeError:
            raise ArgumentError(
                Argument("job"), f" must be the path of a folder; got {path!r}."
            ) from None
        encoded_seed = None
        if random_seed is not None:
            encoded_seed = encode_seed(build_seed_sequence(random_seed))
        self._stamp = json.loads(
            json.dumps({"versions": collect_versions(), **stamp, "seed": encoded_seed})
        )
        self._segments: list[dict[str, str]] = []
        self._file_number = 0
        self._pause = MIN_SECONDS
        self._last = time.monotonic()
        self._is_full = False  # whether the disk is full
        self._command = _command.get()
        _check_folder(self.path)
        self._is_new = _overwrite.get() or not self.path.exists()
        self._lock = lock_folder(self.path)
        try:
            if _overwrite.get():
                # the index first, so that no half of a job is resumed
                for file in sorted(self.path.iterdir(), key=lambda file: file.name != INDEX):
                    if file.name != LOCK:
                        file.unlink()
            index = read_index(self.path)
            if index is not None:
                with refuse_altered_job(self.path):
                    self._refuse_other(index)
                    self._stamp["seed"] = index["stamp"]["seed"]
                    self._segments = index["segments"]
                    self._command = self._command or index["command"]
                    self._load_index(index)
        except BaseException:
            self.close()
            raise
        if self._stamp["seed"] is None:
            self._stamp["seed"] = encode_seed(build_seed_sequence(None))

    def __enter__(self) -> Any:
        return self

    def __exit__(self, error_class: type[BaseException] | None, *exception: Any) -> None:
        self.close()

    def close(self) -> None:
        """Unlock the folder; delete it if it is new and nothing was written."""
        if self._is_new and not (self.path / INDEX).exists():
            with suppress(OSError):  # some systems cannot remove open files
                (self.path / LOCK).unlink()
                self.path.rmdir()
        self._lock.close()

    @property
    def kind(self) -> str:
        """Noun for the job in messages, such as "fit"."""
        return self._stamp["kind"]

    @property
    def seed(self) -> np.random.SeedSequence:
        """Seed sequence of the job."""
        with refuse_altered_job(self.path):
            return decode_seed(self._stamp["seed"])

    def _load_index(self, index: Mapping[str, Any]) -> None:
        """Load the results that an earlier process stored."""
        raise NotImplementedError

    def _refuse_other(self, index: Mapping[str, Any]) -> None:
        """Raise DataError if the stored job's results would differ from this job's."""
        self._refuse_other_stamp(index["stamp"])

    def _refuse_other_stamp(self, stored_stamp: Mapping[str, Any]) -> None:
        """Raise DataError if models, settings, data or seed of the stored job differ."""
        if difference := describe_difference(
            stored_stamp, self._stamp, f"this {self._stamp['kind']}"
        ):
            raise DataError(
                f"The job in folder '{self.path}' ", difference, "; ", OTHER_FOLDER, "."
            )

    @contextmanager
    def _warn_if_disk_is_full(self) -> Iterator[None]:
        """Warn of a full disk in this block; from then on save nothing."""
        start_time = time.monotonic()
        self._file_number += 1
        try:
            yield
        except DataError as error:
            warn(
                IncompleteWarning(
                    error,
                    f" The {self.kind} continues, but its progress is not saved, so it cannot be"
                    " resumed if interrupted.",
                )
            )
            self._is_full = True
            return
        self._last = time.monotonic()
        self._pause = max(MIN_SECONDS, (self._last - start_time) / SHARE)

    def _write_file(self, name: str, content: bytes) -> dict[str, str]:
        """Write a file; return its name and hash for the index."""
        atomic_write(self.path / name, content)
        return {"file": name, "sha256": hashlib.sha256(content).hexdigest()}

    def _write_index(
        self, segments: list[dict[str, str]], position: Mapping[str, Any], ended: bool, **more: Any
    ) -> None:
        """Write job.json, which makes the files named in it valid."""
        index = {
            "thali_job": SCHEMA,
            "stamp": self._stamp,
            "segments": segments,
            "place": dict(position),
            "ended": ended,
            "written": datetime.now().astimezone().isoformat(timespec="seconds"),
            "command": self._command,
            **more,
        }
        atomic_write(self.path / INDEX, encode_index(index))
        self._segments = segments


class Snapshot(NamedTuple):
    """Content of a fit's job folder: chain states, draws and position."""

    states: list[Arrays]
    draws: list[Arrays]
    position: dict[str, Any]  # where the run was, as given to `FitFolder.write`
    has_ended: bool


class FitFolder(JobFolder):
    """Job folder of a fit, with snapshots of its chains."""

    snapshot: Snapshot | None = None
    recorded: Sequence[int] = ()  # draws of each chain that are in the folder
    _outdated: Sequence[dict[str, str]] = ()  # files that the next snapshot replaces

    def restart(self) -> None:
        """Let the next snapshot replace all files written so far."""
        self._outdated = [*self._outdated, *self._segments]
        self._segments = []
        self.recorded = ()

    def is_due(self) -> bool:
        """Return whether enough time has passed since the last snapshot."""
        return not self._is_full and time.monotonic() >= self._last + self._pause

    def write(
        self,
        states: Sequence[Arrays],
        draws: Sequence[Arrays],
        recorded: Sequence[int],
        position: Mapping[str, Any],
        has_ended: bool = False,
    ) -> None:
        """Write a snapshot: chain states, and the draws since the last one."""
        with self._warn_if_disk_is_full():
            segments = list(self._segments)
            if any(len(array) for chain_arrays in draws for array in chain_arrays.values()):
                segments.append(
                    self._write_file(f"draws-{self._file_number:05d}.npz", _encode_chains(draws))
                )
            state_entry = self._write_file(
                f"state-{self._file_number:05d}.npz", _encode_chains(states)
            )
            chain_entries = {
                "chains": len(states),
                "state": state_entry,
                "recorded": list(recorded),
            }
            self._write_index(segments, position, has_ended, **chain_entries)
            self.recorded = list(recorded)
            for entry in self._outdated:
                (self.path / entry["file"]).unlink(missing_ok=True)
            self._outdated = [state_entry]

    def _load_index(self, index: Mapping[str, Any]) -> None:
        """Load the stored states and draws of all chains into `snapshot`."""
        self.recorded = index["recorded"]
        self._outdated = [index["state"]]
        self._file_number = int(Path(index["state"]["file"]).stem.rpartition("-")[2])
        draws_by_file = [decode_npz(read_entry(self.path, entry)) for entry in self._segments]
        state_arrays = decode_npz(read_entry(self.path, index["state"]))
        # each chain has at least one array: an altered index cannot ask for endless work
        chain_numbers = range(min(index["chains"], len(state_arrays) + 1))
        states = [select_prefix(f"{k}/", state_arrays) for k in chain_numbers]
        draws = [_join_draws(draws_by_file, f"{k}/") for k in chain_numbers]
        if not all(states):
            raise ValueError("a chain without a state")
        self.snapshot = Snapshot(states, draws, index["place"], index["ended"])

    def _refuse_other(self, index: Mapping[str, Any]) -> None:
        """Raise DataError for a stored job of another fit; fewer draws are fine."""
        stored_stamp = index["stamp"]
        stored_settings = dict(stored_stamp["settings"])
        n_draws = self._stamp["settings"].get("draws")
        if "draws" in stored_settings and n_draws is not None:
            # A longer run may continue a shorter one, or a run until the chains agree.
            n_stored_draws = stored_settings["draws"]
            if n_stored_draws is None:
                n_stored_draws = index["place"].get("draws", n_draws)
            if n_draws > n_stored_draws:
                stored_settings["draws"] = n_draws
        self._refuse_other_stamp({**stored_stamp, "settings": stored_settings})


def describe_difference(
    stored: Mapping[str, Any], current: Mapping[str, Any], current_name: str
) -> Message | None:
    """Return how the stored job differs from this one; None if it does not.

    The text follows the name of the job. Added models are no difference; a seed of None equals any
    seed.
    """
    for name, version in current["versions"].items():
        if (stored_value := stored["versions"].get(name)) != version:
            return Message(
                f"was started with {name} {stored_value}, but {current_name} uses {name} {version},"
                " which may give different draws"
            )
    if stored["kind"] != current["kind"]:
        return Message(f"is a {stored['kind']}, but this is a {current['kind']}")
    for name, model in stored["models"].items():
        if name not in current["models"]:
            return Message(f"includes the model {name!r}, which is not in {current_name}")
        if difference_message := _describe_model_difference(
            name, model, current["models"][name], current_name
        ):
            return difference_message
    if difference_message := _describe_setting_difference(
        stored["settings"], current["settings"], current_name
    ):
        return difference_message
    if stored["data"] != current["data"]:
        return Message("was started with different data")
    if current["seed"] is not None and stored["seed"] != current["seed"]:
        return Message("was started with a different seed")
    return None


def _describe_model_difference(
    name: str, stored: Mapping[str, Any], current: Mapping[str, Any], current_name: str
) -> Message | None:
    """Return how a stored model differs from the current one; None if equal."""
    alias_text = owner_text = ""
    if name:
        alias_text = f" as {name!r}"
        owner_text = f" for {name!r}"
    if stored["class"] != current["class"]:
        return Message(
            "was started with ",
            ModelName(stored["class"]),
            f"{alias_text}, but {current_name} uses ",
            ModelName(current["class"]),
        )
    return _describe_setting_difference(
        stored["parameters"], current["parameters"], current_name, owner_text
    )


def _describe_setting_difference(
    stored: Mapping[str, Any], current: Mapping[str, Any], current_name: str, owner: str = ""
) -> Message | None:
    """Return which stored setting differs from the current one; None if none."""
    for name, value in current.items():
        if (stored_value := stored.get(name)) != value:
            return Message(
                "was started with ",
                Setting(name, stored_value),
                f"{owner}, but {current_name} uses ",
                Setting(name, value),
            )
    return None


def collect_versions() -> dict[str, str]:
    """Return versions and processor, on which the last bits of draws depend."""
    from importlib.metadata import version

    from thali import __version__

    machine = f"{platform.system()} {platform.machine()}"
    python_version = ".".join(platform.python_version_tuple()[:2])
    return {
        "thali": __version__,
        "numba": version("numba"),
        "numpy": np.__version__,
        "Python": python_version,
        "machine": machine,
    }


def _check_folder(path: Path) -> None:
    """Raise DataError for a path that cannot be a job folder."""
    if path.exists() and not path.is_dir():
        raise DataError(f"The job '{path}' must be a folder, but is a file; choose another name.")
    if not path.parent.is_dir():
        raise DataError(f"The folder '{path.parent}' for the job does not exist; create it first.")
    if not path.is_dir():
        return
    foreign_names = [
        path_inside.name
        for path_inside in path.iterdir()
        if not _JOB_FILES.fullmatch(path_inside.name) or path_inside.is_symlink()
    ]
    if foreign_names:
        raise DataError(
            f"The folder '{path}' is not a job folder: it contains '{min(foreign_names)}'; choose"
            " another folder."
        )


def lock_folder(path: Path, to_write: bool = True) -> BinaryIO:
    """Create a job folder if needed; return its open, locked lock file."""
    try:
        path.mkdir(exist_ok=True)
        lock = _open_lock(path / LOCK, to_write)
    except OSError as error:
        raise DataError(describe_write_error(path, error)) from None
    if not lock_file(lock.fileno()):
        lock.close()
        raise DataError(
            f"The job '{path}' is running in another process; wait until it finishes, or choose"
            " another folder."
        )
    return lock


def read_entry(path: Path, entry: Mapping[str, str]) -> bytes:
    """Return the bytes of a job's file; raise DataError if its hash differs."""
    try:
        file_content = (path / entry["file"]).read_bytes()
    except OSError:
        file_content = b""
    if hashlib.sha256(file_content).hexdigest() != entry["sha256"]:
        raise DataError(
            f"The file '{path / entry['file']}' of the job is damaged or missing; ",
            OTHER_FOLDER,
            ".",
        )
    return file_content


def read_index(path: Path) -> dict[str, Any] | None:
    """Return the content of job.json; None if missing."""
    index_path = path / INDEX
    if not index_path.is_file():
        return None
    index = decode_index(index_path.read_bytes())
    if not isinstance(index, dict):
        raise DataError(f"The file '{index_path}' of the job is damaged; ", OTHER_FOLDER, ".")
    if index.get("thali_job") != SCHEMA:
        raise DataError(
            f"The job '{path}' was written by another version of thali; ", OTHER_FOLDER, "."
        )
    with refuse_altered_job(path):
        if not _is_valid_index(index):
            raise ValueError("an index without a required entry, or with another file's name")
    return index


@contextmanager
def refuse_altered_job(path: Path) -> Iterator[None]:
    """Turn errors in this block into "the job's files were changed"."""
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


def _is_valid_index(index: Mapping[str, Any]) -> bool:
    """Return whether an index has all required entries, and only its folder's files."""
    stamp: Any = index.get("stamp")
    progress: Any = index.get("place")
    command = index.get("command")
    has_all_entries = (
        _has_entries(index, segments=list, ended=bool, written=str)
        and "command" in index
        and _is_time(index["written"])
        and _has_entries(stamp, kind=str, versions=dict, models=dict, settings=dict, seed=list)
        and "data" in stamp
        and _has_entries(progress, done=int, total=int, unit=str)
        and all(
            _has_entries(model, **{"class": str, "parameters": dict})
            for model in stamp["models"].values()
        )
    )
    if not has_all_entries:
        return False
    if command is not None and not _has_entries(command, name=str, arguments=dict, folder=str):
        return False
    is_fit = stamp["kind"] == "fit"
    if is_fit and not (_has_entries(index, chains=int, recorded=list) and "" in stamp["models"]):
        return False
    if index.get("recorded") and not _has_entries(
        {"tune": 0, "spent": 0, **progress}, draws=int, tempered=bool, tune=int, spent=int
    ):
        return False
    draw_counts = [
        count for chain_counts in progress.get("each", {}).values() for count in chain_counts
    ]
    file_entries = list(index["segments"])
    if is_fit:
        draw_counts += index["recorded"]
        file_entries.append(index.get("state"))
    elif index.get("source") is not None:
        file_entries.append(index["source"])
    if not all(isinstance(count, int) for count in draw_counts):
        return False
    return all(
        _has_entries(entry, file=str, sha256=str) and _INDEXED_FILES.fullmatch(entry["file"])
        for entry in file_entries
    )


def _has_entries(entries: Any, **types: type) -> bool:
    """Return whether a dict has these keys with values of these types."""
    return isinstance(entries, dict) and all(
        isinstance(entries.get(name), entry_type) for name, entry_type in types.items()
    )


def _is_time(text: str) -> bool:
    """Return whether a text is an ISO time with time zone."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def is_running(path: Path) -> bool:
    """Return whether a process holds the lock of a job folder."""
    try:
        with _open_lock(path / LOCK, to_write=False) as file:
            return not lock_file(file.fileno())
    except FileNotFoundError:  # in a folder without write permission
        return False


def _open_lock(path: Path, to_write: bool) -> BinaryIO:
    """Open the lock file, read-only if it is not writable and `to_write` is false."""
    try:
        return open(path, "ab", opener=_open_without_link)
    except OSError as error:
        if to_write or error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
    return open(path, "rb", opener=_open_without_link)


def _open_without_link(path: str, flags: int) -> int:
    """Open a file; raise OSError if it is a symbolic link."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def encode_index(index: Mapping[str, Any]) -> bytes:
    """Encode an index as JSON bytes, with a hash in the second line."""
    index_json = json.dumps(index).encode()
    return index_json + b"\n" + hashlib.sha256(index_json).hexdigest().encode() + b"\n"


def decode_index(content: bytes) -> dict[str, Any] | None:
    """Decode an index; None if its hash is wrong."""
    index_json, _, hash_line = content.partition(b"\n")
    if hash_line != hashlib.sha256(index_json).hexdigest().encode() + b"\n":
        return None
    with suppress(ValueError, RecursionError):
        return json.loads(index_json)
    return None


def _encode_chains(chains: Sequence[Arrays]) -> bytes:
    """Encode the arrays of all chains as bytes of one npz file."""
    arrays: Arrays = {}
    for k, chain_arrays in enumerate(chains):
        arrays |= add_prefix(f"{k}/", chain_arrays)
    return encode_npz(arrays)


def _join_draws(segments: Sequence[Arrays], prefix: str) -> Arrays:
    """Concatenate one chain's draws from all stored files."""
    chain_segments = [select_prefix(prefix, segment) for segment in segments]
    if not chain_segments:
        return {}
    return {
        name: np.concatenate([segment[name] for segment in chain_segments])
        for name in chain_segments[0]
    }
