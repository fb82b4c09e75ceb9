"""Finished fits in a file, one line of JSON each, so that a comparison can go on from where it stopped."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from thali._labels import plural
from thali.errors import Argument, DataError, IncompleteWarning
from thali.inference.files import cannot_write
from thali.inference.locks import lock
from thali.inference.seeds import root
from thali.inference.warn import warn

SCHEMA = 1  # raised when a fit of an older thali can no longer stand for one of this
_DIGITS = 32  # of the hash of a line


class FinishedFits:
    """The finished fits of one comparison.

    A fit is found again by everything that determines it: the data, the model, the budget, the seed, the pair left out.
    Whatever else the file holds stays there, so several comparisons may share one file, one after the other. Use it as
    a context manager: it locks the file.

    Parameters
    ----------
    path : str, path or None
        None keeps nothing on disk.
    random_seed
        As `compare` takes it; None takes up the seed of the file, if it has one.
    fields : mapping from name to type
        What every record holds; others are not taken for one.

    Raises
    ------
    DataError
        If the path is a folder, lies in none, cannot be written, is a file of another kind, or is in use.

    Warns
    -----
    IncompleteWarning
        If lines of the file are damaged; they are left out.
    """

    def __init__(self, path: Any, random_seed: Any, fields: Mapping[str, type[Any]]) -> None:
        self.path = None if path is None else Path(path)
        self._fields = fields
        self._records: dict[str, dict[Any, Any]] = {}
        self._wanted: Sequence[str] = ()
        self._is_new = self.path is not None and not self.path.exists()
        self._is_torn = False  # whether the file ends in the middle of a line
        self._lock: BinaryIO | None = None
        try:
            found = None if self.path is None else self._read(self.path)
            if random_seed is None and found is None and self._records:
                raise DataError(
                    f"The line of the checkpoint '{self.path}' that holds its seed is damaged; give the ",
                    Argument("random_seed"),
                    " of that comparison, or choose another name.",
                )
            self.seed = root(random_seed) if random_seed is not None or found is None else found
            if self.path is not None and found is None:
                spawn_key = [int(key) for key in self.seed.spawn_key]
                self._append({"thali_kept_fits": SCHEMA, "entropy": self.seed.entropy, "spawn_key": spawn_key})
        except BaseException:
            self.close()
            self._remove_if_empty()
            raise

    def __enter__(self) -> "FinishedFits":
        return self

    def __exit__(self, kind: Any, *exception: Any) -> None:
        self.close()
        if kind is not None and not self._records:
            self._remove_if_empty()
        if kind is KeyboardInterrupt and self.path is not None:
            finished = sum(key in self._records for key in self._wanted)
            raise KeyboardInterrupt(f"{finished:,} of {len(self._wanted):,} fits are in '{self.path}'") from None

    def close(self) -> None:
        """Let others use the file; nothing can be added any more."""
        if self._lock is not None:
            self._lock.close()

    def _remove_if_empty(self) -> None:
        """Leave no file behind that was made for a comparison that did not begin."""
        if self._is_new and self.path is not None:
            self.path.unlink(missing_ok=True)

    def find_all(self, keys: Sequence[str]) -> list[dict[Any, Any] | None]:
        """The records of all fits of a comparison, None where one is not finished; Ctrl-C then says how many are."""
        self._wanted = keys
        return [self.find(key) for key in keys]

    def find(self, key: str) -> dict[Any, Any] | None:
        """The record of a finished fit, or None."""
        return self._records.get(key)

    def add(self, key: str, record: dict[Any, Any]) -> None:
        """Keep the record of a finished fit."""
        self._records[key] = record
        if self.path is None:
            return
        try:
            self._append({"key": key} | record)
        except DataError as error:  # a full disk must not cost what is in memory
            self.path = None
            warn(IncompleteWarning(f"{error} The comparison goes on without it."))

    def _read(self, path: Path) -> np.random.SeedSequence | None:
        """Lock the file and take in its records; its seed, if it has one."""
        if path.is_dir():
            raise DataError(f"The checkpoint '{path}' is a folder; give the name of a file.")
        if not path.parent.is_dir():
            raise DataError(f"There is no folder '{path.parent}' for the checkpoint; make it first.")
        if path.exists() and not path.is_file():
            raise DataError(f"The checkpoint '{path}' is not a regular file; choose another name.")
        try:
            self._lock = open(path, "ab")
            if not lock(self._lock.fileno()):
                raise DataError(
                    f"The checkpoint '{path}' is in use by another comparison; wait for its end, or choose another"
                    " name."
                )
            *lines, rest = path.read_bytes().split(b"\n")
        except OSError as error:
            raise DataError(cannot_write(path, error)) from None
        self._is_torn = bool(rest)  # by a process that was killed while it wrote
        lines = [line for line in (*lines, rest) if line]
        records = [record for line in lines if (record := _opened(line)) is not None]
        heads = [record for record in records if "thali_kept_fits" in record]
        if lines and (not records or any(head["thali_kept_fits"] != SCHEMA for head in heads)):
            raise DataError(
                f"'{path}' is not a checkpoint of this version of thali, or is damaged; choose another name."
            )
        self._records = {key: record for record in records if (key := record.pop("key", None)) and self._fits(record)}
        if damaged := len(lines) - len(records):
            warn(
                IncompleteWarning(
                    f"{plural(damaged, 'line')} of the checkpoint '{path}' {'is' if damaged == 1 else 'are'} "
                    "damaged and "
                    f"left out; what only {'it' if damaged == 1 else 'they'} held is computed again."
                )
            )
        return _seed(heads[0], path) if heads else None

    def _fits(self, record: dict[Any, Any]) -> bool:
        """Whether a record may be one of this comparison: several may share a file."""
        return all(name in record and isinstance(record[name], kind) for name, kind in self._fields.items())

    def _append(self, record: dict[Any, Any]) -> None:
        try:
            with open(self.path, "ab") as file:  # type: ignore[arg-type]
                file.write(b"\n" * self._is_torn + _closed(json.dumps(record).encode()) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            self._is_torn = False
        except OSError as error:
            self._is_torn = True
            raise DataError(f"The checkpoint '{self.path}' cannot be written: {error.strerror}.") from None


def _seed(head: dict[Any, Any], path: Path) -> np.random.SeedSequence:
    """The seed that the first line of a checkpoint names."""
    try:
        return np.random.SeedSequence(head["entropy"], spawn_key=head["spawn_key"])
    except (KeyError, TypeError, ValueError):
        raise DataError(f"The seed of the checkpoint '{path}' is not one; choose another name.") from None


def _closed(body: bytes) -> bytes:
    """A JSON object with a hash of itself as its last member."""
    return body[:-1] + b', "sha256": "%s"}' % hashlib.sha256(body).hexdigest()[:_DIGITS].encode()


def _opened(line: bytes) -> dict[Any, Any] | None:
    """The object that `_closed` was given, or None if the line is not as it was written."""
    body = line[: -len(_closed(b"}"))] + b"}"
    if line != _closed(body):
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):  # never written by thali, and yet with its hash
        return None


def fit_key(*determined_by: Any) -> str:
    """A short text for everything that determines a fit."""
    return hashlib.sha256(json.dumps(determined_by).encode()).hexdigest()[:32]
